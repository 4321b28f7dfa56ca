/* virtual_world.c: see virtual_world.h. */
#include "virtual_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adversary.h"
#include "judge/judge.h"
#include "kernels/collective/parts.h"
#include "kernels/cuda/device.h"

/* Of a vector and its shift. */
static size_t stride_of(const struct virtual_world *w) { return padded(w->nbytes + 16); }

static size_t shift_bytes(enum virtual_kind kind, enum fold_dtype dtype, int shift) {
  const size_t size = kind == VIRTUAL_TREE ? fold_dtype_size(dtype) : kind == VIRTUAL_WORDS ? 8 : 1;
  return shift == 0 ? 0 : shift == 1 ? size : 8;
}
int virtual_type_of(const struct virtual_job *job) { return job->kind == VIRTUAL_TREE ? (int)job->dtype : FOLD_DTYPES; }

/* A shifted copy holds the same vector: off by 1, 2, 4 or 8 bytes. Each type's copies: 0, an element (words, bytes: one
 * byte; words are taken from the aligned ones alone), 8 bytes. */
static size_t copy_shift(int type, int shift) {
  return shift_bytes(type == FOLD_DTYPES ? VIRTUAL_GATHER : VIRTUAL_TREE, (enum fold_dtype)type, shift);
}
unsigned char *virtual_in_of(const struct virtual_world *w, int rank, int type, int shift) {
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

fold_status virtual_make_terms(struct virtual_world *w, int type) {
  if (w->terms[type]) return fold_ok();
  const size_t size = type == FOLD_DTYPES ? 8 : fold_dtype_size((enum fold_dtype)type), n = w->nbytes / size;
  w->terms[type] = malloc((size_t)w->ranks * w->nbytes);
  if (!w->terms[type]) return fold_error(FOLD_NO_MEMORY, "not enough memory for the terms");
#pragma omp parallel for collapse(2)
  for (int r = 0; r < w->ranks; r++)
    for (size_t i = 0; i < n; i++) {
      const uint64_t word = adversary_draw(i * 32 + (uint64_t)r);
      if (type == FOLD_DTYPES)
        memcpy(w->terms[type] + ((size_t)r * n + i) * 8, &word, 8);
      else
        fold_bits_store((enum fold_dtype)type, w->terms[type], (size_t)r * n + i, element((enum fold_dtype)type, i, r));
    }
  for (int r = 0; r < w->ranks; r++) {
    unsigned char *first = virtual_in_of(w, r, type, 0);
    FOLD_TRY(fold_device_put(first, w->terms[type] + (size_t)r * n * size, n * size));
    for (int shift = 1; shift < VIRTUAL_SHIFTS; shift++)
      FOLD_TRY(fold_device_copy(virtual_in_of(w, r, type, shift), first, n * size));
  }
  if (type == FOLD_DTYPES) make_sums(w);
  return fold_device_synchronize();
}

/* The host's word on all elements; a shorter vector's is its beginning. */
fold_status virtual_make_want(struct virtual_world *w, enum fold_dtype dtype, enum fold_op op) {
  if (w->want[dtype][op]) return fold_ok();
  struct fold_comm comm = {.ranks = w->ranks};
  struct fold_call call = {.dtype = dtype, .problem = fold_rows_problem(op), .comm = &comm, .launch = {.threads = 8}};
  w->want[dtype][op] = malloc(w->nbytes);
  if (!w->want[dtype][op]) return fold_error(FOLD_NO_MEMORY, "not enough memory for the host's word");
  const size_t n = w->nbytes / fold_dtype_size(dtype);
  FOLD_TRY(fold_parts_host.combine(&call, w->terms[dtype], n, w->want[dtype][op]));
  fold_results_unify(dtype, w->want[dtype][op], n);
  return fold_ok();
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
  for (int d = 0; d < FOLD_FLOATS; d++)
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
    if (*w->doing && fold_now() - w->moved > w->timeout) {
      printf("hung for %.0f s: %s\n", w->timeout, w->doing);
      fflush(stdout);
      _exit(1); /* the kernels never end: nothing else may wait for them */
    }
    pthread_mutex_unlock(&w->lock);
  }
}

fold_status virtual_watch(struct virtual_world *w, double seconds) {
  pthread_t thread;
  w->timeout = seconds;
  if (pthread_create(&thread, NULL, watch, w)) return fold_error(FOLD_ENVIRONMENT, "no thread for the watch");
  pthread_detach(thread);
  return fold_ok();
}

void virtual_tell(struct virtual_world *w, const char *doing) {
  pthread_mutex_lock(&w->lock);
  w->moved = fold_now();
  snprintf(w->doing, sizeof w->doing, "%s", doing);
  pthread_mutex_unlock(&w->lock);
}
