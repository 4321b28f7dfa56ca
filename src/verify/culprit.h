/* culprit.h: whose doing it is that a worker ends badly after its last word: by what it has registered for its process's exit, or a destructor. */
#ifndef FOLD_CULPRIT_H
#define FOLD_CULPRIT_H

#include "supervise.h"

/* The subject whose process ends badly where nobody else runs in it; `ran`: of each of the job's, its last case in the process that did,
 * counted from 1, and 0 where it did not run there. NULL: that was none of them by itself. */
const struct fold_subject *fold_culprit(const struct fold_job *job, const struct fold_cases *cases, const size_t *ran);

#endif
