/* exact_small.cuh: the exact sums of few rows that blocks of one tile a warp hold: time is latency there.
 *
 * Promised: as exact_block.cuh. A block places one set of windows for all its terms (exact_warp.cuh), and what the windows hold is
 * its sum. A row of one block is rounded from them (exact_close.cuh). Else each block leaves its windows in a slot, words that
 * are zero until they are there, and the row's last block waits for the slots, adds them and makes them zero again: no counter,
 * no fence (as flat_canonical_small.cuh). A block whose terms fit no windows, or that has a NaN or an infinity, goes the way of
 * exact_block.cuh, adds its limbs to the row's state, and its slot says so.
 *
 * A word: a value in the upper 55 bits, then flags. Its lowest bit is set; word 0 has the anchor in the other eight, an eighth of
 * the binades that it lies above BASE; word 1 has whether a term is other than -0. Values: a part of up to 2^14 terms is at most
 * 2^53; a 16-bit format's total, at most 2^62, is two, its lower 32 bits and the rest. The last block waits for blocks of
 * smaller index: they started before it.
 *
 * Measured on one H200 in graphs of calls, times CUB's default sum, 10^4, 10^5, 10^6 elements, normal data: f32 1.52, 1.15, 0.88; f64 1.35,
 * 0.97 (10^6 is exact_block.cuh's: 0.64); f16 1.91, 1.28, 1.03; bf16 1.73, 1.22, 0.86. By exact_block.cuh: f32 0.87, 0.78, 0.65, f64 0.84,
 * 0.74. All exponents, 10^6 of f32: 0.50, by exact_block.cuh 0.58: 16 warps' limbs meet in one state. Tried without gain: one double for
 * f32 where the terms' range allows it (blocks then differ in their windows, and go through limbs: 10^6 1.5 us longer), or each lane's
 * (10^4 5% less time, 10^3 and 10^5 6 to 13% more). 16-bit terms by their bits instead of conversions: 2 to 5% less time.
 */
#ifndef FOLD_EXACT_SMALL_CUH
#define FOLD_EXACT_SMALL_CUH

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/exact/exact_block.cuh"
#include "kernels/cuda/exact/exact_close.cuh"
#include "kernels/cuda/launch.cuh"

#define SMALL_WARPS 16
#define NO_ANCHOR (1 << 20) /* marks a block without windows */
#define SMALL_FLAGS 9       /* how many bits of a slot's word are flags */
#define SMALL_ABOVE 8 /* how many binades stay free above the terms, before the anchor is rounded down to eighths */

template <int D>
struct exact_slot {
  static const int PARTS = exact_format<D>::PARTS, WORDS = PARTS == 1 ? 2 : PARTS, STEP = PARTS == 1 ? 32 : EXACT_WIDTH;
  static const int IN_STATE = 2; /* word 0 of a block whose sum is in the row's state */
};
struct exact_small_plan {
  size_t cols;
  unsigned parts; /* blocks of a row */
};

/* How many warps share a set of f64's columns: so many that two blocks fit a multiprocessor. */
#define SMALL_SHARE(D) ((D) == FOLD_F64 ? 3 : 1)

static __device__ __forceinline__ void exact_slot_put(int64_t *slot, int64_t word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
}
static __device__ __forceinline__ int64_t exact_slot_wait(int64_t *slot) {
  int64_t word;
  do asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
  while (word == 0);
  return word;
}

/* What a block has seen of its terms; every thread has it. */
struct exact_small_seen {
  uint32_t most, least;
  bool other;
};
template <int D, int N>
static __device__ __forceinline__ struct exact_small_seen exact_small_look(const uint4 (&tile)[N]) {
  __shared__ uint32_t most[SMALL_WARPS], least[SMALL_WARPS], others[SMALL_WARPS];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x & 31, warps = blockDim.x / 32;
  const struct exact_seen seen = exact_look_all<D>(tile);
  bool other = false;
#pragma unroll
  for (int i = 0; i < N; i++) other = other || exact_other<D>(tile[i]);
  const uint32_t warp_most = exact_warp_max(seen.most), warp_least = exact_warp_max(~seen.least);
  other = __any_sync(EXACT_WARP, other);
  if (lane == 0) most[warp] = warp_most, least[warp] = warp_least, others[warp] = other;
  __syncthreads();
  const bool mine = lane < warps;
  return {exact_warp_max(mine ? most[lane] : 0), ~exact_warp_max(mine ? least[lane] : 0),
          __any_sync(EXACT_WARP, mine && others[lane]) != 0};
}

