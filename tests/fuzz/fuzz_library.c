/* fuzz_library.c: any bytes as an array for the library's calls: no memory error, a code that is declared, the same bits on any
 * number of threads, no order's sum or extremum further from the exact one than its bound, and one exact number that of the whole
 * truth. */
#include "foldproof.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Whether the call succeeded. */
static bool worked(int code) {
  if (code != 0 && code != FOLDPROOF_BAD_INPUT && code != FOLDPROOF_UNSUPPORTED) abort();
  if (code != 0 && *foldproof_error() == '\0') abort();
  return code == 0;
}

static const char *choose_order(unsigned k) {
  size_t n = 0;
  while (foldproof_order(n, NULL)) n++;
  return foldproof_order(k % n, NULL);
}

static void tell_digits(const char *dtype, const char *op, const void *in, size_t n, size_t size) {
  size_t needed = 0;
  char *text = malloc(size);
  if (!text) abort();
  if (worked(foldproof_exact_text(dtype, op, in, n, text, size, &needed)) && strlen(text) + 1 != needed) abort();
  free(text);
}

/* Both are correctly rounded, the one without and the other with all that is measured. */
static void compare_exact(const char *dtype, const char *op, const void *in, size_t n) {
  struct foldproof_measure measure;
  double wide;
  uint64_t own = 0;
  if (!worked(foldproof_exact(dtype, op, in, 1, n, "f64", 1, &wide)) ||
      !worked(foldproof_exact(dtype, op, in, 1, n, dtype, 1, &own)) ||
      !worked(foldproof_measure(NULL, dtype, op, in, n, &own, &measure)))
    return;
  bool both_nan = wide != wide && measure.exact != measure.exact;
  if (!both_nan && memcmp(&wide, &measure.exact, sizeof wide) != 0) abort();
  if (!(measure.ulps <= 0.5)) abort();
}

/* Six bytes choose order, dtype, operation, rows, the type rounded to and the size of the text. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static const char *const dtypes[] = {"f16", "bf16", "f32", "f64"}, *const ops[] = {"sum", "max", "min", "prod"};
  static const size_t sizes[] = {2, 2, 4, 8};
  if (n < 6) return 0;
  unsigned type = bytes[1] % 4, kind = bytes[2] % 4;
  const char *order = choose_order(bytes[0]), *dtype = dtypes[type], *op = ops[kind], *to = dtypes[bytes[4] % 4];
  size_t size = sizes[type], rows = 1 + bytes[3] % 8, cols = (n - 6) / size / rows;
  struct foldproof_measure measure;
  uint64_t height, fingerprint;
  unsigned char *in = malloc(rows * cols * size), *out = calloc(rows, size), *again = calloc(rows, size),
                *exact = calloc(rows, sizeof(double));
  if (!in || !out || !again || !exact) abort();
  memcpy(in, bytes + 6, rows * cols * size);
  bool ran = worked(foldproof_replay(order, dtype, op, in, rows, cols, 1, out));
  if (ran != worked(foldproof_replay(order, dtype, op, in, rows, cols, 2, again))) abort();
  if (ran && memcmp(out, again, rows * size) != 0) abort();
  worked(foldproof_exact(dtype, op, in, rows, cols, to, 1, exact));
  compare_exact(dtype, op, in, cols);
  tell_digits(dtype, op, in, cols, bytes[5]);
  for (size_t r = 0; r < rows && ran; r++)
    if (worked(foldproof_measure(order, dtype, op, in + r * cols * size, cols, out + r * size, &measure)) &&
        kind != 3 && measure.error > measure.bound)
      abort();
  worked(foldproof_tree(order, cols, &height, &fingerprint));
  free(in);
  free(out);
  free(again);
  free(exact);
  return 0;
}
