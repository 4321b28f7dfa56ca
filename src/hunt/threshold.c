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

static const char *where(const struct fold_threshold *t) { return t->smallest ? "from" : "at"; }

static void tell_sizes(const struct fold_threshold *t, enum fold_axis axis, size_t extent, const bool refuted[FURTHER],
                       char text[160]) {
  const char *name = fold_axis_name(axis);
  const size_t period = period_of(refuted);
  size_t run = 0;
  char more[60];
  while (run < FURTHER && refuted[run]) run++;
  if (run == FURTHER && t->smallest)
    snprintf(more, sizeof more, "from %s = %zu on", name, extent);
  else if (run == FURTHER)
    snprintf(more, sizeof more, "at %s = %zu to %zu and more", name, extent, extent + run);
  else if (period > 1)
    snprintf(more, sizeof more, "at %s = %zu and each %zu more", name, extent, period);
  else if (run > 0)
    snprintf(more, sizeof more, "%s %s = %zu to %zu", where(t), name, extent, extent + run);
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
                                char text[160]) {
  struct fold_cases cases = {0};
  bool both[2 * FURTHER] = {false}, refuted[FURTHER];
  fold_status status = fold_ok();
  for (size_t i = 0; i < FURTHER && status.code == FOLD_OK; i++) status = add_both(c, axis, i + 1, &cases);
  if (status.code == FOLD_OK) status = t->ask(t->context, &cases, both);
  for (size_t i = 0; i < FURTHER; i++) refuted[i] = both[2 * i] || both[2 * i + 1];
  if (status.code == FOLD_OK && !*t->stop) tell_sizes(t, axis, c->shape.at[axis], refuted, text);
  fold_cases_free(&cases);
  return status;
}

/* ---- some sizes ---- */

static fold_status look_at(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis, size_t more,
                           bool *refuted) {
  struct fold_cases cases = {0};
  bool both[2] = {false};
  fold_status status = add_both(c, axis, more, &cases);
  if (status.code == FOLD_OK) status = t->ask(t->context, &cases, both);
  *refuted = both[0] || both[1];
  fold_cases_free(&cases);
  return status;
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
static void tell_ends(const struct fold_threshold *t, enum fold_axis axis, size_t extent, size_t yes, size_t no,
                      char text[160]) {
  const char *name = fold_axis_name(axis);
  char more[60];
  if (no == 1)
    snprintf(more, sizeof more, "at %s = %zu, not %zu", name, extent, extent + 1);
  else if (no)
    snprintf(more, sizeof more, "%s %s = %zu to %zu", where(t), name, extent, extent + yes);
  else
    snprintf(more, sizeof more, "%s %s = %zu to %zu and more", where(t), name, extent, extent + yes);
  append(text, more);
}

static fold_status look_at_some(const struct fold_threshold *t, const struct fold_case *c, enum fold_axis axis,
                                char text[160]) {
  const size_t extent = c->shape.at[axis], each = fold_case_all_elements(c) / extent + 1;
  size_t yes = 0, no = 0;
  for (size_t step = 1; no == 0 && (extent + step) * each <= OF_ONE && !is_over(t); step *= 2) {
    bool refuted;
    FOLD_TRY(look_at(t, c, axis, step, &refuted));
    *(refuted ? &yes : &no) = step;
  }
  if (no > 1) FOLD_TRY(bisect(t, c, axis, &yes, &no));
  if ((yes || no) && (no == 0 || no == yes + 1)) tell_ends(t, axis, extent, yes, no, text);
  return fold_ok();
}

/* ---- all axes ---- */

/* Where the case is not the smallest that there could be. */
fold_status fold_threshold_find(const struct fold_threshold *t, const struct fold_case *c, char text[160]) {
  static const enum fold_axis order[] = {FOLD_K, FOLD_M, FOLD_N, FOLD_B};
  for (size_t i = 0; i < sizeof order / sizeof *order && !is_over(t); i++) {
    const size_t extent = c->shape.at[order[i]];
    if (!(fold_axes_of(c->problem) >> order[i] & 1) || extent <= (order[i] == FOLD_B ? 1 : 2)) continue;
    const size_t all = (fold_case_all_elements(c) / extent + 1) * FURTHER * (extent + FURTHER / 2);
    FOLD_TRY((all <= ELEMENTS ? look_at_each : look_at_some)(t, c, order[i], text));
  }
  return fold_ok();
}
