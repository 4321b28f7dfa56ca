/* last_block.cuh: how the blocks of one launch hand over to the last of them that finishes.
 *
 * Promised: the block to which arrive_last says true sees everything that the others wrote before they arrived, read
 * past the L1 (__ldcg); which block that is changes from run to run, what it computes must not. Counters are zero
 * before and after a run: atomicInc wraps.
 */
#ifndef FOLD_LAST_BLOCK_CUH
#define FOLD_LAST_BLOCK_CUH

#include "fold.h"

/* Counters that fit in the part of scratch that is zero already. */
#define FREE_COUNTERS (FOLD_SCRATCH_ZEROED / sizeof(unsigned))

/* Called by the whole block after thread 0 has written the block's values. True in every thread of the last of `n`
 * blocks that share `counter`; n = 1 needs none. */
static __device__ __forceinline__ bool arrive_last(unsigned *counter, unsigned n) {
  __shared__ unsigned last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = n == 1 || atomicInc(counter, n - 1) == n - 1;
    __threadfence();
  }
  __syncthreads();
  const bool answer = last;
  __syncthreads();
  return answer;
}

#endif
