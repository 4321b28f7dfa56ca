/* last_block.cuh: how the blocks of one launch hand over to the last of them that finishes.
 *
 * Promised: the block to which arrive_last says true sees everything that the others wrote before they arrived, read
 * past the L1 (__ldcg); which block that is changes from run to run, what it computes must not. Counters are zero
 * before and after a run: atomicInc wraps.
 */
#ifndef FOLD_LAST_BLOCK_CUH
#define FOLD_LAST_BLOCK_CUH

#include "base/fold.h"

/* How many counters fit in the part of scratch that is zero already. */
#define FREE_COUNTERS (FOLD_SCRATCH_ZEROED / sizeof(unsigned))

/* Called by the whole block after its values were written, by thread 0 or before a barrier. True in every thread of the
 * last of `n` blocks that share `counter`; n = 1 needs none. Release: what this block wrote is seen by who reads the
 * counter later; acquire: what the others wrote is seen here, and the barrier hands both on to the block's threads. */
static __device__ __forceinline__ bool arrive_last(unsigned *counter, unsigned n) {
  unsigned before = n - 1;
  if (threadIdx.x == 0 && n > 1)
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(n - 1) : "memory");
  return __syncthreads_or(threadIdx.x == 0 && before == n - 1);
}

#endif
