/* test_fp_state.c: every arithmetic setting that a run may leave changed is found, named, and put back. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "openmp_keeps.h"
#include "rig/fp_state.h"

static void leave_nothing(void) {}
static void leave_threads(void) { omp_set_num_threads(omp_get_max_threads() + 1); }
static void leave_dynamic(void) { omp_set_dynamic(!omp_get_dynamic()); }
static void leave_nesting(void) { omp_set_max_active_levels(omp_get_max_active_levels() + 1); }
static void leave_kind(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  omp_set_schedule(kind == omp_sched_guided ? omp_sched_dynamic : omp_sched_guided, chunk);
}
static void leave_chunk(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  omp_set_schedule(kind, chunk + 1);
}
static void leave_rounding(void) { fesetround(FE_UPWARD); }
#ifdef __x86_64__
static void leave_flush(void) { _mm_setcsr(_mm_getcsr() | 0x8000); }
static void leave_zeroes(void) { _mm_setcsr(_mm_getcsr() | 0x40); }
static void leave_trap(void) { _mm_setcsr(_mm_getcsr() & ~0x80u); }
static void leave_x87(unsigned short bits) {
  unsigned short word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  word ^= bits;
  __asm__ volatile("fldcw %0" : : "m"(word));
}
static void leave_precision(void) { leave_x87(0x100); }
static void leave_x87_rounding(void) { leave_x87(0x400); }
static void leave_x87_trap(void) { leave_x87(1); }
#endif
static void leave_both(void) { leave_rounding(), leave_chunk(); }
static void leave_raised(void) { feraiseexcept(FE_INEXACT | FE_UNDERFLOW); }

Test(fp_state, what_a_run_leaves_is_named_and_put_back) {
  static const struct {
    void (*leave)(void);
    const char *name;
  } rows[] = {
      {leave_nothing, ""},
      {leave_raised, ""},
      {leave_threads, "OpenMP's number of threads"},
      {leave_dynamic, "OpenMP's dynamic adjustment of threads"},
      {leave_nesting, "OpenMP's nesting"},
      {leave_kind, "OpenMP's schedule"},
      {leave_chunk, "OpenMP's schedule"},
      {leave_rounding, "the rounding mode"},
      {leave_both, "the rounding mode"},
#ifdef __x86_64__
      {leave_flush, "flush to zero"},
      {leave_zeroes, "denormals are zero"},
      {leave_trap, "which exceptions trap"},
      {leave_precision, "the x87 precision"},
      {leave_x87_rounding, "the x87 control word"},
      {leave_x87_trap, "the x87 control word"},
#endif
  };
  fold_fp_state_reset();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char changed[80] = "?";
    struct fold_openmp before = fold_openmp_now(), after;
    rows[i].leave();
    bool kept = fold_fp_state_restore(&before, true, changed);
    cr_expect_str_eq(changed, rows[i].name, "row %zu: %s", i, changed);
    cr_expect_eq(kept, !rows[i].name[0], "row %zu", i);
    after = fold_openmp_now();
    cr_expect(memcmp(&before, &after, sizeof before) == 0, "row %zu: a setting stays", i);
    cr_expect(fold_fp_state_restore(&before, true, changed), "row %zu: %s stays", i, changed);
  }
}

/* Of a region's other threads, whose environments outlive it. */
Test(fp_state, what_another_thread_keeps_is_named_and_put_back) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  char changed[80];
  omp_set_num_threads(4);
  fold_fp_state_reset();
  for (int thread = 1; thread < 4; thread++) {
    struct fold_openmp before = fold_openmp_now();
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == thread) fesetround(FE_DOWNWARD);
    cr_expect_not(fold_fp_state_restore(&before, true, changed));
    cr_expect_str_eq(changed, "the rounding mode in one of OpenMP's threads", "thread %d: %s", thread, changed);
    cr_expect(fold_fp_state_restore(&before, true, changed), "thread %d: %s stays", thread, changed);
  }
}

static unsigned count_threads(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 ? (unsigned)tasks.st_nlink - 2 : 0;
}

/* A look at them would count those that it made itself the next time, and make more. */
Test(fp_state, to_look_at_threads_makes_none) {
  char changed[80];
  omp_set_num_threads(4);
  fold_fp_state_reset();
  struct fold_openmp before = fold_openmp_now();
#pragma omp parallel num_threads(4)
  (void)omp_get_thread_num();
  const unsigned threads = count_threads();
  cr_assert_geq(threads, 4);
  cr_expect(fold_fp_state_restore(&before, true, changed), "%s", changed);
  cr_expect_eq(count_threads(), threads, "%u threads, and %u before the look", count_threads(), threads);
}

