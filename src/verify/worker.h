/* worker.h: the process that runs a job's round (supervise.h): how it is started, and its messages. */
#ifndef FOLD_WORKER_H
#define FOLD_WORKER_H

#include "supervise.h"
#include "watch.h"

enum fold_word {
  WORK_READY = 1, /* struct fold_ready, then the environment as JSON text */
  WORK_CASE,      /* uint64_t: which is begun */
  WORK_TRIAL,     /* struct fold_begun */
  WORK_BASE,      /* struct fold_traces, then the results of the base run */
  WORK_JUDGED,    /* struct fold_judged */
  WORK_ASKS,      /* nothing: all verdicts of the trial are told, and it is asked how an order changed */
  WORK_CHANGES,   /* struct fold_order_change, any number: what was found */
  WORK_ENDED,     /* struct fold_ended; the last word */
};

struct fold_ready {
  uint32_t ranks; /* that arrays are spread over */
};
struct fold_begun {
  struct fold_place place;
  uint64_t input_hash;
};
struct fold_judged {
  struct fold_place place;
  uint64_t input_hash;
  uint32_t claim;  /* FOLD_CLAIMS: a base run, nothing judged */
  int32_t fact;    /* index, -1: none */
  bool known, ran; /* ran: there are results, which the last WORK_BASE holds */
  bool awaited;    /* WORK_CHANGES will come */
  struct fold_finding finding;
};
struct fold_ended {
  fold_status status, closed; /* of the round; of the worlds' end */
  bool lost;                  /* an engine is: go on at `place` in a new process */
  struct fold_place place;
};

/* What all workers of a job share with who watches them: memory, and the records of the new process. */
struct fold_desk {
  struct fold_watch watch;
  bool has_ranks, has_fresh; /* set by the worker that found out */
  unsigned ranks;
  _Atomic bool unheard; /* the worker could not say more: its socket is gone */
};

struct fold_worker {
  const struct fold_job *job;
  struct fold_desk *desk;
  const struct fold_cases *cases; /* NULL: they hang on how many ranks there are, which the worker finds out */
  int fresh;                      /* a file for the new process's records; -1 where none is wanted */
  struct fold_place place;        /* where to begin */
  const double *seconds_lost;     /* of each subject */
  double patience;
  uint64_t *explained; /* of each subject (runner.h) */
};

/* The worker's whole life, in its own process: says on `fd` all that it does. Returns the process's exit code. */
int fold_worker_serve(const struct fold_worker *worker, int fd);
/* The same in this process, to the job's sink itself. */
fold_status fold_worker_here(const struct fold_worker *worker);

#endif
