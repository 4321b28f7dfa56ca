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

template <int D, int O, int each>
struct tile {
  static const unsigned parts = GROUPS / each; /* tiles, and so warps, a row */
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  /* The engine copies whole 16-byte pieces that lie inside the array; a neighbour's bytes may come along. */
  static __device__ __forceinline__ tile_place place(const stored *in, size_t rows, size_t cols, size_t length, size_t row,
                                                     unsigned part) {
    tile_place p;
    size_t first = fold_rows_start(32 * each * part, length, cols);
    size_t last = fold_rows_start(32 * each * (part + 1), length, cols);
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

  /* A lane's chunks are side by side, `pitch` bytes apart, and their chains run side by side; n[c] places in chunk c. */
  static __device__ __forceinline__ void walk_vectors(wide (&v)[each], const unsigned char *chunk, unsigned pitch,
                                                      const unsigned (&n)[each], unsigned steps, unsigned skew) {
    uint4 nothing = vector::nothing();
#pragma unroll(each == 1 ? 8 : 2)
    for (unsigned i = 0; i < steps; i++) {
      unsigned s = i - skew; /* below the skew: no place at all */
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
#pragma unroll(each == 1 ? 8 : 2)
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

  /* The root of a tile's subtree, in lane 0: first the lane's chunks, then the lanes. */
  template <bool vectors>
  static __device__ __forceinline__ wide sum(const unsigned char *stage, const tile_place &p, size_t cols,
                                             const tile_plan &plan, unsigned part) {
    unsigned lane = threadIdx.x % 32, first = (32 * part + lane) * each, n[each];
    wide v[each];
#pragma unroll
    for (int c = 0; c < each; c++) {
      v[c] = op::zero();
      n[c] = p.begin == p.end ? 0
                              : (unsigned)(fold_rows_start(first + c + 1, plan.length, cols) -
                                           fold_rows_start(first + c, plan.length, cols));
      if (vectors) n[c] /= vector::many;
    }
    unsigned pitch = (unsigned)plan.length * (unsigned)sizeof(stored), lanes_skew = plan.skew;
    const unsigned char *chunk = stage + (p.begin - p.base) + lane * each * pitch;
    if (vectors)
      walk_vectors(v, chunk, pitch, n, (unsigned)plan.length / vector::many + lanes_skew, lane & lanes_skew);
    else
      walk_elements(v, chunk, pitch, n, (unsigned)plan.length + lanes_skew, lane & lanes_skew);
#pragma unroll
    for (int stride = 1; stride < each; stride *= 2)
#pragma unroll
      for (int c = 0; c + stride < each; c += 2 * stride) v[c] = op::join(v[c], v[c + stride]);
    return fold_rows_lanes<O>(v[0], 32);
  }

  /* The tree over a row's subtrees. */
  static __device__ __forceinline__ wide tree(const wide *partial, int n) {
    fold_rows_counter<O, wide> counter;
    wide v = op::zero();
    for (int i = 0; i < n; i++) v = counter.add(partial[i]);
    return v;
  }
};

/* partials == NULL: a row's tiles are in one block, results go to out. Else tile g of row r goes to partials[8 r + g].
 * Tiles are numbered through the whole matrix, parts x row + part; in each round a block takes plan.warps of them. */
template <int D, int O, int each, bool vectors>
static __global__ void __launch_bounds__(256)
    tile_rows(const typename fold_element<D>::stored *in, typename fold_element<D>::stored *out,
              typename fold_element<D>::wide *partials, size_t rows, size_t cols, tile_plan plan) {
#if __CUDA_ARCH__ >= 900
  typedef tile<D, O, each> t;
  typedef typename t::wide wide;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ uint64_t full[8][MOST_STAGES];
  __shared__ wide meet[2][BATCH * t::parts];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned char *ring = shared + (size_t)warp * plan.stages * plan.stage_bytes;
  uint64_t *ready = full[warp];
  if (lane < plan.stages) fold_barrier_init(ready + lane, 1);
  fold_barrier_init_done();
  __syncwarp();

  const size_t total = rows * t::parts, stride = (size_t)gridDim.x * plan.warps;
  const size_t first = (size_t)blockIdx.x * plan.warps;
  const size_t rounds = first < total ? (total - first + stride - 1) / stride : 0;
  auto fetch = [&](size_t round, unsigned stage) {
    size_t id = first + warp + round * stride;
    t::fill(ring + stage * plan.stage_bytes, ready + stage,
            t::place(in, rows, cols, plan.length, id / t::parts, id % t::parts));
  };
  for (unsigned s = 0; s < plan.stages && s < rounds; s++) fetch(s, s);

  unsigned stage = 0, parity = 0, batched = 0, half = 0;
  size_t batch_first = 0;
  for (size_t round = 0; round < rounds; round++) {
    size_t id = first + warp + round * stride;
    tile_place p = t::place(in, rows, cols, plan.length, id / t::parts, id % t::parts);
    __syncwarp();
    fold_barrier_wait(ready + stage, parity);
    wide v = t::template sum<vectors>(ring + stage * plan.stage_bytes, p, cols, plan, id % t::parts);
    __syncwarp();
    if (round + plan.stages < rounds) fetch(round + plan.stages, stage);
    if (++stage == plan.stages) stage = 0, parity ^= 1;
    if (partials) {
      if (lane == 0 && id < total) partials[id] = v;
      continue;
    }
    if (lane == 0) meet[half][batched * t::parts + warp] = v;
    const unsigned rows_a_round = plan.warps / t::parts;
    batched += rows_a_round;
    if (batched + rows_a_round <= BATCH && round + 1 < rounds) continue;
    __syncthreads();
    for (unsigned b = threadIdx.x; b < batched; b += blockDim.x) {
      size_t row = (first + (batch_first + b / rows_a_round) * stride) / t::parts + b % rows_a_round;
      if (row < rows) out[row] = t::element::narrow(t::tree(meet[half] + b * t::parts, t::parts));
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
static __global__ void join_groups(const typename fold_element<D>::wide *partials, typename fold_element<D>::stored *out,
                                   size_t rows) {
  typedef tile<D, O, 1> t;
  size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) out[row] = t::element::narrow(t::tree(partials + GROUPS * row, GROUPS));
}

#ifdef FOLD_ROWS_LAB
int knob_each, knob_warps, knob_stages, knob_rounds, knob_pad;
#endif
template <int D, int O, int each, bool vectors>
static fold_status launch_tiles(const struct fold_call *call, void *partials, tile_plan plan) {
  typedef fold_element<D> t;
  size_t shared = (size_t)plan.warps * plan.stages * plan.stage_bytes;
#ifdef FOLD_ROWS_LAB
  shared = max(shared, (size_t)knob_pad);
#endif
  auto kernel = tile_rows<D, O, each, vectors>;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<plan.grid, plan.warps * 32, shared, (cudaStream_t)call->stream>>>(
      (const typename t::stored *)call->in, (typename t::stored *)call->out, (typename t::wide *)partials, call->rows,
      call->cols, plan);
  return fold_cuda_launched("rows, tile kernel");
}

template <int D, int O>
static fold_status join(const struct fold_call *call, const void *partials) {
  typedef fold_element<D> t;
  join_groups<D, O><<<(unsigned)((call->rows + 127) / 128), 128, 0, (cudaStream_t)call->stream>>>(
      (const typename t::wide *)partials, (typename t::stored *)call->out, call->rows);
  return fold_cuda_launched("rows, join of groups");
}

fold_status fold_rows_join(const struct fold_call *call, const void *partials) {
  FOLD_ROWS_DISPATCH(join, call, partials)
}

/* Vectors: every chunk starts and ends at a multiple of 16 bytes. The skew is a mask of lanes: 7 for reads of 16 bytes,
 * of which eight lanes are served at a time, 31 for elements. */
template <int D, int O>
static fold_status launch(const struct fold_call *call, void *partials, unsigned each, tile_plan plan) {
  size_t size = fold_dtype_size(call->dtype), pitch = plan.length * size, apart = pitch * each;
  bool vectors = (uintptr_t)call->in % 16 == 0 && call->cols * size % 16 == 0 && pitch % 16 == 0;
  plan.skew = vectors ? (apart % 32 == 0 ? 7 : 0) : (apart % 8 == 0 && plan.length >= 8 ? 31 : 0);
  if (vectors) {
    if (each == 1) return launch_tiles<D, O, 1, true>(call, partials, plan);
    if (each == 4) return launch_tiles<D, O, 4, true>(call, partials, plan);
    return launch_tiles<D, O, 8, true>(call, partials, plan);
  }
  if (each == 1) return launch_tiles<D, O, 1, false>(call, partials, plan);
  if (each == 4) return launch_tiles<D, O, 4, false>(call, partials, plan);
  return launch_tiles<D, O, 8, false>(call, partials, plan);
}

/* Shared memory for rings: what an SM has, and what a block may have; the rest is for barriers and partials. */
enum { SM_BYTES = 222 * 1024, BLOCK_BYTES = 220 * 1024 };

bool fold_rows_tile_fits(const struct fold_call *call) {
  return 8 * (32 * fold_rows_chunk(call->cols, 256) * fold_dtype_size(call->dtype) + 48) <= BLOCK_BYTES;
}


fold_status fold_rows_tile(const struct fold_call *call, unsigned threads, void *partials, unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  tile_plan plan;
  plan.length = fold_rows_chunk(call->cols, 256);
  size_t group = 32 * plan.length * fold_dtype_size(call->dtype);
  unsigned each = partials ? 1 : 8 * group <= 8192 ? 8 : threads >= 256 ? 1 : 4;
  unsigned parts = GROUPS / each;
  plan.stage_bytes = (unsigned)((each * group + 32 + 15) / 16 * 16);
  plan.warps = partials ? 4 : max(parts, call->launch.block ? min(call->launch.block / 32, 8u) / parts * parts : parts);
  if (each == 8 && !call->launch.block) plan.warps = 8;
  plan.stages = 1;
  unsigned rounds = 1;
  if (each == 8) plan.stages = 2, rounds = 4;
#ifdef FOLD_ROWS_LAB
  if (knob_each) {
    each = knob_each; parts = GROUPS / each; plan.stage_bytes = (unsigned)((each * group + 32 + 15) / 16 * 16);
    plan.warps = knob_warps; plan.stages = knob_stages; rounds = knob_rounds;
  }
#endif
  if (partials && call->rows * GROUPS < 4 * sms) plan.warps = 1;
  while (plan.warps > parts && plan.warps * plan.stage_bytes > BLOCK_BYTES) plan.warps /= 2;
  plan.stages = max(1u, min(plan.stages, BLOCK_BYTES / (plan.warps * plan.stage_bytes)));
  size_t want = (call->rows * parts + plan.warps - 1) / plan.warps, grid = (want + rounds - 1) / rounds;
  if (grid < 4 * sms) grid = want;
  plan.grid = (unsigned)(call->launch.blocks ? min((size_t)call->launch.blocks, want) : min(grid, (size_t)1 << 30));
  FOLD_ROWS_DISPATCH(launch, call, partials, each, plan)
}
