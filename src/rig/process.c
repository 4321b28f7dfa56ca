/* process.c: see process.h. The state is the whole process's: threads that are ranks look at it in turn
 * (surroundings.c). */
#include "process.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "orphans.h"

enum {
  SIGNALS = NSIG,
  TIMERS = 3,
  STANDARD = 3,
  MOST_CHILDREN = 256,
  MOST_OWN = 64,
  FILES_NEEDED = 16,
  NAMESPACES = 7
};
static const char *const namespaces[NAMESPACES] = {"cgroup", "ipc", "mnt", "net", "pid_for_children", "user", "uts"};

/* What others may do to the process, and what the process may do. */
struct powers {
  int slack, end_with_parent, dumpable, no_new_privileges, filtered;
};

static struct {
  struct rlimit limits[RLIM_NLIMITS];
  struct sigaction handlers[SIGNALS];
  bool timed[TIMERS], has_timer;
  mode_t mask;
  int priority;
  uid_t user;
  pid_t group, session;
  cpu_set_t processors;
  int policy;
  struct powers powers;
  bool has_files;
  struct stat standard[STANDARD];
  pid_t children[MOST_CHILDREN], orphans[MOST_CHILDREN];
  int n_children, n_orphans;
  ino_t namespaces[NAMESPACES]; /* 0: the system does not say */
  bool spoilt;
} known;
static bool has_guests;

static int copies[STANDARD] = {-1, -1, -1}; /* of the standard descriptors, as they were kept */

static struct {
  pid_t children[MOST_OWN];
  unsigned n;
} own;

static void tell(char changed[80], const char *what) {
  if (!changed[0]) snprintf(changed, 80, "%s", what);
}

/* ---- limits of resources ---- */

static const char *const limit_names[RLIM_NLIMITS] = {
    [RLIMIT_AS] = "address space",  [RLIMIT_CORE] = "core files",   [RLIMIT_CPU] = "processor time",
    [RLIMIT_DATA] = "data",         [RLIMIT_FSIZE] = "files' size", [RLIMIT_MEMLOCK] = "locked memory",
    [RLIMIT_NOFILE] = "open files", [RLIMIT_NPROC] = "processes",   [RLIMIT_STACK] = "stack"};

/* Only a privileged process can raise a hard limit again. Elsewhere the soft limit is raised as far as the hard one
 * allows. */
static void restore_limit(int k, char changed[80]) {
  struct rlimit now, *before = &known.limits[k];
  if (getrlimit(k, &now) != 0 || (now.rlim_cur == before->rlim_cur && now.rlim_max == before->rlim_max)) return;
  if (!changed[0]) snprintf(changed, 80, "the process's limit of %s", limit_names[k] ? limit_names[k] : "a resource");
  if (setrlimit(k, before) == 0) return;
  known.spoilt = true;
  now.rlim_cur = now.rlim_max < before->rlim_cur ? now.rlim_max : before->rlim_cur;
  setrlimit(k, &now);
}

void fold_process_restore_limits(bool all, char changed[80]) {
  static const bool needed[RLIM_NLIMITS] = {[RLIMIT_AS] = true,     [RLIMIT_CPU] = true,   [RLIMIT_DATA] = true,
                                            [RLIMIT_NOFILE] = true, [RLIMIT_NPROC] = true, [RLIMIT_STACK] = true};
  for (int k = 0; k < RLIM_NLIMITS; k++)
    if (all || needed[k]) restore_limit(k, changed);
}

/* ---- signals and timers ---- */

static bool same_handler(const struct sigaction *a, const struct sigaction *b) {
  return a->sa_handler == b->sa_handler && (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO);
}

/* The handlers of faults are the rig's own (fault.h). */
static bool is_looked_at(int number) {
  return number != SIGKILL && number != SIGSTOP && number != SIGSEGV && number != SIGBUS;
}

