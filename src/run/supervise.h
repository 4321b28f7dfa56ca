/* supervise.h: runs a round in a process of its own, so that a subject that crashes, exits or hangs loses only its case.
 *
 * Promised: whatever a subject does to its process, the sink gets a judgement for each claim of each trial, in the
 * round's order: a trial whose process ended, or was killed because a run took too long, is broken, with the reason;
 * the round continues after it in a new process. If that process had run other subjects before, the trial is first run
 * again in a new one, since what the others left behind is not its fault. If the trial then ends well, its judgements
 * count, and *unexplained says so in the end. No process is left. Once *stop is non-zero the worker gets half a second to
 * finish; a signal that a subject sends here does not set it (signals.h).
 *
 * Subjects of engines with ranks run in the ranks (world.h), and the worker watches these.
 */
#ifndef FOLD_SUPERVISE_H
#define FOLD_SUPERVISE_H

#include "run/runner.h"

struct fold_job {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  const struct fold_cases *cases; /* NULL: those that the selection chooses */
  bool judge;                     /* each claim; else one run of each subject, and nothing is judged */
  uint64_t fresh_for;             /* claims for which the same runs are first made in new processes (fresh.h): a mask */
  bool once;                      /* a subject whose run hung is not run any more, as one that crashed for long */
  bool in_process;                /* no process of its own: for debuggers and profilers, and at the user's risk */
  /* Called in the worker before anything else; it may start engines. If it fails, the job fails. May be NULL. */
  fold_status (*ready)(const struct fold_job *job);
  /* Called once, first, with the environment of the results (environment.h) as JSON text. NULL: it is not needed, and is not
   * looked at, which takes longer than a short run. */
  fold_status (*begin)(void *context, const char *environment);
  const struct fold_sink *sink;
  const volatile int *stop;
};

/* One run of a subject may take FOLDPROOF_TIMEOUT seconds (20) and a microsecond for each element. A subject that has
 * cost more than three times as long (half as long, if job->once), by processes that it ended or hung, is not run any more: its judgements
 * are broken (fold_is_not_run). *unexplained is ENVIRONMENT if all was judged, but some process ended for a reason that no judgement gives. */
fold_status fold_supervise(const struct fold_job *job, fold_status *unexplained);
/* Whether a run took longer than it may, or its process hung. */
bool fold_is_hang(const struct fold_finding *finding);
/* Whether it says that processes ended, and that no subject was seen to end them. */
bool fold_is_unexplained(const fold_status *status);

#endif
