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

/* Tiles of 32 with a carried sum, as scan/tiled has them, with a fault in what is carried. */

static void carry_of_one_tile(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                              fold_element_f32 *out) {
  UNUSED_BEFORE;
  for (size_t at = 0; at < n; at += 64) tiles(x + at, n - at < 64 ? n - at : 64, 32, out + at);
}
SCAN(carry_of_one_tile)

static void carry_of_tile_before_last(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                                      fold_element_f32 *out) {
  float carry[2] = {0, 0};
  UNUSED_BEFORE;
  for (size_t at = 0; at < n; at += 32) {
    float sum = 0;
    for (size_t i = at; i < n && i < at + 32; i++) {
      sum += x[i];
      out[i] = carry[at > 32 ? 0 : 1] + sum;
    }
    carry[0] = carry[1];
    carry[1] += sum;
  }
}
SCAN(carry_of_tile_before_last)

static void joined_on_wrong_side(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                                 fold_element_f32 *out) {
  float carry = 0;
  UNUSED_BEFORE;
  for (size_t at = 0; at < n; at += 32) {
    const size_t end = n - at < 32 ? n : at + 32;
    float sum = 0;
    for (size_t i = end; i-- > at;) {
      sum += x[i];
      out[i] = carry + sum;
    }
    carry = out[at];
  }
}
SCAN(joined_on_wrong_side)

/* A warp whose lanes do not wait for each other: some take a value that has been joined in the same step. */
static void lanes_do_not_wait(const fold_element_f32 *x, size_t n, const fold_element_f32 *before,
                              fold_element_f32 *out) {
  float carry = 0;
  UNUSED_BEFORE;
  for (size_t at = 0; at < n; at += 32) {
    float v[32];
    const size_t some = n - at < 32 ? n - at : 32;
    for (size_t i = 0; i < some; i++) v[i] = x[at + i];
    for (size_t d = 1; d < some; d *= 2)
      for (size_t i = d; i < some; i++) v[i] += v[i - d];
    for (size_t i = 0; i < some; i++) out[at + i] = carry + v[i];
    carry = out[at + some - 1];
  }
}
SCAN(lanes_do_not_wait)

static void in_tiles_of_32(const fold_element_f32 *x, size_t n, const fold_element_f32 *before, fold_element_f32 *out) {
  UNUSED_BEFORE;
  tiles(x, n, 32, out);
}
SCAN(in_tiles_of_32)

#define IN_ORDER(id, tree, function, problem, broken, maybe, cases, text)                                        \
  {                                                                                                              \
    .subject = {BASE(id, text, F32, problem, function), .order = tree, .claims = ORDERED | C(LENGTH_INVARIANT)}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                            \
  }
#define OF_SCAN(id, ...) IN_ORDER(id, "host/sequential", __VA_ARGS__)
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
    IN_ORDER("scan_carry_of_one_tile", "scan/tiled", run_carry_of_one_tile, SCAN, C(BOUNDED) | C(REPLAYS), 0,
             "normal/f32/scan/3x257/*", "loses the carry at the end of every second tile"),
    IN_ORDER("scan_carry_of_tile_before_last", "scan/tiled", run_carry_of_tile_before_last, SCAN,
             C(BOUNDED) | C(REPLAYS), 0, "normal/f32/scan/3x257/*", "carries the sum of all tiles but the last one"),
    IN_ORDER("scan_joined_on_wrong_side", "scan/tiled", run_joined_on_wrong_side, SCAN,
             C(BOUNDED) | C(REPLAYS) | C(LENGTH_INVARIANT), 0, "normal/f32/scan/3x257/*",
             "joins the carry to the terms behind a place, not to those before it"),
    IN_ORDER("scan_carry_goes_in_first", "scan/tiled", run_inclusive, SCAN, C(REPLAYS), 0, "normal/f32/scan/3x257/*",
             "adds a tile's terms to the carry in turn, called tiled"),
    IN_ORDER("scan_tiled_for_warps", "scan/warps", run_in_tiles_of_32, SCAN, C(REPLAYS), 0, "normal/f32/scan/3x257/*",
             "tiles in turn, called tiles by doubling"),
    IN_ORDER("scan_lanes_do_not_wait", "scan/warps", run_lanes_do_not_wait, SCAN, C(BOUNDED) | C(REPLAYS), 0,
             "normal/f32/scan/3x257/*", "lanes of a warp take values of the same step"),
};
END(scans)
