/* test_surroundings.c: every state of surroundings.h that a run may leave changed is found, named, and put back. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files_open.h"
#include "surroundings.h"
#include "watch.h"

static char written[] = "FOLD_WRITTEN=1", put[] = "FOLD_PUT=2";

static void leave_nothing(void) {}
static void set_again(void) { setenv("FOLD_SET", "3", 1); } /* what it was */
static void move_variable(void) { unsetenv("FOLD_SET"), setenv("FOLD_SET", "3", 1); }
static void set_new(void) { setenv("FOLD_NEW", "4", 1); }
static void set_other(void) { setenv("FOLD_SET", "5", 1); }
static void unset(void) { unsetenv("FOLD_SET"); }
static void unset_put(void) { unsetenv("FOLD_PUT"), strcpy(put, "FOLD_BAD=?"); }
static void clear_all(void) { clearenv(); }
static void have_none(void) { environ = NULL; }
static void write_in_place(void) { getenv("FOLD_WRITTEN")[0] = '7'; }
static void change_folder(void) { cr_assert_eq(chdir("/"), 0); }
static void change_locale(void) { cr_assert(setlocale(LC_CTYPE, "C.UTF-8")); }
static void change_own_locale(void) {
  static locale_t own;
  if (!own) own = newlocale(LC_NUMERIC_MASK, "POSIX", (locale_t)0);
  cr_assert(own && uselocale(own));
}
static void block(void) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
}
static void block_last(void) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGRTMAX);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
}
static void lower(int resource, rlim_t to) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = to;
  cr_assert_eq(setrlimit(resource, &limit), 0);
}
static void lower_files(void) { lower(RLIMIT_NOFILE, 16); }
static void lower_stack(void) { lower(RLIMIT_STACK, 4096); }
static void lower_locked(void) { lower(RLIMIT_MEMLOCK, 4096); }
static void leave_all(void) { block(), change_locale(), change_own_locale(), set_new(), change_folder(); }

#define OF(variable) "the environment's variable " variable
static const struct {
  void (*leave)(void);
  const char *name;
  enum fold_look look; /* the shortest that sees it */
} rows[] = {
    {leave_nothing, "", FOLD_LOOK_SHORT},
    {set_again, "", FOLD_LOOK_SHORT},
    {move_variable, "", FOLD_LOOK_SHORT},
    {set_new, OF("FOLD_NEW"), FOLD_LOOK_SHORT},
    {set_other, OF("FOLD_SET"), FOLD_LOOK_SHORT},
    {unset, OF("FOLD_SET"), FOLD_LOOK_SHORT},
    {unset_put, OF("FOLD_PUT"), FOLD_LOOK_SHORT},
    {clear_all, OF("FOLD_FIRST"), FOLD_LOOK_SHORT},
    {have_none, OF("FOLD_FIRST"), FOLD_LOOK_SHORT},
    {write_in_place, OF("FOLD_WRITTEN"), FOLD_LOOK_LONG},
    {change_folder, "the current folder", FOLD_LOOK_LONG},
    {lower_files, "the process's limit of open files", FOLD_LOOK_LONG},
    {lower_stack, "the process's limit of stack", FOLD_LOOK_LONG},
    {lower_locked, "the process's limit of locked memory", FOLD_LOOK_WHOLE},
    {change_locale, "the locale", FOLD_LOOK_SHORT},
    {change_own_locale, "the thread's locale", FOLD_LOOK_SHORT},
    {block, "the signal mask", FOLD_LOOK_SHORT},
    {block_last, "the signal mask", FOLD_LOOK_SHORT},
    {leave_all, "the signal mask", FOLD_LOOK_SHORT},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void expect_as_before(size_t i) {
  char folder[PATH_MAX] = "";
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  const char *set = getenv("FOLD_SET"), *held = getenv("FOLD_WRITTEN"), *other = getenv("FOLD_PUT");
  cr_expect(set && strcmp(set, "3") == 0 && held && strcmp(held, "1") == 0 && other && strcmp(other, "2") == 0,
            "row %zu: variables", i);
  cr_expect(!getenv("FOLD_NEW") && getenv("FOLD_FIRST"), "row %zu: variables", i);
  cr_expect(getcwd(folder, sizeof folder) && strcmp(folder, "/tmp") == 0, "row %zu: %s", i, folder);
  cr_expect_str_eq(setlocale(LC_ALL, NULL), "C", "row %zu", i);
  cr_expect_eq(uselocale((locale_t)0), LC_GLOBAL_LOCALE, "row %zu", i);
  cr_expect(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGRTMAX), "row %zu: signals", i);
}

