/* test_bench_world.c: foldproof bench and study --messages over real ranks whose times or bits can't be believed:
 * simulated times (played_collectives.c), so that no verdict depends on how long something took. The clock itself:
 * test_rank_clock.c.
 */
#include <math.h>

#include "shell.h"

#include "bench/probe_messages.h"
#include "bench/world.h"

/* Three ranks: the fewest where an order matters. */
static const char world[] = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FOLDPROOF_RANKS=3; ";

Test(bench_world, a_figure_that_cannot_be_is_told_and_exits_1) {
  static const struct {
    const char *subject, *options, *says;
    int code;
  } rows[] = {
      {"plausible", "--memory 1e6", "  not judged\n", 0},
      {"noisy", "--memory 1e6", "  not judged, too noisy: its p90 is above twice its median\n", 77},
      {"below_calls", "--memory 1e6", "implausible: faster than its calls", 1},
      {"above_world", "--memory 1e6", "implausible: a speed-up above the world's size", 1},
      {"negative_overhead", "--memory 1e6", "implausible: a negative overhead", 1},
      {"above_memory", "--n 1e7 --memory 1", "implausible: more than the ranks' memories can be read", 1},
      {"ranks_differ", "--memory 1e6", "; rank_agreement: rank 2 has different bits than rank 0", 1},
      {"unwritten", "--memory 1e6", "; run_to_run: rank 0 has different bits in a second run, or wrote not all", 1},
      {"world_shows", "--memory 1e6", "; world_invariant: different bits than with one rank", 1},
      {"library", "--memory 1e6 --link 1e6", "  not judged\n", 0},
      {"library", "--memory 1e6 --link 1e-6", "implausible: more than the link carries", 1},
  };
  SHELL(s);
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
}

/* The time of a run is that of its slowest rank. */
Test(bench_world, the_slowest_rank_counts) {
  SHELL(s);
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/one_is_slow --unverified --workers 3 --what strong --n 1000 "
            "--iterations 9 --memory 1e6",
            world);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "played/one_is_slow     1,000        3      100,000 "), "%s", s->out);
}

/* Inputs that are larger than a pool rotate too: no share finds in a cache what another has just read. */
Test(bench_world, no_entrant_meets_an_input_that_another_has_just_read) {
  SHELL(s);
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/meets_input --unverified --workers 1 --what strong --n 3e6 "
            "--iterations 9 --memory 1e6",
            world);
  cr_expect(strstr(s->out, "played/meets_input  3,000,000        1        5,000 "), "it met an input: %s", s->out);
}

/* What is right for the lengths that are judged whole is caught by samples of the timed message. */
Test(bench_world, the_timed_size_is_judged_too) {
  SHELL(s);
  need_mpi();
  for (int wrong = 0; wrong < 2; wrong++)
    for (int whole = 0; whole < 2; whole++) {
      shell_run(
          s,
          "%s $M bench --engine mpi --subjects played/%s --what messages --bytes %d --iterations 9 --settings default",
          world, wrong ? "wrong_when_long" : "library", whole ? 16384 : 65536);
      EXPECT_CODE(s, wrong && !whole);
      cr_expect(!(wrong && !whole) || strstr(s->out, "refuted; bounded:"), "%s", s->out);
    }
}

/* One exact sum is lent at a time: a shape of more is turned away, not judged by its first row. */
Test(bench_world, a_sum_of_many_rows_is_no_shape) {
  struct fold_world_shape shape = {.engine = FOLD_MPI, .dtype = FOLD_F32, .rows = 2, .cols = 3, .ranks = 1};
  size_t n = 1;
  int stop = 0;
  fold_status status = fold_bench_world(NULL, NULL, &shape, NULL, &n, &stop);
  cr_expect(status.code == FOLD_BAD_INPUT && n == 0 && strstr(status.text, "one at a time"), "%s", status.text);
}

/* The line of a subject in the table, or NULL. */
static const char *line_of(const char *out, const char *subject, char line[400]) {
  char start[40];
  snprintf(start, sizeof start, "  played/%s ", subject);
  const char *at = strstr(out, start);
  if (at) snprintf(line, 400, "%.*s", (int)strcspn(at, "\n"), at);
  return at ? line : NULL;
}

/* Sums that are too long to be judged whole: right ones hold, wrong ones are found, whatever is right on shorter ones. One world has
 * three of them in turn. */
