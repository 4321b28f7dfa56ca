/* sides.h: when an invariance is refuted: the two runs whose bits differ, and how the order of additions differs between them.
 *
 * A judge that refutes by a pair of runs says what the two runs are: each is a side. Once the verdict is told, the tree of each side is
 * revealed (reveal.h): the same number of rows, place, launch and addresses, with other terms. What is found there never changes a
 * verdict. Promised: no more than some hundred million additions and FOLD_ORDER_SECONDS, both sides together; rows that are too long for
 * that are replaced by shorter ones, of which equal trees say nothing.
 */
#ifndef FOLD_SIDES_H
#define FOLD_SIDES_H

#include "claim.h"
#include "plan.h"

#define FOLD_ORDER_SECONDS 10

struct fold_order_side {
  size_t first_row, skip;        /* the run begins so many rows, and elements, behind the start of each input */
  size_t rows, row;              /* of the run; and the one whose bits differ */
  bool alone;                    /* the other rows may be added otherwise: that row alone is asked */
  size_t more;                   /* elements appended to each row: */
  bool more_zeros;               /* +0, and not the sum's identity -0 */
  size_t behind;                 /* elements behind the last row: */
  bool behind_zeros;             /* +0, and not 1 */
  size_t row_stride, col_stride; /* 0: contiguous */
  struct fold_variation how;
  char at[120]; /* "up to 255 rows" */
};

struct fold_order_sides {
  size_t n; /* terms of a row; 0: no pair of runs is known */
  struct fold_order_side side[2];
};

/* What was found: plain data, which goes from process to process. */
struct fold_order_change_side {
  char at[120], kind[32], order[80]; /* order: the first name of a tree; "" where it has none */
  uint64_t fingerprint;              /* of a tree; 0 */
  uint64_t height;
};
struct fold_order_change {
  enum fold_claim_id claim;
  uint64_t terms; /* of the rows that were asked */
  char text[900]; /* in words, for people; "": nothing is told */
  struct fold_order_change_side side[2];
};

/* Of so many elements behind a run as many as a side has. */
static inline size_t fold_order_behind(size_t elements) { return elements < 4096 ? elements : 4096; }

struct fold_trial;
/* Judges: the pair of runs by which the claim at hand was refuted. */
void fold_trial_take_sides(struct fold_trial *trial, size_t n, const struct fold_order_side *a,
                           const struct fold_order_side *b);
/* `unknown`: nobody says that the subject sums. change->text is "" where the trial's subject is not asked: over ranks, no sum, a dtype that shows no order, too many rows. */
void fold_order_explain(const struct fold_trial *trial, enum fold_claim_id claim, const struct fold_order_sides *sides,
                        bool unknown, struct fold_order_change *change);

/* The parts. */
struct fold_revealed;
/* The tree of a row of n terms on that side (side_rows.c); `until`: a time of fold_now after which no run is begun. UNSUPPORTED: it is
 * not asked. */
fold_status fold_order_side_reveal(const struct fold_trial *trial, const struct fold_order_side *side, size_t n,
                                   double until, struct fold_revealed *revealed);
/* Whether that is little enough work. */
bool fold_order_side_is_short(const struct fold_order_side *side, size_t n);

#endif