/* An environment of these four. */
static void begin(void) {
  cr_assert_eq(chdir("/tmp"), 0);
  clearenv();
  setenv("FOLD_FIRST", "0", 1);
  strcpy(written, "FOLD_WRITTEN=1");
  strcpy(put, "FOLD_PUT=2");
  putenv(written);
  putenv(put);
  setenv("FOLD_SET", "3", 1);
}

static void try_row(size_t i) {
  char changed[80] = "";
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  rows[i].leave();
  for (enum fold_look look = FOLD_LOOK_SHORT; look < rows[i].look; look++) {
    fold_surroundings_restore(look, changed);
    cr_expect_str_empty(changed, "row %zu: %s", i, changed);
  }
  fold_surroundings_restore(rows[i].look, changed);
  cr_expect_str_eq(changed, rows[i].name, "row %zu: %s", i, changed);
  changed[0] = '\0';
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_str_eq(changed, rows[i].leave == leave_all ? "the current folder" : "", "row %zu: %s stays", i, changed);
  expect_as_before(i);
}

Test(surroundings, what_a_run_leaves_is_named_and_put_back) {
  for (size_t i = 0; i < ROWS; i++) {
    char changed[80] = "";
    begin();
    try_row(i);
    fold_surroundings_end(true, changed);
    cr_expect_str_empty(changed, "row %zu: %s stays", i, changed);
  }
}

/* The same state is kept all along, as between the runs of one subject. */
Test(surroundings, what_run_after_run_leaves_is_put_back_each_time) {
  begin();
  for (unsigned round = 0; round < 3; round++)
    for (size_t i = 0; i < ROWS; i++) try_row(i);
}

/* A program that holds on to its environment finds it in the same place; and to put it back takes memory once. */
Test(surroundings, variables_are_moved_once_and_not_before_they_have_changed) {
  char changed[80] = "", **places[3];
  begin();
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  char **const before = environ;
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_eq(environ, before);
  for (int k = 0; k < 3; k++) {
    set_other();
    fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
    places[k] = environ;
  }
  cr_expect(places[0] != before && places[1] == places[0] && places[2] == places[0]);
}

Test(surroundings, what_is_named_already_stays_named) {
  char changed[80] = "the rounding mode";
  begin();
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  leave_all();
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_str_eq(changed, "the rounding mode");
  expect_as_before(0);
}

Test(surroundings, a_long_name_is_cut) {
  char name[200], changed[80] = "";
  memset(name, 'N', sizeof name);
  name[sizeof name - 1] = '\0';
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  setenv(name, "1", 1);
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect(strncmp(changed, OF("NNN"), strlen(OF("NNN"))) == 0 && strlen(changed) == 79, "%s", changed);
}

static cpu_set_t processors(void) {
  cpu_set_t now;
  CPU_ZERO(&now);
  cr_assert_eq(sched_getaffinity(0, sizeof now, &now), 0);
  return now;
}

