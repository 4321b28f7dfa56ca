/* collective_reach.cuh: the memory (room) that other ranks write to, and the two ways to tell a rank that data have arrived.
 *
 * Lines: 16 bytes that carry 8 bytes of data, each half of them in one 64-bit word with the number of the call. A word
 * is written and read in one piece (PTX: a vector access is one of its elements at a time, each of them atomic), so
 * so that a reader of the number has the data: no fence, no second message. Lines are for small messages.
 *
 * Steps: data are written plainly, then a flag with the number of the step is released at the system's scope; a reader that
 * acquires the flag sees the data. Steps are for large messages.
 *
 * What may be overwritten when: lines have two sets, used in turn. A block's call e + 2 writes where call e was read;
 * it starts after its call e + 1, which took a line from the same block of every rank, which started that call after it
 * had ended call e. Steps have REACH_SLOTS slots; collective_tree.cu says when each is free. Numbers of calls and
 * steps are kept in the room by each block, so that a recorded graph may be replayed; they are the same on every rank,
 * for the grid follows from the call.
 */
#ifndef FOLD_COLLECTIVE_REACH_CUH
#define FOLD_COLLECTIVE_REACH_CUH

#include "base/cuda_status.cuh"
#include "kernels/collective/collective_reach.h"

#define REACH_LINE_THREADS 256
#define REACH_LINES (FOLD_REACH_SMALL / 8)
#define REACH_LINE_BLOCKS (REACH_LINES / REACH_LINE_THREADS)
#ifndef REACH_BLOCKS
#define REACH_BLOCKS 128
#endif
#ifndef REACH_MOST_LINES_BYTES
#define REACH_MOST_LINES_BYTES (128 << 10)
#endif
/* How many threads of a block send, join and take (collective_tree.cu): whole warps. */
#ifndef REACH_SENDERS
#define REACH_SENDERS 384
#endif
#ifndef REACH_JOINERS
#define REACH_JOINERS 384
#endif
#ifndef REACH_TAKERS
#define REACH_TAKERS 256
#endif
#define REACH_THREADS (REACH_SENDERS + REACH_JOINERS + REACH_TAKERS)
#ifndef REACH_RESIDENT
#define REACH_RESIDENT 1
#endif
#ifndef REACH_PACK_SHIFT
#define REACH_PACK_SHIFT 10
#endif
#define REACH_PACKS (1 << REACH_PACK_SHIFT) /* 16 bytes each: of a slice, in a step of a block */
#ifndef REACH_SLOTS
#define REACH_SLOTS 3
#endif

/* A test's build makes warps wait here now and then, so that ranks meet in other orders and races appear that the usual
 * pace hides. */
#ifndef REACH_WHIM
#define REACH_WHIM() ((void)0)
#endif

/* A rank's room. */
struct reach_room {
  uint32_t calls[REACH_LINE_BLOCKS]; /* how many calls each block has ended; only the owner writes them */
  uint64_t steps[REACH_BLOCKS];
  uint32_t slice_there[REACH_BLOCKS][FOLD_REACH_MOST]; /* the latest step whose slice rank r has written here */
  uint32_t result_there[REACH_BLOCKS][FOLD_REACH_MOST];
  ulonglong2 line[2][FOLD_REACH_MOST][REACH_LINES];
  uint4 slice[REACH_BLOCKS][REACH_SLOTS][FOLD_REACH_MOST][REACH_PACKS];  /* rank r's terms of the owner's slice */
  uint4 result[REACH_BLOCKS][REACH_SLOTS][FOLD_REACH_MOST][REACH_PACKS]; /* rank r's slice, combined */
};

/* A kernel's parameter: every rank's room, as this GPU sees it. */
struct reach_view {
  struct reach_room *room[FOLD_REACH_MOST];
  int rank, ranks;
};

struct fold_comm_reach {
  struct reach_view view;
  bool threads;                  /* the room is mapped, not allocated */
  bool opened[FOLD_REACH_MOST];  /* by a handle */
  unsigned long long allocation; /* CUmemGenericAllocationHandle */
  size_t nbytes;
};

#ifdef __CUDACC__

