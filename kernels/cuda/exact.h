/* exact.h: the exact sum on a GPU, correctly rounded, in any order. Plain C.
 *
 * Promised: sums of f16, bf16, f32 and f64 rounded once, to nearest even, from the exact value, with the policy for
 * special values of oracles/exact.c. No launch, alignment, order of terms or number of rows changes a bit; a state's
 * words are those of fold_super_add. Errors: FOLD_UNSUPPORTED for other operations than sums.
 */
#ifndef FOLD_CUDA_EXACT_H
#define FOLD_CUDA_EXACT_H

#include "subject.h"
#include "super.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flat/exact: made for one long row. rows/exact: made for many rows. Both do any shape. */
fold_run fold_exact_flat, fold_exact_rows;
fold_scratch fold_exact_flat_scratch, fold_exact_rows_scratch;

/* The normalised state of each row into d_states[0 .. rows), device memory aligned to 8 bytes; call->out is not used.
 * Scratch: fold_exact_state_scratch. */
fold_status fold_exact_state(const struct fold_call *call, struct fold_super *d_states);
size_t fold_exact_state_scratch(const struct fold_call *call);
/* Rounds each state, or sum of up to 2^31 normalised states of that dtype, to d_out[0 .. rows) of the same dtype; the
 * states are left normalised. */
fold_status fold_exact_close(enum fold_dtype dtype, struct fold_super *d_states, size_t rows, void *d_out,
                             void *stream);

#ifdef __cplusplus
}
#endif
#endif
