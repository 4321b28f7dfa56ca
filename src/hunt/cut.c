/* cut.c: see cut.h. */
#include "hunt/cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/family.h"
#include "fixtures/literal.h"

/* The case with room for its elements, which are not set. */
static fold_status open_cut(const struct fold_case *from, const struct fold_shape *shape, struct fold_case *to) {
  char text[100];
  *to = *from;
  to->shape = *shape;
  to->source = (struct fold_source){.dtype = from->dtype, .cols = shape->k};
  *fold_case_put_shape(to, text) = '\0';
  to->name = to->file = NULL;
  to->npy = to->provenance = to->claims = to->expect = to->where = NULL;
  if (asprintf(&to->name, "found/%s/%s/%s", fold_dtype_name(to->dtype), to->problem->name, text) < 0) to->name = NULL;
  to->literal = malloc((fold_case_all_elements(to) + 1) * sizeof *to->literal);
  if (to->name && to->literal && fold_case_copy_text(from->file, &to->file) &&
      fold_case_copy_text(from->claims, &to->claims) && fold_case_copy_text(from->where, &to->where))
    return fold_ok();
  fold_case_free(to);
  return fold_no_memory("for a smaller case");
}

/* ---- along an axis ---- */

/* Places [first, first + n) of an axis are taken out, or come in. */
struct change {
  enum fold_axis axis;
  size_t first, n;
};

/* An input as lines along the axis: `outer` lines, each of `extent` places of `inner` elements. */
struct lines {
  size_t outer, extent, inner;
};
static struct lines lines_of(const struct fold_case *c, unsigned k, enum fold_axis axis) {
  struct lines l = {1, 1, 1};
  bool behind = false;
  for (unsigned i = 0; i < c->problem->n_axes[k]; i++) {
    const enum fold_axis own = c->problem->axes[k][i];
    const size_t extent = fold_extent(c->problem, &c->shape, own);
    if (own == axis)
      l.extent = extent, behind = true;
    else
      *(behind ? &l.inner : &l.outer) *= extent;
  }
  if (!behind) l = (struct lines){1, 1, fold_case_elements(c, k)};
  return l;
}

static void take_out(const struct lines *l, const struct change *cut, const uint64_t *from, uint64_t *to) {
  const size_t head = cut->first * l->inner, tail = (l->extent - cut->first - cut->n) * l->inner;
  for (size_t i = 0; i < l->outer; i++, from += l->extent * l->inner, to += head + tail) {
    memcpy(to, from, head * sizeof *to);
    memcpy(to + head, from + head + cut->n * l->inner, tail * sizeof *to);
  }
}

static uint64_t *fill(uint64_t *to, size_t n, uint64_t term) {
  while (n-- > 0) *to++ = term;
  return to;
}

static void put_more(const struct lines *l, size_t n, bool behind, uint64_t term, const uint64_t *from, uint64_t *to) {
  for (size_t i = 0; i < l->outer; i++) {
    if (!behind) to = fill(to, n * l->inner, term);
    memcpy(to, from, l->extent * l->inner * sizeof *to);
    from += l->extent * l->inner, to += l->extent * l->inner;
    if (behind) to = fill(to, n * l->inner, term);
  }
}

static void renumber(uint64_t *keys, size_t n, const struct change *cut, size_t slots) {
  for (size_t i = 0; i < n; i++) {
    if (keys[i] >= cut->first + cut->n)
      keys[i] -= cut->n;
    else if (keys[i] >= cut->first)
      keys[i] = cut->first < slots ? cut->first : slots - 1;
  }
}

