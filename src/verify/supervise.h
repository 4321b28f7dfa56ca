/* supervise.h: runs a round in a process of its own, so that a subject that crashes, exits or hangs loses only its case.
 *
 * Promised: whatever a subject does to its process, the sink gets a judgement for each claim of each trial, in the round's order:
 * a trial whose process ended, or was killed because a run took too long, is broken, with the reason; the round continues after it in
 * a new process. If that process had run other subjects before, the trial is first run again in a new one: what they left behind is not
 * its fault. If it then ends well, its judgements count, and *riddle says so in the end. No process is left. Once *stop is non-zero the worker has half a second for what it is at;
 * a signal that a subject sends here does not set it (asked.h).
 *
 * Subjects of engines with ranks run in the ranks (world.h), which the worker watches in its turn.
 */
#ifndef FOLD_SUPERVISE_H
#define FOLD_SUPERVISE_H

#include "runner.h"

struct fold_job {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  bool judge;       /* each claim; else one run of each subject, and nothing is judged */
  bool wants_fresh; /* the same runs in a new process too, first (fresh.h) */
  bool in_process;  /* no process of its own: for debuggers and profilers, and at the user's risk */
  /* Asked in the worker before anything else, where engines may be started; its failure is the job's. May be NULL. */
  fold_status (*ready)(const struct fold_job *job);
  /* Told once, first: the environment of the results (environment.h) as JSON text. */
  fold_status (*begin)(void *context, const char *environment);
  const struct fold_sink *sink;
  const volatile int *stop;
};

/* Seconds that one run of a subject may take are FOLDPROOF_TIMEOUT's (20) and a microsecond for each element. A subject that ended or
 * hung processes for more than three times as long is not run any more: its judgements are broken. *riddle is ENVIRONMENT where all was
 * judged, but some process ended for no reason that a judgement has. */
fold_status fold_supervise(const struct fold_job *job, fold_status *riddle);

#endif
