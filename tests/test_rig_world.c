/* test_rig_world.c: the rig over simulated ranks: which part each rank is sent and when, and what is reported of what
 * they did. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "judge/judge.h"
#include "played_ranks.h"
#include "rig/rig.h"
#include "starve.h"

static const struct fold_subject subject = {.name = "s", .engine = FOLD_MPI, .grain = by_twos};

static struct fold_rig rig;
static struct fold_traces traces;

static void open_rig(unsigned ranks) {
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_MAX, FOLD_F32, ROWS * COLS + 1, ROWS).code, FOLD_OK);
  rig.ranks = ranks;
  for (size_t i = 0; i < ROWS * COLS + 1; i++) ((float *)fold_rig_input(&rig))[i] = (float)(i + 1);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  for (unsigned r = 0; r < RANKS; r++)
    for (unsigned i = 0; i < ROWS; i++) world.result[r][i] = (float)(10 + i);
}

static void open_all(void) { open_rig(RANKS); }
static void close_rig(void) { fold_rig_close(&rig); }
/* Tests of suite rig_world have a rig over all ranks; those of rig_world_opened open and close theirs. */
TestSuite(rig_world, .init = open_all, .fini = close_rig);

static fold_status try_run(size_t first) {
  struct fold_request request = {.first = {first}, .rows = ROWS, .cols = COLS, .poison = 0x6b};
  float got[ROWS];
  memset(&traces, 0xa5, sizeof traces);
  fold_status status = fold_rig_run(&rig, &subject, &request, got, &traces);
  if (status.code == FOLD_OK) cr_expect(memcmp(got, world.result[0], sizeof got) == 0, "other results than rank 0's");
  return status;
}
static void run_at(size_t first) { cr_assert_eq(try_run(first).code, FOLD_OK); }

/* Eight columns by twos over three ranks: 2, 2 and 4, or as fold_comm_cut cuts them. */
Test(rig_world, each_rank_has_its_columns_and_is_told_where_they_are) {
  for (size_t first = 0; first < 2; first++) {
    run_at(first);
    for (unsigned r = 0; r < RANKS; r++) {
      size_t at = fold_comm_cut(COLS, 2, RANKS, (int)r), cols = fold_comm_cut(COLS, 2, RANKS, (int)r + 1) - at;
      const struct fold_wire_run *run = &world.run[r];
      cr_expect(run->first_col == at && run->cols == cols && run->all_cols == COLS && run->rows == ROWS &&
                    run->ranks == RANKS && run->problem == FOLD_ROWS_MAX && run->poison == 0x6b &&
                    !strcmp(run->subject, "s"),
                "rank %u: columns %zu of %zu", r, (size_t)run->cols, (size_t)run->first_col);
      cr_assert_eq(world.n[r], ROWS * cols * sizeof(float), "rank %u", r);
      cr_expect(world.load[r].n == ROWS * cols && world.load[r].max_rows == ROWS && world.load[r].dtype == FOLD_F32);
      for (size_t k = 0; k < ROWS * cols; k++)
        cr_expect_eq(world.part[r][k], (float)(first + k / cols * COLS + at + k % cols + 1), "rank %u, %zu", r, k);
    }
  }
}

Test(rig_world_opened, a_rig_that_is_not_told_of_how_many_ranks_has_one) {
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_SUM, FOLD_F32, ROWS * COLS, ROWS).code, FOLD_OK);
  cr_expect_eq(rig.ranks, 1);
  fold_rig_close(&rig);
}

Test(rig_world, parts_are_sent_when_they_changed_or_another_rig_sent_its_own) {
  for (int again = 0; again < 3; again++) {
    run_at(0);
    cr_expect_eq(world.loads, 3, "%u", world.loads);
  }
  run_at(1);
  cr_expect_eq(world.loads, 6, "another place");
  rig.ranks = 2;
  run_at(1);
  cr_expect_eq(world.loads, 8, "fewer ranks");
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  run_at(1);
  cr_expect_eq(world.loads, 10, "another input");
  world.loads++; /* another rig's */
  run_at(1);
  cr_expect_eq(world.loads, 13, "another rig");
}

/* Else the ranks would run on what they had before. */
Test(rig_world, a_part_that_a_rank_cannot_take_ends_the_run_and_is_sent_again) {
  world.refuses = 1;
  fold_status status = try_run(0);
  cr_expect(status.code == FOLD_NO_MEMORY && strstr(status.text, "no room on rank 1"), "%s", status.text);
  cr_expect(world.runs == 0 && world.loads == 1, "%u runs, %u parts sent", world.runs, world.loads);
  world.refuses = -1;
  run_at(0);
  cr_expect(world.runs == 3 && world.loads == 4, "%u runs, %u parts sent", world.runs, world.loads);
}

