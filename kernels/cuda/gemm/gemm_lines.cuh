/* gemm_lines.cuh: the lines of a product's factors as digits: bytes that tensor cores multiply without error.
 *
 * A line is a row of the first factor or a column of the second. Its elements x are written as
 *   x = 2^scale (d[0] 2^-w + d[1] 2^-2w + ... + d[L - 1] 2^-Lw + r),   -2^(w-1) <= d < 2^(w-1),   |r| <= 2^(-Lw-1),
 * with one scale for the line, of which every |x| < 2^(scale - 2), so that d[0] fits. If `digits` <= L, no element needs more of them, and
 * r is 0 everywhere. Such digits are found at once: those of x 2^(Lw - scale) + h are unsigned, where h has 2^(w-1) in each digit, and each
 * is 2^(w-1) too large.
 *
 * An element's last digit is rounded, which no result shows: cut off, |r| would be up to 2^-Lw. An element that has an r at all is so small
 * that it has at most N = ceil(p / w) + 1 digits (p: the precision of the dtype), as its partner has; so at most N pairs of their digits
 * have the largest weight that is left out, a quarter of 2^-Lw each. With r that would be at most (1.07 N + 1.01) / 4 2^-Lw a term, and L is
 * N + 1 or more: less than the 0.27 L + 0.135 that gemm_digits.cuh allows for, which takes all digits for full ones.
 */
#ifndef FOLD_GEMM_LINES_CUH
#define FOLD_GEMM_LINES_CUH

#include "kernels/cuda/gemm/gemm_plan.cuh"

/* What is known of a line. */
struct gemm_line {
  int scale, digits;                /* digits: 0 if all its elements are zero */
  unsigned positive, negative, odd; /* whether it has an element with this sign, zeros too; one that is not finite */
};

/* Where lines come from, and where their digits go. Strides are in elements. */
struct gemm_lines {
  const void *first;
  ptrdiff_t of_batch, of_line, of_k;
  bool along; /* neighbouring threads take neighbouring terms rather than lines, for these lie closer */
  size_t batches, lines, k;
  size_t padded, padded_k; /* lines, and bytes of each, of a slice; what is past the factor is zero */
  unsigned width, digits;  /* bits of a digit; slices */
  gemm_line *line;         /* batches x padded */
  int8_t *slices;          /* batches x digits x padded x padded_k */
};

enum { LINES_SIDE = 32, LINES_CHUNK = 16 };

/* x = significand 2^exponent, less its sign. */
static __device__ __forceinline__ uint64_t gemm_significand(double x, int *exponent) {
  const uint64_t bits = (uint64_t)__double_as_longlong(x) & 0x7fffffffffffffffu;
  const int field = (int)(bits >> 52);
  *exponent = (field ? field : 1) - 1075;
  return (bits & 0xfffffffffffffu) | (field ? 0x10000000000000u : 0);
}

/* Looks at 32 lines by 32 x 32 threads; neighbouring threads read neighbouring elements. */
template <int D>
static __global__ void __launch_bounds__(LINES_SIDE *LINES_SIDE) lines_look_kernel(const gemm_lines of) {
  typedef fold_element<D> E;
  __shared__ int top[LINES_SIDE], low[LINES_SIDE];
  __shared__ unsigned positive[LINES_SIDE], negative[LINES_SIDE], odd[LINES_SIDE];
  const unsigned lane = threadIdx.x % LINES_SIDE, warp = threadIdx.x / LINES_SIDE;
  const unsigned mine = of.along ? warp : lane, start = of.along ? lane : warp;
  const size_t line = (size_t)blockIdx.x * LINES_SIDE + mine, batch = blockIdx.y;
  if (warp == 0) top[lane] = INT_MIN, low[lane] = INT_MAX, positive[lane] = negative[lane] = odd[lane] = 0;
  __syncthreads();
  int highest = INT_MIN, lowest = INT_MAX;
  bool plus = false, minus = false, strange = false;
  if (line < of.lines) {
    const auto *from =
        (const typename E::stored *)of.first + (ptrdiff_t)batch * of.of_batch + (ptrdiff_t)line * of.of_line;
#pragma unroll 4
    for (size_t k = start; k < of.k; k += LINES_SIDE) {
      const double x = (double)E::widen(from[(ptrdiff_t)k * of.of_k]);
      int exponent;
      const uint64_t significand = gemm_significand(x, &exponent);
      (__double_as_longlong(x) < 0 ? minus : plus) = true;
      if (isfinite(x) && significand) {
        highest = max(highest, exponent + 63 - __clzll((long long)significand));
        lowest = min(lowest, exponent + __ffsll((long long)significand) - 1);
      }
      if (!isfinite(x)) strange = true;
    }
    atomicMax(&top[mine], highest);
    atomicMin(&low[mine], lowest);
    if (plus) positive[mine] = 1;
    if (minus) negative[mine] = 1;
    if (strange) odd[mine] = 1;
  }
  __syncthreads();
  const size_t at = (size_t)blockIdx.x * LINES_SIDE + lane;
  if (warp != 0 || at >= of.padded) return;
  const bool zero = top[lane] == INT_MIN;
  gemm_line known = {zero ? 0 : top[lane] + 3, 0, positive[lane], negative[lane], odd[lane]};
  if (!zero) known.digits = (known.scale - low[lane] + (int)of.width - 1) / (int)of.width;
  of.line[batch * of.padded + at] = known;
}

