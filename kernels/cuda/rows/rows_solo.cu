/* rows_solo.cu: one thread a row where there are few rows, at the limit of latency; rung 2 of the single_ ladders.
 *
 * Order: single_for: zero() + x[0] + x[1] + ...; single_back: the same from the row's end; single_determ: the 256
 * chunks and the tree of rows/par_256. Claims: those of rows_window.cu, the same bits.
 *
 * A block a row: one lane adds, one lane of another warp feeds it by bulk copies, 24 stages of 8 KiB. The adder does
 * nothing but read 16 bytes and add, so that the chain of dependent additions, 4 cycles each, is most of what it takes;
 * the tree has eight chains side by side, joined by the counter, and is bound by issue. Launch: 64 threads a block, any
 * grid. Needs sm_90. For many rows rows_window.cu has 32 rows a warp and wins.
 *
 * Gained on an H200, 4 x 16,384 f32: single_for 664 (plain) to 43.5 us, 1.24 x the 33 us of the chain with a launch of
 * 2.7 us; single_determ 682 to 57 (one chain at a time) to 35 (side by side) to 25.6 us (four times as many chunks a
 * stage, addresses by immediates).
 */
#include "cuda/async.cuh"
#include "rows.cuh"

enum { STAGES = 24, STAGE = 8192, SIDE = 8 };

struct solo_plan {
  size_t length;   /* elements a chunk */
  unsigned octets; /* tree: groups of eight chunks in a stage, a power of two */
};

template <int D, int O>
struct solo {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  /* Bytes [begin, end) of a row by the stage: whole 16-byte pieces by the engine, the array's ragged ends by hand. */
  static __device__ __forceinline__ void fill(unsigned char *stage, uint64_t *full, uint64_t base, uint64_t begin,
                                              uint64_t end, uint64_t low, uint64_t high) {
    uint64_t copy = max(base, (low + 15) & ~(uint64_t)15), stop = min((end + 15) & ~(uint64_t)15, high & ~(uint64_t)15);
    if (stop < copy || begin >= end) stop = copy;
    for (uint64_t at = begin; at < min(copy, end); at += sizeof(stored))
      *(stored *)(stage + (at - base)) = *(const stored *)at;
    for (uint64_t at = max(begin, stop); at < end && stop < end; at += sizeof(stored))
      *(stored *)(stage + (at - base)) = *(const stored *)at;
    if (begin < copy || stop < end) fold_bulk_fence();
    fold_barrier_expect(full, (uint32_t)(stop - copy));
    if (stop > copy) fold_bulk_copy(stage + (copy - base), copy, (uint32_t)(stop - copy), full);
  }

  static __device__ __forceinline__ wide one(wide v, const unsigned char *at) {
    return op::join(v, element::widen(*(const stored *)at));
  }

  /* The elements in [begin, end), bytes of a stage, in rising or falling index: elements up to a 16-byte boundary, then
   * 16 bytes at a time, then the rest. Eight reads go ahead of the chain. */
  template <bool backward>
  static __device__ __forceinline__ wide chain(wide v, const unsigned char *stage, int begin, int end) {
    const int size = sizeof(stored);
    int up = min((begin + 15) & ~15, end), down = max(end & ~15, up);
    if (backward)
      for (int i = end; i > down; i -= size) v = one(v, stage + i - size);
    else
      for (int i = begin; i < up; i += size) v = one(v, stage + i);
    int many = (down - up) / 16, step = backward ? -16 : 16, i = 0;
    const unsigned char *at = stage + (backward ? down - 16 : up);
    const int deep = 8;
    if (many >= deep) {
      uint4 q[deep];
#pragma unroll
      for (int k = 0; k < deep; k++) q[k] = *(const uint4 *)(at + k * step);
      for (i = 0; i + 2 * deep <= many; i += deep) {
        at += deep * step;
#pragma unroll
        for (int k = 0; k < deep; k++) {
          uint4 next = *(const uint4 *)(at + k * step);
          v = vector::template join<backward>(v, q[k]);
          q[k] = next;
        }
      }
      at += deep * step;
#pragma unroll
      for (int k = 0; k < deep; k++) v = vector::template join<backward>(v, q[k]);
      i += deep;
    }
    for (; i < many; i++, at += step) v = vector::template join<backward>(v, *(const uint4 *)at);
    if (backward)
      for (int b = up; b > begin; b -= size) v = one(v, stage + b - size);
    else
      for (int b = down; b < end; b += size) v = one(v, stage + b);
    return v;
  }