/* On the first one alone; where there is no other one that is no change. */
static void pin(void) {
  cpu_set_t now = processors(), one;
  int first = 0;
  CPU_ZERO(&one);
  while (!CPU_ISSET(first, &now)) first++;
  CPU_SET(first, &one);
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}
static void redirect(int descriptor) {
  const int other = memfd_create("other", MFD_CLOEXEC);
  cr_assert(other >= 0 && dup2(other, descriptor) == descriptor && close(other) == 0);
}
static void redirect_output(void) { redirect(1); }
static void close_input(void) { close(0); }
static void close_errors(void) { close(2); }
static void lead_a_group(void) { setpgid(0, 0); }
static void be_idle(void) { cr_assert_eq(sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0}), 0); }
static void outlive(void) { prctl(PR_SET_PDEATHSIG, SIGUSR1); }
static void close_memory(void) { prctl(PR_SET_DUMPABLE, 0); }

static void lower_privileges(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static void take_files(void) {
  for (int fd = 0; fd >= 0;) fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}
/* All but n, from descriptor `first` on. */
static void take_files_but(int n, int first) {
  take_files();
  for (int fd = first; fd < first + n; fd++) close(fd);
}
static void leave_15_low(void) { take_files_but(15, 20); }
static void leave_15_high(void) { take_files_but(15, 49); }
static void leave_16_low(void) { take_files_but(16, 20); }
static void leave_16_high(void) { take_files_but(16, 48); }

static ino_t file_at(int descriptor) {
  struct stat file = {0};
  fstat(descriptor, &file);
  return file.st_ino;
}

Test(surroundings, what_the_end_of_a_trial_finds_is_named_and_put_back) {
  const cpu_set_t before = processors();
  const ino_t files[] = {file_at(0), file_at(1), file_at(2)};
  const pid_t group = getpgrp();
  const struct {
    void (*leave)(void);
    const char *name;
  } ends[] = {
      {leave_nothing, ""},
      {pin, CPU_COUNT(&before) > 1 ? "the processors that its thread may run on" : ""},
      {close_input, "the process's standard input"},
      {redirect_output, "the process's standard output"},
      {close_errors, "the process's standard error"},
      {be_idle, "the scheduling policy"},
      {outlive, "whether its process ends with its parent"},
      {close_memory, "whether other processes may read its memory"},
      {lead_a_group, group == getpid() ? "" : "the process's group or session"},
  };
  const unsigned n_files = files_open() + 2; /* the current folder's and the root's stay open */
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    char changed[80] = "";
    cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
    ends[i].leave();
    fold_surroundings_end(true, changed);
    fold_surroundings_forget(); /* which closes what was kept open */
    const cpu_set_t now = processors();
    cr_expect_str_eq(changed, ends[i].name, "row %zu: %s", i, changed);
    cr_expect(CPU_EQUAL(&now, &before) && getpgrp() == group, "row %zu", i);
    for (int k = 0; k < 3; k++) cr_expect_eq(file_at(k), files[k], "row %zu: %d", i, k);
    cr_expect_eq(files_open(), n_files, "row %zu", i);
  }
  cr_expect_not(fold_surroundings_are_spoilt());
}

/* What can't be undone: others are to be judged in a new process. */
Test(surroundings, a_process_with_few_descriptors_or_privileges_is_left) {
  static const char few[] = "its process's descriptors: hardly one is left free";
  static const struct {
    void (*leave)(void);
    const char *name;
  } wild[] = {
      {lower_privileges, "which system calls its process may make"},
      {take_files, few},
      {leave_15_low, few},
      {leave_15_high, few},
      {leave_16_low, ""},
      {leave_16_high, ""},
  };
  lower(RLIMIT_NOFILE, 64);
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    const pid_t child = fork();
    if (child == 0) {
      char changed[80] = "";
      const bool kept = fold_surroundings_keep(true).code == FOLD_OK;
      wild[i].leave();
      fold_surroundings_end(true, changed);
      _exit(!kept || strcmp(changed, wild[i].name) != 0         ? 1
            : fold_surroundings_are_spoilt() == !!*wild[i].name ? 0
                                                                : 2);
    }
    int how = 0;
    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "row %zu: %d", i, how);
  }
}

