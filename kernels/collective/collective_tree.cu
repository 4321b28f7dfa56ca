/* collective_tree.cu: the all-reduce of vectors by a tree over ranks, over rooms that ranks write to.
 *
 * Order: host/pairwise over ranks 0 .. R - 1: for stride 1, 2, 4: rank r's partial takes rank r + stride's for every r
 * that is a multiple of 2 stride and has one; 16-bit terms widened to f32, rounded once at the end. A function of R
 * alone.
 *
 * Claims: replays host/pairwise, rank_agreement, message_invariant, alignment_invariant, run_to_run.
 *
 * Lines (small vectors): every rank sends its vector to all, and each combines all of it. One way from rank to rank.
 *
 * Steps (large ones): the vector is cut in steps, a step in slices, one a rank. In step t a block
 *   1. sends the others their slices' terms,
 *   2. takes its own slice's terms from the others, combines them, sends the result to all,
 *   3. takes the others' results.
 * Block b talks with the blocks b of the other ranks only. Each of the three has warps of its own, which wait for
 * no ranks but those that they need: the links are busy with 1 of later steps while 2 waits for a flag. Bytes over each link,
 * each way: 2 (R - 1) / R n.
 *
 * Slots: step t writes where step t - S did. 1 of step t waits for the block's own 3 of step t - S, which waited for
 * all ranks' 2 of it: no rank reads these slices any more. 2 of step t needs all ranks' 1 of step t, each of which
 * came after that rank's own 3 of step t - S: no rank reads these results any more. Calls go on counting where the last
 * one ended.
 *
 * Measured against ncclAllReduce in the same run, f32, time or bus bandwidth:
 *   8 H200   1 KiB 5.0 us, NCCL 15.2   16 KiB 5.2, 16.4   64 KiB 7.4, 17.9   128 KiB 10.0, 18.2
 *   4 H200   16 MiB 88 us, NCCL 104   256 MiB 341 GB/s, 339   1 GiB 345 GB/s, 352
 *   2 H200   16 MiB 59 us, NCCL 78   128 MiB 336 GB/s, 286   1 GiB 346 GB/s, 328
 * Rungs: all threads do 1, 2 and 3 in turn, 1 of the next step before 2: 247 GB/s at 1 GiB on 2 GPUs, for each step's
 * flags stood in its way; warps of their own 342; more of them, 1024 threads in all, 346. 256 blocks of half the
 * threads: the same.
 * Limit at 1 GiB on 4 H200: stores without flags or sums reach 353 GB/s if each GPU writes to three others, 366 if it writes to
 * one, as in NCCL's ring (registers and bulk copies alike; phases of 8 MiB with one destination each drift apart and are slower).
 * Twelve other shapes of this kernel (64 to 132 blocks, 4 to 32 KiB a slice, 3 to 8 slots, other shares of warps, one to three packs a
 * thread in 2) all ran at 346 to 348 GB/s, NCCL at 351 to 355.
 */
#include <stddef.h>

#include "kernels/collective/collective_reach.cuh"
#include "kernels/cuda/common.cuh"
#include "kernels/cuda/dispatch.cuh"

/* BYTES of neighbouring elements as words of 32 bits. */
template <int BYTES>
struct tree_words {
  uint32_t w[BYTES / 4];
};

template <int D, int BYTES>
static __device__ __forceinline__ typename fold_element<D>::wide tree_get(const tree_words<BYTES> &x, int v) {
  if constexpr (D == FOLD_F64)
    return __hiloint2double((int)x.w[2 * v + 1], (int)x.w[2 * v]);
  else if constexpr (D == FOLD_F32)
    return __uint_as_float(x.w[v]);
  else
    return fold_element<D>::widen((uint16_t)(x.w[v / 2] >> 16 * (v & 1)));
}
template <int D, int BYTES>
static __device__ __forceinline__ void tree_put(tree_words<BYTES> &x, int v, typename fold_element<D>::wide value) {
  if constexpr (D == FOLD_F64) {
    x.w[2 * v] = (uint32_t)__double2loint(value);
    x.w[2 * v + 1] = (uint32_t)__double2hiint(value);
  } else if constexpr (D == FOLD_F32) {
    x.w[v] = __float_as_uint(value);
  } else {
    const uint32_t half = fold_element<D>::narrow(value);
    x.w[v / 2] = v & 1 ? (x.w[v / 2] & 0xffffu) | half << 16 : half;
  }
}

