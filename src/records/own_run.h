/* own_run.h: what the record of an environment says of the run, not of the machine: its day and its command line. */
#ifndef FOLD_OWN_RUN_H
#define FOLD_OWN_RUN_H

#include <jansson.h>
#include <stdbool.h>

/* The day on which this build's run began; a copy of another run's environment says when that was. */
void fold_own_run_set_date(json_t *environment);
/* This process's command line, for a shell: the program's name without its folder, the arguments as they were given. Left out where the
 * system does not tell it. */
void fold_own_run_set_command(json_t *environment);

/* Whether two runs in one environment may differ in that field. */
bool fold_own_run_has(const char *key);

#endif
