/* gemm_run.cuh: which tile and how many groups a product of one dtype gets, and its launch.
 *
 * A few rows have a tile of their own; else the tile is taken that needs the least time by this estimate: what the busiest multiprocessor
 * has to do, in results times segments. If the tiles are too few, each is cut into groups of segments.
 */
#ifndef FOLD_GEMM_RUN_CUH
#define FOLD_GEMM_RUN_CUH

#include "kernels/cuda/gemm/gemm_plan.cuh"
#include "kernels/cuda/gemm/gemm_vector.cuh"

/* The tiles of a dtype: for 1, up to 8 and up to 16 rows, and three for more. */
template <int D>
struct gemm_tiles;
template <>
struct gemm_tiles<FOLD_F32> {
  typedef gemm_tile<1, 64, 32, 4, 1, 2, 1, 1, 1, 6> one;
  typedef gemm_tile<8, 64, 32, 3, 1, 2, 2, 4, 2, 8> few;
  typedef gemm_tile<16, 64, 32, 3, 1, 2, 4, 4, 4, 6> low;
  typedef gemm_tile<64, 64, 16, 3, 2, 2, 8, 4, 8, 4> small;
  typedef gemm_tile<128, 64, 16, 3, 2, 2, 8, 8, 8, 4> middle;
  typedef gemm_tile<128, 128, 32, 3, 2, 4, 8, 8, 8, 2> large;
};
template <>
struct gemm_tiles<FOLD_F64> {
  typedef gemm_tile<1, 64, 32, 3, 1, 2, 1, 1, 1, 4> one;
  typedef gemm_tile<16, 64, 16, 3, 1, 2, 8, 2, 8, 6, true> few, low;
  typedef gemm_tile<64, 64, 16, 3, 2, 2, 8, 4, 8, 3, true> small;
  typedef gemm_tile<64, 128, 16, 3, 1, 4, 8, 8, 8, 2, true> middle, large;
};
template <>
struct gemm_tiles<FOLD_F16> {
  typedef gemm_tile<1, 64, 32, 3, 1, 2, 1, 1, 1, 6> one;
  typedef gemm_tile<8, 64, 16, 3, 1, 2, 2, 4, 2, 8> few;
  typedef gemm_tile<16, 64, 16, 3, 1, 2, 4, 4, 4, 6> low;
  typedef gemm_tile<64, 64, 16, 3, 2, 2, 8, 4, 8, 3> small;
  typedef gemm_tile<128, 64, 16, 3, 2, 2, 8, 8, 8, 3> middle;
  typedef gemm_tile<128, 128, 16, 3, 2, 4, 8, 8, 8, 1> large;
};
template <>
struct gemm_tiles<FOLD_BF16> : gemm_tiles<FOLD_F16> {};

/* What this thread's device has. */
struct gemm_device {
  int number, multiprocessors, shared;
};
static inline fold_status gemm_device_of(gemm_device *device) {
  static thread_local gemm_device known = {-1, 0, 0};
  int number;
  FOLD_CUDA_TRY(cudaGetDevice(&number));
  if (number != known.number) {
    FOLD_CUDA_TRY(cudaDeviceGetAttribute(&known.multiprocessors, cudaDevAttrMultiProcessorCount, number));
    FOLD_CUDA_TRY(cudaDeviceGetAttribute(&known.shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, number));
    known.number = number;
  }
  *device = known;
  return fold_ok();
}

/* How long a multiprocessor takes for `blocks` blocks of a tile, in blocks at full speed, which twelve warps at once reach. */
template <class T>
static double gemm_time(double blocks) {
  const double full = 12 * 32, all = T::RESIDENT * T::THREADS, last = fmod(blocks, T::RESIDENT) * T::THREADS;
  const double rest = last == 0 ? 0 : last < full ? full : last;
  return floor(blocks / T::RESIDENT) * (all < full ? full : all) / T::THREADS + rest / T::THREADS;
}

/* Completes the plan for a tile; returns the estimate. */
template <class T>
static double gemm_plan_for(gemm_plan *plan, const gemm_device &device) {
  plan->tiles_m = gemm_ceiling(plan->m, T::BM);
  plan->tiles_n = gemm_ceiling(plan->n, T::BN);
  const size_t tiles = plan->tiles_m * plan->tiles_n * plan->batches;
  double least = 0;
  plan->groups = 1;
  for (unsigned groups = 1; groups <= plan->segments && groups <= 64; groups *= 2) {
    if (groups > 1 && tiles > FREE_COUNTERS) break;
    const double time = gemm_time<T>((double)gemm_ceiling(tiles * groups, device.multiprocessors));
    const double cost = time * ((double)gemm_ceiling(plan->segments, groups) + (groups > 1 ? 0.25 : 0));
    if (groups > 1 && cost >= least) continue;
    least = cost;
    plan->groups = groups;
  }
  plan->group = 1;
  while (plan->group * plan->groups < plan->segments) plan->group *= 2;
  plan->groups = (unsigned)gemm_ceiling(plan->segments, plan->group);
  plan->levels = 0;
  while (1u << plan->levels < plan->group) plan->levels++;
  plan->items = tiles * plan->groups;
  return least * T::BM * T::BN;
}

