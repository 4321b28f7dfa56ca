/* exact.cu: the subjects flat/exact and rows/exact, export of states and closing: checks, plans and launches.
 *
 * The method is in exact_warp.cuh and exact_block.cuh; the limbs and their closing are the host oracle's
 * (oracles/super.h, super_round.h).
 */
#include "exact.h"

#include "dispatch.cuh"
#include "exact_block.cuh"

/* Where one row's blocks meet: in the part of scratch that is zero before and after. */
#define MEETING_AT 64
static_assert(MEETING_AT + sizeof(struct fold_super) <= FOLD_SCRATCH_ZEROED, "one row needs no more scratch than that");

static size_t counters_at(size_t rows) { return FOLD_SCRATCH_ZEROED + rows * sizeof(struct fold_super); }

static fold_status make_plan(const struct fold_call *call, struct exact_plan *plan) {
  int device = 0, sms = 0;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const bool wide = call->dtype == FOLD_F64;
  plan->rows = call->rows;
  plan->cols = call->cols;
  plan->threads = call->launch.block ? call->launch.block : wide ? 128 : 256;
  const unsigned most_threads = EXACT_THREADS(call->dtype);
  if (plan->threads % 32 || plan->threads > most_threads)
    return fold_error(FOLD_UNSUPPORTED, "exact: a block of %u threads (whole warps, at most %u)", plan->threads,
                      most_threads);
  const size_t tile = 16 * EXACT_TILE_LINES, tiles = (call->cols * fold_dtype_size(call->dtype) + tile - 1) / tile;
  const size_t most = (tiles * 32 + plan->threads - 1) / plan->threads,
               resident = (size_t)sms * EXACT_BLOCKS(call->dtype);
  size_t parts = call->launch.blocks ? call->launch.blocks : resident / (call->rows ? call->rows : 1);
  parts = parts < most ? parts : most;
  plan->parts = parts > 1 ? (unsigned)parts : 1;
  const size_t blocks = call->rows * plan->parts;
  plan->blocks = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  return fold_ok();
}

static size_t scratch_bytes(const struct fold_call *call) {
  if (call->rows <= 1) return FOLD_SCRATCH_ZEROED;
  return counters_at(call->rows) + call->rows * sizeof(unsigned);
}

template <int D>
static fold_status launch(const struct fold_call *call, const struct exact_plan &plan, struct fold_super *d_states) {
  const unsigned warps = plan.threads / 32, each = D == FOLD_F64 ? EXACT_SET_WARPS : 1;
  const size_t shared = (warps + each - 1) / each * (size_t)32 * exact_format<D>::COLUMN;
  cudaStream_t stream = (cudaStream_t)call->stream;
  char *scratch = (char *)call->scratch;
  struct fold_super *meeting = (struct fold_super *)(scratch + MEETING_AT);
  unsigned *counters = (unsigned *)scratch;
  if (plan.parts > 1 && plan.rows > 1) {
    meeting = (struct fold_super *)(scratch + FOLD_SCRATCH_ZEROED);
    counters = (unsigned *)(scratch + counters_at(plan.rows));
    const size_t nbytes = scratch_bytes(call) - FOLD_SCRATCH_ZEROED;
    FOLD_CUDA_TRY(cudaMemsetAsync(meeting, 0, nbytes, stream));
  }
  if (shared > 40 << 10)
    FOLD_CUDA_TRY(
        cudaFuncSetAttribute(exact_block_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  exact_block_kernel<D><<<plan.blocks, plan.threads, shared, stream>>>((const typename exact_tile<D>::stored *)call->in,
                                                                       call->out, d_states, meeting, counters, plan);
  return fold_cuda_launched("exact_block_kernel");
}

static fold_status many_rows(const struct fold_call *call, const struct exact_plan *plan, bool *done) {
  switch (call->dtype) {
    case FOLD_F16: return exact_rows_f16(call, plan, done);
    case FOLD_BF16: return exact_rows_bf16(call, plan, done);
    case FOLD_F32: return exact_rows_f32(call, plan, done);
    default: return exact_rows_f64(call, plan, done);
  }
}

static fold_status run(const struct fold_call *call, struct fold_super *d_states) {
  struct exact_plan plan;
  if (call->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "exact: %s is no sum", fold_op_name(call->op));
  FOLD_TRY(fold_cuda_check(call));
  FOLD_TRY(make_plan(call, &plan));
  if (!call->rows) return fold_ok();
  bool done = false;
  if (!d_states) FOLD_TRY(many_rows(call, &plan, &done));
  if (done) return fold_ok();
  switch (call->dtype) {
    case FOLD_F16: return launch<FOLD_F16>(call, plan, d_states);
    case FOLD_BF16: return launch<FOLD_BF16>(call, plan, d_states);
    case FOLD_F32: return launch<FOLD_F32>(call, plan, d_states);
    default: return launch<FOLD_F64>(call, plan, d_states);
  }
}

extern "C" size_t fold_exact_flat_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return scratch_bytes(call);
}
extern "C" fold_status fold_exact_flat(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return run(call, NULL);
}
extern "C" size_t fold_exact_rows_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return scratch_bytes(call);
}
extern "C" fold_status fold_exact_rows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return run(call, NULL);
}
extern "C" size_t fold_exact_state_scratch(const struct fold_call *call) { return scratch_bytes(call); }
extern "C" fold_status fold_exact_state(const struct fold_call *call, struct fold_super *d_states) {
  if (!d_states || (uintptr_t)d_states % sizeof(int64_t))
    return fold_error(FOLD_BAD_INPUT, "exact: states at %p, which is no address of int64", (void *)d_states);
  return run(call, d_states);
}

#define CLOSE_BLOCK 128

static __global__ void close_kernel(enum fold_dtype dtype, struct fold_super *states, size_t rows, void *out) {
  const size_t row = blockIdx.x * (size_t)CLOSE_BLOCK + threadIdx.x;
  if (row >= rows) return;
  fold_super_normalise_inline(dtype, states + row);
  fold_bits_store(dtype, out, row, fold_super_round(dtype, states + row, dtype));
}

extern "C" fold_status fold_exact_close(enum fold_dtype dtype, struct fold_super *d_states, size_t rows, void *d_out,
                                        void *stream) {
  if (!d_states || (uintptr_t)d_states % sizeof(int64_t))
    return fold_error(FOLD_BAD_INPUT, "exact: states at %p, which is no address of int64", (void *)d_states);
  if ((uintptr_t)d_out % fold_dtype_size(dtype))
    return fold_error(FOLD_BAD_INPUT, "out: address %p is not aligned to the element", d_out);
  if (!rows) return fold_ok();
  const size_t blocks = (rows + CLOSE_BLOCK - 1) / CLOSE_BLOCK;
  if (blocks > 0x7fffffff) return fold_error(FOLD_UNSUPPORTED, "exact: %zu rows are too many", rows);
  close_kernel<<<(unsigned)blocks, CLOSE_BLOCK, 0, (cudaStream_t)stream>>>(dtype, d_states, rows, d_out);
  return fold_cuda_launched("close_kernel");
}
