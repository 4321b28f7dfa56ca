/* golden.h: goldens: a file of records that is kept in a repository, and that later runs must give again.
 *
 * A golden is the record of a run, with the bits of all rows. The file is sorted, with a line for each subject and case, so that a diff
 * shows each change. Its closing line counts and hashes the lines, so that one that is missing or changed by hand is found. Only --bless
 * writes the file. The check is a comparison of the file with the records of a new run (compare.h).
 *
 * A declared order and the exact result have the same bits on every machine. The results of any other subject are kept for one environment
 * (CPU or GPU model, library and its version, launch), which their field kept_for names. In another environment they are stale, which is
 * neither a pass nor a failure.
 */
#ifndef FOLD_GOLDEN_H
#define FOLD_GOLDEN_H

#include <jansson.h>

#include "compare/again.h"

struct fold_golden_options {
  const char *path;    /* the file; NULL: goldens are not used */
  const char *library; /* what guests are built on; a part of kept_for */
  bool bless;
};

enum fold_golden_state {
  FOLD_GOLDEN_OTHER,   /* the selection leaves it out */
  FOLD_GOLDEN_DUE,     /* the run must give it again */
  FOLD_GOLDEN_MISSING, /* the records say that its subject gives no result of it, or nothing makes its case any more */
  FOLD_GOLDEN_STALE,
  FOLD_GOLDEN_ABSENT,     /* its engine or its guest is not here, or failed */
  FOLD_GOLDEN_UNRECORDED, /* the records have its subject, but not its case */
  FOLD_GOLDEN_STATES
};

/* Records of runs by subject, engine, kept_for and case. */
struct fold_golden_list {
  struct fold_golden_entry {
    json_t *record;
    enum fold_golden_state state;
  } * at;
  size_t n, room;
  bool sorted;
};

struct fold_golden {
  const struct fold_golden_options *options;
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  bool recorded; /* the results are read from records, which may lack any case */
  struct fold_golden_list kept;
  struct fold_golden_list now; /* for --bless, the new goldens; and runs without results, which may be missing */
  json_t *noted;               /* the state of each case that the records name, by subject, engine and case */
  struct fold_again again;
  json_t *environment;
  size_t subject; /* the subject and case of the last run; claims about one run come one after the other */
  const char *last;
  size_t count[FOLD_GOLDEN_STATES]; /* of `kept` */
  size_t held, differ, added, changed, same, removed, refused, unsteady, overflowed, untried;
};

/* Reads the file. BAD_INPUT if it is no file of goldens, or lacks a line, or has a line that --bless did not write. */
fold_status fold_golden_open(struct fold_golden *golden, const struct fold_golden_options *options,
                             const struct fold_registry *registry, const struct fold_selection *selection);
void fold_golden_close(struct fold_golden *golden);
/* The values of that key ("subject", "case") in what is kept, selected and still among the fixtures, separated by
 * commas; the caller frees it. */
char *fold_golden_names(const struct fold_golden *golden, const char *key);
/* To be called before anything is taken, with the environment of the runs as JSON text. */
fold_status fold_golden_begin(struct fold_golden *golden, const char *environment);
/* To be called for each judgement, or run. */
fold_status fold_golden_take(struct fold_golden *golden, const struct fold_judgement *judgement);
/* Notes what a record says of its case, which may be kept: to be called for each record, in addition to fold_golden_take
 * for those with results. */
fold_status fold_golden_note(struct fold_golden *golden, const struct fold_subject *subject, const json_t *record);
/* For --bless, after everything was taken: takes it a second time, from other processes. Results that vary are refused. */
fold_status fold_golden_again(struct fold_golden *golden, const struct fold_judgement *judgement);
/* To be called last. Compares what is kept with that file of records; or, for --bless, writes what was taken. Prints
 * differences and counts. */
fold_status fold_golden_end(struct fold_golden *golden, const char *records);
/* What the last line of the output says about goldens, after a semicolon; "" if goldens are not used. */
void fold_golden_beside(const struct fold_golden *golden, char text[160]);
/* 0: everything that was compared agrees; 1: something does not; 77: all is stale or absent; 2: nothing was compared. */
int fold_golden_exit_code(const struct fold_golden *golden);

/* What the files of this folder share. */
fold_status fold_golden_read(struct fold_golden *golden);
void fold_golden_free_list(struct fold_golden_list *list);
/* Adds a record, which it takes over; NULL is NO_MEMORY. */
fold_status fold_golden_add(struct fold_golden_list *list, json_t *record);
/* The entry of the same subject, engine, kept_for and case; NULL if there is none. */
struct fold_golden_entry *fold_golden_find(struct fold_golden_list *list, const json_t *record);
/* Sets and counts the states of what is kept. */
fold_status fold_golden_sort_out(struct fold_golden *golden);
/* What the records say of the case of a golden; OTHER if they do not name it. */
enum fold_golden_state fold_golden_noted(const struct fold_golden *golden, const json_t *kept);
/* Whether a run without results leaves open what its results are: one that broke, or that --seconds left out, or of a subject of
 * our own. A guest that needs no device and refuses a case gives no result of it any more. */
bool fold_golden_is_excused(const struct fold_subject *subject, bool broken, const char *reason);
/* The run of a judgement as it would be kept; NULL if memory is short. */
json_t *fold_golden_record(const struct fold_golden *golden, const struct fold_judgement *judgement);
/* Whether a subject's results depend only on the terms. */
bool fold_golden_portable(const struct fold_subject *subject);
/* The environment for which a subject's results are kept; "" if they are portable. */
void fold_golden_where(const struct fold_golden *golden, const struct fold_subject *subject, char text[320]);
void fold_golden_refuse(struct fold_golden *golden, const struct fold_judgement *judgement, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* *right says that an oracle certifies the results of a judgement. If not, they are refused, or counted as left out. */
fold_status fold_golden_certify(struct fold_golden *golden, const struct fold_judgement *judgement, bool *right);
fold_status fold_golden_bless(struct fold_golden *golden);
/* For --bless: refuses a process whose results may not be those of others. */
fold_status fold_golden_check_process(void);

#endif
