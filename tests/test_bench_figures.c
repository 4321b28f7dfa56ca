/* test_bench_figures.c: what foldproof bench and study --messages make of collectives, as far as that needs no ranks:
 * figures from given times, letters from given bits.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/probe_messages.h"
#include "bench/world.h"

static const struct fold_subject vectors = {.name = "v", .engine = FOLD_MPI, .vector = true};
static const struct fold_subject sums = {.name = "s", .engine = FOLD_MPI};

/* Spans of 10% on both sides of the median. */
static struct fold_span around(double median) { return (struct fold_span){median, 0.9 * median, 1.1 * median}; }
static const struct fold_span untimed = {NAN, NAN, NAN};

static struct fold_world_timing sum_of(unsigned ranks, double seconds) {
  return (struct fold_world_timing){
      .subject = &sums,
      .shape = {.engine = FOLD_MPI, .dtype = FOLD_F32, .rows = 1, .cols = 1000000, .ranks = ranks},
      .share = {around(seconds), untimed, untimed}};
}

static struct fold_world_figures figures_of(const struct fold_world_timing *t, const struct fold_world_timing *one,
                                            bool weak, double link, double memory) {
  struct fold_world_limits limits = {link, {.rate = memory, .most = memory}};
  struct fold_world_figures figures;
  fold_bench_world_figures(t, one, weak, &limits, &figures);
  return figures;
}

static void expect_implausible(const struct fold_world_figures *f, const char *word, const char *what) {
  if (word)
    cr_expect(f->implausible && strstr(f->implausible, word), "%s: '%s', want '%s'", what,
              f->implausible ? f->implausible : "plausible", word);
  else
    cr_expect(f->implausible == NULL, "%s: '%s', want nothing", what, f->implausible);
}

