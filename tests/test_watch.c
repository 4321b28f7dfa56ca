/* test_watch.c: what a watched process reports of its runs, and what the system says of processes. */
#include "process/heartbeat.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fold.h"
#include "process/proc.h"
#include "process/stalls.h"

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

/* ---- runs of a process that can't go on ---- */

/* A process that has begun a run, and a child of its own. */
enum { SLEEPS, SPINS };
static struct fold_watch *shared;
static pid_t worker, other;

static void do_for_ever(int what) {
  for (;;)
    if (what == SLEEPS) pause();
}

static void await_state(pid_t process, char state) {
  struct fold_proc found;
  do cr_assert(fold_proc_read(process, &found));
  while (found.state != state && usleep(1000) == 0);
}

static void start_worker(int what, bool leads) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert(memory != MAP_FAILED);
  shared = memory;
  _Atomic pid_t *child = (_Atomic pid_t *)(void *)((char *)memory + 2048);
  worker = fork();
  if (worker == 0) {
    fold_watch_set(shared);
    const pid_t of_worker = fork();
    if (of_worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (leads) setpgid(0, 0);
      atomic_store(child, getpid());
      do_for_ever(SLEEPS);
    }
    while (atomic_load(child) == 0) usleep(1000);
    fold_watch_begin(1);
    do_for_ever(what);
  }
  while (atomic_load(&shared->turns) == 0) usleep(1000);
  other = atomic_load(child);
  await_state(other, 'S');
  if (what == SLEEPS) await_state(worker, 'S');
}

static void end_worker(void) {
  kill(worker, SIGKILL);
  waitpid(worker, NULL, 0);
}

static void stop(pid_t process) {
  kill(process, SIGSTOP);
  await_state(process, 'T');
}

static double stalled_for(double seconds) {
  struct fold_stalls stalls = fold_stalls_begin();
  double lost = 0;
  for (const double end = fold_now() + seconds; fold_now() < end; usleep(5000))
    lost += fold_stalls_look(&stalls, worker);
  return lost;
}

Test(stalls, one_that_sleeps_is_not_stalled_and_one_that_is_stopped_is, .fini = end_worker) {
  start_worker(SLEEPS, true);
  cr_expect_eq(stalled_for(0.3), 0);
  stop(worker);
  cr_expect_gt(stalled_for(0.5), 0.2);
  kill(worker, SIGCONT);
  await_state(worker, 'S');
  stop(other);
  cr_expect_gt(stalled_for(0.5), 0.2, "it waits for its program, which is stopped");
}

Test(stalls, the_helpers_that_a_worker_stops_itself_do_not_stall_it, .fini = end_worker) {
  start_worker(SLEEPS, false);
  stop(other);
  cr_expect_eq(stalled_for(0.3), 0);
}

static bool hangs_within(double seconds, struct fold_timeout *timeout) {
  for (const double end = fold_now() + seconds; fold_now() < end; usleep(5000))
    if (fold_watch_hangs(shared, worker, timeout)) return true;
  return false;
}

Test(stalls, a_run_whose_process_is_stopped_for_a_while_does_not_hang, .fini = end_worker) {
  struct fold_timeout timeout = {.seconds = 0.3};
  start_worker(SLEEPS, true);
  stop(worker);
  cr_expect_not(hangs_within(2, &timeout));
  kill(worker, SIGCONT);
  cr_expect(hangs_within(60, &timeout));
}

Test(stalls, a_run_hangs_that_never_ends_whether_it_works_or_stays_stopped, .fini = end_worker) {
  struct fold_timeout timeout = {.seconds = 0.3}, again = {.seconds = 0.3};
  start_worker(SPINS, true);
  cr_expect(hangs_within(60, &timeout));
  stop(worker);
  cr_expect(hangs_within(60, &again));
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
