/* output.h: the files that commands write.
 *
 * Promised: what is a regular file, or is not there yet, appears under its name once it is whole; until then a temporary
 * one lies beside it, and what was there stays. Links are followed, and stay links. Whatever else the name leads to (a
 * device, a pipe, a link that leads nowhere yet, a descriptor's name in /dev/fd or /proc) is written to and never
 * replaced: as root, a rename would take a device's place. A file that nobody may write is not replaced either.
 * Not promised: that data survive a loss of power.
 */
#ifndef FOLD_OUTPUT_H
#define FOLD_OUTPUT_H

#include <stdio.h>

#include "fold.h"

struct fold_output {
  FILE *file;
  char *path;      /* as its user named it */
  char *target;    /* links followed */
  char *temporary; /* NULL: written directly */
};

enum fold_output_end {
  FOLD_OUTPUT_WHOLE, /* takes its place */
  FOLD_OUTPUT_PART,  /* the same where nothing is; beside a former file it lies under another name, "FILE.incomplete" */
  FOLD_OUTPUT_DROP,  /* removed */
};

/* The path "-" is standard output. FOLD_BAD_INPUT names the path when that can't be written; where the disk is full, then or later,
 * or standard output is closed, that is FOLD_ENVIRONMENT. */
fold_status fold_output_open(struct fold_output *output, const char *path);
/* A failure to write is reported here at the latest, and then nothing is kept. `kept`, unless NULL, receives the name of an
 * incomplete file (cut if it is too long), or "". */
fold_status fold_output_close(struct fold_output *output, enum fold_output_end end, char kept[256]);
/* FOLD_BAD_INPUT or what else `error` means for a file that is written. */
fold_status fold_output_failed(const struct fold_output *output, int error);

/* A file that this command reads: no output replaces it. */
void fold_output_spare(const char *path);

/* Removes the temporary files of this process, from a signal's handler too. */
void fold_outputs_abandon(void);

#endif