static void restore_handlers(char changed[80]) {
  for (int number = 1; number < SIGNALS; number++) {
    struct sigaction now;
    if (!is_looked_at(number) || sigaction(number, NULL, &now) || same_handler(&now, &known.handlers[number])) continue;
    if (!changed[0]) snprintf(changed, 80, "the handler of signal %d (%.40s)", number, strsignal(number));
    sigaction(number, &known.handlers[number], NULL);
  }
}

/* One that repeats shows no time while its signal is on its way. */
static bool is_timed(int which) {
  struct itimerval now;
  return getitimer(which, &now) == 0 && (timerisset(&now.it_value) || timerisset(&now.it_interval));
}

/* Finds a running timer among those that timer_create made; -1: there is none, or the system does not tell. */
static int find_timer(void) {
  FILE *file = fopen("/proc/self/timers", "re");
  char line[80];
  int found = -1, id;
  while (file && found < 0 && fgets(line, sizeof line, file)) {
    struct itimerspec now;
    if (sscanf(line, "ID: %d", &id) == 1 && syscall(SYS_timer_gettime, id, &now) == 0 &&
        (now.it_value.tv_sec || now.it_value.tv_nsec))
      found = id;
  }
  if (file) fclose(file);
  return found;
}

/* A timer that goes off later would end the subject that runs then. */
static void restore_timers(char changed[80]) {
  static const int which[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (int id; !known.has_timer && (id = find_timer()) >= 0;) {
    tell(changed, "a timer, which was to send a signal later");
    if (syscall(SYS_timer_delete, id) != 0) break;
  }
  for (int k = 0; k < TIMERS; k++) {
    if (known.timed[k] || !is_timed(which[k])) continue;
    tell(changed, "a timer, which was to send a signal later");
    setitimer(which[k], &(struct itimerval){0}, NULL);
  }
}

/* ---- who we are ---- */

static mode_t mask_now(void) {
  mode_t mask = umask(0);
  umask(mask);
  return mask;
}

static void restore_person(char changed[80]) {
  if (mask_now() != known.mask) tell(changed, "the mask of files' modes");
  umask(known.mask);
  if (geteuid() != known.user) {
    tell(changed, "the process's user");
    known.spoilt |= seteuid(known.user) != 0;
  }
  if (getpgrp() != known.group || getsid(0) != known.session) {
    tell(changed, "the process's group or session");
    known.spoilt |= getsid(0) != known.session || setpgid(0, known.group) != 0;
  }
  if (getpriority(PRIO_PROCESS, 0) == known.priority) return;
  tell(changed, "the process's priority");
  known.spoilt |= setpriority(PRIO_PROCESS, 0, known.priority) != 0;
}

/* ---- where it runs ---- */

static cpu_set_t processors_now(void) {
  cpu_set_t now = {0};
  sched_getaffinity(0, sizeof now, &now);
  return now;
}

static void restore_policy(char changed[80]) {
  const int now = sched_getscheduler(0);
  if (now == known.policy) return;
  tell(changed, "the scheduling policy");
  known.spoilt |= sched_setscheduler(0, known.policy, &(struct sched_param){0}) != 0;
}

static void restore_processors(char changed[80]) {
  const cpu_set_t now = processors_now();
  if (CPU_EQUAL(&now, &known.processors)) return;
  tell(changed, "the processors that its thread may run on");
  sched_setaffinity(0, sizeof known.processors, &known.processors);
}

/* ---- what the process may do ---- */

static struct powers powers_now(void) {
  struct powers p = {.slack = prctl(PR_GET_TIMERSLACK),
                     .dumpable = prctl(PR_GET_DUMPABLE),
                     .no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
                     .filtered = prctl(PR_GET_SECCOMP)};
  prctl(PR_GET_PDEATHSIG, &p.end_with_parent);
  return p;
}

/* A filter of system calls can't be removed: the harness's own calls may fail from here on. */
static void restore_powers(char changed[80]) {
  const struct powers now = powers_now(), *before = &known.powers;
  if (now.filtered != before->filtered || now.no_new_privileges != before->no_new_privileges) {
    tell(changed, "which system calls its process may make");
    known.spoilt = true;
  }
  if (now.end_with_parent != before->end_with_parent) tell(changed, "whether its process ends with its parent");
  if (now.dumpable != before->dumpable) tell(changed, "whether other processes may read its memory");
  if (now.slack != before->slack) tell(changed, "its thread's timer slack");
  prctl(PR_SET_TIMERSLACK, before->slack);
  prctl(PR_SET_DUMPABLE, before->dumpable);
  prctl(PR_SET_PDEATHSIG, before->end_with_parent);
}

/* One poll tells whether the highest descriptors that the limit allows are free, as they nearly always are. To open and
 * close as many files takes two calls each. */
static bool highest_are_free(void) {
  const rlim_t limit = known.limits[RLIMIT_NOFILE].rlim_cur;
  struct pollfd at[FILES_NEEDED];
  if (limit < FILES_NEEDED || limit > INT_MAX) return false;
  for (int k = 0; k < FILES_NEEDED; k++) at[k] = (struct pollfd){.fd = (int)limit - 1 - k};
  bool all = poll(at, FILES_NEEDED, 0) == FILES_NEEDED;
  for (int k = 0; k < FILES_NEEDED; k++) all = all && at[k].revents == POLLNVAL;
  return all;
}

/* Whether the harness can open as many files as it needs. */
static bool has_files(void) {
  int files[FILES_NEEDED], n = 0;
  if (highest_are_free()) return true;
  while (n < FILES_NEEDED && (files[n] = open("/", O_PATH | O_CLOEXEC)) >= 0) n++;
  for (int k = 0; k < n; k++) close(files[k]);
  return n == FILES_NEEDED;
}

static void look_at_files(char changed[80]) {
  if (!known.has_files || has_files()) return;
  tell(changed, "its process's descriptors: hardly one is left free");
  known.spoilt = true;
}

/* ---- the standard descriptors ---- */

static struct stat file_at(int descriptor) {
  struct stat file = {0}; /* stays zero for one that is closed */
  fstat(descriptor, &file);
  return file;
}

static void keep_standard(void) {
  for (int k = 0; k < STANDARD; k++) {
    known.standard[k] = file_at(k);
    copies[k] = fcntl(k, F_DUPFD_CLOEXEC, STANDARD);
  }
}

static void restore_standard(char changed[80]) {
  static const char *const names[STANDARD] = {"standard input", "standard output", "standard error"};
  for (int k = 0; k < STANDARD; k++) {
    const struct stat now = file_at(k), *before = &known.standard[k];
    if (now.st_dev == before->st_dev && now.st_ino == before->st_ino) continue;
    if (!changed[0]) snprintf(changed, 80, "the process's %s", names[k]);
    if (copies[k] >= 0)
      dup2(copies[k], k);
    else if (before->st_ino == 0)
      close(k);
  }
}

void fold_process_forget(void) {
  for (int k = 0; k < STANDARD; k++) {
    close(copies[k]); /* -1: closes nothing */
    copies[k] = -1;
  }
}

/* ---- children ---- */

void fold_process_own_child(pid_t child) { own.children[own.n++ % MOST_OWN] = child; }

static bool is_among(const pid_t *children, int n, pid_t child) {
  while (n > 0 && children[n - 1] != child) n--;
  return n > 0;
}

/* The children of this thread, in which subjects run; also those that have ended and that nobody has waited for. */
static int read_children(pid_t children[MOST_CHILDREN]) {
  siginfo_t info;
  int n = 0;
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  FILE *file = fold_proc_is_ours() ? fopen("/proc/thread-self/children", "re") : NULL;
  while (file && n < MOST_CHILDREN && fscanf(file, "%d", &children[n]) == 1) n++;
  if (file) fclose(file);
  return n;
}

/* Names such a child but lets it run: it may belong to a pool that the subject uses again. It ends with this process
 * (orphans.h). */
static void look_at_children(char changed[80]) {
  pid_t now[MOST_CHILDREN];
  const int n = read_children(now);
  for (int i = 0; i < n; i++)
    if (!is_among(known.children, known.n_children, now[i]) && !is_among(own.children, MOST_OWN, now[i]))
      tell(changed, "a process that it started and did not wait for");
}

/* The children of the process that watches this one; none unless guests are judged. */
static int read_orphans(pid_t orphans[MOST_CHILDREN]) {
  char path[64];
  int n = 0;
  if (!has_guests || !fold_proc_is_ours()) return 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", getppid(), getppid());
  FILE *file = fopen(path, "re");
  while (file && n < MOST_CHILDREN && fscanf(file, "%d", &orphans[n]) == 1) n++;
  if (file) fclose(file);
  return n;
}

static bool is_running(pid_t process) {
  char path[32], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "re");
  if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  if (file) fclose(file);
  return state != 'Z' && state != 'X';
}

