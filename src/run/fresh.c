/* fresh.c: child processes record (fresh_read.c reads what they wrote). A guest gets several processes: its code lies at
 * another address in each, and a choice by an address may be the same in half of them. The records are a file in memory,
 * so that nothing stays behind, however either process ends.
 */
#include "run/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a new process differs. For launch_invariant only variables that say a number of threads do: so other differences
 * are not taken for one of these. */
struct process {
  const char *fixtures;
  bool backwards;
  bool of_threads;  /* for launch_invariant, else for fresh_process */
  unsigned threads; /* 0: the variables are as they are here */
  bool of_guests;   /* whose first results are kept: they tell where the difference is */
};

static void add(const char **argv, size_t *n, const char *name, const char *value) {
  if (value == NULL) return;
  argv[(*n)++] = name;
  argv[(*n)++] = value;
}

/* Whether --problem says what arrays, or commands that are started for each run, are of. */
static bool has_problem(const struct fold_selection *s) {
  bool has = s->n_npy > 0;
  for (size_t i = 0; i < s->n_guests; i++)
    has |= s->guests[i].door == &fold_door_program && fold_command_is_one_run(s->guests[i].what);
  return has;
}

/* The child's command line, to be freed; NULL where memory is short. */
static const char **command_line(const struct fold_selection *s, const struct process *how, const char *path) {
  enum { OTHER_WORDS = 32 };
  const char **argv = calloc(OTHER_WORDS + 2 * (s->n_guests + s->n_npy), sizeof *argv);
  size_t n = 0;
  if (argv == NULL) return NULL;
  add(argv, &n, "foldproof", "record");
  if (how->backwards) argv[n++] = "--backwards";
  if (s->finite) argv[n++] = "--finite";
  add(argv, &n, "--jsonl", path);
  add(argv, &n, "--fresh", how->of_threads ? "threads" : s->probe ? "probed" : "promised");
  add(argv, &n, "--seconds", s->seconds > 0 ? s->seconds_text : NULL);
  for (size_t i = 0; i < s->n_guests; i++) add(argv, &n, s->guests[i].door->option, s->guests[i].what);
  add(argv, &n, "--subjects", s->subjects);
  add(argv, &n, "--engine", s->engine < 0 ? NULL : fold_engine_name((enum fold_engine)s->engine));
  for (size_t i = 0; i < s->n_npy; i++) add(argv, &n, "--npy", s->npy[i]);
  add(argv, &n, "--problem", has_problem(s) ? s->npy_problem->name : NULL);
  add(argv, &n, "--sweep", s->sweep.alone ? s->sweep.text : NULL);
  add(argv, &n, "--fixture-folder", s->folder);
  add(argv, &n, "--set", s->set);
  add(argv, &n, "--fixtures", how->fixtures);
  return argv;
}

/* Makes only calls that are safe between fork and exec. The child is killed at once when this process ends: nothing else
 * would read its records, and its ranks end when it is gone. */
static pid_t spawn(const char *const *argv, char *const *variables, int records) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || fcntl(records, F_SETFD, 0) != 0) _exit(99);
  personality(personality(0xffffffff) & ~(unsigned long)ADDR_NO_RANDOMIZE); /* a debugger sets the flag */
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execve("/proc/self/exe", (char *const *)(uintptr_t)argv, variables);
  _exit(99);
}

static fold_status ask(const struct fold_selection *selection, const struct process *how, int records) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", records);
  const char **argv = command_line(selection, how, path);
  char **variables = NULL;
  if (argv == NULL) return fold_no_memory("to start a new process");
  fold_status status = how->of_threads ? fold_threads_environment(how->threads, &variables)
                                       : fold_fresh_environment(how->backwards, &variables);
  pid_t child = status.code == FOLD_OK ? spawn(argv, variables, records) : -1;
  int code = 0;
  free(argv);
  fold_fresh_environment_free(variables);
  FOLD_TRY(status);
  if (child < 0) return fold_error(FOLD_ENVIRONMENT, "a new process cannot be started: %s", strerror(errno));
  while (waitpid(child, &code, 0) < 0)
    if (errno != EINTR) return fold_error(FOLD_ENVIRONMENT, "the new process was lost: %s", strerror(errno));
  /* Any exit code is accepted. 99: some subject failed there, as it does here; 2: there was nothing to run, or no
   * memory, as here. A run that it did not record is missing when the judge asks for it, and that is never green. */
  if (WIFEXITED(code)) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the new process was killed by signal %d", WTERMSIG(code));
}

static fold_status lost(void) {
  return fold_error(FOLD_ENVIRONMENT, "a new process's records are lost: %s%s", strerror(errno),
                    errno == EFBIG ? ": raise the limit of a file's size (ulimit -f)" : "");
}

static bool write_all(int to, const char *bytes, size_t n) {
  for (ssize_t done; n > 0; bytes += done, n -= (size_t)done)
    if ((done = write(to, bytes, n)) < 0) return false;
  return true;
}

/* Appends to the records that are there. */
static fold_status append(int records, int more, const struct process *how) {
  char bytes[1 << 14];
  ssize_t n = 0;
  lseek(records, 0, SEEK_END);
  const char *backwards = how->backwards ? "true" : "false", *of_threads = how->of_threads ? "true" : "false";
  if (dprintf(records, "{\"backwards\":%s,\"of_threads\":%s,\"threads\":%u,\"of_guests\":%s}\n", backwards, of_threads,
              how->threads, how->of_guests ? "true" : "false") < 0)
    return lost();
  for (off_t at = 0; (n = pread(more, bytes, sizeof bytes, at)) > 0; at += n)
    if (!write_all(records, bytes, (size_t)n)) break;
  return n == 0 ? fold_ok() : lost();
}

