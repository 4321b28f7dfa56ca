/* test_telling.c: which inputs can tell one order from another. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "literal.h"
#include "oracles/panel.h"
#include "oracles/split.h"
#include "sample.h"

static enum fold_telling ask(enum fold_dtype dtype, enum fold_op op, size_t rows, size_t cols, const void *in) {
  const struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(op), .rows = rows, .cols = cols, .in = {in}};
  enum fold_telling telling = FOLD_TELLING_UNKNOWN;
  fold_status status = fold_panel_ask(&call, fold_arithmetic_of(FOLD_PLAIN, call.dtype), &telling);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return telling;
}

/* Of one row of literal terms, each exact in the dtype. */
static enum fold_telling ask_terms(enum fold_dtype dtype, enum fold_op op, size_t n, const double *terms) {
  uint64_t in[8];
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, terms[i]));
  return ask(dtype, op, 1, n, in);
}
#define ASK(dtype, op, ...) \
  ask_terms(dtype, op, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static const enum fold_dtype dtypes[] = {FOLD_F16, FOLD_BF16, FOLD_F32, FOLD_F64};
#define EACH_DTYPE(d) (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)

Test(telling, what_every_tree_adds_exactly_is_idle) {
  for
    EACH_DTYPE(d) {
      cr_expect_eq(ASK(dtypes[d], FOLD_SUM, 1, 2, 3, -4, 5, 6, 7), FOLD_IDLE, "small integers, dtype %zu", d);
      cr_expect_eq(ASK(dtypes[d], FOLD_PROD, 1, 2, 4, -0.5, 2), FOLD_IDLE, "powers of two, dtype %zu", d);
      cr_expect_eq(ASK(dtypes[d], FOLD_SUM, 0, 0, 60000, 0, 0, 0, 0), FOLD_IDLE, "one number and zeros, dtype %zu", d);
      cr_expect_eq(ASK(dtypes[d], FOLD_SUM, 1.5, INFINITY, -2), FOLD_IDLE, "an infinity, dtype %zu", d);
      cr_expect_eq(ASK(dtypes[d], FOLD_SUM, INFINITY, NAN, -NAN, 1), FOLD_IDLE, "NaN by its class, dtype %zu", d);
    }
}

/* a + b is b + a; and one term, or none, is added to nothing. */
Test(telling, two_terms_have_one_tree) {
  for
    EACH_DTYPE(d)
  for (size_t n = 0; n <= 2; n++)
    for (uint64_t seed = 1; seed <= 20; seed++) {
      void *in = sample_row(SAMPLE_CANCELLING, dtypes[d], seed, n);
      cr_expect_eq(ask(dtypes[d], FOLD_SUM, 1, n, in), FOLD_IDLE, "%zu terms, dtype %zu", n, d);
      cr_expect_eq(ask(dtypes[d], FOLD_PROD, 1, n, in), FOLD_IDLE, "%zu terms, dtype %zu", n, d);
      free(in);
    }
}

/* Orders that start at +0 give +0, those that start with a term -0: claims compare that bit. */
Test(telling, minus_zeros_alone_tell_who_starts_at_zero) {
  cr_expect_eq(ASK(FOLD_F32, FOLD_SUM, -0.0), FOLD_TELLING);
  cr_expect_eq(ASK(FOLD_F32, FOLD_SUM, -0.0, -0.0, -0.0), FOLD_TELLING);
  cr_expect_eq(ASK(FOLD_F32, FOLD_SUM, -0.0, 0.0, -0.0), FOLD_IDLE);
  cr_expect_eq(ASK(FOLD_F32, FOLD_PROD, -0.0, -0.0, -0.0), FOLD_IDLE);
}

/* 2^10 + 2^-14 rounds in f32, so that trees differ there; no f16 lies between the two sums. */
Test(telling, a_last_rounding_to_16_bits_hides_what_the_accumulator_tells) {
  cr_expect_eq(ASK(FOLD_F32, FOLD_SUM, 0x1p10, 0x1p-14, 0x1p-14), FOLD_TELLING);
  cr_expect_eq(ASK(FOLD_F16, FOLD_SUM, 0x1p10, 0x1p-14, 0x1p-14), FOLD_IDLE);
  cr_expect_eq(ASK(FOLD_F16, FOLD_SUM, 0x1p15, 0x1p-10, -0x1p15), FOLD_TELLING, "unless it cancels");
  cr_expect_eq(ASK(FOLD_BF16, FOLD_PROD, 0x1p100, 0x1p100, 0x1p-100), FOLD_TELLING, "or leaves the range");
}

Test(telling, plain_data_tell) {
  static const size_t lengths[] = {40, 64, 256, 4096, 65536};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for
      EACH_DTYPE(d) {
        void *in = sample_row(SAMPLE_CANCELLING, dtypes[d], 7, lengths[i]);
        cr_expect_eq(ask(dtypes[d], FOLD_SUM, 1, lengths[i], in), FOLD_TELLING, "dtype %zu, n %zu", d, lengths[i]);
        free(in);
        if (fold_dtype_size(dtypes[d]) == 2) continue;
        in = sample_row(SAMPLE_NEAR_ONE, dtypes[d], 7, lengths[i]);
        cr_expect_eq(ask(dtypes[d], FOLD_PROD, 1, lengths[i], in), FOLD_TELLING, "dtype %zu, n %zu", d, lengths[i]);
        free(in);
      }
}

/* They do not round. What stands where shows in a NaN, and in zeros of both signs. */
Test(telling, max_and_min_tell_by_a_nan_and_by_zeros) {
  for
    EACH_DTYPE(d) {
      for (int op = FOLD_MAX; op <= FOLD_MIN; op++) {
        const double sign = op == FOLD_MAX ? -1 : 1;
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, 1, 2.5, -3, 4, INFINITY, -INFINITY), FOLD_IDLE, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, NAN, NAN), FOLD_IDLE, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, 1, NAN), FOLD_TELLING, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, NAN, 0, 1), FOLD_TELLING, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, NAN, -INFINITY), FOLD_TELLING, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, 0.0, sign, -0.0), FOLD_TELLING, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, 0.0, -sign, -0.0), FOLD_IDLE, "another is beyond, dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, 0.0, sign, 0.0), FOLD_IDLE, "dtype %zu", d);
        cr_expect_eq(ASK(dtypes[d], (enum fold_op)op, -0.0, sign, -0.0), FOLD_IDLE, "dtype %zu", d);
        cr_expect_eq(ask(dtypes[d], (enum fold_op)op, 3, 0, NULL), FOLD_IDLE, "no term");
      }
      uint64_t in[8];
      const double terms[] = {1, 2, NAN, 0, NAN, NAN};
      for (size_t i = 0; i < 6; i++) fold_bits_store(dtypes[d], in, i, fold_bits_from_double(dtypes[d], terms[i]));
      cr_expect_eq(ask(dtypes[d], FOLD_MAX, 3, 2, in), FOLD_TELLING, "the second row");
      cr_expect_eq(ask(dtypes[d], FOLD_MAX, 1, 2, in), FOLD_IDLE, "not the first");
    }
}

