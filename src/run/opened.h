/* opened.h: the case at hand: its input in the memory of each engine that is needed, made again when a subject has changed it; and
 * each subject's base run on it. */
#ifndef FOLD_OPENED_H
#define FOLD_OPENED_H

#include "judge/judge.h"

struct fold_opened {
  const struct fold_case *c;
  struct fold_rig rig[FOLD_ENGINES], batch[FOLD_ENGINES];
  bool open[FOLD_ENGINES];
  fold_status ready[FOLD_ENGINES];
  uint64_t input_hash;
  struct fold_truths truths;
  void *got, *second, *other;
  void *nearest; /* of a large product on a GPU, each result rounded once; else NULL */
};

/* BAD_INPUT and NO_MEMORY end the run, here and below. Close also what failed to open. */
fold_status fold_opened_begin(struct fold_opened *opened, const struct fold_case *c);
void fold_opened_end(struct fold_opened *opened);
/* Opens the engine's rig when it is first needed. A failure of the engine is remembered (`ready`); one of the input ends the run. */
fold_status fold_opened_engine(struct fold_opened *opened, enum fold_engine engine);
/* The whole case, where its inputs lie as it says. The results are in `got`. */
fold_status fold_opened_run(struct fold_opened *opened, const struct fold_subject *subject, struct fold_traces *traces);
/* If a subject changed its input, makes it again, since the judges and the next subject need it; *now is the hash of what it was then. An
 * engine that fails here is broken for the rest of the case. */
fold_status fold_opened_restore(struct fold_opened *opened, enum fold_engine engine, uint64_t *now);
/* Gives a twin the input on another engine (struct fold_trial). What an earlier run of the twin did to it is undone. */
fold_status fold_opened_elsewhere(void *whose, enum fold_engine engine, struct fold_rig **rig);
/* In a new process that goes backwards a guest first runs on another input of the same shape at the same place, each term
 * times -1/2: so results that it keeps, by whatever it takes for the input, differ from those of a process that did not. How
 * that run ends does not matter. Long inputs are left out, for most of the time would be spent on them. */
fold_status fold_opened_run_another(struct fold_opened *opened, const struct fold_subject *subject);
/* Before the first subject's run, which may change the input: the results of a large product on a GPU, each rounded once. Without memory
 * there are none. Then those results of the subject that are furthest from them are judged besides the sample. */
void fold_opened_know_nearest(struct fold_opened *opened, const struct fold_subject *subject);
void fold_opened_suspect(struct fold_opened *opened, const struct fold_subject *subject);
/* Whether the last subject has left the process, or its engine, unusable for others. */
bool fold_opened_is_lost(const struct fold_opened *opened, enum fold_engine engine);

#endif
