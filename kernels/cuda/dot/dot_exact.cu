/* dot_exact.cu: the subject dot/exact: products as integers, added to limbs of 32 bits over the whole range of products of two f64.
 *
 * Promised: the exact sum of the exact products, rounded once; special values by the policy of oracles/exact.c. Every addition is one of
 * integers, so that no bit depends on who comes first.
 *
 * A product is an integer of 106 bits times 2^(ex + ey) >= 2^-2148: shifted to its place it touches up to five limbs. A block
 * adds to limbs in shared memory, by atomics; at its end carries are propagated, and the limbs go to the row's in scratch, or
 * are closed where the row is one item. A limb takes 2^31 additions below 2^32: an item has fewer terms, a row fewer items.
 *
 * Correct first: contention for the limbs that similar products share bounds its speed.
 */
#include "cuda/dispatch.cuh"
#include "dot.cuh"
#include "dot.h"
#include "super_round.h"

enum {
  BASE = -2148,
  LIMBS = 136, /* to 2^2112 and beyond, a sign included */
  NAN_TERMS = LIMBS,
  POSITIVE,
  NEGATIVE,
  OTHERS,
  TERMS, /* counts, as struct fold_super has them */
  WORDS,
  STRETCH = 1 << 16,
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

/* limb += or -= chunk: modulo 2^64, as two's complement. */
static __device__ __forceinline__ void add_chunk(word *limb, uint64_t chunk, bool minus) {
  if (chunk) atomicAdd(limb, minus ? 0 - (word)chunk : (word)chunk);
}

/* A count only matters as zero or not; so few of them are contended for. */
static __device__ __forceinline__ void note(word *count) {
  if (*(volatile word *)count == 0) atomicAdd(count, 1ull);
}

static __device__ void add_product(word *words, double x, double y) {
  const double plain = x * y;
  if (isnan(plain) || isinf(x) || isinf(y)) {
    note(&words[isnan(plain) ? NAN_TERMS : plain < 0 ? NEGATIVE : POSITIVE]);
    return;
  }
  const bool minus = (__double_as_longlong(x) ^ __double_as_longlong(y)) < 0;
  if (x == 0 || y == 0) {
    if (!minus) note(&words[OTHERS]);
    return;
  }
  int ex, ey;
  const uint64_t mx = significand_of(x, &ex), my = significand_of(y, &ey);
  const uint64_t low = mx * my, high = __umul64hi(mx, my);
  const int at = ex + ey - BASE, shift = at & 31;
  word *limb = words + (at >> 5);
  note(&words[OTHERS]);
  /* 106 bits, shifted by less than 32: five chunks. */
  const uint64_t a = low << shift, b = high << shift | (shift ? low >> (64 - shift) : 0);
  const uint64_t c = shift ? high >> (64 - shift) : 0;
  add_chunk(limb, a & 0xffffffff, minus);
  add_chunk(limb + 1, a >> 32, minus);
  add_chunk(limb + 2, b & 0xffffffff, minus);
  add_chunk(limb + 3, b >> 32, minus);
  add_chunk(limb + 4, c, minus);
}

template <int D>
static __global__ void __launch_bounds__(DOT_THREADS)
    exact_kernel(dot_plan plan, const typename fold_element<D>::stored *in,
                 const typename fold_element<D>::stored *other, void *out, unsigned *counters, word *states) {
  typedef fold_element<D> E;
  __shared__ word words[WORDS];
  for (size_t item = blockIdx.x; item < plan.rows * plan.items; item += gridDim.x) {
    const size_t row = item / plan.items, begin = item % plan.items * plan.stretch;
    const size_t end = plan.cols - begin < plan.stretch ? plan.cols : begin + plan.stretch;
    for (int k = threadIdx.x; k < WORDS; k += DOT_THREADS) words[k] = 0;
    __syncthreads();
    for (size_t i = begin + threadIdx.x; i < end; i += DOT_THREADS)
      add_product(words, (double)E::widen(in[row * plan.cols + i]), (double)E::widen(other[row * plan.cols + i]));
    __syncthreads();
    if (threadIdx.x == 0) {
      words[TERMS] = end - begin;
      fold_limbs_normalise((int64_t *)words, LIMBS);
    }
    __syncthreads();
    if (plan.items > 1) {
      word *state = states + row * WORDS;
      for (int k = threadIdx.x; k < WORDS; k += DOT_THREADS)
        if (words[k]) atomicAdd(&state[k], words[k]);
      __syncthreads();
      if (!arrive_last(&counters[row], (unsigned)plan.items)) continue;
      for (int k = threadIdx.x; k < WORDS; k += DOT_THREADS) words[k] = __ldcg(&state[k]);
      __syncthreads();
      if (threadIdx.x == 0) fold_limbs_normalise((int64_t *)words, LIMBS);
    }
    if (threadIdx.x == 0) fold_bits_store((enum fold_dtype)D, out, row, close(words, (enum fold_dtype)D));
    __syncthreads();
  }
}

extern "C" size_t fold_cuda_dot_exact_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct dot_plan plan;
  if (dot_plan_of(call, "", STRETCH, &plan).code != FOLD_OK) return FOLD_SCRATCH_ZEROED;
  return FOLD_SCRATCH_ZEROED + (plan.items > 1 ? plan.rows * WORDS * sizeof(word) : 0);
}

extern "C" fold_status fold_cuda_dot_exact(const struct fold_subject *subject, const struct fold_call *call) {
  struct dot_plan plan;
  FOLD_TRY(dot_plan_of(call, subject->name, STRETCH, &plan));
  if (plan.items > LONGEST || plan.stretch > LONGEST)
    return fold_error(FOLD_UNSUPPORTED, "%s: rows of %zu are too long", subject->name, plan.cols);
  if (call->rows == 0) return fold_ok();
  word *states = (word *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  cudaStream_t stream = (cudaStream_t)call->stream;
  if (plan.items > 1) FOLD_CUDA_TRY(cudaMemsetAsync(states, 0, plan.rows * WORDS * sizeof *states, stream));
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef fold_element<decltype(d)::value> E;
    exact_kernel<decltype(d)::value><<<plan.blocks, DOT_THREADS, 0, stream>>>(
        plan, (const typename E::stored *)call->in, (const typename E::stored *)call->other, call->out,
        (unsigned *)call->scratch, states);
    return fold_cuda_launched("dot/exact");
  });
}
