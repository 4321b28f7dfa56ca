/* test_integers.c: integers as dtypes: patterns, exact results that wrap modulo 2^bits, and verdicts that say how a wrong one came about.
 * The reference is __int128. */
#include <criterion/criterion.h>
#include <math.h>

#include "cleanup.h"
#include "integers.h"
#include "literal.h"
#include "oracles/exact.h"
#include "oracles/integers.h"
#include "oracles/order.h"

static const enum fold_dtype integers[] = {FOLD_I8, FOLD_I32, FOLD_I64};
enum { INTEGERS = sizeof integers / sizeof *integers, MOST = 40 };

static int64_t value(enum fold_dtype dtype, uint64_t bits) { return fold_integer_value(fold_format_of(dtype), bits); }

Test(integers, patterns_are_twos_complement_without_special_values) {
  for (size_t k = 0; k < INTEGERS; k++) {
    const enum fold_dtype dtype = integers[k];
    const struct fold_format f = fold_format_of(dtype);
    char text[80];
    cr_expect_eq(value(dtype, f.sign - 1), (int64_t)(f.sign - 1));
    cr_expect_eq(value(dtype, f.sign), -(int64_t)(f.sign - 1) - 1);
    for (uint64_t bits = 0; bits < 256; bits++)
      for (int shift = 0; shift < f.bits; shift += 8) {
        const uint64_t pattern = bits << shift & fold_format_mask(f);
        cr_expect_eq(fold_bits_class(dtype, pattern), pattern ? FOLD_NORMAL : FOLD_ZERO);
        cr_expect_eq(fold_bits_negative(dtype, pattern), value(dtype, pattern) < 0);
        if (pattern != f.sign - 1) cr_expect_eq(value(dtype, fold_bits_up(dtype, pattern)), value(dtype, pattern) + 1);
        if (pattern != f.sign) cr_expect_eq(value(dtype, fold_bits_down(dtype, pattern)), value(dtype, pattern) - 1);
        cr_expect_eq(fold_ulp(dtype, fold_bits_to_double(dtype, pattern)), 1);
      }
    cr_expect_eq(fold_bits_up(dtype, f.sign - 1), f.sign - 1);
    cr_expect_eq(fold_bits_down(dtype, f.sign), f.sign);
    cr_expect_eq(fold_bits_distance(dtype, f.sign, f.sign - 1), fold_format_mask(f));
    cr_expect_eq(fold_bits_end(dtype, true), f.sign);
    cr_expect_eq(fold_bits_end(dtype, false), f.sign - 1);
    cr_expect_eq(fold_bits_from_double(dtype, 1e30), f.sign - 1);
    cr_expect_eq(fold_bits_from_double(dtype, -1e30), f.sign);
    cr_expect_eq(fold_bits_from_double(dtype, NAN), 0);
    cr_expect_eq(value(dtype, fold_bits_from_double(dtype, -2.5)), -2);
    cr_expect_eq(value(dtype, fold_bits_from_double(dtype, -3.5)), -4);
    cr_expect_eq(value(dtype, fold_bits_from_double(dtype, 0.75)), 1);
    cr_expect_eq(value(dtype, fold_bits_from_double(dtype, 1.25)), 1);
    cr_expect_str_eq(fold_bits_print(dtype, fold_format_mask(f), text), dtype == FOLD_I8 ? "0xff (-1)"
                                                                        : dtype == FOLD_I32
                                                                            ? "0xffffffff (-1)"
                                                                            : "0xffffffffffffffff (-1)");
  }
  char text[40];
  fold_bits_decimal(FOLD_I64, 9007199254740993u, text);
  cr_expect_str_eq(text, "9007199254740993");
}

/* Terms of some kind: any, near both ends of the range, or small. */
static void fill(enum fold_dtype dtype, void *in, size_t n, unsigned kind, uint64_t *state) {
  const struct fold_format f = fold_format_of(dtype);
  for (size_t i = 0; i < n; i++) {
    const uint64_t word = next_word(state), small = word % 7 - 3;
    const uint64_t near = (word >> 32 & 1 ? f.sign : f.sign - 1) + small;
    fold_bits_store(dtype, in, i, kind == 0 ? word : kind == 1 ? near : small);
  }
}

/* The low 64 bits, and whether the exact result fits `bits`, by __int128: of sums of fewer than 64 products of i32 it has all bits, of
 * i64 their low ones. */
