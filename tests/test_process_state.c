/* test_process_state.c: everything in process_state.h that a run may leave changed is found, named, and put back. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files_open.h"
#include "process/proc.h"
#include "rig/process_state.h"

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
static void leave_all(void) { block(), change_locale(), change_own_locale(), set_new(), change_folder(); }

#define OF(variable) "the environment's variable " variable
static const struct {
  void (*leave)(void);
  const char *name;
  bool whole; /* only the whole look sees it */
} rows[] = {
    {leave_nothing, "", false},
    {set_again, "", false},
    {move_variable, "", false},
    {set_new, OF("FOLD_NEW"), false},
    {set_other, OF("FOLD_SET"), false},
    {unset, OF("FOLD_SET"), false},
    {unset_put, OF("FOLD_PUT"), false},
    {clear_all, OF("FOLD_FIRST"), false},
    {have_none, OF("FOLD_FIRST"), false},
    {write_in_place, OF("FOLD_WRITTEN"), true},
    {change_folder, "the current folder", true},
    {change_locale, "the locale", false},
    {change_own_locale, "the thread's locale", false},
    {block, "the signal mask", false},
    {block_last, "the signal mask", false},
    {leave_all, "the signal mask", false},
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

static void keep(void) { cr_assert_eq(fold_process_state_keep().code, FOLD_OK); }

/* What the call names. */
static const char *restored(bool whole) {
  static char changed[80];
  changed[0] = '\0';
  fold_process_state_restore(whole, changed);
  return changed;
}
static const char *ended(void) {
  static char changed[80];
  changed[0] = '\0';
  fold_process_state_end(true, changed);
  return changed;
}

static void try_row(size_t i) {
  keep();
  rows[i].leave();
  if (rows[i].whole) cr_expect_str_empty(restored(false), "row %zu", i);
  cr_expect_str_eq(restored(rows[i].whole), rows[i].name, "row %zu", i);
  cr_expect_str_eq(restored(true), rows[i].leave == leave_all ? "the current folder" : "", "row %zu stays", i);
  expect_as_before(i);
}

Test(process_state, what_a_run_leaves_is_named_and_put_back) {
  for (size_t i = 0; i < ROWS; i++) {
    begin();
    try_row(i);
    cr_expect_str_empty(ended(), "row %zu stays", i);
  }
}

/* The same state is kept all along, as between the runs of one subject. */
Test(process_state, what_run_after_run_leaves_is_put_back_each_time) {
  begin();
  for (unsigned round = 0; round < 3; round++)
    for (size_t i = 0; i < ROWS; i++) try_row(i);
}

/* A program that holds on to its environment finds it in the same place; and to put it back takes memory once. */
Test(process_state, variables_are_moved_once_and_not_before_they_have_changed) {
  char **places[3];
  begin();
  keep();
  char **const before = environ;
  restored(true);
  cr_expect_eq(environ, before);
  for (int k = 0; k < 3; k++) {
    set_other();
    restored(true);
    places[k] = environ;
  }
  cr_expect(places[0] != before && places[1] == places[0] && places[2] == places[0]);
}

Test(process_state, what_is_named_already_stays_named) {
  char changed[80] = "the rounding mode";
  begin();
  keep();
  leave_all();
  fold_process_state_restore(true, changed);
  cr_expect_str_eq(changed, "the rounding mode");
  expect_as_before(0);
}

Test(process_state, a_long_name_is_cut) {
  char name[200];
  memset(name, 'N', sizeof name);
  name[sizeof name - 1] = '\0';
  keep();
  setenv(name, "1", 1);
  const char *changed = restored(true);
  cr_expect(strncmp(changed, OF("NNN"), strlen(OF("NNN"))) == 0 && strlen(changed) == 79, "%s", changed);
}

static void redirect(int descriptor) {
  const int other = memfd_create("other", MFD_CLOEXEC);
  cr_assert(other >= 0 && dup2(other, descriptor) == descriptor && close(other) == 0);
}
static void redirect_output(void) { redirect(1); }
static void close_input(void) { close(0); }
static void close_errors(void) { close(2); }
static ino_t file_at(int descriptor) {
  struct stat file = {0};
  fstat(descriptor, &file);
  return file.st_ino;
}

Test(process_state, a_standard_descriptor_is_named_and_put_back_at_the_end) {
  static const struct {
    void (*leave)(void);
    const char *name;
  } ends[] = {{leave_nothing, ""},
              {close_input, "the process's standard input"},
              {redirect_output, "the process's standard output"},
              {close_errors, "the process's standard error"}};
  const ino_t files[] = {file_at(0), file_at(1), file_at(2)};
  const unsigned n_files = files_open();
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    keep();
    ends[i].leave();
    cr_expect_str_eq(ended(), ends[i].name, "row %zu", i);
    for (int k = 0; k < 3; k++) cr_expect_eq(file_at(k), files[k], "row %zu: %d", i, k);
    cr_expect_eq(files_open(), n_files, "row %zu: what was kept open is closed", i);
  }
}

