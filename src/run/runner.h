/* runner.h: subjects x cases x claims: makes each input once, runs each subject on it, has each claim judged.
 *
 * What comes out goes to a sink, one judgement at a time: tables, records and messages are sinks. The runner knows
 * none of them.
 */
#ifndef FOLD_RUNNER_H
#define FOLD_RUNNER_H

#include "fixtures/sweep.h"
#include "guest/guest.h"
#include "judge/judge.h"

/* Subjects are run in this process: one that crashes or hangs ends it. `is_over` is asked before each trial. */
struct fold_here {
  bool (*is_over)(void *context);
  void *context;
};

/* What the user asked for; globs are comma-separated, NULL means all. */
struct fold_selection {
  const char *subjects, *claims, *fixtures;
  int engine;         /* enum fold_engine, -1: every engine */
  const char *folder; /* the folder of fixtures */
  const char *set;    /* one of fold_set_names */
  const char **npy; /* files judged instead of fixtures; with an engine that has ranks, their columns over all ranks */
  size_t n_npy;
  const struct fold_problem *npy_problem;
  unsigned repeats; /* of run_to_run: FOLD_REPEATS unless the user says otherwise */
  unsigned
      busy_one_in; /* in one case of so many, by its seed, they are made on a busy machine too; 0: in a few of each kind */
  /* In one case of so many, by its seed, leaves_no_trace repeats runs that may take memory; 0: in each. */
  unsigned growth_one_in;
  struct fold_around around; /* of batch_invariant; around_text: as the user wrote it */
  const char *around_text;
  struct fold_sweep sweep;             /* cases of many sizes; the masks are set by fold_selection_open */
  const char *accurate_as, *ulps_text; /* what every guest also promises (struct fold_wants), or NULL */
  const char *twin; /* the subject whose bits every other guest's subject promises, or NULL (fold_guests_load) */
  const struct fold_guest
      *guests; /* where there are any, only their subjects are meant unless `subjects` says otherwise */
  size_t n_guests;
  bool finite; /* the guests take finite terms alone */
  /* For all; 0: as long as it takes. From `end` on (fold_now) what is left is left out. */
  double seconds, end;
  const char *seconds_text; /* as the user wrote it */
  /* One case of each kind (fold_compare_kinds) comes first, those of some hundred terms before others, then the next one of each. Without it, in
   * a limit of time, the shortest cases come first. */
  bool in_turn;
  bool untrusted; /* other addresses and strides are tried on guests, whatever claims they make or were named */
  const struct fold_here *here; /* of a hunt; NULL: subjects are run in processes of their own */
  bool probe;                   /* judge claims that are not promised too */
  bool fresh;                   /* for a process that has the same fixtures, which it has read whole (fresh.c) */
  bool backwards;               /* the last case first, and of each the last subject (fresh.c) */
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
  const struct fold_fact *fact;   /* what explains a peer's refuted promise, or NULL */
  bool known;                     /* whether that was seen in this version of the library */
  const char *version;            /* of the library, from a record; NULL: the version here */
  const struct fold_asked *asked; /* for what is refuted or broken: its options (replay.h); or NULL */
  bool full;                      /* its record is to hold the bits of all rows */
  bool beside; /* it is broken for the same reason as a promise of the trial that was reported before it */
  bool after;  /* it is broken by its process's end, and others of the trial were reported before */
};

/* Subject `subject` of the registry on case `c` of those that are selected. All cases come in each turn, with the
 * subjects of that turn (apart.h). */
struct fold_place {
  size_t c, subject, turn;
};

struct fold_sink {
  fold_status (*judgement)(void *context, const struct fold_judgement *judgement);
  void (*progress)(void *context, size_t done, size_t cases, const char *case_name); /* may be NULL */
  /* Called before a subject is run on a case, so that a process that ends then is blamed on it. May be
   * NULL. */
  fold_status (*trial)(void *context, struct fold_place place, uint64_t input_hash);
  /* Explains the refutation `of`, which was reported before and is only named here: how the order of additions changed.
   * That is found out after all verdicts of the trial, for a subject may end its process then. NULL: it is not. */
  fold_status (*explanation)(void *context, const struct fold_judgement *of, const struct fold_order_change *change);
  /* Called before the change behind a claim's refutation is looked for. May be NULL. */
  fold_status (*explains)(void *context, enum fold_claim_id claim);
  void *context;
};

