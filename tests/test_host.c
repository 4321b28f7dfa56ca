/* test_host.c: the host's subjects do what their rows of the registry say.
 *
 * Those with an order have the bits of the wide replay, the _determ ones those of rows/par_256, the accurate ones those
 * of a second implementation or of MPFR. test_orders.c tests the orders themselves.
 */
#include <criterion/criterion.h>
#include <omp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/judge.h"
#include "kernels/host/host.h"
#include "model/subject.h"
#include "oracles/exact.h"
#include "oracles/order.h"
#include "sample.h"

#define MOST_PRINTED 10
#define GUARD 0xa5

/* Runs a host subject on a copy of `in` at an address that only the element aligns; the output and both of its guards
 * are checked. Results as patterns in got[rows]. */
static void run_subject(const struct fold_subject *subject, enum fold_dtype dtype, enum fold_op op, const void *in,
                        size_t rows, size_t cols, unsigned threads, uint64_t *got) {
  const enum fold_dtype result = fold_subject_result(subject, dtype);
  size_t size = fold_dtype_size(dtype), nbytes = rows * cols * size, each = fold_dtype_size(result);
  unsigned char *copy = malloc(nbytes + size + 64), *out = malloc((rows + 2) * each);
  unsigned char *place = copy + size;
  memcpy(place, in, nbytes);
  memset(out, GUARD, (rows + 2) * each);
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(op), .rows = rows, .cols = cols, .in = {place}, .out = out + each};
  call.launch.threads = threads;
  fold_status status = subject->run(subject, &call);
  cr_assert(status.code == FOLD_OK, "%s: %s", subject->name, status.text);
  cr_expect(memcmp(place, in, nbytes) == 0, "%s changed its input", subject->name);
  for (size_t b = 0; b < each; b++)
    cr_expect(out[b] == GUARD && out[(rows + 1) * each + b] == GUARD, "%s wrote past its output", subject->name);
  for (size_t r = 0; r < rows; r++) got[r] = fold_bits_load(result, out, r + 1);
  free(copy);
  free(out);
}

static const struct fold_subject *host(const char *name) {
  const struct fold_subject *subject = fold_subject_find(name, FOLD_HOST);
  cr_assert(subject != NULL, "no subject %s", name);
  return subject;
}

static bool takes(const struct fold_subject *s, int dtype, int op) {
  return s->engine == FOLD_HOST && s->dtypes >> dtype & 1 && s->problems >> op & 1;
}

static bool claims(const struct fold_subject *s, enum fold_claim_id id) { return (s->claims & FOLD_CLAIM(id)) != 0; }

/* ---- the table ---- */

Test(host, rows_of_the_table_name_things_that_exist) {
  size_t n;
  const struct fold_subject *s = fold_subjects(&n);
  const struct fold_registry registry = {s, n};
  for (size_t i = 0; i < n; i++) {
    cr_expect(fold_subject_find(s[i].name, s[i].engine) == s + i, "%s is found as another", s[i].name);
    cr_expect(s[i].about && *s[i].about && s[i].dtypes && s[i].problems && s[i].run, "%s is not complete", s[i].name);
    cr_expect(!s[i].order || fold_order_find(s[i].order), "%s: no order %s", s[i].name, s[i].order);
    cr_expect(!s[i].twin || fold_registry_twin(&registry, s + i), "%s: no twin %s", s[i].name, s[i].twin);
    cr_expect(claims(s + i, FOLD_SAME_BITS_AS) == (s[i].twin != NULL), "%s: a twin and its claim go together",
              s[i].name);
    cr_expect(!claims(s + i, FOLD_REPLAYS) || s[i].order, "%s replays no order", s[i].name);
  }
  cr_expect(fold_subject_find("host/nothing", FOLD_HOST) == NULL);
}

Test(host, every_order_of_the_table_has_its_host_subject) {
  size_t n;
  const struct fold_order *order = fold_orders(&n);
  for (size_t i = 0; i < n; i++) {
    const struct fold_subject *s = host(order[i].name);
    cr_expect(s->order && strcmp(s->order, order[i].name) == 0, "%s", order[i].name);
  }
}

