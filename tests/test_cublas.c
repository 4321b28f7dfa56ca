/* test_cublas.c: how cuBLAS is called, and what becomes of a library that can't be used. On a fake of it, in host memory. */
#include <math.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cublas_calls.h"
#include "kernels/cuda/peers/cublas.h"
#include "oracles/narrowing.h"

/* The device's memory is the host's. */
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  cr_assert(kind == cudaMemcpyHostToDevice && stream == (cudaStream_t)0x57);
  memcpy(to, from, n);
  return getenv("FAKE_CUDA_FAILS") ? cudaErrorIllegalAddress : cudaSuccess;
}

static void use(const char *library) { cr_assert_eq(setenv("FOLDPROOF_CUBLAS", library, 1), 0); }
static void begin(void) { use(FAKE_CUBLAS); }
TestSuite(cublas, .init = begin);

/* The fake sets the last bit of 16-bit results if parts of sums may be rounded to 16 bits. */
static const struct {
  const char *name;
  bool reduced, batches;
} gemms[] = {{"cublas/gemm", true, true},
             {"cublas/gemm_strict", false, true},
             {"cublas/gemm_f32", false, true},
             {"cublas/gemm_16_8", true, true},
             {"cublas/gemm_ex", true, false},
             {"cublas/gemm_ex_f32", false, false},
             {"cublas/gemm_batched", true, true},
             {"cublas/gemm_batched_f32", false, true},
             {"cublas/gemm_16f", true, true},
             {"cublas/gemm_tf32", false, true},
             {"cublas/gemm_fast_bf16", false, true},
             {"cublas/gemm_fast_f16", false, true}};

static void check_product(size_t which, const struct product *p) {
  const struct fold_subject *subject = subject_of(gemms[which].name);
  struct arrays *a = arrays_of(subject, p);
  const fold_status status = subject->run(subject, &a->call);
  if (a->scratch && subject->scratch == fold_cublas_gemm_scratch)
    cr_expect_eq(a->scratch[FOLD_SCRATCH_ZEROED], 0xa5, "%s gives cuBLAS its workspace", subject->name);
  if (p->shape.b > 1 && !gemms[which].batches) {
    cr_expect_eq(status.code, FOLD_UNSUPPORTED);
    cr_expect(strstr(status.text, ": cublasGemmEx has no batches"), "%s", status.text);
  } else {
    const enum fold_dtype result = fold_subject_result(subject, p->dtype);
    cr_expect_eq(status.code, FOLD_OK, "%s: %s", subject->name, status.text);
    cr_expect(is_right(subject, a, 0, gemms[which].reduced && fold_dtype_size(result) == 2), "%s %s %c%c+%zu b %zu",
              subject->name, fold_dtype_name(p->dtype), p->transposed[0] ? 't' : 'n', p->transposed[1] ? 't' : 'n',
              p->gap, p->shape.b);
  }
  arrays_free(a);
}

Test(cublas, each_layout_dtype_and_batch_is_multiplied) {
  static const struct fold_shape shapes[] = {{.b = 1, .m = 3, .n = 4, .k = 5},
                                             {.b = 3, .m = 4, .n = 2, .k = 3},
                                             {.b = 1, .m = 1, .n = 5, .k = 7},
                                             {.b = 1, .m = 4, .n = 1, .k = 1}};
  for (size_t w = 0; w < sizeof gemms / sizeof *gemms; w++)
    for (enum fold_dtype dtype = 0; dtype < FOLD_DTYPES; dtype++)
      for (size_t c = 0; c < 4 * 2 * sizeof shapes / sizeof *shapes; c++) {
        const struct product p = {dtype, shapes[c / 8], {c & 1, c >> 1 & 1}, c & 4 ? 3 : 0};
        if (subject_of(gemms[w].name)->dtypes >> dtype & 1) check_product(w, &p);
      }
}

/* 2,051 of f32 has 12 bits: the fake cuts it to tf32 and bf16, and rounds it to f16, where the call allows that. */
Test(cublas, a_row_allows_the_rounding_of_factors_that_it_declares) {
  static const struct {
    const char *name;
    double result;
  } rows[] = {{"cublas/gemm", 2051},      {"cublas/gemm_strict", 2051},    {"cublas/gemm_ex", 2051},
              {"cublas/gemm_tf32", 2050}, {"cublas/gemm_fast_bf16", 2048}, {"cublas/gemm_fast_f16", 2052}};
  const struct product p = {FOLD_F32, {.b = 1, .m = 1, .n = 1, .k = 1}, {false, false}, 0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct fold_subject *subject = subject_of(rows[i].name);
    struct arrays *a = arrays_of(subject, &p);
    struct fold_narrowing narrowing;
    put(a, 0, 0, 0, 0, 2051), put(a, 1, 0, 0, 0, 1);
    const struct fold_terms terms = fold_call_terms(&a->call, 0);
    cr_assert_eq(subject->run(subject, &a->call).code, FOLD_OK);
    const double result = fold_bits_to_double(FOLD_F32, fold_bits_load(FOLD_F32, a->out, 0));
    cr_expect_eq(result, rows[i].result, "%s: %g", rows[i].name, result);
    cr_assert_eq(fold_narrowing_of(&terms, subject->factor, &narrowing).code, FOLD_OK);
    cr_expect(fabs(result - 2051) <= narrowing.error, "%s declares what it may round", rows[i].name);
    arrays_free(a);
  }
}

