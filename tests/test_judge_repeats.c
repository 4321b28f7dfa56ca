/* test_judge_repeats.c: run_to_run: how often a run is repeated, with which launches, and what is reported of repeats
 * that differ. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bits.h"
#include "generator.h"
#include "tally.h"

/* Answers with the number of the run's pattern, where it has one. */
static struct {
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
  if (seen.refuses && seen.times[7] >= seen.refuses && call->launch.threads == 7)
    return fold_error(seen.refusal, "no 7 threads");
  const bool differs = seen.differing && poison && strchr(seen.differing, poison);
  const unsigned result = seen.always_differs ? seen.runs : differs ? poison : 0;
  for (size_t r = 0; r < call->rows; r++) fold_bits_store(call->dtype, call->out, r, fold_f32_bits((float)result));
  return fold_ok();
}

static struct fold_finding judge(bool is_guest, unsigned repeats, size_t cols) {
  static const char row; /* a guest's: only that it is one is looked at */
  struct fold_subject subject = {.name = "answers",
                                 .dtypes = 1u << FOLD_F32,
                                 .ops = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_RUN_TO_RUN),
                                 .guest = is_guest ? (const void *)&row : NULL,
                                 .run = answer};
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = tally_integers(2, cols);
  struct fold_cases cases = {&c, 1, 1};
  struct tally t = {0};
  struct fold_selection selection = {.engine = -1, .repeats = repeats};
  struct fold_sink sink = {.judgement = tally_take, .context = &t};
  volatile int stop = 0;
  seen.runs = 0;
  memset(seen.times, 0, sizeof seen.times);
  cr_assert_eq(fold_verify(&registry, &selection, &cases, NULL, &sink, &stop).code, FOLD_OK);
  return t.last[FOLD_RUN_TO_RUN];
}

enum { FEW = 9, MANY = 32769 }; /* columns of two rows: up to 2^16 terms are few */

/* Of a guest alone, and each so often as it takes to see a race, or as is asked for; how many of them there is time for is the
 * machine's: at one time or another all of them. */
Test(judge_repeats, a_guests_launches_are_repeated) {
  static const unsigned tried[] = {7, 16, 3, 4, 8, 2, 1};
  enum { TRIED = sizeof tried / sizeof *tried };
  cr_expect_eq(judge(false, 3, FEW).verdict, FOLD_HELD);
  cr_expect_eq(seen.times[7], 0, "no guest");
  for (unsigned repeats = 3; repeats <= 9; repeats += 6) {
    const unsigned each = repeats < 6 ? 6 : repeats;
    bool all = false;
    for (int i = 0; i < 20 && !all; i++) {
      const struct fold_finding f = judge(true, repeats, FEW);
      const unsigned beside =
          1 + 2 * 4; /* the base run; of other inputs four, and each once more, as it never looks at a term */
      unsigned launched = 0;
      cr_expect_eq(f.verdict, FOLD_HELD, "%s", f.reason);
      while (launched < TRIED && seen.times[tried[launched]] == 1 + each) launched++;
      for (size_t k = launched; k < TRIED; k++) cr_expect_eq(seen.times[tried[k]], 0, "%u threads", tried[k]);
      cr_expect_eq(f.comparisons, 2 * (seen.times[0] - beside + launched * each), "%zu comparisons", f.comparisons);
      all = launched == TRIED;
    }
    cr_expect(all);
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
  for (int i = 0; i < 20 && (i == 0 || seen.times[16] == 0); i++) cr_expect_eq(judge(true, 3, FEW).verdict, FOLD_HELD);
  cr_expect_eq(seen.times[16], 7);
}

/* Its input is laid anew after each run. */
static unsigned fails_at;
static fold_status spoil_and_fail(const struct fold_subject *subject, const struct fold_call *call) {
  if (++seen.runs == fails_at) return fold_error(FOLD_ENVIRONMENT, "on strike");
  (void)subject;
  memset(call->out, 0, call->rows * sizeof(float));
  fold_bits_store(call->dtype, (void *)(uintptr_t)call->in, 0, fold_f32_bits(100));
  return fold_ok();
}

Test(judge_repeats, a_repeat_that_fails_breaks_the_claim_of_who_spoils_its_input_too) {
  struct fold_subject subject = {.name = "spoils",
                                 .dtypes = 1u << FOLD_F32,
                                 .ops = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(FOLD_RUN_TO_RUN),
                                 .run = spoil_and_fail};
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = tally_integers(2, FEW);
  struct fold_cases cases = {&c, 1, 1};
  unsigned runs = 1;
  for (fails_at = 0; fails_at <= runs; fails_at++) {
    struct tally t;
    seen.runs = 0;
    cr_assert_eq(tally_verify(&registry, NULL, false, &cases, &t).code, FOLD_OK);
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

/* Repeats that differ, of the quiet ones and of those on a busy machine, and all patterns: the base run's, too. How many of the latter
 * there is time for is the machine's. */
Test(judge_repeats, the_repeats_that_differ_are_counted) {
  static const char some[] = {0x12, 0x15, 0x16,
                              0}; /* the second repeat; of the busy ones the fifth and the sixth, too */
  struct fold_finding f = {0};
  seen.differing = some;
  for (int i = 0; i < 20 && !strstr(f.reason, "of 12"); i++) f = judge(true, 3, FEW);
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

/* As many as time allows on a machine that may be busy with other things: at one time or another it allows them. */
Test(judge_repeats, short_runs_are_repeated_more_often_on_a_busy_machine) {
  seen.always_differs = true;
  for (size_t cols = FEW; cols <= MANY; cols += MANY - FEW) {
    const unsigned most = cols == FEW ? 12 : 3;
    unsigned quiet = 0, busy = 0;
    for (int i = 0; i < 20 && busy < most; i++) {
      const struct fold_finding f = judge(true, 3, cols);
      cr_assert_eq(sscanf(f.reason, "%*u of %u repeats gave different bits, and %*u of %u on", &quiet, &busy), 2, "%s",
                   f.reason);
    }
    cr_expect(quiet == 3 && busy == most, "%u, and %u on a busy machine", quiet, busy);
  }
}
