/* exact_device.h: the exact sum on a GPU, correctly rounded, in any order. Plain C.
 *
 * Promised: sums of f16, bf16, f32 and f64 rounded once, to nearest even, from the exact value, with the policy for
 * special values of oracles/exact.c. No launch, alignment, order of terms or number of rows changes a bit; a state's
 * words are those of fold_super_add and fold_super_pack. Errors: FOLD_UNSUPPORTED for other operations than sums.
 */
#ifndef FOLD_EXACT_DEVICE_H
#define FOLD_EXACT_DEVICE_H

#include "model/subject.h"
#include "oracles/super.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flat/exact is made for one long row, rows/exact for many rows; both take any shape. */
fold_run fold_exact_flat, fold_exact_rows;
fold_scratch fold_exact_flat_scratch, fold_exact_rows_scratch;

/* States that are sent elsewhere: packed (super.h), with W = fold_super_words(dtype) int64 words for each row, row r's
 * from d_words[r * W] on, in device memory aligned to 8 bytes. Up to 2^31 states of a row may be added word by word, by
 * anybody in any order (an all-reduce of rows * W int64, fold_exact_merge), and then closed. NaN, infinities and the
 * sum of nothing but -0 are kept, because they are counts. All of these functions only enqueue in the stream, on the
 * calling thread's device; they allocate nothing and wait for nothing. */

/* The normalised state of each row; call->out is not used. Scratch: fold_exact_state_scratch. */
fold_status fold_exact_state(const struct fold_call *call, int64_t *d_words);
size_t fold_exact_state_scratch(const struct fold_call *call);
/* d_into[i] += d_from[i]. */
fold_status fold_exact_merge(int64_t *d_into, const int64_t *d_from, size_t nwords, void *stream);
/* Rounds each row's state, or sum of states, to d_out[0 .. rows) of the same dtype. The words are not changed. */
fold_status fold_exact_close(enum fold_dtype dtype, const int64_t *d_words, size_t rows, void *d_out, void *stream);

#ifdef __cplusplus
}
#endif
#endif