Test(bench_figures, a_speed_up_above_the_worlds_size_is_implausible) {
  static const struct {
    double one, many;
    unsigned ranks;
    bool weak;
    const char *word;
  } rows[] = {
      {4, 1, 4, false, NULL},
      {4.8, 1, 4, false, NULL},        /* 4.8 of 4 is within the spreads: 0.9 * 4.8 / 1.1 < 4 */
      {5, 1, 4, false, "speed-up"},    /* 0.9 * 5 / 1.1 > 4 */
      {47.5, 1, 2, false, "speed-up"}, /* the report's */
      {NAN, 1, 4, false, NULL},        /* nothing to be compared with */
      {1, 1, 4, true, NULL},           /* as fast on four times as much: efficiency 1 */
      {1.25, 1, 4, true, "speed-up"},
      {1, 4, 4, false, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_world_timing one = sum_of(1, rows[i].one), many = sum_of(rows[i].ranks, rows[i].many);
    struct fold_world_figures f = figures_of(&many, &one, rows[i].weak, NAN, NAN);
    char what[40];
    snprintf(what, sizeof what, "row %zu", i);
    expect_implausible(&f, rows[i].word, what);
    double want = (rows[i].weak ? rows[i].ranks : 1) * rows[i].one / rows[i].many;
    cr_expect((isnan(want) && isnan(f.speed_up)) || fabs(f.speed_up - want) < 1e-12, "%s: %g", what, f.speed_up);
    cr_expect(isnan(want) || fabs(f.efficiency * rows[i].ranks - want) < 1e-12, "%s: %g", what, f.efficiency);
  }
}

Test(bench_figures, more_bytes_than_memory_or_link_carry_are_implausible) {
  /* 4 MB on 4 ranks in 1 ms: 4 GB/s; the slower runs make 3.64. */
  struct fold_world_timing t = sum_of(4, 1e-3);
  struct fold_world_figures f = figures_of(&t, NULL, false, 1, 1e9);
  expect_implausible(&f, NULL, "at the ceiling");
  cr_expect(fabs(f.bytes_per_second - 4e9) < 1 && fabs(f.of_ceiling - 1) < 1e-9);
  f = figures_of(&t, NULL, false, NAN, 0.95e9);
  expect_implausible(&f, NULL, "above it by less than the spread");
  f = figures_of(&t, NULL, false, NAN, 0.89e9);
  expect_implausible(&f, "memories", "above it");
  /* A message of 4 MB over 4 ranks in 1 ms: bus bandwidth 2 * 3/4 * 4 GB/s = 6 GB/s. */
  t.subject = &vectors;
  t.shape = (struct fold_world_shape){.dtype = FOLD_F32, .vectors = true, .rows = 1000000, .cols = 4, .ranks = 4};
  f = figures_of(&t, NULL, false, 6e9, NAN);
  expect_implausible(&f, NULL, "at the link's ceiling");
  cr_expect(fabs(f.bus - 6e9) < 1 && fabs(f.algorithm - 4e9) < 1);
  f = figures_of(&t, NULL, false, 5e9, NAN);
  expect_implausible(&f, "link", "above it");
  t.shape.ranks = t.shape.cols = 1;
  f = figures_of(&t, NULL, false, 1, NAN);
  expect_implausible(&f, NULL, "one rank has no link");
}

/* Reads of one shape spread from 0.8 to 1.2 s, of another from 1.9 to 2.1; in whatever sequence they were taken. */
Test(bench_figures, a_ceiling_is_the_best_shape_and_its_spread_the_margin) {
  for (int swapped = 0; swapped < 2; swapped++) {
    double fast[21], slow[21];
    struct fold_ceiling c = {.clock = 0.01};
    for (int i = 0; i < 21; i++) {
      fast[i * 8 % 21] = 0.8 + 0.02 * i;
      slow[i * 8 % 21] = 1.9 + 0.01 * i;
    }
    cr_expect(fold_ceiling_take(&c, 100, swapped ? slow : fast, 21), "the first is the best so far");
    cr_expect_eq(fold_ceiling_take(&c, 100, swapped ? fast : slow, 21), swapped);
    cr_expect(fabs(c.rate - 100) < 1e-9 && fabs(c.most - 100 / 0.84) < 1e-9, "%g, %g", c.rate, c.most);
    cr_expect(fold_ceiling_allows(&c, 100, 1) && fold_ceiling_allows(&c, 100, 0.85), "above the median");
    cr_expect(fold_ceiling_allows(&c, 100, 0.8218) && !fold_ceiling_allows(&c, 100, 0.8216),
              "a hundredth, and the clock's part");
    cr_expect(!fold_ceiling_allows(&c, 100, NAN) && !fold_ceiling_allows(&c, 100, 0));
    c.most = NAN;
    cr_expect(!fold_ceiling_allows(&c, 100, 1e9));
  }
  double broken[3] = {NAN, NAN, NAN};
  struct fold_ceiling c = {0};
  cr_expect(!fold_ceiling_take(&c, 100, broken, 3) && c.rate == 0 && c.most == 0, "no clock, no ceiling");
}

/* Row kernels of an H100 had up to 3197 GB/s where the best read's median was 3188.9 and its faster runs had 3192.2: that is the ceiling
 * itself. */
Test(bench_figures, what_is_little_above_the_ceiling_is_the_ceiling_itself) {
  static const struct {
    double rate; /* GB/s of the slower runs */
    bool implausible;
  } rows[] = {{3000, false}, {3188.9, false}, {3197, false}, {3224, false}, {3225, true}, {4000, true}, {NAN, true}};
  struct fold_ceiling c = {.rate = 3188.9e9, .most = 3192.2e9};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_timing t = {.bytes = 1e9};
    double runs[11];
    for (int k = 0; k < 11; k++) runs[k] = 1 / rows[i].rate;
    fold_bench_figures(&t, runs, 11, &c);
    cr_expect_eq(t.implausible, rows[i].implausible, "%g GB/s", rows[i].rate);
    cr_expect(isnan(rows[i].rate) || fabs(t.of_ceiling - rows[i].rate / 3188.9) < 1e-9, "%g", t.of_ceiling);
  }
  /* Of ranks: as much from each memory. */
  struct fold_world_limits limits = {NAN, c};
  struct fold_world_timing t = sum_of(4, 1);
  struct fold_world_figures f;
  t.shape.cols = 1000000000;
  for (int above = 0; above < 2; above++) {
    double seconds = 4e9 / 4 / (above ? 3225e9 : 3224e9);
    t.share[FOLD_SHARE_ALL] = (struct fold_span){seconds, seconds, seconds};
    fold_bench_world_figures(&t, NULL, false, &limits, &f);
    expect_implausible(&f, above ? "memories" : NULL, above ? "beyond it" : "a little above it");
  }
}

