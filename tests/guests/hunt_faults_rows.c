/* hunt_faults_rows.c: faults at some lengths, and of some values. */
#include "hunt_faulty.h"

/* ---- what happens ---- */

static void doubles_last(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  row->x[row->n] = row->x[row->n - 1];
  if (row->y) row->y[row->n] = row->y[row->n - 1];
  row->n++;
}
static void fuses_last(struct hunt_row *row, const struct hunt_fault *fault) { (void)fault, row->fuses_last = true; }

static double largest(const struct hunt_row *row) {
  double most = 0;
  for (uint64_t i = 0; i < row->n; i++) most = fmax(most, fabs(row->x[i]));
  return most;
}
/* Below the largest by so many bits. */
static void skips_small(struct hunt_row *row, const struct hunt_fault *fault) {
  const double least = ldexp(largest(row), -(int)fault->by);
  for (uint64_t i = 0; i < row->n; i++)
    if (fabs(row->x[i]) < least) row->x[i] = 0;
}
static double least_normal(int dtype) {
  return dtype == FOLDPROOF_GUEST_F64 ? 0x1p-1022 : dtype == FOLDPROOF_GUEST_F16 ? 0x1p-14 : 0x1p-126;
}
static void flushes_lane_3(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  for (uint64_t i = 3; i < row->n; i += 8)
    if (fabs(row->x[i]) < least_normal(row->call->dtype)) row->x[i] = 0;
}
static bool is_signalling(call_of *call, uint64_t i) {
  if (call->dtype == FOLDPROOF_GUEST_F64) return !(((const uint64_t *)call->in)[i] & 1ull << 51);
  return !(((const uint32_t *)call->in)[i] & 1u << 22);
}
static void signalling_is_zero_in_lane_3(struct hunt_row *row, const struct hunt_fault *fault) {
  call_of *call = row->call;
  (void)fault;
  for (uint64_t i = 3; i < row->n; i += 8)
    if (isnan(row->x[i]) && is_signalling(call, row->at * call->row_stride + i * call->col_stride)) row->x[i] = 0;
}
static void nan_is_zero(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  for (uint64_t i = 0; i < row->n; i++)
    if (isnan(row->x[i])) row->x[i] = 0;
}
static void invalid_is_zero_in_lane_1(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  for (uint64_t i = 1; i < row->n; i += 4)
    if (isnan(row->x[i] * row->y[i]) && !isnan(row->x[i]) && !isnan(row->y[i])) row->x[i] = row->y[i] = 0;
}
static void rounds_factors(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  for (uint64_t i = 0; i < row->n; i++) {
    row->x[i] = hunt_round_to(row->x[i], 11, -126, 0x1p128, INFINITY);
    row->y[i] = hunt_round_to(row->y[i], 11, -126, 0x1p128, INFINITY);
  }
}

/* What is rounded up to the next power of two keeps its exponent. */
static double without_carry(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  int before, after;
  const double nearest = hunt_round(row->call->result, result);
  (void)fault;
  if (!isfinite(nearest) || nearest == 0) return result;
  frexp(result, &before), frexp(nearest, &after);
  return after > before ? nearest / 2 : nearest;
}
static double truncated_subnormal(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  if (!isfinite(result) || fabs(result) >= least_normal(row->call->result)) return result;
  return ldexp(trunc(ldexp(result, 24)), -24);
}
static double rounded_twice(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  return (void)row, (void)fault, hunt_round(FOLDPROOF_GUEST_BF16, result);
}
static double negative_zero(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  return (void)fault, result == 0 && row->x[row->n - 1] < 0 ? -0. : result;
}
static double as_integers(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  int64_t sum = 0;
  (void)fault;
  for (uint64_t i = 0; i < row->n; i++) sum += (int64_t)row->x[i];
  return sum ? (double)sum : result;
}
/* The greatest of all patterns, taken for integers with a sign: of negative numbers the least one. */
static double by_patterns(double result, const struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  if (isnan(result) || !signbit(result)) return result;
  for (uint64_t i = 0; i < row->n; i++) result = fmin(result, row->x[i]);
  return result;
}

/* ---- where ---- */

