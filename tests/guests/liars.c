/* liars.c: a guest whose subjects are wrong, each in its own way: test_guests.py expects what becomes of each. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "strided.h"

static int honest(call_of *call, void *context) { return (void)context, sums(call, 1); }
static int keeps_state(call_of *call, void *context) { return sums(call, 1 + (*(unsigned *)context)++ % 2); }
static int asks_the_clock(call_of *call, void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return sums(call, 1 + (uint64_t)(now.tv_nsec >> 4) % 3);
}
static int by_address(call_of *call, void *context) {
  return (void)context, sums(call, ((uintptr_t)call->in / 4) % 4 == 0 ? 1 : 4);
}
static int by_rows(call_of *call, void *context) { return (void)context, sums(call, call->rows < 256 ? 1 : 8); }
static int by_threads(call_of *call, void *context) {
  return (void)context, sums(call, call->threads ? call->threads : 1);
}
static int by_environment(call_of *call, void *context) {
  const char *user = getenv("USER"); /* test_guests.py sets it */
  return (void)context, sums(call, user && strcmp(user, "tester") == 0 ? 1 : 7);
}
static int by_thread_state(call_of *call, void *context) {
  static _Thread_local unsigned calls;
  return (void)context, sums(call, 1 + calls++ % 2);
}
static int by_command_line(call_of *call, void *context) {
  char words[64] = "";
  FILE *file = fopen("/proc/self/cmdline", "r");
  const size_t n = file ? fread(words, 1, sizeof words, file) : 0;
  if (file) fclose(file);
  return (void)context, sums(call, memmem(words, n, "record", strlen("record")) ? 3 : 1);
}
static int crashes(call_of *call, void *context) {
  (void)context;
  if (call->cols > 100) raise(SIGSEGV);
  return sums(call, 1);
}
static int leaves(call_of *call, void *context) {
  (void)context;
  if (call->cols > 100) exit(0);
  return sums(call, 1);
}
static int hangs(call_of *call, void *context) {
  (void)context;
  while (call->cols > 100) sleep(1);
  return sums(call, 1);
}
static int changes_its_input(call_of *call, void *context) {
  (void)context;
  if (call->rows > 0 && call->cols > 0) ((float *)(uintptr_t)call->in)[0] = 1;
  return sums(call, 1);
}
static int writes_too_far(call_of *call, void *context) {
  ((float *)call->out)[call->rows] = 0;
  return honest(call, context);
}
static int leaves_one_out(call_of *call, void *context) {
  const int code = honest(call, context);
  if (call->rows > 2) ((float *)call->out)[call->rows - 1] = ((float *)call->out)[0];
  return code;
}
static int rounds_down(call_of *call, void *context) {
  const int code = honest(call, context);
  fesetround(FE_DOWNWARD);
  return code;
}
static int keeps_bytes(call_of *call, void *context) { return malloc(100) ? honest(call, context) : 1; }
static int keeps_pages(call_of *call, void *context) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED ? honest(call, context) : 1;
}
/* Until the shape changes: a process can open some thousand at most. */
static int keeps_files(call_of *call, void *context) {
  static struct {
    uint64_t rows, cols;
    int file[512];
    int n;
  } kept;
  const int most = sizeof kept.file / sizeof *kept.file;
  if (kept.n == most || kept.rows != call->rows || kept.cols != call->cols)
    while (kept.n) close(kept.file[--kept.n]);
  kept.rows = call->rows, kept.cols = call->cols;
  kept.file[kept.n++] = open("/", O_PATH);
  return honest(call, context);
}
static int keeps_some_files(call_of *call, void *context) {
  static unsigned runs;
  return runs++ % 2 ? honest(call, context) : keeps_files(call, context);
}
static int keeps_rarely(call_of *call, void *context) {
  static unsigned runs;
  return runs++ % 3 ? honest(call, context) : keeps_files(call, context);
}
static int slowly(call_of *call, void *context, int run(call_of *, void *)) {
  usleep(100 * 1000);
  return run(call, context);
}
static int keeps_files_slowly(call_of *call, void *context) { return slowly(call, context, keeps_files); }
static int keeps_memory_slowly(call_of *call, void *context) {
  return malloc(1 << 20) ? slowly(call, context, honest) : 1;
}
/* Its own child has ended and was waited for; that one's child stays. */
static int daemonises(call_of *call, void *context) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) sleep(20);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return honest(call, context);
}
/* What is no fault: a process that has ended by itself, though only the system waited for it. */
static int daemonises_briefly(call_of *call, void *context) {
  const pid_t child = fork();
  if (child == 0) _exit(fork() < 0);
  waitpid(child, NULL, 0);
  usleep(1000);
  return honest(call, context);
}
/* What is no fault: a file that stays open. */
static int keeps_a_file(call_of *call, void *context) {
  static int file = -1;
  if (file < 0) file = open("/", O_PATH);
  return file >= 0 ? honest(call, context) : 1;
}
/* Nor: room that grows with the longest row so far. */
static int keeps_a_workspace(call_of *call, void *context) {
  static float *room;
  static size_t has;
  const size_t wants = call->cols * sizeof *room + 1;
  if (wants > has && !(room = realloc(room, has = wants))) return 1;
  return honest(call, context);
}
/* Nor is this: garbage that is collected now and then. */
static int collects(call_of *call, void *context) {
  static void *garbage[16];
  static unsigned n;
  if (n == 16)
    while (n > 0) free(garbage[--n]);
  garbage[n++] = malloc(2000);
  return honest(call, context);
}
static int prints(call_of *call, void *context) {
  printf("1 held, 0 refuted\n");
  fflush(stdout);
  return honest(call, context);
}
static int fails(call_of *call, void *context) {
  (void)context;
  snprintf(call->why, call->why_bytes, "the table of weights\nis lost");
  return 3;
}
static int declines(call_of *call, void *context) {
  if (call->cols % 2 == 0) return honest(call, context);
  snprintf(call->why, call->why_bytes, "odd lengths are not for it");
  return FOLDPROOF_GUEST_UNSUPPORTED;
}
static int soils_its_scratch(call_of *call, void *context) {
  memset(call->scratch, 1, 64);
  return honest(call, context);
}
static size_t of_64(call_of *call, void *context) { return (void)call, (void)context, 64; }
static size_t of_all_there_is(call_of *call, void *context) { return (void)call, (void)context, SIZE_MAX; }
static size_t hangs_for_scratch(call_of *call, void *context) {
  (void)context;
  while (call->cols > 100) sleep(1);
  return 64;
}

