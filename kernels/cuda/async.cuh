/* async.cuh: copies from global to shared memory that run beside the arithmetic, and the barriers that tell their end.
 *
 * Promised: thin names for PTX. cp.async (16 bytes a lane) needs sm_80, bulk copies and transaction barriers sm_90;
 * below that these compile to a trap, and the host must not launch what uses them.
 * Sources and destinations are aligned to 16 bytes, sizes are multiples of 16.
 */
#ifndef FOLD_ASYNC_CUH
#define FOLD_ASYNC_CUH

#include <stdint.h>

static __device__ __forceinline__ uint32_t fold_shared_address(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void fold_copy_16(void *to, uint64_t from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(fold_shared_address(to)), "l"(from) : "memory");
#else
  __trap();
#endif
}

/* The same of `bytes` bytes, up to 16; the rest becomes zero. Below sm_80 this is a plain copy. */
static __device__ __forceinline__ void fold_copy_part_of_16(void *to, const void *from, unsigned bytes) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(fold_shared_address(to)), "l"(from), "r"(bytes)
               : "memory");
#else
  for (unsigned i = 0; i < 16; i++) ((unsigned char *)to)[i] = i < bytes ? ((const unsigned char *)from)[i] : 0;
#endif
}

/* The same of an element of 4 or 8 bytes, or none of it; of 2 bytes this is a plain copy. */
template <int SIZE>
static __device__ __forceinline__ void fold_copy_element(void *to, const void *from, unsigned bytes) {
#if __CUDA_ARCH__ >= 800
  if constexpr (SIZE >= 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(fold_shared_address(to)), "l"(from), "n"(SIZE),
                 "r"(bytes)
                 : "memory");
    return;
  }
#endif
  for (unsigned i = 0; i < SIZE; i++) ((unsigned char *)to)[i] = i < bytes ? ((const unsigned char *)from)[i] : 0;
}

static __device__ __forceinline__ void fold_copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most `left` of this thread's groups of copies are not complete. */
template <int left>
static __device__ __forceinline__ void fold_copy_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

static __device__ __forceinline__ void fold_barrier_init(uint64_t *barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(fold_shared_address(barrier)), "r"(arrivals) : "memory");
#endif
}

/* Makes the barriers just initialised known to the copy engine. */
static __device__ __forceinline__ void fold_barrier_init_done() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ __forceinline__ void fold_barrier_arrive(uint64_t *barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(fold_shared_address(barrier)) : "memory");
#endif
}

/* Arrives, and lets the phase end only when `nbytes` more have been copied. */
static __device__ __forceinline__ void fold_barrier_expect(uint64_t *barrier, uint32_t nbytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(fold_shared_address(barrier)), "r"(nbytes)
               : "memory");
#endif
}

/* Waits for the end of the phase of this parity. */
static __device__ __forceinline__ void fold_barrier_wait(uint64_t *barrier, uint32_t parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred p;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n" ::"r"(
          fold_shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

static __device__ __forceinline__ void fold_bulk_copy(void *to, uint64_t from, uint32_t nbytes, uint64_t *barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   fold_shared_address(to)),
               "l"(from), "r"(nbytes), "r"(fold_shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
}

/* Orders this thread's ordinary writes to shared memory before later bulk copies into the same place. */
static __device__ __forceinline__ void fold_bulk_fence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#endif
