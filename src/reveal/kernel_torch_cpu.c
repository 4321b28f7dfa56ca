/* kernel_torch_cpu.c: PyTorch's sum of a row on a CPU. The rule is that of its source (2.11: SumKernel.cpp). */
#include "reveal/kernels.h"

enum { ACCUMULATORS = 4, LEVELS = 4, MOST_LANES = 16 };

/* A vector has `lanes` sums; `load` vectors' terms are added first, to one vector (two of 16 bits, which are added in f32). */
struct vectors {
  unsigned lanes, load;
  size_t step; /* so many vectors are added in turn, then so many of these sums, and so on */
};

/* A lane of vector k. */
static uint64_t lane_of(const struct vectors *v, const uint64_t *term, size_t lane, size_t k) {
  return fold_join_in_turn(term + k * v->load * v->lanes + lane, (size_t)v->load * v->lanes - lane, v->lanes);
}

/* Level 0 has taken n vectors, a multiple of the step: its sum goes up, as far as levels are full. */
static void carry(uint64_t level[LEVELS], size_t n, size_t step) {
  size_t full = step;
  for (size_t k = 1; k < LEVELS && n % full == 0; k++, full *= step) {
    level[k] = fold_fingerprint_join(level[k], level[k - 1]);
    level[k - 1] = 0;
  }
}

/* An accumulator takes every fourth vector of the first n. */
static uint64_t accumulator_of(const struct vectors *v, const uint64_t *term, size_t lane, size_t first, size_t n) {
  uint64_t level[LEVELS] = {0};
  for (size_t k = first, taken = 1; k < n; k += ACCUMULATORS, taken++) {
    level[0] = fold_fingerprint_join(level[0], lane_of(v, term, lane, k));
    if (taken % v->step == 0) carry(level, taken, v->step);
  }
  return fold_join_in_turn(level, LEVELS, 1);
}

/* The first accumulator also takes the vectors that are left. */
static uint64_t sum_of_lane(const struct vectors *v, const uint64_t *term, size_t lane, size_t vectors) {
  const size_t n = vectors / ACCUMULATORS * ACCUMULATORS;
  uint64_t sum = accumulator_of(v, term, lane, 0, n);
  for (size_t k = n; k < vectors; k++) sum = fold_fingerprint_join(sum, lane_of(v, term, lane, k));
  for (size_t a = 1; a < ACCUMULATORS; a++) sum = fold_fingerprint_join(sum, accumulator_of(v, term, lane, a, n));
  return sum;
}

/* The terms after the last vector are added in turn, then the lanes. */
static uint64_t sum_of(const struct vectors *v, const uint64_t *term, size_t n) {
  const size_t width = (size_t)v->lanes * v->load, vectors = n / width;
  uint64_t sum = fold_join_in_turn(term + vectors * width, n - vectors * width, 1);
  for (size_t lane = 0; lane < v->lanes; lane++) sum = fold_fingerprint_join(sum, sum_of_lane(v, term, lane, vectors));
  return sum;
}

static void try_vectors(struct fold_kernel_search *s, const struct vectors *v) {
  if (sum_of(v, s->term, s->n) != s->print) return;
  int used = snprintf(s->name, 120, "PyTorch's sum on a CPU, %u lanes x %d accumulators", v->lanes, ACCUMULATORS);
  if (v->load > 1) used += snprintf(s->name + used, 120 - used, ", loads of %u", v->load);
  if (v->step <= s->n) snprintf(s->name + used, 120 - used, ", steps of %zu", v->step);
}

/* A tree that one step gives shows no steps. */
void fold_try_torch_cpu(struct fold_kernel_search *s) {
  static const size_t steps[] = {SIZE_MAX, 4, 8, 16, 32, 64};
  for (unsigned lanes = 2; lanes <= MOST_LANES; lanes *= 2)
    for (unsigned load = 1; load <= 2; load++)
      for (size_t i = 0; i < sizeof steps / sizeof *steps && !s->name[0]; i++)
        if (s->n >= 2 * (size_t)lanes * load) try_vectors(s, &(struct vectors){lanes, load, steps[i]});
}
