/* gemm_plan.cuh: a call of a matrix product as its kernels see it: which factor is which, how they lie, and how k is cut. */
#ifndef FOLD_GEMM_PLAN_CUH
#define FOLD_GEMM_PLAN_CUH

#include "kernels/cuda/gemm/gemm.cuh"
#include "model/problem.h"
#include "oracles/segments.h"

/* A call as the kernel sees it, before the tile is chosen. */
struct gemm_product {
  gemm_plan plan;
  const void *a, *b;
};

static inline size_t gemm_ceiling(size_t n, size_t d) { return n / d + (n % d != 0); }

static inline void gemm_cut(gemm_plan *plan) {
  size_t length;
  const size_t count = fold_segments_of(plan->k, &length);
  plan->segment = (unsigned)length;
  plan->segments = count == 1 ? 1 : (unsigned)gemm_ceiling(plan->k, length); /* those that have terms */
}

static inline void gemm_change_places(gemm_product *p) {
  gemm_plan *const plan = &p->plan;
  const gemm_plan was = *plan;
  const void *const a = p->a;
  p->a = p->b;
  p->b = a;
  plan->m = was.n, plan->n = was.m;
  plan->a_b = was.b_b, plan->a_m = was.b_n, plan->a_k = was.b_k;
  plan->b_b = was.a_b, plan->b_n = was.a_m, plan->b_k = was.a_k;
  plan->out_m = was.out_n, plan->out_n = was.out_m;
}

static inline size_t gemm_distance(ptrdiff_t stride) { return (size_t)(stride < 0 ? -stride : stride); }

static inline gemm_lie gemm_lie_of(const void *first, size_t size, ptrdiff_t across, ptrdiff_t along, ptrdiff_t batch) {
  if (across != 1) return gemm_distance(along) < gemm_distance(across) ? GEMM_ALONG_K : GEMM_ACROSS;
  const size_t lines = (uintptr_t)first | gemm_distance(along) * size | gemm_distance(batch) * size;
  return lines % 16 == 0 ? GEMM_VECTORS : GEMM_ACROSS;
}

static inline gemm_product gemm_product_of(const struct fold_call *call) {
  ptrdiff_t a[FOLD_AXES], b[FOLD_AXES];
  fold_call_strides(call, 0, a);
  fold_call_strides(call, 1, b);
  gemm_product p = {};
  p.plan.m = call->shape.m, p.plan.k = (unsigned)call->shape.k;
  p.plan.n = fold_extent(call->problem, &call->shape, FOLD_N);
  p.plan.batches = fold_extent(call->problem, &call->shape, FOLD_B);
  p.plan.a_b = a[FOLD_B], p.plan.a_m = a[FOLD_M], p.plan.a_k = a[FOLD_K];
  p.plan.b_b = b[FOLD_B], p.plan.b_k = b[FOLD_K], p.plan.b_n = b[FOLD_N];
  p.plan.out_m = (ptrdiff_t)p.plan.n, p.plan.out_n = 1;
  p.a = call->in[0], p.b = call->in[1];
  if (p.plan.n < p.plan.m && p.plan.n <= 64) gemm_change_places(&p);
  const size_t size = fold_dtype_size(call->dtype);
  p.plan.a_lie = gemm_lie_of(p.a, size, p.plan.a_m, p.plan.a_k, p.plan.a_b);
  p.plan.b_lie = gemm_lie_of(p.b, size, p.plan.b_n, p.plan.b_k, p.plan.b_b);
  gemm_cut(&p.plan);
  return p;
}

/* Whether the kernels take the call: terms are counted in 32 bits. */
static inline fold_status gemm_check(const char *name, const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if ((uintptr_t)call->in[1] % fold_dtype_size(call->dtype))
    return fold_error(FOLD_BAD_INPUT, "other: address %p is not aligned to the element", call->in[1]);
  if (call->shape.k >> 31) return fold_error(FOLD_UNSUPPORTED, "%s: 2^31 terms or more", name);
  return fold_ok();
}

#endif
