/* cublas.c: see cublas.h. A build needs cuBLAS's header alone. */
#include "kernels/cuda/peers/cublas.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shared_library.h"
#include "kernels/blas_matrix.h"
#include "kernels/cuda/peers/cublas_types.h"

static const struct fold_shared_library where = {
    .variable = "FOLDPROOF_CUBLAS",
    .usual = "libcublas.so." FOLD_TEXT(CUBLAS_VER_MAJOR),
    .before = "no cuBLAS here: ",
    .after = "",
    .elsewhere = FOLD_CUDA_TOOLKIT "/lib64/libcublas.so." FOLD_TEXT(CUBLAS_VER_MAJOR)};

/* Written by the first call that asks. */
static struct {
  pthread_once_t once;
  fold_status status;
  cublasHandle_t handle;
  int version;
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*get_version)(cublasHandle_t, int *);
  cublasStatus_t (*set_math_mode)(cublasHandle_t, cublasMath_t);
  cublasStatus_t (*set_pointer_mode)(cublasHandle_t, cublasPointerMode_t);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  cublasStatus_t (*set_workspace)(cublasHandle_t, void *, size_t);
  cublasStatus_t (*dot)(cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int, void *,
                        cudaDataType, cudaDataType);
  cublasStatus_t (*sasum)(cublasHandle_t, int, const float *, int, float *);
  cublasStatus_t (*dasum)(cublasHandle_t, int, const double *, int, double *);
  cublasStatus_t (*sgemv)(cublasHandle_t, cublasOperation_t, int, int, const float *, const float *, int, const float *,
                          int, const float *, float *, int);
  cublasStatus_t (*dgemv)(cublasHandle_t, cublasOperation_t, int, int, const double *, const double *, int,
                          const double *, int, const double *, double *, int);
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                         const void *, cudaDataType, int, long long, const void *, cudaDataType, int, long long,
                         const void *, void *, cudaDataType, int, long long, int, cublasComputeType_t,
                         cublasGemmAlgo_t);
  cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                            const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,
                            cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  cublasStatus_t (*gemm_batched)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                                 const void *const[], cudaDataType, int, const void *const[], cudaDataType, int,
                                 const void *, void *const[], cudaDataType, int, int, cublasComputeType_t,
                                 cublasGemmAlgo_t);
} library = {.once = PTHREAD_ONCE_INIT};

static fold_status find_calls(void *handle) {
  const struct {
    const char *name;
    void *pointer;
  } calls[] = {{"cublasCreate_v2", &library.create},
               {"cublasGetVersion_v2", &library.get_version},
               {"cublasSetMathMode", &library.set_math_mode},
               {"cublasSetPointerMode_v2", &library.set_pointer_mode},
               {"cublasSetStream_v2", &library.set_stream},
               {"cublasSetWorkspace_v2", &library.set_workspace},
               {"cublasDotEx", &library.dot},
               {"cublasSasum_v2", &library.sasum},
               {"cublasDasum_v2", &library.dasum},
               {"cublasSgemv_v2", &library.sgemv},
               {"cublasDgemv_v2", &library.dgemv},
               {"cublasGemmStridedBatchedEx", &library.gemm},
               {"cublasGemmEx", &library.gemm_ex},
               {"cublasGemmBatchedEx", &library.gemm_batched}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    FOLD_TRY(fold_shared_library_find(&where, handle, calls[i].name, calls[i].pointer));
  return fold_ok();
}

static fold_status start(void) {
  void *handle;
  FOLD_TRY(fold_shared_library_open(&where, &handle));
  FOLD_TRY(find_calls(handle));
  FOLD_TRY(fold_cublas_check(library.create(&library.handle), "cublasCreate"));
  return fold_cublas_check(library.get_version(library.handle, &library.version), "cublasGetVersion");
}

static void start_once(void) { library.status = start(); }

void fold_cublas_version(char text[64]) {
  pthread_once(&library.once, start_once);
  const int v = library.status.code == FOLD_OK ? library.version : 0;
  snprintf(text, 64, v ? "cuBLAS %d.%d.%d" : "no cuBLAS", v / 10000, v / 100 % 100, v % 100);
}

/* The library for this call, which gives and takes scalars there. */
static fold_status ready(const struct fold_subject *subject, const struct fold_call *call,
                         cublasPointerMode_t scalars) {
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLAS chooses its launch", subject->name);
  FOLD_TRY(fold_blas_extents(subject, call));
  pthread_once(&library.once, start_once);
  FOLD_TRY(library.status);
  FOLD_TRY(fold_cublas_check(library.set_stream(library.handle, call->stream), "cublasSetStream"));
  return fold_cublas_check(library.set_pointer_mode(library.handle, scalars), "cublasSetPointerMode");
}

/* Each row's result is a call of its own. */
static fold_status few_rows(const struct fold_subject *subject, const struct fold_call *call) {
  enum { MOST_ROWS = 1024 };
  if (call->rows <= MOST_ROWS) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s: at most %d rows", subject->name, MOST_ROWS);
}

fold_status fold_cublas_dot(const struct fold_subject *subject, const struct fold_call *call) {
  const cudaDataType type = fold_cublas_type(call->dtype), wide = type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const size_t size = fold_dtype_size(call->dtype);
  FOLD_TRY(few_rows(subject, call));
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_DEVICE));
  for (size_t r = 0; r < call->rows; r++)
    FOLD_TRY(
        fold_cublas_check(library.dot(library.handle, (int)call->cols, fold_blas_at(call, 0, 0, r), type, 1,
                                      fold_blas_at(call, 1, 0, r), type, 1, (char *)call->out + r * size, type, wide),
                          "cublasDotEx"));
  return fold_ok();
}

