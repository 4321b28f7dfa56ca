/* mutants_gpu_run.h: the run functions of the GPU mutants, for their table and their .cu files. */
#ifndef MUTANTS_GPU_RUN_H
#define MUTANTS_GPU_RUN_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mutants_gpu_rows.cu: a row by a block of 64 threads */
fold_run gpu_rows_sound, gpu_missing_barrier, gpu_dropped_tail, gpu_next_row, gpu_excess, gpu_truncated;
fold_run gpu_past_end, gpu_last_unwritten, gpu_in_zone, gpu_input_swapped;
fold_run gpu_max_sound, gpu_nan_swallowed, gpu_zero_lost, gpu_narrow_f16, gpu_index_32;
/* mutants_gpu_lanes.cu: shuffles, and orders that depend on the address, the batch or the grid */
fold_run gpu_shuffle_sound, gpu_width_16, gpu_rising, gpu_peels, gpu_batch_size, gpu_grid;
fold_scratch gpu_grid_scratch;
/* mutants_gpu_blocks.cu: blocks that hand over to the last of them */
fold_run gpu_blocks_sound, gpu_late_partial, gpu_arrival_order, gpu_counter_left, gpu_atomic;
fold_scratch gpu_blocks_scratch;
/* mutants_gpu_exact.cu: exact sums through limbs */
fold_run gpu_exact_sound, gpu_lost_carry, gpu_late_carries, gpu_short_sticky, gpu_rounded_twice, gpu_minus_lost;
/* mutants_gpu_products.cu: products of matrices, by one thread a result or by parts of k */
fold_run gpu_product_sound, gpu_product_tail_lost, gpu_product_lda_is_k, gpu_product_bias_twice;
fold_run gpu_product_split_sound, gpu_product_split_race, gpu_product_stale, gpu_product_other_stream;
fold_scratch gpu_product_scratch;
/* mutants_gpu_flush.cu: a right kernel, compiled with -ftz=true */
fold_run gpu_flush;
/* mutants_gpu_broken.cu, and mutants_gpu_image.cu, which is compiled for another architecture */
fold_run gpu_endless, gpu_illegal, gpu_illegal_later, gpu_bad_launch, gpu_uninitialised, gpu_divergent_barrier,
    gpu_error_left, gpu_no_image;
/* broken_gpu_ranks.c: a rank that never comes, or dies, while the others' kernels wait for it */
fold_run gpu_reach_hangs, gpu_reach_killed;

#ifdef __cplusplus
}
#endif
#endif
