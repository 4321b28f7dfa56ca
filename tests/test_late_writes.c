/* test_late_writes.c: if a guest's call starts a thread that writes after the call has returned, that run is blamed. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/guest.h"
#include "process/heartbeat.h"
#include "rig/fp_state.h"
#include "rig/late_writes.h"
#include "rig/rig.h"

enum { ROWS = 3, COLS = 5, TRIES = 20 };

static unsigned runs, late_run; /* which of a rig's runs starts a thread */
static bool to_scratch, writes_input;

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
  if (writes_input) *(float *)(uintptr_t)call->in[0] = 1;
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
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0xa5};
  float got[ROWS];
  runs = 0;
  late_run = which;
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F32, ROWS * COLS, ROWS).code, FOLD_OK);
  memset(fold_rig_input(&rig), 0, sizeof(float) * ROWS * COLS);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  for (unsigned k = 1; k <= which; k++) {
    cr_assert_eq(fold_rig_run(&rig, &guest, &request, got, &traces).code, FOLD_OK);
    if (k < which) cr_expect_str_empty(traces.left, "run %u: %s", k, traces.left);
  }
  usleep(100000); /* for one that was missed */
  fold_rig_close(&rig);
  return traces;
}

/* Whether a late write is seen by its own run, and by no other one; which comes to pass only if this process has time then. */
static bool is_seen_at(unsigned which) {
  const struct fold_traces traces = run_to(which);
  cr_expect_not(traces.wrote_input, "what it wrote to is its own");
  return strstr(traces.left, to_scratch
                                 ? "its scratch, by a thread that wrote to it after the call had returned"
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

Test(late_writes, a_thread_that_the_first_run_starts_is_seen) { expect_seen_at(1); }

/* Only after the first, second, fourth, ... run is it asked what all threads do. */
Test(late_writes, a_thread_that_a_run_between_looks_starts_is_seen) { expect_seen_at(3); }

Test(late_writes, a_thread_that_writes_to_scratch_is_seen) {
  to_scratch = true;
  expect_seen_at(1);
}

Test(late_writes, what_the_call_itself_writes_is_no_threads) {
  static struct fold_watch watch;
  fold_watch_set(&watch);
  writes_input = true;
  const struct fold_traces traces = run_to(1);
  cr_expect(traces.wrote_input && !traces.left[0], "%s", traces.left);
  fold_watch_set(NULL);
}

/* ---- one look ---- */

static struct fold_region out, in;
static const unsigned char same[8], other[8] = {1};

static void open_regions(void) {
  static struct fold_watch watch;
  cr_assert_eq(fold_region_open(sizeof same, &out).code, FOLD_OK);
  cr_assert_eq(fold_region_open_read_only(sizeof same, &in).code, FOLD_OK);
  fold_watch_set(&watch);
}

/* After a run that has started so many threads. */
static const char *look_after(const struct fold_subject *who, const unsigned char got[8], unsigned started) {
  struct fold_watched watched[] = {{.region = &out, .last = sizeof same}, {.region = &in, .last = sizeof same}};
  fold_faults_watch(watched, 2);
  const char *found = fold_late_writes_look(who, watched, 2, 1, got, started);
  fold_faults_end();
  return found;
}

static const char *look_for(const struct fold_subject *who, const unsigned char got[8]) {
  return look_after(who, got, 0);
}

/* Who was seen to write once is looked at after each of its runs, and no other subject is. */
Test(late_writes, who_wrote_is_known_from_who_did_not, .init = open_regions) {
  const struct fold_subject clean = guest, writer = guest;
  cr_expect_null(look_for(&clean, same));
  cr_expect(!fold_late_writes_by(&clean) && !fold_late_writes_any());
  const char *found = look_for(&writer, other);
  cr_expect(found && strncmp(found, "its output, by a thread", 23) == 0, "%s", found);
  cr_expect_null(look_for(&clean, same));
  cr_expect(fold_late_writes_by(&writer) && !fold_late_writes_by(&clean) && fold_late_writes_any());
  cr_expect_null(look_for(&writer, same));
  cr_expect(fold_late_writes_by(&writer) && fold_late_writes_any(), "once");
}

Test(late_writes, threads_are_counted_for_a_guest_in_a_worker, .init = open_regions) {
  const struct fold_subject own = {.name = "own", .engine = FOLD_HOST, .run = run};
  cr_expect_eq(fold_late_writes_threads(&guest), fold_thread_count());
  cr_expect_eq(fold_late_writes_threads(&own), 0);
  fold_watch_set(NULL);
  cr_expect_eq(fold_late_writes_threads(&guest), 0);
}

/* Where this process has time for it before the look ends. */
Test(late_writes, a_thread_that_writes_to_the_input_is_seen, .init = open_regions) {
  const struct fold_subject writer = guest;
  const char *found = NULL;
  pthread_t thread;
  look_for(&writer, other);
  for (int i = 0; i < TRIES && !found; i++) {
    cr_assert_eq(pthread_create(&thread, NULL, write_late, in.at), 0);
    found = look_for(&writer, same);
    mprotect(in.at, in.bytes, PROT_READ | PROT_WRITE); /* for one that comes later */
    pthread_join(thread, NULL);
    mprotect(in.at, in.bytes, PROT_READ);
  }
  cr_expect(found && strncmp(found, "its input, by a thread", 22) == 0, "%s", found);
}

static volatile bool ends;
static void *never_rest(void *nothing) {
  while (!ends) usleep(1000);
  return nothing;
}

static double time_a_look(const struct fold_subject *who) {
  const double begun = fold_now();
  look_for(who, same);
  return fold_now() - begun;
}

/* Three looks of 0.3 s and one of what is left; then none. Of a writer more. */
static bool is_waited_for(const struct fold_subject *who) {
  double all = 0;
  for (int k = 0; k < 3; k++) {
    const double seconds = time_a_look(who);
    if (seconds < 0.3 || seconds > 0.5) return false;
    all += seconds;
  }
  all += time_a_look(who);
  if (all < 1 || all > 1.4 || time_a_look(who) > 0.2) return false;
  look_for(who, other);
  return time_a_look(who) >= 0.3;
}

/* A look waits until the threads that the run has started have ended, and no longer. */
Test(late_writes, a_look_ends_with_the_threads_that_the_run_started, .init = open_regions) {
  static struct fold_subject who[TRIES];
  bool is_short = false;
  for (int i = 0; i < TRIES && !is_short; i++) {
    pthread_t thread;
    who[i] = guest;
    look_for(&who[i], other);        /* so that it is waited for whatever other threads there are */
    const double begun = fold_now(); /* the thread may begin, and end, long before the look */
    cr_assert_eq(pthread_create(&thread, NULL, write_late, NULL), 0);
    look_after(&who[i], same, 1);
    const double seconds = fold_now() - begun;
    pthread_join(thread, NULL);
    cr_expect_gt(seconds, 0.01);
    is_short = seconds < 0.2;
  }
  cr_expect(is_short);
}

/* Our own subjects' threads may be a library's that was loaded before. */
Test(late_writes, a_subject_that_is_no_guest_is_not_waited_for, .init = open_regions) {
  struct fold_subject own = guest;
  own.guest = NULL;
  look_for(&own, other);
  double shortest = time_a_look(&own);
  for (int i = 1; i < TRIES && shortest >= 0.29; i++) shortest = fmin(shortest, time_a_look(&own));
  cr_expect_lt(shortest, 0.29);
}

/* On a machine that has time for it: others have to wait longer. */
Test(late_writes, who_never_rests_is_waited_for_for_a_second_in_all, .init = open_regions) {
  static struct fold_subject who[TRIES];
  char changed[80];
  bool is_so = false;
  pthread_t thread;
  fold_fp_state_reset();
  const struct fold_openmp now = fold_openmp_now();
  cr_assert_eq(pthread_create(&thread, NULL, never_rest, NULL), 0);
  fold_fp_state_restore(&now, true, changed);
  if (!fold_fp_state_has_company()) cr_skip("this OpenMP's threads cannot be told from others");
  for (int i = 0; i < TRIES && !is_so; i++) who[i] = guest, is_so = is_waited_for(&who[i]);
  cr_expect(is_so);
  ends = true;
  pthread_join(thread, NULL);
}
