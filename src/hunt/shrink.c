/* shrink.c: see shrink.h. Candidates are made by cut.h; a batch of them is judged in one process, and the first that is refuted becomes the
 * case from which the next ones are made. */
#include "hunt/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/family.h"
#include "fixtures/literal.h"
#include "fixtures/write.h"
#include "hunt/cut.h"
#include "hunt/plain_data.h"
#include "hunt/threshold.h"

enum { AT_ONCE = 24, LOOKS = 3 };
/* Of the time, for finding out for which sizes it is refuted. */
static const double OF_THRESHOLDS = 0.2;

struct shrinking {
  const struct fold_shrink *by;
  struct fold_selection selection; /* of the one subject and claim */
  struct fold_found *found;
  double end;
  bool each; /* candidates are judged in a process each: they depend on what ran before */
};

static bool is_over(const struct shrinking *s) { return *s->by->stop || fold_now() > s->end; }

/* The case that is made small. */
static struct fold_case *now_of(const struct shrinking *s) { return &s->found->cases.at[s->found->cases.n - 1]; }

static bool is_same(const struct shrinking *s, const struct fold_against *a) {
  const bool broken = a->finding.verdict == FOLD_BROKEN;
  return a->subject == s->found->subject && a->claim == s->found->claim && broken == s->found->broken &&
         (a->finding.lost_tail || !s->by->lost_tail);
}

/* Judges the list in one process. *at: the first case from `from` on that is refuted as the one that was found is; else cases->n. */
static fold_status judge_list(struct shrinking *s, const struct fold_cases *cases, size_t from, size_t *at) {
  struct fold_judged_cases judged;
  *at = cases->n;
  fold_status status = fold_judge_cases(s->by->registry, &s->selection, cases, s->by->stop, &judged);
  for (size_t i = 0; i < judged.n && *at == cases->n && !*s->by->stop; i++) {
    if (!is_same(s, &judged.against[i]) || judged.against[i].c < from) continue;
    *at = judged.against[i].c;
    s->found->finding = judged.against[i].finding;
  }
  s->found->tries += cases->n - from;
  fold_judged_close(&judged);
  return status;
}

/* The same for candidates in a process of their own each, behind the cases that must run before. */
static fold_status judge_each(struct shrinking *s, const struct fold_cases *candidates, size_t *at) {
  const size_t before = s->found->cases.n - 1;
  struct fold_cases list = {.n = before + 1};
  fold_status status = fold_ok();
  list.at = malloc((before + 1) * sizeof *list.at);
  if (!list.at) return fold_no_memory("for %zu cases", before + 1);
  memcpy(list.at, s->found->cases.at, before * sizeof *list.at);
  *at = candidates->n;
  for (size_t i = 0; i < candidates->n && *at == candidates->n && status.code == FOLD_OK && !is_over(s); i++) {
    size_t refuted;
    list.at[before] = candidates->at[i];
    status = judge_list(s, &list, before, &refuted);
    if (refuted == before) *at = i;
  }
  free(list.at);
  return status;
}

/* Takes the first candidate that is refuted. *took: there was one. */
static fold_status take_first(struct shrinking *s, struct fold_cases *candidates, bool *took) {
  size_t at;
  *took = false;
  if (candidates->n == 0) return fold_ok();
  FOLD_TRY(s->each ? judge_each(s, candidates, &at) : judge_list(s, candidates, 0, &at));
  if (at == candidates->n) return fold_ok();
  struct fold_case taken = candidates->at[at];
  candidates->at[at] = (struct fold_case){0};
  fold_case_free(now_of(s));
  *now_of(s) = taken;
  *took = true;
  return fold_ok();
}

static fold_status add(struct fold_cases *candidates, fold_status made, struct fold_case *c) {
  FOLD_TRY(made);
  return fold_cases_append(candidates, c);
}

/* ---- fewer places of an axis ---- */

