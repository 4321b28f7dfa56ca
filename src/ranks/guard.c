/* ranks/guard.c: a process between the harness and the launcher. It outlives the harness just long enough to end what
 * that has started.
 *
 * Why: a harness that is killed can't end anything. Ranks see its sockets close, and the system can signal the
 * launcher; but Open MPI's mpirun (4.1.4) was seen to wait for ever after its ranks had died, and a rank may be
 * stopped. The guard and the harness share a pipe (harness_pipe). When the harness's end closes, on purpose or by its
 * death, the guard ends the launcher's group and every rank of this machine.
 */
#include "ranks/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HARNESS_PIPE = 3, FAILURE = 4 };

/* Makes only calls that are safe between fork and exec. The launcher has a process group of its own, which its ranks
 * may share. */
static pid_t spawn(const char *const *argv) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent) execvp(argv[0], (char *const *)(uintptr_t)argv);
  int error = errno;
  if (write(FAILURE, &error, sizeof error) < 0) _exit(98);
  _exit(99);
}

/* Closes all of the harness's files but the pipe to it: its output, so that the reader sees the end; its sockets; a
 * GPU's files. */
static void let_go(int harness_pipe, int failure, int output) {
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  int high = fcntl(failure, F_DUPFD_CLOEXEC, 10); /* first moved up: it may have the number that the pipe gets */
  int moved = fcntl(harness_pipe, F_DUPFD_CLOEXEC, 10);
  dup3(moved, HARNESS_PIPE, O_CLOEXEC);
  dup3(high, FAILURE, O_CLOEXEC);
  close_range(FAILURE + 1, ~0u, 0);
}

/* Waits until the launcher has ended, or the harness's end of the pipe is closed. */
static void keep(struct fold_world *w) {
  struct pollfd harness_pipe = {.fd = HARNESS_PIPE, .events = POLLIN};
  while (!fold_world_launcher_ended(w))
    if (poll(&harness_pipe, 1, 10) > 0) {
      fold_world_end_launcher(w);
      return;
    }
}

static void guard(struct fold_world *w, const char *const *argv, int harness_pipe, int failure) {
  setpgid(0, 0); /* so that Ctrl-C at the terminal reaches only the harness */
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  let_go(harness_pipe, failure, w->output);
  w->launcher = spawn(argv);
  if (w->launcher < 0 && write(FAILURE, &errno, sizeof errno) < 0) _exit(98);
  close(FAILURE);
  if (w->launcher > 0) keep(w);
  _exit(0);
}

fold_status fold_world_guard(struct fold_world *w, const char *const *argv, int *error) {
  int harness_pipe[2] = {-1, -1}, failure[2] = {-1, -1};
  *error = 0;
  fold_status status = fold_ok();
  if (pipe2(harness_pipe, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
    status = fold_error(FOLD_ENVIRONMENT, "no pipe can be made");
  pid_t child = status.code == FOLD_OK ? fork() : -1;
  if (child == 0) guard(w, argv, harness_pipe[0], failure[1]);
  if (child < 0 && status.code == FOLD_OK) status = fold_error(FOLD_ENVIRONMENT, "a new process cannot be started");
  if (harness_pipe[0] >= 0) close(harness_pipe[0]);
  if (failure[1] >= 0) close(failure[1]);
  w->launcher = child > 0 ? child : 0;
  w->harness_pipe = harness_pipe[1];
  if (status.code == FOLD_OK && read(failure[0], error, sizeof *error) != sizeof *error) *error = 0;
  if (failure[0] >= 0) close(failure[0]);
  return status;
}
