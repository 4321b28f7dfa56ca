/* test_study.c: the study's numbers against GMP integers and naive folds; the report's table that holds no random
 * number; the simulation of ranks against buffers that are really sent around. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "integers.h"
#include "naive.h"
#include "oracles/order.h"
#include "study/course.h"
#include "study/ranks.h"
#include "study/study.h"

static volatile int never;

static struct fold_registry host(void) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  return registry;
}

static struct fold_study_case case_of(const char *generator, enum fold_dtype dtype, enum fold_op op, size_t n) {
  return (struct fold_study_case){fold_generator_find(generator), dtype, op, n, 1, 1u << FOLD_HOST};
}

static void run_case(struct fold_study *study, struct fold_study_case c) {
  struct fold_registry registry = host();
  struct fold_study_sink sink = {0};
  fold_status status = fold_study_run(&registry, &c, 1, study, &sink, &never);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
}

static void *terms_of(const struct fold_study_case *c) {
  struct fold_source source = {c->generator, c->dtype, c->seed, c->n, 0};
  void *terms = malloc(c->n * 8 + 8);
  fold_generate(&source, 0, c->n, terms);
  return terms;
}

/* value * 2^unit, up: a double. */
static double up(mpz_t value, int unit) {
  mpfr_t x;
  mpfr_init2(x, 53);
  mpfr_set_z_2exp(x, value, unit, MPFR_RNDU);
  double d = mpfr_get_d(x, MPFR_RNDU);
  mpfr_clear(x);
  return d;
}

/* The error of `got` against the integer sum of the terms, rounded up. */
static double error_by_integers(enum fold_dtype dtype, const void *terms, size_t n, uint64_t got, double *abs_sum) {
  mpz_t sum, abs, value;
  mpz_inits(sum, abs, value, (mpz_ptr)0);
  add_integers(sum, dtype, terms, n, false);
  add_integers(abs, dtype, terms, n, true);
  integer_of(value, dtype, got);
  mpz_sub(value, value, sum);
  mpz_abs(value, value);
  double error = up(value, unit_exponent(dtype));
  *abs_sum = up(abs, unit_exponent(dtype));
  mpz_clears(sum, abs, value, (mpz_ptr)0);
  return error;
}

static bool near(double a, double b) { return a == b || fabs(a - b) <= 1e-12 * fabs(b); }

static const size_t sizes[] = {0, 1, 2, 3, 8, 33, 257, 1000};
static const char *const data[] = {"mixed", "pathological", "normal", "harmonic", "subnormals", "ill_conditioned"};

/* The last place of a format at a value, by its patterns. */
static double place_of(enum fold_dtype dtype, uint64_t bits) {
  uint64_t magnitude = bits & ~fold_format_of(dtype).sign;
  return fold_bits_to_double(dtype, magnitude + 1) - fold_bits_to_double(dtype, magnitude);
}

static void expect_point(const struct fold_study_point *p, const void *terms) {
  const struct fold_study_case *c = &p->c;
  double abs_sum, error = error_by_integers(c->dtype, terms, c->n, p->got, &abs_sum);
  const char *where = p->subject->name;
  if (fold_bits_class(c->dtype, p->got) >= FOLD_INFINITE) { /* where each sum is of the terms' own dtype */
    cr_expect(p->subject->accumulator == FOLD_OF_TERMS && isnan(p->error) && p->note[0], "%s n %zu", where, c->n);
    return;
  }
  cr_expect(p->error == error, "%s %s %s n %zu: error %a, by integers %a", where, c->generator->name,
            fold_dtype_name(c->dtype), c->n, p->error, error);
  cr_expect(near(p->ulps, error / place_of(c->dtype, p->want)), "%s n %zu: %g ulps", where, c->n, p->ulps);
  cr_expect(near(p->abs_sum, abs_sum), "%s n %zu: sum |x| %g, not %g", where, c->n, p->abs_sum, abs_sum);
  cr_expect(near(p->relative, abs_sum > 0 ? error / abs_sum : 0), "%s n %zu: relative %g", where, c->n, p->relative);
  cr_expect(isnan(p->bound) || p->error <= p->bound, "%s n %zu: error %g above %g", where, c->n, p->error, p->bound);
}

