/* bench_xsum.c: the host's exact sum against xsum's large superaccumulator (Neal 2015, gitlab.com/radfordneal/xsum), one
 * thread; `meson test --benchmark xsum` where the option xsum names the folder of its source, which is not ours to ship.
 *
 * Per dtype, kind of data and length, all in turn, ROUNDS times: xsum, which reads the terms widened to f64 beforehand; a plain
 * sum of those doubles in vectors, which is what the core can read; the library's foldproof_exact, as its users call it; the exact
 * sum by each instruction set and by bins alone, without and with the sum of magnitudes. Printed are the medians of the ratios within a round, xsum's time over the
 * other's. Before that every result is compared: xsum's f64 sum with the library's and with
 * the rounded state, the states with each other.
 *
 * bench_xsum [MOST]: lengths to 10^MOST, 7 without it. Exit code 1: results differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "foldproof.h"
#include "oracles/exact.h"
#include "oracles/super_extract.h"
#include "xsum.h"

enum { ROUNDS = 15, LEAST_TERMS = 2000000 /* of a timed stretch */, MOST_WAYS = 9 };

static volatile double sink; /* what is not read would be optimised away */

typedef double reals __attribute__((vector_size(32), aligned(8)));

#if defined __x86_64__
__attribute__((target_clones("avx2", "default")))
#endif
__attribute__((noinline)) static double
plain(const double *x, size_t n) {
  enum { CHAINS = 8, STEP = 4 * CHAINS };
  reals sum[CHAINS] = {0};
  double rest = 0;
  size_t i = 0;
  for (; i + STEP <= n; i += STEP)
    for (int k = 0; k < CHAINS; k++) sum[k] += *(const reals *)(x + i + 4 * k);
  for (; i < n; i++) rest += x[i];
  for (int k = 0; k < CHAINS; k++) rest += sum[k][0] + sum[k][1] + sum[k][2] + sum[k][3];
  return rest;
}

struct input {
  enum fold_dtype dtype;
  size_t n;
  const void *terms;
  const double *widened;
  xsum_large_accumulator *large;
};

enum what { XSUM, PLAIN, LIBRARY, SUM, BOTH };
struct way {
  enum what what;
  const struct fold_extractor *extractor; /* SUM, BOTH */
};

static size_t find_ways(struct way ways[MOST_WAYS]) {
  size_t n = 0;
  ways[n++] = (struct way){XSUM, NULL};
  ways[n++] = (struct way){PLAIN, NULL};
  ways[n++] = (struct way){LIBRARY, NULL};
  for (size_t e = 0;; e++) {
    if (fold_extractors[e] && !fold_extractors[e]->runs_here()) continue;
    ways[n++] = (struct way){SUM, fold_extractors[e]};
    ways[n++] = (struct way){BOTH, fold_extractors[e]};
    if (!fold_extractors[e]) return n;
  }
}

/* The exact ways' state. */
static struct fold_super run(const struct input *in, struct way way, double *result) {
  struct fold_super sum = {0}, abs = {0};
  switch (way.what) {
    case XSUM:
      xsum_large_init(in->large);
      xsum_large_addv(in->large, in->widened, (xsum_length)in->n);
      *result = xsum_large_round(in->large);
      break;
    case PLAIN: *result = plain(in->widened, in->n); break;
    case LIBRARY:
      if (foldproof_exact(fold_dtype_name(in->dtype), "sum", in->terms, 1, in->n, "f64", 1, result) != 0) abort();
      break;
    case SUM:
    case BOTH:
      fold_super_add_by(way.extractor, in->dtype, in->terms, in->n, &sum, way.what == BOTH ? &abs : NULL);
      *result = (double)sum.limb[0];
  }
  return sum;
}

