/* exact_plan.cuh: how the work of the exact sum is divided: this changes its speed, never its bits. Host code except
 * for the struct. */
#ifndef FOLD_EXACT_PLAN_CUH
#define FOLD_EXACT_PLAN_CUH

#include "base/fold.h"
#include "oracles/super.h"

#define EXACT_MOST_WARPS 8
#define EXACT_SET_WARPS 2 /* how many warps of a block share a set of f64's columns (exact_limbs.cuh) */

/* The most threads of a block, and how many blocks a multiprocessor is to hold, which limits the registers of a
 * thread. */
#define EXACT_THREADS(D) (D == FOLD_F64 ? 128 : 256)
#define EXACT_BLOCKS(D) (D == FOLD_F64 ? 5 : 3)

/* From this many rows on, a warp takes whole rows; fewer rows are better spread over blocks (exact_block.cuh). */
#define EXACT_LINE_ROWS 1024

/* Where the blocks of a row meet: as many states as fit the part of scratch that is already zero, for one row. */
struct exact_meeting {
  struct fold_super state;
  int64_t pad[5]; /* pads to a multiple of 128 bytes */
};
#define EXACT_MEETING_AT 128
#define EXACT_COPIES 6
static_assert(sizeof(struct exact_meeting) % 128 == 0 &&
                  EXACT_MEETING_AT + EXACT_COPIES * sizeof(struct exact_meeting) <= FOLD_SCRATCH_ZEROED,
              "one row needs no more scratch than that");

struct exact_plan {
  size_t rows, cols;
  unsigned parts;   /* blocks a row */
  unsigned copies;  /* how many states a row's blocks meet in */
  unsigned threads; /* a block */
  unsigned blocks;
  size_t piece;     /* exact_block.cuh: tiles of each block */
  int ahead;        /* accesses of a tile: fewer than EXACT_AHEAD if a row is too short for the blocks' warps */
  size_t rows_each; /* exact_line.cuh: rows of each warp; exact_short.cuh: tiles of each warp */
  bool dense;       /* exact_short.cuh: aligned, and a group of lanes has no line that its row lacks */
  bool packed;      /* exact_short.cuh: results start at a multiple of 16 bytes */
  bool aligned;     /* every row starts at a multiple of 16 bytes and ends at one */
};

/* Sums few rows of few tiles and sets *done, or returns without launching anything: exact_small.cu. */
fold_status exact_small(const struct fold_call *call, bool *done);

/* Sums many rows and sets *done, or leaves a call for which it is not made to the blocks of exact.cu: exact_rows_*.cu.
 * States go to d_words, unless it is NULL. */
fold_status exact_rows_f16(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words, bool *done);
fold_status exact_rows_bf16(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words, bool *done);
fold_status exact_rows_f32(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words, bool *done);
fold_status exact_rows_f64(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words, bool *done);

#endif
