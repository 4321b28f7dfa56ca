/* cut.h: smaller and simpler cases made from one whose data are given as values (struct fold_case, literal). */
#ifndef FOLD_CUT_H
#define FOLD_CUT_H

#include "fixtures/fixture.h"

/* The case without n places of an axis from `first` on. Keys of removed slots become the next one's that is left. */
fold_status fold_cut_out(const struct fold_case *from, enum fold_axis axis, size_t first, size_t n,
                         struct fold_case *to);
/* The case with n more places before an axis's first, or behind its last: their elements are 1 for products of a row, else 0; keys are 0. */
fold_status fold_cut_extended(const struct fold_case *from, enum fold_axis axis, size_t n, bool behind,
                              struct fold_case *to);

/* How simple an element can be: 0, 1, -1 if it is negative, or a power of two; or rounded toward zero to 8 or 2 bits of its significand. */
enum fold_simpler {
  FOLD_TO_ZERO,
  FOLD_TO_ONE,
  FOLD_TO_MINUS_ONE,
  FOLD_TO_POWER,
  FOLD_TO_2_BITS,
  FOLD_TO_8_BITS,
  FOLD_SIMPLER
};
/* The case with n of its factors, from `first` on, made so simple where that makes them simpler. *changed: how many were. */
fold_status fold_cut_simpler(const struct fold_case *from, enum fold_simpler how, size_t first, size_t n,
                             struct fold_case *to, size_t *changed);
/* How many factors are neither 0, 1 nor -1. */
size_t fold_cut_other_terms(const struct fold_case *c);

/* The case with contiguous inputs. */
fold_status fold_cut_plain_layout(const struct fold_case *from, struct fold_case *to);

#endif
