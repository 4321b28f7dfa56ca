/* cuda.c: device memory behind model/engine.h, by CUDA's driver; whether a device is there, and whether it must be.
 *
 * All work is in the legacy default stream of the calling thread's context. `ready` makes that the first device's
 * primary context, in which CUDA's runtime works too; a rank chooses its own device. One launch fills, reads or
 * compares several small pieces (pieces.ptx), because a call for each takes longer than what it moves.
 * FOLDPROOF_REQUIRE_GPUS=N turns "no GPU" from a skip into a broken environment.
 */
#include "engine/cuda_driver.h"
#include "model/engine.h"
#include "model/setting.h"
#include "pieces_ptx.h"

#include <stdio.h>
#include <string.h>

#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/device.h"
#endif

/* unseen: 21 | 15 | 17 */
enum { MOST = 8, THREADS = 256, SOME_BLOCKS = 64, MOST_BLOCKS = 1024, STAGING = 1 << 16, RING = 1 << 20, PORTABLE = 1 };

_Static_assert(STAGING % 16 == 0 && RING % 256 == 0, "what is aligned up never passes the end");

/* The kernels' arguments, laid out as in pieces.ptx. */
struct fills {
  struct fold_fill at[MOST];
};
struct copies {
  const void *from[MOST];
  void *to[MOST];
  size_t nbytes[MOST];
};
_Static_assert(sizeof(struct fills) == 192 && sizeof(struct copies) == 192, "pieces.ptx counts their bytes");

static uint64_t address(const void *at) { return (uint64_t)(uintptr_t)at; }

static fold_status allocate(size_t nbytes, void **memory) {
  const struct fold_cuda_driver *cu;
  uint64_t at = 0;
  *memory = NULL;
  FOLD_TRY(fold_cuda_driver(&cu));
  fold_status status = fold_cuda_driver_status(cu->cuMemAlloc_v2(&at, nbytes), "cuMemAlloc");
  if (status.code == FOLD_OK) *memory = (void *)(uintptr_t)at;
  return fold_within(status, "%zu bytes of device memory", nbytes);
}

/* A failure to free is a failure of an earlier launch, which `finish` has reported. */
static void release(void *memory) {
  const struct fold_cuda_driver *cu;
  if (fold_cuda_driver(&cu).code == FOLD_OK) (void)cu->cuMemFree_v2(address(memory));
}

/* Pinned memory, kept for the thread's life; NULL where there is none. Kernels write to `staging`, and the host reads
 * it. Copies to the device are made from `ring` and not waited for; after the next wait all of `ring` is free again. */
static _Thread_local struct {
  bool asked;
  unsigned char *staging, *ring;
  size_t used;
} pinned;

static void pin(const struct fold_cuda_driver *cu) {
  void *memory;
  if (pinned.asked) return;
  pinned.asked = true;
  if (cu->cuMemHostAlloc(&memory, STAGING, PORTABLE) == 0) pinned.staging = memory;
  if (cu->cuMemHostAlloc(&memory, RING, PORTABLE) == 0) pinned.ring = memory;
}

/* Waits for all streams: a subject may have left work under way in one of its own. */
static fold_status finish(void) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  FOLD_CU_TRY(cuCtxSynchronize());
  pinned.used = 0;
  return fold_ok();
}

/* The kernels, in the context that they were loaded into. */
static _Thread_local struct kernels { void *context, *fill, *copy, *compare; } kernels;

static fold_status find_kernels(const struct fold_cuda_driver *cu) {
  struct kernels k;
  void *module;
  FOLD_CU_TRY(cuCtxGetCurrent(&k.context));
  if (k.context && k.context == kernels.context) return fold_ok();
  FOLD_CU_TRY(cuModuleLoadData(&module, fold_pieces_ptx));
  FOLD_CU_TRY(cuModuleGetFunction(&k.fill, module, "fold_fill"));
  FOLD_CU_TRY(cuModuleGetFunction(&k.copy, module, "fold_copy"));
  FOLD_CU_TRY(cuModuleGetFunction(&k.compare, module, "fold_compare"));
  kernels = k;
  return fold_ok();
}

static fold_status launch(const struct fold_cuda_driver *cu, void *const *kernel, unsigned blocks, unsigned pieces,
                          void **arguments) {
  FOLD_TRY(find_kernels(cu));
  FOLD_CU_TRY(cuLaunchKernel(*kernel, blocks, pieces, 1, THREADS, 1, 1, 0, FOLD_CUDA_LEGACY, arguments, NULL));
  return fold_ok();
}

static unsigned blocks_for(size_t nbytes, unsigned most) {
  const size_t blocks = nbytes / (16 * THREADS) + 1;
  return blocks < most ? (unsigned)blocks : most;
}

static fold_status fill_some(const struct fold_cuda_driver *cu, const struct fold_fill *fills, unsigned n) {
  struct fills f; /* the others are not looked at */
  size_t longest = 0;
  for (unsigned i = 0; i < n; i++) {
    f.at[i] = fills[i];
    if (fills[i].nbytes > longest) longest = fills[i].nbytes; /* unseen: ! */
  }
  void *arguments[] = {&f};
  return launch(cu, &kernels.fill, blocks_for(longest, SOME_BLOCKS), n, arguments);
}

