/* rows_window.cu: any order of the family with long runs, staged through shared memory by windows of each lane's run.
 *
 * Order: the shape's (rows.cuh), any threads a row: single_for, single_back, par_16, par_64, their determ twins, and the
 * tree over 256 chunks whose tiles are too long for rows_tile.cu. Claims: replays, run_to_run, launch_, batch_ and
 * alignment_invariant; the trees, same_bits_as rows/par_256.
 *
 * A lane owns a run: chunks / threads neighbouring chunks of a row. Its elements come in windows of 256 bytes; a
 * warp's 32 windows are a stage, copied by cp.async, 16 lanes a window, so that global memory is read 256 bytes at a
 * time; the pieces of a window change places in shared memory (where()), so that the lanes' 16-byte reads meet in no bank. Five stages
 * are under way while one is summed. No window holds parts of two chunks. Partials of one row meet by shuffles (16 threads)
 * or in shared memory (64, 256). Launch: up to 4 warps a block (8 for 256 threads a row), any grid. Needs sm_80.
 */
#include "async.cuh"
#include "rows.cuh"

enum { WINDOW = 256, PIECES = WINDOW / 16, STAGE = 32 * (WINDOW + 16), MOST_WARPS = 8 };

struct window_plan {
  fold_rows_shape shape;
  size_t length;        /* elements a chunk */
  size_t unit;          /* elements of a unit: a chunk, or several whole ones that fit a window together */
  size_t windows;       /* windows a unit; 1 where it holds several chunks */
  unsigned group;       /* chunks a unit */
  unsigned units;       /* units a run */
  unsigned thread_bits; /* log2(shape.threads) */
  unsigned warps, stages, grid;
  void *partials;   /* not NULL: the root of group g (32 chunks) of row r goes to partials[8 r + g], not to out */
};

/* A lane's place in its list of windows: run, unit in the run, window in the unit. */
struct window_cursor {
  size_t run, window;
  unsigned unit;
};

/* Bytes [begin, end) of a window's elements; empty where a row or the matrix has ended. */
struct window_span {
  uint64_t begin, end;
};

template <int D, int O, bool backward>
struct window {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;
  static const int elements = WINDOW / sizeof(stored);

  static __device__ __forceinline__ window_span span(const stored *in, size_t rows, size_t cols, const window_plan &plan,
                                                     const window_cursor &at) {
    size_t row = at.run >> plan.thread_bits, thread = at.run & (plan.shape.threads - 1);
    size_t unit = thread * plan.units + at.unit, start = fold_rows_start(unit, plan.unit, cols);
    size_t end = fold_rows_start(unit + 1, plan.unit, cols);
    size_t index = backward ? plan.windows - 1 - at.window : at.window;
    size_t first = min(start + index * elements, end), last = min(first + elements, end);
    if (row >= rows) row = first = last = 0;
    window_span s = {(uint64_t)(in + row * cols + first), (uint64_t)(in + row * cols + last)};
    return s;
  }

  /* Where piece j of a lane's window lies in a stage. In each 128-byte line the pieces change places by the lane's number:
   * the lanes' reads of one piece meet in no bank, and a copied line stays a line. A window that starts between two
   * multiples of 16 has one piece more; those follow the windows. */
  static __device__ __forceinline__ unsigned where(unsigned lane, unsigned j) {
    return j < PIECES ? lane * WINDOW + ((j ^ (lane & 7)) * 16) : 32 * WINDOW + lane * 16;
  }

  /* The next window of a run; true at the end of the run, when the cursor goes on to the run `stride` further. */
  static __device__ __forceinline__ bool advance(window_cursor &at, const window_plan &plan, size_t stride) {
    if (++at.window < plan.windows) return false;
    at.window = 0;
    if (++at.unit < plan.units) return false;
    at.unit = 0;
    at.run += stride;
    return true;
  }

  /* A 16-byte piece that is not wholly inside the array: its elements one by one. */
  static __device__ __noinline__ void carry(unsigned char *to, uint64_t from, uint64_t low, uint64_t high) {
    for (unsigned i = 0; i < 16; i += sizeof(stored))
      if (from + i >= low && from + i < high) *(stored *)(to + i) = *(const stored *)(from + i);
  }

