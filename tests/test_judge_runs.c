/* test_judge_runs.c: the judges' own runs: of which parts of the input, and what becomes of a run that fails. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "tally.h"

/* Sums integers, which no order rounds; keeps a log of its runs, and fails in the run of that number. */
static struct {
  unsigned runs, fails_at;
  unsigned lies_in;   /* the run whose sums are one too high; 0: none */
  size_t one_more_at; /* columns of a row whose sum is one too high; 0: none */
  size_t deaf_to;     /* the column that is left out; 0: none */
  size_t rows[4000], cols[4000];
  unsigned threads[4000];
  const void *in[4000];
} seen;

static fold_status sum_integers(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (seen.runs < 4000) {
    seen.rows[seen.runs] = call->rows;
    seen.cols[seen.runs] = call->cols;
    seen.in[seen.runs] = call->in[0];
    seen.threads[seen.runs] = call->launch.threads;
  }
  if (++seen.runs == seen.fails_at) return fold_error(FOLD_ENVIRONMENT, "on strike in run %u", seen.fails_at);
  for (size_t r = 0; r < call->rows; r++) {
    double sum = 0;
    for (size_t c = 0; c < call->cols; c++)
      if (c != seen.deaf_to || c == 0)
        sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], r * call->cols + c));
    fold_bits_store(
        call->dtype, call->out, r,
        fold_bits_from_double(call->dtype, sum + (call->cols == seen.one_more_at) + (seen.runs == seen.lies_in)));
  }
  return fold_ok();
}

static struct tally judge(enum fold_claim_id claim, size_t rows, size_t cols, unsigned fails_at) {
  struct fold_subject subject = {.name = "counts",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(claim),
                                 .run = sum_integers};
  struct fold_case c = tally_integers(rows, cols);
  struct fold_cases cases = {&c, 1, 1};
  seen.runs = 0;
  seen.fails_at = fails_at;
  return tally_of(&subject, &cases);
}

static const enum fold_claim_id running[] = {FOLD_RUN_TO_RUN,      FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT,
                                             FOLD_BATCH_INVARIANT, FOLD_SPLIT_INVARIANT,  FOLD_PERMUTATION_INVARIANT};
static const size_t shapes[][2] = {{1, 9000}, {6, 4500}};

/* Whichever of its runs fails, the claim is broken, by what the run said; it never holds by the runs that are left. */
Test(judge_runs, a_run_that_fails_breaks_the_claim_and_is_told) {
  for (size_t k = 0; k < sizeof running / sizeof *running; k++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      struct tally t = judge(running[k], shapes[s][0], shapes[s][1], 0);
      unsigned runs = seen.runs;
      cr_expect_eq(t.last[running[k]].verdict, FOLD_HELD, "claim %zu: %s", k, t.last[running[k]].reason);
      cr_expect(runs >= 2 && runs < 4000, "claim %zu: %u runs", k, runs);
      cr_expect(t.last[running[k]].comparisons >= 2, "claim %zu: %zu comparisons", k, t.last[running[k]].comparisons);
      for (unsigned at = 1; at <= runs; at++) {
        char words[40];
        snprintf(words, sizeof words, "on strike in run %u", at);
        t = judge(running[k], shapes[s][0], shapes[s][1], at);
        cr_expect(t.last[running[k]].verdict == FOLD_BROKEN && strstr(t.last[running[k]].reason, words),
                  "claim %zu, run %u of %u: verdict %d: %s", k, at, runs, (int)t.last[running[k]].verdict,
                  t.last[running[k]].reason);
        cr_expect_eq(seen.runs, at, "claim %zu goes on after a run that failed", k);
      }
    }
}

/* One that never looks at a term gives the same result whatever that is: it is run once more, on terms that are all others, and told
 * from one that kept the result. */
Test(judge_runs, a_run_that_fails_breaks_the_claim_of_a_deaf_subject_too) {
  seen.deaf_to = 8999; /* the last, which is changed before the second repeat */
  unsigned runs = 0;
  for (unsigned at = 0; at <= runs; at++) {
    struct tally t = judge(FOLD_RUN_TO_RUN, 1, 9000, at);
    const struct fold_finding *f = &t.last[FOLD_RUN_TO_RUN];
    if (at == 0) runs = seen.runs;
    cr_expect_eq(f->verdict, at ? FOLD_BROKEN : FOLD_HELD, "run %u of %u: %s", at, runs, f->reason);
    cr_expect_eq(seen.runs, at ? at : runs);
  }
  cr_expect_eq(runs, 9, "%u runs: one, three again, four of other inputs, and that one", runs);
}

