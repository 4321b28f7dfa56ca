/* dot_exact.cu: the subject dot/exact: products as integers, added to limbs of 32 bits over the whole range of products of two f64.
 *
 * Promised: the exact sum of the exact products, rounded once; special values by the policy of oracles/exact.c. Every addition is one of
 * integers, so that no bit depends on who comes first.
 *
 * A product is an integer of 106 bits times 2^(ex + ey) >= 2^-2148: shifted to its place it touches up to five limbs. A block is a
 * warp; each lane has a column of limbs of its own in shared memory, those that products of its dtype can touch: no atomics there,
 * and no two lanes meet in a bank. At an item's end columns are added, and the limbs go to the row's in scratch, or are closed where
 * the row is one item. A limb takes 2^31 additions below 2^32, one of each term at the most: carries are propagated once, at the row's
 * end, and in longer rows after each item too.
 */
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/dot/dot.cuh"
#include "kernels/cuda/dot/dot.h"
#include "kernels/cuda/exact/exact_format.cuh"
#include "oracles/super_round.h"

enum {
  BASE = -2148,
  LIMBS = 136, /* to 2^2112 and beyond, a sign included */
  NAN_TERMS = LIMBS,
  POSITIVE,
  NEGATIVE,
  OTHERS,
  TERMS, /* counts, as struct fold_super has them */
  WORDS,
  THREADS = 32,
  AHEAD = 8, /* pairs of terms that a lane loads before it uses the first */
  SHORTEST = 1 << 10,
  LONGEST_STRETCH = 1 << 13,
  ITEMS = 1 << 10, /* some seven warps for each multiprocessor of an H200 */
  LONGEST = 1 << 30
};

typedef unsigned long long word;

/* A finite f64 is `significand` 2^exponent. */
static __device__ __forceinline__ uint64_t significand_of(double x, int *exponent) {
  const uint64_t bits = (uint64_t)__double_as_longlong(x) & 0x7fffffffffffffffu;
  const int field = (int)(bits >> 52);
  *exponent = (field ? field : 1) - 1075;
  return (bits & 0xfffffffffffffu) | (field ? 0x10000000000000u : 0);
}

/* The limbs that products of dtype D touch. As a number of f64, a finite element is 53 bits from 2^LOWEST to 2^HIGHEST on. */
template <int D>
struct column {
  typedef exact_format<D> format;
  static const int LOWEST = format::BASE - (D == FOLD_F64 ? 0 : 52), HIGHEST = (1 << (format::FIELD - 1)) - 1 - 52;
  static const int FIRST = (2 * LOWEST - BASE) / 32, MANY = (2 * HIGHEST - BASE) / 32 + 5 - FIRST;
};

/* Which of the counts a product is for. */
enum { IS_NAN = 1, IS_POSITIVE = 2, IS_NEGATIVE = 4, IS_OTHER = 8 };

/* Adds to the lane's column, whose limb k is 32 words from limb k + 1; returns what the product counts as. */
static __device__ unsigned add_product(word *limbs, double x, double y) {
  const double plain = x * y;
  if (isnan(plain)) return IS_NAN;
  if (isinf(x) || isinf(y)) return plain < 0 ? IS_NEGATIVE : IS_POSITIVE;
  const bool minus = (__double_as_longlong(x) ^ __double_as_longlong(y)) < 0;
  if (x == 0 || y == 0) return minus ? 0 : IS_OTHER;
  int ex, ey;
  const uint64_t mx = significand_of(x, &ex), my = significand_of(y, &ey);
  const uint64_t low = mx * my, high = __umul64hi(mx, my);
  const int at = ex + ey - BASE, shift = at & 31;
  word *limb = limbs + (at >> 5) * THREADS;
  /* 106 bits, shifted by less than 32: five chunks. */
  const uint64_t a = low << shift, b = high << shift | (shift ? low >> (64 - shift) : 0);
  const uint64_t c = shift ? high >> (64 - shift) : 0;
  const word chunks[5] = {a & 0xffffffff, a >> 32, b & 0xffffffff, b >> 32, c};
  word sums[5];
#pragma unroll
  for (int k = 0; k < 5; k++) sums[k] = limb[k * THREADS] + (minus ? 0 - chunks[k] : chunks[k]); /* modulo 2^64 */
#pragma unroll
  for (int k = 0; k < 5; k++) limb[k * THREADS] = sums[k];
  return IS_OTHER;
}

