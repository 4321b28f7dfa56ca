/* mutants_gpu_rows.cu: mutants of a plain kernel: a row by a block of 64 threads.
 *
 * Order without a fault: rows/par_64: 64 chunks of ceil(cols / 64) elements, each from zero in rising index; then the
 * partials in turn, from zero, by thread 0. Any grid; blocks of 64 threads.
 */
#include "kernels/cuda/common.cuh"
#include "mutants_gpu_delay.cuh"
#include "mutants_gpu_run.h"

enum { THREADS = 64, LATE = 200000 };
enum fault {
  SOUND,
  MISSING_BARRIER,
  DROPPED_TAIL,
  NEXT_ROW,
  EXCESS,
  TRUNCATED,
  PAST_END,
  LAST_UNWRITTEN,
  IN_ZONE,
  INPUT_SWAPPED,
  NAN_SWALLOWED,
  ZERO_LOST,
  NARROW,
  INDEX_32
};

template <int FAULT, int O, class W>
static __device__ W join(W a, W b) {
  if (FAULT == TRUNCATED) return (W)__fadd_rz((float)a, (float)b);
  if (FAULT == NAN_SWALLOWED) return (W)fmaxf((float)a, (float)b);
  if (FAULT == ZERO_LOST && !(a != a || b != b)) return a > b ? a : b;
  if (FAULT == NARROW) return (W)__half2float(__hadd(__float2half_rn((float)a), __float2half_rn((float)b)));
  return fold_operation<O, W>::join(a, b);
}

/* Thread t's chunk. */
template <int FAULT, int D, int O>
static __device__ typename fold_element<D>::wide walk(const typename fold_element<D>::stored *x, size_t cols,
                                                      bool more) {
  typedef typename fold_element<D>::wide W;
  const size_t length = FAULT == DROPPED_TAIL ? cols / THREADS : (cols + THREADS - 1) / THREADS;
  size_t begin = min(threadIdx.x * length, cols), end = min(begin + length, cols);
  if (FAULT == INDEX_32) begin = (unsigned)begin, end = min((size_t)(unsigned)end, (size_t)(unsigned)cols);
  double wide = 0;
  W v = fold_operation<O, W>::zero();
  for (size_t i = begin; i < end; i++) {
    wide += (double)fold_element<D>::widen(x[i]);
    v = join<FAULT, O, W>(v, fold_element<D>::widen(x[i]));
  }
  if (FAULT == NEXT_ROW && more && threadIdx.x == 0) v = join<FAULT, O, W>(v, fold_element<D>::widen(x[cols]));
  return FAULT == EXCESS ? (W)wide : v;
}

/* What a fault does to memory once the row's partials are made. */
template <int FAULT, class T>
static __device__ void spoil(T *x, T *out, size_t row, size_t rows, size_t cols) {
  if (threadIdx.x != 0) return;
  if (FAULT == PAST_END && row + 1 == rows) out[rows] = T(0);
  if (FAULT == IN_ZONE && rows * cols > 0) ((unsigned *)x)[-9] ^= 0x55u;
  if (FAULT == INPUT_SWAPPED && cols > 1) {
    const T first = x[0];
    x[0] = x[1];
    x[1] = first;
  }
}

template <int FAULT, int D, int O>
static __global__ void row_kernel(typename fold_element<D>::stored *in, typename fold_element<D>::stored *out,
                                  size_t rows, size_t cols) {
  typedef typename fold_element<D>::wide W;
  __shared__ W partial[THREADS];
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    partial[threadIdx.x] = W(0);
    __syncthreads();
    if (FAULT == MISSING_BARRIER && threadIdx.x >= 32) mutant_delay(LATE);
    partial[threadIdx.x] = walk<FAULT, D, O>(in + row * cols, cols, row + 1 < rows);
    if (FAULT != MISSING_BARRIER) __syncthreads();
    if (threadIdx.x == 0 && !(FAULT == LAST_UNWRITTEN && row + 1 == rows)) {
      W v = fold_operation<O, W>::zero();
      for (int t = 0; t < THREADS; t++) v = join<FAULT, O, W>(v, partial[t]);
      out[row] = fold_element<D>::narrow(v);
    }
    spoil<FAULT>(in + row * cols, out, row, rows, cols);
    __syncthreads();
  }
}

template <int FAULT, int D, int O>
static fold_status launch(const struct fold_call *call) {
  typedef typename fold_element<D>::stored stored;
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block && call->launch.block != THREADS) return fold_error(FOLD_UNSUPPORTED, "blocks of 64 threads");
  if (call->rows == 0) return fold_ok();
  const unsigned grid = call->launch.blocks ? call->launch.blocks : (unsigned)call->rows;
  row_kernel<FAULT, D, O><<<grid, THREADS, 0, (cudaStream_t)call->stream>>>((stored *)call->in[0], (stored *)call->out,
                                                                            call->rows, call->cols);
  return fold_cuda_launched("row_kernel");
}

#define SUBJECT(NAME, FAULT, D, O)                                                                \
  extern "C" fold_status NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                \
    return launch<FAULT, D, O>(call);                                                             \
  }
SUBJECT(gpu_rows_sound, SOUND, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_missing_barrier, MISSING_BARRIER, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_dropped_tail, DROPPED_TAIL, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_next_row, NEXT_ROW, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_excess, EXCESS, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_truncated, TRUNCATED, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_past_end, PAST_END, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_last_unwritten, LAST_UNWRITTEN, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_in_zone, IN_ZONE, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_input_swapped, INPUT_SWAPPED, FOLD_F32, FOLD_SUM)
SUBJECT(gpu_max_sound, SOUND, FOLD_F32, FOLD_MAX)
SUBJECT(gpu_nan_swallowed, NAN_SWALLOWED, FOLD_F32, FOLD_MAX)
SUBJECT(gpu_zero_lost, ZERO_LOST, FOLD_F32, FOLD_MAX)
SUBJECT(gpu_narrow_f16, NARROW, FOLD_F16, FOLD_SUM)
SUBJECT(gpu_index_32, INDEX_32, FOLD_F16, FOLD_SUM)