/* Whether it still runs after 0.3 s. The system waits for orphans that have ended: they are no trace. */
static bool stays(pid_t process) {
  for (int i = 0; i < 150 && is_running(process); i++) usleep(2000);
  return is_running(process);
}

static void look_at_orphans(char changed[80]) {
  pid_t now[MOST_CHILDREN];
  const int n = read_orphans(now);
  for (int i = 0; i < n; i++)
    if (!is_among(known.orphans, known.n_orphans, now[i]) && stays(now[i]))
      tell(changed, "a process that it started, which has left its parent");
}

/* ---- namespaces ---- */

static void read_namespaces(ino_t found[NAMESPACES]) {
  char path[32];
  struct stat file;
  for (int k = 0; k < NAMESPACES; k++) {
    snprintf(path, sizeof path, "/proc/self/ns/%s", namespaces[k]);
    found[k] = has_guests && stat(path, &file) == 0 ? file.st_ino : 0;
  }
}

static void look_at_namespaces(char changed[80]) {
  ino_t now[NAMESPACES];
  read_namespaces(now);
  for (int k = 0; k < NAMESPACES; k++) {
    if (now[k] == known.namespaces[k] || now[k] == 0 || known.namespaces[k] == 0) continue;
    if (!changed[0]) snprintf(changed, 80, "its process's namespace (%s)", namespaces[k]);
    known.spoilt = true;
  }
}

