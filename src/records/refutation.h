/* refutation.h: prints what is refuted or broken: a line, and the command that replays that case alone. */
#ifndef FOLD_REFUTATION_H
#define FOLD_REFUTATION_H

#include <stdio.h>

#include "runner.h"

/* Prints the judgement's line, and below it the command that replays it as it was asked for. `program` is how the user
 * calls the command. */
void fold_print_refuted(const struct fold_judgement *judgement, const char *program, const char *folder, FILE *out);

/* A fraction of a bound, with three digits. One that would be rounded to 1 shows its distance from 1: "1+3e-08". */
const char *fold_print_fraction(double fraction, char text[32]);
/* Prints an error relative to its bound: "0.5 of the bound", "1570 times the bound". */
void fold_print_of_bound(double fraction, FILE *out);

#endif
