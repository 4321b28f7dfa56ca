/* virtual_ranks.h: up to eight ranks on one GPU, which call the kernels that write into each other's memory
 * (kernels/collective/collective_reach.h), against the host's word.
 *
 * Each rank has a room, a stream and memory of its own; one thread makes all their calls, so that a test says who comes
 * first and who late. For ranks not to wait for ever, all blocks of all ranks' calls must find room on the GPU at once
 * (virtual_step_blocks, virtual_line_bytes), and no stream may share a queue with another
 * (CUDA_DEVICE_MAX_CONNECTIONS).
 *
 * What this cannot show: mistakes that need two memories (a scope too narrow, a store that no fence pushes over the
 * link), for ranks of one GPU meet in one L2.
 */
#ifndef VIRTUAL_RANKS_H
#define VIRTUAL_RANKS_H

#include "base/fold.h"
#include "kernels/collective/collective_reach.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { VIRTUAL_MOST_JOBS = 96, VIRTUAL_SHIFTS = 3 };

enum virtual_kind { VIRTUAL_TREE, VIRTUAL_WORDS, VIRTUAL_GATHER };

/* A call that every rank makes. */
struct virtual_job {
  enum virtual_kind kind;
  enum fold_dtype dtype;
  enum fold_op op;
  size_t n;         /* elements, words, or bytes of the longest part */
  unsigned blocks;  /* of a tree by steps; 0: its own choice */
  int in_shift;     /* 0: aligned; 1: off by an element; 2: off by 8 bytes */
  size_t out_shift; /* elements; bytes in a gather */
  bool in_place;
  size_t out_at; /* of the result in the ranks' arenas; the world's */
};

/* Who calls when. */
enum virtual_order {
  VIRTUAL_BY_CALL,  /* every rank's first call, every rank's second one ... */
  VIRTUAL_BY_RANK,  /* all calls of the last rank, all calls of the one before ... */
  VIRTUAL_LATE,     /* by call, and another rank is late each time */
  VIRTUAL_RECORDED, /* each rank's calls as a graph, which runs once, then twice in a row */
  VIRTUAL_ORDERS
};

struct virtual_world;

/* `nbytes`: of the longest vector, of each type. The context of the current device must be new, or made by a world before: the
 * environment is set. */
fold_status virtual_open(struct virtual_world **world, int ranks, size_t nbytes);
/* All but the world itself, which the watch still looks at. */
void virtual_close(struct virtual_world *world);

/* The most blocks of a tree by steps, and the most bytes of a vector or part by lines, that all ranks find room for. */
unsigned virtual_step_blocks(const struct virtual_world *world);
size_t virtual_line_bytes(const struct virtual_world *world);
size_t virtual_most_bytes(const struct virtual_world *world);

/* Numbers of calls and of steps as if so many had been made. */
fold_status virtual_count_from(struct virtual_world *world, uint32_t calls, uint64_t steps);

/* Makes the calls, waits for them, and compares: results, what lies around them, other ranks' results. What is wrong is
 * printed, ten lines at the most in all. A rank that `absent` (-1: none) names leaves the last call out. */
fold_status virtual_run(struct virtual_world *world, const char *name, enum virtual_order order,
                        struct virtual_job jobs[], size_t n, int absent);
/* One sum of n f16 on every rank, in place, made and compared on the GPU; FOLD_UNSUPPORTED if its memory is short. */
fold_status virtual_run_huge(struct virtual_world *world, size_t n);
/* The inputs are as they were. */
fold_status virtual_judge_inputs(struct virtual_world *world);

/* Calls that were compared, and faults, so far. */
size_t virtual_ran(const struct virtual_world *world);
size_t virtual_faults(const struct virtual_world *world);

/* Ends the process with exit code 1 and a line that names the call, when a world makes no progress for so long. */
fold_status virtual_watch(struct virtual_world *world, double seconds);

/* virtual_ranks_room.cu */
fold_status virtual_room_count_from(const struct fold_comm_reach *reach, uint32_t calls, uint64_t steps);
/* Holds up a stream for some microseconds. */
fold_status virtual_delay(double microseconds, void *stream);
/* Small integers as f16, whose sum over ranks is exact and tells of the element; how many sums are others. */
fold_status virtual_huge_fill(uint16_t *d_x, size_t n, int rank);
fold_status virtual_huge_compare(const uint16_t *d_x, size_t n, int ranks, size_t *wrong);
/* Blocks that the GPU takes at once: of the kernel by steps, of the kernels by lines. */
fold_status virtual_room_for(unsigned *step_blocks, unsigned *line_blocks);

#ifdef __cplusplus
}
#endif
#endif
