/* rows_tile.cu: orders by chunks whose tile fits in shared memory: one bulk copy brings all that a block sums; rung 1.
 *
 * Order: partial c = zero() + x[c L] + ... + x[c L + L - 1], L = ceil(cols / chunks); then the partials in turn from
 * zero() (par_16, par_64), or by the tree over neighbours (par_256, its determ twins, multi_block). Claims: replays,
 * run_to_run, launch_, batch_, alignment_invariant; the trees, same_bits_as rows/par_256.
 *
 * A tile is a row, several neighbouring rows, or 1/2, 1/4, 1/8 of a row (a row spread over blocks): contiguous memory,
 * copied by the engine in one piece, so that global memory sees long sequential reads whatever the chunks are. A thread
 * walks `each` chunks side by side in shared memory, 16 of them as two rounds of eight: eight chains hide each other's
 * additions. Threads a power of two apart would meet in one bank: in step i a lane reads place i - skew(lane), which
 * moves neighbours to other banks for a few steps more. Where a thread walks 16 whole chunks its part of the row comes by a
 * copy of its own, 16 bytes further on than the next one's would be: there no bank is met, and no step lost.
 *
 * Launch: (threads a row) x (rows a block) threads, at most 256; any grid; three blocks an SM hide each other's waits.
 * Needs sm_90.
 *
 * Gained over rows_plain.cu on an H200, 65,536 x 16,384 f32, as a ratio to CUB's segmented sum in the same run:
 *   chunks from global memory (plain)                                      0.22
 *   a ring of 8 KiB tiles for each of 8 warps, persistent blocks           0.84 (eight copies at a time in one SM)
 *   the same, rows handed out by the hardware                              0.82 to 0.94
 *   one copy a block, a row each, three blocks an SM                       0.995 to 1.000
 * 4 x 16,384: par_256 13.3 to 5.5 us, par_64_determ 22.7 to 5.7 us (CUB 5.9 to 6.7; an empty kernel 2.7); par_16_determ by
 * windows 16.9, here 9.3 us (par_16 8.7).
 */
#include "kernels/cuda/async.cuh"
#include "kernels/cuda/rows/rows.cuh"

enum { GROUPS = 8 };

struct tile_plan {
  size_t length;                 /* elements of each chunk */
  unsigned threads, thread_bits; /* the threads of a tile, which is a row or a part of one; log2 */
  unsigned parts, part_bits;     /* tiles of each row: 1, or 2, 4, 8 if a row is spread over blocks; log2 */
  unsigned many;                 /* tiles of each block; 1 if parts > 1 */
  unsigned chunks;               /* the chunks of a tile */
  unsigned rounds;               /* 1; or 2, if a thread takes the second half of its chunks after the first */
  unsigned skew;
  unsigned pad; /* bytes between the threads' parts of a row in shared memory; 0: the tile lies there as in the array */
  bool tree;
  unsigned block, grid;
  size_t shared;
};

/* Where tiles lie: elements are bytes [begin, end); the engine copies [copy, stop), from `base` on. */
struct tile_place {
  uint64_t base, begin, end, copy, stop;
};

template <int D, int O, int each>
struct tile {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  /* Finds tiles [first, last). The engine copies whole 16-byte pieces inside the array, which may include a neighbour's
   * bytes. */
  static __device__ __forceinline__ tile_place place(const stored *in, size_t rows, size_t cols, const tile_plan &plan,
                                                     size_t first, size_t last) {
    tile_place p;
    size_t row = first >> plan.part_bits, part = first & (plan.parts - 1), end_row = plan.parts > 1 ? row : last;
    size_t begin = fold_rows_start(part * plan.chunks, plan.length, cols);
    size_t end = plan.parts > 1 ? fold_rows_start((part + 1) * plan.chunks, plan.length, cols) : 0;
    uint64_t low = ((uint64_t)in + 15) & ~(uint64_t)15, high = (uint64_t)(in + rows * cols) & ~(uint64_t)15;
    p.begin = (uint64_t)(in + row * cols + begin);
    p.end = (uint64_t)(in + end_row * cols + end);
    p.base = p.begin & ~(uint64_t)15;
    p.copy = max(p.base, low);
    p.stop = min((p.end + 15) & ~(uint64_t)15, high);
    if (p.begin == p.end || p.stop < p.copy) p.stop = p.copy;
    return p;
  }

