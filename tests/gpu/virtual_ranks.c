/* virtual_ranks.c: the calls of a world's ranks: where their results lie, in which sequence they are made, and whether they are right. */
#include <stdio.h>
#include <string.h>

#include "judge/judge.h"
#include "kernels/cuda/device.h"
#include "virtual_world.h"

enum { GUARD = 64, MOST_LINES = 10 };

static void describe(const struct virtual_job *job, char text[120]) {
  static const char *const orders[] = {"aligned", "off by an element", "off by 8 bytes"};
  if (job->kind == VIRTUAL_TREE)
    snprintf(text, 120, "tree, %s %s of %zu, %u blocks, in %s, out off by %zu%s", fold_dtype_name(job->dtype),
             fold_op_name(job->op), job->n, job->blocks, orders[job->in_shift], job->out_shift,
             job->in_place ? ", in place" : "");
  else
    snprintf(text, 120, "%s of %zu, in %s, out off by %zu%s", job->kind == VIRTUAL_WORDS ? "sum of words" : "gather",
             job->n, orders[job->in_shift], job->out_shift, job->in_place ? ", in place" : "");
}

static void tell_call(struct virtual_world *w, const char *name, const char *what, const struct virtual_job *job,
                      size_t k, int rank) {
  char call[120], doing[300];
  describe(job, call);
  snprintf(doing, sizeof doing, "%s: %s call %zu on rank %d of %d: %s", name, what, k, rank, w->ranks, call);
  virtual_tell(w, doing);
}

/* Parts of a gather: none of rank 1, and of other lengths than the longest, rank 0's. */
static void parts_of(const struct virtual_world *w, const struct virtual_job *job, size_t at[]) {
  at[0] = 0;
  for (int r = 0; r < w->ranks; r++)
    at[r + 1] = at[r] + (r == 0 ? job->n : r == 1 ? 0 : job->n - job->n * (size_t)r / 19);
}

static size_t result_bytes(const struct virtual_world *w, const struct virtual_job *job) {
  size_t at[MOST + 1];
  if (job->kind == VIRTUAL_TREE) return job->n * fold_dtype_size(job->dtype);
  if (job->kind == VIRTUAL_WORDS) return job->n * 8;
  parts_of(w, job, at);
  return at[w->ranks];
}

static size_t out_shift_bytes(const struct virtual_job *job) {
  return job->out_shift * (job->kind == VIRTUAL_TREE    ? fold_dtype_size(job->dtype)
                           : job->kind == VIRTUAL_WORDS ? 8
                                                        : 1);
}

static fold_status place(struct virtual_world *w, struct virtual_job jobs[], size_t n, size_t *used) {
  *used = 0;
  for (size_t k = 0; k < n; k++) {
    jobs[k].out_at = *used + ALIGNMENT + out_shift_bytes(&jobs[k]);
    *used = padded(jobs[k].out_at + result_bytes(w, &jobs[k]) + GUARD);
  }
  return *used <= w->arena_bytes ? fold_ok() : fold_error(FOLD_BAD_INPUT, "the calls' results need %zu bytes", *used);
}

static const unsigned char *input_of(const struct virtual_world *w, const struct virtual_job *job, int rank) {
  return job->in_place ? w->d_arena[rank] + job->out_at : virtual_in_of(w, rank, virtual_type_of(job), job->in_shift);
}

/* Poison everywhere; where a call works in place, its input. */
static fold_status prepare(struct virtual_world *w, const struct virtual_job jobs[], size_t n, size_t used) {
  for (int r = 0; r < w->ranks; r++) {
    FOLD_TRY(fold_device_set(w->d_arena[r], POISON, used, NULL));
    for (size_t k = 0; k < n; k++)
      if (jobs[k].in_place)
        FOLD_TRY(fold_device_copy(w->d_arena[r] + jobs[k].out_at, virtual_in_of(w, r, virtual_type_of(&jobs[k]), 0),
                                  result_bytes(w, &jobs[k])));
  }
  return fold_device_synchronize();
}

