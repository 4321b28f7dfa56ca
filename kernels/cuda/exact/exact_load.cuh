/* exact_load.cuh: a row as tiles of whole 16-byte accesses, wherever it begins and ends.
 *
 * Promised: each element of the row is in just one tile, once; what an access holds beyond the row's ends is -0,
 * which changes no sum. The row is laid on the grid of 16-byte lines of memory, so that no access but the first and
 * the last is cut.
 */
#ifndef FOLD_EXACT_LOAD_CUH
#define FOLD_EXACT_LOAD_CUH

#include "kernels/cuda/exact/exact_format.cuh"
#include "kernels/cuda/load.cuh"

/* A tile has N accesses of each lane. */
template <int D, int N = EXACT_AHEAD>
struct exact_row {
  typedef typename exact_tile<D>::stored stored;
  static const int LINES = 32 * N; /* how many lines a tile has */
  const stored *first;
  size_t cols;
  int head; /* elements of the first line that lie before the row */
  size_t tiles;

  __device__ __forceinline__ exact_row(const stored *row, size_t n) : first(row), cols(n) {
    head = (int)((uintptr_t)row % 16 / sizeof(stored));
    tiles = (n + head + LINES * exact_tile<D>::EACH - 1) / (LINES * exact_tile<D>::EACH);
  }
  /* The lane's first line of a tile that lies wholly in the row; else NULL. */
  __device__ __forceinline__ const uint4 *whole(size_t tile) const {
    const size_t lines = (tile + 1) * LINES;
    if ((tile == 0 && head) || lines * exact_tile<D>::EACH > cols + head) return NULL;
    return (const uint4 *)(first - head) + tile * LINES + (threadIdx.x & 31);
  }
  __device__ __forceinline__ void load_cut(uint4 (&to)[N], size_t tile) const {
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = line(tile * LINES + 32 * i + (threadIdx.x & 31));
  }
  /* One line, with -0 beyond the row's ends. */
  __device__ __forceinline__ uint4 line(size_t at) const {
    const int EACH = exact_tile<D>::EACH;
    const long long element = (long long)(at * EACH) - head;
    if (element >= 0 && element + EACH <= (long long)cols) return load_16(first + element);
    uint4 q = exact_nothing();
#pragma unroll
    for (int k = 0; k < EACH; k++)
      if (element + k >= 0 && element + k < (long long)cols) put(q, k, first[element + k]);
    return q;
  }
  static __device__ __forceinline__ uint4 exact_nothing() {
    const uint32_t minus = exact_tile<D>::MINUS_ZERO, low = D == FOLD_F64 ? 0 : minus;
    return make_uint4(low, minus, low, minus);
  }
  static __device__ __forceinline__ void put(uint4 &q, int k, double x) {
    exact_set_word(q, 2 * k, (uint32_t)__double2loint(x));
    exact_set_word(q, 2 * k + 1, (uint32_t)__double2hiint(x));
  }
  static __device__ __forceinline__ void put(uint4 &q, int k, float x) { exact_set_word(q, k, __float_as_uint(x)); }
  static __device__ __forceinline__ void put(uint4 &q, int k, uint16_t x) {
    const uint32_t word = exact_word(q, k / 2);
    exact_set_word(q, k / 2, k & 1 ? (word & 0xffffu) | (uint32_t)x << 16 : (word & 0xffff0000u) | x);
  }
};

#endif
