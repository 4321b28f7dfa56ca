/* rows_tile.cu: the tree over 256 chunks, staged through shared memory by bulk copies of contiguous tiles.
 *
 * Order: rows/par_256: partial c = zero() + x[c L] + ... + x[c L + L - 1], L = ceil(cols / 256); then the tree over
 * neighbours. Claims: replays, same_bits_as rows/par_256, run_to_run, launch_, batch_, alignment_invariant.
 *
 * A tile is a group of 32 neighbouring chunks: contiguous memory. Each warp has a ring of tiles of its own and is its own
 * producer: one bulk copy a tile; no warp waits for another. A lane walks one chunk; five shuffles make
 * the group's subtree; the eight groups of a row meet in shared memory (or in scratch, for a row spread over blocks), once every
 * 32 rows. `each` groups of a row go to one warp: 1 (256 threads a row), 4 (64 threads), 8.
 *
 * Lanes a power of two apart would meet in one bank: in step s lane l reads place s - skew(l), which moves neighbours to
 * other banks for a few steps more. Launch: up to 8 / each warps ... see tile_plan(); any grid. Needs sm_90.
 */
#include "async.cuh"
#include "rows.cuh"

enum { GROUPS = 8, MOST_STAGES = 16, BATCH = 32 };

struct tile_plan {
  unsigned warps, stages, stage_bytes, skew, grid;
  size_t length;
};

/* Where a tile lies: bytes [begin, end) of elements, [copy, stop) of them by the engine, from `base` on. */
struct tile_place {
  uint64_t base, begin, end, copy, stop;
};

template <int D, int O>
struct tile {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  /* The engine copies whole 16-byte pieces that lie inside the array; a neighbour's bytes may come along. */
  static __device__ __forceinline__ tile_place place(const stored *in, size_t rows, size_t cols, size_t length, size_t row,
                                                     unsigned group) {
    tile_place p;
    size_t first = fold_rows_start(32 * group, length, cols), last = fold_rows_start(32 * group + 32, length, cols);
    if (row >= rows) row = last = first = 0;
    uint64_t low = ((uint64_t)in + 15) & ~(uint64_t)15, high = (uint64_t)(in + rows * cols) & ~(uint64_t)15;
    p.begin = (uint64_t)(in + row * cols + first);
    p.end = (uint64_t)(in + row * cols + last);
    p.base = p.begin & ~(uint64_t)15;
    p.copy = max(p.base, low);
    p.stop = min((p.end + 15) & ~(uint64_t)15, high);
    if (p.begin == p.end || p.stop < p.copy) p.stop = p.copy;
    return p;
  }

  static __device__ __forceinline__ void carry(unsigned char *stage, uint64_t base, uint64_t from, uint64_t to) {
    uint64_t at = from + (threadIdx.x % 32) * sizeof(stored);
    if (at < to) *(stored *)(stage + (at - base)) = *(const stored *)at;
    fold_bulk_fence();
  }

  static __device__ __forceinline__ void fill(unsigned char *stage, uint64_t *full, const tile_place &p) {
    if (threadIdx.x % 32 == 0) {
      uint32_t nbytes = (uint32_t)(p.stop - p.copy);
      fold_barrier_expect(full, nbytes);
      if (nbytes) fold_bulk_copy(stage + (p.copy - p.base), p.copy, nbytes, full);
    }
    /* The ends of the array that no whole 16-byte piece covers. */
    if (p.begin < p.copy) carry(stage, p.base, p.begin, min(p.copy, p.end));
    if (p.stop < p.end) carry(stage, p.base, max(p.stop, p.begin), p.end);
  }

  static __device__ __forceinline__ wide walk_vectors(const unsigned char *chunk, int n, int steps, int skew) {
    wide v = op::zero();
    uint4 nothing = vector::nothing();
#pragma unroll 8
    for (int i = 0; i < steps; i++) {
      int s = i - skew;
      uint4 q = nothing;
      if ((unsigned)s < (unsigned)n) q = *(const uint4 *)(chunk + 16 * s);
      v = vector::template join<false>(v, q);
    }
    return v;
  }

  static __device__ __forceinline__ wide walk_elements(const unsigned char *chunk, int n, int steps, int skew) {
    wide v = op::zero();
    const stored *x = (const stored *)chunk;
#pragma unroll 8
    for (int i = 0; i < steps; i++) {
      int s = i - skew;
      stored e = vector::none();
      if ((unsigned)s < (unsigned)n) e = x[s];
      v = op::join(v, element::widen(e));
    }
    return v;
  }

