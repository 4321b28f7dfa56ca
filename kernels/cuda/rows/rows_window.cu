/* rows_window.cu: orders of the row family staged through shared memory by windows of each lane's run, rung 1.
 *
 * Order: that of the shape (rows.cuh): zero() + x[c L] + x[c L + 1] + ... a chunk, L = ceil(cols / chunks), then the
 * partials in turn or by the tree: single_for, single_back, par_16 and their determ twins; par_64, par_64_determ and
 * par_256 where a row does not fit rows_tile.cu. Claims: replays, run_to_run, launch_, batch_ and
 * alignment_invariant; the trees, same_bits_as rows/par_256.
 *
 * A lane owns a run: chunks / threads neighbouring chunks. They come in windows of 256 bytes, of one chunk or of
 * several whole ones (a unit). A warp's 32 windows are a stage, copied by cp.async, 16 lanes a window, so that the
 * memory is read 256 bytes at a time however far the lanes' runs lie apart; stages go round in a ring while others are
 * copied. Partials of one row meet by shuffles (16 threads) or in shared memory (64, 256).
 *
 * Launch: 1 to 8 warps a block (a row's threads share one), any grid; the default is 8 warps an SM. Needs sm_90 here
 * (cp.async itself sm_80).
 *
 * Gained over rows_plain.cu on an H200, 65,536 x 16,384 f32, as a ratio to CUB's segmented sum in the same run:
 *   all runs side by side from global memory (plain)      0.22
 *   windows 272 bytes apart, 6 stages                     0.87 (1 thread a row), 0.90 (16): the padding splits sectors,
 *                                                         1.5 x the traffic from L2 (ncu); 6 stages are too many
 *   pieces exchanged within 128-byte lines, 3 stages      0.955, 0.99
 *   addresses without shuffles where runs lie evenly      0.966, 0.992
 * and 65,536 x 16,383, where no row but one in four is aligned (single_for, par_16; single_determ, par_16_determ):
 *   windows of one chunk, wherever it begins              0.890, 0.801
 *   cut at lines of memory, addresses by one shuffle      0.977, 0.976; 0.835, 0.868 (trees: still a chunk a window)
 *   lines of the whole run: no sector is read twice where two chunks meet
 *                                                         0.973, 0.973; 0.950, 0.967 (bf16 1.11, 1.09; 1.02, 0.89)
 * Few long rows are rows_solo.cu's: here a step of 64 elements takes some 1100 cycles whatever it copies, 256 of them the
 * chain's (4096 x 262,144: single_for 0.37).
 */
#include "kernels/cuda/rows/rows_line.cuh"