/* ---- orders ---- */

static void replays(const struct fold_subject *s, enum fold_dtype dtype, enum fold_op op, size_t rows, size_t cols,
                    const void *in, unsigned threads) {
  uint64_t got[8], want[8];
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(op), .rows = rows, .cols = cols, .in = {in}, .out = want};
  run_subject(s, dtype, op, in, rows, cols, threads, got);
  cr_assert(fold_method_replay(fold_order_find(s->order), fold_subject_arithmetic(s, dtype), &call).code == FOLD_OK);
  for (size_t r = 0; r < rows; r++) {
    char text[2][80];
    const enum fold_dtype result = fold_subject_result(s, dtype);
    uint64_t wide = fold_bits_load(result, want, r);
    cr_expect(fold_bits_same(result, got[r], wide), "%s %s %s %zux%zu row %zu threads %u: got %s, want %s", s->name,
              fold_dtype_name(dtype), fold_op_name(op), rows, cols, r, threads,
              fold_bits_print(result, got[r], text[0]), fold_bits_print(result, wide, text[1]));
  }
}

/* Every subject that claims `replays`, on every kind of sample. */
static void replay_all(enum fold_dtype dtype) {
  size_t n;
  const struct fold_subject *s = fold_subjects(&n);
  for (size_t l = 0; l < SAMPLE_LENGTHS && sample_lengths[l] <= 5000; l++)
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
      void *in = sample_row((enum sample_kind)kind, dtype, 61, 3 * sample_lengths[l]);
      for (size_t i = 0; i < n; i++)
        for (int op = 0; op < FOLD_OPS; op++)
          if (claims(s + i, FOLD_REPLAYS) && takes(s + i, dtype, op))
            replays(s + i, dtype, (enum fold_op)op, 3, sample_lengths[l], in, 1);
      free(in);
    }
}
Test(host, subjects_replay_their_orders_in_f16) { replay_all(FOLD_F16); }
Test(host, subjects_replay_their_orders_in_bf16) { replay_all(FOLD_BF16); }
Test(host, subjects_replay_their_orders_in_f32) { replay_all(FOLD_F32); }
Test(host, subjects_replay_their_orders_in_f64) { replay_all(FOLD_F64); }

static void threads_agree(const struct fold_subject *s, enum fold_dtype dtype, const void *in, size_t rows,
                          size_t cols) {
  static const unsigned threads[] = {1, 2, 3, 5, 0};
  uint64_t got[5][8] = {{0}};
  for (int t = 0; t < 5; t++) run_subject(s, dtype, FOLD_SUM, in, rows, cols, threads[t], got[t]);
  for (int t = 1; t < 5; t++)
    cr_expect(memcmp(got[0], got[t], sizeof got[0]) == 0, "%s %s %zux%zu: %u threads", s->name, fold_dtype_name(dtype),
              rows, cols, threads[t]);
}

Test(host, no_number_of_threads_changes_a_bit) {
  static const size_t shapes[][2] = {{1, 100003}, {2, 40001}, {7, 11003}, {5, 0}};
  size_t n;
  const struct fold_subject *s = fold_subjects(&n);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t k = 0; k < 4; k++) {
      void *in = sample_row(SAMPLE_CANCELLING, (enum fold_dtype)dtype, 71, shapes[k][0] * shapes[k][1]);
      for (size_t i = 0; i < n; i++)
        if (takes(s + i, dtype, FOLD_SUM)) threads_agree(s + i, (enum fold_dtype)dtype, in, shapes[k][0], shapes[k][1]);
      free(in);
    }
}

