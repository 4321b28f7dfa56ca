/* contention.h: other processes that keep cores and memory busy, so that a subject's threads interleave differently.
 *
 * They are processes, not threads, so that they change nothing in the process that runs subjects. They are started once,
 * stopped between uses, and end at the latest with the process that started them.
 */
#ifndef FOLD_CONTENTION_H
#define FOLD_CONTENTION_H

#include "base/fold.h"

/* Starts them, or lets them go on. ENVIRONMENT where none can be started. */
fold_status fold_contention_begin(void);
void fold_contention_pause(void);
void fold_contention_end(void);

#endif
