/* bench_generators.c: measures how many elements a second one core makes, for each generator and dtype.
 *
 * It takes the best of five fills of 2^20 elements in rows of 4096, into memory touched before. Exit 1 if normal f32
 * makes fewer than FOLD_NORMAL_FLOOR million a second. `meson test --benchmark` runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fixtures/generator.h"

#define FOLD_NORMAL_FLOOR 100.0

enum { ELEMENTS = 1 << 20, REPEATS = 5 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Million elements a second. */
static double speed(const struct fold_source *source, void *out) {
  double best = 1e300;
  for (int r = 0; r < REPEATS; r++) {
    double start = seconds();
    fold_generate(source, (uint64_t)r * ELEMENTS, ELEMENTS, out);
    double took = seconds() - start;
    if (took < best) best = took;
  }
  return ELEMENTS / best / 1e6;
}

int main(void) {
  size_t n;
  const struct fold_generator *generators = fold_generators(&n);
  void *out = calloc(ELEMENTS, sizeof(uint64_t));
  if (!out) return fputs("not enough memory\n", stderr), 99;
  double normal = 0;
  printf("%-18s %8s %8s %8s %8s   M elements/s, one core\n", "generator", "f16", "bf16", "f32", "f64");
  for (size_t g = 0; g < n; g++) {
    printf("%-18s", generators[g].name);
    for (int d = 0; d < FOLD_DTYPES; d++) {
      struct fold_source source = {&generators[g], (enum fold_dtype)d, 1, 4096, 0};
      double rate = speed(&source, out);
      printf(" %8.1f", rate);
      if (d == FOLD_F32 && source.generator == fold_generator_find("normal")) normal = rate;
    }
    putchar('\n');
  }
  free(out);
  printf("normal f32: %.1f, to reach %.0f: %s\n", normal, FOLD_NORMAL_FLOOR,
         normal >= FOLD_NORMAL_FLOOR ? "held" : "missed");
  return normal >= FOLD_NORMAL_FLOOR ? 0 : 1;
}
