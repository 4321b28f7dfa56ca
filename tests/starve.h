/* starve.h: makes allocations fail when a test says so, and checks the memory that was allocated: that all of it is
 * freed, and that nothing wrote past its end.
 *
 * The program is linked with --wrap for each of these functions (tests/meson.build), so the project's own calls come
 * here, and libraries' do not; mmap is wrapped under its name for 64-bit offsets. GMP and MPFR, which end the process
 * if memory is short, get all memory, but what they don't free is counted too. Only one file of a program may include
 * this.
 */
#ifndef STARVE_H
#define STARVE_H

#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fold.h"

enum { STARVE_MOST = 1 << 14, STARVE_GUARD = 16, STARVE_GUARD_BYTE = 0xc7, STARVE_NEW_BYTE = 0xa9 };
static struct {
  atomic_flag busy;
  struct {
    void *at;
    size_t size;
  } held[STARVE_MOST];              /* open addressing by the address */
  size_t n_held, overruns, remains; /* remains: maps that were unmapped in part, or otherwise than made */
  long asked, fails_in;             /* calls since starve_from; which one fails, 0: none */
  atomic_long numbers;              /* blocks of memory that GMP holds */
} starve = {.busy = ATOMIC_FLAG_INIT};

static inline size_t starve_find(const void *memory) {
  size_t i = ((uintptr_t)memory >> 4) * 2654435761u % STARVE_MOST;
  while (starve.held[i].at && starve.held[i].at != memory) i = (i + 1) % STARVE_MOST;
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

static inline void *starve_hold(void *memory, size_t size) {
  starve_lock();
  cr_assert(memory && starve.n_held < STARVE_MOST / 2);
  size_t i = starve_find(memory);
  starve.held[i].at = memory;
  starve.held[i].size = size;
  starve.n_held++;
  atomic_flag_clear(&starve.busy);
  return memory;
}

/* Appends a guard to an allocation, which has room for it. */
static inline void *starve_guard(void *memory, size_t size) {
  memset((unsigned char *)memory + size, STARVE_GUARD_BYTE, STARVE_GUARD);
  return starve_hold(memory, size);
}

static inline bool starve_is_whole(const unsigned char *guard) {
  for (size_t i = 0; i < STARVE_GUARD; i++)
    if (guard[i] != STARVE_GUARD_BYTE) return false;
  return true;
}

/* Forgets an allocation; one that a library made (strdup, ...) is not known here. */
static inline void starve_drop(void *memory, bool guarded) {
  starve_lock();
  size_t i = starve_find(memory);
  if (memory && starve.held[i].at) {
    starve.overruns += guarded && !starve_is_whole((unsigned char *)memory + starve.held[i].size);
    starve.n_held--;
    starve.held[i].at = NULL;
    for (size_t k = (i + 1) % STARVE_MOST; starve.held[k].at; k = (k + 1) % STARVE_MOST) {
      void *moved = starve.held[k].at;
      size_t size = starve.held[k].size, to;
      starve.held[k].at = NULL;
      to = starve_find(moved);
      starve.held[to].at = moved;
      starve.held[to].size = size;
    }
  }
  atomic_flag_clear(&starve.busy);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void __real_free(void *memory);
int __real_munmap(void *memory, size_t bytes);
int __real_mprotect(void *memory, size_t bytes, int access);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void __wrap_free(void *memory);
int __wrap_munmap(void *memory, size_t bytes);
int __wrap_mprotect(void *memory, size_t bytes, int access);

void *__wrap_malloc(size_t size) {
  if (starve_now()) return NULL;
  return starve_guard(memset(__real_malloc(size + STARVE_GUARD), STARVE_NEW_BYTE, size), size);
}
void *__wrap_calloc(size_t n, size_t size) {
  return starve_now() ? NULL : starve_guard(__real_calloc(1, n * size + STARVE_GUARD), n * size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  if (starve_now()) return NULL;
  return starve_guard(__real_aligned_alloc(alignment, size + alignment), size);
}
/* A page that replaces another one takes no memory. */
void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  if (flags & MAP_FIXED) return __real_mmap64(at, bytes, access, flags, file, offset);
  return starve_now() ? MAP_FAILED : starve_hold(__real_mmap64(at, bytes, access, flags, file, offset), bytes);
}
void __wrap_free(void *memory) {
  starve_drop(memory, true);
  __real_free(memory);
}
int __wrap_munmap(void *memory, size_t bytes) {
  starve.remains += starve.held[starve_find(memory)].size != bytes;
  starve_drop(memory, false);
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

/* Checks that `act` frees all memory that it takes, fails with NO_MEMORY or ENVIRONMENT if any one allocation fails,
 * and works as before afterwards. `what` names it in messages. Returns how often it allocated. */
typedef fold_status starve_act(void *context);
static inline long starve_through(const char *what, starve_act *act, void *context) {
  static bool counts;
  if (!counts) mp_set_memory_functions(starve_number, starve_resize, starve_number_free);
  counts = true;
  starve.fails_in = 0;
  for (int warm = 0; warm < 2; warm++) { /* so that threads and caches exist already */
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
  cr_expect_eq(starve.overruns, 0, "%s: %zu writes past an end", what, starve.overruns);
  cr_expect_eq(starve.remains, 0, "%s: %zu maps were given back in another length", what, starve.remains);
  return asked;
}

#endif
