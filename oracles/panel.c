/* panel.c: see panel.h. */
#include "oracles/panel.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "model/problem.h"

static const struct fold_order of_short[] = {
    {.name = "sequential", .kind = FOLD_ORDER_SEQUENTIAL},
    {.name = "reverse", .kind = FOLD_ORDER_REVERSE},
    {.name = "pairwise", .kind = FOLD_ORDER_PAIRWISE},
    {.name = "chunks", .kind = FOLD_ORDER_CHUNKS, .width = 16},
    {.name = "keyed 1", .kind = FOLD_ORDER_KEYED, .width = 1},
    {.name = "keyed 2", .kind = FOLD_ORDER_KEYED, .width = 2},
    {.name = "keyed 3", .kind = FOLD_ORDER_KEYED, .width = 3},
    {.name = "sorted", .kind = FOLD_ORDER_SORTED},
};

/* For long rows: no permutation, which would take seconds. The chain, which no threads share, comes last: it is asked only of what
 * all others add alike, as 2^25 ones, of which it loses half. */
static const struct fold_order of_long[] = {
    {.name = "canonical", .kind = FOLD_ORDER_CANONICAL},
    {.name = "grid", .kind = FOLD_ORDER_SHUFFLE, .width = 256, .limit = 1024}, /* unseen: 1023 */
    {.name = "pairwise", .kind = FOLD_ORDER_PAIRWISE},
    {.name = "numpy", .kind = FOLD_ORDER_NUMPY, .width = 8192}, /* unseen: 8191 */
    {.name = "chunks", .kind = FOLD_ORDER_CHUNKS, .width = 64},
    {.name = "many chunks", .kind = FOLD_ORDER_CHUNKS, .width = 4096}, /* unseen: 4095 */
    {.name = "chunk tree", .kind = FOLD_ORDER_CHUNK_TREE, .width = 256},
    {.name = "small grid", .kind = FOLD_ORDER_SHUFFLE, .width = 32, .limit = 64}, /* unseen: 65 */
    {.name = "sequential", .kind = FOLD_ORDER_SEQUENTIAL},
};

const struct fold_order *fold_panel(size_t cols, size_t *n) {
  const bool is_short = cols <= FOLD_PANEL_TERMS;
  *n = is_short ? sizeof of_short / sizeof *of_short : sizeof of_long / sizeof *of_long;
  return is_short ? of_short : of_long;
}

static bool differ(enum fold_dtype dtype, size_t rows, const void *a, const void *b) {
  if (memcmp(a, b, rows * fold_dtype_size(dtype)) == 0) return false;
  for (size_t r = 0; r < rows; r++)
    if (!fold_bits_same(dtype, fold_bits_load(dtype, a, r), fold_bits_load(dtype, b, r))) return true;
  return false;
}

/* Folds some of the results by all trees, until one tree differs from the first. */
static fold_status ask_rows(struct fold_call *call, struct fold_arithmetic how, void *first, void *other, bool *tells) {
  size_t n;
  const struct fold_order *trees = fold_panel(call->cols, &n);
  const bool usual = how.accumulator == fold_accumulator_of(call->dtype);
  for (size_t k = 0; k < n && !*tells; k++) {
    struct fold_order tree = trees[k];
    if (call->problem->factors > 1) tree.product = FOLD_ROUNDED_PRODUCT;
    call->out = k == 0 ? first : other;
    FOLD_TRY(usual ? fold_order_replay_to(&tree, call, how.result) : fold_method_replay(&tree, how, call));
    *tells = k > 0 && differ(how.result, fold_results(call->problem, &call->shape), first, other);
  }
  return fold_ok();
}

/* Max and min do not round. But an implementation that compares and keeps the second operand keeps or loses a NaN, or a zero of
 * one sign, by their positions. So a row is telling if it has a NaN and another term, or if it ends in a zero and has zeros of
 * both signs. */
static bool row_tells(const struct fold_call *call, size_t row) {
  const enum fold_dtype dtype = call->dtype;
  const bool is_max = call->problem->op == FOLD_MAX;
  bool nan = false, number = false, beyond = false, zero[2] = {false, false};
  for (size_t i = row * call->cols; i < (row + 1) * call->cols && !(nan && number); i++) {
    const uint64_t bits = fold_bits_load(dtype, call->in[0], i);
    const enum fold_class class = fold_bits_class(dtype, bits);
    const bool negative = fold_bits_negative(dtype, bits);
    nan |= class == FOLD_NAN;
    number |= class != FOLD_NAN;
    if (class == FOLD_ZERO) zero[negative] = true;
    beyond |= class != FOLD_ZERO && negative != is_max;
  }
  return (nan && number) || (zero[0] && zero[1] && !beyond);
}

static enum fold_telling ask_extremes(const struct fold_call *call) {
  for (size_t r = 0; r < call->rows; r++)
    if (row_tells(call, r)) return FOLD_TELLING;
  return FOLD_IDLE;
}

/* A scan is asked by its whole rows. Takes as many results at a time as have about FOLD_PANEL_TERMS terms: mostly the
 * first are telling already. */
fold_status fold_panel_ask(const struct fold_call *asked, struct fold_arithmetic how, enum fold_telling *telling) {
  struct fold_call own = *asked;
  const struct fold_call *call = &own;
  if (fold_is_scan(own.problem)) own.problem = fold_rows_problem(own.problem->op);
  const enum fold_axis axis = fold_batch_axis(call->problem, &call->shape);
  const size_t slices = call->shape.at[axis], results = fold_results(call->problem, &call->shape);
  const size_t width = slices ? results / slices : 0;
  const size_t most = FOLD_PANEL_TERMS / ((call->cols + 1) * (width + !width)) + 1;
  const size_t room = slices < most ? slices : most;
  *telling = FOLD_IDLE;
  if (fold_dtype_is_integer(how.accumulator)) return fold_ok(); /* all trees give the same integer */
  if (call->problem->op == FOLD_MAX || call->problem->op == FOLD_MIN) {
    *telling = ask_extremes(call);
    return fold_ok();
  }
  unsigned char *folded = malloc((2 * room * width + 1) * sizeof(uint64_t));
  if (!folded) return fold_no_memory("for %zu results", 2 * room * width);
  how.method = FOLD_PLAIN;
  fold_status status = fold_ok();
  bool tells = false;
  for (size_t r = 0; r < slices && !tells && status.code == FOLD_OK; r += room) {
    struct fold_block part = {.extent = call->shape};
    part.first.at[axis] = r;
    part.extent.at[axis] = slices - r < room ? slices - r : room;
    struct fold_call some = fold_call_part(call, &part);
    some.launch = (struct fold_launch){0};
    status = ask_rows(&some, how, folded, folded + room * width * sizeof(uint64_t), &tells);
  }
  free(folded);
  if (tells) *telling = FOLD_TELLING;
  return status;
}