/* Elements [at, at + BYTES / size) of n; zeros past n. `wide`: the first element of the vector is aligned to BYTES. */
template <int D, int BYTES>
static __device__ __forceinline__ tree_words<BYTES> tree_load(const typename fold_element<D>::stored *in, size_t at,
                                                              size_t n, bool wide) {
  typedef typename fold_element<D>::stored stored;
  const int EACH = BYTES / (int)sizeof(stored);
  tree_words<BYTES> x;
  if (wide && at + EACH <= n) {
    if constexpr (BYTES == 16) {
      const uint4 v = __ldcs((const uint4 *)(in + at));
      x.w[0] = v.x, x.w[1] = v.y, x.w[2] = v.z, x.w[3] = v.w;
    } else {
      const uint2 v = __ldcs((const uint2 *)(in + at));
      x.w[0] = v.x, x.w[1] = v.y;
    }
    return x;
  }
#pragma unroll
  for (int k = 0; k < BYTES / 4; k++) x.w[k] = 0;
#pragma unroll
  for (int v = 0; v < EACH; v++)
    if (at + v < n) {
      if constexpr (sizeof(stored) == 2)
        x.w[v / 2] |= (uint32_t)in[at + v] << 16 * (v & 1);
      else
        tree_put<D, BYTES>(x, v, in[at + v]);
    }
  return x;
}
template <int D, int BYTES>
static __device__ __forceinline__ void tree_store(typename fold_element<D>::stored *out, size_t at, size_t n, bool wide,
                                                  const tree_words<BYTES> &x) {
  typedef typename fold_element<D>::stored stored;
  const int EACH = BYTES / (int)sizeof(stored);
  if (wide && at + EACH <= n) {
    if constexpr (BYTES == 16)
      __stcs((uint4 *)(out + at), make_uint4(x.w[0], x.w[1], x.w[2], x.w[3]));
    else
      __stcs((uint2 *)(out + at), make_uint2(x.w[0], x.w[1]));
    return;
  }
#pragma unroll
  for (int v = 0; v < EACH; v++)
    if (at + v < n) {
      if constexpr (sizeof(stored) == 2)
        out[at + v] = (uint16_t)(x.w[v / 2] >> 16 * (v & 1));
      else if constexpr (sizeof(stored) == 4)
        out[at + v] = __uint_as_float(x.w[v]);
      else
        out[at + v] = tree_get<D, BYTES>(x, v);
    }
}

/* The tree over the ranks' terms, element by element. */
template <int D, int O, int BYTES>
static __device__ __forceinline__ tree_words<BYTES> tree_combine(const tree_words<BYTES> (&term)[FOLD_REACH_MOST],
                                                                 int ranks) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  tree_words<BYTES> sum;
#pragma unroll
  for (int v = 0; v < BYTES / (int)sizeof(typename fold_element<D>::stored); v++) {
    W x[FOLD_REACH_MOST];
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++) x[r] = tree_get<D, BYTES>(term[r], v);
#pragma unroll
    for (int stride = 1; stride < FOLD_REACH_MOST; stride *= 2)
#pragma unroll
      for (int r = 0; r + stride < FOLD_REACH_MOST; r += 2 * stride)
        if (r + stride < ranks) x[r] = OP::join(x[r], x[r + stride]);
    tree_put<D, BYTES>(sum, v, x[0]);
  }
  return sum;
}