/* Places windows for terms with these patterns. The anchor is a multiple of 8 above BASE; false if none fits. */
template <int D>
static __device__ __forceinline__ bool exact_small_place(const struct exact_small_seen &seen, int *anchor) {
  typedef exact_format<D> format;
  const int bias = (1 << (format::FIELD - 1)) - 1, REACH = exact_window<D>::REACH;
  const uint32_t most = seen.most >> exact_shift<D>::MOST, least = seen.least >> exact_shift<D>::LEAST;
  *anchor = format::BASE;
  if (most == exact_shift<D>::TOP) return false;
  if (D == FOLD_F16) return true;
  const int end = (int)most + 1 - bias, unit = format::BASE + (int)max(least, 1u) - 1;
  *anchor = max(min(end + SMALL_ABOVE - REACH, unit), format::BASE);
  *anchor -= (*anchor - format::BASE) & 7;
  return *anchor + REACH >= end && (D != FOLD_F64 || *anchor + 2 * EXACT_WIDTH + 53 <= 1023);
}

/* The sum of each thread's values over the block, in its first warp; any int64, modulo 2^64. Returns true, without a
 * sum, if any thread passes `no`. */
template <int N>
static __device__ __forceinline__ bool exact_small_sum(int64_t (&value)[N], unsigned warps, bool no) {
  __shared__ int64_t sums[SMALL_WARPS][N];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  if (warp < warps)
#pragma unroll
    for (int p = 0; p < N; p++) {
      value[p] = exact_warp_sum(value[p]);
      if (lane == 0) sums[warp][p] = value[p];
    }
  if (__syncthreads_or(no)) return true;
  if (warp == 0 && warps > 1)
#pragma unroll
    for (int p = 0; p < N; p++) value[p] = exact_warp_sum(lane < warps ? sums[lane][p] : 0);
  return false;
}

/* The sums of the block's windows, in its first warp, in the form that a slot has. Terms of 16-bit formats are scaled
 * by 2^-SCALE, because a conversion would take as long as four integer operations. */
template <int D, int N>
static __device__ __forceinline__ void exact_small_windows(const uint4 (&tile)[N], int anchor,
                                                           int64_t (&value)[exact_slot<D>::WORDS]) {
  const int PARTS = exact_format<D>::PARTS, SCALE = exact_scale<D>::SCALE;
  double part[PARTS] = {0}, odd = 0;
  int64_t units[PARTS] = {0};
  if constexpr (PARTS == 1) {
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
      for (int k = 0; k < exact_tile<D>::EACH; k++) (k & 1 ? odd : part[0]) += exact_scaled<D>(tile[i], k);
  } else {
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
      for (int k = 0; k < exact_tile<D>::EACH; k++) exact_windows_add<PARTS>(part, anchor, exact_double<D>(tile[i], k));
  }
  part[0] += odd;
#pragma unroll
  for (int p = 0; p < PARTS; p++) units[p] = exact_units(part[p], anchor - SCALE + EXACT_WIDTH * p);
  exact_small_sum(units, blockDim.x / 32, false);
#pragma unroll
  for (int p = 0; p < PARTS; p++) value[p] = units[p];
  if constexpr (PARTS == 1) { /* a sum below 2^62, in the first part alone */
    value[0] = units[0] & (((int64_t)1 << exact_slot<D>::STEP) - 1);
    value[1] = units[0] >> exact_slot<D>::STEP;
  }
}

/* The upper 62 bits of a value, the last of which is set if anything is below them; *shift: by how much they are
 * shifted. */
static __device__ __forceinline__ int64_t exact_small_top(unsigned __int128 value, int *shift) {
  const uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
  const int bits = high ? 128 - __clzll((long long)high) : 64 - __clzll((long long)low);
  *shift = max(bits - 62, 0);
  return (int64_t)(value >> *shift) | ((value & (((unsigned __int128)1 << *shift) - 1)) != 0);
}

/* The sum of value[k] 2^(anchor + STEP k), rounded once: its magnitude's upper bits with one for all that is below, which
 * conversions to double then round, or exact_close.cuh. Values are below 2^62. */
