/* mutants_gpu_exact.cu: mutants of an exact sum: a row by a block of 1024 threads, through limbs, closed by one thread.
 *
 * Without a fault: the correctly rounded sum. Each thread adds its terms to limbs of its own (super.h), propagates
 * their carries and adds them to the block's; thread 0 propagates carries and rounds. f16 and f32. Any grid; blocks of
 * 1024.
 *
 * A sum of a format's terms is a multiple of its smallest number, so that nothing below the smallest normal number is
 * ever rounded: where a result of the same type is rounded twice, what shows is a tie that a subnormal term breaks.
 */
#include "kernels/cuda/common.cuh"
#include "mutants_gpu_run.h"
#include "oracles/super_round.h"

enum { THREADS = 1024, MOST_LIMBS = 12 };
enum fault {
  SOUND,
  LOST_CARRY,    /* a carry moves up one limb; the one that it causes there is lost */
  LATE_CARRIES,  /* threads' limbs are added up as they stand: past 2^31 terms a sum of them overflows */
  SHORT_STICKY,  /* what lies more than two limbs below the highest one is not looked at */
  ROUNDED_TWICE, /* f16 by way of f32 */
  MINUS_LOST,    /* the sum of nothing but -0 is +0 */
};

/* The finite term with these bits: its significand by a shift below 32, in two limbs. */
static __device__ void add_term(enum fold_dtype dtype, int64_t *limb, uint64_t bits) {
  const struct fold_format format = fold_format_of(dtype);
  const uint64_t field = (bits & format.exponent) >> (format.precision - 1);
  const uint64_t significand = (bits & format.fraction) | (field ? format.fraction + 1 : 0);
  const unsigned shift = field ? (unsigned)field - 1 : 0;
  const int64_t sign = bits & format.sign ? -1 : 1;
  limb[shift / 32] += sign * (int64_t)(uint32_t)(significand << shift % 32);
  limb[shift / 32 + 1] += sign * (int64_t)(significand >> (32 - shift % 32));
}

static __device__ void take_term(enum fold_dtype dtype, struct fold_super *state, int64_t *limb, uint64_t bits) {
  const struct fold_format format = fold_format_of(dtype);
  if (bits != format.sign) state->other_than_negative_zero = 1;
  if ((bits & format.exponent) != format.exponent)
    add_term(dtype, limb, bits);
  else if (bits & format.fraction)
    atomicAdd((unsigned long long *)&state->nan, 1ull);
  else
    atomicAdd((unsigned long long *)(bits & format.sign ? &state->negative_infinity : &state->positive_infinity), 1ull);
}

/* Each limb keeps its low bits and takes the carry of the limb below as it was. */
static __device__ void carry_once(enum fold_dtype dtype, int64_t *limb) {
  int64_t below = 0;
  for (int k = 0; k < fold_super_limbs(dtype) - 1; k++) {
    const int64_t word = limb[k];
    limb[k] = ((word & 0xffffffff) + (below >> 32)) & 0xffffffff;
    below = word;
  }
  limb[fold_super_limbs(dtype) - 1] += below >> 32;
}

static __device__ void forget_low(enum fold_dtype dtype, int64_t *limb) {
  const int last = fold_super_limbs(dtype) - 1;
  const int64_t above = limb[last] < 0 ? 0xffffffff : 0;
  int high = last;
  if (limb[last] == 0 || limb[last] == -1)
    for (high = last - 1; high > 0 && limb[high] == above;) high--;
  for (int k = 0; k + 2 < high; k++) limb[k] = 0;
}

template <int FAULT>
static __device__ uint64_t close(enum fold_dtype dtype, struct fold_super *state) {
  if (FAULT == LOST_CARRY)
    carry_once(dtype, state->limb);
  else
    fold_super_normalise_inline(dtype, state);
  if (FAULT == SHORT_STICKY) forget_low(dtype, state->limb);
  if (FAULT == MINUS_LOST) state->other_than_negative_zero = 1;
  if (FAULT != ROUNDED_TWICE) return fold_super_round(dtype, state, dtype);
  return fold_f32_to_f16(fold_bits_f32((uint32_t)fold_super_round(dtype, state, FOLD_F32)));
}

template <int FAULT, int D>
static __global__ void exact_kernel(const void *in, void *out, size_t rows, size_t cols) {
  __shared__ struct fold_super state;
  const enum fold_dtype dtype = (enum fold_dtype)D;
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int k = threadIdx.x; k < (int)FOLD_SUPER_WORDS; k += THREADS) ((int64_t *)&state)[k] = 0;
    int64_t limb[MOST_LIMBS] = {0};
    __syncthreads();
    for (size_t i = threadIdx.x; i < cols; i += THREADS)
      take_term(dtype, &state, limb, fold_bits_load(dtype, in, row * cols + i));
    if (FAULT != LATE_CARRIES) fold_limbs_normalise(limb, fold_super_limbs(dtype));
    for (int k = 0; k < fold_super_limbs(dtype); k++)
      atomicAdd((unsigned long long *)state.limb + k, (unsigned long long)limb[k]);
    __syncthreads();
    if (threadIdx.x == 0) {
      state.terms = (int64_t)cols;
      fold_bits_store(dtype, out, row, close<FAULT>(dtype, &state));
    }
    __syncthreads();
  }
}

template <int FAULT>
static fold_status launch(const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block && call->launch.block != THREADS)
    return fold_error(FOLD_UNSUPPORTED, "blocks of 1024 threads");
  if (call->rows == 0) return fold_ok();
  const unsigned grid = call->launch.blocks ? call->launch.blocks : 4;
  cudaStream_t stream = (cudaStream_t)call->stream;
  if (call->dtype == FOLD_F16)
    exact_kernel<FAULT, FOLD_F16><<<grid, THREADS, 0, stream>>>(call->in[0], call->out, call->rows, call->cols);
  else if (call->dtype == FOLD_F32)
    exact_kernel<FAULT, FOLD_F32><<<grid, THREADS, 0, stream>>>(call->in[0], call->out, call->rows, call->cols);
  else
    return fold_error(FOLD_UNSUPPORTED, "f16 and f32");
  return fold_cuda_launched("exact_kernel");
}

#define SUBJECT(NAME, FAULT)                                                                      \
  extern "C" fold_status NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                \
    return launch<FAULT>(call);                                                                   \
  }
SUBJECT(gpu_exact_sound, SOUND)
SUBJECT(gpu_lost_carry, LOST_CARRY)
SUBJECT(gpu_late_carries, LATE_CARRIES)
SUBJECT(gpu_short_sticky, SHORT_STICKY)
SUBJECT(gpu_rounded_twice, ROUNDED_TWICE)
SUBJECT(gpu_minus_lost, MINUS_LOST)
