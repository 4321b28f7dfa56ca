/* test_bench_world.c: what foldproof bench and study --messages make of collectives: figures of given times, letters of given
 * bits, and the command over real ranks whose times or bits can't be believed (played_collectives.c).
 */
#include <math.h>

#include "shell.h"

#include "bench_world.h"
#include "probe_messages.h"

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
  struct fold_world_limits limits = {link, memory};
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

Test(bench_world, a_speed_up_above_the_worlds_size_is_implausible) {
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

Test(bench_world, more_bytes_than_memory_or_link_carry_are_implausible) {
  /* 4 MB on 4 ranks in 1 ms: 4 GB/s; the slower runs make 3.64. */
  struct fold_world_timing t = sum_of(4, 1e-3);
  struct fold_world_figures f = figures_of(&t, NULL, false, 1, 1e9);
  expect_implausible(&f, NULL, "at the ceiling");
  cr_expect(fabs(f.bytes_per_second - 4e9) < 1 && fabs(f.of_ceiling - 1) < 1e-9);
  f = figures_of(&t, NULL, false, NAN, 0.95e9);
  expect_implausible(&f, NULL, "above it by less than the spread");
  f = figures_of(&t, NULL, false, NAN, 0.9e9);
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

Test(bench_world, a_whole_that_is_faster_than_its_parts_is_implausible) {
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
Test(bench_world, a_busy_machine_is_told_and_is_not_plausible) {
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
Test(bench_world, rounds_are_compared_in_pairs) {
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

Test(bench_world, a_link_is_known_by_the_gpus_name_alone) {
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

Test(bench_world, not_a_number_is_no_figure_to_believe) {
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

Test(bench_world, samples_lie_within_the_message) {
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

Test(bench_world, letters_name_classes_of_equal_bits) {
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

Test(bench_world, a_setting_is_there_for_its_world_alone) {
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

/* Three ranks: the fewest where an order matters. */
static const char world[] = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FOLDPROOF_RANKS=3; ";

static void need_mpi(void) {
#ifndef FOLD_HAVE_MPI
  cr_skip_test("this build has no MPI");
#endif
}

/* $M is the command over played collectives, whose times are longer than what disturbs a busy machine. */
Test(bench_world, a_figure_that_cannot_be_is_told_and_exits_1) {
  static const struct {
    const char *subject, *options, *says;
    int code;
  } rows[] = {
      {"plausible", "--memory 1e6", "  not judged\n", 0},
      {"noisy", "--memory 1e6", "  too noisy to judge: its p90 is above twice its median; the bits: not judged\n", 77},
      {"below_calls", "--memory 1e6", "IMPLAUSIBLE: faster than its calls", 1},
      {"above_world", "--memory 1e6", "IMPLAUSIBLE: a speed-up above the world's size", 1},
      {"negative_overhead", "--memory 1e6", "IMPLAUSIBLE: a negative overhead", 1},
      {"above_memory", "--n 1e7 --memory 1", "IMPLAUSIBLE: more than the ranks' memories can be read", 1},
      {"ranks_differ", "--memory 1e6", "(rank_agreement: rank 2 has other bits than rank 0", 1},
      {"unwritten", "--memory 1e6", "(run_to_run: rank 0 has other bits in a second run, or wrote not all", 1},
      {"world_shows", "--memory 1e6", "(world_invariant: other bits than with one rank", 1},
      {"library", "--memory 1e6 --link 1e6", "  not judged\n", 0},
      {"library", "--memory 1e6 --link 1e-6", "IMPLAUSIBLE: more than the link carries", 1},
  };
  struct shell *s = shell_open();
  need_mpi();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(
        s,
        "%s $M bench --engine mpi --subjects 'played/%s' --unverified --workers 1,3 --what strong,messages --n 1000 "
        "--bytes 65536 --iterations 9 --settings default %s",
        world, rows[i].subject, rows[i].options);
    EXPECT_CODE(s, rows[i].code);
    cr_expect(strstr(s->out, rows[i].says), "%s: no '%s': %s", s->ran, rows[i].says, s->out);
  }
  shell_close(s);
}

/* The time of a run is that of its slowest rank. */
Test(bench_world, the_slowest_rank_counts) {
  struct shell *s = shell_open();
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/one_is_slow --unverified --workers 3 --what strong --n 1000 "
            "--iterations 9 --memory 1e6",
            world);
  EXPECT_CODE(s, 0);
  const char *line = strstr(s->out, "played/one_is_slow");
  double median = 0;
  cr_assert(line && sscanf(line, "played/one_is_slow 1000 3 %lf", &median) == 1, "%s", s->out);
  cr_expect(median >= 0.1e6, "%g us", median);
  shell_close(s);
}

/* Inputs that are larger than a pool rotate too: no share finds in a cache what another has just read. */
Test(bench_world, no_entrant_meets_an_input_that_another_has_just_read) {
  struct shell *s = shell_open();
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/meets_input --unverified --workers 1 --what strong --n 3e6 "
            "--iterations 9 --memory 1e6",
            world);
  const char *line = strstr(s->out, "played/meets_input");
  double median = 0;
  cr_assert(line && sscanf(line, "played/meets_input 3000000 1 %lf", &median) == 1, "%s", s->out);
  cr_expect(median >= 0.005e6 && median < 0.04e6, "%g us", median);
  shell_close(s);
}

/* What is right for the lengths that are judged whole is caught by samples of the timed message. */
Test(bench_world, the_timed_size_is_judged_too) {
  struct shell *s = shell_open();
  need_mpi();
  for (int wrong = 0; wrong < 2; wrong++)
    for (int whole = 0; whole < 2; whole++) {
      shell_run(
          s,
          "%s $M bench --engine mpi --subjects played/%s --what messages --bytes %d --iterations 9 --settings default",
          world, wrong ? "wrong_when_long" : "library", whole ? 16384 : 65536);
      EXPECT_CODE(s, wrong && !whole);
      cr_expect(!(wrong && !whole) || strstr(s->out, "refuted  (bounded:"), "%s", s->out);
    }
  shell_close(s);
}

/* One exact sum is lent at a time: a shape of more is turned away, not judged by its first row. */
Test(bench_world, a_sum_of_many_rows_is_no_shape) {
  struct fold_world_shape shape = {.engine = FOLD_MPI, .dtype = FOLD_F32, .rows = 2, .cols = 3, .ranks = 1};
  size_t n = 1;
  int stop = 0;
  fold_status status = fold_bench_world(NULL, NULL, &shape, NULL, &n, &stop);
  cr_expect(status.code == FOLD_BAD_INPUT && n == 0 && strstr(status.text, "one at a time"), "%s", status.text);
}

/* Sums that are too long to be judged whole: right ones hold, wrong ones are found, whatever is right on shorter ones. */
Test(bench_world, long_sums_are_judged_at_the_timed_size) {
  static const struct {
    const char *subject, *says;
  } rows[] = {
      {"right_sum", NULL},
      {"right_exact", NULL},
      {"loses_a_part", "refuted  (integers at this size: rank 0 has "},
      {"loses_a_term", "refuted  (integers at this size: rank 0 has "},
      {"next_to_nearest", "refuted  (correctly_rounded: not the number nearest"},
      {"above_bound", "refuted  (bounded: error 1e+09 is above the bound"},
  };
  struct shell *s = shell_open();
  need_mpi();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int is_long = 0; is_long < 2; is_long++) {
      shell_run(
          s,
          "%s $M bench --engine mpi --subjects played/%s --workers 3 --what strong --n %s --iterations 9 --memory 1e6",
          world, rows[i].subject, is_long ? "7e6" : "1e6");
      bool wrong = i >= 2 && is_long;
      /* Of a right one a busy machine may still give times that can't be (1), or that nobody can judge (77). */
      cr_expect(s->code == 1 || (!wrong && (s->code == 0 || s->code == 77)), "%s: %d: %s", s->ran, s->code, s->err);
      if (wrong) cr_expect(strstr(s->out, rows[i].says), "%s: %s", s->ran, s->out);
      if (!wrong) cr_expect(strstr(s->out, " held") && !strstr(s->out, "refuted"), "%s: %s", s->ran, s->out);
    }
  shell_close(s);
}

/* Which NaN a sum is nobody promises: bench and study say of it what verify says. */
Test(bench_world, another_nan_is_the_same_result) {
  struct shell *s = shell_open();
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/other_nan --generator nan_first --what messages --bytes 4096 "
            "--iterations 9 --settings default",
            world);
  cr_expect(s->code == 0 || s->code == 77, "%d: %s", s->code, s->err);
  cr_expect(strstr(s->out, " held\n") && !strstr(s->out, "refuted"), "%s", s->out);
  cr_expect(strstr(s->out, "; nearest cache: "), "%s", s->out);
  shell_run(
      s,
      "%s $M study --messages --engine mpi --generator nan_first --settings default --sizes 64,1000 | grep other_nan:",
      world);
  cr_expect(strstr(s->out, "ranks agreed in 2, repeats in 2\n"), "%s", s->out);
  shell_close(s);
}

static size_t count_lines(const char *text, const char *with) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, with)); at++) n++;
  return n;
}

Test(bench_world, records_have_what_the_table_has) {
  struct shell *s = shell_open();
  need_mpi();
  shell_run(
      s,
      "%s $F bench --engine mpi --workers 1,3 --n 1e5 --bytes 1024,4096 --iterations 9 --memory 1e6 --jsonl b.jsonl; "
      "code=$?; grep workers b.jsonl >&2; exit $code",
      world);
  /* 1, 77: a busy machine may give figures that can't be, or that nobody can judge */
  cr_expect(s->code == 0 || s->code == 1 || s->code == 77, "%s%s", s->out, s->err);
  cr_expect(strstr(s->out, "setting: ring") && strstr(s->out, "setting: recursive doubling"), "%s", s->out);
  size_t sums_there = count_lines(s->err, "\"type\":\"scaling\""), held = count_lines(s->err, "\"verdict\":\"held\"");
  size_t messages = count_lines(s->err, "\"type\":\"allreduce\"");
  cr_expect(sums_there > 0 && sums_there % 4 == 0, "%zu of strong and weak, one and three ranks", sums_there);
  cr_expect(messages >= 3 * 2, "%zu messages", messages);
  cr_expect_eq(held, sums_there + messages, "%s", s->out);
  cr_expect_eq(count_lines(s->err, "\"noisy\":true"), count_lines(s->out, "too noisy to judge: "), "%s", s->out);
  cr_expect(strstr(s->out, "; nearest cache: ") == NULL && strstr(s->out, "link: not known, and not held against"),
            "%s", s->out);
  cr_expect(strstr(s->out, "setting: ring: a world of its own"), "%s", s->out);
  static const char *const keys[] = {"mode",
                                     "n",
                                     "workers",
                                     "median_seconds",
                                     "local_median_seconds",
                                     "calls_median_seconds",
                                     "speed_up",
                                     "efficiency",
                                     "bus_bytes_per_second",
                                     "bytes",
                                     "setting",
                                     "library",
                                     "to_library",
                                     "output_xxh3",
                                     "overhead_seconds"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\":", keys[k]);
    cr_expect(strstr(s->err, key), "no %s", key);
  }
  shell_run(s,
            "$F report b.jsonl -o b.html; code=$?; grep -o 'Bus bandwidth of an all-reduce by length, 3 ranks' b.html; "
            "grep -c '<td>recursive doubling</td>' b.html; grep -o 'Strong scaling, f32 sum, 100000' "
            "b.html; exit $code");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "Strong scaling") && strstr(s->out, "\n2\n"), "%s", s->out);
  shell_close(s);
}

