/* call.h: what a caller of the library asks, as a call that oracles and orders take. */
#ifndef FOLD_LIBRARY_CALL_H
#define FOLD_LIBRARY_CALL_H

#include "foldproof.h"
#include "model/problem.h"

/* Finds the problem and the dtype by their names. BAD_INPUT says what is wrong with them, with the extents or strides, or which input is a
 * null pointer. An input without elements gets an address. */
fold_status fold_library_call(const struct foldproof_problem *given, struct fold_call *call);
fold_status fold_library_dtype(const char *name, enum fold_dtype *dtype);

/* The output of a call: BAD_INPUT if it is a null pointer, or has memory of an input. */
fold_status fold_library_out(const struct fold_call *call, enum fold_dtype dtype, const void *out);

/* The fold of rows by an operation. The call that is made of it has that problem. */
fold_status fold_library_rows(const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                              struct foldproof_problem *problem);

#endif