/* Between subjects the harness may change what it likes. */
Test(surroundings, what_is_changed_between_subjects_is_no_subjects) {
  char changed[80] = "";
  begin();
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  const unsigned n_files = files_open();
  fold_surroundings_end(true, changed);
  leave_all();
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  cr_expect_eq(files_open(), n_files, "the former folder's is closed");
  fold_surroundings_end(true, changed);
  cr_expect_str_empty(changed);
  cr_expect_str_eq(getenv("FOLD_NEW"), "4");
}

/* In one look with another current folder, which is put back then, too. */
Test(surroundings, another_root_folder_is_named_and_put_back) {
  char changed[80] = "", folder[PATH_MAX] = "";
  begin();
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  if (chdir("/proc") != 0 || chroot("/tmp") != 0) cr_skip("only a privileged user may have another root folder");
  fold_surroundings_restore(FOLD_LOOK_SHORT, changed);
  cr_expect_str_empty(changed);
  fold_surroundings_restore(FOLD_LOOK_LONG, changed);
  cr_expect_str_eq(changed, "the root folder");
  cr_expect(access("/proc/self", F_OK) == 0 && getcwd(folder, sizeof folder) && strcmp(folder, "/tmp") == 0, "%s",
            folder);
  cr_expect(!fold_surroundings_are_spoilt());
  changed[0] = '\0';
  fold_surroundings_end(true, changed);
  cr_expect_str_empty(changed);
}

enum { CANNOT = 2 };

/* Who has given up his privileges stays there: so does a child, which ends without a sanitizer's report, for its file is elsewhere. */
static int stay_in_another_root(void) {
  char changed[80] = "";
  if (chroot("/tmp") != 0) return CANNOT;
  if (seteuid(65534) != 0) return 1;
  fold_surroundings_restore(FOLD_LOOK_LONG, changed);
  return strcmp(changed, "the root folder") != 0 || !fold_surroundings_are_spoilt();
}

Test(surroundings, a_root_folder_that_can_not_be_put_back_spoils_it) {
  int how;
  begin();
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  const pid_t child = fork();
  if (child == 0) _exit(stay_in_another_root());
  cr_assert_eq(waitpid(child, &how, 0), child);
  if (WIFEXITED(how) && WEXITSTATUS(how) == CANNOT) cr_skip("only a privileged user may have another root folder");
  cr_expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "ended with %x", (unsigned)how);
}

/* Limits, handlers and the like the harness leaves alone between subjects, unless it says that it has changed them. */
Test(surroundings, limits_that_change_between_subjects_are_told_unless_the_harness_forgets_them) {
  for (int forgets = 0; forgets <= 1; forgets++) {
    char changed[80] = "";
    begin();
    fold_surroundings_forget();
    cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
    fold_surroundings_end(true, changed);
    cr_expect_str_empty(changed);
    lower(RLIMIT_NOFILE, (rlim_t)(64 - forgets));
    if (forgets) fold_surroundings_forget();
    cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
    fold_surroundings_end(true, changed);
    cr_expect_str_eq(changed, forgets ? "" : "the process's limit of open files");
  }
}

/* A device's library installs a handler in a subject's first run there: the host's next subject is not blamed for it. */
Test(surroundings, what_a_devices_library_changes_is_not_told_of_the_host) {
  for (int known = 0; known <= 1; known++) {
    char changed[80] = "";
    begin();
    signal(SIGUSR2, SIG_DFL);
    for (int host = 1; host >= 0; host--) {
      if (host && !known) continue; /* a first run on the device */
      cr_assert_eq(fold_surroundings_keep(host).code, FOLD_OK);
      if (!host) signal(SIGUSR2, SIG_IGN);
      fold_surroundings_end(host, changed);
    }
    cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
    fold_surroundings_end(true, changed);
    cr_expect_str_empty(changed, "%s", changed);
    cr_expect_eq(signal(SIGUSR2, SIG_DFL), SIG_IGN, "it was taken away");
    fold_surroundings_forget();
  }
}

