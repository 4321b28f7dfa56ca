/* pieces.cu: pieces.h by kernels of a few lines, which write what is read to pinned memory.
 *
 * Launched by cudaLaunchKernel, whose status is the launch's own: cudaGetLastError would give what a subject left there.
 */
#include "pieces.h"

#include <string.h>

#include "device.h"
#include "status.cuh"

namespace {

enum { MOST = 8, THREADS = 256, BLOCKS = 64, STAGING = 1 << 16, RING = 1 << 20 };

struct fills {
  struct fold_fill at[MOST];
};
struct copies {
  const unsigned char *from[MOST];
  unsigned char *to[MOST];
  size_t nbytes[MOST];
};

__device__ bool by_words(const void *a, const void *b) { return ((uintptr_t)a | (uintptr_t)b) % 16 == 0; }

/* blockIdx.y is the piece. */
__global__ void fill(struct fills fills) {
  const struct fold_fill f = fills.at[blockIdx.y];
  const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
  const size_t words = by_words(f.at, f.at) ? f.nbytes / 16 : 0;
  const unsigned w = 0x01010101u * (unsigned char)f.byte;
  for (size_t i = first; i < words; i += stride) ((uint4 *)f.at)[i] = make_uint4(w, w, w, w);
  for (size_t i = 16 * words + first; i < f.nbytes; i += stride) ((unsigned char *)f.at)[i] = (unsigned char)f.byte;
}

__global__ void copy(struct copies copies) {
  const unsigned char *from = copies.from[blockIdx.y];
  unsigned char *to = copies.to[blockIdx.y];
  const size_t nbytes = copies.nbytes[blockIdx.y];
  const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
  const size_t words = by_words(from, to) ? nbytes / 16 : 0;
  for (size_t i = first; i < words; i += stride) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
  for (size_t i = 16 * words + first; i < nbytes; i += stride) to[i] = from[i];
}

__global__ void compare(const unsigned char *a, const unsigned char *b, size_t nbytes, volatile unsigned *differ) {
  const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
  const size_t words = by_words(a, b) ? nbytes / 16 : 0;
  bool other = false;
  for (size_t i = first; i < words; i += stride) {
    const uint4 x = ((const uint4 *)a)[i], y = ((const uint4 *)b)[i];
    other |= (x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w);
  }
  for (size_t i = 16 * words + first; i < nbytes; i += stride) other |= a[i] != b[i];
  if (other) *differ = 1;
}

/* Pinned memory that kernels write to and the host reads; kept for the thread's life. */
unsigned char *staging() {
  static thread_local unsigned char *at = [] {
    void *memory = nullptr;
    if (cudaMallocHost(&memory, STAGING) != cudaSuccess) memory = nullptr;
    return (unsigned char *)memory;
  }();
  return at;
}

/* Pinned memory from which copies to the device are made that nobody waits for; whole again once somebody has waited. */
struct ring {
  unsigned char *at;
  size_t used;
};
struct ring *the_ring() {
  static thread_local struct ring own = [] {
    void *memory = nullptr;
    if (cudaMallocHost(&memory, RING) != cudaSuccess) memory = nullptr;
    return ring{(unsigned char *)memory, 0};
  }();
  return &own;
}

/* For all streams, so that nothing that a subject left in one of its own is still under way. */
fold_status wait_for_all() {
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  the_ring()->used = 0;
  return fold_ok();
}

fold_status launch(const void *kernel, unsigned blocks, unsigned pieces, void **arguments) {
  FOLD_CUDA_TRY(cudaLaunchKernel(kernel, dim3(blocks, pieces), dim3(THREADS), arguments, 0, cudaStreamLegacy));
  return fold_ok();
}

unsigned blocks_for(size_t nbytes) {
  const size_t blocks = nbytes / (16 * THREADS) + 1;
  return blocks < BLOCKS ? (unsigned)blocks : BLOCKS;
}

fold_status fill_some(const struct fold_fill *fills, unsigned n) {
  struct fills f;
  size_t longest = 0;
  for (unsigned i = 0; i < n; i++) {
    f.at[i] = fills[i];
    if (fills[i].nbytes > longest) longest = fills[i].nbytes;
  }
  void *arguments[] = {&f};
  return launch((const void *)fill, blocks_for(longest), n, arguments);
}

/* As many as fit in the staging memory, which is read after one wait; *taken of them. */
fold_status gather_some(const struct fold_piece *pieces, size_t n, size_t *taken) {
  struct copies c;
  size_t used = 0, longest = 0;
  unsigned k = 0;
  for (; k < n && k < MOST && pieces[k].nbytes <= STAGING - used; k++) {
    c.from[k] = (const unsigned char *)pieces[k].from;
    c.to[k] = staging() + used;
    c.nbytes[k] = pieces[k].nbytes;
    /* Where words can be read they can be written. */
    used += (pieces[k].nbytes + 15) / 16 * 16;
    if (used > STAGING) used = STAGING;
    if (pieces[k].nbytes > longest) longest = pieces[k].nbytes;
  }
  *taken = k;
  void *arguments[] = {&c};
  FOLD_TRY(launch((const void *)copy, blocks_for(longest), k, arguments));
  FOLD_TRY(wait_for_all());
  for (unsigned i = 0; i < k; i++) memcpy(pieces[i].to_host, c.to[i], pieces[i].nbytes);
  return fold_ok();
}

}  // namespace

