/* exact_small.cu: launches of the exact sum's kernel for few rows of few tiles; see exact_small.cuh. */
#include "kernels/cuda/exact/exact_small.cuh"

#include "kernels/cuda/dispatch.cuh"

#define SMALL_THREADS (32 * SMALL_WARPS)
#define SMALL_ROWS 4 /* the states of more rows leave no room for slots */

template <int D>
static size_t small_columns(unsigned warps) {
  return (warps + SMALL_SHARE(D) - 1) / SMALL_SHARE(D) * (size_t)32 * exact_format<D>::COLUMN;
}

template <int D, int N>
static fold_status launch(const struct fold_call *call, const struct exact_small_plan &plan, unsigned threads) {
  const size_t shared = small_columns<D>(threads / 32);
  struct fold_super *states = (struct fold_super *)call->scratch;
  if (shared > 40 << 10)
    FOLD_CUDA_TRY(
        cudaFuncSetAttribute(exact_small_kernel<D, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  return fold_launch_early("exact_small_kernel", exact_small_kernel<D, N>, (unsigned)call->rows * plan.parts, threads,
                           shared, call->stream, (const typename exact_tile<D>::stored *)call->in[0], call->out, states,
                           (int64_t *)(states + call->rows), plan);
}

/* A row that one block holds is one block's. A longer one goes to as many as there are multiprocessors and slots, a block of
 * whole warps each, with as few accesses a lane as that takes: 1, 4 or 8. (f64 just 1: with 8, 10^6 terms take 6.4 instead of 8.0 us on
 * an H200 where they are normal, but 14.7 instead of 10.0 us where they have all exponents, which go through columns that warps share.
 * With 10 to 12 accesses and a column for each warp: 6.4 to 6.8 and 13.2 us.) */
template <int D>
static fold_status run(const struct fold_call *call, bool *done) {
  int device, sms, room;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const size_t lines = call->cols * sizeof(typename exact_tile<D>::stored) / 16 + 2, rows = call->rows;
  const size_t slots = (FOLD_SCRATCH_ZEROED - rows * sizeof(struct fold_super)) / (8 * exact_slot<D>::WORDS);
  const size_t most = (slots < (size_t)sms ? slots : (size_t)sms) / rows;
  const size_t blocks = lines <= SMALL_THREADS * EXACT_AHEAD ? 1 : most;
  const size_t each = (lines + blocks - 1) / blocks; /* lines a block */
  const int ahead = each <= SMALL_THREADS ? 1 : each <= 4 * SMALL_THREADS ? 4 : EXACT_AHEAD;
  *done = (ahead == 1 || D != FOLD_F64 || blocks == 1) && each <= SMALL_THREADS * EXACT_AHEAD &&
          small_columns<D>(SMALL_WARPS) + 8192 <= (size_t)room;
  if (!*done) return fold_ok();
  const size_t warps = (each + 32 * ahead - 1) / (32 * ahead), least = blocks > 1 ? (most + 31) / 32 : 1;
  const unsigned threads = 32 * (unsigned)(warps > least ? warps : least); /* and a thread for each slot */
  const struct exact_small_plan plan = {call->cols, (unsigned)((lines + threads * ahead - 1) / (threads * ahead))};
  if (ahead == 1) return launch<D, 1>(call, plan, threads);
  if (ahead == 4) return launch<D, 4>(call, plan, threads);
  return launch<D, EXACT_AHEAD>(call, plan, threads);
}

fold_status exact_small(const struct fold_call *call, bool *done) {
  *done = false;
  if (call->rows > SMALL_ROWS || call->cols == 0 || call->launch.block || call->launch.blocks) return fold_ok();
  return fold_dispatch_dtype(call->dtype, [&](auto dtype) { return run<dtype>(call, done); });
}
