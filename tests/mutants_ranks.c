/* mutants_ranks.c: collectives that are broken on purpose: f32 sums over MPI ranks that depend on the rank, the
 * message, the world or the call. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"
#include "mutants_row.h"
#include "oracles/exact.h"

/* Vectors: everybody's elements on every rank, rank by rank; freed by the caller. */
static fold_status gather_all(const struct fold_call *call, float **all) {
  size_t ranks = (size_t)call->comm->ranks, *at = calloc(ranks + 1, sizeof *at);
  *all = malloc(ranks * call->rows * sizeof **all + 1);
  if (!at || !*all) abort();
  for (size_t r = 0; r <= ranks; r++) at[r] = r * call->rows * sizeof **all;
  fold_status status = fold_comm_gather(call->comm, call->in[0], *all, at, NULL);
  free(at);
  return status;
}

/* Each element's terms in turn around the ring of ranks, from the one that `first` names. */
typedef size_t start_of(const struct fold_call *call, size_t i);
static fold_status around(const struct fold_call *call, start_of *first) {
  size_t ranks = (size_t)call->comm->ranks;
  float *all;
  fold_status status = gather_all(call, &all);
  for (size_t i = 0; i < call->rows && status.code == FOLD_OK; i++) {
    size_t from = first(call, i) % ranks;
    float sum = all[from * call->rows + i];
    for (size_t k = 1; k < ranks; k++) sum += all[(from + k) % ranks * call->rows + i];
    ((fold_element_f32 *)call->out)[i] = sum;
  }
  free(all);
  return status;
}
#define AROUND(name, first)                                                                     \
  fold_status mutant_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                              \
    return around(call, first);                                                                 \
  }

/* What arrives first is added first: its own term. */
static size_t own(const struct fold_call *call, size_t i) {
  (void)i;
  return (size_t)call->comm->rank;
}
static AROUND(own_first, own)

    /* A rank sums what it receives, and adds its own term at last. */
    static size_t after_own(const struct fold_call *call, size_t i) {
  (void)i;
  return (size_t)call->comm->rank + 1;
}
static AROUND(own_last, after_own)

    /* A ring: chunk c of as many as there are ranks starts at rank c; how long a chunk is, the message says. */
    static size_t chunk(const struct fold_call *call, size_t i) {
  return i * (size_t)call->comm->ranks / call->rows;
}
static AROUND(chunks, chunk)

    /* Another algorithm for long messages. */
    static size_t length(const struct fold_call *call, size_t i) {
  (void)i;
  return call->rows > 100;
}
static AROUND(long_messages, length)

    /* The next call starts at the next rank, on all ranks alike: their number of calls is the greatest that one made. */
    static int64_t calls;
static size_t counted(const struct fold_call *call, size_t i) {
  (void)call, (void)i;
  return (size_t)calls;
}
static fold_status mutant_call_counter(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  calls++;
  fold_status status = fold_comm_allreduce(call->comm, &calls, &calls, 1, FOLD_COMM_I64, FOLD_MAX, NULL);
  return status.code == FOLD_OK ? around(call, counted) : status;
}

/* The ranks agree in every other call. */
static size_t now_and_then(const struct fold_call *call, size_t i) { return calls % 2 ? 0 : own(call, i); }
static fold_status mutant_own_now_and_then(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  calls++;
  return around(call, now_and_then);
}

/* Memory of the last rank alone: the others do what they should. */
static bool is_last(const struct fold_call *call) { return call->comm->rank == call->comm->ranks - 1; }

static fold_status mutant_last_rank_past_end(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (is_last(call)) ((fold_element_f32 *)call->out)[call->rows] = 1;
  return fold_collective_canonical(subject, call);
}

static fold_status mutant_last_rank_past_read(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (is_last(call) && call->rows > 0) (void)((const volatile fold_element_f32 *)call->in[0])[call->rows * call->cols];
  return fold_collective_canonical(subject, call);
}

static fold_status mutant_last_rank_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call other = *call;
  (void)subject;
  if (!is_last(call)) return fold_collective_canonical(subject, call);
  other.out = malloc(call->rows * sizeof(float) + 1);
  if (!other.out) abort();
  fold_status status = fold_collective_canonical(subject, &other);
  free(other.out);
  return status;
}

/* Right on rank 0 in every run, and on all ranks in the whole message: rank 1 has another bit in a half of it. */
static fold_status mutant_other_rank_in_parts(const struct fold_subject *subject, const struct fold_call *call) {
  fold_status status = fold_collective_canonical(subject, call);
  bool half = call->rows == 257 / 2 || call->rows == 1000 / 2;
  if (call->comm->rank == 1 && half) ((unsigned char *)call->out)[0] ^= 1;
  return status;
}