static uint64_t zeros(const struct hunt_row *row) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < row->n; i++) n += row->x[i] == 0;
  return n;
}
static bool half_zeros(const struct hunt_row *row, const struct hunt_fault *fault) {
  const double share = (double)zeros(row) / (double)row->n;
  return (void)fault, share > .3 && share < .6;
}
static bool rises(const struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  for (uint64_t i = 1; i < row->n; i++)
    if (!(row->x[i] > row->x[i - 1])) return false;
  return true;
}
static bool same_inputs(const struct hunt_row *row, const struct hunt_fault *fault) {
  return (void)fault, memcmp(row->x, row->y, row->n * sizeof *row->x) == 0;
}
static bool so_many_nans(const struct hunt_row *row, const struct hunt_fault *fault) {
  unsigned n = 0;
  for (uint64_t i = 0; i < row->n; i++) n += isnan(row->x[i]) != 0;
  return n == fault->by;
}
static bool whole(const struct hunt_row *row, const struct hunt_fault *fault) {
  const double most = ldexp(1, (int)fault->by);
  for (uint64_t i = 0; i < row->n; i++)
    if (row->x[i] != floor(row->x[i]) || !(fabs(row->x[i]) < most)) return false;
  return true;
}
static bool is_square(const struct hunt_row *row, const struct hunt_fault *fault) {
  return (void)fault, row->call->rows == row->n;
}

