/* test_engine.c: the host's memory behind engine.h. */
#include "model/engine.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct fold_engine_ops *const host = &fold_engine_host;

Test(engine, memory_of_the_host_is_aligned_and_too_much_is_refused) {
  for (size_t n = 0; n <= 600; n += 100) {
    void *memory = NULL;
    cr_assert_eq(host->alloc(n, &memory).code, FOLD_OK);
    cr_expect_eq((uintptr_t)memory % 256, 0, "%zu bytes", n);
    host->release(memory);
  }
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 254, SIZE_MAX - 256, SIZE_MAX / 2};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    void *memory = &memory;
    cr_expect(host->alloc(sizes[i], &memory).code == FOLD_NO_MEMORY && !memory, "%zu bytes", sizes[i]);
  }
}

Test(engine, one_byte_that_differs_is_seen) {
  const unsigned char a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, 5};
  for (size_t n = 0; n <= 4; n++) {
    bool same = n == 4;
    cr_assert_eq(host->same(a, b, n, &same).code, FOLD_OK);
    cr_expect_eq(same, n < 4, "%zu bytes", n);
  }
}

#ifndef __SANITIZE_ADDRESS__ /* whose malloc does not say what it holds */
/* To the page; what was freed is in use no more, though malloc may keep it. */
Test(engine, memory_in_use_is_what_was_taken_and_not_freed) {
  enum { BLOCKS = 256, BYTES = 16 << 10 };
  static unsigned char *block[BLOCKS];
  const size_t all = (size_t)BLOCKS * BYTES, before = host->in_use();
  for (int k = 0; k < BLOCKS; k++) cr_assert((block[k] = malloc(BYTES)) && memset(block[k], 1, BYTES));
  const size_t held = host->in_use() - before;
  cr_expect(held >= all && held < all + all / 4, "%zu of %zu", held, all);
  for (int k = 0; k + 1 < BLOCKS; k++) free(block[k]); /* the last one is at the heap's end */
  const size_t left = host->in_use() - before;
  cr_expect_lt(left, all / 4, "%zu of %zu", left, all);
  free(block[BLOCKS - 1]);
}
#endif

Test(engine, memory_in_use_of_which_nothing_can_be_read_is_none) {
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_max = limit.rlim_max}), 0);
  const size_t bytes = host->in_use();
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  cr_expect_eq(bytes, 0);
}
