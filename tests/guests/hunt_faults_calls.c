/* hunt_faults_calls.c: faults that depend on the batch, on the launch, on strides, and on the calls before. */
#include "hunt_faulty.h"

static void leaves_out(struct hunt_row *row, const struct hunt_fault *fault) {
  if (row->at == fault->by) row->at = UINT64_MAX;
}
static void writes_one_more(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  hunt_store(row->call->result, row->call->out, row->call->rows, 0);
}
/* The remainder of terms that threads share. */
static void loses_remainder(struct hunt_row *row, const struct hunt_fault *fault) {
  (void)fault;
  row->n -= row->n % row->call->threads;
}

static bool rows_lie_apart(const struct hunt_row *row, const struct hunt_fault *fault) {
  return (void)fault, row->call->row_stride >= row->call->cols * row->call->col_stride;
}
/* One call of so many, by a hash of its number. */
static bool one_call_in(const struct hunt_row *row, const struct hunt_fault *fault) {
  uint64_t hash = (fault->seen.calls + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  hash ^= hash >> 31;
  return row->at == 0 && hash % fault->by == 0;
}
/* Sums of tiles of 64 terms in a buffer that is kept, of which a multiple of four is added. */
static void adds_kept(struct hunt_row *row, const struct hunt_fault *fault) {
  enum { TILE = 64, TILES = 4096 };
  static double kept[TILES];
  const uint64_t tiles = (row->n + TILE - 1) / TILE;
  (void)fault;
  for (uint64_t t = 0; t < tiles && t < TILES; t++) {
    const uint64_t last = (t + 1) * TILE < row->n ? (t + 1) * TILE : row->n;
    kept[t] = hunt_fold(row, t * TILE, last, 1);
  }
  if (tiles % 4 != 0 && tiles < TILES) row->x[row->n++] = kept[tiles];
}

#define BATCH "bounded,run_to_run,batch_invariant"
#define LAUNCH "bounded,run_to_run,launch_invariant"
#define STRIDE "bounded,run_to_run,stride_invariant"
static const struct foldproof_guest_subject of_calls[] = {
    /* One row of many, and neighbours. */
    HUNT_FAULT(rows_47_of_48, "sum", "f32", NULL, BATCH, "last row in four lanes where rows mod 48 = 47 and n > 1100",
               .length = {1101}, .rows = {1, 0, 48, 47}, .at_last_row = true, .effect = hunt_in_four_lanes),
    HUNT_FAULT(result_171_unwritten, "sum", "f32", NULL, NULL,
               "result 171 not written for 173 to 239 rows of over 1100 terms", .length = {1101}, .rows = {173, 239},
               .effect = leaves_out, .by = 171),
    HUNT_FAULT(one_result_more, "sum", "f64", NULL, NULL, "one result too many for 173 to 239 rows of over 1100 terms",
               .length = {1101}, .rows = {173, 239}, .at_last_row = true, .effect = writes_one_more),
    HUNT_FAULT(rows_20_to_30, "dot", "f32", NULL, BATCH, "four lanes for 20 to 30 rows of over 1100 terms",
               .length = {1101}, .rows = {20, 30}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(rows_150_to_250, "sum", "f64", NULL, BATCH, "four lanes for 150 to 250 rows of over 1100 terms",
               .length = {1101}, .rows = {150, 250}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(rows_301_to_499, "sum", "f64", NULL, BATCH, "four lanes for 301 to 499 rows", .rows = {301, 499},
               .effect = hunt_in_four_lanes),
    HUNT_FAULT(wide_rows, "dot", "f16", NULL, NULL, "last term lost for over 64 rows of 1301 to 2150 terms",
               .length = {1301, 2150}, .rows = {65}, .effect = hunt_loses_last),
    HUNT_FAULT(block_of_40_to_60, "rows", "f32", NULL, "run_to_run,batch_invariant",
               "four lanes for 40 to 60 rows of over 1100 terms", .length = {1101}, .rows = {40, 60},
               .effect = hunt_in_four_lanes),
    /* Threads. */
    HUNT_FAULT(threads_over_8, "sum", "f64", NULL, LAUNCH,
               "four lanes with 9 to 15 threads where n > 700 and n mod 32 = 21", .length = {701, 0, 32, 21},
               .threads = {9, 15}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(threads_over_16, "dot", "f32", NULL, LAUNCH,
               "four lanes with over 16 threads where n > 700 and n mod 16 = 9", .length = {701, 0, 16, 9},
               .threads = {17}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(threads_5, "sum", "f32", NULL, LAUNCH, "5 threads lose the remainder where n > 300 and n mod 16 = 3",
               .length = {301, 0, 16, 3}, .threads = {5, 5}, .effect = loses_remainder),
    /* Strides. */
    HUNT_FAULT(stride_from_5, "sum", "f32", NULL, STRIDE,
               "last term lost with column strides from 5 on where rows lie apart, over 1024 terms", .length = {1025},
               .step = {5}, .pattern = rows_lie_apart, .effect = hunt_loses_last),
    HUNT_FAULT(stride_5_to_12, "dot", "f64", NULL, STRIDE,
               "four lanes with column strides from 5 to 12 where n > 300 and n mod 16 = 11", .step = {5, 12},
               .length = {301, 0, 16, 11}, .effect = hunt_in_four_lanes),
    /* Calls before. */
    HUNT_FAULT(call_12, "sum", "f32", NULL, NULL,
               "four lanes in the 12th call of a shape where n > 300 and n mod 37 = 11", .turns = {12, 12},
               .length = {301, 0, 37, 11}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(after_200_calls, "sum", "f32", NULL, NULL,
               "four lanes after 200 calls of a shape where n > 40 and n mod 4 = 2", .turns = {201},
               .length = {41, 0, 4, 2}, .effect = hunt_in_four_lanes),
    HUNT_FAULT(kept_buffer, "sum", "f64", NULL, NULL, "a tile of a longer row before is added from 2049 to 2300 terms",
               .length = {2049, 2300}, .effect = adds_kept),
    HUNT_FAULT(one_call_of_2000, "sum", "f32", NULL, NULL, "last term lost in one call of 2,000",
               .pattern = one_call_in, .by = 2000, .effect = hunt_loses_last),
};
HUNT_TABLE(of_calls)
