/* segment.c: the segment is a file in memory without a name, which the others open as its maker's descriptor in /proc: nothing
 * is left behind, however the ranks end, and /dev/shm may be as small as a container makes it.
 */
#include "kernels/collective/segment.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/collective/parts.h"

/* SEGMENT_BYTES is the whole segment, which is to stay in the caches that the cores share. CHUNK_BYTES is the most that
 * a rank has of a chunk, a multiple of the size of any element. */
enum { SEGMENT_BYTES = 8 << 20, CHUNK_BYTES = 256 << 10, GRAIN = 64 };

struct head {
  uint64_t token;
  _Alignas(64) _Atomic uint64_t arrived; /* how many arrivals there were, at all meetings so far */
  _Alignas(64) unsigned char chunks[];
};

struct fold_segment {
  struct head *head;
  size_t nbytes, chunk; /* bytes of the segment, and of a chunk of a vector */
  uint64_t meetings;
  int ranks, fd; /* the maker's descriptor, else -1 */
};

/* The length of a chunk: the segment holds two chunks of every rank's terms and two combined ones. */
static size_t chunk_of(int ranks) {
  size_t most = SEGMENT_BYTES / (2 * ((size_t)ranks + 1)) / GRAIN * GRAIN;
  return most < GRAIN ? GRAIN : most < CHUNK_BYTES ? most : CHUNK_BYTES;
}
static unsigned char *terms(const struct fold_segment *s, uint64_t place) {
  return s->head->chunks + place % 2 * (size_t)s->ranks * s->chunk;
}
static unsigned char *combined(const struct fold_segment *s, uint64_t place) {
  return s->head->chunks + (2 * (size_t)s->ranks + place % 2) * s->chunk;
}

static struct fold_segment *map(int ranks, int fd) {
  struct fold_segment *s = malloc(sizeof *s);
  if (!s) return NULL;
  *s = (struct fold_segment){.ranks = ranks, .chunk = chunk_of(ranks), .fd = -1};
  s->nbytes = sizeof *s->head + 2 * ((size_t)ranks + 1) * s->chunk;
  s->head = mmap(NULL, s->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (s->head != MAP_FAILED) return s;
  free(s);
  return NULL;
}

struct fold_segment *fold_segment_make(int ranks, struct fold_segment_card *card) {
  size_t nbytes = sizeof(struct head) + 2 * ((size_t)ranks + 1) * chunk_of(ranks);
  uint64_t token = 0;
  *card = (struct fold_segment_card){0};
  int fd = memfd_create("foldproof", MFD_CLOEXEC);
  if (fd < 0) return NULL;
  bool made = ftruncate(fd, (off_t)nbytes) == 0 && getrandom(&token, sizeof token, 0) == sizeof token;
  struct fold_segment *s = made ? map(ranks, fd) : NULL;
  if (!s) {
    close(fd);
    return NULL;
  }
  s->fd = fd;
  s->head->token = token;
  *card = (struct fold_segment_card){(uint64_t)getpid(), (uint64_t)fd, token, nbytes};
  return s;
}

/* Whether the file is the segment. In another container the same process number may be another process's, so a file
 * must have the right length and token. */
static bool is_it(int fd, const struct fold_segment_card *card) {
  struct stat file;
  uint64_t token = 0;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && (uint64_t)file.st_size == card->nbytes &&
         pread(fd, &token, sizeof token, 0) == sizeof token && token == card->token;
}

struct fold_segment *fold_segment_map(int ranks, const struct fold_segment_card *card) {
  char path[64];
  if (card->nbytes == 0) return NULL;
  snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)card->pid, (unsigned long long)card->fd);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  struct fold_segment *s = is_it(fd, card) ? map(ranks, fd) : NULL;
  close(fd);
  return s;
}

void fold_segment_seal(struct fold_segment *s) {
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
}

void fold_segment_close(struct fold_segment *s) {
  if (!s) return;
  fold_segment_seal(s);
  munmap(s->head, s->nbytes);
  free(s);
}

/* How often a rank reads the counter before it gives its core to another. 8 to 512 take equally long if each rank has a
 * core; four ranks on two cores take twice as long with 512. */
enum { LOOKS = 16 };

