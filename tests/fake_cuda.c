/* fake_cuda.c: a fake of CUDA's driver for tests, which runs on the host. It has the functions that judging needs.
 * Launches, and copies from pinned memory, are done when somebody waits for them, and only in a current context.
 *
 * FAKE_CUDA says what is wrong with it: "devices=N" (1), "init=CODE", "fail=NAME:K:CODE": the K-th call of NAME fails,
 * or with K = 0 every one. FAKE_CUDA_LOG is a file to which each process that took device memory appends what it has
 * not freed. Built with FAKE_WITHOUT_LAUNCH it lacks one function, with FAKE_WITHOUT_POOLS those of memory pools.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/cuda_driver.h"

enum { MOST = 4096, QUEUE = 256, DEVICES = 8, OK = 0, INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201, ILLEGAL = 700 };

#define DECLARE(name, arguments) int name arguments;
FOLD_CUDA_CALLS(DECLARE)
FOLD_CUDA_POOL_CALLS(DECLARE)
int cuMemAllocAsync(uint64_t *at, size_t nbytes, void *stream);
int cuMemFreeAsync(uint64_t at, void *stream);
void fake_cuda_break(void);

struct task {
  enum { FILL, COPY, COMPARE, MOVE } kind;
  union {
    struct {
      void *at;
      int byte;
      size_t nbytes;
    } fill;
    struct {
      void *to;
      const void *from;
      size_t nbytes;
      void *staged; /* of memory that is not pinned */
    } copy;
    struct {
      const void *a, *b;
      size_t nbytes;
      unsigned *differ;
    } compare;
  };
};

static struct {
  struct {
    char *at;
    size_t nbytes;
    int kind;
  } memory[MOST];
  struct task queue[QUEUE];
  size_t waiting, taken, given_back, from_pinned; /* copies that were not waited for */
  int sticky;
} device;
static int contexts[DEVICES]; /* their addresses are the contexts */
static int kernels[3], module;
static _Thread_local int *current;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static long setting(const char *key, long usual) {
  const char *all = getenv("FAKE_CUDA"), *at = all ? strstr(all, key) : NULL;
  return at && at[strlen(key)] == '=' ? strtol(at + strlen(key) + 1, NULL, 10) : usual;
}

/* What the call answers before it has done anything. */
static int enter(const char *name, unsigned *calls, int needs_context) {
  char wanted[64];
  const char *all = getenv("FAKE_CUDA"), *at = all ? strstr(all, "fail=") : NULL;
  ++*calls;
  snprintf(wanted, sizeof wanted, "fail=%s:", name);
  if (at && strncmp(at, wanted, strlen(wanted)) == 0) {
    unsigned k;
    int code;
    if (sscanf(at + strlen(wanted), "%u:%d", &k, &code) == 2 && (k == 0 || k == *calls)) return code;
  }
  if (needs_context && !current) return NO_CONTEXT;
  return needs_context ? device.sticky : OK;
}
#define ENTER(name, needs_context)                         \
  do {                                                     \
    static unsigned calls;                                 \
    const int first_ = enter(name, &calls, needs_context); \
    if (first_) return first_;                             \
  } while (0)

/* Which memory it is in, as long as it is; -1: none. */
static int find(const void *at, size_t nbytes) {
  for (int i = 0; i < MOST; i++) {
    const char *start = device.memory[i].at;
    if (start && (const char *)at >= start && (const char *)at + nbytes <= start + device.memory[i].nbytes) return i;
  }
  return -1;
}

static int is_there(const void *at, size_t nbytes) { return nbytes == 0 || find(at, nbytes) >= 0; }

static int do_task(struct task *t) {
  switch (t->kind) {
    case FILL:
      if (!is_there(t->fill.at, t->fill.nbytes)) return ILLEGAL;
      memset(t->fill.at, t->fill.byte, t->fill.nbytes);
      return OK;
    case COPY:
    case MOVE: {
      const void *from = t->copy.staged ? t->copy.staged : t->copy.from;
      if (!is_there(t->copy.to, t->copy.nbytes) || (!t->copy.staged && !is_there(from, t->copy.nbytes))) return ILLEGAL;
      memmove(t->copy.to, from, t->copy.nbytes);
      free(t->copy.staged);
      return OK;
    }
    case COMPARE:
      if (!is_there(t->compare.a, t->compare.nbytes) || !is_there(t->compare.b, t->compare.nbytes)) return ILLEGAL;
      if (memcmp(t->compare.a, t->compare.b, t->compare.nbytes) != 0) *t->compare.differ = 1;
      return OK;
  }
  return INVALID;
}