  static __device__ __forceinline__ void copy(unsigned char *to, uint64_t from, uint64_t low, uint64_t high) {
    if (from >= low && from + 16 <= high)
      fold_copy_16(to, from);
    else
      carry(to, from, low, high);
  }

  /* The warp copies its 32 windows: lanes 0..15 one, lanes 16..31 the next. `aligned`: every window starts and ends
   * at a multiple of 16 bytes, and nothing lies outside the array. */
  template <bool aligned>
  static __device__ __forceinline__ void fill(unsigned char *stage, const window_span &s, uint64_t low, uint64_t high) {
    unsigned lane = threadIdx.x % 32;
    uint64_t base = s.begin & ~(uint64_t)15;
    unsigned pieces = s.begin == s.end ? 0 : (unsigned)((s.end - base + 15) / 16);
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
      unsigned of = (32 * i + lane) / PIECES, piece = (32 * i + lane) % PIECES;
      uint64_t from = __shfl_sync(0xffffffffu, base, of) + piece * 16;
      if (piece < __shfl_sync(0xffffffffu, pieces, of)) {
        unsigned char *to = stage + where(of, piece);
        if (aligned)
          fold_copy_16(to, from);
        else
          copy(to, from, low, high);
      }
    }
    if (!aligned && pieces > PIECES) copy(stage + where(lane, PIECES), base + WINDOW, low, high);
    fold_copy_commit();
  }

  /* Joins the window's elements to v. */
  template <bool aligned>
  static __device__ __forceinline__ wide walk(wide v, const unsigned char *stage, const window_span &s) {
    const unsigned lane = threadIdx.x % 32;
    int n = (int)((s.end - s.begin) / sizeof(stored));
    if (aligned) {
      n /= vector::many;
#pragma unroll
      for (int i = 0; i < PIECES; i++) {
        int at = backward ? PIECES - 1 - i : i;
        uint4 q = vector::nothing();
        if (at < n) q = *(const uint4 *)(stage + where(lane, at));
        v = vector::template join<backward>(v, q);
      }
      return v;
    }
    const unsigned phase = (unsigned)(s.begin & 15) / sizeof(stored);
#pragma unroll 4
    for (int i = 0; i <= PIECES; i++) {
      const unsigned at = backward ? PIECES - i : i;
      typename vector::pack p;
      p.all = vector::nothing();
      if (at * vector::many < phase + n) p.all = *(const uint4 *)(stage + where(lane, at));
#pragma unroll
      for (int k = 0; k < vector::many; k++) {
        const unsigned e = backward ? vector::many - 1 - k : k, place = at * vector::many + e - phase;
        v = op::join(v, element::widen(place < (unsigned)n ? p.each[e] : vector::none()));
      }
    }
    return v;
  }

  /* A window of several chunks: each one's partial goes to the counter. */
  template <bool aligned>
  static __device__ __forceinline__ wide walk_group(fold_rows_counter<O, wide> &counter, const unsigned char *stage,
                                                    const window_span &s, const window_plan &plan) {
    const unsigned lane = threadIdx.x % 32, phase = (unsigned)(s.begin & 15), length = (unsigned)plan.length;
    const unsigned n = (unsigned)((s.end - s.begin) / sizeof(stored)), pieces = length / vector::many;
    wide root = op::zero();
    for (unsigned c = 0; c < plan.group; c++) {
      wide v = op::zero();
      if (aligned) {
#pragma unroll 4
        for (unsigned j = c * pieces; j < (c + 1) * pieces; j++) {
          uint4 q = vector::nothing();
          if (j * vector::many < n) q = *(const uint4 *)(stage + where(lane, j));
          v = vector::template join<false>(v, q);
        }
      } else {
#pragma unroll 4
        for (unsigned i = c * length; i < (c + 1) * length; i++) {
          const unsigned byte = phase + i * (unsigned)sizeof(stored);
          stored e = vector::none();
          if (i < n) e = *(const stored *)(stage + where(lane, byte / 16) + byte % 16);
          v = op::join(v, element::widen(e));
        }
      }
      root = counter.add(v);
    }
    return root;
  }

  /* Up to 32 threads a row: the row's partials are in neighbouring lanes; the result in the first of them. */
  static __device__ __forceinline__ wide join_lanes(wide v, const fold_rows_shape &shape) {
    if (shape.tree) return fold_rows_lanes<O>(v, min(shape.threads, 32u));
    wide sum = op::zero();
    unsigned first = threadIdx.x % 32 / shape.threads * shape.threads;
    for (unsigned i = 0; i < shape.threads; i++) sum = op::join(sum, __shfl_sync(0xffffffffu, v, first + i));
    return sum;
  }

  /* More: they meet in shared memory, all warps of the block together; the result in the row's first thread. */
  static __device__ __forceinline__ wide join_warps(wide v, wide *meet, const fold_rows_shape &shape) {
    wide *of_row = meet + threadIdx.x / shape.threads * shape.threads;
    bool writes = true;
    if (shape.tree) {
      v = fold_rows_lanes<O>(v, 32);
      writes = threadIdx.x % 32 == 0;
    }
    __syncthreads();
    if (writes) meet[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x % shape.threads) return v;
    if (!shape.tree) {
      v = op::zero();
      for (unsigned i = 0; i < shape.threads; i++) v = op::join(v, of_row[i]);
      return v;
    }
    fold_rows_counter<O, wide> counter;
    for (unsigned i = 0; i < shape.threads; i += 32) v = counter.add(of_row[i]);
    return v;
  }
};

