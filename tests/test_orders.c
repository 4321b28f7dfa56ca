/* test_orders.c: each order gives the bits that its definition in orders.def says.
 *
 * It is compared with naive.c, a second, literal implementation, and with the wide replay, a third arithmetic. NaN
 * compares by class.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "naive.h"
#include "oracles/canonical.h"
#include "oracles/order.h"
#include "oracles/split.h"
#include "sample.h"

#define MOST_PRINTED 10

/* What every kind and operation is tried up to; and what sums of cancelling terms and products go on to. The walk over a row is one for
 * all dtypes (orders.inc), so that its longest rows, where grids are full and trees have most parts, are f32's. */
static const size_t few_terms = 4097, more_terms = 65537;

static uint64_t replay_bits(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, const void *in,
                            size_t n, unsigned threads, bool wide) {
  uint64_t out = 0x5a5a5a5a5a5a5a5au;
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(op), .rows = 1, .cols = n, .in = {in}, .out = &out};
  call.launch.threads = threads;
  fold_status status = wide ? fold_order_replay_wide(order, &call) : fold_order_replay(order, &call);
  cr_assert(status.code == FOLD_OK, "%s", status.text);
  return fold_bits_load(dtype, &out, 0);
}

/* Compares one result; true when it is wrong, which is printed. */
static bool wrong(const char *what, const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, int kind,
                  size_t n, uint64_t got, uint64_t want) {
  char text[2][80];
  bool same = fold_bits_same(dtype, got, want);
  cr_expect(same, "%s %s %s %s kind %d n %zu: got %s, want %s", what, order->name, fold_dtype_name(dtype),
            fold_op_name(op), kind, n, fold_bits_print(dtype, got, text[0]), fold_bits_print(dtype, want, text[1]));
  return !same;
}

static int check_row(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, int kind, const void *in,
                     size_t n) {
  uint64_t want = fold_bits_from_double(dtype, naive_fold(order, dtype, op, in, n).value);
  uint64_t native = replay_bits(order, dtype, op, in, n, 1, false);
  uint64_t wide = replay_bits(order, dtype, op, in, n, 1, true);
  return wrong("native", order, dtype, op, kind, n, native, want) +
         wrong("wide", order, dtype, op, kind, n, wide, want);
}

static void check_length(enum fold_dtype dtype, int kind, size_t n, int *failures) {
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  if (n > few_terms && kind != SAMPLE_CANCELLING && kind != SAMPLE_NEAR_ONE) return;
  void *in = sample_row(kind, dtype, 20 + (uint64_t)kind, n);
  for (size_t k = 0; k < orders; k++)
    for (int op = 0; op < FOLD_OPS && *failures < MOST_PRINTED; op++)
      if (n <= few_terms || (kind == SAMPLE_CANCELLING && op == FOLD_SUM) ||
          (kind == SAMPLE_NEAR_ONE && op == FOLD_PROD))
        *failures += check_row(order + k, dtype, (enum fold_op)op, kind, in, n);
  free(in);
}

static void check_dtype(enum fold_dtype dtype) {
  int failures = 0;
  for (size_t l = 0; l < SAMPLE_LENGTHS && (dtype == FOLD_F32 || sample_lengths[l] <= more_terms); l++)
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) check_length(dtype, kind, sample_lengths[l], &failures);
}

Test(orders, replay_in_f16_is_the_definition) { check_dtype(FOLD_F16); }
Test(orders, replay_in_bf16_is_the_definition) { check_dtype(FOLD_BF16); }
Test(orders, replay_in_f32_is_the_definition) { check_dtype(FOLD_F32); }
Test(orders, replay_in_f64_is_the_definition) { check_dtype(FOLD_F64); }

/* Where the samples could not tell orders apart, the tests above would prove little. */
Test(orders, cancelling_samples_tell_every_order_from_sequential) {
  size_t orders, n = 5000;
  const struct fold_order *order = fold_orders(&orders), *plain = fold_order_find("host/sequential");
  for (int dtype = 0; dtype < FOLD_E4M3; dtype++) { /* sums of 8-bit terms hardly round in f32 */
    void *in = sample_row(SAMPLE_CANCELLING, (enum fold_dtype)dtype, 20, n);
    uint64_t base = replay_bits(plain, (enum fold_dtype)dtype, FOLD_SUM, in, n, 1, false);
    for (size_t k = 0; k < orders; k++)
      if (order[k].kind != FOLD_ORDER_SEQUENTIAL)
        cr_expect(replay_bits(order + k, (enum fold_dtype)dtype, FOLD_SUM, in, n, 1, false) != base, "%s %s",
                  order[k].name, fold_dtype_name((enum fold_dtype)dtype));
    free(in);
  }
}