Test(bench_world, long_sums_are_judged_at_the_timed_size) {
  static const struct {
    const char *subject, *says;
  } rows[2][3] = {{{"right_sum", NULL},
                   {"loses_a_part", "refuted; integers at this size: rank 0 has "},
                   {"loses_a_term", "refuted; integers at this size: rank 0 has "}},
                  {{"right_exact", NULL},
                   {"next_to_nearest", "refuted; correctly_rounded: not the number nearest"},
                   {"above_bound", "refuted; bounded: error 1e+09 is above the bound"}}};
  SHELL(s);
  need_mpi();
  for (int i = 0; i < 4; i++) {
    int three = i / 2, is_long = i % 2;
    shell_run(s,
              "%s $M bench --engine mpi --subjects played/%s,played/%s,played/%s --workers 3 --what strong --n %s "
              "--iterations 9 --memory 1e6",
              world, rows[three][0].subject, rows[three][1].subject, rows[three][2].subject, is_long ? "5e6" : "1e5");
    EXPECT_CODE(s, is_long);
    for (int k = 0; k < 3; k++) {
      char text[400];
      const char *line = line_of(s->out, rows[three][k].subject, text), *says = is_long ? rows[three][k].says : NULL;
      cr_expect(line && strstr(line, says ? says : " held") && (says || !strstr(line, "refuted")), "%s: %s: %s", s->ran,
                rows[three][k].subject, s->out);
    }
  }
}

/* No promise says which NaN a sum is: bench and study say of it what verify says. */
Test(bench_world, another_nan_is_the_same_result) {
  SHELL(s);
  need_mpi();
  shell_run(s,
            "%s $M bench --engine mpi --subjects played/other_nan --generator nan_first --what messages --bytes 4096 "
            "--iterations 9 --settings default",
            world);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, " held\n") && !strstr(s->out, "refuted"), "%s", s->out);
  cr_expect(strstr(s->out, "; nearest cache: "), "%s", s->out);
  shell_run(
      s,
      "%s $M study --messages --engine mpi --generator nan_first --settings default --sizes 64,1000 | grep other_nan:",
      world);
  cr_expect(strstr(s->out, "ranks agreed in 2, repeats in 2\n"), "%s", s->out);
}

Test(bench_world, records_have_what_the_table_has) {
  SHELL(s);
  need_mpi();
  shell_run(
      s,
      "%s $F bench --engine mpi --workers 1,3 --n 1e5 --bytes 1024,4096 --iterations 9 --memory 1e6 --jsonl b.jsonl; "
      "code=$?; grep workers b.jsonl >&2; exit $code",
      world);
  /* 1, 77: a busy machine may give figures that can't be, or that can't be judged */
  cr_expect(s->code == 0 || s->code == 1 || s->code == 77, "%s%s", s->out, s->err);
  cr_expect(strlen(s->err) < sizeof s->err - 1, "more records than are looked at");
  cr_expect(strstr(s->out, "Setting ring,") && strstr(s->out, "Setting recursive doubling,"), "%s", s->out);
  size_t sums_there = shell_count(s->err, "\"type\":\"scaling\""), held = shell_count(s->err, "\"verdict\":\"held\"");
  size_t messages = shell_count(s->err, "\"type\":\"allreduce\"");
  cr_expect(sums_there > 0 && sums_there % 4 == 0, "%zu of strong and weak, one and three ranks", sums_there);
  cr_expect(messages >= 3 * 2, "%zu messages", messages);
  cr_expect_eq(held, sums_there + messages, "%s", s->out);
  cr_expect_eq(shell_count(s->err, "\"noisy\":true"), shell_count(s->out, ", too noisy: "), "%s", s->out);
  cr_expect(strstr(s->out, "; nearest cache: ") == NULL && strstr(s->out, "link: unknown, and not checked"), "%s",
            s->out);
  cr_expect(strstr(s->out, "each setting of the library has a world of its own"), "%s", s->out);
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
            "grep -c '<td>recursive doubling</td>' b.html; grep -o 'Strong scaling, f32 sum, 100,000' "
            "b.html; exit $code");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "Strong scaling") && strstr(s->out, "\n2\n"), "%s", s->out);
}

/* Open MPI's linear and its ring: other orders. Ours has one letter under both; one whose bits show the length has not. */
Test(bench_world, messages_are_probed_under_each_setting) {
  SHELL(s);
  need_mpi();
  shell_run(
      s,
      "%s $F study --messages --engine mpi --settings 'default,basic*,ring' --sizes 64,1000,4096 --jsonl m.jsonl; "
      "code=$?; cp m.jsonl /dev/stderr; exit $code",
      world);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "3 ranks, f32, normal, Open MPI"), "%s", s->out);
  cr_expect(strstr(s->out, "collective/canonical: 9 messages, 1 letter; ranks agreed in 9, repeats in 9\n"), "%s",
            s->out);
  cr_expect(!strstr(s->out, "mpi/allreduce: 9 messages, 1 letter"), "three orders that are one: %s", s->out);
  cr_expect_eq(shell_count(s->err, "\"type\":\"messages\""), 18, "%s", s->err);
  shell_run(s, "$F report m.jsonl -o m.html && grep -c '<td>basic linear</td><td>[A-Z]</td>' m.html");
  EXPECT_CODE(s, 0);
  cr_expect_str_eq(s->out, "2\n", "one row for the library, one for ours");
  shell_run(s, "%s $M study --messages --engine mpi --settings default --sizes 64,1000", world);
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "played/length_shows: 2 messages, 2 letters; ranks agreed in 2, repeats in 2: REFUTED"),
            "%s", s->out);
  shell_run(s, "%s $F study --messages --engine mpi --settings nosuch", world);
  EXPECT_CODE(s, 2);
}
