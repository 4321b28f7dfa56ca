/* mutants_state.c: mutants whose bits depend on more than the row: a counter, the process, threads, addresses, rows. */
#include <unistd.h>

#include "mutants.h"

/* A race would do the same: every other run adds from the other end. The counter is the fault. */
fold_status mutant_counter(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  (void)subject;
  return mutant_rows_f32(call, runs++ % 2 ? mutant_back_f32 : mutant_sum_f32);
}

/* What an address or a seed of the process would do. */
static uint64_t pid(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(mutant_sum_f32(row, call->cols)) ^ ((uint64_t)getpid() & 0x3fffff);
}
fold_status mutant_pid(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows(call, pid);
}

/* As many partials as threads. */
static uint64_t threads(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float partial[64] = {0}, sum = 0;
  unsigned n = call->launch.threads ? call->launch.threads : 4;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) partial[i % n] += x[i];
  for (unsigned t = 0; t < n; t++) sum += partial[t];
  return fold_f32_bits(sum);
}
fold_status mutant_threads(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows(call, threads);
}

/* Single terms up to a 16-byte address, four lanes from there: the lanes depend on where the row lies. */
static uint64_t peels(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float sum = 0, lane[4] = {0};
  size_t i = 0;
  (void)r;
  for (; i < call->cols && (uintptr_t)(x + i) % 16; i++) sum += x[i];
  for (; i + 4 <= call->cols; i += 4)
    for (size_t k = 0; k < 4; k++) lane[k] += x[i + k];
  for (; i < call->cols; i++) sum += x[i];
  return fold_f32_bits(sum + ((lane[0] + lane[1]) + (lane[2] + lane[3])));
}
fold_status mutant_peels(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows(call, peels);
}

/* Loads of 8 bytes where 16 are not aligned: a sub-range from the second element on does not show it, a shift does. */
static uint64_t half_aligned(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(((uintptr_t)row % 16 == 8 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
fold_status mutant_half_aligned(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows(call, half_aligned);
}

/* One algorithm for a row, another for a batch. */
fold_status mutant_batch_size(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows_f32(call, call->rows > 1 ? mutant_back_f32 : mutant_sum_f32);
}

static uint64_t row_parity(const struct fold_call *call, const void *row, size_t r) {
  return fold_f32_bits((r % 2 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
fold_status mutant_row_parity(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows(call, row_parity);
}
