/* gemm_exact.cu: the subjects gemm/exact: products whose results are each rounded once from the exact value.
 *
 * Claims: those of a subject that rounds once. Special values by the policy of oracles/exact.c. Every sum is one of integers, so that no bit
 * depends on a plan, a launch or an order.
 *
 * The ladder, on an H200, 4,096 x 4,096 x 4,096 of numbers from -1 to 1, as part of cuBLAS's speed in f32 (49 TFLOP/s) and f64 (60, by tensor
 * cores):
 *   gemm/exact@plain   one warp a result, by limbs over the whole range of exponents (exact_product.cuh): 0.006, 0.003 at 1,000 x 1,000
 *   gemm/exact         by tensor cores: digits of 8 bits or fewer, their products in int32 (gemm_lines.cuh, gemm_digits.cuh); the results that
 *                      these leave open, one warp each as above: 0.47, 0.25; of whole numbers below 100, f64 1.17
 * What limits it: 28 products of digits in f32 and 66 in f64. Of 5.2 and 8.4 ms that the kernel takes, 1.1 are rounding.
 * The number of digits is chosen so that few ordinary results are left open: SPARE bits beyond those of a result and those that the number
 * of terms may cost. More terms need narrower digits, for the sums of int32; past a million or so there are none, and warps do it all.
 * Large factors are cut into panels of lines, so that scratch stays small.
 */
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/exact/exact_product.cuh"
#include "kernels/cuda/gemm/gemm.h"
#include "kernels/cuda/gemm/gemm_digits.cuh"

typedef digits_tile<2, 2, 3, 2> tile;

enum { SPARE = 20, WIDEST = 8, NARROWEST = 4, WARPS = 1 << 12, LEAST_ARCHITECTURE = 8 };
static const size_t PANEL = (size_t)1 << 30; /* bytes of slices of a factor */

/* How a call is cut: the sizes of a part that is done at once. */
struct exact_parts {
  unsigned width, digits; /* 0: none will do */
  size_t padded_k, m, n, batches;
};

static size_t exact_padded(size_t n, size_t unit) { return gemm_ceiling(n, unit) * unit; }

static exact_parts exact_parts_of(const gemm_plan &plan, enum fold_dtype dtype) {
  exact_parts parts = {0, 0, exact_padded(plan.k, tile::BK), plan.m, plan.n, 1};
  unsigned bits = (unsigned)fold_format_of(dtype).precision + SPARE;
  for (unsigned k = plan.k; k > 1; k -= k / 2) bits++;
  for (unsigned width = WIDEST; width >= NARROWEST && !parts.width; width--) {
    const unsigned digits = (unsigned)gemm_ceiling(bits, width);
    if ((uint64_t)plan.k * (digits + 1) >> (31 - (2 * width - 2)) == 0) parts.width = width, parts.digits = digits;
  }
  if (!parts.width) return parts;
  const size_t line = parts.digits * (parts.padded_k ? parts.padded_k : 1), lines = PANEL / line;
  const size_t longest = plan.m > plan.n ? plan.m : plan.n, whole = exact_padded(longest, tile::BM);
  if (lines >= whole) {
    parts.batches = lines / whole < plan.batches ? lines / whole : plan.batches;
    if (parts.batches > 65535) parts.batches = 65535;
  } else {
    const size_t panel = lines < tile::BM ? (size_t)tile::BM : lines / tile::BM * tile::BM;
    if (parts.m > panel) parts.m = panel;
    if (parts.n > panel) parts.n = panel;
  }
  return parts;
}