Test(host, a_rows_bits_do_not_depend_on_its_neighbours) {
  size_t n, cols = 1031;
  const struct fold_subject *s = fold_subjects(&n);
  for (size_t i = 0; i < n; i++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
      if (takes(s + i, dtype, FOLD_SUM)) {
        char *in = sample_row(SAMPLE_CANCELLING, (enum fold_dtype)dtype, 73, 5 * cols);
        uint64_t all[5], alone;
        run_subject(s + i, (enum fold_dtype)dtype, FOLD_SUM, in, 5, cols, 1, all);
        for (size_t r = 0; r < 5; r++) {
          const char *row = in + r * cols * fold_dtype_size((enum fold_dtype)dtype);
          run_subject(s + i, (enum fold_dtype)dtype, FOLD_SUM, row, 1, cols, 1, &alone);
          cr_expect(alone == all[r], "%s row %zu", s[i].name, r);
        }
        free(in);
      }
}

/* ---- determ ---- */

static int same_as_par_256(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n) {
  static const char *const names[] = {"rows/single_determ", "rows/par_16_determ", "rows/par_64_determ",
                                      "rows/multi_block"};
  uint64_t got, want;
  int failures = 0;
  run_subject(host("rows/par_256"), dtype, op, in, 1, n, 1, &want);
  for (int k = 0; k < 4; k++) {
    run_subject(host(names[k]), dtype, op, in, 1, n, 3, &got);
    bool same = fold_bits_same(dtype, got, want);
    cr_expect(same, "%s %s %s n %zu", names[k], fold_dtype_name(dtype), fold_op_name(op), n);
    failures += !same;
  }
  return failures;
}

static void determ_of_dtype(enum fold_dtype dtype) {
  int failures = 0;
  for (size_t l = 0; l < SAMPLE_LENGTHS; l++)
    for (int kind = SAMPLE_CANCELLING; kind <= SAMPLE_NEAR_ONE; kind++) {
      void *in = sample_row((enum sample_kind)kind, dtype, 81, sample_lengths[l]);
      for (int op = 0; op < FOLD_OPS && failures < MOST_PRINTED; op++)
        if ((op == FOLD_PROD) == (kind == SAMPLE_NEAR_ONE))
          failures += same_as_par_256(dtype, (enum fold_op)op, in, sample_lengths[l]);
      free(in);
    }
}
Test(host, determ_subjects_have_the_bits_of_par_256_in_f16) { determ_of_dtype(FOLD_F16); }
Test(host, determ_subjects_have_the_bits_of_par_256_in_bf16) { determ_of_dtype(FOLD_BF16); }
Test(host, determ_subjects_have_the_bits_of_par_256_in_f32) { determ_of_dtype(FOLD_F32); }
Test(host, determ_subjects_have_the_bits_of_par_256_in_f64) { determ_of_dtype(FOLD_F64); }

Test(host, any_power_of_two_of_workers_makes_the_same_tree) {
  struct fold_subject some = *host("rows/single_determ");
  float *in = sample_row(SAMPLE_CANCELLING, FOLD_F32, 83, 16384);
  uint64_t got, want;
  run_subject(host("rows/par_256"), FOLD_F32, FOLD_SUM, in, 1, 16384, 1, &want);
  for (some.width = 1; some.width <= 256; some.width *= 2) {
    run_subject(&some, FOLD_F32, FOLD_SUM, in, 1, 16384, 1, &got);
    cr_expect(got == want, "%u workers", some.width);
  }
  struct fold_call call = {
      .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 4, .in = {in}, .out = &got};
  static const unsigned refused[] = {0, 3, 512};
  for (int k = 0; k < 3; k++) {
    some.width = refused[k];
    char text[80];
    snprintf(text, sizeof text, "%s: %u workers do not share 256 chunks", some.name, refused[k]);
    fold_status status = some.run(&some, &call);
    cr_expect(status.code == FOLD_UNSUPPORTED && !strcmp(status.text, text), "%s", status.text);
  }
  free(in);
}

/* ---- compensated ---- */

/* The recurrences once more, in f32 through double and in f64 by the machine: operations one by one. */
static double round_to(enum fold_dtype dtype, double x) { return dtype == FOLD_F64 ? x : (double)(float)x; }

static double literal_kahan(enum fold_dtype d, const void *in, size_t n) {
  double s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    double y = round_to(d, fold_bits_to_double(d, fold_bits_load(d, in, i)) - c), t = round_to(d, s + y);
    c = round_to(d, round_to(d, t - s) - y);
    s = t;
  }
  return s;
}

