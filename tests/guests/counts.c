/* counts.c: a guest that tells, where its process ends, how often it ran and how long: in the file $GUEST_COST, for bench_guests.py. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "foldproof_guest.h"

static unsigned long runs;
static double seconds;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int sum(const struct foldproof_guest_call *call, void *context) {
  const double begun = now();
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((float *)call->out)[row] = s;
  }
  seconds += now() - begun;
  runs++;
  return FOLDPROOF_GUEST_OK;
}

__attribute__((destructor)) static void tell(void) {
  FILE *file = getenv("GUEST_COST") && runs > 0 ? fopen(getenv("GUEST_COST"), "a") : NULL;
  if (file == NULL) return;
  fprintf(file, "%lu %.9f\n", runs, seconds);
  fclose(file);
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "counts/sum", .claims = "alignment_invariant", .run = sum}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
  return &table;
}
