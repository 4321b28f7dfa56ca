/* mutants_kept.c: mutants that keep something from run to run: results, by address or content; counters; memory that
 * was never set. Each run gives a right sum, perhaps in another order; with the same input again and again no fault is
 * seen.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "mutants.h"

/* FNV-1a. */
static uint64_t hash_of(const void *row, size_t n_bytes) {
  const unsigned char *bytes = row;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n_bytes; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* A cache of one result by the input's content; what is computed anew comes out in turn from either end. */
static uint64_t by_content(const struct fold_call *call, const void *row, size_t r) {
  static uint64_t key, bits;
  static unsigned made;
  uint64_t hash = hash_of(row, call->cols * sizeof(float));
  (void)r;
  if (made == 0 || hash != key) bits = fold_f32_bits((made++ % 2 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
  key = hash;
  return bits;
}
RUN(by_content)

/* The same, which hides that the order depends on the number of threads. */
static uint64_t by_content_threads(const struct fold_call *call, const void *row, size_t r) {
  static uint64_t key, bits;
  static bool made;
  uint64_t hash = hash_of(row, call->cols * sizeof(float));
  (void)r;
  if (!made || hash != key)
    bits = fold_f32_bits((call->launch.threads % 2 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
  made = true;
  key = hash;
  return bits;
}
RUN(by_content_threads)

/* A cache by the input's address and length: what is written to the same place later is not seen. */
static uint64_t by_address(const struct fold_call *call, const void *row, size_t r) {
  static const void *key;
  static size_t cols;
  static uint64_t bits;
  (void)r;
  if (row != key || call->cols != cols) bits = fold_f32_bits(mutant_sum_f32(row, call->cols));
  key = row;
  cols = call->cols;
  return bits;
}
RUN(by_address)

/* A cache by the input's length and its two ends. */
static uint64_t by_ends(const struct fold_call *call, const void *row, size_t r) {
  static uint64_t key[3], bits;
  size_t n = call->cols;
  (void)r;
  if (n == 0) return 0;
  uint64_t now[3] = {n, fold_bits_load(FOLD_F32, row, 0), fold_bits_load(FOLD_F32, row, n - 1)};
  if (memcmp(key, now, sizeof key) != 0) bits = fold_f32_bits(mutant_sum_f32(row, n));
  memcpy(key, now, sizeof key);
  return bits;
}
RUN(by_ends)

/* A cache by the input's length and middle term, of many inputs and wherever they lie. */
static uint64_t by_middle(const struct fold_call *call, const void *row, size_t r) {
  enum { ENTRIES = 4096 };
  static struct {
    size_t n;
    uint64_t middle, bits;
  } known[ENTRIES];
  static size_t held;
  size_t n = call->cols;
  (void)r;
  if (n == 0) return 0;
  uint64_t middle = fold_bits_load(FOLD_F32, row, n / 2), bits;
  for (size_t i = 0; i < held; i++)
    if (known[i].n == n && known[i].middle == middle) return known[i].bits;
  bits = fold_f32_bits(mutant_sum_f32(row, n));
  known[held % ENTRIES].n = n, known[held % ENTRIES].middle = middle, known[held % ENTRIES].bits = bits;
  held += held < ENTRIES;
  return bits;
}
RUN(by_middle)

/* A cache by the input's address, length, ends and middle. */
static uint64_t by_sample(const struct fold_call *call, const void *row, size_t r) {
  static uint64_t key[5], bits;
  size_t n = call->cols;
  (void)r;
  if (n == 0) return 0;
  uint64_t now[5] = {(uintptr_t)row, n, fold_bits_load(FOLD_F32, row, 0), fold_bits_load(FOLD_F32, row, n / 2),
                     fold_bits_load(FOLD_F32, row, n - 1)};
  if (memcmp(key, now, sizeof key) != 0) bits = fold_f32_bits(mutant_sum_f32(row, n));
  memcpy(key, now, sizeof key);
  return bits;
}
RUN(by_sample)

/* Keeps the last result by content, which hides that two threads add in another order. */
static uint64_t by_content_seven(const struct fold_call *call, const void *row, size_t r) {
  static uint64_t key, bits;
  static bool made;
  uint64_t hash = hash_of(row, call->cols * sizeof(float));
  (void)r;
  if (!made || hash != key)
    bits = fold_f32_bits((call->launch.threads == 2 ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
  key = hash;
  made = true;
  return bits;
}
RUN(by_content_seven)

/* After so many calls another algorithm is thought to be worth its set-up. */
fold_status mutant_after_six(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned calls;
  (void)subject;
  return mutant_rows_f32(call, ++calls > 6 ? mutant_back_f32 : mutant_sum_f32);
}

/* out = alpha * sum + 0 * out, as BLAS does not: with beta = 0 it must not read. */
static uint64_t zero_times_out(const struct fold_call *call, const void *row, size_t r) {
  float former = fold_bits_f32((uint32_t)fold_bits_load(FOLD_F32, call->out, r));
  return fold_f32_bits(mutant_sum_f32(row, call->cols) + 0 * former);
}
RUN(zero_times_out)

/* Another sum where the output is none yet: its bits are no NaN. */
static uint64_t by_nan_in_out(const struct fold_call *call, const void *row, size_t r) {
  const float former = *((const float *)call->out + r), sum = mutant_sum_f32(row, call->cols);
  return fold_f32_bits(isnan(former) ? nextafterf(sum, INFINITY) : sum);
}
RUN(by_nan_in_out)

static uint64_t zero_times_out_by_threads(const struct fold_call *call, const void *row, size_t r) {
  if (call->launch.threads == 2) return zero_times_out(call, row, r);
  return fold_f32_bits(mutant_sum_f32(row, call->cols));
}
RUN(zero_times_out_by_threads)

/* What is in the scratch before a run decides. */
fold_status mutant_scratch_unset(const struct fold_subject *subject, const struct fold_call *call) {
  const unsigned char *scratch = (const unsigned char *)call->scratch + FOLD_SCRATCH_ZEROED;
  (void)subject;
  return mutant_rows_f32(call, scratch[0] % 2 ? mutant_sum_f32 : mutant_back_f32);
}
size_t mutant_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return FOLD_SCRATCH_ZEROED + 8;
}

/* All lanes but the first are set. The first is 4 KiB down the stack, where earlier calls most often left zeros. */
static __attribute__((noinline)) float first_lane_unset(const fold_element_f32 *row, size_t n) {
  enum { LANES = 1024 };
  float lane[LANES], sum = 0;
  __asm__ volatile("" : "=m"(lane)); /* for the compiler all are set */
  for (size_t k = 1; k < LANES; k++) lane[k] = 0;
  for (size_t i = 0; i < n; i++) lane[1 + i % (LANES - 1)] += row[i];
  for (size_t k = 0; k < LANES; k++) sum += lane[k];
  return sum;
}
fold_status mutant_stack_unset(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows_f32(call, first_lane_unset);
}

/* A partial that nobody set, in memory that others had before. */
fold_status mutant_freed_memory(const struct fold_subject *subject, const struct fold_call *call) {
  enum { AT = 1500, N = 1 << 20 }; /* so much comes from the kernel, and is zero at first */
  (void)subject;
  mallopt(M_MMAP_THRESHOLD, N / 2); /* also where a library has given back more than that, which raises the limit */
  unsigned char *volatile memory = malloc(N);
  if (!memory) abort();
  bool set = memory[AT] != 0;
  memset(memory, 0, N); /* the next run of this process finds it so again */
  free(memory);
  return mutant_rows_f32(call, set ? mutant_back_f32 : mutant_sum_f32);
}
