/* liars.c: a guest whose subjects are wrong, each in its own way: test_guests.py expects what becomes of each. */
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
static int lowers_limits(call_of *call, void *context) {
  struct rlimit limit;
  const int code = honest(call, context);
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 4;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_AS, &limit);
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = 4 << 10;
  setrlimit(RLIMIT_STACK, &limit);
  return code;
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
static size_t hangs_for_scratch(call_of *call, void *context) {
  (void)context;
  while (call->cols > 100) sleep(1);
  return 64;
}

static unsigned count;
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
    LIAR("crashes", "run_to_run", crashes),
    LIAR("leaves", "run_to_run", leaves),
    LIAR("hangs", "run_to_run", hangs),
    LIAR("changes_its_input", "bounded", changes_its_input),
    LIAR("writes_too_far", "bounded", writes_too_far),
    LIAR("leaves_one_out", "bounded", leaves_one_out),
    LIAR("rounds_down", "bounded", rounds_down),
    LIAR("lowers_limits", "bounded", lowers_limits),
    LIAR("prints", "bounded", prints),
    LIAR("fails", "bounded", fails),
    LIAR("declines", "bounded", declines),
    {.name = "liar/wrong_order", .claims = "replays", .order = "rows/par_64", .run = honest},
    {.name = "liar/wrong_twin", .claims = "same_bits_as", .same_bits_as = "rows/par_256", .run = honest},
    {.name = "liar/soils_its_scratch", .claims = "bounded", .run = soils_its_scratch, .scratch = of_64},
    {.name = "liar/hangs_for_scratch", .claims = "bounded", .run = honest, .scratch = hangs_for_scratch},
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
