/* test_rig_world_judges.c: what judges make of simulated ranks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "judge/judge.h"
#include "played_ranks.h"
#include "tally.h"

static const enum fold_claim_id judged[] = {FOLD_BOUNDED,
                                            FOLD_REPLAYS,
                                            FOLD_RUN_TO_RUN,
                                            FOLD_LAUNCH_INVARIANT,
                                            FOLD_ALIGNMENT_INVARIANT,
                                            FOLD_BATCH_INVARIANT,
                                            FOLD_PERMUTATION_INVARIANT,
                                            FOLD_MESSAGE_INVARIANT,
                                            FOLD_WORLD_INVARIANT,
                                            FOLD_WRITES_OUTPUT,
                                            FOLD_STAYS_IN_BOUNDS,
                                            FOLD_LEAVES_NO_TRACE,
                                            FOLD_RANK_AGREEMENT,
                                            FOLD_KEEPS_INPUT};
enum { JUDGED = sizeof judged / sizeof *judged };

static size_t rows = ROWS;

static fold_status judge_among(unsigned ranks, uint64_t claims, struct tally *t) {
  static char name[] = "integers";
  struct fold_subject adds = {.name = "adds",
                              .engine = FOLD_MPI,
                              .dtypes = 1u << FOLD_F32,
                              .problems = 1u << FOLD_SUM,
                              .order = "host/sequential",
                              .claims = claims,
                              .grain = by_twos};
  struct fold_registry registry = {&adds, 1};
  struct fold_case c = {.name = name,
                        .file = name,
                        .dtype = FOLD_F32,
                        .problem = fold_rows_problem(FOLD_SUM),
                        .rows = rows,
                        .cols = COLS,
                        .ranks = ranks};
  c.source = (struct fold_source){fold_generator_find("integers"), FOLD_F32, 7, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  world.adds = true;
  world.asked = world.runs = 0;
  world.messages = 0;
  world.varied.n = 0;
  return tally_verify(&registry, NULL, false, &cases, t);
}
static fold_status judge(uint64_t claims, struct tally *t) { return judge_among(2, claims, t); }

/* The only size that is tried here is the case's own. */
Test(rig_world, without_another_world_nothing_is_held_of_it) {
  struct tally t;
  cr_assert_eq(judge_among(RANKS, FOLD_CLAIM(FOLD_WORLD_INVARIANT), &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_WORLD_INVARIANT].verdict, FOLD_SKIPPED);
  cr_expect_str_eq(t.last[FOLD_WORLD_INVARIANT].reason, "there is no second number of ranks to try");
}

Test(rig_world, a_message_of_one_element_is_judged_among_others) {
  struct tally t;
  for (rows = 0; rows <= 2; rows++) {
    const struct fold_finding *f = &t.last[FOLD_MESSAGE_INVARIANT];
    cr_assert_eq(judge(FOLD_CLAIM(FOLD_MESSAGE_INVARIANT), &t).code, FOLD_OK);
    cr_expect_eq(f->verdict, rows < 1 ? FOLD_SKIPPED : FOLD_HELD, "%zu elements: %s", rows, f->reason);
    cr_expect_str_eq(f->reason, rows < 1 ? FOLD_NO_RESULTS : "");
    if (rows == 1) cr_expect_eq(world.message[world.messages - 1].rows, 5);
  }
}

/* The whole message, again with NaN as its first element; then the first element by itself, one of the middle and the last;
 * then the first half. */
Test(rig_world, a_message_is_cut_in_parts) {
  for (rows = 2; rows <= 3; rows++) {
    struct tally t;
    cr_assert_eq(judge(FOLD_CLAIM(FOLD_MESSAGE_INVARIANT), &t).code, FOLD_OK);
    cr_assert_eq(world.messages, 6, "%zu messages", world.messages);
    for (size_t k = 0; k < 6; k++) cr_expect_eq(world.message[k].rows, k < 2 ? rows : 1, "message %zu of %zu", k, rows);
    const float first = world.message[0].first, middle = world.message[3].first, last = world.message[4].first;
    cr_expect(isnan(world.message[1].first), "among elements of NaN");
    cr_expect(world.message[2].first == first && world.message[5].first == first && middle != first);
    cr_expect_eq(middle == last, rows == 2);
  }
}

/* Nothing else is varied then. */
Test(rig_world, who_takes_no_other_launch_is_not_held_by_none) {
  struct tally t;
  world.takes_no_launch = true;
  cr_assert_eq(judge(FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_LAUNCH_INVARIANT].verdict, FOLD_SKIPPED);
  cr_expect_str_eq(t.last[FOLD_LAUNCH_INVARIANT].reason, "its grid and number of threads cannot be varied");
}