static fold_status launch(struct virtual_world *w, const struct virtual_job *job, int rank) {
  size_t at[MOST + 1];
  const void *in = input_of(w, job, rank);
  unsigned char *out = w->d_arena[rank] + job->out_at;
  struct fold_call call = {.dtype = job->dtype,
                           .problem = fold_rows_problem(job->op),
                           .rows = job->n,
                           .cols = 1,
                           .in = {in},
                           .out = out,
                           .launch = {.blocks = job->blocks},
                           .stream = w->stream[rank]};
  if (job->kind == VIRTUAL_TREE) return fold_reach_tree(w->reach[rank], &call);
  if (job->kind == VIRTUAL_WORDS)
    return fold_reach_add_words(w->reach[rank], in, (int64_t *)(void *)out, job->n, w->stream[rank]);
  parts_of(w, job, at);
  return fold_reach_gather(w->reach[rank], in, out, at, w->stream[rank]);
}

/* One rank's call, and the event that ends it. */
static fold_status call_on(struct virtual_world *w, const char *name, enum virtual_order order,
                           const struct virtual_job jobs[], size_t k, int rank, void *event) {
  tell_call(w, name, "making", &jobs[k], k, rank);
  if (order == VIRTUAL_LATE && k % (size_t)w->ranks == (size_t)rank) FOLD_TRY(virtual_delay(30, w->stream[rank]));
  FOLD_TRY(launch(w, &jobs[k], rank));
  return event ? fold_device_event_record(event, w->stream[rank]) : fold_ok();
}

static fold_status call_all(struct virtual_world *w, const char *name, enum virtual_order order,
                            const struct virtual_job jobs[], size_t n, int absent, void *ended[][MOST]) {
  const bool by_rank = order == VIRTUAL_BY_RANK;
  const size_t ranks = (size_t)w->ranks;
  for (size_t i = 0; i < n * ranks; i++) {
    const size_t k = by_rank ? i % n : i / ranks;
    const int rank = by_rank ? w->ranks - 1 - (int)(i / n) : (int)(i % ranks);
    if (rank == absent && k + 1 == n) continue;
    FOLD_TRY(call_on(w, name, order, jobs, k, rank, ended[k][rank]));
  }
  return fold_ok();
}

/* Call by call, so that the first one that does not end is known. */
static fold_status wait_all(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                            int absent, void *ended[][MOST]) {
  for (size_t k = 0; k < n; k++)
    for (int r = 0; r < w->ranks; r++) {
      double seconds;
      if (r == absent && k + 1 == n) continue;
      tell_call(w, name, "waiting for", &jobs[k], k, r);
      FOLD_TRY(fold_device_event_elapsed(ended[k][r], ended[k][r], &seconds));
    }
  return fold_ok();
}

static fold_status record(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                          void *graph[]) {
  for (int r = 0; r < w->ranks; r++) {
    FOLD_TRY(fold_device_capture_begin(w->stream[r]));
    for (size_t k = 0; k < n; k++) FOLD_TRY(call_on(w, name, VIRTUAL_RECORDED, jobs, k, r, NULL));
    FOLD_TRY(fold_device_capture_end(w->stream[r], &graph[r]));
  }
  return fold_ok();
}

static fold_status replay(struct virtual_world *w, const char *name, const struct virtual_job jobs[], void *graph[],
                          int times) {
  for (int i = 0; i < times; i++)
    for (int r = 0; r < w->ranks; r++) FOLD_TRY(fold_device_graph_launch(graph[r], w->stream[r]));
  tell_call(w, name, "waiting for a graph that begins with", &jobs[0], 0, 0);
  for (int r = 0; r < w->ranks; r++) FOLD_TRY(fold_device_stream_synchronize(w->stream[r]));
  return fold_ok();
}

