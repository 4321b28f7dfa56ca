/* late_writes.h: threads that a subject started and that go on after its call has returned.
 *
 * The threads of a pool wait until they are asked again: that is no fault. A thread that still works, or sleeps, may
 * later write to the call's arguments, when the caller reads them or has freed them. So after some runs of a guest that has threads
 * the harness waits, for a limited time, while output and scratch are write-protected.
 */
#ifndef FOLD_LATE_WRITES_H
#define FOLD_LATE_WRITES_H

#include "rig/fault.h"

struct fold_subject;

/* Names what was written since the call returned; NULL: no write was seen. `watched` has the n regions that are watched
 * for faults now: the output first; the subject may write to the first `own`. `got` is what the output held when the
 * call returned, and `started` how many threads more there were than before the call. The waiting time is limited for each
 * `who`: once it is used up, later writes are not seen. */
const char *fold_late_writes_look(const struct fold_subject *who, struct fold_watched *watched, size_t n, size_t own,
                                  const void *got, unsigned started);
/* How many threads the process has, if `who` is a guest that runs in a worker; else 0. Where the number grows during a
 * call, the caller looks at once. */
unsigned fold_late_writes_threads(const struct fold_subject *who);
/* Whether a late write by `who` was seen: then each of its runs is looked at. */
bool fold_late_writes_by(const struct fold_subject *who);
/* Whether one by any subject was seen: its threads may also write to other subjects' arguments. */
bool fold_late_writes_any(void);

#endif