/* Each of `parts` equal parts is left out, the last one first. */
static fold_status without_parts(const struct fold_case *c, enum fold_axis axis, size_t parts, size_t from, size_t n,
                                 struct fold_cases *candidates) {
  const size_t extent = c->shape.at[axis];
  for (size_t i = from; i < from + n && i < parts; i++) {
    struct fold_case less;
    const size_t p = parts - 1 - i, first = extent * p / parts, end = extent * (p + 1) / parts;
    if (end > first) FOLD_TRY(add(candidates, fold_cut_out(c, axis, first, end - first, &less), &less));
  }
  return fold_ok();
}

/* Leaves out parts of that size, as long as one of them can go. *took: one did. */
static fold_status leave_out(struct shrinking *s, enum fold_axis axis, size_t parts, bool *took) {
  bool more = true;
  *took = false;
  for (size_t from = 0; from < parts && !is_over(s);) {
    struct fold_cases candidates = {0};
    const size_t extent = now_of(s)->shape.at[axis];
    if (parts > extent) return fold_ok();
    fold_status status = without_parts(now_of(s), axis, parts, from, AT_ONCE, &candidates);
    if (status.code == FOLD_OK) status = take_first(s, &candidates, &more);
    fold_cases_free(&candidates);
    FOLD_TRY(status);
    *took |= more;
    if (!more) from += AT_ONCE;
  }
  return fold_ok();
}

/* Halves, quarters, ..., single places. After a success the larger parts are tried again. */
static fold_status shrink_axis(struct shrinking *s, enum fold_axis axis, bool *took) {
  *took = false;
  for (size_t parts = 2; parts <= now_of(s)->shape.at[axis] && !is_over(s);) {
    bool more;
    FOLD_TRY(leave_out(s, axis, parts, &more));
    *took |= more;
    const size_t extent = now_of(s)->shape.at[axis];
    if (parts >= extent) break;
    parts = 2 * parts < extent ? 2 * parts : extent;
  }
  return fold_ok();
}

/* The last n places of the axis, for each n from `from` on. */
static fold_status last_places(const struct fold_case *c, enum fold_axis axis, size_t from, size_t n,
                               struct fold_cases *candidates) {
  const size_t extent = c->shape.at[axis];
  for (size_t i = from; i < from + n && i < extent; i++) {
    struct fold_case less;
    FOLD_TRY(add(candidates, fold_cut_out(c, axis, 0, extent - i, &less), &less));
  }
  return fold_ok();
}

/* A fault of lengths that are 23 modulo 24 is not reached by halves or by single places: each smaller extent below `most` is tried, the
 * smallest first. */
static fold_status try_extents(struct shrinking *s, size_t most, bool *took) {
  enum { EACH = 256 };
  *took = false;
  for (int a = 0; a < FOLD_AXES; a++)
    for (size_t from = 1; from < now_of(s)->shape.at[a] && from < most && !is_over(s);) {
      struct fold_cases candidates = {0};
      bool more = false;
      if (!(fold_axes_of(now_of(s)->problem) >> a & 1) || s->each) break;
      fold_status status = last_places(now_of(s), (enum fold_axis)a, from, EACH, &candidates);
      if (status.code == FOLD_OK) status = take_first(s, &candidates, &more);
      fold_cases_free(&candidates);
      FOLD_TRY(status);
      *took |= more;
      from = more ? most : from + EACH;
    }
  return fold_ok();
}

static fold_status shrink_shape(struct shrinking *s, bool *took) {
  static const enum fold_axis order[] = {FOLD_B, FOLD_M, FOLD_N, FOLD_K};
  *took = false;
  for (size_t i = 0; i < FOLD_AXES; i++) {
    bool more = false;
    if (fold_axes_of(now_of(s)->problem) >> order[i] & 1) FOLD_TRY(shrink_axis(s, order[i], &more));
    *took |= more;
  }
  return fold_ok();
}

/* ---- simpler elements ---- */

