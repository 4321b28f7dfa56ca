/* run_pair.h: the two runs whose bits differ when an invariance is refuted, and how the order of additions differs between
 * them.
 *
 * A judge that refutes by a pair of runs describes both: each is a side. After the verdict the tree of each side is
 * revealed (reveal.h), with the same number of rows, place, launch and addresses, but other terms. What is found there
 * never changes a verdict. Promised: both sides together take no more than some hundred million additions and
 * FOLDPROOF_ORDER_TIME seconds (10). Rows that are too long for that are replaced by shorter ones; if the trees of these are equal,
 * that says nothing about the long rows.
 */
#ifndef FOLD_RUN_PAIR_H
#define FOLD_RUN_PAIR_H

#include "judge/plan.h"
#include "model/claim.h"

struct fold_order_side {
  size_t first_row, skip;        /* the run begins so many rows and elements behind the start of each input */
  size_t rows, row;              /* of the run; and the row whose bits differ */
  bool alone;                    /* only `row` is asked, since other rows may be added otherwise */
  size_t more;                   /* so many elements are appended to each row: */
  bool more_zeros;               /* +0, and not the sum's identity -0 */
  size_t behind;                 /* so many elements follow the last row: */
  bool behind_zeros;             /* +0, and not 1 */
  size_t row_stride, col_stride; /* 0: contiguous */
  struct fold_variation how;
  char at[120]; /* "up to 255 rows" */
};

struct fold_order_sides {
  size_t n; /* terms of a row; 0: no pair of runs is known */
  struct fold_order_side side[2];
  bool first_is_got; /* the finding's `got` is of the first side, else of the second */
};

/* What was found, as plain data that can be sent from process to process. */
struct fold_order_change_side {
  char at[120], kind[32], order[80]; /* order: the first name of the tree; "" where it has none */
  uint64_t fingerprint;              /* of the tree; 0: none */
  uint64_t height;
};
struct fold_order_change {
  enum fold_claim_id claim;
  uint64_t terms; /* of the rows that were asked */
  char text[900]; /* in words; "": nothing is known */
  struct fold_order_change_side side[2];
};

/* How many of the elements behind a run a side repeats. */
static inline size_t fold_order_behind(size_t elements) { return elements < 4096 ? elements : 4096; }

struct fold_trial;
/* For judges: notes the pair of runs by which the claim at hand was refuted. */
void fold_trial_take_sides(struct fold_trial *trial, size_t n, const struct fold_order_side *a,
                           const struct fold_order_side *b);
/* Reveals both sides and says in `change` how they differ. change->text is "" where the subject can't be asked: over ranks,
 * for no sum, for a dtype that shows no order, or for too many rows. */
void fold_order_explain(const struct fold_trial *trial, enum fold_claim_id claim, const struct fold_order_sides *sides,
                        struct fold_order_change *change);

/* The parts of fold_order_explain. */
struct fold_revealed;
/* Reveals the tree of a row of n terms on that side (run_pair_rows.c). No run begins after `until`, a time of fold_now.
 * UNSUPPORTED where the dtype shows no order. */
fold_status fold_order_side_reveal(const struct fold_trial *trial, const struct fold_order_side *side, size_t n,
                                   double until, struct fold_revealed *revealed);
/* Whether that is little enough work for what run_pair.h promises. */
bool fold_order_side_is_short(const struct fold_order_side *side, size_t n);

#endif