/* A product of 4,096 cubed on an H200 takes 2.05 ms in f32 if all its units work all the time, and reads its matrices in much less. */
Test(bench_figures, more_operations_than_a_gpu_has_are_implausible) {
  static const struct fold_subject kept = {.method = FOLD_PLAIN}, exact = {.method = FOLD_EXACT},
                                   tf32 = {.method = FOLD_PLAIN, .factor = FOLD_FACTORS_TF32},
                                   f16 = {.method = FOLD_PLAIN, .factor = FOLD_FACTORS_F16};
  static const struct {
    const struct fold_subject *subject;
    enum fold_dtype dtype;
    double milliseconds; /* the least */
  } rows[] = {{&kept, FOLD_F32, 2.0540}, {&kept, FOLD_F64, 2.0540},  {&tf32, FOLD_F32, 0.25675},
              {&f16, FOLD_F32, 0.12838}, {&kept, FOLD_F16, 0.12838}, {&kept, FOLD_BF16, 0.12838}};
  const struct fold_ceiling h200 = {.rate = 4e12, .most = 4e12, .units = {9, 0, 132, 1.98e9}};
  const struct fold_shape cube = {.b = 1, .m = 4096, .n = 4096, .k = 4096};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int fast = 0; fast < 2; fast++) {
      struct fold_timing t = {.subject = rows[i].subject,
                              .shape = {.dtype = rows[i].dtype, .problem = fold_problem(FOLD_MATMUL), .shape = cube},
                              .bytes = 1e8};
      const double seconds = rows[i].milliseconds * 1e-3 * (fast ? 0.98 : 1);
      fold_bench_figures(&t, (const double[]){seconds / 2, seconds, seconds}, 3, &h200);
      cr_expect_eq(t.implausible, fast, "row %zu, %g s", i, seconds);
      cr_expect_eq(t.why != NULL, fast, "row %zu", i);
    }
  struct fold_timing t = {.subject = &exact,
                          .shape = {.dtype = FOLD_F32, .problem = fold_problem(FOLD_MATMUL), .shape = cube},
                          .bytes = 1e8};
  /* An exact sum's units, other GPUs', and an unknown clock's are not known. */
  for (int other = 0; other < 4; other++) {
    struct fold_ceiling c = h200;
    if (other > 0) t.subject = &kept;
    if (other == 1) c.units.major = 10;
    if (other == 2) c.units.hertz = 0;
    if (other == 3) c.units.major = 8, c.units.minor = 9;
    fold_bench_figures(&t, (const double[]){1e-4, 1e-4, 1e-4}, 3, &c);
    cr_expect(!t.implausible, "%d", other);
  }
}

Test(bench_figures, a_whole_that_is_faster_than_its_parts_is_implausible) {
  struct fold_world_timing t = sum_of(4, 1);
  t.share[FOLD_SHARE_LOCAL] = around(1.2);
  t.share[FOLD_SHARE_CALLS] = around(0.1);
  struct fold_world_figures f = figures_of(&t, NULL, false, NAN, NAN);
  expect_implausible(&f, NULL, "within the spreads");
  cr_expect(fabs(f.overhead + 0.2) < 1e-12);
  t.share[FOLD_SHARE_LOCAL] = around(2.36); /* the report's overhead of -136% */
  f = figures_of(&t, NULL, false, NAN, NAN);
  expect_implausible(&f, "negative overhead", "beyond them");
  t.share[FOLD_SHARE_LOCAL] = around(0.5);
  t.share[FOLD_SHARE_CALLS] = around(1.3);
  f = figures_of(&t, NULL, false, NAN, NAN);
  expect_implausible(&f, "calls", "less than the calls alone");
}