  /* The root of a group's subtree, in lane 0. */
  template <bool vectors>
  static __device__ __forceinline__ wide sum(const unsigned char *stage, const tile_place &p, size_t cols,
                                             const tile_plan &plan, unsigned group) {
    unsigned lane = threadIdx.x % 32;
    size_t first = fold_rows_start(32 * group, plan.length, cols);
    size_t start = fold_rows_start(32 * group + lane, plan.length, cols);
    size_t end = fold_rows_start(32 * group + lane + 1, plan.length, cols);
    int n = p.begin == p.end ? 0 : (int)(end - start);
    const unsigned char *chunk = stage + (p.begin - p.base) + (start - first) * sizeof(stored);
    int steps = (int)plan.length;
    wide v;
    if (vectors)
      v = walk_vectors(chunk, n / vector::many, steps / vector::many + (plan.skew ? 7 : 0), plan.skew ? lane % 8 : 0);
    else
      v = walk_elements(chunk, n, steps + (plan.skew ? 31 : 0), plan.skew ? lane : 0);
    return fold_rows_lanes<O>(v, 32);
  }

  /* The tree over a row's subtrees. */
  static __device__ __forceinline__ wide tree(const wide *partial, int n) {
    fold_rows_counter<O, wide> counter;
    wide v = op::zero();
    for (int i = 0; i < n; i++) v = counter.add(partial[i]);
    return v;
  }
};

/* partials == NULL: a row's groups are in one block, results go to out. Else group g of row r goes to partials[8 r + g]. */
template <int D, int O, int each, bool vectors>
static __global__ void __launch_bounds__(256) tile_rows(const typename tile<D, O>::stored *in, typename tile<D, O>::stored *out,
                                                        typename tile<D, O>::wide *partials, size_t rows, size_t cols,
                                                        tile_plan plan) {
#if __CUDA_ARCH__ >= 900
  typedef tile<D, O> t;
  typedef typename t::wide wide;
  const unsigned a_row = GROUPS / each; /* warps */
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ uint64_t full[8][MOST_STAGES];
  __shared__ wide meet[2][BATCH * GROUPS / each + 8];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned char *ring = shared + (size_t)warp * plan.stages * plan.stage_bytes;
  uint64_t *ready = full[warp];
  if (lane < plan.stages) fold_barrier_init(ready + lane, 1);
  fold_barrier_init_done();
  __syncwarp();

  /* Place k of a warp's list: row and group. Groups are numbered 8 row + group through the whole matrix. */
  const size_t total = rows * GROUPS, stride = (size_t)gridDim.x * plan.warps * each;
  const size_t mine = ((size_t)blockIdx.x * plan.warps + warp) * each;
  const size_t block_first = (size_t)blockIdx.x * plan.warps * each;
  const size_t rounds = block_first < total ? (total - block_first + stride - 1) / stride : 0;
  size_t fetch = mine;
  unsigned fetch_part = 0, fetch_stage = 0, stage = 0, parity = 0;
  auto fetch_next = [&]() {
    size_t id = fetch + fetch_part;
    t::fill(ring + fetch_stage * plan.stage_bytes, ready + fetch_stage,
            t::place(in, rows, cols, plan.length, id / GROUPS, id % GROUPS));
    if (++fetch_part == each) fetch_part = 0, fetch += stride;
    if (++fetch_stage == plan.stages) fetch_stage = 0;
  };
  size_t ahead = rounds * each, done = 0; /* tiles of this warp; tiles begun */
  for (unsigned s = 0; s < plan.stages && done < ahead; s++, done++) fetch_next();

  const unsigned rows_a_round = plan.warps / a_row ? plan.warps / a_row : 1;
  unsigned batched = 0, half = 0;
  size_t batch_first = 0;
  for (size_t round = 0; round < rounds; round++) {
    fold_rows_counter<O, wide> counter;
    wide v = t::op::zero();
    for (unsigned part = 0; part < each; part++) {
      size_t id = mine + round * stride + part;
      tile_place p = t::place(in, rows, cols, plan.length, id / GROUPS, id % GROUPS);
      __syncwarp();
      fold_barrier_wait(ready + stage, parity);
      wide group = t::template sum<vectors>(ring + stage * plan.stage_bytes, p, cols, plan, id % GROUPS);
      __syncwarp();
      if (done < ahead) fetch_next(), done++;
      if (++stage == plan.stages) stage = 0, parity ^= 1;
      v = each == 1 ? group : counter.add(group);
    }
    if (partials) {
      size_t id = mine + round * stride;
      if (lane == 0 && id < total) partials[id] = v;
      continue;
    }
    if (lane == 0) meet[half][batched * a_row + warp] = v;
    batched += rows_a_round;
    if (batched + rows_a_round <= BATCH && round + 1 < rounds) continue;
    __syncthreads();
    /* Row b of the batch: round batch_first + b / rows_a_round, place b % rows_a_round in it. */
    if (threadIdx.x < batched) {
      unsigned b = threadIdx.x;
      size_t row = (block_first + (batch_first + b / rows_a_round) * stride) / GROUPS + b % rows_a_round;
      if (row < rows) out[row] = t::element::narrow(t::tree(meet[half] + b * a_row, a_row));
    }
    half ^= 1;
    batched = 0;
    batch_first = round + 1;
  }
#else
  __trap();
#endif
}

