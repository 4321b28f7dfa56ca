/* mutants_memory.c: mutants that compute right, and leave a result unwritten, write where they must not, or read it. */
#include <signal.h>
#include <sys/mman.h>

#include "mutants.h"

static void sums(const struct fold_call *call, size_t rows) {
  for (size_t r = 0; r < rows; r++)
    fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(mutant_sum_f32(mutant_row_at(call, r), call->cols)));
}

fold_status mutant_last_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows > 0 ? call->rows - 1 : 0);
  return fold_ok();
}

fold_status mutant_past_end(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows);
  fold_bits_store(FOLD_F32, call->out, call->rows, 0);
  return fold_ok();
}

fold_status mutant_before_start(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows);
  fold_bits_store(FOLD_F32, (char *)call->out - sizeof(float), 0, 0);
  return fold_ok();
}

/* Eight elements before the input: past every place that the input may move to, so that no run spoils a term. */
fold_status mutant_in_zone(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows);
  if (call->rows * call->cols > 0) ((unsigned char *)(uintptr_t)call->in)[-9 * (int)sizeof(float)] ^= 0x55;
  return fold_ok();
}

/* Swaps each row's first two terms: the sum's bits stay, for a + b = b + a. */
fold_status mutant_input_swapped(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows);
  for (size_t r = 0; r < call->rows && call->cols > 1; r++) {
    void *row = (void *)(uintptr_t)mutant_row_at(call, r);
    uint64_t first = fold_bits_load(FOLD_F32, row, 0);
    fold_bits_store(FOLD_F32, row, 0, fold_bits_load(FOLD_F32, row, 1));
    fold_bits_store(FOLD_F32, row, 1, first);
  }
  return fold_ok();
}

/* Only where one row is run: in cases of several, that is in the judges' own runs. */
fold_status mutant_past_end_alone(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->rows == 1) return mutant_past_end(subject, call);
  sums(call, call->rows);
  return fold_ok();
}

/* Only at another launch than its own choice. */
fold_status mutant_input_swapped_by_threads(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->launch.threads == 2) return mutant_input_swapped(subject, call);
  sums(call, call->rows);
  return fold_ok();
}

/* In the batch of five that a single row is put into, its second result: no judge compares that row. */
fold_status mutant_unwritten_in_five(const struct fold_subject *subject, const struct fold_call *call) {
  uint64_t former = call->rows == 5 ? fold_bits_load(FOLD_F32, call->out, 1) : 0;
  (void)subject;
  sums(call, call->rows);
  if (call->rows == 5) fold_bits_store(FOLD_F32, call->out, 1, former);
  return fold_ok();
}

fold_status mutant_input_swapped_in_five(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->rows == 5) return mutant_input_swapped(subject, call);
  sums(call, call->rows);
  return fold_ok();
}

/* Sorted in place and put back: two who share the input would see it. */
fold_status mutant_input_restored(const struct fold_subject *subject, const struct fold_call *call) {
  mutant_input_swapped(subject, call);
  return mutant_input_swapped(subject, call);
}

/* Only where it has two threads. */
fold_status mutant_input_restored_by_threads(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->launch.threads == 2) return mutant_input_restored(subject, call);
  sums(call, call->rows);
  return fold_ok();
}

/* A vector load past an odd tail, whose lanes are masked away afterwards: nothing of it shows. */
fold_status mutant_past_read_masked(const struct fold_subject *subject, const struct fold_call *call) {
  const volatile fold_element_f32 *x = call->in;
  (void)subject;
  sums(call, call->rows);
  if (call->rows * call->cols > 0) (void)x[call->rows * call->cols];
  return fold_ok();
}

fold_status mutant_past_read_by_threads(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->launch.threads == 2) return mutant_past_read_masked(subject, call);
  sums(call, call->rows);
  return fold_ok();
}

/* It finds out where memory ends by a handler of its own, and keeps that. */
static void open_page(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}
fold_status mutant_past_read_handled(const struct fold_subject *subject, const struct fold_call *call) {
  const struct sigaction own = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &own, NULL);
  return mutant_past_read_masked(subject, call);
}

/* The same down to an aligned address. */
fold_status mutant_before_read_masked(const struct fold_subject *subject, const struct fold_call *call) {
  const volatile unsigned char *x = call->in;
  (void)subject;
  sums(call, call->rows);
  if (call->rows * call->cols > 0) (void)x[-1];
  return fold_ok();
}

/* Beyond every guard that is looked at by its bytes. */
fold_status mutant_far_past_end(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows);
  fold_bits_store(FOLD_F32, call->out, call->rows + 5000, 0);
  return fold_ok();
}

/* A workspace that is asked for one short. */
fold_status mutant_scratch_past_end(const struct fold_subject *subject, const struct fold_call *call) {
  sums(call, call->rows);
  ((unsigned char *)call->scratch)[mutant_scratch(subject, call)] = 1;
  return fold_ok();
}

/* A grid has 65,535 blocks in y. */
fold_status mutant_rows_past_grid(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums(call, call->rows < 65535 ? call->rows : 65535);
  return fold_ok();
}