static int drain(void) {
  for (size_t i = 0; i < device.waiting; i++)
    if (!device.sticky) device.sticky = do_task(&device.queue[i]);
  device.waiting = 0;
  return device.sticky;
}

static void add(struct task t) {
  if (device.waiting == QUEUE) drain();
  device.queue[device.waiting++] = t;
}

enum { DEVICE, PINNED, POOLED };
static int take(size_t nbytes, int kind, void **at) {
  int i = 0;
  while (i < MOST && device.memory[i].at) i++;
  if (i == MOST || nbytes == 0 || nbytes > (size_t)1 << 32) return NO_MEMORY;
  *at = aligned_alloc(256, (nbytes + 255) / 256 * 256);
  if (!*at) return NO_MEMORY;
  memset(*at, 0x5c, nbytes);
  device.memory[i].at = *at;
  device.memory[i].nbytes = nbytes;
  device.memory[i].kind = kind;
  device.taken += kind != PINNED;
  return OK;
}

__attribute__((destructor)) static void leave_word(void) {
  const char *log = getenv("FAKE_CUDA_LOG");
  FILE *file = log && device.taken ? fopen(log, "a") : NULL;
  if (!file) return;
  fprintf(file, "took %zu gave_back %zu from_pinned %zu\n", device.taken, device.given_back, device.from_pinned);
  fclose(file);
}

/* A fault of a kernel that was not waited for. */
void fake_cuda_break(void) { add((struct task){.kind = FILL, .fill = {(void *)8, 0, 8}}); }

int cuGetErrorString(int error, const char **text) {
  *text = error == NO_MEMORY ? "out of memory" : error == 100 ? "no CUDA-capable device is detected" : "a fake's error";
  return OK;
}
int cuInit(unsigned flags) {
  (void)flags;
  ENTER("cuInit", 0);
  return (int)setting("init", OK);
}
int cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion", 0);
  *version = 12090;
  return OK;
}
int cuDeviceGetCount(int *n) {
  ENTER("cuDeviceGetCount", 0);
  *n = (int)setting("devices", 1);
  return OK;
}
int cuDeviceGet(int *number, int index) {
  ENTER("cuDeviceGet", 0);
  if (index < 0 || index >= setting("devices", 1)) return 101;
  *number = index;
  return OK;
}
int cuDeviceGetName(char *name, int size, int number) {
  ENTER("cuDeviceGetName", 0);
  snprintf(name, (size_t)size, "Fake GPU %d", number);
  return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int number) {
  (void)number;
  ENTER("cuDeviceGetAttribute", 0);
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute;
  return OK;
}
int cuDeviceTotalMem_v2(size_t *nbytes, int number) {
  (void)number;
  ENTER("cuDeviceTotalMem_v2", 0);
  *nbytes = (size_t)1 << 32;
  return OK;
}
int cuDevicePrimaryCtxRetain(void **context, int number) {
  ENTER("cuDevicePrimaryCtxRetain", 0);
  *context = &contexts[number];
  return OK;
}
int cuCtxGetCurrent(void **context) {
  ENTER("cuCtxGetCurrent", 0);
  *context = current;
  return OK;
}
int cuCtxSetCurrent(void *context) {
  ENTER("cuCtxSetCurrent", 0);
  current = context;
  return OK;
}
int cuCtxGetDevice(int *number) {
  ENTER("cuCtxGetDevice", 0);
  if (!current) return NO_CONTEXT;
  *number = (int)(current - contexts);
  return OK;
}
int cuCtxSynchronize(void) {
  ENTER("cuCtxSynchronize", 1);
  pthread_mutex_lock(&turn);
  int code = drain();
  pthread_mutex_unlock(&turn);
  return code;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  ENTER("cuStreamSynchronize", 1);
  pthread_mutex_lock(&turn);
  int code = drain();
  pthread_mutex_unlock(&turn);
  return code;
}
int cuMemAlloc_v2(uint64_t *at, size_t nbytes) {
  void *memory = NULL;
  ENTER("cuMemAlloc_v2", 1);
  pthread_mutex_lock(&turn);
  int code = take(nbytes, DEVICE, &memory);
  pthread_mutex_unlock(&turn);
  *at = (uint64_t)(uintptr_t)memory;
  return code;
}
static size_t in_use(int kind, size_t block) {
  size_t used = 0;
  pthread_mutex_lock(&turn);
  for (int i = 0; i < MOST; i++)
    if (device.memory[i].at && device.memory[i].kind == kind) used += (device.memory[i].nbytes + 255) / 256 * 256;
  pthread_mutex_unlock(&turn);
  return (used + block - 1) / block * block;
}
enum { BLOCK = 2 << 20, POOL_BLOCK = 32 << 20 };
int cuMemGetInfo_v2(size_t *unused, size_t *all) {
  ENTER("cuMemGetInfo_v2", 1);
  *all = (size_t)1 << 32;
  *unused = *all - in_use(DEVICE, BLOCK) - in_use(POOLED, POOL_BLOCK);
  return OK;
}

