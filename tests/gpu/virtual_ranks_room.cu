/* virtual_ranks_room.cu: what the tests of virtual ranks need of a room and of the GPU (virtual_ranks.h). */
#include "virtual_ranks.h"

#include <cuda_fp16.h>

#include "kernels/collective/collective_reach.cuh"

/* The flags too: they tell of the step before. */
static __global__ void count_from_kernel(struct reach_room *room, uint32_t calls, uint64_t steps) {
  for (int b = (int)threadIdx.x; b < REACH_LINE_BLOCKS; b += (int)blockDim.x) room->calls[b] = calls;
  for (int b = (int)threadIdx.x; b < REACH_BLOCKS; b += (int)blockDim.x) {
    room->steps[b] = steps;
    for (int r = 0; r < FOLD_REACH_MOST; r++)
      room->slice_there[b][r] = room->result_there[b][r] = (uint32_t)steps;
  }
}

fold_status virtual_room_count_from(const struct fold_comm_reach *reach, uint32_t calls, uint64_t steps) {
  count_from_kernel<<<1, 128>>>(reach->view.room[reach->view.rank], calls, steps);
  FOLD_TRY(fold_cuda_launched("count_from_kernel"));
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  return fold_ok();
}

static __device__ __forceinline__ uint64_t nanoseconds() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
static __global__ void delay_kernel(uint64_t span) {
  for (const uint64_t start = nanoseconds(); nanoseconds() - start < span;) continue;
}

fold_status virtual_delay(double microseconds, void *stream) {
  delay_kernel<<<1, 1, 0, (cudaStream_t)stream>>>((uint64_t)(1e3 * microseconds));
  return fold_cuda_launched("delay_kernel");
}

/* 0 .. 250 by the element and 0 .. 7 by the rank: up to eight add up to 2028 at most, exactly. Neighbours differ, and
 * 251 is prime, so that an element that is off by any power of two is another number. */
static __device__ __forceinline__ unsigned huge_part(size_t i) { return (unsigned)(i % 251); }

static __global__ void huge_fill_kernel(uint16_t *x, size_t n, int rank) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    x[i] = __half_as_ushort(__uint2half_rn(huge_part(i) + (unsigned)rank));
}

static __global__ void huge_compare_kernel(const uint16_t *x, size_t n, unsigned ranks, unsigned long long *wrong) {
  unsigned long long own = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    own += x[i] != __half_as_ushort(__uint2half_rn(ranks * huge_part(i) + ranks * (ranks - 1) / 2));
  if (own) atomicAdd(wrong, own);
}

fold_status virtual_huge_fill(uint16_t *d_x, size_t n, int rank) {
  huge_fill_kernel<<<1024, 256>>>(d_x, n, rank);
  FOLD_TRY(fold_cuda_launched("huge_fill_kernel"));
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  return fold_ok();
}

fold_status virtual_huge_compare(const uint16_t *d_x, size_t n, int ranks, size_t *wrong) {
  unsigned long long *d_wrong = NULL, host = 1;
  FOLD_CUDA_TRY(cudaMalloc(&d_wrong, sizeof *d_wrong));
  FOLD_CUDA_TRY(cudaMemset(d_wrong, 0, sizeof *d_wrong));
  huge_compare_kernel<<<1024, 256>>>(d_x, n, (unsigned)ranks, d_wrong);
  FOLD_TRY(fold_cuda_launched("huge_compare_kernel"));
  FOLD_CUDA_TRY(cudaMemcpy(&host, d_wrong, sizeof host, cudaMemcpyDeviceToHost));
  FOLD_CUDA_TRY(cudaFree(d_wrong));
  *wrong = (size_t)host;
  return fold_ok();
}

/* By steps: REACH_RESIDENT blocks a multiprocessor. By lines: as many as 64 registers a thread leave room for; the
 * kernels take fewer. */
fold_status virtual_room_for(unsigned *step_blocks, unsigned *line_blocks) {
  int device = 0, sms = 0, registers = 0, threads = 0;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&registers, cudaDevAttrMaxRegistersPerMultiprocessor, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  const int lines = registers / 64 < threads ? registers / 64 / REACH_LINE_THREADS : threads / REACH_LINE_THREADS;
  *step_blocks = (unsigned)(sms * REACH_RESIDENT);
  *line_blocks = (unsigned)(sms * lines);
  return fold_ok();
}
