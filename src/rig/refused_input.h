/* rig/refused_input.h: what of its input explains that a guest's run failed. */
#ifndef FOLD_RIG_REFUSED_INPUT_H
#define FOLD_RIG_REFUSED_INPUT_H

#include "rig/rig.h"

/* A guest need not take an input without terms, NaN or infinities. If its run on such an input failed (FOLD_FAILED), this is UNSUPPORTED,
 * with its own words; on any other input the failure stays. */
fold_status fold_rig_explain_failure(const struct fold_rig *rig, const struct fold_request *request,
                                     fold_status failure);
/* UNSUPPORTED if the subject takes finite terms alone and the run's input has others. */
fold_status fold_rig_check_terms(const struct fold_rig *rig, const struct fold_subject *subject,
                                 const struct fold_request *request);

#endif
