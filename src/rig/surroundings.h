/* surroundings.h: the state of the process besides its arithmetic (footing.h), kept and put back between runs: the
 * signal mask, the environment's variables, the current and the root folder, and the locale of the process and of the
 * thread.
 *
 * If a subject left another locale, the harness would read and write other numbers; with another folder it would find
 * no fixture. Threads that are ranks of one process share what is kept of the process.
 */
#ifndef FOLD_SURROUNDINGS_H
#define FOLD_SURROUNDINGS_H

#include "fold.h"

/* Keeps the state of now, to compare with, before runs on the host or on a device. What is kept already stays, but a device's
 * library changes the process when it is first used, so what process.h has is kept anew on the host after such runs.
 * NO_MEMORY. */
fold_status fold_surroundings_keep(bool host);

/* How much is looked at. SHORT takes no longer than a short run. LONG adds folders, variables that were changed in
 * place, and the limits without which the harness could not go on. WHOLE has all limits. */
enum fold_look { FOLD_LOOK_SHORT, FOLD_LOOK_LONG, FOLD_LOOK_WHOLE };

/* Puts back whatever has changed, and names the first change in `changed` if that is still empty. */
void fold_surroundings_restore(enum fold_look look, char changed[80]);

/* The same for everything, after a subject's last run in this process, where one thread makes all runs. On the host it
 * also looks at all that process.h has (handlers of signals, timers, the user, the priority, child processes, ...). What
 * changes from now on is the harness's own doing, except for what process.h has: the harness leaves that alone between
 * subjects, so it stays as it is kept. */
void fold_surroundings_end(bool host, char changed[80]);
/* Drops what is kept, so that the next run keeps the state anew: the harness itself may have changed any of it, as it
 * does when it starts an engine. */
void fold_surroundings_forget(void);
/* Whether something could not be put back, such as a hard limit that was lowered: then the process is of no use to
 * other subjects. */
bool fold_surroundings_are_spoilt(void);

#endif
