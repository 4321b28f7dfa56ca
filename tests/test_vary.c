/* test_vary.c: runs that differ in several factors at once: which factor a difference is blamed on, and that each
 * factor is varied. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/bits.h"
#include "openmp_keeps.h"
#include "tally.h"
#include "varied.h"

enum fault {
  NONE,
  AT_2_THREADS,    /* whatever the address */
  AT_16_BYTES,     /* at an address 8 bytes past a multiple of 64, whatever the launch */
  AT_BOTH,         /* at that address with one thread: neither alone does it */
  AT_OUTPUT,       /* where the output is 16 elements further */
  AT_PAGE_START,   /* where the input starts a page */
  AT_THREADS,      /* at an input that is not aligned to 16 bytes, with more than one thread */
  AT_THREADS_OUT,  /* at such an output */
  AT_THREADS_MORE, /* at such an input with any launch, and by more with more than one thread */
  READS_NAN,       /* 0 * what the output held */
  READS_NAN_AT_2,  /* the same with two threads alone */
  READS_PAST_AT_2, /* a byte past the input, with two threads alone */
  READS_NAN_BELOW, /* of several rows: one too high in the first row where the output held NaN, and NaN in those below */
  TURNS_A_THREAD,  /* in run `turns_at` another thread of OpenMP's rounds upward from then on */
  TURNS_ITSELF,    /* in that run the thread that it was called by does */
  FAULTS
};

static enum fault fault;
static unsigned turns_at = 5;
static size_t rows = 1; /* of a case */
/* Which places and launches were seen: threads, and the input's and the output's address by 64. */
static struct {
  unsigned runs;
  bool threads[33], in[64], out[64];
  struct varied_runs varied;
  double base; /* the first run's last result */
} seen;

static bool at_page(const void *p) { return (uintptr_t)p % 4096 == 0; }

/* By how much a sum is too high. */
static double excess(const struct fold_call *call) {
  bool two = (uintptr_t)call->in[0] % 64 == 8;
  switch (fault) {
    case AT_2_THREADS: return call->launch.threads == 2;
    case AT_16_BYTES: return two;
    case AT_BOTH: return two && call->launch.threads == 1;
    case AT_OUTPUT: return (uintptr_t)call->out % 128 == 64;
    case AT_PAGE_START: return at_page(call->in[0]);
    case AT_THREADS: return call->launch.threads > 1 && (uintptr_t)call->in[0] % 16;
    case AT_THREADS_OUT: return call->launch.threads > 1 && (uintptr_t)call->out % 16;
    case AT_THREADS_MORE: return (uintptr_t)call->in[0] % 16 == 0 ? 0 : call->launch.threads > 1 ? 2 : 1;
    case NONE:
    case READS_NAN:
    case READS_NAN_AT_2:
    case READS_NAN_BELOW:
    case READS_PAST_AT_2:
    case TURNS_A_THREAD:
    case TURNS_ITSELF:
    case FAULTS: break;
  }
  return 0;
}

/* Where the arguments lie in their pages tells how far they were moved. */
static struct varied how(const struct fold_call *call) {
  uintptr_t in = (uintptr_t)call->in[0], out = (uintptr_t)call->out, end = in + call->rows * call->cols * sizeof(float);
  bool start = at_page(call->in[0]), flush = start || end % 4096 == 0;
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
  seen.in[(uintptr_t)call->in[0] % 64] = seen.out[(uintptr_t)call->out % 64] = true;
  varied_note(&seen.varied, how(call));
  if (fault == TURNS_A_THREAD && seen.runs == turns_at) turn_a_thread();
  if (fault == TURNS_ITSELF && seen.runs == turns_at) fesetround(FE_UPWARD);
  if (fault == READS_PAST_AT_2 && call->launch.threads == 2)
    (void)((const volatile unsigned char *)call->in[0])[call->rows * call->cols * fold_dtype_size(call->dtype)];
  for (size_t r = 0; r < call->rows; r++) {
    double sum = excess(call);
    for (const float *x = (const float *)call->in[0] + r * call->cols, *end = x + call->cols; x < end; x++) sum += *x;
    if (fault == READS_NAN || (fault == READS_NAN_AT_2 && call->launch.threads == 2))
      sum += 0 * fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->out, r));
    if (fault == READS_NAN_BELOW && isnan(fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->out, r))))
      sum += r ? NAN : 1;
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, sum));
    if (seen.runs == 1) seen.base = sum;
  }
  return fold_ok();
}

