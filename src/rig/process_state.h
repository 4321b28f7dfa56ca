/* process_state.h: what a subject may leave changed in its process besides its arithmetic (fp_state.h). It is looked at, named, and
 * put back.
 *
 * After each run: the signal mask and the locale of the thread, the environment's variables, the current folder and the locale
 * of the process. At the end of a subject's runs also the handlers of signals, the standard descriptors, and processes
 * that it started.
 *
 * If a subject left another locale, the harness would read and write other numbers; with another folder it would find
 * no fixture. Threads that are ranks of one process share what is kept of the process. The user, limits, timers and the
 * scheduler are not looked at.
 */
#ifndef FOLD_PROCESS_STATE_H
#define FOLD_PROCESS_STATE_H

#include <sys/types.h>

#include "base/fold.h"

/* Keeps the state of now, to compare with, unless one is kept. NO_MEMORY. */
fold_status fold_process_state_keep(void);
/* Puts back what a run has changed, and names the first change in `changed` if that is still empty. Unless `whole` is set, the
 * look takes no longer than a short run: it leaves out the folder, and variables that were changed in place. */
void fold_process_state_restore(bool whole, char changed[80]);
/* The same for everything, after a subject's last run in this process; then drops what is kept. On a device only what
 * each run restores: the device's library installs handlers and starts processes too. */
void fold_process_state_end(bool host, char changed[80]);
/* Drops what is kept: the harness itself may have changed any of it, as it does when it starts an engine. */
void fold_process_state_forget(void);

/* Harness code that starts a process must report it here, so that no subject is blamed for it. */
void fold_process_state_own_child(pid_t child);
/* From now on, in a process that judges guests: looks also for processes that have left their parents, which become the
 * children of the process that watches this one (reaper.h). */
void fold_process_state_watch_guests(void);

#endif