Test(telling, the_panel_has_eight_trees_that_differ) {
  static const size_t lengths[] = {24, 1 << 20, (1 << 20) + 1};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    float *in = sample_row(SAMPLE_CANCELLING, FOLD_F32, 5, lengths[i]);
    uint64_t prints[16];
    size_t n;
    const struct fold_order *trees = fold_panel(lengths[i], &n);
    cr_assert(n >= 8 && n <= 16);
    for (size_t k = 0; k < n; k++) {
      cr_assert_eq(fold_order_fingerprint(&trees[k], FOLD_F32, in, lengths[i], &prints[k]).code, FOLD_OK);
      for (size_t j = 0; j < k; j++) cr_expect_neq(prints[k], prints[j], "%s and %s", trees[j].name, trees[k].name);
    }
    free(in);
  }
}

static uint32_t bits_in(const struct fold_order *tree, const float *in, size_t n) {
  uint32_t out = 0;
  const struct fold_call call = {.dtype = FOLD_F32,
                                 .problem = fold_rows_problem(FOLD_SUM),
                                 .rows = 1,
                                 .cols = n,
                                 .in = {in},
                                 .out = &out,
                                 .launch = {.threads = 1}};
  cr_assert_eq(fold_order_replay(tree, &call).code, FOLD_OK);
  return out;
}

