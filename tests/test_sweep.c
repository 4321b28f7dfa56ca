/* test_sweep.c: in which batches and places guests are tried, besides those for every subject: each promised size and
 * offset, no other, and every run counts.
 */
#include <criterion/criterion.h>
#include <unistd.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "tally.h"

enum { MOST = 4000 };
static struct {
  size_t n, fails_at;          /* runs, and the one that fails; 0: none */
  size_t one_more_from;        /* in batches of so many rows each sum is one higher; 0: in none */
  size_t one_more_in;          /* and in that run; 0: in none */
  unsigned char base[1 << 15]; /* the base run's input, where there is room for it */
  struct run {
    size_t rows;
    const unsigned char *in, *other, *out;
    bool is_base;    /* of the base run's input */
    size_t rotation; /* by so many rows that is rotated; rows: it is not */
  } run[MOST];
  bool slow;         /* its runs take over a millisecond */
  bool spoils;       /* each run leaves another first term, a run that fails too */
  size_t takes_from; /* batches of fewer rows are not taken */
  size_t wrong_of;   /* the last sum of a batch of so many rows is one higher; 0: of none */
} seen;

static fold_status fail_if_due(void) {
  if (++seen.n != seen.fails_at) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "on strike in run %zu", seen.fails_at);
}

static void spoil(const struct fold_call *call) {
  const uint64_t bits = fold_bits_load(call->dtype, call->in[0], 0);
  if (seen.spoils) fold_bits_store(call->dtype, (void *)(uintptr_t)call->in[0], 0, bits ^ 1u << 20);
}

static void note(const struct fold_call *call) {
  const size_t row = call->cols * fold_dtype_size(call->dtype), n = call->rows * row;
  struct run *run = &seen.run[seen.n];
  *run = (struct run){.rows = call->rows, .in = call->in[0], .other = call->in[1], .out = call->out};
  if (n > sizeof seen.base) return;
  if (seen.n == 0) memcpy(seen.base, call->in[0], n);
  run->is_base = memcmp(call->in[0], seen.base, n) == 0;
  while (run->rotation < call->rows &&
         (memcmp(run->in, seen.base + run->rotation * row, n - run->rotation * row) != 0 ||
          memcmp(run->in + n - run->rotation * row, seen.base, run->rotation * row) != 0))
    run->rotation++;
}

static fold_status sum_rows(const struct fold_subject *subject, const struct fold_call *call) {
  cr_assert(seen.n < MOST);
  if (call->rows < seen.takes_from) return fold_error(FOLD_UNSUPPORTED, "too few rows");
  note(call);
  if (seen.slow) usleep(1200);
  const fold_status status = fail_if_due();
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  for (size_t r = 0; r < call->rows; r++) {
    double sum = (seen.one_more_from && call->rows >= seen.one_more_from) || seen.n == seen.one_more_in;
    for (size_t i = r * call->cols; i < (r + 1) * call->cols; i++)
      sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i)) *
             (call->in[1] ? fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[1], i)) : 1);
    if (call->rows == seen.wrong_of && r + 1 == call->rows) sum += 1;
    fold_bits_store(result, call->out, r, fold_bits_from_double(result, sum));
  }
  spoil(call);
  return status;
}

/* A guest's subject: only that it is one is looked at. */
static struct fold_subject subject_of(uint64_t claims) {
  static const void *const row[8]; /* a guest's, of no door */
  return (struct fold_subject){.name = "guest",
                               .dtypes = (1u << FOLD_DTYPES) - 1,
                               .problems = (1u << FOLD_PROBLEMS) - 1,
                               .claims = claims,
                               .guest = (const void *)row,
                               .run = sum_rows};
}

