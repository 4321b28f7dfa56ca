/* mutants_gpu_delay.cuh: a wait that makes a race show every time: the fault is the race, not the wait. */
#ifndef MUTANTS_GPU_DELAY_CUH
#define MUTANTS_GPU_DELAY_CUH

static __device__ __forceinline__ void mutant_delay(long long cycles) {
  for (const long long start = clock64(); clock64() - start < cycles;) continue;
}

/* Up to 2^16 cycles, by the clock and the block: another one in each run. */
static __device__ __forceinline__ void mutant_whim() {
  mutant_delay((((unsigned)clock64() + blockIdx.x * 40503u) * 2654435761u) >> 16);
}

#endif