/* A plain subject's bits, height, bound and curve from the naive fold of its order. */
static void expect_order(const struct fold_study_point *p, const void *terms) {
  const struct fold_study_case *c = &p->c;
  if (p->subject->method != FOLD_PLAIN || p->subject->accumulator != FOLD_USUAL) return;
  struct naive fold = naive_fold(fold_order_find(p->subject->order), c->dtype, c->op, terms, c->n);
  uint64_t got = fold_bits_from_double(c->dtype, fold.value);
  cr_expect(fold_bits_same(c->dtype, got, p->got), "%s n %zu: different bits than the naive fold", p->subject->name,
            c->n);
  cr_expect(p->height == (fold.some ? fold.height : 0), "%s n %zu: height %zu", p->subject->name, c->n,
            (size_t)p->height);
  if (c->dtype != FOLD_F32 || c->n < 2) return;
  double h = (double)p->height, u = 0x1p-24;
  /* Where the larger of what either sign adds up to fits 24 bits, no order rounds. */
  double unit = ldexp(1, (int)fold_lowest_bit(c->dtype, terms, c->n, 1));
  bool exact = (p->abs_sum + fabs(p->exact)) / 2 <= 0x1p24 * unit;
  cr_expect(near(p->bound, exact ? 0 : h * u / (1 - h * u) * p->abs_sum), "%s n %zu: bound %g", p->subject->name, c->n,
            p->bound);
  cr_expect(near(p->probabilistic, sqrt(h) * u * p->abs_sum), "%s n %zu: curve %g", p->subject->name, c->n,
            p->probabilistic);
}

Test(study, errors_are_distances_from_the_exact_sum) {
  size_t points = 0;
  for (int dtype = 0; dtype < FOLD_E4M3; dtype++)
    for (size_t g = 0; g < sizeof data / sizeof *data; g++)
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct fold_study study = {0};
        struct fold_study_case c = case_of(data[g], (enum fold_dtype)dtype, FOLD_SUM, sizes[k]);
        run_case(&study, c);
        void *terms = terms_of(&c);
        for (size_t i = 0; i < study.n; i++, points++) {
          expect_point(&study.at[i], terms);
          expect_order(&study.at[i], terms);
        }
        free(terms);
        fold_study_free(&study);
      }
  cr_expect(points >= 20 * 4 * 6 * 8, "only %zu points", points);
}

/* What a run remembers of one case must not leak into another: many sizes, each twice, are as if each were alone. */
struct seen {
  size_t calls, done, all, falls;
};
static void see_progress(void *context, size_t done, size_t all, const char *what) {
  struct seen *seen = context;
  seen->falls += done < seen->done || done > all || what[0] == '\0';
  seen->calls++;
  seen->done = done;
  seen->all = all;
}

Test(study, a_case_among_many_is_as_it_is_alone) {
  enum { SIZES = 12, CASES = 2 * SIZES };
  struct fold_registry registry = host();
  struct fold_study_case cases[CASES];
  struct fold_study study = {0};
  struct seen seen = {0};
  struct fold_study_sink sink = {.progress = see_progress, .context = &seen};
  size_t elements = 0;
  for (size_t k = 0; k < CASES; k++) {
    cases[k] = case_of("mixed", FOLD_F32, FOLD_SUM, 1 + 37 * (k % SIZES) * (k % SIZES));
    elements += cases[k].n;
  }
  cr_assert_eq(fold_study_run(&registry, cases, CASES, &study, &sink, &never).code, FOLD_OK);
  size_t each = study.n / CASES;
  cr_assert(each >= 20 && study.n == each * CASES, "%zu points of %d cases", study.n, CASES);
  for (size_t k = 0; k < CASES; k++) {
    struct fold_study alone = {0};
    run_case(&alone, cases[k]);
    for (size_t i = 0; i < each; i++) {
      const struct fold_study_point *a = &alone.at[i], *b = &study.at[k * each + i];
      cr_expect(a->subject == b->subject && a->height == b->height && a->got == b->got && a->bound == b->bound,
                "%s n %zu: height %zu, alone %zu", a->subject->name, a->c.n, (size_t)b->height, (size_t)a->height);
    }
    fold_study_free(&alone);
  }
  /* Progress within a case too: it tells more than the number of cases, and never runs backwards. */
  cr_expect(seen.calls == study.n && seen.falls == 0 && seen.all == elements && seen.done < elements,
            "%zu calls, %zu falls, %zu of %zu", seen.calls, seen.falls, seen.done, seen.all);
  fold_study_free(&study);
}

