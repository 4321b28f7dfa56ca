/* hunt.h: judges random cases until the time is over, in several processes, and makes each refuted one small.
 *
 * Promised: rounds of cases follow from the seed and the selected subjects alone. What was found before an interruption is kept. No
 * process is left.
 */
#ifndef FOLD_HUNT_H
#define FOLD_HUNT_H

#include "hunt/draw.h"
#include "hunt/shrink.h"

/* How many lanes of rounds there are: each takes the sizes that told something in its own rounds; so processes need not agree. */
enum { FOLD_HUNT_LANES = 8 };

struct fold_hunt {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  uint64_t seed, cases;        /* cases at most; 0: no limit */
  uint64_t terms;              /* that a case has at most; 0: no limit */
  double seconds;              /* 0: no limit */
  double shrink_seconds;       /* for making one case small; 0: 10, in a long hunt a tenth of its time, 60 at most */
  unsigned processes;          /* from 1 to FOLD_HUNT_LANES; 1 where the selection says that subjects are run here */
  bool first;                  /* ends with the first that is found */
  const char *folder;          /* for what is found */
  const uint64_t *expected;    /* of each subject: the claims whose refutation is known (a mask); NULL: none is */
  const uint64_t *tails;       /* those by results that lack terms */
  const char *const *left_out; /* names of cases that are not run; NULL ends them; or NULL */
  const volatile int *stop;
};

/* What has been tried. */
struct fold_hunted {
  uint64_t cases, trials, verdicts[FOLD_VERDICTS];
  uint64_t by_problem[FOLD_PROBLEMS], by_dtype[FOLD_DTYPES], by_terms[40]; /* cases of 2^i to 2^(i + 1) - 1 terms */
  uint64_t expected;                                                       /* refutations that were expected */
  uint64_t hung;  /* subjects that are not run any more, since a run did not end */
  double closest; /* the greatest error over its bound that held; NaN: none was measured */
  char closest_case[120];
};

/* A find, as far as its file does not say it. */
struct fold_find {
  size_t subject;
  enum fold_claim_id claim;
  bool broken;
  size_t tries, cases,
      other_terms; /* judged to make it small; in its file; factors of its last one that are neither 0, 1 nor -1 */
  bool generated;  /* the terms of the last one are a generator's, and not made simpler */
  unsigned seen, looked;
  char threshold[160], from[160], path[400]; /* shrink.h; the case's name in the hunt; the fixture */
  struct fold_finding finding;
};

/* Called in this process. */
struct fold_hunt_sink {
  fold_status (*found)(void *context, const struct fold_find *find);
  void (*progress)(void *context, const struct fold_hunted *hunted, double seconds);
  void *context;
};

fold_status fold_hunt_run(const struct fold_hunt *hunt, const struct fold_hunt_sink *sink, struct fold_hunted *hunted);

#endif