/* Whether warps alone are faster by a millisecond or more, which few results of many terms make them: times were measured on an H200. */
static bool exact_is_for_warps(const gemm_plan &plan, const exact_parts &parts) {
  if (!parts.width) return true;
  const double results = (double)plan.m * (double)plan.n * (double)plan.batches;
  const double tiles = (double)(gemm_ceiling(parts.m, tile::BM) * gemm_ceiling(parts.n, tile::BN) * parts.batches);
  const double times = ceil((double)plan.m / (double)parts.m) * ceil((double)plan.n / (double)parts.n) *
                       ceil((double)plan.batches / (double)parts.batches);
  const double steps = parts.digits * (parts.digits + 1) / 2.0 * (double)parts.padded_k / tile::BK;
  const double by_digits = times * ceil(tiles / 264) * steps * 1.4e-6, by_warps = results * plan.k * 9e-12;
  return by_digits > by_warps + 1e-3;
}

/* The parts' places in scratch: each call of `take` gives the next one. */
struct exact_room {
  char *base;
  size_t used;
  void *take(size_t bytes) {
    void *const at = (void *)((uintptr_t)base + used);
    used += exact_padded(bytes, 256);
    return at;
  }
};

static unsigned exact_blocks(size_t tiles, const struct fold_call *call) {
  int device = 0, multiprocessors = 1;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const size_t most = call->launch.blocks ? call->launch.blocks : (size_t)multiprocessors * tile::RESIDENT;
  return (unsigned)(tiles < most ? tiles : most);
}

static gemm_lines exact_lines_of(const void *first, ptrdiff_t of_batch, ptrdiff_t of_line, ptrdiff_t of_k, size_t lines,
                                 size_t unit, size_t k, const exact_parts &parts) {
  gemm_lines of = {};
  of.first = first, of.of_batch = of_batch, of.of_line = of_line, of.of_k = of_k;
  of.along = gemm_distance(of_k) < gemm_distance(of_line);
  of.batches = parts.batches, of.lines = lines, of.k = k, of.padded = exact_padded(lines, unit);
  of.padded_k = parts.padded_k, of.width = parts.width, of.digits = parts.digits;
  return of;
}

/* The plan of the largest part; `room` counts what it needs. */
static digits_plan exact_plan_of(const gemm_product &p, const exact_parts &parts, const struct fold_call *call,
                                 exact_room *room) {
  digits_plan plan = {};
  plan.terms = p.plan.k, plan.to = call->dtype;
  plan.out_b = (ptrdiff_t)(p.plan.m * p.plan.n), plan.out_m = p.plan.out_m, plan.out_n = p.plan.out_n;
  plan.a = exact_lines_of(p.a, p.plan.a_b, p.plan.a_m, p.plan.a_k, parts.m, tile::BM, p.plan.k, parts);
  plan.b = exact_lines_of(p.b, p.plan.b_b, p.plan.b_n, p.plan.b_k, parts.n, tile::BN, p.plan.k, parts);
  plan.tiles_m = plan.a.padded / tile::BM, plan.tiles_n = plan.b.padded / tile::BN;
  plan.tiles = plan.tiles_m * plan.tiles_n * parts.batches;
  for (gemm_lines *of : {&plan.a, &plan.b}) {
    of->line = (gemm_line *)room->take(of->batches * of->padded * sizeof *of->line);
    of->slices = (int8_t *)room->take(of->batches * of->digits * of->padded * of->padded_k);
  }
  const size_t each = (size_t)parts.digits * tile::PLACE + tile::RESULTS * tile::THREADS * sizeof(int32_t);
  plan.room = (int8_t *)room->take(exact_blocks(plan.tiles, call) * each);
  plan.undecided = (uint32_t *)room->take(plan.tiles * tile::MARKS * tile::THREADS * sizeof(uint32_t));
  return plan;
}

/* One result, by a warp that is a block. */
template <int D>
static __device__ __forceinline__ void exact_result(const digits_plan &plan, const digits_place &at, exact_u64 *words,
                                                    exact_u64 *columns) {
  typedef typename fold_element<D>::stored S;
  const S *const a = (const S *)plan.a.first + (ptrdiff_t)at.batch * plan.a.of_batch + (ptrdiff_t)at.m * plan.a.of_line;
  const S *const b = (const S *)plan.b.first + (ptrdiff_t)at.batch * plan.b.of_batch + (ptrdiff_t)at.n * plan.b.of_line;
  exact_add_products<D>(words, columns, a, plan.a.of_k, b, plan.b.of_k, 0, plan.terms);
  if (threadIdx.x == 0)
    fold_bits_store((enum fold_dtype)D, plan.out, digits_offset(plan, at), exact_products_close<D>(words));
  __syncwarp();
}