/* Threads that write after the call has returned, some milliseconds later or at once; the sum itself, or to what was only lent. */
struct late {
  struct foldproof_guest_call call;
  float *to;
};
static void start_late(call_of *call, const void *to, void *(*does)(void *)) {
  struct late *l = malloc(sizeof *l);
  pthread_t thread;
  *l = (struct late){*call, (float *)(uintptr_t)to};
  if (pthread_create(&thread, NULL, does, l) == 0) pthread_detach(thread);
}
static void *write_late(void *what) {
  struct late *l = what;
  usleep(20000);
  *l->to = 12345;
  free(l);
  return NULL;
}
static void *sum_late(void *what) {
  struct late *l = what;
  usleep(20000);
  sums(&l->call, 1);
  free(l);
  return NULL;
}
static void *rest(void *what) {
  for (;;) pause();
  return what;
}
static int writes_output_late(call_of *call, void *context) {
  const int code = honest(call, context);
  if (call->rows) start_late(call, call->out, write_late);
  return code;
}
static int writes_input_late(call_of *call, void *context) {
  const int code = honest(call, context);
  if (call->rows) start_late(call, call->in, write_late);
  return code;
}
static int writes_scratch_late(call_of *call, void *context) {
  const int code = honest(call, context);
  start_late(call, call->scratch, write_late);
  return code;
}
static int writes_the_same_late(call_of *call, void *context) {
  const int code = honest(call, context);
  start_late(call, NULL, sum_late);
  return code;
}
/* No fault: a pool that waits for the next call. */
static int keeps_a_thread(call_of *call, void *context) {
  const int code = honest(call, context);
  if (++*(unsigned *)context == 1) start_late(call, NULL, rest);
  return code;
}

/* A signal, when the call has returned, whose handler never returns. */
static pthread_t caller;
static void stay(int number) {
  (void)number;
  for (;;) pause();
}
static void *signal_late(void *what) {
  usleep(20000);
  pthread_kill(caller, SIGUSR1);
  free(what);
  return NULL;
}
static int stops_its_caller(call_of *call, void *context) {
  const int code = honest(call, context);
  caller = pthread_self();
  signal(SIGUSR1, stay);
  start_late(call, NULL, signal_late);
  return code;
}

/* At the third run in a process, when all looks of the first are over. */
static bool is_third(void *context) { return ++*(unsigned *)context == 3; }
#define AT_THIRD(id, does)                      \
  static int id(call_of *call, void *context) { \
    if (is_third(context)) does;                \
    return sums(call, 1);                       \
  }
/* A child that waits for its parent's end. */
static void start_child(void) {
  const pid_t parent = getpid();
  if (fork() != 0) return;
  while (getppid() == parent) usleep(20000);
  _exit(0);
}
/* To its parent, which has time to take it: that ends this process. */
static void send_up(int number) {
  kill(getppid(), number);
  sleep(60);
}
static void have_child_send(int number) {
  const pid_t child = fork();
  if (child == 0) {
    send_up(number);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}
/* By a thread, again and again, from when it has returned. */
static void *wander(void *what) {
  while (chdir("/") == 0 && chdir("/tmp") == 0) usleep(1000);
  return what;
}
static void start_wandering(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wander, NULL) == 0) pthread_detach(thread);
}
static void close_files(void) {
  for (int fd = 3; fd < 256; fd++) close(fd);
}
static void redirect_output(void) {
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  close(null);
}
AT_THIRD(redirects_output, redirect_output())
AT_THIRD(ends_its_thread, pthread_exit(NULL))
AT_THIRD(sends_term, raise(SIGTERM))
AT_THIRD(has_term_sent, have_child_send(SIGTERM))
AT_THIRD(ends_its_parent, send_up(SIGTERM))
AT_THIRD(interrupts_its_parent, send_up(SIGINT))
AT_THIRD(wakes_its_parent, send_up(SIGUSR1))
AT_THIRD(halts, raise(SIGSTOP))
AT_THIRD(wanders, start_wandering())
AT_THIRD(ignores_children, signal(SIGCHLD, SIG_IGN))
AT_THIRD(leaves_a_child, start_child())
AT_THIRD(ends_its_group, kill(0, SIGKILL))
AT_THIRD(closes_files, close_files())
/* Where it is not the first in its process it ends that; where it is, it leaves something changed. */
static bool others_ran;
static int marks(call_of *call, void *context) {
  others_ran = true;
  return honest(call, context);
}
static int dies_then_leaves(call_of *call, void *context) {
  if (others_ran) raise(SIGKILL);
  signal(SIGUSR2, SIG_IGN);
  return honest(call, context);
}

