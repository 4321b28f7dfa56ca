/* peers_thrust.cu: thrust::reduce on the call's stream. It allocates, waits and returns the value to the host; a kernel
 * of one thread puts it where the call wants it.
 *
 * Order: Thrust's, in effect CUB's. Claims: none is documented.
 */
#include "kernels/cuda/peers/peers.cuh"

#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

#include <new>

template <class T>
__global__ void store_kernel(T *out, T value) {
  *out = value;
}

template <class I, class Op, class W>
static fold_status reduce_rows(const struct fold_call *call, I io, Op op, W first) {
  cudaStream_t stream = (cudaStream_t)call->stream;
  for (size_t row = 0; row < call->rows; row++) {
    auto in = io.in(peer_row_in(call, row));
    W value = thrust::reduce(thrust::cuda::par.on(stream), in, in + call->cols, first, op);
    store_kernel<<<1, 1, 0, stream>>>((typename I::stored *)peer_row_out(call, row), io.round(value));
    FOLD_TRY(fold_cuda_launched("store_kernel"));
  }
  return fold_ok();
}

extern "C" fold_status fold_peer_thrust(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(peer_check(call, "thrust::reduce", PEER_MOST_ROWS));
  FOLD_TRY(peer_check_stream(call, "thrust::reduce"));
  try {
    return peer_dispatch(call, [&](auto io, auto op, auto first) { return reduce_rows(call, io, op, first); });
  } catch (const thrust::system_error &error) {
    (void)cudaGetLastError();
    return fold_error(FOLD_ENVIRONMENT, "thrust::reduce: %s (CUDA error %d)", error.what(), error.code().value());
  } catch (const std::bad_alloc &error) {
    (void)cudaGetLastError();
    return fold_error(FOLD_NO_MEMORY, "thrust::reduce: %s", error.what());
  }
}
