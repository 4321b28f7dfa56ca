/* bench/host.c: times host subjects and plain reads in turn over rotating inputs, each run by the monotonic clock.
 *
 * The pool is twice the last cache, but at least 256 MiB and at most 1 GiB, so that all contenders find their input in memory, or in
 * a cache that is larger. The ceiling is the fastest plain read of a part of the pool, by one thread or by as many as subjects have. On
 * a busy machine that read is slowed down too, so that a subject above it is no defect. A subject is implausible if even its slow runs
 * are faster than so many cores can read their nearest cache: it did not read its input.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/list.h"
#include "bench/race.h"
#include "bench/rank_bench.h"

/* Inputs of one shape. */
struct fold_host_pool {
  unsigned char *in, *out;
  size_t slots, stride, n_bytes;
};

enum { ALIGN = FOLD_BENCH_ALIGN, MOST_SLOTS = 1 << 16, READS = 2 };
enum { READ_BYTES = 16 << 20 }; /* bytes that a read for the ceiling takes: more than the caches of one core hold */
static const size_t least_pool = (size_t)256 << 20, most_pool = (size_t)1 << 30;

/* How much memory is free now. */
static size_t free_bytes(void) {
  long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

/* The size of the pool: no more than a quarter of the free memory. */
static size_t pool_bytes(void) {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  size_t twice = cache > 0 ? 2 * (size_t)cache : 0, quarter = free_bytes() / 4;
  size_t wanted = twice < least_pool ? least_pool : twice > most_pool ? most_pool : twice;
  return wanted < quarter ? wanted : quarter;
}

static void close_pool(struct fold_host_pool *pool) {
  if (pool->in) munmap(pool->in, pool->n_bytes);
  free(pool->out);
}

/* The first input is generated and the others are copies of it, because times do not depend on the values. */
static fold_status open_pool(struct fold_host_pool *pool, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape) {
  *pool = (struct fold_host_pool){.stride = fold_bench_slot_bytes(shape)};
  pool->slots = pool_bytes() / pool->stride + 1;
  if (pool->slots > MOST_SLOTS) pool->slots = MOST_SLOTS;
  pool->n_bytes = pool->slots * pool->stride;
  pool->out = malloc(fold_bench_out_bytes(shape));
  void *memory = MAP_FAILED;
  /* Memory is provided when a page is first written; if there is none then, this process would be killed. */
  if (pool->n_bytes < free_bytes() && pool->out)
    memory = mmap(NULL, pool->n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    close_pool(pool);
    return fold_no_memory("for %zu bytes of inputs", pool->n_bytes);
  }
  pool->in = memory;
  for (unsigned i = 0; i < shape->problem->inputs; i++) {
    struct fold_source source = fold_bench_source(options, shape, i);
    const size_t n = fold_elements(shape->problem, &shape->shape, i);
    fold_generate_parallel(&source, 0, n, pool->in + fold_bench_input_at(shape, i), 0);
  }
  for (size_t k = 1; k < pool->slots; k++) memcpy(pool->in + k * pool->stride, pool->in, pool->stride);
  return fold_ok();
}

/* A contender: a subject, or a plain read by one thread or by all. */
struct contender {
  struct fold_timing *timing; /* NULL: it is a plain read */
  unsigned threads;
  void *scratch;
  double *seconds;
  bool runs;
};

struct race {
  const struct fold_bench_options *options;
  const struct fold_bench_shape *shape;
  struct fold_host_pool pool;
  struct contender *contenders;
  size_t n;
  const volatile int *stop;
};

typedef uint64_t wide __attribute__((vector_size(32), aligned(32)));

static void read_part(const wide *at, size_t n) {
  enum { CHAINS = 8 };
  wide any[CHAINS] = {0};
  for (size_t i = 0; i < n; i += CHAINS)
    for (int k = 0; k < CHAINS; k++) any[k] |= at[i + (size_t)k];
  for (int k = 0; k < CHAINS; k++) __asm__ volatile("" : : "m"(any[k]));
}

/* Where a plain read begins: half a pool away from the next slot, so that the next contender does not find its input in
 * a cache. */
static size_t read_bytes(const struct fold_host_pool *pool) {
  return pool->n_bytes < READ_BYTES ? pool->n_bytes : READ_BYTES;
}
static void read_pool(const struct fold_host_pool *pool, size_t slot, unsigned threads) {
  size_t lines = read_bytes(pool) / ALIGN, room = (pool->n_bytes - read_bytes(pool)) / ALIGN + 1;
  const unsigned char *from = pool->in + (slot * pool->stride + pool->n_bytes / 2) / ALIGN % room * ALIGN;
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (unsigned t = 0; t < threads; t++) {
    size_t first = lines * t / threads, last = lines * (t + 1) / threads;
    read_part((const wide *)(from + first * ALIGN), (last - first) * ALIGN / sizeof(wide));
  }
}

static fold_status run_once(struct race *r, struct contender *c, size_t slot, double *seconds) {
  const unsigned char *in = r->pool.in + slot % r->pool.slots * r->pool.stride;
  struct fold_call call = fold_bench_call(r->shape, in, r->pool.out);
  call.scratch = c->scratch;
  call.launch.threads = c->threads;
  fold_status status = fold_ok();
  double start = fold_now();
  if (c->timing)
    status = c->timing->subject->run(c->timing->subject, &call);
  else
    read_pool(&r->pool, slot, c->threads);
  *seconds = fold_now() - start;
  return status;
}

static fold_status start_subject(const struct race *r, struct contender *c) {
  const struct fold_subject *subject = c->timing->subject;
  struct fold_call call = fold_bench_call(r->shape, r->pool.in, r->pool.out);
  call.launch.threads = c->threads;
  size_t need = subject->scratch ? subject->scratch(subject, &call) : 0;
  if (need == 0) return fold_ok();
  c->scratch = calloc(1, need < FOLD_SCRATCH_ZEROED ? FOLD_SCRATCH_ZEROED : need);
  return c->scratch ? fold_ok() : fold_no_memory("for %s", subject->name);
}

/* A contender that can't run here is left out with a note. */
static void start(struct race *r, struct contender *c) {
  struct fold_timing *t = c->timing;
  double seconds;
  c->seconds = calloc(r->options->iterations, sizeof *c->seconds);
  fold_status status = c->seconds ? fold_ok() : fold_no_memory("for its times");
  if (t && status.code == FOLD_OK) status = start_subject(r, c);
  c->runs = status.code == FOLD_OK && (!t || fold_judged_may_run(&t->judged));
  if (c->runs) status = run_once(r, c, 1, &seconds); /* the first run is not timed */
  if (status.code == FOLD_OK) return;
  c->runs = false;
  if (t) snprintf(t->judged.note, sizeof t->judged.note, "%.*s", (int)sizeof t->judged.note - 1, status.text);
}

/* Runs all contenders in turn, round after round, each on the next input; returns the number of complete rounds. */
static unsigned run_rounds(struct race *r, fold_status *status) {
  size_t slot = 0;
  for (unsigned i = 0; i < r->options->iterations; i++)
    for (size_t k = 0; k < r->n; k++) {
      if (!r->contenders[k].runs) continue;
      if (status->code == FOLD_OK) *status = run_once(r, &r->contenders[k], ++slot, &r->contenders[k].seconds[i]);
      if (status->code != FOLD_OK || *r->stop) return i;
    }
  return r->options->iterations;
}

static fold_status conclude(struct race *r, unsigned rounds) {
  double best = INFINITY;
  struct fold_ceiling cache;
  FOLD_TRY(fold_rank_ceiling(FOLD_HOST, NULL, &cache));
  for (size_t k = 0; k < r->n; k++) {
    struct contender *c = &r->contenders[k];
    if (!c->runs) continue;
    fold_list_rise(c->seconds, rounds);
    if (!c->timing) best = fmin(best, c->seconds[0]);
  }
  double fastest = (double)read_bytes(&r->pool) / best;
  struct fold_ceiling ceiling = {.rate = fastest, .most = fastest};
  for (size_t k = 0; k < r->n; k++) {
    struct contender *c = &r->contenders[k];
    if (!c->timing) continue;
    c->timing->ceiling = ceiling.rate;
    if (!c->runs) continue;
    fold_bench_figures(c->timing, c->seconds, rounds, &ceiling);
    c->timing->implausible = !fold_ceiling_allows(&cache, c->timing->bytes / c->threads, c->timing->p90);
  }
  return fold_ok();
}

fold_status fold_bench_host_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                 const struct fold_ceiling *none, struct fold_timing *timing, size_t n,
                                 const volatile int *stop) {
  (void)none;
  struct race r = {.options = options, .shape = shape, .n = n + READS, .stop = stop};
  FOLD_TRY(open_pool(&r.pool, options, shape));
  r.contenders = calloc(r.n, sizeof *r.contenders);
  fold_status status = r.contenders ? fold_ok() : fold_no_memory("for %zu subjects", n);
  for (size_t k = 0; k < r.n && status.code == FOLD_OK && !*stop; k++) {
    struct contender *c = &r.contenders[k];
    c->timing = k < n ? &timing[k] : NULL;
    c->threads = k == n ? 1 : options->threads;
    start(&r, c);
  }
  unsigned rounds = status.code == FOLD_OK && !*stop ? run_rounds(&r, &status) : 0;
  /* If a signal ended the rounds early, there are no figures. */
  if (status.code == FOLD_OK && rounds == options->iterations) status = conclude(&r, rounds);
  for (size_t k = 0; k < r.n && r.contenders; k++) {
    free(r.contenders[k].seconds);
    free(r.contenders[k].scratch);
  }
  free(r.contenders);
  close_pool(&r.pool);
  return status;
}