/* The numbers in an order's own words are those that it is run by: "16 chunks", "1024 blocks of 256". */
Test(orders, have_the_width_that_they_are_described_by) {
  size_t orders, with_width = 0;
  const struct fold_order *order = fold_orders(&orders);
  for (size_t k = 0; k < orders; k++) {
    const unsigned numbers[] = {order[k].width, order[k].limit};
    for (size_t i = 0; i < 2; i++) {
      char text[16];
      snprintf(text, sizeof text, "%u ", numbers[i]);
      cr_expect(numbers[i] == 0 || strstr(order[k].formula, text), "%s, which is \"%s\", by %s", order[k].name,
                order[k].formula, text);
      with_width += numbers[i] > 0;
    }
  }
  cr_expect_eq(with_width, 10);
}

/* Every shape that the type allows, not only the table's. */
Test(orders, other_widths_and_grids_follow_the_same_definition) {
  const struct fold_order shapes[] = {{"chunks 1", "", FOLD_ORDER_CHUNKS, 1, 0, 0},
                                      {"chunks 7", "", FOLD_ORDER_CHUNKS, 7, 0, 0},
                                      {"numpy 100", "", FOLD_ORDER_NUMPY, 100, 0, 0},
                                      {"numpy 10", "", FOLD_ORDER_NUMPY, 10, 0, 0},
                                      {"numpy 1 << 20", "", FOLD_ORDER_NUMPY, 1 << 20, 0, 0},
                                      {"tiles 1", "", FOLD_ORDER_TILES, 1, 0, 0},
                                      {"tiles 3", "", FOLD_ORDER_TILES, 3, 0, 0},
                                      {"tiles 1 << 20", "", FOLD_ORDER_TILES, 1 << 20, 0, 0},
                                      {"doubling 1", "", FOLD_ORDER_HILLIS_STEELE, 1, 0, 0},
                                      {"doubling 7", "", FOLD_ORDER_HILLIS_STEELE, 7, 0, 0},
                                      {"doubling 4096", "", FOLD_ORDER_HILLIS_STEELE, 4096, 0, 0},
                                      {"tree 1", "", FOLD_ORDER_CHUNK_TREE, 1, 0, 0},
                                      {"tree 4096", "", FOLD_ORDER_CHUNK_TREE, 4096, 0, 0},
                                      {"segments 1 of 1", "", FOLD_ORDER_SEGMENTS, 1, 1, 0},
                                      {"segments 7 of 8", "", FOLD_ORDER_SEGMENTS, 7, 8, 0},
                                      {"segments 16 of 4096", "", FOLD_ORDER_SEGMENTS, 16, 4096, 0},
                                      {"segments 100 of 256", "", FOLD_ORDER_SEGMENTS, 100, 256, 0},
                                      {"shuffle 32 of 1", "", FOLD_ORDER_SHUFFLE, 32, 1, 0},
                                      {"shuffle 96 of 5", "", FOLD_ORDER_SHUFFLE, 96, 5, 0},
                                      {"shuffle 256 of 4096", "", FOLD_ORDER_SHUFFLE, 256, 4096, 0},
                                      {"shuffle 1024 of 300", "", FOLD_ORDER_SHUFFLE, 1024, 300, 0}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (size_t l = 0; l < SAMPLE_LENGTHS; l++) {
      void *in = sample_row(SAMPLE_CANCELLING, FOLD_F32, 31, sample_lengths[l]);
      check_row(shapes + k, FOLD_F32, FOLD_SUM, SAMPLE_CANCELLING, in, sample_lengths[l]);
      free(in);
    }
}

Test(orders, shapes_that_no_kernel_has_are_refused) {
  const struct fold_order shapes[] = {
      {"a", "", FOLD_ORDER_CHUNKS, 0, 0, 0},        {"b", "", FOLD_ORDER_CHUNKS, 4097, 0, 0},
      {"c", "", FOLD_ORDER_CHUNK_TREE, 24, 0, 0},   {"d", "", FOLD_ORDER_SHUFFLE, 48, 4, 0},
      {"e", "", FOLD_ORDER_SHUFFLE, 2048, 4, 0},    {"f", "", FOLD_ORDER_SHUFFLE, 256, 0, 0},
      {"g", "", FOLD_ORDER_SHUFFLE, 256, 4097, 0},  {"h", "", FOLD_ORDER_SHUFFLE, 0, 4, 0},
      {"i", "", FOLD_ORDER_NUMPY, 0, 0, 0},         {"j", "", FOLD_ORDER_TILES, 0, 0, 0},
      {"k", "", FOLD_ORDER_HILLIS_STEELE, 0, 0, 0}, {"l", "", FOLD_ORDER_HILLIS_STEELE, 4097, 0, 0},
      {"m", "", FOLD_ORDER_SEGMENTS, 0, 8, 0},      {"n", "", FOLD_ORDER_SEGMENTS, 8, 0, 0},
      {"o", "", FOLD_ORDER_SEGMENTS, 8, 24, 0},     {"p", "", FOLD_ORDER_SEGMENTS, 8, 8192, 0}};
  float in[4] = {1, 2, 3, 4}, out;
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    struct fold_call call = {
        .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 4, .in = {in}, .out = &out};
    cr_expect(fold_order_replay(shapes + k, &call).code == FOLD_UNSUPPORTED, "%s", shapes[k].name);
  }
}

