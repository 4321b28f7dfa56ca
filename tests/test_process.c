/* test_process.c: every state of the process (process.h) that a run may leave changed is found, named, and put back. */
#include "process.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files_open.h"

/* What is named after both looks, as at the end of a trial. */
static const char *restore(void) {
  static char changed[80];
  changed[0] = '\0';
  fold_process_restore_limits(true, changed);
  fold_process_restore(changed);
  return changed;
}

Test(process, each_limit_that_is_lowered_is_named_and_put_back) {
  static const struct {
    int resource;
    const char *name;
  } rows[] = {{RLIMIT_CPU, "processor time"},    {RLIMIT_FSIZE, "files' size"},     {RLIMIT_DATA, "data"},
              {RLIMIT_STACK, "stack"},           {RLIMIT_CORE, "core files"},       {RLIMIT_NPROC, "processes"},
              {RLIMIT_NOFILE, "open files"},     {RLIMIT_MEMLOCK, "locked memory"}, {RLIMIT_AS, "address space"},
              {RLIMIT_RTPRIO, "a resource"},     {RLIMIT_RTTIME, "a resource"},     {RLIMIT_RSS, "a resource"},
              {RLIMIT_SIGPENDING, "a resource"}, {RLIMIT_LOCKS, "a resource"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct rlimit before, now;
    char name[80];
    getrlimit(rows[i].resource, &before);
    if (before.rlim_cur == 0) continue; /* it can't be lower */
    fold_process_keep();
    now = before;
    now.rlim_cur = before.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 48 : before.rlim_cur - 1;
    cr_assert_eq(setrlimit(rows[i].resource, &now), 0);
    snprintf(name, sizeof name, "the process's limit of %s", rows[i].name);
    cr_expect_str_eq(restore(), name);
    getrlimit(rows[i].resource, &now);
    cr_expect(now.rlim_cur == before.rlim_cur && now.rlim_max == before.rlim_max, "%s", name);
    cr_expect_str_empty(restore());
  }
  cr_expect_not(fold_process_is_spoilt());
}

Test(process, limits_that_the_harness_needs_are_put_back_by_each_look) {
  static const struct {
    int resource;
    bool needed;
  } rows[] = {{RLIMIT_AS, true},     {RLIMIT_CPU, true},    {RLIMIT_DATA, true},
              {RLIMIT_NOFILE, true}, {RLIMIT_NPROC, true},  {RLIMIT_STACK, true},
              {RLIMIT_CORE, false},  {RLIMIT_FSIZE, false}, {RLIMIT_RTTIME, false}};
  fold_process_keep();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char changed[80] = "";
    struct rlimit before;
    getrlimit(rows[i].resource, &before);
    if (before.rlim_cur == 0) continue;
    const rlim_t lower = before.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 48 : before.rlim_cur - 1;
    cr_assert_eq(setrlimit(rows[i].resource, &(struct rlimit){lower, before.rlim_max}), 0);
    fold_process_restore_limits(false, changed);
    cr_expect_eq(changed[0] != '\0', rows[i].needed, "row %zu: %s", i, changed);
    cr_expect_eq(restore()[0] == '\0', rows[i].needed, "row %zu", i);
  }
}

/* As somebody who may not raise it again: 0 where the limit is then as high as it can be, and the process known as spoilt. */
static int lower_hard_limit(rlim_t before, rlim_t hard, rlim_t want) {
  struct rlimit limit = {before, 200};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || (geteuid() == 0 && setuid(65534) != 0)) return 1;
  fold_process_keep();
  limit = (struct rlimit){20, hard};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  if (strcmp(restore(), "the process's limit of open files") != 0 || !fold_process_is_spoilt()) return 3;
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != want ? 4 : 0;
}

Test(process, a_hard_limit_that_can_not_be_raised_spoils_it) {
  static const rlim_t rows[][3] = {{150, 100, 100}, {100, 150, 100}, {100, 100, 100}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(lower_hard_limit(rows[i][0], rows[i][1], rows[i][2]));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "row %zu: %x", i, (unsigned)status);
  }
}

static void handle(int number) { (void)number; }

/* All but those that can't be handled and the rig's own. */
Test(process, each_signals_handler_is_named_and_put_back) {
  fold_process_keep();
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction before, now;
    char name[80];
    if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN)) continue; /* libc has two */
    const bool of_faults = number == SIGSEGV || number == SIGBUS;
    cr_assert_eq(sigaction(number, &(struct sigaction){.sa_handler = handle}, &before), 0);
    snprintf(name, sizeof name, "the handler of signal %d (%s)", number, strsignal(number));
    cr_expect_str_eq(restore(), of_faults ? "" : name);
    cr_assert_eq(sigaction(number, NULL, &now), 0);
    cr_expect_eq(now.sa_handler, of_faults ? handle : before.sa_handler, "signal %d", number);
    sigaction(number, &before, NULL);
  }
}

