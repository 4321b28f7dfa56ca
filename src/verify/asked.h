/* asked.h: who asks a process to stop by a signal: the user, or a subject.
 *
 * A signal is a subject's where its sender descends from the process that watches: a worker, a rank, a program, or what these have started.
 * Sent to a worker it ends that, as it would anywhere; sent to who watches it ends nothing, and is told of the subject. All other
 * signals are the user's. Nobody can tell of SIGKILL and SIGSTOP; nor of a sender that is gone when its signal is taken, which may have been
 * the user's.
 */
#ifndef FOLD_ASKED_H
#define FOLD_ASKED_H

/* From now on this process watches, over itself and the workers that it forks: signals that end a process and can be caught. */
void fold_asked_watch(void);
/* As it was before. */
void fold_asked_leave(void);
/* The last signal that a subject has sent to this process since it was asked for; 0: none. */
int fold_asked_by_subject(void);

#endif
