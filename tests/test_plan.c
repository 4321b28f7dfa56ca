/* test_plan.c: which pairs of two factors' levels a plan's runs cover, in one trial and over the trials of many
 * inputs. */
#include <criterion/criterion.h>
#include <math.h>

#include "judge/plan.h"

enum { THREADS, PLACE, SHIFT, OTHER, OUT, SCRATCH, NAN_BEFORE, INPUT, FACTORS, LEVELS = 40 };
static const char *const names[FACTORS] = {"threads", "place", "shift", "other", "output", "scratch", "NaN", "input"};

/* The level of each factor; of a run that is flush with a page the shifts say nothing: -1. */
static void levels_of(const struct fold_variation *v, int level[FACTORS]) {
  bool placed = v->placement == FOLD_PLACED;
  level[THREADS] = (int)(v->launch.threads + v->launch.blocks % 19 + v->launch.block / 32);
  level[PLACE] = (int)v->placement;
  level[SHIFT] = placed ? (int)v->shift : -1;
  level[OTHER] = placed ? (int)v->other_shift : -1;
  level[OUT] = placed ? (int)v->out_shift : -1;
  level[SCRATCH] = placed ? (int)v->scratch_shift : -1;
  level[NAN_BEFORE] = v->nan;
  level[INPUT] = v->second;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static const struct {
  enum fold_engine engine;
  size_t terms;
} plans[] = {{FOLD_HOST, 300},
             {FOLD_HOST, FOLD_PLAN_ALL},
             {FOLD_HOST, FOLD_PLAN_ALL + 1},
             {FOLD_HOST, FOLD_PLAN_FEW},
             {FOLD_HOST, FOLD_PLAN_FEW + 1},
             {FOLD_MPI, 300},
             {FOLD_CUDA, 300}};

enum { HOST_NUMBERS = 19, RANK_NUMBERS = 8, GRIDS = 6 };

/* Every level of a factor meets every level of each other one, which it can meet. */
Test(plan, over_many_inputs_every_two_levels_meet) {
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
    static bool met[FACTORS][FACTORS][LEVELS][LEVELS];
    uint64_t state = p;
    memset(met, 0, sizeof met);
    for (int trial = 0; trial < 5000; trial++) {
      struct fold_variation plan[FOLD_PLAN_MOST];
      size_t n = fold_plan(plans[p].engine, plans[p].terms, next(&state), plan);
      for (size_t i = 0; i < n; i++) {
        int level[FACTORS];
        levels_of(&plan[i], level);
        for (int a = 0; a < FACTORS; a++)
          for (int b = 0; b < FACTORS; b++)
            if (level[a] >= 0 && level[b] >= 0) met[a][b][level[a]][level[b]] = true;
      }
    }
    for (int a = 0; a < FACTORS; a++)
      for (int b = 0; b < a; b++) {
        if ((a == PLACE && b >= SHIFT && b <= SCRATCH) || (b == PLACE && a >= SHIFT && a <= SCRATCH)) continue;
        for (int i = 0; i < LEVELS; i++)
          for (int j = 0; j < LEVELS; j++)
            cr_expect(met[a][b][i][j] || !met[a][a][i][i] || !met[b][b][j][j], "plan %zu: %s %d never meets %s %d", p,
                      names[a], i, names[b], j);
      }
    int numbers = 0;
    for (int i = 0; i < LEVELS; i++) numbers += met[THREADS][THREADS][i][i];
    const int want = plans[p].engine == FOLD_CUDA ? GRIDS : plans[p].engine == FOLD_HOST ? HOST_NUMBERS : RANK_NUMBERS;
    cr_expect_eq(numbers, want, "plan %zu: %d launches", p, numbers);
  }
}

/* By number, of every plan of that engine together. */
Test(plan, the_levels_are_those_of_the_list) {
  static const struct {
    enum fold_engine engine;
    int factor;
    unsigned n;
    int levels[HOST_NUMBERS];
  } lists[] = {{FOLD_HOST, THREADS, HOST_NUMBERS, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32}},
               {FOLD_MPI, THREADS, 8, {0, 1, 2, 3, 4, 7, 8, 16}},
               {FOLD_HOST, SHIFT, 8, {1, 2, 3, 4, 5, 8, 16, 32}},
               {FOLD_HOST, OTHER, 5, {0, 1, 2, 4, 5}},
               {FOLD_HOST, OUT, 4, {0, 1, 3, 16}},
               {FOLD_HOST, SCRATCH, 2, {0, 1}}};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    bool met[LEVELS] = {false};
    uint64_t state = l;
    for (int trial = 0; trial < 1000; trial++) {
      struct fold_variation plan[FOLD_PLAN_MOST];
      const size_t n = fold_plan(lists[l].engine, 300, next(&state), plan);
      for (size_t k = 0; k < n; k++) {
        int level[FACTORS];
        levels_of(&plan[k], level);
        if (level[lists[l].factor] >= 0) met[level[lists[l].factor]] = true;
      }
    }
    unsigned n = 0;
    for (int i = 0; i < LEVELS; i++) n += met[i];
    cr_expect_eq(n, lists[l].n);
    for (unsigned i = 0; i < lists[l].n; i++)
      cr_expect(met[lists[l].levels[i]], "%s: never %d", names[lists[l].factor], lists[l].levels[i]);
  }
}

