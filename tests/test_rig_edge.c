/* test_rig_edge.c: reads beside the arguments are seen by an open page (edge.h) even if the subject installs its own
 * handler of faults and removes it within one call.
 */
#include <criterion/criterion.h>

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

enum { ROWS = 3, COLS = 5, BYTES = ROWS * COLS * 4 };
/* Within one call: it opens the page and reads on; it leaves the read by a jump; it reads without a handler. */
enum how { OPENS, JUMPS, READS, WRITES };

static struct {
  enum how how;
  ptrdiff_t at; /* in bytes from the input's start */
} touch;
static sigjmp_buf before_fault;

static void open_page(int number, siginfo_t *info, void *context) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  (void)number, (void)context;
  mprotect((void *)((uintptr_t)info->si_addr / page * page), page, PROT_READ | PROT_WRITE);
}
static void jump_back(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  siglongjmp(before_fault, 1);
}

static fold_status run_right(const struct fold_subject *subject, const struct fold_call *call) {
  const float *in = call->in;
  float *out = call->out;
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    out[r] = 0;
    for (size_t i = 0; i < call->cols; i++) out[r] += in[r * call->cols + i];
  }
  return fold_ok();
}

static fold_status run_beside(const struct fold_subject *subject, const struct fold_call *call) {
  struct sigaction former;
  const struct sigaction own = {.sa_sigaction = touch.how == JUMPS ? jump_back : open_page, .sa_flags = SA_SIGINFO};
  volatile unsigned char *in = (unsigned char *)(uintptr_t)call->in;
  if (touch.how < READS) sigaction(SIGSEGV, &own, &former);
  if (touch.how == WRITES)
    in[touch.at] = 1;
  else if (sigsetjmp(before_fault, 1) == 0)
    (void)in[touch.at];
  if (touch.how < READS) sigaction(SIGSEGV, &former, NULL);
  return run_right(subject, call);
}

static const struct fold_subject right = {.name = "test/right", .run = run_right, .engine = FOLD_HOST},
                                 beside = {.name = "test/beside", .run = run_beside, .engine = FOLD_HOST};

static void open_rig(struct fold_rig *rig) {
  cr_assert_eq(fold_rig_open(rig, FOLD_HOST, FOLD_F32, ROWS * COLS, ROWS).code, FOLD_OK);
  for (int i = 0; i < ROWS * COLS; i++) ((float *)fold_rig_input(rig))[i] = (float)(i + 1);
  cr_assert_eq(fold_rig_load(rig).code, FOLD_OK);
}

static struct fold_traces run(struct fold_rig *rig, const struct fold_subject *subject, enum fold_placement placement,
                              bool open) {
  struct fold_traces traces;
  float got[ROWS];
  const struct fold_request request = {
      .op = FOLD_SUM, .rows = ROWS, .cols = COLS, .poison = 0xa5, .placement = placement, .open = open};
  cr_expect_eq(fold_rig_run(rig, subject, &request, got, &traces).code, FOLD_OK);
  cr_expect(got[0] == 15 && got[1] == 40 && got[2] == 65 && !traces.left[0] && !traces.wrote_input, "%s", traces.left);
  return traces;
}

/* The place is known to the page: the byte of it that is next to the input. Between closed pages nothing is seen, which is why. */
Test(rig_edge, a_read_under_a_handler_that_comes_and_goes_is_seen) {
  const ptrdiff_t page = sysconf(_SC_PAGESIZE);
  const struct {
    enum fold_placement placement;
    ptrdiff_t read, told;
  } reads[] = {{FOLD_AT_START, -1, -1},
               {FOLD_AT_START, -page, -1},
               {FOLD_AT_START, -page - 1, -page - 1},
               {FOLD_AT_END, BYTES, BYTES},
               {FOLD_AT_END, BYTES + page - 1, BYTES},
               {FOLD_AT_END, BYTES + page, BYTES + page}};
  struct fold_rig rig;
  open_rig(&rig);
  for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
    for (enum how how = OPENS; how <= READS; how++) {
      touch.how = how;
      touch.at = reads[i].read;
      struct fold_traces traces = run(&rig, &beside, reads[i].placement, true);
      cr_expect(traces.out_of_bounds && traces.bounds_of == FOLD_INPUT && traces.bounds_by == FOLD_TOUCHED,
                "read %zu, how %d", i, how);
      cr_expect_eq(traces.bounds_at, reads[i].told, "read %zu, how %d: at %td", i, how, traces.bounds_at);
      cr_expect_not(run(&rig, &right, reads[i].placement, true).out_of_bounds, "read %zu: the next run is blamed", i);
      traces = run(&rig, &beside, reads[i].placement, false);
      cr_expect_eq(traces.out_of_bounds, how == READS, "read %zu, how %d, pages closed", i, how);
      cr_expect_not(run(&rig, &right, reads[i].placement, true).out_of_bounds,
                    "read %zu, how %d: blamed for what a handler left there", i, how);
      cr_expect_not(run(&rig, &right, FOLD_PLACED, true).out_of_bounds);
    }
  fold_rig_close(&rig);
}

/* The page can be read, and not written: a write is told to the byte, and the page is closed and empty afterwards. */
Test(rig_edge, a_write_beside_the_input_is_told_to_the_byte) {
  static const struct {
    enum fold_placement placement;
    ptrdiff_t at;
  } writes[] = {{FOLD_AT_END, BYTES + 60000}, {FOLD_AT_START, -3}};
  struct fold_rig rig;
  open_rig(&rig);
  touch.how = WRITES;
  for (size_t i = 0; i < 4; i++) {
    touch.at = writes[i / 2].at;
    struct fold_traces traces = run(&rig, &beside, writes[i / 2].placement, true);
    cr_expect(traces.out_of_bounds && traces.bounds_of == FOLD_INPUT && traces.bounds_by != FOLD_TOUCHED);
    cr_expect_eq(traces.bounds_at, touch.at, "at %td", traces.bounds_at);
    cr_expect_not(run(&rig, &right, writes[i / 2].placement, true).out_of_bounds);
  }
  fold_rig_close(&rig);
}
