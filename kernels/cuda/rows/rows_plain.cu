/* rows_plain.cu: rung 0 of the row family: the seed's plain kernels, for any shape.
 *
 * Order: partial c = zero() + x[c L] + x[c L + 1] + ... left to right (falling index: single_back),
 * L = ceil(cols / chunks); then the partials in turn, or by the tree over neighbours (rows.cuh). Claims: replays,
 * run_to_run, launch_, batch_ and alignment_invariant; the determ ones, same_bits_as rows/par_256.
 * Launch: block / threads rows a block (at least one), any grid. What bounds it: each thread walks its own chunk in
 * global memory, so that a warp's lanes read addresses a chunk apart; on an H200 22% of the memory's
 * speed. It needs nothing of the GPU, so that every other rung falls back on it.
 */
#include "kernels/cuda/rows/rows.cuh"

template <int D, int O>
struct plain {
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  static __device__ wide walk(const stored *x, size_t begin, size_t end, bool backward) {
    wide v = op::zero();
    if (backward)
      for (size_t i = end; i > begin; i--) v = op::join(v, element::widen(x[i - 1]));
    else
      for (size_t i = begin; i < end; i++) v = op::join(v, element::widen(x[i]));
    return v;
  }

  /* Sums a thread's neighbouring chunks, by the counter. */
  static __device__ wide walk_chunks(const stored *x, size_t cols, fold_rows_shape shape, unsigned thread) {
    size_t length = fold_rows_chunk(cols, shape.chunks);
    unsigned each = shape.chunks / shape.threads;
    fold_rows_counter<O, wide> counter;
    wide v = op::zero();
    for (unsigned c = thread * each; c < (thread + 1) * each; c++) {
      size_t begin = fold_rows_start(c, length, cols), end = fold_rows_start(c + 1, length, cols);
      v = counter.add(walk(x, begin, end, shape.backward));
    }
    return v;
  }

  /* Joins the partials of one row in shared memory; the result is partial[0]. All threads of the block call it. */
  static __device__ void combine(wide *partial, fold_rows_shape shape, unsigned thread) {
    if (!shape.tree) {
      if (thread == 0) {
        wide v = op::zero();
        for (unsigned t = 0; t < shape.threads; t++) v = op::join(v, partial[t]);
        partial[0] = v;
      }
      return;
    }
    for (unsigned stride = 1; stride < shape.threads; stride *= 2) {
      if (thread % (2 * stride) == 0) partial[thread] = op::join(partial[thread], partial[thread + stride]);
      __syncthreads();
    }
  }
};

/* Terms have dtype D; results have dtype R, to which the accumulator is rounded. */
template <int D, int R, int O>
static __global__ void plain_rows(const typename plain<D, O>::stored *in, typename fold_element<R>::stored *out,
                                  size_t rows, size_t cols, fold_rows_shape shape) {
  typedef plain<D, O> p;
  extern __shared__ __align__(16) unsigned char shared[];
  unsigned place = threadIdx.x / shape.threads, thread = threadIdx.x % shape.threads, many = blockDim.x / shape.threads;
  typename p::wide *partial = (typename p::wide *)shared + place * shape.threads;
  for (size_t first = (size_t)blockIdx.x * many; first < rows; first += (size_t)gridDim.x * many) {
    size_t row = first + place;
    if (row < rows) partial[thread] = p::walk_chunks(in + row * cols, cols, shape, thread);
    __syncthreads();
    p::combine(partial, shape, thread);
    if (row < rows && thread == 0) out[row] = fold_element<R>::narrow(partial[0]);
    __syncthreads();
  }
}

template <int D, int R, int O>
static fold_status launch_to(const struct fold_call *call, fold_rows_shape shape) {
  typedef plain<D, O> p;
  unsigned many = (call->launch.block ? call->launch.block : 64) / shape.threads;
  if (many == 0) many = 1;
  if (many * shape.threads > 1024) many = 1024 / shape.threads;
  size_t want = (call->rows + many - 1) / many, most = call->launch.blocks ? call->launch.blocks : 65536;
  unsigned block = many * shape.threads, grid = (unsigned)(want < most ? want : most);
  plain_rows<D, R, O><<<grid, block, block * sizeof(typename p::wide), (cudaStream_t)call->stream>>>(
      (const typename p::stored *)call->in[0], (typename fold_element<R>::stored *)call->out, call->rows, call->cols,
      shape);
  return fold_cuda_launched("rows, plain kernel");
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, fold_rows_shape shape, enum fold_dtype result) {
  if (result == call->dtype) return launch_to<D, D, O>(call, shape);
  if constexpr (D == FOLD_F16 || D == FOLD_BF16)
    if (result == FOLD_F32 && (uintptr_t)call->out % sizeof(float) == 0) return launch_to<D, FOLD_F32, O>(call, shape);
  return fold_error(FOLD_UNSUPPORTED, "rows, plain kernel: no results of %s at that address", fold_dtype_name(result));
}

fold_status fold_rows_plain_to(const struct fold_call *call, const struct fold_rows_shape *shape,
                               enum fold_dtype result) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  return fold_dispatch(call, [&](auto d, auto o) { return launch<d, o>(call, *shape, result); });
}

fold_status fold_rows_plain(const struct fold_call *call, const struct fold_rows_shape *shape) {
  return fold_rows_plain_to(call, shape, call->dtype);
}
