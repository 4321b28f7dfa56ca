/* judged.c: see judged.h. */
#include "hunt/judged.h"

#include <math.h>
#include <stdlib.h>

#include "base/list.h"
#include "run/supervise.h"

/* A sink's context. */
struct taking {
  struct fold_judged_cases *judged;
  const struct fold_cases *cases;
  bool probe;
  size_t c, subject; /* of the last judgement */
};

static void count_trial(struct taking *t, size_t c, size_t subject) {
  t->judged->trials += c != t->c || subject != t->subject;
  t->c = c;
  t->subject = subject;
}

/* NaN is less than any number. */
static void keep_greater(double *greatest, double error) {
  if (!(*greatest >= error)) *greatest = error;
}

static fold_status take(void *context, const struct fold_judgement *j) {
  struct taking *t = context;
  struct fold_judged_cases *judged = t->judged;
  const size_t c = (size_t)(j->c - t->cases->at);
  const enum fold_verdict verdict = j->finding.verdict;
  count_trial(t, c, j->subject_index);
  keep_greater(&judged->error[c].fraction, j->finding.fraction);
  keep_greater(&judged->error[c].ulps, j->finding.ulps);
  if ((!j->promised && !t->probe) || fold_is_not_run(&j->finding)) return fold_ok();
  judged->verdicts[verdict]++;
  if ((verdict != FOLD_REFUTED && verdict != FOLD_BROKEN) || j->known || j->beside) return fold_ok();
  struct fold_against *against = fold_list_grow(&judged->against, &judged->n, &judged->room, sizeof *against);
  if (!against) return fold_no_memory("for what was refuted");
  *against = (struct fold_against){j->subject_index, c, j->claim->id, j->finding};
  return fold_ok();
}

static fold_status begin(void *context, struct fold_place place, uint64_t input_hash) {
  const struct taking *t = context;
  (void)input_hash;
  t->judged->begun = place.c + 1;
  t->judged->before_last = t->judged->n;
  return fold_ok();
}

/* Of each case and subject. */
static void put_causes_first(struct fold_judged_cases *judged) {
  for (size_t i = 1; i < judged->n; i++)
    for (size_t k = i; k > 0 && judged->against[k].claim == FOLD_CAUSE; k--) {
      struct fold_against *one = &judged->against[k - 1], was = *one;
      if (one->c != one[1].c || one->subject != one[1].subject) break;
      *one = one[1];
      one[1] = was;
    }
}

struct fold_selection fold_judged_selection(const struct fold_selection *selection, const struct fold_subject *subject,
                                            enum fold_claim_id claim) {
  size_t n_claims;
  struct fold_selection one = *selection;
  one.subjects = subject->name;
  one.engine = (int)subject->engine;
  one.claims = fold_claims(&n_claims)[claim].name;
  return one;
}

/* A job that is done in this process. */
struct here {
  const struct fold_job *job;
  volatile int over;
};

static fold_status pass_on(void *context, const struct fold_judgement *judgement) {
  const struct here *h = context;
  return h->job->sink->judgement(h->job->sink->context, judgement);
}

/* A trial that begins after the end is no new one for the job's sink. */
static fold_status look(void *context, struct fold_place place, uint64_t input_hash) {
  struct here *h = context;
  const struct fold_here *here = h->job->selection->here;
  const struct fold_sink *sink = h->job->sink;
  if (here->is_over(here->context) || (h->job->stop && *h->job->stop)) h->over = 1;
  return h->over || !sink->trial ? fold_ok() : sink->trial(sink->context, place, input_hash);
}

fold_status fold_hunt_do(const struct fold_job *job, fold_status *unexplained) {
  struct here h = {.job = job};
  const struct fold_sink sink = {.judgement = pass_on, .trial = look, .context = &h};
  if (!job->selection->here) return fold_supervise(job, unexplained);
  *unexplained = fold_ok();
  FOLD_TRY(fold_verify(job->registry, job->selection, job->cases, NULL, &sink, &h.over));
  job->selection->here->is_over(job->selection->here->context); /* the last trial may have ended by an interruption */
  return fold_ok();
}

fold_status fold_judge_cases(const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_cases *cases, const volatile int *stop,
                             struct fold_judged_cases *judged) {
  struct taking taking = {judged, cases, selection->probe, SIZE_MAX, SIZE_MAX};
  const struct fold_sink sink = {.judgement = take, .trial = begin, .context = &taking};
  const struct fold_job job = {.registry = registry,
                               .selection = selection,
                               .cases = cases,
                               .judge = true,
                               .once = true,
                               .sink = &sink,
                               .stop = stop};
  *judged = (struct fold_judged_cases){.unexplained = fold_ok()};
  judged->error = malloc((cases->n + 1) * sizeof *judged->error);
  if (!judged->error) return fold_no_memory("for %zu cases", cases->n);
  for (size_t i = 0; i < cases->n; i++) judged->error[i] = (struct fold_judged_error){(double)NAN, (double)NAN};
  FOLD_TRY(fold_hunt_do(&job, &judged->unexplained));
  if (!stop || !*stop) judged->begun = cases->n;
  put_causes_first(judged);
  return fold_ok();
}

void fold_judged_close(struct fold_judged_cases *judged) {
  free(judged->against);
  free(judged->error);
  *judged = (struct fold_judged_cases){0};
}
