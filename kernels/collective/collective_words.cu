/* collective_words.cu: sums of int64 over ranks, and gathers of small parts, by lines (collective_reach.cuh).
 *
 * Claims: integers modulo 2^64, so that no order shows. A gather sends as many lines to and from every rank as the
 * longest part has, for each block must hear from the same block of each rank (collective_reach.cuh says why).
 */
#include "kernels/collective/collective_reach.cuh"

__global__ __launch_bounds__(REACH_LINE_THREADS) void add_words_kernel(const __grid_constant__ reach_view view,
                                                                       const int64_t *in, int64_t *out, size_t n) {
  const unsigned line = blockIdx.x * REACH_LINE_THREADS + threadIdx.x;
  const uint32_t call = reach_begin_call(view);
  if (line < n) {
    uint64_t all[FOLD_REACH_MOST], sum = 0;
    reach_swap_lines(view, line, call, (uint64_t)in[line], all);
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++) sum += r < view.ranks ? all[r] : 0;
    out[line] = (int64_t)sum;
  }
  reach_end_call(view, call);
}

struct gather_places {
  size_t at[FOLD_REACH_MOST + 1];
};

/* Bytes [8 line, 8 line + 8) of nbytes; zeros past the end. */
static __device__ __forceinline__ uint64_t load_bytes(const unsigned char *in, size_t nbytes, unsigned line) {
  const size_t at = 8 * (size_t)line;
  if ((uintptr_t)in % 8 == 0 && at + 8 <= nbytes) return *(const uint64_t *)(in + at);
  uint64_t data = 0;
  for (int k = 0; k < 8 && at + k < nbytes; k++) data |= (uint64_t)in[at + k] << 8 * k;
  return data;
}
static __device__ __forceinline__ void store_bytes(unsigned char *out, size_t nbytes, unsigned line, uint64_t data) {
  const size_t at = 8 * (size_t)line;
  if ((uintptr_t)out % 8 == 0 && at + 8 <= nbytes)
    *(uint64_t *)(out + at) = data;
  else
    for (int k = 0; k < 8 && at + k < nbytes; k++) out[at + k] = (unsigned char)(data >> 8 * k);
}

__global__ __launch_bounds__(REACH_LINE_THREADS) void gather_kernel(const __grid_constant__ reach_view view,
                                                                    const unsigned char *in, unsigned char *out,
                                                                    const __grid_constant__ gather_places places,
                                                                    unsigned lines) {
  const unsigned line = blockIdx.x * REACH_LINE_THREADS + threadIdx.x;
  const uint32_t call = reach_begin_call(view);
  if (line < lines) {
    uint64_t all[FOLD_REACH_MOST];
    reach_swap_lines(view, line, call, load_bytes(in, places.at[view.rank + 1] - places.at[view.rank], line), all);
#pragma unroll
    for (int r = 0; r < FOLD_REACH_MOST; r++)
      if (r < view.ranks) store_bytes(out + places.at[r], places.at[r + 1] - places.at[r], line, all[r]);
  }
  reach_end_call(view, call);
}

static unsigned blocks_for(size_t lines) { return (unsigned)((lines + REACH_LINE_THREADS - 1) / REACH_LINE_THREADS); }

extern "C" fold_status fold_reach_add_words(const struct fold_comm_reach *reach, const int64_t *in, int64_t *out, size_t n,
                                            void *stream) {
  if (n > REACH_LINES) return fold_error(FOLD_UNSUPPORTED, "%zu words do not go in one step", n);
  if (n == 0) return fold_ok();
  add_words_kernel<<<blocks_for(n), REACH_LINE_THREADS, 0, (cudaStream_t)stream>>>(reach->view, in, out, n);
  return fold_cuda_launched("add_words_kernel");
}

extern "C" fold_status fold_reach_gather(const struct fold_comm_reach *reach, const void *in, void *out, const size_t at[],
                                         void *stream) {
  gather_places places = {};
  size_t longest = 0;
  for (int r = 0; r < reach->view.ranks; r++) {
    places.at[r] = at[r];
    places.at[r + 1] = at[r + 1];
    if (at[r + 1] - at[r] > longest) longest = at[r + 1] - at[r];
  }
  if (longest > FOLD_REACH_SMALL) return fold_error(FOLD_UNSUPPORTED, "%zu bytes do not go in one step", longest);
  if (longest == 0) return fold_ok();
  const size_t lines = (longest + 7) / 8;
  gather_kernel<<<blocks_for(lines), REACH_LINE_THREADS, 0, (cudaStream_t)stream>>>(
      reach->view, (const unsigned char *)in, (unsigned char *)out, places, (unsigned)lines);
  return fold_cuda_launched("gather_kernel");
}

fold_status reach_load_words(void) {
  cudaFuncAttributes attributes;
  FOLD_CUDA_TRY(cudaFuncGetAttributes(&attributes, (const void *)add_words_kernel));
  FOLD_CUDA_TRY(cudaFuncGetAttributes(&attributes, (const void *)gather_kernel));
  return fold_ok();
}