static fold_status run_events(struct virtual_world *w, const char *name, enum virtual_order order,
                              const struct virtual_job jobs[], size_t n, int absent) {
  static void *ended[VIRTUAL_MOST_JOBS][MOST];
  for (size_t k = 0; k < n; k++)
    for (int r = 0; r < w->ranks; r++)
      if (!ended[k][r]) FOLD_TRY(fold_device_event_create(&ended[k][r]));
  FOLD_TRY(call_all(w, name, order, jobs, n, absent, ended));
  return wait_all(w, name, jobs, n, absent, ended);
}

static void fault(struct virtual_world *w, const char *name, const struct virtual_job *job, size_t k, int rank,
                  const char *what, size_t at) {
  char call[120];
  describe(job, call);
#pragma omp critical
  if (w->faults++ < MOST_LINES)
    printf("wrong: %s: call %zu on rank %d of %d: %s: %s %zu\n", name, k, rank, w->ranks, call, what, at);
}

static const unsigned char *want_of(struct virtual_world *w, const struct virtual_job *job) {
  size_t at[MOST + 1];
  if (job->kind == VIRTUAL_TREE) return w->want[job->dtype][job->op];
  if (job->kind == VIRTUAL_WORDS) return w->sums;
  parts_of(w, job, at);
  for (int r = 0; r < w->ranks; r++)
    memcpy(w->joined + at[r], w->terms[FOLD_DTYPES] + (size_t)r * w->nbytes, at[r + 1] - at[r]);
  return w->joined;
}

/* NaN by class, all else by bits: each NaN is made the format's one, in `got` here, in what is wanted when it was made. */
static size_t first_wrong(const struct virtual_job *job, unsigned char *got, const unsigned char *want, size_t nbytes) {
  const size_t unit = job->kind == VIRTUAL_TREE ? fold_dtype_size(job->dtype) : 1, n = nbytes / unit;
  if (job->kind == VIRTUAL_TREE) fold_results_unify(job->dtype, got, n);
  if (memcmp(got, want, nbytes) == 0) return n;
  size_t i = 0;
  while (memcmp(got + i * unit, want + i * unit, unit) == 0) i++;
  return i;
}

static bool clean(const unsigned char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != POISON) return false;
  return true;
}

static void judge(struct virtual_world *w, const char *name, const struct virtual_job *job, size_t k, int rank,
                  const unsigned char *want) {
  const size_t nbytes = result_bytes(w, job);
  unsigned char *got = w->got[rank] + job->out_at;
  const size_t unit = job->kind == VIRTUAL_TREE ? fold_dtype_size(job->dtype) : 1;
  const size_t at = first_wrong(job, got, want, nbytes);
  if (at != nbytes / unit) fault(w, name, job, k, rank, "differs from the host's at", at);
  if (!clean(got - GUARD, GUARD)) fault(w, name, job, k, rank, "wrote in front of", 0);
  if (!clean(got + nbytes, GUARD)) fault(w, name, job, k, rank, "wrote past", nbytes / unit);
}

static fold_status judge_all(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                             size_t used) {
  virtual_tell(w, "");
  for (int r = 0; r < w->ranks; r++) FOLD_TRY(fold_device_get(w->got[r], w->d_arena[r], used));
  for (size_t k = 0; k < n; k++) {
    const unsigned char *want = want_of(w, &jobs[k]);
#pragma omp parallel for
    for (int r = 0; r < w->ranks; r++) judge(w, name, &jobs[k], k, r, want);
    w->ran += (size_t)w->ranks;
  }
  return fold_ok();
}

/* Once, then twice in a row; each time from poison. */
static fold_status run_graphs(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                              size_t used) {
  void *graph[MOST] = {NULL};
  fold_status status = record(w, name, jobs, n, graph);
  for (int times = 1; times <= 2 && status.code == FOLD_OK; times++) {
    virtual_tell(w, name);
    status = prepare(w, jobs, n, used);
    if (status.code == FOLD_OK) status = replay(w, name, jobs, graph, times);
    if (status.code == FOLD_OK) status = judge_all(w, name, jobs, n, used);
  }
  for (int r = 0; r < w->ranks; r++) {
    const fold_status ended = graph[r] ? fold_device_graph_destroy(graph[r]) : fold_ok();
    if (status.code == FOLD_OK) status = ended;
  }
  return status;
}