/* When all is over. */
static int aborts_at_exit(call_of *call, void *context) {
  if (++*(unsigned *)context == 1) atexit(abort);
  return honest(call, context);
}

static unsigned count;
#define WILD(id)                                                                                 \
  {                                                                                              \
    .name = "liar/" #id, .claims = "bounded,run_to_run", .run = id, .context = &(unsigned) { 0 } \
  }
#define LIAR(id, promises, function) \
  { .name = "liar/" id, .claims = promises, .run = function, .context = &count }
static const struct foldproof_guest_subject subjects[] = {
    LIAR("honest", "bounded,reproducible", honest),
    LIAR("keeps_state", "run_to_run", keeps_state),
    LIAR("asks_the_clock", "run_to_run", asks_the_clock),
    LIAR("by_address", "alignment_invariant", by_address),
    LIAR("by_rows", "batch_invariant", by_rows),
    LIAR("by_threads", "launch_invariant", by_threads),
    LIAR("by_environment", "fresh_process", by_environment),
    LIAR("by_thread_state", "run_to_run", by_thread_state),
    LIAR("by_command_line", "fresh_process", by_command_line),
    LIAR("crashes", "run_to_run", crashes),
    LIAR("leaves", "run_to_run", leaves),
    LIAR("hangs", "run_to_run", hangs),
    LIAR("changes_its_input", "bounded", changes_its_input),
    LIAR("writes_too_far", "bounded", writes_too_far),
    LIAR("leaves_one_out", "bounded", leaves_one_out),
    LIAR("rounds_down", "bounded", rounds_down),
    LIAR("keeps_bytes", "bounded", keeps_bytes),
    LIAR("keeps_pages", "bounded", keeps_pages),
    LIAR("keeps_files", "bounded", keeps_files),
    LIAR("keeps_some_files", "bounded", keeps_some_files),
    LIAR("keeps_rarely", "bounded", keeps_rarely),
    LIAR("keeps_files_slowly", "bounded", keeps_files_slowly),
    LIAR("keeps_memory_slowly", "bounded", keeps_memory_slowly),
    LIAR("daemonises", "bounded", daemonises),
    LIAR("daemonises_briefly", "bounded", daemonises_briefly),
    LIAR("keeps_a_file", "bounded", keeps_a_file),
    LIAR("keeps_a_workspace", "bounded", keeps_a_workspace),
    LIAR("collects", "bounded", collects),
    LIAR("prints", "bounded", prints),
    LIAR("fails", "bounded", fails),
    LIAR("declines", "bounded", declines),
    {.name = "liar/wrong_order", .claims = "replays", .order = "rows/par_64", .run = honest},
    {.name = "liar/wrong_twin", .claims = "same_bits_as", .same_bits_as = "rows/par_256", .run = honest},
    {.name = "liar/soils_its_scratch", .claims = "bounded", .run = soils_its_scratch, .scratch = of_64},
    {.name = "liar/asks_for_all", .claims = "bounded", .run = honest, .scratch = of_all_there_is},
    {.name = "liar/hangs_for_scratch", .claims = "bounded", .run = honest, .scratch = hangs_for_scratch},
    LIAR("marks", "bounded", marks),
    WILD(dies_then_leaves),
    WILD(redirects_output),
    WILD(ends_its_thread),
    WILD(sends_term),
    WILD(has_term_sent),
    WILD(ends_its_parent),
    WILD(interrupts_its_parent),
    WILD(wakes_its_parent),
    WILD(aborts_at_exit),
    WILD(halts),
    WILD(wanders),
    WILD(ignores_children),
    WILD(leaves_a_child),
    WILD(ends_its_group),
    WILD(closes_files),
    LIAR("writes_output_late", "bounded", writes_output_late),
    LIAR("writes_input_late", "bounded", writes_input_late),
    {.name = "liar/writes_scratch_late", .claims = "bounded", .run = writes_scratch_late, .scratch = of_64},
    LIAR("writes_the_same_late", "bounded", writes_the_same_late),
    WILD(keeps_a_thread),
    LIAR("stops_its_caller", "bounded", stops_its_caller),
    LIAR("honest_after", "bounded,reproducible", honest),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
