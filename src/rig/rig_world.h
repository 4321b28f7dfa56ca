/* rig_world.h: runs of a rig whose subject's engine has ranks. Private to rig.c. */
#ifndef FOLD_RIG_WORLD_H
#define FOLD_RIG_WORLD_H

#include "rig.h"
#include "world.h"

/* fold_rig_run, over the ranks: each gets its columns, runs the subject, and is looked at; `got` is rank 0's. */
fold_status fold_rig_world_run(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, void *got, struct fold_traces *traces);
/* Asks the ranks whether they still hold what they were sent; where one does not, they are sent it again before the next run. */
fold_status fold_rig_world_kept(struct fold_rig *rig, bool *kept);

#endif
