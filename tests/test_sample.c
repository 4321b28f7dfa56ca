/* test_sample.c: which results are judged of a case that is too large for all: what a sample has, and that the record says so. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "records/record.h"

static struct fold_case case_of(enum fold_problem_id problem, size_t b, size_t m, size_t n, size_t k) {
  struct fold_case c = {.name = (char[]){"c"}, .dtype = FOLD_F32, .problem = fold_problem(problem)};
  c.shape = (struct fold_shape){.b = b, .m = m, .n = n, .k = k};
  return c;
}

static bool has(const struct fold_sample *sample, const struct fold_case *c, size_t b, size_t m, size_t n) {
  const size_t result = (b * c->shape.m + m) * c->shape.n + n, place = fold_sample_place(sample, result);
  return place < sample->n && fold_sample_result(sample, place) == result;
}

/* Few results are; and many of few terms; and those of a scan, whatever their number. */
Test(sample, results_that_cost_little_are_judged_whole) {
  const struct {
    struct fold_case c;
    bool whole;
  } cases[] = {{case_of(FOLD_MATMUL, 1, 256, 256, 4096), true},  {case_of(FOLD_MATMUL, 1, 256, 257, 4096), false},
               {case_of(FOLD_ROWS_SUM, 1, 65537, 1, 33), true},  {case_of(FOLD_ROWS_SUM, 1, 65537, 1, 63), true},
               {case_of(FOLD_ROWS_SUM, 1, 65537, 1, 64), false}, {case_of(FOLD_ROWS_SUM, 1, 200000, 1, 3), false},
               {case_of(FOLD_SCAN, 1, 10, 1, 100000), true},     {case_of(FOLD_ROWS_MAX, 1, 0, 1, 7), true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fold_sample sample;
    cr_assert_eq(fold_sample_choose(&cases[i].c, NULL, &sample).code, FOLD_OK);
    cr_expect_eq(sample.at == NULL, cases[i].whole, "case %zu", i);
    if (cases[i].whole) cr_expect_eq(sample.n, fold_case_results(&cases[i].c), "case %zu", i);
    if (!cases[i].whole) cr_expect(sample.n > FOLD_SAMPLED / 2 && sample.n <= FOLD_SAMPLED, "%zu", sample.n);
    free(sample.at);
  }
}

/* The ends of an axis; the ends of its first tiles, of its last whole one and of the one before. */
static size_t borders_of(size_t extent, size_t at[64]) {
  size_t n = 0;
  at[n++] = 0, at[n++] = extent - 1;
  for (size_t tile = 16; tile <= 64; tile *= 2)
    for (size_t d = 0; d < 3; d++) {
      const size_t last = extent / tile * tile + d, before = extent < tile ? last : last - tile;
      if (tile + d <= extent) at[n++] = tile + d - 1;
      if (last > 0 && last <= extent) at[n++] = last - 1;
      if (before > 0 && before <= extent) at[n++] = before - 1;
    }
  return n;
}

/* Corners, borders of the first and the last tiles of both axes, in the first and the last batch. */
Test(sample, has_corners_edges_and_borders_of_tiles) {
  static const struct {
    size_t b, m, n;
  } shapes[] = {{1, 300, 299}, {1, 257, 1025}, {7, 128, 129}, {1, 4096, 4096},
                {1, 3, 40000}, {1, 40000, 3},  {90000, 1, 1}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const size_t b = shapes[i].b, m = shapes[i].m, n = shapes[i].n;
    const struct fold_case c = case_of(FOLD_MATMUL, b, m, n, 500);
    struct fold_sample sample;
    cr_assert_eq(fold_sample_choose(&c, NULL, &sample).code, FOLD_OK);
    cr_assert(sample.at != NULL && sample.n <= FOLD_SAMPLED);
    for (size_t k = 1; k < sample.n; k++) cr_assert_lt(sample.at[k - 1], sample.at[k]);
    cr_expect_lt(sample.at[sample.n - 1], fold_case_results(&c));
    size_t rows[64], columns[64];
    const size_t n_rows = borders_of(m, rows), n_columns = borders_of(n, columns);
    for (size_t batch = 0; batch<b; batch += b> 1 ? b - 1 : 1)
      for (size_t x = 0; x < n_rows; x++)
        for (size_t y = 0; y < n_columns; y++)
          cr_expect(has(&sample, &c, batch, rows[x], columns[y]), "%zux%zux%zu lacks row %zu, column %zu of batch %zu",
                    b, m, n, rows[x], columns[y], batch);
    free(sample.at);
  }
}

/* Another input has other places; the same has the same. Each part of the results has some, and each edge. */
Test(sample, has_places_that_the_input_chooses) {
  const struct fold_case c = case_of(FOLD_MATMUL, 1, 1000, 1000, 100);
  float *in = calloc(1000 * 100, sizeof *in);
  size_t quarter[4] = {0}, edge = 0, common = 0;
  struct fold_sample one, same, other;
  cr_assert_eq(fold_sample_choose(&c, in, &one).code, FOLD_OK);
  cr_assert_eq(fold_sample_choose(&c, in, &same).code, FOLD_OK);
  in[99999] = 1;
  cr_assert_eq(fold_sample_choose(&c, in, &other).code, FOLD_OK);
  cr_expect(one.n == same.n && memcmp(one.at, same.at, one.n * sizeof *one.at) == 0);
  for (size_t i = 0; i < one.n; i++) {
    const size_t m = one.at[i] / 1000, n = one.at[i] % 1000;
    quarter[(m >= 500) * 2 + (n >= 500)] += m > 70 && m < 920 && n > 70 && n < 920;
    edge += (m == 0 || m == 999) && n > 70 && n < 890;
    common += fold_sample_place(&other, one.at[i]) < other.n;
  }
  for (int k = 0; k < 4; k++) cr_expect_gt(quarter[k], 100, "quarter %d: %zu", k, quarter[k]);
  cr_expect_gt(edge, 15, "%zu", edge);
  cr_expect(common > 500 && common < one.n - 1000, "%zu of %zu are in both", common, one.n);
  free(one.at), free(same.at), free(other.at), free(in);
}

/* Rows of ones, of which all sums are right, or one is wrong. */
struct judged {
  struct fold_case c;
  struct fold_truths truths;
  float *in, *got;
};

static void open_judged(struct judged *j) {
  j->c = case_of(FOLD_ROWS_SUM, 1, 70000, 1, 100);
  j->in = malloc(7000000 * sizeof *j->in), j->got = malloc(70000 * sizeof *j->got);
  for (size_t i = 0; i < 7000000; i++) j->in[i] = 1;
  for (size_t i = 0; i < 70000; i++) j->got[i] = 100;
  cr_assert_eq(fold_truths_open(&j->truths, &j->c, j->in).code, FOLD_OK);
}

static struct fold_finding judge(struct judged *j, fold_judge_results *by) {
  const struct fold_subject subject = {
      .name = "s", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, .order = "host/sequential", .most_ulps = 1};
  const struct fold_evidence e = {.subject = &subject, .truths = &j->truths, .results = j->got};
  struct fold_finding finding = fold_finding_open(70000);
  by(&e, &finding);
  return finding;
}

Test(sample, is_told_by_each_judge_of_results) {
  fold_judge_results *const judges[] = {fold_judge_bounded, fold_judge_faithful, fold_judge_correctly_rounded,
                                        fold_judge_ulps, fold_judge_compensated};
  struct judged j;
  open_judged(&j);
  const size_t wrong = fold_sample_result(&j.truths.judged, 77);
  for (size_t k = 0; k < sizeof judges / sizeof *judges; k++) {
    struct fold_finding held = judge(&j, judges[k]);
    char text[80];
    snprintf(text, sizeof text, "%zu,%03zu of 70,000 results judged", j.truths.judged.n / 1000,
             j.truths.judged.n % 1000);
    cr_expect(held.verdict == FOLD_HELD && strcmp(held.reason, text) == 0, "%zu: %s", k, held.reason);
    cr_expect(held.sampled == j.truths.judged.n && held.comparisons == held.sampled && held.rows == 70000);
    json_t *line = json_object();
    fold_record_figures(line, &held, FOLD_F32);
    cr_expect_eq(json_integer_value(json_object_get(line, "results_judged")), (json_int_t)j.truths.judged.n);
    json_decref(line);
    j.got[wrong] = 99;
    struct fold_finding refuted = judge(&j, judges[k]);
    cr_expect(refuted.verdict == FOLD_REFUTED && refuted.row == wrong, "%zu: %s", k, refuted.reason);
    j.got[wrong] = 100;
  }
  fold_truths_close(&j.truths);
  free(j.in), free(j.got);
}

/* A result that no judge looks at is weighed if it is asked for, among others and twice. */
Test(sample, a_result_that_is_not_in_it_is_weighed_by_itself) {
  struct judged j;
  open_judged(&j);
  const struct fold_subject subject = {
      .name = "s", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, .order = "host/sequential"};
  const struct fold_evidence e = {.subject = &subject, .truths = &j.truths, .results = j.got};
  size_t outside[2], n = 0;
  for (size_t r = 1000; n < 2 && r < 70000; r++)
    if (fold_sample_place(&j.truths.judged, r) == j.truths.judged.n) outside[n++] = r;
  j.in[100 * outside[1]] = 2;
  for (int again = 0; again < 2; again++) {
    cr_expect_not(fold_refutes_row(&e, outside[0]));
    cr_expect(fold_refutes_row(&e, outside[1]));
  }
  fold_truths_close(&j.truths);
  free(j.in), free(j.got);
}

/* A sample of four of 10,000 results of f32. */
static struct fold_sample few_of(size_t at[4]) { return (struct fold_sample){.n = 4, .at = at}; }

static bool suspects(const struct fold_sample *sample, size_t result) {
  size_t n = 0;
  for (size_t i = sample->n; i < fold_sample_judged(sample); i++) n += fold_sample_result(sample, i) == result;
  cr_expect_leq(n, 1, "result %zu is judged %zu times", result, n);
  return n == 1;
}

/* All results are off by a little; some by more. Those of the sample are judged anyway. */
Test(sample, suspects_are_the_results_furthest_from_the_nearest) {
  enum { RESULTS = 10000, ALL = FOLD_SUSPECTS };
  static float got[RESULTS], nearest[RESULTS];
  size_t at[4] = {0, 77, 5000, 9999};
  struct fold_sample sample = few_of(at);
  for (size_t r = 0; r < RESULTS; r++) nearest[r] = 1000, got[r] = 1000 + 0.001f * (float)(r % 7);
  nearest[4000] = 1e-6f, got[4000] = 2e-6f;      /* far by its part of the nearest alone */
  nearest[4001] = 1e9f, got[4001] = 1e9f + 1024; /* by the difference alone */
  got[4002] = NAN, nearest[4003] = got[4003] = NAN, nearest[4004] = INFINITY, got[4004] = -INFINITY;
  got[4005] = INFINITY, got[77] = 0, got[9998] = 999;
  fold_sample_suspect(&sample, FOLD_F32, got, nearest, RESULTS);
  cr_expect(sample.n_suspects > ALL / 2 && sample.n_suspects <= ALL, "%zu", sample.n_suspects);
  for (size_t r = 4000; r <= 4005; r++)
    cr_expect_eq(suspects(&sample, r), r != 4003, "result %zu: %g, nearest %g", r, got[r], nearest[r]);
  cr_expect(suspects(&sample, 9998) && !suspects(&sample, 77));
}

Test(sample, results_without_an_error_are_no_suspects) {
  static float got[10000];
  size_t at[4] = {0, 77, 5000, 9999};
  struct fold_sample sample = few_of(at);
  sample.n_suspects = 3;
  fold_sample_suspect(&sample, FOLD_F32, got, got, 10000);
  cr_expect_eq(sample.n_suspects, 0);
  got[3] = 1;
  static const float zeros[10000];
  fold_sample_suspect(&sample, FOLD_F32, got, zeros, 10000);
  cr_expect(sample.n_suspects == 1 && suspects(&sample, 3), "%zu", sample.n_suspects);
}

/* More wrong results than there are suspects: each kind keeps the worst of its own. */
Test(sample, of_many_wrong_results_the_worst_are_suspects) {
  enum { RESULTS = 1000 };
  static float got[RESULTS], nearest[RESULTS];
  size_t at[4] = {0, 1, 2, 3};
  struct fold_sample sample = few_of(at);
  for (size_t r = 0; r < RESULTS; r++) nearest[r] = (float)(r + 1) * (float)(r + 1), got[r] = nearest[r] + (float)r;
  fold_sample_suspect(&sample, FOLD_F32, got, nearest, RESULTS);
  cr_expect_eq(sample.n_suspects, FOLD_SUSPECTS);
  for (size_t r = RESULTS - FOLD_SUSPECTS / 2; r < RESULTS; r++) cr_expect(suspects(&sample, r), "%zu", r);
  for (size_t r = 4; r < 4 + FOLD_SUSPECTS / 2; r++) cr_expect(suspects(&sample, r), "%zu", r);
}
