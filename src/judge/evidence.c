/* evidence.c: findings, and results compared and hashed. */
#include "judge/evidence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "base/text.h"

const char *fold_verdict_name(enum fold_verdict verdict) {
  static const char *const names[FOLD_VERDICTS] = {"held", "refuted", "skipped", "broken"};
  return names[verdict];
}

int fold_verdict_parse(const char *name) {
  for (int v = 0; v < FOLD_VERDICTS; v++)
    if (strcmp(name, fold_verdict_name((enum fold_verdict)v)) == 0) return v;
  return -1;
}

struct fold_finding fold_finding_open(size_t rows) {
  return (struct fold_finding){
      .verdict = FOLD_BROKEN, .reason = "no finding", .rows = rows, .ulps = NAN, .backward = NAN, .fraction = NAN};
}

void fold_find_held(struct fold_finding *finding) {
  if (finding->comparisons == 0) {
    fold_find_skipped(finding, FOLD_NO_RESULTS);
    if (finding->rows > 0) fold_find_failed(finding, fold_error(FOLD_ENVIRONMENT, "held, and nothing was compared"));
    return;
  }
  finding->verdict = FOLD_HELD;
  finding->reason[0] = '\0';
}

void fold_find_refuted(struct fold_finding *finding, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->reason, sizeof finding->reason, format, args);
  va_end(args);
  fold_text_one_line(finding->reason); /* a character may have been cut */
  finding->verdict = FOLD_REFUTED;
}

void fold_find_skipped(struct fold_finding *finding, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->reason, sizeof finding->reason, format, args);
  va_end(args);
  fold_text_one_line(finding->reason);
  finding->verdict = FOLD_SKIPPED;
}

void fold_find_failed(struct fold_finding *finding, fold_status status) {
  fold_find_skipped(finding, "%.*s", (int)sizeof finding->reason - 1, status.text);
  if (status.code != FOLD_UNSUPPORTED) finding->verdict = FOLD_BROKEN;
}

bool fold_find_same(struct fold_finding *finding, enum fold_dtype dtype, const void *got, const void *want, size_t rows,
                    const char *what) {
  finding->comparisons += rows;
  if (memcmp(got, want, rows * fold_dtype_size(dtype)) == 0) return true;
  for (size_t r = 0; r < rows; r++) {
    uint64_t g = fold_bits_load(dtype, got, r), w = fold_bits_load(dtype, want, r);
    if (fold_bits_same(dtype, g, w)) continue;
    fold_find_row(finding, r, g, w, NAN);
    fold_find_refuted(finding, "%s", what);
    return false;
  }
  return true;
}

bool fold_find_same_hash(struct fold_finding *finding, uint64_t got, uint64_t want, const char *what) {
  finding->comparisons += finding->rows;
  if (got != want) fold_find_refuted(finding, "%s", what);
  return got == want;
}

/* A pattern without its sign that is above infinity (or above the largest number, in a format without infinities) is a
 * NaN. A gigabyte may pass through here, so the loops have no branch, and the compiler can vectorize them. */
#define UNIFY(type)                                                          \
  _Pragma("omp simd") for (size_t r = 0; r < rows; r++) {                    \
    type bits;                                                               \
    memcpy(&bits, at + r * sizeof bits, sizeof bits);                        \
    bits = (type)(bits & (type)~f.sign) > (type)infinity ? (type)nan : bits; \
    memcpy(at + r * sizeof bits, &bits, sizeof bits);                        \
  }
void fold_results_unify(enum fold_dtype dtype, void *results, size_t rows) {
  struct fold_format f = fold_format_of(dtype);
  /* In a format without infinities the pattern after the largest number is NaN already. */
  uint64_t nan = f.nan, infinity = f.infinities ? f.beyond : f.beyond - 1;
  unsigned char *at = results;
  if (f.integer) return;
  switch (f.bits) {
    case 8: UNIFY(uint8_t) return;
    case 16: UNIFY(uint16_t) return;
    case 32: UNIFY(uint32_t) return;
    default: UNIFY(uint64_t) return;
  }
}
#undef UNIFY

uint64_t fold_results_hash(enum fold_dtype dtype, const void *results, size_t rows) {
  unsigned char some[512];
  size_t size = fold_dtype_size(dtype), most = sizeof some / size;
  uint64_t hash = 0;
  for (size_t at = 0; at < rows; at += most) {
    size_t n = rows - at < most ? rows - at : most;
    memcpy(some, (const unsigned char *)results + at * size, n * size);
    fold_results_unify(dtype, some, n);
    for (size_t r = 0; r < n; r++) {
      uint64_t bits = fold_bits_load(dtype, some, r);
      hash = XXH3_64bits_withSeed(&bits, sizeof bits, hash);
    }
  }
  return hash;
}
