/* command/hunt_find.h: prints what a hunt has found; and options of the commands that hunt. */
#ifndef FOLD_COMMAND_HUNT_FIND_H
#define FOLD_COMMAND_HUNT_FIND_H

#include "command/command.h"
#include "hunt/hunt.h"

/* Judges the find's fixture once more, for its numbers, and prints all that is known of it. What is not seen again is printed as it was
 * found. `program`: how the user calls the command. */
fold_status fold_find_print(const struct fold_hunt *hunt, const struct fold_find *find, const char *program);

/* "90", "90s", "5m" or "2h" in seconds; and a seed. Anything else ends the program with one line and exit code 2. */
double fold_option_time(struct argp_state *state, const char *text);
uint64_t fold_option_seed(struct argp_state *state, const char *text);
uint64_t fold_find_new_seed(void);
/* How many processes hunt: one for each core, and at most two where a subject runs on a device. */
unsigned fold_find_processes(const struct fold_hunt *hunt);

#endif
