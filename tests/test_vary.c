/* test_vary.c: runs that differ in several things at once: whose fault a difference is, and that each thing is varied. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <omp.h>
#include <stdlib.h>

#include "bits.h"
#include "generator.h"
#include "openmp_keeps.h"
#include "tally.h"
#include "varied.h"

enum fault {
  NONE,
  AT_3_THREADS,   /* whatever the address */
  AT_16_BYTES,    /* at an address 8 bytes past a multiple of 64, whatever the launch */
  AT_BOTH,        /* at that address with one thread: neither alone does it */
  AT_OUTPUT,      /* where the output is 16 elements further */
  AT_PAGE_START,  /* where the input starts a page */
  READS_NAN,      /* 0 * what the output held */
  TURNS_A_THREAD, /* in run `turns_at` another thread of OpenMP's rounds upward from then on */
  FAULTS
};

static enum fault fault;
static unsigned turns_at = 5;
/* Which places and launches were seen: threads, and the input's and the output's address by 64. */
static struct {
  unsigned runs;
  bool threads[17], in[64], out[64];
  struct varied_runs varied;
} seen;

static bool at_page(const void *p) { return (uintptr_t)p % 4096 == 0; }

static bool is_wrong(const struct fold_call *call) {
  bool two = (uintptr_t)call->in % 64 == 8;
  switch (fault) {
    case AT_3_THREADS: return call->launch.threads == 3;
    case AT_16_BYTES: return two;
    case AT_BOTH: return two && call->launch.threads == 1;
    case AT_OUTPUT: return (uintptr_t)call->out % 128 == 64;
    case AT_PAGE_START: return at_page(call->in);
    default: return false;
  }
}

/* Where the arguments lie in their pages tells how far they were moved. */
static struct varied how(const struct fold_call *call) {
  uintptr_t in = (uintptr_t)call->in, out = (uintptr_t)call->out, end = in + call->rows * call->cols * sizeof(float);
  bool start = at_page(call->in), flush = start || end % 4096 == 0;
  return (struct varied){.threads = call->launch.threads,
                         .shift = flush ? 0 : (int)(in % 256 / sizeof(float)),
                         .out_shift = flush ? 0 : (int)(out % 256 / sizeof(float)),
                         .placement = start   ? FOLD_AT_START
                                      : flush ? FOLD_AT_END
                                              : FOLD_PLACED,
                         .nan = ((const unsigned char *)call->out)[0] == 0xff};
}

static void turn_a_thread(void) {
#pragma omp parallel num_threads(7)
  if (omp_get_thread_num() == 5) fesetround(FE_UPWARD);
}

/* The exact sum of few integers, plus one where the fault is. */
static fold_status count(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  seen.runs++;
  seen.threads[call->launch.threads] = true;
  seen.in[(uintptr_t)call->in % 64] = seen.out[(uintptr_t)call->out % 64] = true;
  varied_note(&seen.varied, how(call));
  if (fault == TURNS_A_THREAD && seen.runs == turns_at) turn_a_thread();
  for (size_t r = 0; r < call->rows; r++) {
    double sum = is_wrong(call);
    for (size_t c = 0; c < call->cols; c++)
      sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in, r * call->cols + c));
    if (fault == READS_NAN) sum += 0 * fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->out, r));
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, sum));
  }
  return fold_ok();
}

#define ALL                                                                                                    \
  (FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT) | \
   FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE))

static struct tally judge(enum fault which, uint64_t claims, size_t cols, uint64_t seed) {
  static char name[] = "integers";
  struct fold_subject subject = {
      .name = "counts", .dtypes = 1u << FOLD_F32, .ops = 1u << FOLD_SUM, .claims = claims, .run = count};
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = {.name = name, .file = name, .dtype = FOLD_F32, .op = FOLD_SUM, .rows = 1, .cols = cols};
  c.source = (struct fold_source){fold_generator_find("integers"), FOLD_F32, seed, cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct tally t;
  fault = which;
  seen.runs = 0;
  seen.varied.n = 0;
  fold_status status = tally_verify(&registry, NULL, false, &cases, &t);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return t;
}

/* By itself, beside others, and in part. */
enum { APART = 300, TOGETHER = 9000 };
static const size_t lengths[] = {APART, TOGETHER};

/* A fault is held against the claim that it breaks, also where runs differ in more than that; AT_BOTH shows only where they do. */
Test(vary, a_difference_is_blamed_on_what_makes_it) {
  static const uint64_t breaks[FAULTS] = {
      [AT_3_THREADS] = FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), [AT_16_BYTES] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
      [AT_OUTPUT] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT), [AT_PAGE_START] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
      [READS_NAN] = FOLD_CLAIM(FOLD_WRITES_OUTPUT),       [TURNS_A_THREAD] = FOLD_CLAIM(FOLD_LEAVES_NO_TRACE),
  };
  bool keeps = openmp_keeps();
  for (int f = NONE; f < FAULTS; f++)
    for (size_t l = 0; l < 2 && f != AT_BOTH && (f != TURNS_A_THREAD || keeps); l++) {
      struct tally t = judge((enum fault)f, ALL, lengths[l], 7);
      for (int k = 0; k < FOLD_CLAIMS; k++)
        if (ALL & FOLD_CLAIM(k))
          cr_expect_eq(t.last[k].verdict, breaks[f] & FOLD_CLAIM(k) ? FOLD_REFUTED : FOLD_HELD,
                       "fault %d, %zu terms, claim %d: %s", f, lengths[l], k, t.last[k].reason);
    }
}