/* One address may be taken for a handler of either kind. */
Test(process, a_handler_that_takes_more_arguments_is_another) {
  struct sigaction action = {.sa_handler = handle};
  cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
  fold_process_keep();
  cr_expect_str_empty(restore());
  action.sa_flags = SA_SIGINFO;
  cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
  cr_expect(strstr(restore(), "the handler of signal 10"));
}

/* Seconds, or less than one; of processor time, which does not pass while others run. One that was there before is the harness's. */
static void tick(int number) { (void)number; }

/* A timer that goes off as often as leaves time for anything else, under a handler of the subject's own. */
static int leave_ticking(void) {
  const struct itimerval each = {.it_value = {.tv_usec = 50}, .it_interval = {.tv_usec = 50}};
  signal(SIGALRM, SIG_DFL); /* whoever started the suite may ignore it */
  fold_process_keep();
  if (signal(SIGALRM, tick) == SIG_ERR || setitimer(ITIMER_REAL, &each, NULL) != 0) return 1;
  if (strcmp(restore(), "a timer, which was to send a signal later") != 0) return 2;
  struct sigaction now;
  return sigaction(SIGALRM, NULL, &now) != 0 || now.sa_handler != SIG_DFL ? 3 : 0;
}

Test(process, a_timer_is_stopped_while_its_signal_has_a_handler) {
  for (int i = 0; i < 20; i++) {
    int ended = -1;
    const pid_t child = fork();
    if (child == 0) _exit(leave_ticking());
    cr_assert_eq(waitpid(child, &ended, 0), child);
    cr_expect_eq(ended, 0, "trial %d: wait status %d", i, ended);
  }
}

Test(process, each_timer_is_named_and_stopped_but_those_that_were_there) {
  static const int which[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (int k = 0; k < 3; k++)
    for (int was_there = 0; was_there <= 1; was_there++) {
      const struct itimerval soon = {.it_value = {.tv_usec = 900000}}, later = {.it_value = {.tv_sec = 600}};
      struct itimerval now;
      if (was_there) setitimer(which[k], &later, NULL);
      fold_process_keep();
      setitimer(which[k], which[k] == ITIMER_REAL ? &later : &soon, NULL);
      cr_expect_str_eq(restore(), was_there ? "" : "a timer, which was to send a signal later", "timer %d", k);
      getitimer(which[k], &now);
      cr_expect_eq(timerisset(&now.it_value), was_there, "timer %d", k);
      setitimer(which[k], &(struct itimerval){0}, NULL);
    }
}

Test(process, the_mask_of_modes_and_the_priority_are_named_and_put_back) {
  if (getpriority(PRIO_PROCESS, 0) > 17 && setpriority(PRIO_PROCESS, 0, 0) != 0)
    cr_skip("nothing is below this process's priority");
  const int priority = getpriority(PRIO_PROCESS, 0) + 1; /* not what a process begins with */
  cr_assert_eq(setpriority(PRIO_PROCESS, 0, priority), 0);
  umask(027);
  fold_process_keep();
  umask(0);
  cr_expect_str_eq(restore(), "the mask of files' modes");
  cr_expect_eq(umask(027), 027);
  cr_assert_eq(setpriority(PRIO_PROCESS, 0, priority + 1), 0);
  cr_expect_str_eq(restore(), "the process's priority");
  cr_expect_eq(fold_process_is_spoilt(), getpriority(PRIO_PROCESS, 0) != priority,
               "only a privileged user may raise it");
}

Test(process, another_user_is_named_and_put_back) {
  if (geteuid() != 0) cr_skip("only root may become somebody else");
  fold_process_keep();
  cr_assert_eq(seteuid(65534), 0);
  cr_expect_str_eq(restore(), "the process's user");
  cr_expect(geteuid() == 0 && !fold_process_is_spoilt());
}

/* Whoever has no privileges can't take back what he gave up: 0 where it is named, and known as spoilt where it stays. */
static int give_up(bool user) {
  const int policy = sched_getscheduler(0);
  if (!user && geteuid() == 0 && setuid(65534) != 0) return 1;
  fold_process_keep();
  if ((user ? setresuid(65534, 65534, 65534) : sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0})) != 0)
    return 2;
  if (strcmp(restore(), user ? "the process's user" : "the scheduling policy") != 0) return 3;
  return fold_process_is_spoilt() != (user || sched_getscheduler(0) != policy) ? 4 : 0;
}

Test(process, a_user_or_policy_that_can_not_be_put_back_spoils_it) {
  for (int user = 0; user <= (geteuid() == 0); user++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(give_up(user));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "user %d: %x", user, (unsigned)status);
  }
}

