/* peers_determinism.cu: cub::DeviceReduce with a wanted determinism, an interface of CCCL 3.1 and newer.
 *
 * Order: not_guaranteed adds by atomics, in no order; gpu_to_gpu by a reproducible accumulator. Claims: gpu_to_gpu is
 * documented to give the same bits on every GPU (so run_to_run, and it needs no order); not_guaranteed promises
 * nothing.
 * Limits: sums of f32 and f64; elsewhere CUB falls back to its default or does not compile.
 */
#include "kernels/cuda/peers/peers.cuh"

#include <cub/device/device_reduce.cuh>

#if CCCL_VERSION >= 3001000
#include <cuda/std/execution>
#include <cuda/stream_ref>

template <class Determinism>
static fold_status reduce_rows(const struct fold_call *call, const char *name, Determinism determinism) {
  FOLD_TRY(peer_check(call, name, PEER_MOST_ROWS));
  if (call->problem->op != FOLD_SUM || (call->dtype != FOLD_F32 && call->dtype != FOLD_F64))
    return fold_error(FOLD_UNSUPPORTED, "%s: sums of f32 and f64 only", name);
  FOLD_TRY(peer_check_stream(call, name));
  auto wanted =
      cuda::std::execution::env{cuda::execution::require(determinism), cuda::stream_ref{(cudaStream_t)call->stream}};
  for (size_t row = 0; row < call->rows; row++) {
    const void *in = peer_row_in(call, row);
    void *out = peer_row_out(call, row);
    cudaError_t error = call->dtype == FOLD_F32
                            ? cub::DeviceReduce::Reduce((const float *)in, (float *)out, call->cols,
                                                        cuda::std::plus<float>(), 0.0f, wanted)
                            : cub::DeviceReduce::Reduce((const double *)in, (double *)out, call->cols,
                                                        cuda::std::plus<double>(), 0.0, wanted);
    if (error != cudaSuccess) (void)cudaGetLastError();
    FOLD_TRY(fold_cuda_status(error, name));
  }
  return fold_ok();
}

extern "C" fold_status fold_peer_cub_not_guaranteed(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return reduce_rows(call, "cub::DeviceReduce not_guaranteed", cuda::execution::determinism::not_guaranteed);
}
extern "C" fold_status fold_peer_cub_gpu_to_gpu(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return reduce_rows(call, "cub::DeviceReduce gpu_to_gpu", cuda::execution::determinism::gpu_to_gpu);
}

#else

static fold_status too_old(const char *name) {
  return fold_error(FOLD_UNSUPPORTED, "%s: needs CCCL 3.1, built with %d.%d.%d (meson option cccl_include)", name,
                    CCCL_MAJOR_VERSION, CCCL_MINOR_VERSION, CCCL_PATCH_VERSION);
}
extern "C" fold_status fold_peer_cub_not_guaranteed(const struct fold_subject *, const struct fold_call *) {
  return too_old("cub::DeviceReduce not_guaranteed");
}
extern "C" fold_status fold_peer_cub_gpu_to_gpu(const struct fold_subject *, const struct fold_call *) {
  return too_old("cub::DeviceReduce gpu_to_gpu");
}

#endif
