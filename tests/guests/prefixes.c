/* prefixes.c: scans with faults that authors of scans make. test_guest_products.py expects that the default fixtures of guests refute each,
 * and hold those named right. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

/* A row, x of n terms, to n results. */
struct row {
  call_of *call;
  uint64_t at, n;
  const float *x;
  float *out;
};
typedef void scan(const struct row *row);

static float joined(const struct row *row, float a, float b) {
  if (row->call->problem == FOLDPROOF_GUEST_SCAN_MAX)
    return isnan(a) || isnan(b) ? NAN : a > b || (a == b && !signbit(a)) ? a : b;
  return a + b;
}
static float empty(const struct row *row) { return row->call->problem == FOLDPROOF_GUEST_SCAN_MAX ? -INFINITY : 0; }

/* Terms [first, n) from `sum` on; the sum behind them. */
static float scan_on(const struct row *row, uint64_t first, uint64_t n, float sum) {
  for (uint64_t i = first; i < n; i++) {
    const float before = sum;
    sum = joined(row, sum, row->x[i]);
    row->out[i] = row->call->problem == FOLDPROOF_GUEST_EXCLUSIVE_SCAN ? before : sum;
  }
  return sum;
}

static int run(call_of *call, void *context) {
  for (uint64_t r = 0; r < call->rows; r++)
    (*(scan **)context)(&(struct row){call, r, call->cols, (const float *)call->in + r * call->cols,
                                      (float *)call->out + r * call->cols});
  return FOLDPROOF_GUEST_OK;
}

#define SCAN(id, ...)                       \
  static void id##_(const struct row *w) {  \
    const uint64_t n = w->n;                \
    float sum = scan_on(w, 0, n, empty(w)); \
    (void)sum;                              \
    __VA_ARGS__                             \
  }                                         \
  static scan *const id = id##_;
#define TILE(tile) for (uint64_t t = (tile); t < n; t += (tile))

SCAN(right, )
SCAN(carry_lost_at_256, if (n > 256) scan_on(w, 256, n, empty(w));)
SCAN(carry_lost_at_last_tile, if (n > 32) scan_on(w, (n - 1) / 32 * 32, n, empty(w));)
SCAN(carry_lost_at_4096, if (n > 4096) scan_on(w, 4096, n, empty(w));)
SCAN(carry_lost_at_10240, if (n > 10240) scan_on(w, 10240, n, empty(w));)
SCAN(carry_of_tile_before_last, TILE(64) if (t > 64) scan_on(w, t, t + 64 < n ? t + 64 : n, w->out[t - 65]);)
SCAN(inclusive_for_exclusive, for (uint64_t i = 0; i < n; i++) sum = i ? sum + w->x[i] : w->x[0], w->out[i] = sum;)
SCAN(exclusive_for_inclusive, sum = 0; for (uint64_t i = 0; i < n; i++) w->out[i] = sum, sum += w->x[i];)
SCAN(exclusive_at_tiles, TILE(128) w->out[t] = w->out[t - 1];)
SCAN(
    joined_on_wrong_side, for (uint64_t i = 0; i < n && i < 16; i++) {
      sum = 0;
      for (uint64_t t = i; t < n && t < 16; t++) sum += w->x[t];
      if (n > 16) w->out[i] = sum;
    })
SCAN(row_2_goes_on, if (w->at == 2 && n > 1) scan_on(w, 0, n, w->out[-1]);)
SCAN(row_40_goes_on, if (w->at == 40 && n > 1) scan_on(w, 0, n, w->out[-1]);)
SCAN(row_300_goes_on, if (w->at == 300 && n > 1) scan_on(w, 0, n, w->out[-1]);)
SCAN(last_of_four_lost, if (n > 4 && n % 4 == 3) w->out[n - 1] = w->out[n - 2];)
SCAN(edge_at_3000, if (n > 3000) w->out[n - 1] = w->out[n - 2];)
SCAN(begins_at_zero, scan_on(w, 0, n, 0);)
SCAN(begins_with_output, for (uint64_t i = 0; i < n; i++) if (n > 64 && i == 64) w->out[i] = NAN;
     if (n > 64) scan_on(w, 64, n, w->out[63] + 0 * w->out[64]);)