Test(rig_world_opened, a_part_that_a_rank_changed_shows_in_the_hash) {
  for (unsigned changed = 0; changed < RANKS; changed++) {
    uint64_t before, after;
    open_rig(RANKS);
    run_at(0);
    cr_assert_eq(fold_rig_hash(&rig, &before).code, FOLD_OK);
    cr_assert_eq(fold_rig_hash(&rig, &after).code, FOLD_OK);
    cr_expect_eq(before, after, "nothing was changed");
    world.part[changed][world.n[changed] / sizeof(float) - 1] = 99;
    cr_assert_eq(fold_rig_hash(&rig, &after).code, FOLD_OK);
    cr_expect_neq(before, after, "rank %u", changed);
    fold_rig_close(&rig);
  }
}

/* Also where another input, a poke or a move takes its place before anybody asks. */
Test(rig_world_opened, a_part_that_was_changed_is_told_before_it_is_gone) {
  for (int how = 0; how < 3; how++) {
    uint64_t before, after, former;
    open_rig(RANKS);
    run_at(0);
    cr_assert_eq(fold_rig_hash(&rig, &before).code, FOLD_OK);
    world.part[1][0] = 99;
    fold_status status = how == 0   ? fold_rig_load(&rig)
                         : how == 1 ? fold_rig_poke(&rig, 0, fold_f32_bits(1), &former)
                                    : fold_rig_move(&rig, 1);
    cr_assert_eq(status.code, FOLD_OK);
    cr_assert_eq(fold_rig_hash(&rig, &after).code, FOLD_OK);
    cr_expect_neq(before, after, "way %d", how);
    run_at(0);
    cr_expect_not(traces.found_changed, "way %d: it is reported again", how);
    fold_rig_close(&rig);
  }
}

/* The run that is sent other parts tells it once, and runs on right ones. */
Test(rig_world_opened, a_part_that_was_changed_is_told_by_the_next_run) {
  for (int how = 0; how < 4; how++) {
    uint64_t former;
    open_rig(RANKS);
    run_at(0);
    world.part[1][0] = 99;
    fold_status status = how == 0   ? fold_rig_load(&rig)
                         : how == 1 ? fold_rig_poke(&rig, 0, fold_f32_bits(1), &former)
                         : how == 2 ? fold_rig_move(&rig, 1)
                                    : fold_ok();
    cr_assert_eq(status.code, FOLD_OK);
    for (int again = 0; again < 2; again++) {
      run_at(how == 3);
      cr_expect_eq(traces.found_changed, !again, "way %d, run %d", how, again);
      cr_expect_neq(world.part[1][0], 99, "way %d", how);
    }
    fold_rig_close(&rig);
  }
}

/* A rank that gets no new part tells it all the same. */
Test(rig_world, a_part_of_a_rank_that_leaves_is_looked_at) {
  run_at(0);
  world.part[RANKS - 1][0] = 99;
  rig.ranks = RANKS - 1;
  for (int again = 0; again < 2; again++) {
    run_at(0);
    cr_expect_eq(traces.found_changed, !again, "run %d", again);
  }
}

/* Of a rank that moves its part, nothing is sent again unless the part was changed. */
Test(rig_world, a_part_that_lies_elsewhere_is_moved_by_its_rank) {
  run_at(0);
  for (int shift = 3; shift >= 0; shift -= 3) {
    cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    run_at(0);
    cr_expect(world.loads == 3 && world.shift[0] == shift && world.shift[RANKS - 1] == shift && !traces.found_changed,
              "%d: %u loads, shifts %d and %d", shift, world.loads, world.shift[0], world.shift[RANKS - 1]);
  }
}

/* Those that do not fit into the answer of a run. */
Test(rig_world_opened, long_results_are_fetched) {
  float got[MOST_ROWS];
  struct fold_request request = {.cols = 1, .ranks = 2, .poison = 0x6b};
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_SUM, FOLD_F32, MOST_ROWS, MOST_ROWS).code, FOLD_OK);
  for (size_t i = 0; i < MOST_ROWS; i++) {
    ((float *)fold_rig_input(&rig))[i] = 1;
    world.result[0][i] = world.result[1][i] = (float)i;
  }
  world.result[1][WIRE_RESULTS / sizeof(float) - 1] = 0.5f;
  for (request.rows = WIRE_RESULTS / sizeof(float); request.rows <= WIRE_RESULTS / sizeof(float) + 1; request.rows++) {
    cr_assert_eq(fold_rig_run(&rig, &subject, &request, got, &traces).code, FOLD_OK);
    cr_expect(memcmp(got, world.result[0], request.rows * sizeof(float)) == 0, "%zu results", request.rows);
    cr_expect(traces.ranks_differ && traces.differ_at == WIRE_RESULTS / sizeof(float) - 1, "%zu", traces.differ_at);
    cr_expect_eq(world.fetches, request.rows * sizeof(float) > WIRE_RESULTS ? 2 : 0, "%u fetched", world.fetches);
  }
  fold_rig_close(&rig);
}