/* Makes each of `parts` equal parts so simple, where the claim is refuted then, too. *took: one was. */
static fold_status simplify_parts(struct shrinking *s, enum fold_simpler how, size_t parts, bool *took) {
  *took = false;
  for (size_t p = 0; p < parts && !is_over(s);) {
    struct fold_cases candidates = {0};
    const struct fold_case *c = now_of(s);
    const size_t n = fold_case_factors(c);
    size_t tried = p, changed;
    fold_status status = fold_ok();
    for (; tried < parts && candidates.n < AT_ONCE && status.code == FOLD_OK; tried++) {
      struct fold_case simple;
      const size_t first = n * tried / parts, end = n * (tried + 1) / parts;
      status = fold_cut_simpler(c, how, first, end - first, &simple, &changed);
      if (status.code == FOLD_OK && changed) status = fold_cases_append(&candidates, &simple);
      if (status.code == FOLD_OK && !changed) fold_case_free(&simple);
    }
    bool more = false;
    if (status.code == FOLD_OK) status = take_first(s, &candidates, &more);
    fold_cases_free(&candidates);
    FOLD_TRY(status);
    *took |= more;
    if (!more) p = tried;
  }
  return fold_ok();
}

static fold_status simplify(struct shrinking *s, bool *took) {
  *took = false;
  for (int how = 0; how < FOLD_SIMPLER; how++) {
    const size_t n = fold_case_factors(now_of(s));
    for (size_t parts = 1; parts <= n && !is_over(s); parts *= 2) {
      bool more;
      FOLD_TRY(simplify_parts(s, (enum fold_simpler)how, parts < n / 2 ? parts : n, &more));
      *took |= more;
      if (parts >= n / 2) break;
    }
  }
  return fold_ok();
}

static fold_status lay_plain(struct shrinking *s) {
  struct fold_cases candidates = {0};
  struct fold_case plain;
  bool took;
  if (!fold_case_is_laid(now_of(s))) return fold_ok();
  fold_status status = add(&candidates, fold_cut_plain_layout(now_of(s), &plain), &plain);
  if (status.code == FOLD_OK) status = take_first(s, &candidates, &took);
  fold_cases_free(&candidates);
  return status;
}

/* Half as often, as long as that is enough. */
static fold_status repeat_less(struct shrinking *s) {
  bool took = true;
  while (took && now_of(s)->repeats > 0 && !is_over(s)) {
    struct fold_cases candidates = {0};
    struct fold_case less;
    fold_status status = fold_case_copy(now_of(s), &less);
    less.repeats /= 2;
    status = add(&candidates, status, &less);
    if (status.code == FOLD_OK) status = take_first(s, &candidates, &took);
    fold_cases_free(&candidates);
    FOLD_TRY(status);
  }
  return fold_ok();
}

/* ---- the plainest data ---- */

/* So many powers of two above 1 that 1 is lost beside it, where partial results are as the subject says. */
static int large_of(const struct shrinking *s) {
  const struct fold_subject *subject = &s->by->registry->subjects[s->found->subject];
  return fold_format_of(fold_subject_accumulator(subject, now_of(s)->dtype)).precision;
}

/* Leaves out cases that have more such terms (fold_cut_other_terms). */
static void keep_plainer(struct fold_cases *cases, size_t most) {
  size_t kept = 0;
  for (size_t i = 0; i < cases->n; i++)
    if (fold_cut_other_terms(&cases->at[i]) <= most)
      cases->at[kept++] = cases->at[i];
    else
      fold_case_free(&cases->at[i]);
  cases->n = kept;
}

/* Unless its data are plain already, or would have more terms that are neither 0, 1 nor -1; `fewer`: unless they have fewer. */
static fold_status make_plain(struct shrinking *s, bool fewer) {
  enum { MOST = 1 << 20, PLAIN = 2 };
  struct fold_cases candidates = {0};
  bool took;
  const size_t others = fold_cut_other_terms(now_of(s));
  if (fold_case_all_elements(now_of(s)) > MOST || others <= PLAIN || is_over(s)) return fold_ok();
  const size_t row = s->found->finding.row < fold_case_results(now_of(s)) ? s->found->finding.row : 0;
  fold_status status = fold_plain_data(now_of(s), row, large_of(s), &candidates);
  keep_plainer(&candidates, others - fewer);
  if (status.code == FOLD_OK) status = take_first(s, &candidates, &took);
  fold_cases_free(&candidates);
  return status;
}

