/* fuzz_library.c: any bytes as an array for the library's calls: no memory error, a code that is declared, the same bits on any
 * number of threads, no order's sum or extremum further from the exact one than its bound, and one exact number that of the whole
 * truth; of one operation over rows, and of problems of any shape with strides and keys. */
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

/* A problem of small extents, perhaps with strides, whose inputs hold `bytes`, over and over. */
struct posed {
  struct foldproof_problem problem;
  unsigned char *in[2];
};

enum { MOST_EXTENT = 8, MOST_STRIDE = 40, ROOM = 8 * (1 + 4 * (MOST_EXTENT - 1) * MOST_STRIDE) };

static unsigned char *fill(const uint8_t *bytes, size_t n, size_t from) {
  unsigned char *room = malloc(ROOM);
  if (!room) abort();
  for (size_t i = 0; i < ROOM; i++) room[i] = n ? bytes[(i + from) % n] : 0;
  return room;
}

/* Keys lie below their number, as the header demands, except where a byte says that they need not. */
static void make_keys(uint32_t *keys, uint64_t slots) {
  for (size_t i = 0; i < ROOM / sizeof *keys && slots; i++) keys[i] %= (uint32_t)slots;
}

/* Thirteen bytes choose the problem, the dtype, the extents and the strides. */
static void pose(const uint8_t *how, const uint8_t *bytes, size_t n, struct posed *posed) {
  static const char *const names[] = {"sum",    "prod",   "max",  "min",      "dot",      "sumsq",          "asum",
                                      "matvec", "matmul", "scan", "scan_max", "scan_min", "exclusive_scan", "keyed",
                                      "none"};
  static const char *const dtypes[] = {"f16", "bf16", "f32", "f64", "e4m3", "e5m2", "i8", "i32", "i64", "none"};
  posed->problem = (struct foldproof_problem){.size = sizeof posed->problem};
  posed->problem.name = names[how[0] % (sizeof names / sizeof *names)];
  posed->problem.dtype = dtypes[how[1] % (sizeof dtypes / sizeof *dtypes)];
  for (int a = 0; a < 4; a++) posed->problem.extent[a] = how[2 + a] % (MOST_EXTENT + 1);
  for (int k = 0; k < 2; k++) posed->problem.in[k] = posed->in[k] = fill(bytes, n, (size_t)k);
  for (int a = 0; a < 4 && how[6] & 1; a++) posed->problem.stride[0][a] = how[7 + a] % (MOST_STRIDE + 1);
  for (int a = 0; a < 4 && how[6] & 2; a++) posed->problem.stride[1][a] = how[7 + (a + 1) % 4] % (MOST_STRIDE + 1);
  if (strcmp(posed->problem.name, "keyed") == 0 && !(how[6] & 4))
    make_keys((uint32_t *)posed->in[1], posed->problem.extent[1]);
}

/* What is correctly rounded is within half an ulp, and what an order gives within its bound. */
static void measure_results(const char *order, const struct foldproof_problem *p, const void *exact, const void *got,
                            size_t n, size_t size) {
  struct foldproof_measure measure;
  const bool is_integer = p->dtype[0] == 'i';
  for (size_t r = 0; r < n; r++) {
    if (exact && worked(foldproof_problem_measure(NULL, p, r, (const char *)exact + r * size, &measure)) &&
        !(measure.ulps <= 0.5) && !is_integer)
      abort();
    if (got && worked(foldproof_problem_measure(order, p, r, (const char *)got + r * size, &measure)) && !is_integer &&
        measure.error > measure.bound)
      abort();
  }
  if (foldproof_problem_measure(NULL, p, n, p->in[0], &measure) != FOLDPROOF_BAD_INPUT) abort();
}

static size_t size_of(const char *dtype) {
  static const char *const wide[] = {"f64", "i64"}, *const half[] = {"f32", "i32"},
                           *const byte[] = {"e4m3", "e5m2", "i8"};
  for (size_t i = 0; i < 2; i++) {
    if (strcmp(dtype, wide[i]) == 0) return 8;
    if (strcmp(dtype, half[i]) == 0) return 4;
  }
  for (size_t i = 0; i < 3; i++)
    if (strcmp(dtype, byte[i]) == 0) return 1;
  return 2;
}

/* The exact results and an order's, each on one thread and on two, and their measures. */
static void try_problem(const char *order, const struct foldproof_problem *p) {
  size_t n = 0;
  if (!worked(foldproof_problem_results(p, &n))) return;
  const size_t size = size_of(p->dtype), nbytes = n * size;
  char *exact = malloc(nbytes + 1), *exact_again = malloc(nbytes + 1), *got = malloc(nbytes + 1),
       *again = malloc(nbytes + 1);
  if (!exact || !exact_again || !got || !again) abort();
  const bool known = worked(foldproof_problem_exact(p, p->dtype, 1, exact));
  if (known != worked(foldproof_problem_exact(p, p->dtype, 2, exact_again))) abort();
  if (known && memcmp(exact, exact_again, nbytes) != 0) abort();
  const bool ran = worked(foldproof_problem_replay(order, p, 1, got));
  if (ran != worked(foldproof_problem_replay(order, p, 2, again))) abort();
  if (ran && memcmp(got, again, nbytes) != 0) abort();
  measure_results(order, p, known ? exact : NULL, ran && strcmp(p->name, "prod") != 0 ? got : NULL, n, size);
  free(exact);
  free(exact_again);
  free(got);
  free(again);
}

static void tell_problem(const uint8_t *bytes, size_t n) {
  struct posed posed;
  if (n < 14) return;
  pose(bytes + 1, bytes + 14, n - 14, &posed);
  try_problem(choose_order(bytes[0]), &posed.problem);
  free(posed.in[0]);
  free(posed.in[1]);
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
  tell_problem(bytes, n);
  free(in);
  free(out);
  free(again);
  free(exact);
  return 0;
}