static struct tally judge(const struct fold_subject *subject, enum fold_problem_id problem, enum fold_dtype dtype,
                          size_t rows, size_t cols, struct fold_around around) {
  static char name[] = "integers";
  struct fold_registry registry = {subject, 1};
  struct fold_case c = {
      .name = name, .file = name, .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = rows, .cols = cols};
  c.problem = fold_problem(problem);
  c.source = (struct fold_source){fold_generator_find("integers"), dtype, 7, cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct fold_selection selection = {.claims = "*", .engine = -1, .repeats = 3, .around = around};
  struct tally t = {.judgements = 0};
  struct fold_sink sink = {.judgement = tally_take, .context = &t};
  volatile int stop = 0;
  seen.n = 0;
  fold_status status = fold_verify(&registry, &selection, &cases, NULL, &sink, &stop);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return t;
}

/* Whether the leading rows were a batch of that size. */
static bool ran_leading(size_t rows) {
  for (size_t i = 1; i < seen.n; i++)
    if (seen.run[i].rows == rows && seen.run[i].in == seen.run[0].in) return true;
  return false;
}

static bool is_expected(size_t rows, const struct fold_around *around) {
  if (rows <= 9) return true;
  for (size_t power = 16; power <= rows + 1; power *= 2)
    if (rows + 1 >= power && rows <= power + 1) return true;
  for (size_t i = 0; i < around->n; i++)
    if (rows + 1 >= around->at[i] && rows <= around->at[i] + 1) return true;
  return false;
}

/* Of who is quick: each up to 300, and a row more in each tells where it ends. */
Test(sweep, of_who_is_quick_batches_are_of_each_size_up_to_300) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 400, 3, (struct fold_around){.n = 0});
  cr_expect_eq(t.last[FOLD_BATCH_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_BATCH_INVARIANT].reason);
  for (size_t rows = 1; rows <= 300; rows++) cr_expect(ran_leading(rows), "%zu rows", rows);
  for (size_t rows = 301; rows < 400; rows++) cr_expect(!ran_leading(rows), "%zu rows", rows);
}

/* Of who takes longer: up to nine each, then about each power of two and each number that is asked for. */
Test(sweep, batches_are_of_every_size_about_a_power_of_two) {
  static const size_t sizes[] = {2, 9, 10, 15, 16, 17, 18, 70};
  static const struct fold_around arounds[] = {{.n = 0}, {{50}, 1}, {{13, 100, 200}, 3}, {{1}, 1}};
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  seen.slow = true;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t a = 0; a < sizeof arounds / sizeof *arounds; a++) {
      if (arounds[a].n && arounds[a].at[arounds[a].n - 1] >= sizes[s]) continue;
      struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, sizes[s], 3, arounds[a]);
      const struct fold_finding *f = &t.last[FOLD_BATCH_INVARIANT];
      size_t compared =
          3 * sizes[s] + 3 + 2 * (sizes[s] / 2); /* in other places, alone, beside spoilt rows, and half */
      cr_expect_eq(f->verdict, FOLD_HELD, "%s", f->reason);
      for (size_t rows = 1; rows < sizes[s]; rows++) {
        const bool expected = is_expected(rows, &arounds[a]);
        cr_expect(ran_leading(rows) == (expected || rows == sizes[s] / 2), "%zu of %zu rows, list %zu", rows, sizes[s],
                  a);
        compared += expected ? rows : 0;
      }
      cr_expect_eq(f->comparisons, compared, "%zu rows, list %zu: %zu comparisons", sizes[s], a, f->comparisons);
    }
}

/* The first size that gives different bits is named, tried or not. */
Test(sweep, the_first_batch_with_other_bits_is_named) {
  enum { ROWS = 70 };
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  for (seen.one_more_from = 2; seen.one_more_from <= ROWS; seen.one_more_from++) {
    struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, ROWS, 3, (struct fold_around){.n = 0});
    const struct fold_finding *f = &t.last[FOLD_BATCH_INVARIANT];
    char reason[100];
    snprintf(reason, sizeof reason, "same bits up to %zu row%s, different bits from %zu (of %d)",
             seen.one_more_from - 1, seen.one_more_from == 2 ? "" : "s", seen.one_more_from, ROWS);
    cr_expect_eq(f->verdict, FOLD_REFUTED);
    cr_expect_str_eq(f->reason, reason, "%s", f->reason);
    cr_expect(f->compared && fold_bits_to_double(FOLD_F32, f->got) - fold_bits_to_double(FOLD_F32, f->want) == 1);
  }
}