template <int D>
static __device__ __forceinline__ uint64_t exact_small_close(const int64_t (&value)[exact_slot<D>::WORDS], int anchor,
                                                             bool other) {
  typedef exact_slot<D> shape;
  const int LAST = shape::WORDS - 1, STEP = shape::STEP;
  const int64_t mask = ((int64_t)1 << STEP) - 1;
  int64_t digit[shape::WORDS], carry = 0;
#pragma unroll
  for (int k = 0; k < LAST; k++) {
    digit[k] = (value[k] + carry) & mask;
    carry = (value[k] + carry) >> STEP;
  }
  digit[LAST] = value[LAST] + carry;
  const bool negative = digit[LAST] < 0;
  carry = 0;
#pragma unroll
  for (int k = 0; negative && k < LAST; k++) {
    const int64_t minus = carry - digit[k];
    digit[k] = minus & mask;
    carry = minus >> STEP;
  }
  if (negative) digit[LAST] = carry - digit[LAST];
  unsigned __int128 low = (uint64_t)digit[0];
#pragma unroll
  for (int k = 1; k < min(shape::WORDS, 2); k++) low |= (unsigned __int128)(uint64_t)digit[k] << STEP;
  int shift = 0;
  int64_t top;
  if (shape::WORDS == 3 && digit[LAST]) {
    const int up = __clzll(digit[LAST]) - 2; /* to 62 bits */
    const unsigned __int128 below = ((unsigned __int128)1 << (2 * STEP - up)) - 1;
    top = digit[LAST] << up | (int64_t)(low >> (2 * STEP - up)) | ((low & below) != 0);
    shift = 2 * STEP - up;
  } else {
    top = exact_small_top(low, &shift);
  }
  if (top == 0) return other ? 0 : fold_format_of((enum fold_dtype)D).sign;
  const int exponent = anchor + shift;
  if constexpr (D == FOLD_F64) { /* two factors, for one may lie outside the format */
    const double x = (double)(negative ? -top : top) * exact_power(exponent / 2) * exact_power(exponent - exponent / 2);
    return exact_round_double(fold_constant<D>(), x);
  } else {
    const double x = exact_odd_units(top, exponent);
    return exact_round_double(fold_constant<D>(), negative ? -x : x);
  }
}

/* Sums the block's terms, whatever they are, into `block`, as exact_block.cuh does. */
template <int D, int N>
static __device__ __noinline__ void exact_small_limbs(uint4 (&tile)[N], char *columns, struct exact_set *sets,
                                                      struct fold_super *block) {
  const int SHARE = SMALL_SHARE(D);
  const unsigned warp = threadIdx.x / 32, set = warp / SHARE;
  struct exact_sum<D> sum;
  exact_start(sum, columns + set * 32 * exact_format<D>::COLUMN, sets + set, false, block);
  exact_prepare(sum, warp % SHARE == 0);
  uint4 mine[N]; /* copied to registers */
#pragma unroll
  for (int i = 0; i < N; i++) mine[i] = tile[i];
  exact_take(sum, mine, NULL);
  exact_finish(sum);
  if constexpr (D == FOLD_F64) {
    __syncthreads();
    if (warp % SHARE == 0) exact_set_flush(sum.set, (int64_t *)sum.columns, block->limb);
  }
  __syncthreads();
}

/* Leaves the block's windows in its slot. Called by one thread. */
template <int D>
static __device__ __forceinline__ void exact_small_leave(const int64_t (&value)[exact_slot<D>::WORDS], int anchor,
                                                         bool other, int64_t *slot) {
  typedef exact_slot<D> shape;
#pragma unroll
  for (int p = 0; p < shape::WORDS; p++) {
    const int flags = p == 0 ? (anchor - exact_format<D>::BASE) / 8 : p == 1 ? other : 0;
    exact_slot_put(slot + p, (int64_t)((uint64_t)value[p] << SMALL_FLAGS) | flags << 1 | 1);
  }
}

/* The same for a block whose sum is in `block`: adds it to the row's state. Called by the whole block. */
template <int D>
static __device__ __noinline__ void exact_small_leave_limbs(struct fold_super *block, struct fold_super *state,
                                                            int64_t *slot) {
  for (int k = threadIdx.x; k < exact_format<D>::LIMBS + EXACT_COUNTS; k += blockDim.x) {
    const int64_t word = *exact_state_word<D>(block, k);
    if (word) atomicAdd((exact_u64 *)exact_state_word<D>(state, k), (exact_u64)word);
    *exact_state_word<D>(block, k) = 0;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) exact_slot_put(slot, exact_slot<D>::IN_STATE);
}

/* Adds the row's state, which is then zero, to `block`. Called by the whole block. */
template <int D>
static __device__ __noinline__ void exact_small_take_state(struct fold_super *block, struct fold_super *state) {
  __threadfence();
  __syncthreads();
  for (int k = threadIdx.x; k < exact_format<D>::LIMBS + EXACT_COUNTS; k += blockDim.x) {
    *exact_state_word<D>(block, k) += (int64_t)__ldcg((const long long *)exact_state_word<D>(state, k));
    *exact_state_word<D>(state, k) = 0;
  }
  __syncthreads();
}

/* Ends the row in its last block, whose own windows have the anchor `anchor`; the first warp has the bits. Each thread
 * reads a slot. If no block has other windows or none, the sum of the slots is closed like that of one block, else by
 * way of the limbs of `block`, which is zero. */