extern "C" fold_status fold_pieces_fill(const struct fold_fill *fills, size_t n) {
  for (size_t i = 0; i < n; i += MOST) FOLD_TRY(fill_some(fills + i, n - i < MOST ? (unsigned)(n - i) : MOST));
  return fold_ok();
}

extern "C" fold_status fold_pieces_put(void *d_out, const void *in, size_t nbytes) {
  struct ring *ring = the_ring();
  if (ring->at == nullptr || nbytes > RING) return fold_device_put(d_out, in, nbytes);
  if (nbytes > RING - ring->used) FOLD_TRY(wait_for_all());
  memcpy(ring->at + ring->used, in, nbytes);
  FOLD_CUDA_TRY(cudaMemcpyAsync(d_out, ring->at + ring->used, nbytes, cudaMemcpyHostToDevice, cudaStreamLegacy));
  ring->used += (nbytes + 255) / 256 * 256;
  if (ring->used > RING) ring->used = RING;
  return fold_ok();
}

extern "C" fold_status fold_pieces_gather(const struct fold_piece *pieces, size_t n) {
  if (n > 0 && staging() == nullptr) return fold_error(FOLD_NO_MEMORY, "no pinned memory to read results by");
  for (size_t i = 0; i < n;) {
    size_t taken = 1;
    if (pieces[i].nbytes > STAGING) {
      FOLD_CUDA_TRY(cudaMemcpy(pieces[i].to_host, pieces[i].from, pieces[i].nbytes, cudaMemcpyDeviceToHost));
      FOLD_TRY(wait_for_all());
    } else {
      FOLD_TRY(gather_some(pieces + i, n - i, &taken));
    }
    i += taken;
  }
  return fold_ok();
}

extern "C" fold_status fold_pieces_same(const void *a, const void *b, size_t nbytes, bool *same) {
  *same = true;
  if (nbytes == 0) return fold_ok();
  if (staging() == nullptr) return fold_error(FOLD_NO_MEMORY, "no pinned memory to compare by");
  volatile unsigned *differ = (volatile unsigned *)staging();
  *differ = 0;
  void *arguments[] = {(void *)&a, (void *)&b, &nbytes, (void *)&differ};
  const unsigned blocks = nbytes > ((size_t)1 << 20) ? 1024 : blocks_for(nbytes);
  FOLD_TRY(launch((const void *)compare, blocks, 1, arguments));
  FOLD_TRY(wait_for_all());
  *same = *differ == 0;
  return fold_ok();
}
