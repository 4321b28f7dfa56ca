/* test_sides.c: what a judge that refutes by a pair of runs says of these: in words, and as the two sides whose orders
 * are compared. */
#include <stdio.h>

#include "lone_trial.h"

static void put(char text[200], const char *format, size_t value) {
  if (value) snprintf(text + strlen(text), 200 - strlen(text), format, value);
}

/* "at: row R of N", and what else is not nothing. */
static void describe(const struct fold_order_side *s, char text[200]) {
  snprintf(text, 200, "%s: row %zu of %zu", s->at, s->row, s->rows);
  put(text, s->alone ? " alone" : "", 1);
  put(text, ", from row %zu", s->first_row);
  put(text, ", from element %zu", s->skip);
  put(text, s->more_zeros ? ", %zu zeros more" : ", %zu more", s->more);
  put(text, s->behind_zeros ? ", %zu zeros behind" : ", %zu behind", s->behind);
  put(text, ", rows by %zu", s->row_stride);
  put(text, ", terms by %zu", s->col_stride);
  if (s->how.shift) snprintf(text + strlen(text), 200 - strlen(text), ", moved by %td", s->how.shift);
}

static const struct pair {
  fold_judge_runs *judge;
  bool guest;
  size_t rows, lies_from, row;
  const char *reason, *a, *b; /* NULL: no sides are told */
} pairs[] = {
    {fold_judge_length_invariant, false, 3, 0, 0,
     "the row's first 5 terms, as an array, gave different bits than in the row",
     "in front of more terms: row 0 of 1, 25 behind, of 5 terms", "as an array by themselves: row 0 of 1"},
    {fold_judge_length_invariant, false, 3, 0, 0,
     "the row's first 10 terms, in front of zeros, gave different bits than in the row",
     "in front of more terms: row 0 of 1, 20 behind", "in front of zeros: row 0 of 1, 1000 zeros behind"},
    {fold_judge_padding_invariant, false, 3, 0, 2, "different bits with 1 identity element appended to a row of 10",
     "as they are: row 2 of 3", "with 1 identity element appended: row 2 of 3, 1 more"},
    {fold_judge_padding_invariant, false, 3, 0, 1, "different bits with 22 zeros appended to a row of 10",
     "as they are: row 1 of 3", "with 22 zeros appended: row 1 of 3, 22 zeros more"},
    {fold_judge_stride_invariant, false, 3, 0, 2, "different bits with rows 1 elements apart and terms 6",
     "contiguous: row 2 of 3", "with rows 1 elements apart and terms 6: row 2 of 3, rows by 1, terms by 6"},
    {fold_judge_batch_invariant, false, 5, 0, 2, "different bits for the row by itself",
     "alone: row 0 of 1, from row 2, 20 behind", "as row 2 of 5: row 2 of 5 alone"},
    {fold_judge_batch_invariant, false, 5, 0, 1, "different bits in a batch of half the rows",
     "in a batch of 5 rows: row 1 of 5", "in one of 2: row 1 of 2, 30 behind"},
    {fold_judge_batch_invariant, false, 1, 0, 0, "different bits as third of five rows", "alone: row 0 of 1",
     "as third of five rows: row 2 of 5 alone"},
    {fold_judge_batch_invariant, false, 1, 0, 0, "different bits as fourth of five rows", "alone: row 0 of 1",
     "as fourth of five rows: row 3 of 5 alone"},
    {fold_judge_batch_invariant, true, 5, 3, 1, "same bits up to 2 rows, different bits from 3 (of 5)",
     "up to 2 rows: row 1 of 2, 30 behind", "from 3 rows on: row 1 of 3, 20 behind"},
    {fold_judge_batch_invariant, true, 5, 0, 3, "different bits for row 3 of 5 in place 2 than in place 3",
     "in place 3 of 5: row 3 of 5 alone", "in place 2: row 2 of 5 alone"},
    {fold_judge_alignment_invariant, false, 3, 0, 0, "a sub-range and its copy gave different bits",
     "1 element from an aligned address: row 0 of 1, from element 1, of 9 terms",
     "at an aligned address: row 0 of 1, from element 1, moved by -1"},
    {fold_judge_permutation_invariant, false, 3, 0, 1, "different bits for the terms reversed", NULL, NULL},
    {fold_judge_permutation_invariant, false, 3, 0, 1, "different bits for the terms shuffled", NULL, NULL},
    {fold_judge_permutation_invariant, false, 3, 0, 1, "different bits for the terms interleaved", NULL, NULL},
};

/* Lies in that run and row; whether the pair's words say that. */
static bool lie(const struct pair *p, size_t run, size_t row, struct fold_order_sides *sides, size_t *runs) {
  struct lone b;
  open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, p->rows, 10);
  if (!p->guest) b.subject.guest = NULL;
  seen.lies_in = p->lies_from ? 0 : run;
  seen.lies_at = row;
  seen.lies_from = p->lies_from;
  const struct fold_finding f = judge_lone(&b, p->judge);
  *sides = b.trial.sides;
  *runs = seen.runs;
  close_lone(&b);
  return f.verdict == FOLD_REFUTED && f.row == p->row && strcmp(f.reason, p->reason) == 0;
}

static bool find_lie(const struct pair *p, struct fold_order_sides *sides) {
  size_t runs;
  for (size_t row = 0; row < 5; row++) {
    if (lie(p, MOST_CALLS, row, sides, &runs)) return true;
    for (size_t run = 1; run <= runs; run++) {
      size_t made;
      if (lie(p, run, row, sides, &made)) return true;
    }
  }
  return false;
}

Test(sides, are_the_two_runs_whose_bits_differ) {
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const struct pair *p = &pairs[i];
    struct fold_order_sides sides;
    char a[200], b[200];
    cr_assert(find_lie(p, &sides), "never in any run: row %zu, %s", p->row, p->reason);
    cr_expect_eq(sides.n > 0, p->a != NULL, "%s", p->reason);
    if (!p->a || !sides.n) continue;
    describe(&sides.side[0], a);
    put(a, ", of %zu terms", sides.n == 10 ? 0 : sides.n);
    describe(&sides.side[1], b);
    cr_expect(strcmp(a, p->a) == 0 && strcmp(b, p->b) == 0, "%s: %s; %s", p->reason, a, b);
  }
}