  /* Copies the ends of the array that no whole 16-byte piece covers: at most 15 elements. */
  static __device__ __forceinline__ void carry(unsigned char *stage, uint64_t base, uint64_t from, uint64_t to) {
    uint64_t at = from + threadIdx.x * sizeof(stored);
    if (at < to) *(stored *)(stage + (at - base)) = *(const stored *)at;
  }

  /* Copies a row whose threads' parts are whole pieces; each thread copies its own. */
  static __device__ __forceinline__ void fill_padded(unsigned char *stage, uint64_t *full, const tile_place &p,
                                                     const tile_plan &plan) {
    uint32_t part = (uint32_t)(p.stop - p.copy) >> plan.thread_bits;
    if (threadIdx.x == 0) fold_barrier_expect(full, part << plan.thread_bits);
    if (threadIdx.x < plan.threads && part)
      fold_bulk_copy(stage + threadIdx.x * (part + plan.pad), p.copy + threadIdx.x * part, part, full);
  }

  /* The caller needs a barrier before anybody reads. */
  static __device__ __forceinline__ void fill(unsigned char *stage, uint64_t *full, const tile_place &p,
                                              const tile_plan &plan) {
    if (plan.pad) {
      fill_padded(stage, full, p, plan);
      return;
    }
    if (threadIdx.x == 0) {
      uint32_t nbytes = (uint32_t)(p.stop - p.copy);
      fold_barrier_expect(full, nbytes);
      if (nbytes) fold_bulk_copy(stage + (p.copy - p.base), p.copy, nbytes, full);
    }
    bool head = p.begin < p.copy, tail = p.stop < p.end;
    if (head) carry(stage, p.base, p.begin, min(p.copy, p.end));
    if (tail) carry(stage, p.base, max(p.stop, p.begin), p.end);
    if (head || tail) fold_bulk_fence();
  }

  /* Sums a thread's chunks side by side; they are `pitch` bytes apart, with n[c] places in chunk c. */
  static __device__ __forceinline__ void walk_vectors(wide (&v)[each], const unsigned char *chunk, unsigned pitch,
                                                      const unsigned (&n)[each], unsigned steps, unsigned skew) {
    uint4 nothing = vector::nothing();
#pragma unroll(each == 1 ? 8 : 16 / each)
    for (unsigned i = 0; i < steps; i++) {
      unsigned s = i - skew; /* below the skew this wraps around, to a place that does not exist */
#pragma unroll
      for (int c = 0; c < each; c++) {
        uint4 q = nothing;
        if (s < n[c]) q = *(const uint4 *)(chunk + c * pitch + 16 * s);
        v[c] = vector::template join<false>(v[c], q);
      }
    }
  }

  static __device__ __forceinline__ void walk_elements(wide (&v)[each], const unsigned char *chunk, unsigned pitch,
                                                       const unsigned (&n)[each], unsigned steps, unsigned skew) {
#pragma unroll(each == 1 ? 8 : 16 / each)
    for (unsigned i = 0; i < steps; i++) {
      unsigned s = i - skew;
#pragma unroll
      for (int c = 0; c < each; c++) {
        stored e = vector::none();
        if (s < n[c]) e = *(const stored *)(chunk + c * pitch + s * sizeof(stored));
        v[c] = op::join(v[c], element::widen(e));
      }
    }
  }

  /* The root of a thread's chunks. `row` points to the tile's first element in shared memory, `first` is the first of
   * the thread's chunks in the tile, `before` the tile's first chunk in its row. */
  template <bool vectors>
  static __device__ __forceinline__ wide walk(const unsigned char *row, size_t cols, const tile_plan &plan,
                                              unsigned before, unsigned first, bool idle) {
    unsigned n[each], pitch = (unsigned)plan.length * (unsigned)sizeof(stored), lane = threadIdx.x & plan.skew;
    wide v[each];
#pragma unroll
    for (int c = 0; c < each; c++) {
      size_t start = (before + first + c) * plan.length;
      v[c] = op::zero();
      n[c] = idle || start >= cols ? 0 : (unsigned)min(cols - start, plan.length);
      if (vectors) n[c] /= vector::many;
    }
    if (vectors)
      walk_vectors(v, row + first * pitch, pitch, n, (unsigned)plan.length / vector::many + plan.skew, lane);
    else
      walk_elements(v, row + first * pitch, pitch, n, (unsigned)plan.length + plan.skew, lane);
#pragma unroll
    for (int stride = 1; stride < each; stride *= 2)
#pragma unroll
      for (int c = 0; c + stride < each; c += 2 * stride) v[c] = op::join(v[c], v[c + stride]);
    return v[0];
  }

