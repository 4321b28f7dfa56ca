/* judge.h: claims are judged one subject and one case at a time.
 *
 * A trial is a subject's base run on a case; a judge tries to refute one claim about it and writes a finding. Judges of
 * results (evidence.h) look at the base run's results alone; judges of runs make runs of their own in the rig. They know no
 * output format and no command line. Adding a claim is one function and one row of the table, src/model/claim.def.
 */
#ifndef FOLD_JUDGE_H
#define FOLD_JUDGE_H

#include "judge/evidence.h"
#include "judge/run_pair.h"
#include "judge/vary.h"

/* What other processes got for the same subject and case (run/fresh_read.c reads it). */
enum { FOLD_FRESH_ROWS = 16 };
struct fold_fresh {
  /* Gives the hash and the traces of the first run whose hash is not *result_hash or that did something besides
   * computing; false where there is no result. *why (NULL: nothing is to be said): why there is none, how the process
   * went whose results differ, or a remark on results that are all the same. */
  bool (*find)(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name,
               uint64_t *result_hash, struct fold_traces *traces, const char **why);
  /* The k-th result of processes that differ only in variables that say a number of threads; the first has 0, and is as
   * this process. False where there is none. */
  bool (*launch)(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name, size_t k,
                 unsigned *threads, uint64_t *result_hash);
  /* The first results of such a process, by the hash of all of them: how many, 0 where they are not kept (those of
   * guests are). */
  size_t (*results)(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name,
                    uint64_t hash, uint64_t bits[FOLD_FRESH_ROWS]);
};

struct fold_registry {
  const struct fold_subject *subjects;
  size_t n;
};
/* NULL where there is none. */
const struct fold_subject *fold_registry_find(const struct fold_registry *registry, const char *name,
                                              enum fold_engine engine);
/* The subject whose bits `subject` promises: "NAME" on its own engine, or "ENGINE:NAME"; NULL where there is none. */
const struct fold_subject *fold_registry_twin(const struct fold_registry *registry, const struct fold_subject *subject);
/* Makes a subject of the registry promise the bits of `twin`. False, and nothing is changed, where it is the twin. */
bool fold_registry_set_twin(const struct fold_registry *registry, struct fold_subject *subject, const char *twin);
/* ENVIRONMENT, naming the first subject that is wrong: a name twice, an order or a twin that does not exist, a claim that lacks
 * what it is judged by. */
fold_status fold_registry_check(const struct fold_registry *registry);
/* What of that `replays` needs: an order that exists, and its replay by the subject's method in its accumulators. */
fold_status fold_replay_check(const struct fold_subject *subject);
/* The order of that name, or BAD_INPUT with the name that may be meant. */
fold_status fold_order_named(const char *name, const struct fold_order **order);

/* Every run of a trial: which subject ran, for which claim, and what it did besides computing. Claims about memory, ranks and
 * state are judged by the log, so that no run of any judge is lost. */
struct fold_logged {
  const struct fold_subject *subject; /* the trial's, or its twin */
  enum fold_claim_id why;             /* the claim whose judge made it; FOLD_CLAIMS: the base run */
  /* `unwritten` is set here once a second run with another poison has confirmed it, since one run can't tell it from a
   * result that equals the poison by chance. For the base run it is not set here: writes_output has that confirmed. */
  struct fold_traces traces;
};

struct fold_log {
  struct fold_logged *run; /* the base run first */
  size_t n, room;
};
fold_status fold_log_add(struct fold_log *log, const struct fold_logged *run);
void fold_log_close(struct fold_log *log);

enum fold_deed {
  FOLD_DID_NOT_WRITE,
  FOLD_DID_STRAY,
  FOLD_DID_WRITE_INPUT,
  FOLD_DID_LEAVE_STATE,
  FOLD_DID_DIFFER,      /* the ranks' results */
  FOLD_DID_RUN_TOGETHER /* ran on more than one rank */
};
/* The first run of the subject that did it; NULL. */
const struct fold_logged *fold_log_find(const struct fold_log *log, const struct fold_subject *subject,
                                        enum fold_deed deed);

/* Numbers of rows around which a user wants batches to be tried; each is at least 1. */
struct fold_around {
  uint64_t at[16];
  size_t n;
};

