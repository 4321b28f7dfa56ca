/* worst.c: see worst.h. A generation is the best case so far and cases that differ from it in one to three terms; all are judged in one
 * process. On a device it has more of them, since each process takes half a second to start it. */
#include "hunt/worst.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/family.h"
#include "fixtures/literal.h"
#include "hunt/cut.h"
#include "hunt/draw.h"
#include "hunt/random.h"

/* One join of two terms reaches its bound by itself. */
enum { AT_ONCE = 64, AT_ONCE_ON_DEVICE = 512, DRAWN = 512, FEWEST = 3, MOST_ELEMENTS = 4096 };

struct search {
  const struct fold_hunt *hunt;
  enum fold_worst_by by;
  unsigned dtypes;                 /* of the cases that are looked at */
  struct fold_selection selection; /* of what bounds an error */
  struct fold_worst *worst;
  struct fold_random random;
  size_t at_once;
  double end;
};

static bool is_over(const struct search *s) { return *s->hunt->stop || fold_now() > s->end; }

static double error_of(const struct search *s, const struct fold_judged_cases *judged, size_t i) {
  return s->by == FOLD_BY_ULPS ? judged->error[i].ulps : judged->error[i].fraction;
}

/* Makes the case with the greatest error the best one, if that is greater than before. */
static fold_status take_best(struct search *s, const struct fold_cases *cases, bool *better) {
  struct fold_judged_cases judged;
  size_t best = cases->n;
  fold_status status = fold_judge_cases(s->hunt->registry, &s->selection, cases, s->hunt->stop, &judged);
  for (size_t i = 0; i < cases->n && status.code == FOLD_OK; i++) {
    const double error = error_of(s, &judged, i), most = best < cases->n ? error_of(s, &judged, best) : s->worst->error;
    if (!(s->dtypes >> cases->at[i].dtype & 1) || cases->at[i].cols < FEWEST) continue;
    if (isfinite(error) && !(error <= most) && fold_case_all_elements(&cases->at[i]) <= MOST_ELEMENTS) best = i;
  }
  *better = best < cases->n;
  s->worst->tries += cases->n;
  if (*better) {
    s->worst->error = error_of(s, &judged, best);
    fold_case_free(&s->worst->c);
    status = fold_case_literal(&cases->at[best], &s->worst->c);
  }
  fold_judged_close(&judged);
  return status;
}

static fold_status begin(struct search *s) {
  struct fold_draw draw;
  struct fold_telling_sizes none = {.n = 0};
  const struct fold_draw_place many_shapes = {.round = 1};
  struct fold_cases cases = {0};
  bool better;
  fold_status status = fold_draw_open(s->hunt->registry, s->hunt->selection, s->hunt->seed, s->hunt->terms, &draw);
  if (status.code == FOLD_OK) status = fold_draw_round(&draw, &none, &many_shapes, DRAWN, &cases);
  if (status.code == FOLD_OK) status = take_best(s, &cases, &better);
  fold_cases_free(&cases);
  fold_draw_close(&draw);
  return status;
}

/* A term by another: a last bit turned, negated, twice or half as large, another term's value, a power of two, or next to one. */
static uint64_t changed(struct fold_random *r, const struct fold_case *c, size_t at) {
  const uint64_t bits = c->literal[at], one = fold_bits_from_double(c->dtype, 1);
  const double value = fold_bits_to_double(c->dtype, bits);
  int exponent = 0;
  switch (fold_random_below(r, 8)) {
    case 0: return bits ^ (uint64_t)1 << fold_random_below(r, 4);
    case 1: return bits ^ fold_format_of(c->dtype).sign;
    case 2: return fold_bits_from_double(c->dtype, 2 * value);
    case 3: return fold_bits_from_double(c->dtype, value / 2);
    case 4: return c->literal[fold_random_below(r, fold_case_factors(c))];
    case 5: (void)frexp(value, &exponent); return fold_bits_from_double(c->dtype, ldexp(1, exponent));
    case 6: return bits ^ (fold_random_next(r) & (one - 1)) >> fold_random_below(r, 52);
    default: return fold_random_once_in(r, 2) ? bits + 1 : bits - 1;
  }
}

/* Finite terms stay finite. */
static fold_status mutate(struct search *s, struct fold_cases *cases) {
  struct fold_case c;
  FOLD_TRY(fold_case_copy(&s->worst->c, &c));
  for (size_t n = 1 + fold_random_below(&s->random, 3); n > 0; n--) {
    const size_t at = fold_random_below(&s->random, fold_case_factors(&c));
    const uint64_t bits = changed(&s->random, &c, at) & fold_format_mask(fold_format_of(c.dtype));
    if (fold_bits_class(c.dtype, bits) < FOLD_INFINITE) c.literal[at] = bits;
  }
  return fold_cases_append(cases, &c);
}

static fold_status climb(struct search *s) {
  struct fold_cases cases = {0};
  bool better;
  fold_status status = fold_ok();
  for (size_t i = 0; i < s->at_once && status.code == FOLD_OK; i++) status = mutate(s, &cases);
  if (status.code == FOLD_OK) status = take_best(s, &cases, &better);
  fold_cases_free(&cases);
  return status;
}

/* Where a wider accumulator is rounded to the result, that one rounding reaches its bound by itself: such dtypes are left out, unless the
 * subject has no others. */
static unsigned dtypes_of(const struct fold_hunt *hunt) {
  unsigned all = 0, plain = 0;
  for (size_t i = 0; i < hunt->registry->n; i++) {
    const struct fold_subject *s = &hunt->registry->subjects[i];
    if (!fold_selects_subject(hunt->selection, s)) continue;
    all |= s->dtypes;
    for (int d = 0; d < FOLD_DTYPES; d++)
      if (fold_subject_accumulator(s, (enum fold_dtype)d) == fold_subject_result(s, (enum fold_dtype)d))
        plain |= s->dtypes & 1u << d;
  }
  return plain ? plain : all;
}

fold_status fold_worst_find(const struct fold_hunt *hunt, enum fold_worst_by by, struct fold_worst *worst) {
  struct search s = {hunt,
                     by,
                     dtypes_of(hunt),
                     *hunt->selection,
                     worst,
                     {hunt->seed},
                     fold_hunts_device(hunt->registry, hunt->selection) ? AT_ONCE_ON_DEVICE : AT_ONCE,
                     fold_now() + hunt->seconds};
  *worst = (struct fold_worst){.error = (double)NAN};
  s.selection.claims = "bounded,compensated,accurate_as";
  FOLD_TRY(begin(&s));
  while (!is_over(&s) && worst->c.literal && fold_case_factors(&worst->c) > 0) FOLD_TRY(climb(&s));
  return fold_ok();
}