/* Each row that has a width, with another one behind its name. It is the same order wherever it is asked for. */
Test(orders, are_found_with_another_width) {
  static const struct {
    const char *name;
    unsigned width;
  } found[] = {{"rows/par_16/8", 8},    {"scan/tiled/64", 64},
               {"scan/tiled/7", 7},     {"scan/warps/64", 64},
               {"host/numpy/100", 100}, {"flat/shuffle/128", 128},
               {"rows/par_256/64", 64}, {"scan/tiled/4294967295", UINT32_MAX}};
  static const char *const none[] = {"host/sequential/4",
                                     "scan/tiled/0",
                                     "scan/tiled/",
                                     "scan/tiled/064",
                                     "scan/tiled/6x",
                                     "scan/tiled/ 6",
                                     "scan/tiled/-6",
                                     "scan/warps/4097",
                                     "flat/shuffle/48",
                                     "rows/par_256/24",
                                     "scan/tiled/64/64",
                                     "scan/64",
                                     "/64",
                                     "64",
                                     "scan/tiled/4294967296",
                                     "scan/tiled/18446744073709551680"};
  void *in = sample_row(SAMPLE_CANCELLING, FOLD_F32, 31, 1000);
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    const struct fold_order *order = fold_order_find(found[k].name);
    cr_assert(order, "%s", found[k].name);
    cr_expect(order == fold_order_find(found[k].name) && order->width == found[k].width, "%s", found[k].name);
    cr_expect_str_eq(order->name, found[k].name);
    check_row(order, FOLD_F32, FOLD_SUM, SAMPLE_CANCELLING, in, 1000);
  }
  free(in);
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) cr_expect_null(fold_order_find(none[k]), "%s", none[k]);
  cr_expect_eq(fold_order_find("scan/tiled/32"), fold_order_find("scan/tiled"));
  cr_expect_str_eq(fold_order_find("rows/par_16/8")->formula, "rows/par_16 with 8 in place of 16");
}

/* Of rows of any length: the parts are all of it and no more, and there is room for them; a subtree is a power of two of at least four
 * tiles, and no larger than it must be. */
Test(orders, a_split_covers_its_row_in_as_many_parts_as_there_is_room_for) {
  static const size_t lengths[] = {1,
                                   255,
                                   256,
                                   257,
                                   16384,
                                   16385,
                                   1 << 20,
                                   (size_t)1 << 26,
                                   ((size_t)1 << 26) + 1,
                                   (size_t)3 << 28,
                                   (size_t)1 << 32,
                                   ((size_t)1 << 40) + 1};
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  for (size_t k = 0; k < orders; k++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      struct fold_split s = {0};
      size_t n = lengths[l], tiles = (size_t)4 * FOLD_CANONICAL_TILE;
      cr_assert_eq(fold_order_split(order + k, n, &s).code, FOLD_OK);
      bool aligned = order[k].kind == FOLD_ORDER_PAIRWISE || order[k].kind == FOLD_ORDER_CANONICAL;
      if (!aligned) continue;
      cr_expect(s.count <= FOLD_PARTS && s.count * s.size >= n && (s.count - 1) * s.size < n && s.size >= tiles &&
                    (s.size & (s.size - 1)) == 0 && (s.size == tiles || n / (s.size / 2) >= FOLD_PARTS),
                "%s, %zu terms: %zu of %zu", order[k].name, n, s.count, s.size);
    }
}

