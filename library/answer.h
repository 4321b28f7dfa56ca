/* answer.h: how the library's functions end: the status's text is kept for foldproof_error, and its code returned. */
#ifndef FOLD_ANSWER_H
#define FOLD_ANSWER_H

#include "fold.h"

int fold_answer(fold_status status);

#endif
