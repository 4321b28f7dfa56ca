/* virtual_ranks.c: see virtual_ranks.h. */
#include "virtual_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adversary.h"
#include "collective/parts.h"
#include "cuda/device.h"
#include "judge.h"

enum { MOST = FOLD_REACH_MOST, POISON = 0xa5, GUARD = 64, ALIGNMENT = 256, MOST_LINES = 10 };

struct virtual_world {
  int ranks;
  size_t nbytes, arena_bytes;
  unsigned step_blocks, line_blocks; /* of all ranks together */
  struct fold_reach *reach[MOST];
  void *stream[MOST];
  unsigned char *d_in[MOST];                  /* VIRTUAL_SHIFTS copies of each type's vector, and of the words */
  unsigned char *d_arena[MOST], *got[MOST];   /* results */
  unsigned char *terms[FOLD_DTYPES + 1];      /* each rank's vector, rank by rank; the last: words and bytes */
  unsigned char *want[FOLD_DTYPES][FOLD_OPS]; /* made when first asked for */
  unsigned char *sums, *joined;               /* of words; of a gather */
  size_t ran, faults;
  /* What the watch tells of. */
  pthread_mutex_t lock;
  double moved, patience;
  char doing[300];
};

static size_t padded(size_t nbytes) { return (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
/* Of a vector and its shift. */
static size_t stride_of(const struct virtual_world *w) { return padded(w->nbytes + 16); }

static size_t shift_bytes(enum virtual_kind kind, enum fold_dtype dtype, int shift) {
  const size_t size = kind == VIRTUAL_TREE ? fold_dtype_size(dtype) : kind == VIRTUAL_WORDS ? 8 : 1;
  return shift == 0 ? 0 : shift == 1 ? size : 8;
}
static int type_of(const struct virtual_job *job) { return job->kind == VIRTUAL_TREE ? (int)job->dtype : FOLD_DTYPES; }

/* A shifted copy holds the same vector: off by 1, 2, 4 or 8 bytes. Each type's copies: 0, an element (words, bytes: one
 * byte; words are taken from the aligned ones alone), 8 bytes. */
static size_t copy_shift(int type, int shift) {
  return shift_bytes(type == FOLD_DTYPES ? VIRTUAL_GATHER : VIRTUAL_TREE, (enum fold_dtype)type, shift);
}
static unsigned char *in_of(const struct virtual_world *w, int rank, int type, int shift) {
  return w->d_in[rank] + stride_of(w) * (size_t)(type * VIRTUAL_SHIFTS + shift) + copy_shift(type, shift);
}

/* Element i of rank r. By the index: zeros of both signs; NaN of several payloads, infinities and extremes; subnormals;
 * numbers that overflow in one order and not in another; else magnitudes so far apart that an order shows. */
static uint64_t element(enum fold_dtype dtype, size_t i, int rank) {
  const struct fold_format f = fold_format_of(dtype);
  const long top = (long)(f.exponent >> (f.precision - 1));
  const uint64_t kind = adversary_draw(i * 3 + 1) % 32, r = adversary_draw(i * 16 + (uint64_t)rank);
  const uint64_t specials[] = {f.exponent,     f.exponent | f.sign, f.exponent | 1, f.exponent | f.fraction | f.sign,
                               f.exponent - 1, 1 | f.sign,          f.sign,         f.exponent | (f.fraction + 1) >> 1};
  if (kind == 0) return i % 3 == 0 || r & 1 ? f.sign : 0;
  if (kind == 1) return r % 11 < 3 ? specials[(r >> 8) % 8] : adversary_number(dtype, top / 2, r);
  if (kind == 2) return adversary_number(dtype, 0, r);
  if (kind == 3) return adversary_number(dtype, top - 1 - (long)(r % 2), r);
  return adversary_number(dtype, top / 2 - 6 + (long)(r % 13), r);
}

static fold_status make_terms(struct virtual_world *w, int type) {
  const size_t size = type == FOLD_DTYPES ? 8 : fold_dtype_size((enum fold_dtype)type), n = w->nbytes / size;
  w->terms[type] = malloc((size_t)w->ranks * w->nbytes);
  if (!w->terms[type]) return fold_error(FOLD_NO_MEMORY, "not enough memory for the terms");
#pragma omp parallel for
  for (int r = 0; r < w->ranks; r++)
    for (size_t i = 0; i < n; i++) {
      const uint64_t word = adversary_draw(i * 32 + (uint64_t)r);
      if (type == FOLD_DTYPES)
        memcpy(w->terms[type] + ((size_t)r * n + i) * 8, &word, 8);
      else
        fold_bits_store((enum fold_dtype)type, w->terms[type], (size_t)r * n + i, element((enum fold_dtype)type, i, r));
    }
  for (int r = 0; r < w->ranks; r++)
    for (int shift = 0; shift < VIRTUAL_SHIFTS; shift++)
      FOLD_TRY(fold_device_put(in_of(w, r, type, shift), w->terms[type] + (size_t)r * n * size, n * size));
  return fold_ok();
}

/* The host's word on all elements; a shorter vector's is its beginning. */
static fold_status make_want(struct virtual_world *w, enum fold_dtype dtype, enum fold_op op) {
  if (w->want[dtype][op]) return fold_ok();
  struct fold_comm comm = {.ranks = w->ranks};
  struct fold_call call = {.dtype = dtype, .op = op, .comm = &comm, .launch = {.threads = 8}};
  w->want[dtype][op] = malloc(w->nbytes);
  if (!w->want[dtype][op]) return fold_error(FOLD_NO_MEMORY, "not enough memory for the host's word");
  const size_t n = w->nbytes / fold_dtype_size(dtype);
  FOLD_TRY(fold_parts_host.combine(&call, w->terms[dtype], n, w->want[dtype][op]));
  fold_results_unify(dtype, w->want[dtype][op], n);
  return fold_ok();
}

static void make_sums(struct virtual_world *w) {
  const size_t n = w->nbytes / 8;
  for (size_t i = 0; i < n; i++) {
    uint64_t sum = 0, word;
    for (int r = 0; r < w->ranks; r++) {
      memcpy(&word, w->terms[FOLD_DTYPES] + ((size_t)r * n + i) * 8, 8);
      sum += word;
    }
    memcpy(w->sums + i * 8, &sum, 8);
  }
}

static fold_status open_rooms(struct virtual_world *w) {
  struct fold_reach_card cards[MOST], own[MOST];
  for (int r = 0; r < w->ranks; r++) {
    FOLD_TRY(fold_reach_introduce(&own[r]));
    own[r].shares_gpu = 1;
  }
  memcpy(cards, own, sizeof cards);
  for (int r = 0; r < w->ranks; r++) FOLD_TRY(fold_reach_open(&w->reach[r], r, w->ranks, cards, &own[r]));
  memcpy(cards, own, sizeof cards);
  for (int r = 0; r < w->ranks; r++) {
    if (!w->reach[r]) return fold_error(FOLD_ENVIRONMENT, "the ranks of one GPU do not reach each other");
    FOLD_TRY(fold_reach_meet(w->reach[r], cards, &own[r]));
    if (!own[r].willing) return fold_error(FOLD_ENVIRONMENT, "rank %d has no room", r);
  }
  return fold_ok();
}

static fold_status open_memory(struct virtual_world *w) {
  w->arena_bytes = 48 * stride_of(w);
  w->sums = malloc(w->nbytes);
  w->joined = malloc((size_t)w->ranks * w->nbytes);
  if (!w->sums || !w->joined) return fold_error(FOLD_NO_MEMORY, "not enough memory for a world");
  for (int r = 0; r < w->ranks; r++) {
    FOLD_TRY(fold_device_stream_create(&w->stream[r]));
    FOLD_TRY(fold_device_alloc((void **)&w->d_in[r], stride_of(w) * (FOLD_DTYPES + 1) * VIRTUAL_SHIFTS));
    FOLD_TRY(fold_device_set(w->d_in[r], POISON, stride_of(w) * (FOLD_DTYPES + 1) * VIRTUAL_SHIFTS, NULL));
    FOLD_TRY(fold_device_alloc((void **)&w->d_arena[r], w->arena_bytes));
    w->got[r] = malloc(w->arena_bytes);
    if (!w->got[r]) return fold_error(FOLD_NO_MEMORY, "not enough memory for the results");
  }
  for (int type = 0; type <= FOLD_DTYPES; type++) FOLD_TRY(make_terms(w, type));
  make_sums(w);
  return fold_ok();
}

fold_status virtual_open(struct virtual_world **out, int ranks, size_t nbytes) {
  struct virtual_world *w = calloc(1, sizeof *w);
  *out = w;
  if (!w) return fold_error(FOLD_NO_MEMORY, "not enough memory for a world");
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  w->ranks = ranks;
  w->nbytes = (nbytes + 7) / 8 * 8;
  pthread_mutex_init(&w->lock, NULL);
  FOLD_TRY(fold_device_select(0));
  FOLD_TRY(virtual_room_for(&w->step_blocks, &w->line_blocks));
  FOLD_TRY(open_rooms(w));
  return open_memory(w);
}

void virtual_close(struct virtual_world *w) {
  if (!w) return;
  for (int r = 0; r < w->ranks; r++) {
    fold_reach_close(w->reach[r]);
    (void)fold_device_stream_destroy(w->stream[r]);
    (void)fold_device_free(w->d_in[r]);
    (void)fold_device_free(w->d_arena[r]);
    free(w->got[r]);
  }
  for (int type = 0; type <= FOLD_DTYPES; type++) free(w->terms[type]);
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS; o++) free(w->want[d][o]);
  free(w->sums);
  free(w->joined);
}

unsigned virtual_step_blocks(const struct virtual_world *w) {
  const unsigned each = w->step_blocks / (unsigned)w->ranks;
  return each < 128 ? each : 128;
}
size_t virtual_line_bytes(const struct virtual_world *w) {
  const size_t each = (size_t)(w->line_blocks / (unsigned)w->ranks) * 256 * 8;
  return each < FOLD_REACH_SMALL ? each : FOLD_REACH_SMALL;
}
size_t virtual_most_bytes(const struct virtual_world *w) { return w->nbytes; }
size_t virtual_ran(const struct virtual_world *w) { return w->ran; }
size_t virtual_faults(const struct virtual_world *w) { return w->faults; }

fold_status virtual_count_from(struct virtual_world *w, uint32_t calls, uint64_t steps) {
  for (int r = 0; r < w->ranks; r++) FOLD_TRY(virtual_room_count_from(w->reach[r], calls, steps));
  return fold_ok();
}

static void *watch(void *of) {
  struct virtual_world *w = of;
  for (;;) {
    usleep(50000);
    pthread_mutex_lock(&w->lock);
    if (*w->doing && fold_now() - w->moved > w->patience) {
      printf("hung for %.0f s: %s\n", w->patience, w->doing);
      fflush(stdout);
      _exit(1); /* the kernels never end: nothing else may wait for them */
    }
    pthread_mutex_unlock(&w->lock);
  }
}

fold_status virtual_watch(struct virtual_world *w, double seconds) {
  pthread_t thread;
  w->patience = seconds;
  if (pthread_create(&thread, NULL, watch, w)) return fold_error(FOLD_ENVIRONMENT, "no thread for the watch");
  pthread_detach(thread);
  return fold_ok();
}

static void tell(struct virtual_world *w, const char *doing) {
  pthread_mutex_lock(&w->lock);
  w->moved = fold_now();
  snprintf(w->doing, sizeof w->doing, "%s", doing);
  pthread_mutex_unlock(&w->lock);
}

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
  tell(w, doing);
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
  return job->in_place ? w->d_arena[rank] + job->out_at : in_of(w, rank, type_of(job), job->in_shift);
}

