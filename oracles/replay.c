/* replay.c: folds the rows of a call in an order, and shares the work among threads.
 *
 * Promised: the bits depend on the order and on the row alone. Threads share rows where there are enough of them, else the parts
 * of a row, which are the order's own (split.h).
 */
#include <omp.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/split.h"

/* With fewer elements a parallel region costs more than it saves. */
#define SERIAL_ELEMENTS 65536

struct walk {
  const struct fold_order *order;
  struct fold_arithmetic how;
  const struct fold_call *call;
  fold_row_run *run;
  struct fold_split split;
};

/* Integers have the same fold in every order. */
static uint64_t fold_integers(const struct walk *walk, const struct fold_terms *line) {
  const bool picks = line->op == FOLD_MAX || line->op == FOLD_MIN;
  if (line->n == 0 && picks) return fold_bits_end(walk->how.result, line->op == FOLD_MAX);
  return fold_integer_result(walk->how,
                             walk->run == fold_rows_wide ? fold_integers_fold_gmp(line) : fold_integers_fold(line));
}

static fold_status replay_row(const struct walk *walk, size_t r, unsigned threads) {
  const struct fold_call *call = walk->call;
  const struct fold_terms terms = fold_call_terms(call, r);
  struct fold_terms line;
  void *room;
  uint32_t *place = NULL;
  FOLD_TRY(fold_terms_line(&terms, &line, &room));
  if (fold_dtype_is_integer(walk->how.accumulator)) {
    fold_bits_store(walk->how.result, call->out, r, fold_integers(walk, &line));
    free(room);
    return fold_ok();
  }
  struct fold_split split = walk->split;
  fold_status status = fold_order_places(walk->order, call->dtype, line.factor[0], line.n, &place);
  if (status.code == FOLD_OK && line.n != call->shape.k) status = fold_order_split(walk->order, line.n, &split);
  if (status.code == FOLD_OK) {
    struct fold_row row = {
        walk->order, &split, line.dtype, line.op, walk->how.accumulator, line.factor[0], line.factor[1],
        place,       line.n, threads,    NULL};
    fold_bits_store(walk->how.result, call->out, r, fold_bits_from_double(walk->how.result, walk->run(&row)));
  }
  free(place);
  free(room);
  return status;
}

/* All prefixes of a scan's row in one pass. */
static fold_status replay_prefixes(const struct walk *walk, size_t r) {
  const struct fold_call *call = walk->call;
  const size_t k = call->shape.k;
  struct fold_terms terms = fold_call_terms(call, r * k), line;
  void *room;
  terms.n = k;
  double *value = malloc((k + 1) * sizeof *value);
  if (value == NULL) return fold_no_memory("for the %zu prefixes of a row", k);
  fold_status status = fold_terms_line(&terms, &line, &room);
  if (status.code == FOLD_OK) {
    struct fold_row row = {
        walk->order, &walk->split, line.dtype, line.op, walk->how.accumulator, line.factor[0], line.factor[1], NULL, 0,
        1,           NULL};
    value[0] = fold_rows_wide(&row);
    row.n = k;
    row.partials = value + 1;
    fold_rows_wide(&row);
    const double *first = value + (call->problem->reach == FOLD_BEFORE ? 0 : 1);
    for (size_t j = 0; j < k; j++)
      fold_bits_store(walk->how.result, call->out, r * k + j, fold_bits_from_double(walk->how.result, first[j]));
    free(room);
  }
  free(value);
  return status;
}

static bool is_one_pass(const struct walk *walk) {
  return fold_order_is_of_scans(walk->order) && fold_is_scan(walk->call->problem) &&
         !fold_dtype_is_integer(walk->how.accumulator);
}

/* The first failure that a thread reports is the one returned. */
static fold_status replay_shared(const struct walk *walk, unsigned threads) {
  fold_status first = fold_ok();
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < fold_results(walk->call->problem, &walk->call->shape); r++) {
    fold_status status = replay_row(walk, r, 1);
    if (status.code != FOLD_OK) {
#pragma omp critical(fold_replay_failure)
      if (first.code == FOLD_OK) first = status;
    }
  }
  return first;
}

static fold_status replay_sorted(const struct fold_order *order, struct fold_arithmetic how,
                                 const struct fold_call *call, fold_row_run *run, unsigned threads) {
  struct walk walk = {order, how, call, run, {0, 0, 0}};
  FOLD_TRY(fold_order_split(order, call->shape.k, &walk.split));
  const size_t results = fold_results(call->problem, &call->shape);
  if (is_one_pass(&walk)) {
    for (size_t r = 0; r < results; r += call->shape.k) FOLD_TRY(replay_prefixes(&walk, r / call->shape.k));
    return fold_ok();
  }
  bool small = call->shape.k == 0 || results < SERIAL_ELEMENTS / call->shape.k; /* unseen: <= */
  if (threads > 1 && !small && (results >= threads || walk.split.count == 1)) return replay_shared(&walk, threads);
  for (size_t r = 0; r < results; r++) FOLD_TRY(replay_row(&walk, r, small ? 1 : threads)); /* unseen: 2 */
  return fold_ok();
}

fold_status fold_order_takes(const struct fold_order *order, const struct fold_problem *problem) {
  if (problem->factors < 2 || (order->product != FOLD_NO_PRODUCT && problem->op == FOLD_SUM)) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "order %s does not say what becomes of a product", order->name);
}

fold_status fold_rows_replay(const struct fold_order *order, struct fold_arithmetic how, const struct fold_call *call,
                             fold_row_run *run, unsigned threads) {
  struct fold_slots slots;
  struct fold_call sorted;
  FOLD_TRY(fold_order_takes(order, call->problem));
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  const fold_status status = replay_sorted(order, how, &sorted, run, threads);
  fold_slots_free(&slots);
  return status;
}

fold_status fold_order_replay_to(const struct fold_order *order, const struct fold_call *call, enum fold_dtype result) {
  static fold_row_run *const *const rows[FOLD_DTYPES] = {
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) fold_rows_##name,
#include "base/dtype.def"
  };
  unsigned threads = call->launch.threads ? call->launch.threads : (unsigned)omp_get_max_threads();
  struct fold_arithmetic how = fold_arithmetic_of(FOLD_PLAIN, call->dtype);
  how.result = result;
  fold_row_run *const run = call->problem->factors > 1  ? fold_rows_dot
                            : rows[call->dtype] == NULL ? NULL /* integers, whose fold has no order */
                                                        : rows[call->dtype][call->problem->op];
  return fold_rows_replay(order, how, call, run, threads);
}

fold_status fold_order_replay(const struct fold_order *order, const struct fold_call *call) {
  return fold_order_replay_to(order, call, call->dtype);
}
