/* cublas_lt.c: cublasLtMatmul; see cublas.h. Its heuristic chooses tile and split by shape and workspace. */
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/bits.h"
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
  struct fold_blas_matrix x, y;
  ptrdiff_t x_apart, y_apart; /* from batch to batch */
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

/* A row's wishes. */
struct way {
  size_t room; /* bytes of workspace */
  int which;   /* of the algorithms that the heuristic offers; 1 is the first */
  bool bias;   /* the last term of each sum is added as a bias */
};

static fold_status set_desc(struct product *p, cublasLtMatmulDescAttributes_t key, const void *value, size_t nbytes,
                            const char *name) {
  return fold_cublas_check(lt.desc_set(p->desc, key, value, nbytes), name);
}
#define SET_DESC(p, key, value) set_desc(p, key, &(value), sizeof(value), #key)
#define SET_WISH(p, key, value) fold_cublas_check(lt.wish_set((p)->wish, key, &(value), sizeof(value)), #key)

/* What is multiplied, without the terms that a bias brings. */
static fold_status describe(const struct fold_subject *subject, const struct fold_call *call, size_t k,
                            struct product *p) {
  const cudaDataType type = fold_cublas_type(call->dtype),
                     result = fold_cublas_type(fold_subject_result(subject, call->dtype)),
                     scale = type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const struct fold_shape *s = &call->shape;
  ptrdiff_t x_stride[FOLD_AXES], y_stride[FOLD_AXES];
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &p->x));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 1, FOLD_K, FOLD_N, &p->y));
  fold_call_strides(call, 0, x_stride);
  fold_call_strides(call, 1, y_stride);
  p->x_apart = x_stride[FOLD_B], p->y_apart = y_stride[FOLD_B];
  const cublasOperation_t first = p->y.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                          second = p->x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  FOLD_TRY(fold_cublas_check(lt.desc_create(&p->desc, fold_cublas_compute(subject, call->dtype), scale),
                             "cublasLtMatmulDescCreate"));
  FOLD_TRY(SET_DESC(p, CUBLASLT_MATMUL_DESC_TRANSA, first));
  FOLD_TRY(SET_DESC(p, CUBLASLT_MATMUL_DESC_TRANSB, second));
  FOLD_TRY(layout_of(&p->a, type, k, s->n, p->y, s->b, p->y_apart));
  FOLD_TRY(layout_of(&p->b, type, s->m, k, p->x, s->b, p->x_apart));
  return layout_of(&p->out, result, s->m, s->n, (struct fold_blas_matrix){false, (int)s->n}, s->b,
                   (ptrdiff_t)(s->m * s->n));
}

/* Whether n elements, `apart` bytes from each other on the device, are ones; in `ones`. */
static fold_status read_ones(const struct fold_call *call, const void *column, size_t apart, size_t n, bool *ones) {
  const size_t size = fold_dtype_size(call->dtype);
  const uint64_t one = fold_bits_from_double(call->dtype, 1);
  void *copy = malloc(n * size);
  if (copy == NULL) return fold_no_memory("for %zu elements", n);
  cudaError_t failed = cudaMemcpy2DAsync(copy, size, column, apart, size, n, cudaMemcpyDeviceToHost, call->stream);
  if (!failed) failed = cudaStreamSynchronize(call->stream);
  for (size_t i = 0; i < n && !failed; i++) *ones &= fold_bits_load(call->dtype, copy, i) == one;
  free(copy);
  return failed ? fold_error(FOLD_ENVIRONMENT, "cudaMemcpy2DAsync: %s", cudaGetErrorString(failed)) : fold_ok();
}

/* Whether the last column of the first matrix, of each batch, has ones alone. */
static fold_status ends_with_ones(const struct fold_call *call, bool *ones) {
  const struct fold_shape *s = &call->shape;
  const size_t size = fold_dtype_size(call->dtype);
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, 0, stride);
  const size_t apart = s->m > 1 ? (size_t)stride[FOLD_M] * size : size;
  *ones = true;
  for (size_t b = 0; b < s->b && *ones; b++) {
    const ptrdiff_t place = (ptrdiff_t)b * stride[FOLD_B] + (ptrdiff_t)(s->k - 1) * stride[FOLD_K];
    FOLD_TRY(read_ones(call, (const char *)call->in[0] + place * (ptrdiff_t)size, apart, s->m, ones));
  }
  return fold_ok();
}