template <int D, int O>
__global__ __launch_bounds__(REACH_LINE_THREADS) void tree_lines_kernel(const __grid_constant__ reach_view view,
                                                                        const typename fold_element<D>::stored *in,
                                                                        typename fold_element<D>::stored *out, size_t n,
                                                                        bool wide_in, bool wide_out) {
  const int EACH = 8 / (int)sizeof(typename fold_element<D>::stored);
  const unsigned line = blockIdx.x * REACH_LINE_THREADS + threadIdx.x;
  const size_t at = (size_t)line * EACH;
  const uint32_t call = reach_begin_call(view);
  if (at < n) {
    const tree_words<8> own = tree_load<D, 8>(in, at, n, wide_in);
    uint64_t all[FOLD_REACH_MOST];
    reach_swap_lines(view, line, call, (uint64_t)own.w[1] << 32 | own.w[0], all);
    tree_words<8> term[FOLD_REACH_MOST];
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++) term[r] = {{(uint32_t)all[r], (uint32_t)(all[r] >> 32)}};
    tree_store<D, 8>(out, at, n, wide_out, tree_combine<D, O, 8>(term, view.ranks));
  }
  reach_end_call(view, call);
}

/* The message as a block sees it. Pack p is elements [p * EACH, (p + 1) * EACH). */
template <int D>
struct tree_message {
  typedef typename fold_element<D>::stored stored;
  const stored *in;
  stored *out;
  size_t n, packs;
  int shift; /* in a step, a block has 2^shift packs of each slice */
  bool wide_in, wide_out;
};

static __device__ __forceinline__ uint4 tree_pack(const tree_words<16> &x) {
  return make_uint4(x.w[0], x.w[1], x.w[2], x.w[3]);
}
static __device__ __forceinline__ tree_words<16> tree_unpack(const uint4 &x) { return {{x.x, x.y, x.z, x.w}}; }

/* The first pack of the block's part of step t. */
template <int D>
static __device__ __forceinline__ size_t tree_at(const reach_view &view, const tree_message<D> &m, size_t t) {
  return ((t * gridDim.x + blockIdx.x) * view.ranks) << m.shift;
}

/* A pack of a step: whose slice it belongs to, and its place in the slice and in the message. */
struct tree_place {
  int rank;
  unsigned i;
  size_t p;
};

#define TREE_UNROLL 4

/* Goes through the packs of the others' slices, one slice after the other: read(place) for several at once, then
 * write(place, pack). */
template <int D, class READ, class WRITE>
static __device__ __forceinline__ void tree_walk(const reach_view &view, const tree_message<D> &m,
                                                 const reach_group &group, size_t t, READ read, WRITE write) {
  const size_t first = tree_at(view, m, t);
  const unsigned all = (unsigned)(view.ranks - 1) << m.shift, mask = (1u << m.shift) - 1;
  const auto place = [&](unsigned j) {
    const int rank = reach_next(view, 1 + (int)(j >> m.shift));
    return tree_place{rank, j & mask, first + ((size_t)rank << m.shift) + (j & mask)};
  };
  for (unsigned j0 = group.thread; j0 < all; j0 += TREE_UNROLL * group.threads) {
    uint4 x[TREE_UNROLL];
#pragma unroll
    for (int u = 0; u < TREE_UNROLL; u++) {
      const unsigned j = j0 + u * group.threads;
      const tree_place at = place(j);
      if (j < all && at.p < m.packs) x[u] = read(at);
    }
#pragma unroll
    for (int u = 0; u < TREE_UNROLL; u++) {
      const unsigned j = j0 + u * group.threads;
      const tree_place at = place(j);
      if (j < all && at.p < m.packs) write(at, x[u]);
    }
  }
}

/* 1. Sends the terms of the others' slices. */
template <int D>
static __device__ __forceinline__ void tree_send(const reach_view &view, const tree_message<D> &m,
                                                 const reach_group &group, size_t t, int slot) {
  const int EACH = 16 / (int)sizeof(typename fold_element<D>::stored);
  tree_walk(
      view, m, group, t,
      [&](const tree_place &at) { return tree_pack(tree_load<D, 16>(m.in, at.p * EACH, m.n, m.wide_in)); },
      [&](const tree_place &at, const uint4 &x) { view.room[at.rank]->slice[blockIdx.x][slot][view.rank][at.i] = x; });
}

