/* dot_exact.cu: the subject dot/exact: exact products, summed by a warp (exact_product.cuh).
 *
 * Promised: the exact sum of the exact products, rounded once; special values by the policy of oracles/exact.c.
 *
 * A block is a warp. At an item's end the limbs go to the row's in scratch, or are closed where the row is one item. Carries are propagated
 * once, at the row's end, and in longer rows after each item too.
 */
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/dot/dot.cuh"
#include "kernels/cuda/dot/dot.h"
#include "kernels/cuda/exact/exact_product.cuh"

enum {
  THREADS = 32,
  SHORTEST = 1 << 10,
  LONGEST_STRETCH = 1 << 13,
  ITEMS = 1 << 10, /* some seven warps for each multiprocessor of an H200 */
  LONGEST = 1 << 30
};

template <int D>
static __global__ void __launch_bounds__(THREADS)
    exact_kernel(dot_plan plan, const typename fold_element<D>::stored *in,
                 const typename fold_element<D>::stored *other, void *out, unsigned *counters, exact_u64 *states) {
  __shared__ exact_u64 words[EXACT_PRODUCT_WORDS], columns[exact_column<D>::MANY * THREADS];
  for (size_t item = blockIdx.x; item < plan.rows * plan.items; item += gridDim.x) {
    const size_t row = item / plan.items, begin = item % plan.items * plan.stretch;
    const size_t end = plan.cols - begin < plan.stretch ? plan.cols : begin + plan.stretch;
    exact_add_products<D>(words, columns, in + row * plan.cols, 1, other + row * plan.cols, 1, begin, end);
    if (plan.cols > LONGEST) {
      if (threadIdx.x == 0) fold_limbs_normalise((int64_t *)words, EXACT_PRODUCT_LIMBS);
      __syncwarp();
    }
    if (plan.items > 1) {
      exact_u64 *state = states + row * EXACT_PRODUCT_WORDS;
      for (int k = threadIdx.x; k < EXACT_PRODUCT_WORDS; k += THREADS)
        if (words[k]) atomicAdd(&state[k], words[k]);
      __syncthreads();
      if (!arrive_last(&counters[row], (unsigned)plan.items)) continue;
      for (int k = threadIdx.x; k < EXACT_PRODUCT_WORDS; k += THREADS) words[k] = __ldcg(&state[k]);
      __syncwarp();
    }
    if (threadIdx.x == 0) fold_bits_store((enum fold_dtype)D, out, row, exact_products_close<D>(words));
    __syncwarp();
  }
}

/* As long as a small number of rows allows: each item has a fixed cost, but a GPU needs many of them. No bit depends on
 * it. */
static size_t stretch_of(const struct fold_call *call) {
  const size_t together = EXACT_PRODUCT_AHEAD * THREADS, each = call->rows * call->cols / ITEMS / together * together;
  return each < SHORTEST ? SHORTEST : each > LONGEST_STRETCH ? LONGEST_STRETCH : each;
}

extern "C" size_t fold_cuda_dot_exact_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct dot_plan plan;
  if (dot_plan_of(call, "", THREADS, stretch_of(call), &plan).code != FOLD_OK) return FOLD_SCRATCH_ZEROED;
  return FOLD_SCRATCH_ZEROED + (plan.items > 1 ? plan.rows * EXACT_PRODUCT_WORDS * sizeof(exact_u64) : 0);
}

extern "C" fold_status fold_cuda_dot_exact(const struct fold_subject *subject, const struct fold_call *call) {
  struct dot_plan plan;
  FOLD_TRY(dot_plan_of(call, subject->name, THREADS, stretch_of(call), &plan));
  if (plan.items > LONGEST || plan.stretch > LONGEST)
    return fold_error(FOLD_UNSUPPORTED, "%s: rows of %zu are too long", subject->name, plan.cols);
  if (call->rows == 0) return fold_ok();
  exact_u64 *states = (exact_u64 *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  cudaStream_t stream = (cudaStream_t)call->stream;
  if (plan.items > 1)
    FOLD_CUDA_TRY(cudaMemsetAsync(states, 0, plan.rows * EXACT_PRODUCT_WORDS * sizeof *states, stream));
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef fold_element<decltype(d)::value> E;
    exact_kernel<decltype(d)::value><<<plan.blocks, THREADS, 0, stream>>>(plan, (const typename E::stored *)call->in[0],
                                                                          (const typename E::stored *)call->in[1],
                                                                          call->out, (unsigned *)call->scratch, states);
    return fold_cuda_launched("dot/exact");
  });
}
