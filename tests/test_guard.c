/* test_guard.c: all that guests have started is ended, and nothing else: the number of an ended group may belong
 * to another one by now. */
#include "process/guard.h"

#include <criterion/criterion.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fold.h"
#include "scratch.h"

/* What is forked begins only then, after what the other process does meanwhile. */
static struct timespec late;

pid_t __real_fork(void), __wrap_fork(void);
pid_t __wrap_fork(void) {
  const pid_t child = __real_fork();
  if (child == 0) nanosleep(&late, NULL);
  return child;
}

/* A process in a group of its own, which is noted once this returns: it waits for a signal. */
static pid_t start_noted(void) {
  int ready[2];
  char byte;
  cr_assert_eq(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    fold_guard_group(getpid());
    if (write(ready[1], "r", 1) != 1) _exit(1);
    for (;;) pause();
  }
  cr_assert(child > 0 && read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

static void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

/* A process in a group of its own, which foldproof has no note of, of that number; -1 where this user may not choose it. */
static pid_t start_stranger(pid_t number) {
  struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
  const pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (child == 0)
    for (;;) pause();
  if (child > 0) setpgid(child, child);
  return child;
}

static bool is_there(pid_t child) { return waitpid(child, NULL, WNOHANG) == 0; }

/* Whether it is there after a minute; else how it ended. */
static bool stays(pid_t child, int *how) {
  for (int i = 0; i < 6000; i++) {
    if (waitpid(child, how, WNOHANG) == child) return false;
    usleep(10000);
  }
  end(child);
  return true;
}

static void expect_what_is_noted_to_be_ended(void) {
  const pid_t children[] = {start_noted(), start_noted(), start_noted()};
  fold_guard_end();
  for (int i = 0; i < 3; i++) {
    int how = 0;
    cr_expect_not(stays(children[i], &how), "%d is there", i);
    cr_expect(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
  }
}

Test(guard, what_is_noted_is_ended) {
  cr_assert_eq(fold_guard_begin().code, FOLD_OK);
  expect_what_is_noted_to_be_ended();
}

Test(guard, what_is_noted_is_ended_by_a_keeper_that_begins_late) {
  late.tv_nsec = 300000000;
  cr_assert_eq(fold_guard_begin().code, FOLD_OK);
  late.tv_nsec = 0;
  expect_what_is_noted_to_be_ended();
}

Test(guard, the_number_of_a_group_that_had_ended_before_another_was_noted_is_a_strangers) {
  cr_assert_eq(fold_guard_begin().code, FOLD_OK);
  const pid_t gone[] = {start_noted(), start_noted(), start_noted()};
  for (int i = 0; i < 3; i++) end(gone[i]);
  const pid_t noted = start_noted();
  for (int i = 0; i < 3; i++) {
    const pid_t stranger = start_stranger(gone[i]);
    if (stranger < 0) cr_skip_test("this user may not choose a process's number");
    cr_expect_eq(stranger, gone[i]);
  }
  fold_guard_end();
  end(noted);
  for (int i = 0; i < 3; i++) {
    cr_expect(is_there(gone[i]), "%d was killed", i);
    end(gone[i]);
  }
}

/* Nothing is noted in between; the system counts in hundredths of a second. */
Test(guard, the_number_of_a_group_that_ended_last_is_a_strangers) {
  cr_assert_eq(fold_guard_begin().code, FOLD_OK);
  const pid_t gone = start_noted();
  end(gone);
  usleep(30000);
  const pid_t stranger = start_stranger(gone);
  if (stranger < 0) cr_skip_test("this user may not choose a process's number");
  fold_guard_end();
  cr_expect(is_there(stranger), "%d was killed", stranger);
  end(stranger);
}

static void begin_with_folder(const char *of) {
  if (fold_guard_begin().code != FOLD_OK) _exit(1);
  snprintf(fold_guard_folder(), FOLD_GUARD_PATH, "%s/own", of);
  if (mkdir(fold_guard_folder(), 0700) != 0) _exit(1);
}

/* As one that is killed while it waits for a disk: it makes the folder again after its parent. */
static void leave_a_slow_one(void) {
  if (fork() != 0) return;
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  mkdir(fold_guard_folder(), 0700);
  _exit(0);
}

/* Whether the folder of a process that ends as soon as it has made it is gone after ten seconds. */
static bool is_removed(bool made_again, bool killed) {
  SCRATCH(s);
  const pid_t child = fork();
  if (child == 0) {
    begin_with_folder(s.folder);
    if (made_again) leave_a_slow_one();
    if (killed) raise(SIGKILL);
    fold_guard_end();
    _exit(0);
  }
  int how = 0;
  cr_assert_eq(waitpid(child, &how, 0), child);
  cr_assert(killed ? WIFSIGNALED(how) : WIFEXITED(how) && WEXITSTATUS(how) == 0, "it could not begin");
  if (made_again) usleep(1500000);
  for (int i = 0; i < 1000 && rmdir(s.folder) != 0; i++) usleep(10000);
  return access(s.folder, F_OK) != 0;
}

Test(guard, the_folder_of_a_process_that_is_killed_is_removed) { cr_expect(is_removed(false, true)); }

/* A guard does not wait for ever: on a busy machine the slow one may come too late once. */
Test(guard, a_folder_that_is_made_again_is_removed) {
  enum { TRIES = 4 };
  for (int killed = 0; killed < 2; killed++) {
    bool removed = false;
    for (int i = 0; i < TRIES && !removed; i++) removed = is_removed(true, killed);
    cr_expect(removed, "killed %d", killed);
  }
}

Test(guard, a_process_that_goes_on_is_not_waited_for) {
  double took = 9;
  for (int i = 0; i < 4 && took >= 9; i++) {
    cr_assert_eq(fold_guard_begin().code, FOLD_OK);
    const pid_t other = fork();
    if (other == 0)
      for (;;) pause();
    const double begun = fold_now();
    fold_guard_end();
    took = fold_now() - begun;
    cr_expect(is_there(other));
    end(other);
  }
  cr_expect_lt(took, 9);
}