fold_status fold_cublas_asum(const struct fold_subject *subject, const struct fold_call *call) {
  const int n = (int)call->cols;
  FOLD_TRY(few_rows(subject, call));
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_DEVICE));
  for (size_t r = 0; r < call->rows; r++) {
    const void *row = fold_blas_at(call, 0, 0, r);
    FOLD_TRY(fold_cublas_check(call->dtype == FOLD_F32
                                   ? library.sasum(library.handle, n, row, 1, (float *)call->out + r)
                                   : library.dasum(library.handle, n, row, 1, (double *)call->out + r),
                               "cublasasum"));
  }
  return fold_ok();
}

/* cuBLAS's matrices have their columns side by side: a matrix of ours is the transpose of what it sees. */
fold_status fold_cublas_gemv(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_blas_matrix x;
  int increment;
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_HOST));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &x));
  FOLD_TRY(fold_blas_increment_of(subject, call, 1, &increment));
  if (call->shape.k == 0) return fold_error(FOLD_UNSUPPORTED, "%s: no results of no columns", subject->name);
  const int m = (int)call->shape.m, k = (int)call->shape.k, rows = x.transposed ? m : k, cols = x.transposed ? k : m;
  const cublasOperation_t how = x.transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
  if (call->dtype == FOLD_F32) {
    const float one = 1, zero = 0;
    return fold_cublas_check(library.sgemv(library.handle, how, rows, cols, &one, call->in[0], x.leading, call->in[1],
                                           increment, &zero, call->out, 1),
                             "cublasSgemv");
  }
  const double one = 1, zero = 0;
  return fold_cublas_check(library.dgemv(library.handle, how, rows, cols, &one, call->in[0], x.leading, call->in[1],
                                         increment, &zero, call->out, 1),
                           "cublasDgemv");
}

enum { WORKSPACE = 8 * 16 * 1024 };

size_t fold_cublas_gemm_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return FOLD_SCRATCH_ZEROED + WORKSPACE;
}

/* The small workspace, where the subject has one. cublasSetStream, which every call makes first, takes it back. */
static fold_status choose_workspace(const struct fold_subject *subject, const struct fold_call *call) {
  if (subject->scratch == NULL) return fold_ok();
  return fold_cublas_check(
      library.set_workspace(library.handle, (char *)call->scratch + FOLD_SCRATCH_ZEROED, WORKSPACE),
      "cublasSetWorkspace");
}

/* A product as cuBLAS takes it. Its matrices have their columns side by side: it sees ours transposed, and multiplies the second by the first. */
struct gemm {
  int m, n, k;
  struct fold_blas_matrix x, y;
  ptrdiff_t x_apart, y_apart; /* from batch to batch */
  cublasOperation_t of_x, of_y;
  cudaDataType type, result;
  cublasComputeType_t compute;
  const void *one, *zero;
};

/* alpha and beta, in the dtype that sums are added in. */
static void set_scalars(struct gemm *g) {
  static const float one = 1, zero = 0;
  static const double one_wide = 1, zero_wide = 0;
  static const uint16_t one_half = 0x3c00, zero_half = 0;
  const bool wide = g->compute == CUBLAS_COMPUTE_64F, half = g->compute == CUBLAS_COMPUTE_16F;
  g->one = wide ? (const void *)&one_wide : half ? (const void *)&one_half : &one;
  g->zero = wide ? (const void *)&zero_wide : half ? (const void *)&zero_half : &zero;
}

static fold_status describe(const struct fold_subject *subject, const struct fold_call *call,
                            cublasComputeType_t compute, struct gemm *g) {
  ptrdiff_t stride[FOLD_AXES];
  g->m = (int)call->shape.m, g->n = (int)call->shape.n, g->k = (int)call->shape.k;
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &g->x));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 1, FOLD_K, FOLD_N, &g->y));
  fold_call_strides(call, 0, stride);
  g->x_apart = stride[FOLD_B];
  fold_call_strides(call, 1, stride);
  g->y_apart = stride[FOLD_B];
  g->of_x = g->x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  g->of_y = g->y.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  g->type = fold_cublas_type(call->dtype);
  g->result = fold_cublas_type(fold_subject_result(subject, call->dtype));
  g->compute = compute;
  set_scalars(g);
  return fold_ok();
}

