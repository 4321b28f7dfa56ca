/* judge.h: claims are judged one subject and one case at a time.
 *
 * A trial is a subject's base run on a case; a judge tries to refute one claim about it and writes a finding. Judges of
 * results (evidence.h) look at the base run's results alone; judges of runs make runs of their own in the rig. They know no
 * output format and no command line. Adding a claim is one function and one row of the table, src/model/claim.def.
 */
#ifndef FOLD_JUDGE_H
#define FOLD_JUDGE_H

#include "evidence.h"
#include "log.h"
#include "sides.h"
#include "vary.h"

/* The same subject's results from other processes, by subject, engine and case: the hash of the first that are not those of
 * *result_hash or that did something else, and what that run did;
 * false where it has none. *why: what it said of that, how the process went whose results are others, or what is to be known of
 * results that are all the same (NULL: nothing). */
struct fold_fresh;
bool fold_fresh_find(const struct fold_fresh *fresh, const char *subject, enum fold_engine engine,
                     const char *case_name, uint64_t *result_hash, struct fold_traces *traces, const char **why);

struct fold_registry {
  const struct fold_subject *subjects;
  size_t n;
};
/* NULL where there is none. */
const struct fold_subject *fold_registry_find(const struct fold_registry *registry, const char *name,
                                              enum fold_engine engine);
/* The subject whose bits `subject` promises: "NAME" on its own engine, or "ENGINE:NAME"; NULL where there is none. */
const struct fold_subject *fold_registry_twin(const struct fold_registry *registry, const struct fold_subject *subject);
/* ENVIRONMENT, naming the first subject that is wrong: a name twice, an order or a twin that does not exist, a claim that lacks
 * what it is judged by. */
fold_status fold_registry_check(const struct fold_registry *registry);

/* Numbers of rows about which a user wants batches to be tried, each at least 1. */
struct fold_around {
  uint64_t at[16];
  size_t n;
};

struct fold_trial {
  const struct fold_registry *registry;
  const struct fold_subject *subject;
  const struct fold_case *c;
  struct fold_rig *rig;
  /* Room for the row among others: opened by the first judge that asks, closed by whoever has the case. */
  struct fold_rig *batch;
  /* The same input in another engine's memory, restored where a run changed it; for whoever has the case to say. */
  fold_status (*elsewhere)(void *whose, enum fold_engine engine, struct fold_rig **rig);
  void *whose;
  struct fold_truths *truths;
  const struct fold_fresh *fresh;
  unsigned repeats;                 /* of run_to_run */
  const struct fold_around *around; /* of batch_invariant */
  uint64_t input_hash;              /* before the base run */
  uint64_t input_hash_after; /* and when it was looked at last; the input that the judges see is the one before */
  const void *got;           /* results of the base run */
  struct fold_traces traces; /* and what else it did */
  struct fold_log log;       /* all runs, the base run and the judges' own; fold_log_close */
  enum fold_claim_id why;    /* for whose judge they are made */
  size_t looked_at;          /* how many of them there were when OpenMP's other threads were looked at last */
  size_t input_seen;         /* and when the input was (fold_trial_look_at_input) */
  unsigned foreign;          /* how many runs had another input (fold_trial_run_foreign) */
  uint64_t asked;            /* the claims that are to be judged, FOLD_CLAIM each */
  enum fold_telling telling; /* of the case's input */
  struct fold_varied_log varied;
  bool has_refuting; /* a run of the plan refuted the claim that is judged: */
  struct fold_varied refuting;
  struct fold_order_sides sides; /* the two runs whose bits differ, where the claim that is judged is refuted by such */
  char unsteady[160]; /* how the same run in the same surroundings varied; "" where none was seen to (steady.c) */
  struct fold_varied unsteady_at; /* and where */
  bool has_second;
  uint64_t second_hash; /* 0: not known */
  void *second;         /* results of the second input's base run (vary.h) */
  void *other;          /* room for one more set of results, for a judge's own runs */
};

typedef void fold_judge_runs(struct fold_trial *trial, struct fold_finding *finding);

struct fold_claim {
  enum fold_claim_id id;
  const char *name;
  const char *refuted_by;
  /* One of the two. */
  fold_judge_results *results;
  fold_judge_runs *runs;
  bool by_order; /* it is about the order of joins: held on an idle input it shows nothing of that */
  enum { FOLD_FIRST, FOLD_LATE, FOLD_LAST } when; /* those that are asked for are judged in this order (claim.def) */
};

/* The table, in the order of enum fold_claim_id. */
const struct fold_claim *fold_claims(size_t *n);
/* By name; NULL where there is none. */
const struct fold_claim *fold_claim_find(const char *name);
/* The one to be judged next of those that are left; NULL where none is. */
const struct fold_claim *fold_claims_next(uint64_t left);
/* What `subject` promises of `op`: its row's claims; for max and min, which are exact in any order, also that. */
uint64_t fold_claims_of(const struct fold_subject *subject, enum fold_op op);
/* The claims that a list names: by name; and by preset ("reproducible") or glob, which mean what they hold as far as it applies. BAD_INPUT names the first that is none, and what it may have meant. */
fold_status fold_claims_parse(const char *list, uint64_t *named, uint64_t *preset);
/* ": did you mean 'bounded'?" of a word that names neither a claim nor a preset; "" where nothing is near. */
const char *fold_claims_near(const char *word, char text[160]);
/* The list with each preset written out: the caller frees it; NULL: no memory. */
char *fold_claims_expand(const char *list);
/* The k-th preset and what it stands for; NULL past the last. */
const char *fold_claims_preset(size_t k, const char **list);
/* The claims about order: a mask. */
uint64_t fold_claims_by_order(void);

