/* peers_cub.cu: cub::DeviceReduce as it comes, and cub::DeviceSegmentedReduce.
 *
 * Order: CUB's, which depends on its version, the GPU's tuning and the pointer's alignment (a vectorised and a scalar
 * load path). Claims: what CUB documents: run_to_run.
 */
#include "peers.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

extern "C" int fold_peer_cccl_version(void) { return CCCL_VERSION; }

/* CUB's convention: with temp NULL it only says how many bytes it needs. */
template <int D, int O>
static cudaError_t reduce_row(void *temp, size_t &nbytes, const struct fold_call *call, size_t row) {
  typedef typename fold_element<D>::wide W;
  typedef peer_operation<O, W> operation;
  return cub::DeviceReduce::Reduce(temp, nbytes, peer_io<D>::in(peer_row_in(call, row)),
                                   peer_io<D>::out(peer_row_out(call, row)), call->cols, typename operation::type(),
                                   operation::first(), (cudaStream_t)call->stream);
}

struct row_start {
  int64_t cols;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * cols; }
};

template <int D, int O>
static cudaError_t reduce_segments(void *temp, size_t &nbytes, const struct fold_call *call) {
  typedef typename fold_element<D>::wide W;
  typedef peer_operation<O, W> operation;
  auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), row_start{(int64_t)call->cols});
  return cub::DeviceSegmentedReduce::Reduce(temp, nbytes, peer_io<D>::in(call->in), peer_io<D>::out(call->out),
                                            (int64_t)call->rows, starts, starts + 1, typename operation::type(),
                                            operation::first(), (cudaStream_t)call->stream);
}

/* Bytes of scratch for CUB's own need; just the zeroed part where CUB cannot even say (no GPU): the run will tell. */
static size_t scratch_for(cudaError_t error, size_t nbytes) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return FOLD_SCRATCH_ZEROED + (error == cudaSuccess ? nbytes : 0);
}

extern "C" size_t fold_peer_cub_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t nbytes = 0, need = 0;
  (void)fold_dispatch(call, [&](auto d, auto o) {
    const cudaError_t error = reduce_row<decltype(d)::value, decltype(o)::value>(NULL, nbytes, call, 0);
    need = scratch_for(error, nbytes);
    return fold_ok();
  });
  return need;
}

extern "C" fold_status fold_peer_cub(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(peer_check(call, "cub::DeviceReduce", PEER_MOST_ROWS));
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    size_t nbytes = 0;
    FOLD_CUDA_TRY((reduce_row<D, O>(NULL, nbytes, call, 0)));
    for (size_t row = 0; row < call->rows; row++)
      FOLD_CUDA_TRY((reduce_row<D, O>((char *)call->scratch + FOLD_SCRATCH_ZEROED, nbytes, call, row)));
    return fold_ok();
  });
}

extern "C" size_t fold_peer_cub_segmented_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t nbytes = 0, need = 0;
  (void)fold_dispatch(call, [&](auto d, auto o) {
    const cudaError_t error = reduce_segments<decltype(d)::value, decltype(o)::value>(NULL, nbytes, call);
    need = scratch_for(error, nbytes);
    return fold_ok();
  });
  return need;
}

extern "C" fold_status fold_peer_cub_segmented(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(peer_check(call, "cub::DeviceSegmentedReduce", SIZE_MAX));
  if (!call->rows) return fold_ok();
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    size_t nbytes = 0;
    FOLD_CUDA_TRY((reduce_segments<D, O>(NULL, nbytes, call)));
    FOLD_CUDA_TRY((reduce_segments<D, O>((char *)call->scratch + FOLD_SCRATCH_ZEROED, nbytes, call)));
    return fold_ok();
  });
}