/* Where one thing alone does it, the evidence is that run's. */
Test(vary, the_reason_names_no_more_than_it_takes) {
  struct tally t = judge(AT_3_THREADS, ALL, TOGETHER, 7);
  cr_expect_str_eq(t.last[FOLD_LAUNCH_INVARIANT].reason, "other bits with 3 threads");
  t = judge(AT_16_BYTES, ALL, TOGETHER, 7);
  cr_expect_str_eq(t.last[FOLD_ALIGNMENT_INVARIANT].reason,
                   "other bits 2 elements from an aligned address, with the output 16 elements further");
}

/* Other threads are not looked at after each run; what is done to one of them in any run is seen all the same. */
Test(vary, what_is_done_to_a_thread_in_any_run_is_seen) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  judge(NONE, ALL, APART, 7);
  unsigned runs = seen.runs;
  for (turns_at = 1; turns_at <= runs; turns_at++) {
    struct tally t = judge(TURNS_A_THREAD, ALL, APART, 7);
    cr_expect_eq(t.last[FOLD_LEAVES_NO_TRACE].verdict, FOLD_REFUTED, "in run %u of %u", turns_at, runs);
  }
}

Test(vary, a_difference_of_two_things_together_is_refuted_by_both) {
  struct tally t = judge(AT_BOTH, ALL, TOGETHER, 7);
  static const int blamed[] = {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT};
  for (size_t i = 0; i < 2; i++) {
    const struct fold_finding *f = &t.last[blamed[i]];
    cr_expect(f->verdict == FOLD_REFUTED && strstr(f->reason, "with 1 thread, 2 elements from an aligned address"),
              "claim %d: %s", blamed[i], f->reason);
    cr_expect(f->compared && f->got != f->want);
  }
}

/* What a subject does not promise is no reason to refute what it does, nor is it varied. */
Test(vary, what_is_not_promised_is_not_varied) {
  for (size_t l = 0; l < 2; l++) {
    static const enum fault faults[] = {AT_16_BYTES, AT_OUTPUT, AT_PAGE_START, AT_BOTH};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
      struct tally t = judge(faults[i], FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), lengths[l], 7);
      cr_expect_eq(t.last[FOLD_LAUNCH_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_LAUNCH_INVARIANT].reason);
    }
    struct tally t = judge(AT_3_THREADS, FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT), lengths[l], 7);
    cr_expect_eq(t.last[FOLD_ALIGNMENT_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_ALIGNMENT_INVARIANT].reason);
  }
}

/* Together; each thing by itself, where that is quick, is the list's parts. */
Test(vary, runs_are_varied_as_listed) {
  static const struct varied listed[] = {{.placement = FOLD_AT_START},
                                         {.placement = FOLD_AT_END, .nan = true},
                                         {.shift = 1, .out_shift = 1},
                                         {.shift = 5, .out_shift = 3},
                                         {.threads = 1, .shift = 2, .out_shift = 16},
                                         {.threads = 2, .shift = 8},
                                         {.threads = 3, .shift = 4},
                                         {.threads = 4, .shift = 16},
                                         {.threads = 7, .shift = 32},
                                         {.threads = 8},
                                         {.threads = 16},
                                         {.threads = 16},
                                         {.threads = 16},
                                         {.threads = 16},
                                         {.threads = 16},
                                         {.shift = 1} /* of a row, in place; its copy is at its aligned place */};
  judge(NONE, ALL, TOGETHER, 7);
  varied_expect(&seen.varied, listed, sizeof listed / sizeof *listed);
}

/* Each claim by itself varies what it is about, and nothing beside it. */
Test(vary, a_claim_alone_varies_its_own) {
  static const enum fold_claim_id claims[] = {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT, FOLD_WRITES_OUTPUT};
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 2; l++) {
      size_t launches = 0, addresses = 0, poisons = 0;
      judge(NONE, FOLD_CLAIM(claims[k]), lengths[l], 7);
      for (size_t i = 0; i < seen.varied.n; i++) {
        const struct varied *v = &seen.varied.at[i];
        launches += v->threads > 0;
        addresses += v->shift || v->out_shift;
        poisons += v->nan;
      }
      cr_expect(launches == (k == 0 ? 11 : 0) && (addresses > 0) == (k == 1) && poisons == (k == 2),
                "claim %d: %zu launches, %zu addresses, %zu poisons", (int)claims[k], launches, addresses, poisons);
    }
}

/* Of long inputs a part of the plan is run: never none, and over a dozen inputs all of it. */
Test(vary, long_inputs_share_the_plan) {
  bool threads[17] = {0}, in[64] = {0};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    memset(&seen, 0, sizeof seen);
    struct tally t = judge(NONE, ALL, FOLD_VARY_FEW + 1, seed);
    cr_expect(seen.runs >= 7 && seen.runs <= 9, "%u runs", seen.runs);
    cr_expect(t.last[FOLD_LAUNCH_INVARIANT].comparisons == 2 && t.last[FOLD_ALIGNMENT_INVARIANT].comparisons >= 4);
    cr_expect(seen.threads[16], "the most threads are always tried");
    for (int i = 0; i < 17; i++) threads[i] |= seen.threads[i];
    for (int i = 0; i < 64; i++) in[i] |= seen.in[i];
  }
  static const int tried[] = {1, 2, 3, 4, 7, 8, 16}, places[] = {4, 8, 16, 20, 32};
  for (size_t i = 0; i < 7; i++) cr_expect(threads[tried[i]], "%d threads", tried[i]);
  for (size_t i = 0; i < 5; i++) cr_expect(in[places[i]], "%d bytes from an aligned address", places[i]);
}
