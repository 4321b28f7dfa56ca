/* command/process.c: how the command's process begins and ends: descriptors that were closed, signals, and calls of exit by
 * others.
 *
 * Promised: descriptors 0 to 2 are open, so that no other file gets their numbers and no output goes there. However the
 * process ends, except by SIGKILL or a crash, it leaves no temporary file; but where another signal ends it at once, the
 * records that it has written stay, as after SIGKILL. If anything but the command calls exit, the exit code
 * is 99: a library that gives up (libgomp if no thread can be started) would exit with 1, which means refuted here.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/output.h"
#include "command/command.h"

static pid_t owner; /* a forked child ends without this */
static bool returned, parsing;

/* A standard output that was closed is opened so that writing to it fails, and the printing code notices. A closed
 * standard error goes to /dev/null, because the user did not want errors. */
static void fill_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int got = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (got != fd && got >= 0) close(got);
  }
}

static void on_end(int number) {
  fold_outputs_abandon(false);
  signal(number, SIG_DFL);
  raise(number);
}

/* With a handler, a write beyond the limit of a file's size fails like a write to a full disk. It is no SIG_IGN, which
 * programs that are started would inherit. */
static void on_size(int number) { (void)number; }

/* A program inherits which signals are blocked, and the parent of this one may have left some blocked: neither
 * Ctrl-C nor a subject's own alarm would come. Signals that are ignored stay so, since nohup and shells mean that. */
static void unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

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
  fold_outputs_abandon(true);
  if (returned || (parsing && code != 0)) return;
  int now = parsing ? fold_finish_output("foldproof", 0) : fold_exit_code(FOLD_ENVIRONMENT);
  if (!parsing) {
    fflush(stdout);
    fprintf(stderr, "foldproof: a library or a subject called exit(%d)\n", code);
  }
  if (now != code) _exit(now);
}

/* The oracles' tables and the harness's own frames need up to 256 KiB; a subject has the rest. */
enum { LEAST_STACK = 512 };
bool fold_process_has_stack(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >> 10 >= LEAST_STACK)
    return true;
  fprintf(stderr, "foldproof: the stack is limited to %llu KiB, and at least %d are needed (ulimit -s)\n",
          (unsigned long long)limit.rlim_cur >> 10, LEAST_STACK);
  return false;
}

void fold_process_begin(void) {
  fill_descriptors();
  owner = getpid();
  returned = parsing = false;
  unblock_signals();
  watch_signals();
  on_exit(at_exit, NULL);
}

int fold_process_end(int exit_code) {
  returned = true;
  return exit_code;
}

void fold_parse(const struct argp *argp, int argc, char **argv, void *input) {
  parsing = true;
  fold_help_parse(argp, argc, argv, input);
  parsing = false;
}