/* Of each tree but the first there are rows that it alone tells: 2^24, ones, and 2^24 taken back, in random places. */
Test(telling, each_tree_is_asked) {
  enum { TERMS = 20, MOST = 8 };
  size_t n, seen[MOST] = {0}, missing;
  const struct fold_order *trees = fold_panel(TERMS, &n);
  cr_assert_eq(n, MOST);
  missing = n - 1;
  for (uint64_t seed = 1; seed < 2000000 && missing > 0; seed++) {
    float in[TERMS] = {0};
    for (size_t i = 0; i < 5; i++) in[(sample_bits(seed, i) >> 32) % TERMS] = (float[]){0x1p24f, 1, 1, -0x1p24f, 3}[i];
    const uint32_t first = bits_in(&trees[0], in, TERMS);
    size_t others = 0, last = 0;
    for (size_t k = 1; k < n; k++)
      if (bits_in(&trees[k], in, TERMS) != first) others++, last = k;
    cr_assert_eq(ask(FOLD_F32, FOLD_SUM, 1, TERMS, in), others ? FOLD_TELLING : FOLD_IDLE, "seed %zu", (size_t)seed);
    if (others == 1 && seen[last]++ == 0) missing--;
  }
  for (size_t k = 1; k < n; k++) cr_expect(seen[k] > 0, "no row that %s alone tells", trees[k].name);
}

/* One row among many, wherever it is; a slice of rows has some 2^20 terms. */
Test(telling, one_row_that_tells_is_enough) {
  const size_t rows = (1 << 19) + 7, places[] = {0, 1, 262143, 262144, 262145, rows - 1};
  float *in = calloc(3 * rows, sizeof *in);
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, rows, 3, in), FOLD_IDLE);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    float *row = in + 3 * places[i];
    memcpy(row, (float[]){0x1p24f, 1, 1}, 3 * sizeof *row);
    cr_expect_eq(ask(FOLD_F32, FOLD_SUM, rows, 3, in), FOLD_TELLING, "row %zu of %zu", places[i], rows);
    cr_expect_eq(ask(FOLD_F32, FOLD_SUM, places[i], 3, in), FOLD_IDLE, "the rows before row %zu", places[i]);
    memset(row, 0, 3 * sizeof *row);
  }
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 0, 3, in), FOLD_IDLE, "no row");
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, rows, 0, in), FOLD_IDLE, "no term");
  free(in);
}

Test(telling, long_rows_are_asked_too) {
  const size_t n = FOLD_PANEL_TERMS + 3;
  float *in = calloc(2 * n, sizeof *in);
  for (size_t i = 0; i < 2 * n; i++) in[i] = (float)(i % 5) - 2;
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 2, n, in), FOLD_IDLE);
  in[2 * n - 1] = 0x1.8p24f;
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 2, n, in), FOLD_TELLING, "the second row");
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 1, n, in), FOLD_IDLE, "and not the first");
  free(in);
}

/* Where a chain comes to 2^24 it loses each one that follows; all others add parts of fewer ones. */
Test(telling, what_a_chain_alone_loses_in_a_long_row_tells) {
  const size_t n = (1 << 24) + 16;
  float *in = malloc(n * sizeof *in);
  cr_assert(in);
  for (size_t i = 0; i < n; i++) in[i] = 1;
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 1, n, in), FOLD_TELLING);
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 1, n - 16, in), FOLD_IDLE, "2^24 ones are exact in every order");
  free(in);
}

static float replayed(const char *order, size_t n, const float *in) {
  float out = NAN;
  const struct fold_call call = {
      .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {in}, .out = &out};
  cr_assert_eq(fold_order_replay(fold_order_find(order), &call).code, FOLD_OK);
  return out;
}

