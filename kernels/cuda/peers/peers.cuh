/* peers.cuh: a call in the terms of Thrust and CUB: iterators that widen and round, operators, first values.
 *
 * f32 and f64 go in and out as plain pointers and sums and products by CCCL's own operators, so that a peer takes the
 * path that it takes for everybody. Used by peers.cu.
 */
#ifndef FOLD_PEERS_CUH
#define FOLD_PEERS_CUH

#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/peers/peers.h"
#include "model/problem.h"

#define PEER_MOST_ROWS 1024

static __host__ __device__ inline float peer_widen_half(int dtype, uint16_t h) {
#ifdef __CUDA_ARCH__
  return dtype == FOLD_F16 ? fold_element<FOLD_F16>::widen(h) : fold_element<FOLD_BF16>::widen(h);
#else
  return dtype == FOLD_F16 ? fold_f16_to_f32(h) : fold_bf16_to_f32(h);
#endif
}
static __host__ __device__ inline uint16_t peer_narrow(int dtype, float x) {
  return dtype == FOLD_F16 ? fold_f32_to_f16(x) : fold_f32_to_bf16(x);
}

/* Converts 16 bits to float: of a type known at compile time, and of one known at run time. */
template <int D>
struct peer_widen {
  __host__ __device__ float operator()(uint16_t h) const { return peer_widen_half(D, h); }
};
struct peer_widen_any {
  int dtype;
  __host__ __device__ float operator()(uint16_t h) const { return peer_widen_half(dtype, h); }
};

/* An output that rounds what is assigned. Its value type is float: with Thrust's transform_output_iterator the
 * segmented sum casts its first value to the 16-bit pattern's integer type, so that -infinity becomes 0. It moves as
 * every random-access iterator does, for a peer may move it: the segmented sum of CCCL 3.6 by +=. */
struct peer_rounding {
  struct place {
    uint16_t *at;
    int dtype;
    __host__ __device__ const place &operator=(float x) const {
      *at = peer_narrow(dtype, x);
      return *this;
    }
  };
  typedef cuda::std::random_access_iterator_tag iterator_category;
  typedef float value_type;
  typedef ptrdiff_t difference_type;
  typedef void pointer;
  typedef place reference;
  uint16_t *at;
  int dtype;
  __host__ __device__ place operator*() const { return place{at, dtype}; }
  __host__ __device__ place operator[](ptrdiff_t i) const { return place{at + i, dtype}; }
  __host__ __device__ peer_rounding &operator+=(ptrdiff_t i) {
    at += i;
    return *this;
  }
  __host__ __device__ peer_rounding &operator-=(ptrdiff_t i) { return *this += -i; }
  __host__ __device__ peer_rounding &operator++() { return *this += 1; }
  __host__ __device__ peer_rounding &operator--() { return *this += -1; }
  __host__ __device__ peer_rounding operator++(int) { return peer_rounding{at++, dtype}; }
  __host__ __device__ peer_rounding operator--(int) { return peer_rounding{at--, dtype}; }
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

/* How elements go in and a result comes out: unchanged, or through float for 16 bits. */
template <class W>
struct peer_plain {
  typedef W stored;
  const W *in(const void *p) const { return (const W *)p; }
  W *out(void *p) const { return (W *)p; }
  W round(W x) const { return x; }
};
template <class Widen>
struct peer_half {
  typedef uint16_t stored;
  int dtype;
  Widen widen;
  thrust::transform_iterator<Widen, const uint16_t *, float, float> in(const void *p) const {
    return {(const uint16_t *)p, widen};
  }
  peer_rounding out(void *p) const { return peer_rounding{(uint16_t *)p, dtype}; }
  uint16_t round(float x) const { return peer_narrow(dtype, x); }
};

/* The larger or the smaller of two, as common.cuh has them; the host side is never called. */
template <class W>
struct peer_extreme {
  bool larger;
  __host__ __device__ W operator()(W a, W b) const {
#ifdef __CUDA_ARCH__
    return larger ? fold_larger(a, b) : fold_smaller(a, b);
#else
    return larger == (a < b) ? b : a;
#endif
  }
};

template <class W, class I, class F>
static fold_status peer_dispatch_op(enum fold_op op, I io, F f) {
  switch (op) {
    case FOLD_PROD: return f(io, cuda::std::multiplies<W>(), W(1));
    case FOLD_MAX: return f(io, peer_extreme<W>{true}, (W)-INFINITY);
    case FOLD_MIN: return f(io, peer_extreme<W>{false}, (W)INFINITY);
    default: return fold_error(FOLD_UNSUPPORTED, "operation %d is unknown", (int)op);
  }
}

/* `io` for sums, `any` for the rest. */
template <class W, class I, class J, class F>
static fold_status peer_dispatch_io(enum fold_op op, I io, J any, F f) {
  return op == FOLD_SUM ? f(io, cuda::std::plus<W>(), W(0)) : peer_dispatch_op<W>(op, any, f);
}

/* f(io, operator, first value) for the call's dtype and op. Each instance of CCCL's templates takes seconds to compile:
 * there are 10, not 16. Sums and products have CCCL's own operators, for which it has paths of its own. Max and min,
 * whose operator is ours in any case, share one with a flag; f16 and bf16, sums aside, an input with a flag for the
 * type. */
template <class F>
static fold_status peer_dispatch(const struct fold_call *call, F f) {
  const int dtype = call->dtype;
  const peer_half<peer_widen_any> any = {dtype, {dtype}};
  const peer_plain<float> f32;
  const peer_plain<double> f64;
  switch (dtype) {
    case FOLD_F16:
      return peer_dispatch_io<float>(call->problem->op, peer_half<peer_widen<FOLD_F16>>{dtype, {}}, any, f);
    case FOLD_BF16:
      return peer_dispatch_io<float>(call->problem->op, peer_half<peer_widen<FOLD_BF16>>{dtype, {}}, any, f);
    case FOLD_F32: return peer_dispatch_io<float>(call->problem->op, f32, f32, f);
    case FOLD_F64: return peer_dispatch_io<double>(call->problem->op, f64, f64, f);
    default: return fold_error(FOLD_UNSUPPORTED, "dtype %d is unknown", dtype);
  }
}

/* Refuses what no peer can do: pointers that are not aligned to the element, a launch chosen by the user, too many rows
 * for one call each. */
static inline fold_status peer_check(const struct fold_call *call, const char *name, size_t most_rows) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s chooses its launch itself", name);
  if (call->rows > most_rows)
    return fold_error(FOLD_UNSUPPORTED, "%s: %zu rows; it makes one at a time, up to %zu", name, call->rows, most_rows);
  return fold_ok();
}

/* Refuses a stream that is being recorded into a graph: such a stream takes no call that allocates or waits. */
static inline fold_status peer_check_stream(const struct fold_call *call, const char *name) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  FOLD_CUDA_TRY(cudaStreamIsCapturing((cudaStream_t)call->stream, &status));
  if (status == cudaStreamCaptureStatusNone) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s allocates or waits, and cannot be recorded into a graph", name);
}

/* Row r of the call's input and output. */
static inline const void *peer_row_in(const struct fold_call *call, size_t r) {
  return (const char *)call->in[0] + r * call->cols * fold_dtype_size(call->dtype);
}
static inline void *peer_row_out(const struct fold_call *call, size_t r) {
  return (char *)call->out + r * fold_dtype_size(call->dtype);
}

#endif