template <int D>
static __global__ void __launch_bounds__(32) exact_all_kernel(const digits_plan plan) {
  __shared__ exact_u64 words[EXACT_PRODUCT_WORDS], columns[exact_column<D>::MANY * 32];
  const size_t each = plan.m * plan.n;
  for (size_t r = blockIdx.x; r < plan.batches * each; r += gridDim.x)
    exact_result<D>(plan, {r / each, r % each / plan.n, r % plan.n}, words, columns);
}

/* The results that are marked: 32 words of marks at a time. */
template <int D>
static __global__ void __launch_bounds__(32) exact_left_kernel(const digits_plan plan) {
  __shared__ exact_u64 words[EXACT_PRODUCT_WORDS], columns[exact_column<D>::MANY * 32];
  const size_t all = plan.tiles * tile::MARKS * (tile::THREADS / 32);
  for (size_t group = blockIdx.x; group < all; group += gridDim.x) {
    const uint32_t mine = plan.undecided[group * 32 + threadIdx.x];
    const unsigned part = (unsigned)(group % (tile::MARKS * (tile::THREADS / 32)));
    const digits_place first = digits_tile_at<tile>(plan, group / (tile::MARKS * (tile::THREADS / 32)));
    for (unsigned lanes = __ballot_sync(EXACT_WARP, mine != 0); lanes; lanes &= lanes - 1) {
      const unsigned lane = (unsigned)__ffs((int)lanes) - 1, thread = part % (tile::THREADS / 32) * 32 + lane;
      for (uint32_t marks = __shfl_sync(EXACT_WARP, mine, (int)lane); marks; marks &= marks - 1) {
        const unsigned r = part / (tile::THREADS / 32) * 32 + (unsigned)__ffs((int)marks) - 1;
        exact_result<D>(plan, digits_place_of<tile>(first, thread, r), words, columns);
      }
    }
  }
}

