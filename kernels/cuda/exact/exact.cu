/* exact.cu: the subjects flat/exact and rows/exact, export of states and closing: checks, plans and launches.
 *
 * The method is in exact_warp.cuh and exact_block.cuh; the limbs and their closing are the host oracle's
 * (oracles/super.h, super_round.h).
 */
#include "kernels/cuda/exact/exact_device.h"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/exact/exact_block.cuh"

static size_t counters_at(size_t rows) { return FOLD_SCRATCH_ZEROED + rows * sizeof(struct exact_meeting); }

/* One block sums a row alone up to so many tiles for each warp: several blocks would take longer to meet. */
#define ALONE_TILES 1
/* A short row is spread over one block for each multiprocessor, but each lane gets at least so many accesses. */
#define THIN_ACCESSES 1
/* f64: a row of up to so many tiles of 4 accesses a warp goes to 3 blocks a multiprocessor: columns that no two warps
 * share leave room for no more. 10^6 elements of all exponents take 13.4 us so, and 14.1 us with shared columns. */
#define MIDDLE_TILES 3
#define MIDDLE_BLOCKS 3

/* What a row may be spread over. */
struct spread {
  size_t lines; /* of 16 bytes, wherever the row begins */
  size_t warps; /* a block */
  size_t sms;   /* multiprocessors a row */
  bool own;     /* each warp may have columns of its own */
};

static bool is_middle(const struct fold_call *call, const struct spread &s) {
  return call->dtype == FOLD_F64 && s.own && !call->launch.blocks && s.lines > 32 * EXACT_AHEAD * s.warps * s.sms &&
         s.lines <= 32 * 4 * MIDDLE_TILES * s.warps * MIDDLE_BLOCKS * s.sms;
}

static size_t choose_parts(const struct fold_call *call, const struct spread &s) {
  const size_t tile = 32 * EXACT_AHEAD * s.warps, thin = 32 * THIN_ACCESSES * s.warps;
  const size_t most = (s.lines + tile - 1) / tile, thinnest = (s.lines + thin - 1) / thin;
  if (call->launch.blocks) return call->launch.blocks < most ? call->launch.blocks : most;
  if (s.lines <= ALONE_TILES * tile) return 1;
  if (s.lines <= tile * s.sms) return thinnest < s.sms ? thinnest : s.sms;
  if (is_middle(call, s)) return MIDDLE_BLOCKS * s.sms;
  const size_t resident = s.sms * EXACT_BLOCKS(call->dtype);
  return resident < most ? resident : most;
}

/* How many accesses a tile has: fewer if a warp has only one tile, and that a small one. */
static int choose_accesses(const struct fold_call *call, const struct spread &s, size_t parts) {
  const size_t each = 32 * s.warps * parts, least = (s.lines + each - 1) / each;
  if (!s.own) return EXACT_AHEAD;
  return least <= 1 ? 1 : least <= 4 || is_middle(call, s) ? 4 : EXACT_AHEAD;
}

static fold_status make_plan(const struct fold_call *call, struct exact_plan *plan) {
  int device = 0, sms = 0, room = 0;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const bool wide = call->dtype == FOLD_F64;
  plan->rows = call->rows;
  plan->cols = call->cols;
  plan->threads = call->launch.block ? call->launch.block : wide ? 128 : 256;
  const unsigned most_threads = EXACT_THREADS(call->dtype);
  if (plan->threads % 32 || plan->threads > most_threads)
    return fold_error(FOLD_UNSUPPORTED, "exact: a block of %u threads (whole warps, at most %u)", plan->threads,
                      most_threads);
  /* sm_75 has 64 KiB of shared memory, 7 KiB too few for four warps with columns of their own. */
  const size_t columns = (size_t)plan->threads * exact_format<FOLD_F64>::COLUMN + 4096;
  const struct spread s = {call->cols * fold_dtype_size(call->dtype) / 16 + 2, plan->threads / 32,
                           (size_t)sms / (call->rows ? call->rows : 1), !wide || columns <= (size_t)room};
  const size_t parts = choose_parts(call, s);
  plan->parts = parts > 1 ? (unsigned)parts : 1;
  plan->copies = call->rows > EXACT_COPIES ? 1 : EXACT_COPIES / (call->rows ? (unsigned)call->rows : 1);
  plan->ahead = choose_accesses(call, s, plan->parts);
  const size_t tile = 32 * (size_t)plan->ahead, tiles = (s.lines + tile - 1) / tile;
  plan->piece = (tiles + plan->parts - 1) / plan->parts;
  const size_t blocks = call->rows * plan->parts;
  plan->blocks = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  return fold_ok();
}

