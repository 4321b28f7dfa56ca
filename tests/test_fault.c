/* test_fault.c: regions between pages without access: which faults are noted, where, and which are handed on. */
#include <criterion/criterion.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "rig/fault.h"

enum { EDGE = 256 << 10 };

Test(fault, a_region_has_as_many_pages_as_hold_its_bytes_and_one_at_least) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE),
               rows[][2] = {{0, 1}, {1, 1}, {page - 1, 1}, {page, 1}, {page + 1, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_region region;
    cr_assert_eq(fold_region_open(rows[i][0], &region).code, FOLD_OK);
    cr_expect_eq(region.bytes, rows[i][1] * page, "%zu bytes for %zu", region.bytes, rows[i][0]);
    fold_region_close(&region);
  }
}

Test(fault, a_region_that_is_refused_is_none) {
  unsigned char nobodys;
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 5000, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX, (size_t)1 << 56};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct fold_region region = {&nobodys, 1, &nobodys};
    const fold_status status = fold_region_open_read_only(sizes[i], &region);
    char want[80];
    snprintf(want, sizeof want, "not enough memory for %zu bytes", sizes[i]);
    cr_expect(status.code == FOLD_NO_MEMORY && strcmp(status.text, want) == 0, "%s", status.text);
    cr_expect(!region.at && !region.bytes && !region.own);
  }
}

/* ---- what is noted ---- */

static struct fold_region region;
static struct fold_watched watched;

/* An argument in all of it but 16 bytes at either end. */
static void begin(void) {
  cr_assert_eq(fold_region_open_read_only(5000, &region).code, FOLD_OK);
  for (size_t i = 0; i < region.bytes; i++) region.own[i] = (unsigned char)(i % 7);
  watched = (struct fold_watched){.region = &region, .first = 16, .last = region.bytes - 16};
  fold_faults_watch(&watched, 1);
}

static void end(void) {
  fold_faults_end();
  fold_faults_give_handlers_back();
  fold_region_close(&region);
}

Test(fault, a_write_to_what_is_read_only_is_noted_as_inside_or_outside_of_the_argument) {
  begin();
  const ptrdiff_t bytes = (ptrdiff_t)region.bytes;
  end();
  const struct {
    ptrdiff_t at;
    bool inside;
  } rows[] = {{0, false}, {15, false}, {16, true}, {bytes - 17, true}, {bytes - 16, false}, {bytes - 1, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    begin();
    for (int turn = 0; turn < 2; turn++) { /* it is read-only again after the first watch */
      ((volatile unsigned char *)region.at)[rows[i].at] = 9;
      const struct fold_fault *fault = rows[i].inside ? &watched.inside : &watched.outside;
      cr_expect(fault->seen && fault->at == rows[i].at && fault->by == FOLD_WRITTEN, "row %zu, turn %d", i, turn);
      cr_expect_eq(watched.inside.seen + watched.outside.seen, 1, "row %zu, turn %d", i, turn);
      for (ptrdiff_t k = 0; k < bytes; k++)
        cr_assert_eq(region.own[k], k == rows[i].at ? 9 : k % 7, "row %zu: byte %td", i, k);
      fold_faults_end();
      watched.inside.seen = watched.outside.seen = false;
      fold_faults_watch(&watched, 1);
    }
    end();
  }
}

Test(fault, beside_a_region_lies_nan_to_the_end_of_its_edges) {
  begin();
  const ptrdiff_t bytes = (ptrdiff_t)region.bytes, places[] = {-1, -EDGE, bytes, bytes + EDGE - 1};
  end();
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    begin();
    cr_expect_eq(((volatile unsigned char *)region.at)[places[i]], 0xff, "byte %td", places[i]);
    cr_expect(watched.outside.seen && watched.outside.at == places[i], "byte %td", places[i]);
    end();
  }
}

Test(fault, the_first_touch_is_the_one_that_is_told) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  begin();
  ((volatile unsigned char *)region.at)[page + 3] = 1;
  ((volatile unsigned char *)region.at)[20] = 1;
  (void)((volatile unsigned char *)region.at)[-7];
  ((volatile unsigned char *)region.at)[region.bytes] = 1;
  cr_expect_eq(watched.inside.at, (ptrdiff_t)page + 3);
  cr_expect_eq(watched.outside.at, -7);
  end();
}

/* ---- what is handed on ---- */

static sigjmp_buf jump;
static void *volatile told;
static volatile bool jumps;

static void tell(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  told = info->si_addr;
  if (jumps) siglongjmp(jump, 1);
}

static void take_signal(void) {
  const struct sigaction own = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
  told = NULL;
  cr_assert_eq(sigaction(SIGSEGV, &own, NULL), 0);
}

/* As the system tells of a fault there, whatever lies there. */
static void fault_at(unsigned char *address) {
  struct sigaction now;
  ucontext_t context = {0};
  siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_ACCERR};
  info.si_addr = address;
  sigaction(SIGSEGV, NULL, &now);
  now.sa_sigaction(SIGSEGV, &info, &context);
}

Test(fault, a_fault_beyond_the_edges_is_handed_on) {
  for (int after = 0; after <= 1; after++) {
    take_signal();
    begin();
    unsigned char *beyond = after ? region.at + region.bytes + EDGE : region.at - EDGE - 1;
    fault_at(beyond);
    cr_expect_eq(told, beyond, "after %d", after);
    cr_expect_not(watched.outside.seen, "after %d", after);
    end();
  }
}

Test(fault, between_watches_faults_are_handed_on) {
  take_signal();
  begin();
  fold_faults_end();
  jumps = true;
  if (sigsetjmp(jump, 1) == 0) (void)((volatile unsigned char *)region.at)[-1];
  cr_expect_eq(told, region.at - 1);
  cr_expect_not(watched.outside.seen);
  end();
}

enum how { FAULTS, IS_SENT, IS_RAISED };

/* 0: it lives on, as who ignores the signal does, and faults are noted as before. */
static _Noreturn void try_signal(void (*former)(int), enum how how) {
  static volatile int *volatile nobodys = (int *)8;
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  signal(SIGSEGV, former);
  signal(SIGALRM, SIG_DFL);
  alarm(20); /* or a fault that comes again and again would do so for ever */
  begin();
  if (how == FAULTS) *nobodys = 1;
  if (how == IS_SENT) kill(getpid(), SIGSEGV);
  if (how == IS_RAISED) raise(SIGSEGV);
  if (former == SIG_DFL) _exit(1);
  (void)((volatile unsigned char *)region.at)[-1];
  _exit(!watched.outside.seen);
}

Test(fault, whom_the_signal_would_end_it_ends_and_who_ignores_one_that_is_sent_lives_on) {
  for (int ignores = 0; ignores <= 1; ignores++)
    for (enum how how = FAULTS; how <= IS_RAISED; how++) {
      const bool lives = ignores && how != FAULTS;
      int status = -1;
      const pid_t child = fork();
      if (child == 0) try_signal(ignores ? SIG_IGN : SIG_DFL, how);
      cr_assert_eq(waitpid(child, &status, 0), child);
      cr_expect(lives ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "ignores %d, how %d: %x",
                ignores, (int)how, (unsigned)status);
    }
}
