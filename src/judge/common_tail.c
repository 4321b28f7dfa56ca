/* judge/common_tail.c: how many of the last terms several refuted results lack, where one of them alone proves nothing.
 *
 * A sum of small whole numbers lacks as much without its last 5 terms as without many another run. A kernel that ends too early
 * does so in each result: only one number of last terms explains all of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "judge/evidence.h"

/* The longest tail; how many refuted results are compared, of how many results; how many of them must lack different amounts, of more
 * units in the last place than rounding takes from a result that is near its bound. */
enum { MOST_TAIL = 4096, MOST_RESULTS = 64, MOST_LOOKED_AT = 256, LEAST_DIFFERENT = 4, LEAST_UNITS = 2 };

struct tails {
  size_t n;                  /* terms of each result */
  bool fits[MOST_TAIL + 1];  /* the last i terms are missing, as far as the results looked at tell */
  double seen[MOST_RESULTS]; /* what they lack, each another number */
  size_t n_seen, refuted;
};

static __float128 sum_of(const struct fold_terms *terms) {
  __float128 sum = 0;
  for (size_t t = 0; t < terms->n; t++) sum += fold_term_value(terms, t);
  return sum;
}

static void note_seen(struct tails *tails, double lacks) {
  for (size_t i = 0; i < tails->n_seen; i++)
    if (tails->seen[i] == lacks) return;
  tails->seen[tails->n_seen++] = lacks;
}

/* Leaves the tails whose sum is what the result lacks, but for a unit in its last place. */
static void compare_tails(struct tails *tails, const struct fold_terms *terms, double got, double unit) {
  const double lacks = (double)(sum_of(terms) - got);
  __float128 tail = 0;
  if (fabs(lacks) <= LEAST_UNITS * unit) return;
  for (size_t i = 1; i <= MOST_TAIL && i <= terms->n; i++) {
    tail += fold_term_value(terms, terms->n - i);
    tails->fits[i] &= fabs((double)tail - lacks) <= unit;
  }
  note_seen(tails, lacks);
  tails->refuted++;
}

static void look_at(struct tails *tails, const struct fold_evidence *e, const struct fold_call *call, size_t row) {
  const enum fold_dtype dtype = fold_evidence_result_dtype(e);
  const uint64_t bits = fold_bits_load(dtype, e->results, row);
  const struct fold_terms terms = fold_call_terms(call, row);
  if (terms.n != tails->n || fold_bits_class(dtype, bits) >= FOLD_INFINITE || !fold_refutes_row(e, row)) return;
  const double got = fold_bits_to_double(dtype, bits);
  compare_tails(tails, &terms, got, fold_ulp(dtype, got));
}

/* The only number of last terms that explains the results; 0: there is none. */
static size_t only_tail(const struct tails *tails) {
  size_t only = 0;
  if (tails->n_seen < LEAST_DIFFERENT) return 0;
  for (size_t i = 1; i <= MOST_TAIL && i < tails->n; i++) {
    if (!tails->fits[i]) continue;
    if (only) return 0;
    only = i;
  }
  return only;
}

static void say_tail(const struct tails *tails, size_t tail, struct fold_finding *finding) {
  char some[32], of[32];
  finding->lost_tail = true;
  const size_t used = strlen(finding->reason), room = sizeof finding->reason - used, others = tails->refuted - 1;
  if (tail == 1)
    snprintf(finding->reason + used, room, ": here and in %zu other results term %zu is missing", others, tails->n - 1);
  else
    snprintf(finding->reason + used, room, ": here and in %zu other results the last %s of %s terms are missing",
             others, fold_text_grouped((double)tail, some), fold_text_grouped((double)tails->n, of));
}

fold_status fold_find_common_tail(const struct fold_evidence *e, size_t row, struct fold_finding *finding) {
  struct fold_call call;
  const size_t rows = fold_case_results(e->truths->c), to = rows - row < MOST_LOOKED_AT ? rows : row + MOST_LOOKED_AT;
  if (fold_dtype_is_integer(fold_evidence_result_dtype(e)) || rows < LEAST_DIFFERENT) return fold_ok();
  FOLD_TRY(fold_truths_call(e->truths, &call));
  struct tails *tails = calloc(1, sizeof *tails);
  if (!tails) return fold_no_memory("to look for a tail that %zu results lack", rows);
  tails->n = fold_call_terms(&call, row).n;
  memset(tails->fits, true, sizeof tails->fits);
  for (size_t r = row; r < to && tails->refuted < MOST_RESULTS; r++) look_at(tails, e, &call, r);
  const size_t tail = only_tail(tails);
  if (tail) say_tail(tails, tail, finding);
  free(tails);
  return fold_ok();
}