/* Where the run's input began, in rows of the case. */
static size_t row_of(unsigned run, size_t cols) {
  return (size_t)((const char *)seen.in[run - 1] - (const char *)seen.in[0]) / (cols * sizeof(float));
}

/* A run of which all sums are one too high is what was got, in its own row, the base run too; of the base run of the second input, and of
 * the copy of a sub-range, whose exact sums no claim needs, it is the other way. Runs of other inputs only ask whether results are kept: they are held against nothing. */
Test(judge_runs, the_run_that_differs_is_what_was_got) {
  static const unsigned of_other_inputs[] = {4, 1, 1, 0, 0, 0};
  for (size_t k = 0; k < sizeof running / sizeof *running; k++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      const enum fold_claim_id claim = running[k];
      seen.lies_in = 0;
      judge(claim, shapes[s][0], shapes[s][1], 0);
      const unsigned runs = seen.runs;
      unsigned held = 0;
      for (seen.lies_in = 1; seen.lies_in <= runs; seen.lies_in++) {
        struct tally t = judge(claim, shapes[s][0], shapes[s][1], 0);
        const struct fold_finding *f = &t.last[claim];
        const bool copy = claim == FOLD_ALIGNMENT_INVARIANT && seen.lies_in == runs;
        const bool part = claim == FOLD_SPLIT_INVARIANT || (claim == FOLD_BATCH_INVARIANT && shapes[s][0] > 1);
        /* The first thing that a base run of several rows is held against: its second row, beside a spoilt first one. */
        const bool beside = claim == FOLD_BATCH_INVARIANT && shapes[s][0] > 1 && seen.lies_in <= 2;
        held += f->verdict == FOLD_HELD;
        if (f->verdict == FOLD_HELD) continue;
        cr_expect(f->verdict == FOLD_REFUTED && f->compared, "claim %zu, run %u: %s", k, seen.lies_in, f->reason);
        double got = fold_bits_to_double(FOLD_F32, f->got), want = fold_bits_to_double(FOLD_F32, f->want);
        const bool second = seen.lies_in == 3 && (claim == FOLD_LAUNCH_INVARIANT || claim == FOLD_ALIGNMENT_INVARIANT);
        const bool turns =
            (second || copy) && !strstr(f->sides, "wrong"); /* what is outside its bound is what was got */
        cr_expect_eq(got - want, turns ? -1 : 1, "claim %zu, run %u of %u: %g, want %g: %s; %s", k, seen.lies_in, runs,
                     got, want, f->reason, f->sides);
        cr_expect_eq(f->row,
                     beside ? 1
                     : part ? row_of(seen.lies_in, shapes[s][1])
                            : 0,
                     "claim %zu, run %u: row %zu", k, seen.lies_in, f->row);
      }
      cr_expect_eq(held, of_other_inputs[k], "claim %zu, shape %zu: held in spite of %u runs of %u", k, s, held, runs);
    }
}

static bool ran(size_t rows, size_t cols, size_t first) {
  for (unsigned i = 1; i < seen.runs && i < 4000; i++)
    if (seen.rows[i] == rows && seen.cols[i] == cols &&
        (const char *)seen.in[i] == (const char *)seen.in[0] + first * sizeof(float))
      return true;
  return false;
}

/* Each number of threads at three places, and no other number. */
Test(judge_runs, launches_are_those_of_the_list) {
  struct fold_variation plan[FOLD_PLAN_MOST];
  struct tally t = judge(FOLD_LAUNCH_INVARIANT, 2, 9, 0);
  const size_t n = fold_plan(FOLD_HOST, 2 * 9, t.input_hash, plan);
  unsigned times[33] = {0}, want[33] = {0}, all = 0;
  for (size_t k = 0; k < n; k++) want[plan[k].launch.threads]++;
  for (unsigned i = 0; i < seen.runs; i++) {
    cr_assert(seen.threads[i] <= 32, "%u threads", seen.threads[i]);
    times[seen.threads[i]]++;
    all += seen.threads[i] > 0; /* else its own choice: base runs, other places, other inputs */
  }
  for (unsigned k = 1; k <= 32; k++) cr_expect_eq(times[k], want[k], "%u threads: %u runs", k, times[k]);
  cr_expect_eq(all, 3 * 7, "%u launches", all);
  cr_expect_eq(t.last[FOLD_LAUNCH_INVARIANT].comparisons, 2 * 3 * 7);
}

