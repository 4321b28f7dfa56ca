/* culprit.h: finds the subject by which a worker ends badly after its last message: through a function that it has
 * registered with atexit, or a destructor. */
#ifndef FOLD_CULPRIT_H
#define FOLD_CULPRIT_H

#include "supervise.h"

/* The subject whose process ends badly even if nobody else runs in it; NULL: none does so alone. `ran`, for each
 * subject of the job: its last case in the process that ended badly, counted from 1; 0: it did not run there. */
const struct fold_subject *fold_culprit(const struct fold_job *job, const struct fold_cases *cases, const size_t *ran);

#endif
