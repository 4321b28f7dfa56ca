/* arithmetic.c: sums by turns whose code sets its thread's arithmetic: on loading (AT_LOAD), or in its first call (AT_FIRST).
 * test_guest_loading.py expects that they are judged in the arithmetic that they have set, as a user's program runs
 * them. SET: 1 rounds upward, 2 flushes results to zero, 3 takes subnormal terms for zero, 4 gives x87 24 bits of precision. */
#include <fenv.h>
#include <stdint.h>
#include <xmmintrin.h>

#include "foldproof_guest.h"

static void set_arithmetic(void) {
  const unsigned short x87 = 0x7f;
  if (SET == 1) fesetround(FE_UPWARD);
  if (SET == 2) _mm_setcsr(_mm_getcsr() | 0x8000);
  if (SET == 3) _mm_setcsr(_mm_getcsr() | 0x40);
  if (SET == 4) __asm__ volatile("fldcw %0" : : "m"(x87));
}

#ifdef AT_LOAD
__attribute__((constructor)) static void on_loading(void) { set_arithmetic(); }
#endif

static void on_calling(void) {
#ifdef AT_FIRST
  static int called;
  if (!called++) set_arithmetic();
#endif
}

static void add_row(const struct foldproof_guest_call *call, uint64_t row) {
  const float *x = (const float *)call->in + row * call->cols;
  float s = call->cols ? x[0] : 0;
  for (uint64_t i = 1; i < call->cols; i++) s += x[i];
  ((float *)call->out)[row] = s;
}

static int sum(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  on_calling();
  for (uint64_t row = 0; row < call->rows; row++) add_row(call, row);
  return FOLDPROOF_GUEST_OK;
}

/* The order of fused threads of OpenMP's: each adds the terms of its own rows. */
static int threads(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  on_calling();
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (uint64_t row = 0; row < call->rows; row++) add_row(call, row);
  return FOLDPROOF_GUEST_OK;
}

/* On x87's stack, whose precision decides what a sum of doubles loses before it is rounded. */
static int extended(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  on_calling();
  for (uint64_t row = 0; row < call->rows; row++) {
    const double *x = (const double *)call->in + row * call->cols;
    long double s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((double *)call->out)[row] = (double)s;
  }
  return FOLDPROOF_GUEST_OK;
}

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_subject subjects[] = {
      {.name = "arithmetic/sum",
       .claims = "bounded,run_to_run,fresh_process,replays",
       .order = "host/sequential",
       .run = sum},
      {.name = "arithmetic/threads", .claims = "bounded,run_to_run", .run = threads},
      {.name = "arithmetic/extended", .dtypes = "f64", .claims = "bounded,run_to_run", .run = extended},
  };
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