static __int128 naive(const struct fold_terms *t) {
  __int128 all = t->op == FOLD_PROD ? 1 : 0;
  for (size_t i = 0; i < t->n; i++) {
    __int128 x = value(t->dtype, fold_bits_load(t->dtype, t->factor[0], i));
    if (t->factors > 1) x *= value(t->dtype, fold_bits_load(t->dtype, t->factor[1], i));
    if (t->op == FOLD_SUM) all = (__int128)((unsigned __int128)all + (unsigned __int128)x);
    if (t->op == FOLD_PROD) all = (__int128)((unsigned __int128)all * (unsigned __int128)x);
    if (t->op == FOLD_MAX && (i == 0 || x > all)) all = x;
    if (t->op == FOLD_MIN && (i == 0 || x < all)) all = x;
  }
  return all;
}

static bool fits(__int128 x, int bits) {
  const __int128 end = (__int128)1 << (bits - 1);
  return x >= -end && x < end;
}

static void expect_truth(const struct fold_terms *t, fold_status status, const struct fold_truth *truth,
                         const char *by) {
  const __int128 want = naive(t);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", by, status.text);
  cr_expect(truth->finite_terms);
  const bool all_bits = t->op != FOLD_PROD && !(t->factors > 1 && t->dtype == FOLD_I64);
  for (size_t k = 0; k < INTEGERS; k++) {
    const struct fold_format to = fold_format_of(integers[k]);
    cr_expect_eq(truth->rounded[integers[k]], (uint64_t)want & fold_format_mask(to), "%s: %s of %zu %s to %s: %llx", by,
                 fold_op_name(t->op), t->n, fold_dtype_name(t->dtype), fold_dtype_name(integers[k]),
                 (unsigned long long)truth->rounded[integers[k]]);
    if (all_bits) cr_expect_eq(fold_truth_is_within(truth, to.bits), fits(want, to.bits));
  }
  if (all_bits && fits(want, 64)) cr_expect_eq(truth->rounded[FOLD_F64], fold_f64_bits((double)(int64_t)want));
}

Test(integers, exact_results_wrap_and_their_range_is_known) {
  uint64_t state = 1, x[MOST], y[MOST];
  struct fold_truth exact, mpfr;
  fold_truth_init(&exact);
  fold_truth_init(&mpfr);
  for (size_t k = 0; k < INTEGERS; k++)
    for (unsigned kind = 0; kind < 3; kind++)
      for (size_t n = 1; n <= MOST; n++)
        for (int op = 0; op <= FOLD_OPS; op++) { /* the last is a dot product */
          struct fold_terms t = fold_terms_of(integers[k], op < FOLD_OPS ? (enum fold_op)op : FOLD_SUM, x, n);
          fill(t.dtype, x, n, kind, &state);
          fill(t.dtype, y, n, kind, &state);
          if (op == FOLD_OPS) t.factors = 2, t.factor[1] = y, t.step[1] = 1;
          expect_truth(&t, fold_oracle_terms(&t, 1, &exact), &exact, "exact");
          expect_truth(&t, fold_oracle_mpfr_terms(&t, &mpfr), &mpfr, "MPFR");
          cr_expect(exact.enclosed == mpfr.enclosed && mpfr_equal_p(exact.exact, mpfr.exact), "the oracles disagree");
          cr_expect(op != FOLD_SUM || mpfr_equal_p(exact.abs_sum, mpfr.abs_sum), "sums of magnitudes");
          if (op == FOLD_SUM || op == FOLD_OPS)
            cr_expect_eq(exact.lowest, mpfr.lowest, "%ld, %ld", exact.lowest, mpfr.lowest);
          cr_expect_eq(fold_integers_fold(&t), (uint64_t)naive(&t));
          cr_expect_eq(fold_integers_fold_gmp(&t), (uint64_t)naive(&t));
        }
  fold_truth_free(&exact);
  fold_truth_free(&mpfr);
}

/* A product too long to be held is enclosed; its low bits are known. */
Test(integers, long_products_keep_their_low_bits) {
  static uint64_t x[3000];
  TRUTH(exact);
  uint64_t want = 1;
  for (size_t i = 0; i < 3000; i++) want *= x[i] = 2 * i + 0x7000000000000001u;
  cr_assert_eq(fold_oracle_exact(FOLD_I64, FOLD_PROD, x, 3000, 1, &exact).code, FOLD_OK);
  cr_expect(exact.enclosed && !fold_truth_is_within(&exact, 64));
  cr_expect_eq(exact.rounded[FOLD_I64], want);
  cr_expect_eq(exact.rounded[FOLD_I32], want & 0xffffffff);
  cr_assert_eq(fold_oracle_mpfr(FOLD_I64, FOLD_PROD, x, 3000, &exact).code, FOLD_OK);
  cr_expect_eq(exact.rounded[FOLD_I64], want);
}

