/* supervisor.h: what the two files of a supervisor share: its state; what a worker says. Private to them. */
#ifndef FOLD_SUPERVISOR_H
#define FOLD_SUPERVISOR_H

#include "held.h"
#include "patience.h"
#include "wire.h"
#include "worker.h"

/* What was read from a worker's socket and is not taken yet. */
struct inbox {
  size_t from, to;
  unsigned char bytes[1 << 16];
};

/* Why a worker is not listened to any more. */
enum ending { STILL_THERE, SAID_ALL, WENT, HUNG, HALTED, SILENT, SPOKE_NONSENSE, STOPPED };

struct supervisor {
  const struct fold_job *job;
  struct fold_desk *desk;
  int fresh;
  double limit;
  double *seconds_lost;
  uint64_t *explained; /* of each subject (runner.h) */
  struct fold_cases cases;
  bool has_cases; /* before any worker */
  bool begun;     /* the sink was told of the environment, the cases are read */
  bool left_some; /* a worker was not asked to end: what it started may still be there */
  /* Of the worker that is listened to: */
  pid_t pid;
  int fd;
  struct inbox inbox;
  struct fold_round round; /* where it is; for judgements in its stead */
  bool in_trial;
  size_t trials;         /* that it began */
  size_t *ran;           /* of each subject: the case of its last one, counted from 1 */
  uint64_t told;         /* the claims that were judged in this trial, FOLD_CLAIM each */
  bool stuck;            /* the worker before it ended without a trial */
  bool again;            /* the trial is run for the second time: what was told before is not told again */
  struct fold_held held; /* judgements that wait to hear how an order changed */
  bool asks;             /* the worker asks for that: all verdicts of the trial are told */
  double since;          /* when the trial began, a time of fold_now */
  struct fold_patience patience;
  struct fold_limit halt, silence; /* how long it may be halted by a signal; say nothing and run nothing, and */
  bool halted, heard;              /* it is; a word came since */
  uint64_t turns;                  /* the watch's then */
  struct fold_traces traces;       /* of the base run, and */
  unsigned char *got;              /* its results; in a room that was */
  size_t got_bytes;
  struct fold_ended ended;
  int sent;              /* a signal to this process, by it or what it has started; 0: none */
  fold_status failed;    /* of the sink, or of memory: ends all */
  char ended_badly[160]; /* how the first worker did that had said all, and */
  size_t *suspects;      /* who ran in it, as `ran` */
  size_t riddles;        /* how often a worker ended in a trial that then ended well in a new one, and */
  char riddle[200];      /* where first, and how */
};

/* supervise_words.c: whether the head of the worker's next word has been read. */
bool fold_supervisor_hears(const struct supervisor *s);
/* Reads what there is; false where nothing more will come. */
bool fold_supervisor_reads(struct supervisor *s);
/* The next word, taken down or handed to the sink; or the worker's end. */
enum ending fold_supervisor_take(struct supervisor *s);

#endif