static double literal_neumaier(enum fold_dtype d, const void *in, size_t n) {
  double s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    double x = fold_bits_to_double(d, fold_bits_load(d, in, i)), t = round_to(d, s + x);
    double big = fabs(s) >= fabs(x) ? s : x, small = fabs(s) >= fabs(x) ? x : s;
    c = round_to(d, c + round_to(d, round_to(d, big - t) + small));
    s = t;
  }
  return round_to(d, s + c);
}

Test(host, compensated_sums_follow_their_recurrences) {
  for (size_t l = 0; l < SAMPLE_LENGTHS; l++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
      enum fold_dtype d = (enum fold_dtype)dtype;
      size_t n = sample_lengths[l];
      void *in = sample_row(n % 2 ? SAMPLE_TINY : SAMPLE_CANCELLING, d, 91, n);
      uint64_t got;
      run_subject(host("host/kahan"), d, FOLD_SUM, in, 1, n, 1, &got);
      cr_expect(fold_bits_same(d, got, fold_bits_from_double(d, literal_kahan(d, in, n))), "kahan %s n %zu",
                fold_dtype_name(d), n);
      run_subject(host("host/neumaier"), d, FOLD_SUM, in, 1, n, 1, &got);
      cr_expect(fold_bits_same(d, got, fold_bits_from_double(d, literal_neumaier(d, in, n))), "neumaier %s n %zu",
                fold_dtype_name(d), n);
      free(in);
    }
}

static float sum_of(const char *name, const float *in, size_t n) {
  uint64_t got;
  run_subject(host(name), FOLD_F32, FOLD_SUM, in, 1, n, 1, &got);
  return fold_bits_f32((uint32_t)got);
}

Test(host, known_sums_tell_the_methods_apart) {
  float pathological[] = {1e8f, 1, -1e8f}, kahans[] = {1, 0x1p-25f, 0x1p-25f, 0x1p-25f, 0x1p-25f};
  cr_expect(sum_of("host/sequential", pathological, 3) == 0);
  cr_expect(sum_of("host/kahan", pathological, 3) == 0, "Kahan loses the one");
  cr_expect(sum_of("host/neumaier", pathological, 3) == 1);
  cr_expect(sum_of("host/float64", pathological, 3) == 1);
  cr_expect(sum_of("host/exact", pathological, 3) == 1);
  cr_expect(sum_of("host/sequential", kahans, 5) == 1);
  cr_expect(sum_of("host/kahan", kahans, 5) == 1 + 0x1p-23f);
}

Test(host, sums_that_leave_the_numbers_stay_where_the_plain_sum_is) {
  static const char *const names[] = {"host/kahan", "host/neumaier"};
  float up[] = {1, INFINITY, 2, 0x1p-30f}, down[] = {-INFINITY, 5, 7}, both[] = {INFINITY, 1, -INFINITY};
  float nan[] = {1, NAN, INFINITY}, over[] = {0x1.fp127f, 0x1.fp127f, 1, -0x1.fp127f};
  for (int k = 0; k < 2; k++) {
    cr_expect(sum_of(names[k], up, 4) == INFINITY, "%s", names[k]);
    cr_expect(sum_of(names[k], down, 3) == -INFINITY, "%s", names[k]);
    cr_expect(isnan(sum_of(names[k], both, 3)), "%s", names[k]);
    cr_expect(isnan(sum_of(names[k], nan, 3)), "%s", names[k]);
    cr_expect(sum_of(names[k], over, 4) == INFINITY, "%s: the partial sum overflowed", names[k]);
  }
}

/* ---- float64, exact ---- */