/* Calls f(tile) with the tile for the shape. */
template <int D, class F>
static fold_status gemm_with_tile(const gemm_plan &plan, const gemm_device &device, F f) {
  typedef gemm_tiles<D> all;
  typedef typename fold_element<D>::wide W;
  if (plan.m == 1) return f(typename all::one());
  if (plan.m <= 8) return f(typename all::few());
  if (plan.m <= 16) return f(typename all::low());
  gemm_plan tried = plan;
  /* What a result takes in the other tiles, measured on large products, is 1.05 and 1.2 of the largest one's. */
  const double large = gemm_plan_for<typename all::large>(&tried, device);
  const double middle = gemm_plan_for<typename all::middle>(&tried, device) * 1.05;
  const double small = gemm_plan_for<typename all::small>(&tried, device) * 1.2;
  const bool fits = gemm_shared<typename all::large, W>() <= (size_t)device.shared;
  if (fits && large <= middle && large <= small) return f(typename all::large());
  return middle <= small ? f(typename all::middle()) : f(typename all::small());
}

template <class T>
static unsigned gemm_blocks(const gemm_plan &plan, const gemm_device &device, const struct fold_call *call) {
  const size_t at_once = (size_t)device.multiprocessors * T::RESIDENT;
  if (call->launch.blocks) return call->launch.blocks;
  return (unsigned)(plan.items < at_once ? plan.items : at_once);
}
template <class T, class W>
static size_t gemm_waiting(const gemm_plan &plan, unsigned blocks) {
  return (size_t)blocks * plan.levels * T::BM * T::BN * sizeof(W);
}

static inline size_t gemm_vector_columns(vector_lie lie, size_t size) {
  return lie == VECTOR_ACROSS && size == 2 ? 64 : 32;
}

/* Whether the kernels of one vector take the product, and how its columns lie; completes the plan for them. */
static inline bool gemm_vector_plan(gemm_product *p, size_t size, const gemm_device &device, vector_lie *lie) {
  gemm_plan *const plan = &p->plan;
  const size_t places = (uintptr_t)p->b | gemm_distance(plan->b_n) * size | gemm_distance(plan->b_b) * size;
  if (plan->m != 1) return false;
  if (plan->b_k == 1 && (plan->n == 1 || plan->b_lie == GEMM_ALONG_K) && places % 16 == 0)
    *lie = VECTOR_ALONG;
  else if (plan->b_n != 1 || (size == 2 && plan->b_lie != GEMM_VECTORS))
    return false; /* a copy of 2 bytes waits for memory */
  else
    *lie = plan->b_lie == GEMM_VECTORS ? VECTOR_ACROSS : VECTOR_ANYWHERE;
  plan->tiles_n = gemm_ceiling(plan->n, gemm_vector_columns(*lie, size));
  const size_t tiles = plan->tiles_n * plan->batches;
  for (plan->group = VECTOR_GROUP; plan->group > VECTOR_WARPS; plan->group /= 2)
    if (tiles * gemm_ceiling(plan->segments, plan->group) >= 2 * (size_t)device.multiprocessors) break;
  if (tiles > FREE_COUNTERS) plan->group = VECTOR_GROUP;
  plan->groups = (unsigned)gemm_ceiling(plan->segments, plan->group);
  plan->items = tiles * plan->groups;
  return plan->groups == 1 || tiles <= FREE_COUNTERS;
}

static inline unsigned gemm_vector_threads(const gemm_plan &plan) {
  unsigned warps = 1;
  while (warps < VECTOR_WARPS && warps < plan.segments) warps *= 2;
  return 32 * warps;
}

template <int D, int LIE>
static fold_status gemm_vector_launch(const gemm_product &p, const char *name, const struct fold_call *call) {
  typedef typename fold_element<D>::stored S;
  typedef typename fold_element<D>::wide W;
  const auto kernel = vector_kernel<D, LIE>;
  const unsigned threads = gemm_vector_threads(p.plan);
  const size_t shared = threads / 32 * vector_tile<D, LIE>::OF_WARP, most = 1 << 20;
  const size_t blocks = call->launch.blocks ? call->launch.blocks : p.plan.items < most ? p.plan.items : most;
  FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(unsigned)blocks, threads, shared, (cudaStream_t)call->stream>>>(
      p.plan, (const S *)p.a, (const S *)p.b, (S *)call->out, (unsigned *)call->scratch,
      (W *)((char *)call->scratch + FOLD_SCRATCH_ZEROED));
  return fold_cuda_launched(name);
}