Test(plan, grids_and_blocks_are_those_of_the_list) {
  static const unsigned want[][2] = {{0, 0}, {1, 0}, {7, 0}, {0, 0}, {132, 0}, {0, 128}, {33, 512}};
  struct fold_variation plan[FOLD_PLAN_MOST];
  cr_assert_eq(fold_plan(FOLD_CUDA, 300, 1, plan), sizeof want / sizeof *want);
  for (size_t k = 0; k < sizeof want / sizeof *want; k++)
    cr_expect(plan[k].launch.blocks == want[k][0] && plan[k].launch.block == want[k][1], "run %zu: %u of %u", k,
              plan[k].launch.blocks, plan[k].launch.block);
}

/* Whichever place in the plan a run has: over many inputs it meets each level as often as each other one. */
Test(plan, over_many_inputs_no_run_prefers_a_level) {
  enum { TRIALS = 1 << 15 };
  static const size_t n_levels[FACTORS] = {[SHIFT] = 8, [OTHER] = 5, [OUT] = 4, [SCRATCH] = 2, [NAN_BEFORE] = 2};
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
    static size_t times[FOLD_PLAN_MOST][FACTORS][LEVELS];
    struct fold_variation plan[FOLD_PLAN_MOST];
    uint64_t state = p;
    size_t n = 0;
    memset(times, 0, sizeof times);
    for (int trial = 0; trial < TRIALS; trial++) {
      n = fold_plan(plans[p].engine, plans[p].terms, next(&state), plan);
      for (size_t k = 0; k < n; k++) {
        int level[FACTORS];
        levels_of(&plan[k], level);
        for (int f = 0; f < FACTORS; f++)
          if (level[f] >= 0) times[k][f][level[f]]++;
      }
    }
    for (size_t k = 0; k < n; k++)
      for (int f = 0; f < FACTORS; f++) {
        size_t all = 0, levels = 0;
        for (int i = 0; i < LEVELS; i++) all += times[k][f][i], levels += times[k][f][i] > 0;
        if (n_levels[f] == 0 || all == 0) continue;
        cr_expect_eq(levels, n_levels[f], "plan %zu, run %zu: %zu levels of %s", p, k, levels, names[f]);
        for (int i = 0; i < LEVELS; i++) /* one in ten is more than six times what chance does */
          cr_expect(times[k][f][i] == 0 || fabs((double)(times[k][f][i] * levels) / (double)all - 1) < 0.1,
                    "plan %zu, run %zu: %s %d in %zu of %zu", p, k, names[f], i, times[k][f][i], all);
      }
  }
}

/* In each trial of a short input every number of threads has pages closed before it and behind it, a shifted input, NaN in the
 * output before and not, and the second input and the first; every shift is there. */
Test(plan, in_every_trial_of_a_short_input_each_launch_meets_each_kind_of_run) {
  uint64_t state = 1;
  for (int trial = 0; trial < 1000; trial++) {
    struct fold_variation plan[FOLD_PLAN_MOST];
    unsigned places[33] = {0}, nans[33] = {0}, inputs[33] = {0}, shifts[33] = {0}, outs[17] = {0}, scratches[2] = {0};
    unsigned numbers = 0;
    size_t n = fold_plan(FOLD_HOST, 300, next(&state), plan);
    cr_assert_eq(n, 24);
    for (size_t i = 0; i < n; i++) {
      unsigned t = plan[i].launch.threads;
      places[t] |= 1u << plan[i].placement;
      nans[t] |= 1u << plan[i].nan;
      inputs[t] |= 1u << plan[i].second;
      if (plan[i].placement != FOLD_PLACED) continue;
      shifts[plan[i].shift]++;
      outs[plan[i].out_shift]++;
      scratches[plan[i].scratch_shift] |= 1u << plan[i].nan;
    }
    cr_expect(scratches[0] == 3 && scratches[1] == 3, "trial %d: scratch", trial);
    for (unsigned t = 0; t <= 32; t++) numbers += places[t] != 0;
    cr_expect(numbers == 8 && places[0] && places[1] && places[2] && (places[16] || places[24] || places[32]),
              "trial %d: %u numbers of threads", trial, numbers);
    for (unsigned t = 0; t <= 32; t++)
      cr_expect(places[t] == 0 || (places[t] == 7 && nans[t] == 3 && inputs[t] == 3), "trial %d, %u threads", trial, t);
    for (unsigned s = 1; s <= 32; s++) cr_expect(shifts[s] == (s <= 5 || s == 8 || s == 16 || s == 32), "shift %u", s);
    cr_expect(outs[0] == 2 && outs[1] == 2 && outs[3] == 2 && outs[16] == 2);
  }
}