/* One run of two rows had other bits, and the next one the usual ones. */
Test(sweep, a_batch_whose_bits_change_in_a_repeat_is_told) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 5, 3, (struct fold_around){.n = 0});
  size_t at = 1;
  while (seen.run[at].rows != 2 || seen.run[at].in != seen.run[0].in) at++;
  seen.one_more_in = at + 1;
  struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 5, 3, (struct fold_around){.n = 0});
  cr_expect_eq(t.last[FOLD_BATCH_INVARIANT].verdict, FOLD_REFUTED);
  cr_expect_str_eq(t.last[FOLD_BATCH_INVARIANT].reason, "bits of a batch of 2 rows changed in a repeat");
}

/* Each batch has the input as it was, and a batch that fails is reported whatever it left of its input. */
Test(sweep, a_batch_that_writes_its_input_alters_no_other) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  seen.spoils = true;
  struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 12, 3, (struct fold_around){.n = 0});
  const struct fold_finding *f = &t.last[FOLD_BATCH_INVARIANT];
  const size_t runs = seen.n;
  cr_expect_eq(f->verdict, FOLD_HELD, "%s", f->reason);
  for (seen.fails_at = 1; seen.fails_at <= runs; seen.fails_at++) {
    t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 12, 3, (struct fold_around){.n = 0});
    cr_expect_eq(f->verdict, FOLD_BROKEN, "run %zu of %zu: %s", seen.fails_at, runs, f->reason);
  }
}

/* Sizes that are not taken are left out, and do not count among the first three that say whether each is tried. */
Test(sweep, a_claim_of_results_is_tried_on_each_batch_that_is_taken) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BOUNDED));
  const struct fold_around none = {.n = 0};
  seen.takes_from = 5;
  seen.wrong_of = 12;
  struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 20, 3, none);
  cr_expect_eq(t.last[FOLD_BOUNDED].verdict, FOLD_REFUTED);
  cr_expect(strstr(t.last[FOLD_BOUNDED].reason, ", in a batch of 12 rows"), "%s", t.last[FOLD_BOUNDED].reason);
  seen.slow = true; /* three sizes, the first that is taken of those near a power of two */
  seen.takes_from = 11;
  t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 40, 3, none);
  cr_expect_eq(t.last[FOLD_BOUNDED].verdict, FOLD_HELD, "%s", t.last[FOLD_BOUNDED].reason);
  for (size_t rows = 11; rows < 40; rows++) cr_expect_eq(ran_leading(rows), rows >= 15 && rows <= 17, "%zu rows", rows);
}

static size_t batches_seen;

static fold_status multiply_zeros(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  batches_seen += call->shape.m > 1 && call->shape.m < 300;
  memset(call->out, 0, call->shape.m * call->shape.n * sizeof(float));
  return fold_ok();
}

/* Quick as its runs may be: all sizes of so large a product would take seconds, and a larger one minutes. */
Test(sweep, few_batches_of_a_large_product_are_judged) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BOUNDED));
  struct tally t = {.judgements = 0};
  struct fold_registry registry = {&subject, 1};
  static char name[] = "zeros";
  struct fold_case c = {.name = name, .file = name, .dtype = FOLD_F32, .problem = fold_problem(FOLD_MATMUL)};
  c.shape = (struct fold_shape){.b = 1, .m = 300, .n = 128, .k = 128};
  c.source = (struct fold_source){fold_generator_find("zeros_positive"), FOLD_F32, 1, 128, 0};
  subject.run = multiply_zeros;
  cr_assert_eq(tally_verify(&registry, "*", false, &(struct fold_cases){&c, 1, 1}, &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_BOUNDED].verdict, FOLD_HELD, "%s", t.last[FOLD_BOUNDED].reason);
  cr_expect_eq(batches_seen, 2, "%zu batches", batches_seen); /* of 2 and 3 */
}

/* Sums up to each of four places. One more in the last one of batches of so many rows, or in the second of the row that stands first. */
static size_t one_more_of;
static bool one_more_first;

