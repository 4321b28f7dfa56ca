/* exact_product.cuh: sums of exact products by a warp: products as integers, added to limbs of 32 bits over the whole range of products of
 * two f64.
 *
 * Promised: the exact sum of the exact products, rounded once; special values by the policy of oracles/exact.c. Every addition is one of
 * integers, so that no bit depends on the order. Used by dot_exact.cu and gemm_exact.cu.
 *
 * A product is an integer of 106 bits times 2^(ex + ey) >= 2^-2148: shifted to its place it touches up to five limbs. Each lane has a column
 * of limbs of its own in shared memory, those that products of its dtype can touch: no atomics there, and no two lanes meet in a bank.
 * A limb takes 2^31 additions below 2^32, one of each term at the most.
 */
#ifndef FOLD_EXACT_PRODUCT_CUH
#define FOLD_EXACT_PRODUCT_CUH

#include "kernels/cuda/exact/exact_format.cuh"
#include "oracles/super_round.h"

/* The words of a sum: limbs, then counts as struct fold_super has them. */
enum {
  EXACT_PRODUCT_BASE = -2148,
  EXACT_PRODUCT_LIMBS = 136, /* to 2^2112 and beyond, a sign included */
  EXACT_PRODUCT_NAN = EXACT_PRODUCT_LIMBS,
  EXACT_PRODUCT_POSITIVE,
  EXACT_PRODUCT_NEGATIVE,
  EXACT_PRODUCT_OTHERS,
  EXACT_PRODUCT_TERMS,
  EXACT_PRODUCT_WORDS,
  EXACT_PRODUCT_AHEAD = 8 /* pairs of terms that a lane loads before it uses the first */
};

/* A finite f64 is `significand` 2^exponent. */
static __device__ __forceinline__ uint64_t exact_significand(double x, int *exponent) {
  const uint64_t bits = (uint64_t)__double_as_longlong(x) & 0x7fffffffffffffffu;
  const int field = (int)(bits >> 52);
  *exponent = (field ? field : 1) - 1075;
  return (bits & 0xfffffffffffffu) | (field ? 0x10000000000000u : 0);
}

/* The limbs that products of dtype D touch. As a number of f64, a finite element is 53 bits from 2^LOWEST to 2^HIGHEST on. */
template <int D>
struct exact_column {
  typedef exact_format<D> format;
  static const int LOWEST = format::BASE - (D == FOLD_F64 ? 0 : 52), HIGHEST = (1 << (format::FIELD - 1)) - 1 - 52;
  static const int FIRST = (2 * LOWEST - EXACT_PRODUCT_BASE) / 32,
                   MANY = (2 * HIGHEST - EXACT_PRODUCT_BASE) / 32 + 5 - FIRST;
};

/* Which of the counts a product is for. */
enum { EXACT_IS_NAN = 1, EXACT_IS_POSITIVE = 2, EXACT_IS_NEGATIVE = 4, EXACT_IS_OTHER = 8 };

/* Adds to the lane's column, whose limb k is 32 words from limb k + 1; returns what the product counts as. */
static __device__ unsigned exact_add_product(exact_u64 *limbs, double x, double y) {
  const double plain = x * y;
  if (isnan(plain)) return EXACT_IS_NAN;
  if (isinf(x) || isinf(y)) return plain < 0 ? EXACT_IS_NEGATIVE : EXACT_IS_POSITIVE;
  const bool minus = (__double_as_longlong(x) ^ __double_as_longlong(y)) < 0;
  if (x == 0 || y == 0) return minus ? 0 : EXACT_IS_OTHER;
  int ex, ey;
  const uint64_t mx = exact_significand(x, &ex), my = exact_significand(y, &ey);
  const uint64_t low = mx * my, high = __umul64hi(mx, my);
  const int at = ex + ey - EXACT_PRODUCT_BASE, shift = at & 31;
  exact_u64 *limb = limbs + (at >> 5) * 32;
  /* 106 bits, shifted by less than 32: five chunks. */
  const uint64_t a = low << shift, b = high << shift | (shift ? low >> (64 - shift) : 0);
  const uint64_t c = shift ? high >> (64 - shift) : 0;
  const exact_u64 chunks[5] = {a & 0xffffffff, a >> 32, b & 0xffffffff, b >> 32, c};
  exact_u64 sums[5];
#pragma unroll
  for (int k = 0; k < 5; k++) sums[k] = limb[k * 32] + (minus ? 0 - chunks[k] : chunks[k]); /* modulo 2^64 */
#pragma unroll
  for (int k = 0; k < 5; k++) limb[k * 32] = sums[k];
  return EXACT_IS_OTHER;
}

/* Adds the products of terms [begin, end) of x and y, whose neighbours are step_x and step_y apart, by a warp that is a block: limbs, not
 * normalised, and counts. `columns` has MANY words for each lane. */
template <int D>
static __device__ __forceinline__ void exact_add_products(exact_u64 *words, exact_u64 *columns,
                                                          const typename fold_element<D>::stored *x, ptrdiff_t step_x,
                                                          const typename fold_element<D>::stored *y, ptrdiff_t step_y,
                                                          size_t begin, size_t end) {
  typedef fold_element<D> E;
  typedef exact_column<D> C;
  const unsigned lane = threadIdx.x;
  for (int k = 0; k < C::MANY; k++) columns[k * 32 + lane] = 0;
  exact_u64 *mine = columns + lane - C::FIRST * 32;
  unsigned seen = 0;
  for (size_t first = begin + lane; first < end; first += EXACT_PRODUCT_AHEAD * 32) {
    typename E::stored a[EXACT_PRODUCT_AHEAD], b[EXACT_PRODUCT_AHEAD];
#pragma unroll
    for (int k = 0; k < EXACT_PRODUCT_AHEAD; k++)
      if (first + k * 32 < end) {
        const ptrdiff_t at = (ptrdiff_t)(first + k * 32);
        a[k] = x[at * step_x], b[k] = y[at * step_y];
      }
#pragma unroll
    for (int k = 0; k < EXACT_PRODUCT_AHEAD; k++)
      if (first + k * 32 < end) seen |= exact_add_product(mine, (double)E::widen(a[k]), (double)E::widen(b[k]));
  }
  for (int k = lane; k < EXACT_PRODUCT_WORDS; k += 32) words[k] = 0;
  __syncwarp();
  for (int k = lane; k < C::MANY; k += 32) {
    exact_u64 sum = 0;
    for (unsigned j = 0; j < 32; j++) sum += columns[k * 32 + (lane + j) % 32];
    words[C::FIRST + k] = sum;
  }
  if (seen & EXACT_IS_NAN) words[EXACT_PRODUCT_NAN] = 1;
  if (seen & EXACT_IS_POSITIVE) words[EXACT_PRODUCT_POSITIVE] = 1;
  if (seen & EXACT_IS_NEGATIVE) words[EXACT_PRODUCT_NEGATIVE] = 1;
  if (seen & EXACT_IS_OTHER) words[EXACT_PRODUCT_OTHERS] = 1;
  if (lane == 0) words[EXACT_PRODUCT_TERMS] = end - begin;
  __syncwarp();
}

/* The sum, rounded; by one thread. */
template <int D>
static __device__ __forceinline__ uint64_t exact_products_close(exact_u64 *words) {
  fold_limbs_normalise((int64_t *)words, EXACT_PRODUCT_LIMBS);
  return fold_limbs_close((const int64_t *)words, EXACT_PRODUCT_LIMBS, EXACT_PRODUCT_BASE,
                          (const int64_t *)words + EXACT_PRODUCT_LIMBS, (enum fold_dtype)D);
}

#endif
