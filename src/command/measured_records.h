/* command/measured_records.h: what a measuring command does with its records: it writes them as lines of --jsonl, and prints the tables that
 * foldproof report makes of the same lines. */
#ifndef FOLD_COMMAND_MEASURED_RECORDS_H
#define FOLD_COMMAND_MEASURED_RECORDS_H

#include "command/command.h"
#include "records/record.h"
#include "report/model.h"

struct fold_measuring {
  struct fold_records records; /* of --jsonl, if that is asked for */
  struct fold_model model;     /* of the next tables */
  struct fold_progress progress;
};

/* `jsonl`: NULL writes no file. */
fold_status fold_measuring_open(struct fold_measuring *m, const char *jsonl);
/* Writes and releases the record, and keeps it for the next tables. FOLD_NO_MEMORY if it is NULL, because memory was
 * short. */
fold_status fold_measuring_take(struct fold_measuring *m, json_t *record);
/* Prints the tables of what was taken since the last tables. */
fold_status fold_measuring_show(struct fold_measuring *m);
/* Closes the file as fold_close_records does. Returns `status` if that is a failure. */
fold_status fold_measuring_close(struct fold_measuring *m, const char *program, fold_status status);

#endif
