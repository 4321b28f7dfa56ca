/* turn.h: runs work on subjects in the caller's process, one piece at a time, in the state that the harness needs. */
#ifndef FOLD_TURN_H
#define FOLD_TURN_H

#include "base/fold.h"

/* Does the work with the usual arithmetic and the C locale, and leaves both as they were. BAD_INPUT while other work is
 * being done. */
fold_status fold_library_turn(fold_status (*work)(void *context), void *context);

#endif
