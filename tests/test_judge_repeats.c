/* test_judge_repeats.c: run_to_run: how often a run is repeated, with which launches, and what is reported of repeats
 * that differ. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "tally.h"

/* The judges' clock: it stands, unless a run takes time. */
static struct {
  bool is_played;
  double now;
} clock_of_judges;
double __real_fold_now(void), __wrap_fold_now(void);
double __wrap_fold_now(void) { return clock_of_judges.is_played ? clock_of_judges.now : __real_fold_now(); }

enum { FIRST_POISON = 0x11 }; /* of the output, before the first repeat */

/* Answers with the number of the run's pattern, where it has one. */
static struct {
  double seconds, interrupted, later; /* that a run takes; the first repeat; whatever comes after three quiet repeats */
  bool quiet_ended;
  unsigned runs, times[17]; /* of each number of threads */
  unsigned refuses;         /* runs with 7 threads from this one on; 0: none */
  enum fold_code refusal;
  const char *differing; /* which poisons, and so which repeats, give another result each */
  bool always_differs;
} seen;

static fold_status answer(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  const unsigned char poison = *(const unsigned char *)call->out;
  seen.runs++;
  seen.times[call->launch.threads]++;
  clock_of_judges.now += seen.quiet_ended ? seen.later : poison == FIRST_POISON ? seen.interrupted : seen.seconds;
  seen.quiet_ended |= poison == FIRST_POISON + 2;
  if (seen.refuses && seen.times[7] >= seen.refuses && call->launch.threads == 7)
    return fold_error(seen.refusal, "no 7 threads");
  const bool differs = seen.differing && poison && strchr(seen.differing, poison);
  const unsigned result = seen.always_differs ? seen.runs : differs ? poison : 0;
  for (size_t r = 0; r < call->rows; r++) fold_bits_store(call->dtype, call->out, r, fold_f32_bits((float)result));
  return fold_ok();
}

static struct fold_finding judge(bool is_guest, unsigned repeats, size_t cols) {
  static const void *const row[8]; /* a guest's, of no door */
  struct fold_subject subject = {.name = "answers",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_RUN_TO_RUN),
                                 .guest = is_guest ? (const void *)row : NULL,
                                 .run = answer};
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = tally_integers(2, cols);
  struct fold_cases cases = {&c, 1, 1};
  struct tally t = {0};
  struct fold_selection selection = {.claims = "*", .engine = -1, .repeats = repeats};
  struct fold_sink sink = {.judgement = tally_take, .context = &t};
  volatile int stop = 0;
  seen.runs = 0, seen.quiet_ended = false;
  memset(seen.times, 0, sizeof seen.times);
  clock_of_judges.is_played = true;
  cr_assert_eq(fold_verify(&registry, &selection, &cases, NULL, &sink, &stop).code, FOLD_OK);
  return t.last[FOLD_RUN_TO_RUN];
}

enum { FEW = 9, MANY = 32769 }; /* columns of two rows: up to 2^16 terms are few */

/* Of a guest alone, and each so often as it takes to see a race, or as is asked for. */
Test(judge_repeats, a_guests_launches_are_repeated) {
  static const unsigned tried[] = {7, 16, 3, 4, 8, 2, 1};
  enum { TRIED = sizeof tried / sizeof *tried };
  cr_expect_eq(judge(false, 3, FEW).verdict, FOLD_HELD);
  cr_expect_eq(seen.times[7], 0, "no guest");
  for (unsigned repeats = 3; repeats <= 9; repeats += 6) {
    const unsigned each = repeats < 6 ? 6 : repeats;
    const struct fold_finding f = judge(true, repeats, FEW);
    const unsigned beside =
        1 + 2 * 4; /* the base run; of other inputs four, and each once more, as it never looks at a term */
    cr_expect_eq(f.verdict, FOLD_HELD, "%s", f.reason);
    for (size_t k = 0; k < TRIED; k++) cr_expect_eq(seen.times[tried[k]], 1 + each, "%u threads", tried[k]);
    cr_expect_eq(f.comparisons, 2 * (seen.times[0] - beside + TRIED * each), "%zu comparisons", f.comparisons);
  }
}

/* Whichever of its runs fails; one that there can't be is left out. */
Test(judge_repeats, a_launch_that_fails_breaks_the_claim) {
  seen.refusal = FOLD_ENVIRONMENT;
  for (seen.refuses = 1; seen.refuses <= 7; seen.refuses++) {
    const struct fold_finding f = judge(true, 3, FEW);
    cr_expect(f.verdict == FOLD_BROKEN && strstr(f.reason, "no 7 threads"), "run %u: %s", seen.refuses, f.reason);
  }
  seen.refusal = FOLD_UNSUPPORTED, seen.refuses = 1;
  cr_expect_eq(judge(true, 3, FEW).verdict, FOLD_HELD);
  cr_expect_eq(seen.times[16], 7);
}