fold_status fold_cut_out(const struct fold_case *from, enum fold_axis axis, size_t first, size_t n,
                         struct fold_case *to) {
  const struct change cut = {axis, first, n};
  struct fold_shape shape = from->shape;
  const uint64_t *in = from->literal;
  shape.at[axis] -= n;
  FOLD_TRY(open_cut(from, &shape, to));
  uint64_t *out = to->literal;
  for (unsigned k = 0; k < from->problem->inputs; k++) {
    const struct lines lines = lines_of(from, k, axis);
    if (fold_has_axis(from->problem, k, axis))
      take_out(&lines, &cut, in, out);
    else
      memcpy(out, in, lines.inner * sizeof *out);
    if (axis == FOLD_M && fold_is_keys(from->problem, k)) renumber(out, fold_case_elements(to, k), &cut, shape.m);
    in += fold_case_elements(from, k);
    out += fold_case_elements(to, k);
  }
  return fold_ok();
}

fold_status fold_cut_extended(const struct fold_case *from, enum fold_axis axis, size_t n, bool behind,
                              struct fold_case *to) {
  struct fold_shape shape = from->shape;
  const uint64_t *in = from->literal;
  shape.at[axis] += n;
  FOLD_TRY(open_cut(from, &shape, to));
  const uint64_t term = from->problem->op == FOLD_PROD ? fold_bits_from_double(from->dtype, 1) : 0;
  uint64_t *out = to->literal;
  for (unsigned k = 0; k < from->problem->inputs; k++) {
    const struct lines lines = lines_of(from, k, axis);
    put_more(&lines, fold_has_axis(from->problem, k, axis) ? n : 0, behind, term, in, out);
    in += fold_case_elements(from, k);
    out += fold_case_elements(to, k);
  }
  return fold_ok();
}

/* ---- the elements ---- */

fold_status fold_cut_plain_layout(const struct fold_case *from, struct fold_case *to) {
  FOLD_TRY(fold_case_copy(from, to));
  to->layout = (struct fold_case_layout){0};
  return fold_ok();
}

/* Toward zero, to so many bits. */
static double shortened(double value, int bits) {
  int exponent;
  const double part = frexp(value, &exponent);
  return ldexp(trunc(ldexp(part, bits)), exponent - bits);
}

static double simpler_value(double value, enum fold_simpler how) {
  switch (how) {
    case FOLD_TO_ZERO: return 0;
    case FOLD_TO_ONE: return 1;
    case FOLD_TO_MINUS_ONE: return value < 0 ? -1 : value;
    case FOLD_TO_POWER: return shortened(value, 1);
    case FOLD_TO_2_BITS: return shortened(value, 2);
    case FOLD_TO_8_BITS: return shortened(value, 8);
    case FOLD_SIMPLER: break;
  }
  return value;
}

enum { OF_MINUS_ONE = 2 };
/* 0 for 0, 1 for 1, 2 for -1, 3 for a power of two, and so on; the more, the less simple. */
static int complexity(double value) {
  int exponent;
  if (value == 0 && !signbit(value)) return 0;
  if (value == 1) return 1;
  if (value == -1) return OF_MINUS_ONE;
  if (!isfinite(value)) return 100;
  const double part = fabs(frexp(value, &exponent));
  return part == 0.5 || part == 0 ? 3 : shortened(part, 2) == part ? 4 : shortened(part, 8) == part ? 5 : 6;
}

static uint64_t simpler(enum fold_dtype dtype, uint64_t bits, enum fold_simpler how) {
  const double value = fold_bits_to_double(dtype, bits), next = simpler_value(value, how);
  return complexity(next) < complexity(value) ? fold_bits_from_double(dtype, next) : bits;
}

fold_status fold_cut_simpler(const struct fold_case *from, enum fold_simpler how, size_t first, size_t n,
                             struct fold_case *to, size_t *changed) {
  *changed = 0;
  FOLD_TRY(fold_case_copy(from, to));
  for (size_t i = first; i < first + n; i++) {
    to->literal[i] = simpler(from->dtype, from->literal[i], how);
    *changed += to->literal[i] != from->literal[i];
  }
  return fold_ok();
}

size_t fold_cut_other_terms(const struct fold_case *c) {
  size_t n = 0;
  for (size_t i = 0; c->literal && i < fold_case_factors(c); i++)
    n += complexity(fold_bits_to_double(c->dtype, c->literal[i])) > OF_MINUS_ONE;
  return n;
}
