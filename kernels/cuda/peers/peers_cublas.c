/* peers_cublas.c: cuBLAS's dot product as a peer; the library is opened at run time, so that a build needs its header alone.
 *
 * cublasDotEx: elements and result of one type, f16 and bf16 computed in f32. NVIDIA documents the same bits at every run on GPUs of one
 * model, with one stream; nothing about the order, or about fused products.
 */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/dot/dot.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
static const char usual[] = "libcublas.so." TEXT(CUBLAS_VER_MAJOR);

/* Written by the first who asks. */
static struct {
  pthread_once_t once;
  fold_status status;
  cublasHandle_t handle;
  int version;
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*get_version)(cublasHandle_t, int *);
  cublasStatus_t (*set_pointer_mode)(cublasHandle_t, cublasPointerMode_t);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  cublasStatus_t (*dot)(cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int, void *,
                        cudaDataType, cudaDataType);
} library = {.once = PTHREAD_ONCE_INIT};

static const char *const calls[] = {"cublasCreate_v2", "cublasGetVersion_v2", "cublasSetPointerMode_v2",
                                    "cublasSetStream_v2", "cublasDotEx"};

static void *open_by_name(void) {
  const char *named = getenv("FOLDPROOF_CUBLAS");
  if (named && *named) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  void *handle = dlopen(usual, RTLD_NOW | RTLD_LOCAL);
  char path[512];
  snprintf(path, sizeof path, "%s/lib64/%s", FOLD_CUDA_TOOLKIT, usual);
  return handle ? handle : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static fold_status find_calls(void *handle) {
  void **const pointers[] = {(void **)&library.create, (void **)&library.get_version,
                             (void **)&library.set_pointer_mode, (void **)&library.set_stream, (void **)&library.dot};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    *pointers[i] = dlsym(handle, calls[i]);
    if (!*pointers[i]) return fold_error(FOLD_UNSUPPORTED, "%s has no %s", usual, calls[i]);
  }
  return fold_ok();
}

static fold_status check(cublasStatus_t status, const char *call) {
  if (status == CUBLAS_STATUS_SUCCESS) return fold_ok();
  enum fold_code code = status == CUBLAS_STATUS_NOT_SUPPORTED  ? FOLD_UNSUPPORTED
                        : status == CUBLAS_STATUS_ALLOC_FAILED ? FOLD_NO_MEMORY
                                                               : FOLD_ENVIRONMENT;
  return fold_error(code, "%s: status %d", call, (int)status);
}

static fold_status start(void) {
  void *handle = open_by_name();
  if (!handle)
    return fold_error(FOLD_UNSUPPORTED, "%s cannot be opened (FOLDPROOF_CUBLAS may name another library)", usual);
  FOLD_TRY(find_calls(handle));
  FOLD_TRY(check(library.create(&library.handle), "cublasCreate"));
  FOLD_TRY(check(library.get_version(library.handle, &library.version), "cublasGetVersion"));
  return check(library.set_pointer_mode(library.handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
}

static void start_once(void) { library.status = start(); }

static fold_status ready(void) {
  pthread_once(&library.once, start_once);
  return library.status;
}

void fold_peer_cublas_version(char text[64]) {
  int v = ready().code == FOLD_OK ? library.version : 0;
  snprintf(text, 64, v ? "cuBLAS %d.%d.%d" : "no cuBLAS", v / 10000, v / 100 % 100, v % 100);
}

static cudaDataType type_of(enum fold_dtype dtype) {
  switch (dtype) {
    case FOLD_F16: return CUDA_R_16F;
    case FOLD_BF16: return CUDA_R_16BF;
    case FOLD_F32: return CUDA_R_32F;
    case FOLD_F64: return CUDA_R_64F;
    case FOLD_E4M3:
    case FOLD_E5M2:
    case FOLD_I8:
    case FOLD_I32:
    case FOLD_I64:
    case FOLD_DTYPES: break; /* which the subject's row does not name */
  }
  return CUDA_R_32F;
}

fold_status fold_peer_cublas_dot(const struct fold_subject *subject, const struct fold_call *call) {
  enum { MOST_ROWS = 1024 };
  const cudaDataType type = type_of(call->dtype), wide = type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const size_t size = fold_dtype_size(call->dtype), stride = call->cols * size;
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLAS chooses its launch", subject->name);
  if (call->rows > MOST_ROWS) return fold_error(FOLD_UNSUPPORTED, "%s: at most %d rows", subject->name, MOST_ROWS);
  if (call->cols > 0x7fffffff)
    return fold_error(FOLD_UNSUPPORTED, "%s: rows of %zu are too long", subject->name, call->cols);
  FOLD_TRY(ready());
  FOLD_TRY(check(library.set_stream(library.handle, call->stream), "cublasSetStream"));
  for (size_t r = 0; r < call->rows; r++)
    FOLD_TRY(
        check(library.dot(library.handle, (int)call->cols, (const char *)call->in[0] + r * stride, type, 1,
                          (const char *)call->in[1] + r * stride, type, 1, (char *)call->out + r * size, type, wide),
              "cublasDotEx"));
  return fold_ok();
}