#define ALL                                                                                                    \
  (FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT) | \
   FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE))

static struct tally judge(enum fault which, uint64_t claims, size_t cols, uint64_t seed) {
  struct fold_subject subject = {
      .name = "counts", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, .claims = claims, .run = count};
  struct fold_case c = tally_integers(rows, cols);
  c.source.seed = seed;
  struct fold_cases cases = {&c, 1, 1};
  fault = which;
  seen.runs = 0;
  seen.varied.n = 0;
  return tally_of(&subject, &cases);
}

/* Of the whole plan, of two thirds, and of a few runs of it. */
enum { ALL_OF_IT = 300, PART = 9000, FEW = FOLD_PLAN_FEW + 1 };
static const size_t lengths[] = {ALL_OF_IT, PART}, all_lengths[] = {ALL_OF_IT, PART, FEW};

#define BY_BOTH (FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT))

/* A fault is held against the claim that it breaks, also where runs differ in more than that; AT_BOTH shows only where they do. */
Test(vary, a_difference_is_blamed_on_what_makes_it) {
  static const uint64_t breaks[FAULTS] = {
      [AT_2_THREADS] = FOLD_CLAIM(FOLD_LAUNCH_INVARIANT),
      [AT_16_BYTES] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
      [AT_OUTPUT] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
      [AT_PAGE_START] = FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT),
      [AT_THREADS] = BY_BOTH,
      [AT_THREADS_OUT] = BY_BOTH,
      [AT_THREADS_MORE] = BY_BOTH,
      [READS_NAN] = FOLD_CLAIM(FOLD_WRITES_OUTPUT),
      [READS_NAN_AT_2] = FOLD_CLAIM(FOLD_WRITES_OUTPUT),
      [READS_PAST_AT_2] = FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS),
      [TURNS_A_THREAD] = FOLD_CLAIM(FOLD_LEAVES_NO_TRACE),
      [TURNS_ITSELF] = FOLD_CLAIM(FOLD_LEAVES_NO_TRACE),
  };
  bool keeps = openmp_keeps();
  for (int f = NONE; f < FAULTS; f++)
    for (size_t l = 0; l < 2 && f != AT_BOTH && f != READS_NAN_BELOW && (f != TURNS_A_THREAD || keeps); l++) {
      struct tally t = judge((enum fault)f, ALL, lengths[l], 8);
      for (int k = 0; k < FOLD_CLAIMS; k++)
        if (ALL & FOLD_CLAIM(k))
          cr_expect_eq(t.last[k].verdict, breaks[f] & FOLD_CLAIM(k) ? FOLD_REFUTED : FOLD_HELD,
                       "fault %d, %zu terms, claim %d: %s", f, lengths[l], k, t.last[k].reason);
    }
}

/* Where one thing alone does it, the evidence is that run's. */
Test(vary, the_reason_names_no_more_than_it_takes) {
  struct tally t = judge(AT_2_THREADS, ALL, PART, 7);
  cr_expect_str_eq(t.last[FOLD_LAUNCH_INVARIANT].reason, "different bits with 2 threads");
  t = judge(AT_16_BYTES, ALL, PART, 7);
  cr_expect_str_eq(t.last[FOLD_ALIGNMENT_INVARIANT].reason, "different bits 2 elements from an aligned address");
  t = judge(AT_OUTPUT, ALL, PART, 7);
  cr_expect_str_eq(t.last[FOLD_ALIGNMENT_INVARIANT].reason, "different bits with the output 16 elements further");
  t = judge(READS_NAN, ALL, PART, 7);
  const struct fold_finding *read = &t.last[FOLD_WRITES_OUTPUT];
  cr_expect_str_eq(read->reason, "NaN where the output held NaN before: it was read");
  cr_expect(read->compared && fold_bits_class(FOLD_F32, read->got) == FOLD_NAN &&
            fold_bits_class(FOLD_F32, read->want) < FOLD_INFINITE);
  t = judge(READS_NAN_AT_2, ALL, ALL_OF_IT, 7);
  cr_expect(strstr(t.last[FOLD_WRITES_OUTPUT].reason, "it was read, with 2 threads"), "%s",
            t.last[FOLD_WRITES_OUTPUT].reason);
}