Test(bench_world, bad_words_are_refused) {
  static const struct {
    const char *options, *word;
  } rows[] = {
      {"bench --engine host", "only GPUs and collectives"},
      {"bench --engine x", "not one of"},
      {"bench --what weak", "need --engine mpi or nccl"},
      {"bench --engine mpi --what x", "not one of messages, strong, weak"},
      {"bench --engine mpi --what ''", "empty"},
      {"bench --engine mpi --rows 3 --cols 3", "--engine cuda"},
      {"bench --engine mpi --peer x", "--engine cuda"},
      {"bench --engine mpi --iterations 8", "at least 9"},
      {"bench --engine mpi --workers 2,1", "rising"},
      {"bench --engine mpi --workers 0", "from 1"},
      {"bench --engine mpi --bytes 12", "multiples of 8"},
      {"bench --engine mpi --bytes 34359738376", "from 0 to 34359738368"},
      {"bench --engine mpi --link -1", "not a rate"},
      {"bench --engine mpi --memory x", "not a rate"},
      {"study --engine mpi", "--messages"},
      {"study --messages --engine cuda", "not mpi or nccl"},
      {"study --messages --simulate", "excludes"},
      {"study --messages --engine mpi --sizes 0", "from 1"},
  };
  struct shell *s = shell_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "$F %s", rows[i].options);
    EXPECT_CODE(s, 2);
    cr_expect(strstr(s->err, rows[i].word) && shell_lines(s->err) <= 3, "%s: %s", s->ran, s->err);
    cr_expect(s->out[0] == '\0', "%s: %s", s->ran, s->out);
  }
  shell_close(s);
}