/* ---- the cases before it ---- */

/* The last `n` cases, of which the very last is refuted: its values are what is made small. */
static fold_status keep_last(const struct fold_case *before, size_t all, size_t n, struct fold_cases *cases) {
  for (size_t i = all - n; i < all; i++) {
    struct fold_case copy;
    FOLD_TRY((i + 1 < all ? fold_case_copy : fold_case_literal)(&before[i], &copy));
    FOLD_TRY(fold_cases_append(cases, &copy));
  }
  return fold_ok();
}

/* How often the cases are refuted, each time in a new process. */
static fold_status look(struct shrinking *s, unsigned looks) {
  s->found->seen = s->found->looked = 0;
  for (unsigned i = 0; i < looks && !*s->by->stop; i++) {
    size_t at;
    FOLD_TRY(judge_list(s, &s->found->cases, s->found->cases.n - 1, &at));
    s->found->looked++;
    s->found->seen += at < s->found->cases.n;
  }
  return fold_ok();
}

/* Finds out how many cases must run before: none, or 1, 3, 7, ... */
static fold_status find_before(struct shrinking *s, const struct fold_case *before, size_t n) {
  for (size_t last = 1;; last = 2 * last + 1) {
    if (last > n) last = n;
    fold_cases_free(&s->found->cases);
    FOLD_TRY(keep_last(before, n, last, &s->found->cases));
    FOLD_TRY(look(s, 1));
    if (s->found->seen || last == n || is_over(s)) return fold_ok();
  }
}

/* Leaves out cases that need not run before. */
static fold_status drop_before(struct shrinking *s) {
  struct fold_cases *cases = &s->found->cases;
  for (size_t part = cases->n / 2; part > 0; part /= 2)
    for (size_t first = 0; first + part < cases->n && !is_over(s);) {
      struct fold_cases less = {.n = cases->n - part, .at = malloc(cases->n * sizeof *less.at)};
      size_t at;
      if (!less.at) return fold_no_memory("for %zu cases", cases->n);
      memcpy(less.at, cases->at, first * sizeof *less.at);
      memcpy(less.at + first, cases->at + first + part, (cases->n - first - part) * sizeof *less.at);
      const fold_status status = judge_list(s, &less, less.n - 1, &at);
      if (status.code == FOLD_OK && at < less.n) {
        for (size_t i = first; i < first + part; i++) fold_case_free(&cases->at[i]);
        memcpy(cases->at, less.at, less.n * sizeof *less.at);
        cases->n = less.n;
      } else {
        first += part;
      }
      free(less.at);
      FOLD_TRY(status);
    }
  return fold_ok();
}

/* ---- for which sizes ---- */

/* What is seen only in a smaller batch says nothing of the size at hand. */
static fold_status ask(void *context, const struct fold_cases *cases, bool *refuted) {
  struct shrinking *s = context;
  struct fold_judged_cases judged;
  fold_status status = fold_judge_cases(s->by->registry, &s->selection, cases, s->by->stop, &judged);
  for (size_t i = 0; i < judged.n; i++)
    if (is_same(s, &judged.against[i]) && judged.against[i].finding.moved <= s->found->finding.moved)
      refuted[judged.against[i].c] = true;
  fold_judged_close(&judged);
  return status;
}

static fold_status find_thresholds(struct shrinking *s) {
  const struct fold_threshold threshold = {ask, s, s->by->stop, fold_now() + s->by->seconds * OF_THRESHOLDS,
                                           !s->by->lost_tail};
  return fold_threshold_find(&threshold, now_of(s), s->found->threshold);
}

/* ---- all of it ---- */