/* The finding for one claim; verdict BROKEN when the subject or the engine failed in a judge's own run. */
void fold_judge_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding);
/* The same without a trial: of the claims that results are judged by, those that `globs` name and the evidence's subject promises.
 * `take` is given each finding. */
typedef void fold_take_finding(void *context, const struct fold_claim *claim, const struct fold_finding *finding);
void fold_judge_evidence(const struct fold_evidence *evidence, const char *globs, fold_take_finding *take,
                         void *context);

/* A refutation says so where the subject has changed its input: from then on its runs had another one. Of a device that is
 * what the base run did, or what was looked for since. */
void fold_judge_tell_input(const struct fold_trial *trial, struct fold_finding *finding);

/* After the other judges: run_to_run that held is refuted where one of them found that the same run varies. */
void fold_judge_unsteady(const struct fold_trial *trial, struct fold_finding *finding);

/* For the judges' files. */
struct fold_evidence fold_trial_evidence(const struct fold_trial *trial);
enum fold_dtype fold_trial_result_dtype(const struct fold_trial *trial);
/* A judge's own run of the trial's subject, in the case's rig or in one of its own: it enters trial->log. */
fold_status fold_trial_run(struct fold_trial *trial, struct fold_rig *rig, const struct fold_request *request,
                           void *got);
/* The same of rows x cols terms from element `first` of each input on. */
fold_status fold_trial_run_part(struct fold_trial *trial, size_t first, size_t rows, size_t cols, void *got);
/* Longer rows are not run in other places and batches by themselves. */
enum { FOLD_ROW_TERMS = 1 << 18 };
size_t fold_trial_terms(const struct fold_trial *trial); /* of the whole case, all rows together */
struct fold_request fold_trial_request(const struct fold_trial *trial, unsigned char poison); /* of the whole case */
/* The twin's run of the whole case, into trial->other: what it did is judged in its own trial. */
fold_status fold_trial_run_twin(struct fold_trial *trial, const struct fold_subject *twin);
/* Another run of the whole case as it stands in the rig, into trial->other. */
fold_status fold_trial_rerun(struct fold_trial *trial, unsigned char poison);
/* What the runs since the last look left changed in the process, OpenMP's other threads among it, enters trial->log, and is put right:
 * the same threads make inputs and truths. */
void fold_trial_look_at_state(struct fold_trial *trial);
/* How many bytes each run of a guest keeps of its engine's memory; 0: none, or not seen. Foldproof's own subjects are not looked at. */
fold_status fold_trial_kept_memory(struct fold_trial *trial, size_t *bytes);
/* Lays the case's input anew where a run changed it. */
fold_status fold_trial_refill(struct fold_trial *trial);
/* The same, and input_hash_after is what was found there. */
fold_status fold_trial_look_at_input(struct fold_trial *trial);
/* The first run of the trial's subject that did it, NULL where none did. */
const struct fold_logged *fold_trial_find(const struct fold_trial *trial, enum fold_deed deed);
/* Runs another input of the same shape at the same address, into trial->other, and puts the input back: term `at` is NaN, for
 * max and min an infinity. *kept: the result is one that was kept, by the input's address or by a part of it. */
fold_status fold_trial_run_foreign(struct fold_trial *trial, size_t at, bool *kept);
/* Whether what the run left unwritten was not a result that equals the poison: runs it again with another one. */
fold_status fold_trial_confirm_unwritten(struct fold_trial *trial, struct fold_rig *rig,
                                         const struct fold_request *request, const void *got,
                                         struct fold_traces *traces);

/* Makes a run that was made n times again, in the same surroundings; what varies is noted in the trial. */
fold_status fold_trial_repeat(struct fold_trial *trial, const struct fold_varied *first, unsigned n);
void fold_trial_note_unsteady(struct fold_trial *trial, const struct fold_varied *seen, const char *what);
/* Makes the run that was seen (NULL: none) again, and the one that it was compared with, unless it is known to vary. */
fold_status fold_trial_look_if_steady(struct fold_trial *trial, const struct fold_varied *seen);
/* A claim about surroundings is not refuted by who varies in the same ones, where run_to_run was asked for. */
void fold_judge_steady(struct fold_trial *trial, struct fold_finding *finding);

/* The judges of runs. */
#define FOLD_DECLARE_RUNS(judge) fold_judge_runs fold_judge_##judge;
#define FOLD_DECLARE_RESULTS(judge)
#define FOLD_CLAIM_ROW(TAG, name, judged, judge, ...) FOLD_DECLARE_##judged(judge)
#include "claim.def"
#undef FOLD_DECLARE_RUNS
#undef FOLD_DECLARE_RESULTS

#endif
