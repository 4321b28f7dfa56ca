/* judge/tree.c: the tree that is seen from outside is the declared order's, and it replays in the declared accumulator.
 *
 * The case gives only the length: probes take the place of its input. So only cases that name this claim are judged.
 */
#include "judge/judge.h"
#include "judge/reveal_subject.h"

enum { ROWS = 64 };

/* Compares a tree that replays with the declared one. */
static fold_status compare(struct fold_trial *trial, const struct fold_revealed *revealed,
                           struct fold_finding *finding) {
  const struct fold_order *order = fold_order_find(trial->subject->order);
  const enum fold_dtype declared = fold_subject_accumulator(trial->subject, trial->c->dtype);
  struct fold_tree want;
  uint32_t i = 0, j = 0;
  bool differ;
  FOLD_TRY(fold_tree_of_order(order, trial->c->dtype, NULL, trial->c->cols, &want));
  fold_status status = fold_tree_difference(&revealed->tree, &want, &differ, &i, &j);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (differ)
    fold_find_refuted(finding, "not the tree of %s of %zu terms%s%.60s: the subtrees of x[%u] and x[%u] meet elsewhere",
                      order->name, trial->c->cols, revealed->name[0] ? ", but of " : "", revealed->name, i, j);
  else if (revealed->tree.accumulator)
    fold_find_refuted(finding, "the tree of %s, but in more than one precision: %.150s", order->name, revealed->why);
  else if (revealed->tree.fused && !fold_tree_fused_alike(&revealed->tree, &want)) /* else an FMA changes nothing */
    fold_find_refuted(finding, "the tree of %s, but different products enter by an FMA", order->name);
  else if (revealed->how.accumulator != declared)
    fold_find_refuted(finding, "its tree gives these bits in an accumulator of %s, and not of %s",
                      fold_dtype_name(revealed->how.accumulator), fold_dtype_name(declared));
  else if (revealed->place[0])
    fold_find_refuted(finding, "its order depends on the row's place in a batch: %.110s", revealed->place);
  else if (revealed->by_batch)
    fold_find_refuted(finding, "its order depends on the batch: some batches of up to %d rows have different bits",
                      ROWS);
  else
    fold_find_held(finding);
  fold_tree_free(&want);
  return fold_ok();
}

void fold_judge_tree(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  const struct fold_reveal_asked asked = {
      .dtype = c->dtype, .problem = c->problem->id, .n = c->cols, .rows = ROWS, .ranks = c->ranks};
  struct fold_revealed revealed = {0};
  if (trial->subject->order == NULL) {
    fold_find_skipped(finding, "it declares no order");
    return;
  }
  if (fold_dtype_is_integer(c->dtype)) {
    fold_find_skipped(finding, FOLD_NO_INTEGER_TREE);
    return;
  }
  fold_status status =
      c->cols ? fold_reveal_subject(trial->subject, &asked, &revealed) : fold_error(FOLD_UNSUPPORTED, FOLD_NO_TERMS);
  finding->comparisons = revealed.proofs + revealed.probes;
  if (status.code == FOLD_OK && revealed.kind == FOLD_REVEALED_TREE)
    status = compare(trial, &revealed, finding);
  else if (status.code == FOLD_OK)
    fold_find_refuted(finding, "no tree was revealed: %s%s%.60s%s%.80s", fold_revealed_text(revealed.kind),
                      /* unseen: 1 */
                      revealed.name[0] ? ": " : "", revealed.name, revealed.why[0] ? ": " : "", revealed.why);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  fold_revealed_free(&revealed);
}