static fold_status scan(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows * call->cols; r++) {
    const struct fold_terms terms = fold_call_terms(call, r);
    const float *x = terms.factor[0];
    float sum = 0;
    for (size_t t = 0; t < terms.n; t++) sum += x[(ptrdiff_t)t * terms.step[0]];
    if (one_more_of && call->rows >= one_more_of && r % call->cols == 3) sum += 1;
    if (one_more_first && r == 1) sum += 1;
    ((float *)call->out)[r] = sum;
  }
  return fold_ok();
}

Test(sweep, of_rows_of_results_each_is_compared_and_its_row_named) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  const struct fold_around none = {.n = 0};
  subject.run = scan;
  struct tally t = judge(&subject, FOLD_SCAN, FOLD_F32, 7, 4, none);
  const struct fold_finding *f = &t.last[FOLD_BATCH_INVARIANT];
  cr_expect_eq(f->verdict, FOLD_HELD, "%s", f->reason);
  one_more_of = 3;
  t = judge(&subject, FOLD_SCAN, FOLD_F32, 7, 4, none);
  cr_expect_str_eq(f->reason, "same bits up to 2 rows, different bits from 3 (of 7)", "%s", f->reason);
  one_more_of = 0;
  one_more_first = true;
  t = judge(&subject, FOLD_SCAN, FOLD_F32, 7, 4, none);
  cr_expect_str_eq(f->reason, "different bits for row 0 of 7 in place 6 than in place 0", "%s", f->reason);
}

/* What stays of a row in the sums of those behind it, or comes into the sums of those before it. */
static enum { NOTHING, OF_NAN, OF_INFINITY, OF_THE_NEXT } stays;

static fold_status sum_contaminated(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  double left = 0;
  for (size_t r = 0; r < call->rows; r++) {
    const size_t end = (r + 1) * call->cols;
    double sum = left;
    for (size_t i = r * call->cols; i < end; i++)
      sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i));
    if (stays == OF_THE_NEXT && r + 1 < call->rows)
      sum += 0 * fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], end));
    if (stays == OF_NAN && isnan(sum)) left = sum;
    if (stays == OF_INFINITY && isinf(sum)) left = 1;
    fold_bits_store(result, call->out, r, fold_bits_from_double(result, sum));
  }
  return fold_ok();
}

/* One row is laid behind special ones; of several rows each one stands between special ones. */
Test(sweep, nothing_of_a_special_row_gets_into_another_row) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  const struct fold_guest_row *row_of_guest = subject.guest;
  subject.run = sum_contaminated;
  for (stays = NOTHING; stays <= OF_THE_NEXT; stays++)
    for (size_t rows = 1; rows <= 6; rows++)
      for (int guest = 0; guest < 2; guest++) {
        subject.guest = guest ? row_of_guest : NULL;
        const struct fold_finding f =
            judge(&subject, FOLD_ROWS_SUM, FOLD_F32, rows, 3, (struct fold_around){.n = 0}).last[FOLD_BATCH_INVARIANT];
        /* Where a special row comes after one that is held against the base run. */
        const bool seen_there = stays == OF_THE_NEXT   ? rows >= 3
                                : stays == OF_INFINITY ? rows == 1 || rows >= 4
                                                       : stays != NOTHING;
        cr_expect_eq(f.verdict, seen_there ? FOLD_REFUTED : FOLD_HELD, "%d of %zu rows: %s", (int)stays, rows,
                     f.reason);
      }
}

/* One place on and one back, and across the middle: whole, and from one place to the next. */
Test(sweep, rows_are_put_in_other_places) {
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  for (size_t rows = 2; rows <= 9; rows++) {
    bool by[10] = {false};
    judge(&subject, FOLD_ROWS_SUM, FOLD_F32, rows, 40, (struct fold_around){.n = 0});
    for (size_t i = 1; i < seen.n; i++)
      if (seen.run[i].rows == rows) by[seen.run[i].rotation] = true;
    for (size_t k = 1; k < rows; k++)
      cr_expect_eq(by[k], k == 1 || k == rows - 1 || k == rows / 2, "%zu rows, by %zu", rows, k);
    cr_expect(by[rows], "%zu rows beside spoilt ones", rows);
  }
}