Test(study, max_and_min_err_by_nothing_and_products_within_their_bound) {
  for (int op = FOLD_PROD; op < FOLD_OPS; op++) {
    struct fold_study study = {0};
    run_case(&study, case_of("normal", FOLD_F64, (enum fold_op)op, 100));
    cr_expect(study.n >= 10, "%zu points", study.n);
    for (size_t i = 0; i < study.n; i++) {
      const struct fold_study_point *p = &study.at[i];
      double most = 99 * 0x1p-53 / (1 - 99 * 0x1p-53) * fabs(p->exact);
      if (op == FOLD_PROD)
        cr_expect(p->error <= p->bound && near(p->bound, most), "%s: %g of %g", p->subject->name, p->error, p->bound);
      else
        cr_expect(p->error == 0 && p->bound == 0 && isnan(p->probabilistic), "%s: %g", p->subject->name, p->error);
    }
    fold_study_free(&study);
  }
}

static double result_of(const struct fold_study *study, const struct fold_study_case *c, const char *subject) {
  const struct fold_study_point *p = fold_study_find(study, c, FOLD_HOST, subject);
  cr_assert(p && p->ran, "no point of %s", subject);
  return fold_bits_to_double(c->dtype, p->got);
}

Test(study, k_periods_of_pathological_data_sum_to_k) {
  for (size_t k = 1; k <= 100000; k = 10 * k + 3) {
    struct fold_study study = {0};
    struct fold_study_case c = case_of("pathological", FOLD_F32, FOLD_SUM, 3 * k);
    run_case(&study, c);
    cr_expect(study.at[0].exact == (double)k, "exact %g for k %zu", study.at[0].exact, k);
    cr_expect(result_of(&study, &c, "host/exact") == (double)k);
    cr_expect(result_of(&study, &c, "host/float64") == (double)k);
    cr_expect(result_of(&study, &c, "host/neumaier") == (double)k);
    cr_expect(result_of(&study, &c, "host/sequential") == 0);
    cr_expect(fold_study_find(&study, &c, FOLD_HOST, "host/sequential")->error == (double)k);
    /* The ones first, then 1e8 takes them in by eights. */
    volatile float sorted = (float)k + 1e8f;
    cr_expect(result_of(&study, &c, "host/sorted") == (double)(sorted - 1e8f), "sorted, k %zu", k);
    fold_study_free(&study);
  }
}