template <int D, int O, bool backward, bool aligned>
static __global__ void __launch_bounds__(256)
    window_rows(const typename window<D, O, backward>::stored *in, typename window<D, O, backward>::stored *out,
                size_t rows, size_t cols, window_plan plan) {
#if __CUDA_ARCH__ >= 800
  typedef window<D, O, backward> w;
  typedef line<D, O, backward> l;
  typedef typename w::wide wide;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ wide meet[MOST_WARPS * 32];
  const unsigned warp = threadIdx.x / 32;
  unsigned char *ring = shared + (size_t)warp * plan.stages * STAGE;
  const uint64_t low = (uint64_t)in, high = (uint64_t)(in + rows * cols);
  const size_t runs = rows * plan.shape.threads, stride = (size_t)gridDim.x * blockDim.x;
  const size_t first = (size_t)blockIdx.x * blockDim.x;
  const size_t rounds = first < runs ? (runs - first + stride - 1) / stride : 0;
  const size_t total = rounds * plan.units * plan.windows;

  window_cursor ahead = {first + threadIdx.x, 0, 0}, at = ahead;
  unsigned fetch_stage = 0, stage = 0;
  size_t fetched = 0;
  auto fetch = [&]() {
    if (fetched < total) {
      unsigned char *to = ring + fetch_stage * STAGE;
      if (aligned && plan.run_bytes)
        w::fill_even(to, in, runs, ahead.run - threadIdx.x % 32, plan, ahead);
      else if (!aligned && plan.lines)
        l::fill(to, w::span(in, rows, cols, plan, ahead), low, high);
      else
        w::template fill<aligned>(to, w::span(in, rows, cols, plan, ahead), low, high);
      w::advance(ahead, plan, stride);
      if (++fetch_stage == plan.stages) fetch_stage = 0;
    } else {
      fold_copy_commit();
    }
    fetched++;
  };
  for (unsigned s = 0; s < plan.stages - 1; s++) fetch();

  typename l::chunks chunks;
  fold_rows_counter<O, wide> &counter = chunks.counter;
  wide v = w::op::zero();
  for (size_t k = 0; k < total; k++) {
    w::wait_for_one(plan.stages);
    __syncwarp();
    fetch(); /* into the stage that was summed in the last step */
    unsigned char *here = ring + stage * STAGE;
    window_span span = {0, 0};
    if (!aligned || !plan.run_bytes)
      span = w::span(in, rows, cols, plan, at);
    else if (at.run < runs)
      span.end = 16 * w::even_pieces(plan, at);
    wide root = w::op::zero();
    if (!aligned && plan.lines) {
      l::patch(here, span);
      if (plan.chunks == 1) {
        v = l::walk(v, here);
      } else {
        if (at.window == 0) chunks.start(span, plan);
        chunks.take_line(here, plan);
      }
    } else if (aligned && plan.group > 1)
      root = w::walk_group(counter, here, span, plan);
    else
      v = w::template walk<aligned>(v, here, span);
    if (++stage == plan.stages) stage = 0;
    size_t run = at.run;
    bool unit_ends = at.window + 1 == plan.windows, run_ends = w::advance(at, plan, stride);
    if (!unit_ends) continue;
    if (!aligned && plan.chunks > 1)
      root = chunks.finish(plan);
    else if (plan.group == 1)
      root = plan.units == 1 ? v : counter.add(v);
    v = w::op::zero();
    if (!run_ends) continue;
    counter.count = 0;
    if (plan.partials) {
      root = fold_rows_lanes<O>(root, 32);
      if (run < runs && run % 32 == 0) ((wide *)plan.partials)[run / 32] = root;
      continue;
    }
    root = plan.shape.threads > 32  ? w::join_warps(root, meet, plan.shape)
           : plan.shape.threads > 1 ? w::join_lanes(root, plan.shape)
                                    : root;
    if (run < runs && (run & (plan.shape.threads - 1)) == 0) out[run >> plan.thread_bits] = w::element::narrow(root);
  }
#else
  __trap();
#endif
}

template <int D, int O, bool backward, bool aligned>
static fold_status launch_windows(const struct fold_call *call, const window_plan &plan) {
  typedef window<D, O, backward> w;
  auto kernel = window_rows<D, O, backward, aligned>;
  size_t shared = (size_t)plan.warps * plan.stages * STAGE;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<plan.grid, plan.warps * 32, shared, (cudaStream_t)call->stream>>>(
      (const typename w::stored *)call->in[0], (typename w::stored *)call->out, call->rows, call->cols, plan);
  return fold_cuda_launched("rows, window kernel");
}

/* Runs that are not aligned are read by lines: several chunks together, so that nothing is read twice where one ends
 * and the next begins; or one chunk with so many windows that most are whole lines. A shorter chunk is read from its
 * own first element on. */
enum { LINE_WINDOWS = 4 };