SCAN(sums_of_f16, sum = 0; for (uint64_t i = 0; i < n; i++) w->out[i] = sum = (float)(_Float16)(sum + w->x[i]);)
SCAN(infinity_is_kept_out, sum = 0; for (uint64_t i = 0; i < n; i++) w->out[i] = sum += isinf(w->x[i]) ? 0 : w->x[i];)

/* In tiles of `width`, scanned in turn or by doubling; the sum of the tiles before is joined in front of each value. */
static void scan_tiles(const struct row *w, uint64_t width, bool doubling) {
  float carry = 0;
  for (uint64_t at = 0; at < w->n; at += width) {
    const uint64_t some = w->n - at < width ? w->n - at : width;
    float v[64], sum = carry;
    for (uint64_t i = 0; i < some; i++) v[i] = doubling || i == 0 ? w->x[at + i] : v[i - 1] + w->x[at + i];
    for (uint64_t d = 1; doubling && d < some; d *= 2)
      for (uint64_t i = some - 1; i >= d; i--) v[i] = v[i - d] + v[i];
    for (uint64_t i = 0; i < some; i++) {
      const float before = sum;
      sum = carry + v[i];
      w->out[at + i] = w->call->problem == FOLDPROOF_GUEST_EXCLUSIVE_SCAN ? before : sum;
    }
    carry = sum;
  }
}
SCAN(tiled_right, scan_tiles(w, 32, false);)
SCAN(tiles_of_64, scan_tiles(w, 64, false);)
SCAN(tiles_of_64_right, scan_tiles(w, 64, false);)
SCAN(doubled_right, scan_tiles(w, 32, true);)
SCAN(doubled_by_16, scan_tiles(w, 16, true);)

#define OF_ORDER(id, problem, tree) \
  { .name = "prefixes/" problem "_" #id, .problems = problem, .order = tree, .run = run, .context = (void *)&id }
#define OF(id, problem) \
  { .name = "prefixes/" problem "_" #id, .problems = problem, .run = run, .context = (void *)&id }
static const struct foldproof_guest_subject subjects[] = {
    OF(right, "scan"),
    OF(right, "exclusive_scan"),
    OF(right, "scan_max"),
    OF(carry_lost_at_256, "scan"),
    OF(carry_lost_at_last_tile, "scan"),
    OF(carry_lost_at_4096, "scan"),
    OF(carry_lost_at_10240, "scan"),
    OF(carry_of_tile_before_last, "scan"),
    OF(inclusive_for_exclusive, "exclusive_scan"),
    OF(exclusive_for_inclusive, "scan"),
    OF(exclusive_at_tiles, "scan"),
    OF(joined_on_wrong_side, "scan"),
    OF(row_2_goes_on, "scan"),
    OF(row_40_goes_on, "scan"),
    OF(row_300_goes_on, "scan"),
    OF(last_of_four_lost, "scan"),
    OF(edge_at_3000, "scan"),
    OF(begins_at_zero, "scan_max"),
    OF(begins_with_output, "scan"),
    OF(sums_of_f16, "scan"),
    OF(infinity_is_kept_out, "scan"),
    OF(carry_lost_at_256, "scan_max"),
    OF(carry_lost_at_4096, "scan_max"),
    OF(last_of_four_lost, "scan_max"),
    OF(carry_lost_at_256, "exclusive_scan"),
    OF(carry_lost_at_4096, "exclusive_scan"),
    OF(row_40_goes_on, "exclusive_scan"),
    OF_ORDER(tiled_right, "scan", "scan/tiled"),
    OF_ORDER(tiled_right, "exclusive_scan", "scan/tiled"),
    OF_ORDER(tiles_of_64, "scan", "scan/tiled"),
    OF_ORDER(doubled_right, "scan", "scan/warps"),
    OF_ORDER(doubled_by_16, "scan", "scan/warps"),
    OF_ORDER(doubled_right, "exclusive_scan", "scan/tiled"),
    OF_ORDER(tiles_of_64_right, "scan", "scan/tiled/64"),
    OF_ORDER(doubled_by_16, "exclusive_scan", "scan/warps/64"),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