/* On one device files have other numbers. */
Test(process_state, a_standard_descriptor_of_another_file_on_its_device_is_named_and_put_back) {
  const ino_t first = (redirect(0), file_at(0));
  keep();
  redirect(0);
  cr_expect_str_eq(ended(), "the process's standard input");
  cr_expect_eq(file_at(0), first);
}

/* A program may be started without it. */
Test(process_state, a_standard_descriptor_that_was_closed_is_closed_again) {
  close(STDIN_FILENO);
  keep();
  cr_expect_str_empty(ended());
  keep();
  cr_assert_eq(dup2(STDERR_FILENO, STDIN_FILENO), STDIN_FILENO);
  cr_expect_str_eq(ended(), "the process's standard input");
  cr_expect_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
}

/* Between subjects the harness may change what it likes. */
Test(process_state, what_is_changed_between_subjects_is_no_subjects) {
  begin();
  keep();
  cr_expect_str_empty(ended());
  leave_all();
  signal(SIGUSR2, SIG_IGN);
  cr_expect_str_empty(restored(true));
  keep();
  cr_expect_str_empty(ended());
  cr_expect_str_eq(getenv("FOLD_NEW"), "4");
}

/* As when it starts an engine amid a trial. */
Test(process_state, what_the_harness_changes_and_forgets_is_no_subjects) {
  begin();
  keep();
  leave_all();
  fold_process_state_forget();
  keep();
  cr_expect_str_empty(ended());
  cr_expect_str_eq(getenv("FOLD_NEW"), "4");
}

/* A device's library installs a handler when it is first used: that is no subject's. */
Test(process_state, what_a_devices_library_changes_is_not_named) {
  char changed[80] = "";
  signal(SIGUSR2, SIG_DFL);
  keep();
  signal(SIGUSR2, SIG_IGN);
  fold_process_state_end(false, changed);
  cr_expect_str_empty(changed);
  keep();
  cr_expect_str_empty(ended());
  cr_expect_eq(signal(SIGUSR2, SIG_DFL), SIG_IGN, "it was taken away");
}

/* It is the same folder. */
Test(process_state, a_folder_that_is_renamed_or_removed_is_not_left) {
  char folder[] = "/tmp/fold-process-XXXXXX", other[sizeof folder + 6], now[PATH_MAX];
  cr_assert(mkdtemp(folder) && chdir(folder) == 0);
  keep();
  snprintf(other, sizeof other, "%s-other", folder);
  cr_assert_eq(rename(folder, other), 0);
  cr_expect_str_empty(restored(true));
  cr_assert_eq(chdir("/"), 0);
  cr_expect_str_eq(restored(true), "the current folder");
  cr_expect(getcwd(now, sizeof now) && strcmp(now, other) == 0, "%s", now);
  cr_assert_eq(rmdir(other), 0);
  cr_expect_str_empty(restored(true));
  cr_expect_str_empty(ended());
  keep(); /* there */
  cr_expect_str_empty(ended());
}

static void handle(int number) { (void)number; }

/* Names what is changed at the end of a subject's runs, and keeps the state again. */
static const char *end_and_keep(void) {
  const char *changed = ended();
  keep();
  return changed;
}

/* All but those that can't be handled and the rig's own. */
Test(process_state, each_signals_handler_is_named_and_put_back) {
  keep();
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction before, now;
    char name[80];
    if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN)) continue; /* libc has two */
    const bool of_faults = number == SIGSEGV || number == SIGBUS;
    cr_assert_eq(sigaction(number, &(struct sigaction){.sa_handler = handle}, &before), 0);
    snprintf(name, sizeof name, "the handler of signal %d (%s)", number, strsignal(number));
    cr_expect_str_eq(end_and_keep(), of_faults ? "" : name);
    cr_assert_eq(sigaction(number, NULL, &now), 0);
    cr_expect_eq(now.sa_handler, of_faults ? handle : before.sa_handler, "signal %d", number);
    sigaction(number, &before, NULL);
  }
}

