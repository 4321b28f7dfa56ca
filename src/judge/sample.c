/* sample.c: see sample.h. */
#include "judge/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "oracles/fingerprint.h"

enum { MOST_PLACES = 40, TILES = 3 };
static const size_t tiles[TILES] = {16, 32, 64};
/* Results of few terms are judged whole: so many terms in all, where each result costs as much as CLOSING terms besides. */
static const size_t CHEAP = (size_t)1 << 23, CLOSING = 64;

/* Places on an axis that authors of kernels treat apart. */
struct places {
  size_t at[MOST_PLACES], n;
};

static void put(struct places *places, size_t at, size_t extent) {
  for (size_t i = 0; i < places->n; i++)
    if (places->at[i] == at) return;
  if (at < extent) places->at[places->n++] = at;
}

/* A place, and its neighbours. */
static void put_border(struct places *places, size_t at, size_t extent) {
  if (at > 0) put(places, at - 1, extent);
  put(places, at, extent);
  put(places, at + 1, extent);
}

/* The first and the last places; and, but for batches, borders of the first and the last tiles. */
static struct places places_of(size_t extent, bool has_tiles) {
  struct places places = {.n = 0};
  put(&places, 0, extent);
  put(&places, extent - 1, extent);
  put(&places, 1, extent);
  for (size_t k = 0; has_tiles && k < TILES; k++) {
    const size_t last = extent / tiles[k] * tiles[k];
    put_border(&places, tiles[k], extent);
    put_border(&places, last, extent);
    if (last >= tiles[k]) put_border(&places, last - tiles[k], extent);
  }
  return places;
}

static uint64_t next_of(uint64_t *state) { return fold_fingerprint_mix(*state += 0x9e3779b97f4a7c15u); }

struct choice {
  const struct fold_case *c;
  struct places places[FOLD_AXES];
  uint64_t state;
  struct fold_sample *sample;
};

static void take(struct choice *choice, const struct fold_shape *at) {
  const struct fold_problem *problem = choice->c->problem;
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(problem, &choice->c->shape, problem->inputs, stride);
  choice->sample->at[choice->sample->n++] = (size_t)fold_place(problem, problem->inputs, stride, at);
}

/* All combinations of the axes' places, from the given axis of the results on. */
static void take_places(struct choice *choice, unsigned from, struct fold_shape *at) {
  const struct fold_problem *problem = choice->c->problem;
  if (from == problem->n_axes[problem->inputs]) {
    if (choice->sample->n < FOLD_SAMPLED) take(choice, at);
    return;
  }
  const enum fold_axis axis = problem->axes[problem->inputs][from];
  for (size_t i = 0; i < choice->places[axis].n; i++) {
    at->at[axis] = choice->places[axis].at[i];
    take_places(choice, from + 1, at);
  }
}

/* A place by chance; of several axes one in four has one of its own places, so that edges have some along their whole length. */
static void take_any(struct choice *choice) {
  const struct fold_problem *problem = choice->c->problem;
  struct fold_shape at = {.at = {0}};
  const unsigned n_axes = problem->n_axes[problem->inputs];
  for (unsigned i = 0; i < n_axes; i++) {
    const enum fold_axis axis = problem->axes[problem->inputs][i];
    const uint64_t chance = next_of(&choice->state), which = next_of(&choice->state);
    const struct places *own = &choice->places[axis];
    at.at[axis] = n_axes > 1 && chance % 4 == 0 ? own->at[which % own->n] : which % choice->c->shape.at[axis];
  }
  take(choice, &at);
}

static int compare(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static void sort(struct fold_sample *sample) {
  size_t n = 0;
  qsort(sample->at, sample->n, sizeof *sample->at, compare);
  for (size_t i = 0; i < sample->n; i++)
    if (i == 0 || sample->at[i] != sample->at[n - 1]) sample->at[n++] = sample->at[i];
  sample->n = n;
}

/* A scan's truths cost one term each (prefixes.h). */
static bool is_judged_whole(const struct fold_case *c, size_t results) {
  return c->problem->reach != FOLD_ALL || results <= FOLD_JUDGED_WHOLE || results <= CHEAP / (c->shape.k + CLOSING);
}

fold_status fold_sample_choose(const struct fold_case *c, const void *input, struct fold_sample *sample) {
  struct choice choice = {.c = c, .sample = sample};
  struct fold_shape at = {.at = {0}};
  *sample = (struct fold_sample){.n = fold_case_results(c)};
  if (is_judged_whole(c, sample->n)) return fold_ok();
  sample->at = malloc(FOLD_SAMPLED * sizeof *sample->at);
  if (sample->at == NULL) return fold_no_memory("for a sample of %zu results", sample->n);
  sample->n = 0;
  if (input) choice.state = XXH3_64bits(input, fold_case_bytes(c, 0));
  for (unsigned axis = 0; axis < FOLD_AXES; axis++) choice.places[axis] = places_of(c->shape.at[axis], axis != FOLD_B);
  take_places(&choice, 0, &at);
  while (sample->n < FOLD_SAMPLED) take_any(&choice);
  sort(sample);
  return fold_ok();
}

size_t fold_sample_place(const struct fold_sample *sample, size_t result) {
  if (sample->at == NULL) return result;
  const size_t *found = bsearch(&result, sample->at, sample->n, sizeof *sample->at, compare);
  return found ? (size_t)(found - sample->at) : sample->n;
}
