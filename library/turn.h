/* turn.h: work on subjects in the caller's process: one at a time, on the harness's own footing. */
#ifndef FOLD_TURN_H
#define FOLD_TURN_H

#include "fold.h"

/* Does the work with the usual arithmetic and the C locale, and leaves both as they were. BAD_INPUT while other work is done. */
fold_status fold_library_turn(fold_status (*work)(void *context), void *context);

#endif
