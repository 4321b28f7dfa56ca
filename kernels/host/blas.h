/* blas.h: a BLAS as a peer: cblas_?gemm, cblas_?gemv and cblas_?dot of f32 and f64. Nothing documents the order of its additions, nor that
 * bits repeat; and of NaN and infinities nothing. The library is opened at run time: FOLDPROOF_BLAS, or a usual name. */
#ifndef FOLD_BLAS_H
#define FOLD_BLAS_H

#include "model/subject.h"

fold_run fold_host_blas_gemm, fold_host_blas_gemv, fold_host_blas_dot;

/* "OpenBLAS 0.3.21"; "BLAS" where it does not say; "no BLAS". */
void fold_host_blas_version(char text[64]);

#endif
