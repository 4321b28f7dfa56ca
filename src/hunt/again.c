/* again.c: see again.h. */
#include "hunt/again.h"

#include "hunt/judged.h"
#include "run/supervise.h"

/* A sink's context. */
struct taking {
  const struct fold_find *find;
  const struct fold_again_sink *sink;
  bool seen;
};

static fold_status take(void *context, const struct fold_judgement *j) {
  struct taking *t = context;
  const enum fold_verdict want = t->find->broken ? FOLD_BROKEN : FOLD_REFUTED;
  if (t->seen || j->finding.verdict != want || j->claim == NULL) return fold_ok();
  if (j->subject_index != t->find->subject || j->claim->id != t->find->claim) return fold_ok();
  t->seen = true;
  return t->sink->take(t->sink->context, j);
}

fold_status fold_hunt_again(const struct fold_hunt *hunt, const struct fold_find *find, const struct fold_cases *cases,
                            const struct fold_again_sink *sink, bool *seen) {
  const struct fold_selection selection =
      fold_judged_selection(hunt->selection, &hunt->registry->subjects[find->subject], find->claim);
  struct taking taking = {find, sink, false};
  const struct fold_sink judgements = {.judgement = take, .context = &taking};
  const struct fold_job job = {.registry = hunt->registry,
                               .selection = &selection,
                               .cases = cases,
                               .judge = true,
                               .sink = &judgements,
                               .stop = hunt->stop};
  fold_status unexplained;
  const fold_status status = fold_hunt_do(&job, &unexplained);
  *seen = taking.seen;
  return status;
}

static fold_status tell(const struct fold_hunt *hunt, const struct fold_find *find, const struct fold_cases *cases,
                        const struct fold_again_sink *sink) {
  size_t n_claims;
  bool seen = false;
  if (!fold_is_hang(&find->finding) && !*hunt->stop) FOLD_TRY(fold_hunt_again(hunt, find, cases, sink, &seen));
  if (seen || cases->n == 0) return fold_ok();
  const struct fold_judgement as_found = {.subject = &hunt->registry->subjects[find->subject],
                                          .subject_index = find->subject,
                                          .c = &cases->at[cases->n - 1],
                                          .claim = &fold_claims(&n_claims)[find->claim],
                                          .promised = true,
                                          .finding = find->finding};
  return sink->take(sink->context, &as_found);
}

fold_status fold_hunt_tell(const struct fold_hunt *hunt, const struct fold_find *find,
                           const struct fold_again_sink *sink) {
  struct fold_cases cases = {0};
  fold_status status = fold_cases_load_file(find->path, &cases);
  if (status.code == FOLD_OK) status = tell(hunt, find, &cases, sink);
  fold_cases_free(&cases);
  return status;
}
