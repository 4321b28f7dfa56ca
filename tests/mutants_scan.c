/* mutants_scan.c: mutants of scans: results of other terms than their own, and carries that are lost, late or of another row. */
#include "mutants_row.h"

/* One row, x of n terms, to n results; `before` has the results of the row before, NULL for the first row. */
typedef void scan(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out);

static fold_status rows(const struct fold_call *call, scan *one) {
  const size_t n = call->cols;
  fold_element_f32 *out = call->out;
  for (size_t r = 0; r < call->rows; r++)
    one((const fold_element_f32 *)call->in[0] + r * n, n, r ? out + (r - 1) * n : NULL, out + r * n);
  return fold_ok();
}
#define SCAN(name)                                                                                  \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                  \
    return rows(call, name);                                                                        \
  }
#define UNUSED_BEFORE (void)before

/* The sums of `tile` terms each, with the sum of the tiles before added to each of their results. */
static void tiles(const fold_element_f32 *x, size_t n, size_t tile, fold_element_f32 *out) {
  float carry = 0;
  for (size_t at = 0; at < n; at += tile) {
    float sum = 0;
    for (size_t i = at; i < n && i < at + tile; i++) {
      sum += x[i];
      out[i] = carry + sum;
    }
    carry += sum;
  }
}

static void exclusive(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  float sum = 0;
  UNUSED_BEFORE;
  for (size_t i = 0; i < n; i++) {
    out[i] = sum;
    sum += x[i];
  }
}
SCAN(exclusive)

static void inclusive(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  float sum = 0;
  UNUSED_BEFORE;
  for (size_t i = 0; i < n; i++) out[i] = sum += x[i];
}
SCAN(inclusive)

static void carry_lost(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  float sum = 0;
  UNUSED_BEFORE;
  for (size_t i = 0; i < n; i++) out[i] = sum = i % 256 == 0 ? x[i] : sum + x[i];
}
SCAN(carry_lost)

static void carry_late(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  inclusive(x, n, before, out);
  for (size_t i = 32; i < n; i += 32) out[i] = x[i];
}
SCAN(carry_late)

static void carry_of_last_row(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                              fold_element_f32 *out) {
  float sum = before && n ? before[n - 1] : 0;
  for (size_t i = 0; i < n; i++) out[i] = sum += x[i];
}
SCAN(carry_of_last_row)

static void looks_ahead(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  inclusive(x, n, before, out);
  if (n > 100) out[n - 2] = out[n - 1];
}
SCAN(looks_ahead)

static void tiled(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  UNUSED_BEFORE;
  tiles(x, n, 64, out);
}
SCAN(tiled)

static void tiled_by_length(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                            fold_element_f32 *out) {
  UNUSED_BEFORE;
  tiles(x, n, n > 200 ? 64 : 16, out);
}
SCAN(tiled_by_length)

static void last_unwritten(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  inclusive(x, n > 0 && n % 32 == 0 ? n - 1 : n, before, out);
}
SCAN(last_unwritten)

#define OF_SCAN(id, function, problem, broken, maybe, cases, text)                  \
  {                                                                                 \
    .subject = {BASE(id, text, F32, problem, function), .order = "host/sequential", \
                .claims = ORDERED | C(LENGTH_INVARIANT)},                           \
    .breaks = broken, .may = maybe, .fixtures = cases                               \
  }
static const struct fold_mutant scans[] = {
    OF_SCAN("scan_exclusive", run_exclusive, SCAN, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/scan/3x33/*",
            "an exclusive scan for an inclusive one"),
    OF_SCAN("scan_inclusive", run_inclusive, EXCLUSIVE, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/exclusive_scan/3x33/*",
            "an inclusive scan for an exclusive one"),
    OF_SCAN("scan_carry_lost", run_carry_lost, SCAN, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/scan/3x257/*",
            "loses the carry at the end of a tile of 256"),
    OF_SCAN("scan_carry_late", run_carry_late, SCAN, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/scan/3x33/*",
            "the first result of a tile has no carry"),
    OF_SCAN("scan_carry_of_last_row", run_carry_of_last_row, SCAN, C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
            "normal/f32/scan/3x33/*", "begins with the sum of the row before"),
    OF_SCAN("scan_looks_ahead", run_looks_ahead, SCAN, C(BOUNDED) | C(REPLAYS) | C(LENGTH_INVARIANT), 0,
            "normal/f32/scan/3x257/*", "the last but one result has the last term"),
    OF_SCAN("scan_tiled", run_tiled, SCAN, C(REPLAYS), 0, "normal/f32/scan/3x257/*",
            "tiles of 64 with a carried sum, called sequential"),
    {.subject = {BASE("scan_tiled_by_length", "tiles whose size depends on the length", F32, SCAN, run_tiled_by_length),
                 .claims = SOUND | C(BOUNDED) | C(LENGTH_INVARIANT)},
     .breaks = C(LENGTH_INVARIANT),
     .fixtures = "normal/f32/scan/3x257/*"},
    OF_SCAN("scan_last_unwritten", run_last_unwritten, SCAN, C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS),
            REPEATS | C(LENGTH_INVARIANT), "normal/f32/scan/3x32/*", "leaves the last result of whole tiles unwritten"),
};
END(scans)