static size_t scratch_bytes(const struct fold_call *call) {
  /* The blocks of few rows meet in the head; very many rows have no blocks that meet (exact_rows.cuh). */
  if (call->rows <= EXACT_COPIES || call->rows >= EXACT_LINE_ROWS) return FOLD_SCRATCH_ZEROED;
  return counters_at(call->rows) + call->rows * sizeof(unsigned);
}

template <int D, int N>
static fold_status launch(const struct fold_call *call, const struct exact_plan &plan, int64_t *d_words) {
  const unsigned warps = plan.threads / 32, sets = (warps + EXACT_SHARE(D, N) - 1) / EXACT_SHARE(D, N);
  const size_t shared = sets * (size_t)32 * exact_format<D>::COLUMN;
  cudaStream_t stream = (cudaStream_t)call->stream;
  char *scratch = (char *)call->scratch;
  struct exact_meeting *meeting = (struct exact_meeting *)(scratch + EXACT_MEETING_AT);
  unsigned *counters = (unsigned *)scratch;
  if (plan.parts > 1 && plan.rows * plan.copies > EXACT_COPIES) {
    meeting = (struct exact_meeting *)(scratch + FOLD_SCRATCH_ZEROED);
    counters = (unsigned *)(scratch + counters_at(plan.rows));
    const size_t nbytes = scratch_bytes(call) - FOLD_SCRATCH_ZEROED;
    FOLD_CUDA_TRY(cudaMemsetAsync(meeting, 0, nbytes, stream));
  }
  if (shared > 40 << 10)
    FOLD_CUDA_TRY(
        cudaFuncSetAttribute(exact_block_kernel<D, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  exact_block_kernel<D, N><<<plan.blocks, plan.threads, shared, stream>>>(
      (const typename exact_tile<D>::stored *)call->in[0], call->out, d_words, meeting, counters, plan);
  return fold_cuda_launched("exact_block_kernel");
}

template <int D>
static fold_status launch_tiles(const struct fold_call *call, const struct exact_plan &plan, int64_t *d_words) {
  switch (plan.ahead) {
    case 1: return launch<D, 1>(call, plan, d_words);
    case 4: return launch<D, 4>(call, plan, d_words);
    default: return launch<D, EXACT_AHEAD>(call, plan, d_words);
  }
}

static fold_status many_rows(const struct fold_call *call, const struct exact_plan *plan, int64_t *d_words,
                             bool *done) {
  switch (call->dtype) {
    case FOLD_F16: return exact_rows_f16(call, plan, d_words, done);
    case FOLD_BF16: return exact_rows_bf16(call, plan, d_words, done);
    case FOLD_F32: return exact_rows_f32(call, plan, d_words, done);
    case FOLD_F64: return exact_rows_f64(call, plan, d_words, done);
    default: return fold_error(FOLD_UNSUPPORTED, "exact: no kernel for %s", fold_dtype_name(call->dtype));
  }
}

static fold_status run(const struct fold_call *call, int64_t *d_words) {
  struct exact_plan plan;
  if (call->problem->op != FOLD_SUM)
    return fold_error(FOLD_UNSUPPORTED, "exact: %s is no sum", fold_op_name(call->problem->op));
  FOLD_TRY(fold_cuda_check(call));
  FOLD_TRY(make_plan(call, &plan));
  if (!call->rows) return fold_ok();
  bool done = false;
  if (!d_words) FOLD_TRY(exact_small(call, &done));
  if (!done) FOLD_TRY(many_rows(call, &plan, d_words, &done));
  if (done) return fold_ok();
  return fold_dispatch_dtype(call->dtype, [&](auto dtype) { return launch_tiles<dtype>(call, plan, d_words); });
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

static fold_status check_words(const int64_t *d_words) {
  if (d_words && (uintptr_t)d_words % sizeof(int64_t) == 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "exact: states at %p, which is no address of int64", (const void *)d_words);
}

extern "C" fold_status fold_exact_state(const struct fold_call *call, int64_t *d_words) {
  FOLD_TRY(check_words(d_words));
  struct fold_call without = *call;
  without.out = NULL;
  return run(&without, d_words);
}

#define MERGE_BLOCK 256

static __global__ void merge_kernel(int64_t *into, const int64_t *from, size_t n) {
  for (size_t i = blockIdx.x * (size_t)MERGE_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * MERGE_BLOCK)
    into[i] += from[i];
}

extern "C" fold_status fold_exact_merge(int64_t *d_into, const int64_t *d_from, size_t nwords, void *stream) {
  FOLD_TRY(check_words(d_into));
  FOLD_TRY(check_words(d_from));
  if (!nwords) return fold_ok();
  const size_t blocks = (nwords + MERGE_BLOCK - 1) / MERGE_BLOCK;
  merge_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), MERGE_BLOCK, 0, (cudaStream_t)stream>>>(d_into, d_from,
                                                                                                      nwords);
  return fold_cuda_launched("merge_kernel");
}

#define CLOSE_BLOCK 128

/* A block's rows come to shared memory side by side, so that memory is read in whole lines; a row's words are an odd
 * number of words apart there: no two threads in a bank. */
template <int D>
struct closing {
  static const int WORDS = exact_format<D>::WORDS, PITCH = WORDS | 1, ROWS = D == FOLD_F64 ? 32 : CLOSE_BLOCK;
};

template <int D>
static __global__ __launch_bounds__(CLOSE_BLOCK) void close_kernel(const int64_t *words, size_t rows, void *out) {
  typedef closing<D> shape;
  __shared__ int64_t states[shape::ROWS * shape::PITCH];
  const size_t first = blockIdx.x * (size_t)shape::ROWS;
  const int n = (int)min(rows - first, (size_t)shape::ROWS);
  for (int k = threadIdx.x; k < n * shape::WORDS; k += CLOSE_BLOCK)
    states[k / shape::WORDS * shape::PITCH + k % shape::WORDS] = words[first * shape::WORDS + k];
  __syncthreads();
  if ((int)threadIdx.x >= n) return;
  int64_t *limb = states + threadIdx.x * shape::PITCH;
  const int limbs = exact_format<D>::LIMBS;
  fold_limbs_normalise(limb, limbs);
  fold_bits_store((fold_dtype)D, out, first + threadIdx.x,
                  fold_limbs_close(limb, limbs, exact_format<D>::BASE, limb + limbs, (fold_dtype)D));
}

template <int D>
static fold_status close_rows(const int64_t *d_words, size_t rows, void *d_out, void *stream) {
  const size_t blocks = (rows + closing<D>::ROWS - 1) / closing<D>::ROWS;
  if (blocks > 0x7fffffff) return fold_error(FOLD_UNSUPPORTED, "exact: %zu rows are too many", rows);
  close_kernel<D><<<(unsigned)blocks, CLOSE_BLOCK, 0, (cudaStream_t)stream>>>(d_words, rows, d_out);
  return fold_cuda_launched("close_kernel");
}

extern "C" fold_status fold_exact_close(enum fold_dtype dtype, const int64_t *d_words, size_t rows, void *d_out,
                                        void *stream) {
  FOLD_TRY(check_words(d_words));
  if ((uintptr_t)d_out % fold_dtype_size(dtype))
    return fold_error(FOLD_BAD_INPUT, "out: address %p is not aligned to the element", d_out);
  if (!rows) return fold_ok();
  return fold_dispatch_dtype(dtype, [&](auto known) { return close_rows<known>(d_words, rows, d_out, stream); });
}
