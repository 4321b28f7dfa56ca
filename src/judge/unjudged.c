/* unjudged.c: claims that no input could judge of a subject, because of what the subject is: each with the reason. */
#include "judge/judge.h"
#include "oracles/order.h"

/* An unknown function of rows has no value and no order that could be compared with another. */
#define OF_ROWS                                                                                                  \
  (FOLD_TIDY | FOLD_CLAIM(FOLD_SAME_BITS_AS) | FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_FRESH_PROCESS) |    \
   FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_BATCH_INVARIANT) | \
   FOLD_CLAIM(FOLD_LENGTH_INVARIANT) | FOLD_CLAIM(FOLD_STRIDE_INVARIANT))
#define OF_RANKS \
  (FOLD_CLAIM(FOLD_MESSAGE_INVARIANT) | FOLD_CLAIM(FOLD_WORLD_INVARIANT) | FOLD_CLAIM(FOLD_RANK_AGREEMENT))
#define OF_BOUND (FOLD_OF_ERROR & ~FOLD_CLAIM(FOLD_ULPS))
#define UNROUNDED (1u << FOLD_ROWS_MAX | 1u << FOLD_ROWS_MIN)

const char *fold_claim_unjudged(const struct fold_subject *s, enum fold_claim_id id) {
  const struct fold_order *order = s->order ? fold_order_find(s->order) : NULL;
  const uint64_t claim = FOLD_CLAIM(id);
  if (s->why_skipped && s->why_skipped[id]) return s->why_skipped[id];
  if (s->unknown && claim & ~(uint64_t)OF_ROWS) return "it is a function of rows, whose value and order are not known";
  if (claim & OF_RANKS && !fold_engine_has_ranks(s->engine)) return "it has no ranks";
  if (claim & OF_BOUND && s->ops && !(s->ops & ~UNROUNDED))
    return "max and min round nothing: correctly_rounded is judged instead";
  if (id == FOLD_ACCURATE_AS && s->accurate_as == NULL) return "it names no order to be as accurate as";
  if (id == FOLD_ULPS && !(s->most_ulps > 0)) return "it names no number of ulps";
  if (id == FOLD_SAME_BITS_AS && s->twin == NULL) return "it names no reference";
  if ((id == FOLD_REPLAYS || id == FOLD_TREE) && s->order == NULL) return "it declares no order";
  if (order == NULL) return NULL; /* the judge says that there is no such order */
  if (id == FOLD_REPLAYS && !fold_method_has_replay(order, s->method)) return "its method has no replay in its order";
  if (id == FOLD_TREE && !fold_order_has_tree(order, s->method))
    return "its order is no tree of plain additions that all terms share";
  return NULL;
}
