/* rows_solo.cu: one thread a row where there are few rows, at the limit of latency; rung 2 of the single_ ladders.
 *
 * Order: single_for: zero() + x[0] + x[1] + ...; single_back: the same from the row's end; single_determ: the 256
 * chunks and the tree of rows/par_256. Claims: those of rows_window.cu, the same bits.
 *
 * A block has up to 32 rows, so that each SM has some: one warp adds, a row a lane; three feed it by bulk copies, a row
 * each, up to 24 stages of up to 8 KiB a row. The adders do nothing but read 16 bytes and add, so that the chain of
 * dependent additions, 4 cycles each, is most of what it takes; the tree has eight chains side by side, joined by the
 * counter, and is bound by issue; of longer chunks, one chain. Launch: 128 threads a block, a warp a scheduler; any grid.
 * Needs sm_90. For many rows rows_window.cu has 32 rows a warp and wins.
 *
 * Gained on an H200, 4 x 16,384 f32: single_for 664 (plain) to 43.5 us, 1.24 x the 33 us of the chain with a launch of
 * 2.7 us; single_determ 682 to 57 (one chain at a time) to 35 (side by side) to 25.6 us (four times as many chunks a
 * stage, addresses by immediates).
 * 4096 x 262,144 f32, times CUB segmented in the same run: windows 0.37; here, with one warp that feeds, by stages of 512
 * bytes a row 0.41, of 1 KiB 0.83 (its 32 copies take some 2,000 cycles, whatever their length), of 2 KiB 0.92; with four,
 * one beside the adders on their scheduler, 0.87. 1024 x 16,384, single_determ: windows 193 us, one chain 135, eight 37.
 */
#include "kernels/cuda/async.cuh"
#include "kernels/cuda/rows/rows.cuh"

enum { STAGES = 24, STAGE = 8192, SIDE = 8, FEEDERS = 3, THREADS = 32 + 32 * FEEDERS };

struct solo_plan {
  size_t length;   /* elements of each chunk */
  unsigned octets; /* tree: groups of eight chunks in a stage, a power of two; 0: stages cut the row anywhere */
  unsigned lanes;  /* rows a block */
  unsigned stage;  /* bytes of a row in a stage; the next row's are 16 bytes further on, in other banks */
  unsigned stages;
};

template <int D, int O>
struct solo {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;

  /* Copies bytes [begin, end) of a row to the stage: whole 16-byte pieces by the copy engine, the array's ends element
   * by element. */
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

  /* Joins the elements of a piece of 16 bytes that lie in [begin, end), bytes of a stage. */
  template <bool backward>
  static __device__ __forceinline__ wide cut(wide v, const unsigned char *stage, int piece, int begin, int end) {
    if (begin >= end) return v;
    typename vector::pack p;
    p.all = *(const uint4 *)(stage + 16 * piece);
#pragma unroll
    for (int k = 0; k < vector::many; k++) {
      const int at = 16 * piece + k * (int)sizeof(stored);
      p.each[k] = at >= begin && at < end ? p.each[k] : vector::none();
    }
    return vector::template join<backward>(v, p.all);
  }

  /* Joins the elements in [begin, end), bytes of a stage, in rising or falling index; all but the first and the last
   * piece of 16 bytes are whole. The whole warp calls. Lanes whose rows begin at another place in a piece read as many
   * pieces. Eight reads are ahead of the chain. */
  template <bool backward>
  static __device__ __forceinline__ wide chain(wide v, const unsigned char *stage, int begin, int end) {
    const bool head = __any_sync(0xffffffffu, begin & 15), tail = __any_sync(0xffffffffu, end & 15);
    const int first = begin / 16, last = end / 16, from = first + head;
    const bool alone = head && first == last; /* both ends are in one piece */
    if (backward ? tail && !alone : head) v = cut<backward>(v, stage, backward ? last : first, begin, end);
    int many = last - from, step = backward ? -16 : 16, i = 0;
    const unsigned char *at = stage + 16 * (backward ? last - 1 : from);
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
    uint4 q[deep - 1];
#pragma unroll
    for (int k = 0; k < deep - 1; k++)
      if (i + k < many) q[k] = *(const uint4 *)(at + k * step);
#pragma unroll
    for (int k = 0; k < deep - 1; k++)
      if (i + k < many) v = vector::template join<backward>(v, q[k]);
    if (backward ? head : tail && !alone) v = cut<backward>(v, stage, backward ? first : last, begin, end);
    return v;
  }

  static __device__ __forceinline__ void read(uint4 (&q)[SIDE], const unsigned char *const (&at)[SIDE], int offset) {
#pragma unroll
    for (int c = 0; c < SIDE; c++) q[c] = *(const uint4 *)(at[c] + offset);
  }