fold_status virtual_run(struct virtual_world *w, const char *name, enum virtual_order order, struct virtual_job jobs[],
                        size_t n, int absent) {
  size_t used = 0;
  if (n > VIRTUAL_MOST_JOBS) return fold_error(FOLD_BAD_INPUT, "%zu calls are too many", n);
  FOLD_TRY(place(w, jobs, n, &used));
  for (size_t k = 0; k < n; k++) {
    FOLD_TRY(virtual_make_terms(w, virtual_type_of(&jobs[k])));
    if (jobs[k].kind == VIRTUAL_TREE) FOLD_TRY(virtual_make_want(w, jobs[k].dtype, jobs[k].op));
  }
  if (order == VIRTUAL_RECORDED) return run_graphs(w, name, jobs, n, used);
  FOLD_TRY(prepare(w, jobs, n, used));
  virtual_tell(w, name);
  FOLD_TRY(run_events(w, name, order, jobs, n, absent));
  return judge_all(w, name, jobs, n, used);
}

fold_status virtual_run_huge(struct virtual_world *w, size_t n) {
  unsigned char *d_x[MOST] = {NULL};
  const struct virtual_job job = {.dtype = FOLD_F16, .op = FOLD_SUM, .n = n, .blocks = virtual_step_blocks(w)};
  fold_status status = fold_ok();
  for (int r = 0; r < w->ranks && status.code == FOLD_OK; r++) {
    status = fold_device_alloc((void **)&d_x[r], n * 2);
    if (status.code == FOLD_NO_MEMORY) status.code = FOLD_UNSUPPORTED;
    if (status.code == FOLD_OK) status = virtual_huge_fill((uint16_t *)(void *)d_x[r], n, r);
  }
  for (int r = 0; r < w->ranks && status.code == FOLD_OK; r++) {
    struct fold_call call = {.dtype = job.dtype,
                             .problem = fold_rows_problem(job.op),
                             .rows = n,
                             .cols = 1,
                             .in = {d_x[r]},
                             .out = d_x[r],
                             .launch = {.blocks = job.blocks},
                             .stream = w->stream[r]};
    tell_call(w, "huge", "making", &job, 0, r);
    status = fold_reach_tree(w->reach[r], &call);
  }
  for (int r = 0; r < w->ranks && status.code == FOLD_OK; r++) status = fold_device_stream_synchronize(w->stream[r]);
  virtual_tell(w, "");
  for (int r = 0; r < w->ranks && status.code == FOLD_OK; r++) {
    size_t wrong = 0;
    status = virtual_huge_compare((const uint16_t *)(const void *)d_x[r], n, w->ranks, &wrong);
    w->ran++;
    if (wrong) fault(w, "huge", &job, 0, r, "elements that differ:", wrong);
  }
  for (int r = 0; r < w->ranks; r++) (void)fold_device_free(d_x[r]);
  return status;
}

fold_status virtual_judge_inputs(struct virtual_world *w) {
  unsigned char *now = w->got[0];
  for (int r = 0; r < w->ranks; r++)
    for (int type = 0; type <= FOLD_DTYPES; type++)
      for (int shift = 0; w->terms[type] && shift < VIRTUAL_SHIFTS; shift++) {
        FOLD_TRY(fold_device_get(now, virtual_in_of(w, r, type, shift), w->nbytes));
        if (memcmp(now, w->terms[type] + (size_t)r * w->nbytes, w->nbytes) == 0) continue;
        if (w->faults++ < MOST_LINES)
          printf("wrong: rank %d's input of type %d, copy %d, has changed\n", r, type, shift);
      }
  return fold_ok();
}
