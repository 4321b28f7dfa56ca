/* held.c: see held.h. */
#include "held.h"

static const struct fold_order_change *change_of(const struct fold_judgement *j,
                                                 const struct fold_order_change *changes, size_t n) {
  for (size_t k = 0; k < n && j->claim; k++)
    if (changes[k].claim == j->claim->id && changes[k].text[0]) return &changes[k];
  return NULL;
}

fold_status fold_held_end(struct fold_held *held, const struct fold_order_change *changes, size_t n,
                          const struct fold_sink *to) {
  fold_status status = fold_ok();
  for (size_t k = 0; k < held->n && status.code == FOLD_OK; k++) {
    struct fold_judgement *j = &held->at[k];
    if (j->awaited) j->change = change_of(j, changes, n);
    status = to->judgement(to->context, j);
  }
  held->n = 0;
  return status;
}

fold_status fold_held_take(struct fold_held *held, const struct fold_judgement *j, const struct fold_sink *to) {
  if (held->n == 0 && !j->awaited) return to->judgement(to->context, j);
  if (held->n == sizeof held->at / sizeof *held->at) FOLD_TRY(fold_held_end(held, NULL, 0, to));
  held->at[held->n++] = *j;
  return fold_ok();
}

static fold_status take(void *context, const struct fold_judgement *j) {
  struct fold_holding *h = context;
  return fold_held_take(&h->held, j, h->to);
}
static fold_status take_changes(void *context, const struct fold_order_change *changes, size_t n) {
  struct fold_holding *h = context;
  return fold_held_end(&h->held, changes, n, h->to);
}
static fold_status take_trial(void *context, struct fold_place place, uint64_t input_hash) {
  const struct fold_sink *to = ((struct fold_holding *)context)->to;
  return to->trial ? to->trial(to->context, place, input_hash) : fold_ok();
}
static void take_progress(void *context, size_t done, size_t cases, const char *case_name) {
  const struct fold_sink *to = ((struct fold_holding *)context)->to;
  if (to->progress) to->progress(to->context, done, cases, case_name);
}

void fold_holding_open(struct fold_holding *h, const struct fold_sink *to) {
  h->held.n = 0;
  h->to = to;
  h->sink = (struct fold_sink){
      .judgement = take, .progress = take_progress, .trial = take_trial, .changes = take_changes, .context = h};
}
