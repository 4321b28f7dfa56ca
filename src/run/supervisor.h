/* supervisor.h: what supervise.c and messages.c share: the supervisor's state, and reading a worker's messages.
 * Private to them. */
#ifndef FOLD_SUPERVISOR_H
#define FOLD_SUPERVISOR_H

#include "process/heartbeat.h"
#include "ranks/wire.h"
#include "run/worker.h"

/* What was read from a worker's socket and is not handled yet. */
struct fold_inbox {
  size_t from, to;
  unsigned char bytes[1 << 16];
};

/* Why a worker is not listened to any more. */
enum fold_ending {
  FOLD_WORKER_RUNS,
  FOLD_WORKER_DONE,
  FOLD_WORKER_GONE,
  FOLD_WORKER_HUNG,
  FOLD_WORKER_SILENT,
  FOLD_WORKER_GARBLED,
  FOLD_WORKER_STOPPED
};

struct fold_supervisor {
  const struct fold_job *job;
  struct fold_shared *shared;
  int fresh;
  double limit;
  double *seconds_lost;
  uint64_t *explained; /* of each subject (runner.h) */
  bool *uninformed;    /* so is this: a run for information ended or hung its process */
  struct fold_cases cases;
  bool has_cases; /* the cases are read, before any worker is started */
  bool begun;     /* the sink was told of the environment, and the cases are read */
  bool left_some; /* a worker did not end by itself: what it started may still be there */
  /* For the worker that is listened to: */
  pid_t pid;
  int fd;
  struct fold_inbox inbox;
  struct fold_round round; /* where it is, for judgements in its stead */
  bool in_trial;
  size_t trials;     /* that it has begun */
  size_t *ran;       /* for each subject: the case of its last trial, counted from 1; 0: it had none */
  uint64_t told;     /* a mask of the claims that were judged in this trial */
  bool stuck;        /* the worker before it ended without a trial */
  bool again;        /* the trial is run for the second time: what was reported before is not reported again */
  bool calm;         /* and the subject is not to blame, because a run for information ended the process */
  uint32_t explains; /* the claim whose refutation the worker explains; FOLD_CLAIMS: it does not */
  double since;      /* when the trial began, a time of fold_now */
  struct fold_timeout timeout;
  struct fold_limit silence; /* until when it may neither send nor run anything */
  bool heard;                /* a message has come since the last look */
  uint64_t turns;            /* the watch's count at the last look */
  struct fold_traces traces; /* of the base run */
  unsigned char *got;        /* and its results, in a buffer of got_bytes */
  size_t got_bytes;
  struct fold_ended ended;
  int sent;                    /* a signal that it, or what it has started, sent to this process; 0: none */
  fold_status failed;          /* the sink failed, or memory is short: this ends all */
  size_t unexplained;          /* how often a process ended for a reason that no judgement gives */
  char first_unexplained[200]; /* where that was first, and how */
};

/* messages.c: whether the head of the worker's next message has been read. */
bool fold_supervisor_has_message(const struct fold_supervisor *s);
/* Reads what has arrived; false where nothing more will come. */
bool fold_supervisor_receive(struct fold_supervisor *s);
/* Handles the next message: notes it, or hands it to the sink. Returns how the worker ended, if it did. */
enum fold_ending fold_supervisor_take_message(struct fold_supervisor *s);

#endif