Test(plan, one_is_told_in_the_singular) {
  static const struct {
    struct fold_variation how;
    const char *text;
    size_t bytes;
  } rows[] = {{{.placement = FOLD_AT_START}, "at the start of a page", 12},
              {{.placement = FOLD_AT_END}, "at the end of a page, 52 bytes from a multiple of 64", 12},
              {{.placement = FOLD_AT_END}, "at the end of a page, 1 byte from a multiple of 64", 4095},
              {{.placement = FOLD_AT_END}, "at the end of a page", 128},
              {{.launch = {.blocks = 1}}, "with 1 block", 4},
              {{.launch = {.blocks = 2}}, "with 2 blocks", 4},
              {{.launch = {.threads = 1}}, "with 1 thread", 4},
              {{.launch = {.threads = 2}}, "with 2 threads", 4},
              {{.shift = 1}, "1 element from an aligned address", 4},
              {{.shift = 2}, "2 elements from an aligned address", 4},
              {{.other_shift = 1}, "its other input 1 element from one", 4},
              {{.other_shift = 2}, "its other input 2 elements from one", 4},
              {{.out_shift = 1}, "with the output 1 element further", 4},
              {{.out_shift = 2}, "with the output 2 elements further", 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[200];
    fold_variation_describe(&rows[i].how, rows[i].bytes, text);
    cr_expect_str_eq(text, rows[i].text);
  }
}

/* Between runs of one input there is always one of the other: who keeps its last result must make each. */
Test(plan, inputs_take_turns_on_the_host_alone) {
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
    struct fold_variation plan[FOLD_PLAN_MOST];
    size_t n = fold_plan(plans[p].engine, plans[p].terms, 12345, plan);
    for (size_t i = 0; i < n; i++) cr_expect_eq(plan[i].second, plans[p].engine == FOLD_HOST && i % 2 == 1);
  }
  struct fold_variation plan[FOLD_PLAN_MOST];
  size_t n = fold_plan(FOLD_HOST, 0, 12345, plan);
  for (size_t i = 0; i < n; i++) cr_expect(!plan[i].second, "of no terms there is one input");
}

/* Each number of threads has one place among ranks. */
Test(plan, half_of_the_ranks_runs_lie_at_an_end_of_a_page) {
  uint64_t state = 1;
  for (int trial = 0; trial < 1000; trial++) {
    struct fold_variation plan[FOLD_PLAN_MOST];
    size_t places[3] = {0}, n = fold_plan(FOLD_MPI, 300, next(&state), plan);
    for (size_t i = 0; i < n; i++) places[plan[i].placement]++;
    cr_expect(places[FOLD_AT_START] == 2 && places[FOLD_AT_END] == 2 && places[FOLD_PLACED] == 4,
              "trial %d: %zu, %zu, %zu", trial, places[FOLD_AT_START], places[FOLD_AT_END], places[FOLD_PLACED]);
  }
}

/* Of the longest inputs a plan has five numbers: one thread and many always, for these are what users compare. */
Test(plan, of_a_long_input_one_thread_and_many_are_in_every_plan) {
  enum { HASHES = 1 << 16 };
  uint64_t state = 1;
  size_t times[33] = {0};
  for (int trial = 0; trial < HASHES; trial++) {
    struct fold_variation plan[FOLD_PLAN_MOST];
    const size_t n = fold_plan(FOLD_HOST, FOLD_PLAN_FEW + 1, next(&state), plan);
    cr_assert_eq(n, 5);
    for (size_t i = 0; i < n; i++) times[plan[i].launch.threads]++;
  }
  const struct {
    unsigned first, last, numbers;
    double share; /* of the plans that have one of these numbers */
  } groups[] = {{0, 0, 1, 0.5}, {1, 1, 1, 1},    {2, 2, 1, 0.5},   {3, 4, 2, 0.5},
                {5, 7, 3, 0.5}, {8, 10, 3, 0.5}, {11, 15, 5, 0.5}, {16, 32, 3, 1}};
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (unsigned t = groups[g].first; t <= groups[g].last; t++) {
      const double want = HASHES * groups[g].share / groups[g].numbers;
      if (t > 16 && t != 24 && t != 32)
        cr_expect_eq(times[t], 0, "%u threads", t);
      else
        cr_expect(fabs((double)times[t] / want - 1) < 0.1, "%u threads: %zu times, not %g", t, times[t], want);
    }
}