/* Two ranks are company enough to disagree; the first that differs is named, with its first row. */
Test(rig_world_opened, the_rank_that_has_other_bits_is_named) {
  for (unsigned ranks = 1; ranks <= RANKS; ranks++)
    for (unsigned changed = 0; changed < RANKS; changed++) {
      open_rig(ranks);
      bool differs = changed > 0 && changed < ranks;
      if (changed > 0) world.result[changed][1] = world.result[changed][2] = 11.5f;
      run_at(0);
      struct fold_log log = {0};
      cr_assert_eq(fold_log_add(&log, &(struct fold_logged){.traces = traces}).code, FOLD_OK);
      const struct fold_logged *split = fold_log_find(&log, NULL, FOLD_DID_DIFFER);
      cr_expect_eq(fold_log_find(&log, NULL, FOLD_DID_RUN_TOGETHER) != NULL, ranks > 1, "%u ranks", ranks);
      cr_expect_eq(traces.ranks_differ, differs, "rank %u of %u", changed, ranks);
      cr_expect_eq(split != NULL, differs, "rank %u of %u", changed, ranks);
      if (differs)
        cr_expect(traces.rank == changed && traces.differ_at == 1 && traces.bits == fold_f32_bits(11) &&
                      traces.other_bits == fold_f32_bits(11.5f) && split && split->traces.rank == changed,
                  "rank %u of %u: rank %u, row %zu", changed, ranks, traces.rank, traces.differ_at);
      fold_log_close(&log);
      fold_rig_close(&rig);
    }
}

/* No promise says which NaN; a rank that has another one has the same result. */
Test(rig_world_opened, another_nan_is_the_same_result) {
  open_rig(2);
  fold_bits_store(FOLD_F32, world.result[0], 0, 0x7fc00000);
  fold_bits_store(FOLD_F32, world.result[1], 0, 0xffc12345);
  run_at(0);
  cr_expect(!traces.ranks_differ && world.fetches == 0, "%u fetched", world.fetches);
  fold_rig_close(&rig);
}

Test(rig_world, the_first_rank_that_did_more_than_compute_speaks_for_all) {
  world.traces[1] = (struct fold_traces){.unwritten = true, .unwritten_at = 2};
  world.traces[2] = (struct fold_traces){.unwritten = true,
                                         .unwritten_at = 1,
                                         .out_of_bounds = true,
                                         .bounds_at = -4,
                                         .bounds_of = FOLD_INPUT,
                                         .wrote_input = true,
                                         .input_at = 8,
                                         .left = "the rounding mode"};
  run_at(0);
  cr_expect(traces.unwritten && traces.unwritten_at == 2);
  cr_expect(traces.out_of_bounds && traces.bounds_at == -4 && traces.bounds_of == FOLD_INPUT && traces.rank == 2);
  cr_expect(traces.wrote_input && traces.input_at == 8 && !strcmp(traces.left, "the rounding mode"));
  struct fold_log log = {0};
  cr_assert_eq(fold_log_add(&log, &(struct fold_logged){.traces = traces}).code, FOLD_OK);
  cr_expect(fold_log_find(&log, NULL, FOLD_DID_STRAY) == log.run && log.run->traces.bounds_at == -4);
  cr_expect(fold_log_find(&log, NULL, FOLD_DID_WRITE_INPUT) == log.run && log.run->traces.input_at == 8);
  cr_expect(fold_log_find(&log, NULL, FOLD_DID_LEAVE_STATE) == log.run);
  world.traces[1] = (struct fold_traces){.out_of_bounds = true, .bounds_at = 12};
  world.traces[2] = (struct fold_traces){.out_of_bounds = true, .bounds_at = -8};
  run_at(0);
  cr_expect(!traces.unwritten && traces.bounds_at == 12 && traces.bounds_of == FOLD_OUTPUT && traces.rank == 1);
  cr_assert_eq(fold_log_add(&log, &(struct fold_logged){.traces = traces}).code, FOLD_OK);
  cr_expect(log.n == 2 && fold_log_find(&log, NULL, FOLD_DID_STRAY) == log.run, "the first run's is reported");
  fold_log_close(&log);
  rig.ranks = 1;
  run_at(0);
  cr_expect(!traces.unwritten && !traces.out_of_bounds, "of ranks that did not run");
}