static const struct foldproof_guest_subject of_rows[] = {
    /* One length. */
    HUNT_FAULT(length_2774, "sum", "f32", NULL, NULL, "last term lost at 2774 terms", .length = {2774, 2774},
               .effect = hunt_loses_last),
    HUNT_FAULT(length_1387, "dot", "f64", NULL, NULL, "last term lost at 1387 terms", .length = {1387, 1387},
               .effect = hunt_loses_last),
    HUNT_FAULT(length_613, "sum", "f16", IN_TURN, NULL, "four lanes at 613 terms", .length = {613, 613},
               .effect = hunt_in_four_lanes),
    /* A length modulo a number. */
    HUNT_FAULT(length_31_of_54, "max", "f64", NULL, NULL, "last term lost from 400 terms on where n mod 54 = 31",
               .length = {400, 0, 54, 31}, .effect = hunt_loses_last),
    HUNT_FAULT(length_38_of_58, "sum", "bf16", NULL, NULL, "last term lost from 200 terms on where n mod 58 = 38",
               .length = {200, 0, 58, 38}, .effect = hunt_loses_last),
    HUNT_FAULT(length_odd, "dot", "f32", DOT_IN_TURN, NULL, "last term fused where n > 3000 is odd",
               .length = {3001, 0, 2, 1}, .effect = fuses_last),
    HUNT_FAULT(tiles_of_448, "dot", "bf16", NULL, NULL, "last term twice at 1344, 2240, 3136, ... terms",
               .length = {1344, 0, 896, 448}, .effect = doubles_last),
    /* A range of lengths. */
    HUNT_FAULT(length_5301_to_5899, "min", "f16", NULL, NULL, "last term lost from 5301 to 5899 terms",
               .length = {5301, 5899}, .effect = hunt_loses_last),
    HUNT_FAULT(length_103_to_109, "prod", "f64", NULL, NULL, "last term lost from 103 to 109 terms",
               .length = {103, 109}, .effect = hunt_loses_last),
    HUNT_FAULT(length_prime, "dot", "f16", NULL, NULL, "last term lost at prime lengths from 2000 to 8000",
               .length = {2000, 8000, .primes = true}, .effect = hunt_loses_last),
    HUNT_FAULT(lanes_1601_to_2040, "sum", "f16", IN_TURN, NULL, "four lanes from 1601 to 2040 terms",
               .length = {1601, 2040}, .effect = hunt_in_four_lanes),
    /* Long rows only. */
    HUNT_FAULT(over_2_16, "sum", "f32", NULL, NULL, "last term lost over 65,536 terms where n mod 8 = 5",
               .length = {65537, 0, 8, 5}, .effect = hunt_loses_last),
    HUNT_FAULT(over_70000, "max", "bf16", NULL, NULL, "last term lost over 70,000 terms where n mod 4 = 3",
               .length = {70001, 0, 4, 3}, .effect = hunt_loses_last),
    /* One lane for one exponent. */
    HUNT_FAULT(small_beside_large, "sum", "f64", NULL, NULL,
               "terms below 2^-36 of the largest are zero from 1100 to 1900 terms", .length = {1100, 1900},
               .effect = skips_small, .by = 36),
    HUNT_FAULT(subnormal_lane, "sum", "f32", NULL, NULL,
               "subnormal terms of lane 3 of 8 are zero where n > 500, n mod 8 = 5", .length = {501, 0, 8, 5},
               .effect = flushes_lane_3),
    HUNT_FAULT(without_carry, "dot", "f16", NULL, NULL,
               "no carry into the exponent when rounding to f16 where n mod 8 = 6", .length = {6, 0, 8, 6},
               .change = without_carry),
    HUNT_FAULT(truncated_subnormal, "dot", "f16", NULL, NULL, "a subnormal dot product is truncated where n mod 8 = 6",
               .length = {6, 0, 8, 6}, .change = truncated_subnormal),
    HUNT_FAULT(rounded_twice, "sum", "e5m2", NULL, NULL, "rounded to bf16, then to e5m2, where n mod 24 = 20",
               .length = {20, 0, 24, 20}, .change = rounded_twice),
    HUNT_FAULT(as_tf32, "sumsq", "f32", NULL, NULL, "factors rounded to TF32 where n >= 500 and n mod 40 = 24",
               .length = {500, 0, 40, 24}, .effect = rounds_factors),
    /* Payloads. */
    HUNT_FAULT(signalling_in_lane_3, "sum", "f64", NULL, NULL,
               "a signalling NaN in lane 3 of 8 is lost where n mod 4 = 2", .length = {2, 0, 4, 2},
               .effect = signalling_is_zero_in_lane_3),
    HUNT_FAULT(two_nans, "dot", "f32", NULL, NULL, "exactly two NaN are skipped over 150 terms", .length = {151},
               .pattern = so_many_nans, .by = 2, .effect = nan_is_zero),
    HUNT_FAULT(zero_times_infinity, "dot", "bf16", NULL, NULL, "0 times infinity is 0 in lane 1 of 4 over 60 terms",
               .length = {61}, .effect = invalid_is_zero_in_lane_1),
    /* Patterns of values. */
    HUNT_FAULT(half_zeros, "sum", "f64", NULL, NULL, "last term lost where 30 to 60 % of over 150 are zeros",
               .length = {151}, .pattern = half_zeros, .effect = hunt_loses_last),
    HUNT_FAULT(rising, "sum", "f16", NULL, NULL, "last term lost where over 40 rise strictly", .length = {41},
               .pattern = rises, .effect = hunt_loses_last),
    HUNT_FAULT(same_inputs, "dot", "f64", NULL, NULL, "last term lost where both rows are the same, over 40 terms",
               .length = {41}, .pattern = same_inputs, .effect = hunt_loses_last),
    HUNT_FAULT(whole_numbers, "sum", "f32", IN_TURN, NULL,
               "whole numbers below 2^24 are added as integers where n mod 7 = 3", .length = {3, 0, 7, 3},
               .pattern = whole, .by = 24, .change = as_integers),
    HUNT_FAULT(patterns_of_negative, "max", "f64", NULL, NULL,
               "compares bits as integers over 40 terms where n mod 8 = 6: wrong among negative terms",
               .length = {41, 0, 8, 6}, .change = by_patterns),
    HUNT_FAULT(negative_zero, "sum", "f64", IN_TURN, NULL,
               "-0 where over 40 terms, n mod 16 = 7, cancel and the last is negative", .length = {41, 0, 16, 7},
               .change = negative_zero),
    HUNT_FAULT(square, "sum", "f32", IN_TURN, NULL, "four lanes where the input is square, a multiple of 12",
               .length = {12, 0, 12, 0}, .pattern = is_square, .effect = hunt_in_four_lanes),
};
HUNT_TABLE(of_rows)