/* Of run_to_run, unless a user or a case says otherwise; and at most. */
enum { FOLD_REPEATS = 3, FOLD_REPEATS_MOST = 1000000 };

struct fold_trial {
  const struct fold_registry *registry;
  const struct fold_subject *subject;
  const struct fold_case *c;
  struct fold_rig *rig;
  /* A rig with the case's one row among others. The first judge that needs it opens it; the owner of the case closes
   * it. */
  struct fold_rig *batch;
  /* Gives a rig with the same input in another engine's memory, restored if a run changed it. The owner of the case
   * provides this. */
  fold_status (*elsewhere)(void *whose, enum fold_engine engine, struct fold_rig **rig);
  void *whose;
  /* Whether the twin may not be loaded into this process; runs it on the case in another one. */
  bool (*is_apart)(const struct fold_subject *twin);
  fold_status (*apart)(const struct fold_trial *trial, const struct fold_subject *twin, void *got);
  struct fold_truths *truths;
  const struct fold_fresh *fresh;
  unsigned repeats;                 /* of run_to_run */
  double seconds, end;              /* the time limit, and when it ends (fold_now); 0: there is none */
  bool cut;                         /* by that the claim at hand was not judged to its end */
  bool finite;                      /* no NaN or infinity is put into the input: the subject takes none */
  bool spared;                      /* its repeats on a busy machine: some cases like it have them */
  bool skips_growth;                /* leaves_no_trace does not look for memory and files that runs do not give back */
  const struct fold_around *around; /* of batch_invariant */
  uint64_t input_hash;              /* before the base run */
  uint64_t input_hash_after;        /* its hash when it was last looked at; judges see the input as it was before */
  const void *got;                  /* results of the base run */
  struct fold_traces traces;        /* what the base run did besides */
  struct fold_log log;              /* all runs, the base run and the judges' own; fold_log_close */
  enum fold_claim_id why;           /* the claim whose judge makes the runs */
  size_t looked_at;                 /* how many runs there were when OpenMP's other threads were last looked at */
  size_t input_seen;                /* and when the input was last looked at (fold_trial_look_at_input) */
  unsigned foreign;                 /* how many runs had another input (fold_trial_run_foreign) */
  uint64_t asked;                   /* the claims that are to be judged: a mask */
  enum fold_telling telling;        /* of the case's input */
  struct fold_varied_log varied;
  bool swept;        /* batches of fewer rows were run for a claim (fold_sweep_claim): all had the base run's bits */
  bool has_refuting; /* the claim at hand was refuted by this run of the plan: */
  struct fold_varied refuting;
  struct fold_order_sides sides; /* if the claim at hand is refuted by a pair of runs: these */
  struct fold_part {
    size_t row, first, n;
  } part; /* both results of the claim at hand are of n terms of the row from `first` on; n 0: of a whole row */
  char unsteady[160]; /* how the same run varied in the same surroundings; "": it was not seen to vary (unstable.c) */
  struct fold_varied unsteady_at; /* the run that varied */
  bool has_second;
  uint64_t second_hash; /* 0: not known */
  void *second;         /* results of the second input's base run (vary.h) */
  void *other;          /* room for the results of a judge's own run */
};

/* The reason of what a time limit leaves out, and whether a reason is this one. */
fold_status fold_left_out(double seconds);
bool fold_is_left_out(const char *reason);

typedef void fold_judge_runs(struct fold_trial *trial, struct fold_finding *finding);

struct fold_claim {
  enum fold_claim_id id;
  const char *name;
  const char *refuted_by;
  /* Each claim has one of the two. */
  fold_judge_results *results;
  fold_judge_runs *runs;
  bool by_order; /* it is about the order of joins: if it held on an idle input, that shows nothing about the order */
  enum { FOLD_FIRST, FOLD_LATE, FOLD_LAST } when; /* the claims asked for are judged in this order (claim.def) */
};

/* The table, in the order of enum fold_claim_id. */
const struct fold_claim *fold_claims(size_t *n);
/* By name; NULL where there is none. */
const struct fold_claim *fold_claim_find(const char *name);
/* The claim to judge next among those that are left; NULL where none is. */
const struct fold_claim *fold_claims_next(uint64_t left);
/* What `subject` promises of `op`: its row's claims; for max and min also that they are exact in any order, in place of
 * a bound. */
