/* study/worlds_errors.c: the worst errors of millions of short sums.
 *
 * Every element is looked at in double-double arithmetic; those that may be the worst, or above their bound, are
 * examined by the oracle, in MPFR. What is reported comes from there.
 *
 * Derivation, u = 2^-53. The R terms of a row are doubles. TwoSum (Knuth; Ogita, Rump, Oishi 2005, Algorithm 3.1) gives
 * s and e_1 .. e_(R-1) with sum x = s + sum e_i exactly, while nothing overflows; |e_i| <= u a, a = sum |x|, up to
 * factors of 1 + R u. The e_i are added up to e: |e - sum e_i| <= gamma_(R-2) sum |e_i| <= R^2 u^2 a (1 + ...), and it
 * is 0 where at most one e_i is not. The error is estimated as E = fl(fl(got - s) - e), whose two roundings are at most
 * u |got - s| <= u (E + |e|) (1 + u) and u E. With |e| <= R u a,
 *     |error - E| <= 2 u E (1 + u) + (R + R^2) u^2 a (1 + ...) <= 2^-50 E + slack,   slack = R^2 2^-104 a,
 * and E is the error where nothing was rounded. The computed a is wrong by at most R u of it. So, while R <= 2^16,
 * 2^-900 < a < 2^900 and nothing overflows in dtype,
 *     error < E (1 + 2^-40) + slack,
 *     |sum x| > |s + e| (1 - 2^-20) - 2 slack =: least,
 *     bound > (h u' a + v least) (1 - 2^-30),
 * for the bound is at least gamma_h sum |x| or (R - 1) u' sum |x|, and v |sum x| more where a 16-bit result is rounded
 * once more. Rows outside that range are all examined; and so are those that are not exact though their sums may fit the
 * accumulator, for then there is nothing that a result may be off (bound.c): (a + |sum x|) / 2 <= 2^(g + precision), by the
 * terms' lowest bit g.
 */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/bound.h"
#include "study/worlds.h"

/* One row in double-double. */
struct estimate {
  double sum, rest, magnitude; /* s, e, a */
  unsigned rests;              /* how many e_i are not 0: one or none, and e is their sum */
};

/* TwoSum: a + b = its value + *rest. */
static double add(double a, double b, double *rest) {
  double sum = a + b, part = sum - a;
  *rest = (a - (sum - part)) + (b - part);
  return sum;
}

static struct estimate estimate_row(enum fold_dtype dtype, const void *x, size_t ranks) {
  struct estimate t = {.sum = 0};
  for (size_t r = 0; r < ranks; r++) {
    double term = fold_bits_to_double(dtype, fold_bits_load(dtype, x, r)), rest;
    t.sum = add(t.sum, term, &rest);
    t.rest += rest;
    t.rests += rest != 0;
    t.magnitude += fabs(term);
  }
  return t;
}

struct judge {
  enum fold_dtype dtype;
  size_t ranks;
  int precision;     /* of what adds up */
  double unit, last; /* u' of the method; v where a result is rounded once more, else 0 */
  double most;       /* from here on partial sums may overflow, and fold_bound may have no bound */
  struct fold_worlds_errors *errors;
  struct fold_truth truth;
  struct fold_weighing weighing;
  /* The rows with the worst figures; an equal row is not worse. */
  const void *worst_row[2];
  uint64_t worst_got[2];
};

/* Whether the accumulator may represent all sums of these terms exactly; yes, if in doubt. */
static bool may_be_exact(const struct judge *j, const struct estimate *t, const void *row) {
  long lowest = fold_lowest_bit(j->dtype, row, j->ranks, 1);
  double largest = (t->magnitude + fabs(t->sum + t->rest)) / 2 * (1 - 0x1p-20);
  return lowest == FOLD_NO_BIT || largest <= ldexp(1, (int)lowest + j->precision);
}

/* Whether the row need not be examined: its error is within the bound, and not greater than one that was examined. If
 * the error is known without rounding, no margin is needed; every fourth sum of two terms is off by half a unit. */
static bool is_no_worse(const struct judge *j, const struct estimate *t, const void *row, double got) {
  if (t->magnitude == 0 && got == 0) return true;
  if (!(t->magnitude > 0x1p-900 && t->magnitude < j->most)) return false;
  double lost[2], off = add(got, -t->sum, &lost[0]);
  off = fabs(add(off, -t->rest, &lost[1]));
  bool known = t->rests <= 1 && lost[0] == 0 && lost[1] == 0;
  double slack = t->rests ? (double)(j->ranks * j->ranks) * 0x1p-104 * t->magnitude : 0;
  double error = known ? off : off * (1 + 0x1p-40) + slack, margin = known ? 1 : 1 - 0x1p-40;
  if (error == 0) return true;
  if (may_be_exact(j, t, row)) return false;
  if (!(error > 0x1p-1000)) return false; /* below, products would be subnormal, and rounded upward */
  double least = fmax(fabs(t->sum + t->rest) * (1 - 0x1p-20) - 2 * slack, 0); /* |sum x| is not below */
  double bound = ((double)j->weighing.height * j->unit * t->magnitude + j->last * least) * (1 - 0x1p-30);
  return error <= bound * fmin(j->errors->fraction, 1) * (1 - 0x1p-40) &&
         error <= fold_ulp(j->dtype, least) * j->errors->ulps * margin;
}

