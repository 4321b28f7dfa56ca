/* test_library_problems.c: the library's functions of a problem and a shape, through its header and shared library alone: results
 * against plain loops, layouts, orders, bounds, refusals. */
#include <criterion/criterion.h>
#include <foldproof.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, M = 3, N = 4, K = 150 };

/* Whole numbers below 2^11, so that a double holds each sum of products; an f32 does not. */
static float term(uint32_t i) {
  uint32_t x = i * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (float)((int32_t)(x % 4095) - 2047);
}

static void fill(float *x, size_t n, uint32_t first) {
  for (size_t i = 0; i < n; i++) x[i] = term(first + (uint32_t)i);
}

static float a[B * M * K], b[B * K * N];
static uint32_t keys[K];

static void fill_all(void) {
  fill(a, B * M * K, 0);
  fill(b, B * K * N, 1u << 20);
  for (size_t t = 0; t < K; t++) keys[t] = t % 7 == 0 ? 4 : (uint32_t)(t * t % 3); /* slot 3 is empty */
}

static struct foldproof_problem problem_of(const char *name, uint64_t batches, uint64_t m, uint64_t n, uint64_t k,
                                           const void *first, const void *second) {
  struct foldproof_problem p;
  memset(&p, 0, sizeof p);
  p.size = sizeof p, p.name = name, p.dtype = "f32";
  p.extent[0] = batches, p.extent[1] = m, p.extent[2] = n, p.extent[3] = k;
  p.in[0] = first, p.in[1] = second;
  return p;
}

/* The terms of a result, joined by a plain loop. */
typedef double plain(size_t result);

static double loop_dot(size_t r) {
  double s = 0;
  for (size_t k = 0; k < K; k++) s += (double)a[r * K + k] * b[r * K + k];
  return s;
}
static double loop_matvec(size_t r) {
  double s = 0;
  for (size_t k = 0; k < K; k++) s += (double)a[r * K + k] * b[k];
  return s;
}
static double loop_matmul(size_t r) {
  const size_t batch = r / (M * N), m = r / N % M, n = r % N;
  double s = 0;
  for (size_t k = 0; k < K; k++) s += (double)a[(batch * M + m) * K + k] * b[(batch * K + k) * N + n];
  return s;
}
static double loop_sumsq(size_t r) {
  double s = 0;
  for (size_t k = 0; k < K; k++) s += (double)a[r * K + k] * a[r * K + k];
  return s;
}
static double loop_asum(size_t r) {
  double s = 0;
  for (size_t k = 0; k < K; k++) s += fabs((double)a[r * K + k]);
  return s;
}
static double loop_scan(size_t r) {
  double s = 0;
  for (size_t k = 0; k <= r % K; k++) s += a[r / K * K + k];
  return s;
}
static double loop_exclusive(size_t r) { return loop_scan(r) - (double)a[r]; }
static double loop_scan_max(size_t r) {
  double s = -INFINITY;
  for (size_t k = 0; k <= r % K; k++) s = fmax(s, (double)a[r / K * K + k]);
  return s;
}
static double loop_keyed(size_t r) { /* 5 slots of N columns */
  double s = 0;
  for (size_t t = 0; t < K; t++) s += keys[t] == r / N ? (double)b[t * N + r % N] : 0;
  return s;
}

static const struct row {
  const char *name;
  uint64_t batches, m, n;
  size_t results;
  plain *want;
  const char *order, *subject; /* that replay it */
} rows[] = {{"dot", 1, M, 1, M, loop_dot, "dot/sequential", NULL},
            {"matvec", 1, M, 1, M, loop_matvec, "dot/pairwise", NULL},
            {"matmul", B, M, N, (size_t)B *M *N, loop_matmul, "dot/sequential", "matmul/blocked"},
            {"sumsq", 1, M, 1, M, loop_sumsq, "dot/canonical", NULL},
            {"asum", 1, M, 1, M, loop_asum, "host/sequential", "asum/sequential"},
            {"scan", 1, M, 1, (size_t)M *K, loop_scan, "host/sequential", "scan/sequential"},
            {"exclusive_scan", 1, M, 1, (size_t)M *K, loop_exclusive, "host/sequential", "scan/sequential"},
            {"scan_max", 1, M, 1, (size_t)M *K, loop_scan_max, "host/sequential", "scan/sequential"},
            {"keyed", 1, 5, N, (size_t)5 * N, loop_keyed, "host/sequential", "keyed/sequential"}};
