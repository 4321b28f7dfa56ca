/* cublas_types.h: foldproof's dtypes and statuses in cuBLAS's words. */
#ifndef FOLD_CUBLAS_TYPES_H
#define FOLD_CUBLAS_TYPES_H

#include <cublas_v2.h>

#include "base/fold.h"
#include "model/subject.h"

#define FOLD_TEXT_(x) #x
#define FOLD_TEXT(x) FOLD_TEXT_(x)

static inline fold_status fold_cublas_check(cublasStatus_t status, const char *call) {
  if (status == CUBLAS_STATUS_SUCCESS) return fold_ok();
  const enum fold_code code = status == CUBLAS_STATUS_NOT_SUPPORTED  ? FOLD_UNSUPPORTED
                              : status == CUBLAS_STATUS_ALLOC_FAILED ? FOLD_NO_MEMORY
                                                                     : FOLD_ENVIRONMENT;
  return fold_error(code, "%s: status %d", call, (int)status);
}

/* Of a dtype that a row of the registry names. */
static inline cudaDataType fold_cublas_type(enum fold_dtype dtype) {
  return dtype == FOLD_F16    ? CUDA_R_16F
         : dtype == FOLD_BF16 ? CUDA_R_16BF
         : dtype == FOLD_F64  ? CUDA_R_64F
#if CUBLAS_VER_MAJOR >= 12
         : dtype == FOLD_E4M3 ? CUDA_R_8F_E4M3
#endif
                              : CUDA_R_32F;
}

/* Sums of f64 in f64, others in f32. Of f32 a row's `factor` says to what cuBLAS may round the factors, to suit the tensor cores; what it
 * calls FAST_16F and FAST_16BF may be tf32, too, whose numbers are closer together. */
static inline cublasComputeType_t fold_cublas_compute(const struct fold_subject *subject, enum fold_dtype dtype) {
  if (dtype == FOLD_F64) return CUBLAS_COMPUTE_64F;
  switch (subject->factor) {
    case FOLD_FACTORS_TF32: return CUBLAS_COMPUTE_32F_FAST_TF32;
    case FOLD_FACTORS_BF16: return CUBLAS_COMPUTE_32F_FAST_16BF;
    case FOLD_FACTORS_F16: return CUBLAS_COMPUTE_32F_FAST_16F;
    case FOLD_FACTORS_KEPT: break;
  }
  return CUBLAS_COMPUTE_32F;
}

#endif