  /* Joins the next 16 bytes of each chunk, one element of each in turn, so that no addition waits for the one
   * before. */
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

  /* The root of the subtree of eight chunks, which are summed side by side: from `stage` on, `pitch` bytes apart, with
   * n[c] elements in chunk c. */
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

/* A chunk that goes over several stages, and how many of its bytes are left. */
template <int D, int O>
struct solo_chunks {
  typedef solo<D, O> s;
  typedef typename s::wide wide;
  fold_rows_counter<O, wide> counter;
  wide v, root;
  uint64_t left, whole;

  __device__ __forceinline__ solo_chunks(size_t length) : whole(length * sizeof(typename s::stored)) { start(); }
  __device__ __forceinline__ void start() {
    counter.count = 0;
    v = root = s::op::zero();
    left = whole;
  }
  __device__ __forceinline__ void next() {
    root = counter.add(v);
    v = s::op::zero();
    left = whole;
  }
  /* The whole warp calls. */
  __device__ __forceinline__ void take(const unsigned char *stage, int at, int end) {
    while (__any_sync(0xffffffffu, at < end)) {
      const int n = (int)min(left, (uint64_t)(end - at));
      v = s::template chain<false>(v, stage, at, at + n);
      at += n;
      left -= n;
      if (left == 0) next();
    }
  }
  __device__ __forceinline__ wide finish() {
    while (counter.count < 256) next();
    return root;
  }
};

/* Stage k of a row: its k-th plan.stage bytes, counted from the row's first whole 16 bytes, or its k-th octets x 8
 * chunks. The falling order takes stages from the last on. */
template <int D, int O>
static __device__ __forceinline__ void solo_bytes(const typename solo<D, O>::stored *row, size_t cols,
                                                  const solo_plan &plan, size_t k, uint64_t *base, uint64_t *begin,
                                                  uint64_t *end) {
  uint64_t first = (uint64_t)row, last = (uint64_t)(row + cols);
  if (plan.octets) {
    size_t chunks = SIDE * plan.octets;
    *begin = (uint64_t)(row + fold_rows_start(chunks * k, plan.length, cols));
    *end = (uint64_t)(row + fold_rows_start(chunks * (k + 1), plan.length, cols));
    *base = *begin & ~(uint64_t)15;
  } else {
    *base = (first & ~(uint64_t)15) + k * plan.stage;
    *begin = max(first, *base);
    *end = max(*begin, min(last, *base + plan.stage));
  }
}

/* Warp 0 adds, with a row for each lane; the other warps copy. A lane's copy begins only after that of the lane before
 * it in its warp, so that the rows are dealt in turn to the copying warps. */
template <int D, int O, bool tree, bool backward>
static __global__ void __launch_bounds__(THREADS)
    solo_rows(const typename solo<D, O>::stored *in, typename solo<D, O>::stored *out, size_t rows, size_t cols,
              solo_plan plan, bool vectors) {
#if __CUDA_ARCH__ >= 900
  typedef solo<D, O> s;
  typedef typename s::wide wide;
  typedef typename s::stored stored;
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x < plan.stages) {
    fold_barrier_init(full + threadIdx.x, plan.lanes);
    fold_barrier_init(empty + threadIdx.x, plan.lanes);
    fold_barrier_init_done();
  }
  __syncthreads();
  const bool feeds = threadIdx.x >= 32;
  const unsigned lane = feeds ? threadIdx.x % 32 * FEEDERS + threadIdx.x / 32 - 1 : threadIdx.x,
                 pitch = plan.stage + 16;
  const size_t many =
      plan.octets ? 256 / (SIDE * plan.octets) : (cols * sizeof(stored) + 15 + plan.stage - 1) / plan.stage;
  unsigned stage = 0, parity = 0;
  for (size_t group = (size_t)blockIdx.x * plan.lanes; group < rows; group += (size_t)gridDim.x * plan.lanes) {
    const bool mine = lane < plan.lanes && group + lane < rows;
    const size_t row = mine ? group + lane : group;
    uint64_t base, begin, end;
    fold_rows_counter<O, wide> counter;
    solo_chunks<D, O> chunks(plan.length);
    wide v = s::op::zero();
    for (size_t i = 0; i < many; i++) {
      solo_bytes<D, O>(in + row * cols, cols, plan, backward ? many - 1 - i : i, &base, &begin, &end);
      if (!mine) end = begin;
      unsigned char *here = ring + (stage * plan.lanes + (mine ? lane : 0)) * pitch;
      if (feeds) {
        if (lane < plan.lanes) {
          fold_barrier_wait(empty + stage, parity ^ 1);
          s::fill(here, full + stage, base, begin, end, (uint64_t)in, (uint64_t)(in + rows * cols));
        }
      } else {
        fold_barrier_wait(full + stage, parity);
        if (tree && plan.octets) {
          if (mine) {
            size_t left = (size_t)(end - begin) / sizeof(stored), step = SIDE * plan.length;
            const unsigned char *at = here + (begin - base);
            for (unsigned o = 0; o < plan.octets; o++, at += step * sizeof(stored)) {
              v = counter.add(s::eight(at, plan.length, left, vectors));
              left -= min(left, step);
            }
          }
        } else if (tree) {
          chunks.take(here, (int)(begin - base), (int)(end - base));
        } else {
          v = s::template chain<backward>(v, here, (int)(begin - base), (int)(end - base));
        }
        if (lane < plan.lanes) fold_barrier_arrive(empty + stage);
      }
      if (++stage == plan.stages) stage = 0, parity ^= 1;
    }
    if (tree && !plan.octets && !feeds) v = chunks.finish();
    if (mine && !feeds) out[row] = s::element::narrow(v);
  }
#else
  __trap();
#endif
}