/* Adds the products of terms [begin, end) of x and y: limbs, not normalised, and counts. */
template <int D>
static __device__ void add_stretch(word *words, word *columns, const typename fold_element<D>::stored *x,
                                   const typename fold_element<D>::stored *y, size_t begin, size_t end) {
  typedef fold_element<D> E;
  typedef column<D> C;
  const unsigned lane = threadIdx.x;
  for (int k = 0; k < C::MANY; k++) columns[k * THREADS + lane] = 0;
  word *mine = columns + lane - C::FIRST * THREADS;
  unsigned seen = 0;
  for (size_t first = begin + lane; first < end; first += AHEAD * THREADS) {
    typename E::stored a[AHEAD], b[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (first + k * THREADS < end) a[k] = x[first + k * THREADS], b[k] = y[first + k * THREADS];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (first + k * THREADS < end) seen |= add_product(mine, (double)E::widen(a[k]), (double)E::widen(b[k]));
  }
  for (int k = lane; k < WORDS; k += THREADS) words[k] = 0;
  __syncwarp();
  for (int k = lane; k < C::MANY; k += THREADS) {
    word sum = 0;
    for (unsigned j = 0; j < THREADS; j++) sum += columns[k * THREADS + (lane + j) % THREADS];
    words[C::FIRST + k] = sum;
  }
  if (seen & IS_NAN) words[NAN_TERMS] = 1;
  if (seen & IS_POSITIVE) words[POSITIVE] = 1;
  if (seen & IS_NEGATIVE) words[NEGATIVE] = 1;
  if (seen & IS_OTHER) words[OTHERS] = 1;
  if (lane == 0) words[TERMS] = end - begin;
  __syncwarp();
}

template <int D>
static __global__ void __launch_bounds__(THREADS)
    exact_kernel(dot_plan plan, const typename fold_element<D>::stored *in,
                 const typename fold_element<D>::stored *other, void *out, unsigned *counters, word *states) {
  __shared__ word words[WORDS], columns[column<D>::MANY * THREADS];
  for (size_t item = blockIdx.x; item < plan.rows * plan.items; item += gridDim.x) {
    const size_t row = item / plan.items, begin = item % plan.items * plan.stretch;
    const size_t end = plan.cols - begin < plan.stretch ? plan.cols : begin + plan.stretch;
    add_stretch<D>(words, columns, in + row * plan.cols, other + row * plan.cols, begin, end);
    if (plan.cols > LONGEST) {
      if (threadIdx.x == 0) fold_limbs_normalise((int64_t *)words, LIMBS);
      __syncwarp();
    }
    if (plan.items > 1) {
      word *state = states + row * WORDS;
      for (int k = threadIdx.x; k < WORDS; k += THREADS)
        if (words[k]) atomicAdd(&state[k], words[k]);
      __syncthreads();
      if (!arrive_last(&counters[row], (unsigned)plan.items)) continue;
      for (int k = threadIdx.x; k < WORDS; k += THREADS) words[k] = __ldcg(&state[k]);
      __syncwarp();
    }
    if (threadIdx.x == 0) {
      fold_limbs_normalise((int64_t *)words, LIMBS);
      fold_bits_store(
          (enum fold_dtype)D, out, row,
          fold_limbs_close((const int64_t *)words, LIMBS, BASE, (const int64_t *)words + LIMBS, (enum fold_dtype)D));
    }
    __syncwarp();
  }
}

/* As long as a small number of rows allows: each item has a fixed cost, but a GPU needs many of them. No bit depends on
 * it. */
static size_t stretch_of(const struct fold_call *call) {
  const size_t together = AHEAD * THREADS, each = call->rows * call->cols / ITEMS / together * together;
  return each < SHORTEST ? SHORTEST : each > LONGEST_STRETCH ? LONGEST_STRETCH : each;
}

extern "C" size_t fold_cuda_dot_exact_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct dot_plan plan;
  if (dot_plan_of(call, "", THREADS, stretch_of(call), &plan).code != FOLD_OK) return FOLD_SCRATCH_ZEROED;
  return FOLD_SCRATCH_ZEROED + (plan.items > 1 ? plan.rows * WORDS * sizeof(word) : 0);
}

extern "C" fold_status fold_cuda_dot_exact(const struct fold_subject *subject, const struct fold_call *call) {
  struct dot_plan plan;
  FOLD_TRY(dot_plan_of(call, subject->name, THREADS, stretch_of(call), &plan));
  if (plan.items > LONGEST || plan.stretch > LONGEST)
    return fold_error(FOLD_UNSUPPORTED, "%s: rows of %zu are too long", subject->name, plan.cols);
  if (call->rows == 0) return fold_ok();
  word *states = (word *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  cudaStream_t stream = (cudaStream_t)call->stream;
  if (plan.items > 1) FOLD_CUDA_TRY(cudaMemsetAsync(states, 0, plan.rows * WORDS * sizeof *states, stream));
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef fold_element<decltype(d)::value> E;
    exact_kernel<decltype(d)::value><<<plan.blocks, THREADS, 0, stream>>>(plan, (const typename E::stored *)call->in[0],
                                                                          (const typename E::stored *)call->in[1],
                                                                          call->out, (unsigned *)call->scratch, states);
    return fold_cuda_launched("dot/exact");
  });
}
