/* shell.h: runs a built program through sh in a folder of its own and keeps its exit code, output and errors. Commands
 * that mostly wait can be begun side by side, each in a shell of its own.
 *
 * FOLDPROOF and FOLDPROOF_MUTANTS, the programs' paths, come from the build; a command names them by $F and $M.
 */
#ifndef SHELL_H
#define SHELL_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"

struct shell {
  struct scratch scratch, logs; /* the command's working folder; where its output goes */
  pid_t running;
  int code;
  char out[1 << 18], err[1 << 16];
  char ran[2400];
};

static inline struct shell *shell_open(void) {
  struct shell *s = calloc(1, sizeof *s);
  cr_assert(s && scratch_open(&s->scratch) && scratch_open(&s->logs), "no folder for a test");
  return s;
}

static inline void shell_close(struct shell *s) {
  scratch_close(&s->scratch);
  scratch_close(&s->logs);
  free(s);
}

static inline void shell_end(struct shell **s) { shell_close(*s); }
/* A shell that is closed where its block ends. */
#define SHELL(s) struct shell *s __attribute__((cleanup(shell_end))) = shell_open()

static inline void shell_slurp(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "r");
  size_t n = file ? fread(text, 1, size - 1, file) : 0;
  text[n] = '\0';
  if (file) fclose(file);
}

/* As in a terminal. Who started the suite may ignore signals, or block them: a script's shell, for what it runs in the
 * background; nohup. */
static inline void shell_take_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Starts the command line that s->ran holds. */
static inline void shell_start(struct shell *s) {
  char line[4000];
  snprintf(line, sizeof line, "cd %s && F='%s' && M='%s' && ( %s ) >%s/out 2>%s/err </dev/null", s->scratch.folder,
           FOLDPROOF, FOLDPROOF_MUTANTS, s->ran, s->logs.folder, s->logs.folder);
  s->running = fork();
  if (s->running == 0) {
    shell_take_signals();
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
  }
  cr_assert(s->running > 0, "no process for a test");
}

static inline void shell_take(struct shell *s, int how) {
  s->code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
  s->running = 0;
  shell_slurp(scratch_path(&s->logs, "out"), s->out, sizeof s->out);
  shell_slurp(scratch_path(&s->logs, "err"), s->err, sizeof s->err);
#ifdef __SANITIZE_ADDRESS__
  /* Removes what LeakSanitizer prints if its process is killed at work. */
  for (char *said; (said = strstr(s->err, "==Unable to get registers from thread"));) {
    char *end = strchr(said, '\n');
    while (said > s->err && said[-1] != '\n') said--;
    memmove(said, end ? end + 1 : said + strlen(said), end ? strlen(end + 1) + 1 : 1);
  }
#endif
}

/* Begins a command line and returns while it runs. */
static inline void shell_begin(struct shell *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(s->ran, sizeof s->ran, format, args);
  va_end(args);
  shell_start(s);
}

/* Whether the command that was begun has ended; with `wait`, returns only when it has. */
static inline bool shell_ended(struct shell *s, bool wait) {
  int how;
  if (s->running && waitpid(s->running, &how, wait ? 0 : WNOHANG) == s->running) shell_take(s, how);
  return s->running == 0;
}

/* Runs a command line to its end. A program that was killed has the exit code 128 + the signal's number. */
static inline int shell_run(struct shell *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(s->ran, sizeof s->ran, format, args);
  va_end(args);
  shell_start(s);
  while (!shell_ended(s, true)) continue;
  return s->code;
}

/* Writes a file of the command's folder. */
static inline const char *shell_put(struct shell *s, const char *name, const char *text) {
  return scratch_write(&s->scratch, name, text, strlen(text));
}

static inline bool shell_holds(struct shell *s, const char *name, const char *text) {
  static char whole[1 << 21];
  shell_slurp(scratch_path(&s->scratch, name), whole, sizeof whole);
  return strstr(whole, text) != NULL;
}

static inline size_t shell_lines(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static inline size_t shell_count(const char *text, const char *word) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, word)); at++) n++;
  return n;
}

static inline void need_mpi(void) {
#ifndef FOLD_HAVE_MPI
  cr_skip_test("this build has no MPI");
#endif
}

/* The last line of an output, without its newline, which is cut off `text`. */
static inline const char *shell_last_line(char *text) {
  size_t n = strlen(text);
  if (n && text[n - 1] == '\n') text[n - 1] = '\0';
  char *line = strrchr(text, '\n');
  return line ? line + 1 : text;
}

#define EXPECT_CODE(s, want) \
  cr_expect_eq((s)->code, want, "%s: exit code %d, want %d: %s", (s)->ran, (s)->code, want, (s)->err)

#endif