static bool did_the_same(const struct fold_traces *a, const struct fold_traces *b) {
  return a->unwritten == b->unwritten && a->unwritten_at == b->unwritten_at && a->out_of_bounds == b->out_of_bounds &&
         a->bounds_of == b->bounds_of && a->bounds_by == b->bounds_by && a->bounds_at == b->bounds_at &&
         a->wrote_input == b->wrote_input && a->input_at == b->input_at && !strcmp(a->left, b->left);
}

/* Each kind of trace by itself is reported whole, with its rank. */
Test(rig_world, the_rank_that_did_more_than_compute_is_named) {
  static const struct fold_traces kinds[] = {
      {.unwritten = true, .unwritten_at = 2},
      {.out_of_bounds = true, .bounds_of = FOLD_SCRATCH, .bounds_by = FOLD_TOUCHED, .bounds_at = -8},
      {.wrote_input = true, .input_at = 4},
      {.left = "the rounding mode"}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (unsigned changed = 0; changed < RANKS; changed++) {
      for (unsigned r = 0; r < RANKS; r++) world.traces[r] = r == changed ? kinds[k] : (struct fold_traces){0};
      run_at(0);
      cr_expect(traces.rank == changed && did_the_same(&traces, &kinds[k]), "kind %zu of rank %u: rank %u", k, changed,
                traces.rank);
    }
}

/* A rank's last result equals the poison by chance: where it does not equal the other poison it was written. */
Test(rig_world, a_result_of_a_rank_that_equals_one_poison_was_written) {
  struct fold_case c = {.dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_MAX), .rows = ROWS, .cols = COLS};
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0x6b};
  struct fold_trial trial = {.subject = &subject, .c = &c, .rig = &rig};
  for (int again = 0; again < 2; again++) {
    traces = (struct fold_traces){.unwritten = true, .unwritten_at = ROWS - 1, .rank = 1};
    for (unsigned r = 0; r < RANKS; r++)
      world.traces[r] = (struct fold_traces){.unwritten = again && r == 1, .unwritten_at = ROWS - 1};
    cr_assert_eq(fold_trial_confirm_unwritten(&trial, &rig, &request, world.result[0], &traces).code, FOLD_OK);
    cr_expect_eq(traces.unwritten, again, "%d", again);
  }
  fold_log_close(&trial.log);
}

Test(rig_world, a_vector_takes_one_column_a_rank) {
  struct fold_subject vector = subject;
  struct fold_request request = {.rows = ROWS, .cols = COLS};
  float got[ROWS];
  vector.vector = true;
  vector.grain = NULL;
  cr_expect_eq(fold_rig_run(&rig, &vector, &request, got, &traces).code, FOLD_UNSUPPORTED);
  request.cols = request.ranks = 2;
  cr_expect_eq(fold_rig_run(&rig, &vector, &request, got, &traces).code, FOLD_OK);
  cr_expect(world.runs == 2 && world.run[1].first_col == 1 && world.run[1].cols == 1 && world.run[1].ranks == 2);
  request.cols = request.ranks = RANKS + 1;
  cr_expect_eq(fold_rig_run(&rig, &vector, &request, got, &traces).code, FOLD_UNSUPPORTED);
}

/* ---- what is not there ---- */

/* A rig's life over ranks of whom one has another result. */
static fold_status use_rig(void *context) {
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0x6b};
  float got[ROWS];
  uint64_t hash, former;
  (void)context;
  world.result[1][2] = 5;
  FOLD_TRY(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_SUM, FOLD_F32, ROWS * COLS, ROWS));
  rig.ranks = RANKS;
  memset(fold_rig_input(&rig), 0, ROWS * COLS * sizeof(float));
  fold_status status = fold_rig_load(&rig);
  for (int again = 0; again < 2 && status.code == FOLD_OK; again++) {
    status = fold_rig_run(&rig, &subject, &request, got, &traces);
    if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
    if (status.code == FOLD_OK) status = fold_rig_poke(&rig, 3, 0, &former);
  }
  if (status.code == FOLD_OK) status = fold_rig_move(&rig, 1);
  fold_rig_close(&rig);
  return status;
}

Test(rig_world_opened, a_rig_gives_its_memory_back) { cr_expect_geq(starve_through("a rig", use_rig, NULL), 10); }

Test(rig_world_opened, a_question_that_is_not_answered_is_told) {
  cr_assert_eq(use_rig(NULL).code, FOLD_OK);
  const unsigned asked = world.asked;
  cr_expect(asked >= 6, "%u questions", asked);
  for (unsigned k = 1; k <= asked; k++) {
    char text[40];
    world.asked = 0;
    world.fails_in = k;
    fold_status status = use_rig(NULL);
    snprintf(text, sizeof text, "question %u failed", k);
    cr_expect(status.code == FOLD_ENVIRONMENT && !strcmp(status.text, text), "%s: %d, %s", text, (int)status.code,
              status.text);
  }
}
