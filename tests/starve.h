/* starve.h: memory that is not there when a test says so, and a count of what was not given back.
 *
 * The program is linked with --wrap for each of these (tests/meson.build): the project's own calls come here, libraries' do not. Of
 * GMP's and MPFR's numbers, which end the process where memory is short, what is not given back is counted too. One file of a
 * program includes this.
 */
#ifndef STARVE_H
#define STARVE_H

#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fold.h"

enum { STARVE_MOST = 1 << 14 };
static struct {
  atomic_flag busy;
  void *held[STARVE_MOST]; /* open addressing by the address */
  size_t n_held;
  long asked, fails_in; /* calls since starve_from; the one that fails, 0: none */
  atomic_long numbers;  /* blocks of GMP's */
} starve = {.busy = ATOMIC_FLAG_INIT};

static inline size_t starve_find(const void *memory) {
  size_t i = ((uintptr_t)memory >> 4) * 2654435761u % STARVE_MOST;
  while (starve.held[i] && starve.held[i] != memory) i = (i + 1) % STARVE_MOST;
  return i;
}

static inline void starve_lock(void) {
  while (atomic_flag_test_and_set(&starve.busy)) continue;
}

static inline bool starve_now(void) {
  starve_lock();
  bool fails = ++starve.asked == starve.fails_in;
  atomic_flag_clear(&starve.busy);
  return fails;
}

static inline void *starve_hold(void *memory) {
  starve_lock();
  cr_assert(starve.n_held < STARVE_MOST / 2);
  starve.held[starve_find(memory)] = memory;
  starve.n_held++;
  atomic_flag_clear(&starve.busy);
  return memory;
}

/* What libraries made, as strdup does, is not held here. */
static inline void starve_drop(void *memory) {
  starve_lock();
  size_t i = starve_find(memory);
  if (memory && starve.held[i]) {
    starve.n_held--;
    starve.held[i] = NULL;
    for (size_t k = (i + 1) % STARVE_MOST; starve.held[k]; k = (k + 1) % STARVE_MOST) {
      void *moved = starve.held[k];
      starve.held[k] = NULL;
      starve.held[starve_find(moved)] = moved;
    }
  }
  atomic_flag_clear(&starve.busy);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void __real_free(void *memory);
int __real_munmap(void *memory, size_t bytes);
int __real_mprotect(void *memory, size_t bytes, int access);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void __wrap_free(void *memory);
int __wrap_munmap(void *memory, size_t bytes);
int __wrap_mprotect(void *memory, size_t bytes, int access);

void *__wrap_malloc(size_t size) { return starve_now() ? NULL : starve_hold(__real_malloc(size)); }
void *__wrap_calloc(size_t n, size_t size) { return starve_now() ? NULL : starve_hold(__real_calloc(n, size)); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return starve_now() ? NULL : starve_hold(__real_aligned_alloc(alignment, size));
}
/* A page that is laid anew where one is takes no memory. */
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  if (flags & MAP_FIXED) return __real_mmap(at, bytes, access, flags, file, offset);
  return starve_now() ? MAP_FAILED : starve_hold(__real_mmap(at, bytes, access, flags, file, offset));
}
void __wrap_free(void *memory) {
  starve_drop(memory);
  __real_free(memory);
}
int __wrap_munmap(void *memory, size_t bytes) {
  starve_drop(memory);
  return __real_munmap(memory, bytes);
}
int __wrap_mprotect(void *memory, size_t bytes, int access) {
  return starve_now() ? -1 : __real_mprotect(memory, bytes, access);
}

static inline void *starve_number(size_t size) { return atomic_fetch_add(&starve.numbers, 1), __real_malloc(size); }
static inline void *starve_resize(void *number, size_t former, size_t size) {
  (void)former;
  return realloc(number, size);
}
static inline void starve_number_free(void *number, size_t size) {
  (void)size;
  atomic_fetch_sub(&starve.numbers, 1);
  __real_free(number);
}

static inline size_t starve_held(void) {
  mpfr_free_cache();
  return starve.n_held + (size_t)starve.numbers;
}

/* `act` has all memory that it takes given back, and where any of it is not there says so; afterwards it is as it was. Failures are
 * told by `what`. How often it asked. */
typedef fold_status starve_act(void *context);
static inline long starve_through(const char *what, starve_act *act, void *context) {
  static bool counts;
  if (!counts) mp_set_memory_functions(starve_number, starve_resize, starve_number_free);
  counts = true;
  starve.fails_in = 0;
  for (int warm = 0; warm < 2; warm++) { /* threads and caches are made */
    fold_status status = act(context);
    cr_assert_eq(status.code, FOLD_OK, "%s: %s", what, status.text);
  }
  const size_t before = starve_held();
  starve.asked = 0;
  act(context);
  const long asked = starve.asked;
  cr_expect_eq(starve_held(), before, "%s: %zu blocks, then %zu", what, before, starve_held());
  for (long k = 1; k <= asked; k++) {
    starve.asked = 0;
    starve.fails_in = k;
    fold_status status = act(context);
    starve.fails_in = 0;
    cr_expect(status.code == FOLD_NO_MEMORY || status.code == FOLD_ENVIRONMENT, "%s, %ld of %ld: status %d: %s", what,
              k, asked, (int)status.code, status.text);
    cr_expect_eq(starve_held(), before, "%s, %ld of %ld: %zu blocks, then %zu", what, k, asked, before, starve_held());
  }
  cr_expect_eq(act(context).code, FOLD_OK, "%s: not as it was", what);
  return asked;
}

#endif
