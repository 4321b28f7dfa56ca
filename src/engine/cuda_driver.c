/* cuda_driver.c: finds and opens CUDA's driver, once a process, and asks it what is here. */
#include "engine/cuda_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/shared_library.h"

static const struct fold_shared_library where = {
    .variable = "FOLDPROOF_CUDA_DRIVER", .usual = "libcuda.so.1", .before = "no GPU here: ", .after = ""};

/* Where the library is a stub, or has no device, there is no GPU. */
enum { OUT_OF_MEMORY = 2, STUB_LIBRARY = 34, NO_DEVICE = 100, NO_IMAGE = 209 };
/* Attributes of devices. */
enum { SMS = 16, L2_BYTES = 38, MAJOR = 75, MINOR = 76 };

/* Written by the first who asks, read by everybody after that. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct fold_cuda_driver calls;
} library = {.once = PTHREAD_ONCE_INIT};

static const char *text_of(int error) {
  const char *text = NULL;
  return library.calls.cuGetErrorString(error, &text) == 0 && text ? text : "unknown to this driver";
}

fold_status fold_cuda_driver_status(int error, const char *call) {
  if (error == 0) return fold_ok();
  const char *todo = error == NO_IMAGE ? "; Meson's option gpu_arch says for which GPUs" : "";
  return fold_error(error == OUT_OF_MEMORY ? FOLD_NO_MEMORY : FOLD_ENVIRONMENT, "%.*s: %s (CUDA error %d)%s",
                    (int)strcspn(call, "("), call, text_of(error), error, todo);
}

static fold_status start(void) {
  int error = library.calls.cuInit(0);
  if (error == NO_DEVICE || error == STUB_LIBRARY)
    return fold_error(FOLD_UNSUPPORTED, "no GPU here: %.90s (CUDA error %d)", text_of(error), error);
  return fold_cuda_driver_status(error, "cuInit");
}

static fold_status find_calls(void *handle) {
#define FIND(name, arguments) FOLD_TRY(fold_shared_library_find(&where, handle, #name, &library.calls.name));
  FOLD_CUDA_CALLS(FIND)
#undef FIND
#define FIND(name, arguments) (void)fold_shared_library_find(&where, handle, #name, &library.calls.name);
  FOLD_CUDA_POOL_CALLS(FIND)
#undef FIND
  return start();
}

static void open_library(void) {
  void *handle;
  library.status = fold_shared_library_open(&where, &handle);
  if (library.status.code == FOLD_OK) library.status = find_calls(handle);
}

fold_status fold_cuda_driver(const struct fold_cuda_driver **cu) {
  pthread_once(&library.once, open_library);
  *cu = &library.calls;
  return library.status;
}

fold_status fold_cuda_driver_count(int *n, char reason[FOLD_CUDA_TEXT]) {
  const struct fold_cuda_driver *cu;
  fold_status status = fold_cuda_driver(&cu);
  *n = 0;
  reason[0] = '\0';
  if (status.code == FOLD_OK)
    FOLD_CU_TRY(cuDeviceGetCount(n));
  else if (status.code != FOLD_UNSUPPORTED)
    return status;
  if (*n > 0) return fold_ok();
  *n = 0;
  const char *why = status.code == FOLD_OK ? "no GPU here: the driver has no device" : status.text;
  snprintf(reason, FOLD_CUDA_TEXT, "%.*s", FOLD_CUDA_TEXT - 1, why);
  return fold_ok();
}

/* CUDA tells which CUDA a driver supports, not the driver's own version; on Linux the kernel module does. */
void fold_cuda_driver_version(char text[64]) {
  text[0] = '\0';
  FILE *file = fopen("/sys/module/nvidia/version", "r");
  if (!file) return;
  if (!fgets(text, 64, file)) text[0] = '\0';
  text[strcspn(text, "\r\n")] = '\0';
  fclose(file);
}

fold_status fold_cuda_driver_device(int index, struct fold_cuda_device *device) {
  const struct fold_cuda_driver *cu;
  int number;
  memset(device, 0, sizeof *device);
  FOLD_TRY(fold_cuda_driver(&cu));
  FOLD_CU_TRY(cuDeviceGet(&number, index));
  FOLD_CU_TRY(cuDeviceGetName(device->name, (int)sizeof device->name, number));
  FOLD_CU_TRY(cuDeviceGetAttribute(&device->major, MAJOR, number));
  FOLD_CU_TRY(cuDeviceGetAttribute(&device->minor, MINOR, number));
  FOLD_CU_TRY(cuDeviceGetAttribute(&device->sms, SMS, number));
  FOLD_CU_TRY(cuDeviceGetAttribute(&device->l2, L2_BYTES, number));
  FOLD_CU_TRY(cuDeviceTotalMem_v2(&device->memory, number));
  FOLD_CU_TRY(cuDriverGetVersion(&device->driver_cuda));
  return fold_ok();
}
