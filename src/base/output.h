/* output.h: the files that commands write.
 *
 * Promised: a regular file, or one that does not exist yet, appears under its name once it is whole. Until then the
 * output is in a temporary file beside it, and the old file stays. Links are followed, and stay links. Whatever else
 * the name leads to (a device, a pipe, a link that leads nowhere yet, a descriptor's name in /dev/fd or /proc) is
 * written to directly and never replaced: as root, a rename would replace a device. A read-only file is not
 * replaced either. Not promised: that data survive a loss of power.
 */
#ifndef FOLD_OUTPUT_H
#define FOLD_OUTPUT_H

#include <stdio.h>

#include "base/fold.h"

struct fold_output {
  FILE *file;
  char *path;      /* as the user named it */
  char *target;    /* the path with links followed */
  char *temporary; /* NULL: `target` is written directly */
};

enum fold_output_end {
  FOLD_OUTPUT_WHOLE, /* put under its name */
  FOLD_OUTPUT_PART,  /* the same if the name is free; else the old file stays, and this one becomes "FILE.incomplete" */
  FOLD_OUTPUT_DROP,  /* removed */
};

/* The path "-" is standard output. FOLD_BAD_INPUT names a path that can't be written; a full disk, then or later, or a
 * closed standard output is FOLD_ENVIRONMENT. */
fold_status fold_output_open(struct fold_output *output, const char *path);
/* Reports a failure to write at the latest; then nothing is kept. `kept`, unless NULL, receives the name of an
 * incomplete file (cut if it is too long), or "". */
fold_status fold_output_close(struct fold_output *output, enum fold_output_end end, char kept[256]);
/* The status for an errno of writing this file (fold_write_code). */
fold_status fold_output_failed(const struct fold_output *output, int error);

/* Marks a file that this command reads, so that no output replaces it. */
void fold_output_spare(const char *path);
/* Lets an output replace it again. */
void fold_output_unspare(const char *path);

/* Says that what is written to it is of use though the rest may be missing. */
void fold_output_is_useful(const struct fold_output *output);
/* Removes the temporary files of this process, the useful ones only if told so; safe in a signal handler. */
void fold_outputs_abandon(bool useful_ones);

#endif
