/* judge/missing.c: which terms a refuted sum lacks or has twice, as far as its difference from the exact sum proves it.
 *
 * Nothing is said where rounding could make the difference, or where two explanations fit. Three kinds of terms are told apart:
 * terms that are places of a number (each larger than all smaller ones together) spell a run of lost ones; equal terms can only be
 * counted; of others one term, or a run of terms as loops and tiles have it, must fit and no second one nearly so. Terms that are
 * 0 show nothing, and are left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "judge/evidence.h"

/* Longer sums are not searched. A difference is no rounding if it is so many times the bound. A second explanation nearly fits within
 * so many bounds, or units that all terms are multiples of. */
enum { MOST_TERMS = 1 << 20, LEAST_RUN = 8 };
static const double NO_ROUNDING = 4, NEARLY = 64;

struct run {
  size_t from, to; /* among the terms that are not 0 */
  bool twice;      /* else missing */
};

struct search {
  const uint32_t *index; /* of a keyed sum's terms: their places in the input; else NULL */
  size_t n, kept;        /* terms; those that are not 0 */
  size_t *place;         /* of each of these */
  __float128 *before;    /* the sum of those before each of these, and of all; 113 bits round far below any bound */
  double lacks;          /* exact - got */
  double tolerance, near;
  struct run found;
  size_t fits; /* explanations that fit, or nearly so; 2: several */
};

/* Exact. */
static __float128 number(enum fold_dtype dtype, uint64_t bits) {
  if (fold_dtype_is_integer(dtype)) return fold_integer_value(fold_format_of(dtype), bits);
  return fold_bits_to_double(dtype, bits);
}

__float128 fold_term_value(const struct fold_terms *terms, size_t t) {
  __float128 term = 1;
  for (unsigned f = 0; f < terms->factors; f++) {
    const ptrdiff_t place = (ptrdiff_t)(terms->index ? terms->index[t] : t) * terms->step[f];
    const __float128 factor = number(terms->dtype, fold_bits_load(terms->dtype, terms->factor[f], (size_t)place));
    term *= terms->absolute && factor < 0 ? -factor : factor;
  }
  return term;
}

static double term_at(const struct search *s, size_t i) { return (double)(s->before[i + 1] - s->before[i]); }

static fold_status open_search(struct search *s, const struct fold_terms *terms) {
  s->n = terms->n;
  s->place = malloc((terms->n + 1) * sizeof *s->place);
  s->before = malloc((terms->n + 1) * sizeof *s->before);
  return s->place && s->before ? fold_ok() : fold_no_memory("to look for missing terms among %zu", terms->n);
}

/* Keeps the terms that are not 0. */
static void keep_terms(struct search *s, const struct fold_terms *terms) {
  s->before[0] = 0;
  for (size_t t = 0; t < terms->n; t++) {
    const __float128 term = fold_term_value(terms, t);
    if (term == 0) continue;
    s->place[s->kept++] = t;
    s->before[s->kept] = s->before[s->kept - 1] + term;
  }
}

/* Notes a run whose sum is the difference. */
static void try_run(struct search *s, size_t from, size_t to) {
  if (from >= to) return;
  const double sum = (double)(s->before[to] - s->before[from]);
  for (int twice = 0; twice < 2; twice++) {
    const double apart = fabs(s->lacks - (twice ? -sum : sum));
    const struct run run = {from, to, twice};
    if (!(apart <= s->near)) continue;
    if (s->fits == 1 && s->found.from == from && s->found.to == to && s->found.twice == run.twice) continue;
    s->fits += apart <= s->tolerance && s->fits == 0 ? 1 : 2; /* one that only nearly fits spoils the others */
    s->found = run;
  }
}

/* Each term, the first and the last of all, and the tiles of 8, 16, 32, ... terms. */
static void try_runs(struct search *s) {
  for (size_t i = 0; i < s->kept && s->fits < 2; i++) {
    try_run(s, i, i + 1);
    try_run(s, 0, i + 1);
    try_run(s, i, s->kept);
  }
  for (size_t tile = LEAST_RUN; tile < s->n && s->fits < 2; tile *= 2)
    for (size_t from = 0, to; from < s->kept && s->fits < 2; from = to) {
      for (to = from; to < s->kept && s->place[to] / tile == s->place[from] / tile;) to++;
      try_run(s, from, to);
    }
}

struct place {
  double size;
  size_t at;
};

static int by_size(const void *a, const void *b) {
  const double x = ((const struct place *)a)->size, y = ((const struct place *)b)->size;
  return (x < y) - (x > y);
}

/* The terms by size, the largest first, if they are places of a number: of one sign, each more than all after it. */
static size_t find_places(const struct search *s, struct place place[128]) {
  double after = NO_ROUNDING * s->tolerance;
  if (s->kept > 128) return 0;
  for (size_t i = 0; i < s->kept; i++) {
    if (signbit(term_at(s, i)) != signbit(term_at(s, 0))) return 0;
    place[i] = (struct place){fabs(term_at(s, i)), i};
  }
  qsort(place, s->kept, sizeof *place, by_size);
  for (size_t i = s->kept; i-- > 0; after += place[i].size)
    if (!(place[i].size > after)) return 0;
  return s->kept;
}

/* Whether places side by side spell the difference: these are `run`. */
static bool spell(const struct search *s, const struct place *place, size_t n, struct run *run) {
  double left = fabs(s->lacks);
  size_t count = 0;
  *run = (struct run){s->kept, 0, signbit(s->lacks) != signbit(term_at(s, 0))};
  for (size_t i = 0; i < n; i++) {
    if (left < place[i].size - s->tolerance) continue;
    left -= place[i].size;
    count++;
    if (place[i].at < run->from) run->from = place[i].at;
    if (place[i].at >= run->to) run->to = place[i].at + 1;
  }
  return count > 0 && count == run->to - run->from && fabs(left) <= s->tolerance;
}