/* Whether the row has the same terms and the same result as the one with the worst figures. Rows above their bounds are
 * always counted. */
static bool is_known(const struct judge *j, const void *row, uint64_t got) {
  size_t nbytes = j->ranks * fold_dtype_size(j->dtype);
  if (!(j->errors->fraction <= 1)) return false;
  for (int k = 0; k < 2; k++)
    if (!j->worst_row[k] || got != j->worst_got[k] || memcmp(row, j->worst_row[k], nbytes) != 0) return false;
  return true;
}

/* The error of an infinity or a NaN is unknown if the bound allows that result, and infinite if it does not. */
static void take(struct judge *j, const void *row, size_t i, bool right) {
  struct fold_worlds_errors *e = j->errors;
  struct fold_weighing *w = &j->weighing;
  bool finite = !isnan(w->ulps);
  double ulps = finite ? w->ulps : INFINITY, fraction = finite ? w->fraction : INFINITY;
  if (!right && e->exceeded++ == 0) e->at = i;
  if (ulps > e->ulps || !j->worst_row[0]) {
    e->ulps = ulps;
    j->worst_row[0] = row;
    j->worst_got[0] = w->got;
  }
  if (fraction > e->fraction || !j->worst_row[1]) {
    e->fraction = fraction;
    e->relative = finite ? fold_ratio_up(w->error, j->truth.abs_sum) : INFINITY;
    e->bound = fold_ratio_up(w->bound, j->truth.abs_sum);
    j->worst_row[1] = row;
    j->worst_got[1] = w->got;
  }
}

static fold_status examine(struct judge *j, const void *row, size_t i, uint64_t got) {
  struct fold_finding finding = fold_finding_open(1);
  fold_status status;
  j->errors->examined++;
  FOLD_TRY(fold_oracle_exact(j->dtype, FOLD_SUM, row, j->ranks, 1, &j->truth));
  j->weighing.got = got;
  bool right = fold_weigh(&j->weighing, &finding, &status);
  if (status.code == FOLD_UNSUPPORTED || (right && isnan(j->weighing.ulps)))
    j->errors->unjudged++;
  else if (status.code == FOLD_OK)
    take(j, row, i, right);
  return status.code == FOLD_UNSUPPORTED ? fold_ok() : status;
}

fold_status fold_worlds_errors(struct fold_arithmetic how, enum fold_dtype dtype, uint64_t height, const void *x,
                               size_t n, size_t ranks, const void *got, struct fold_worlds_errors *errors) {
  *errors = (struct fold_worlds_errors){0};
  struct judge j = {.dtype = dtype, .ranks = ranks, .errors = errors};
  int own = fold_format_of(how.result).precision, wide = fold_format_of(how.accumulator).precision;
  if (how.method == FOLD_PLAIN) {
    j.precision = wide;
    j.unit = ldexp(1, -wide);
    j.last = wide > own && ranks > 1 ? ldexp(1, -own) : 0;
  } /* about other methods nothing is known, so that all rows are examined */
  /* S (1 + 2 gamma + 16 u'), gamma <= 1, is below what overflows if S is below half of the greatest power of two. */
  j.most = fmin(ldexp(1, fold_format_of(dtype).emax - 1), 0x1p900);
  fold_truth_init(&j.truth);
  fold_weighing_init(&j.weighing);
  j.weighing.truth = &j.truth;
  j.weighing.how = how;
  j.weighing.height = ranks > 1 ? height : 0;
  fold_status status = ranks <= (size_t)1 << 16 ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "more than 65,536 ranks");
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++) {
    const char *row = (const char *)x + i * ranks * fold_dtype_size(dtype);
    uint64_t bits = fold_bits_load(dtype, got, i);
    struct estimate t = estimate_row(dtype, row, ranks);
    /* The first row is always examined, so that there is a bound to report. */
    if (i > 0 && (is_no_worse(&j, &t, row, fold_bits_to_double(dtype, bits)) || is_known(&j, row, bits))) continue;
    status = examine(&j, row, i, bits);
  }
  if (errors->unjudged == n || n == 0) errors->relative = errors->bound = errors->fraction = errors->ulps = NAN;
  fold_weighing_free(&j.weighing);
  fold_truth_free(&j.truth);
  return status;
}
