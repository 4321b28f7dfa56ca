/* fatal_main.c: foldproof-fatal: the command over two sound subjects and some that end their process, or never end.
 * These need a program of their own, since a command that runs all its subjects in its own process would not survive
 * them.
 */
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/command.h"
#include "kernels/host/host.h"

static fold_status sums(const struct fold_call *call) {
  return fold_host_ordered(fold_subject_find("host/sequential", FOLD_HOST), call);
}
static fold_status crashes(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  raise(SIGSEGV);
  return fold_ok();
}
static fold_status aborts(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  abort();
}
static fold_status is_killed(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  raise(SIGKILL);
  return fold_ok();
}
/* Says that all went well. */
static fold_status exits(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  (void)sums(call);
  exit(0);
}
/* FOLD_SEEN: a file that is there from when it hangs. */
static fold_status hangs(const struct fold_subject *subject, const struct fold_call *call) {
  const char *path = getenv("FOLD_SEEN");
  int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;
  if (fd >= 0) close(fd);
  (void)subject, (void)call;
  for (;;) pause();
  return fold_ok();
}
/* On one length of row alone. */
static fold_status crashes_at_33(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (call->cols == 33) raise(SIGSEGV);
  return sums(call);
}
/* In a judge's own run: with two threads, which the base run does not ask for. */
static fold_status crashes_by_threads(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (call->launch.threads == 2) raise(SIGSEGV);
  return sums(call);
}
/* In the new process that fresh_process asks, which has no path before its name. */
static fold_status crashes_recorded(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (strcmp(program_invocation_name, "foldproof") == 0) raise(SIGSEGV);
  return sums(call);
}

/* One spoils the process, and comes off well; the other is as it should be where no subject has spoilt it. */
static bool spoilt;
static fold_status spoils(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  spoilt = true;
  return sums(call);
}
static fold_status stumbles(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (spoilt && call->launch.threads == 2) raise(SIGSEGV);
  return sums(call);
}
/* Its child keeps what it has open. */
static fold_status crashes_behind_a_child(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  if (fork() == 0) {
    alarm(60);
    for (;;) pause();
  }
  raise(SIGKILL);
  return fold_ok();
}

/* Comes back twice, as parent and as child. */
static fold_status comes_back_twice(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  (void)fork();
  return sums(call);
}
/* What it writes to whatever is open is no word, and no whole one. */
static fold_status babbles(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  for (int fd = 3; fd < 32; fd++)
    if (send(fd, "xxx", 3, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) continue;
  for (;;) pause();
  return fold_ok();
}
/* Well, but for a child that stays. */
static fold_status leaves_a_child(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (fork() == 0) {
    alarm(60);
    for (;;) pause();
  }
  return sums(call);
}
/* Dies at the end of its process, when all its results are reported. */
static void die(void) { raise(SIGSEGV); }
static fold_status dies_at_the_end(const struct fold_subject *subject, const struct fold_call *call) {
  static bool told;
  (void)subject;
  if (!told) atexit(die);
  told = true;
  return sums(call);
}

#define FATAL(id, function)                                                                                         \
  {                                                                                                                 \
    .name = "fatal/" id, .engine = FOLD_HOST, .about = "ends its process, or never ends", .dtypes = 1u << FOLD_F32, \
    .problems = 1u << FOLD_SUM, .order = "host/sequential", .run = function,                                        \
    .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_RUN_TO_RUN) |             \
              FOLD_CLAIM(FOLD_FRESH_PROCESS) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_KEEPS_INPUT),    \
  }

int main(int argc, char **argv) {
  /* The sound ones stand on both sides: before who dies, and after. */
  const struct fold_subject subjects[] = {*fold_subject_find("host/sequential", FOLD_HOST),
                                          FATAL("crashes", crashes),
                                          FATAL("aborts", aborts),
                                          FATAL("is_killed", is_killed),
                                          FATAL("exits", exits),
                                          FATAL("hangs", hangs),
                                          FATAL("crashes_at_33", crashes_at_33),
                                          FATAL("crashes_by_threads", crashes_by_threads),
                                          FATAL("crashes_recorded", crashes_recorded),
                                          FATAL("crashes_behind_a_child", crashes_behind_a_child),
                                          FATAL("comes_back_twice", comes_back_twice),
                                          FATAL("babbles", babbles),
                                          FATAL("leaves_a_child", leaves_a_child),
                                          FATAL("dies_at_the_end", dies_at_the_end),
                                          FATAL("spoils", spoils),
                                          FATAL("stumbles", stumbles),
                                          *fold_subject_find("host/reverse", FOLD_HOST)};
  const struct fold_registry registry = {subjects, sizeof subjects / sizeof *subjects};
  return fold_main(argc, argv, &registry);
}