uint64_t fold_claims_of(const struct fold_subject *subject, enum fold_op op);
/* The claims of a list: those that it names, and those that a preset ("reproducible") or a glob stands for, which are
 * judged only where they apply. BAD_INPUT names the first word that is no claim, and the one that it may have meant. */
fold_status fold_claims_parse(const char *list, uint64_t *named, uint64_t *preset);
/* ": did you mean 'bounded'?" for a word that names neither a claim nor a preset; "" where none is similar. */
const char *fold_claims_near(const char *word, char text[160]);
/* The list with each preset written out: the caller frees it; NULL: no memory. */
char *fold_claims_expand(const char *list);
/* The k-th preset and what it stands for; NULL past the last. */
const char *fold_claims_preset(size_t k, const char **list);
/* Why no input could judge the claim of this subject, promised or not; NULL: some could. */
const char *fold_claim_unjudged(const struct fold_subject *subject, enum fold_claim_id id);
/* A mask of the claims about order. */
uint64_t fold_claims_by_order(void);

/* The finding for one claim; verdict BROKEN when the subject or the engine failed in a judge's own run. */
void fold_judge_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding);
/* The same without a trial, for each judge of results whose claim `globs` name and the evidence's subject promises.
 * `take` is given each finding. */
typedef void fold_take_finding(void *context, const struct fold_claim *claim, const struct fold_finding *finding);
void fold_judge_evidence(const struct fold_evidence *evidence, const char *globs, fold_take_finding *take,
                         void *context);

/* Adds to a refutation that the subject has changed its input, if it has: its later runs had another one. On a device
 * this is known of the base run, and of runs whose input was looked at since. */
void fold_judge_tell_input(const struct fold_trial *trial, struct fold_finding *finding);

/* Says of a refutation by two runs how far each is from the exact result, and makes the one that is outside its bound `got`. */
void fold_judge_right_side(struct fold_trial *trial, struct fold_finding *finding);

/* After the other judges: refutes run_to_run, though it held, if one of them found that the same run varies. */
void fold_judge_unsteady(const struct fold_trial *trial, struct fold_finding *finding);

/* The rest is for the judges' files. */
struct fold_evidence fold_trial_evidence(const struct fold_trial *trial);
enum fold_dtype fold_trial_result_dtype(const struct fold_trial *trial);
/* A judge's own run of the trial's subject, in the case's rig or in another. It enters trial->log. */
fold_status fold_trial_run(struct fold_trial *trial, struct fold_rig *rig, const struct fold_request *request,
                           void *got);
#define FOLD_NO_INTEGER_TREE "integers have the same result in every order: no tree can be seen"

/* A term that changes the sum which it gets into: `term`, which is NaN or infinite, or in its place, where the subject takes
 * finite terms alone, a number with its sign whose square does not overflow. */
uint64_t fold_trial_poke(const struct fold_trial *trial, double term);
/* Whether a run with such terms in a finite input failed because of these, so that it is to be made again without. */
bool fold_trial_spares_it(struct fold_trial *trial, fold_status status);
/* A batch is cut along the outermost axis of its results: into rows, or, of several products, into these. Each of
 * these slices has `width` results, which lie side by side; a row of a sum has one. */