static fold_status fill(const struct fold_fill *fills, size_t n) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  for (size_t i = 0; i < n; i += MOST) FOLD_TRY(fill_some(cu, fills + i, n - i < MOST ? (unsigned)(n - i) : MOST));
  return fold_ok();
}

/* A copy from memory that is not pinned may return once it is staged. It is waited for, since other streams may not
 * wait for this one and would read the former bytes. */
static fold_status put_and_wait(const struct fold_cuda_driver *cu, void *to, const void *from, size_t nbytes) {
  FOLD_CU_TRY(cuMemcpyHtoDAsync_v2(address(to), from, nbytes, FOLD_CUDA_LEGACY));
  FOLD_CU_TRY(cuStreamSynchronize(FOLD_CUDA_LEGACY));
  return fold_ok();
}

static fold_status put(void *to, const void *from, size_t nbytes) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  if (nbytes == 0) return fold_ok();
  pin(cu);
  if (!pinned.ring || nbytes > RING) return put_and_wait(cu, to, from, nbytes);
  if (nbytes > RING - pinned.used) FOLD_TRY(finish()); /* unseen: >= */
  memcpy(pinned.ring + pinned.used, from, nbytes);
  FOLD_CU_TRY(cuMemcpyHtoDAsync_v2(address(to), pinned.ring + pinned.used, nbytes, FOLD_CUDA_LEGACY));
  pinned.used += (nbytes + 255) / 256 * 256;
  return fold_ok();
}

static fold_status get(void *to, const void *from, size_t nbytes) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  if (nbytes == 0) return fold_ok();
  FOLD_CU_TRY(cuMemcpyDtoHAsync_v2(to, address(from), nbytes, FOLD_CUDA_LEGACY));
  FOLD_CU_TRY(cuStreamSynchronize(FOLD_CUDA_LEGACY));
  return fold_ok();
}

/* A copy within the device returns before it is done, hence the wait. */
static fold_status copy(void *to, const void *from, size_t nbytes) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  if (nbytes == 0) return fold_ok();
  FOLD_CU_TRY(cuMemcpyDtoDAsync_v2(address(to), address(from), nbytes, FOLD_CUDA_LEGACY));
  FOLD_CU_TRY(cuStreamSynchronize(FOLD_CUDA_LEGACY));
  return fold_ok();
}

/* Reads as many pieces as fit in the staging memory, with one wait; *taken: how many. */
static fold_status gather_some(const struct fold_cuda_driver *cu, const struct fold_piece *pieces, size_t n,
                               size_t *taken) {
  struct copies c = {0};
  size_t used = 0, longest = 0;
  unsigned k = 0;
  for (; k < n && k < MOST && pieces[k].nbytes <= STAGING - used; k++) {
    c.from[k] = pieces[k].from;
    c.to[k] = pinned.staging + used;
    c.nbytes[k] = pieces[k].nbytes;
    /* So `to` is aligned wherever `from` is, and the kernel can copy whole words. */
    used += (pieces[k].nbytes + 15) / 16 * 16;
    if (pieces[k].nbytes > longest) longest = pieces[k].nbytes; /* unseen: ! */
  }
  *taken = k;
  void *arguments[] = {&c};
  FOLD_TRY(launch(cu, &kernels.copy, blocks_for(longest, SOME_BLOCKS), k, arguments));
  FOLD_TRY(finish());
  for (unsigned i = 0; i < k; i++) memcpy(pieces[i].to_host, c.to[i], pieces[i].nbytes);
  return fold_ok();
}

static fold_status gather(const struct fold_piece *pieces, size_t n) {
  const struct fold_cuda_driver *cu;
  FOLD_TRY(fold_cuda_driver(&cu));
  pin(cu);
  if (n > 0 && !pinned.staging) return fold_error(FOLD_NO_MEMORY, "no pinned memory to read results by");
  for (size_t i = 0; i < n;) {
    size_t taken = 1;
    if (pieces[i].nbytes > STAGING) {
      FOLD_TRY(get(pieces[i].to_host, pieces[i].from, pieces[i].nbytes));
      FOLD_TRY(finish());
    } else {
      FOLD_TRY(gather_some(cu, pieces + i, n - i, &taken));
    }
    i += taken;
  }
  return fold_ok();
}

static fold_status same(const void *a, const void *b, size_t nbytes, bool *same) {
  const struct fold_cuda_driver *cu;
  *same = true;
  if (nbytes == 0) return fold_ok();
  FOLD_TRY(fold_cuda_driver(&cu));
  pin(cu);
  if (!pinned.staging) return fold_error(FOLD_NO_MEMORY, "no pinned memory to compare by");
  volatile unsigned *differ = (volatile unsigned *)(void *)pinned.staging;
  *differ = 0;
  void *arguments[] = {&a, &b, &nbytes, &differ};
  FOLD_TRY(launch(cu, &kernels.compare, blocks_for(nbytes, MOST_BLOCKS), 1, arguments));
  FOLD_TRY(finish());
  *same = *differ == 0;
  return fold_ok();
}