enum { ROWS = sizeof rows / sizeof *rows };

static struct foldproof_problem row_problem(const struct row *row) {
  const int is_keyed = strcmp(row->name, "keyed") == 0;
  return problem_of(row->name, row->batches, row->m, row->n, K, is_keyed ? b : a, is_keyed ? (void *)keys : b);
}

Test(library_problems, exact_results_are_those_of_plain_loops_rounded_once) {
  float got[M * K];
  double wide[M * K];
  fill_all();
  for (const struct row *row = rows; row < rows + ROWS; row++) {
    const struct foldproof_problem p = row_problem(row);
    size_t n = 0;
    cr_assert_eq(foldproof_problem_results(&p, &n), 0, "%s: %s", row->name, foldproof_error());
    cr_assert_eq(n, row->results, "%s: %zu results", row->name, n);
    memset(got, 0xa5, sizeof got);
    cr_assert_eq(foldproof_problem_exact(&p, "f32", 0, got), 0, "%s: %s", row->name, foldproof_error());
    cr_assert_eq(foldproof_problem_exact(&p, "f64", 0, wide), 0, "%s: %s", row->name, foldproof_error());
    for (size_t r = 0; r < n; r++) {
      const double want = row->want(r);
      cr_expect(wide[r] == want && got[r] == (float)want && !signbit(got[r]) == !signbit((float)want),
                "%s, result %zu: %a and %a, want %a", row->name, r, wide[r], (double)got[r], want);
    }
  }
}

/* A declared order by its name, and by the subject that declares it: the bits of one loop of f32. */
Test(library_problems, replays_have_the_bits_of_plain_loops) {
  float got[M * K], by_subject[M * K], sum;
  fill_all();
  for (size_t i = 0; i < B * M * K; i++) a[i] += 0.1f * (float)(i % 7);
  for (const struct row *row = rows; row < rows + ROWS; row++) {
    const struct foldproof_problem p = row_problem(row);
    cr_assert_eq(foldproof_problem_replay(row->order, &p, 0, got), 0, "%s: %s", row->name, foldproof_error());
    if (row->subject == NULL) continue;
    cr_assert_eq(foldproof_problem_replay(row->subject, &p, 0, by_subject), 0, "%s: %s", row->name, foldproof_error());
    cr_expect_eq(memcmp(got, by_subject, row->results * sizeof *got), 0, "%s: %s", row->name, row->subject);
  }
  const struct foldproof_problem product = row_problem(&rows[2]), scan = row_problem(&rows[5]),
                                 keyed = row_problem(&rows[8]);
  cr_assert_eq(foldproof_problem_replay("matmul/blocked", &product, 0, got), 0);
  for (size_t r = 0; r < rows[2].results; r++) {
    const size_t batch = r / (M * N), m = r / N % M, n = r % N;
    sum = 0;
    for (size_t k = 0; k < K; k++) {
      const float one = a[(batch * M + m) * K + k] * b[(batch * K + k) * N + n];
      sum += one;
    }
    cr_expect_eq(memcmp(&got[r], &sum, 4), 0, "matmul, result %zu: %a, want %a", r, (double)got[r], (double)sum);
  }
  cr_assert_eq(foldproof_problem_replay("scan/sequential", &scan, 0, got), 0);
  for (size_t r = 0; r < rows[5].results; r++) {
    sum = r % K == 0 ? a[r] : sum + a[r];
    cr_expect_eq(memcmp(&got[r], &sum, 4), 0, "scan, result %zu: %a, want %a", r, (double)got[r], (double)sum);
  }
  cr_assert_eq(foldproof_problem_replay("keyed/sequential", &keyed, 0, got), 0);
  for (size_t r = 0; r < rows[8].results; r++) {
    sum = 0;
    for (size_t t = 0; t < K; t++)
      if (keys[t] == r / N) sum += b[t * N + r % N];
    cr_expect_eq(memcmp(&got[r], &sum, 4), 0, "keyed, result %zu: %a, want %a", r, (double)got[r], (double)sum);
  }
}

