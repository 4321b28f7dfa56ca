/* parts_host.c: a rank's own work in host memory: replays of the orders, and the superaccumulator.
 *
 * One thread a rank, unless the launch asks for more: the ranks of a host share its cores.
 */
#include "kernels/collective/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "kernels/collective/combine_host.h"
#include "oracles/order.h"
#include "oracles/super_round.h"

static unsigned threads_of(const struct fold_call *call) { return call->launch.threads ? call->launch.threads : 1; }

/* Replays `rows` rows of `cols` columns of dtype from `in` to `out`, in that order. */
static fold_status replay(const struct fold_call *call, const char *order, enum fold_dtype dtype, size_t rows,
                          size_t cols, const void *in, void *out) {
  struct fold_call tree = {.dtype = dtype,
                           .problem = call->problem,
                           .rows = rows,
                           .cols = cols,
                           .in = {in},
                           .out = out,
                           .launch = {.threads = threads_of(call)}};
  return fold_order_replay(fold_order_find(order), &tree);
}

static fold_status combine(const struct fold_call *call, const void *slices, size_t n, void *out) {
  fold_combine_host(call->dtype, call->problem->op, slices, (size_t)call->comm->ranks, n, out, threads_of(call));
  return fold_ok();
}

/* The host's parts need no scratch of their own, but the zeroed head is always there. */
static size_t head_alone(const struct fold_call *call) {
  (void)call;
  return FOLD_SCRATCH_ZEROED;
}

static fold_status state(const struct fold_call *call, void *scratch, int64_t *words) {
  size_t row = call->cols * fold_dtype_size(call->dtype), width = (size_t)fold_super_words(call->dtype);
  (void)scratch;
  for (size_t r = 0; r < call->rows; r++) {
    struct fold_super sum = {0};
    fold_super_add_parallel(call->dtype, (const unsigned char *)call->in[0] + r * row, call->cols, &sum, NULL,
                            threads_of(call));
    fold_super_pack(call->dtype, &sum, words + r * width);
  }
  return fold_ok();
}

static fold_status close_states(const struct fold_call *call, const int64_t *words) {
  const int limbs = fold_super_limbs(call->dtype);
  const size_t width = (size_t)fold_super_words(call->dtype);
  for (size_t r = 0; r < call->rows; r++) {
    int64_t sum[FOLD_SUPER_WORDS];
    memcpy(sum, words + r * width, width * sizeof *sum);
    fold_limbs_normalise(sum, limbs);
    fold_bits_store(call->dtype, call->out, r,
                    fold_limbs_close(sum, limbs, fold_super_base(call->dtype), sum + limbs, call->dtype));
  }
  return fold_ok();
}

/* Widens elements to the accumulator: the value of a subtree before its last rounding is that of the widened
 * elements. */
static const void *widen(enum fold_dtype dtype, const void *in, size_t n, void *room) {
  const enum fold_dtype wide = fold_accumulator_of(dtype);
  if (wide == dtype) return in;
  for (size_t i = 0; i < n; i++) {
    double value = fold_bits_to_double(dtype, fold_bits_load(dtype, in, i));
    fold_bits_store(wide, room, i, fold_bits_from_double(wide, value));
  }
  return room;
}

static size_t subtrees_scratch(const struct fold_call *call, size_t block) {
  (void)block;
  return head_alone(call);
}

static fold_status subtrees(const struct fold_call *call, void *scratch, size_t block, void *partials) {
  enum fold_dtype wide = fold_accumulator_of(call->dtype);
  size_t size = fold_dtype_size(call->dtype), wide_size = fold_dtype_size(wide);
  unsigned char *to = partials;
  void *room = malloc((call->cols < block ? call->cols : block) * wide_size + 1);
  fold_status status = room ? fold_ok() : fold_no_memory("for a block");
  (void)scratch;
  for (size_t r = 0; r < call->rows; r++)
    for (size_t at = 0; at < call->cols && status.code == FOLD_OK; at += block, to += wide_size) {
      size_t n = call->cols - at < block ? call->cols - at : block;
      const unsigned char *from = (const unsigned char *)call->in[0] + (r * call->cols + at) * size;
      status = replay(call, "flat/canonical", wide, 1, n, widen(call->dtype, from, n, room), to);
    }
  free(room);
  return status;
}

/* The tree over neighbouring blocks is the upper part of flat/canonical's tree over tiles, and it is host/pairwise. */
static fold_status root(const struct fold_call *call, const void *partials, const size_t at[]) {
  enum fold_dtype wide = fold_accumulator_of(call->dtype);
  size_t size = fold_dtype_size(wide), blocks = at[call->comm->ranks];
  unsigned char *row = malloc(blocks * size + 1);
  fold_status status = row ? fold_ok() : fold_no_memory("for %zu blocks", blocks);
  for (size_t r = 0; r < call->rows && status.code == FOLD_OK; r++) {
    uint64_t sum = 0;
    for (int q = 0; q < call->comm->ranks; q++) {
      size_t own = at[q + 1] - at[q];
      memcpy(row + at[q] * size, (const unsigned char *)partials + (call->rows * at[q] + r * own) * size, own * size);
    }
    status = replay(call, "host/pairwise", wide, 1, blocks, row, &sum);
    double value = fold_bits_to_double(wide, fold_bits_load(wide, &sum, 0));
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, value));
  }
  free(row);
  return status;
}

static fold_status local(const struct fold_call *call, void *scratch, void *out) {
  (void)scratch;
  return replay(call, "host/pairwise", call->dtype, call->rows, call->cols, call->in[0], out);
}

const struct fold_parts fold_parts_host = {
    .combine = combine,
    .state_scratch = head_alone,
    .state = state,
    .close = close_states,
    .subtrees_scratch = subtrees_scratch,
    .subtrees = subtrees,
    .root = root,
    .local_scratch = head_alone,
    .local = local,
};