/* The pool of a device, which takes memory from it in blocks of its own. */
int cuMemAllocAsync(uint64_t *at, size_t nbytes, void *stream) {
  void *memory = NULL;
  (void)stream;
  ENTER("cuMemAllocAsync", 1);
  pthread_mutex_lock(&turn);
  int code = take(nbytes, POOLED, &memory);
  pthread_mutex_unlock(&turn);
  *at = (uint64_t)(uintptr_t)memory;
  return code;
}
#ifndef FAKE_WITHOUT_POOLS
static int pool;
int cuDeviceGetMemPool(void **found, int number) {
  (void)number;
  ENTER("cuDeviceGetMemPool", 0);
  *found = &pool;
  return OK;
}
int cuMemPoolGetAttribute(void *of, int attribute, void *value) {
  ENTER("cuMemPoolGetAttribute", 0);
  if (of != &pool || (attribute != 5 && attribute != 7)) return INVALID;
  *(uint64_t *)value = in_use(POOLED, attribute == 5 ? POOL_BLOCK : 1);
  return OK;
}
#endif

static int give_back(uint64_t at, int kind) {
  pthread_mutex_lock(&turn);
  int code = drain(), i = find((void *)(uintptr_t)at, 1);
  if (i < 0 || device.memory[i].at != (char *)(uintptr_t)at || device.memory[i].kind != kind) {
    code = INVALID;
  } else {
    memset(device.memory[i].at, 0xee, device.memory[i].nbytes);
    free(device.memory[i].at);
    device.memory[i].at = NULL;
    device.given_back++;
  }
  pthread_mutex_unlock(&turn);
  return code;
}
int cuMemFree_v2(uint64_t at) {
  ENTER("cuMemFree_v2", 1);
  return give_back(at, DEVICE);
}
int cuMemFreeAsync(uint64_t at, void *stream) {
  (void)stream;
  ENTER("cuMemFreeAsync", 1);
  return give_back(at, POOLED);
}
int cuMemHostAlloc(void **at, size_t nbytes, unsigned flags) {
  ENTER("cuMemHostAlloc", 1);
  pthread_mutex_lock(&turn);
  int code = flags == 1 ? take(nbytes, PINNED, at) : INVALID;
  pthread_mutex_unlock(&turn);
  return code;
}

