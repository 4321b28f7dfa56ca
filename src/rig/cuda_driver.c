/* cuda_driver.c: finds and opens CUDA's driver, once a process, and asks it what is here. */
#include "cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual = "libcuda.so.1";

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

static const char *named(void) {
  const char *name = getenv("FOLDPROOF_CUDA_DRIVER");
  return name && *name ? name : NULL;
}

static fold_status refuse(const char *why) {
  if (named()) return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_CUDA_DRIVER=%.120s: %.110s", named(), why);
  return fold_error(FOLD_UNSUPPORTED, "no GPU here: %s: %.120s", usual, why);
}

/* The dynamic linker's reason, without the name that it has in front. */
static fold_status refuse_unopened(const char *name) {
  const char *why = dlerror();
  size_t n = strlen(name);
  if (!why) why = "can't be opened";
  return refuse(strncmp(why, name, n) == 0 && strncmp(why + n, ": ", 2) == 0 ? why + n + 2 : why);
}

static fold_status find(void *handle, const char *name, void *pointer) {
  void *address = dlsym(handle, name);
  char why[60];
  memcpy(pointer, &address, sizeof address);
  snprintf(why, sizeof why, "has no %s", name);
  return address ? fold_ok() : refuse(why);
}

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
#define FIND(name, arguments) FOLD_TRY(find(handle, #name, &library.calls.name));
  FOLD_CUDA_CALLS(FIND)
#undef FIND
  return start();
}

static void open_library(void) {
  const char *name = named() ? named() : usual;
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* stays open: it has threads of its own */
  library.status = handle ? find_calls(handle) : refuse_unopened(name);
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
