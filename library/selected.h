/* selected.h: a table of callbacks as a guest, and what is judged of it. */
#ifndef FOLD_SELECTED_H
#define FOLD_SELECTED_H

#include "foldproof.h"
#include "run/runner.h"

/* Its parts point to each other: it stays where it was opened. */
struct fold_selected {
  struct fold_door door;
  struct fold_guest guest;
  struct fold_selection selection;
  struct fold_registry all; /* the table's subjects, and foldproof's own */
  char *claims;
  bool loaded;
};

/* Copies as much of the options as the caller's version has. */
struct foldproof_verify_options fold_read_options(const struct foldproof_verify_options *given);

/* `callers`: the arithmetic in which the table's functions run. To be closed where it was opened with FOLD_OK. */
fold_status fold_selected_open(const struct foldproof_guest_table *table,
                               const struct foldproof_verify_options *options, struct fold_control callers,
                               struct fold_selected *selected);
void fold_selected_close(struct fold_selected *selected);

#endif
