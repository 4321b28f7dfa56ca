/* test_rig_run.c: how far guards reach, and in which state a run finds and leaves threads, signals and its input. */
#include <criterion/criterion.h>
#include <omp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "rig/rig.h"

enum { ROWS = 3, COLS = 5 };

static void open_rig(struct fold_rig *rig, size_t rows, size_t cols) {
  cr_assert_eq(fold_rig_open_rows(rig, FOLD_HOST, FOLD_SUM, FOLD_F32, rows * cols, rows).code, FOLD_OK);
  memset(fold_rig_input(rig), 0, rows * cols * sizeof(float));
  cr_assert_eq(fold_rig_load(rig).code, FOLD_OK);
}

static fold_status write_zeros(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  memset(call->out, 0, call->rows * sizeof(float));
  return fold_ok();
}
static const struct fold_subject idle = {.name = "idle", .engine = FOLD_HOST, .run = write_zeros};

static ptrdiff_t stray;
static fold_status write_at(const struct fold_subject *subject, const struct fold_call *call) {
  ((volatile unsigned char *)call->out)[stray] = 1;
  return write_zeros(subject, call);
}

/* A page of guard lies before an output that is long enough, and up to a page behind it. */
Test(rig_run, guards_of_the_host_reach_for_a_page) {
  enum { MANY = 3000 };
  static const ptrdiff_t places[] = {-4096, -1, 4 * MANY, 4 * MANY + 4095};
  static float got[MANY];
  struct fold_subject subject = {.name = "test", .engine = FOLD_HOST, .run = write_at};
  struct fold_rig rig;
  struct fold_traces traces;
  open_rig(&rig, MANY, 1);
  for (size_t i = 0; i < 4; i++) {
    const struct fold_request request = {
        .rows = MANY, .cols = 1, .poison = 0xa5, .placement = places[i] < 0 ? FOLD_AT_END : FOLD_AT_START};
    stray = places[i];
    cr_expect_eq(fold_rig_run(&rig, &subject, &request, got, &traces).code, FOLD_OK);
    cr_expect(traces.out_of_bounds && traces.bounds_at == places[i], "at %td: %td", places[i], traces.bounds_at);
  }
  fold_rig_close(&rig);
}

static int threads_seen;
static fold_status open_and_write(const struct fold_subject *subject, const struct fold_call *call) {
  const uintptr_t page = (uintptr_t)call->in[0] & ~(uintptr_t)4095;
  threads_seen = omp_get_max_threads();
  mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
  *(float *)(uintptr_t)call->in[0] += 1;
  return write_zeros(subject, call);
}

/* By who opens it himself no fault is seen: its hash tells, once. */
Test(rig_run, a_write_to_the_input_without_a_fault_is_told_without_its_place) {
  const struct fold_subject writer = {.name = "test", .engine = FOLD_HOST, .run = open_and_write};
  const struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0xa5};
  struct fold_rig rig;
  struct fold_traces traces;
  float got[ROWS];
  open_rig(&rig, ROWS, COLS);
  cr_expect_eq(fold_rig_run(&rig, &writer, &request, got, &traces).code, FOLD_OK);
  cr_expect(traces.wrote_input && traces.input_at == -1, "at %td", traces.input_at);
  cr_expect_eq(fold_rig_run(&rig, &idle, &request, got, &traces).code, FOLD_OK);
  cr_expect_not(traces.wrote_input, "the next run is blamed");
  fold_rig_close(&rig);
}

Test(rig_run, a_run_has_as_many_threads_as_it_asks_for_and_nobody_else) {
  const struct fold_subject subject = {.name = "test", .engine = FOLD_HOST, .run = open_and_write};
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0xa5};
  struct fold_rig rig;
  struct fold_traces traces;
  float got[ROWS];
  omp_set_num_threads(3);
  open_rig(&rig, ROWS, COLS);
  for (unsigned asks = 0; asks <= 5; asks += 5) {
    request.launch.threads = asks;
    cr_expect_eq(fold_rig_run(&rig, &subject, &request, got, &traces).code, FOLD_OK);
    cr_expect_eq(threads_seen, asks ? 5 : 3);
    cr_expect_eq(omp_get_max_threads(), 3);
    cr_expect_str_empty(traces.left, "%s", traces.left);
  }
  fold_rig_close(&rig);
}

/* As a thread of the subject's may do. */
Test(rig_run, what_is_changed_after_the_last_run_is_told_at_the_end) {
  const struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = 0xa5};
  struct fold_rig rig;
  struct fold_traces traces;
  float got[ROWS];
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  open_rig(&rig, ROWS, COLS);
  cr_expect_eq(fold_rig_run(&rig, &idle, &request, got, &traces).code, FOLD_OK);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_eq(traces.left, "the signal mask");
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_empty(traces.left);
  fold_rig_close(&rig);
}
