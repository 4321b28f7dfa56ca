/* fresh.c: child processes record (fresh_read.c reads what they wrote). A guest gets several processes: its code lies at
 * another address in each, and a choice by an address may be the same in half of them. The records are a file in memory,
 * so that nothing stays behind, however either process ends.
 */
#include "fresh.h"
#include "fresh_environment.h"
#include "job.h"

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

/* The child's command line; NULL where memory is short. */
static const char **command_line(const struct fold_selection *s, const char *fixtures, bool backwards,
                                 const char *path) {
  struct fold_options options = {0};
  if (backwards) fold_options_add(&options, "--backwards", NULL);
  fold_options_add(&options, "--jsonl", path);
  fold_options_add(&options, "--fresh", s->probe ? "probed" : "promised");
  for (size_t i = 0; i < s->n_guests; i++) fold_options_add(&options, s->guests[i].door->option, s->guests[i].what);
  fold_options_add_job(
      &options, &(struct fold_job){.subjects = s->subjects,
                                   .engine = s->engine < 0 ? NULL : fold_engine_name((enum fold_engine)s->engine),
                                   .npy = s->npy,
                                   .n_npy = s->n_npy,
                                   .op = s->npy_problem->name,
                                   .folder = s->folder,
                                   .set = s->set,
                                   .fixtures = fixtures});
  const char **argv = fold_options_argv(&options, "foldproof", "record");
  fold_options_free(&options);
  return argv;
}

/* Makes only calls that are safe between fork and exec. The child is killed at once when this process ends: nobody else
 * would read its records, and its ranks end when it is gone. */
static pid_t spawn(const char *const *argv, char *const *variables, int records) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || fcntl(records, F_SETFD, 0) != 0) _exit(99);
  personality(personality(0xffffffff) & ~(unsigned long)ADDR_NO_RANDOMIZE); /* a debugger sets the flag */
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execve("/proc/self/exe", (char *const *)(uintptr_t)argv, variables);
  _exit(99);
}

static fold_status ask(const struct fold_selection *selection, const char *fixtures, bool backwards, int records) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", records);
  const char **argv = command_line(selection, fixtures, backwards, path);
  char **variables = NULL;
  if (argv == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory to start a new process");
  fold_status status = fold_fresh_environment(&variables);
  pid_t child = status.code == FOLD_OK ? spawn(argv, variables, records) : -1;
  int how = 0;
  free(argv);
  fold_fresh_environment_free(variables);
  FOLD_TRY(status);
  if (child < 0) return fold_error(FOLD_ENVIRONMENT, "a new process can't be started: %s", strerror(errno));
  while (waitpid(child, &how, 0) < 0)
    if (errno != EINTR) return fold_error(FOLD_ENVIRONMENT, "the new process was lost: %s", strerror(errno));
  /* Any exit code is accepted. 99: some subject failed there, as it does here; 2: there was nothing to run, or no
   * memory, as here. A run that it did not record is missing when the judge asks for it, and that is never green. */
  if (WIFEXITED(how)) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the new process was killed by signal %d", WTERMSIG(how));
}

static fold_status lost(void) {
  return fold_error(FOLD_ENVIRONMENT, "a new process's records are lost: %s", strerror(errno));
}

/* Appends to the records that are there. */
static fold_status append(int records, int more, bool backwards) {
  char bytes[1 << 14];
  ssize_t n = 0;
  lseek(records, 0, SEEK_END);
  if (dprintf(records, "{\"backwards\":%s}\n", backwards ? "true" : "false") < 0) return lost();
  for (off_t at = 0; (n = pread(more, bytes, sizeof bytes, at)) > 0; at += n)
    if (write(records, bytes, (size_t)n) != n) break;
  return n == 0 ? fold_ok() : lost();
}

static fold_status ask_another(const struct fold_selection *selection, const char *fixtures, bool backwards,
                               int records) {
  int more = memfd_create("foldproof-fresh", MFD_CLOEXEC);
  if (more < 0) return fold_error(FOLD_ENVIRONMENT, "a file in memory can't be made: %s", strerror(errno));
  fold_status status = ask(selection, fixtures, backwards, more);
  if (status.code == FOLD_OK) status = append(records, more, backwards);
  close(more);
  return status;
}

/* A glob that names one case of each dtype and problem, of medium size where there is one. NULL: no memory. */
static char *some_cases(const struct fold_cases *cases) {
  enum { LEAST = 100, MOST = 20000 };
  const struct fold_case *of[FOLD_DTYPES][FOLD_PROBLEMS] = {{NULL}};
  char *text = NULL;
  size_t size;
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i], **best = &of[c->dtype][fold_case_problem(c)->id];
    const bool fits = c->cols >= LEAST && c->rows * c->cols <= MOST && c->rows > 0;
    if (c->ranks == 0 && (*best == NULL || (fits && (*best)->cols < LEAST))) *best = c;
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

/* For guests the first process, and every second one, goes through cases and subjects backwards. That shows when the
 * first run of a process decides something for all later runs, or one subject for another. */
fold_status fold_fresh_ask(const struct fold_selection *selection, const struct fold_cases *cases, int records) {
  enum { LEAST = 2, MOST = 13 };
  const double begun = fold_now();
  FOLD_TRY(ask_another(selection, selection->fixtures, selection->n_guests > 0, records));
  const double took = fold_now() - begun;
  const bool wants_more = selection->repeats != FOLD_REPEATS, whole = wants_more || took < QUICK;
  if (selection->n_guests == 0) return fold_ok();
  if (took > SLOW && !wants_more) return tell_slow(records, took);
  for (unsigned k = 1; whole && k < selection->repeats; k++)
    FOLD_TRY(ask_another(selection, selection->fixtures, k % 2 == 0, records));
  char *some = some_cases(cases);
  const double end = fold_now() + FOR_OTHERS;
  fold_status status = some ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for names of cases");
  for (unsigned k = 0; k < MOST && status.code == FOLD_OK && (k < LEAST || fold_now() < end); k++)
    status = ask_another(selection, selection->n_npy ? selection->fixtures : some, k % 2 == 0, records);
  free(some);
  return status;
}
