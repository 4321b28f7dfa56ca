/* refutation.h: what is refuted, or broken, told to people: a line, and the command that replays that case alone. */
#ifndef FOLD_REFUTATION_H
#define FOLD_REFUTATION_H

#include <stdio.h>

#include "runner.h"

/* The judgement's line, and below it how to replay it, as it was asked. `program` is how the user calls the command. */
void fold_print_refuted(const struct fold_judgement *judgement, const char *program, const char *folder, FILE *out);

/* A fraction of a bound, with three digits; of one that would read as 1 by how much it is not: "1+3e-08". */
const char *fold_print_fraction(double fraction, char text[32]);
/* An error beside its bound: "0.5 of the bound", "1570 times the bound". */
void fold_print_of_bound(double fraction, FILE *out);

#endif
