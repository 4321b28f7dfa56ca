/* golden/run.h: compares the results of runs and oracles with the goldens of a folder; or, for --bless, writes them there.
 *
 * It checks each result of a run that has a golden. Without an engine it checks each input by its hash, each order's tree by its
 * fingerprint, each replay and each exact result, and that everything a golden names still exists: subject, case, order. Only what is
 * selected is checked.
 */
#ifndef FOLD_GOLDEN_RUN_H
#define FOLD_GOLDEN_RUN_H

#include "fixtures/case_index.h"
#include "golden/golden.h"
#include "records/remake.h"

struct fold_golden_options {
  const char *folder;       /* NULL: goldens are not used */
  const char *library;      /* what guests are built on; part of the environment for which their goldens are kept */
  bool bless, dirty;        /* dirty: bless even if the source's commit is unknown, or if changes are not committed */
  const volatile int *stop; /* other than 0: the user wants to stop; may be NULL */
};

struct fold_golden_run {
  const struct fold_golden_options *options;
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  const char *program;
  struct fold_goldens goldens;
  int lock;                     /* of the folder, for --bless; 0: none */
  bool made;                    /* the folder was not there before */
  struct fold_case_index index; /* every case in the folder of fixtures; may belong to another owner (index_lent) */
  bool index_lent;
  char commit[200]; /* the commit of the code, for --bless */
  json_t *environment;
  struct fold_remade remade;
  size_t subject; /* the subject and case of the last run; claims about one run come one after the other */
  const char *last;
  const void *guest; /* the guest whose object was hashed last */
  uint64_t object;
  size_t replayed; /* of those that held: replays and exact results by the oracle, not runs */
  size_t held, differ, other_input, other_order, other_object, gone, stale, unkept;
  size_t added, changed, same, refused, unsteady, overflowed;
};

/* `index` is that of the selection's folder of fixtures; if NULL, the folder is read. */
fold_status fold_golden_open(struct fold_golden_run *run, const struct fold_golden_options *options,
                             const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_case_index *index, const char *program);
/* The names of all cases that the goldens have, separated by commas; "" if there are none. The caller frees it. */
char *fold_golden_cases(const struct fold_golden_run *run);
/* To be called once, before anything else, with the environment of the runs as JSON text. */
fold_status fold_golden_begin(struct fold_golden_run *run, const char *environment);
/* To be called for each judgement, or run. */
fold_status fold_golden_take(struct fold_golden_run *run, const struct fold_judgement *judgement);
/* For --bless, after all judgements were taken: takes each of them a second time, from other processes. Results that
 * vary are refused. */
fold_status fold_golden_again(struct fold_golden_run *run, const struct fold_judgement *judgement);
/* To be called last: checks what needs no engine or, for --bless, writes the sheets. Prints the counts. */
fold_status fold_golden_end(struct fold_golden_run *run);
/* What the last line of the output says about goldens, after a semicolon; "" if goldens are not used. */
void fold_golden_beside(const struct fold_golden_run *run, char text[120]);
void fold_golden_close(struct fold_golden_run *run);
/* 0: everything that was compared agrees; 1: something does not; 77: all is stale; 2: there was nothing to compare. */
int fold_golden_exit_code(const struct fold_golden_run *run);

/* What the files of this folder share. */
/* Makes the folder if need be, and waits until nobody else blesses it. */
fold_status fold_golden_lock(struct fold_golden_run *run);
void fold_golden_unlock(struct fold_golden_run *run);
struct fold_golden_result {
  const struct fold_subject *subject;
  const struct fold_case *c;
  struct fold_golden_line line;
  void *results; /* each NaN is the format's one NaN */
};
/* The results of a judgement in the form in which they would be kept; the caller frees them. */
fold_status fold_golden_result_of(const struct fold_judgement *judgement, struct fold_golden_result *now);
/* The line that is kept for these results; NULL if there is none. */
const struct fold_golden_line *fold_golden_kept(const struct fold_golden_run *run,
                                                const struct fold_judgement *judgement);
/* The hash of the shared object of a guest, as the file is now; 0 if it has none. */
uint64_t fold_golden_object(struct fold_golden_run *run, const struct fold_subject *subject);
/* Whether the selection includes one of those who gave the sheet's results. */
bool fold_golden_selects(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet);
/* Prints in one line where the kept results and the new ones differ. */
void fold_golden_print(struct fold_golden_run *run, const char *kind, const struct fold_golden_result *now,
                       const struct fold_golden_sheet *sheet, const struct fold_golden_line *kept);
/* Makes the input of that case again; if the folder of fixtures lacks the case, from `c` itself. */
fold_status fold_golden_remake(struct fold_golden_run *run, const struct fold_case *c);
fold_status fold_golden_bless(struct fold_golden_run *run, const struct fold_judgement *judgement,
                              const struct fold_golden_result *now);
/* Refuses environments whose results should not be kept. */
fold_status fold_golden_bless_begin(struct fold_golden_run *run);
fold_status fold_golden_bless_end(struct fold_golden_run *run);
/* Whether a name of the sheet belongs to no subject any more, or to one whose results belong to another sheet. Such a
 * name is counted and, if `tell` asks for that, reported. */
bool fold_golden_is_gone(struct fold_golden_run *run, const struct fold_golden_sheet *sheet, const char *name,
                         bool tell);
/* Whether all who gave a sheet's results are here, and none takes that case any more: its dtype, its problem, its ranks. */
bool fold_golden_is_untaken(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                            const struct fold_case *c);
/* Checks what needs no engine. */
fold_status fold_golden_check(struct fold_golden_run *run);

#endif