/* 0 where it is told, and then no more. */
static int tell_a_new_session(void) {
  char first[80] = "", second[80] = "";
  begin();
  fold_surroundings_keep(true);
  if (setsid() < 0) return 99;
  fold_surroundings_end(true, first);
  fold_surroundings_keep(true);
  fold_surroundings_end(true, second);
  return strcmp(first, "the process's group or session") != 0 ? 1 : second[0] != '\0' ? 2 : 0;
}

/* Else each subject to come would be blamed for it. A process that leads no group may begin a session. */
Test(surroundings, what_cannot_be_put_back_is_told_once) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(tell_a_new_session());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0);
}

/* By whoever else may: it is the same folder. */
Test(surroundings, a_folder_that_is_renamed_or_removed_is_not_left) {
  char folder[] = "/tmp/fold-process-XXXXXX", other[sizeof folder + 6], changed[80] = "", now[PATH_MAX];
  cr_assert(mkdtemp(folder) && chdir(folder) == 0);
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  snprintf(other, sizeof other, "%s-other", folder);
  cr_assert_eq(rename(folder, other), 0);
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_str_empty(changed, "%s", changed);
  cr_assert_eq(chdir("/"), 0);
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_str_eq(changed, "the current folder");
  cr_expect(getcwd(now, sizeof now) && strcmp(now, other) == 0, "%s", now);
  changed[0] = '\0';
  cr_assert_eq(rmdir(other), 0);
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  cr_expect_str_empty(changed, "%s", changed);
  fold_surroundings_end(true, changed);
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK); /* there */
  fold_surroundings_end(true, changed);
  cr_expect_str_empty(changed, "%s", changed);
}

static __attribute__((noinline)) void need_stack(void) {
  volatile char room[56 << 10];
  for (size_t at = sizeof room; at > 0; at -= 1024) room[at - 1] = 1;
}

/* A page of the stack that nobody has touched before is not to be had after a run that lowered its limit. A program begins with 128 KiB
 * of them. */
Test(surroundings, the_harness_has_its_stack_whatever_limit_is_lowered) {
  volatile char used[256 << 10];
  char changed[80] = "";
  cr_assert_eq(used[0] = 0, 0);
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  lower_stack();
  need_stack();
  fold_surroundings_end(true, changed);
  cr_expect_str_eq(changed, "the process's limit of stack");
}

static void handle(int number) { (void)number; }

/* What only the end of all of a subject's runs looks at. */
Test(surroundings, what_a_subject_leaves_behind_is_named_and_put_back) {
  char changed[80] = "";
  signal(SIGUSR2, SIG_DFL); /* whoever started this may have it ignored */
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  signal(SIGUSR2, handle);
  fold_surroundings_end(true, changed);
  cr_expect(strncmp(changed, "the handler of signal 12", 24) == 0, "%s", changed);
  cr_expect_eq(signal(SIGUSR2, SIG_DFL), SIG_DFL, "it stays");
}

/* So many at most are known: of more than that none that was there before is taken for a subject's. */
Test(surroundings, of_very_many_children_none_is_blamed_on_a_subject) {
  enum { CHILDREN = 257 };
  static struct fold_watch watch;
  char changed[80] = "";
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  for (int i = 0; i < CHILDREN; i++)
    if (fork() == 0) _exit(close(ends[1]) || read(ends[0], changed, 1) != 0);
  fold_watch_set(&watch);
  cr_assert_eq(fold_surroundings_keep(true).code, FOLD_OK);
  fold_surroundings_end(true, changed);
  cr_expect_str_empty(changed, "%s", changed);
  close(ends[1]);
  while (wait(NULL) > 0) continue;
}