/* Open MPI's linear and its ring: other orders. Ours has one letter under both; one whose bits show the length has not. */
Test(bench_world, messages_are_probed_under_each_setting) {
  struct shell *s = shell_open();
  need_mpi();
  shell_run(
      s,
      "%s $F study --messages --engine mpi --settings 'default,basic*,ring' --sizes 64,1000,4096 --jsonl m.jsonl; "
      "code=$?; cp m.jsonl /dev/stderr; exit $code",
      world);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "the first 64 elements of each message, f32 sum, normal, 3 ranks, Open MPI"), "%s", s->out);
  cr_expect(strstr(s->out, "collective/canonical: 9 messages, 1 letter; ranks agreed in 9, repeats in 9\n"), "%s",
            s->out);
  cr_expect(!strstr(s->out, "mpi/allreduce: 9 messages, 1 letter"), "three orders that are one: %s", s->out);
  cr_expect_eq(count_lines(s->err, "\"type\":\"messages\""), 18, "%s", s->err);
  shell_run(s, "$F report m.jsonl -o m.html && grep -c '<td>basic linear</td><td>[A-Z]</td>' m.html");
  EXPECT_CODE(s, 0);
  cr_expect_str_eq(s->out, "2\n", "one row for the library, one for ours");
  shell_run(s, "%s $M study --messages --engine mpi --settings default --sizes 64,1000", world);
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "played/length_shows: 2 messages, 2 letters; ranks agreed in 2, repeats in 2: REFUTED"),
            "%s", s->out);
  shell_run(s, "%s $F study --messages --engine mpi --settings nosuch", world);
  EXPECT_CODE(s, 2);
  shell_close(s);
}
