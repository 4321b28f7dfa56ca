/* replay.h: the command line that judges one case again, alone and as it was asked, for a shell to run as it stands. */
#ifndef FOLD_REPLAY_H
#define FOLD_REPLAY_H

#include <jansson.h>
#include <stdio.h>

#include "runner.h"

/* How a judgement was asked for, where that was not as ever (0, false, NULL or "" elsewhere): repeats of run_to_run, numbers of rows, strictness
 * about what is known, and the world. */
struct fold_asked {
  unsigned repeats;
  bool strict;
  const char *ranks, *launch, *timeout, *around, *twin;
  const char *python; /* the line of Python that judges a callable's case again */
  const json_t
      *variables; /* of threads, and of a library over ranks: {"OMP_NUM_THREADS": "7", "NCCL_ALGO": "Ring", ...} */
  const json_t *guests; /* those that were there: [["--guest", "./mine.so"], ...] */
};
/* Guests, variables, time limit and world, which are the same for all of a command: FOLDPROOF_TIMEOUT, FOLDPROOF_RANKS and _LAUNCH,
 * whose values it points to. */
void fold_asked_world(struct fold_asked *asked, enum fold_engine engine, const struct fold_selection *selection);
void fold_asked_for(struct fold_asked *asked, const struct fold_judgement *judgement,
                    const struct fold_selection *selection, bool strict);

/* The same of all of a run, for its environment's record: guests and the world, where there are any. */
json_t *fold_asked_of(const struct fold_selection *selection);

struct fold_replay {
  const char *program, *subject, *engine, *claim;
  bool probe;                    /* the claim was not promised */
  const char *npy, *op;          /* an array's path and the operation, */
  unsigned ranks;                /* and over how many ranks it is spread (0: over none); or */
  const char *folder, *fixtures; /* a case's name, and the folder of fixtures (NULL: the program's own) */
  struct fold_asked asked;
  const char *golden,
      *library; /* golden: by record, against the goldens of that folder, of guests built on that library */
};
/* Of a judgement, as it was asked for. */
struct fold_replay fold_replay_of(const struct fold_judgement *judgement, const char *program, const char *folder);
/* Whether a line can run that subject: a guest's has the guest, or is of Python. A callable of another program's is that program's to run. */
bool fold_replay_can_run(const struct fold_asked *asked, bool guest);
/* Whether a replay sets a variable of that name, which may be any text. */
bool fold_replay_repeats(const char *variable);
/* Whatever the words hold, they stay words. */
void fold_put_replay(const struct fold_replay *replay, FILE *out);

#endif
