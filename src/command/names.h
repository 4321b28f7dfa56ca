/* command/names.h: names the dtypes, problems and claims of a mask. */
#ifndef FOLD_COMMAND_NAMES_H
#define FOLD_COMMAND_NAMES_H

#include <stdint.h>
#include <stdio.h>

#include "model/subject.h"

void fold_put_dtypes(FILE *out, uint64_t mask, const char *between);
void fold_put_problems(FILE *out, uint64_t mask, const char *between);
/* Those that a subject takes; "rows" for an unknown function of rows. */
void fold_put_problems_of(FILE *out, const struct fold_subject *subject, const char *between);
void fold_put_claims(FILE *out, uint64_t mask, const char *between);

#endif