/* The first, the middle and the last row where they stand, and half of them. */
Test(judge_runs, rows_of_a_batch_are_run_alone) {
  for (size_t rows = 2; rows <= 7; rows++) {
    judge(FOLD_BATCH_INVARIANT, rows, 5, 0);
    cr_expect(ran(1, 5, 0) && ran(1, 5, rows / 2 * 5) && ran(1, 5, (rows - 1) * 5) && ran(rows / 2, 5, 0), "%zu rows",
              rows);
  }
}

/* Five of a row take room: up to 2^18 terms they are run. */
Test(judge_runs, a_row_is_put_in_a_batch_up_to_a_length) {
  cr_expect_eq(judge(FOLD_BATCH_INVARIANT, 1, 1 << 18, 0).last[FOLD_BATCH_INVARIANT].verdict, FOLD_HELD);
  cr_expect_eq(judge(FOLD_BATCH_INVARIANT, 1, (1 << 18) + 1, 0).last[FOLD_BATCH_INVARIANT].verdict, FOLD_SKIPPED);
}

/* The first and the last row in shards of tiles, as few and as many as they can be cut in. */
Test(judge_runs, rows_are_cut_at_tiles) {
  enum { COLS = 4 * 4096 + 100 };
  struct tally t = judge(FOLD_SPLIT_INVARIANT, 3, COLS, 0);
  cr_expect_eq(t.last[FOLD_SPLIT_INVARIANT].comparisons, 6, "two rows, each cut in two, in three and in five: %zu",
               t.last[FOLD_SPLIT_INVARIANT].comparisons);
  for (size_t row = 0; row < 3; row += 2) {
    for (size_t s = 0; s < 5; s++)
      cr_expect(ran(1, s < 4 ? 4096 : 100, row * COLS + s * 4096), "row %zu, tile %zu", row, s);
    cr_expect(ran(1, 16384, row * COLS) && ran(1, 100, row * COLS + 16384), "row %zu in two", row);
  }
  for (unsigned i = 1; i < seen.runs; i++) cr_expect(seen.rows[i] == 1 && seen.cols[i] < COLS, "%zu", seen.cols[i]);
}

/* Shards that give another sum than the row: both are the evidence, and the row's is the wrong one. */
Test(judge_runs, a_sum_of_shards_is_held_against_the_rows) {
  seen.one_more_at = 9000;
  struct tally t = judge(FOLD_SPLIT_INVARIANT, 3, 9000, 0);
  const struct fold_finding *f = &t.last[FOLD_SPLIT_INVARIANT];
  cr_expect(f->verdict == FOLD_REFUTED && f->compared && f->row == 0, "%s", f->reason);
  double got = fold_bits_to_double(FOLD_F32, f->got), want = fold_bits_to_double(FOLD_F32, f->want);
  cr_expect_eq(got, want + 1, "%g of the shards, %g of the row", got, want);
}

/* Of the row's terms, which are their places: how many stay, and how many have the neighbour that they had. */
static unsigned least_stay, least_together;
static fold_status look_at_order(const struct fold_subject *subject, const struct fold_call *call) {
  const float *in = call->in[0];
  unsigned stay = 0, together = 0;
  for (size_t i = 0; i < call->cols; i++) {
    stay += in[i] == (float)i;
    together += i > 0 && fabsf(in[i] - in[i - 1]) == 1;
  }
  const unsigned quarter = (unsigned)call->cols / 4;
  if (stay < quarter && together < quarter) least_stay = stay, least_together = together;
  return sum_integers(subject, call);
}

/* One of the permutations leaves few terms where they were, and few beside each other. */
Test(judge_runs, a_shuffled_row_is_shuffled) {
  enum { N = 100 };
  static char name[] = "places";
  uint64_t bits[N];
  struct fold_subject subject = {.name = "looks",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT),
                                 .run = look_at_order};
  struct fold_case c = {
      .name = name, .file = name, .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = N};
  struct fold_cases cases = {&c, 1, 1};
  for (size_t i = 0; i < N; i++) bits[i] = fold_f32_bits((float)i);
  c.literal = bits;
  c.where = "test";
  least_stay = least_together = N;
  struct tally t = tally_of(&subject, &cases);
  cr_expect_eq(t.last[FOLD_PERMUTATION_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_PERMUTATION_INVARIANT].reason);
  cr_expect(least_stay < N / 4 && least_together < N / 4, "%u stay, %u together", least_stay, least_together);
}

