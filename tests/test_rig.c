/* test_rig.c: the memory that a subject runs in: poison, guards, zones, and the input's places. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "openmp_keeps.h"
#include "process/heartbeat.h"
#include "rig/fault.h"
#include "rig/rig.h"

/* Under AddressSanitizer too, an absurd allocation fails instead of ending the test. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

/* The width of these tests' subjects says what they do. */
enum {
  RIGHT,
  NOTHING,
  PAST_END,
  BEFORE_START,
  FAR_PAST_END,
  LAST_UNWRITTEN,
  ZONE_BEFORE,
  ZONE_AFTER,
  FAILS,
  READ_AFTER,
  READ_BEFORE,
  PUT_BACK,
  FAR_AWAY,
  ELSEWHERE,
  TAKES_SIGNAL,
  TURNS_A_THREAD,
  CHANGES_FOLDER,
  KINDS
};

static volatile int *volatile nobodys = (int *)8;

static void turn_a_thread(void) {
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 2) fesetround(FE_UPWARD);
}

static int taken;
static void open_page(int number, siginfo_t *info, void *context);

static void take_signal(void) {
  const struct sigaction own = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
  sigaction(taken, &own, NULL);
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  float *out = call->out, *in = (float *)(uintptr_t)call->in[0];
  size_t last = subject->width == LAST_UNWRITTEN ? call->rows - 1 : call->rows, n = call->rows * call->cols;
  for (size_t r = 0; r < last && subject->width != NOTHING; r++) {
    out[r] = 0;
    for (size_t i = 0; i < call->cols; i++) out[r] += in[r * call->cols + i];
  }
  switch (subject->width) {
    case PAST_END: out[call->rows] = 1; break;
    case BEFORE_START: out[-1] = 1; break;
    case FAR_PAST_END: ((unsigned char *)(out + call->rows))[FOLD_RIG_GUARD - 1] = 0; break;
    case ZONE_BEFORE: in[-1] = 1; break;
    case ZONE_AFTER: in[n] = 1; break;
    case READ_AFTER: (void)((volatile unsigned char *)(in + n))[0]; break;
    case READ_BEFORE: (void)((volatile unsigned char *)in)[-1]; break;
    case PUT_BACK: ((volatile float *)in)[n - 1] = ((volatile float *)in)[n - 1]; break;
    case FAR_AWAY: ((volatile unsigned char *)(out + call->rows))[60000] = 1; break;
    case TAKES_SIGNAL: take_signal(); break;
    case ELSEWHERE: *nobodys = 1; break;
    case TURNS_A_THREAD: turn_a_thread(); break;
    case CHANGES_FOLDER: cr_assert_eq(chdir("/proc"), 0); break;
    case FAILS: return fold_error(FOLD_ENVIRONMENT, "no such device");
    default: break;
  }
  return fold_ok();
}

static struct fold_subject subject_of(unsigned what) {
  return (struct fold_subject){.name = "test", .engine = FOLD_HOST, .width = what, .run = run};
}

enum { ROWS = 3, COLS = 5 };

static struct fold_rig rig;
static unsigned char poison = 0xa5;
static float got[ROWS];
static struct fold_traces traces;

static void open_rig(void) {
  fold_status status = fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F32, ROWS * COLS, ROWS);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  for (size_t i = 0; i < ROWS * COLS; i++) ((float *)fold_rig_input(&rig))[i] = (float)(i + 1);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
}
static void close_rig(void) { fold_rig_close(&rig); }
/* Tests of suite rig have a rig that is open; those of rig_opened open and close it by themselves. */
TestSuite(rig, .init = open_rig, .fini = close_rig);

/* Runs of one kind are the runs of one subject, which the rig knows by its address. */
static fold_status run_at(unsigned what, enum fold_placement placement) {
  static struct fold_subject subjects[KINDS];
  const struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = poison, .placement = placement};
  subjects[what] = subject_of(what);
  memset(&traces, 0xa5, sizeof traces);
  return fold_rig_run(&rig, &subjects[what], &request, got, &traces);
}
static fold_status run_as(unsigned what) { return run_at(what, FOLD_PLACED); }

