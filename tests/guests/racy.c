/* racy.c: a guest whose threads add to one number in whatever sequence they come: built with OpenMP. */
#include <omp.h>

#include "foldproof_guest.h"

static int sum(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float s = 0;
#pragma omp parallel for num_threads(4) schedule(dynamic, 16)
    for (uint64_t i = 0; i < call->cols; i++)
#pragma omp atomic
      s += x[i];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* Each thread adds its own terms first: what changes is in which sequence these sums are joined, and seldom. */
static int by_parts(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float s = 0;
#pragma omp parallel for num_threads(4) schedule(static) reduction(+ : s)
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* By OpenMP's own number of threads: two sums have the same bits in either sequence. */
static int by_default(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float s = 0;
#pragma omp parallel for schedule(static) reduction(+ : s)
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* The threads' sums in the threads' order: different bits for another number of them, and for nothing else. */
static int in_turn(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float part[64] = {0}, s = 0;
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < call->cols; i++) part[omp_get_thread_num()] += x[i];
    for (int t = 0; t < omp_get_max_threads() && t < 64; t++) s += part[t];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* As if threads came in one sequence, and the next time in the other: two sums have the same bits in either. */
static int alternates(const struct foldproof_guest_call *call, void *context) {
  static unsigned turn;
  (void)context;
  turn++;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float part[64] = {0}, s = 0;
    const int n = omp_get_max_threads() < 64 ? omp_get_max_threads() : 64;
#pragma omp parallel for schedule(static) num_threads(n)
    for (uint64_t i = 0; i < call->cols; i++) part[omp_get_thread_num()] += x[i];
    for (int t = 0; t < n; t++) s += part[turn % 2 ? t : n - 1 - t];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "racy/alternates", .run = alternates},
    {.name = "racy/by_default", .run = by_default},
    {.name = "racy/in_turn", .run = in_turn},
    {.name = "racy/sum", .claims = "run_to_run", .run = sum},
    {.name = "racy/by_parts", .claims = "run_to_run", .run = by_parts}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
