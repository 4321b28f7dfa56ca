/* culprit.c: judges each subject once more, alone in a process, on one case; only how the process ends matters. */
#include "culprit.h"

static fold_status drop(void *context, const struct fold_judgement *judgement) {
  return (void)context, (void)judgement, fold_ok();
}

static bool ends_badly(const struct fold_job *all, const struct fold_subject *subject, const char *case_name) {
  struct fold_selection one = *all->selection;
  const struct fold_sink sink = {.judgement = drop};
  struct fold_job job = *all;
  fold_status riddle;
  one.subjects = subject->name;
  one.engine = (int)subject->engine;
  if (one.n_npy == 0) one.fixtures = case_name;
  job.selection = &one;
  job.sink = &sink;
  job.begin = NULL;
  job.fresh_for = 0;
  return fold_supervise(&job, &riddle).code == FOLD_OK && riddle.code != FOLD_OK;
}

const struct fold_subject *fold_culprit(const struct fold_job *job, const struct fold_cases *cases, const size_t *ran) {
  const struct fold_subject *subjects = job->registry->subjects, *only = NULL;
  size_t n = 0;
  for (size_t i = 0; i < job->registry->n; i++) {
    n += ran[i] > 0;
    if (ran[i]) only = &subjects[i];
  }
  if (n < 2) return only;
  for (size_t i = 0; i < job->registry->n && !*job->stop; i++)
    if (ran[i] && ends_badly(job, &subjects[i], cases->at[ran[i] - 1].name)) return &subjects[i];
  return NULL;
}