static fold_status set_mode(const struct fold_subject *subject) {
  const cublasMath_t mode = subject->width ? CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION : CUBLAS_DEFAULT_MATH;
  return fold_cublas_check(library.set_math_mode(library.handle, mode), "cublasSetMathMode");
}

static fold_status multiply(const struct fold_subject *subject, const struct fold_call *call,
                            cublasComputeType_t compute) {
  struct gemm g;
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_HOST));
  FOLD_TRY(describe(subject, call, compute, &g));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  FOLD_TRY(choose_workspace(subject, call));
  FOLD_TRY(set_mode(subject));
  return fold_cublas_check(
      library.gemm(library.handle, g.of_y, g.of_x, g.n, g.m, g.k, g.one, call->in[1], g.type, g.y.leading, g.y_apart,
                   call->in[0], g.type, g.x.leading, g.x_apart, g.zero, call->out, g.result, g.n, (long long)g.m * g.n,
                   (int)call->shape.b, g.compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmStridedBatchedEx");
}

fold_status fold_cublas_gemm(const struct fold_subject *subject, const struct fold_call *call) {
  return multiply(subject, call, fold_cublas_compute(subject, call->dtype));
}

fold_status fold_cublas_gemm_16f(const struct fold_subject *subject, const struct fold_call *call) {
  return multiply(subject, call, CUBLAS_COMPUTE_16F);
}

fold_status fold_cublas_gemm_ex(const struct fold_subject *subject, const struct fold_call *call) {
  struct gemm g;
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_HOST));
  FOLD_TRY(describe(subject, call, fold_cublas_compute(subject, call->dtype), &g));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  if (call->shape.b > 1) return fold_error(FOLD_UNSUPPORTED, "%s: cublasGemmEx has no batches", subject->name);
  FOLD_TRY(set_mode(subject));
  return fold_cublas_check(library.gemm_ex(library.handle, g.of_y, g.of_x, g.n, g.m, g.k, g.one, call->in[1], g.type,
                                           g.y.leading, call->in[0], g.type, g.x.leading, g.zero, call->out, g.result,
                                           g.n, g.compute, CUBLAS_GEMM_DEFAULT),
                           "cublasGemmEx");
}

/* The addresses of each batch's matrices, which cuBLAS reads on the device: of all first ones, all second ones, all results. */
enum { MATRICES = 3 };

size_t fold_cublas_gemm_batched_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + MATRICES * call->shape.b * sizeof(void *);
}

static const char *batch_at(const void *first, size_t batch, ptrdiff_t apart, enum fold_dtype dtype) {
  return (const char *)first + (ptrdiff_t)batch * apart * (ptrdiff_t)fold_dtype_size(dtype);
}

static fold_status put_addresses(const struct fold_subject *subject, const struct fold_call *call, const struct gemm *g,
                                 void *device) {
  const size_t b = call->shape.b, bytes = MATRICES * b * sizeof(void *);
  const char **at = malloc(bytes);
  if (at == NULL) return fold_no_memory("for the addresses of %zu matrices", MATRICES * b);
  for (size_t i = 0; i < b; i++) {
    at[i] = batch_at(call->in[0], i, g->x_apart, call->dtype);
    at[b + i] = batch_at(call->in[1], i, g->y_apart, call->dtype);
    at[2 * b + i] = batch_at(call->out, i, (ptrdiff_t)g->m * g->n, fold_subject_result(subject, call->dtype));
  }
  const cudaError_t failed = cudaMemcpyAsync(device, at, bytes, cudaMemcpyHostToDevice, call->stream);
  free(at); /* memory that is not pinned has been read when the call returns */
  return failed ? fold_error(FOLD_ENVIRONMENT, "cudaMemcpyAsync: %s", cudaGetErrorString(failed)) : fold_ok();
}

fold_status fold_cublas_gemm_batched(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t b = call->shape.b;
  void **const at = (void **)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  struct gemm g;
  FOLD_TRY(ready(subject, call, CUBLAS_POINTER_MODE_HOST));
  FOLD_TRY(describe(subject, call, fold_cublas_compute(subject, call->dtype), &g));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  FOLD_TRY(put_addresses(subject, call, &g, at));
  FOLD_TRY(set_mode(subject));
  return fold_cublas_check(
      library.gemm_batched(library.handle, g.of_y, g.of_x, g.n, g.m, g.k, g.one, (const void *const *)(at + b), g.type,
                           g.y.leading, (const void *const *)at, g.type, g.x.leading, g.zero, at + 2 * b, g.result, g.n,
                           (int)b, g.compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmBatchedEx");
}