/* By odd numbers of elements, and back: a part of the row in place and moved. */
Test(judge_runs, the_input_is_moved_and_back) {
  static const ptrdiff_t shifts[] = {1, 2, 5};
  judge(FOLD_ALIGNMENT_INVARIANT, 2, 9, 0);
  for (size_t i = 0; i < 3; i++) cr_expect(ran(2, 9, (size_t)shifts[i]), "%td further", shifts[i]);
  cr_expect(ran(1, 8, 1) && ran(1, 8, 0), "a part of the row");
}

/* Leaves one row as it was, or none; row 0 it writes with the poison of base runs, by chance. */
static size_t left_out;
static bool by_chance;
static fold_status leave_out(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (++seen.runs == seen.fails_at) return fold_error(FOLD_ENVIRONMENT, "on strike in run %u", seen.fails_at);
  for (size_t r = 0; r < call->rows; r++)
    if (r != left_out) fold_bits_store(call->dtype, call->out, r, fold_f32_bits((float)r));
  if (by_chance) memset(call->out, FOLD_BASE_POISON, sizeof(float));
  return fold_ok();
}

/* Each row by itself is missed and named; a result that is the poison of one run is a result. */
Test(judge_runs, the_row_that_was_not_written_is_named) {
  enum { ROWS = 4 };
  static const float terms[ROWS] = {1, 2, 3, 4};
  struct fold_subject subject = {.name = "leaves",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT),
                                 .run = leave_out};
  struct fold_registry registry = {&subject, 1};
  uint64_t bits[ROWS];
  struct fold_case c = {
      .name = "c", .file = "c", .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = ROWS, .cols = 1};
  struct fold_cases cases = {&c, 1, 1};
  for (int i = 0; i < ROWS; i++) bits[i] = fold_f32_bits(terms[i]);
  c.literal = bits;
  c.where = "test";
  for (left_out = 0; left_out <= ROWS; left_out++)
    for (int chance = 0; chance < 2; chance++) {
      struct tally t;
      if (chance && left_out == 0) continue;
      by_chance = chance;
      cr_assert_eq(tally_verify(&registry, NULL, false, &cases, &t).code, FOLD_OK);
      const struct fold_finding *f = &t.last[FOLD_WRITES_OUTPUT];
      cr_expect_eq(f->verdict, left_out < ROWS ? FOLD_REFUTED : FOLD_HELD, "row %zu, %d: %s", left_out, chance,
                   f->reason);
      cr_expect(left_out == ROWS || f->row == left_out, "row %zu, %d: row %zu is named", left_out, chance, f->row);
    }
  /* The runs that confirm it are runs: one that fails breaks the claim. */
  left_out = 1, by_chance = false;
  seen.runs = 0;
  struct tally t;
  cr_assert_eq(tally_verify(&registry, NULL, false, &cases, &t).code, FOLD_OK);
  const unsigned runs = seen.runs;
  for (seen.fails_at = 1; seen.fails_at <= runs; seen.fails_at++) {
    seen.runs = 0;
    cr_assert_eq(tally_verify(&registry, NULL, false, &cases, &t).code, FOLD_OK);
    cr_expect_eq(t.last[FOLD_WRITES_OUTPUT].verdict, FOLD_BROKEN, "run %u of %u: %s", seen.fails_at, runs,
                 t.last[FOLD_WRITES_OUTPUT].reason);
  }
}

static size_t ask_for_some(const struct fold_subject *subject, const struct fold_call *call) {
  return (void)subject, (void)call, 5000;
}
static fold_status look_at_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(call->dtype, call->out, r, fold_f32_bits((float)((uintptr_t)call->scratch / 256 % 2)));
  return fold_ok();
}