static bool agree(const struct input *in, const struct way *ways, size_t n_ways) {
  double theirs, ours, other;
  run(in, ways[0], &theirs);
  run(in, ways[2], &ours);
  struct fold_super first = run(in, ways[3], &other);
  bool same = fold_super_close(in->dtype, &first, FOLD_F64) == fold_f64_bits(theirs) && ours == theirs;
  for (size_t k = 4; k < n_ways; k++) {
    struct fold_super state = run(in, ways[k], &other);
    same = same && memcmp(&state, &first, sizeof state) == 0;
  }
  return same;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others' time slices do not count */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(const struct input *in, struct way way) {
  size_t times = in->n < LEAST_TERMS ? LEAST_TERMS / in->n : 1;
  double result;
  run(in, way, &result); /* so that no way pays for being the first that reads its array into a cache */
  const double start = now();
  for (size_t i = 0; i < times; i++) run(in, way, &result), sink = result;
  return (now() - start) / (double)times;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *x) {
  qsort(x, ROUNDS, sizeof *x, rising);
  return x[ROUNDS / 2];
}

static void race(const struct input *in, const struct way *ways, size_t n_ways) {
  double xsum[ROUNDS], ratio[MOST_WAYS][ROUNDS];
  for (int round = 0; round < ROUNDS; round++)
    for (size_t k = 0; k < n_ways; k++) {
      double seconds = seconds_of(in, ways[k]);
      if (k == 0) xsum[round] = seconds;
      ratio[k][round] = xsum[round] / seconds;
    }
  printf("%9.0f", 1e-6 * (double)in->n / median(xsum));
  for (size_t k = 1; k < n_ways; k++) printf("%14.2f", median(ratio[k]));
  printf("\n");
  fflush(stdout);
}

static void head(const struct way *ways, size_t n_ways) {
  printf(
      "Exact sums on one thread against xsum's large superaccumulator on the terms widened to f64: xsum's terms a "
      "second,\n"
      "and its time over that of a plain sum of those doubles in vectors, of the library's foldproof_exact, and of "
      "fold_super_add\n"
      "by each instruction set and by bins, without and with the sum of magnitudes. CPU time, all in turn, medians of "
      "the ratios of %d "
      "rounds.\n\n",
      ROUNDS);
  printf("%-6s%-18s%9s%9s", "dtype", "data", "terms", "xsum M/s");
  for (size_t k = 1; k < n_ways; k++) {
    char name[40];
    snprintf(name, sizeof name, "%s%s",
             ways[k].what == PLAIN     ? "plain"
             : ways[k].what == LIBRARY ? "library"
             : ways[k].extractor       ? ways[k].extractor->name
                                       : "bins",
             ways[k].what == BOTH ? "+|x|" : "");
    printf("%14s", name);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  static const char *const kinds[] = {"normal", "mixed", "pathological", "uniform", "full_range"};
  const int most = argc > 1 ? atoi(argv[1]) : 7;
  struct way ways[MOST_WAYS];
  size_t n_ways = find_ways(ways), most_terms = 100000;
  for (int e = 5; e < most; e++) most_terms *= 10;
  void *terms = aligned_alloc(4096, most_terms * 8 + 4096 - most_terms * 8 % 4096);
  double *widened = malloc(most_terms * sizeof *widened);
  xsum_large_accumulator *large = aligned_alloc(4096, (sizeof *large + 4095) / 4096 * 4096);
  bool same = true;
  if (!terms || !widened || !large) return 2;
  head(ways, n_ways);
  for (size_t n = 100000; n <= most_terms; n *= 10)
    for (int dtype = FOLD_DTYPES - 1; dtype >= 0; dtype--)
      for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct fold_source source = {fold_generator_find(kinds[k]), dtype, 1, n, 0};
        struct input in = {dtype, n, terms, dtype == FOLD_F64 ? terms : widened, large};
        fold_generate(&source, 0, n, terms);
        for (size_t i = 0; i < n && in.widened == widened; i++)
          widened[i] = fold_bits_to_double(dtype, fold_bits_load(dtype, terms, i));
        printf("%-6s%-18s%9zu", fold_dtype_name(dtype), kinds[k], n);
        if (agree(&in, ways, n_ways)) {
          race(&in, ways, n_ways);
        } else {
          printf("  THE SUMS DIFFER\n");
          same = false;
        }
      }
  return same ? 0 : 1;
}
