/* peers.cuh: a call in the terms of Thrust and CUB: iterators that widen and round, operators, first values.
 *
 * f32 and f64 go in and out as plain pointers and sums and products by CCCL's own operators, so that a peer takes the
 * path that it takes for everybody. Used by peers_*.cu.
 */
#ifndef FOLD_PEERS_CUH
#define FOLD_PEERS_CUH

#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <thrust/iterator/transform_iterator.h>

#include "common.cuh"
#include "dispatch.cuh"
#include "peers.h"

#define PEER_MOST_ROWS 1024

template <int D>
struct peer_widen {
  __host__ __device__ float operator()(uint16_t h) const {
#ifdef __CUDA_ARCH__
    return fold_element<D>::widen(h);
#else
    return D == FOLD_F16 ? fold_f16_to_f32(h) : fold_bf16_to_f32(h);
#endif
  }
};

static __host__ __device__ inline uint16_t peer_narrow(int dtype, float x) {
  return dtype == FOLD_F16 ? fold_f32_to_f16(x) : fold_f32_to_bf16(x);
}

/* An output that rounds what is assigned. Its value type is float: with Thrust's transform_output_iterator the
 * segmented sum casts its first value to the 16-bit pattern's integer type, so that -infinity becomes 0. It moves as
 * every random-access iterator does, for a peer may move it: the segmented sum of CCCL 3.6 by +=. */
template <int D>
struct peer_rounding {
  struct place {
    uint16_t *at;
    __host__ __device__ const place &operator=(float x) const {
      *at = peer_narrow(D, x);
      return *this;
    }
  };
  typedef cuda::std::random_access_iterator_tag iterator_category;
  typedef float value_type;
  typedef ptrdiff_t difference_type;
  typedef void pointer;
  typedef place reference;
  uint16_t *at;
  __host__ __device__ place operator*() const { return place{at}; }
  __host__ __device__ place operator[](ptrdiff_t i) const { return place{at + i}; }
  __host__ __device__ peer_rounding &operator+=(ptrdiff_t i) {
    at += i;
    return *this;
  }
  __host__ __device__ peer_rounding &operator-=(ptrdiff_t i) { return *this += -i; }
  __host__ __device__ peer_rounding &operator++() { return *this += 1; }
  __host__ __device__ peer_rounding &operator--() { return *this += -1; }
  __host__ __device__ peer_rounding operator++(int) { return peer_rounding{at++}; }
  __host__ __device__ peer_rounding operator--(int) { return peer_rounding{at--}; }
  __host__ __device__ friend peer_rounding operator+(peer_rounding a, ptrdiff_t i) { return a += i; }
  __host__ __device__ friend peer_rounding operator+(ptrdiff_t i, peer_rounding a) { return a += i; }
  __host__ __device__ friend peer_rounding operator-(peer_rounding a, ptrdiff_t i) { return a -= i; }
  __host__ __device__ friend ptrdiff_t operator-(peer_rounding a, peer_rounding b) { return a.at - b.at; }
  __host__ __device__ friend bool operator==(peer_rounding a, peer_rounding b) { return a.at == b.at; }
  __host__ __device__ friend bool operator!=(peer_rounding a, peer_rounding b) { return a.at != b.at; }
  __host__ __device__ friend bool operator<(peer_rounding a, peer_rounding b) { return a.at < b.at; }
  __host__ __device__ friend bool operator>(peer_rounding a, peer_rounding b) { return a.at > b.at; }
  __host__ __device__ friend bool operator<=(peer_rounding a, peer_rounding b) { return a.at <= b.at; }
  __host__ __device__ friend bool operator>=(peer_rounding a, peer_rounding b) { return a.at >= b.at; }
};

template <int D>
struct peer_io {
  typedef thrust::transform_iterator<peer_widen<D>, const uint16_t *, float, float> input;
  static input in(const void *p) { return input((const uint16_t *)p, peer_widen<D>()); }
  static peer_rounding<D> out(void *p) { return peer_rounding<D>{(uint16_t *)p}; }
};
template <>
struct peer_io<FOLD_F32> {
  static const float *in(const void *p) { return (const float *)p; }
  static float *out(void *p) { return (float *)p; }
};
template <>
struct peer_io<FOLD_F64> {
  static const double *in(const void *p) { return (const double *)p; }
  static double *out(void *p) { return (double *)p; }
};

/* The larger and the smaller of two, as common.cuh has them; their host side is never called. */
template <int O, class W>
struct peer_extreme {
  __host__ __device__ W operator()(W a, W b) const {
#ifdef __CUDA_ARCH__
    return fold_operation<O, W>::join(a, b);
#else
    return O == FOLD_MAX ? (a < b ? b : a) : (b < a ? b : a);
#endif
  }
};

template <int O, class W>
struct peer_operation {
  typedef peer_extreme<O, W> type;
  static W first() { return O == FOLD_MAX ? (W)-INFINITY : (W)INFINITY; }
};
template <class W>
struct peer_operation<FOLD_SUM, W> {
  typedef cuda::std::plus<W> type;
  static W first() { return 0; }
};
template <class W>
struct peer_operation<FOLD_PROD, W> {
  typedef cuda::std::multiplies<W> type;
  static W first() { return 1; }
};

/* What every peer refuses: pointers off the element, somebody else's launch, too many rows for a call each. */
static inline fold_status peer_check(const struct fold_call *call, const char *name, size_t most_rows) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s chooses its launch itself", name);
  if (call->rows > most_rows)
    return fold_error(FOLD_UNSUPPORTED, "%s: %zu rows; it makes one at a time, up to %zu", name, call->rows, most_rows);
  return fold_ok();
}

/* A stream that is being recorded into a graph takes no call that allocates or waits. */
static inline fold_status peer_check_stream(const struct fold_call *call, const char *name) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  FOLD_CUDA_TRY(cudaStreamIsCapturing((cudaStream_t)call->stream, &status));
  if (status == cudaStreamCaptureStatusNone) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s allocates or waits, and cannot be recorded into a graph", name);
}

/* Row r of the call's input and output. */
static inline const void *peer_row_in(const struct fold_call *call, size_t r) {
  return (const char *)call->in + r * call->cols * fold_dtype_size(call->dtype);
}
static inline void *peer_row_out(const struct fold_call *call, size_t r) {
  return (char *)call->out + r * fold_dtype_size(call->dtype);
}

#endif
