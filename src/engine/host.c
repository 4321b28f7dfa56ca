/* host.c: host memory, and the table of engines. */
#include "model/engine.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fold_status host_alloc(size_t nbytes, void **memory) {
  *memory = nbytes > SIZE_MAX - 256 ? NULL : aligned_alloc(256, (nbytes + 255) / 256 * 256); /* unseen: 257 */
  if (*memory == NULL) return fold_no_memory("for %zu bytes", nbytes);
  return fold_ok();
}

static fold_status host_copy(void *to, const void *from, size_t nbytes) {
  memcpy(to, from, nbytes);
  return fold_ok();
}

static fold_status host_gather(const struct fold_piece *pieces, size_t n) {
  for (size_t i = 0; i < n; i++) memcpy(pieces[i].to_host, pieces[i].from, pieces[i].nbytes);
  return fold_ok();
}

static fold_status host_fill(const struct fold_fill *fills, size_t n) {
  for (size_t i = 0; i < n; i++) memset(fills[i].at, fills[i].byte, fills[i].nbytes);
  return fold_ok();
}

static fold_status host_same(const void *a, const void *b, size_t nbytes, bool *same) {
  *same = memcmp(a, b, nbytes) == 0;
  return fold_ok();
}

/* All pages of the process, without the free memory that malloc holds; 0 where the system does not say. */
static size_t host_in_use(void) {
  size_t pages;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  const bool told = fscanf(file, "%zu", &pages) == 1;
  fclose(file);
  return told ? pages * (size_t)sysconf(_SC_PAGESIZE) - mallinfo2().fordblks : 0;
}

static fold_status host_finish(void) { return fold_ok(); }

const struct fold_engine_ops fold_engine_host = {
    .alloc = host_alloc,
    .release = free,
    .write = host_copy,
    .read = host_copy,
    .gather = host_gather,
    .fill = host_fill,
    .copy = host_copy,
    .same = host_same,
    .finish = host_finish,
    .in_use = host_in_use,
    .is_host = true,
};

/* The row of an engine of this process, and of one with ranks. */
#define ROW_0(name) &fold_engine_##name
#define ROW_1(name) NULL
static const struct fold_engine_ops *const engines[FOLD_ENGINES] = {
#define FOLD_ENGINE(TAG, name, title, MEMORY, ranks, LAUNCHES) ROW_##ranks(name),
#include "base/engine.def"
};

const struct fold_engine_ops *fold_engine_of(enum fold_engine engine) { return engines[engine]; }