/* ---- all of it ---- */

void fold_process_watch_guests(void) { has_guests = true; }

void fold_process_keep(void) {
  fold_process_forget();
  keep_standard();
  static const int which[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (int k = 0; k < RLIM_NLIMITS; k++) getrlimit(k, &known.limits[k]);
  for (int number = 1; number < SIGNALS; number++)
    if (is_looked_at(number)) sigaction(number, NULL, &known.handlers[number]);
  for (int k = 0; k < TIMERS; k++) known.timed[k] = is_timed(which[k]);
  known.has_timer = find_timer() >= 0;
  known.mask = mask_now();
  known.priority = getpriority(PRIO_PROCESS, 0);
  known.user = geteuid();
  known.group = getpgrp();
  known.session = getsid(0);
  known.processors = processors_now();
  known.policy = sched_getscheduler(0);
  known.powers = powers_now();
  known.has_files = has_files();
  known.n_children = read_children(known.children);
  known.n_orphans = read_orphans(known.orphans);
  read_namespaces(known.namespaces);
}

void fold_process_restore(char changed[80]) {
  restore_timers(changed); /* before the handlers: a signal that finds none ends the process */
  restore_handlers(changed);
  restore_person(changed);
  restore_policy(changed);
  restore_processors(changed);
  restore_powers(changed);
  restore_standard(changed);
  look_at_files(changed);
  look_at_children(changed);
  look_at_orphans(changed);
  look_at_namespaces(changed);
}

bool fold_process_is_spoilt(void) { return known.spoilt; }