template <int D, int O>
static __global__ void join_groups(const typename tile<D, O>::wide *partials, typename tile<D, O>::stored *out, size_t rows) {
  typedef tile<D, O> t;
  size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) out[row] = t::element::narrow(t::tree(partials + GROUPS * row, GROUPS));
}

template <int D, int O, int each, bool vectors>
static fold_status launch_tiles(const struct fold_call *call, void *partials, tile_plan plan) {
  typedef tile<D, O> t;
  size_t shared = (size_t)plan.warps * plan.stages * plan.stage_bytes;
  auto kernel = tile_rows<D, O, each, vectors>;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<plan.grid, plan.warps * 32, shared, (cudaStream_t)call->stream>>>(
      (const typename t::stored *)call->in, (typename t::stored *)call->out, (typename t::wide *)partials, call->rows,
      call->cols, plan);
  return fold_cuda_launched("rows, tile kernel");
}

template <int D, int O>
static fold_status join(const struct fold_call *call, const void *partials) {
  typedef tile<D, O> t;
  join_groups<D, O><<<(unsigned)((call->rows + 127) / 128), 128, 0, (cudaStream_t)call->stream>>>(
      (const typename t::wide *)partials, (typename t::stored *)call->out, call->rows);
  return fold_cuda_launched("rows, join of groups");
}

fold_status fold_rows_join(const struct fold_call *call, const void *partials) {
  FOLD_ROWS_DISPATCH(join, call, partials)
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, void *partials, unsigned each, tile_plan plan) {
  size_t size = fold_dtype_size(call->dtype);
  bool vectors = (uintptr_t)call->in % 16 == 0 && call->cols * size % 16 == 0 && plan.length * size % 16 == 0;
  plan.skew = vectors ? plan.length * size / 16 % 2 == 0 && plan.length * size >= 32
                      : plan.length * size / 4 % 2 == 0 && plan.length >= 8;
  if (vectors) {
    if (each == 1) return launch_tiles<D, O, 1, true>(call, partials, plan);
    if (each == 4) return launch_tiles<D, O, 4, true>(call, partials, plan);
    return launch_tiles<D, O, 8, true>(call, partials, plan);
  }
  if (each == 1) return launch_tiles<D, O, 1, false>(call, partials, plan);
  if (each == 4) return launch_tiles<D, O, 4, false>(call, partials, plan);
  return launch_tiles<D, O, 8, false>(call, partials, plan);
}

/* Shared memory for rings, of the 227 KiB that a block may have; the rest is for barriers and partials. */
enum { RING_BYTES = 220 * 1024 };

bool fold_rows_tile_fits(const struct fold_call *call) {
  size_t bytes = 32 * fold_rows_chunk(call->cols, 256) * fold_dtype_size(call->dtype) + 32;
  return 2 * 2 * bytes <= RING_BYTES;
}

fold_status fold_rows_tile(const struct fold_call *call, unsigned threads, void *partials, unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  tile_plan plan;
  plan.length = fold_rows_chunk(call->cols, 256);
  plan.stage_bytes = (unsigned)((32 * plan.length * fold_dtype_size(call->dtype) + 32 + 15) / 16 * 16);
  unsigned each = partials ? 1 : threads >= 256 && plan.stage_bytes * 16 <= RING_BYTES ? 1 : 4;
  plan.warps = partials ? 4 : 8;
  if (call->launch.block) plan.warps = call->launch.block / 32;
  plan.warps = max(partials ? 1 : GROUPS / each, min(plan.warps, 8u));
  if (partials && call->rows * GROUPS < 4 * sms) plan.warps = 1;
  while (plan.warps > 1 && plan.warps * 2 * plan.stage_bytes > RING_BYTES) plan.warps /= 2;
  if (!partials) plan.warps = plan.warps / (GROUPS / each) * (GROUPS / each);
  plan.stages = min((unsigned)MOST_STAGES, RING_BYTES / (plan.warps * plan.stage_bytes));
  size_t want = (call->rows * GROUPS + plan.warps * each - 1) / (plan.warps * each);
  plan.grid = (unsigned)min(want, (size_t)(call->launch.blocks ? call->launch.blocks : sms));
  FOLD_ROWS_DISPATCH(launch, call, partials, each, plan)
}
