/* own_run.h: the fields of an environment's record that are about the run, not the machine: its day and its command
 * line. */
#ifndef FOLD_OWN_RUN_H
#define FOLD_OWN_RUN_H

#include <jansson.h>
#include <stdbool.h>

/* Sets the day on which the run began; a copy of another run's environment keeps that run's day. */
void fold_own_run_set_date(json_t *environment);
/* Sets this process's command line, quoted for a shell: the program's name without its folder, and the arguments as
 * they were given. Left out where the system does not tell it. */
void fold_own_run_set_command(json_t *environment);

/* Whether two runs in the same environment may differ in that field. */
bool fold_own_run_has(const char *key);

#endif