  static __device__ __forceinline__ void read(uint4 (&q)[SIDE], const unsigned char *const (&at)[SIDE], int offset) {
#pragma unroll
    for (int c = 0; c < SIDE; c++) q[c] = *(const uint4 *)(at[c] + offset);
  }

  /* The next 16 bytes of each chunk, element by element in turn, so that no addition waits for the one before. */
  static __device__ __forceinline__ void side_by_side(wide (&v)[SIDE], const uint4 (&q)[SIDE]) {
#pragma unroll
    for (int e = 0; e < vector::many; e++)
#pragma unroll
      for (int c = 0; c < SIDE; c++) {
        typename vector::pack p;
        p.all = q[c];
        v[c] = op::join(v[c], element::widen(p.each[e]));
      }
  }

  /* Eight chunks side by side, from `stage` on, n[c] elements in chunk c, `pitch` bytes apart: their subtree's root. */
  static __device__ __forceinline__ wide eight(const unsigned char *stage, size_t length, size_t left, bool vectors) {
    wide v[SIDE];
#pragma unroll
    for (int c = 0; c < SIDE; c++) v[c] = op::zero();
    int n = (int)length, pitch = (int)(length * sizeof(stored));
    if (vectors) {
      const unsigned char *at[SIDE];
      uint4 even[SIDE], odd[SIDE];
      int many = n / vector::many, i = 0;
#pragma unroll
      for (int c = 0; c < SIDE; c++) at[c] = stage + c * pitch;
      read(even, at, 0);
      for (; i + 2 < many; i += 2) {
        read(odd, at, 16);
        side_by_side(v, even);
        read(even, at, 32);
        side_by_side(v, odd);
#pragma unroll
        for (int c = 0; c < SIDE; c++) at[c] += 32;
      }
      if (i + 2 == many) read(odd, at, 16);
      side_by_side(v, even);
      if (i + 2 == many) side_by_side(v, odd);
    } else {
      for (int i = 0; i < n; i++)
#pragma unroll
        for (int c = 0; c < SIDE; c++) {
          stored e = vector::none();
          if (c * length + i < left) e = *(const stored *)(stage + c * pitch + i * sizeof(stored));
          v[c] = op::join(v[c], element::widen(e));
        }
    }
#pragma unroll
    for (int stride = 1; stride < SIDE; stride *= 2)
#pragma unroll
      for (int c = 0; c < SIDE; c += 2 * stride) v[c] = op::join(v[c], v[c + stride]);
    return v[0];
  }
};

/* Stage k of a row: bytes [k, k + 1) x STAGE from where the row's first 16 bytes lie (chains), or the k-th
 * octets x 8 chunks (tree). Falling order takes the stages from the last on. */
template <int D, int O>
static __device__ __forceinline__ void solo_bytes(const typename solo<D, O>::stored *row, size_t cols,
                                                  const solo_plan &plan, bool tree, size_t k, uint64_t *base,
                                                  uint64_t *begin, uint64_t *end) {
  uint64_t first = (uint64_t)row, last = (uint64_t)(row + cols);
  if (tree) {
    size_t chunks = SIDE * plan.octets;
    *begin = (uint64_t)(row + fold_rows_start(chunks * k, plan.length, cols));
    *end = (uint64_t)(row + fold_rows_start(chunks * (k + 1), plan.length, cols));
    *base = *begin & ~(uint64_t)15;
  } else {
    *base = (first & ~(uint64_t)15) + k * STAGE;
    *begin = max(first, *base);
    *end = min(last, *base + STAGE);
  }
}

