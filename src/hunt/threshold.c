/* threshold.c: see threshold.h. A case is made larger by zeros before its first place of an axis, and behind its last one. Small cases are judged at each of the next
 * sizes. From other cases steps are doubled until a size holds; then the end of the refuted sizes is bisected. */
#include "hunt/threshold.h"

#include <stdio.h>
#include <string.h>

#include "fixtures/family.h"
#include "hunt/cut.h"

/* So many sizes are looked at, each one, where their elements are that few together; else single ones of at most so many elements. */
enum { FURTHER = 200, ELEMENTS = 1 << 22, OF_ONE = 1 << 21 };

static bool is_over(const struct fold_threshold *t) { return *t->stop || fold_now() > t->end; }

static void append(char text[160], const char *more) {
  const size_t used = strlen(text);
  snprintf(text + used, 160 - used, "%s%s", used ? ", " : "refuted ", more);
}

/* ---- each size ---- */

/* The distance at which the refuted sizes repeat; 0: they do not. */
static size_t period_of(const bool refuted[FURTHER]) {
  for (size_t p = 1; p <= FURTHER / 2; p++) {
    bool fits = true;
    for (size_t i = 0; i < FURTHER; i++) fits &= refuted[i] == ((i + 1) % p == 0);
    if (fits) return p;
  }
  return 0;
}

static void tell_sizes(bool begins, enum fold_axis axis, size_t extent, const bool refuted[FURTHER], char text[160]) {
  const char *name = fold_axis_name(axis);
  const size_t period = period_of(refuted);
  size_t run = 0;
  char more[60];
  while (run < FURTHER && refuted[run]) run++;
  if (run == FURTHER && begins)
    snprintf(more, sizeof more, "from %s = %zu on", name, extent);
  else if (run == FURTHER)
    snprintf(more, sizeof more, "at %s = %zu to %zu and more", name, extent, extent + run);
  else if (period > 1)
    snprintf(more, sizeof more, "at %s = %zu and each %zu more", name, extent, period);
  else if (run > 0)
    snprintf(more, sizeof more, "%s %s = %zu to %zu", begins ? "from" : "at", name, extent, extent + run);
  else
    snprintf(more, sizeof more, "at %s = %zu, not %zu", name, extent, extent + 1);
  append(text, more);
}

/* A fault of the first place shows with zeros behind the others, one of the last place with zeros before them. */
static fold_status add_both(const struct fold_case *c, enum fold_axis axis, size_t more, struct fold_cases *cases) {
  for (int behind = 0; behind < 2; behind++) {
    struct fold_case larger;
    FOLD_TRY(fold_cut_extended(c, axis, more, behind, &larger));
    FOLD_TRY(fold_cases_append(cases, &larger));
  }
  return fold_ok();
}

static fold_status look_at_each(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis,
                                bool begins, char text[160]) {
  struct fold_cases cases = {0};
  bool both[2 * FURTHER] = {false}, refuted[FURTHER];
  fold_status status = fold_ok();
  for (size_t i = 0; i < FURTHER && status.code == FOLD_OK; i++) status = add_both(c, axis, i + 1, &cases);
  if (status.code == FOLD_OK) status = t->ask(t->context, &cases, both);
  for (size_t i = 0; i < FURTHER; i++) refuted[i] = both[2 * i] || both[2 * i + 1];
  if (status.code == FOLD_OK && !*t->stop) tell_sizes(begins, axis, c->shape.at[axis], refuted, text);
  fold_cases_free(&cases);
  return status;
}

/* ---- some sizes ---- */

/* Whether one of the two cases, which are freed, is refuted. */
static fold_status ask_both(const struct fold_threshold *t, fold_status made, struct fold_cases *cases, bool *refuted) {
  bool both[2] = {false};
  if (made.code == FOLD_OK) made = t->ask(t->context, cases, both);
  *refuted = both[0] || both[1];
  fold_cases_free(cases);
  return made;
}

static fold_status look_at(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis, size_t more,
                           bool *refuted) {
  struct fold_cases cases = {0};
  return ask_both(t, add_both(c, axis, more, &cases), &cases, refuted);
}

/* The last refuted size before the first step that is not. */
static fold_status bisect(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis, size_t *yes,
                          size_t *no) {
  while (*no - *yes > 1 && !is_over(t)) {
    const size_t middle = *yes + (*no - *yes) / 2;
    bool refuted;
    FOLD_TRY(look_at(t, c, axis, middle, &refuted));
    *(refuted ? yes : no) = middle;
  }
  return fold_ok();
}

/* `yes` more places are refuted, and `no` more are not; no 0: none is known. */
static void tell_ends(bool begins, enum fold_axis axis, size_t extent, size_t yes, size_t no, char text[160]) {
  const char *name = fold_axis_name(axis);
  char more[60];
  if (no == 1)
    snprintf(more, sizeof more, "at %s = %zu, not %zu", name, extent, extent + 1);
  else if (no)
    snprintf(more, sizeof more, "%s %s = %zu to %zu", begins ? "from" : "at", name, extent, extent + yes);
  else
    snprintf(more, sizeof more, "%s %s = %zu to %zu and more", begins ? "from" : "at", name, extent, extent + yes);
  append(text, more);
}

static fold_status look_at_some(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis,
                                bool begins, char text[160]) {
  const size_t extent = c->shape.at[axis], each = fold_case_all_elements(c) / extent + 1;
  size_t yes = 0, no = 0;
  for (size_t step = 1; no == 0 && (extent + step) * each <= OF_ONE && !is_over(t); step *= 2) {
    bool refuted;
    FOLD_TRY(look_at(t, c, axis, step, &refuted));
    *(refuted ? &yes : &no) = step;
  }
  if (no > 1) FOLD_TRY(bisect(t, c, axis, &yes, &no));
  if ((yes || no) && (no == 0 || no == yes + 1)) tell_ends(begins, axis, extent, yes, no, text);
  return fold_ok();
}

/* ---- all axes ---- */

/* The case without its first place of the axis, and without its last one. */
static fold_status add_less(const struct fold_case *c, enum fold_axis axis, struct fold_cases *cases) {
  for (int last = 0; last < 2; last++) {
    struct fold_case less;
    FOLD_TRY(fold_cut_out(c, axis, last ? c->shape.at[axis] - 1 : 0, 1, &less));
    FOLD_TRY(fold_cases_append(cases, &less));
  }
  return fold_ok();
}

/* *begins: with one place less it holds. */
static fold_status look_below(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis,
                              bool *begins) {
  struct fold_cases cases = {0};
  bool refuted = true;
  if (t->whole) FOLD_TRY(ask_both(t, add_less(c, axis, &cases), &cases, &refuted));
  *begins = !refuted;
  return fold_ok();
}

/* Where the case is not the smallest that there could be. */
fold_status fold_threshold_find(const struct fold_threshold *t, const struct fold_case *c, char text[160]) {
  static const enum fold_axis order[] = {FOLD_K, FOLD_M, FOLD_N, FOLD_B};
  for (size_t i = 0; i < sizeof order / sizeof *order && !is_over(t); i++) {
    const size_t extent = c->shape.at[order[i]];
    if (!(fold_axes_of(c->problem) >> order[i] & 1) || extent <= (order[i] == FOLD_B ? 1 : 2)) continue;
    const size_t all = (fold_case_all_elements(c) / extent + 1) * FURTHER * (extent + FURTHER / 2);
    bool begins;
    FOLD_TRY(look_below(t, c, order[i], &begins));
    FOLD_TRY((all <= ELEMENTS ? look_at_each : look_at_some)(t, c, order[i], begins, text));
  }
  return fold_ok();
}