/* ---- special values ---- */

static uint64_t special(enum fold_dtype dtype, char what) {
  struct fold_format f = fold_format_of(dtype);
  switch (what) {
    case 'n': return f.nan;
    case 's': return f.sign | (f.infinities ? f.exponent | 1 : f.nan);
    case '+': return f.beyond;
    case '-': return f.sign | f.beyond;
    default: return fold_bits_from_double(dtype, what == 'z' ? -0.0 : what == '0' ? 0.0 : 1.0);
  }
}

/* A row of `fill` with `what` at `at` and, where it is inside, `too` at `also`. */
static uint64_t special_fold(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, size_t n,
                             char fill, size_t at, char what, size_t also, char too) {
  uint64_t in[300], out;
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, in, i, special(dtype, i == at ? what : i == also ? too : fill));
  out = replay_bits(order, dtype, op, in, n, 1, false);
  cr_expect(fold_bits_same(dtype, out, replay_bits(order, dtype, op, in, n, 1, true)), "%s %s: wide differs",
            order->name, fold_op_name(op));
  return out;
}

/* Calls `check` for each order, dtype, length and place. */
typedef void special_check(const struct fold_order *order, enum fold_dtype dtype, size_t n, size_t at);

static void special_everywhere(special_check *check) {
  static const size_t lengths[] = {1, 2, 7, 9, 33, 257, 300};
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  for (size_t k = 0; k < orders; k++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t at = 0; at < lengths[l]; at += 1 + lengths[l] / 5)
          check(order + k, (enum fold_dtype)dtype, lengths[l], at);
}

static void nan_propagates(const struct fold_order *order, enum fold_dtype dtype, size_t n, size_t at) {
  for (int op = 0; op < FOLD_OPS; op++)
    for (int signalling = 0; signalling < 2; signalling++) {
      uint64_t got = special_fold(order, dtype, (enum fold_op)op, n, '1', at, signalling ? 's' : 'n', n - 1 - at, '+');
      bool lost = n - 1 - at == at ? false : fold_bits_class(dtype, got) != FOLD_NAN;
      cr_expect(!lost, "%s %s n %zu at %zu: NaN lost", order->name, fold_op_name((enum fold_op)op), n, at);
    }
}
Test(orders, nan_anywhere_makes_nan) { special_everywhere(nan_propagates); }

static void infinities_meet(const struct fold_order *order, enum fold_dtype dtype, size_t n, size_t at) {
  if (!fold_format_of(dtype).infinities) return;
  uint64_t plus = special(dtype, '+'), minus = special(dtype, '-');
  cr_expect(special_fold(order, dtype, FOLD_SUM, n, '1', at, '+', n, '1') == plus, "%s sum", order->name);
  cr_expect(special_fold(order, dtype, FOLD_SUM, n, '1', at, '-', n, '1') == minus, "%s sum", order->name);
  cr_expect(special_fold(order, dtype, FOLD_PROD, n, '1', at, '-', n, '1') == minus, "%s prod", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MAX, n, '1', at, '+', n, '1') == plus, "%s max", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MIN, n, '1', at, '-', n, '1') == minus, "%s min", order->name);
  if (n == 1) return;
  size_t also = (at + 1) % n;
  uint64_t sum = special_fold(order, dtype, FOLD_SUM, n, '1', at, '+', also, '-');
  uint64_t product = special_fold(order, dtype, FOLD_PROD, n, '1', at, '+', also, '0');
  cr_expect(fold_bits_class(dtype, sum) == FOLD_NAN, "%s: both infinities", order->name);
  cr_expect(fold_bits_class(dtype, product) == FOLD_NAN, "%s: infinity times zero", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MAX, n, '1', at, '+', also, '-') == plus, "%s max", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MIN, n, '1', at, '+', also, '-') == minus, "%s min", order->name);
}
Test(orders, infinities_follow_the_policy) { special_everywhere(infinities_meet); }