/* A bias is one term more of each sum, the same for all rows: the last one is, where the first matrix ends with ones. It is then the second
 * matrix's last row. */
static fold_status set_bias(const struct fold_subject *subject, const struct fold_call *call, struct product *p) {
  const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
  const int64_t apart = p->y_apart;
  ptrdiff_t stride[FOLD_AXES];
  bool ones;
  fold_call_strides(call, 1, stride);
  if (call->shape.n > 1 && stride[FOLD_N] != 1)
    return fold_error(FOLD_UNSUPPORTED, "%s: elements of a bias lie side by side", subject->name);
  FOLD_TRY(ends_with_ones(call, &ones));
  if (!ones) return fold_error(FOLD_UNSUPPORTED, "%s: the first matrix's last column is not of ones", subject->name);
  const ptrdiff_t place = (ptrdiff_t)(call->shape.k - 1) * stride[FOLD_K];
  const void *bias = (const char *)call->in[1] + place * (ptrdiff_t)fold_dtype_size(call->dtype);
  FOLD_TRY(SET_DESC(p, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  FOLD_TRY(SET_DESC(p, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, apart));
  return SET_DESC(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

/* The largest power of two, up to the 256 that cuBLASLt else takes for granted, that divides an address. */
static uint32_t alignment_of(const void *pointer) {
  const uintptr_t address = (uintptr_t)pointer | 256;
  return (uint32_t)(address & -address);
}

static fold_status wish(const struct fold_call *call, size_t room, struct product *p) {
  const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; /* or none */
  const uint32_t a = alignment_of(call->in[1]), b = alignment_of(call->in[0]), out = alignment_of(call->out);
  FOLD_TRY(fold_cublas_check(lt.wish_create(&p->wish), "cublasLtMatmulPreferenceCreate"));
  FOLD_TRY(SET_WISH(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, room));
  FOLD_TRY(SET_WISH(p, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions));
  FOLD_TRY(SET_WISH(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a));
  FOLD_TRY(SET_WISH(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b));
  FOLD_TRY(SET_WISH(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, out));
  return SET_WISH(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, out);
}

/* The algorithm that is asked for, of those that the heuristic offers for this product, the fastest first. */
static fold_status choose(const struct fold_subject *subject, const struct product *p, int which,
                          cublasLtMatmulAlgo_t *algorithm) {
  cublasLtMatmulHeuristicResult_t found[FOLD_CUBLAS_LT_ALGORITHMS];
  int n = 0;
  FOLD_TRY(fold_cublas_check(lt.heuristic(lt.handle, p->desc, p->a, p->b, p->out, p->out, p->wish,
                                          which > 1 ? FOLD_CUBLAS_LT_ALGORITHMS : 1, found, &n),
                             "cublasLtMatmulAlgoGetHeuristic"));
  if (n == 0) return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt offers no algorithm", subject->name);
  if (n < which)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt offers fewer algorithms for this shape", subject->name);
  FOLD_TRY(fold_cublas_check(found[which - 1].state, "cublasLtMatmulAlgoGetHeuristic"));
  *algorithm = found[which - 1].algo;
  return fold_ok();
}

static fold_status multiply(const struct fold_subject *subject, const struct fold_call *call, struct way way,
                            struct product *p) {
  static const float one = 1, zero = 0;
  static const double one_wide = 1, zero_wide = 0;
  const bool wide = call->dtype == FOLD_F64;
  cublasLtMatmulAlgo_t algorithm;
  FOLD_TRY(describe(subject, call, call->shape.k - way.bias, p));
  if (way.bias) FOLD_TRY(set_bias(subject, call, p));
  FOLD_TRY(wish(call, way.room, p));
  FOLD_TRY(choose(subject, p, way.which, &algorithm));
  return fold_cublas_check(
      lt.matmul(lt.handle, p->desc, wide ? (const void *)&one_wide : &one, call->in[1], p->a, call->in[0], p->b,
                wide ? (const void *)&zero_wide : &zero, call->out, p->out, call->out, p->out, &algorithm,
                way.room ? (char *)call->scratch + FOLD_SCRATCH_ZEROED : NULL, way.room, call->stream),
      "cublasLtMatmul");
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call, struct way way) {
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt chooses its launch", subject->name);
  FOLD_TRY(fold_blas_extents(subject, call));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  if (call->shape.k <= way.bias) return fold_error(FOLD_UNSUPPORTED, "%s: no results of no terms", subject->name);
  pthread_once(&lt.once, start_once);
  FOLD_TRY(lt.status);
  struct product p = {0};
  const fold_status status = multiply(subject, call, way, &p);
  end(&p);
  return status;
}

enum { MIB = 1 << 20, MOST_ROOM = 32 * MIB };

fold_status fold_cublas_lt(const struct fold_subject *subject, const struct fold_call *call) {
  return run(subject, call, (struct way){.room = (size_t)subject->width * MIB, .which = 1});
}

size_t fold_cublas_lt_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return FOLD_SCRATCH_ZEROED + (size_t)subject->width * MIB;
}

fold_status fold_cublas_lt_algorithm(const struct fold_subject *subject, const struct fold_call *call) {
  return run(subject, call, (struct way){.room = MOST_ROOM, .which = (int)subject->width});
}

/* Of elements of 8 bits: k, n, addresses and strides are multiples of it. */
enum { FP8_UNIT = 16 };

/* Whether a factor of 8 bits lies as cuBLASLt needs it: along k, each line and the whole on 16 bytes. */
static bool lies_for_fp8(const struct fold_call *call, unsigned input, enum fold_axis other) {
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, input, stride);
  return stride[FOLD_K] == 1 && stride[other] % FP8_UNIT == 0 && stride[FOLD_B] % FP8_UNIT == 0 &&
         (uintptr_t)call->in[input] % FP8_UNIT == 0;
}

static fold_status check_fp8(const struct fold_subject *subject, const struct fold_call *call) {
  if (CUBLAS_VER_MAJOR < 12) return fold_error(FOLD_UNSUPPORTED, "%s: built with a cuBLAS before 12", subject->name);
  if (call->dtype != FOLD_E4M3)
    return fold_error(FOLD_UNSUPPORTED, "%s: cuBLASLt multiplies no e5m2 by e5m2", subject->name);
  if (call->shape.k % FP8_UNIT == 0 && call->shape.n % FP8_UNIT == 0) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s: k and n are multiples of 16", subject->name);
}

size_t fold_cublas_lt_fp8_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + MOST_ROOM + fold_elements(call->problem, &call->shape, 1);
}

/* A second matrix whose rows lie side by side, column by column; of it the call then has the columns. */
static fold_status turn_fp8(struct fold_call *call) {
  const struct fold_shape *s = &call->shape;
  char *to = (char *)call->scratch + FOLD_SCRATCH_ZEROED + MOST_ROOM;
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, 1, stride);
  if (stride[FOLD_N] != 1 || stride[FOLD_K] < 1) return fold_ok();
  for (size_t column = 0; column < s->b * s->n; column++) {
    const char *from = (const char *)call->in[1] + (ptrdiff_t)(column / s->n) * stride[FOLD_B] + column % s->n;
    const cudaError_t failed = cudaMemcpy2DAsync(to + column * s->k, 1, from, (size_t)stride[FOLD_K], 1, s->k,
                                                 cudaMemcpyDeviceToDevice, call->stream);
    if (failed) return fold_error(FOLD_ENVIRONMENT, "cudaMemcpy2DAsync: %s", cudaGetErrorString(failed));
  }
  call->in[1] = to;
  call->stride[1][FOLD_B] = (ptrdiff_t)(s->n * s->k), call->stride[1][FOLD_N] = (ptrdiff_t)s->k;
  call->stride[1][FOLD_K] = 1;
  return fold_ok();
}

fold_status fold_cublas_lt_fp8(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call turned = *call;
  FOLD_TRY(check_fp8(subject, call));
  FOLD_TRY(turn_fp8(&turned));
  if (!lies_for_fp8(&turned, 0, FOLD_M) || !lies_for_fp8(&turned, 1, FOLD_N))
    return fold_error(FOLD_UNSUPPORTED,
                      "%s: rows of the first factor begin on 16 bytes, and so do columns of the second", subject->name);
  return run(subject, &turned, (struct way){.room = MOST_ROOM, .which = 1});
}

fold_status fold_cublas_lt_bias(const struct fold_subject *subject, const struct fold_call *call) {
  return run(subject, call, (struct way){.room = MOST_ROOM, .which = 1, .bias = true});
}

size_t fold_cublas_lt_scratch_most(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return FOLD_SCRATCH_ZEROED + MOST_ROOM;
}
