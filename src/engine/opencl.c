/* opencl.c: an OpenCL device's memory behind model/engine.h: coarse-grained SVM, so that addresses can be shifted and passed to kernels.
 *
 * All work is in one queue, in order. The host reaches this memory by the queue's copies alone, on a CPU too.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/opencl/opencl.h"
#include "model/engine.h"

enum { ALIGNMENT = 256, PIECE = 1 << 20 };

/* The allocation begins at `base`. `at` is aligned within it, because a device need only align to its widest vector. */
struct block {
  void *at, *base;
  struct block *next;
};
static struct {
  pthread_mutex_t lock;
  struct block *first;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *align(void *base) {
  const uintptr_t at = ((uintptr_t)base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return (unsigned char *)base + (at - (uintptr_t)base);
}

static fold_status allocate(size_t nbytes, void **memory) {
  const struct fold_opencl *cl;
  *memory = NULL;
  FOLD_TRY(fold_opencl(&cl));
  struct block *block = malloc(sizeof *block);
  void *base = block && nbytes <= SIZE_MAX - ALIGNMENT ? cl->clSVMAlloc(cl->context, 1, nbytes + ALIGNMENT, 0) : NULL;
  if (!base) {
    free(block);
    return fold_no_memory("for %zu bytes on the OpenCL device", nbytes);
  }
  pthread_mutex_lock(&blocks.lock);
  *block = (struct block){.at = align(base), .base = base, .next = blocks.first};
  blocks.first = block;
  pthread_mutex_unlock(&blocks.lock);
  *memory = block->at;
  return fold_ok();
}

static struct block *take(void *memory) {
  pthread_mutex_lock(&blocks.lock);
  struct block **link = &blocks.first, *block;
  while (*link && (*link)->at != memory) link = &(*link)->next;
  block = *link;
  if (block) *link = block->next;
  pthread_mutex_unlock(&blocks.lock);
  return block;
}

/* Waits first: launched work may still use the memory. */
static void release(void *memory) {
  const struct fold_opencl *cl;
  struct block *block = take(memory);
  if (!block || fold_opencl(&cl).code != FOLD_OK) return;
  (void)cl->clFinish(cl->queue);
  cl->clSVMFree(cl->context, block->base);
  free(block);
}

static fold_status finish(void) {
  const struct fold_opencl *cl;
  FOLD_TRY(fold_opencl(&cl));
  FOLD_CL_TRY(clFinish(cl->queue));
  return fold_ok();
}

static fold_status move(void *to, const void *from, size_t nbytes) {
  const struct fold_opencl *cl;
  FOLD_TRY(fold_opencl(&cl));
  if (nbytes == 0) return fold_ok();
  FOLD_CL_TRY(clEnqueueSVMMemcpy(cl->queue, 1, to, from, nbytes, 0, NULL, NULL));
  return fold_ok();
}

static fold_status gather(const struct fold_piece *pieces, size_t n) {
  const struct fold_opencl *cl;
  FOLD_TRY(fold_opencl(&cl));
  for (size_t i = 0; i < n; i++)
    if (pieces[i].nbytes)
      FOLD_CL_TRY(clEnqueueSVMMemcpy(cl->queue, 0, pieces[i].to_host, pieces[i].from, pieces[i].nbytes, 0, NULL, NULL));
  return finish();
}

static fold_status fill(const struct fold_fill *fills, size_t n) {
  const struct fold_opencl *cl;
  FOLD_TRY(fold_opencl(&cl));
  for (size_t i = 0; i < n; i++) {
    const unsigned char byte = (unsigned char)fills[i].byte;
    if (fills[i].nbytes)
      FOLD_CL_TRY(clEnqueueSVMMemFill(cl->queue, fills[i].at, &byte, 1, fills[i].nbytes, 0, NULL, NULL));
  }
  return fold_ok();
}

/* Compares on the host, piece by piece: this serves judging, where speed does not matter. */
static fold_status same(const void *a, const void *b, size_t nbytes, bool *same) {
  unsigned char *host = malloc(2 * (size_t)PIECE);
  fold_status status = host ? fold_ok() : fold_no_memory("to compare by");
  *same = true;
  for (size_t at = 0; at < nbytes && *same && status.code == FOLD_OK; at += PIECE) {
    const size_t n = nbytes - at < PIECE ? nbytes - at : PIECE;
    status = move(host, (const unsigned char *)a + at, n);
    if (status.code == FOLD_OK) status = move(host + PIECE, (const unsigned char *)b + at, n);
    if (status.code == FOLD_OK) *same = memcmp(host, host + PIECE, n) == 0;
  }
  free(host);
  return status;
}

static fold_status ready(void) {
  const struct fold_opencl *cl;
  return fold_opencl(&cl);
}

const struct fold_engine_ops fold_engine_opencl = {
    .ready = ready,
    .alloc = allocate,
    .release = release,
    .write = move,
    .read = move,
    .gather = gather,
    .fill = fill,
    .copy = move,
    .same = same,
    .finish = finish,
};