template <int D, int O, bool tree, bool backward>
static __global__ void __launch_bounds__(64)
    solo_rows(const typename solo<D, O>::stored *in, typename solo<D, O>::stored *out, size_t rows, size_t cols,
              solo_plan plan, bool vectors) {
#if __CUDA_ARCH__ >= 900
  typedef solo<D, O> s;
  typedef typename s::wide wide;
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const unsigned pitch = STAGE + 32;
  if (threadIdx.x < STAGES) {
    fold_barrier_init(full + threadIdx.x, 1);
    fold_barrier_init(empty + threadIdx.x, 1);
    fold_barrier_init_done();
  }
  __syncthreads();
  unsigned stage = 0, parity = 0;
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const typename s::stored *x = in + row * cols;
    uint64_t base, begin, end, first = (uint64_t)x & ~(uint64_t)15;
    size_t many = tree ? 256 / (SIDE * plan.octets) : ((uint64_t)(x + cols) - first + STAGE - 1) / STAGE;
    fold_rows_counter<O, wide> counter;
    wide v = s::op::zero();
    for (size_t i = 0; i < many; i++) {
      size_t k = backward ? many - 1 - i : i;
      solo_bytes<D, O>(x, cols, plan, tree, k, &base, &begin, &end);
      unsigned char *here = ring + stage * pitch;
      if (threadIdx.x == 32) {
        fold_barrier_wait(empty + stage, parity ^ 1);
        s::fill(here, full + stage, base, begin, end, (uint64_t)in, (uint64_t)(in + rows * cols));
      } else if (threadIdx.x == 0) {
        fold_barrier_wait(full + stage, parity);
        if (tree) {
          size_t left = (size_t)(end - begin) / sizeof(typename s::stored), step = SIDE * plan.length;
          const unsigned char *at = here + (begin - base);
          for (unsigned o = 0; o < plan.octets; o++, at += step * sizeof(typename s::stored)) {
            v = counter.add(s::eight(at, plan.length, left, vectors));
            left -= min(left, step);
          }
        } else
          v = s::template chain<backward>(v, here, (int)(begin - base),
                                          end > begin ? (int)(end - base) : (int)(begin - base));
        fold_barrier_arrive(empty + stage);
      }
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    if (threadIdx.x == 0) out[row] = s::element::narrow(v);
  }
#else
  __trap();
#endif
}

template <int D, int O, bool tree, bool backward>
static fold_status launch_solo(const struct fold_call *call, const solo_plan &plan, unsigned grid) {
  typedef solo<D, O> s;
  auto kernel = solo_rows<D, O, tree, backward>;
  size_t size = fold_dtype_size(call->dtype), shared = STAGES * (STAGE + 32);
  bool vectors = (uintptr_t)call->in % 16 == 0 && plan.length * size % 16 == 0 && call->cols == 256 * plan.length &&
                 plan.length > 0;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<grid, 64, shared, (cudaStream_t)call->stream>>>(
      (const typename s::stored *)call->in, (typename s::stored *)call->out, call->rows, call->cols, plan, vectors);
  return fold_cuda_launched("rows, solo kernel");
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, const fold_rows_shape *shape, const solo_plan &plan,
                          unsigned grid) {
  if (shape->chunks == 256) return launch_solo<D, O, true, false>(call, plan, grid);
  if (shape->backward) return launch_solo<D, O, false, true>(call, plan, grid);
  return launch_solo<D, O, false, false>(call, plan, grid);
}

bool fold_rows_solo_fits(const struct fold_call *call, const struct fold_rows_shape *shape) {
  if (shape->threads != 1) return false;
  return shape->chunks == 1 || SIDE * fold_rows_chunk(call->cols, 256) * fold_dtype_size(call->dtype) <= STAGE;
}

fold_status fold_rows_solo(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  solo_plan plan = {fold_rows_chunk(call->cols, 256), 1};
  size_t octet = SIDE * plan.length * fold_dtype_size(call->dtype);
  while (plan.octets < 8 && 2 * plan.octets * octet <= STAGE) plan.octets *= 2;
  unsigned grid = (unsigned)min(call->rows, (size_t)(call->launch.blocks ? call->launch.blocks : sms));
  FOLD_ROWS_DISPATCH(launch, call, shape, plan, grid)
}
