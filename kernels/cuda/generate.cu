/* generate.cu: every generator on the device, by the host's own functions (fixtures/generate.h).
 *
 * Promised: the host's bits for every generator, dtype and place. That needs IEEE-754 division and square root and no
 * contraction: build with --fmad=false and without fast-math. A thread makes a quad at a time.
 */
#include "cuda_generate.h"

#include "generate.h"
#include "status.cuh"

#define GENERATE_BLOCK 256

/* A whole quad to an address aligned to its size, or to 16 bytes. */
template <int SIZE>
static __device__ __forceinline__ void store_quad(void *at, const uint64_t bits[4]) {
  if (SIZE == 2)
    *(uint2 *)at = make_uint2((uint32_t)(bits[0] | bits[1] << 16), (uint32_t)(bits[2] | bits[3] << 16));
  else if (SIZE == 4)
    *(uint4 *)at = make_uint4((uint32_t)bits[0], (uint32_t)bits[1], (uint32_t)bits[2], (uint32_t)bits[3]);
  else {
    ((ulonglong2 *)at)[0] = make_ulonglong2(bits[0], bits[1]);
    ((ulonglong2 *)at)[1] = make_ulonglong2(bits[2], bits[3]);
  }
}

/* Quads from first / 4 on; the first and the last may lie partly outside [first, first + n). */
template <int SIZE>
__global__ __launch_bounds__(GENERATE_BLOCK) void generate_kernel(const struct fold_recipe recipe, uint64_t first,
                                                                  uint64_t n, char *out) {
  const uint64_t end = first + n, quads = (end + 3) / 4, grid = (uint64_t)gridDim.x * GENERATE_BLOCK;
  const bool aligned = first % 4 == 0 && (uintptr_t)out % (4 * SIZE < 16 ? 4 * SIZE : 16) == 0;
  for (uint64_t quad = first / 4 + (uint64_t)blockIdx.x * GENERATE_BLOCK + threadIdx.x; quad < quads; quad += grid) {
    uint64_t bits[4];
    fold_generate_quad(&recipe, quad, 4 * quad % recipe.cols, bits);
    if (aligned && 4 * quad + 4 <= end) {
      store_quad<SIZE>(out + (4 * quad - first) * SIZE, bits);
      continue;
    }
    for (int k = 0; k < 4; k++) {
      const uint64_t i = 4 * quad + k;
      if (i >= first && i < end) fold_bits_store(recipe.dtype, out, i - first, bits[k]);
    }
  }
}

extern "C" fold_status fold_cuda_generate(const struct fold_source *source, uint64_t first, uint64_t n, void *d_out,
                                          void *stream) {
  FOLD_TRY(fold_source_check(source));
  if (!(FOLD_EVERYWHERE >> source->dtype & 1))
    return fold_error(FOLD_UNSUPPORTED, "generate: %s is not made on GPUs", fold_dtype_name(source->dtype));
  const size_t size = fold_dtype_size(source->dtype);
  if ((uintptr_t)d_out % size)
    return fold_error(FOLD_BAD_INPUT, "generate: address %p is not aligned to the element (%zu bytes)", d_out, size);
  if (n == 0) return fold_ok();
  const struct fold_recipe recipe = fold_recipe_of(source);
  const uint64_t quads = (first + n + 3) / 4 - first / 4, blocks = (quads + GENERATE_BLOCK - 1) / GENERATE_BLOCK;
  const unsigned grid = blocks < 65536 ? (unsigned)blocks : 65536;
  cudaStream_t s = (cudaStream_t)stream;
  if (size == 2) generate_kernel<2><<<grid, GENERATE_BLOCK, 0, s>>>(recipe, first, n, (char *)d_out);
  if (size == 4) generate_kernel<4><<<grid, GENERATE_BLOCK, 0, s>>>(recipe, first, n, (char *)d_out);
  if (size == 8) generate_kernel<8><<<grid, GENERATE_BLOCK, 0, s>>>(recipe, first, n, (char *)d_out);
  return fold_cuda_launched("generate_kernel");
}
