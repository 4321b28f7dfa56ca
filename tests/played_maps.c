/* played_maps.c: the command over collectives whose trees over ranks are known, and some that have none, to test what
 * foldproof reveal --map makes of each. The ranks are real, and run this program too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "command/command.h"
#include "kernels/collective/collective.h"
#include "oracles/exact.h"
#include "oracles/fingerprint.h"

#define BODY(name) static fold_status name(const struct fold_subject *subject, const struct fold_call *call)

/* The terms of each element, rank by rank, from everybody's elements; `sum` adds them to a pattern of the dtype. */
typedef uint64_t sum_of(const struct fold_call *call, size_t i, const uint64_t *x, size_t ranks);

static fold_status each(const struct fold_call *call, sum_of *sum) {
  const size_t ranks = (size_t)call->comm->ranks, size = fold_dtype_size(call->dtype);
  size_t *at = calloc(ranks + 1, sizeof *at);
  unsigned char *all = malloc(ranks * call->rows * size + 1);
  uint64_t *x = calloc(ranks, sizeof *x);
  if (!at || !all || !x) abort();
  for (size_t r = 0; r <= ranks; r++) at[r] = r * call->rows * size;
  const fold_status status = fold_comm_gather(call->comm, call->in[0], all, at, NULL);
  for (size_t i = 0; i < call->rows && status.code == FOLD_OK; i++) {
    for (size_t r = 0; r < ranks; r++) x[r] = fold_bits_load(call->dtype, all, r * call->rows + i);
    fold_bits_store(call->dtype, call->out, i, sum(call, i, x, ranks));
  }
  free(at);
  free(all);
  free(x);
  return status;
}
#define EACH(name)                 \
  BODY(name) {                     \
    (void)subject;                 \
    return each(call, sum_##name); \
  }
#define SUM(name) static uint64_t sum_##name(const struct fold_call *call, size_t i, const uint64_t *x, size_t ranks)

/* One rounding to the dtype. */
static uint64_t add(const struct fold_call *call, uint64_t a, uint64_t b) {
  return fold_bits_from_double(call->dtype, fold_bits_to_double(call->dtype, a) + fold_bits_to_double(call->dtype, b));
}
static uint64_t around(const struct fold_call *call, const uint64_t *x, size_t ranks, size_t first) {
  uint64_t sum = x[first % ranks];
  for (size_t k = 1; k < ranks; k++) sum = add(call, sum, x[(first + k) % ranks]);
  return sum;
}

/* The last three elements of a message in another order. */
SUM(other_tail) { return around(call, x, ranks, i + 3 >= call->rows ? 2 : 0); }
EACH(other_tail)

/* The tree of element i: rank by rank, two of what is left are joined, as a hash of the element's block says. tests/test_maps.py has it
 * again. */
enum { RANDOM_BLOCK = 5 };
SUM(random_trees) {
  uint64_t left[64];
  size_t n = ranks;
  memcpy(left, x, n * sizeof *left);
  for (uint64_t step = 0; n > 1; n--, step++) {
    const uint64_t dice = fold_fingerprint_mix(i / RANDOM_BLOCK * 1000 + step + 1);
    const size_t a = (size_t)(dice % n), b = (a + 1 + (size_t)((dice >> 32) % (n - 1))) % n;
    left[a] = add(call, left[a], left[b]);
    left[b] = left[n - 1];
  }
  return left[0];
}
EACH(random_trees)

/* The exact sum of some terms. */
static uint64_t exactly(const uint64_t *x, size_t n) {
  float terms[64];
  struct fold_super state = {0};
  for (size_t k = 0; k < n; k++) terms[k] = fold_bits_f32((uint32_t)x[k]);
  fold_super_add(FOLD_F32, terms, n, &state, NULL);
  return fold_super_close(FOLD_F32, &state, FOLD_F32);
}
/* Three ranks are added at once, then the others in turn. */
SUM(three_at_once) {
  uint64_t sum = exactly(x, 3);
  (void)i;
  for (size_t k = 3; k < ranks; k++) sum = add(call, sum, x[k]);
  return sum;
}
EACH(three_at_once)
/* Two exact adders in a row: which operands are whose, only other questions tell. */
SUM(three_and_three) {
  const uint64_t second[] = {exactly(x, 3), x[3], x[4]};
  (void)call, (void)i, (void)ranks;
  return exactly(second, 3);
}
EACH(three_and_three)

/* Another start in each call. */
static unsigned calls;
SUM(varies) { return around(call, x, ranks, i == 3 ? calls : 0); }
BODY(varies) {
  (void)subject;
  calls++;
  return each(call, sum_varies);
}

/* Only random numbers show it: of the masks and of units the last bit is 0. */
SUM(by_value) { return around(call, x, ranks, i == 9 ? x[0] & 1 : 0); }
EACH(by_value)

/* Rank 3 has different bits in the last element. */
SUM(in_turn) {
  (void)i;
  return around(call, x, ranks, 0);
}
EACH(in_turn)
BODY(rank_3_lies) {
  (void)subject;
  FOLD_TRY(each(call, sum_in_turn));
  if (call->comm->rank == 3) ((unsigned char *)call->out)[(call->rows - 1) * fold_dtype_size(call->dtype)] ^= 1;
  return fold_ok();
}
/* The same of what no probe holds. */
SUM(rank_3_by_value) { return around(call, x, ranks, call->comm->rank == 3 && i == 2 ? x[0] & 1 : 0); }
EACH(rank_3_by_value)

/* In turn but for what ordinary data lack: zeros, zeros that are all negative, sums that overflow, subnormal numbers. */
SUM(zero_is_42) {
  for (size_t k = 0; k < ranks; k++)
    if (fold_bits_to_double(call->dtype, x[k]) == 0) return fold_bits_from_double(call->dtype, 42);
  return sum_in_turn(call, i, x, ranks);
}
EACH(zero_is_42)
SUM(from_zero) {
  (void)i;
  return add(call, 0, around(call, x, ranks, 0));
}
EACH(from_zero)
SUM(infinite_is_1) {
  const uint64_t sum = sum_in_turn(call, i, x, ranks);
  return isfinite(fold_bits_to_double(call->dtype, sum)) ? sum : fold_bits_from_double(call->dtype, 1);
}
EACH(infinite_is_1)
static uint64_t flush(const struct fold_call *call, uint64_t bits) {
  const struct fold_format format = fold_format_of(call->dtype);
  return bits & format.exponent ? bits : bits & format.sign;
}
SUM(flushes) {
  uint64_t sum = flush(call, x[0]);
  (void)i;
  for (size_t k = 1; k < ranks; k++) sum = flush(call, add(call, sum, flush(call, x[k])));
  return sum;
}
EACH(flushes)

/* One element of a long message, and of it a quarter of the values. */
SUM(rarely) { return around(call, x, ranks, i == 7001 && (x[0] & 3) == 3); }
EACH(rarely)

SUM(loses_rank_1) {
  uint64_t kept[64];
  (void)i;
  kept[0] = x[0];
  memcpy(kept + 1, x + 2, (ranks - 2) * sizeof *kept);
  return around(call, kept, ranks - 1, 0);
}
EACH(loses_rank_1)

/* Adds in f32 and rounds once to a narrower dtype. */
SUM(wide) {
  float sum = (float)fold_bits_to_double(call->dtype, x[0]);
  (void)i;
  for (size_t k = 1; k < ranks; k++) sum += (float)fold_bits_to_double(call->dtype, x[k]);
  return fold_bits_from_double(call->dtype, (double)sum);
}
EACH(wide)

BODY(unwritten) {
  struct fold_call less = *call;
  (void)subject;
  if (call->comm->rank == 2) less.out = malloc(call->rows * fold_dtype_size(call->dtype) + 1);
  if (!less.out) abort();
  const fold_status status = each(&less, sum_in_turn);
  if (less.out != call->out) free(less.out);
  return status;
}
/* Every second call gives what the one before it gave. */
BODY(keeps_results) {
  static void *kept;
  static size_t kept_bytes;
  const size_t bytes = call->rows * fold_dtype_size(call->dtype);
  (void)subject;
  if (calls++ % 2 == 1 && bytes == kept_bytes) {
    memcpy(call->out, kept, bytes);
    return fold_ok();
  }
  FOLD_TRY(each(call, sum_in_turn));
  free(kept);
  kept = malloc(bytes + 1);
  if (!kept) abort();
  memcpy(kept, call->out, bytes);
  kept_bytes = bytes;
  return fold_ok();
}
BODY(rank_dies) {
  (void)subject;
  if (call->comm->rank == 1) _exit(3);
  return each(call, sum_in_turn);
}
BODY(rank_hangs) {
  (void)subject;
  while (call->comm->rank == 1) pause();
  return each(call, sum_in_turn);
}

#define PLAYED(id, ...)                                                                                             \
  {                                                                                                                 \
    .name = "played/" #id, .engine = FOLD_MPI, .about = #id, .dtypes = FOLD_EVERYWHERE, .problems = 1u << FOLD_SUM, \
    .method = FOLD_PLAIN, .claims = FOLD_CLAIM(FOLD_BOUNDED), .vector = true, .run = id, __VA_ARGS__                \
  }
static const struct fold_subject all[] = {
    PLAYED(in_turn, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(other_tail, .order = "host/sequential"),
    PLAYED(random_trees),
    PLAYED(three_at_once),
    PLAYED(three_and_three),
    PLAYED(varies),
    PLAYED(by_value),
    PLAYED(rank_3_lies),
    PLAYED(rank_3_by_value),
    PLAYED(loses_rank_1),
    PLAYED(wide, .accumulator = FOLD_OF_TERMS),
    PLAYED(unwritten),
    PLAYED(keeps_results, .order = "host/sequential"),
    PLAYED(zero_is_42, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(from_zero, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(infinite_is_1, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(flushes, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(rarely, .order = "host/sequential", .accumulator = FOLD_OF_TERMS),
    PLAYED(rank_dies),
    PLAYED(rank_hangs),
    {.name = "played/exact",
     .engine = FOLD_MPI,
     .about = "exact",
     .dtypes = FOLD_EVERYWHERE,
     .problems = 1u << FOLD_SUM,
     .method = FOLD_EXACT,
     .claims = FOLD_CLAIM(FOLD_BOUNDED),
     .run = fold_collective_exact,
     .scratch = fold_collective_exact_scratch},
    {.name = "played/canonical",
     .engine = FOLD_MPI,
     .about = "canonical",
     .dtypes = FOLD_EVERYWHERE,
     .problems = 1u << FOLD_SUM,
     .order = "host/pairwise",
     .method = FOLD_PLAIN,
     .claims = FOLD_CLAIM(FOLD_BOUNDED),
     .vector = true,
     .run = fold_collective_canonical,
     .scratch = fold_collective_canonical_scratch},
};

int main(int argc, char **argv) {
  const struct fold_registry registry = {.subjects = all, .n = sizeof all / sizeof *all};
  return fold_main(argc, argv, &registry);
}