Test(host, float64_rounds_an_f64_sum_once) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t l = 0; l < SAMPLE_LENGTHS; l++) {
      enum fold_dtype d = (enum fold_dtype)dtype;
      void *in = sample_row(SAMPLE_CANCELLING, d, 95, sample_lengths[l]);
      double sum = 0;
      uint64_t got;
      for (size_t i = 0; i < sample_lengths[l]; i++) sum += fold_bits_to_double(d, fold_bits_load(d, in, i));
      run_subject(host("host/float64"), d, FOLD_SUM, in, 1, sample_lengths[l], 1, &got);
      cr_expect(got == fold_bits_from_double(d, sum), "%s n %zu", fold_dtype_name(d), sample_lengths[l]);
      free(in);
    }
}

static void exact_is_mpfr(enum fold_dtype d, enum sample_kind kind, size_t n) {
  struct fold_truth truth;
  void *in = sample_row(kind, d, 97, n);
  uint64_t got;
  fold_truth_init(&truth);
  cr_assert(fold_oracle_mpfr(d, FOLD_SUM, in, n, &truth).code == FOLD_OK);
  run_subject(host("host/exact"), d, FOLD_SUM, in, 1, n, 2, &got);
  cr_expect(fold_bits_same(d, got, truth.rounded[d]), "%s kind %d n %zu", fold_dtype_name(d), kind, n);
  fold_truth_free(&truth);
  free(in);
}

Test(host, exact_has_the_bits_of_mpfr) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
      for (size_t l = 0; l < SAMPLE_LENGTHS && sample_lengths[l] < 10000; l++)
        exact_is_mpfr((enum fold_dtype)dtype, (enum sample_kind)kind, sample_lengths[l]);
}

/* Of each row its own product, in a result of its own: integers, so that any sum of them is exact. */
Test(host, exact_dot_products_are_of_each_row) {
  enum { ROWS = 3, COLS = 5 };
  const struct fold_subject *dot = host("dot/exact");
  for (int d = 0; d < FOLD_E4M3; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    uint64_t x[ROWS * COLS], y[ROWS * COLS], out[ROWS + 1];
    double want[ROWS] = {0};
    for (size_t i = 0; i < ROWS * COLS; i++) {
      const double a = (double)(i % 4 + 1), b = (double)(i % 3) - 1 + (double)(i / COLS);
      want[i / COLS] += a * b;
      fold_bits_store(dtype, x, i, fold_bits_from_double(dtype, a));
      fold_bits_store(dtype, y, i, fold_bits_from_double(dtype, b));
    }
    struct fold_call call = {
        .dtype = dtype, .problem = fold_problem(FOLD_DOT), .rows = ROWS, .cols = COLS, .in = {x, y}, .out = out};
    cr_assert_eq(dot->run(dot, &call).code, FOLD_OK);
    for (size_t r = 0; r < ROWS; r++)
      cr_expect_eq(fold_bits_to_double(dtype, fold_bits_load(dtype, out, r)), want[r], "%s row %zu",
                   fold_dtype_name(dtype), r);
  }
}

