/* guest.h: subjects that users bring: a shared object (--guest), a program (--exec), or a table in this process (foldproof_verify).
 *
 * A guest is asked for its table in a process of its own, so that one that crashes on loading ends nobody else; the answer is text
 * (JSON), the same from both kinds, and becomes rows of a registry beside the compiled ones. What runs is loaded, or started, by
 * the process that runs it, when it first does.
 */
#ifndef FOLD_GUEST_H
#define FOLD_GUEST_H

#include <jansson.h>

#include "judge.h"

enum { FOLD_GUESTS_MOST = 64 };

struct fold_guest;
/* How a guest is reached. */
struct fold_door {
  const char *option;        /* "--guest" */
  fold_status (*open)(void); /* what all of this kind need, in the command's own process; NULL: nothing */
  void (*remove)(void);      /* what that has left in the file system, by any process; NULL: nothing */
  /* Writes the table as JSON: {"subjects": [{"name": ..., ...}]}. Called in a process that may die of it, unless `here`. */
  fold_status (*describe)(const struct fold_guest *guest, char **json);
  bool here; /* it is in this process, and nowhere else */
  fold_run *run;
  fold_scratch *scratch;
  bool files;    /* subjects behind it get files, and no memory of any engine's */
  bool strides;  /* subjects behind it can be given views */
  uint64_t tidy; /* the claims about memory that every subject behind it makes */
  /* By claim: why nothing that a subject behind it does could refute it; NULL: something could. */
  const char *unseen[FOLD_CLAIMS];
};
extern const struct fold_door fold_door_object, fold_door_program, fold_door_here;

struct fold_guest {
  const struct fold_door *door;
  const char *what;                          /* a path; a command; of one that is here, how messages call it, */
  const struct foldproof_guest_table *table; /* and what it is */
};

/* What subject->guest points to. */
struct fold_guest_row {
  const struct fold_guest *guest;
  void *text;       /* what the subject's strings are in */
  const char *name; /* in its own table; the subject's may be another (fold_guests_load) */
  char *renamed;
  size_t index; /* in its own table */
  bool has_scratch;
  bool unknown; /* problem "rows": a function of each row, nobody knows which; it has the cases of sums */
};

/* The registry of `own` and of the guests' subjects, which come first. A name that an earlier guest has on that engine gets "@2", or the
 * next number that is free, so that versions can be compared: the same guest twice is a mistake. `claims` (names and presets, NULL: none) are promised by every
 * guest beside what its own table says, as far as it can promise them. BAD_INPUT names the guest and what is wrong. `twin` ("NAME" or "ENGINE:NAME"; NULL: none) is the
 * subject whose bits every other guest's subject promises. The registry and what
 * it points to live until fold_guests_unload, which is not asked for after a failure. */
fold_status fold_guests_load(const struct fold_guest *guests, size_t n, const char *claims, const char *twin,
                             const struct fold_registry *own, struct fold_registry *all);
void fold_guests_unload(struct fold_registry *all);

/* What a door keeps of each guest in this process is at a number of its own, below FOLD_GUESTS_MOST; BAD_INPUT where there are more. */
struct fold_guest_slots {
  const char *what[FOLD_GUESTS_MOST];
};
fold_status fold_guest_slot(struct fold_guest_slots *slots, const struct fold_guest *guest, size_t *slot);

/* The files that they are, by content, as a record of the environment tells them: [{"file": "mine.so", "xxh3": "0x..."}]; NULL: memory is
 * short. */
json_t *fold_guests_files(const struct fold_guest *guests, size_t n);

/* The claims that its door sees nothing of: a mask. */
uint64_t fold_guest_unseen(const struct fold_subject *subject);

/* The name of what a call folds, as guests are told it. */
const char *fold_guest_problem(const struct fold_subject *subject, const struct fold_call *call);

/* Reads a table's text: rows of `guest`, which the caller frees; their guest rows live until they are put away. */
fold_status fold_guest_rows(const struct fold_guest *guest, const char *json, const char *claims,
                            struct fold_subject **rows, size_t *n);
void fold_guest_rows_put_away(struct fold_subject *rows, size_t n);
#endif