/* The same in another world than the case's. */
static fold_status mutant_other_rank_in_worlds(const struct fold_subject *subject, const struct fold_call *call) {
  fold_status status = fold_collective_exact(subject, call);
  if (call->comm->rank == 1 && call->comm->ranks == 2 && call->rows > 0) ((unsigned char *)call->out)[0] ^= 1;
  return status;
}

/* The same where one row was put into a batch of five. */
static fold_status mutant_last_rank_in_five(const struct fold_subject *subject, const struct fold_call *call) {
  fold_status status = fold_collective_exact(subject, call);
  if (is_last(call) && call->comm->ranks > 1 && call->rows == 5) ((unsigned char *)call->out)[0] ^= 1;
  return status;
}

/* Two terms change places: the exact sum does not see it. */
static fold_status mutant_last_rank_swaps(const struct fold_subject *subject, const struct fold_call *call) {
  fold_status status = fold_collective_exact(subject, call);
  fold_element_f32 *x = (fold_element_f32 *)(uintptr_t)call->in[0], first = call->cols ? x[0] : 0;
  if (is_last(call) && call->cols > 1) {
    x[0] = x[1];
    x[1] = first;
  }
  return status;
}

/* And the last rank writes to its part there. */
static fold_status mutant_last_rank_swaps_in_five(const struct fold_subject *subject, const struct fold_call *call) {
  return (call->rows == 5 ? mutant_last_rank_swaps : fold_collective_exact)(subject, call);
}

/* And where the input lies elsewhere: the parts are sent anew behind it. */
static fold_status mutant_last_rank_swaps_elsewhere(const struct fold_subject *subject, const struct fold_call *call) {
  return ((uintptr_t)call->in[0] % 64 == 8 ? mutant_last_rank_swaps : fold_collective_exact)(subject, call);
}

/* The last rank leaves another rounding mode. */
static fold_status mutant_last_rank_rounds_up(const struct fold_subject *subject, const struct fold_call *call) {
  fold_status status = fold_collective_exact(subject, call);
  if (is_last(call)) fesetround(FE_UPWARD);
  return status;
}

/* The last rank's part of a long row is lost: a bound in n - 1 roundings would hide it. */
static fold_status mutant_lost_part(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call none = *call;
  if (is_last(call) && call->comm->ranks > 1 && call->whole.extent.k > 30000) none.cols = 0;
  return fold_library_sum(subject, &none);
}

static fold_status mutant_last_rank_of_four_swaps(const struct fold_subject *subject, const struct fold_call *call) {
  return (call->comm->ranks == 4 ? mutant_last_rank_swaps : fold_collective_exact)(subject, call);
}

/* Rows cut anywhere: each rank's part by the order flat/canonical, as if it were a subtree, and these by a tree. */
static fold_status mutant_unaligned_parts(const struct fold_subject *subject, const struct fold_call *call) {
  size_t ranks = (size_t)call->comm->ranks, *at = calloc(2 * (ranks + 1), sizeof *at),
         size = sizeof(float) * call->rows;
  float *parts = malloc((ranks + 1) * size + 1);
  if (!at || !parts) abort();
  for (size_t r = 0; r <= ranks; r++) {
    at[r] = r;
    at[ranks + 1 + r] = r * size;
  }
  (void)subject;
  memset(parts, 0, size); /* of a rank without columns */
  fold_status status = call->comm->parts->subtrees(call, call->scratch, (size_t)1 << 40, parts);
  if (status.code == FOLD_OK) status = fold_comm_gather(call->comm, parts, parts + call->rows, at + ranks + 1, NULL);
  if (status.code == FOLD_OK) status = call->comm->parts->root(call, parts + call->rows, at);
  free(parts);
  free(at);
  return status;
}

/* The last rank's state is lost. */
static fold_status mutant_lost_state(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call none = *call;
  if (is_last(call)) none.cols = 0;
  return fold_collective_exact(subject, &none);
}

/* Each rank's exact sum is rounded to f64, and these are added: nearly always right. */
static fold_status mutant_states_as_doubles(const struct fold_subject *subject, const struct fold_call *call) {
  double *sums = malloc(call->rows * sizeof *sums + 1);
  if (!sums) abort();
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    struct fold_super state = {0};
    fold_super_add(FOLD_F32, mutant_row_at(call, r), call->cols, &state, NULL);
    sums[r] = fold_bits_f64(fold_super_close(FOLD_F32, &state, FOLD_F64));
  }
  fold_status status = fold_comm_allreduce(call->comm, sums, sums, call->rows, FOLD_COMM_F64, FOLD_SUM, NULL);
  for (size_t r = 0; r < call->rows; r++) ((fold_element_f32 *)call->out)[r] = (float)sums[r];
  free(sums);
  return status;
}

