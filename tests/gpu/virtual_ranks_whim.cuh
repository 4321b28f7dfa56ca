/* virtual_ranks_whim.cuh: included before the kernels over ranks (collective_reach.cuh) for
 * foldproof-virtual-ranks-late: one warp in eight waits for up to 16 us wherever ranks may meet in another order. */
#ifndef VIRTUAL_RANKS_WHIM_CUH
#define VIRTUAL_RANKS_WHIM_CUH

/* By the clock, the block and the warp: another one each time. */
static __device__ __forceinline__ void reach_whim() {
  const unsigned warp = blockIdx.x * 64 + threadIdx.x / 32;
  const unsigned draw = ((unsigned)clock64() + warp * 40503u) * 2654435761u;
  if (draw >> 29) return;
  const long long cycles = draw >> 14 & 0x7fff;
  for (const long long start = clock64(); clock64() - start < cycles;) continue;
}
#define REACH_WHIM() reach_whim()

#endif
