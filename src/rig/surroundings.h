/* surroundings.h: what a run finds in its process besides its arithmetic (footing.h), and who changed it: the signal mask, the
 * environment's variables, the current and the root folder, and the locale, the process's and the thread's.
 *
 * A subject that leaves another locale would have the harness read and write other numbers; one that leaves another folder, find no
 * fixture. Threads that are ranks of one process share what is kept of it.
 */
#ifndef FOLD_SURROUNDINGS_H
#define FOLD_SURROUNDINGS_H

#include "fold.h"

/* Keeps what there is now, to be compared with; where something is kept already, that stays. NO_MEMORY. */
fold_status fold_surroundings_keep(void);

/* How much is looked at: SHORT takes no longer than a short run; LONG also has folders, variables that were written in place, and
 * the limits without which the harness itself could not go on; WHOLE has all limits. */
enum fold_look { FOLD_LOOK_SHORT, FOLD_LOOK_LONG, FOLD_LOOK_WHOLE };

/* Puts back what is no longer as it was kept, and names the first such thing where nothing is named yet. */
void fold_surroundings_restore(enum fold_look look, char changed[80]);

/* The same of all, after a subject's last run on the host, where one thread makes runs: also of how signals are handled, timers, the
 * user, the priority, the mask of files' modes, and processes that it started. What is changed from now on is the harness's own doing,
 * but for these and limits, which it leaves alone between subjects: they stay as they are kept. */
void fold_surroundings_end(char changed[80]);
/* What is there now is kept anew: the harness itself may have changed all of it, as it does where it starts an engine. */
void fold_surroundings_forget(void);
/* Whether something could not be put back, as a hard limit that was lowered: the process is of no use to other subjects. */
bool fold_surroundings_are_spoilt(void);

#endif