/* Writes the digits of 16 neighbouring terms of a line a thread. */
template <int D>
static __global__ void lines_slice_kernel(const gemm_lines of) {
  typedef fold_element<D> E;
  const size_t chunks = of.padded_k / LINES_CHUNK, all = of.padded * chunks, batch = blockIdx.y;
  const int half = 1 << (of.width - 1), mask = (1 << of.width) - 1, bits = (int)(of.width * of.digits);
  unsigned __int128 halves = 0;
  for (unsigned d = 0; d < of.digits; d++) halves = halves << of.width | (unsigned)half;
  for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < all; at += (size_t)gridDim.x * blockDim.x) {
    const size_t line = of.along ? at / chunks : at % of.padded,
                 k = (of.along ? at % chunks : at / of.padded) * LINES_CHUNK;
    const auto *from =
        (const typename E::stored *)of.first + (ptrdiff_t)batch * of.of_batch + (ptrdiff_t)line * of.of_line;
    const int scale = of.line[batch * of.padded + line].scale;
    unsigned __int128 value[LINES_CHUNK];
#pragma unroll
    for (int i = 0; i < LINES_CHUNK; i++) {
      value[i] = halves;
      if (line >= of.lines || k + i >= of.k) continue;
      const double x = (double)E::widen(from[(ptrdiff_t)(k + i) * of.of_k]);
      if (!isfinite(x)) continue;
      int exponent;
      const uint64_t significand = gemm_significand(x, &exponent);
      const int shift = exponent - scale + bits;
      unsigned __int128 units = 0;
      if (shift >= 0)
        units = significand ? (unsigned __int128)significand << shift : 0;
      else if (shift > -64)
        units = (significand + ((uint64_t)1 << (-shift - 1))) >> -shift;
      value[i] += __double_as_longlong(x) < 0 ? 0 - units : units;
    }
    int8_t *to = of.slices + (batch * of.digits * of.padded + line) * of.padded_k + k;
    for (int d = 0; d < (int)of.digits; d++, to += of.padded * of.padded_k) {
      const int place = bits - (d + 1) * (int)of.width;
      uint32_t word[LINES_CHUNK / 4] = {0};
#pragma unroll
      for (int i = 0; i < LINES_CHUNK; i++) {
        const int digit = (int)(value[i] >> place) & mask;
        word[i / 4] |= (uint32_t)((digit - half) & 0xff) << i % 4 * 8;
      }
      *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
    }
  }
}

/* Looks at the lines and writes their slices. */
template <int D>
static fold_status gemm_slice(const gemm_lines &of, cudaStream_t stream) {
  const dim3 blocks((unsigned)gemm_ceiling(of.padded, LINES_SIDE), (unsigned)of.batches);
  lines_look_kernel<D><<<blocks, LINES_SIDE * LINES_SIDE, 0, stream>>>(of);
  FOLD_TRY(fold_cuda_launched("gemm/exact"));
  if (of.padded_k == 0) return fold_ok();
  const size_t threads = 128, wanted = gemm_ceiling(of.padded * of.padded_k / LINES_CHUNK, threads), most = 1 << 16;
  const dim3 parts((unsigned)(wanted < most ? wanted : most), (unsigned)of.batches);
  lines_slice_kernel<D><<<parts, (unsigned)threads, 0, stream>>>(of);
  return fold_cuda_launched("gemm/exact");
}

#endif
