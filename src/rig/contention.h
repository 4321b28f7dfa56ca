/* contention.h: other processes that keep cores and memory busy, so that what a subject's threads do comes in another sequence.
 *
 * They are processes, and not threads, so that nothing of the process that runs subjects is another for it. They are started once,
 * stopped between uses, and gone with the process that started them, at the latest.
 */
#ifndef FOLD_CONTENTION_H
#define FOLD_CONTENTION_H

#include "fold.h"

/* From here on they run; or ENVIRONMENT. */
fold_status fold_contention_begin(void);
void fold_contention_pause(void);
void fold_contention_end(void);

#endif