/* The issue's: whole 337 us, its calls alone 1621, and slow runs of 12 ms. */
Test(bench_figures, a_busy_machine_is_told_and_is_not_plausible) {
  struct fold_world_timing t = sum_of(2, 337e-6), one = sum_of(1, 337e-6);
  t.share[FOLD_SHARE_LOCAL] = around(300e-6);
  t.share[FOLD_SHARE_CALLS] = around(1621e-6);
  t.share[FOLD_SHARE_ALL].p90 = 12392e-6;
  struct fold_world_figures f = figures_of(&t, &one, false, NAN, NAN);
  expect_implausible(&f, NULL, "its spread is wide");
  cr_expect(f.noisy && strstr(f.noisy, "its p90"), "%s", f.noisy ? f.noisy : "not noisy");
  t.share[FOLD_SHARE_ALL].p90 = 400e-6;
  f = figures_of(&t, &one, false, NAN, NAN);
  expect_implausible(&f, "calls", "it is not");
  cr_expect(!f.noisy, "what is implausible even so is not called noisy");
  t.share[FOLD_SHARE_CALLS] = (struct fold_span){100e-6, 90e-6, 1e-3};
  f = figures_of(&t, &one, false, NAN, NAN);
  cr_expect(!f.implausible && f.noisy && strstr(f.noisy, "calls"), "slow calls reach into the whole");
  t.share[FOLD_SHARE_CALLS] = (struct fold_span){8e-6, 8e-6, 64e-6};
  f = figures_of(&t, &one, false, NAN, NAN);
  cr_expect(!f.implausible && !f.noisy, "slow calls that the whole hides: %s", f.noisy);
  one.share[FOLD_SHARE_ALL].p90 = 1e-3;
  f = figures_of(&t, &one, false, NAN, NAN);
  cr_expect(f.noisy && strstr(f.noisy, "one rank's"), "what speed-ups are against");
}

/* Eleven rounds: chance wins all of them once in 2048 times, ten of them once in 170. */
Test(bench_figures, rounds_are_compared_in_pairs) {
  static const struct {
    unsigned below, rounds;
    const char *word;
  } rows[] = {{11, 11, "calls"}, {10, 11, NULL}, {9, 9, "calls"},          {8, 9, NULL},         {0, 0, NULL},
              {37, 51, "calls"}, {36, 51, NULL}, {60000, 100000, "calls"}, {50000, 100000, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_world_timing t = sum_of(4, 1);
    t.share[FOLD_SHARE_LOCAL] = around(0.5);
    t.share[FOLD_SHARE_CALLS] = around(1.1);
    t.rounds = rows[i].rounds;
    t.below[FOLD_SHARE_CALLS] = rows[i].below;
    struct fold_world_figures f = figures_of(&t, NULL, false, NAN, NAN);
    char what[40];
    snprintf(what, sizeof what, "%u of %u", rows[i].below, rows[i].rounds);
    expect_implausible(&f, rows[i].word, what);
  }
  const double whole[] = {1, 1, 1, 1, NAN, 1e-6}, share[] = {0.5, 1, 1.009, 1.02, 1, 1.9e-6};
  cr_expect_eq(fold_world_pair(whole, share, 6), 2, "1.02, and no number");
}

Test(bench_figures, a_link_is_known_by_the_gpus_name_alone) {
  static const struct {
    const char *device;
    double rate;
  } rows[] = {{"NVIDIA H200", 450e9},
              {"NVIDIA H100 80GB HBM3", 450e9},
              {"NVIDIA H100 PCIe", 300e9},
              {"NVIDIA A100-SXM4-80GB", 300e9},
              {"NVIDIA B200", 900e9},
              {"NVIDIA GB200", 900e9},
              {"NVIDIA L40S", NAN},
              {"Tesla V100-SXM2-32GB", NAN},
              {"", NAN}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double rate = fold_world_link(rows[i].device);
    cr_expect((isnan(rate) && isnan(rows[i].rate)) || rate == rows[i].rate, "%s: %g", rows[i].device, rate);
  }
}

Test(bench_figures, not_a_number_is_no_figure_to_believe) {
  struct fold_world_timing t = sum_of(4, 1), one = sum_of(1, 4);
  t.share[FOLD_SHARE_ALL].p90 = NAN;
  struct fold_world_figures f = figures_of(&t, NULL, false, NAN, 1e9);
  expect_implausible(&f, "memories", "no slower runs");
  f = figures_of(&t, &one, false, NAN, NAN);
  expect_implausible(&f, "speed-up", "no slower runs");
  t.share[FOLD_SHARE_ALL] = untimed;
  f = figures_of(&t, &one, false, 1, 1);
  expect_implausible(&f, NULL, "what was not timed has no figure");
  cr_expect(isnan(f.speed_up) && isnan(f.bytes_per_second));
}

Test(bench_figures, samples_lie_within_the_message) {
  static const uint64_t rows[] = {1, 2, 63, 64, 65, 1000, (uint64_t)1 << 28, FOLD_WIRE_VECTOR};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_expect_eq(fold_wire_sample(rows[i], 0), 0);
    cr_expect_eq(fold_wire_sample(rows[i], FOLD_WIRE_SAMPLES - 1), rows[i] - 1);
    for (unsigned k = 1; k < FOLD_WIRE_SAMPLES; k++)
      cr_expect(fold_wire_sample(rows[i], k - 1) <= fold_wire_sample(rows[i], k), "%zu, %u", i, k);
  }
}

