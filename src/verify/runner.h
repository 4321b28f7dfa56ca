/* runner.h: subjects x cases x claims: makes each input once, runs each subject on it, has each claim judged.
 *
 * What comes out goes to a sink, one judgement at a time: tables, records and messages are sinks. The runner knows
 * none of them.
 */
#ifndef FOLD_RUNNER_H
#define FOLD_RUNNER_H

#include "guest.h"
#include "judge.h"

enum { FOLD_REPEATS = 3 };

/* What the user asked for; globs are comma-separated, NULL means all. */
struct fold_selection {
  const char *subjects, *claims, *fixtures;
  int engine;         /* enum fold_engine, -1: every engine */
  const char *folder; /* of fixtures */
  const char *set;    /* one of fold_set_names */
  const char **npy; /* files judged instead of fixtures; with an engine that has ranks, their columns over all ranks */
  size_t n_npy;
  const struct fold_problem *npy_problem;
  unsigned repeats;          /* of run_to_run: FOLD_REPEATS unless the user says otherwise */
  struct fold_around around; /* of batch_invariant; and as the user wrote it */
  const char *around_text;
  const char *twin; /* whose bits every other guest's subject promises, or NULL (fold_guests_load) */
  const struct fold_guest
      *guests; /* where there are any, only their subjects are meant unless `subjects` says otherwise */
  size_t n_guests;
  bool probe;     /* judge claims that are not promised too */
  bool backwards; /* the last case first, and of each the last subject (fresh.c) */
};

/* One claim of one subject on one case. */
struct fold_judgement {
  const struct fold_subject *subject;
  size_t subject_index;
  const struct fold_case *c;
  const struct fold_claim *claim; /* NULL: a base run, nothing judged */
  bool promised;
  uint64_t input_hash;
  const void *got;                  /* c->rows results, or NULL when the base run failed */
  const struct fold_traces *traces; /* what else the base run did */
  struct fold_finding finding;
  const struct fold_fact *fact;   /* of a peer's refuted promise: what explains it, or NULL */
  bool known;                     /* and whether that was seen in this version of the library */
  const char *version;            /* of that library, as its record tells; NULL: as it is here */
  const struct fold_asked *asked; /* of what is refuted or broken: how (replay.h); or NULL */
  bool full;                      /* its record holds the bits of all rows */
  bool beside;                    /* it is broken as another promise of the trial is, which was told before it */
  bool after;                     /* of one that is broken by its process's end: others of the trial were told before */
  bool awaited;                   /* a sink that takes changes is told later whether and how the order changed: */
  const struct fold_order_change *change; /* or NULL */
};

/* Subject `subject` of the registry on case `c` of those that are selected. */
struct fold_place {
  size_t c, subject;
};

struct fold_sink {
  fold_status (*judgement)(void *context, const struct fold_judgement *judgement);
  void (*progress)(void *context, size_t done, size_t cases, const char *case_name); /* may be NULL */
  /* Before a subject is run on a case: who is to blame if this process ends there. May be NULL. */
  fold_status (*trial)(void *context, struct fold_place place, uint64_t input_hash);
  /* At the end of each trial some of whose judgements were awaited: how the order of additions changed. It is asked for after all verdicts
   * are told, for a subject may end its process then. NULL: nobody asks. */
  fold_status (*changes)(void *context, const struct fold_order_change *changes, size_t n);
  /* Before it is asked for. May be NULL. */
  fold_status (*asking)(void *context);
  void *context;
};

/* Over how many ranks arrays are spread: over all that there are, where an engine with ranks is asked for, and 0
 * elsewhere. Where it has none, over one: that case is skipped with the engine's reason. Starts the engine's world. */
fold_status fold_select_ranks(const struct fold_selection *selection, unsigned *ranks);
/* Reads the cases that are selected, arrays over so many ranks; BAD_INPUT for a glob that matches nothing. */
fold_status fold_select_cases(const struct fold_selection *selection, unsigned ranks, struct fold_cases *cases);

/* Subjects x cases, from some place on. */
struct fold_round {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  const struct fold_cases *cases;
  const struct fold_fresh *fresh; /* may be NULL */
  const struct fold_sink *sink;
  const volatile int *stop;
  bool judge;                 /* each claim; else one run of each subject, and nothing is judged */
  bool leave_lost;            /* end where an engine is lost for this process */
  struct fold_place place;    /* where it begins, and how far it came */
  uint64_t input_hash;        /* of the case that is run; 0: not made yet */
  const double *seconds_lost; /* of each subject, what processes that it ended or hung have cost; NULL: none were */
  double patience;            /* a subject that cost more is not run any more */
  uint64_t *
      explained; /* of each subject, the claims of which it was told how the order changed, or was not to be: FOLD_CLAIM each */
};
/* Judges, or records, everything selected from `place` on. Stops early, with OK, once *stop is non-zero; or where an engine was
 * lost, before the next place: *lost says so. */
fold_status fold_round_run(struct fold_round *round, bool *lost);
/* Tells the sink of the trial at `place`, whose process failed, that the claims that were not told yet (FOLD_CLAIM each; a base run's
 * is behind the last) are broken: first the one whose judge was at work (FOLD_CLAIMS: none was), for by that it fails again; *telling (or
 * NULL): how many of those are asked for. */
fold_status fold_round_fail(const struct fold_round *round, struct fold_place place, uint64_t told, size_t first,
                            fold_status failure, size_t *telling);
/* A judgement without its finding and results: the place's subject and case, the claim (FOLD_CLAIMS: none), whether it was
 * promised. */
struct fold_judgement fold_round_judgement(const struct fold_round *round, struct fold_place place, size_t claim);

/* Judges everything selected; `fresh` may be NULL. Stops early, with OK, once *stop is non-zero. */
fold_status fold_verify(const struct fold_registry *registry, const struct fold_selection *selection,
                        const struct fold_cases *cases, const struct fold_fresh *fresh, const struct fold_sink *sink,
                        const volatile int *stop);

/* Whether the subject can run the case: its engine, dtype and problem. */
bool fold_takes_case(const struct fold_subject *subject, const struct fold_case *c);
/* Whether the selection takes this subject; this claim. */
bool fold_selects_subject(const struct fold_selection *selection, const struct fold_subject *subject);
bool fold_selects_claim(const struct fold_selection *selection, const struct fold_claim *claim);

#endif
