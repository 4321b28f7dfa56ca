/* test_watch.c: what a watched process reports of its runs, and what the system says of processes. */
#include "process/heartbeat.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/proc.h"

/* Odd while a subject runs, and who watches knows of how many terms. */
Test(watch, a_run_is_noted_for_the_watching_process) {
  struct fold_watch watch = {0};
  fold_watch_begin(7);
  fold_watch_end();
  fold_watch_set(&watch);
  for (unsigned turn = 1; turn <= 5; turn += 2) {
    fold_watch_begin(100 + turn);
    cr_expect(atomic_load(&watch.turns) == turn && atomic_load(&watch.elements) == 100 + turn);
    fold_watch_end();
    cr_expect_eq(atomic_load(&watch.turns), turn + 1);
  }
  fold_watch_set(NULL);
}

Test(watch, whose_run_it_is_and_for_which_claim_is_told) {
  struct fold_watch watch = {0};
  cr_expect_not(fold_watch_is_set());
  fold_watch_twin(true), fold_watch_judging(3); /* without a watching process */
  fold_watch_set(&watch);
  cr_expect(fold_watch_is_set());
  for (unsigned k = 0; k < 3; k++) {
    fold_watch_twin(k == 1);
    fold_watch_judging(k);
    cr_expect(atomic_load(&watch.by_twin) == (k == 1) && atomic_load(&watch.judging) == k, "%u", k);
  }
  fold_watch_set(NULL);
  cr_expect_not(fold_watch_is_set());
}

/* Else two processes would go on as this one. */
Test(watch, a_child_that_comes_back_from_its_subject_ends) {
  struct fold_watch watch = {0};
  int status = 0;
  fold_watch_set(&watch);
  fold_watch_begin(1);
  const pid_t child = fork();
  fold_watch_end();
  if (child == 0) _exit(0);
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 99, "%x", (unsigned)status);
  cr_expect_eq(atomic_load(&watch.turns), 2);
  fold_watch_set(NULL);
}

/* A name may hold what separates the fields. */
Test(proc, a_process_is_read_whatever_its_name_is) {
  struct fold_proc own, renamed, child_is;
  int how;
  cr_assert(fold_proc_read(getpid(), &own));
  prctl(PR_SET_NAME, "a) Z 1 (b)");
  cr_assert(fold_proc_read(getpid(), &renamed));
  cr_expect(renamed.state == 'R' && renamed.parent == getppid() && renamed.start == own.start);
  usleep(30000); /* the system counts in hundredths of a second */
  const pid_t child = fork();
  if (child == 0) _exit(raise(SIGSTOP));
  cr_assert_eq(waitpid(child, &how, WUNTRACED), child);
  cr_assert(fold_proc_read(child, &child_is));
  cr_expect(child_is.state == 'T' && child_is.parent == getpid());
  cr_expect(child_is.start > own.start && child_is.start < own.start + 6000, "%llu and %llu", child_is.start,
            own.start);
  pid_t children[8];
  cr_expect(fold_proc_children(0, children, 8) == 1 && children[0] == child);
  cr_expect(fold_proc_children(getpid(), children, 8) == 1 && children[0] == child);
  cr_expect_eq(fold_proc_children(0, children, 0), 0);
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, &how, 0), child);
  cr_expect_not(fold_proc_read(child, &child_is));
  cr_expect(child_is.state == 0 && child_is.parent == 0 && child_is.start == 0);
}