/* Waits for the oldest of stages - 1 groups under way. */
static __device__ __forceinline__ void wait_for_one(unsigned stages) {
  if (stages == 3)
    fold_copy_wait<1>();
  else if (stages == 6)
    fold_copy_wait<4>();
  else
    fold_copy_wait<10>();
}

template <int D, int O, bool backward, bool aligned>
static __global__ void __launch_bounds__(256) window_rows(const typename window<D, O, backward>::stored *in,
                                                          typename window<D, O, backward>::stored *out, size_t rows,
                                                          size_t cols, window_plan plan) {
#if __CUDA_ARCH__ >= 800
  typedef window<D, O, backward> w;
  typedef typename w::wide wide;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ wide meet[MOST_WARPS * 32];
  const unsigned warp = threadIdx.x / 32;
  unsigned char *ring = shared + (size_t)warp * plan.stages * STAGE;
  const uint64_t low = (uint64_t)in, high = (uint64_t)(in + rows * cols);
  const size_t runs = rows * plan.shape.threads, stride = (size_t)gridDim.x * blockDim.x;
  const size_t first = (size_t)blockIdx.x * blockDim.x;
  const size_t rounds = first < runs ? (runs - first + stride - 1) / stride : 0;
  const size_t total = rounds * plan.units * plan.windows;

  window_cursor ahead = {first + threadIdx.x, 0, 0}, at = ahead;
  unsigned fetch_stage = 0, stage = 0;
  size_t fetched = 0;
  auto fetch = [&]() {
    if (fetched < total) {
      w::template fill<aligned>(ring + fetch_stage * STAGE, w::span(in, rows, cols, plan, ahead), low, high);
      w::advance(ahead, plan, stride);
      if (++fetch_stage == plan.stages) fetch_stage = 0;
    } else {
      fold_copy_commit();
    }
    fetched++;
  };
  for (unsigned s = 0; s < plan.stages - 1; s++) fetch();

  fold_rows_counter<O, wide> counter;
  wide v = w::op::zero();
  for (size_t k = 0; k < total; k++) {
    wait_for_one(plan.stages);
    __syncwarp();
    fetch(); /* into the stage that was summed in the last step */
    const unsigned char *here = ring + stage * STAGE;
    window_span span = w::span(in, rows, cols, plan, at);
    wide root = w::op::zero();
    if (plan.group > 1)
      root = w::template walk_group<aligned>(counter, here, span, plan);
    else
      v = w::template walk<aligned>(v, here, span);
    if (++stage == plan.stages) stage = 0;
    size_t run = at.run;
    bool unit_ends = at.window + 1 == plan.windows, run_ends = w::advance(at, plan, stride);
    if (!unit_ends) continue;
    if (plan.group == 1) root = plan.units == 1 ? v : counter.add(v);
    v = w::op::zero();
    if (!run_ends) continue;
    counter.count = 0;
    if (plan.partials) {
      root = fold_rows_lanes<O>(root, 32);
      if (run < runs && run % 32 == 0) ((wide *)plan.partials)[run / 32] = root;
      continue;
    }
    root = plan.shape.threads > 32 ? w::join_warps(root, meet, plan.shape)
           : plan.shape.threads > 1 ? w::join_lanes(root, plan.shape)
                                    : root;
    if (run < runs && (run & (plan.shape.threads - 1)) == 0) out[run >> plan.thread_bits] = w::element::narrow(root);
  }
#else
  __trap();
#endif
}

