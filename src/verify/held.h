/* held.h: holds back judgements until it is known how the order of additions changed (sides.h), and all judgements
 * after them, so that they keep their sequence. What they point to must stay until they are handed on.
 */
#ifndef FOLD_HELD_H
#define FOLD_HELD_H

#include "runner.h"

struct fold_held {
  struct fold_judgement at[FOLD_CLAIMS + 1];
  size_t n;
};
/* Hands the judgement on, or keeps it if it, or one before it, has to wait. */
fold_status fold_held_take(struct fold_held *held, const struct fold_judgement *judgement, const struct fold_sink *to);
/* Hands on all that are held, with what is known of the changes. */
fold_status fold_held_end(struct fold_held *held, const struct fold_order_change *changes, size_t n,
                          const struct fold_sink *to);

/* A sink that does this in front of another sink. */
struct fold_holding {
  struct fold_held held;
  const struct fold_sink *to;
  struct fold_sink sink;
};
void fold_holding_open(struct fold_holding *holding, const struct fold_sink *to);

#endif
