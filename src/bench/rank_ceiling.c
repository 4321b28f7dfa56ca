/* rank_ceiling.c: measures how fast a rank's memory can be read; nothing that reads its input can be faster. */
#include <string.h>

#include "bench/rank_bench.h"

#include "bench/bench.h"

/* A host's ceiling is that of its nearest cache, because an input may be there. */
typedef uint64_t wide __attribute__((vector_size(32), aligned(32)));
enum { WIDES = 1 << 10, CHAINS = 8, PASSES = 64, TRIALS = 51 };

static fold_status time_cache(const wide *words, struct fold_rank_clock *clock, double *seconds) {
  wide any[CHAINS] = {0};
  FOLD_TRY(fold_rank_clock_begin(clock, 0));
  for (int pass = 0; pass < PASSES; pass++) {
    for (size_t i = 0; i < WIDES; i += CHAINS)
      for (int k = 0; k < CHAINS; k++) any[k] |= words[i + (size_t)k];
    __asm__ volatile("" : : "r"(words) : "memory"); /* each pass reads again */
  }
  for (int k = 0; k < CHAINS; k++) __asm__ volatile("" : : "m"(any[k]));
  FOLD_TRY(fold_rank_clock_end(clock, 0));
  return fold_rank_clock_read(clock, 0, seconds);
}

static fold_status host_ceiling(struct fold_ceiling *ceiling) {
  const struct fold_engine_ops *host = fold_engine_of(FOLD_HOST);
  void *words = NULL;
  struct fold_rank_clock clock = {0};
  *ceiling = (struct fold_ceiling){0};
  FOLD_TRY(host->alloc(WIDES * sizeof(wide), &words));
  memset(words, 0, WIDES * sizeof(wide));
  fold_status status = fold_rank_clock_open(&clock, false, 1);
  for (int trial = 0; trial < TRIALS && status.code == FOLD_OK; trial++) {
    double seconds = 0;
    status = time_cache(words, &clock, &seconds);
    double rate = (double)sizeof(wide) * WIDES * PASSES / seconds;
    if (seconds > 0 && rate > ceiling->rate) ceiling->rate = ceiling->most = rate;
  }
  fold_rank_clock_close(&clock);
  host->release(words);
  return status;
}

fold_status fold_rank_ceiling(enum fold_engine memory, const struct fold_wire_ceiling *asked,
                              struct fold_ceiling *ceiling) {
  const char *shape = "";
  if (fold_engine_is_host(memory)) return host_ceiling(ceiling);
  return fold_bench_ceiling(asked->n_bytes / 16 * 16, 21, ceiling, &shape);
}