Test(rig, a_right_subject_leaves_no_trace) {
  cr_expect_eq(run_as(RIGHT).code, FOLD_OK);
  cr_expect_not(traces.unwritten);
  cr_expect_not(traces.out_of_bounds);
  cr_expect(got[0] == 15 && got[1] == 40 && got[2] == 65, "%g %g %g", got[0], got[1], got[2]);
}

Test(rig, a_write_outside_of_the_output_is_seen_and_placed) {
  static const struct {
    unsigned what;
    ptrdiff_t at;
  } strays[] = {{PAST_END, ROWS * 4}, {BEFORE_START, -4}, {FAR_PAST_END, ROWS * 4 + FOLD_RIG_GUARD - 1}};
  for (size_t i = 0; i < 3; i++) {
    cr_expect_eq(run_as(strays[i].what).code, FOLD_OK);
    cr_expect(traces.out_of_bounds && traces.bounds_of == FOLD_OUTPUT, "stray %zu", i);
    cr_expect_eq(traces.bounds_at, strays[i].at, "stray %zu at %td", i, traces.bounds_at);
    cr_expect_eq(run_as(RIGHT).code, FOLD_OK);
    cr_expect_not(traces.out_of_bounds, "the next run is blamed for stray %zu", i);
  }
}

Test(rig, a_write_around_the_input_is_seen_once_and_blames_no_other_subject) {
  static const struct {
    unsigned what;
    ptrdiff_t at;
  } strays[] = {{ZONE_BEFORE, -4}, {ZONE_AFTER, ROWS * COLS * 4}};
  for (ptrdiff_t shift = 0; shift <= FOLD_RIG_SLACK; shift += FOLD_RIG_SLACK / 2)
    for (size_t i = 0; i < 2; i++) {
      cr_expect_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
      cr_expect_eq(run_as(strays[i].what).code, FOLD_OK);
      cr_expect(traces.out_of_bounds && traces.bounds_of == FOLD_INPUT, "stray %zu, shift %td", i, shift);
      cr_expect_eq(traces.bounds_at, strays[i].at, "stray %zu, shift %td at %td", i, shift, traces.bounds_at);
      cr_expect_eq(run_as(RIGHT).code, FOLD_OK);
      cr_expect_not(traces.out_of_bounds, "the next run is blamed");
      cr_expect_eq(got[2], 65.0f, "the input changed");
    }
}

/* One byte beyond an end is enough; the run goes on, and the next one finds the page closed again. */
Test(rig, a_touch_of_a_closed_page_is_noted_and_placed) {
  static const struct {
    unsigned what;
    enum fold_placement placement;
    enum fold_argument of;
    ptrdiff_t at;
  } touches[] = {{READ_AFTER, FOLD_AT_END, FOLD_INPUT, ROWS * COLS * 4},
                 {READ_BEFORE, FOLD_AT_START, FOLD_INPUT, -1},
                 {FAR_AWAY, FOLD_AT_END, FOLD_OUTPUT, ROWS * 4 + 60000},
                 {FAR_AWAY, FOLD_PLACED, FOLD_OUTPUT, ROWS * 4 + 60000}};
  for (size_t i = 0; i < 2 * sizeof touches / sizeof *touches; i++) {
    cr_expect_eq(run_at(touches[i / 2].what, touches[i / 2].placement).code, FOLD_OK);
    cr_expect(traces.out_of_bounds && traces.bounds_of == touches[i / 2].of, "touch %zu", i);
    cr_expect_eq(traces.bounds_at, touches[i / 2].at, "touch %zu at %td", i, traces.bounds_at);
    cr_expect(got[0] == 15 && got[2] == 65, "the run did not go on");
    cr_expect_eq(run_at(RIGHT, touches[i / 2].placement).code, FOLD_OK);
    cr_expect(!traces.out_of_bounds && !traces.wrote_input && got[1] == 40, "the next run is blamed for touch %zu", i);
  }
}