template <int D, int O, bool tree, bool backward>
static fold_status launch_solo(const struct fold_call *call, const solo_plan &plan, unsigned grid) {
  typedef solo<D, O> s;
  auto kernel = solo_rows<D, O, tree, backward>;
  size_t size = fold_dtype_size(call->dtype), shared = plan.stages * plan.lanes * (plan.stage + 16);
  bool vectors = (uintptr_t)call->in[0] % 16 == 0 && plan.length * size % 16 == 0 && call->cols == 256 * plan.length &&
                 plan.length > 0;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<grid, THREADS, shared, (cudaStream_t)call->stream>>>(
      (const typename s::stored *)call->in[0], (typename s::stored *)call->out, call->rows, call->cols, plan, vectors);
  return fold_cuda_launched("rows, solo kernel");
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, const fold_rows_shape *shape, const solo_plan &plan,
                          unsigned grid) {
  if (shape->chunks == 256) return launch_solo<D, O, true, false>(call, plan, grid);
  if (shape->backward) return launch_solo<D, O, false, true>(call, plan, grid);
  return launch_solo<D, O, false, false>(call, plan, grid);
}

/* RING: the shared memory of a block, half as much if an SM has two blocks. LONG_ROW: from this length on the kernel
 * pays off for any number of rows. */
enum { RING = 200 * 1024, LONG_ROW = 4096 };

bool fold_rows_solo_fits(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned sms) {
  const bool few = call->rows <= 2 * (size_t)sms, longer = call->cols * fold_dtype_size(call->dtype) >= LONG_ROW;
  return shape->threads == 1 && (few || (longer && call->rows <= 64 * (size_t)sms));
}

/* A stage has whole groups of eight chunks if three such stages fit; else a size that keeps copies long and several of
 * them ahead. */
static solo_plan plan_of(const struct fold_call *call, bool tree, unsigned lanes, unsigned ring) {
  solo_plan plan = {fold_rows_chunk(call->cols, 256), 0, lanes, STAGE, 0};
  const size_t octet = SIDE * plan.length * fold_dtype_size(call->dtype);
  auto fits = [&](size_t stage) { return 3 * lanes * (stage + 16) <= ring; };
  while (plan.stage > 2048 && plan.stage * lanes > 2 * STAGE) plan.stage /= 2;
  while (!fits(plan.stage)) plan.stage /= 2;
  if (tree && octet > 0 && octet <= STAGE && fits(octet)) {
    plan.stage = max(plan.stage, (unsigned)octet);
    for (plan.octets = 1; plan.octets < 8 && 2 * plan.octets * octet <= plan.stage;) plan.octets *= 2;
  }
  plan.stages = min((unsigned)STAGES, ring / (lanes * (plan.stage + 16)));
  return plan;
}

fold_status fold_rows_solo(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  const unsigned lanes = (unsigned)min((call->rows + sms - 1) / sms, (size_t)32);
  const size_t groups = (call->rows + lanes - 1) / lanes;
  const unsigned grid = (unsigned)min(groups, call->launch.blocks ? (size_t)call->launch.blocks : 2 * (size_t)sms);
  const solo_plan plan = plan_of(call, shape->chunks == 256, lanes, groups > sms ? RING / 2 : RING);
  return fold_dispatch(call, [&](auto d, auto o) { return launch<d, o>(call, shape, plan, grid); });
}
