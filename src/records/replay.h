/* replay.h: the command line that judges one case again, by itself and with the same options, for a shell to run as it stands. */
#ifndef FOLD_REPLAY_H
#define FOLD_REPLAY_H

#include <jansson.h>
#include <stdio.h>

#include "run/runner.h"

/* What begins the line with the command that repeats a case. */
#define FOLD_REPRODUCE "  reproduce: "

/* The options of a judgement, as far as they were not the default (0, false, NULL or ""): repeats of run_to_run,
 * numbers of rows, strictness about known defects, and the world. */
struct fold_asked {
  unsigned repeats;
  bool strict, finite;
  bool one_engine,
      usual_set; /* the subject is on no other engine; the case is in the set that verify takes by default */
  const char *ranks, *launch, *timeout, *around, *sweep, *twin, *accurate_as, *ulps;
  const char *python; /* the line of Python that judges a callable's case again */
  const json_t
      *variables; /* for threads, and for the library of ranks: {"OMP_NUM_THREADS": "7", "NCCL_ALGO": "Ring", ...} */
  const json_t *guests; /* the guests of the command: [["--guest", "./mine.so"], ...] */
};
/* Fills in what is the same for a whole command: guests, variables, time limit and world. It points to the values of
 * FOLDPROOF_TIMEOUT, FOLDPROOF_RANKS and FOLDPROOF_LAUNCH. */
void fold_asked_world(struct fold_asked *asked, enum fold_engine engine, const struct fold_selection *selection);
void fold_asked_for(struct fold_asked *asked, const struct fold_judgement *judgement,
                    const struct fold_selection *selection, bool strict);

/* The same for a whole run, for its environment's record: guests and the world, where there are any. */
json_t *fold_asked_of(const struct fold_selection *selection);

struct fold_replay {
  const char *program, *subject, *engine, *claim;
  bool probe;                    /* the claim was not promised */
  const char *npy, *op;          /* an array's path and the operation, */
  unsigned ranks;                /* and over how many ranks it is spread (0: over none); or */
  const char *folder, *fixtures; /* a case's name, and the folder of fixtures (NULL: the program's own) */
  struct fold_asked asked;
};
/* The replay of a judgement, with its options. */
struct fold_replay fold_replay_of(const struct fold_judgement *judgement, const char *program, const char *folder);
/* Whether a line can run that subject. For a guest it must have the guest, or be a line of Python: only its own program
 * can run another program's callable. */
bool fold_replay_can_run(const struct fold_asked *asked, bool guest);
/* Prints the command line, quoted, so that no word is taken apart by a shell. */
void fold_put_replay(const struct fold_replay *replay, FILE *out);

#endif