Test(integers, no_terms_give_the_identity) {
  static const uint64_t want[FOLD_OPS] = {0, 1, 0x80000000, 0x7fffffff};
  const struct fold_order *order = fold_order_find("host/sequential");
  TRUTH(exact);
  int32_t got = -1;
  for (int op = 0; op < FOLD_OPS; op++) {
    cr_assert_eq(fold_oracle_exact(FOLD_I32, (enum fold_op)op, &got, 0, 1, &exact).code, FOLD_OK);
    cr_expect_eq(exact.rounded[FOLD_I32], want[op], "%s", fold_op_name((enum fold_op)op));
    cr_expect(fold_truth_is_within(&exact, 32));
    const struct fold_call call = {
        .dtype = FOLD_I32, .problem = fold_rows_problem((enum fold_op)op), .rows = 1, .out = &got};
    cr_assert_eq(fold_order_replay(order, &call).code, FOLD_OK);
    cr_expect_eq((uint32_t)got, want[op]);
    cr_assert_eq(fold_oracle_results(&call, FOLD_I32, 1, &got).code, FOLD_OK);
    cr_expect_eq((uint32_t)got, want[op]);
  }
}

/* One result against the exact one: `held`, or else what the message says. */
struct judged {
  enum fold_dtype terms, result;
  bool wraps;
  int64_t term[4], got;
  const char *why; /* NULL: it holds */
};

static const struct judged rows[] = {
    {FOLD_I32, FOLD_I32, false, {1, 2, 3, 4}, 10, NULL},
    {FOLD_I32, FOLD_I32, false, {1, 2, 30, 4}, 7, "the exact result is 37, not 7: term 2 is missing"},
    {FOLD_I32, FOLD_I32, true, {1, 2, 3, 4}, 9, "the exact result is 10, not 9"},
    {FOLD_I32, FOLD_I64, false, {2000000000, 2000000000, 2000000000, 0}, 6000000000, NULL},
    {FOLD_I32,
     FOLD_I64,
     false,
     {2000000000, 2000000000, 2000000000, 0},
     1705032704,
     "the sum wrapped: 1705032704 is 6000000000 - 2^32"},
    {FOLD_I32,
     FOLD_I32,
     false,
     {2000000000, 2000000000, 2000000000, 0},
     1705032704,
     "row 0: the sum wrapped: 1705032704 is 6000000000 - 2^32"},
    {FOLD_I32, FOLD_I32, true, {2000000000, 2000000000, 2000000000, 0}, 1705032704, NULL},
    {FOLD_I32,
     FOLD_I32,
     true,
     {2000000000, 2000000000, 2000000000, 0},
     INT32_MAX,
     "the exact result is 6000000000, not 2147483647"},
    {FOLD_I32,
     FOLD_I32,
     false,
     {-2000000000, -2000000000, -2000000000, -2000000000},
     589934592,
     "row 0: the sum wrapped: 589934592 is -8000000000 + 2 x 2^32; where that is meant, declare `wraps`"},
    {FOLD_I32,
     FOLD_I64,
     true,
     {2000000000, 2000000000, 0, 0},
     -294967296,
     "the sum wrapped: -294967296 is 4000000000 - 2^32"},
    {FOLD_I64,
     FOLD_I64,
     false,
     {INT64_MAX, 1, 0, 0},
     INT64_MIN,
     "row 0: the sum wrapped: -9223372036854775808 is 9223372036854775808 - 2^64"},
    {FOLD_I64, FOLD_I64, true, {INT64_MAX, 1, 0, 0}, INT64_MIN, NULL},
    {FOLD_I64, FOLD_I64, false, {INT64_MAX, 1, -1, 0}, INT64_MAX, NULL},
    {FOLD_I64, FOLD_I64, false, {INT64_MIN, 0, 0, 0}, INT64_MIN, NULL},
    {FOLD_I64,
     FOLD_I64,
     false,
     {3000000000, 3000000000, 0, 0},
     1705032704,
     "the sum wrapped: 1705032704 is 6000000000 - 2^32"},
    {FOLD_I32,
     FOLD_I32,
     false,
     {16777216, 1, 1, 1},
     16777216,
     "the sum is 16777219, not 16777216: it is a number of f32"},
    {FOLD_I64,
     FOLD_I64,
     false,
     {9007199254740992, 1, 1, 1},
     9007199254740996,
     "the sum is 9007199254740995, not 9007199254740996: it is a number of f64"},
    {FOLD_I64, FOLD_I64, false, {9007199254740992, 1, 1, 1}, 9007199254740995, NULL},
    {FOLD_I64,
     FOLD_I64,
     false,
     {9007199254740992, 1, 1, 1},
     9007199254740993,
     "the exact result is 9007199254740995, not 9007199254740993"},
    {FOLD_I8, FOLD_I32, false, {100, 100, 100, 100}, 400, NULL},
    {FOLD_I8, FOLD_I32, false, {100, 100, 100, 100}, -112, "the sum wrapped: -112 is 400 - 2 x 2^8"},
};

