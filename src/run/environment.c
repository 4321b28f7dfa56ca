/* environment.c: asks the system and the libraries who they are. */
#include "run/environment.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/build.h"
#include "engine/cuda_driver.h"
#include "kernels/collective/comm.h"

#ifdef FOLD_HAVE_NCCL
#include "kernels/collective/nccl_library.h"
#endif
#ifdef FOLD_HAVE_OPENCL
#include "kernels/opencl/opencl.h"
#endif
#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/device.h"
#include "kernels/cuda/peers/cutlass.h"
#include "kernels/cuda/peers/peers.h"
#endif

/* The value behind "key\t: value" in a file of /proc; "unknown" where there is none. */
static const char *look_up(const char *path, const char *key, char *value, size_t size) {
  FILE *file = fopen(path, "r");
  char line[512];
  snprintf(value, size, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    const char *text = strchr(line, ':');
    if (text == NULL) continue;
    snprintf(value, size, "%.*s", (int)strcspn(text + 1 + strspn(text + 1, " \t"), "\n"),
             text + 1 + strspn(text + 1, " \t"));
    break;
  }
  if (file) fclose(file);
  return value;
}

static void add_system(json_t *object) {
  char text[256];
  struct utsname name;
  if (uname(&name) == 0) {
    snprintf(text, sizeof text, "%s %.80s %.40s", name.sysname, name.release, name.machine);
    json_object_set_new(object, "system", json_string(text));
  }
  json_object_set_new(object, "cpu", json_string(look_up("/proc/cpuinfo", "model name", text, sizeof text)));
  json_object_set_new(object, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
  json_object_set_new(object, "memory_bytes",
                      json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
  const char *threads = getenv("OMP_NUM_THREADS");
  if (threads) json_object_set_new(object, "OMP_NUM_THREADS", json_string(threads));
}

static void add_libraries(json_t *object) {
  char text[64];
  json_object_set_new(object, "compiler", json_string(fold_build_compiler()));
  json_object_set_new(object, "flags", json_string(fold_build_flags()));
#ifdef FOLD_HAVE_CUDA
  const int cccl = fold_peer_cccl_version(); /* 3001002 is 3.1.2 */
  snprintf(text, sizeof text, "%d.%d.%d", cccl / 1000000, cccl / 1000 % 1000, cccl % 1000);
  json_object_set_new(object, "nvcc", json_string(FOLD_NVCC));
  json_object_set_new(object, "nvcc_flags", json_string(FOLD_NVCC_FLAGS));
  json_object_set_new(object, "cccl", json_string(text));
  json_object_set_new(object, "gpu_arch", json_string(FOLD_GPU_ARCH));
#endif
#ifdef FOLD_HAVE_CUTLASS
  json_object_set_new(object, "cutlass", json_string(fold_cutlass_version()));
#endif
  json_object_set_new(object, "mpfr", json_string(mpfr_get_version()));
  json_object_set_new(object, "gmp", json_string(gmp_version));
  json_object_set_new(object, "jansson", json_string(JANSSON_VERSION));
  snprintf(text, sizeof text, "%u", XXH_versionNumber());
  json_object_set_new(object, "xxhash", json_string(text));
}

/* The libraries by which ranks talk. */
static void add_collectives(json_t *object) {
  for (int e = 0; e < FOLD_ENGINES; e++) {
    const struct fold_engine_row *row = &fold_engine_rows[e];
    if (!row->ranks) continue;
    const struct fold_comm_engine *engine = fold_comm_engine_of((enum fold_engine)e);
    char text[64] = "", key[32];
    const fold_status ready =
        engine ? engine->ready() : fold_error(FOLD_UNSUPPORTED, "this build has no %s", row->title);
    const bool there = ready.code == FOLD_OK;
    if (there) engine->version(text);
    snprintf(key, sizeof key, "%s%s", row->name, there ? "" : "_missing");
    json_object_set_new(object, key, json_string(there ? text : ready.text));
  }
#ifdef FOLD_HAVE_NCCL
  /* A machine may have several NCCL libraries. */
  if (*fold_nccl_file()) json_object_set_new(object, "nccl_file", json_string(fold_nccl_file()));
#endif
}

/* In a build with the toolkit adds the runtime's version, for which the driver may be too old. */
static void add_gpu(json_t *gpus, int index) {
  struct fold_cuda_device device;
  if (fold_cuda_driver_device(index, &device).code != FOLD_OK) return;
  char arch[24], version[64];
  snprintf(arch, sizeof arch, "sm_%d%d", device.major, device.minor);
  fold_cuda_driver_version(version);
  json_t *gpu = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:I}", "name", device.name, "arch", arch, "driver", version,
                          "driver_cuda", device.driver_cuda, "multiprocessors", device.sms, "l2_bytes", device.l2,
                          "memory_bytes", (json_int_t)device.memory);
#ifdef FOLD_HAVE_CUDA
  struct fold_device_info info;
  if (gpu && fold_device_info(index, &info).code == FOLD_OK)
    json_object_set_new(gpu, "runtime_cuda", json_integer(info.runtime_cuda));
#endif
  json_array_append_new(gpus, gpu);
}

static void add_gpus(json_t *object) {
  char reason[FOLD_CUDA_TEXT] = "";
  int n = 0;
  fold_status status = fold_cuda_driver_count(&n, reason);
  if (status.code != FOLD_OK || n == 0)
    json_object_set_new(object, "gpus_missing", json_string(status.code != FOLD_OK ? status.text : reason));
  json_t *gpus = json_array();
  for (int i = 0; i < n; i++) add_gpu(gpus, i);
  json_object_set_new(object, "gpus", gpus);
}

/* In a build that has a kernel for OpenCL. */
static void add_opencl(json_t *object) {
#ifdef FOLD_HAVE_OPENCL
  const struct fold_opencl *cl;
  char text[200];
  const fold_status status = fold_opencl(&cl);
  if (status.code == FOLD_OK) snprintf(text, sizeof text, "%s, driver %s", cl->name, cl->driver);
  json_object_set_new(object, status.code == FOLD_OK ? "opencl" : "opencl_missing",
                      json_string(status.code == FOLD_OK ? text : status.text));
#else
  (void)object;
#endif
}

json_t *fold_environment(void) {
  json_t *object = json_object();
  if (object == NULL) return NULL;
  json_object_set_new(object, "foldproof", json_string(FOLD_VERSION));
  json_object_set_new(object, "build", json_string(fold_build_commit()));
  add_system(object);
  add_libraries(object);
  add_collectives(object);
  add_gpus(object);
  add_opencl(object);
  return object;
}
