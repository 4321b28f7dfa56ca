/* verify.c: foldproof_verify: a table of callbacks, judged in the caller's process, which is left as it was. */
#include <stdlib.h>

#include "library/answer.h"
#include "library/selected.h"
#include "library/turn.h"
#include "records/record.h"
#include "run/supervise.h"

struct taking {
  foldproof_take take;
  void *context;
  const struct fold_selection *selection;
  bool apart;       /* in processes that are forked from this one */
  bool full;        /* the records hold all rows */
  bool any, judged; /* a judgement; one of a requested claim, which was not skipped */
  volatile int stop;
};

static fold_status give(struct taking *t, json_t *record) {
  char *line;
  FOLD_TRY(fold_record_line_text(record, &line));
  t->stop = t->take(line, t->context) != 0;
  free(line);
  return fold_ok();
}

static fold_status take(void *context, const struct fold_judgement *judgement) {
  struct taking *t = context;
  if (t->stop) return fold_ok();
  struct fold_judgement whole = *judgement;
  whole.full = t->full;
  t->any = true;
  t->judged |= judgement->finding.verdict != FOLD_SKIPPED && fold_judgement_is_asked(t->selection, judgement);
  return give(t, fold_record_of(&whole));
}

static fold_status take_explanation(void *context, const struct fold_judgement *of,
                                    const struct fold_order_change *change) {
  return give(context, fold_record_explanation(of, change));
}

static fold_status judge(const struct fold_registry *all, const struct fold_selection *selection, struct taking *t) {
  const struct fold_sink sink = {.judgement = take, .explanation = take_explanation, .context = t};
  struct fold_cases cases = {0};
  t->selection = selection;
  const struct fold_job job = {
      .registry = all, .selection = selection, .cases = &cases, .judge = true, .sink = &sink, .stop = &t->stop};
  fold_status unexplained = fold_ok(), status = fold_select_cases(selection, 0, &cases);
  if (status.code == FOLD_OK)
    status = t->apart ? fold_supervise(&job, &unexplained) : fold_verify(all, selection, &cases, NULL, &sink, &t->stop);
  if (status.code == FOLD_OK) status = unexplained;
  fold_cases_free(&cases);
  if (status.code != FOLD_OK || t->judged || t->stop) return status;
  if (t->any) return fold_nothing_judged(selection, all);
  return fold_error(FOLD_BAD_INPUT,
                    "nothing was judged: no selected subject takes the selected cases, or makes the claims");
}

struct verifying {
  const struct foldproof_guest_table *table;
  const struct foldproof_verify_options *options;
  struct fold_control callers;
  struct taking *taking;
};

static fold_status verify(void *context) {
  const struct verifying *v = context;
  struct fold_selected selected;
  FOLD_TRY(fold_selected_open(v->table, v->options, v->callers, &selected));
  const fold_status status = judge(&selected.all, &selected.selection, v->taking);
  fold_selected_close(&selected);
  return status;
}

int foldproof_verify(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                     foldproof_take each, void *context) {
  const struct foldproof_verify_options o = fold_read_options(options);
  struct taking taking = {.take = each, .context = context, .full = o.full, .apart = o.apart};
  if (table == NULL) return fold_answer(fold_error(FOLD_BAD_INPUT, "the table is a null pointer"));
  if (each == NULL)
    return fold_answer(fold_error(FOLD_BAD_INPUT, "the function that takes judgements is a null pointer"));
  return fold_answer(fold_library_turn(verify, &(struct verifying){table, &o, fold_fp_state_arithmetic(), &taking}));
}