/* Kahan's sum of 1, 100 times 2^-24 and -1: a plain sum loses all of the small terms. */
Test(library_problems, a_subject_is_replayed_as_it_adds) {
  float x[102], got = 0;
  for (size_t i = 0; i < 102; i++) x[i] = 0x1p-24f;
  x[0] = 1, x[101] = -1;
  const struct foldproof_problem p = problem_of("sum", 1, 1, 1, 102, x, NULL);
  cr_assert_eq(foldproof_problem_replay("host/sequential", &p, 0, &got), 0);
  cr_expect_eq(got, 0.0f);
  cr_assert_eq(foldproof_problem_replay("host/kahan", &p, 0, &got), 0, "%s", foldproof_error());
  cr_expect(fabs((double)got - 100 * 0x1p-24) <= 0x1p-23, "%a", (double)got);
  struct foldproof_measure usual, kahan;
  cr_assert_eq(foldproof_problem_measure("host/sequential", &p, 0, &got, &usual), 0);
  cr_assert_eq(foldproof_problem_measure("host/kahan", &p, 0, &got, &kahan), 0);
  cr_expect(kahan.error <= kahan.bound && kahan.bound < usual.bound / 10, "%g, %g", kahan.bound, usual.bound);
}

Test(library_problems, each_result_has_its_own_error_and_bound) {
  float got[M * K];
  struct foldproof_measure m;
  fill_all();
  for (const struct row *row = rows; row < rows + ROWS; row++) {
    const struct foldproof_problem p = row_problem(row);
    cr_assert_eq(foldproof_problem_replay(row->order, &p, 0, got), 0);
    for (size_t r = 0; r < row->results; r++) {
      const double want = row->want(r), error = fabs((double)got[r] - want);
      cr_assert_eq(foldproof_problem_measure(row->order, &p, r, &got[r], &m), 0, "%s", foldproof_error());
      cr_expect(m.exact == want && (m.error == error || isnan(error)) && m.error <= m.bound,
                "%s, result %zu: %g <= %g, exact %g, want %g", row->name, r, m.error, m.bound, m.exact, want);
    }
    const float off = got[row->results - 1] + 1e9f;
    cr_assert_eq(foldproof_problem_measure(NULL, &p, row->results - 1, &off, &m), 0);
    cr_expect(!(m.error <= m.bound), "%s: %g <= %g", row->name, m.error, m.bound);
  }
  /* The first result of a scan is a term, which nothing rounds; the second is one addition, the tenth nine. */
  struct foldproof_problem scan = row_problem(&rows[5]);
  for (size_t i = 0; i < K; i++) a[i] = 1 + 0x1p-23f * (float)(2 * i + 1);
  double bound[3];
  for (size_t k = 0; k < 3; k++) {
    const size_t at[] = {0, 1, 9};
    cr_assert_eq(foldproof_problem_measure("host/sequential", &scan, at[k], a, &m), 0);
    bound[k] = m.bound;
  }
  cr_expect(bound[0] == 0 && bound[1] > 0 && bound[2] > bound[1] && bound[2] < 1e-4, "%g %g %g", bound[0], bound[1],
            bound[2]);
}

/* Strides say where elements lie: a transposed input, one batch for all, columns of a wider matrix. */
Test(library_problems, strides_give_the_results_of_contiguous_copies) {
  float turned[M * K], wide[K * (N + 3)], want[B * M * N], got[B * M * N];
  fill_all();
  memcpy(a + M * K, a, M * K * sizeof *a);
  memcpy(b + K * N, b, K * N * sizeof *b);
  struct foldproof_problem p = problem_of("matmul", B, M, N, K, a, b);
  cr_assert_eq(foldproof_problem_exact(&p, "f32", 0, want), 0);
  for (size_t m = 0; m < M; m++)
    for (size_t k = 0; k < K; k++) turned[k * M + m] = a[m * K + k];
  memset(wide, 0xff, sizeof wide);
  for (size_t k = 0; k < K; k++) memcpy(wide + k * (N + 3), b + k * N, N * sizeof *b);
  p.in[0] = turned, p.in[1] = wide;
  p.stride[0][1] = 1, p.stride[0][3] = M;
  p.stride[1][2] = 1, p.stride[1][3] = N + 3;
  cr_assert_eq(foldproof_problem_exact(&p, "f32", 0, got), 0, "%s", foldproof_error());
  cr_expect_eq(memcmp(got, want, sizeof got), 0);
  p.size = offsetof(struct foldproof_problem, stride); /* a caller that knows no strides */
  p.in[0] = a, p.in[1] = b;
  cr_assert_eq(foldproof_problem_exact(&p, "f32", 0, got), 0, "%s", foldproof_error());
  cr_expect_eq(memcmp(got, want, sizeof got), 0);
}

