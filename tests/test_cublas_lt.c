/* test_cublas_lt.c: how cuBLASLt is called: its algorithms, workspaces and bias. On a fake of it, in host memory. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "cublas_calls.h"

static void begin(void) { cr_assert_eq(setenv("FOLDPROOF_CUBLASLT", FAKE_CUBLAS_LT, 1), 0); }
TestSuite(cublas_lt, .init = begin);

/* The device's memory is the host's, and what is copied from there is there once the stream has been waited for. */
static struct {
  char *to;
  const char *from;
  size_t to_apart, from_apart, width, height;
} copy;
cudaError_t __wrap_cudaMemcpy2DAsync(void *to, size_t to_apart, const void *from, size_t from_apart, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpy2DAsync(void *to, size_t to_apart, const void *from, size_t from_apart, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  cr_assert(stream == (cudaStream_t)0x57 && from_apart >= width && to_apart >= width);
  if (kind == cudaMemcpyDeviceToDevice) {
    for (size_t i = 0; i < height; i++) memcpy((char *)to + i * to_apart, (const char *)from + i * from_apart, width);
    return getenv("FAKE_CUDA_FAILS") ? cudaErrorIllegalAddress : cudaSuccess;
  }
  cr_assert_eq(kind, cudaMemcpyDeviceToHost);
  copy.to = to, copy.from = from, copy.to_apart = to_apart;
  copy.from_apart = from_apart, copy.width = width, copy.height = height;
  memset(to, 0xff, to_apart * height);
  return getenv("FAKE_CUDA_FAILS") ? cudaErrorIllegalAddress : cudaSuccess;
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
  cr_assert_eq(stream, (cudaStream_t)0x57);
  for (size_t i = 0; i < copy.height; i++)
    memcpy(copy.to + i * copy.to_apart, copy.from + i * copy.from_apart, copy.width);
  return cudaSuccess;
}

static const struct fold_shape shapes[] = {{.b = 1, .m = 3, .n = 4, .k = 5},
                                           {.b = 3, .m = 4, .n = 2, .k = 3},
                                           {.b = 1, .m = 1, .n = 5, .k = 7},
                                           {.b = 1, .m = 4, .n = 1, .k = 2}};
enum { EACH = 4 * 2 * sizeof shapes / sizeof *shapes };

/* Of each shape each layout, with leading dimensions as long as needed and longer. */
static struct product product_of(enum fold_dtype dtype, size_t c) {
  return (struct product){dtype, shapes[c / 8], {c & 1, c >> 1 & 1}, c & 4 ? 3 : 0};
}

/* The fake adds i - 1 to the results of algorithm i. */
static void check(const char *name, double more) {
  const struct fold_subject *subject = subject_of(name);
  for (enum fold_dtype dtype = 0; dtype < FOLD_DTYPES; dtype++)
    for (size_t c = 0; c < EACH && subject->dtypes >> dtype & 1; c++) {
      const struct product p = product_of(dtype, c);
      struct arrays *a = arrays_of(subject, &p);
      const fold_status status = subject->run(subject, &a->call);
      cr_expect_eq(status.code, FOLD_OK, "%s: %s", name, status.text);
      cr_expect(is_right(subject, a, more, 0), "%s %s %zu", name, fold_dtype_name(dtype), c);
      arrays_free(a);
    }
}

Test(cublas_lt, each_workspace_and_each_algorithm_multiplies) {
  setenv("FAKE_CUBLAS_ALGORITHMS", "100", 1);
  check("cublas/lt_gemm", 0);
  check("cublas/lt_gemm_1mib", 0);
  check("cublas/lt_gemm_0", 0);
  check("cublas/lt_gemm_tf32", 0);
  check("cublas/lt_gemm_f32", 0);
  for (int i = 2; i <= 8; i++) {
    char name[40];
    snprintf(name, sizeof name, "cublas/lt_algorithm_%d", i);
    check(name, i - 1);
  }
}

static fold_status run_at(const char *name, struct product p, size_t shift) {
  const struct fold_subject *subject = subject_of(name);
  struct arrays *a = arrays_of(subject, &p);
  const size_t size = fold_dtype_size(p.dtype);
  a->call.in[0] = a->in[0] + size * shift;
  memmove(a->in[0] + size * shift, a->in[0], size * (MOST / 2));
  const fold_status status = subject->run(subject, &a->call);
  memmove(a->in[0], a->in[0] + size * shift, size * (MOST / 2));
  if (status.code == FOLD_OK) cr_expect(is_right(subject, a, 0, 0));
  arrays_free(a);
  return status;
}

/* The fake holds the heuristic to the alignment that the matrices have. */
Test(cublas_lt, it_says_how_its_matrices_are_aligned) {
  for (size_t shift = 0; shift < 70; shift++)
    cr_expect_eq(run_at("cublas/lt_gemm", product_of(FOLD_F32, 0), shift).code, FOLD_OK, "%zu", shift);
}

Test(cublas_lt, an_algorithm_that_is_not_offered_is_skipped) {
  setenv("FAKE_CUBLAS_ALGORITHMS", "2", 1);
  check("cublas/lt_algorithm_2", 1);
  fold_status status = run_at("cublas/lt_algorithm_3", product_of(FOLD_F32, 0), 0);
  cr_expect_eq(status.code, FOLD_UNSUPPORTED);
  cr_expect_str_eq(status.text, "cublas/lt_algorithm_3: cuBLASLt offers fewer algorithms for this shape");
  setenv("FAKE_CUBLAS_ALGORITHMS", "0", 1);
  status = run_at("cublas/lt_gemm", product_of(FOLD_F32, 0), 0);
  cr_expect_eq(status.code, FOLD_UNSUPPORTED);
  cr_expect_str_eq(status.text, "cublas/lt_gemm: cuBLASLt offers no algorithm");
}

Test(cublas_lt, an_algorithm_that_fails_its_own_check_does_not_run) {
  setenv("FAKE_CUBLAS_STATE", "15", 1);
  cr_expect_eq(run_at("cublas/lt_gemm", product_of(FOLD_F32, 0), 0).code, FOLD_UNSUPPORTED);
  setenv("FAKE_CUBLAS_STATE", "7", 1);
  cr_expect_eq(run_at("cublas/lt_gemm", product_of(FOLD_F32, 0), 0).code, FOLD_ENVIRONMENT);
}

Test(cublas_lt, factors_are_rounded_where_a_row_declares_it) {
  const struct product p = {FOLD_F32, {.b = 1, .m = 1, .n = 1, .k = 1}, {false, false}, 0};
  static const struct {
    const char *name;
    float result;
  } rows[] = {{"cublas/lt_gemm", 2051}, {"cublas/lt_gemm_tf32", 2050}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct arrays *a = arrays_of(subject_of(rows[i].name), &p);
    put(a, 0, 0, 0, 0, 2051), put(a, 1, 0, 0, 0, 1);
    cr_assert_eq(subject_of(rows[i].name)->run(subject_of(rows[i].name), &a->call).code, FOLD_OK);
    float result;
    memcpy(&result, a->out, sizeof result);
    cr_expect_eq(result, rows[i].result, "%s: %g", rows[i].name, (double)result);
    arrays_free(a);
  }
}

static fold_status run_fp8(struct product p, bool *right) {
  const struct fold_subject *subject = subject_of("cublas/lt_fp8");
  struct arrays *a = arrays_of(subject, &p);
  const fold_status status = subject->run(subject, &a->call);
  *right = status.code == FOLD_OK && is_right(subject, a, 0, 0);
  arrays_free(a);
  return status;
}

/* As cuBLASLt documents it, and a second factor that is turned; what it does not take is skipped with the reason. */
Test(cublas_lt, products_of_8_bits_lie_along_k_on_16_bytes) {
  static const struct {
    struct product p;
    const char *why; /* NULL: it is multiplied */
  } rows[] = {
      {{FOLD_E4M3, {.b = 1, .m = 3, .n = 16, .k = 32}, {false, true}, 0}, NULL},
      {{FOLD_E4M3, {.b = 2, .m = 16, .n = 32, .k = 16}, {false, true}, 16}, NULL},
      {{FOLD_E5M2, {.b = 1, .m = 16, .n = 16, .k = 16}, {false, true}, 0}, "cuBLASLt multiplies no e5m2 by e5m2"},
      {{FOLD_E4M3, {.b = 1, .m = 16, .n = 16, .k = 24}, {false, true}, 0}, "k and n are multiples of 16"},
      {{FOLD_E4M3, {.b = 1, .m = 16, .n = 8, .k = 16}, {false, true}, 0}, "k and n are multiples of 16"},
      {{FOLD_E4M3, {.b = 1, .m = 16, .n = 16, .k = 16}, {false, false}, 0}, NULL},
      {{FOLD_E4M3, {.b = 2, .m = 3, .n = 32, .k = 48}, {false, false}, 16}, NULL},
      {{FOLD_E4M3, {.b = 1, .m = 16, .n = 16, .k = 16}, {true, true}, 0}, "rows of the first factor begin on 16 bytes"},
      {{FOLD_E4M3, {.b = 1, .m = 16, .n = 16, .k = 16}, {false, true}, 3},
       "rows of the first factor begin on 16 bytes"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool right;
    const fold_status status = run_fp8(rows[i].p, &right);
    cr_expect_eq(status.code, rows[i].why ? FOLD_UNSUPPORTED : FOLD_OK, "%zu: %s", i, status.text);
    cr_expect(rows[i].why ? strstr(status.text, rows[i].why) != NULL : right, "%zu: %s", i, status.text);
  }
}

/* The last column of the first matrix, but for one element where `other` is not 0. */
static fold_status run_biased(const struct product *p, double other, bool *right) {
  const struct fold_subject *subject = subject_of("cublas/lt_bias");
  struct arrays *a = arrays_of(subject, p);
  const struct fold_shape *s = &p->shape;
  for (size_t b = 0; b < s->b; b++)
    for (size_t i = 0; i < s->m; i++) put(a, 0, b, i, s->k - 1, 1);
  if (other != 0) put(a, 0, s->b - 1, s->m - 1, s->k - 1, other);
  const fold_status status = subject->run(subject, &a->call);
  *right = status.code == FOLD_OK && is_right(subject, a, 0, 0);
  arrays_free(a);
  return status;
}

Test(cublas_lt, the_last_row_is_added_as_a_bias_where_the_first_matrix_ends_with_ones) {
  size_t biased = 0;
  for (enum fold_dtype dtype = 0; dtype < FOLD_DTYPES; dtype++)
    for (size_t c = 0; c < EACH && subject_of("cublas/lt_bias")->dtypes >> dtype & 1; c++) {
      const struct product p = product_of(dtype, c);
      bool right;
      const fold_status status = run_biased(&p, 0, &right);
      const bool apart = p.transposed[1] && p.shape.n > 1;
      cr_expect_eq(status.code, apart ? FOLD_UNSUPPORTED : FOLD_OK, "%zu: %s", c, status.text);
      if (apart) cr_expect_str_eq(status.text, "cublas/lt_bias: elements of a bias lie side by side");
      cr_expect(apart || right, "%s %zu", fold_dtype_name(dtype), c);
      biased += right;
      cr_expect_eq(run_biased(&p, -1, &right).code, FOLD_UNSUPPORTED);
      if (!apart)
        cr_expect_str_eq(run_biased(&p, 2, &right).text,
                         "cublas/lt_bias: the first matrix's last column is not of ones");
    }
  cr_expect(biased >= 40, "%zu", biased);
}

Test(cublas_lt, a_bias_alone_is_no_product) {
  const struct product p = {FOLD_F32, {.b = 1, .m = 2, .n = 2, .k = 1}, {false, false}, 0};
  bool right;
  const fold_status status = run_biased(&p, 0, &right);
  cr_expect_eq(status.code, FOLD_UNSUPPORTED);
  cr_expect_str_eq(status.text, "cublas/lt_bias: no results of no terms");
}

Test(cublas_lt, a_column_that_cannot_be_read_is_broken) {
  const struct product p = product_of(FOLD_F32, 0);
  bool right;
  setenv("FAKE_CUDA_FAILS", "1", 1);
  const fold_status status = run_biased(&p, 0, &right);
  cr_expect_eq(status.code, FOLD_ENVIRONMENT);
  cr_expect(strstr(status.text, "cudaMemcpy2DAsync: "), "%s", status.text);
}

Test(cublas_lt, a_library_that_is_not_there_is_named) {
  setenv("FOLDPROOF_CUBLASLT", "/none/lt.so", 1);
  const fold_status status = run_at("cublas/lt_gemm", product_of(FOLD_F32, 0), 0);
  cr_expect_eq(status.code, FOLD_BAD_INPUT);
  cr_expect(strstr(status.text, "FOLDPROOF_CUBLASLT=/none/lt.so: cannot open"), "%s", status.text);
}