/* "the last 8 of 1,000 terms": "at least", where the term next to them is 0. */
static void say_end(const struct search *s, const char *which, size_t count, bool more, const char *what,
                    struct fold_finding *finding) {
  char of[32], some[32];
  const size_t used = strlen(finding->reason);
  snprintf(finding->reason + used, sizeof finding->reason - used, ": %sthe %s %s of %s terms are %s",
           more ? "at least " : "", which, fold_text_grouped((double)count, some), fold_text_grouped((double)s->n, of),
           what);
}

static void say_run(const struct search *s, const struct run *run, struct fold_finding *finding) {
  const size_t first = s->place[run->from], last = s->place[run->to - 1], used = strlen(finding->reason);
  const char *what = run->twice ? "counted twice" : "missing";
  char *to = finding->reason + used;
  const size_t room = sizeof finding->reason - used;
  if (run->to == run->from + 1)
    snprintf(to, room, ": term %zu is %s", s->index ? s->index[first] : first, what);
  else if (run->to - run->from == s->kept)
    snprintf(to, room, ": all terms %sare %s", s->kept < s->n ? "that are not 0 " : "", what);
  else if (last + 1 == s->n)
    say_end(s, "last", s->n - first, s->place[run->from - 1] + 1 < first, what, finding);
  else if (first == 0)
    say_end(s, "first", last + 1, s->place[run->to] > last + 1, what, finding);
  else if (s->index)
    snprintf(to, room, ": the terms of this key from %" PRIu32 " to %" PRIu32 " are %s", s->index[first],
             s->index[last], what);
  else
    snprintf(to, room, ": terms %zu to %zu are %s", first, last, what);
}

static void say_count(const struct search *s, size_t count, bool twice, struct fold_finding *finding) {
  char some[32], of[32];
  const size_t used = strlen(finding->reason);
  const char *one = count == 1 ? "is" : "are";
  const bool all = s->kept == s->n;
  snprintf(finding->reason + used, sizeof finding->reason - used,
           twice ? ": %s more than the %s terms%s %s counted" : ": %s of %s terms%s %s missing",
           fold_text_grouped((double)count, some), fold_text_grouped((double)s->kept, of), all ? "" : " that are not 0",
           one);
}

/* Of equal terms only a number can be known. */
static bool explain_equal(const struct search *s, struct fold_finding *finding) {
  const double term = term_at(s, 0), count = round(s->lacks / term);
  for (size_t i = 1; i < s->kept; i++)
    if (term_at(s, i) != term) return false;
  const bool whole = fabs(s->lacks - count * term) <= s->tolerance && fabs(term) > NO_ROUNDING * s->tolerance;
  if (whole && count != 0 && count <= (double)s->kept && -count < 0x1p53)
    say_count(s, (size_t)fabs(count), count < 0, finding);
  return true;
}

static void explain(struct search *s, struct fold_finding *finding) {
  struct place place[128];
  struct run run;
  const size_t places = s->kept ? find_places(s, place) : 0;
  if (places) {
    if (spell(s, place, places, &run)) say_run(s, &run, finding);
  } else if (s->kept && !explain_equal(s, finding)) {
    try_runs(s);
    if (s->fits == 1) say_run(s, &s->found, finding);
  }
}

/* `unit`: all terms are multiples of it. */
static fold_status search_terms(const struct fold_evidence *e, const struct fold_weighing *w, double unit,
                                struct fold_finding *finding) {
  struct fold_call call;
  FOLD_TRY(fold_truths_call(e->truths, &call));
  const struct fold_terms terms = fold_call_terms(&call, w->row);
  struct search s = {.index = terms.index, .tolerance = mpfr_get_d(w->bound, MPFR_RNDU)};
  const fold_status status = open_search(&s, &terms);
  if (status.code == FOLD_OK) {
    keep_terms(&s, &terms);
    s.lacks = (double)(s.before[s.kept] - number(w->how.result, w->got));
    s.near = NEARLY * fmax(s.tolerance, unit);
    const bool is_exact = !fold_dtype_is_integer(w->how.result) || fabs(s.lacks) < 0x1p53;
    if (fabs(s.lacks) > NO_ROUNDING * s.tolerance && is_exact) explain(&s, finding);
  }
  free(s.place);
  free(s.before);
  return status;
}

void fold_find_missing(const struct fold_evidence *e, const struct fold_weighing *w, struct fold_finding *finding) {
  const struct fold_truth *truth = w->truth;
  const enum fold_dtype dtype = w->how.result;
  const bool finite = fold_bits_class(dtype, w->got) < FOLD_INFINITE &&
                      fold_bits_class(dtype, truth->rounded[dtype]) < FOLD_INFINITE && truth->finite_terms;
  const size_t said = strlen(finding->reason);
  if (w->explained) return; /* it wrapped, or a float lost units */
  if (truth->op != FOLD_SUM || !finite || truth->n > MOST_TERMS || e->truths->in[0] == NULL) return;
  const double unit =
      truth->lowest == FOLD_NO_BIT ? 0 : ldexp(1, (int)truth->lowest); /* other results' truths may replace this */
  fold_status status = fold_find_common_tail(e, w->row, finding);
  if (status.code == FOLD_OK && strlen(finding->reason) == said) status = search_terms(e, w, unit, finding);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  finding->miscounted = strlen(finding->reason) > said;
}