template <int D>
static __device__ __forceinline__ void exact_small_gather(int64_t *slots, unsigned parts, size_t cols, int anchor,
                                                          struct fold_super *state, struct fold_super *block, void *out,
                                                          size_t row) {
  typedef exact_slot<D> shape;
  const bool mine = threadIdx.x < parts;
  int64_t *slot = slots + threadIdx.x * shape::WORDS, value[shape::WORDS] = {0}, word = 0;
  bool other = false;
  if (mine) {
    word = exact_slot_wait(slot);
    if (word & 1) {
      value[0] = word >> SMALL_FLAGS;
#pragma unroll
      for (int p = 1; p < shape::WORDS; p++) {
        const int64_t next = exact_slot_wait(slot + p);
        value[p] = next >> SMALL_FLAGS;
        other = other || (p == 1 && next & 2);
      }
      if (other) block->other_than_negative_zero = 1;
    }
#pragma unroll
    for (int p = 0; p < shape::WORDS; p++) exact_slot_put(slot + p, 0);
  }
  const bool here = word & 1;
  const int shift = (int)(word >> 1 & 0xff) * 8; /* the distance of the anchor from BASE */
  int64_t all[shape::WORDS];
#pragma unroll
  for (int p = 0; p < shape::WORDS; p++) all[p] = value[p];
  if (!exact_small_sum(all, (parts + 31) / 32, mine && (!here || shift != anchor - exact_format<D>::BASE))) {
    if (threadIdx.x >= 32) return;
    const uint64_t bits = exact_small_close<D>(all, anchor, block->other_than_negative_zero);
    if (threadIdx.x == 0) fold_bits_store((fold_dtype)D, out, row, bits);
    return;
  }
#pragma unroll
  for (int p = 0; p < shape::WORDS; p++)
    if (here) exact_limbs_add(block->limb, value[p], shift + shape::STEP * p);
  __syncthreads();
  if (__syncthreads_or(mine && !here)) exact_small_take_state<D>(block, state);
  if (threadIdx.x < 32) exact_end<D>(block, cols, false, out, row);
}

template <int D, int N>
__global__ __launch_bounds__(32 * SMALL_WARPS,
                             2) void exact_small_kernel(const typename exact_tile<D>::stored *__restrict__ in,
                                                        void *out, struct fold_super *states, int64_t *slots,
                                                        const struct exact_small_plan plan) {
  extern __shared__ __align__(16) char columns[];
  __shared__ struct fold_super block;
  __shared__ struct exact_set sets[SMALL_WARPS];
  const unsigned warps = blockDim.x / 32, row = blockIdx.x / plan.parts, part = blockIdx.x - row * plan.parts;
  const exact_row<D, N> terms(in + row * plan.cols, plan.cols);
  if (threadIdx.x == 0) {
    const uint64_t begin = (uint64_t)terms.first, end = (uint64_t)(terms.first + plan.cols);
    const uint64_t each = (uint64_t)warps * terms.LINES * 16, from = begin - begin % 16 + part * each;
    fold_prefetch(max(begin, from), min(end, from + each));
  }
  for (int k = threadIdx.x; k < (int)FOLD_SUPER_WORDS; k += blockDim.x) ((int64_t *)&block)[k] = 0;
  if (threadIdx.x < SMALL_WARPS) sets[threadIdx.x] = {0, 0, 0};
  fold_wait_for_stream();
  uint4 tile[N];
  const size_t at = (size_t)part * warps + threadIdx.x / 32;
  const uint4 *from = terms.whole(at);
  if (from) {
#pragma unroll
    for (int i = 0; i < N; i++) tile[i] = load_16(from + 32 * i);
  } else {
    terms.load_cut(tile, at);
  }
  const struct exact_small_seen seen = exact_small_look<D>(tile);
  int anchor;
  const bool fits = exact_small_place<D>(seen, &anchor);
  int64_t value[exact_slot<D>::WORDS], *slot = slots + blockIdx.x * exact_slot<D>::WORDS;
  if (fits) {
    exact_small_windows<D>(tile, anchor, value);
  } else {
    uint4 copy[N]; /* in memory, so that the tile itself can stay in registers */
#pragma unroll
    for (int i = 0; i < N; i++) copy[i] = tile[i];
    exact_small_limbs<D>(copy, columns, sets, &block);
  }
  if (plan.parts == 1) {
    if (threadIdx.x >= 32) return;
    if (!fits) {
      exact_end<D>(&block, plan.cols, false, out, row);
      return;
    }
    const uint64_t bits = exact_small_close<D>(value, anchor, seen.other);
    if (threadIdx.x == 0) fold_bits_store((fold_dtype)D, out, row, bits);
    return;
  }
  if (!fits)
    exact_small_leave_limbs<D>(&block, states + row, slot);
  else if (threadIdx.x == 0)
    exact_small_leave<D>(value, anchor, seen.other, slot);
  if (part + 1 < plan.parts) return;
  __syncthreads();
  exact_small_gather<D>(slots + row * plan.parts * exact_slot<D>::WORDS, plan.parts, plan.cols,
                        fits ? anchor : NO_ANCHOR, states + row, &block, out, row);
}

#endif
