/* command/verify_none.h: see command/verify_none.c. */
#ifndef FOLD_COMMAND_VERIFY_NONE_H
#define FOLD_COMMAND_VERIFY_NONE_H

#include "run/runner.h"

/* Says on standard error, in a line for each of the first selected subjects, why none of the selected cases and claims
 * was judged. */
void fold_verify_none(const struct fold_registry *registry, const struct fold_selection *selection);
/* Whether guests alone are selected, and no claim that they name can be judged of them: no mistake of the selection. */
bool fold_verify_none_is_guests(const struct fold_registry *registry, const struct fold_selection *selection);

#endif