static void zeros_keep_signs(const struct fold_order *order, enum fold_dtype dtype, size_t n, size_t at) {
  uint64_t plus = 0, minus = special(dtype, 'z');
  bool starts = order->kind != FOLD_ORDER_PAIRWISE && order->kind != FOLD_ORDER_CANONICAL;
  cr_expect(special_fold(order, dtype, FOLD_SUM, n, 'z', n, 'z', n, 'z') == (starts ? plus : minus),
            "%s n %zu: sum of -0", order->name, n);
  cr_expect(special_fold(order, dtype, FOLD_SUM, n, 'z', at, '0', n, 'z') == plus, "%s: sum of both zeros",
            order->name);
  cr_expect(special_fold(order, dtype, FOLD_PROD, n, '1', at, 'z', n, 'z') == minus, "%s: product", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MAX, n, 'z', at, '0', n, 'z') == plus, "%s: max", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MAX, n, 'z', n, 'z', n, 'z') == minus, "%s: max of -0", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MIN, n, '0', at, 'z', n, 'z') == minus, "%s: min", order->name);
  cr_expect(special_fold(order, dtype, FOLD_MIN, n, '0', n, 'z', n, 'z') == plus, "%s: min of +0", order->name);
}
Test(orders, zeros_keep_their_signs) { special_everywhere(zeros_keep_signs); }

Test(orders, empty_rows_give_the_identity) {
  static const double identity[FOLD_OPS] = {0, 1, -INFINITY, INFINITY};
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  for (size_t k = 0; k < orders; k++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
      for (int op = 0; op < FOLD_OPS; op++) {
        uint64_t want = fold_bits_from_double((enum fold_dtype)dtype, identity[op]);
        for (int wide = 0; wide < 2; wide++)
          wrong("empty", order + k, (enum fold_dtype)dtype, (enum fold_op)op, wide, 0,
                replay_bits(order + k, (enum fold_dtype)dtype, (enum fold_op)op, "", 0, 1, wide), want);
      }
}

Test(orders, sorted_takes_nan_after_infinity_and_ties_by_index) {
  const struct fold_order *sorted = fold_order_find("host/sorted");
  float in[] = {NAN, -4, INFINITY, 4, 0.0f, -0.0f, -NAN, -1, 4};
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  cr_assert(fold_order_draw(sorted, FOLD_F32, in, 9, out).code == FOLD_OK);
  fclose(out);
  cr_expect_str_eq(text, "((((((((x4+x5)+x7)+x1)+x3)+x8)+x2)+x0)+x6)\n");
  free(text);
}

/* ---- threads and rows ---- */

static void threads_agree(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, const void *in,
                          size_t rows, size_t cols) {
  static const unsigned threads[] = {1, 2, 3, 5, 0};
  uint64_t out[5][8] = {{0}};
  for (size_t t = 0; t < 5; t++) {
    struct fold_call call = {
        .dtype = dtype, .problem = fold_rows_problem(op), .rows = rows, .cols = cols, .in = {in}, .out = out[t]};
    call.launch.threads = threads[t];
    cr_assert(fold_order_replay(order, &call).code == FOLD_OK);
    cr_expect(memcmp(out[0], out[t], sizeof out[0]) == 0, "%s %s %s %zux%zu: %u threads differ from one", order->name,
              fold_dtype_name(dtype), fold_op_name(op), rows, cols, threads[t]);
  }
  for (size_t r = 0; r < rows; r++) {
    const char *row = (const char *)in + r * cols * fold_dtype_size(dtype);
    wrong("row alone", order, dtype, op, (int)r, cols, fold_bits_load(dtype, out[0], r),
          replay_bits(order, dtype, op, row, cols, 1, true));
  }
}

Test(orders, bits_depend_neither_on_threads_nor_on_other_rows) {
  static const size_t shapes[][2] = {{1, 100003}, {2, 40001}, {7, 20011}, {8, 3}};
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      void *in = sample_row(SAMPLE_CANCELLING, (enum fold_dtype)dtype, 41, shapes[s][0] * shapes[s][1]);
      for (size_t k = 0; k < orders; k++)
        threads_agree(order + k, (enum fold_dtype)dtype, FOLD_SUM, in, shapes[s][0], shapes[s][1]);
      free(in);
    }
}

/* ---- the table ---- */

Test(orders, names_are_unique_and_found) {
  size_t n;
  const struct fold_order *order = fold_orders(&n);
  for (size_t i = 0; i < n; i++) {
    cr_expect(fold_order_find(order[i].name) == order + i, "%s is found as another", order[i].name);
    cr_expect(order[i].formula && *order[i].formula, "%s has no formula", order[i].name);
  }
  cr_expect(fold_order_find("host/nothing") == NULL);
}