#ifdef FOLD_HAVE_MPI
static const struct fold_mutant ranks[] = {
    VECTOR("own_first", mutant_own_first, "host/sequential", SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT),
           C(RANK_AGREEMENT), 0, "each rank starts with its own term, as with what arrives first"),
    VECTOR("own_last", mutant_own_last, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "each rank adds its own term at last"),
    VECTOR("own_now_and_then", mutant_own_now_and_then, "host/sequential",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "the ranks agree in every other call"),
    VECTOR("chunks", mutant_chunks, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(MESSAGE_INVARIANT), 0,
           "a ring whose chunks are as long as the message says"),
    VECTOR("long_messages", mutant_long_messages, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT),
           C(MESSAGE_INVARIANT), 0, "another order for long messages"),
    VECTOR("call_counter", mutant_call_counter, NULL, SPREAD | C(BOUNDED), C(RUN_TO_RUN), C(ALIGNMENT_INVARIANT),
           "each call starts with the next rank's term"),
    VECTOR("last_rank_past_end", mutant_last_rank_past_end, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(STAYS_IN_BOUNDS), 0,
           "the last rank writes one result too many"),
    VECTOR("last_rank_past_read", mutant_last_rank_past_read, "host/pairwise",
           (SPREAD & ~C(ALIGNMENT_INVARIANT)) | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(STAYS_IN_BOUNDS), 0,
           "the last rank reads past its part, and says nothing of addresses"),
    VECTOR("last_rank_unwritten", mutant_last_rank_unwritten, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(WRITES_OUTPUT) | C(RANK_AGREEMENT), 0,
           "the last rank keeps its results to itself"),
    VECTOR("other_rank_in_parts", mutant_other_rank_in_parts, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "rank 1 has another bit in half a message"),
    ROWS("other_rank_in_worlds", mutant_other_rank_in_worlds, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(RANK_AGREEMENT), 0, "rank 1 has another bit in a world of two"),
    {.subject = {COLLECTIVE("lost_part", "a library's sum that loses the last part of long rows", mutant_lost_part,
                            SPREAD | C(BOUNDED)),
                 .height = fold_library_sum_height_tree, .scratch = fold_library_sum_scratch},
     .breaks = C(BOUNDED),
     .fixtures = "constant/f32/sum/1x*/ranks*"},
    ROWS("last_rank_swaps", mutant_last_rank_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "the last rank swaps two of its terms"),
    ROWS("last_rank_of_four_swaps", mutant_last_rank_of_four_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "swaps two terms in a world of four"),
    ROWS("unaligned_parts", mutant_unaligned_parts, FOLD_PLAIN, "flat/canonical", fold_collective_canonical_sum_scratch,
         SPREAD_ROWS | C(BOUNDED) | C(REPLAYS), C(REPLAYS) | C(WORLD_INVARIANT), C(BOUNDED),
         "canonical, but that the parts are cut anywhere"),
    ROWS("lost_state", mutant_lost_state, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT),
         C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT) | C(PERMUTATION_INVARIANT), 0, "exact without the last rank"),
    {.subject = {COLLECTIVE("states_as_doubles", "exact on each rank, added up in f64", mutant_states_as_doubles,
                            SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT)),
                 .method = FOLD_EXACT},
     .breaks = C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT),
     .may = C(PERMUTATION_INVARIANT) | C(BATCH_INVARIANT),
     .fixtures = "states_as_doubles/*"},
    ROWS("last_rank_in_five", mutant_last_rank_in_five, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(RANK_AGREEMENT), 0,
         "the last rank has another bit where there are five rows"),
    ROWS("last_rank_swaps_in_five", mutant_last_rank_swaps_in_five, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0,
         "the last rank swaps two of its terms where there are five rows"),
    ROWS("last_rank_swaps_elsewhere", mutant_last_rank_swaps_elsewhere, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0,
         "the last rank swaps two of its terms where they lie elsewhere"),
    ROWS("last_rank_rounds_up", mutant_last_rank_rounds_up, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(LEAVES_NO_TRACE), 0, "the last rank leaves rounding upwards"),
};
END(ranks)
#else
const struct fold_mutant *fold_mutants_ranks(size_t *n) {
  *n = 0;
  return NULL;
}
#endif