static void *end_soon(void *nothing) {
  usleep(10 * 1000);
  return nothing;
}

/* As a thread of a pool that was just given up does: counted as one that stays, it would stand for a thread of the next pool. */
Test(fp_state, a_thread_that_is_about_to_end_hides_no_other) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  char changed[80];
  pthread_t ending;
  cr_assert_eq(pthread_create(&ending, NULL, end_soon, NULL), 0);
  fold_fp_state_reset();
  cr_assert_eq(pthread_join(ending, NULL), 0);
  struct fold_openmp before = fold_openmp_now();
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) fesetround(FE_DOWNWARD);
  cr_expect_not(fold_fp_state_restore(&before, true, changed));
  cr_expect_str_eq(changed, "the rounding mode in one of OpenMP's threads");
}

static bool has_company_of_who_ends(void) {
  char changed[80];
  pthread_t ending;
  if (pthread_create(&ending, NULL, end_soon, NULL) != 0) return true;
  fold_fp_state_begin();
  pthread_join(ending, NULL);
  struct fold_openmp before = fold_openmp_now();
  return !fold_fp_state_restore(&before, true, changed) || fold_fp_state_has_company();
}

/* Who has company is watched after each of its runs. In a process of one thread, which a test's is not. */
Test(fp_state, a_thread_that_is_about_to_end_is_no_company) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  int status = -1;
  const pid_t child = fork();
  if (child == 0) _exit(has_company_of_who_ends());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect_eq(status, 0);
}

static void *stay(void *nothing) {
  pause();
  return nothing;
}

/* How often this process gave a core away to wait. */
static long count_waits(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/* As those of MPI in a rank: they stay, and hide none of OpenMP's. */
Test(fp_state, threads_from_before_openmp_are_not_waited_for) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  char changed[80];
  pthread_t library;
  cr_assert_eq(pthread_create(&library, NULL, stay, NULL), 0);
  const long waits = count_waits();
  fold_fp_state_begin_without_openmp();
  fold_fp_state_reset();
  cr_expect_lt(count_waits() - waits, 500, "waited %ld times", count_waits() - waits);
  struct fold_openmp before = fold_openmp_now();
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) fesetround(FE_DOWNWARD);
  cr_expect_not(fold_fp_state_restore(&before, true, changed));
  cr_expect_str_eq(changed, "the rounding mode in one of OpenMP's threads");
}

Test(fp_state, a_reset_is_to_the_default_environment) {
  char changed[80];
  leave_rounding();
  fold_fp_state_reset();
  cr_expect_eq(fegetround(), FE_TONEAREST);
  struct fold_openmp now = fold_openmp_now();
  cr_expect(fold_fp_state_restore(&now, true, changed), "%s", changed);
}

Test(fp_state, who_takes_the_default_environment_is_told_whether_he_had_another) {
  fold_fp_state_reset();
  cr_expect_not(fold_fp_state_take());
  leave_rounding();
  cr_expect(fold_fp_state_take());
  cr_expect_eq(fegetround(), FE_TONEAREST);
  cr_expect_not(fold_fp_state_take());
}

/* The descriptor by which this process's threads are counted; -1: there is none. */
static int file_of_threads(void) {
  char path[40], at[64];
  for (int file = 3; file < 256; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(path, at, sizeof at - 1);
    if (n > 5 && memcmp(at + n - 5, "/task", 5) == 0) return file;
  }
  return -1;
}

/* A subject may close all descriptors, or have others at their places; a child's threads are others. */
Test(fp_state, threads_are_counted_whatever_becomes_of_descriptors) {
  const unsigned before = fold_thread_count();
  const int file = file_of_threads(), root = open("/", O_PATH);
  int status = 0;
  cr_assert(before > 0 && file >= 0 && root >= 0);
  cr_assert_eq(dup2(root, file), file);
  cr_expect_eq(fold_thread_count(), before);
  close(file_of_threads());
  cr_expect_eq(fold_thread_count(), before);
#pragma omp parallel num_threads(4)
  { cr_expect(fold_thread_count() > before); }
  const pid_t child = fork();
  if (child == 0) _exit((int)fold_thread_count());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%x", (unsigned)status);
}