/* 2,048 and eight ones, one by one: f16 has no number between 2,048 and 2,050. */
Test(cublas, sums_are_in_f16_where_a_row_says_so) {
  const struct product p = {FOLD_F16, {.b = 1, .m = 1, .n = 1, .k = 9}, {false, false}, 0};
  static const struct {
    const char *name;
    double result;
  } rows[] = {{"cublas/gemm_16f", 2048}, {"cublas/gemm_f32", 2056}, {"cublas/gemm_ex_f32", 2056}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct fold_subject *subject = subject_of(rows[i].name);
    const enum fold_dtype result = fold_subject_result(subject, FOLD_F16);
    struct arrays *a = arrays_of(subject, &p);
    const uint64_t mark = i == 0; /* the fake's, of the mode */
    for (size_t t = 0; t < 9; t++) put(a, 0, 0, 0, t, t ? 1 : 2048), put(a, 1, 0, t, 0, 1);
    cr_assert_eq(subject->run(subject, &a->call).code, FOLD_OK);
    const double got_here = fold_bits_to_double(result, fold_bits_load(result, a->out, 0) & ~mark);
    cr_expect_eq(got_here, rows[i].result, "%s: %g", rows[i].name, got_here);
    arrays_free(a);
  }
  cr_expect_eq(fold_subject_accumulator(subject_of("cublas/gemm_16f"), FOLD_F16), FOLD_F16);
}

/* A row of each: a call of its own, with scalars on the device. */
Test(cublas, vectors_are_added_as_they_lie) {
  static const float x[] = {1, -2, 3, -4, 5, -6}, y[] = {2, 3, 1, -1, 0, 1};
  float out[2];
  struct fold_call call = {
      .dtype = FOLD_F32, .shape = {.b = 1, .m = 2, .n = 1, .k = 3}, .in = {x, y}, .out = out, .stream = (void *)0x57};
  call.problem = fold_problem(FOLD_DOT);
  cr_assert_eq(subject_of("cublas/dot")->run(subject_of("cublas/dot"), &call).code, FOLD_OK);
  cr_expect(out[0] == -1 && out[1] == -2, "%g %g", (double)out[0], (double)out[1]);
  call.problem = fold_problem(FOLD_ASUM);
  cr_assert_eq(subject_of("cublas/asum")->run(subject_of("cublas/asum"), &call).code, FOLD_OK);
  cr_expect(out[0] == 6 && out[1] == 15, "%g %g", (double)out[0], (double)out[1]);
  call.problem = fold_problem(FOLD_MATVEC);
  cr_assert_eq(subject_of("cublas/gemv")->run(subject_of("cublas/gemv"), &call).code, FOLD_OK);
  cr_expect(out[0] == -1 && out[1] == 1, "%g %g", (double)out[0], (double)out[1]);
}

static fold_status run_one(const char *name, struct fold_launch launch) {
  const struct product p = {FOLD_F32, {.b = 1, .m = 2, .n = 2, .k = 2}, {false, false}, 0};
  struct arrays *a = arrays_of(subject_of(name), &p);
  a->call.launch = launch;
  const fold_status status = subject_of(name)->run(subject_of(name), &a->call);
  arrays_free(a);
  return status;
}

Test(cublas, what_it_does_not_support_is_skipped_and_what_fails_is_broken) {
  static const struct {
    const char *status;
    enum fold_code code;
  } rows[] = {{"15", FOLD_UNSUPPORTED}, {"3", FOLD_NO_MEMORY}, {"13", FOLD_ENVIRONMENT}, {"7", FOLD_ENVIRONMENT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("FAKE_CUBLAS_STATUS", rows[i].status, 1);
    cr_expect_eq(run_one("cublas/gemm_tf32", (struct fold_launch){0}).code, rows[i].code, "%s", rows[i].status);
    cr_expect_eq(run_one("cublas/gemm_ex", (struct fold_launch){0}).code, rows[i].code, "%s", rows[i].status);
  }
  cr_expect_str_eq(run_one("cublas/gemm_ex", (struct fold_launch){.blocks = 7}).text,
                   "cublas/gemm_ex: cuBLAS chooses its launch");
}

Test(cublas, addresses_that_cannot_be_copied_are_broken) {
  setenv("FAKE_CUDA_FAILS", "1", 1);
  const char *text = run_one("cublas/gemm_batched", (struct fold_launch){0}).text;
  cr_expect(strstr(text, "cudaMemcpyAsync: "), "%s", text);
}

Test(cublas, its_version_is_the_librarys) {
  char text[64];
  fold_cublas_version(text);
  cr_expect_str_eq(text, "cuBLAS 99.8.7");
}

/* The whole message, and no product. */
static void expect_refused(const char *library, enum fold_code code, const char *message) {
  char text[64];
  use(library);
  const fold_status status = run_one("cublas/gemm", (struct fold_launch){0});
  cr_expect_eq(status.code, code, "%s", status.text);
  cr_expect(strstr(status.text, message), "%s", status.text);
  fold_cublas_version(text);
  cr_expect_str_eq(text, "no cuBLAS");
}

Test(cublas, a_library_that_is_not_there_is_named) {
  expect_refused("/none/libcublas.so", FOLD_BAD_INPUT, "FOLDPROOF_CUBLAS=/none/libcublas.so: cannot open");
}
Test(cublas, a_library_that_is_no_cublas_is_named) {
  expect_refused(FAKE_CUBLAS_LT, FOLD_BAD_INPUT, "has no cublasCreate_v2");
}
Test(cublas, a_library_that_does_not_start_is_broken) {
  setenv("FAKE_CUBLAS_NO_HANDLE", "1", 1);
  expect_refused(FAKE_CUBLAS, FOLD_ENVIRONMENT, "cublasCreate: status 1");
}
