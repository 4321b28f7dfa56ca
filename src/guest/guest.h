/* guest.h: subjects that users bring: a shared object (--guest) or a program (--exec).
 *
 * A guest is asked for its table in a process of its own, so that one that crashes on loading ends nobody else; the answer is text
 * (JSON), the same from both kinds, and becomes rows of a registry beside the compiled ones. What runs is loaded, or started, by
 * the process that runs it, when it first does.
 */
#ifndef FOLD_GUEST_H
#define FOLD_GUEST_H

#include "judge.h"

enum { FOLD_GUESTS_MOST = 64 };

/* How a guest is reached. */
struct fold_door {
  const char *option;        /* "--guest" */
  fold_status (*open)(void); /* what all of this kind need, in the command's own process; NULL: nothing */
  /* Writes the table as JSON: {"subjects": [{"name": ..., ...}]}. Called in a process that may die of it. */
  fold_status (*describe)(const char *what, char **json);
  fold_run *run;
  fold_scratch *scratch;
  uint64_t tidy; /* the claims about memory that every subject behind it makes */
};
extern const struct fold_door fold_door_object, fold_door_program;

struct fold_guest {
  const struct fold_door *door;
  const char *what; /* a path; a command */
};

/* What subject->guest points to. */
struct fold_guest_row {
  const struct fold_guest *guest;
  size_t index; /* in its own table */
  bool has_scratch;
};

/* The registry of `own` and of the guests' subjects, which come first. `claims` (names and presets, NULL: none) are promised by every
 * guest beside what its own table says, as far as it can promise them. BAD_INPUT names the guest and what is wrong. The registry and what
 * it points to live until the process ends. */
fold_status fold_guests_load(const struct fold_guest *guests, size_t n, const char *claims,
                             const struct fold_registry *own, struct fold_registry *all);

/* Reads a table's text: rows of `guest`, which the caller frees. */
fold_status fold_guest_rows(const struct fold_guest *guest, const char *json, const char *claims,
                            struct fold_subject **rows, size_t *n);
#endif