Test(library_problems, integers_are_exact_and_wrap) {
  const int8_t x[] = {100, 100, 100, -128}, y[] = {100, 100, 100, -128};
  const int32_t big[] = {2000000000, 2000000000, 2000000000};
  int32_t narrow[3];
  int64_t wide[3];
  struct foldproof_measure m;
  struct foldproof_problem p = problem_of("dot", 1, 1, 1, 4, x, y);
  p.dtype = "i8";
  cr_assert_eq(foldproof_problem_exact(&p, "i32", 0, narrow), 0, "%s", foldproof_error());
  cr_expect_eq(narrow[0], 46384);
  int8_t low;
  cr_assert_eq(foldproof_problem_exact(&p, "i8", 0, &low), 0);
  cr_expect_eq(low, (int8_t)(46384 - 46336 - 0), "%d", low);
  struct foldproof_problem scan = problem_of("scan", 1, 1, 1, 3, big, NULL);
  scan.dtype = "i32";
  cr_assert_eq(foldproof_problem_exact(&scan, "i64", 0, wide), 0);
  cr_expect(wide[0] == 2000000000 && wide[1] == 4000000000 && wide[2] == 6000000000);
  cr_assert_eq(foldproof_problem_replay("scan/sequential", &scan, 0, narrow), 0, "%s", foldproof_error());
  cr_expect(narrow[0] == 2000000000 && narrow[1] == -294967296 && narrow[2] == 1705032704);
  cr_assert_eq(foldproof_problem_measure(NULL, &scan, 2, &narrow[2], &m), 0);
  cr_expect(m.error == 4294967296 && m.ulps == m.error && m.bound == 0 && m.exact == 6000000000, "%g %g %g", m.error,
            m.ulps, m.bound);
  narrow[0] = 7;
  scan.in[0] = (const int32_t[]){5, 1, 1};
  cr_assert_eq(foldproof_problem_measure(NULL, &scan, 0, narrow, &m), 0);
  cr_expect(m.error == 2 && m.ulps == 2, "%g ulps", m.ulps);
}

/* Enough results for several threads; each as a dot product of its own. */
Test(library_problems, results_do_not_depend_on_the_number_of_threads) {
  enum { W = 40, LONG = 700 };
  float *x = malloc(W * LONG * sizeof *x), *y = malloc(LONG * W * sizeof *y), *line = malloc(LONG * sizeof *line);
  float want[W * W], got[W * W], one;
  cr_assert(x && y && line);
  fill(x, W * LONG, 7), fill(y, LONG * W, 9);
  const struct foldproof_problem p = problem_of("matmul", 1, W, W, LONG, x, y),
                                 scan = problem_of("scan", 1, W, 1, W, x, NULL);
  cr_assert_eq(foldproof_problem_exact(&p, "f32", 1, want), 0);
  for (unsigned threads = 0; threads < 5; threads++) {
    memset(got, 0xa5, sizeof got);
    cr_assert_eq(foldproof_problem_exact(&p, "f32", threads, got), 0);
    cr_expect_eq(memcmp(got, want, sizeof got), 0, "%u threads", threads);
  }
  for (size_t r = 0; r < W * W; r += 37) {
    for (size_t k = 0; k < LONG; k++) line[k] = y[k * W + r % W];
    const struct foldproof_problem dot = problem_of("dot", 1, 1, 1, LONG, x + r / W * LONG, line);
    cr_assert_eq(foldproof_problem_exact(&dot, "f32", 1, &one), 0);
    cr_expect_eq(memcmp(&one, &want[r], 4), 0, "result %zu", r);
  }
  cr_assert_eq(foldproof_problem_exact(&scan, "f32", 3, got), 0);
  free(x), free(y), free(line);
}