template <int D>
static fold_status gemm_vector_run(const gemm_product &p, vector_lie lie, const char *name,
                                   const struct fold_call *call) {
  const unsigned threads = gemm_vector_threads(p.plan);
  if (call->launch.block && call->launch.block != threads)
    return fold_error(FOLD_UNSUPPORTED, "%s: blocks of %u threads only", name, threads);
  switch (lie) {
    case VECTOR_ALONG: return gemm_vector_launch<D, VECTOR_ALONG>(p, name, call);
    case VECTOR_ACROSS: return gemm_vector_launch<D, VECTOR_ACROSS>(p, name, call);
    default: return gemm_vector_launch<D, VECTOR_ANYWHERE>(p, name, call);
  }
}

template <int D>
static fold_status gemm_scratch(gemm_product *p, const struct fold_call *call, size_t *bytes) {
  gemm_device device;
  vector_lie lie;
  FOLD_TRY(gemm_device_of(&device));
  if (gemm_vector_plan(p, fold_dtype_size(call->dtype), device, &lie)) {
    if (p->plan.groups > 1)
      *bytes += p->plan.items * gemm_vector_columns(lie, fold_dtype_size(call->dtype)) *
                sizeof(typename fold_element<D>::wide);
    return fold_ok();
  }
  return gemm_with_tile<D>(p->plan, device, [&](auto tile) {
    typedef decltype(tile) T;
    typedef typename fold_element<D>::wide W;
    gemm_plan_for<T>(&p->plan, device);
    *bytes += gemm_waiting<T, W>(p->plan, gemm_blocks<T>(p->plan, device, call));
    if (p->plan.groups > 1) *bytes += p->plan.items * T::BM * T::BN * sizeof(W);
    return fold_ok();
  });
}

template <int D>
static fold_status gemm_run(gemm_product *p, const char *name, const struct fold_call *call) {
  gemm_device device;
  vector_lie lie;
  FOLD_TRY(gemm_device_of(&device));
  if (gemm_vector_plan(p, fold_dtype_size(call->dtype), device, &lie)) return gemm_vector_run<D>(*p, lie, name, call);
  return gemm_with_tile<D>(p->plan, device, [&](auto tile) {
    typedef decltype(tile) T;
    typedef typename fold_element<D>::stored S;
    typedef typename fold_element<D>::wide W;
    if (call->launch.block && call->launch.block != T::THREADS)
      return fold_error(FOLD_UNSUPPORTED, "%s: blocks of %d threads only", name, (int)T::THREADS);
    gemm_plan_for<T>(&p->plan, device);
    const unsigned blocks = gemm_blocks<T>(p->plan, device, call);
    const auto kernel = gemm_kernel<D, T>;
    const size_t shared = gemm_shared<T, W>();
    char *const room = (char *)call->scratch + FOLD_SCRATCH_ZEROED;
    FOLD_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    kernel<<<blocks, T::THREADS, shared, (cudaStream_t)call->stream>>>(
        p->plan, (const S *)p->a, (const S *)p->b, (S *)call->out, (unsigned *)call->scratch, (W *)room,
        (W *)(room + gemm_waiting<T, W>(p->plan, blocks)));
    return fold_cuda_launched(name);
  });
}

/* Each dtype's code is a file of its own, so that they compile side by side. */
typedef fold_status gemm_scratch_of(gemm_product *p, const struct fold_call *call, size_t *bytes);
typedef fold_status gemm_run_of(gemm_product *p, const char *name, const struct fold_call *call);
extern gemm_scratch_of gemm_scratch_f16, gemm_scratch_bf16, gemm_scratch_f32, gemm_scratch_f64;
extern gemm_run_of gemm_run_f16, gemm_run_bf16, gemm_run_f32, gemm_run_f64;
#define GEMM_INSTANCE(name, D)                                                                      \
  fold_status gemm_scratch_##name(gemm_product *p, const struct fold_call *call, size_t *bytes) {   \
    return gemm_scratch<D>(p, call, bytes);                                                         \
  }                                                                                                 \
  fold_status gemm_run_##name(gemm_product *p, const char *subject, const struct fold_call *call) { \
    return gemm_run<D>(p, subject, call);                                                           \
  }

#endif