/* Whether all smaller extents are judged in little time. */
static bool is_short(const struct fold_case *c) {
  enum { FEW = 1 << 13 };
  return fold_case_all_elements(c) <= FEW;
}

static fold_status shrink_all(struct shrinking *s) {
  enum { SHORT = 1024, LONG = 4096 };
  bool fewer = true, simpler = true;
  FOLD_TRY(lay_plain(s));
  FOLD_TRY(repeat_less(s));
  FOLD_TRY(make_plain(s, false));
  if (is_short(now_of(s))) FOLD_TRY(try_extents(s, SHORT, &fewer));
  while ((fewer || simpler) && !is_over(s)) {
    FOLD_TRY(shrink_shape(s, &fewer));
    if (fewer || simpler) FOLD_TRY(simplify(s, &simpler));
    if (!fewer && !simpler) FOLD_TRY(try_extents(s, LONG, &fewer));
    if (!fewer && !simpler) FOLD_TRY(make_plain(s, true));
  }
  return s->each ? fold_ok() : find_thresholds(s);
}

/* Whether the case is refuted as often as it is judged in one process: else the number of its turn decides, and candidates of one process
 * would hide each other. */
static fold_status find_out_each(struct shrinking *s) {
  enum { TURNS = 6 };
  struct fold_case turns[TURNS];
  bool refuted[TURNS] = {false};
  s->each = s->found->cases.n > 1;
  if (s->each) return fold_ok();
  for (int i = 0; i < TURNS; i++) turns[i] = *now_of(s);
  FOLD_TRY(ask(s, &(struct fold_cases){.n = TURNS, .at = turns}, refuted));
  for (int i = 0; i < TURNS; i++) s->each |= !refuted[i];
  return fold_ok();
}

/* If what was made small is refuted in no new process, the state of the processes in which it was made decided; then the values that
 * were found are kept. */
static fold_status shrink_values(struct shrinking *s) {
  struct fold_case original;
  FOLD_TRY(fold_case_copy(now_of(s), &original));
  fold_status status = find_out_each(s);
  if (status.code == FOLD_OK) status = shrink_all(s);
  if (status.code == FOLD_OK) status = look(s, LOOKS);
  if (status.code != FOLD_OK || s->found->seen > 0 || s->found->looked == 0) {
    fold_case_free(&original);
    return status;
  }
  fold_case_free(now_of(s));
  *now_of(s) = original;
  return look(s, LOOKS);
}

static fold_status shrink_found(struct shrinking *s, const struct fold_case *before, size_t n) {
  FOLD_TRY(fold_case_copy(&before[n - 1], &s->found->origin));
  if (fold_is_hang(&s->found->finding)) { /* each candidate would cost the time limit */
    s->found->whole = !fold_case_is_short(&before[n - 1]);
    return keep_last(before, n, 1, &s->found->cases);
  }
  FOLD_TRY(find_before(s, before, n));
  if (s->found->seen) {
    FOLD_TRY(drop_before(s));
    FOLD_TRY(shrink_values(s));
  } else {
    FOLD_TRY(look(s, LOOKS));
  }
  s->found->whole = !fold_case_is_short(now_of(s));
  return fold_ok();
}

fold_status fold_shrink(const struct fold_shrink *by, const struct fold_case *before, size_t n,
                        const struct fold_against *against, struct fold_found *found) {
  const struct fold_subject *subject = &by->registry->subjects[against->subject];
  *found = (struct fold_found){.subject = against->subject,
                               .claim = against->claim,
                               .broken = against->finding.verdict == FOLD_BROKEN,
                               .finding = against->finding};
  struct shrinking s = {by, fold_judged_selection(by->selection, subject, against->claim), found,
                        fold_now() + by->seconds * (1 - OF_THRESHOLDS), false};
  return shrink_found(&s, before, n);
}

void fold_found_close(struct fold_found *found) {
  fold_cases_free(&found->cases);
  fold_case_free(&found->origin);
}
