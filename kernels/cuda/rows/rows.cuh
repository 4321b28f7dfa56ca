/* rows.cuh: what the row kernels share: the shape of an order, the counter that makes its tree.
 *
 * Depended on by rows_*.cu alone. An order of the family has `chunks` chunks of L = ceil(cols / chunks) elements;
 * chunk c is elements [c L, min((c + 1) L, cols)), and each partial starts at zero(). `threads` walk the chunks of a
 * row, each one chunks / threads neighbours; that number is no part of the order.
 */
#ifndef FOLD_ROWS_CUH
#define FOLD_ROWS_CUH

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "model/problem.h"

struct fold_rows_shape {
  unsigned threads;
  unsigned chunks;
  bool tree;     /* partials joined by the tree over neighbours; else in turn, from zero() */
  bool backward; /* falling index; one chunk only */
};

static const struct fold_rows_shape fold_rows_forward = {1, 1, true, false}, fold_rows_falling = {1, 1, true, true},
                                    fold_rows_16 = {16, 16, false, false}, fold_rows_64 = {64, 64, false, false},
                                    fold_rows_256 = {256, 256, true, false}, fold_rows_tree_1 = {1, 256, true, false},
                                    fold_rows_tree_16 = {16, 256, true, false},
                                    fold_rows_tree_64 = {64, 256, true, false};

static inline __host__ __device__ size_t fold_rows_chunk(size_t cols, unsigned chunks) {
  return cols / chunks + (cols % chunks != 0);
}

/* The index of the element at which a chunk starts, or the row's end. */
static __device__ __forceinline__ size_t fold_rows_start(size_t chunk, size_t length, size_t cols) {
  return min(chunk * length, cols);
}

/* A tree over neighbours fed from left to right: level k holds the root of a finished subtree of 2^k terms, as a
 * binary counter holds its ones. add() returns the subtree that the term completes: after 2^k terms, their root. */
template <int O, class W>
struct fold_rows_counter {
  typedef fold_operation<O, W> op;
  W level[8];
  unsigned count;
  __device__ __forceinline__ fold_rows_counter() : count(0) {
#pragma unroll
    for (int i = 0; i < 8; i++) level[i] = op::zero();
  }
  /* No branch leaves the loop: the levels must stay in registers. */
  __device__ __forceinline__ W add(W v) {
    unsigned c = count++, place = __ffs(~c) - 1;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      if (i < place) v = op::join(level[i], v);
      level[i] = i == place ? v : level[i];
    }
    return v;
  }
};

/* What 16 bytes hold: joins their elements to v, in rising or falling index. `nothing` is 16 bytes of the true
 * identity: joining it changes no bit of any v, so that a lane that has run out of elements goes on with its warp. */
template <int D, int O>
struct fold_rows_vector {
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;
  static const int many = 16 / sizeof(stored);
  union pack {
    uint4 all;
    stored each[many];
    __device__ __forceinline__ pack() {}
  };
  static __device__ __forceinline__ uint4 nothing() {
    pack p;
#pragma unroll
    for (int i = 0; i < many; i++) p.each[i] = none();
    return p.all;
  }
  static __device__ __forceinline__ stored none() {
    uint16_t one = D == FOLD_F16 ? 0x3c00 : 0x3f80, infinity = D == FOLD_F16 ? 0x7c00 : 0x7f80;
    if (sizeof(stored) == 2)
      return (stored)(O == FOLD_SUM ? 0x8000 : O == FOLD_PROD ? one : O == FOLD_MAX ? infinity | 0x8000 : infinity);
    return (stored)op::none();
  }
  template <bool backward>
  static __device__ __forceinline__ wide join(wide v, uint4 q) {
    pack p;
    p.all = q;
#pragma unroll
    for (int i = 0; i < many; i++) v = op::join(v, element::widen(p.each[backward ? many - 1 - i : i]));
    return v;
  }
};

/* The tree over the 32 (or the first 16, or groups of `lanes`) lanes: lane l takes lane l + stride, stride 1, 2, 4 ...;
 * the root is in each group's first lane. */
template <int O, class W>
static __device__ __forceinline__ W fold_rows_lanes(W v, int lanes) {
#pragma unroll
  for (int stride = 1; stride < 32; stride *= 2)
    if (stride < lanes) v = fold_operation<O, W>::join(v, __shfl_down_sync(0xffffffffu, v, stride));
  return v;
}

/* The rungs. Each does every call of the shapes that its file names; if there is a function fold_rows_..._fits beside
 * it, only the calls that this function admits. `sms` is the device's number of multiprocessors: it sizes launches and
 * changes no bits. */
fold_status fold_rows_plain(const struct fold_call *call, const struct fold_rows_shape *shape);
/* The same; results of 16-bit terms may also be f32. */
fold_status fold_rows_plain_to(const struct fold_call *call, const struct fold_rows_shape *shape,
                               enum fold_dtype result);
fold_status fold_rows_window(const struct fold_call *call, const struct fold_rows_shape *shape, void *partials,
                             unsigned sms);
bool fold_rows_tile_fits(const struct fold_call *call, unsigned parts);
fold_status fold_rows_tile(const struct fold_call *call, const struct fold_rows_shape *shape, void *partials,
                           unsigned parts);
/* The end of a row that is spread over blocks: joins the subtrees of its parts, partials[parts row + part], by the
 * tree. */
fold_status fold_rows_join(const struct fold_call *call, const void *partials, unsigned parts);
bool fold_rows_solo_fits(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned sms);
fold_status fold_rows_solo(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned sms);

#endif
