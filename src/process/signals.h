/* signals.h: tells whether a signal that stops a process was sent by the user or by a subject.
 *
 * A signal is a subject's if its sender descends from the process that watches: a worker, a rank, a program, or what
 * these have started. If it is sent to a worker, it ends the worker, as it would anywhere. If it is sent to the
 * watching process, it ends nothing, and is reported of the subject. All other signals count as the user's: also those
 * of a sender that has ended when its signal is handled. SIGKILL and SIGSTOP can't be caught.
 */
#ifndef FOLD_SIGNALS_H
#define FOLD_SIGNALS_H

/* From now on this process, and the workers that it forks, handle the signals that end a process and can be caught. */
void fold_signals_watch(void);
/* Puts the former handlers back. */
void fold_signals_leave(void);
/* The last signal that a subject has sent to this process since the last call; 0: none. */
int fold_signals_of_subject(void);

#endif
