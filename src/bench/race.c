/* bench/race.c: the part of the bench that runs on a CUDA device: the reads for the ceiling, and subjects that take turns over inputs
 * which rotate past the L2. */
#include "bench/race.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "bench/pool.h"
#include "bench/rank_clock.h"
#include "kernels/cuda/bench.h"
#include "kernels/cuda/device.h"

fold_status fold_bench_race_ready(enum fold_engine engine) { return fold_engine_ready(engine); }

enum { WARM_UP = 3, SINK = 256, AHEAD = 40, READ_AHEAD = FOLD_POOL_BYTES / 2, BATCH = 48 };

/* Reads all runs of a clock and sorts their seconds, divided by the calls of a run. */
static fold_status read_clock(struct fold_rank_clock *clock, unsigned calls, double *seconds) {
  FOLD_TRY(fold_device_synchronize());
  for (unsigned i = 0; i < clock->n; i++) {
    FOLD_TRY(fold_rank_clock_read(clock, i, &seconds[i]));
    seconds[i] /= calls;
  }
  fold_list_rise(seconds, clock->n);
  return fold_ok();
}

/* Times all shapes in turn, again and again, because a GPU's clocks change while it reads. */
static fold_status time_reads(struct fold_rank_clock *clocks, int shapes, const void *d_in, size_t nbytes,
                              void *d_sink) {
  for (unsigned i = 0; i < clocks[0].n; i++)
    for (int s = 0; s < shapes; s++) {
      FOLD_TRY(fold_rank_clock_begin(&clocks[s], i));
      FOLD_TRY(fold_cuda_read(s, d_in, nbytes, d_sink, NULL));
      FOLD_TRY(fold_rank_clock_end(&clocks[s], i));
    }
  return fold_ok();
}

static fold_status read_shapes(struct fold_rank_clock *clocks, int shapes, size_t nbytes, double *seconds,
                               struct fold_ceiling *ceiling, const char **shape) {
  for (int s = 0; s < shapes; s++) {
    FOLD_TRY(read_clock(&clocks[s], 1, seconds));
    if (fold_ceiling_take(ceiling, (double)nbytes, seconds, clocks[s].n)) *shape = fold_cuda_read_shape(s);
  }
  return fold_ok();
}

static fold_status find_units(struct fold_units *units) {
  int device;
  struct fold_device_info info;
  FOLD_TRY(fold_device_current(&device));
  FOLD_TRY(fold_device_info(device, &info));
  *units = (struct fold_units){info.major, info.minor, info.sms, 1e3 * info.clock_khz};
  return fold_ok();
}

fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, struct fold_ceiling *ceiling, const char **shape) {
  void *d_in = NULL, *d_sink = NULL;
  int shapes = fold_cuda_read_shapes();
  struct fold_rank_clock *clocks = calloc((size_t)shapes, sizeof *clocks);
  double *seconds = calloc(iterations, sizeof *seconds);
  *ceiling = (struct fold_ceiling){.clock = FOLD_CEILING_EVENTS};
  FOLD_TRY(find_units(&ceiling->units));
  fold_status status = clocks && seconds ? fold_ok() : fold_no_memory("for clocks");
  if (status.code == FOLD_OK) status = fold_device_alloc(&d_in, nbytes);
  if (status.code == FOLD_OK) status = fold_device_alloc(&d_sink, SINK);
  if (status.code == FOLD_OK) status = fold_device_set(d_in, 0x3c, nbytes, NULL);
  for (int s = 0; s < shapes && status.code == FOLD_OK; s++)
    status = fold_rank_clock_open(&clocks[s], true, iterations);
  if (status.code == FOLD_OK) status = time_reads(clocks, shapes, d_in, nbytes, d_sink);
  if (status.code == FOLD_OK) status = read_shapes(clocks, shapes, nbytes, seconds, ceiling, shape);
  for (int s = 0; clocks && s < shapes; s++) fold_rank_clock_close(&clocks[s]);
  free(clocks);
  free(seconds);
  (void)fold_device_free(d_in);
  (void)fold_device_free(d_sink);
  return status;
}

struct contender {
  struct fold_timing *timing;
  struct fold_rank_clock clock;
  void *d_scratch;
  void *graph; /* of its calls; NULL: it is timed call by call */
  bool runs;
};

static fold_status run_once(const struct contender *contender, const struct fold_pool *pool, size_t slot,
                            void *stream) {
  const struct fold_bench_shape *shape = &contender->timing->shape;
  struct fold_call call = fold_bench_call(shape, pool->d_in + slot % pool->slots * pool->stride, pool->d_out);
  call.scratch = contender->d_scratch;
  call.stream = stream;
  return contender->timing->subject->run(contender->timing->subject, &call);
}

/* Records the contender's calls, on the inputs from `slot` on. Calls that can't be recorded into a graph are timed one
 * by one, with a note. */
static fold_status record_graph(struct contender *contender, const struct fold_pool *pool, size_t slot) {
  struct fold_timing *t = contender->timing;
  void *stream;
  FOLD_TRY(fold_device_stream_create(&stream));
  fold_status run = fold_ok(), status = fold_device_capture_begin(stream);
  if (status.code == FOLD_OK) {
    for (unsigned i = 0; i < pool->calls && run.code == FOLD_OK; i++) run = run_once(contender, pool, slot + i, stream);
    status = fold_device_capture_end(stream, &contender->graph);
  }
  fold_status closed = fold_device_stream_destroy(stream);
  if (run.code == FOLD_OK && status.code == FOLD_OK) {
    t->calls = pool->calls;
    return closed;
  }
  (void)fold_device_graph_destroy(contender->graph);
  contender->graph = NULL;
  if (run.code == FOLD_OK) return status;
  if (run.code != FOLD_UNSUPPORTED) return run;
  if (!t->judged.note[0]) snprintf(t->judged.note, sizeof t->judged.note, "call by call: %.140s", run.text);
  return closed;
}

