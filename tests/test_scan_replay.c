/* test_scan_replay.c: each result of a scan's replay is the replay of its prefix as a row of its own. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "oracles/order.h"

enum { ROWS = 3, MOST = 131 };

static fold_status replay(const struct fold_order *order, bool wide, const struct fold_call *call) {
  return wide ? fold_order_replay_wide(order, call) : fold_order_replay(order, call);
}

static void check(const struct fold_order *order, enum fold_dtype dtype, enum fold_problem_id id, size_t cols,
                  bool wide) {
  uint64_t in[ROWS * MOST], got[ROWS * MOST + 1], state = id + cols;
  struct fold_call call = {.dtype = dtype, .problem = fold_problem(id), .in = {in}, .out = got};
  call.rows = ROWS, call.cols = cols;
  for (size_t i = 0; i < ROWS * cols; i++)
    fold_bits_store(dtype, in, i, random_pattern(dtype, i % 100 != 99 || state % 4, &state));
  memset(got, 0x5a, sizeof got);
  cr_assert_eq(replay(order, wide, &call).code, FOLD_OK);
  for (size_t i = 0; i < ROWS * cols; i++) {
    uint64_t want = 0;
    struct fold_call one = {.dtype = dtype, .problem = fold_rows_problem(call.problem->op), .out = &want};
    one.rows = 1, one.cols = i % cols + (call.problem->reach == FOLD_PREFIX);
    one.in[0] = (unsigned char *)in + i / cols * cols * fold_dtype_size(dtype);
    cr_assert_eq(replay(order, wide, &one).code, FOLD_OK);
    cr_expect(fold_bits_same(dtype, fold_bits_load(dtype, got, i), fold_bits_load(dtype, &want, 0)),
              "%s of %s, %s, result %zu of %zu a row: got %llx, want %llx", call.problem->name, fold_dtype_name(dtype),
              order->name, i, cols, (unsigned long long)fold_bits_load(dtype, got, i),
              (unsigned long long)fold_bits_load(dtype, &want, 0));
  }
  cr_expect_eq(fold_bits_load(dtype, got, ROWS * cols), fold_bits_load(dtype, (uint64_t[]){0x5a5a5a5a5a5a5a5a}, 0));
}

Test(scan_replay, is_that_of_each_prefix) {
  static const char *const orders[] = {"host/sequential", "host/reverse", "host/pairwise",
                                       "rows/par_16",     "scan/tiled",   "scan/warps"};
  static const enum fold_problem_id scans[] = {FOLD_SCAN, FOLD_SCAN_MAX, FOLD_SCAN_MIN, FOLD_EXCLUSIVE};
  static const size_t lengths[] = {0, 1, 2, 17, MOST};
  for (size_t o = 0; o < 6; o++)
    for (size_t s = 0; s < 4; s++)
      for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
        for (size_t l = 0; l < 5; l++)
          for (int wide = 0; wide < 2; wide++)
            check(fold_order_find(orders[o]), (enum fold_dtype)dtype, scans[s], lengths[l], wide);
}

/* Tiles of one term, of the whole row, and of widths that are no powers of two. */
Test(scan_replay, of_tiles_of_any_width_is_that_of_each_prefix) {
  static const unsigned widths[] = {1, 2, 3, 16, 31, 65, 130, 131, 132, 4096};
  for (size_t w = 0; w < 10; w++)
    for (int doubling = 0; doubling < 2; doubling++) {
      const struct fold_order order = {"tried",   "", doubling ? FOLD_ORDER_HILLIS_STEELE : FOLD_ORDER_TILES,
                                       widths[w], 0,  0};
      check(&order, FOLD_F32, FOLD_SCAN, MOST, true);
      check(&order, FOLD_F64, FOLD_EXCLUSIVE, MOST, false);
    }
}

/* ... and so is the height of each. */
Test(scan_replay, has_the_height_of_each_prefix) {
  static const unsigned widths[] = {0, 1, 2, 3, 16, 31, 65, 130, 131, 132, 4096};
  uint64_t got[MOST + 1], want;
  for (size_t w = 0; w < 11; w++)
    for (int doubling = 0; doubling < 2; doubling++) {
      const struct fold_order order = {"tried",   "", doubling ? FOLD_ORDER_HILLIS_STEELE : FOLD_ORDER_TILES,
                                       widths[w], 0,  0};
      memset(got, 0x5a, sizeof got);
      cr_assert_eq(fold_order_prefix_heights(widths[w] ? &order : fold_order_find("host/sequential"), MOST, got).code,
                   FOLD_OK);
      for (size_t n = 1; n <= MOST; n++) {
        cr_assert_eq(
            fold_order_height(widths[w] ? &order : fold_order_find("host/sequential"), FOLD_F32, NULL, n, &want).code,
            FOLD_OK);
        cr_expect_eq(got[n - 1], want, "%s of %u, %zu terms: %lu, want %lu", doubling ? "doubling" : "tiles", widths[w],
                     n, got[n - 1], want);
      }
      cr_expect_eq(got[MOST], 0x5a5a5a5a5a5a5a5a);
    }
  cr_expect_eq(fold_order_prefix_heights(fold_order_find("host/pairwise"), MOST, got).code, FOLD_UNSUPPORTED);
}

/* n^2 / 2 additions would take an hour. */
static void check_a_million(const char *name, size_t tile) {
  enum { N = 1 << 20 };
  float *in = malloc(N * sizeof *in), *got = malloc(N * sizeof *got), carry = 0, sum = 0;
  cr_assert(in && got);
  for (size_t i = 0; i < N; i++) in[i] = (float)(i % 1001) - 500.3f;
  struct fold_call call = {.dtype = FOLD_F32, .problem = fold_problem(FOLD_SCAN), .in = {in}, .out = got};
  call.rows = 1, call.cols = N;
  const struct fold_order *order = fold_order_find(name);
  cr_assert_eq(fold_method_replay(order, fold_arithmetic_of(FOLD_PLAIN, FOLD_F32), &call).code, FOLD_OK);
  for (size_t i = 0; i < N; i++) {
    if (i % tile == 0) carry += sum, sum = 0;
    sum += in[i];
    cr_assert(got[i] == carry + sum, "result %zu: got %a, want %a", i, (double)got[i], (double)(carry + sum));
  }
  free(in), free(got);
}

Test(scan_replay, of_a_million_terms_takes_one_pass, .timeout = 60) { check_a_million("host/sequential", SIZE_MAX); }
Test(scan_replay, of_a_million_terms_in_tiles_takes_one_pass, .timeout = 60) { check_a_million("scan/tiled", 32); }