/* A part, whose lines of b are sliced already. */
template <int D>
static fold_status exact_part(const digits_plan &plan, const struct fold_call *call, const char *name) {
  const cudaStream_t stream = (cudaStream_t)call->stream;
  FOLD_TRY(gemm_slice<D>(plan.a, stream));
  const size_t shared = (size_t)tile::STAGES * tile::STAGE;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(digits_kernel<tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  digits_kernel<tile><<<exact_blocks(plan.tiles, call), tile::THREADS, shared, stream>>>(plan);
  FOLD_TRY(fold_cuda_launched(name));
  const size_t groups = plan.tiles * tile::MARKS * (tile::THREADS / 32);
  exact_left_kernel<D><<<(unsigned)(groups < WARPS ? groups : WARPS), 32, 0, stream>>>(plan);
  return fold_cuda_launched(name);
}

/* The part of `whole` from these results on; `of` has the sizes of the largest one. */
static digits_plan exact_part_of(const digits_plan &of, const gemm_plan &whole, size_t size, size_t batch, size_t m,
                                 size_t n) {
  digits_plan part = of;
  const size_t batches = whole.batches - batch, lines_m = whole.m - m, lines_n = whole.n - n;
  part.batches = of.a.batches < batches ? of.a.batches : batches;
  part.m = of.a.lines < lines_m ? of.a.lines : lines_m;
  part.n = of.b.lines < lines_n ? of.b.lines : lines_n;
  part.a.batches = part.b.batches = part.batches, part.a.lines = part.m, part.b.lines = part.n;
  part.a.first = (const char *)of.a.first + ((ptrdiff_t)batch * whole.a_b + (ptrdiff_t)m * whole.a_m) * (ptrdiff_t)size;
  part.b.first = (const char *)of.b.first + ((ptrdiff_t)batch * whole.b_b + (ptrdiff_t)n * whole.b_n) * (ptrdiff_t)size;
  part.out = (char *)of.out +
             ((ptrdiff_t)batch * of.out_b + (ptrdiff_t)m * of.out_m + (ptrdiff_t)n * of.out_n) * (ptrdiff_t)size;
  part.tiles_m = gemm_ceiling(part.m, tile::BM), part.tiles_n = gemm_ceiling(part.n, tile::BN);
  part.tiles = part.tiles_m * part.tiles_n * part.batches;
  return part;
}

template <int D>
static fold_status exact_by_digits(const gemm_product &p, const exact_parts &parts, const struct fold_call *call,
                                   const char *name) {
  exact_room room = {(char *)call->scratch, FOLD_SCRATCH_ZEROED};
  digits_plan of = exact_plan_of(p, parts, call, &room);
  of.out = call->out;
  for (size_t batch = 0; batch < p.plan.batches; batch += parts.batches)
    for (size_t n = 0; n < p.plan.n; n += parts.n)
      for (size_t m = 0; m < p.plan.m; m += parts.m) {
        const digits_plan part = exact_part_of(of, p.plan, fold_dtype_size(call->dtype), batch, m, n);
        if (m == 0) FOLD_TRY(gemm_slice<D>(part.b, (cudaStream_t)call->stream));
        FOLD_TRY(exact_part<D>(part, call, name));
      }
  return fold_ok();
}

template <int D>
static fold_status exact_by_warps(const gemm_product &p, const struct fold_call *call, const char *name) {
  exact_room none = {NULL, 0};
  digits_plan plan = exact_plan_of(p, {1, 1, 0, p.plan.m, p.plan.n, p.plan.batches}, call, &none);
  plan.m = p.plan.m, plan.n = p.plan.n, plan.batches = p.plan.batches, plan.out = call->out;
  const size_t results = plan.batches * plan.m * plan.n, most = call->launch.blocks ? call->launch.blocks : 1 << 20;
  exact_all_kernel<D><<<(unsigned)(results < most ? results : most), 32, 0, (cudaStream_t)call->stream>>>(plan);
  return fold_cuda_launched(name);
}

static bool exact_has_tensor_cores() {
  int device = 0, major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= LEAST_ARCHITECTURE;
}

extern "C" size_t fold_cuda_gemm_exact_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  exact_room room = {NULL, FOLD_SCRATCH_ZEROED};
  const gemm_product p = gemm_product_of(call);
  if (p.plan.m * p.plan.n * p.plan.batches == 0) return room.used;
  const exact_parts parts = exact_parts_of(p.plan, call->dtype);
  if (!exact_is_for_warps(p.plan, parts)) (void)exact_plan_of(p, parts, call, &room);
  return room.used;
}

static fold_status exact_run(const struct fold_subject *subject, const struct fold_call *call, bool plain) {
  FOLD_TRY(gemm_check(subject->name, call));
  const unsigned block = plain ? 32 : (unsigned)tile::THREADS;
  if (call->launch.block && call->launch.block != block)
    return fold_error(FOLD_UNSUPPORTED, "%s: blocks of %u threads only", subject->name, block);
  const gemm_product p = gemm_product_of(call);
  if (p.plan.m * p.plan.n * p.plan.batches == 0) return fold_ok();
  const exact_parts parts = exact_parts_of(p.plan, call->dtype);
  const bool warps = plain || exact_is_for_warps(p.plan, parts) || !exact_has_tensor_cores();
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    return warps ? exact_by_warps<decltype(d)::value>(p, call, subject->name)
                 : exact_by_digits<decltype(d)::value>(p, parts, call, subject->name);
  });
}

extern "C" fold_status fold_cuda_gemm_exact(const struct fold_subject *subject, const struct fold_call *call) {
  return exact_run(subject, call, false);
}
extern "C" fold_status fold_cuda_gemm_exact_plain(const struct fold_subject *subject, const struct fold_call *call) {
  return exact_run(subject, call, true);
}
