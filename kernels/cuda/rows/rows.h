/* rows.h: the row family on the GPU, C interface: what registry rows point to.
 *
 * Promised: each function has the bits of the order that its name states (order.h), for any rows, cols, dtype, op and
 * element-aligned address; launches on call->stream and returns without waiting. call->launch changes the speed, not
 * the bits. `_plain` is the first rung of each ladder; the name without it is the best one. Depends on no oracle and no
 * claim.
 */
#ifndef FOLD_ROWS_H
#define FOLD_ROWS_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

fold_run fold_rows_single_for, fold_rows_single_for_plain;
fold_run fold_rows_single_back, fold_rows_single_back_plain;
fold_run fold_rows_par_16, fold_rows_par_16_plain;
fold_run fold_rows_par_64, fold_rows_par_64_plain;
fold_run fold_rows_par_256, fold_rows_par_256_plain, fold_rows_par_256_f32;
fold_run fold_rows_single_determ, fold_rows_single_determ_plain;
fold_run fold_rows_par_16_determ, fold_rows_par_16_determ_plain;
fold_run fold_rows_par_64_determ, fold_rows_par_64_determ_plain;

/* A row spread over several blocks: par_256's chunks and tree. */
fold_run fold_rows_multi_block;

/* The scratch of fold_rows_multi_block and fold_rows_par_256; the others need none. */
fold_scratch fold_rows_spread_scratch;

#ifdef __cplusplus
}
#endif
#endif
