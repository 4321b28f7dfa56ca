/* fake_blas.c: a plain BLAS that ends its process where it is called as no BLAS may be. Built with FAKE_WRONG it loses the last term. */
#include <stdio.h>
#include <stdlib.h>

#ifdef FAKE_WRONG
enum { LOST = 1 };
#else
enum { LOST = 0 };
#endif
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

const char *openblas_get_config(void);
const char *openblas_get_config(void) { return "OpenBLAS 9.8.7 FAKE"; }

static void check(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fake BLAS: %s\n", what);
  abort();
}

static size_t place(int transposed, int i, int j, int leading) {
  return transposed == TRANSPOSED ? (size_t)j * (size_t)leading + (size_t)i : (size_t)i * (size_t)leading + (size_t)j;
}

static void check_matrix(int transposed, int rows, int cols, int leading) {
  const int needed = transposed == TRANSPOSED ? rows : cols;
  check(transposed == AS_IT_IS || transposed == TRANSPOSED, "no such transpose");
  check(rows >= 0 && cols >= 0 && leading >= 1 && leading >= needed, "a leading dimension is too small");
}

#define ROUTINES(real, gemm, gemv, dot)                                                                         \
  void gemm(int, int, int, int, int, int, real, const real *, int, const real *, int, real, real *, int);       \
  void gemv(int, int, int, int, real, const real *, int, const real *, int, real, real *, int);                 \
  real dot(int, const real *, int, const real *, int);                                                          \
  void gemm(int order, int ta, int tb, int m, int n, int k, real alpha, const real *a, int lda, const real *b,  \
            int ldb, real beta, real *c, int ldc) {                                                             \
    check(order == ROW_MAJOR && alpha == 1 && beta == 0 && ldc >= 1 && ldc >= n, "gemm");                       \
    check_matrix(ta, m, k, lda), check_matrix(tb, k, n, ldb);                                                   \
    for (int i = 0; i < m; i++)                                                                                 \
      for (int j = 0; j < n; j++) {                                                                             \
        real sum = 0;                                                                                           \
        for (int t = 0; t < k - LOST; t++) sum += a[place(ta, i, t, lda)] * b[place(tb, t, j, ldb)];            \
        c[i * ldc + j] = sum;                                                                                   \
      }                                                                                                         \
  }                                                                                                             \
  void gemv(int order, int ta, int rows, int cols, real alpha, const real *a, int lda, const real *x, int incx, \
            real beta, real *y, int incy) {                                                                     \
    const int m = ta == TRANSPOSED ? cols : rows, k = ta == TRANSPOSED ? rows : cols;                           \
    check(order == ROW_MAJOR && alpha == 1 && beta == 0 && incx >= 1 && incy == 1, "gemv");                     \
    check_matrix(ta, m, k, lda);                                                                                \
    if (rows == 0 || cols == 0) return;                                                                         \
    for (int i = 0; i < m; i++) {                                                                               \
      y[i] = 0;                                                                                                 \
      for (int t = 0; t < k - LOST; t++) y[i] += a[place(ta, i, t, lda)] * x[(size_t)t * (size_t)incx];         \
    }                                                                                                           \
  }                                                                                                             \
  real dot(int n, const real *x, int incx, const real *y, int incy) {                                           \
    real sum = 0;                                                                                               \
    check(incx >= 1 && incy >= 1, "dot");                                                                       \
    for (int t = 0; t < n - LOST; t++) sum += x[(size_t)t * (size_t)incx] * y[(size_t)t * (size_t)incy];        \
    return sum;                                                                                                 \
  }
ROUTINES(float, cblas_sgemm, cblas_sgemv, cblas_sdot)
ROUTINES(double, cblas_dgemm, cblas_dgemv, cblas_ddot)