enum fold_axis fold_trial_batch_axis(const struct fold_trial *trial);
size_t fold_trial_slices(const struct fold_trial *trial);
size_t fold_trial_width(const struct fold_trial *trial);
/* The shape of so many slices, of so many terms a result. */
struct fold_shape fold_trial_shape(const struct fold_trial *trial, size_t slices, size_t terms);
/* How many elements of input k a slice has to itself; 0: all slices share the input. */
size_t fold_trial_slice(const struct fold_trial *trial, unsigned k);
/* A part of the case where it lies: so many slices, of so many terms from term `col` on; several have all terms. */
struct fold_request fold_trial_part(const struct fold_trial *trial, size_t row, size_t rows, size_t col, size_t cols);
/* A run of the first terms of some slices. The input is as it was afterwards. */
fold_status fold_trial_run_part(struct fold_trial *trial, size_t row, size_t rows, size_t cols, void *got);
/* The first row in which the element is; the inputs' elements are numbered one input after the other. */
size_t fold_trial_row_of(const struct fold_trial *trial, size_t at);
/* Judges do not lay rows of more terms than this again in other places and batches. */
enum { FOLD_ROW_TERMS = 1 << 18 };
size_t fold_trial_terms(const struct fold_trial *trial); /* of the whole case, all rows together */
struct fold_request fold_trial_request(const struct fold_trial *trial, unsigned char poison); /* of the whole case */
/* Runs the twin on the whole case, into trial->other. What else that run did is judged in the twin's own trial. */
fold_status fold_trial_run_twin(struct fold_trial *trial, const struct fold_subject *twin);
/* Runs the whole case again as it is in the rig, into trial->other. */
fold_status fold_trial_rerun(struct fold_trial *trial, unsigned char poison);
/* Looks for what the runs since the last look left changed in the process, OpenMP's other threads included; enters it
 * in trial->log and puts it right, since the same threads make inputs and truths. */
void fold_trial_look_at_state(struct fold_trial *trial);
/* What a guest's runs take and do not give back: bytes of its engine's memory a run, descriptors of its process in so many runs.
 * 0: none, or none was seen. `unseen`: why that can't be said; NULL: it can. Foldproof's own subjects are not looked
 * at. */
struct fold_growth {
  size_t bytes, files;
  unsigned runs;
  const char *unseen;
};
fold_status fold_trial_growth(struct fold_trial *trial, struct fold_growth *growth);
/* Makes the case's input again if a run changed it. */
fold_status fold_trial_refill(struct fold_trial *trial);
/* The same; if it was changed, input_hash_after becomes the hash that was found. */
fold_status fold_trial_look_at_input(struct fold_trial *trial);
/* The first run of the trial's subject that did it; NULL where none did. */
const struct fold_logged *fold_trial_find(const struct fold_trial *trial, enum fold_deed deed);
/* Runs an input in which term `at` is NaN (for max and min an infinity; for a subject that takes finite terms alone a large
 * number), at the same address, into trial->other; then puts the input back. *kept: the result was one stored from an earlier
 * run, found by the input's address or by a part of it. */
fold_status fold_trial_run_foreign(struct fold_trial *trial, size_t at, bool *kept);
/* Runs again with another poison, to tell a result that was not written from one that equals the poison by chance. */
fold_status fold_trial_confirm_unwritten(struct fold_trial *trial, struct fold_rig *rig,
                                         const struct fold_request *request, const void *got,
                                         struct fold_traces *traces);

/* Repeats a run n times in the same surroundings; notes in the trial if its bits vary. */
fold_status fold_trial_repeat(struct fold_trial *trial, const struct fold_varied *first, unsigned n);
void fold_trial_note_unsteady(struct fold_trial *trial, const struct fold_varied *seen, const char *what);
/* Repeats the run that was seen (NULL: none) and the one that it was compared with, unless the subject is known to
 * vary. */
fold_status fold_trial_look_if_steady(struct fold_trial *trial, const struct fold_varied *seen);
/* If the subject varies even in the same surroundings, this is not counted as a refutation of a claim about
 * surroundings, provided that run_to_run was requested (unstable.c). */
void fold_judge_steady(struct fold_trial *trial, struct fold_finding *finding);
/* Shows in a refutation the first row in which a new process has other bits, if it is among those that are kept. */
void fold_find_fresh_row(const struct fold_trial *trial, struct fold_finding *finding, uint64_t hash);
/* The same for a refutation that has no row; `seen`: the run of this process that had other bits; NULL: none. */
void fold_find_unsteady(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen);

/* The judges of runs. */
#define FOLD_DECLARE_RUNS(judge) fold_judge_runs fold_judge_##judge;
#define FOLD_DECLARE_RESULTS(judge)
#define FOLD_CLAIM_ROW(TAG, name, judged, judge, ...) FOLD_DECLARE_##judged(judge)
#include "model/claim.def"
#undef FOLD_DECLARE_RUNS
#undef FOLD_DECLARE_RESULTS

#endif
