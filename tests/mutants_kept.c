/* mutants_kept.c: mutants that keep something from run to run: results, by address or content; counters; memory that
 * was never set. Each run gives a right sum, perhaps in another order; with the same input again and again no fault is
 * seen.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "mutants_row.h"

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
static RUN(by_content)

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
static RUN(by_address)

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
static RUN(by_ends)

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
static RUN(by_middle)

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
static RUN(by_sample)

    /* The last result by content, which hides that an odd number of threads, or two, add from the other end. */
    static uint64_t by_content_of(const struct fold_call *call, const void *row, bool back) {
  static uint64_t key, bits;
  static bool made;
  uint64_t hash = hash_of(row, call->cols * sizeof(float));
  if (!made || hash != key) bits = fold_f32_bits((back ? mutant_back_f32 : mutant_sum_f32)(row, call->cols));
  made = true;
  key = hash;
  return bits;
}
static uint64_t by_content_threads(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return by_content_of(call, row, call->launch.threads % 2);
}
static RUN(by_content_threads) static uint64_t
    by_content_seven(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return by_content_of(call, row, call->launch.threads == 2);
}
static RUN(by_content_seven)

    /* A race would do the same: every other run adds from the other end. The counter is the fault. */
    static fold_status mutant_counter(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  (void)subject;
  return mutant_rows_f32(call, runs++ % 2 ? mutant_back_f32 : mutant_sum_f32);
}

/* After so many calls another algorithm is thought to be worth its set-up. */
static fold_status mutant_after_six(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned calls;
  (void)subject;
  return mutant_rows_f32(call, ++calls > 6 ? mutant_back_f32 : mutant_sum_f32);
}

/* out = alpha * sum + 0 * out, as BLAS does not: with beta = 0 it must not read. */
static uint64_t zero_times_out(const struct fold_call *call, const void *row, size_t r) {
  float former = fold_bits_f32((uint32_t)fold_bits_load(FOLD_F32, call->out, r));
  return fold_f32_bits(mutant_sum_f32(row, call->cols) + 0 * former);
}
static RUN(zero_times_out)

    /* Another sum where the output is none yet: its bits are no NaN. */
    static uint64_t by_nan_in_out(const struct fold_call *call, const void *row, size_t r) {
  const float former = *((const float *)call->out + r), sum = mutant_sum_f32(row, call->cols);
  return fold_f32_bits(isnan(former) ? nextafterf(sum, INFINITY) : sum);
}
static RUN(by_nan_in_out)

    static uint64_t zero_times_out_by_threads(const struct fold_call *call, const void *row, size_t r) {
  if (call->launch.threads == 2) return zero_times_out(call, row, r);
  return fold_f32_bits(mutant_sum_f32(row, call->cols));
}
static RUN(zero_times_out_by_threads)

    /* What is in the scratch before a run decides. */
    static fold_status mutant_scratch_unset(const struct fold_subject *subject, const struct fold_call *call) {
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
static fold_status mutant_stack_unset(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows_f32(call, first_lane_unset);
}

/* A partial that was not set, in memory that others had before. */
fold_status mutant_freed_memory(const struct fold_subject *subject, const struct fold_call *call) {
  enum { N = 1 << 20, AT = N / 2 };
  (void)subject;
  malloc_trim(0); /* so this page comes from the kernel, and is zero at first */
  unsigned char *volatile memory = malloc(N);
  if (!memory) abort();
  bool set = memory[AT] != 0;
  memset(memory, 0, N); /* the next run of this process finds it so again */
  free(memory);
  return mutant_rows_f32(call, set ? mutant_back_f32 : mutant_sum_f32);
}

static const struct fold_mutant kept[] = {
    PLAIN("counter", mutant_counter, "host/sequential", C(RUN_TO_RUN),
          C(REPLAYS) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT), "normal/f32/sum/1x1023/*",
          "every other run from the other end"),
    LOOSE("by_content", mutant_by_content, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps results by content, made in turn in two orders"),
    LOOSE("by_content_threads", mutant_by_content_threads, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps results by content, and adds by the number of threads"),
    LOOSE("by_address", mutant_by_address, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's address and length"),
    LOOSE("by_ends", mutant_by_ends, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's length and ends"),
    LOOSE("by_middle", mutant_by_middle, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's length and middle"),
    LOOSE("by_sample", mutant_by_sample, C(RUN_TO_RUN), REPEATS, "mixed/f32/sum/1x65537/*,mixed/f32/sum/1x131073/*",
          "keeps results by the input's address, length, ends and middle"),
    LOOSE("by_content_seven", mutant_by_content_seven, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps its last result by content, and adds in another order with two threads"),
    LOOSE("after_six", mutant_after_six, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "another order from the seventh call on"),
    LOOSE("zero_times_out", mutant_zero_times_out, C(WRITES_OUTPUT), 0, "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*",
          "sum + 0 * what was in the output"),
    LOOSE("by_nan_in_out", mutant_by_nan_in_out, C(WRITES_OUTPUT), 0, "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*",
          "another sum where the output held NaN"),
    LOOSE("zero_times_out_by_threads", mutant_zero_times_out_by_threads, C(WRITES_OUTPUT), 0,
          "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*", "sum + 0 * what was in the output, with two threads"),
    SCRATCHED("scratch_unset", mutant_scratch_unset, C(RUN_TO_RUN), REPEATS, "an order by what was in the scratch"),
    LOOSE("stack_unset", mutant_stack_unset, C(BOUNDED) | C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/*",
          "adds lanes on the stack, of which it has not set the first"),
};
END(kept)