/* Offsets within a line that were tried, of the arguments by themselves and of all. */
struct offsets {
  bool in[129], other[129], out[129], all[129];
};

/* With the second input at each other place, so that who keeps its last result by its input has to make each one. */
static struct offsets find_offsets(size_t narrow) {
  const struct run *base = &seen.run[0];
  struct offsets found = {.in = {false}};
  for (size_t i = 1; i < seen.n; i++) {
    const struct run *r = &seen.run[i];
    const ptrdiff_t in = r->in - base->in, other = base->other ? r->other - base->other : 0, out = r->out - base->out;
    if (in < 0 || in > 128 || other < 0 || other > 128 || out < 0 || out > 128) continue;
    const size_t far = (size_t)(in > other ? in : other), most = far > (size_t)out ? far : (size_t)out;
    if (r->is_base == (most / narrow % 2 == 1)) continue;
    if (!other && !out) found.in[in] = true;
    if (!in && !out) found.other[other] = true;
    if (!in && !other) found.out[out] = true;
    if (in == out && (!base->other || in == other)) found.all[in] = true;
  }
  return found;
}

/* Each element's place within 128 bytes, whatever the sizes of terms and results; each argument by itself, and all. */
Test(sweep, arguments_lie_at_each_offset_of_a_line) {
  static const struct {
    enum fold_problem_id problem;
    enum fold_dtype dtype;
    unsigned result;
  } rows[] = {{FOLD_ROWS_SUM, FOLD_F32, FOLD_USUAL},
              {FOLD_ROWS_SUM, FOLD_F64, FOLD_USUAL},
              {FOLD_ROWS_SUM, FOLD_F16, FOLD_USUAL},
              {FOLD_ROWS_SUM, FOLD_F16, FOLD_OF_ACCUMULATOR},
              {FOLD_ROWS_SUM, FOLD_E4M3, FOLD_OF_ACCUMULATOR},
              {FOLD_ROWS_SUM, FOLD_F64, FOLD_ALWAYS(FOLD_F16)},
              {FOLD_DOT, FOLD_F32, FOLD_USUAL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS));
    subject.result = rows[i].result;
    struct tally t = judge(&subject, rows[i].problem, rows[i].dtype, 3, 7, (struct fold_around){.n = 0});
    const size_t size = fold_dtype_size(rows[i].dtype),
                 out = fold_dtype_size(fold_subject_result(&subject, rows[i].dtype));
    cr_expect_eq(t.last[FOLD_ALIGNMENT_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_ALIGNMENT_INVARIANT].reason);
    cr_expect_eq(t.last[FOLD_STAYS_IN_BOUNDS].verdict, FOLD_HELD, "%s", t.last[FOLD_STAYS_IN_BOUNDS].reason);
    const struct offsets found = find_offsets(size < out ? size : out);
    for (size_t at = size; at <= 128; at += size) {
      cr_expect(found.in[at], "row %zu: input at %zu", i, at);
      cr_expect(found.other[at] || rows[i].problem != FOLD_DOT, "row %zu: other input at %zu", i, at);
      cr_expect(found.all[at] || at % out, "row %zu: all at %zu", i, at);
    }
    for (size_t at = out; at <= 128; at += out) cr_expect(found.out[at], "row %zu: output at %zu", i, at);
    /* Each once, and all together at each place of either. */
    const size_t narrow = size < out ? size : out, inputs = rows[i].problem == FOLD_DOT ? 2 : 1;
    const size_t swept = 128 / size * inputs + 128 / out + 128 / narrow, runs = seen.n;
    subject.guest = NULL;
    struct tally without = judge(&subject, rows[i].problem, rows[i].dtype, 3, 7, (struct fold_around){.n = 0});
    cr_expect_eq(runs - seen.n, swept, "row %zu: %zu runs, %zu without", i, runs, seen.n);
    cr_expect_eq(t.last[FOLD_ALIGNMENT_INVARIANT].comparisons,
                 without.last[FOLD_ALIGNMENT_INVARIANT].comparisons + 3 * swept);
  }
}

