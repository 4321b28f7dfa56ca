/* late.h: threads that a subject started and that go on after its call has returned.
 *
 * A pool waits until it is asked again: that is no fault. A thread that still works, or sleeps, may write to what the call was given:
 * the caller's, who reads it, or has it no longer. Such threads get some time, while output and scratch can't be written to.
 */
#ifndef FOLD_LATE_H
#define FOLD_LATE_H

#include "fault.h"

struct fold_subject;

/* What is watched for faults now: n regions, of which the output is the first and `own` are the subject's to write to; `got` is what the
 * output held when the call returned. What was written since; NULL: nothing was seen. The time that is waited
 * for each `who` is limited: where it is over, what comes later is not seen. */
const char *fold_late_look(const void *who, struct fold_watched *watched, size_t n, size_t own, const void *got);
/* How many threads there are before and after a call of a guest's in a worker, for a look at once where it started one; 0: nobody's. */
unsigned fold_late_threads(const struct fold_subject *who);
/* Whether something was seen of it, so that each of its runs is to be looked at. */
bool fold_late_is(const void *who);
/* The same of anybody: his threads may write to what others are given. */
bool fold_late_was_any(void);

#endif
