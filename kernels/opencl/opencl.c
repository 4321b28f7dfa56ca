/* opencl.c: opens OpenCL's library once in a process, and finds the first suitable device. */
#include "kernels/opencl/opencl.h"

#include <pthread.h>
#include <string.h>

#include "base/shared_library.h"

static const struct fold_shared_library where = {
    .variable = "FOLDPROOF_OPENCL", .usual = "libOpenCL.so.1", .before = "no OpenCL here: ", .after = ""};

/* Constants of CL/cl.h and CL/cl_ext.h. */
enum {
  NOT_FOUND = -1,
  NO_DEVICE_MEMORY = -4,
  NO_RESOURCES = -5,
  NO_HOST_MEMORY = -6,
  NO_PLATFORM = -1001,
  OF_GROUP = 0x1004,
  FLOATS = 0x101b,
  NAME = 0x102b,
  DRIVER = 0x102d,
  DOUBLES = 0x1032,
  SVM = 0x1053,
};
#define ANY_DEVICE UINT64_C(0xffffffff)
/* The device has subnormal numbers, infinities and NaN, and rounds to nearest. */
#define IEEE UINT64_C(7)
#define COARSE_GRAIN UINT64_C(1)

enum { PLATFORMS = 16, DEVICES = 16 };

/* The first caller writes it; later ones only read it. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct fold_opencl cl;
} library = {.once = PTHREAD_ONCE_INIT};

fold_status fold_opencl_status(int error, const char *call) {
  if (error == 0) return fold_ok();
  const bool memory = error == NO_DEVICE_MEMORY || error == NO_RESOURCES || error == NO_HOST_MEMORY;
  return fold_error(memory ? FOLD_NO_MEMORY : FOLD_ENVIRONMENT, "%.*s: OpenCL error %d", (int)strcspn(call, "("), call,
                    error);
}

/* Whether the device has all of these bits. */
static bool has(const struct fold_opencl *cl, void *device, unsigned what, uint64_t bits) {
  uint64_t value = 0;
  return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) == 0 && (value & bits) == bits;
}

static bool take_device(struct fold_opencl *cl, void *device) {
  if (!has(cl, device, SVM, COARSE_GRAIN) || !has(cl, device, FLOATS, IEEE)) return false;
  cl->device = device;
  cl->doubles = has(cl, device, DOUBLES, IEEE);
  if (cl->clGetDeviceInfo(device, OF_GROUP, sizeof cl->group, &cl->group, NULL) != 0) cl->group = 0;
  if (cl->clGetDeviceInfo(device, NAME, sizeof cl->name - 1, cl->name, NULL) != 0) cl->name[0] = '\0';
  if (cl->clGetDeviceInfo(device, DRIVER, sizeof cl->driver - 1, cl->driver, NULL) != 0) cl->driver[0] = '\0';
  return true;
}

static fold_status find_device(struct fold_opencl *cl) {
  void *platforms[PLATFORMS], *devices[DEVICES];
  unsigned n = 0, all = 0;
  int error = cl->clGetPlatformIDs(PLATFORMS, platforms, &n);
  if (error != NO_PLATFORM) FOLD_TRY(fold_opencl_status(error, "clGetPlatformIDs"));
  for (unsigned p = 0; p < n && p < PLATFORMS; p++) {
    unsigned m = 0;
    error = cl->clGetDeviceIDs(platforms[p], ANY_DEVICE, DEVICES, devices, &m);
    if (error == NOT_FOUND) continue;
    FOLD_TRY(fold_opencl_status(error, "clGetDeviceIDs"));
    for (unsigned d = 0; d < m && d < DEVICES; d++, all++)
      if (take_device(cl, devices[d])) return fold_ok();
  }
  return fold_error(FOLD_UNSUPPORTED, "no OpenCL here: %u platforms, %u devices, none with shared virtual memory", n,
                    all);
}

static fold_status start(struct fold_opencl *cl) {
  int error = 0;
  FOLD_TRY(find_device(cl));
  cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &error);
  FOLD_TRY(fold_opencl_status(error, "clCreateContext"));
  cl->queue = cl->clCreateCommandQueueWithProperties(cl->context, cl->device, NULL, &error);
  return fold_opencl_status(error, "clCreateCommandQueueWithProperties");
}

static fold_status find_calls(void *handle) {
#define FIND(result, name, arguments) FOLD_TRY(fold_shared_library_find(&where, handle, #name, &library.cl.name));
  FOLD_OPENCL_CALLS(FIND)
#undef FIND
  return start(&library.cl);
}

static void open_library(void) {
  void *handle;
  library.status = fold_shared_library_open(&where, &handle);
  if (library.status.code == FOLD_OK) library.status = find_calls(handle);
}

fold_status fold_opencl(const struct fold_opencl **cl) {
  pthread_once(&library.once, open_library);
  *cl = &library.cl;
  return library.status;
}