/* The example of docs/claims.md: such an input is only unlikely to reveal a change of order. */
Test(telling, eight_orders_agree_and_a_ninth_does_not) {
  const float in[300] = {[4] = 1e8f, [195] = 1, [277] = -1e8f};
  cr_expect_eq(ask(FOLD_F32, FOLD_SUM, 1, 300, in), FOLD_IDLE);
  cr_expect_eq(replayed("host/sequential", 300, in), 0);
  cr_expect_eq(replayed("flat/canonical", 300, in), 1);
}

/* A permutation for each key, of which the order is the sequential one. */
Test(telling, a_keyed_order_adds_each_term_once) {
  enum { TERMS = 1000 };
  static float in[TERMS], shuffled[TERMS];
  uint32_t *place;
  for (unsigned key = 1; key <= 3; key++) {
    const struct fold_order order = {.name = "keyed", .kind = FOLD_ORDER_KEYED, .width = key};
    const struct fold_order sequential = {.name = "sequential", .kind = FOLD_ORDER_SEQUENTIAL};
    bool there[TERMS] = {false};
    size_t moved = 0;
    cr_assert_eq(fold_order_places(&order, FOLD_F32, NULL, TERMS, &place).code, FOLD_OK);
    for (size_t k = 0; k < TERMS; k++) {
      cr_assert(place[k] < TERMS && !there[place[k]]);
      there[place[k]] = true;
      moved += place[k] != k;
      in[k] = (float)sample_value(SAMPLE_CANCELLING, FOLD_F32, key, k, TERMS);
    }
    for (size_t k = 0; k < TERMS; k++) shuffled[k] = in[place[k]];
    cr_expect_gt(moved, 900, "key %u", key);
    cr_expect_eq(bits_in(&order, in, TERMS), bits_in(&sequential, shuffled, TERMS), "key %u", key);
    free(place);
  }
}

/* The factors of a term go together; a product that rounds is one tree's as another's. */
Test(telling, products_of_two_factors_are_asked_by_their_sums) {
  const float x[] = {0x1p12f, 1, 1, 0x1p12f, 1, 1}, y[] = {0x1p12f, 1, 1, 0x1p-12f, 1, 1}, ones[] = {1, 1, 1, 1, 1, 1};
  struct fold_call call = {.dtype = FOLD_F32, .problem = fold_problem(FOLD_DOT), .rows = 2, .cols = 3, .in = {x, y}};
  enum fold_telling telling;
  cr_expect(fold_panel_ask(&call, fold_arithmetic_of(FOLD_PLAIN, call.dtype), &telling).code == FOLD_OK &&
            telling == FOLD_TELLING);
  call.in[1] = ones;
  cr_expect(fold_panel_ask(&call, fold_arithmetic_of(FOLD_PLAIN, call.dtype), &telling).code == FOLD_OK &&
            telling == FOLD_IDLE);
  call.in[0] = x + 3, call.in[1] = y + 3, call.rows = 1;
  cr_expect(fold_panel_ask(&call, fold_arithmetic_of(FOLD_PLAIN, call.dtype), &telling).code == FOLD_OK &&
            telling == FOLD_IDLE);
}

/* Of each claim that is about order, where it held, and of no other. */
Test(telling, a_finding_about_order_says_what_the_input_could_tell) {
  struct literal l;
  const uint64_t claims = FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_SAME_BITS_AS) | FOLD_CLAIM(FOLD_KEEPS_INPUT) |
                          FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_BOUNDED);
  struct fold_subject subject = plant(6, "host/sequential", FOLD_PLAIN, claims);
  struct tally tally = judge(&subject, CASE(&l, 1, 2, 3));
  cr_expect_eq(tally.last[FOLD_RUN_TO_RUN].telling, FOLD_IDLE);
  cr_expect_eq(tally.last[FOLD_SAME_BITS_AS].telling, FOLD_TELLING_UNKNOWN, "it was skipped");
  cr_expect_eq(tally.last[FOLD_REPLAYS].telling, FOLD_IDLE);
  cr_expect_eq(tally.last[FOLD_BOUNDED].telling, FOLD_TELLING_UNKNOWN);
  cr_expect_eq(tally.last[FOLD_KEEPS_INPUT].telling, FOLD_TELLING_UNKNOWN);
  tally = judge(&subject, CASE(&l, 0x1p24, 1, 1));
  cr_expect_eq(tally.last[FOLD_RUN_TO_RUN].telling, FOLD_TELLING);
  cr_expect_eq(tally.last[FOLD_REPLAYS].telling, FOLD_TELLING_UNKNOWN, "it was refuted");
}

