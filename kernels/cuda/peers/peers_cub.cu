/* peers_cub.cu: cub::DeviceReduce as it comes, and cub::DeviceSegmentedReduce.
 *
 * Order: CUB's, which depends on its version, the GPU's tuning and the pointer's alignment (a vectorised and a scalar
 * load path). Claims: what CUB documents: run_to_run.
 */
#include "kernels/cuda/peers/peers.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

extern "C" int fold_peer_cccl_version(void) { return CCCL_VERSION; }

/* CUB's convention: with temp NULL it only says how many bytes it needs. */
template <class I, class Op, class W>
static cudaError_t reduce_row(void *temp, size_t &nbytes, const struct fold_call *call, size_t row, I io, Op op,
                              W first) {
  return cub::DeviceReduce::Reduce(temp, nbytes, io.in(peer_row_in(call, row)), io.out(peer_row_out(call, row)),
                                   call->cols, op, first, (cudaStream_t)call->stream);
}

struct row_start {
  int64_t cols;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * cols; }
};

template <class I, class Op, class W>
static cudaError_t reduce_segments(void *temp, size_t &nbytes, const struct fold_call *call, I io, Op op, W first) {
  auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), row_start{(int64_t)call->cols});
  return cub::DeviceSegmentedReduce::Reduce(temp, nbytes, io.in(call->in[0]), io.out(call->out), (int64_t)call->rows,
                                            starts, starts + 1, op, first, (cudaStream_t)call->stream);
}

/* Bytes of scratch that CUB needs, or just the zeroed part if CUB cannot even say that (no GPU): the run will then
 * fail. */
static size_t scratch_for(cudaError_t error, size_t nbytes) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return FOLD_SCRATCH_ZEROED + (error == cudaSuccess ? nbytes : 0);
}

extern "C" size_t fold_peer_cub_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t nbytes = 0, need = 0;
  (void)peer_dispatch(call, [&](auto io, auto op, auto first) {
    const cudaError_t error = reduce_row(NULL, nbytes, call, 0, io, op, first);
    need = scratch_for(error, nbytes);
    return fold_ok();
  });
  return need;
}

extern "C" fold_status fold_peer_cub(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(peer_check(call, "cub::DeviceReduce", PEER_MOST_ROWS));
  return peer_dispatch(call, [&](auto io, auto op, auto first) {
    size_t nbytes = 0;
    FOLD_CUDA_TRY(reduce_row(NULL, nbytes, call, 0, io, op, first));
    for (size_t row = 0; row < call->rows; row++)
      FOLD_CUDA_TRY(reduce_row((char *)call->scratch + FOLD_SCRATCH_ZEROED, nbytes, call, row, io, op, first));
    return fold_ok();
  });
}

extern "C" size_t fold_peer_cub_segmented_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t nbytes = 0, need = 0;
  (void)peer_dispatch(call, [&](auto io, auto op, auto first) {
    const cudaError_t error = reduce_segments(NULL, nbytes, call, io, op, first);
    need = scratch_for(error, nbytes);
    return fold_ok();
  });
  return need;
}

extern "C" fold_status fold_peer_cub_segmented(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(peer_check(call, "cub::DeviceSegmentedReduce", SIZE_MAX));
  if (!call->rows) return fold_ok();
  return peer_dispatch(call, [&](auto io, auto op, auto first) {
    size_t nbytes = 0;
    FOLD_CUDA_TRY(reduce_segments(NULL, nbytes, call, io, op, first));
    FOLD_CUDA_TRY(reduce_segments((char *)call->scratch + FOLD_SCRATCH_ZEROED, nbytes, call, io, op, first));
    return fold_ok();
  });
}