/* 0 where it is named, and put back or known as spoilt. */
static int leave_group(bool session) {
  const pid_t group = getpgrp();
  fold_process_keep();
  if ((session ? setsid() : setpgid(0, 0)) < 0) return 1;
  if (strcmp(restore(), "the process's group or session") != 0) return 2;
  return fold_process_is_spoilt() != session || (!session && getpgrp() != group) ? 3 : 0;
}

Test(process, another_group_is_put_back_and_another_session_spoils_it) {
  for (int session = 0; session <= 1; session++) {
    int status = 0;
    const pid_t child = fork(); /* which leads no group */
    if (child == 0) _exit(leave_group(session));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "session %d: %x", session, (unsigned)status);
  }
}

static int powers(void) {
  int signal_of_parent = 0;
  prctl(PR_GET_PDEATHSIG, &signal_of_parent);
  return 1000 * prctl(PR_GET_TIMERSLACK) + 100 * signal_of_parent + prctl(PR_GET_DUMPABLE);
}
static void run_as(int policy) { cr_assert_eq(sched_setscheduler(0, policy, &(struct sched_param){0}), 0); }

/* What it was before is not what a process begins with. */
Test(process, how_it_is_scheduled_and_what_others_may_do_is_put_back) {
  run_as(SCHED_BATCH);
  prctl(PR_SET_PDEATHSIG, SIGUSR2);
  prctl(PR_SET_TIMERSLACK, 60000);
  const int before = powers();
  fold_process_keep();
  cr_expect_str_empty(restore());
  run_as(SCHED_OTHER);
  cr_expect_str_eq(restore(), "the scheduling policy");
  cr_expect_eq(sched_getscheduler(0), SCHED_BATCH);
  prctl(PR_SET_PDEATHSIG, 0);
  cr_expect_str_eq(restore(), "whether its process ends with its parent");
  cr_expect_eq(powers(), before);
  prctl(PR_SET_DUMPABLE, 0);
  cr_expect_str_eq(restore(), "whether other processes may read its memory");
  cr_expect_eq(powers(), before);
  prctl(PR_SET_TIMERSLACK, 1000000000);
  cr_expect_str_eq(restore(), "its thread's timer slack");
  cr_expect_eq(powers(), before);
  cr_expect_not(fold_process_is_spoilt());
}

/* As a program may be started. */
Test(process, a_standard_descriptor_that_was_closed_is_closed_again) {
  close(STDIN_FILENO);
  fold_process_keep();
  cr_expect_str_empty(restore());
  cr_assert_eq(open("/dev/null", O_RDONLY), STDIN_FILENO);
  cr_expect_str_eq(restore(), "the process's standard input");
  cr_expect_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
}

/* On one device files have other numbers. */
Test(process, a_standard_descriptor_of_another_file_on_its_device_is_named_and_put_back) {
  const int files[] = {memfd_create("first", MFD_CLOEXEC), memfd_create("second", MFD_CLOEXEC)};
  struct stat before, now;
  cr_assert_eq(dup2(files[0], STDIN_FILENO), STDIN_FILENO);
  fstat(STDIN_FILENO, &before);
  fold_process_keep();
  cr_assert_eq(dup2(files[1], STDIN_FILENO), STDIN_FILENO);
  cr_expect_str_eq(restore(), "the process's standard input");
  fstat(STDIN_FILENO, &now);
  cr_expect(now.st_dev == before.st_dev && now.st_ino == before.st_ino);
}

Test(process, no_look_leaves_a_descriptor_open) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 256;
  cr_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0 && dup2(STDERR_FILENO, 255) == 255); /* or none would be opened */
  const pid_t child = fork(); /* so that there is one to look at */
  if (child == 0) _exit(0);
  fold_process_keep();
  const unsigned n = files_open();
  for (int k = 0; k < 3; k++) {
    cr_expect_str_empty(restore());
    fold_process_keep();
  }
  cr_expect_eq(files_open(), n);
  fold_process_forget();
  cr_expect_eq(files_open(), n - 3, "copies of the standard ones");
  waitpid(child, NULL, 0);
}

/* Not one that was there before, nor one of the harness's own; one that has ended, and nobody waited for, is told too. */
Test(process, a_child_that_is_left_is_told) {
  int ends[2];
  char byte;
  cr_assert_eq(pipe(ends), 0);
  for (int kind = 0; kind <= 3; kind++) {
    const bool was_there = kind == 0, is_own = kind == 1, ends_itself = kind == 3;
    if (!was_there) fold_process_keep();
    const pid_t child = fork();
    if (child == 0) _exit(ends_itself ? 0 : close(ends[1]) || read(ends[0], &byte, 1) != 0);
    if (was_there) fold_process_keep();
    if (is_own) fold_process_own_child(child);
    if (ends_itself) waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
    cr_expect_str_eq(restore(), was_there || is_own ? "" : "a process that it started and did not wait for", "kind %d",
                     kind);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
}