/* The bits of dot/sequential, on both sides of a tile's borders, of matrices as they lie and transposed, on any number of threads. */
Test(host, a_product_by_tiles_has_the_bits_of_one_by_terms) {
  enum { MOST = 3 * 70 * 131 };
  static const struct fold_shape shapes[] = {{.at = {1, 1, 1, 1}},    {.at = {1, 16, 32, 64}},  {.at = {3, 17, 33, 65}},
                                             {.at = {2, 15, 31, 63}}, {.at = {1, 40, 70, 131}}, {.at = {2, 3, 0, 5}},
                                             {.at = {1, 3, 5, 0}}};
  const struct fold_subject *blocked = host("matmul/blocked"), *plain = host("dot/sequential");
  static uint64_t got[3 * 40 * 70], want[3 * 40 * 70];
  for (int d = 0; d < FOLD_E4M3; d++) {
    const size_t size = fold_dtype_size((enum fold_dtype)d);
    void *in = sample_row(SAMPLE_KINDS - 1, (enum fold_dtype)d, 62, 2 * MOST);
    for (size_t i = 0; i < 4 * sizeof shapes / sizeof *shapes; i++) {
      const struct fold_shape s = shapes[i / 4];
      struct fold_call call = {.dtype = (enum fold_dtype)d, .problem = fold_problem(FOLD_MATMUL), .shape = s};
      call.in[0] = in, call.in[1] = (unsigned char *)in + MOST * size;
      const ptrdiff_t leading = (ptrdiff_t)s.k + 2;
      if (i & 1) memcpy(call.stride[1], (ptrdiff_t[]){leading * (ptrdiff_t)s.n, 0, leading, 1}, sizeof call.stride[1]);
      call.launch.threads = i & 2 ? 1 : 3;
      memset(got, GUARD, sizeof got), memset(want, GUARD, sizeof want);
      call.out = want;
      cr_assert_eq(plain->run(plain, &call).code, FOLD_OK);
      call.out = got;
      cr_assert_eq(blocked->run(blocked, &call).code, FOLD_OK);
      cr_expect_eq(memcmp(got, want, sizeof got), 0, "%s, shape %zu, case %zu", fold_dtype_name((enum fold_dtype)d),
                   i / 4, i % 4);
    }
    free(in);
  }
}

Test(host, sums_only_means_no_other_operation) {
  static const char *const names[] = {"host/kahan", "host/neumaier", "host/float64", "host/exact"};
  float in[2] = {1, 2}, out = -7;
  for (int k = 0; k < 4; k++)
    for (int op = FOLD_PROD; op < FOLD_OPS; op++) {
      struct fold_call call = {.dtype = FOLD_F32,
                               .problem = fold_rows_problem((enum fold_op)op),
                               .rows = 1,
                               .cols = 2,
                               .in = {in},
                               .out = &out};
      char text[60];
      snprintf(text, sizeof text, "%s: sums only", names[k]);
      fold_status status = host(names[k])->run(host(names[k]), &call);
      cr_expect(status.code == FOLD_UNSUPPORTED && !strcmp(status.text, text), "%s: %s", names[k], status.text);
      cr_expect(out == -7 && !(host(names[k])->problems >> op & 1), "%s", names[k]);
    }
}

/* Which threads were at work, and how many a row was given. */
static struct {
  bool at_work[64];
  unsigned given;
} team;
static double note_team(const struct fold_subject *subject, const struct fold_call *call, const void *row,
                        unsigned threads) {
  (void)subject, (void)call, (void)row;
#pragma omp critical(note_team)
  {
    team.at_work[omp_get_thread_num()] = true;
    team.given = threads;
  }
  return 0;
}

/* As many threads as a call asks for share the rows of a large one, or each row where there are too few; small ones take one. */
Test(host, a_call_has_the_threads_that_it_asks_for) {
  static const struct {
    size_t rows, cols;
    unsigned threads, rows_shared, of_a_row;
  } calls[] = {{16, 8192, 5, 5, 1}, {16, 8192, 16, 16, 1}, {16, 8192, 1, 1, 1}, {3, 60000, 5, 1, 5},
               {16, 10, 5, 1, 1},   {7, 0, 5, 1, 1},       {1, 32769, 7, 1, 7}, {1, 32768, 7, 1, 1}};
  static double in[16 * 8192 + 60000];
  uint64_t out[16];
  omp_set_dynamic(0);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    struct fold_call call = {.dtype = FOLD_F32,
                             .problem = fold_rows_problem(FOLD_SUM),
                             .rows = calls[i].rows,
                             .cols = calls[i].cols,
                             .in = {in},
                             .out = out,
                             .launch = {.threads = calls[i].threads}};
    memset(&team, 0, sizeof team);
    fold_host_rows(host("host/sequential"), &call, note_team);
    unsigned n = 0;
    for (size_t k = 0; k < 64; k++) n += team.at_work[k];
    cr_expect(n == calls[i].rows_shared && team.given == calls[i].of_a_row, "call %zu: %u threads, %u a row", i, n,
              team.given);
  }
}