  /* Joins a tile's partials, one of each thread; the tile's first thread has the root. */
  static __device__ __forceinline__ wide combine(wide v, wide *meet, const tile_plan &plan) {
    if (plan.tree) {
      v = fold_rows_lanes<O>(v, (int)min(plan.threads, 32u));
      if (plan.threads <= 32) return v;
    }
    meet[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x & (plan.threads - 1)) return v;
    const wide *mine = meet + threadIdx.x;
    if (!plan.tree) {
      v = op::zero();
#pragma unroll 16
      for (unsigned i = 0; i < plan.threads; i++) v = op::join(v, mine[i]);
      return v;
    }
    fold_rows_counter<O, wide> counter;
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++)
      if (i < plan.threads / 32) v = counter.add(mine[32 * i]);
    return v;
  }
};

/* Tiles are numbered through the matrix: parts x row + part. Results go to out; if a row has several tiles, roots go to
 * partials by that number. */
template <int D, int O, int each, bool vectors>
static __global__ void __launch_bounds__(256)
    tile_rows(const typename fold_element<D>::stored *in, typename fold_element<D>::stored *out,
              typename fold_element<D>::wide *partials, size_t rows, size_t cols, tile_plan plan) {
#if __CUDA_ARCH__ >= 900
  typedef tile<D, O, each> t;
  typedef typename t::wide wide;
  extern __shared__ __align__(128) unsigned char stage[];
  __shared__ uint64_t full;
  __shared__ wide meet[256];
  if (threadIdx.x == 0) {
    fold_barrier_init(&full, 1);
    fold_barrier_init_done();
  }
  __syncthreads();
  const size_t total = rows << plan.part_bits;
  unsigned place = threadIdx.x >> plan.thread_bits, thread = threadIdx.x & (plan.threads - 1), parity = 0;
  for (size_t first = (size_t)blockIdx.x * plan.many; first < total; first += (size_t)gridDim.x * plan.many) {
    size_t last = min(first + plan.many, total), mine = first + place;
    tile_place p = t::place(in, rows, cols, plan, first, last);
    t::fill(stage, &full, p, plan);
    __syncthreads();
    fold_barrier_wait(&full, parity);
    parity ^= 1;
    bool idle = place >= plan.many || mine >= last;
    const unsigned char *row = stage + (p.begin - p.base) + (idle ? 0 : place * cols * sizeof(typename t::stored));
    row += idle ? 0 : thread * plan.pad;
    const unsigned before = (unsigned)(mine & (plan.parts - 1)) * plan.chunks;
    wide v = t::op::zero();
    for (unsigned round = 0; round < plan.rounds; round++) {
      wide half = t::template walk<vectors>(row, cols, plan, before, (thread * plan.rounds + round) * each, idle);
      v = round ? t::op::join(v, half) : half;
    }
    v = t::combine(v, meet, plan);
    if (thread == 0 && !idle) {
      if (plan.parts > 1)
        partials[mine] = v;
      else
        out[mine] = t::element::narrow(v);
    }
    __syncthreads(); /* before the next copy overwrites what others still read */
  }
#else
  __trap();
#endif
}

/* The end of a row that is spread over blocks: the tree over its tiles' roots. */
template <int D, int O>
static __global__ void join_tiles(const typename fold_element<D>::wide *partials, typename fold_element<D>::stored *out,
                                  size_t rows, unsigned parts) {
  typedef typename fold_element<D>::wide wide;
  size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  fold_rows_counter<O, wide> counter;
  wide v = fold_operation<O, wide>::zero();
  for (unsigned i = 0; i < parts; i++) v = counter.add(partials[row * parts + i]);
  out[row] = fold_element<D>::narrow(v);
}

template <int D, int O>
static fold_status join(const struct fold_call *call, const void *partials, unsigned parts) {
  join_tiles<D, O><<<(unsigned)((call->rows + 127) / 128), 128, 0, (cudaStream_t)call->stream>>>(
      (const typename fold_element<D>::wide *)partials, (typename fold_element<D>::stored *)call->out, call->rows,
      parts);
  return fold_cuda_launched("rows, join of tiles");
}

fold_status fold_rows_join(const struct fold_call *call, const void *partials, unsigned parts) {
  return fold_dispatch(call, [&](auto d, auto o) { return join<d, o>(call, partials, parts); });
}

