/* command_process.c: how the command's process begins and ends: descriptors that were closed, signals, and who else may
 * call exit.
 *
 * Promised: descriptors 0 to 2 lead somewhere, so that no file takes their place and no output goes there. However the
 * process ends, but by SIGKILL or a crash, no temporary file stays. An exit that is not the command's own is 99: a library
 * that gives up (libgomp where no thread can be started) says 1, which means refuted here.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "output.h"

static pid_t owner; /* a forked child has an end of its own */
static bool returned, parsing;

/* A closed output stays one that can't be written: what goes there is missed, by whoever prints. Errors have nowhere to go,
 * as was asked for. */
static void fill_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int got = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (got != fd && got >= 0) close(got);
  }
}

static void on_end(int number) {
  fold_outputs_abandon();
  signal(number, SIG_DFL);
  raise(number);
}

/* A write past the limit of a file's size then fails as on a full disk. A handler, and not SIG_IGN: programs that are started
 * have their own way. */
static void on_size(int number) { (void)number; }

static void watch_signals(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
  struct sigaction now;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(ends[i], on_end);
  if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGXFSZ, on_size);
}

/* argp ends the process by itself after --help and wrong options. */
static void at_exit(int code, void *unused) {
  (void)unused;
  if (getpid() != owner) return;
  fold_outputs_abandon();
  if (returned || (parsing && code != 0)) return;
  int now = parsing ? fold_finish_output("foldproof", 0) : fold_exit_code(FOLD_ENVIRONMENT);
  if (!parsing) {
    fflush(stdout);
    fprintf(stderr, "foldproof: a library or a subject called exit(%d)\n", code);
  }
  if (now != code) _exit(now);
}

void fold_process_begin(void) {
  fill_descriptors();
  owner = getpid();
  returned = parsing = false;
  watch_signals();
  on_exit(at_exit, NULL);
}

int fold_process_end(int exit_code) {
  returned = true;
  return exit_code;
}

void fold_parse(const struct argp *argp, int argc, char **argv, void *input) {
  parsing = true;
  argp_parse(argp, argc, argv, 0, NULL, input);
  parsing = false;
}
