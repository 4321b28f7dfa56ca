/* golden_run.h: what runs and oracles give, held against the goldens of a folder; or, for --bless, put there.
 *
 * Checked are: each result of a run that has a golden; with no engine, each input by its hash, each order's tree by its fingerprint, and
 * each replay and exact result; and that whatever a golden names is still there: subject, case, order. Only what is selected is asked for.
 */
#ifndef FOLD_GOLDEN_RUN_H
#define FOLD_GOLDEN_RUN_H

#include "case_index.h"
#include "golden.h"
#include "remake.h"

struct fold_golden_options {
  const char *folder;  /* NULL: goldens have no part in it */
  const char *library; /* what guests are built on: a part of the environment that their goldens are kept for */
  bool bless,
      dirty; /* dirty: bless although no commit is known of the source, or it has changes that are not committed */
};

struct fold_golden_run {
  const struct fold_golden_options *options;
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  const char *program;
  struct fold_goldens goldens;
  struct fold_case_index index; /* all that the folder of fixtures has; lent: another's */
  bool index_lent;
  char commit[200]; /* of the code, for --bless */
  json_t *environment;
  struct fold_remade remade;
  size_t subject; /* of the run that was taken last, and its case: claims of one run come together */
  const char *last;
  const void *guest; /* whose object was hashed last */
  uint64_t object;
  size_t held, differ, other_input, other_order, other_object, gone, stale, unkept;
  size_t added, changed, same, refused, unsteady, overflowed;
};

/* `index` is of the selection's folder of fixtures; NULL: it is read. */
fold_status fold_golden_open(struct fold_golden_run *run, const struct fold_golden_options *options,
                             const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_case_index *index, const char *program);
/* The names of all cases that the goldens have, with commas between: the caller frees it. "" where there are none. */
char *fold_golden_cases(const struct fold_golden_run *run);
/* Told once, first: the environment of the runs, as JSON text. */
fold_status fold_golden_begin(struct fold_golden_run *run, const char *environment);
/* Each judgement, or run. */
fold_status fold_golden_take(struct fold_golden_run *run, const struct fold_judgement *judgement);
/* Of --bless, once all was taken: each judgement of the same again, in other processes. What varies is refused. */
fold_status fold_golden_again(struct fold_golden_run *run, const struct fold_judgement *judgement);
/* After all: what needs no engine; or, of --bless, the writing. Prints the counts. */
fold_status fold_golden_end(struct fold_golden_run *run);
/* What a last line says of them, behind a semicolon; "" where goldens have no part in it. */
void fold_golden_beside(const struct fold_golden_run *run, char text[120]);
void fold_golden_close(struct fold_golden_run *run);
/* 0 all that was compared agrees; 1; 77 all is stale; 2 there is nothing to compare. */
int fold_golden_exit_code(const struct fold_golden_run *run);

/* For the files of this layer. */
struct fold_golden_result {
  const struct fold_subject *subject;
  const struct fold_case *c;
  struct fold_golden_line line;
  void *results; /* each NaN the format's one */
};
/* The judgement's results, as they would be kept; they are the caller's to free. */
fold_status fold_golden_result_of(const struct fold_judgement *judgement, struct fold_golden_result *now);
/* What is kept of that; NULL. */
const struct fold_golden_line *fold_golden_kept(const struct fold_golden_run *run,
                                                const struct fold_judgement *judgement);
/* The hash of the shared object that a guest is in, as it lies there now; 0: it is in none. */
uint64_t fold_golden_object(struct fold_golden_run *run, const struct fold_subject *subject);
/* The selection takes one of those who gave it. */
bool fold_golden_selects(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet);
/* Where the results that were kept, and those that came, differ: for people, in one line. */
void fold_golden_print(struct fold_golden_run *run, const char *kind, const struct fold_golden_result *now,
                       const struct fold_golden_sheet *sheet, const struct fold_golden_line *kept);
/* That case's input, made again; where the folder has no such case, of `c` itself. */
fold_status fold_golden_remake(struct fold_golden_run *run, const struct fold_case *c);
fold_status fold_golden_bless(struct fold_golden_run *run, const struct fold_judgement *judgement,
                              const struct fold_golden_result *now);
/* Refuses an environment whose results should not be kept. */
fold_status fold_golden_bless_begin(struct fold_golden_run *run);
fold_status fold_golden_bless_end(struct fold_golden_run *run);
/* Whether that name of the sheet's is of nobody any more, or of one whose results are another sheet's; counted, and told, if asked. */
bool fold_golden_is_gone(struct fold_golden_run *run, const struct fold_golden_sheet *sheet, const char *name,
                         bool tell);
/* What needs no engine. */
fold_status fold_golden_check(struct fold_golden_run *run);

#endif