/* 2. Combines the own slice and sends the result. */
template <int D, int O>
static __device__ __forceinline__ void tree_join(const reach_view &view, const tree_message<D> &m,
                                                 const reach_group &group, size_t t, int slot) {
  const int EACH = 16 / (int)sizeof(typename fold_element<D>::stored);
  const size_t first = tree_at(view, m, t) + ((size_t)view.rank << m.shift);
  const uint4(*from)[REACH_PACKS] = view.room[view.rank]->slice[blockIdx.x][slot];
  for (unsigned i = group.thread; i < 1u << m.shift && first + i < m.packs; i += group.threads) {
    const tree_words<16> own = tree_load<D, 16>(m.in, (first + i) * EACH, m.n, m.wide_in);
    tree_words<16> term[FOLD_REACH_MOST];
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++) {
      term[r] = own;
      if (r < view.ranks && r != view.rank) term[r] = tree_unpack(__ldcg(&from[r][i]));
    }
    const tree_words<16> sum = tree_combine<D, O, 16>(term, view.ranks);
    for (int d = 1; d < view.ranks; d++)
      view.room[reach_next(view, d)]->result[blockIdx.x][slot][view.rank][i] = tree_pack(sum);
    tree_store<D, 16>(m.out, (first + i) * EACH, m.n, m.wide_out, sum);
  }
}

/* 3. Takes the others' results. */
template <int D>
static __device__ __forceinline__ void tree_take(const reach_view &view, const tree_message<D> &m,
                                                 const reach_group &group, size_t t, int slot) {
  const int EACH = 16 / (int)sizeof(typename fold_element<D>::stored);
  const uint4(*from)[REACH_PACKS] = view.room[view.rank]->result[blockIdx.x][slot];
  tree_walk(
      view, m, group, t, [&](const tree_place &at) { return __ldcg(&from[at.rank][at.i]); },
      [&](const tree_place &at, const uint4 &x) {
        tree_store<D, 16>(m.out, at.p * EACH, m.n, m.wide_out, tree_unpack(x));
      });
}

/* The takers tell the senders, by a barrier for each slot (PTX: producers arrive, consumers sync), that step t has been
 * taken, so that step t + REACH_SLOTS may be sent. The takers cannot arrive twice before the senders come, because step
 * t + REACH_SLOTS has no results before it was sent. */
static __device__ __forceinline__ void tree_tell_taken(unsigned t) {
  asm volatile("bar.arrive %0, %1;" ::"r"(4 + t % REACH_SLOTS), "n"(REACH_SENDERS + REACH_TAKERS) : "memory");
}
static __device__ __forceinline__ void tree_wait_taken(unsigned t) {
  asm volatile("bar.sync %0, %1;" ::"r"(4 + t % REACH_SLOTS), "n"(REACH_SENDERS + REACH_TAKERS) : "memory");
}
static_assert(4 + REACH_SLOTS <= 16, "a block has 16 barriers, 0 to 3 are taken");