/* The input and the output stay where they are then. */
Test(judge_runs, the_scratch_is_moved_by_itself) {
  static char name[] = "c";
  uint64_t bits[] = {fold_f32_bits(1), fold_f32_bits(2), fold_f32_bits(3)};
  struct fold_subject subject = {.name = "looks",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
                                 .scratch = ask_for_some,
                                 .run = look_at_scratch};
  struct fold_case c = {
      .name = name, .file = name, .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
  struct fold_cases cases = {&c, 1, 1};
  c.literal = bits;
  c.where = "test";
  struct tally t = tally_of(&subject, &cases);
  cr_expect_eq(t.last[FOLD_ALIGNMENT_INVARIANT].verdict, FOLD_REFUTED);
  cr_expect_str_eq(t.last[FOLD_ALIGNMENT_INVARIANT].reason, "different bits with the scratch 256 bytes further");
}

/* Keeps the results of an address and a shape, whatever lies there later. */
static struct {
  const void *in;
  size_t rows, cols;
  float out[8];
} cache;
static fold_status keep(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t nbytes = call->rows * sizeof(float);
  bool known = cache.in == call->in[0] && cache.rows == call->rows && cache.cols == call->cols;
  fold_status status = known ? fold_ok() : sum_integers(subject, call);
  if (known)
    memcpy(call->out, cache.out, nbytes);
  else
    memcpy(cache.out, call->out, nbytes);
  cache.in = call->in[0], cache.rows = call->rows, cache.cols = call->cols;
  return status;
}

/* Which term is changed first the input's hash says: row and place name it. */
Test(judge_runs, the_term_whose_change_was_not_seen_is_named) {
  static const struct { size_t rows, cols; } kept[] = {{3, 5}, {1, 9}, {4, 6}, {5, 1}};
  struct fold_subject subject = {.name = "keeps",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_RUN_TO_RUN),
                                 .run = keep};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    struct fold_case c = tally_integers(kept[i].rows, kept[i].cols);
    struct fold_cases cases = {&c, 1, 1};
    char reason[100];
    cache.in = NULL;
    struct tally t = tally_of(&subject, &cases);
    const struct fold_finding *f = &t.last[FOLD_RUN_TO_RUN];
    snprintf(reason, sizeof reason, "the result of the previous input, from before its term %zu was changed",
             t.input_hash % (c.rows * c.cols) % c.cols);
    cr_expect(f->verdict == FOLD_REFUTED && f->row == t.input_hash % (c.rows * c.cols) / c.cols, "shape %zu: row %zu",
              i, f->row);
    cr_expect_str_eq(f->reason, reason, "shape %zu: %s", i, f->reason);
  }
}

static size_t count_mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  size_t n = 0;
  for (int c; maps && (c = getc(maps)) != EOF;) n += c == '\n';
  if (maps) fclose(maps);
  return n;
}

/* A judge's own rooms go with it: thousands of cases are judged in one process. */
Test(judge_runs, a_judge_leaves_no_room_behind) {
  for (size_t k = 0; k < sizeof running / sizeof *running; k++) {
    size_t before = 0;
    for (int again = 0; again < 20; again++) {
      judge(running[k], 1, 5000, 0);
      if (again == 4) before = count_mappings();
    }
    cr_expect(count_mappings() < before + 15, "claim %zu: %zu mappings, then %zu", k, before, count_mappings());
  }
}

/* Looks at a byte past the input or before it, and computes as if it had not. */
static ptrdiff_t looks_at;
static fold_status look_aside(const struct fold_subject *subject, const struct fold_call *call) {
  const unsigned char *in = call->in[0];
  size_t n = call->rows * call->cols * fold_dtype_size(call->dtype);
  volatile unsigned char byte = looks_at < 0 ? in[looks_at] : in[n + (size_t)looks_at];
  (void)byte;
  return sum_integers(subject, call);
}

/* A subject that promises nothing else is run beside pages without access all the same. */
Test(judge_runs, a_read_beside_the_input_is_seen_by_its_own_claim_alone) {
  static char name[] = "c";
  uint64_t bits[] = {fold_f32_bits(1), fold_f32_bits(2), fold_f32_bits(3)};
  struct fold_subject subject = {.name = "looks",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS),
                                 .run = look_aside};
  struct fold_case c = {
      .name = name, .file = name, .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
  struct fold_cases cases = {&c, 1, 1};
  c.literal = bits;
  c.where = "test";
  for (looks_at = -1; looks_at < 1; looks_at++) {
    struct tally t = tally_of(&subject, &cases);
    cr_expect_eq(t.last[FOLD_STAYS_IN_BOUNDS].verdict, FOLD_REFUTED, "%td: %s", looks_at,
                 t.last[FOLD_STAYS_IN_BOUNDS].reason);
  }
}
