/* command_names.h: a mask's dtypes, problems and claims by name. */
#ifndef FOLD_COMMAND_NAMES_H
#define FOLD_COMMAND_NAMES_H

#include <stdint.h>
#include <stdio.h>

void fold_put_dtypes(FILE *out, uint64_t mask, const char *between);
void fold_put_problems(FILE *out, uint64_t mask, const char *between);
void fold_put_claims(FILE *out, uint64_t mask, const char *between);

#endif