template <int D, int O, int each, bool vectors>
static fold_status launch_tiles(const struct fold_call *call, void *partials, const tile_plan &plan) {
  typedef typename fold_element<D>::stored stored;
  auto kernel = tile_rows<D, O, each, vectors>;
  if (plan.shared > 40 * 1024)
    FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plan.shared));
  kernel<<<plan.grid, plan.block, plan.shared, (cudaStream_t)call->stream>>>(
      (const stored *)call->in[0], (stored *)call->out, (typename fold_element<D>::wide *)partials, call->rows,
      call->cols, plan);
  return fold_cuda_launched("rows, tile kernel");
}

/* `vectors`: every chunk starts and ends at a multiple of 16 bytes. The skew is a mask of lanes: 7 for reads of 16
 * bytes, which are served for eight lanes at a time, 31 for elements. */
template <int D, int O>
static fold_status launch(const struct fold_call *call, void *partials, unsigned each, tile_plan plan) {
  size_t size = fold_dtype_size(call->dtype), pitch = plan.length * size, apart = pitch * each;
  bool vectors = (uintptr_t)call->in[0] % 16 == 0 && call->cols * size % 16 == 0 && pitch % 16 == 0;
  plan.skew = vectors ? (apart % 32 == 0 ? 7 : 0) : (apart % 8 == 0 && plan.length >= 8 ? 31 : 0);
  plan.pad = vectors && plan.rounds == 2 && plan.many == 1 && call->cols == 256 * plan.length ? 16 : 0;
  if (plan.pad) {
    plan.skew = 0;
    plan.shared += plan.pad * plan.threads;
  }
  if (vectors) {
    if (each == 1) return launch_tiles<D, O, 1, true>(call, partials, plan);
    if (each == 4) return launch_tiles<D, O, 4, true>(call, partials, plan);
    return launch_tiles<D, O, 8, true>(call, partials, plan);
  }
  if (each == 1) return launch_tiles<D, O, 1, false>(call, partials, plan);
  if (each == 4) return launch_tiles<D, O, 4, false>(call, partials, plan);
  return launch_tiles<D, O, 8, false>(call, partials, plan);
}

/* TILE_BYTES: three blocks an SM, each with a tile of up to 72 KiB. Of small rows a block has several. */
enum { TILE_BYTES = 72 * 1024, SMALL_BYTES = 4 * 1024, MANY_BYTES = 32 * 1024 };

bool fold_rows_tile_fits(const struct fold_call *call, unsigned parts) {
  size_t length = fold_rows_chunk(call->cols, 256), size = fold_dtype_size(call->dtype);
  return (parts == 1 ? call->cols : 256 / parts * length) <= (TILE_BYTES - 64) / size;
}

static unsigned bits(unsigned power) { return power > 1 ? 1 + bits(power / 2) : 0; }

fold_status fold_rows_tile(const struct fold_call *call, const fold_rows_shape *shape, void *partials, unsigned parts) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  tile_plan plan;
  size_t bytes = call->cols * fold_dtype_size(call->dtype);
  plan.tree = shape->tree;
  plan.length = fold_rows_chunk(call->cols, shape->chunks);
  plan.parts = parts;
  plan.chunks = shape->chunks / parts;
  unsigned each = shape->chunks / shape->threads;
  if (shape->chunks == 256 && parts == 1 && bytes <= SMALL_BYTES) each = 8;
  plan.threads = plan.chunks / each;
  plan.rounds = each == 16 ? 2 : 1;
  each /= plan.rounds;
  plan.many = 1;
  if (parts == 1) {
    size_t fill = bytes ? MANY_BYTES / bytes : 256;
    size_t room = (call->launch.block ? min(call->launch.block, 256u) : 256u) / plan.threads;
    plan.many = (unsigned)max((size_t)1, min(fill, room));
  } else {
    bytes = plan.chunks * plan.length * fold_dtype_size(call->dtype);
  }
  plan.thread_bits = bits(plan.threads);
  plan.part_bits = bits(parts);
  plan.block = (plan.threads * plan.many + 31) / 32 * 32;
  plan.shared = plan.many * bytes + 32;
  size_t want = (call->rows * parts + plan.many - 1) / plan.many;
  plan.grid = (unsigned)min(want, call->launch.blocks ? (size_t)call->launch.blocks : (size_t)1 << 30);
  return fold_dispatch(call, [&](auto d, auto o) { return launch<d, o>(call, partials, each, plan); });
}
