/* blas.c: see blas.h. An input is what a leading dimension or an increment describes, or the call is unsupported. */
#include "kernels/host/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/shared_library.h"
#include "kernels/blas_matrix.h"

static const struct fold_shared_library where = {.variable = "FOLDPROOF_BLAS",
                                                 .usual = "libopenblas.so.0",
                                                 .before = "no BLAS here: ",
                                                 .after = "",
                                                 .elsewhere = "libblas.so.3"};

/* Constants of cblas.h. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

/* The calls for numbers of one type. */
#define CALLS(real)                                                                                          \
  void (*gemm)(int, int, int, int, int, int, real, const real *, int, const real *, int, real, real *, int); \
  void (*gemv)(int, int, int, int, real, const real *, int, const real *, int, real, real *, int);           \
  real (*dot)(int, const real *, int, const real *, int)

/* Written by the first call that asks. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct {
    CALLS(float);
  } s;
  struct {
    CALLS(double);
  } d;
  char *(*config)(void); /* OpenBLAS's */
} library = {.once = PTHREAD_ONCE_INIT};

static fold_status find_calls(void *handle) {
  const struct {
    const char *name;
    void *pointer;
  } calls[] = {{"cblas_sgemm", &library.s.gemm}, {"cblas_sgemv", &library.s.gemv}, {"cblas_sdot", &library.s.dot},
               {"cblas_dgemm", &library.d.gemm}, {"cblas_dgemv", &library.d.gemv}, {"cblas_ddot", &library.d.dot}};
  void *config = dlsym(handle, "openblas_get_config");
  memcpy(&library.config, &config, sizeof config);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    FOLD_TRY(fold_shared_library_find(&where, handle, calls[i].name, calls[i].pointer));
  return fold_ok();
}

static void open_library(void) {
  void *handle;
  library.status = fold_shared_library_open(&where, &handle);
  if (library.status.code == FOLD_OK) library.status = find_calls(handle);
}

static fold_status ready(const struct fold_subject *subject, const struct fold_call *call) {
  pthread_once(&library.once, open_library);
  FOLD_TRY(library.status);
  if (call->launch.threads)
    return fold_error(FOLD_UNSUPPORTED, "%s: BLAS chooses its number of threads", subject->name);
  return fold_blas_extents(subject, call);
}

void fold_host_blas_version(char text[64]) {
  int length = 0;
  pthread_once(&library.once, open_library);
  const char *config = library.status.code == FOLD_OK && library.config ? library.config() : NULL;
  if (config && strncmp(config, "OpenBLAS ", 9) == 0) length = 9 + (int)strcspn(config + 9, " ");
  snprintf(text, 64, "%.*s", length ? length : 8,
           length                           ? config
           : library.status.code == FOLD_OK ? "BLAS"
                                            : "no BLAS");
}

/* cblas.h's word for how a matrix lies. */
static int lies(struct fold_blas_matrix x) { return x.transposed ? TRANSPOSED : AS_IT_IS; }

fold_status fold_host_blas_gemm(const struct fold_subject *subject, const struct fold_call *call) {
  const int m = (int)call->shape.m, n = (int)call->shape.n, k = (int)call->shape.k, columns = n ? n : 1;
  struct fold_blas_matrix x, y;
  FOLD_TRY(ready(subject, call));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &x));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 1, FOLD_K, FOLD_N, &y));
  for (size_t b = 0; b < call->shape.b; b++) {
    const void *first = fold_blas_at(call, 0, b, 0), *second = fold_blas_at(call, 1, b, 0);
    const size_t place = b * call->shape.m * call->shape.n;
    if (call->dtype == FOLD_F32)
      library.s.gemm(ROW_MAJOR, lies(x), lies(y), m, n, k, 1, first, x.leading, second, y.leading, 0,
                     (float *)call->out + place, columns);
    else
      library.d.gemm(ROW_MAJOR, lies(x), lies(y), m, n, k, 1, first, x.leading, second, y.leading, 0,
                     (double *)call->out + place, columns);
  }
  return fold_ok();
}

fold_status fold_host_blas_gemv(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_blas_matrix x;
  int increment;
  FOLD_TRY(ready(subject, call));
  FOLD_TRY(fold_blas_matrix_of(subject, call, 0, FOLD_M, FOLD_K, &x));
  FOLD_TRY(fold_blas_increment_of(subject, call, 1, &increment));
  if (call->shape.k == 0) return fold_error(FOLD_UNSUPPORTED, "%s: no results of no columns", subject->name);
  /* BLAS asks for the rows and columns of the matrix as it lies. */
  const bool turned = x.transposed;
  const int rows = (int)(turned ? call->shape.k : call->shape.m), cols = (int)(turned ? call->shape.m : call->shape.k);
  if (call->dtype == FOLD_F32)
    library.s.gemv(ROW_MAJOR, lies(x), rows, cols, 1, call->in[0], x.leading, call->in[1], increment, 0, call->out, 1);
  else
    library.d.gemv(ROW_MAJOR, lies(x), rows, cols, 1, call->in[0], x.leading, call->in[1], increment, 0, call->out, 1);
  return fold_ok();
}

fold_status fold_host_blas_dot(const struct fold_subject *subject, const struct fold_call *call) {
  int increment[2]; /* unseen: 3 */
  const int n = (int)call->shape.k;
  FOLD_TRY(ready(subject, call));
  for (unsigned input = 0; input < 2; input++)
    FOLD_TRY(fold_blas_increment_of(subject, call, input, &increment[input]));
  for (size_t row = 0; row < call->rows; row++) {
    const void *x = fold_blas_at(call, 0, 0, row), *y = fold_blas_at(call, 1, 0, row); /* unseen: 1 */
    if (call->dtype == FOLD_F32)
      ((float *)call->out)[row] = library.s.dot(n, x, increment[0], y, increment[1]);
    else
      ((double *)call->out)[row] = library.d.dot(n, x, increment[0], y, increment[1]);
  }
  return fold_ok();
}
