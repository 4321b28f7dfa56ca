/* kernel_cublas.c: cuBLAS's dot product. It has no source; the rule was found from trees that were revealed. */
#include "reveal/kernels.h"

/* 128 threads add a segment of as many terms each, neighbours first, and then halves to halves. Segment k is added
 * to slot k modulo 32. Every fourth slot's sums are added in turn, and so are those four sums. */
static uint64_t dot_of(unsigned load, const uint64_t *term, size_t n) {
  enum { THREADS = 128, SLOTS = 32, GROUPS = 4 };
  uint64_t slot[SLOTS] = {0}, sum = 0;
  for (size_t at = 0, k = 0; at < n; at += (size_t)load * THREADS, k++) {
    uint64_t thread[THREADS] = {0};
    for (size_t i = 0; i < (size_t)load * THREADS && at + i < n; i++)
      thread[i / load] = fold_fingerprint_join(thread[i / load], term[at + i]);
    slot[k % SLOTS] = fold_fingerprint_join(slot[k % SLOTS], fold_join_halves(thread, THREADS));
  }
  for (size_t g = 0; g < GROUPS; g++) sum = fold_fingerprint_join(sum, fold_join_in_turn(slot + g, SLOTS - g, GROUPS));
  return sum;
}

void fold_try_cublas(struct fold_kernel_search *s) {
  for (unsigned load = 1; load <= 4 && !s->name[0]; load *= 2)
    if (dot_of(load, s->term, s->n) == s->print)
      snprintf(s->name, 120, "cuBLAS's dot of 128 threads x %u rounded product%s", load, load > 1 ? "s" : "");
}
