/* test_gpu_generators.c: the device's generators make the host's bits; compiled otherwise, they are seen not to. */
#include <stdio.h>

#include "fixtures/cuda_generate.h"
#include "gpu.h"
#include "mutants_gpu.h"

enum { GUARD = 64, GUARD_BYTE = 0xc3, MOST = 8192, MOST_TOLD = 10 };

struct part {
  uint64_t first;
  size_t n;
};
/* Quads cut at either end, whole rows, and indices that 32 bits cannot hold. */
static const struct part parts[] = {{0, 1},
                                    {0, 4096},
                                    {1, 777},
                                    {3, 5},
                                    {255, 1031},
                                    {4095, 4098},
                                    {((uint64_t)1 << 32) - 3, 1031},
                                    {((uint64_t)1 << 32) + 6, 513},
                                    {((uint64_t)1 << 40) + 1, 300}};

struct room {
  unsigned char *d, *got, *want;
};

static void open_room(struct room *room) {
  room->d = gpu_alloc(MOST * 8 + 2 * GUARD);
  room->got = malloc(MOST * 8 + 2 * GUARD);
  room->want = malloc(MOST * 8 + 2 * GUARD);
  cr_assert(room->got && room->want, "no memory");
}

static void close_room(struct room *room) {
  gpu_free(room->d);
  free(room->got);
  free(room->want);
}

/* How many bytes differ, guards on both sides included. `shift` elements off a 16-byte address. */
static size_t differing(struct room *room, gpu_generate *make, const struct fold_source *source, struct part part,
                        size_t shift) {
  size_t size = fold_dtype_size(source->dtype), at = GUARD + shift * size, whole = MOST * 8 + 2 * GUARD, n = 0;
  memset(room->want, GUARD_BYTE, whole);
  fold_generate(source, part.first, part.n, room->want + at);
  gpu_need(fold_device_set(room->d, GUARD_BYTE, whole, NULL));
  gpu_need(make(source, part.first, part.n, room->d + at, NULL));
  gpu_need(fold_device_get(room->got, room->d, whole));
  for (size_t i = 0; i < whole; i++) n += room->got[i] != room->want[i];
  return n;
}

/* What was compared, and in how many sources something differed. */
struct count {
  size_t sources, parts, wrong;
  uint64_t wrong_generators; /* a bit each */
};

static void compare_source(struct room *room, gpu_generate *make, const struct fold_source *source, struct count *count,
                           bool tell) {
  bool wrong = false;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++, count->parts++)
    for (size_t shift = 0; shift < 2; shift++) {
      size_t n = differing(room, make, source, parts[p], shift);
      if (n == 0) continue;
      wrong = true;
      if (tell && count->wrong < MOST_TOLD)
        cr_expect(false, "%s %s cols %zu first %llu n %zu shift %zu: %zu bytes differ", source->generator->name,
                  fold_dtype_name(source->dtype), source->cols, (unsigned long long)parts[p].first, parts[p].n, shift,
                  n);
    }
  count->sources++;
  count->wrong += wrong;
}

/* Every generator and dtype, short rows and one endless row. */
static struct count compare_all(gpu_generate *make, bool tell) {
  static const size_t cols[] = {1, 257, (size_t)1 << 41};
  static const double conditions[] = {64, 1e6, 1e30};
  struct count count = {0};
  struct room room;
  size_t n;
  const struct fold_generator *generators = fold_generators(&n);
  open_room(&room);
  for (size_t g = 0; g < n; g++) {
    size_t before = count.wrong, made = count.sources;
    for (int d = 0; d < GPU_DTYPES; d++)
      for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
        for (size_t k = 0; k < (generators[g].takes_condition ? 3 : 1); k++) {
          struct fold_source source = {&generators[g], (enum fold_dtype)d, 7, cols[c],
                                       generators[g].takes_condition ? conditions[k] : 0};
          if (fold_source_check(&source).code == FOLD_OK) compare_source(&room, make, &source, &count, tell);
        }
    cr_expect(count.sources > made, "%s made nothing", generators[g].name);
    if (count.wrong > before) count.wrong_generators |= (uint64_t)1 << g;
  }
  close_room(&room);
  return count;
}

Test(gpu_generators, every_generator_makes_the_hosts_bits_at_every_place) {
  gpu_open();
  struct count count = compare_all(fold_cuda_generate, true);
  cr_expect_eq(count.wrong, 0, "%zu of %zu sources differ", count.wrong, count.sources);
  cr_expect_geq(count.parts, 1000, "only %zu parts compared", count.parts);
}

/* The comparison can fail: the same file, compiled with contraction or as fast mathematics, makes different bits. */
Test(gpu_generators, contraction_and_fast_mathematics_are_seen) {
  gpu_open();
  size_t n;
  const struct fold_generator *generators = fold_generators(&n);
  const struct {
    gpu_generate *make;
    const char *name;
  } mutants[] = {{mutant_generate_fused, "--fmad=true"}, {mutant_generate_fast, "--use_fast_math"}};
  for (size_t m = 0; m < 2; m++) {
    struct count count = compare_all(mutants[m].make, false);
    cr_expect(count.wrong_generators != 0, "no generator differs with %s", mutants[m].name);
    /* Whole numbers and constants need no rounding: flags that change all would prove nothing. */
    for (size_t g = 0; g < n; g++)
      if (strcmp(generators[g].name, "integers") == 0 || strncmp(generators[g].name, "zeros", 5) == 0)
        cr_expect((count.wrong_generators >> g & 1) == 0, "%s differs with %s", generators[g].name, mutants[m].name);
  }
}