/* No terms: +0 is written, and the identities of max and min; no results: nothing is. */
Test(library_problems, empty_axes_give_identities_or_nothing) {
  float got[6];
  memset(got, 0xa5, sizeof got);
  const struct foldproof_problem none = problem_of("matmul", 1, 2, 3, 0, NULL, NULL),
                                 no_rows = problem_of("matmul", 1, 0, 3, 5, NULL, b),
                                 empty = problem_of("keyed", 1, 2, 3, 0, NULL, NULL),
                                 nothing = problem_of("scan", 1, 4, 1, 0, NULL, NULL);
  cr_assert_eq(foldproof_problem_exact(&none, "f32", 0, got), 0, "%s", foldproof_error());
  for (size_t i = 0; i < 6; i++) cr_expect(got[i] == 0 && !signbit(got[i]), "%zu: %g", i, (double)got[i]);
  memset(got, 0xa5, sizeof got);
  cr_assert_eq(foldproof_problem_replay("matmul/blocked", &none, 0, got), 0, "%s", foldproof_error());
  for (size_t i = 0; i < 6; i++) cr_expect(got[i] == 0 && !signbit(got[i]), "%zu: %g", i, (double)got[i]);
  memset(got, 0xa5, sizeof got);
  cr_assert_eq(foldproof_problem_exact(&empty, "f32", 0, got), 0, "%s", foldproof_error());
  for (size_t i = 0; i < 6; i++) cr_expect(got[i] == 0 && !signbit(got[i]), "%zu: %g", i, (double)got[i]);
  cr_expect_eq(foldproof_problem_exact(&no_rows, "f32", 0, NULL), 0, "%s", foldproof_error());
  cr_expect_eq(foldproof_problem_exact(&nothing, "f32", 0, NULL), 0, "%s", foldproof_error());
}

/* One line each, which says what is wrong. */
Test(library_problems, what_is_wrong_is_refused_with_a_reason) {
  float out[M * K];
  struct foldproof_measure m;
  size_t n;
  fill_all();
  const struct foldproof_problem product = problem_of("matmul", B, M, N, K, a, b);
  struct foldproof_problem wrong[9];
  for (size_t k = 0; k < 9; k++) wrong[k] = product;
  wrong[0].name = "matmull", wrong[1].dtype = "f31", wrong[2].in[1] = NULL, wrong[3].extent[1] = (uint64_t)1 << 62;
  wrong[4] = problem_of("keyed", 1, 4, N, K, b, keys),
  wrong[5] = problem_of("keyed", 1, (uint64_t)1 << 31, 1, K, b, keys);
  wrong[6] = problem_of("sum", 1, 1, 1, K, NULL, NULL), wrong[7].name = NULL, wrong[8].size = 0;
  static const char *const words[] = {"no problem is called 'matmull': sum, prod",
                                      "no dtype 'f31'",
                                      "input 2 is a null pointer",
                                      "past the address space",
                                      "key 0 is 4, and there are 4 slots",
                                      "at most 2^32 - 2, and 2^31 - 1",
                                      "the input is a null pointer",
                                      "no problem is called '(null)'",
                                      "the problem's size is 0, and its fields up to the inputs have 72 bytes"};
  for (size_t k = 0; k < 9; k++) {
    cr_expect_eq(foldproof_problem_exact(&wrong[k], "f32", 0, out), FOLDPROOF_BAD_INPUT, "%zu", k);
    cr_expect(strstr(foldproof_error(), words[k]), "%zu: %s", k, foldproof_error());
    cr_expect_eq(foldproof_problem_replay("dot/sequential", &wrong[k], 0, out), FOLDPROOF_BAD_INPUT, "%zu", k);
    cr_expect_null(strchr(foldproof_error(), '\n'));
  }
  cr_expect(foldproof_problem_exact(NULL, "f32", 0, out) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "null pointer"));
  cr_expect(foldproof_problem_exact(&product, "f32", 0, NULL) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "output"));
  cr_expect(foldproof_problem_replay("dot/sequential", &product, 0, NULL) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "output"));
  cr_expect(foldproof_problem_exact(&product, "i32", 0, out) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "i32"));
  cr_expect(foldproof_problem_results(&product, NULL) == FOLDPROOF_BAD_INPUT &&
            foldproof_problem_results(NULL, &n) == FOLDPROOF_BAD_INPUT);
  cr_expect(foldproof_problem_measure(NULL, &product, B * M * N, out, &m) == FOLDPROOF_BAD_INPUT &&
                strstr(foldproof_error(), "no result 24: there are 24"),
            "%s", foldproof_error());
  cr_expect(foldproof_problem_measure(NULL, &product, 0, NULL, &m) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "result"));
  cr_expect(foldproof_problem_measure(NULL, &product, 0, out, NULL) == FOLDPROOF_BAD_INPUT &&
            strstr(foldproof_error(), "output"));
}

