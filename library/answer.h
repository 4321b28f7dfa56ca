/* answer.h: ends a function of the library: keeps the status's text for foldproof_error, and returns its code. */
#ifndef FOLD_ANSWER_H
#define FOLD_ANSWER_H

#include "base/fold.h"

int fold_answer(fold_status status);

#endif