/* Poison everywhere; where a call works in place, its input. */
static fold_status prepare(struct virtual_world *w, const struct virtual_job jobs[], size_t n, size_t used) {
  for (int r = 0; r < w->ranks; r++) {
    FOLD_TRY(fold_device_set(w->d_arena[r], POISON, used, NULL));
    for (size_t k = 0; k < n; k++)
      if (jobs[k].in_place)
        FOLD_TRY(fold_device_copy(w->d_arena[r] + jobs[k].out_at, in_of(w, r, type_of(&jobs[k]), 0),
                                  result_bytes(w, &jobs[k])));
  }
  return fold_device_synchronize();
}

static fold_status launch(struct virtual_world *w, const struct virtual_job *job, int rank) {
  size_t at[MOST + 1];
  const void *in = input_of(w, job, rank);
  unsigned char *out = w->d_arena[rank] + job->out_at;
  struct fold_call call = {.dtype = job->dtype,
                           .op = job->op,
                           .rows = job->n,
                           .cols = 1,
                           .in = in,
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

static void judge(struct virtual_world *w, const char *name, const struct virtual_job *job, size_t k, int rank) {
  const size_t nbytes = result_bytes(w, job);
  unsigned char *got = w->got[rank] + job->out_at;
  const size_t unit = job->kind == VIRTUAL_TREE ? fold_dtype_size(job->dtype) : 1;
  const size_t at = first_wrong(job, got, want_of(w, job), nbytes);
  w->ran++;
  if (at != nbytes / unit) fault(w, name, job, k, rank, "differs from the host's at", at);
  if (!clean(got - GUARD, GUARD)) fault(w, name, job, k, rank, "wrote in front of", 0);
  if (!clean(got + nbytes, GUARD)) fault(w, name, job, k, rank, "wrote past", nbytes / unit);
}

static fold_status judge_all(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                             size_t used) {
  tell(w, "");
  for (int r = 0; r < w->ranks; r++) FOLD_TRY(fold_device_get(w->got[r], w->d_arena[r], used));
  for (size_t k = 0; k < n; k++)
    for (int r = 0; r < w->ranks; r++) judge(w, name, &jobs[k], k, r);
  return fold_ok();
}

/* Once, then twice in a row; each time from poison. */
static fold_status run_graphs(struct virtual_world *w, const char *name, const struct virtual_job jobs[], size_t n,
                              size_t used) {
  void *graph[MOST] = {NULL};
  fold_status status = record(w, name, jobs, n, graph);
  for (int times = 1; times <= 2 && status.code == FOLD_OK; times++) {
    tell(w, name);
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
  for (size_t k = 0; k < n; k++)
    if (jobs[k].kind == VIRTUAL_TREE) FOLD_TRY(make_want(w, jobs[k].dtype, jobs[k].op));
  if (order == VIRTUAL_RECORDED) return run_graphs(w, name, jobs, n, used);
  FOLD_TRY(prepare(w, jobs, n, used));
  tell(w, name);
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
                             .op = job.op,
                             .rows = n,
                             .cols = 1,
                             .in = d_x[r],
                             .out = d_x[r],
                             .launch = {.blocks = job.blocks},
                             .stream = w->stream[r]};
    tell_call(w, "huge", "making", &job, 0, r);
    status = fold_reach_tree(w->reach[r], &call);
  }
  for (int r = 0; r < w->ranks && status.code == FOLD_OK; r++) status = fold_device_stream_synchronize(w->stream[r]);
  tell(w, "");
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
      for (int shift = 0; shift < VIRTUAL_SHIFTS; shift++) {
        FOLD_TRY(fold_device_get(now, in_of(w, r, type, shift), w->nbytes));
        if (memcmp(now, w->terms[type] + (size_t)r * w->nbytes, w->nbytes) == 0) continue;
        if (w->faults++ < MOST_LINES)
          printf("wrong: rank %d's input of type %d, copy %d, has changed\n", r, type, shift);
      }
  return fold_ok();
}