/* Two settings, two subjects, two lengths, with given bits. */
static void letter(struct fold_probe_row *row, size_t subject, uint64_t first, uint64_t second) {
  row->cell[subject][0] = (struct fold_probe_cell){true, true, true, first, 0};
  row->cell[subject][1] = (struct fold_probe_cell){true, true, true, second, 0};
}

Test(bench_figures, letters_name_classes_of_equal_bits) {
  static const struct fold_subject peer = {.name = "p", .claims = 0},
                                   ours = {.name = "o", .claims = FOLD_CLAIM(FOLD_MESSAGE_INVARIANT)};
  struct fold_probe p = {.n_lengths = 2, .subject = {&peer, &ours}, .n_subjects = 2};
  struct fold_probe_row row[2] = {0};
  struct fold_probe_table table = {row, 2, 0};
  struct fold_probe_summary s;
  letter(&row[0], 0, 10, 20);
  letter(&row[1], 0, 30, 10);
  letter(&row[0], 1, 20, 20);
  letter(&row[1], 1, 20, 20);
  cr_assert_eq(fold_probe_letters(&p, &table).code, FOLD_OK);
  cr_expect_eq(table.n_letters, 3);
  cr_expect(row[0].cell[0][0].letter == 0 && row[0].cell[0][1].letter == 1 && row[1].cell[0][0].letter == 2 &&
            row[1].cell[0][1].letter == 0 && row[1].cell[1][1].letter == 1);
  fold_probe_summarise(&p, &table, 0, &s);
  cr_expect(s.letters == 3 && s.ran == 4 && !s.refuted, "the peer promises nothing");
  fold_probe_summarise(&p, &table, 1, &s);
  cr_expect(s.letters == 1 && s.ran == 4 && !s.refuted);
  row[1].cell[1][0].bits = 21;
  cr_assert_eq(fold_probe_letters(&p, &table).code, FOLD_OK);
  fold_probe_summarise(&p, &table, 1, &s);
  cr_expect(s.letters == 2 && s.refuted);
  char text[8];
  cr_expect_str_eq(fold_probe_letter(25, text), "Z");
  cr_expect_str_eq(fold_probe_letter(26, text), "a");
  cr_expect_str_eq(fold_probe_letter(52, text), "52");
}

Test(bench_figures, a_setting_is_there_for_its_world_alone) {
  size_t n;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  for (size_t i = 0; i < n; i++) {
    struct fold_setting_before before;
    const char *name = settings[i].variable[0].name;
    cr_expect_eq(strcmp(settings[i].name, "default") == 0, name == NULL, "%s", settings[i].name);
    for (int user = 0; name && user < 2; user++) {
      if (user) setenv(name, "the user's", 1);
      cr_assert_eq(fold_setting_enter(&settings[i], &before).code, FOLD_OK);
      for (int k = 0; k < FOLD_SETTING_VARIABLES && settings[i].variable[k].name; k++)
        cr_expect_str_eq(getenv(settings[i].variable[k].name), settings[i].variable[k].value);
      fold_setting_leave(&settings[i], &before);
      cr_expect(user ? strcmp(getenv(name), "the user's") == 0 : getenv(name) == NULL, "%s", settings[i].name);
      unsetenv(name);
    }
  }
}