static fold_status planted_integer(const struct fold_subject *s, const struct fold_call *call) {
  fold_bits_store(fold_subject_result(s, call->dtype), call->out, 0, (uint64_t) * (const int64_t *)s->about);
  return fold_ok();
}

static struct fold_finding judge_row(const struct judged *row, enum fold_claim_id claim) {
  struct literal l;
  CASE(&l, 0, 0, 0, 0);
  l.c.dtype = row->terms;
  for (size_t i = 0; i < 4; i++) l.bits[i] = fold_integer_wrap(row->terms, (uint64_t)row->term[i]);
  const struct fold_subject subject = {.name = "planted",
                                       .about = (const char *)&row->got,
                                       .dtypes = 1u << row->terms,
                                       .problems = 1u << FOLD_ROWS_SUM,
                                       .result = FOLD_ALWAYS(row->result),
                                       .accumulator = FOLD_ALWAYS(row->result),
                                       .wraps = row->wraps,
                                       .claims = FOLD_CLAIM(claim),
                                       .run = planted_integer};
  struct tally t = tally_of(&subject, &l.cases);
  return t.last[claim];
}

static void expect_row(const struct judged *row, enum fold_claim_id claim) {
  const struct fold_finding f = judge_row(row, claim);
  cr_expect_eq(f.verdict, row->why ? FOLD_REFUTED : FOLD_HELD, "%lld: %s", (long long)row->got, f.reason);
  if (row->why) cr_expect(strncmp(f.reason, row->why, strlen(row->why)) == 0, "%s", f.reason);
}

/* From 2^53 on a double may round the difference to that of a term. */
Test(integers, a_term_is_called_missing_where_a_double_has_the_difference) {
  static const struct judged below = {FOLD_I64, FOLD_I64, false, {9007199254740991, 5, 9, 0}, 14, NULL},
                             from = {FOLD_I64, FOLD_I64, false, {9007199254740992, 5, 9, 0}, 13, NULL};
  const struct fold_finding named = judge_row(&below, FOLD_BOUNDED), unnamed = judge_row(&from, FOLD_BOUNDED);
  cr_expect(strstr(named.reason, "term 0 is missing"), "%s", named.reason);
  cr_expect_str_eq(unnamed.reason, "the exact result is 9007199254741006, not 13", "%s", unnamed.reason);
}

Test(integers, a_result_is_right_or_wrong_and_the_message_says_how) {
  static const enum fold_claim_id claims[] = {FOLD_BOUNDED, FOLD_FAITHFUL, FOLD_CORRECTLY_ROUNDED};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t k = 0; k < 3; k++) expect_row(&rows[i], claims[k]);
}

/* i8 terms in i32 that wraps, results in i64. */
Test(integers, a_narrow_accumulator_wraps_before_its_result_does) {
  const struct fold_arithmetic how = {FOLD_PLAIN, FOLD_I32, FOLD_I64, FOLD_FACTORS_KEPT};
  cr_expect_eq(fold_integer_result(how, 0x80000000), 0xffffffff80000000);
  cr_expect_eq(fold_integer_result(how, 0x17fffffff), 0x7fffffff);
  cr_expect_eq(fold_integer_result((struct fold_arithmetic){FOLD_PLAIN, FOLD_I64, FOLD_I8, FOLD_FACTORS_KEPT}, 0x1234),
               0x34);
}
