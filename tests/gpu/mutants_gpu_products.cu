/* mutants_gpu_products.cu: mutants of products of matrices: by one thread a result, and by two or more parts of k (split-K).
 *
 * Orders without a fault: dot/sequential, from zero in rising k; of parts the same for each part, and then the parts in turn from zero.
 * Any grid and block.
 */
#include "kernels/cuda/common.cuh"
#include "model/problem.h"
#include "mutants_gpu_delay.cuh"
#include "mutants_gpu_run.h"

enum {
  THREADS = 64,
  LATE = 200000,
  LOST_AT = 480,
  TILE = 32,
  PARTS = 2,
  MOST_PARTS = 4,
  PART = 64,
  MOST_RESULTS = 4096
};
enum fault { SOUND, TAIL_LOST, BIAS_TWICE, RACE, STALE };

struct product {
  size_t b, m, n, k;
  ptrdiff_t x[FOLD_AXES], y[FOLD_AXES]; /* strides */
};

/* The sum of terms `first` to `end` of a result. */
static __device__ float add_terms(const product &p, const float *in, const float *other, size_t result, size_t first,
                                  size_t end) {
  const ptrdiff_t n = (ptrdiff_t)(result % p.n), m = (ptrdiff_t)(result / p.n % p.m),
                  b = (ptrdiff_t)(result / p.n / p.m);
  const float *x = in + b * p.x[FOLD_B] + m * p.x[FOLD_M], *y = other + b * p.y[FOLD_B] + n * p.y[FOLD_N];
  float sum = 0;
  for (size_t t = first; t < end; t++) sum += x[(ptrdiff_t)t * p.x[FOLD_K]] * y[(ptrdiff_t)t * p.y[FOLD_K]];
  return sum;
}

/* BIAS_TWICE takes the last term for a bias, and adds it to each of two parts. */
template <int FAULT>
static __global__ void product_kernel(const product p, const float *in, const float *other, float *out) {
  const size_t step = (size_t)gridDim.x * blockDim.x, k = FAULT == TAIL_LOST && p.k == LOST_AT ? p.k - TILE : p.k;
  for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < p.b * p.m * p.n; r += step) {
    if (FAULT == BIAS_TWICE && k > PART) {
      const float bias = add_terms(p, in, other, r, k - 1, k);
      const float first = add_terms(p, in, other, r, 0, PART) + bias;
      out[r] = first + (add_terms(p, in, other, r, PART, k - 1) + bias);
    } else {
      out[r] = add_terms(p, in, other, r, 0, k);
    }
  }
}

/* The sum of each part of each result, `parts` after `parts`. RACE adds all parts of a result to one sum, and not atomically: of
 * those that read it at once the last part's stays. */
template <int FAULT>
static __global__ void part_kernel(const product p, unsigned parts, bool late, const float *in, const float *other,
                                   float *partial) {
  const size_t results = p.b * p.m * p.n, step = (size_t)gridDim.x * blockDim.x, length = (p.k + parts - 1) / parts;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < results * parts; i += step) {
    const size_t r = i % results, part = i / results, first = min(part * length, p.k), end = min(first + length, p.k);
    const float sum = add_terms(p, in, other, r, first, end);
    volatile float *to = partial + (FAULT == RACE ? r : i);
    const float before = FAULT == RACE ? *to : 0.f;
    if (FAULT == RACE || late) mutant_delay(LATE * (long long)(1 + part));
    *to = before + sum;
  }
}

static __global__ void join_kernel(size_t results, unsigned parts, const float *partial, float *out) {
  for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < results; r += (size_t)gridDim.x * blockDim.x) {
    float sum = 0;
    for (unsigned part = 0; part < parts; part++) sum += partial[part * results + r];
    out[r] = sum;
  }
}

/* What STALE keeps from call to call. */
static __device__ float kept[MOST_PARTS * MOST_RESULTS];

struct grid {
  unsigned blocks, threads;
};

static grid grid_of(const struct fold_call *call, size_t items) {
  const unsigned threads = call->launch.block ? call->launch.block : THREADS;
  return {call->launch.blocks ? call->launch.blocks : (unsigned)((items + threads - 1) / threads), threads};
}