Test(study, report_measures_against_float32_of_a_float64_sum) {
  static const struct {
    size_t n;
    double reference, reference32;
    const char *sequential, *sorted, *numpy;
  } rows[] = {{1000, 100000333, 100000336, "3.36e+02", "0.00e+00", "3.33e+02"},
              {10000, 100003333, 100003336, "3.34e+03", "0.00e+00", "3.33e+03"},
              {100000, 100033333, 100033336, "3.33e+04", "0.00e+00", "3.33e+04"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct fold_study study = {0};
    struct fold_study_case c = case_of("pathological", FOLD_F32, FOLD_SUM, rows[k].n);
    struct fold_course_row row;
    char text[3][32];
    run_case(&study, c);
    cr_assert_eq(fold_study_course_way(&c, &row.way).code, FOLD_OK);
    cr_expect(row.way.reference == rows[k].reference && row.way.reference32 == (float)rows[k].reference32);
    cr_expect(row.way.tree64 == rows[k].reference && row.way.tree64_error == 0 && row.way.reference_error == 0);
    for (int m = 0; m < FOLD_COLUMNS; m++) row.at[m] = fold_study_find(&study, &c, FOLD_HOST, fold_course_methods[m]);
    snprintf(text[0], 32, "%.2e", fold_course_error(&row, 0));
    snprintf(text[1], 32, "%.2e", fold_course_error(&row, FOLD_COLUMN_SORTED));
    snprintf(text[2], 32, "%.2e", fold_course_error(&row, FOLD_COLUMN_NUMPY));
    cr_expect_str_eq(text[0], rows[k].sequential);
    cr_expect_str_eq(text[1], rows[k].sorted);
    cr_expect_str_eq(text[2], rows[k].numpy);
    cr_expect(row.at[FOLD_COLUMN_SORTED]->error == 3, "sorted is not perfect: %g", row.at[FOLD_COLUMN_SORTED]->error);
    fold_study_free(&study);
  }
}

Test(study, additions_do_not_associate) {
  static const struct {
    enum fold_dtype dtype;
    double abc[3], left, right;
  } rows[] = {{FOLD_F32, {1e8, 1, -1e8}, 0, 0},
              {FOLD_F32, {1e8, -1e8, 1}, 1, 0},
              {FOLD_F64, {1e8, 1, -1e8}, 1, 1},
              {FOLD_F64, {1e17, -1e17, 1}, 1, 0},
              {FOLD_F64, {0.1, 0.2, 0.3}, 0x1.3333333333334p-1, 0x1.3333333333333p-1},
              {FOLD_F16, {32768, -32768, 1}, 1, 0},
              {FOLD_F16, {1, 0x1p-11, 0x1p-11}, 1, 1 + 0x1p-10},
              {FOLD_BF16, {1, 0x1p-8, 0x1p-8}, 1, 1 + 0x1p-7}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    double left, right;
    fold_study_associate(rows[k].dtype, rows[k].abc, &left, &right);
    cr_expect(left == rows[k].left && right == rows[k].right, "row %zu: %a and %a", k, left, right);
  }
}

/* ---- the loop ---- */

static fold_status run_unsupported(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_error(FOLD_UNSUPPORTED, "not today");
}

static fold_status run_broken(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_error(FOLD_ENVIRONMENT, "the machine is on fire");
}

static fold_status run_nothing(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_ok();
}

Test(study, subjects_that_fail_leave_a_note_and_no_number) {
  const struct fold_subject subjects[] = {
      {.name = "a", .dtypes = 15, .problems = 15, .run = run_unsupported},
      {.name = "b", .dtypes = 15, .problems = 15, .run = run_broken},
      {.name = "c", .dtypes = 15, .problems = 15, .run = run_nothing},
      {.name = "d@plain", .dtypes = 15, .problems = 15, .run = run_nothing},
  };
  struct fold_registry registry = {subjects, 4};
  struct fold_study_case c = case_of("normal", FOLD_F32, FOLD_SUM, 10);
  struct fold_study study = {0};
  struct fold_study_sink sink = {0};
  cr_assert_eq(fold_study_run(&registry, &c, 1, &study, &sink, &never).code, FOLD_OK);
  cr_assert_eq(study.n, 3, "the first rung of a ladder repeats another's order");
  cr_expect_eq(study.broken, 2, "an unwritten result is the environment's failure, as the driver's is");
  cr_expect_str_eq(study.at[0].note, "not today");
  for (size_t i = 0; i < study.n; i++)
    cr_expect(!study.at[i].ran && isnan(study.at[i].error) && study.at[i].note[0], "%s", study.at[i].subject->name);
  fold_study_free(&study);
}

static fold_status stop_after(void *context, const struct fold_study_point *point) {
  (void)point;
  *(volatile int *)context = 1;
  return fold_ok();
}

Test(study, interruption_keeps_what_was_finished) {
  volatile int stop = 0;
  struct fold_registry registry = host();
  struct fold_study_case c[2] = {case_of("normal", FOLD_F32, FOLD_SUM, 10), case_of("normal", FOLD_F32, FOLD_SUM, 20)};
  struct fold_study study = {0};
  struct fold_study_sink sink = {stop_after, NULL, (void *)&stop};
  cr_assert_eq(fold_study_run(&registry, c, 2, &study, &sink, &stop).code, FOLD_OK);
  cr_expect_eq(study.n, 1);
  cr_expect(study.at[0].ran);
  fold_study_free(&study);
}

/* A size for a GPU alone has its line in table 3.3.4, and its columns stand under their heads. */
Test(study, the_gpu_table_has_sizes_that_the_host_has_not) {
  static const struct fold_subject subjects[] = {{.name = "flat/shuffle", .engine = FOLD_CUDA},
                                                 {.name = "thrust/reduce", .engine = FOLD_CUDA}};
  struct fold_study study = {0};
  run_case(&study, case_of("normal", FOLD_F32, FOLD_SUM, 1000));
  size_t n = study.n;
  study.at = realloc(study.at, (n + 2) * sizeof *study.at);
  cr_assert_not_null(study.at);
  for (size_t k = 0; k < 2; k++)
    study.at[n + k] = (struct fold_study_point){.c = case_of("normal", FOLD_F32, FOLD_SUM, 1000000000),
                                                .subject = &subjects[k],
                                                .ran = true,
                                                .error = k ? 0.25 : 0.0125};
  study.n = n + 2;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  struct fold_course course;
  cr_assert_eq(fold_course_fill(&course, &study).code, FOLD_OK);
  fold_course_print(&course, &study, NULL, out);
  fclose(out);
  char *table = strstr(text, "Table 3.3.4");
  cr_assert_not_null(table);
  cr_expect(strstr(table,
                   "1,000,000,000            -              -       1.25e-02              -              -       "
                   "2.50e-01              -              -\n"),
            "%.900s", table);
  cr_expect(strstr(table, "\n       1,000     3.75e-07       3.44e-06              -"), "%.900s", table);
  cr_expect_null(strstr(table, "no GPU took part"));
  free(text);
  fold_study_free(&study);
}
