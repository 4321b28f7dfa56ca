/* gemm_plain.cu: rung 0 of gemm/canonical: one thread a result, any shape, no plan.
 *
 * Order and claims: those of gemm.cu. A thread joins its segments as a carry runs through a binary number.
 */
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/gemm/gemm.cuh"
#include "kernels/cuda/gemm/gemm.h"
#include "kernels/cuda/gemm/gemm_plan.cuh"

enum { THREADS = 128, LEVELS = 16 };

template <int D>
static __global__ void plain_kernel(const gemm_plan plan, const typename fold_element<D>::stored *in_a,
                                    const typename fold_element<D>::stored *in_b,
                                    typename fold_element<D>::stored *out) {
  typedef fold_element<D> E;
  typedef typename E::wide W;
  const size_t results = plan.batches * plan.m * plan.n, step = (size_t)gridDim.x * blockDim.x;
  for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < results; r += step) {
    const size_t n = r % plan.n, m = r / plan.n % plan.m, batch = r / plan.n / plan.m;
    const auto *a = in_a + (ptrdiff_t)batch * plan.a_b + (ptrdiff_t)m * plan.a_m;
    const auto *b = in_b + (ptrdiff_t)batch * plan.b_b + (ptrdiff_t)n * plan.b_n;
    W level[LEVELS], value = W(0);
    for (unsigned s = 0; s < plan.segments; s++) {
      const size_t first = (size_t)s * plan.segment,
                   end = first + plan.segment < plan.k ? first + plan.segment : plan.k;
      value = W(0);
      for (size_t k = first; k < end; k++)
        value = gemm_fma(E::widen(a[(ptrdiff_t)k * plan.a_k]), E::widen(b[(ptrdiff_t)k * plan.b_k]), value);
      int l = 0;
      for (; s >> l & 1; l++) value = level[l] + value;
      level[l] = value;
    }
    for (int l = __ffs((int)plan.segments); l < LEVELS; l++)
      if (plan.segments >> l & 1) value = level[l] + value;
    out[batch * plan.m * plan.n + (ptrdiff_t)m * plan.out_m + (ptrdiff_t)n * plan.out_n] = E::narrow(value);
  }
}

extern "C" fold_status fold_cuda_gemm_plain(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(gemm_check(subject->name, call));
  const gemm_product p = gemm_product_of(call);
  const size_t results = p.plan.batches * p.plan.m * p.plan.n, most = 1 << 20;
  if (results == 0) return fold_ok();
  const unsigned threads = call->launch.block ? call->launch.block : THREADS;
  const size_t wanted = (results + threads - 1) / threads;
  const unsigned blocks = call->launch.blocks ? call->launch.blocks : (unsigned)(wanted < most ? wanted : most);
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef typename fold_element<decltype(d)::value>::stored S;
    plain_kernel<decltype(d)::value>
        <<<blocks, threads, 0, (cudaStream_t)call->stream>>>(p.plan, (const S *)p.a, (const S *)p.b, (S *)call->out);
    return fold_cuda_launched(subject->name);
  });
}