template <int D, int O>
__global__ __launch_bounds__(REACH_THREADS,
                             REACH_RESIDENT) void tree_steps_kernel(const __grid_constant__ reach_view view,
                                                                    const __grid_constant__ tree_message<D> m) {
  reach_room *const own = view.room[view.rank];
  const uint64_t before = __ldcg(&own->steps[blockIdx.x]);
  const size_t a_step = ((size_t)gridDim.x * view.ranks) << m.shift;
  const unsigned steps = (unsigned)((m.packs + a_step - 1) / a_step);
  const size_t slice = offsetof(reach_room, slice_there) + blockIdx.x * sizeof own->slice_there[0],
               result = offsetof(reach_room, result_there) + blockIdx.x * sizeof own->result_there[0];
  const unsigned slot0 = (unsigned)(before % REACH_SLOTS);
  const uint32_t number = (uint32_t)before + 1; /* the number of step 0 */
  __syncthreads();                              /* `steps` must not be written while it is read */
  if (threadIdx.x < REACH_SENDERS) {
    const reach_group group = {1, REACH_SENDERS, threadIdx.x};
    for (unsigned t = 0; t < steps; t++) {
      if (t >= REACH_SLOTS) tree_wait_taken(t);
      tree_send<D>(view, m, group, t, (int)((slot0 + t) % REACH_SLOTS));
      reach_release(view, group, slice, number + t);
    }
  } else if (threadIdx.x < REACH_SENDERS + REACH_JOINERS) {
    const reach_group group = {2, REACH_JOINERS, threadIdx.x - REACH_SENDERS};
    for (unsigned t = 0; t < steps; t++) {
      reach_acquire(view, group, slice, number + t);
      tree_join<D, O>(view, m, group, t, (int)((slot0 + t) % REACH_SLOTS));
      reach_release(view, group, result, number + t);
    }
  } else {
    const reach_group group = {3, REACH_TAKERS, threadIdx.x - REACH_SENDERS - REACH_JOINERS};
    for (unsigned t = 0; t < steps; t++) {
      reach_acquire(view, group, result, number + t);
      tree_take<D>(view, m, group, t, (int)((slot0 + t) % REACH_SLOTS));
      if (t + REACH_SLOTS < steps) tree_tell_taken(t);
    }
    if (group.thread == 0) own->steps[blockIdx.x] = before + steps;
  }
}

template <int D, int O>
static fold_status tree_launch(const struct fold_comm_reach *reach, const struct fold_call *call) {
  typedef typename fold_element<D>::stored stored;
  const stored *in = (const stored *)call->in[0];
  stored *out = (stored *)call->out;
  const cudaStream_t stream = (cudaStream_t)call->stream;
  const size_t n = call->rows, nbytes = n * sizeof(stored);
  const uintptr_t from = (uintptr_t)call->in[0], to = (uintptr_t)call->out;
  if (!call->launch.blocks && nbytes <= REACH_MOST_LINES_BYTES) {
    const unsigned blocks = (unsigned)((nbytes + 8 * REACH_LINE_THREADS - 1) / (8 * REACH_LINE_THREADS));
    tree_lines_kernel<D, O>
        <<<blocks, REACH_LINE_THREADS, 0, stream>>>(reach->view, in, out, n, from % 8 == 0, to % 8 == 0);
    return fold_cuda_launched("tree_lines_kernel");
  }
  tree_message<D> m = {in, out, n, (nbytes + 15) / 16, 0, from % 16 == 0, to % 16 == 0};
  const unsigned blocks = call->launch.blocks ? call->launch.blocks : REACH_BLOCKS;
  /* The shortest slices with which one step is enough, if there are any, so that all blocks have work. */
  while (m.shift < REACH_PACK_SHIFT && ((size_t)blocks * reach->view.ranks) << m.shift < m.packs) m.shift++;
  tree_steps_kernel<D, O><<<blocks, REACH_THREADS, 0, stream>>>(reach->view, m);
  return fold_cuda_launched("tree_steps_kernel");
}

/* Loads the kernels' code in advance: loading it at first use may wait for kernels that wait for this rank. */
template <int D, int O>
static fold_status tree_load_code() {
  cudaFuncAttributes attributes;
  FOLD_CUDA_TRY(cudaFuncGetAttributes(&attributes, (const void *)tree_lines_kernel<D, O>));
  FOLD_CUDA_TRY(cudaFuncGetAttributes(&attributes, (const void *)tree_steps_kernel<D, O>));
  return fold_ok();
}

fold_status reach_tree(const struct fold_comm_reach *reach, const struct fold_call *call) {
  return fold_dispatch(
      call, [&](auto d, auto o) { return tree_launch<decltype(d)::value, decltype(o)::value>(reach, call); });
}

fold_status reach_load_tree(void) {
  struct fold_call call = {};
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS && FOLD_EVERYWHERE >> d & 1; o++) {
      call.dtype = (enum fold_dtype)d;
      call.problem = fold_rows_problem((enum fold_op)o);
      FOLD_TRY(fold_dispatch(&call,
                             [](auto d, auto o) { return tree_load_code<decltype(d)::value, decltype(o)::value>(); }));
    }
  return fold_ok();
}
