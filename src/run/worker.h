/* worker.h: the process that runs a job's round (supervise.h): how it is started, and its messages. */
#ifndef FOLD_WORKER_H
#define FOLD_WORKER_H

#include "process/heartbeat.h"
#include "run/supervise.h"

enum fold_work {
  FOLD_WORK_READY = 1, /* struct fold_ready, then the environment as JSON text */
  FOLD_WORK_CASE,      /* uint64_t: the case that is begun */
  FOLD_WORK_TRIAL,     /* struct fold_begun */
  FOLD_WORK_BASE,      /* struct fold_traces, then the results of the base run */
  FOLD_WORK_JUDGED,    /* struct fold_judged */
  FOLD_WORK_EXPLAINS,  /* uint32_t: the claim whose refutation it now explains; all verdicts of the trial are sent */
  FOLD_WORK_EXPLAINED, /* struct fold_order_change */
  FOLD_WORK_ENDED,     /* struct fold_ended; the last message */
};

struct fold_ready {
  uint32_t ranks; /* over how many ranks arrays are spread */
};
struct fold_begun {
  struct fold_place place;
  uint64_t input_hash;
};
struct fold_judged {
  struct fold_place place;
  uint64_t input_hash;
  uint32_t claim;  /* FOLD_CLAIMS: a base run, nothing judged */
  int32_t fact;    /* its index; -1: none */
  bool known, ran; /* ran: there are results, those of the last FOLD_WORK_BASE */
  bool beside;     /* as in struct fold_judgement */
  struct fold_finding finding;
};
struct fold_ended {
  fold_status status, closed; /* how the round ended; how the worlds did */
  bool lost;                  /* an engine is lost: go on at `place` in a new process */
  struct fold_place place;
};

/* The memory that all workers of a job share with the process that watches them. */
struct fold_shared {
  struct fold_watch watch;
  bool has_ranks, has_fresh; /* `ranks` is known; the new process has recorded (fresh.h) */
  unsigned ranks;
  _Atomic bool unheard; /* the worker could not send more: its socket is gone */
};

struct fold_worker {
  const struct fold_job *job;
  struct fold_shared *shared;
  const struct fold_cases *cases; /* NULL: they depend on the number of ranks, which the worker finds out */
  int fresh;                      /* a file for the new process's records; -1: no new process is wanted */
  struct fold_place place;        /* where to begin */
  const double *seconds_lost;     /* of each subject */
  double most_lost;
  uint64_t *explained; /* for each subject (runner.h) */
  const bool *uninformed;
};

/* The worker's main function, in its own process: sends on `fd` all that it does. Returns the process's exit code. */
int fold_worker_serve(const struct fold_worker *worker, int fd);
/* The same in this process, directly to the job's sink. */
fold_status fold_worker_here(const struct fold_worker *worker);

#endif
