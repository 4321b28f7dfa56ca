/* rig/world.h: runs of a rig whose subject's engine has ranks. Private to rig.c. */
#ifndef FOLD_RIG_WORLD_H
#define FOLD_RIG_WORLD_H

#include "ranks/world.h"
#include "rig/rig.h"

/* fold_rig_run over the ranks: each gets its columns, runs the subject in a rig of its own and sends its traces. `got`
 * receives rank 0's results. */
fold_status fold_rig_world_run(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, void *got, struct fold_traces *traces);
/* Asks the ranks whether they still hold what they were sent. If one does not, the next run sends the parts again. */
fold_status fold_rig_world_kept(struct fold_rig *rig, bool *kept);

#endif
