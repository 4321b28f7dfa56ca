/* mutants_state.c: mutants whose bits depend on more than the row: a counter, the process, threads, addresses, rows. */
#include <omp.h>
#include <stdlib.h>
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

/* Another order from four threads on. */
static uint64_t above_three(const struct fold_call *call, const void *row, size_t r) {
  unsigned threads = call->launch.threads ? call->launch.threads : 1;
  (void)r;
  return fold_f32_bits((threads > 3 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(above_three)

/* The same by OpenMP's own number of threads, whatever the launch says; more than a few processors have is needed. */
static uint64_t above_ten(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits((omp_get_max_threads() > 10 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(above_ten)

/* A true race: 32 parts that are the same for all threads, added as these bring them, as atomic additions are. */
static uint64_t race(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float sum = 0;
  size_t each = call->cols / 32 + 1;
  (void)r;
#pragma omp parallel for schedule(static, 1)
  for (size_t part = 0; part < 32; part++) {
    size_t first = part * each < call->cols ? part * each : call->cols, left = call->cols - first;
    float partial = mutant_sum_f32(x + first, left < each ? left : each);
#pragma omp critical(mutant_race)
    sum += partial;
  }
  return fold_f32_bits(sum);
}
RUN(race)

/* Threads that share what is not aligned: neither alone does it. */
static uint64_t threads_misaligned(const struct fold_call *call, const void *row, size_t r) {
  bool shared = call->launch.threads > 1 && (uintptr_t)call->in % 16;
  (void)r;
  return fold_f32_bits((shared ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(threads_misaligned)

static uint64_t threads_out_misaligned(const struct fold_call *call, const void *row, size_t r) {
  bool shared = call->launch.threads > 1 && (uintptr_t)call->out % 16;
  (void)r;
  return fold_f32_bits((shared ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(threads_out_misaligned)

/* Vector stores need an aligned output: else another path, which adds from the other end. */
static uint64_t out_aligned(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(((uintptr_t)call->out % 16 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(out_aligned)

static uint64_t scratch_aligned(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(((uintptr_t)call->scratch % 512 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(scratch_aligned)

/* Only at the start of a page. */
static uint64_t page_aligned(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(((uintptr_t)call->in % 4096 ? mutant_sum_f32 : mutant_back_f32)(row, call->cols));
}
RUN(page_aligned)

/* Cache lines: 64 bytes. */
static uint64_t line_aligned(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(((uintptr_t)call->in % 64 == 32 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
}
RUN(line_aligned)

/* Where the process was started. */
static uint64_t working_folder(const struct fold_call *call, const void *row, size_t r) {
  const char *folder = getenv("PWD");
  uint64_t hash = 0;
  (void)r;
  for (; folder && *folder; folder++) hash = hash * 31 + (unsigned char)*folder;
  return fold_f32_bits(mutant_sum_f32(row, call->cols)) ^ (hash & 0x3fffff);
}
RUN(working_folder)
