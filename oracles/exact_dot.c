/* exact_dot.c: the truth about terms that may be products of two factors, held in super_dot.h's superaccumulators.
 *
 * Policy: a product follows IEEE-754 where a factor is infinite, NaN or zero (0 times infinity is NaN), is exact otherwise, and is then
 * a term of a sum (exact.c).
 */
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/super_dot.h"
#include "oracles/truth.h"

static fold_status exact_dot(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth) {
  struct fold_super_dot *state = calloc(1, sizeof *state);
  if (!state) return fold_no_memory("for an exact dot product");
  fold_status status = fold_super_dot_add(terms->dtype, terms->factor[0], terms->factor[1], terms->n, threads, state);
  if (status.code == FOLD_OK) {
    truth->finite_terms = fold_super_dot_magnitude(state, truth->abs_sum);
    fold_super_dot_value(state, truth->exact);
    if (truth->finite_terms)
      fold_truth_all_finite(truth);
    else
      fold_super_dot_finite(state, truth->finite);
    if (!mpfr_zero_p(truth->abs_sum)) truth->lowest = state->lowest;
    fold_truth_close(truth);
  }
  free(state);
  return status;
}

static fold_status integer_dot(const struct fold_terms *terms, struct fold_truth *truth) {
  fold_integers_dot(terms, truth->exact, truth->abs_sum);
  truth->finite_terms = true;
  truth->lowest = fold_integers_lowest(terms);
  fold_truth_all_finite(truth);
  fold_truth_close(truth);
  return fold_ok();
}

fold_status fold_oracle_terms(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth) {
  struct fold_terms line;
  void *room;
  FOLD_TRY(fold_terms_line(terms, &line, &room));
  fold_status status = line.factors > 1 ? fold_truth_start_terms(truth, &line) : fold_ok();
  if (line.factors == 1)
    status = fold_oracle_exact(line.dtype, line.op, line.factor[0], line.n, threads, truth);
  else if (status.code == FOLD_OK)
    status = fold_dtype_is_integer(line.dtype) ? integer_dot(&line, truth) : exact_dot(&line, threads, truth);
  free(room);
  return status;
}
