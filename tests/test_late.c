/* test_late.c: a thread that a guest's call starts, and that writes when the call has returned, is that run's. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest.h"
#include "rig.h"
#include "watch.h"

enum { ROWS = 3, COLS = 5, FILES = 64, TRIES = 20 };

static unsigned runs, late_run; /* which of a rig's runs starts a thread */
static bool takes_files, to_scratch, writes_input;
static unsigned spare; /* so many of all that it could open it leaves */
static int files[FILES];

static void *write_late(void *to) {
  usleep(20000);
  if (to) memset(to, 1, sizeof(float));
  return NULL;
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  pthread_t thread;
  (void)subject;
  memset(call->out, 0, call->rows * sizeof(float));
  if (++runs != late_run) return fold_ok();
  for (int i = 0; i < FILES && takes_files; i++) files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (unsigned i = 0; i < spare; i++) close(files[i]), files[i] = -1;
  if (writes_input) *(float *)(uintptr_t)call->in = 1;
  void *to = writes_input ? NULL : to_scratch ? call->scratch : call->out;
  if (pthread_create(&thread, NULL, write_late, to) == 0) pthread_detach(thread);
  return fold_ok();
}

static size_t ask_for_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  return (void)subject, (void)call, to_scratch ? 100 : 0;
}

static const struct fold_guest_row row;
static const struct fold_subject guest = {
    .name = "test", .engine = FOLD_HOST, .scratch = ask_for_scratch, .run = run, .guest = &row};

/* Runs so often; the last one's. */
static struct fold_traces run_to(unsigned which) {
  struct fold_rig rig;
  struct fold_traces traces;
  struct fold_request request = {.op = FOLD_SUM, .rows = ROWS, .cols = COLS, .poison = 0xa5};
  float got[ROWS];
  runs = 0;
  late_run = which;
  cr_assert_eq(fold_rig_open(&rig, FOLD_HOST, FOLD_F32, ROWS * COLS, ROWS).code, FOLD_OK);
  memset(fold_rig_input(&rig), 0, sizeof(float) * ROWS * COLS);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  for (unsigned k = 1; k <= which; k++) {
    cr_assert_eq(fold_rig_run(&rig, &guest, &request, got, &traces).code, FOLD_OK);
    if (k < which) cr_expect_str_empty(traces.left, "run %u: %s", k, traces.left);
  }
  for (int i = 0; i < FILES && takes_files; i++)
    if (files[i] >= 0) close(files[i]);
  usleep(100000); /* for one that was missed */
  fold_rig_close(&rig);
  return traces;
}

/* Whether a late write is seen by its own run, and by no other one; which comes to pass only if this process has time then. */
static bool is_seen_at(unsigned which) {
  const struct fold_traces traces = run_to(which);
  return strstr(traces.left, to_scratch ? "its scratch, by a thread that wrote to it after the call had returned"
                                        : "its output, by a thread that wrote to it after the call had returned") != NULL;
}

static void expect_seen_at(unsigned which) {
  static struct fold_watch watch;
  bool seen = false;
  fold_watch_set(&watch);
  for (int i = 0; i < TRIES && !seen; i++) seen = is_seen_at(which);
  cr_expect(seen);
  fold_watch_set(NULL);
}

Test(late, a_thread_that_the_first_run_starts_is_seen) { expect_seen_at(1); }

/* Only after the first, second, fourth, ... run is it asked what all threads do. */
Test(late, a_thread_that_a_run_between_looks_starts_is_seen) { expect_seen_at(3); }

Test(late, a_thread_that_writes_to_scratch_is_seen) {
  to_scratch = true;
  expect_seen_at(1);
}

Test(late, what_the_call_itself_writes_is_no_threads) {
  static struct fold_watch watch;
  fold_watch_set(&watch);
  writes_input = true;
  const struct fold_traces traces = run_to(1);
  cr_expect(traces.wrote_input && !traces.left[0], "%s", traces.left);
  fold_watch_set(NULL);
}

Test(late, a_thread_of_which_nothing_can_be_read_is_waited_for) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = FILES;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  takes_files = true;
  for (spare = 0; spare < 2; spare++) expect_seen_at(1);
}