/* One address may be taken for a handler of either kind. */
Test(process_state, a_handler_that_takes_more_arguments_is_another) {
  struct sigaction action = {.sa_handler = handle};
  cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
  keep();
  cr_expect_str_empty(end_and_keep());
  action.sa_flags = SA_SIGINFO;
  cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
  cr_expect(strstr(end_and_keep(), "the handler of signal 10"));
}

/* Not one that was there before, nor one of the harness's own; but also one that has ended and was not waited for. */
Test(process_state, a_child_that_is_left_is_named_once) {
  int ends[2];
  char byte;
  cr_assert_eq(pipe(ends), 0);
  keep();
  for (int kind = 0; kind <= 3; kind++) {
    const bool was_there = kind == 0, is_own = kind == 1, ends_itself = kind == 3;
    const pid_t child = fork();
    if (child == 0) _exit(ends_itself ? 0 : close(ends[1]) || read(ends[0], &byte, 1) != 0);
    if (was_there) fold_process_state_forget();
    if (was_there) keep();
    if (is_own) fold_process_state_own_child(child);
    if (ends_itself) waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
    cr_expect_str_eq(end_and_keep(), was_there || is_own ? "" : "a process that it started and did not wait for",
                     "kind %d", kind);
    cr_expect_str_empty(end_and_keep(), "kind %d", kind);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
}

/* So many at most are known: of more than that none that was there before is taken for a subject's. */
Test(process_state, of_very_many_children_none_is_blamed_on_a_subject) {
  enum { CHILDREN = 257 };
  int ends[2];
  char byte;
  cr_assert_eq(pipe(ends), 0);
  for (int i = 0; i < CHILDREN; i++)
    if (fork() == 0) _exit(close(ends[1]) || read(ends[0], &byte, 1) != 0);
  keep();
  cr_expect_str_empty(ended());
  close(ends[1]);
  while (wait(NULL) > 0) continue;
}

/* ---- orphans: children of the process that watches this one ---- */

static void say(const int ends[2]) { cr_assert_eq(write(ends[1], "x", 1), 1); }
static void hear(const int ends[2]) {
  char byte;
  if (read(ends[0], &byte, 1) != 1) _exit(9);
}

/* A process whose child, told by the second pipe, stays when it ends itself. */
static pid_t start_parent(const int asked[2], const int told[2]) {
  const pid_t parent = fork();
  if (parent != 0) return parent;
  hear(asked);
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  if (write(told[1], &child, sizeof child) != sizeof child) _exit(9);
  for (;;) pause();
}

static pid_t start_child_of(const int asked[2], const int told[2]) {
  pid_t child;
  say(asked);
  cr_assert_eq(read(told[0], &child, sizeof child), sizeof child);
  return child;
}

/* Runs as a worker does: what it says of its runs' traces once an orphan has come. */
static pid_t start_worker(const int begun[2], const int orphaned[2], const char *wanted) {
  const pid_t worker = fork();
  char changed[80] = "";
  if (worker != 0) return worker;
  fold_process_state_watch_guests();
  if (fold_process_state_keep().code != FOLD_OK) _exit(9);
  say(begun);
  hear(orphaned);
  fold_process_state_end(true, changed);
  _exit(strcmp(changed, wanted) != 0);
}

static void await_parent(pid_t process, pid_t parent) {
  struct fold_proc found;
  while (fold_proc_read(process, &found) && found.parent != parent) usleep(1000);
}

/* What a worker before this one has started may become an orphan when this one is at work. */
Test(process_state, an_orphan_that_is_older_than_the_process_is_not_blamed_on_its_subject) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int older = 0; older < 2; older++) {
    int asked[2], told[2], begun[2], orphaned[2], how = 0;
    cr_assert(pipe(asked) == 0 && pipe(told) == 0 && pipe(begun) == 0 && pipe(orphaned) == 0);
    const pid_t parent = start_parent(asked, told);
    pid_t child = older ? start_child_of(asked, told) : 0;
    usleep(30000); /* the system counts in hundredths of a second */
    const pid_t worker =
        start_worker(begun, orphaned, older ? "" : "a process that it started, which has left its parent");
    hear(begun);
    if (!older) child = start_child_of(asked, told);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    await_parent(child, getpid());
    say(orphaned);
    cr_assert_eq(waitpid(worker, &how, 0), worker);
    cr_expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "older %d: %x", older, (unsigned)how);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
}