/* Of the rows that differ, the first that is NaN: it is what the claim speaks of. */
Test(vary, the_first_row_that_read_nan_is_named) {
  rows = 4;
  struct tally t = judge(READS_NAN_BELOW, ALL, ALL_OF_IT / 4, 7);
  const struct fold_finding *f = &t.last[FOLD_WRITES_OUTPUT];
  cr_expect(f->verdict == FOLD_REFUTED && f->row == 1, "row %zu: %s", f->row, f->reason);
  cr_expect_eq(fold_bits_class(FOLD_F32, f->got), FOLD_NAN);
}

/* Also where no claim but this one is judged, and the run was of the second input, which is the first but for a bit. */
Test(vary, who_read_nan_is_held_against_its_own_input_without_nan) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    const struct tally t = judge(READS_NAN_AT_2, FOLD_CLAIM(FOLD_WRITES_OUTPUT), ALL_OF_IT, seed);
    const struct fold_finding *f = &t.last[FOLD_WRITES_OUTPUT];
    const double want = fold_bits_to_double(FOLD_F32, f->want);
    cr_expect(f->verdict == FOLD_REFUTED && fabs(want - seen.base) < 1, "%s: %g for %g", f->reason, want, seen.base);
  }
}

/* Other threads are not looked at after each run; what is done to one of them in any run is seen all the same, and what is done to the
 * one that looks is not forgotten then. */
Test(vary, what_is_done_to_a_thread_in_any_run_is_seen) {
  judge(NONE, ALL, ALL_OF_IT, 7);
  const unsigned runs = seen.runs;
  const bool keeps = openmp_keeps();
  for (turns_at = 1; turns_at <= runs; turns_at++)
    for (int other = 0; other <= keeps; other++) {
      struct tally t = judge(other ? TURNS_A_THREAD : TURNS_ITSELF, ALL, ALL_OF_IT, 7);
      cr_expect_eq(t.last[FOLD_LEAVES_NO_TRACE].verdict, FOLD_REFUTED, "in run %u of %u, %d", turns_at, runs, other);
    }
}

/* One number of threads at one address: each trial tries some of these pairs, the trials of other inputs the rest. */
Test(vary, a_difference_of_two_things_together_is_refuted_by_both) {
  for (size_t l = 0; l < 3; l++) {
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
      struct tally t = judge(AT_BOTH, ALL, all_lengths[l], seed);
      const struct fold_finding *launch = &t.last[FOLD_LAUNCH_INVARIANT], *address = &t.last[FOLD_ALIGNMENT_INVARIANT];
      cr_expect_eq(launch->verdict, address->verdict, "seed %u", (unsigned)seed);
      if (launch->verdict == FOLD_HELD) continue;
      cr_expect(strstr(launch->reason, "with 1 thread, 2 elements from an aligned address"), "%s", launch->reason);
      cr_expect(strstr(address->reason, "with 1 thread, 2 elements from an aligned address"), "%s", address->reason);
      cr_expect(launch->compared && launch->got != launch->want);
      found++;
    }
    cr_expect(found > 0 && found < 60, "%zu terms: in %u of 60", all_lengths[l], found);
  }
}

/* What needs two things at once is found in every case of which all numbers of threads are tried, and in other cases soon. */
Test(vary, what_needs_two_things_is_found_at_every_length) {
  static const struct {
    enum fault fault;
    enum fold_claim_id claim[2];
  } faults[] = {{AT_THREADS, {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT}},
                {AT_THREADS_OUT, {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT}},
                {READS_NAN_AT_2, {FOLD_WRITES_OUTPUT, FOLD_WRITES_OUTPUT}},
                {READS_PAST_AT_2, {FOLD_STAYS_IN_BOUNDS, FOLD_STAYS_IN_BOUNDS}}};
  enum { SEEDS = 30 };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    for (size_t l = 0; l < 3; l++) {
      unsigned found[2] = {0};
      for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct tally t = judge(faults[i].fault, ALL, all_lengths[l], seed);
        for (int k = 0; k < 2; k++) found[k] += t.last[faults[i].claim[k]].verdict == FOLD_REFUTED;
      }
      bool half = all_lengths[l] == PART && faults[i].fault == READS_PAST_AT_2; /* at one end of a page alone */
      const unsigned least = all_lengths[l] == FEW ? 2 : half ? SEEDS / 5 : SEEDS;
      cr_expect(found[0] >= least && found[1] >= least, "fault %d, %zu terms: in %u and %u of %d", (int)faults[i].fault,
                all_lengths[l], found[0], found[1], SEEDS);
    }
}

