/* numpy_sum.c: reads rows from standard input and writes their sums in an order, which numpy_sum.py compares.
 *
 * Usage: numpy_sum DTYPE ORDER. Input, repeated: rows and cols as two little-endian 64-bit numbers, then the elements.
 * Output: the sums.
 */
#include <stdio.h>
#include <stdlib.h>

#include "oracles/order.h"

static int fail(const char *what) {
  fprintf(stderr, "numpy_sum: %s\n", what);
  return 2;
}

static int sum_rows(const struct fold_order *order, enum fold_dtype dtype, size_t rows, size_t cols) {
  size_t size = fold_dtype_size(dtype);
  void *in = malloc(rows * cols * size + 1), *out = malloc(rows * size + 1);
  struct fold_call call = {.dtype = dtype, .op = FOLD_SUM, .rows = rows, .cols = cols, .in = in, .out = out};
  int result = 0;
  if (!in || !out) result = fail("no memory");
  if (!result && fread(in, size, rows * cols, stdin) != rows * cols) result = fail("the input ends early");
  fold_status status = result ? fold_ok() : fold_order_replay(order, &call);
  if (status.code != FOLD_OK) result = fail(status.text);
  if (!result && fwrite(out, size, rows, stdout) != rows) result = fail("cannot write");
  free(in);
  free(out);
  return result;
}

int main(int argc, char **argv) {
  int dtype = argc == 3 ? fold_dtype_parse(argv[1]) : -1, result = 0;
  const struct fold_order *order = argc == 3 ? fold_order_find(argv[2]) : NULL;
  uint64_t shape[2];
  if (dtype < 0 || !order) return fail("usage: numpy_sum DTYPE ORDER");
  while (!result && fread(shape, sizeof shape, 1, stdin) == 1)
    result = sum_rows(order, (enum fold_dtype)dtype, shape[0], shape[1]);
  return result;
}