static fold_status ask_another(const struct fold_selection *selection, const struct process *how, int records) {
  int more = memfd_create("foldproof-fresh", MFD_CLOEXEC);
  if (more < 0) return fold_error(FOLD_ENVIRONMENT, "a file in memory cannot be made: %s", strerror(errno));
  fold_status status = ask(selection, how, more);
  if (status.code == FOLD_OK) status = append(records, more, how);
  close(more);
  return status;
}

/* Which of two cases of a dtype and problem stands for them. */
typedef bool fold_prefers(const struct fold_case *former, const struct fold_case *c);

/* One of medium size, where there is one. */
static bool prefers_medium(const struct fold_case *former, const struct fold_case *c) {
  enum { LEAST = 100, MOST = 20000 };
  const bool fits = c->cols >= LEAST && fold_case_terms(c) <= MOST && fold_case_results(c) > 0;
  return fits && former->cols < LEAST;
}

/* Libraries share only long rows among threads. */
static bool prefers_long(const struct fold_case *former, const struct fold_case *c) {
  enum { MOST = 1 << 18 };
  return fold_case_results(c) > 0 && c->cols > former->cols && fold_case_terms(c) <= MOST;
}

/* A glob that names one case of each dtype and problem. NULL: no memory. */
static char *some_cases(const struct fold_cases *cases, fold_prefers *prefers) {
  const struct fold_case *of[FOLD_DTYPES][FOLD_PROBLEMS] = {{NULL}};
  char *text = NULL;
  size_t size;
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i], **best = &of[c->dtype][c->problem->id];
    if (c->ranks == 0 && (*best == NULL || prefers(*best, c))) *best = c;
  }
  FILE *out = open_memstream(&text, &size);
  for (int d = 0; out && d < FOLD_DTYPES; d++)
    for (int p = 0; p < FOLD_PROBLEMS; p++)
      if (of[d][p]) fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", of[d][p]->name);
  return out && fclose(out) == 0 ? text : NULL;
}

/* Seconds. A selection that takes longer than SLOW is run in one new process only, and that is said, unless the user
 * asks for another number of repeats. */
static const double QUICK = 1, SLOW = 4, FOR_OTHERS = 2;

static fold_status tell_slow(int records, double seconds) {
  lseek(records, 0, SEEK_END);
  return dprintf(records, "{\"slow\":%.1f}\n", seconds) > 0 ? fold_ok() : lost();
}

/* Until when further processes are started: so that half of a time limit is left for the runs here. */
static double end_of_others(const struct fold_selection *selection, double begun) {
  return selection->end > 0 ? begun + (selection->end - begun) / 2 : begun + 1e9;
}

/* For guests the first process, and every second one, goes through cases and subjects backwards. That shows when the
 * first run of a process decides something for all later runs, or one subject for another. */
static fold_status ask_plainly(const struct fold_selection *selection, const struct fold_cases *cases, int records) {
  enum { LEAST = 2, MOST = 13 };
  struct process how = {
      .fixtures = selection->fixtures, .backwards = selection->n_guests > 0, .of_guests = selection->n_guests > 0};
  const double begun = fold_now(), limit = end_of_others(selection, begun);
  FOLD_TRY(ask_another(selection, &how, records));
  const double took = fold_now() - begun;
  const bool wants_more = selection->repeats != FOLD_REPEATS, whole = wants_more || took < QUICK;
  if (selection->n_guests == 0) return fold_ok();
  if (took > SLOW && !wants_more) return tell_slow(records, took);
  for (unsigned k = 1; whole && k < selection->repeats && fold_now() < limit; k++) {
    how.backwards = k % 2 == 0;
    FOLD_TRY(ask_another(selection, &how, records));
  }
  char *some = some_cases(cases, prefers_medium);
  const double end = fold_now() + FOR_OTHERS;
  fold_status status = some ? fold_ok() : fold_no_memory("for names of cases");
  if (selection->n_npy == 0) how.fixtures = some;
  for (unsigned k = 0; k < MOST && status.code == FOLD_OK && (k < LEAST || fold_now() < end) && fold_now() < limit;
       k++) {
    how.backwards = k % 2 == 0;
    status = ask_another(selection, &how, records);
  }
  free(some);
  return status;
}

/* The first process, without variables, is what the others are compared with. If the whole selection takes long there, the
 * others get the longest case of each dtype and problem. */
static fold_status ask_threads(const struct fold_selection *selection, const struct fold_cases *cases, int records) {
  static const unsigned numbers[] = {0, 1, 2, 4};
  struct process how = {.fixtures = selection->fixtures, .of_threads = true, .of_guests = true};
  char *some = selection->n_npy ? NULL : some_cases(cases, prefers_long);
  fold_status status = some || selection->n_npy ? fold_ok() : fold_no_memory("for names of cases");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status.code == FOLD_OK; i++) {
    const double begun = fold_now();
    how.threads = numbers[i];
    status = ask_another(selection, &how, records);
    if (some && fold_now() - begun > QUICK) how.fixtures = some;
  }
  free(some);
  return status;
}

fold_status fold_fresh_ask(const struct fold_selection *selection, const struct fold_cases *cases, uint64_t claims,
                           int records) {
  if (claims & FOLD_CLAIM(FOLD_FRESH_PROCESS)) FOLD_TRY(ask_plainly(selection, cases, records));
  const bool of_threads = claims & FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) && selection->n_guests > 0;
  return of_threads ? ask_threads(selection, cases, records) : fold_ok();
}