static void open_page(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

/* As runtimes do when they are first called: the runs between closed pages are watched all the same. */
Test(rig, a_subject_that_took_the_handler_in_its_first_run_is_watched_in_later_ones) {
  struct sigaction own = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
  cr_expect_eq(run_as(READ_AFTER).code, FOLD_OK);
  cr_assert_eq(sigaction(SIGSEGV, &own, NULL), 0);
  cr_expect_eq(run_at(READ_AFTER, FOLD_AT_END).code, FOLD_OK);
  cr_expect(traces.out_of_bounds && traces.bounds_at == ROWS * COLS * 4);
  cr_expect_str_eq(traces.left, "the handler of SIGSEGV");
}

/* Taken in each run, it hides what is read beside the input, and stays. */
Test(rig_opened, a_subject_that_takes_the_handler_in_each_run_leaves_it_changed) {
  static const int signals[] = {SIGSEGV, SIGBUS};
  static const char *const left[] = {"the handler of SIGSEGV", "the handler of SIGBUS"};
  for (size_t i = 0; i < 2; i++) {
    taken = signals[i];
    open_rig();
    for (int again = 0; again < 2; again++) {
      cr_expect_eq(run_at(TAKES_SIGNAL, FOLD_AT_END).code, FOLD_OK);
      cr_expect_str_eq(traces.left, left[i], "%s", traces.left);
    }
    cr_expect_eq(run_at(RIGHT, FOLD_AT_END).code, FOLD_OK);
    cr_expect_str_eq(traces.left, "", "the next one is blamed: %s", traces.left);
    fold_rig_close(&rig);
  }
}

Test(rig, a_write_to_the_input_is_noted_even_if_nothing_changed) {
  for (enum fold_placement p = FOLD_PLACED; p <= FOLD_AT_END; p++) {
    cr_expect_eq(run_at(PUT_BACK, p).code, FOLD_OK);
    cr_expect(traces.wrote_input && !traces.out_of_bounds, "placement %d", (int)p);
    cr_expect_eq(traces.input_at, (ROWS * COLS - 1) * 4);
    ((float *)fold_rig_input(&rig))[0] = 1; /* it can be written again, and is where it was */
  }
  cr_expect_eq(run_as(RIGHT).code, FOLD_OK);
  cr_expect(got[0] == 15 && got[2] == 65);
}

Test(rig, what_was_not_written_is_named_by_its_first_row) {
  cr_expect_eq(run_as(LAST_UNWRITTEN).code, FOLD_OK);
  cr_expect(traces.unwritten && traces.unwritten_at == ROWS - 1);
  poison = 0;
  cr_expect_eq(run_as(NOTHING).code, FOLD_OK);
  cr_expect(traces.unwritten && traces.unwritten_at == 0, "zero is a poison too");
}

Test(rig, who_reads_past_the_input_reads_nan) {
  for (ptrdiff_t shift = -FOLD_RIG_SLACK; shift <= FOLD_RIG_SLACK; shift++) {
    cr_expect_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    const unsigned char *input = fold_rig_input(&rig);
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
      size_t size = fold_dtype_size((enum fold_dtype)dtype);
      uint64_t before = 0, after = 0;
      memcpy(&before, input - size, size);
      memcpy(&after, input + ROWS * COLS * 4, size);
      cr_expect_eq(fold_bits_class((enum fold_dtype)dtype, before), FOLD_NAN);
      cr_expect_eq(fold_bits_class((enum fold_dtype)dtype, after), FOLD_NAN);
    }
  }
}

Test(rig, the_input_moves_whole_and_comes_back) {
  uint64_t before, now;
  const void *home = fold_rig_input(&rig);
  cr_expect_eq((uintptr_t)home % 256, 0, "the aligned place is not aligned");
  cr_expect_eq(fold_rig_hash(&rig, &before).code, FOLD_OK);
  for (ptrdiff_t shift = -FOLD_RIG_SLACK; shift <= FOLD_RIG_SLACK; shift++) {
    cr_expect_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    cr_expect_eq((const char *)fold_rig_input(&rig) - (const char *)home, shift * 4);
    cr_expect_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
    cr_expect_eq(now, before, "shift %td", shift);
  }
  cr_expect_eq(fold_rig_move(&rig, 0).code, FOLD_OK);
  cr_expect_eq(fold_rig_input(&rig), home);
}

