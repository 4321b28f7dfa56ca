/* bench_exact.c: the speed of the exact sum as ratios within one run; `meson test --benchmark` depends on it.
 *
 * Per dtype and kind of data, past the caches: a plain sequential loop in double (no vectorisation, no reassociation),
 * the superaccumulator (sum and sum of magnitudes) on one thread, and on two, and the library's foldproof_exact, in turn, ROUNDS
 * times. The ratio of runs
 * close in time cancels slow changes of a shared machine's speed; the median is printed beside its target. A target is
 * missed, and the program exits 1, if even the upper quartile of the rounds' ratios is below it: then three rounds of
 * four agree, which noise with mean zero does with a probability below 5% in 11 rounds. If other programs keep the
 * second core busy, two plain loops at once are no faster either: then two threads are not judged, and the line says
 * so.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bits.h"
#include "foldproof.h"
#include "oracles/super.h"

#define ROUNDS 11
#define CEILING 1.8 /* two threads are judged only where two plain loops gain as much */
#define TILE ((size_t)1 << 20)

/* What is not read would be optimised away. */
static volatile double sink;

static uint64_t next_word(uint64_t *state) { /* xorshift64* (Vigna 2016) */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1du;
}

static uint64_t normal_pattern(enum fold_dtype dtype, uint64_t *state) { /* Box and Muller */
  double u = ((double)(next_word(state) >> 11) + 0.5) * 0x1p-53, v = (double)(next_word(state) >> 11) * 0x1p-53;
  return fold_bits_from_double(dtype, sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

/* Any finite pattern: every exponent is as likely as another. */
static uint64_t finite_pattern(enum fold_dtype dtype, uint64_t *state) {
  struct fold_format format = fold_format_of(dtype);
  uint64_t bits;
  do {
    bits = next_word(state) >> (64 - format.bits);
  } while ((bits & format.exponent) == format.exponent);
  return bits;
}

/* A tile of random patterns, repeated: neither method remembers further than a tile. */
static void fill(enum fold_dtype dtype, bool normal, unsigned char *data, size_t n) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  size_t size = fold_dtype_size(dtype);
  for (size_t i = 0; i < TILE; i++)
    fold_bits_store(dtype, data, i, normal ? normal_pattern(dtype, &state) : finite_pattern(dtype, &state));
  for (size_t done = TILE; done < n; done += TILE) memcpy(data + done * size, data, TILE * size);
}

/* One addition after the other: a pragma tells GCC so, Clang does not reorder sums. */
#ifdef __clang__
#define PLAIN __attribute__((noinline))
#else
#define PLAIN __attribute__((noinline, optimize("no-tree-vectorize")))
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PLAIN static double plain_f32(const float *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += (double)x[i];
  return s;
}

PLAIN static double plain_f64(const double *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}

static double time_plain(enum fold_dtype dtype, const void *data, size_t n) {
  double start = now();
  sink = dtype == FOLD_F32 ? plain_f32(data, n) : plain_f64(data, n);
  return now() - start;
}

/* The plain loop on two halves at once: what a second core can give in this very minute. */
static double time_two_plain(enum fold_dtype dtype, const unsigned char *data, size_t n) {
  double start = now(), total = 0;
#pragma omp parallel for num_threads(2) reduction(+ : total)
  for (int half = 0; half < 2; half++) {
    const void *at = data + (size_t)half * (n / 2) * fold_dtype_size(dtype);
    total += dtype == FOLD_F32 ? plain_f32(at, n / 2) : plain_f64(at, n / 2);
  }
  sink = total;
  return now() - start;
}

static double time_exact(enum fold_dtype dtype, const void *data, size_t n, unsigned threads) {
  struct fold_super sum, abs;
  memset(&sum, 0, sizeof sum);
  memset(&abs, 0, sizeof abs);
  double start = now();
  fold_super_add_parallel(dtype, data, n, &sum, &abs, threads);
  double elapsed = now() - start;
  sink = (double)(sum.limb[0] + abs.limb[0]);
  return elapsed;
}

static double time_library(enum fold_dtype dtype, const void *data, size_t n) {
  const double start = now();
  double sum = 0;
  if (foldproof_exact(fold_dtype_name(dtype), "sum", data, 1, n, "f64", 1, &sum) != 0) abort();
  sink = sum;
  return now() - start;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints one line; true if the target is met. */
static bool judge(const char *what, double ratios[ROUNDS], double target) {
  qsort(ratios, ROUNDS, sizeof *ratios, rising);
  double upper = ratios[(3 * ROUNDS) / 4];
  bool met = upper >= target;
  printf("  %-28s %.2f (quartiles %.2f to %.2f), target %.2f: %s\n", what, ratios[ROUNDS / 2], ratios[ROUNDS / 4],
         upper, target, met ? "met" : "MISSED");
  return met;
}

static bool bench(enum fold_dtype dtype, bool normal, unsigned char *data, size_t n) {
  double plain[ROUNDS], one[ROUNDS], against_plain[ROUNDS], against_one[ROUNDS], ceiling[ROUNDS], library[ROUNDS];
  bool two_cores = omp_get_num_procs() >= 2;
  fill(dtype, normal, data, n);
  time_exact(dtype, data, n, 2);
  for (int round = 0; round < ROUNDS; round++) {
    plain[round] = time_plain(dtype, data, n);
    one[round] = time_exact(dtype, data, n, 1);
    against_plain[round] = plain[round] / one[round];
    library[round] = plain[round] / time_library(dtype, data, n);
    ceiling[round] = two_cores ? plain[round] / time_two_plain(dtype, data, n) : 0;
    against_one[round] = two_cores ? one[round] / time_exact(dtype, data, n, 2) : 0;
  }
  qsort(plain, ROUNDS, sizeof *plain, rising);
  qsort(one, ROUNDS, sizeof *one, rising);
  printf("%s, %s, %zu terms: plain %.0f M/s, exact %.0f M/s\n", fold_dtype_name(dtype),
         normal ? "normal data" : "all exponents", n, 1e-6 * (double)n / plain[ROUNDS / 2],
         1e-6 * (double)n / one[ROUNDS / 2]);
  bool met = judge("one thread / plain loop", against_plain, dtype == FOLD_F32 ? 0.8 : 0.6);
  met = judge("foldproof_exact / plain loop", library, normal ? 1.4 : 0.9) && met;
  qsort(ceiling, ROUNDS, sizeof *ceiling, rising);
  if (ceiling[ROUNDS / 2] < CEILING) {
    printf("  two threads: not judged, two plain loops at once gain only %.2f here\n", ceiling[ROUNDS / 2]);
    return met;
  }
  return judge("two threads / one thread", against_one, 1.8) && met;
}

int main(void) {
  size_t n = (size_t)64 << 20;
  unsigned char *data = malloc(n * sizeof(double));
  if (!data) {
    fprintf(stderr, "bench_exact: no memory for %zu terms\n", n);
    return 2;
  }
  bool met = true;
  for (int normal = 1; normal >= 0; normal--) {
    met = bench(FOLD_F32, normal, data, n) && met;
    met = bench(FOLD_F64, normal, data, n) && met;
  }
  free(data);
  return met ? 0 : 1;
}
