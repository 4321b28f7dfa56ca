/* peers.h: other people's reductions as subjects: Thrust and CUB as the CCCL found at build time has them. Plain C.
 *
 * No order is declared: what they promise is what their documentation says. 16-bit elements are widened to f32, reduced
 * there and rounded once. Sums and products are by CCCL's own operators. Max and min are by one of ours, for NaN to go
 * through; a flag at run time says which of the two it is, and of 16-bit elements outside sums which type they are: those
 * times are not CCCL's best. A launch of one's own is FOLD_UNSUPPORTED. Temporary storage comes from call->scratch where
 * the interface takes it.
 */
#ifndef FOLD_PEERS_H
#define FOLD_PEERS_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CCCL compiled in, 3000001 for 3.0.1. */
int fold_peer_cccl_version(void);

/* thrust::reduce: no determinism documented. It allocates and waits by itself; up to 1024 rows, one after the other. */
fold_run fold_peer_thrust;

/* cub::DeviceReduce::Reduce, its default: documented as run_to_run. Up to 1024 rows, one after the other. */
fold_run fold_peer_cub;
fold_scratch fold_peer_cub_scratch;

/* cub::DeviceSegmentedReduce::Reduce, a segment a row: documented as run_to_run. */
fold_run fold_peer_cub_segmented;
fold_scratch fold_peer_cub_segmented_scratch;

/* cub::DeviceReduce::Reduce with determinism not_guaranteed, and gpu_to_gpu: sums of f32 and f64, from CCCL 3.1 on;
 * FOLD_UNSUPPORTED with an older one. They allocate by themselves. */
fold_run fold_peer_cub_not_guaranteed;
fold_run fold_peer_cub_gpu_to_gpu;

#ifdef __cplusplus
}
#endif
#endif