/* The bytes that the device's pool (cudaMallocAsync's) has reserved and that no allocation uses; 0 where there is no pool. */
static size_t idle_in_pool(const struct fold_cuda_driver *cu) {
  enum { RESERVED = 5, USED = 7 };
  uint64_t reserved, used;
  void *pool;
  int device;
  if (!cu->cuDeviceGetMemPool || !cu->cuMemPoolGetAttribute || cu->cuCtxGetDevice(&device) ||
      cu->cuDeviceGetMemPool(&pool, device) || cu->cuMemPoolGetAttribute(pool, RESERVED, &reserved) ||
      cu->cuMemPoolGetAttribute(pool, USED, &used) || reserved < used)
    return 0;
  return reserved - used;
}

/* The driver takes memory from the device in blocks of 2 MiB; what its pool holds is counted to the byte. */
static size_t in_use(void) {
  const struct fold_cuda_driver *cu;
  size_t unused, all;
  if (fold_cuda_driver(&cu).code != FOLD_OK || cu->cuMemGetInfo_v2(&unused, &all)) return 0;
  const size_t taken = all - unused, idle = idle_in_pool(cu);
  return taken > idle ? taken - idle : 0;
}

/* Takes the last error of the calling thread's calls of this build's CUDA runtime, and names it. */
static void take_error(char changed[80]) {
#ifdef FOLD_HAVE_CUDA
  fold_status error = fold_device_take_error();
  if (error.code != FOLD_OK && !changed[0]) snprintf(changed, 80, "CUDA's last error: %.58s", error.text);
#else
  (void)changed;
#endif
}

/* The calling thread's context before a run. */
static _Thread_local void *kept;

/* Clears an error that earlier code left, so that no later call reports it. */
static void keep(void) {
  const struct fold_cuda_driver *cu;
  char earlier[80] = "";
  take_error(earlier);
  if (fold_cuda_driver(&cu).code != FOLD_OK || cu->cuCtxGetCurrent(&kept) != 0) kept = NULL;
}

static int device_of_thread(const struct fold_cuda_driver *cu) {
  int device;
  return cu->cuCtxGetDevice(&device) == 0 ? device : -1;
}

static void restore(char changed[80]) {
  const struct fold_cuda_driver *cu;
  void *now = kept;
  take_error(changed);
  if (!kept || fold_cuda_driver(&cu).code != FOLD_OK || cu->cuCtxGetCurrent(&now) != 0 || now == kept) return;
  const int device = device_of_thread(cu);
  (void)cu->cuCtxSetCurrent(kept); /* if it fails, the next call reports that */
  const int before = device_of_thread(cu);
  if (changed[0]) return;
  if (device == before)
    snprintf(changed, 80, "CUDA's current context");
  else
    snprintf(changed, 80, "the current device, which is %d and was %d", device, before);
}

/* The runtime of a build with the toolkit may want a newer driver than there is. */
static fold_status count_all(int *n, char reason[FOLD_DEVICES_TEXT]) {
#ifdef FOLD_HAVE_CUDA
  FOLD_TRY(fold_device_count(n, reason));
  if (*n == 0) return fold_ok();
#endif
  return fold_cuda_driver_count(n, reason);
}

static fold_status count(int *n, char reason[FOLD_DEVICES_TEXT]) {
  unsigned required;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_REQUIRE_GPUS, 0, &required));
  FOLD_TRY(count_all(n, reason));
  if (*n >= (int)required) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "FOLDPROOF_REQUIRE_GPUS=%u, but there are %d GPUs%s%s", required, *n,
                    reason[0] ? ": " : "", reason);
}

/* Opens the first device's context, so that a device that can't be used fails here. */
static fold_status select_first(void) {
  static _Thread_local void *first;
  const struct fold_cuda_driver *cu;
  int device;
  FOLD_TRY(fold_cuda_driver(&cu));
  if (!first) {
    FOLD_CU_TRY(cuDeviceGet(&device, 0));
    FOLD_CU_TRY(cuDevicePrimaryCtxRetain(&first, device));
  }
  FOLD_CU_TRY(cuCtxSetCurrent(first));
  return fold_ok();
}

static fold_status ready(void) {
  int n = 0;
  char reason[FOLD_DEVICES_TEXT] = "";
  FOLD_TRY(count(&n, reason));
  return n > 0 ? select_first() : fold_error(FOLD_UNSUPPORTED, "%s", reason);
}

const struct fold_engine_ops fold_engine_cuda = {
    .ready = ready,
    .count = count,
    .alloc = allocate,
    .release = release,
    .write = put,
    .read = get,
    .gather = gather,
    .fill = fill,
    .copy = copy,
    .same = same,
    .finish = finish,
    .keep = keep,
    .restore = restore,
    .in_use = in_use,
    .is_host = false,
};
