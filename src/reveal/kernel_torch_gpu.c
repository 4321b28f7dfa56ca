/* kernel_torch_gpu.c: PyTorch's sum of a row by one block of a GPU. The rule is that of its source (2.11: Reduce.cuh), for a row that is
 * aligned if its terms are loaded several at a time.
 */
#include "reveal/kernels.h"

enum { LANES = 32, LEAST_THREADS = 8, MOST_THREADS = 1024, ACCUMULATORS = 4, MOST_LOAD = 16 };

struct block {
  unsigned width, height, load; /* load 1: terms one by one */
};

static size_t threads_of(const struct block *b) { return (size_t)b->width * b->height; }

/* A thread has an accumulator for each term of a load. The first threads take the terms after the last load. */
static uint64_t add_loads(const struct block *b, const uint64_t *term, size_t n, size_t thread) {
  const size_t full = n / b->load * b->load;
  uint64_t sum[MOST_LOAD] = {0};
  for (size_t at = thread * b->load; at < full; at += threads_of(b) * b->load)
    for (size_t i = 0; i < b->load; i++) sum[i] = fold_fingerprint_join(sum[i], term[at + i]);
  if (full + thread < n) sum[0] = fold_fingerprint_join(sum[0], term[full + thread]);
  return fold_join_in_turn(sum, b->load, 1);
}

/* A thread's terms go to its accumulators by turns. */
static uint64_t add_terms(const struct block *b, const uint64_t *term, size_t n, size_t thread) {
  uint64_t sum[ACCUMULATORS] = {0};
  for (size_t at = thread, k = 0; at < n; at += threads_of(b), k = (k + 1) % ACCUMULATORS)
    sum[k] = fold_fingerprint_join(sum[k], term[at]);
  return fold_join_in_turn(sum, ACCUMULATORS, 1);
}

/* Threads are joined along x, then along y. */
static uint64_t block_of(const struct block *b, const uint64_t *term, size_t n) {
  uint64_t thread[MOST_THREADS];
  for (size_t t = 0; t < threads_of(b); t++)
    thread[t] = b->load > 1 ? add_loads(b, term, n, t) : add_terms(b, term, n, t);
  for (size_t y = 0; y < b->height; y++) thread[y] = fold_join_halves(thread + y * b->width, b->width);
  return fold_join_halves(thread, b->height);
}

static void try_block(struct fold_kernel_search *s, const struct block *b) {
  if (block_of(b, s->term, s->n) != s->print) return;
  int used = snprintf(s->name, 120, "PyTorch's sum on a GPU, block of %u", b->width);
  if (b->height > 1) used += snprintf(s->name + used, 120 - used, " x %u", b->height);
  if (b->load > 1)
    snprintf(s->name + used, 120 - used, " threads, loads of %u", b->load);
  else
    snprintf(s->name + used, 120 - used, " threads, %d accumulators", ACCUMULATORS);
}

/* Of blocks with equal trees the one with the fewest threads, along x if it can be. */
void fold_try_torch_gpu(struct fold_kernel_search *s) {
  for (unsigned threads = LEAST_THREADS; threads <= MOST_THREADS && threads < s->n; threads *= 2)
    for (unsigned height = 1; height == 1 || threads / height >= LANES; height *= 2)
      for (unsigned load = 1; load <= MOST_LOAD && !s->name[0]; load *= 2)
        try_block(s, &(struct block){threads / height, height, load});
}