/* Its input is laid anew after each run. */
static unsigned fails_at;
static fold_status spoil_and_fail(const struct fold_subject *subject, const struct fold_call *call) {
  if (++seen.runs == fails_at) return fold_error(FOLD_ENVIRONMENT, "on strike");
  (void)subject;
  memset(call->out, 0, call->rows * sizeof(float));
  fold_bits_store(call->dtype, (void *)(uintptr_t)call->in[0], 0, fold_f32_bits(100));
  return fold_ok();
}

Test(judge_repeats, a_repeat_that_fails_breaks_the_claim_of_who_spoils_its_input_too) {
  struct fold_subject subject = {.name = "spoils",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_RUN_TO_RUN),
                                 .run = spoil_and_fail};
  struct fold_case c = tally_integers(2, FEW);
  struct fold_cases cases = {&c, 1, 1};
  unsigned runs = 1;
  for (fails_at = 0; fails_at <= runs; fails_at++) {
    seen.runs = 0;
    struct tally t = tally_of(&subject, &cases);
    if (fails_at == 0) runs = seen.runs;
    cr_expect_eq(t.last[FOLD_RUN_TO_RUN].verdict, fails_at ? FOLD_BROKEN : FOLD_HELD, "run %u of %u: %s", fails_at,
                 runs, t.last[FOLD_RUN_TO_RUN].reason);
  }
  cr_expect_gt(runs, 6);
}

static int judge_without_processes(void) {
  if (setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) != 0 || (geteuid() == 0 && setuid(65534) != 0)) return 1;
  const struct fold_finding f = judge(true, 3, FEW);
  return f.verdict == FOLD_BROKEN && strstr(f.reason, "no process to keep the machine busy") ? 0 : 2;
}

Test(judge_repeats, a_machine_that_can_not_be_kept_busy_breaks_the_claim_and_says_so) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) _exit(judge_without_processes());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect_eq(status, 0, "%x", (unsigned)status);
}

/* Repeats that differ, of the quiet ones and of those on a busy machine, and all patterns: the base run's, too. */
Test(judge_repeats, the_repeats_that_differ_are_counted) {
  static const char some[] = {0x12, 0x15, 0x16,
                              0}; /* the second repeat; of the busy ones the fifth and the sixth, too */
  seen.differing = some;
  struct fold_finding f = judge(true, 3, FEW);
  cr_expect_str_eq(f.reason,
                   "1 of 3 repeats gave different bits, and 3 of 12 on a busy machine: 4 bit patterns in 16 runs");
  cr_expect(f.row == 0 && f.got == fold_f32_bits(0x12) && f.want == fold_f32_bits(0),
            "those of the first that differs");
  f = judge(false, 5, FEW);
  cr_expect_str_eq(f.reason, "2 of 5 repeats gave different bits: 3 bit patterns in 6 runs");
}

/* 1024 patterns are told apart. */
Test(judge_repeats, more_patterns_than_are_told_apart_are_told_as_more) {
  seen.always_differs = true;
  cr_expect_str_eq(judge(false, 1022, FEW).reason,
                   "1022 of 1022 repeats gave different bits: 1023 bit patterns in 1023 runs");
  cr_expect_str_eq(judge(false, 1100, FEW).reason,
                   "1100 of 1100 repeats gave different bits: 1024 or more bit patterns in 1101 runs");
}

/* With the times of a quiet run, of the first repeat, and of what comes later. */
static void expect_repeats(size_t cols, double seconds, double interrupted, double later, unsigned launches,
                           unsigned busy) {
  char want[128] = "3 of 3 repeats gave different bits:";
  if (busy) sprintf(want, "3 of 3 repeats gave different bits, and %u of %u on a busy machine:", busy, busy);
  seen.seconds = seconds, seen.interrupted = interrupted, seen.later = later;
  seen.always_differs = true;
  struct fold_finding f = judge(true, 3, cols);
  cr_expect(strstr(f.reason, want), "want %s: %s", want, f.reason);
  seen.always_differs = false;
  f = judge(true, 3, cols);
  unsigned launched = 0;
  for (unsigned threads = 1; threads <= 16; threads++) launched += seen.times[threads] > 0;
  cr_expect(f.verdict == FOLD_HELD && launched == launches, "%u launches, not %u: %s", launched, launches, f.reason);
}

/* Short runs more often on a busy machine; none where a run takes long, and no more, there and with other threads, than there is time
 * for. A run that was interrupted does not make the others long. */
Test(judge_repeats, as_many_repeats_are_made_as_there_is_time_for) {
  expect_repeats(FEW, 0, 0, 0, 7, 12);
  expect_repeats(MANY, 0, 0, 0, 7, 3);
  expect_repeats(FEW, 0.009, 1, 0, 7, 12);
  expect_repeats(FEW, 0.011, 0.011, 0, 0, 0);
  expect_repeats(FEW, 0, 0, 0.008, 6, 12);
  expect_repeats(FEW, 0, 0, 0.055, 1, 6);
}
