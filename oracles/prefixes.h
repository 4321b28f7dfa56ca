/* prefixes.h: the truths of a row's prefixes in one pass: a running pair of accumulators, of the terms and of their magnitudes,
 * that is closed after each prefix that is asked for.
 *
 * Promised: of each prefix the very truth of fold_oracle_terms, in whatever order prefixes are asked for. A prefix that is not
 * shorter than the one before costs the terms between them and a closing; a shorter one begins again at the row's first term.
 * Terms that no running pair holds (of two factors, or joined to a product) are folded anew for each prefix.
 */
#ifndef FOLD_PREFIXES_H
#define FOLD_PREFIXES_H

#include "oracles/exact.h"

struct fold_prefixes {
  struct fold_terms line; /* the row's terms, side by side */
  void *room;             /* that holds them, where they do not lie so */
  size_t n;               /* how many are in the rest: */
  struct fold_super sum, abs;
  long lowest;
  uint64_t extreme; /* of max and min */
};

/* Takes the terms of a whole row, which must stay. Closed by fold_prefixes_close. */
fold_status fold_prefixes_open(struct fold_prefixes *prefixes, const struct fold_terms *row);
void fold_prefixes_close(struct fold_prefixes *prefixes);
/* The truth about the first n terms. */
fold_status fold_prefixes_truth(struct fold_prefixes *prefixes, size_t n, struct fold_truth *truth);

#endif
