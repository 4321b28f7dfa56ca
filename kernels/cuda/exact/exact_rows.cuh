/* exact_rows.cuh: launches of the exact sum's kernels for many rows, one instance a dtype in exact_rows_*.cu.
 *
 * Which kernel does a call changes the speed, never the bits. Users: those files.
 */
#ifndef FOLD_EXACT_ROWS_CUH
#define FOLD_EXACT_ROWS_CUH

#include "kernels/cuda/exact/exact_short.cuh"
#include "kernels/cuda/launch.cuh"

#define LINE_BYTES (128 << 10) /* that a warp reads, where the rows suffice */
#define SHORT_ROWS 64
#define SHORT_TILES 16  /* that a warp makes */
#define SCALAR_LINES 32 /* unaligned rows of more 16-byte lines than that are read aligned, a warp each */

/* `stage`: bytes of shared memory a warp beside its columns. */
template <int D, class K>
static fold_status start_rows(K kernel, const char *name, const struct fold_call *call, void *out,
                              struct exact_plan plan, size_t warps, size_t stage) {
  const size_t each = plan.threads / 32, blocks = (warps + each - 1) / each;
  const size_t shared = exact_columns<D>((unsigned)each) + each * stage;
  if (blocks > 0x7fffffff) return fold_error(FOLD_UNSUPPORTED, "exact: %zu rows are too many", call->rows);
  if (shared > 40 << 10)
    FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(unsigned)blocks, plan.threads, shared, (cudaStream_t)call->stream>>>(
      (const typename exact_tile<D>::stored *)call->in[0], out, plan);
  return fold_cuda_launched(name);
}

template <int D, int LOG, int EACH_LANE>
static fold_status start_short(const struct fold_call *call, struct exact_plan plan) {
  const size_t rows = exact_short<D, LOG, EACH_LANE>::ROWS, tiles = (call->rows + rows - 1) / rows;
  plan.dense = plan.aligned && call->cols == ((size_t)EACH_LANE << LOG) * exact_tile<D>::EACH;
  plan.packed = (uintptr_t)call->out % 16 == 0;
  plan.rows_each = tiles >= (size_t)SHORT_TILES * 8192 ? SHORT_TILES : tiles / 8192 + 1;
  const size_t warps = (tiles + plan.rows_each - 1) / plan.rows_each, stage = exact_short<D, LOG, EACH_LANE>::STAGE;
  constexpr int DEPTH = LOG > 1 || D == FOLD_F64 ? 0 : D == FOLD_F32 ? 3 : 2;
  if constexpr (DEPTH > 0) {
    int arch = 0;
    FOLD_TRY(fold_cuda_code(&arch));
    if (plan.dense && arch >= 800)
      return start_rows<D>(exact_short_kernel<D, LOG, EACH_LANE, DEPTH>, "exact_short_kernel", call, call->out, plan,
                           warps, stage + exact_short_ring<DEPTH>::BYTES);
  }
  return start_rows<D>(exact_short_kernel<D, LOG, EACH_LANE, 0>, "exact_short_kernel", call, call->out, plan, warps,
                       stage);
}

template <int D>
static fold_status start_line(const struct fold_call *call, struct exact_plan plan, int64_t *d_words) {
  const size_t nbytes = call->cols * sizeof(typename exact_tile<D>::stored);
  const size_t enough = (LINE_BYTES + nbytes - 1) / nbytes, spread = call->rows / 8192 + 1;
  plan.rows_each = enough < spread ? enough : spread;
  const size_t warps = (call->rows + plan.rows_each - 1) / plan.rows_each;
  return d_words ? start_rows<D>(exact_line_kernel<D, true>, "exact_line_kernel", call, d_words, plan, warps, 0)
                 : start_rows<D>(exact_line_kernel<D, false>, "exact_line_kernel", call, call->out, plan, warps, 0);
}

/* Runs the call if it suits one of these kernels. */
template <int D>
static fold_status exact_rows_run(const struct fold_call *call, struct exact_plan plan, int64_t *d_words, bool *done) {
  const size_t nbytes = call->cols * sizeof(typename exact_tile<D>::stored), lines = (nbytes + 15) / 16;
  plan.aligned = (uintptr_t)call->in[0] % 16 == 0 && nbytes % 16 == 0;
  const bool brief = !d_words && lines <= (plan.aligned ? 32 * EXACT_AHEAD : SCALAR_LINES);
  *done = call->cols > 0 && call->rows >= (brief ? SHORT_ROWS : EXACT_LINE_ROWS);
  if (!*done) return fold_ok();
  if (!brief) return start_line<D>(call, plan, d_words);
  if (lines <= 1) return start_short<D, 0, 1>(call, plan);
  if (lines <= 2) return start_short<D, 1, 1>(call, plan);
  if (lines <= 4) return start_short<D, 2, 1>(call, plan);
  if (lines <= 8) return start_short<D, 3, 1>(call, plan);
  if (lines <= 16) return start_short<D, 4, 1>(call, plan);
  if (lines <= 32) return start_short<D, 5, 1>(call, plan);
  if (lines <= 64) return start_short<D, 5, 2>(call, plan);
  if (lines <= 128) return start_short<D, 5, 4>(call, plan);
  return start_short<D, 5, 8>(call, plan);
}

#define FOLD_EXACT_ROWS_INSTANCE(name, D)                                                                       \
  fold_status name(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words, bool *done) { \
    return exact_rows_run<D>(call, *plan, d_words, done);                                                       \
  }

#endif