static fold_status product_of(const struct fold_call *call, product *p) {
  FOLD_TRY(fold_cuda_check(call));
  *p = {call->shape.b, call->shape.m, call->shape.n, call->shape.k, {0}, {0}};
  fold_call_strides(call, 0, p->x);
  fold_call_strides(call, 1, p->y);
  return p->b * p->m * p->n <= MOST_RESULTS ? fold_ok()
                                            : fold_error(FOLD_UNSUPPORTED, "up to %d results", MOST_RESULTS);
}

template <int FAULT>
static fold_status launch_whole(const struct fold_call *call) {
  product p;
  FOLD_TRY(product_of(call, &p));
  const grid g = grid_of(call, p.b * p.m * p.n);
  if (p.b * p.m * p.n == 0) return fold_ok();
  product_kernel<FAULT><<<g.blocks, g.threads, 0, (cudaStream_t)call->stream>>>(
      p, (const float *)call->in[0], (const float *)call->in[1], (float *)call->out);
  return fold_cuda_launched("product_kernel");
}

/* The parts are made on stream `of_parts`, in `partial`; the results are made from `joined` parts on the call's stream. */
template <int FAULT>
static fold_status launch_parts(const struct fold_call *call, cudaStream_t of_parts, float *partial, unsigned parts,
                                unsigned joined) {
  const cudaStream_t stream = (cudaStream_t)call->stream;
  product p;
  FOLD_TRY(product_of(call, &p));
  const size_t results = p.b * p.m * p.n;
  const grid g = grid_of(call, results * parts), after = grid_of(call, results);
  if (results == 0) return fold_ok();
  if (FAULT == RACE) FOLD_CUDA_TRY(cudaMemsetAsync(partial, 0, results * sizeof(float), stream));
  part_kernel<FAULT><<<g.blocks, g.threads, 0, of_parts>>>(p, parts, of_parts != stream, (const float *)call->in[0],
                                                           (const float *)call->in[1], partial);
  FOLD_TRY(fold_cuda_launched("part_kernel"));
  join_kernel<<<after.blocks, after.threads, 0, stream>>>(results, joined, partial, (float *)call->out);
  return fold_cuda_launched("join_kernel");
}

static float *scratch_of(const struct fold_call *call) {
  return (float *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
}

extern "C" size_t gpu_product_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + fold_results(call->problem, &call->shape) * PARTS * sizeof(float);
}

#define WHOLE(NAME, FAULT)                                                                        \
  extern "C" fold_status NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                \
    return launch_whole<FAULT>(call);                                                             \
  }
WHOLE(gpu_product_sound, SOUND)
WHOLE(gpu_product_tail_lost, TAIL_LOST)
WHOLE(gpu_product_bias_twice, BIAS_TWICE)

/* Takes the first matrix as contiguous. */
extern "C" fold_status gpu_product_lda_is_k(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call own = *call;
  (void)subject;
  memset(own.stride[0], 0, sizeof own.stride[0]);
  return launch_whole<SOUND>(&own);
}

extern "C" fold_status gpu_product_split_sound(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return launch_parts<SOUND>(call, (cudaStream_t)call->stream, scratch_of(call), PARTS, PARTS);
}

extern "C" fold_status gpu_product_split_race(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return launch_parts<RACE>(call, (cudaStream_t)call->stream, scratch_of(call), PARTS, 1);
}

/* Makes as many parts as k is long, and joins as many as there may be: the others are of an earlier call. */
extern "C" fold_status gpu_product_stale(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t wanted = (call->shape.k + PART - 1) / PART, parts = wanted < 1 ? 1 : wanted;
  float *workspace = NULL;
  (void)subject;
  if (parts > MOST_PARTS) return fold_error(FOLD_UNSUPPORTED, "up to %d terms", MOST_PARTS * PART);
  FOLD_CUDA_TRY(cudaGetSymbolAddress((void **)&workspace, kept));
  return launch_parts<STALE>(call, (cudaStream_t)call->stream, workspace, (unsigned)parts, MOST_PARTS);
}

/* The call's stream does not wait for the one that makes the parts. */
extern "C" fold_status gpu_product_other_stream(const struct fold_subject *subject, const struct fold_call *call) {
  static cudaStream_t own;
  (void)subject;
  if (!own) FOLD_CUDA_TRY(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  return launch_parts<SOUND>(call, own, scratch_of(call), PARTS, PARTS);
}
