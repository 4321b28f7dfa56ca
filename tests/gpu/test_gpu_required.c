/* test_gpu_required.c: FOLDPROOF_REQUIRE_GPUS turns "no GPU" into a broken environment. Runs with and without a GPU,
 * and in a build without CUDA's toolkit.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/engine.h"

#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/device.h"
#endif

Test(gpu_required, more_gpus_than_there_are_is_a_broken_environment_that_says_how_many) {
  cr_assert_eq(setenv("FOLDPROOF_REQUIRE_GPUS", "99", 1), 0);
  fold_status status = fold_engine_ready(FOLD_CUDA);
  cr_expect_eq(status.code, FOLD_ENVIRONMENT, "code %d: %s", (int)status.code, status.text);
  cr_expect_eq(fold_exit_code(status.code), 99);
  cr_expect(strstr(status.text, "FOLDPROOF_REQUIRE_GPUS=99"), "%s", status.text);
#ifdef FOLD_HAVE_CUDA
  int n = -1;
  char reason[FOLD_DEVICE_TEXT], said[40];
  cr_assert_eq(fold_device_count(&n, reason).code, FOLD_OK);
  snprintf(said, sizeof said, "there are %d GPUs", n);
  cr_expect(strstr(status.text, said), "'%s' does not say '%s'", status.text, said);
  if (n == 0) cr_expect(strstr(status.text, "CUDA error"), "'%s' has no words of CUDA's", status.text);
#else
  cr_expect(strstr(status.text, "GPUs"), "%s", status.text);
#endif
}

/* What was not asked for is not missed: the same place is ready, or skipped with a reason. */
Test(gpu_required, none_asked_for_is_ready_or_skipped_with_a_reason) {
  cr_assert_eq(unsetenv("FOLDPROOF_REQUIRE_GPUS"), 0);
  fold_status status = fold_engine_ready(FOLD_CUDA);
  cr_expect(status.code == FOLD_OK || status.code == FOLD_UNSUPPORTED, "code %d: %s", (int)status.code, status.text);
  if (status.code == FOLD_UNSUPPORTED) cr_expect(strlen(status.text) > 0, "skipped without a reason");
}

/* A test that meets it fails: it is no skip. */
Test(gpu_required, what_is_no_whole_number_is_refused_and_no_skip) {
  static const char *const wrong[] = {"yes", "", "-1", "1.5", " 1", "1025"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cr_assert_eq(setenv("FOLDPROOF_REQUIRE_GPUS", wrong[i], 1), 0);
    fold_status status = fold_engine_ready(FOLD_CUDA);
    cr_expect_eq(status.code, FOLD_BAD_INPUT, "'%s': code %d: %s", wrong[i], (int)status.code, status.text);
  }
}

/* The host needs no GPU, whatever is asked for. */
Test(gpu_required, the_hosts_engine_is_always_ready) {
  cr_assert_eq(setenv("FOLDPROOF_REQUIRE_GPUS", "99", 1), 0);
  fold_status status = fold_engine_ready(FOLD_HOST);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
}