static bool have_arrived(struct head *head, uint64_t want) {
  for (int i = 0; i < LOOKS; i++) {
    if (atomic_load_explicit(&head->arrived, memory_order_acquire) >= want) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

/* Returns once all ranks are here. A rank may still be in an earlier call of MPI that waits for messages which this
 * rank must move. */
static void meet(struct fold_segment *s, void (*progress)(void)) {
  uint64_t want = ++s->meetings * (uint64_t)s->ranks;
  atomic_fetch_add_explicit(&s->head->arrived, 1, memory_order_acq_rel);
  while (!have_arrived(s->head, want)) {
    if (progress) progress();
    sched_yield();
  }
}

/* Chunk k of a call's vector: where it begins, how many elements it has, and which of the two places it uses. */
struct chunk {
  size_t at, n;
  uint64_t place;
};

static struct chunk chunk_at(const struct fold_segment *s, const struct fold_call *call, uint64_t first, size_t k) {
  size_t most = s->chunk / fold_dtype_size(call->dtype), at = k * most, left = call->rows - at;
  return (struct chunk){at, left < most ? left : most, first + k};
}

static size_t slice(const struct fold_segment *s, const struct chunk *c, int rank) {
  return fold_comm_cut(c->n, GRAIN, s->ranks, rank);
}

/* Copies terms in, slice by slice, and within a slice rank by rank, as fold_parts' combine expects them. */
static void copy_in(const struct fold_segment *s, const struct fold_call *call, struct chunk c) {
  size_t size = fold_dtype_size(call->dtype);
  const unsigned char *from = (const unsigned char *)call->in[0] + c.at * size;
  for (int r = 0; r < s->ranks; r++) {
    size_t first = slice(s, &c, r), own = slice(s, &c, r + 1) - first;
    size_t to = first * (size_t)s->ranks + own * (size_t)call->comm->rank;
    memcpy(terms(s, c.place) + to * size, from + first * size, own * size);
  }
}

static fold_status combine(const struct fold_segment *s, const struct fold_call *call, struct chunk c) {
  size_t size = fold_dtype_size(call->dtype), first = slice(s, &c, call->comm->rank);
  return call->comm->parts->combine(call, terms(s, c.place) + first * (size_t)s->ranks * size,
                                    slice(s, &c, call->comm->rank + 1) - first, combined(s, c.place) + first * size);
}

static void copy_out(const struct fold_segment *s, const struct fold_call *call, struct chunk c) {
  size_t size = fold_dtype_size(call->dtype);
  memcpy((unsigned char *)call->out + c.at * size, combined(s, c.place), c.n * size);
}

/* If the other ranks' vectors together have at most so many bytes, combining all of them takes less time than a second
 * meeting; the figure is that of canonical.c. */
enum { SHORT_BYTES = 65536 };

/* One meeting: every rank combines the terms of all ranks. */
static fold_status by_vectors(struct fold_segment *s, const struct fold_call *call, void (*progress)(void)) {
  size_t nbytes = call->rows * fold_dtype_size(call->dtype);
  unsigned char *all = terms(s, s->meetings);
  memcpy(all + (size_t)call->comm->rank * nbytes, call->in[0], nbytes);
  meet(s, progress);
  return call->comm->parts->combine(call, all, call->rows, call->out);
}

/* Step k copies chunk k in, combines chunk k - 1 and copies chunk k - 2 out, so that one meeting in each step is
 * enough. */
static fold_status by_slices(struct fold_segment *s, const struct fold_call *call, void (*progress)(void)) {
  size_t most = s->chunk / fold_dtype_size(call->dtype), chunks = (call->rows - 1) / most + 1;
  uint64_t first = s->meetings;
  fold_status status = fold_ok();
  for (size_t k = 0; k < chunks + 2; k++) {
    if (k >= 2) copy_out(s, call, chunk_at(s, call, first, k - 2));
    if (k >= 1 && k <= chunks) {
      fold_status own = combine(s, call, chunk_at(s, call, first, k - 1));
      if (status.code == FOLD_OK) status = own;
    }
    if (k < chunks) copy_in(s, call, chunk_at(s, call, first, k));
    if (k <= chunks) meet(s, progress);
  }
  return status;
}

/* There are two places. Between meetings t and t + 1, terms are written to place t and read from place t - 1; combined
 * ones are written to place t - 1 and read from place t - 2. Whatever is overwritten was last read before meeting t, in
 * this call or in the one before. */
fold_status fold_segment_tree(struct fold_segment *s, const struct fold_call *call, void (*progress)(void)) {
  size_t others = (size_t)s->ranks - 1;
  if (call->rows == 0) return fold_ok();
  if (call->rows * fold_dtype_size(call->dtype) <= SHORT_BYTES / others) return by_vectors(s, call, progress);
  return by_slices(s, call, progress);
}