/* Over how many ranks arrays are spread. If an engine with ranks is asked for: over all its ranks, and this starts its
 * world; if it has none, over one, so that the case is skipped with the engine's reason. Else 0. */
fold_status fold_select_ranks(const struct fold_selection *selection, unsigned *ranks);
/* Notes what sizes are swept in: the problems and dtypes that a selected subject takes. */
void fold_select_swept(struct fold_selection *selection, const struct fold_registry *registry);
/* Reads the selected cases, with arrays spread over so many ranks. BAD_INPUT for a glob that matches nothing. */
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
  bool leave_lost;            /* end when an engine is lost for this process */
  struct fold_place place;    /* where it begins; afterwards, how far it came */
  uint64_t input_hash;        /* of the case that is run; 0: not made yet */
  const double *seconds_lost; /* for each subject, the time lost by processes that it ended or hung; NULL: none was */
  double most_lost;           /* a subject that has cost more is not run any more */
  uint64_t *explained;    /* for each subject, a mask of claims: how the order changed is not to be found out (again) */
  const bool *uninformed; /* for each subject: nothing more is tried for information; NULL: everything is */
};
/* Judges, or records, everything selected from `place` on. Stops early, with OK, once *stop is non-zero, or, with *lost
 * set, before the next place when an engine was lost. */
fold_status fold_round_run(struct fold_round *round, bool *lost);
/* For the trial at `place`, whose process failed: tells the sink that all claims are broken that are not in the mask
 * `told` (a base run's bit comes after the last claim's). The first is `first`, the claim whose judge was at work
 * (FOLD_CLAIMS: none was), because a replay for that one fails again. *telling (or NULL): how many judgements the sink
 * was given. */
fold_status fold_round_fail(const struct fold_round *round, struct fold_place place, uint64_t told, size_t first,
                            fold_status failure, size_t *telling);
/* A judgement that has no finding and no results yet: only the place's subject and case, the claim (FOLD_CLAIMS: none),
 * and whether it was promised. */
struct fold_judgement fold_round_judgement(const struct fold_round *round, struct fold_place place, size_t claim);

/* Whether a judgement is broken since its subject was not run, for the time that it had cost (most_lost). */
bool fold_is_not_run(const struct fold_finding *finding);
/* Judges everything selected; `fresh` may be NULL. Stops early, with OK, once *stop is non-zero. */
fold_status fold_verify(const struct fold_registry *registry, const struct fold_selection *selection,
                        const struct fold_cases *cases, const struct fold_fresh *fresh, const struct fold_sink *sink,
                        const volatile int *stop);

/* Whether the subject can run the case: its engine, dtype and problem. */
bool fold_takes_case(const struct fold_subject *subject, const struct fold_case *c);
/* Whether the selection takes this subject; this claim. */
bool fold_selects_subject(const struct fold_selection *selection, const struct fold_subject *subject);
bool fold_selects_claim(const struct fold_selection *selection, const struct fold_claim *claim);
/* The same on cases of an operation: of max and min, bounded also selects what they have instead (fold_claims_of). */
bool fold_selects_claim_of(const struct fold_selection *selection, const struct fold_claim *claim, enum fold_op op);
/* Those claims by which anything selected is judged in new processes (struct fold_job): a mask. */
uint64_t fold_fresh_wanted(const struct fold_selection *selection, const struct fold_registry *registry);
/* Whether its claim was requested, by the user or by the table of a guest, which is judged by the tidy claims whatever was
 * requested. What max and min have instead of bounded (fold_claims_of) counts as bounded. */
bool fold_judgement_is_asked(const struct fold_selection *selection, const struct fold_judgement *judgement);
/* Why nothing is proved: no requested claim of the selected subjects was judged. */
fold_status fold_nothing_judged(const struct fold_selection *selection, const struct fold_registry *registry);

#endif
