/* runner.h: subjects x cases x claims: makes each input once, runs each subject on it, has each claim judged.
 *
 * What comes out goes to a sink, one judgement at a time: tables, records and messages are sinks. The runner knows
 * none of them.
 */
#ifndef FOLD_RUNNER_H
#define FOLD_RUNNER_H

#include "judge.h"

enum { FOLD_REPEATS = 3 };

/* What the user asked for; globs are comma-separated, NULL means all. */
struct fold_selection {
  const char *subjects, *claims, *fixtures;
  int engine;         /* enum fold_engine, -1: every engine */
  const char *folder; /* of fixtures */
  const char *set;    /* "default", "large" */
  const char **npy; /* files judged instead of fixtures; with an engine that has ranks, their columns over all ranks */
  size_t n_npy;
  enum fold_op npy_op;
  unsigned repeats; /* of run_to_run: FOLD_REPEATS unless the user says otherwise */
  bool probe;       /* judge claims that are not promised too */
};

/* One claim of one subject on one case. */
struct fold_judgement {
  const struct fold_subject *subject;
  size_t subject_index;
  const struct fold_case *c;
  const struct fold_claim *claim; /* NULL from fold_record_runs: a base run, nothing judged */
  bool promised;
  uint64_t input_hash;
  const void *got;                  /* c->rows results, or NULL when the base run failed */
  const struct fold_traces *traces; /* what else the base run did */
  struct fold_finding finding;
  const struct fold_fact *fact;   /* of a peer's refuted promise: what explains it, or NULL */
  bool known;                     /* and whether that was seen in this version of the library */
  const struct fold_asked *asked; /* of what is refuted or broken: how (replay.h); or NULL */
};

struct fold_sink {
  fold_status (*judgement)(void *context, const struct fold_judgement *judgement);
  void (*progress)(void *context, size_t done, size_t cases, const char *case_name); /* may be NULL */
  void *context;
};

/* Reads the cases that are selected; BAD_INPUT for a glob that matches nothing. */
fold_status fold_select_cases(const struct fold_selection *selection, struct fold_cases *cases);

/* Judges everything selected; `fresh` may be NULL. Stops early, with OK, once *stop is non-zero. */
fold_status fold_verify(const struct fold_registry *registry, const struct fold_selection *selection,
                        const struct fold_cases *cases, const struct fold_fresh *fresh, const struct fold_sink *sink,
                        const volatile int *stop);

/* Runs every subject on every case once and judges nothing. */
fold_status fold_record_runs(const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_cases *cases, const struct fold_sink *sink, const volatile int *stop);

/* Whether the selection takes this subject; this claim. */
bool fold_selects_subject(const struct fold_selection *selection, const struct fold_subject *subject);
bool fold_selects_claim(const struct fold_selection *selection, const struct fold_claim *claim);

#endif
