/* exact_bins.cuh: f32 and bf16 of any exponents, exactly, by one floating-point addition a term.
 *
 * Terms whose exponents agree in their leading bits go to one bin, in which additions are exact for as long as the bits
 * suffice. Each lane has its own bins in shared memory, a bin's 32 words side by side: no atomics, no two lanes in a
 * bank.
 *   f32    16 bins of 16 exponents, in double: terms are multiples of the bin's unit below 2^39 units; 2^14 make 2^53
 *   bf16   32 bins of 8 exponents, in float: below 2^15 units, 2^9 terms make 2^24. They are scaled by 2^-16, so that
 *          the largest bin does not overflow; the smallest subnormal becomes float's. Every 8 tiles of 64 they are
 *          emptied into 8 bins of 32 exponents in double: a time adds less than 4 x 2^48 units there, 8 times 2^53.
 * The bins' units: 2^(BASE + field - 1) of their smallest exponent field, BASE for the first. Used by exact_warp.cuh.
 *
 * Measured on one H200, all exponents, times CUB's sum: f32 0.98, bf16 1.02; integer limbs in their place
 * (exact_limbs.cuh): 0.78 and 0.50, for their dozen integer operations a term.
 */
#ifndef FOLD_EXACT_BINS_CUH
#define FOLD_EXACT_BINS_CUH

#include "kernels/cuda/exact/exact_limbs.cuh"

template <int D>
struct exact_bins {
  static const int WIDE = D == FOLD_F32 ? 16 : 8;   /* bins in double */
  static const int SPAN = 256 / WIDE;               /* exponents of each */
  static const int SCALE = D == FOLD_F32 ? 0 : -16; /* a power of two by which terms in float bins are scaled */
  static const int FINE = D == FOLD_F32 ? 0 : 32;   /* bins in float, after those */
  static const unsigned FINE_TILES = 8;
  static const unsigned TILES = D == FOLD_F32 ? 512 : 64; /* tiles between two flushes */
};

/* Bins as bytes: a bin's words lie side by side, the lane's is at 8 or 4 bytes times the lane. */
struct exact_bin_row {
  char *wide, *fine;
};
template <int D>
static __device__ __forceinline__ struct exact_bin_row exact_bin_row_of(char *warp_columns) {
  const int lane = threadIdx.x & 31;
  return {warp_columns + 8 * lane, warp_columns + 256 * exact_bins<D>::WIDE + 4 * lane};
}

template <int D>
static __device__ __forceinline__ void exact_bins_clear(char *columns) {
  const struct exact_bin_row row = exact_bin_row_of<D>(columns);
  for (int k = 0; k < exact_bins<D>::WIDE; k++) *(double *)(row.wide + 256 * k) = 0;
  for (int k = 0; k < exact_bins<D>::FINE; k++) *(float *)(row.fine + 128 * k) = 0;
}

/* Adds a term to each of two bins, which may be the same one. Both are read before one is written, which halves the
 * wait; the compiler could not do that, because it cannot know that the bins differ. (bf16 is limited by instructions,
 * not by waits: there it cost 3%.) */
static __device__ __forceinline__ void exact_bins_two(double *first, double x, double *second, double y) {
  const double a = *first, b = *second, sum = a + x;
  *first = sum;
  *second = (first == second ? sum : b) + y;
}

/* Adds an access of finite terms. */
template <int D>
static __device__ __forceinline__ void exact_bins_add(char *columns, const uint4 &q) {
  const struct exact_bin_row row = exact_bin_row_of<D>(columns);
#pragma unroll
  for (int k = 0; k < 4; k += D == FOLD_F32 ? 2 : 1) {
    const uint32_t word = exact_word(q, k), other = exact_word(q, k + 1);
    if constexpr (D == FOLD_F32) {
      exact_bins_two((double *)(row.wide + (word >> 19 & 0xf00)), (double)__uint_as_float(word),
                     (double *)(row.wide + (other >> 19 & 0xf00)), (double)__uint_as_float(other));
    } else {
      float *low = (float *)(row.fine + (word >> 3 & 0xf80));
      *low = __fmaf_rn(__uint_as_float(word << 16), 0x1p-16f, *low);
      float *high = (float *)(row.fine + (word >> 19 & 0xf80));
      *high = __fmaf_rn(__uint_as_float(word & 0xffff0000u), 0x1p-16f, *high);
    }
  }
}

/* bf16: empties the float bins into the double ones. */
static __device__ __forceinline__ void exact_bins_drain(char *columns) {
  const struct exact_bin_row row = exact_bin_row_of<FOLD_BF16>(columns);
#pragma unroll 2
  for (int k = 0; k < 8; k++) {
    double sum = *(double *)(row.wide + 256 * k);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float *fine = (float *)(row.fine + 128 * (4 * k + i));
      sum += (double)*fine;
      *fine = 0;
    }
    *(double *)(row.wide + 256 * k) = sum;
  }
}

/* Empties all bins into the block's limbs; the bins are zero then. Each lane sums WIDE words of one bin, starting from
 * another word than the others, so that no two use one bank. The warp's sum of a bin is below 2^58 units. */
template <int D>
static __device__ __forceinline__ void exact_bins_flush(char *columns, int64_t *limb) {
  typedef exact_bins<D> bins;
  const int lane = threadIdx.x & 31, bin = lane % bins::WIDE, unit = max(bins::SPAN * bin - 1, 0);
  if (D == FOLD_BF16) exact_bins_drain(columns);
  __syncwarp();
  int64_t units = 0;
#pragma unroll
  for (int i = 0; i < bins::WIDE; i++) {
    double *word = (double *)columns + 32 * bin + lane / bins::WIDE * bins::WIDE + (lane + i) % bins::WIDE;
    units += exact_units(*word, exact_format<D>::BASE + unit + bins::SCALE);
    *word = 0;
  }
#pragma unroll
  for (int offset = bins::WIDE; offset < 32; offset *= 2) units += __shfl_xor_sync(EXACT_WARP, units, offset);
  if (lane < bins::WIDE && units) exact_limbs_add(limb, units, unit);
  __syncwarp();
}

#endif
