/* cublas_lt.c: cublasLtMatmul; see cublas.h. Its heuristic chooses tile and split by shape and workspace. */
#include <cublasLt.h>
#include <pthread.h>

#include "base/shared_library.h"
#include "kernels/blas_matrix.h"
#include "kernels/cuda/peers/cublas.h"
#include "kernels/cuda/peers/cublas_types.h"

static const struct fold_shared_library where = {
    .variable = "FOLDPROOF_CUBLASLT",
    .usual = "libcublasLt.so." FOLD_TEXT(CUBLAS_VER_MAJOR),
    .before = "no cuBLASLt here: ",
    .after = "",
    .elsewhere = FOLD_CUDA_TOOLKIT "/lib64/libcublasLt.so." FOLD_TEXT(CUBLAS_VER_MAJOR)};

#define CALLS                                                                                                          \
  CALL(create, cublasLtCreate, (cublasLtHandle_t *))                                                                   \
  CALL(desc_create, cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t))           \
  CALL(desc_destroy, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))                                                \
  CALL(desc_set, cublasLtMatmulDescSetAttribute,                                                                       \
       (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t))                                   \
  CALL(layout_create, cublasLtMatrixLayoutCreate,                                                                      \
       (cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))                                          \
  CALL(layout_destroy, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))                                          \
  CALL(layout_set, cublasLtMatrixLayoutSetAttribute,                                                                   \
       (cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *, size_t))                                \
  CALL(wish_create, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t *))                                    \
  CALL(wish_destroy, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))                                    \
  CALL(wish_set, cublasLtMatmulPreferenceSetAttribute,                                                                 \
       (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t))                       \
  CALL(                                                                                                                \
      heuristic, cublasLtMatmulAlgoGetHeuristic,                                                                       \
      (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, \
       cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *, int *))             \
  CALL(matmul, cublasLtMatmul,                                                                                         \
       (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t, const void *,      \
        cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,    \
        const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t))

/* Written by the first call that asks. */
static struct {
  pthread_once_t once;
  fold_status status;
  cublasLtHandle_t handle;
#define CALL(name, symbol, arguments) cublasStatus_t(*name) arguments;
  CALLS
#undef CALL
} lt = {.once = PTHREAD_ONCE_INIT};

static fold_status start(void) {
  void *handle;
  FOLD_TRY(fold_shared_library_open(&where, &handle));
#define CALL(name, symbol, arguments) FOLD_TRY(fold_shared_library_find(&where, handle, #symbol, &lt.name));
  CALLS
#undef CALL
  return fold_cublas_check(lt.create(&lt.handle), "cublasLtCreate");
}

static void start_once(void) { lt.status = start(); }

/* What cublasLtMatmul needs for a call; zeros where it was not made. */
struct product {
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, out;
  cublasLtMatmulPreference_t wish;
};

static void end(struct product *p) {
  if (p->wish) lt.wish_destroy(p->wish);
  if (p->out) lt.layout_destroy(p->out);
  if (p->b) lt.layout_destroy(p->b);
  if (p->a) lt.layout_destroy(p->a);
  if (p->desc) lt.desc_destroy(p->desc);
}

/* A matrix of rows x cols of ours; cuBLAS sees columns side by side, so the transpose. */
static fold_status layout_of(cublasLtMatrixLayout_t *layout, cudaDataType type, size_t rows, size_t cols,
                             struct fold_blas_matrix lies, size_t batches, ptrdiff_t apart) {
  const int32_t count = (int32_t)batches;
  const int64_t offset = apart;
  const uint64_t side = lies.transposed ? rows : cols, other = lies.transposed ? cols : rows;
  FOLD_TRY(fold_cublas_check(lt.layout_create(layout, type, side, other, lies.leading), "cublasLtMatrixLayoutCreate"));
  FOLD_TRY(fold_cublas_check(lt.layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                             "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT"));
  return fold_cublas_check(lt.layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset, sizeof offset),
                           "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
}

static fold_status describe(const struct fold_subject *subject, const struct fold_call *call, struct product *p) {
  const cudaDataType type = fold_cublas_type(call->dtype),
                     result = fold_cublas_type(fold_subject_result(subject, call->dtype)),
                     scale = type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const struct fold_shape *s = &call->shape;
  struct fold_blas_matrix x, y;
  ptrdiff_t x_stride[FOLD_AXES], y_stride[FOLD_AXES];
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &x));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 1, FOLD_K, FOLD_N, &y));
  fold_call_strides(call, 0, x_stride);
  fold_call_strides(call, 1, y_stride);
  const cublasOperation_t first = y.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                          second = x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  FOLD_TRY(
      fold_cublas_check(lt.desc_create(&p->desc, type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, scale),
                        "cublasLtMatmulDescCreate"));
  FOLD_TRY(fold_cublas_check(lt.desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
                             "CUBLASLT_MATMUL_DESC_TRANSA"));
  FOLD_TRY(fold_cublas_check(lt.desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
                             "CUBLASLT_MATMUL_DESC_TRANSB"));
  FOLD_TRY(layout_of(&p->a, type, s->k, s->n, y, s->b, y_stride[FOLD_B]));
  FOLD_TRY(layout_of(&p->b, type, s->m, s->k, x, s->b, x_stride[FOLD_B]));
  return layout_of(&p->out, result, s->m, s->n, (struct fold_blas_matrix){false, (int)s->n}, s->b,
                   (ptrdiff_t)(s->m * s->n));
}

static fold_status multiply(const struct fold_subject *subject, const struct fold_call *call, struct product *p) {
  const float one = 1, zero = 0;
  const double one_wide = 1, zero_wide = 0;
  const bool wide = call->dtype == FOLD_F64;
  const size_t room = (size_t)subject->width << 20;
  const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; /* or none */
  cublasLtMatmulHeuristicResult_t found;
  int n = 0;
  FOLD_TRY(describe(subject, call, p));
  FOLD_TRY(fold_cublas_check(lt.wish_create(&p->wish), "cublasLtMatmulPreferenceCreate"));
  FOLD_TRY(fold_cublas_check(lt.wish_set(p->wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room),
                             "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES"));
  FOLD_TRY(fold_cublas_check(
      lt.wish_set(p->wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions),
      "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK"));
  FOLD_TRY(fold_cublas_check(lt.heuristic(lt.handle, p->desc, p->a, p->b, p->out, p->out, p->wish, 1, &found, &n),
                             "cublasLtMatmulAlgoGetHeuristic"));
  if (n == 0) return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt offers no algorithm", subject->name);
  return fold_cublas_check(
      lt.matmul(lt.handle, p->desc, wide ? (const void *)&one_wide : &one, call->in[1], p->a, call->in[0], p->b,
                wide ? (const void *)&zero_wide : &zero, call->out, p->out, call->out, p->out, &found.algo,
                room ? (char *)call->scratch + FOLD_SCRATCH_ZEROED : NULL, room, call->stream),
      "cublasLtMatmul");
}

size_t fold_cublas_lt_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return FOLD_SCRATCH_ZEROED + ((size_t)subject->width << 20);
}

fold_status fold_cublas_lt(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt chooses its launch", subject->name);
  FOLD_TRY(fold_blas_extents(subject, call));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  if (call->shape.k == 0) return fold_error(FOLD_UNSUPPORTED, "%s: no results of no terms", subject->name);
  pthread_once(&lt.once, start_once);
  FOLD_TRY(lt.status);
  struct product p = {0};
  const fold_status status = multiply(subject, call, &p);
  end(&p);
  return status;
}