Test(rig, the_hash_sees_every_bit_of_the_input) {
  uint64_t before, now;
  cr_expect_eq(fold_rig_hash(&rig, &before).code, FOLD_OK);
  unsigned char *input = fold_rig_input(&rig);
  for (size_t bit = 0; bit < ROWS * COLS * 32; bit++) {
    input[bit / 8] ^= (unsigned char)(1 << bit % 8);
    cr_expect_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
    cr_expect_neq(now, before, "bit %zu", bit);
    input[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
}

Test(rig, a_failing_run_gives_its_own_status) {
  fold_status status = run_as(FAILS);
  cr_expect_eq(status.code, FOLD_ENVIRONMENT);
  cr_expect_str_eq(status.text, "no such device");
}

Test(rig_opened, what_can_not_be_held_is_refused) {
  static const size_t lengths[] = {SIZE_MAX / 4, SIZE_MAX / 8 + 1, SIZE_MAX / 8 - 2 * FOLD_RIG_GUARD / 8 + 1};
  for (size_t i = 0; i < 3; i++) /* as many bytes, or with the zones, are few again */
    cr_expect_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F64, lengths[i], 1).code, FOLD_NO_MEMORY,
                 "length %zu", i);
  cr_expect_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F64, (size_t)1 << 56, 1).code, FOLD_NO_MEMORY);
  fold_rig_close(&rig);
  cr_expect_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F32, 0, 0).code, FOLD_OK,
               "nothing at all can be held");
  fold_rig_close(&rig);
}

/* Closed twice is closed: no other memory goes with it. */
Test(rig_opened, a_region_that_was_closed_has_no_memory) {
  struct fold_region region;
  cr_assert_eq(fold_region_open(5000, &region).code, FOLD_OK);
  cr_expect(region.bytes >= 5000 && region.at[0] == 0 && region.at[region.bytes - 1] == 0);
  fold_region_close(&region);
  cr_expect(!region.at && !region.bytes);
  fold_region_close(&region);
}

static sigjmp_buf jump;
static volatile sig_atomic_t by;
static void jump_out(int number) { by = number, siglongjmp(jump, 1); }
static void jump_out_informed(int number, siginfo_t *info, void *context) {
  (void)context;
  by = info->si_addr == (void *)8 ? -number : 0;
  siglongjmp(jump, 1);
}

/* A fault that is on none of the rig's pages goes to the program's own handler, whichever kind it is. */
Test(rig_opened, a_fault_elsewhere_is_handed_on, .timeout = 20) {
  for (volatile int informed = 0; informed < 2; informed++) { /* lives through the jump */
    struct sigaction own = {.sa_flags = informed ? SA_SIGINFO : 0};
    open_rig();
    if (informed)
      own.sa_sigaction = jump_out_informed;
    else
      own.sa_handler = jump_out;
    sigaction(SIGSEGV, &own, NULL);
    by = 0;
    if (sigsetjmp(jump, 1) == 0) run_as(ELSEWHERE);
    cr_expect_eq(by, informed ? -SIGSEGV : SIGSEGV, "informed %d: %d", informed, (int)by);
    fold_faults_end();
    fold_faults_give_handlers_back();
  }
}

static void handle_segv(int number) { (void)number; }
static void handle_bus(int number) { (void)number; }

/* After a run, a fault and a run that fails; also from a subject that took them: a fault of the next one's is noted as before. */
Test(rig_opened, a_rig_gives_the_handlers_of_faults_back) {
  static const unsigned runs[] = {RIGHT, FAR_AWAY, FAILS, RIGHT};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    struct sigaction segv, bus;
    open_rig();
    signal(SIGSEGV, handle_segv);
    signal(SIGBUS, handle_bus);
    run_as(runs[i]);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    const struct fold_subject next = subject_of(FAR_AWAY);
    const struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = poison};
    fold_rig_run(&rig, &next, &request, got, &traces);
    cr_expect(traces.out_of_bounds, "run %zu", i);
    fold_rig_close(&rig);
    sigaction(SIGSEGV, NULL, &segv);
    sigaction(SIGBUS, NULL, &bus);
    cr_expect(segv.sa_handler == handle_segv && bus.sa_handler == handle_bus, "run %zu", i);
  }
}