/* Results in memory of an input would change terms that are still to be read. The last bytes before and behind an input are nobody's. */
Test(library_problems, an_output_in_memory_of_an_input_is_refused) {
  enum { X = 2, Y = 3, T = 4, AT = X * Y };
  static float room[AT + X * T + AT], second[T * Y];
  const struct foldproof_problem product = problem_of("matmul", 1, X, Y, T, room + AT, second);
  struct foldproof_problem turned = product;
  turned.in[0] = room + AT + X * T - 1, turned.stride[0][1] = -T, turned.stride[0][3] = -1;
  turned.stride[1][3] = Y, turned.stride[1][2] = 1;
  for (size_t at = 0; at <= AT + X * T; at++) {
    const bool fits = at == 0 || at == AT + X * T;
    cr_expect_eq(foldproof_problem_exact(&product, "f32", 0, room + at), fits ? 0 : FOLDPROOF_BAD_INPUT, "%zu", at);
    cr_expect(fits || strstr(foldproof_error(), "the output overlaps input 1"), "%zu: %s", at, foldproof_error());
    cr_expect_eq(foldproof_problem_exact(&turned, "f32", 0, room + at), fits ? 0 : FOLDPROOF_BAD_INPUT, "%zu", at);
  }
  cr_expect_eq(foldproof_problem_exact(&product, "f64", 0, room + 2), FOLDPROOF_BAD_INPUT, "its results are longer");
  cr_expect_eq(foldproof_problem_replay("matmul/blocked", &product, 0, second), FOLDPROOF_BAD_INPUT);
  cr_expect(strstr(foldproof_error(), "the output overlaps input 2"), "%s", foldproof_error());
  const struct foldproof_problem no_terms = problem_of("matmul", 1, X, Y, 0, room, second);
  cr_expect_eq(foldproof_problem_exact(&no_terms, "f32", 0, second), 0, "no terms have no memory");
}

Test(library_problems, strides_past_the_address_space_are_refused) {
  static float x[8], out[8];
  static const int64_t strides[] = {INT64_MAX, INT64_MIN, -((int64_t)1 << 60), (int64_t)1 << 61};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    struct foldproof_problem p = problem_of("sum", 1, 2, 1, 4, x, NULL);
    p.stride[0][1] = strides[i], p.stride[0][3] = 1;
    cr_expect_eq(foldproof_problem_exact(&p, "f32", 0, out), FOLDPROOF_BAD_INPUT, "%zu", i);
    cr_expect(strstr(foldproof_error(), "the input: its strides go past the address space"), "%s", foldproof_error());
  }
}

/* A size that ends amid the fields that every caller knows would cut a pointer. */
Test(library_problems, a_cut_structure_is_refused) {
  static float x[8], out[8];
  for (size_t size = 0; size < offsetof(struct foldproof_problem, stride); size++) {
    struct foldproof_problem p = problem_of("sum", 1, 2, 1, 4, x, NULL);
    p.size = size;
    cr_expect_eq(foldproof_problem_exact(&p, "f32", 0, out), FOLDPROOF_BAD_INPUT, "%zu", size);
  }
}

Test(library_problems, an_order_is_one_that_the_problem_can_have) {
  float out[M * K];
  struct foldproof_measure m;
  fill_all();
  const struct foldproof_problem product = problem_of("matmul", B, M, N, K, a, b),
                                 scan = problem_of("scan", 1, M, 1, K, a, NULL);
  struct foldproof_problem halves = problem_of("sum", 1, 1, 1, K, a, NULL);
  halves.dtype = "f16";
  const struct {
    const char *order, *word;
    const struct foldproof_problem *problem;
    int code;
  } wrong[] = {
      {"host/pairwise", "does not say what becomes of a product", &product, FOLDPROOF_UNSUPPORTED},
      {"scan/sequential", "scan/sequential does not take matmul of f32", &product, FOLDPROOF_UNSUPPORTED},
      {"matmul/blocked", "does not take scan", &scan, FOLDPROOF_UNSUPPORTED},
      {"blas/gemm", "blas/gemm declares no order", &product, FOLDPROOF_UNSUPPORTED},
      {"host/sequential_f32", "has results in f32: its order is host/sequential", &halves, FOLDPROOF_UNSUPPORTED},
      {"nosuch", "nosuch", &product, FOLDPROOF_BAD_INPUT},
      {NULL, "(null)", &product, FOLDPROOF_BAD_INPUT}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    cr_expect_eq(foldproof_problem_replay(wrong[k].order, wrong[k].problem, 0, out), wrong[k].code, "%zu: %s", k,
                 foldproof_error());
    cr_expect(strstr(foldproof_error(), wrong[k].word), "%zu: %s", k, foldproof_error());
    if (wrong[k].order)
      cr_expect_eq(foldproof_problem_measure(wrong[k].order, wrong[k].problem, 0, out, &m), wrong[k].code, "%zu", k);
  }
}