template <int D, int O, bool backward, bool aligned>
static fold_status launch_windows(const struct fold_call *call, const window_plan &plan) {
  typedef window<D, O, backward> w;
  auto kernel = window_rows<D, O, backward, aligned>;
  size_t shared = (size_t)plan.warps * plan.stages * STAGE;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<plan.grid, plan.warps * 32, shared, (cudaStream_t)call->stream>>>(
      (const typename w::stored *)call->in, (typename w::stored *)call->out, call->rows, call->cols, plan);
  return fold_cuda_launched("rows, window kernel");
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, const window_plan &plan) {
  size_t size = fold_dtype_size(call->dtype);
  bool aligned = (uintptr_t)call->in % 16 == 0 && call->cols * size % 16 == 0 && plan.length * size % 16 == 0;
  if (plan.shape.backward)
    return aligned ? launch_windows<D, O, true, true>(call, plan) : launch_windows<D, O, true, false>(call, plan);
  return aligned ? launch_windows<D, O, false, true>(call, plan) : launch_windows<D, O, false, false>(call, plan);
}

/* Warps a block: two, so that four blocks fill an SM; more where a row's threads must share a block, or by the caller's
 * wish; one where there are few rows, so that more SMs have work. */
static unsigned choose_warps(const struct fold_call *call, const struct fold_rows_shape *shape, bool partials, unsigned sms) {
  unsigned least = shape->threads > 32 && !partials ? shape->threads / 32 : 1;
  unsigned warps = call->launch.block ? call->launch.block / 32 : call->rows * shape->threads < 64 * (size_t)sms ? 1 : 2;
  return max(least, min(warps, (unsigned)MOST_WARPS) / least * least);
}

/* Three stages where eight warps share an SM: with more under way the memory is slower. More where there are few warps. */
static unsigned choose_stages(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned warps, unsigned sms) {
  size_t lanes = call->rows * shape->threads;
  if (warps <= 1 && lanes <= 64 * (size_t)sms) return 12;
  return warps <= 2 && lanes <= 128 * (size_t)sms ? 6 : 3;
}

fold_status fold_rows_window(const struct fold_call *call, const struct fold_rows_shape *shape, void *partials,
                             unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  window_plan plan;
  size_t elements = WINDOW / fold_dtype_size(call->dtype);
  plan.shape = *shape;
  plan.length = fold_rows_chunk(call->cols, shape->chunks);
  plan.group = 1;
  while (2 * plan.group * shape->threads <= shape->chunks && 2 * plan.group * plan.length <= elements) plan.group *= 2;
  plan.unit = plan.group * plan.length;
  plan.windows = max((size_t)1, (plan.unit + elements - 1) / elements);
  plan.units = shape->chunks / shape->threads / plan.group;
  for (plan.thread_bits = 0; 1u << plan.thread_bits < shape->threads; plan.thread_bits++) continue;
  plan.warps = choose_warps(call, shape, partials != NULL, sms);
  plan.partials = partials;
  plan.stages = choose_stages(call, shape, plan.warps, sms);
  size_t want = (call->rows * shape->threads + plan.warps * 32 - 1) / (plan.warps * 32);
  plan.grid = (unsigned)min(want, call->launch.blocks ? (size_t)call->launch.blocks : (size_t)1 << 30);
  FOLD_ROWS_DISPATCH(launch, call, plan)
}