Test(telling, claims_about_order_are_those_of_bits) {
  static const char *const not_by_order[] = {
      "bounded",         "compensated", "faithful", "correctly_rounded", "writes_output", "stays_in_bounds",
      "leaves_no_trace", "keeps_input", "tree",     "accurate_as",       "ulps"};
  size_t n, others = sizeof not_by_order / sizeof *not_by_order;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n; k++) {
    bool other = false;
    for (size_t i = 0; i < others; i++) other |= strcmp(claims[k].name, not_by_order[i]) == 0;
    cr_expect_eq(claims[k].by_order, !other, "%s", claims[k].name);
    cr_expect_eq(fold_claims_by_order() >> k & 1, !other, "%s", claims[k].name);
  }
}

/* Whether a case of the default set of that shape tells; `n` is 0 for vectors, of so many ranks. */
static bool some_tells(const struct fold_cases *cases, enum fold_problem_id problem, enum fold_dtype dtype, size_t n,
                       unsigned ranks) {
  bool tells = false;
  for (size_t i = 0; i < cases->n && !tells; i++) {
    const struct fold_case *c = &cases->at[i];
    if (c->problem->id != problem || c->dtype != dtype || c->ranks != ranks || c->claims) continue;
    if (c->cols != (n ? n : ranks)) continue;
    struct fold_call call = {.dtype = dtype, .problem = c->problem, .rows = c->rows, .cols = c->cols};
    void *inputs[FOLD_INPUTS] = {0};
    enum fold_telling telling;
    for (unsigned k = 0; k < c->problem->inputs; k++) {
      inputs[k] = malloc((c->rows * c->cols + 1) * fold_dtype_size(dtype));
      cr_assert(inputs[k] && fold_case_fill(c, k, inputs[k], 0).code == FOLD_OK, "%s", c->name);
    }
    call.in[0] = inputs[0], call.in[1] = inputs[1];
    cr_assert_eq(fold_panel_ask(&call, fold_arithmetic_of(FOLD_PLAIN, call.dtype), &telling).code, FOLD_OK, "%s",
                 c->name);
    tells = telling == FOLD_TELLING;
    for (size_t k = 0; k < FOLD_INPUTS; k++) free(inputs[k]);
  }
  return tells;
}

/* A claim that held at a boundary of its subject's order held on nothing, were it not for these. */
Test(telling, the_default_fixtures_tell_at_each_boundary_in_each_dtype) {
  static const size_t sums[] = {3,   4,   8,   9,    16,   17,   32,   33,   64,    65,    128,
                                129, 256, 257, 1024, 1025, 4096, 4097, 8193, 16385, 65537, 262145};
  static const size_t products[] = {3, 4, 9, 17, 33, 65, 129, 257, 1025, 4097, 16385};
  static const unsigned worlds[] = {3, 4, 5, 8};
  struct fold_cases cases = {0};
  fold_status status = fold_cases_load(FOLD_FIXTURE_FOLDER, "default", NULL, &cases);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  for
    EACH_DTYPE(d) {
      for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        cr_expect(some_tells(&cases, FOLD_ROWS_SUM, dtypes[d], sums[i], 0), "dtype %zu, %zu terms", d, sums[i]);
      for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        cr_expect(some_tells(&cases, FOLD_DOT, dtypes[d], products[i], 0), "dtype %zu, %zu products", d, products[i]);
      for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        cr_expect(some_tells(&cases, FOLD_ROWS_SUM, dtypes[d], 0, worlds[i]), "dtype %zu, %u ranks", d, worlds[i]);
    }
  fold_cases_free(&cases);
}