/* What has no memory of ours, what has no term, and what is long, is not swept. */
Test(sweep, offsets_are_those_of_short_cases_in_our_memory) {
  static const char *const apart[FOLD_CLAIMS] = {[FOLD_ALIGNMENT_INVARIANT] = "it has other memory"};
  static const struct {
    const char *const *why_skipped;
    size_t rows, cols;
    bool sweeps;
  } cases[] = {{NULL, 1, 4096, true}, {NULL, 1, 4097, false}, {NULL, 3, 0, false}, {apart, 1, 4096, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT));
    subject.why_skipped = cases[i].why_skipped;
    judge(&subject, FOLD_ROWS_SUM, FOLD_F32, cases[i].rows, cases[i].cols, (struct fold_around){.n = 0});
    const size_t swept = seen.n;
    subject.guest = NULL;
    judge(&subject, FOLD_ROWS_SUM, FOLD_F32, cases[i].rows, cases[i].cols, (struct fold_around){.n = 0});
    cr_expect_eq(swept - seen.n, cases[i].sweeps ? 3 * 32 : 0, "case %zu: %zu runs, %zu without", i, swept, seen.n);
  }
}

/* Whichever of its runs fails, the claim is broken, by what the run said. */
Test(sweep, a_run_that_fails_breaks_the_claim_and_is_told) {
  static const enum fold_claim_id claims[] = {FOLD_BATCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT, FOLD_LENGTH_INVARIANT,
                                              FOLD_PADDING_INVARIANT};
  for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
    struct fold_subject subject = subject_of(FOLD_CLAIM(claims[k]) | FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS));
    struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 40, 3, (struct fold_around){.n = 0});
    const struct fold_finding *f = &t.last[claims[k]];
    const size_t runs = seen.n;
    cr_expect(f->verdict == FOLD_HELD && runs > 20, "claim %d: %s", (int)claims[k], f->reason);
    for (seen.fails_at = 1; seen.fails_at <= runs; seen.fails_at++) {
      char words[40];
      snprintf(words, sizeof words, "on strike in run %zu", seen.fails_at);
      t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 40, 3, (struct fold_around){.n = 0});
      const bool of_bounds =
          t.last[FOLD_STAYS_IN_BOUNDS].verdict == FOLD_BROKEN; /* judged afterwards, by runs of its own */
      cr_expect(strstr(of_bounds ? t.last[FOLD_STAYS_IN_BOUNDS].reason : f->reason, words) &&
                    (of_bounds || f->verdict == FOLD_BROKEN),
                "claim %d, run %zu of %zu: %d, %s", (int)claims[k], seen.fails_at, runs, (int)f->verdict, f->reason);
    }
    seen.fails_at = 0;
  }
}

/* Whichever run of a row's first terms has other bits: how many they were, and where they stood. */
Test(sweep, the_terms_that_have_other_bits_elsewhere_are_told) {
  static const char *const reasons[] = {
      "the row's first 1 term, as an array, gave different bits than in the row",
      "the row's first 1 term, in front of zeros, gave different bits than in the row",
      "the row's first 2 terms, as an array, gave different bits than in the row",
      "the row's first 4 terms, in front of zeros, gave different bits than in the row"};
  struct fold_subject subject = subject_of(FOLD_CLAIM(FOLD_LENGTH_INVARIANT));
  bool told[4] = {false};
  size_t runs = 1;
  for (seen.one_more_in = 0; seen.one_more_in <= runs; seen.one_more_in++) {
    struct tally t = judge(&subject, FOLD_ROWS_SUM, FOLD_F32, 1, 4, (struct fold_around){.n = 0});
    const struct fold_finding *f = &t.last[FOLD_LENGTH_INVARIANT];
    if (seen.one_more_in == 0) runs = seen.n;
    cr_expect(seen.one_more_in > 0 || f->verdict == FOLD_HELD, "%s", f->reason);
    for (int k = 0; k < 4; k++) told[k] |= f->verdict == FOLD_REFUTED && strcmp(f->reason, reasons[k]) == 0;
  }
  for (int k = 0; k < 4; k++) cr_expect(told[k], "never in %zu runs: %s", runs, reasons[k]);
}