static void misalign(window_plan &plan, size_t size) {
  const size_t pieces = plan.length * size / 16;
  plan.group = 1;
  plan.unit = plan.chunks * plan.length;
  plan.units = 1;
  plan.windows = max((size_t)1, (plan.unit * size + WINDOW - 1) / WINDOW);
  plan.lines = plan.chunks > 1 || plan.windows >= LINE_WINDOWS;
  plan.span = pieces >= 8 ? 8 : pieces >= 2 ? 2 : (unsigned)pieces;
  if (plan.lines) {
    plan.windows = (plan.unit * size + WINDOW - 2) / WINDOW + 1;
  } else if (plan.unit * size + 16 - size <= WINDOW + 16) {
    plan.windows = 1;
    plan.elements = plan.unit;
  } else {
    plan.elements = (plan.unit + plan.windows - 1) / plan.windows;
  }
}

template <int D, int O>
static fold_status launch(const struct fold_call *call, window_plan plan) {
  size_t size = fold_dtype_size(call->dtype);
  bool aligned = (uintptr_t)call->in[0] % 16 == 0 && call->cols * size % 16 == 0 && plan.length * size % 16 == 0;
  if (!aligned) misalign(plan, size);
  plan.run_bytes = aligned && call->cols == plan.shape.chunks * plan.length ? plan.units * plan.unit * size : 0;
  if (plan.shape.backward)
    return aligned ? launch_windows<D, O, true, true>(call, plan) : launch_windows<D, O, true, false>(call, plan);
  return aligned ? launch_windows<D, O, false, true>(call, plan) : launch_windows<D, O, false, false>(call, plan);
}

/* Warps of a block: two, so that four blocks fill an SM; more if a row's threads must share a block, or if the caller
 * wants more; one if there are few rows, so that more SMs have work. */
static unsigned choose_warps(const struct fold_call *call, const struct fold_rows_shape *shape, bool partials,
                             unsigned sms) {
  unsigned least = shape->threads > 32 && !partials ? shape->threads / 32 : 1;
  unsigned warps = call->launch.block                               ? call->launch.block / 32
                   : call->rows * shape->threads < 64 * (size_t)sms ? 1
                                                                    : 2;
  return max(least, min(warps, (unsigned)MOST_WARPS) / least * least);
}

/* Three stages if eight warps share an SM, because with more copies under way the memory is slower. More stages if
 * there are few warps. */
static unsigned choose_stages(const struct fold_call *call, const struct fold_rows_shape *shape, unsigned warps,
                              unsigned sms) {
  size_t lanes = call->rows * shape->threads;
  if (warps <= 1 && lanes <= 64 * (size_t)sms) return 12;
  return warps <= 2 && lanes <= 128 * (size_t)sms ? 6 : 3;
}

fold_status fold_rows_window(const struct fold_call *call, const struct fold_rows_shape *shape, void *partials,
                             unsigned sms) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  window_plan plan;
  size_t elements = WINDOW / fold_dtype_size(call->dtype);
  plan.shape = *shape;
  plan.length = fold_rows_chunk(call->cols, shape->chunks);
  plan.group = 1;
  while (2 * plan.group * shape->threads <= shape->chunks && 2 * plan.group * plan.length <= elements) plan.group *= 2;
  plan.unit = plan.group * plan.length;
  plan.windows = max((size_t)1, (plan.unit + elements - 1) / elements);
  plan.lines = false;
  plan.elements = elements;
  plan.chunks = shape->chunks / shape->threads;
  plan.units = plan.chunks / plan.group;
  for (plan.thread_bits = 0; 1u << plan.thread_bits < shape->threads; plan.thread_bits++) continue;
  plan.warps = choose_warps(call, shape, partials != NULL, sms);
  plan.partials = partials;
  plan.stages = choose_stages(call, shape, plan.warps, sms);
  size_t want = (call->rows * shape->threads + plan.warps * 32 - 1) / (plan.warps * 32);
  plan.grid = (unsigned)min(want, call->launch.blocks ? (size_t)call->launch.blocks : (size_t)1 << 30);
  return fold_dispatch(call, [&](auto d, auto o) { return launch<d, o>(call, plan); });
}
