/* gemm.cu: the subjects gemm/canonical: products in an order of k alone (oracles/segments.h).
 *
 * Claims: replays gemm/canonical, bounded, run_to_run, fresh_process, launch_, alignment_, batch_ and stride_invariant.
 *
 * The ladder, f32 on an H200, 4,096 x 4,096 x 4,096, as part of cuBLAS's speed (sgemm 50.7 TFLOP/s):
 *   gemm_plain.cu                                                          one thread a result
 *   tiles of 128 x 128 by 256 threads, BK = 16, loaded through registers   0.73
 *   copies to shared memory that pass no register, two blocks at once      0.76
 *   places of copies known at compile time                                 0.80
 *   BK = 32                                                                0.83; 0.85 if neither factor lies along k
 * What limits it: 8 x 8 results a thread need 64 bytes of shared memory a term for 64 FMA, which takes a multiprocessor's shared memory as
 * long as its FMA. Threads with 16 x 8 results need less, but leave a multiprocessor eight warps: 0.80.
 * One vector times a matrix (gemm_vector.cuh), part of what a plain read of the matrix reaches, 16,384 x 16,384, along k and across: f32 0.87, 0.90;
 * f64 0.90, 0.98; bf16 0.80, 0.81. cuBLAS in the same run: f32 0.90, 0.87; f64 0.95, 0.92; bf16 0.88, 0.89.
 * f64 by tensor cores (gemm_mma.cuh): 36 TFLOP/s, 0.75 of dgemm, which uses them too; by FMA 20.
 */
#include "kernels/cuda/gemm/gemm.h"

#include "kernels/cuda/gemm/gemm_run.cuh"

static const struct {
  gemm_scratch_of *scratch;
  gemm_run_of *run;
} of_dtype[FOLD_DTYPES] = {{gemm_scratch_f16, gemm_run_f16},
                           {gemm_scratch_bf16, gemm_run_bf16},
                           {gemm_scratch_f32, gemm_run_f32},
                           {gemm_scratch_f64, gemm_run_f64}};
static_assert(FOLD_F16 == 0 && FOLD_BF16 == 1 && FOLD_F32 == 2 && FOLD_F64 == 3, "the order of the table");

extern "C" size_t fold_cuda_gemm_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t bytes = FOLD_SCRATCH_ZEROED;
  gemm_product p = gemm_product_of(call);
  if (p.plan.m * p.plan.n * p.plan.batches > 0) (void)of_dtype[call->dtype].scratch(&p, call, &bytes);
  return bytes;
}

extern "C" fold_status fold_cuda_gemm(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(gemm_check(subject->name, call));
  gemm_product p = gemm_product_of(call);
  if (p.plan.m * p.plan.n * p.plan.batches == 0) return fold_ok();
  return of_dtype[call->dtype].run(&p, subject->name, call);
}