static int move(void *to, const void *from, size_t nbytes, int waits) {
  struct task t = {.kind = MOVE, .copy = {to, from, nbytes, NULL}};
  if (find(from, nbytes) < 0) {
    t.copy.staged = malloc(nbytes + 1);
    memcpy(t.copy.staged, from, nbytes);
  }
  pthread_mutex_lock(&turn);
  device.from_pinned += !t.copy.staged;
  add(t);
  int code = waits ? drain() : OK;
  pthread_mutex_unlock(&turn);
  return code;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t nbytes, void *stream) {
  ENTER("cuMemcpyHtoDAsync_v2", 1);
  if (stream && stream != FOLD_CUDA_LEGACY) return INVALID;
  if (find(from, 1) >= 0 && find(from, nbytes) < 0) return INVALID; /* beyond its end */
  return move((void *)(uintptr_t)to, from, nbytes, 0);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t nbytes, void *stream) {
  ENTER("cuMemcpyDtoHAsync_v2", 1);
  if (stream && stream != FOLD_CUDA_LEGACY) return INVALID;
  pthread_mutex_lock(&turn);
  int code = drain();
  if (!code && !is_there((void *)(uintptr_t)from, nbytes)) code = INVALID;
  if (!code) memcpy(to, (void *)(uintptr_t)from, nbytes);
  pthread_mutex_unlock(&turn);
  return code;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t nbytes, void *stream) {
  ENTER("cuMemcpyDtoDAsync_v2", 1);
  if (stream && stream != FOLD_CUDA_LEGACY) return INVALID;
  return move((void *)(uintptr_t)to, (void *)(uintptr_t)from, nbytes, 0);
}
int cuModuleLoadData(void **loaded, const void *image) {
  ENTER("cuModuleLoadData", 1);
  *loaded = &module;
  return strstr(image, ".version") ? OK : 218;
}
int cuModuleGetFunction(void **function, void *of, const char *name) {
  static const char *const names[] = {"fold_fill", "fold_copy", "fold_compare"};
  ENTER("cuModuleGetFunction", 1);
  for (int i = 0; i < 3; i++)
    if (of == &module && strcmp(name, names[i]) == 0) {
      *function = &kernels[i];
      return OK;
    }
  return 500;
}

/* Python's package asks whose memory it is, and of which device. */
int cuPointerGetAttribute(void *value, int attribute, uint64_t at);
int cuPointerGetAttribute(void *value, int attribute, uint64_t at) {
  pthread_mutex_lock(&turn);
  const int i = find((void *)(uintptr_t)at, 1);
  if (i >= 0) *(int *)value = attribute == 9 ? 0 : device.memory[i].kind == PINNED ? 1 : 2;
  pthread_mutex_unlock(&turn);
  return i >= 0 && (attribute == 2 || attribute == 9) ? OK : INVALID;
}

#ifndef FAKE_WITHOUT_LAUNCH
struct fills {
  struct {
    void *at;
    int byte;
    size_t nbytes;
  } at[8];
};
struct copies {
  const void *from[8];
  void *to[8];
  size_t nbytes[8];
};

/* As pieces.ptx has it: pieces are counted by grid_y. */
static int launch(const void *function, unsigned pieces, void **arguments) {
  const struct fills *fills = arguments[0];
  const struct copies *copies = arguments[0];
  for (unsigned k = 0; k < pieces && k < 8; k++) {
    if (function == &kernels[0])
      add((struct task){.kind = FILL,
                        .fill = {fills->at[k].at, (unsigned char)fills->at[k].byte, fills->at[k].nbytes}});
    else if (function == &kernels[1])
      add((struct task){.kind = COPY, .copy = {copies->to[k], copies->from[k], copies->nbytes[k], NULL}});
    else if (function == &kernels[2])
      add((struct task){.kind = COMPARE,
                        .compare = {*(void **)arguments[0], *(void **)arguments[1], *(size_t *)arguments[2],
                                    *(unsigned **)arguments[3]}});
    else
      return 400;
  }
  return OK;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra) {
  ENTER("cuLaunchKernel", 1);
  if (stream != FOLD_CUDA_LEGACY || shared != 0 || extra || !grid_x || grid_y == 0 || grid_y > 8 || grid_z != 1 ||
      block_x == 0 || block_x > 1024 || block_y != 1 || block_z != 1)
    return INVALID;
  const size_t *nbytes = function == &kernels[2] ? arguments[2] : NULL;
  if (nbytes && grid_x > *nbytes / (16 * block_x) + 1) return INVALID; /* blocks that have nothing to do */
  for (unsigned k = 0, busy = 0; !nbytes && k < grid_y; k++) {
    const size_t n = function == &kernels[0] ? ((const struct fills *)arguments[0])->at[k].nbytes
                                             : ((const struct copies *)arguments[0])->nbytes[k];
    busy |= n / (16 * block_x) + 1 >= grid_x;
    if (k + 1 == grid_y && !busy) return INVALID;
  }
  pthread_mutex_lock(&turn);
  int code = launch(function, grid_y, arguments);
  pthread_mutex_unlock(&turn);
  return code;
}
#endif