/* The last question is the last look at the input, when all is judged, but for the claim that looked itself. */
Test(rig_world, nothing_holds_by_a_question_that_was_not_answered) {
  for (size_t i = 0; i < JUDGED; i++) {
    struct tally t;
    const struct fold_finding *f = &t.last[judged[i]];
    world.fails_in = 0;
    cr_assert_eq(judge(FOLD_CLAIM(judged[i]), &t).code, FOLD_OK);
    cr_expect_eq(f->verdict, FOLD_HELD, "claim %d: %s", (int)judged[i], f->reason);
    const unsigned asked = world.asked, last = judged[i] == FOLD_KEEPS_INPUT ? asked : asked - 1;
    for (world.fails_in = 1; world.fails_in <= last; world.fails_in++) {
      fold_status status = judge(FOLD_CLAIM(judged[i]), &t);
      cr_expect(status.code == FOLD_OK ? f->verdict == FOLD_BROKEN && strstr(f->reason, "failed")
                                       : status.code == FOLD_ENVIRONMENT,
                "claim %d, question %u of %u: %d, verdict %d: %s", (int)judged[i], world.fails_in, asked,
                (int)status.code, (int)f->verdict, f->reason);
    }
  }
}

/* Where, by how much, and in which words. */
Test(rig_world, what_differs_is_told) {
  static const struct {
    enum fold_claim_id claim;
    unsigned lies_among;
    size_t lies_in;
    unsigned liar;
    size_t row;
    double more;
    const char *reason;
  } lies[] = {{FOLD_WORLD_INVARIANT, 3, 0, 0, 0, 1, "different bits with 3 ranks"},
              {FOLD_MESSAGE_INVARIANT, 0, 1, 0, 0, 1, "different bits for the row by itself"},
              {FOLD_RANK_AGREEMENT, 0, 0, 1, ROWS - 1, 1, "rank 1 has different bits than rank 0"}};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    struct tally t;
    const struct fold_finding *f = &t.last[lies[i].claim];
    world.lies_among = lies[i].lies_among, world.lies_in = lies[i].lies_in, world.liar = lies[i].liar;
    cr_assert_eq(judge(FOLD_CLAIM(lies[i].claim), &t).code, FOLD_OK);
    cr_expect(f->verdict == FOLD_REFUTED && f->compared && f->row == lies[i].row, "lie %zu: row %zu", i, f->row);
    cr_expect_str_eq(f->reason, lies[i].reason, "%s", f->reason);
    cr_expect_eq(fold_bits_to_double(FOLD_F32, f->got) - fold_bits_to_double(FOLD_F32, f->want), lies[i].more);
  }
}

/* Of the run that did it, not of the one before which it was seen. */
Test(rig_world, a_part_that_was_changed_is_held_against_its_run) {
  struct tally t;
  world.changes_in = 1; /* of three rows, one by itself */
  cr_assert_eq(judge(FOLD_CLAIM(FOLD_MESSAGE_INVARIANT) | FOLD_CLAIM(FOLD_KEEPS_INPUT), &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_MESSAGE_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_MESSAGE_INVARIANT].reason);
  cr_expect_eq(t.last[FOLD_KEEPS_INPUT].verdict, FOLD_REFUTED);
  cr_expect_str_eq(t.last[FOLD_KEEPS_INPUT].reason, "the input was changed, in a run for message_invariant");
}

/* Another rig takes the ranks' memory then: what was done to the case's input is looked at before. */
Test(rig_world, a_batch_is_run_by_as_many_ranks_and_nobody_is_blamed_for_it) {
  struct tally t;
  rows = 1;
  cr_assert_eq(judge(FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_KEEPS_INPUT), &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_BATCH_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_BATCH_INVARIANT].reason);
  cr_expect_eq(t.last[FOLD_KEEPS_INPUT].verdict, FOLD_HELD, "%s", t.last[FOLD_KEEPS_INPUT].reason);
  size_t batches = 0;
  for (size_t k = 0; k < world.messages; k++) batches += world.message[k].rows == 5 && world.message[k].ranks == 2;
  cr_expect_eq(batches, 1, "%zu batches", batches);
}

/* At either end of a page, elsewhere, and with other numbers of threads. */
Test(rig_world, ranks_are_varied_by_the_plan) {
  struct varied listed[FOLD_PLAN_MOST + 1];
  struct tally t;
  cr_assert_eq(
      judge(FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT),
            &t)
          .code,
      FOLD_OK);
  size_t n = varied_of_plan(FOLD_MPI, ROWS * COLS, t.input_hash, listed);
  varied_expect(&world.varied, listed, n);
}