static fold_status open_contender(struct contender *contender, const struct fold_pool *pool, size_t slot,
                                  unsigned iterations) {
  const struct fold_bench_shape *shape = &contender->timing->shape;
  const struct fold_subject *subject = contender->timing->subject;
  struct fold_call call = fold_bench_call(shape, pool->d_in, pool->d_out);
  size_t need = subject->scratch ? subject->scratch(subject, &call) : 0;
  if (need > 0) {
    if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
    FOLD_TRY(fold_device_alloc(&contender->d_scratch, need));
    FOLD_TRY(fold_device_set(contender->d_scratch, 0, FOLD_SCRATCH_ZEROED, NULL));
  }
  for (unsigned i = 0; i < WARM_UP; i++) FOLD_TRY(run_once(contender, pool, slot + i, NULL));
  FOLD_TRY(fold_device_synchronize());
  if (pool->calls > 1) FOLD_TRY(record_graph(contender, pool, slot));
  return fold_rank_clock_open(&contender->clock, true, iterations);
}

static void close_contender(struct contender *contender) {
  fold_rank_clock_close(&contender->clock);
  (void)fold_device_graph_destroy(contender->graph);
  (void)fold_device_free(contender->d_scratch);
}

/* Enqueues work before the timed runs, so that the host is ahead of the GPU while it enqueues these: events then
 * enclose the GPU's own time, not the host's launches. The reads take some 2 ms; a batch is enqueued in less. */
static fold_status keep_busy(const struct fold_pool *pool) {
  FOLD_TRY(fold_device_synchronize());
  for (int i = 0; i < AHEAD; i++) FOLD_TRY(fold_cuda_read(0, pool->d_in, READ_AHEAD, pool->d_out, NULL));
  return fold_ok();
}

/* One timed run: the graph, or a call on the next input. A graph finds its inputs in memory, not in the L2. */
static fold_status time_run(struct contender *contender, const struct fold_pool *pool, unsigned i, size_t slot) {
  if (pool->calls > 1) FOLD_TRY(fold_cuda_displace(pool->d_other, FOLD_POOL_BYTES, pool->d_out, NULL));
  FOLD_TRY(fold_rank_clock_begin(&contender->clock, i));
  FOLD_TRY(contender->graph ? fold_device_graph_launch(contender->graph, NULL) : run_once(contender, pool, slot, NULL));
  return fold_rank_clock_end(&contender->clock, i);
}

/* Times all contenders in turn, again and again. */
static fold_status race(struct contender *contenders, size_t n, const struct fold_pool *pool, unsigned iterations,
                        const volatile int *stop) {
  size_t enqueued = 0;
  for (unsigned i = 0; i < iterations && !*stop; i++)
    for (size_t k = 0; k < n; k++) {
      if (!contenders[k].runs) continue;
      if (enqueued++ % BATCH == 0) FOLD_TRY(keep_busy(pool));
      FOLD_TRY(time_run(&contenders[k], pool, i, (size_t)i * n + k));
    }
  return fold_device_synchronize();
}

static fold_status conclude(struct contender *contender, double *seconds, const struct fold_ceiling *ceiling) {
  if (!contender->runs) return fold_ok();
  struct fold_ceiling of_a_call = *ceiling;
  of_a_call.clock /= contender->timing->calls;
  FOLD_TRY(read_clock(&contender->clock, contender->timing->calls, seconds));
  fold_bench_figures(contender->timing, seconds, contender->clock.n, &of_a_call);
  return fold_ok();
}

/* A subject that can't run here is left out with a note; only a broken device ends the bench. */
static void start(struct contender *contender, const struct fold_pool *pool, size_t slot, unsigned iterations) {
  struct fold_timing *t = contender->timing;
  contender->runs = fold_judged_may_run(&t->judged);
  if (!contender->runs) return;
  fold_status status = open_contender(contender, pool, slot, iterations);
  if (status.code == FOLD_OK) return;
  contender->runs = false;
  snprintf(t->judged.note, sizeof t->judged.note, "%.*s", (int)sizeof t->judged.note - 1, status.text);
}

fold_status fold_bench_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                            const struct fold_ceiling *ceiling, struct fold_timing *timing, size_t n,
                            const volatile int *stop) {
  struct fold_pool pool;
  struct contender *contenders = calloc(n + 1, sizeof *contenders);
  double *seconds = calloc(options->iterations, sizeof *seconds);
  const bool enough = contenders && seconds;
  fold_status status = enough ? fold_pool_open(&pool, options, shape, n) : fold_no_memory("for %zu subjects", n);
  if (status.code == FOLD_OK) {
    for (size_t k = 0; k < n; k++) {
      contenders[k].timing = &timing[k];
      start(&contenders[k], &pool, k * pool.calls, options->iterations);
    }
    status = race(contenders, n, &pool, options->iterations, stop);
    for (size_t k = 0; k < n && status.code == FOLD_OK && !*stop; k++)
      status = conclude(&contenders[k], seconds, ceiling);
    for (size_t k = 0; k < n; k++) close_contender(&contenders[k]);
    fold_pool_close(&pool);
  }
  free(contenders);
  free(seconds);
  return status;
}