/* What a subject does not promise is no reason to refute what it does. */
Test(vary, what_is_not_promised_is_not_held_against_what_is) {
  for (size_t l = 0; l < 3; l++)
    for (uint64_t seed = 1; seed <= 8; seed++) {
      static const enum fault faults[] = {AT_16_BYTES, AT_OUTPUT, AT_PAGE_START, READS_NAN};
      for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct tally t = judge(faults[i], FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), all_lengths[l], seed);
        cr_expect_eq(t.last[FOLD_LAUNCH_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_LAUNCH_INVARIANT].reason);
      }
      struct tally t = judge(AT_2_THREADS, FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT), all_lengths[l], seed);
      cr_expect_eq(t.last[FOLD_ALIGNMENT_INVARIANT].verdict, FOLD_HELD, "%s", t.last[FOLD_ALIGNMENT_INVARIANT].reason);
    }
}

/* Who promises nothing about addresses promises the same bits for each number of threads at each of them; and its memory is its own
 * with any number. */
Test(vary, what_is_not_promised_is_varied_beside_what_is) {
  cr_expect_eq(judge(AT_THREADS, FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), PART, 7).last[FOLD_LAUNCH_INVARIANT].verdict,
               FOLD_REFUTED);
  cr_expect_eq(
      judge(READS_PAST_AT_2, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), ALL_OF_IT, 7).last[FOLD_STAYS_IN_BOUNDS].verdict,
      FOLD_REFUTED);
  cr_expect_eq(judge(READS_NAN_AT_2, FOLD_CLAIM(FOLD_WRITES_OUTPUT), ALL_OF_IT, 7).last[FOLD_WRITES_OUTPUT].verdict,
               FOLD_REFUTED);
}

/* Together; each thing by itself, where that is quick, is the list's parts. */
Test(vary, runs_are_varied_by_the_plan) {
  for (size_t l = 0; l < 3; l++) {
    struct varied listed[FOLD_PLAN_MOST + 1];
    struct tally t = judge(NONE, ALL, all_lengths[l], 7);
    size_t n = varied_of_plan(FOLD_HOST, all_lengths[l], t.input_hash, listed);
    varied_expect(&seen.varied, listed, n + 1);
  }
}

/* Each claim by itself is judged by each run that differs in what it is about, whatever else differs there. */
Test(vary, a_claim_alone_is_judged_by_all_of_its_runs) {
  static const enum fold_claim_id claims[] = {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT, FOLD_WRITES_OUTPUT};
  static const size_t least[3][2] = {{21, 14}, {24, 16}, {24, 16}};
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 2; l++) {
      judge(NONE, FOLD_CLAIM(claims[k]), lengths[l], 7);
      cr_expect(seen.varied.n >= least[k][l], "claim %d: %zu runs", (int)claims[k], seen.varied.n);
    }
}

/* Of long inputs a part of the plan is run: never none, and over a dozen inputs all of it. */
Test(vary, long_inputs_share_the_plan) {
  bool threads[33] = {0}, in[64] = {0};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    memset(&seen, 0, sizeof seen);
    struct tally t = judge(NONE, ALL, FEW, seed);
    cr_expect_eq(seen.runs, 10, "%u runs: the base run, one of another input, the second's, five, and two of a part",
                 seen.runs);
    cr_expect(t.last[FOLD_LAUNCH_INVARIANT].comparisons >= 4 && t.last[FOLD_ALIGNMENT_INVARIANT].comparisons == 6);
    cr_expect(seen.threads[16] || seen.threads[24] || seen.threads[32], "many threads are always tried");
    cr_expect(seen.threads[1], "one thread is always tried");
    uint64_t told = 0;
    for (int i = 1; i < 33; i++) told |= (uint64_t)seen.threads[i] << i;
    cr_expect_eq(t.last[FOLD_LAUNCH_INVARIANT].threads, told, "the verdict says which numbers were tried");
    for (int i = 0; i < 33; i++) threads[i] |= seen.threads[i];
    for (int i = 0; i < 64; i++) in[i] |= seen.in[i];
  }
  static const int tried[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 24, 32}, places[] = {4, 8, 16, 20, 32};
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) cr_expect(threads[tried[i]], "%d threads", tried[i]);
  for (size_t i = 0; i < 5; i++) cr_expect(in[places[i]], "%d bytes from an aligned address", places[i]);
}