/* OpenMP's other threads are looked at after a subject's 1st, 2nd, 4th ... run, and when somebody asks. */
Test(rig, other_threads_are_looked_at_now_and_then) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  for (unsigned k = 1; k <= 9; k++) {
    bool looks = k == 1 || k == 2 || k == 4 || k == 8;
    cr_assert_eq(run_as(TURNS_A_THREAD).code, FOLD_OK);
    cr_expect_str_eq(traces.left, looks ? "the rounding mode in one of OpenMP's threads" : "", "run %u: %s", k,
                     traces.left);
  }
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_eq(traces.left, "the rounding mode in one of OpenMP's threads");
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_empty(traces.left);
}

/* A subject that has left another folder once does so in each run, and the harness itself needs its own between them. */
Test(rig, folder_is_put_back_after_each_run_of_a_subject_that_leaves_another) {
  for (unsigned k = 1; k <= 17; k++) {
    cr_assert_eq(run_as(CHANGES_FOLDER).code, FOLD_OK);
    cr_expect_str_eq(traces.left, "the current folder", "run %u: %s", k, traces.left);
  }
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_empty(traces.left);
}

/* What a subject did to them in a run that was not looked at is not its successor's, whose first run is looked at again. */
Test(rig, other_threads_are_put_right_for_the_next_subject) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  for (unsigned before = 1; before <= 6; before++) {
    for (unsigned k = 1; k <= before; k++) cr_assert_eq(run_as(RIGHT).code, FOLD_OK);
    cr_assert_eq(run_as(TURNS_A_THREAD).code, FOLD_OK);
    cr_expect_str_eq(traces.left, "the rounding mode in one of OpenMP's threads", "after %u runs: %s", before,
                     traces.left);
    for (unsigned k = 2; k <= 3; k++) cr_assert_eq(run_as(TURNS_A_THREAD).code, FOLD_OK);
    cr_expect_str_empty(traces.left, "the third run is not looked at: %s", traces.left);
    cr_assert_eq(run_as(RIGHT).code, FOLD_OK);
    cr_expect_str_empty(traces.left, "the next one is blamed: %s", traces.left);
  }
}

/* By how many terms the time limit of a run is set: those of a scan are each joined once, whatever the number of its results. */
static uint64_t watched_terms;
static struct fold_watch run_watch;
static fold_status note_terms(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  watched_terms = atomic_load(&run_watch.elements);
  memset(call->out, 0, fold_results(call->problem, &call->shape) * sizeof(float));
  return fold_ok();
}

Test(rig_opened, the_limit_of_a_run_counts_the_terms_that_are_joined) {
  const struct {
    enum fold_problem_id problem;
    struct fold_shape shape;
    uint64_t terms;
  } runs[] = {{FOLD_ROWS_SUM, {.b = 1, .m = 3, .n = 1, .k = 50}, 150},
              {FOLD_SCAN, {.b = 1, .m = 3, .n = 1, .k = 50}, 150},
              {FOLD_MATMUL, {.b = 2, .m = 3, .n = 4, .k = 5}, 120}};
  const struct fold_subject subject = {.name = "notes", .engine = FOLD_HOST, .run = note_terms};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    const struct fold_problem *problem = fold_problem(runs[i].problem);
    const size_t n[FOLD_INPUTS] = {fold_elements(problem, &runs[i].shape, 0),
                                   fold_elements(problem, &runs[i].shape, 1)};
    const struct fold_request request = {.shape = runs[i].shape, .poison = 0x5a};
    float results[150];
    cr_assert_eq(fold_rig_open(&rig, FOLD_HOST, problem, FOLD_F32, n, fold_results(problem, &runs[i].shape)).code,
                 FOLD_OK);
    for (unsigned k = 0; k < problem->inputs; k++) memset(fold_rig_input_at(&rig, k), 0, n[k] * sizeof(float));
    cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
    fold_watch_set(&run_watch);
    cr_expect_eq(fold_rig_run(&rig, &subject, &request, results, &traces).code, FOLD_OK);
    fold_watch_set(NULL);
    cr_expect_eq(watched_terms, runs[i].terms, "%s: %llu", problem->name, (unsigned long long)watched_terms);
    fold_rig_close(&rig);
  }
}
