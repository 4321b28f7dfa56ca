/* scan.c: scans of rows in rising index, one pass a row: plain, in the dtype's accumulator, as one running sum or in tiles, and exact.
 * Each result is rounded once.
 * An exclusive scan's result has the terms before its place; the first is the operation's identity. */
#include <math.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "oracles/integers.h"
#include "oracles/super_round.h"

/* NaN propagates, and -0 < +0. */
static double pick(enum fold_op op, double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return (op == FOLD_MAX) == !signbit(a) ? a : b;
  return (op == FOLD_MAX) == (a > b) ? a : b;
}

static double join(enum fold_op op, enum fold_dtype accumulator, double a, double b) {
  if (op == FOLD_MAX || op == FOLD_MIN) return pick(op, a, b);
  return fold_host_plus(accumulator, a, b);
}

static double identity(enum fold_op op) { return op == FOLD_MAX ? -INFINITY : op == FOLD_MIN ? INFINITY : 0; }

static void scan_row(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  const enum fold_op op = call->problem->op;
  const enum fold_dtype accumulator = fold_subject_accumulator(subject, call->dtype),
                        result = fold_subject_result(subject, call->dtype);
  double sum = identity(op);
  for (size_t i = row * call->cols; i < (row + 1) * call->cols; i++) {
    const double x = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i)), before = sum;
    sum = join(op, accumulator, sum, x);
    fold_bits_store(result, call->out, i,
                    fold_bits_from_double(result, call->problem->reach == FOLD_BEFORE ? before : sum));
  }
}

enum { TILE = 32 };
/* Scans a tile in place. */
typedef void scan_tile(enum fold_op op, enum fold_dtype accumulator, double *v, size_t n);

static void in_turn(enum fold_op op, enum fold_dtype accumulator, double *v, size_t n) {
  for (size_t i = 1; i < n; i++) v[i] = join(op, accumulator, v[i - 1], v[i]);
}

/* As the shuffles of a warp do it: in each step all lanes take the value of the lane `distance` below. */
static void by_doubling(enum fold_op op, enum fold_dtype accumulator, double *v, size_t n) {
  for (size_t distance = 1; distance < n; distance *= 2)
    for (size_t i = n - 1; i >= distance; i--) v[i] = join(op, accumulator, v[i - distance], v[i]);
}

/* The sum of the tiles before is joined in front of each of a tile's values. */
static void scan_row_in_tiles(const struct fold_subject *subject, const struct fold_call *call, size_t row,
                              scan_tile *scan) {
  const enum fold_op op = call->problem->op;
  const enum fold_dtype accumulator = fold_subject_accumulator(subject, call->dtype),
                        result = fold_subject_result(subject, call->dtype);
  const size_t end = (row + 1) * call->cols;
  double v[TILE], sum = identity(op);
  for (size_t first = row * call->cols; first < end; first += TILE) {
    const size_t n = end - first < TILE ? end - first : TILE;
    const double carry = sum;
    for (size_t i = 0; i < n; i++)
      v[i] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], first + i));
    scan(op, accumulator, v, n);
    for (size_t i = 0; i < n; i++) {
      const double before = sum;
      sum = join(op, accumulator, carry, v[i]);
      fold_bits_store(result, call->out, first + i,
                      fold_bits_from_double(result, call->problem->reach == FOLD_BEFORE ? before : sum));
    }
  }
}

static void scan_row_in_turn(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  scan_row_in_tiles(subject, call, row, in_turn);
}

static void scan_row_by_doubling(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  scan_row_in_tiles(subject, call, row, by_doubling);
}

/* In 64 bits; what is left of them in the result wraps. */
static uint64_t join_integers(enum fold_op op, uint64_t a, uint64_t b) {
  if (op == FOLD_SUM) return a + b;
  return ((int64_t)a < (int64_t)b) == (op == FOLD_MAX) ? b : a;
}

static void scan_row_of_integers(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  const enum fold_op op = call->problem->op;
  const struct fold_arithmetic how = fold_subject_arithmetic(subject, call->dtype);
  const struct fold_format terms = fold_format_of(call->dtype);
  uint64_t sum = op == FOLD_SUM ? 0 : (uint64_t)fold_integer_value(terms, fold_bits_end(call->dtype, op == FOLD_MAX));
  for (size_t i = row * call->cols; i < (row + 1) * call->cols; i++) {
    const uint64_t before = sum;
    sum = join_integers(op, sum, (uint64_t)fold_integer_value(terms, fold_bits_load(call->dtype, call->in[0], i)));
    fold_bits_store(how.result, call->out, i,
                    fold_integer_result(how, call->problem->reach == FOLD_BEFORE ? before : sum));
  }
}

static void scan_row_exactly(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct fold_super state = {0};
  for (size_t i = row * call->cols; i < (row + 1) * call->cols; i++) {
    const void *term = (const unsigned char *)call->in[0] + i * fold_dtype_size(call->dtype);
    struct fold_super before = state;
    fold_super_add(call->dtype, term, 1, &state, NULL);
    if (call->problem->reach != FOLD_BEFORE) before = state;
    fold_bits_store(result, call->out, i, fold_super_round(call->dtype, &before, result));
  }
}

typedef void scan_one(const struct fold_subject *subject, const struct fold_call *call, size_t row);

static fold_status scan_rows(const struct fold_subject *subject, const struct fold_call *call, scan_one *run) {
  const bool small = call->cols == 0 || call->rows < FOLD_HOST_SERIAL / call->cols;
#pragma omp parallel for num_threads(small ? 1 : fold_host_threads(call))
  for (size_t row = 0; row < call->rows; row++) run(subject, call, row);
  return fold_ok();
}

fold_status fold_host_scan(const struct fold_subject *subject, const struct fold_call *call) {
  return scan_rows(subject, call,
                   subject->method == FOLD_EXACT        ? scan_row_exactly
                   : fold_dtype_is_integer(call->dtype) ? scan_row_of_integers
                                                        : scan_row);
}

fold_status fold_host_scan_tiled(const struct fold_subject *subject, const struct fold_call *call) {
  return scan_rows(subject, call, scan_row_in_turn);
}

fold_status fold_host_scan_warps(const struct fold_subject *subject, const struct fold_call *call) {
  return scan_rows(subject, call, scan_row_by_doubling);
}
