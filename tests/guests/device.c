/* device.c: a guest on "cuda" over fake_cuda.c, whose device memory is the host's: test_cuda_driver.py expects what becomes of each
 * subject. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "strided.h"

/* The driver that the harness has opened. */
static void *driver(const char *name) {
  void *library = dlopen(getenv("FOLDPROOF_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : NULL;
}

static int wait_for(call_of *call) {
  int (*wait)(void *) = (int (*)(void *))(uintptr_t)driver("cuStreamSynchronize");
  return wait ? wait(call->stream) : 1;
}

static int sums_on_device(call_of *call, uint64_t step) { return wait_for(call) ? 1 : sums(call, step); }

static int honest(call_of *call, void *context) { return (void)context, sums_on_device(call, 1); }
static int dots(call_of *call, void *context) {
  const float *in = call->in, *other = call->other;
  (void)context;
  if (wait_for(call)) return 1;
  for (uint64_t r = 0; r < call->rows; r++) {
    double s = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++) s += (double)in[i] * (double)other[i];
    ((float *)call->out)[r] = (float)s;
  }
  return FOLDPROOF_GUEST_OK;
}
static int by_grid(call_of *call, void *context) {
  return (void)context, sums_on_device(call, call->blocks ? call->blocks : 1);
}
static int by_address(call_of *call, void *context) {
  return (void)context, sums_on_device(call, (uintptr_t)call->in / 4 % 4 == 0 ? 1 : 4);
}
static int changes_its_input(call_of *call, void *context) {
  const int code = honest(call, context);
  if (call->rows > 0 && call->cols > 0) ((float *)(uintptr_t)call->in)[0] = 1;
  return code;
}
static int writes_too_far(call_of *call, void *context) {
  const int code = honest(call, context);
  ((float *)call->out)[call->rows] = 0;
  return code;
}
static int leaves_one_out(call_of *call, void *context) {
  float last = call->rows > 0 && !wait_for(call) ? ((float *)call->out)[call->rows - 1] : 0;
  const int code = honest(call, context);
  if (call->rows > 0) ((float *)call->out)[call->rows - 1] = last;
  return code;
}
static int soils_its_scratch(call_of *call, void *context) {
  const int code = honest(call, context);
  *(char *)call->scratch = 1;
  return code;
}
static int takes_the_device(call_of *call, void *context) {
  int (*retain)(void **, int) = (int (*)(void **, int))(uintptr_t)driver("cuDevicePrimaryCtxRetain");
  int (*set)(void *) = (int (*)(void *))(uintptr_t)driver("cuCtxSetCurrent");
  void *other;
  const int code = honest(call, context);
  return retain && set && retain(&other, 1) == 0 && set(other) == 0 ? code : 1;
}
static int keeps_memory(call_of *call, void *context) {
  int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))(uintptr_t)driver("cuMemAlloc_v2");
  uint64_t kept;
  return allocate && allocate(&kept, 100 << 10) == 0 ? honest(call, context) : 1;
}
static int takes_from_pool(call_of *call, void *context, bool gives_back) {
  int (*allocate)(uint64_t *, size_t, void *) =
      (int (*)(uint64_t *, size_t, void *))(uintptr_t)driver("cuMemAllocAsync");
  int (*release)(uint64_t, void *) = (int (*)(uint64_t, void *))(uintptr_t)driver("cuMemFreeAsync");
  uint64_t taken;
  if (!allocate || !release || allocate(&taken, 4096, call->stream) != 0) return 1;
  const int code = honest(call, context);
  return gives_back && release(taken, call->stream) != 0 ? 1 : code;
}
static int keeps_of_the_pool(call_of *call, void *context) { return takes_from_pool(call, context, false); }
static int uses_the_pool(call_of *call, void *context) { return takes_from_pool(call, context, true); }
static int keeps_a_workspace(call_of *call, void *context) {
  int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))(uintptr_t)driver("cuMemAlloc_v2");
  static uint64_t workspace;
  return workspace || (allocate && allocate(&workspace, 8 << 20) == 0) ? honest(call, context) : 1;
}
static int faults(call_of *call, void *context) {
  void (*fault)(void) = (void (*)(void))(uintptr_t)driver("fake_cuda_break");
  const int code = honest(call, context);
  if (call->cols > 100) fault();
  return code;
}

static size_t some(call_of *call, void *context) { return (void)call, (void)context, 8192; }

#define DEVICE(id, ...) \
  { .name = "device/" #id, .engine = "cuda", .order = "host/sequential", .run = id, __VA_ARGS__ }
#define ALL .claims = "bounded,replays,run_to_run,launch_invariant,alignment_invariant,batch_invariant"
static const struct foldproof_guest_subject subjects[] = {
    DEVICE(honest, ALL, .scratch = some),
    DEVICE(by_grid, ALL),
    DEVICE(by_address, ALL),
    DEVICE(changes_its_input, ALL),
    DEVICE(writes_too_far, ALL),
    DEVICE(leaves_one_out, ALL),
    {.name = "device/dots", .engine = "cuda", .problems = "dot", .accumulator = "f64", .run = dots},
    DEVICE(soils_its_scratch, ALL, .scratch = some),
    DEVICE(takes_the_device, ALL),
    DEVICE(keeps_memory, ALL),
    DEVICE(keeps_a_workspace, ALL),
    DEVICE(keeps_of_the_pool, ALL),
    DEVICE(uses_the_pool, ALL),
    DEVICE(faults, ALL),
};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                   sizeof subjects / sizeof *subjects, subjects};

const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
