/* fake_cublas.c: the entry points of cuBLAS that foldproof opens, on host memory, by their documentation. What no caller may do ends the
 * process. FAKE_CUBLAS_STATUS is what products return. */
#include "fake_cublas.h"

static cublasPointerMode_t scalars;
static cublasMath_t mode;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  static int here;
  *handle = (cublasHandle_t)&here;
  return getenv("FAKE_CUBLAS_NO_HANDLE") ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
  (void)handle;
  *version = 990807;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t to) {
  (void)handle;
  mode = to;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t to) {
  (void)handle;
  scalars = to;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  (void)handle;
  fake_check(stream == (cudaStream_t)0x57, "the call's stream");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t nbytes) {
  (void)handle;
  fake_check((uintptr_t)workspace % 256 == 0, "the workspace's alignment");
  memset(workspace, 0xa5, nbytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *out, cudaDataType out_type, cudaDataType how) {
  double sum = 0;
  (void)handle;
  fake_check(scalars == CUBLAS_POINTER_MODE_DEVICE && incx == 1 && incy == 1 && out_type == x_type, "dot");
  fake_check(how == (x_type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F), "what dot adds in");
  for (int t = 0; t < n; t++) sum += fake_load(x, x_type, (size_t)t) * fake_load(y, y_type, (size_t)t);
  fake_store(out, out_type, 0, sum);
  return CUBLAS_STATUS_SUCCESS;
}

#define ROUTINES(real, type, asum, gemv)                                                                         \
  cublasStatus_t asum(cublasHandle_t handle, int n, const real *x, int incx, real *out) {                        \
    (void)handle;                                                                                                \
    fake_check(scalars == CUBLAS_POINTER_MODE_DEVICE && incx == 1, "asum");                                      \
    for (*out = 0; n > 0; n--) *out += x[n - 1] < 0 ? -x[n - 1] : x[n - 1];                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                                \
  }                                                                                                              \
  cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t how, int rows, int cols, const real *one,         \
                      const real *a, int lda, const real *x, int incx, const real *zero, real *y, int incy) {    \
    const struct fake_matrix first = {a, type, how == CUBLAS_OP_T, (uint64_t)rows, (uint64_t)cols, lda, 0};      \
    const struct fake_matrix second = {x, type, true, 1, (uint64_t)(how == CUBLAS_OP_T ? rows : cols), incx, 0}; \
    const uint64_t m = (uint64_t)(how == CUBLAS_OP_T ? cols : rows), k = second.cols;                            \
    (void)handle;                                                                                                \
    fake_check(scalars == CUBLAS_POINTER_MODE_HOST && *one == 1 && *zero == 0 && incy == 1, "gemv");             \
    fake_multiply(&first, &second, y, type, (int64_t)m, 0, 1, m, 1, k,                                           \
                  type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, NULL, 0);                        \
    return CUBLAS_STATUS_SUCCESS;                                                                                \
  }
ROUTINES(float, CUDA_R_32F, cublasSasum_v2, cublasSgemv_v2)
ROUTINES(double, CUDA_R_64F, cublasDasum_v2, cublasDgemv_v2)

/* In the default mode parts of a sum may be rounded to 16 bits: here the last bit of such a result is set, so that the two modes differ. */
static void show_mode(void *out, cudaDataType result, size_t n) {
  fake_check(mode == CUBLAS_DEFAULT_MATH || mode == CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, "a mode");
  for (size_t i = 0; i < n && mode == CUBLAS_DEFAULT_MATH && (result == CUDA_R_16F || result == CUDA_R_16BF); i++)
    ((uint16_t *)out)[i] |= 1;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                          int n, int k, const void *one, const void *a, cudaDataType a_type, int lda,
                                          long long a_apart, const void *b, cudaDataType b_type, int ldb,
                                          long long b_apart, const void *zero, void *out, cudaDataType result, int ldc,
                                          long long apart, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm) {
  const uint64_t rows = (uint64_t)m, cols = (uint64_t)n, terms = (uint64_t)k;
  const cudaDataType scale = compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
                             : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                                             : CUDA_R_32F;
  const struct fake_matrix first = {
      a,   a_type, of_a == CUBLAS_OP_T, of_a == CUBLAS_OP_T ? terms : rows, of_a == CUBLAS_OP_T ? rows : terms,
      lda, a_apart};
  const struct fake_matrix second = {
      b,   b_type, of_b == CUBLAS_OP_T, of_b == CUBLAS_OP_T ? cols : terms, of_b == CUBLAS_OP_T ? terms : cols,
      ldb, b_apart};
  (void)handle;
  fake_check(scalars == CUBLAS_POINTER_MODE_HOST && algorithm == CUBLAS_GEMM_DEFAULT, "gemm");
  fake_check(fake_load(one, scale, 0) == 1 && fake_load(zero, scale, 0) == 0, "alpha and beta");
  if (getenv("FAKE_CUBLAS_STATUS")) return (cublasStatus_t)atoi(getenv("FAKE_CUBLAS_STATUS"));
  fake_multiply(&first, &second, out, result, ldc, apart, (uint64_t)batches, rows, cols, terms, compute, NULL, 0);
  show_mode(out, result, (size_t)batches * rows * cols);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void *one, const void *a, cudaDataType a_type, int lda, const void *b,
                            cudaDataType b_type, int ldb, const void *zero, void *out, cudaDataType result, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, one, a, a_type, lda, 0, b, b_type, ldb, 0, zero, out,
                                    result, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                                   int k, const void *one, const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb, const void *zero,
                                   void *const out[], cudaDataType result, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < batches && status == CUBLAS_STATUS_SUCCESS; i++)
    status = cublasGemmEx(handle, of_a, of_b, m, n, k, one, a[i], a_type, lda, b[i], b_type, ldb, zero, out[i], result,
                          ldc, compute, algorithm);
  return status;
}