static __device__ __forceinline__ uint64_t reach_word(uint32_t data, uint32_t call) {
  return (uint64_t)call << 32 | data;
}
static __device__ __forceinline__ void reach_put_line(ulonglong2 *line, uint64_t data, uint32_t call) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(line), "l"(reach_word((uint32_t)data, call)),
               "l"(reach_word((uint32_t)(data >> 32), call))
               : "memory");
}
/* Reads a line. False if the line of this call has not arrived yet. */
static __device__ __forceinline__ bool reach_get_line(const ulonglong2 *line, uint32_t call, uint64_t *data) {
  uint64_t a, b;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(line) : "memory");
  *data = b << 32 | (uint32_t)a;
  return (uint32_t)(a >> 32) == call && (uint32_t)(b >> 32) == call;
}

/* The rank d places after this one. Starting at different ranks keeps all from writing to the same one at the same
 * time. */
static __device__ __forceinline__ int reach_next(const reach_view &view, int d) {
  const int r = view.rank + d;
  return r < view.ranks ? r : r - view.ranks;
}

/* Sends `own` as line `line` of every other rank, and waits for theirs. */
static __device__ __forceinline__ void reach_swap_lines(const reach_view &view, unsigned line, uint32_t call,
                                                        uint64_t own, uint64_t (&all)[FOLD_REACH_MOST]) {
  const unsigned set = call & 1;
  for (int d = 1; d < view.ranks; d++)
    reach_put_line(&view.room[reach_next(view, d)]->line[set][view.rank][line], own, call);
  const ulonglong2(*from)[REACH_LINES] = view.room[view.rank]->line[set];
  REACH_WHIM();
  bool there;
  do {
    there = true;
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++) {
      all[r] = own;
      if (r < view.ranks && r != view.rank) there &= reach_get_line(&from[r][line], call, &all[r]);
    }
  } while (!there);
}

/* The number of the block's call, from 1 on. After 2^32 - 1 calls it would meet lines of the first calls again: no comm
 * lives that long, and one that did would end here. */
static __device__ __forceinline__ uint32_t reach_begin_call(const reach_view &view) {
  const uint32_t call = __ldcg(&view.room[view.rank]->calls[blockIdx.x]) + 1;
  if (call == UINT32_MAX) __trap();
  return call;
}
static __device__ __forceinline__ void reach_end_call(const reach_view &view, uint32_t call) {
  __syncthreads();
  if (threadIdx.x == 0) view.room[view.rank]->calls[blockIdx.x] = call;
}

/* Some warps of a block, which wait for each other by a barrier of their own. */
struct reach_group {
  int barrier;
  unsigned threads, thread; /* how many, which one */
  __device__ __forceinline__ void sync() const {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
  }
};

/* Sets a flag. A thread that acquires it sees all that the group wrote before, to any rank's memory: the barrier orders the
 * group's writes before the release, which is cumulative. */
static __device__ __forceinline__ void reach_release(const reach_view &view, const reach_group &group, size_t flag_at,
                                                     uint32_t step) {
  REACH_WHIM();
  group.sync();
  if (group.thread < (unsigned)view.ranks && group.thread != (unsigned)view.rank) {
    uint32_t *flag = (uint32_t *)((char *)view.room[group.thread] + flag_at) + view.rank;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(step) : "memory");
  }
}
static __device__ __forceinline__ void reach_acquire(const reach_view &view, const reach_group &group, size_t flag_at,
                                                     uint32_t step) {
  if (group.thread < (unsigned)view.ranks && group.thread != (unsigned)view.rank) {
    const uint32_t *flag = (const uint32_t *)((char *)view.room[view.rank] + flag_at) + group.thread;
    uint32_t there;
    do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(there) : "l"(flag) : "memory");
    while ((int32_t)(there - step) < 0);
  }
  group.sync();
  REACH_WHIM();
}

#endif

/* The all-reduce of any type and operation (collective_tree.cu), and a function that loads the kernels' code
 * beforehand. */
fold_status reach_tree(const struct fold_comm_reach *reach, const struct fold_call *call);
fold_status reach_load_tree(void);
fold_status reach_load_words(void);

#endif
