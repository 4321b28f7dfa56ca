/* refutation.h: prints what is refuted or broken: what, on which case, why, the numbers, and the command that repeats it. */
#ifndef FOLD_REFUTATION_H
#define FOLD_REFUTATION_H

#include <stdio.h>

#include "run/runner.h"

/* Prints a judgement: the claim and the case, the reason, the numbers, and the command that
 * repeats the case with the same options. `program` is how the user calls the command. */
void fold_print_refuted(const struct fold_judgement *judgement, const char *program, const char *folder, FILE *out);
/* How the order of additions changed, on the case `on` ("": the one that the lines before are about). */
void fold_print_order_change(const char *text, const char *on, FILE *out);

/* The same lines, kept to be printed later: `head` up to the reason, `rest` from the numbers on, `replay` the last. */
struct fold_refutation {
  char *head, *rest, *replay;
};
fold_status fold_refutation_keep(struct fold_refutation *refutation, const struct fold_judgement *judgement,
                                 const char *program, const char *folder);
void fold_refutation_free(struct fold_refutation *refutation);

/* Prints an error relative to its bound: "0.5 of the bound", "1570 times the bound". */
void fold_print_of_bound(double fraction, FILE *out);

#endif
