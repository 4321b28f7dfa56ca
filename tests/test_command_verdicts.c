/* test_command_verdicts.c: how verify reports verdicts: on which stream, in which words, with which sums. */
#include "shell.h"

#include <math.h>

#include "base/bits.h"
#include "oracles/nearer.h"
#include "records/refutation.h"

#define MANY "--fixtures 'normal/f32/sum/1x2*'"
/* Before a command: a guest's engine is not there, whatever machine and build this is. */
#define ABSENT "env -u FOLDPROOF_REQUIRE_GPUS CUDA_VISIBLE_DEVICES= $F "
#define ABSENT_SELECT "--guest " ABSENT_GUEST " --fixtures 'normal/f32/sum/1*,normal/f64/sum/257x*'"

/* A scan's maxima are correctly rounded, which its sums do not claim: not by the records of both either. */
Test(command_verdicts, recheck_takes_no_claim_of_scanned_maxima_for_one_of_sums) {
  SHELL(s);
  shell_run(s, "$F verify --engine host -s scan/sequential -f 'normal/f32/scan*/3x31/*' --jsonl r -q && $F recheck r");
  cr_expect(s->code == 0 && strstr(s->out, " 0 refuted") && strstr(s->out, " 0 contradictions"), "%s%s", s->out,
            s->err);
}

Test(command_verdicts, a_result_of_another_dtype_than_its_terms_is_told_in_it) {
  SHELL(s);
  shell_run(
      s, "$M verify --subjects mutant/narrowed_f32 --claims replays --fixtures normal/f16/sum/1x257/seed1 --jsonl r");
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "  row 0: got f32 0x4158c000 (13.546875), want 0x4158c869 (13.5489283)\n"), "%s", s->out);
  shell_run(s, "grep -c '\"dtype\":\"f16\",\"result_dtype\":\"f32\"' r; grep -c '\"got\":\"0x4158c000\"' r");
  cr_expect_str_eq(s->out, "1\n1\n");
  shell_run(s, "$F list --long --subjects host/sequential_f32,host/sequential_narrow,host/sequential");
  cr_expect_eq(shell_count(s->out, "; result f32; order"), 1, "%s", s->out);
  cr_expect_eq(shell_count(s->out, "; accumulator the terms' own; order"), 1, "%s", s->out);
}

Test(command_verdicts, a_refutation_is_on_both_streams_and_once_where_they_are_one) {
  SHELL(s);
  shell_run(s, "$M verify --subjects mutant/threads --claims launch_invariant --fixtures normal/f32/sum/1x1023/seed1");
  EXPECT_CODE(s, 1);
  const char *const streams[] = {s->out, s->err};
  for (int i = 0; i < 2; i++) {
    cr_expect_eq(shell_count(streams[i], "REFUTED: mutant/threads on host violates launch_invariant: "), 1, "%s",
                 streams[i]);
    cr_expect_eq(shell_count(streams[i], "\n  reproduce: "), 1, "%s", streams[i]);
  }
  shell_run(s, "$M verify --subjects mutant/threads --fixtures normal/f32/sum/1x1023/seed1 2>&1");
  cr_expect_eq(shell_count(s->out, "REFUTED: "), 1, "%s", s->out);
  shell_run(s, "$M verify --subjects mutant/threads --fixtures normal/f32/sum/1x1023/seed1 2>&1 | cat");
  cr_expect_eq(shell_count(s->out, "REFUTED: "), 1, "%s", s->out);
  /* As a job does that keeps one line. */
  shell_run(s, "$M verify --subjects mutant/threads --fixtures normal/f32/sum/1x1023/seed1 | tail -n 1");
  cr_expect_eq(shell_lines(s->out), 1, "%s", s->out);
  cr_expect_eq(shell_count(s->err, "REFUTED: "), 1, "%s", s->err);
  shell_run(s, "$M verify --subjects mutant/threads --fixtures normal/f32/sum/1x1023/seed1 2>/dev/null >/dev/null");
  EXPECT_CODE(s, 1);
}

Test(command_verdicts, quiet_is_the_last_line_and_what_is_refuted_on_the_error_stream) {
  SHELL(s);
  shell_run(s, "$M verify --quiet --subjects mutant/threads " MANY);
  EXPECT_CODE(s, 1);
  cr_expect_eq(shell_lines(s->out), 1, "%s", s->out);
  cr_expect(!strstr(s->out, "REFUTED") && strstr(s->out, " refuted, "), "%s", s->out);
  cr_expect(shell_count(s->err, "REFUTED: ") == 1, "%s", s->err);
  char *last = strdup(s->out);
  cr_expect(strstr(shell_last_line(last), " held, ") != NULL, "%s", s->out);
  free(last);
  shell_run(s, "$M verify -q --subjects mutant/threads " MANY " 2>&1");
  cr_expect_eq(shell_count(s->out, "REFUTED: "), 1, "%s", s->out);
}

/* The counts over all subjects are those of the table's rows, and of the closing line. */
Test(command_verdicts, the_summary_counts_what_the_table_counts) {
  SHELL(s);
  shell_run(s, "$M verify -v --subjects 'mutant/threads,mutant/twice' " MANY);
  size_t rows[3] = {0}, sums[3] = {0}, closing[3] = {0};
  bool summary = false;
  for (char *line = strtok(s->out, "\n"); line; line = strtok(NULL, "\n")) {
    size_t held, refuted, skipped;
    summary |= strncmp(line, "all subjects", 12) == 0;
    size_t *to = summary ? sums : rows;
    if (sscanf(line, "  %*[a-z_] %zu %zu %zu", &held, &refuted, &skipped) == 3)
      to[0] += held, to[1] += refuted, to[2] += skipped;
    sscanf(line, "%zu held, %zu refuted, %zu skipped", &closing[0], &closing[1], &closing[2]);
  }
  for (int i = 0; i < 3; i++)
    cr_expect(rows[i] == sums[i] && sums[i] == closing[i], "%zu %zu %zu", rows[i], sums[i], closing[i]);
  cr_expect(closing[0] > 10 && closing[1] > 10 && closing[2] > 0);
}

/* Of each subject one block: its first claim on the smallest case, and how much else is refuted. */
Test(command_verdicts, a_subject_is_refuted_once_by_its_smallest_case_with_what_else_is_refuted) {
  SHELL(s);
  size_t all, more;
  shell_run(s, "$M verify --subjects mutant/threads --claims launch_invariant " MANY " 2>/dev/null");
  const char *also = strstr(s->out, "\n  also refuted: launch_invariant (");
  const char *closing = strstr(s->out, " held, ");
  cr_assert(also && closing, "%s", s->out);
  cr_expect(sscanf(also, "\n  also refuted: launch_invariant (%zu more cases)\n", &more) == 1 &&
                sscanf(closing, " held, %zu refuted", &all) == 1 && more + 1 == all && all > 10,
            "%s", s->out);
  cr_expect_eq(shell_count(s->out, "REFUTED: "), 1, "%s", s->out);
  shell_run(s, "$M verify --subjects mutant/twice --fixtures 'normal/f32/sum/1x2*' 2>/dev/null");
  const char *said = strstr(s->out, "REFUTED: mutant/twice on host violates bounded: normal/f32/sum/1x2/seed1\n");
  const char *reason = said ? strstr(said, "\n  every order gives the ") : NULL,
             *row = reason ? strstr(reason, "\n  row 0: got 0x") : NULL;
  const char *rest = row ? strstr(row, "\n  also refuted: bounded (") : NULL;
  cr_expect(rest && strstr(rest, " more cases), replays (") && strstr(rest, " cases)\n  reproduce: "), "%s", s->out);
  cr_expect_eq(shell_count(s->out, "REFUTED: "), 1, "%s", s->out);
  shell_run(s, "$M verify -v --subjects mutant/twice --fixtures 'normal/f32/sum/1x2*' 2>/dev/null");
  cr_expect(shell_count(s->out, "REFUTED: ") == 2 && strstr(s->out, "REFUTED: mutant/twice on host violates replays: "),
            "%s", s->out);
}

Test(command_verdicts, after_ten_refuted_subjects_the_others_are_counted) {
  SHELL(s);
  size_t more = 0;
  shell_run(s, "$M verify --subjects 'mutant/*' --fixtures 'normal/f32/sum/3x1000/seed1' 2>/dev/null");
  const char *rest = strstr(s->out, "\nand ");
  cr_assert(rest, "%s", s->out);
  cr_expect(sscanf(rest, "\nand %zu more: --jsonl keeps all\n", &more) == 1 && more > 0, "%s", rest);
  const size_t shown = shell_count(s->out, "REFUTED: ") + shell_count(s->out, "BROKEN: ");
  cr_expect_eq(shown, 10, "%s", s->out);
  cr_expect_eq(shell_count(s->out, "\n  reproduce: "), 10);
}

/* What broke is not refuted, and its line says nothing of a claim. */
Test(command_verdicts, what_is_broken_is_not_called_refuted) {
  SHELL(s);
  shell_run(s, "$M verify --subjects broken/environment --fixtures normal/f32/sum/1x33/seed1");
  EXPECT_CODE(s, 99);
  cr_expect(strstr(s->out, "BROKEN: broken/environment on host, normal/f32/sum/1x33/seed1: "), "%s", s->out);
  cr_expect(strstr(s->out, "no claim is judged there\n"), "%s", s->out);
  cr_expect(!strstr(s->out, "REFUTED") && !strstr(s->out, "violates") && !strstr(s->out, " is not bounded"), "%s",
            s->out);
}

/* A machine that lacks an engine: its reason once, with how much of each it stands for. */
Test(command_verdicts, what_is_skipped_is_summed_up_by_its_reason) {
  SHELL(s);
  shell_run(s, ABSENT "verify -v " ABSENT_SELECT " 2>&1");
  EXPECT_CODE(s, 77);
  const char *altogether = strstr(s->out, "skipped altogether: "), *by_reason = strstr(s->out, "skipped, by reason\n");
  cr_assert(altogether && by_reason, "%s", s->out);
  cr_expect(strstr(altogether, " more there: "), "%s", s->out);
  size_t n = 0, closing = 0;
  cr_expect(sscanf(by_reason, "skipped, by reason %zu", &n) == 1, "%s", s->out);
  char *last = strdup(s->out);
  cr_expect(sscanf(shell_last_line(last), "0 held, 0 refuted, %zu skipped", &closing) == 1 && n == closing, "%s",
            s->out);
  free(last);
  cr_expect(shell_lines(s->out) < 30, "%s", s->out);
}

/* A line about a result and what was wanted. */
static char *line_of(enum fold_dtype dtype, uint64_t got, uint64_t want, double ulps, double fraction) {
  static char *text;
  size_t size, n;
  struct fold_subject subject = {.name = "a/b", .engine = FOLD_HOST};
  struct fold_case c = {.name = "case", .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
  struct fold_judgement j = {.subject = &subject, .c = &c, .claim = &fold_claims(&n)[FOLD_BOUNDED], .got = &got};
  j.finding = (struct fold_finding){.verdict = FOLD_REFUTED,
                                    .reason = "why",
                                    .compared = true,
                                    .got = got,
                                    .want = want,
                                    .ulps = ulps,
                                    .fraction = fraction};
  free(text);
  FILE *out = open_memstream(&text, &size);
  fold_print_refuted(&j, "foldproof", NULL, out);
  fclose(out);
  return text;
}

Test(command_verdicts, distances_and_errors_are_told_where_they_say_something) {
  static const struct {
    enum fold_dtype dtype;
    uint64_t got, want;
    double ulps, fraction;
    const char *has, *lacks;
  } rows[] = {
      {FOLD_F32, 0x3f800001, 0x3f800000, 1, 2, "\n  1 float apart, 1 ulps, 2 times the bound\n", "sign"},
      {FOLD_F32, 0xbf800000, 0x3f800000, NAN, NAN, "\n  of the other sign\n", "apart"},
      {FOLD_F64, 0x8000000000000001, 1, NAN, NAN, "\n  of the other sign\n", "apart"},
      {FOLD_F32, 0x80000000, 0, NAN, NAN, "\n  the other zero\n", "apart"},
      {FOLD_F32, 0x00000003, 0, NAN, NAN, ")\n", "apart"},
      {FOLD_F32, 0x80000003, 0, NAN, NAN, ")\n", "sign"},
      {FOLD_F32, 0x80000003, 0, NAN, 2, "\n  2 times the bound\n", "apart"},
      {FOLD_F32, 0x7f800000, 0x7f7fffff, INFINITY, NAN, ")\n", "ulps"},
      {FOLD_F32, 0x7fc00000, 0x3f800000, NAN, NAN, ")\n", "apart"},
      {FOLD_F64, 0x3ff0000000000000, 0, INFINITY, 3, "\n  an error larger than the exact result, 3 times the bound\n",
       "apart"},
      {FOLD_F32, 0x3f800000, 0x33800000, 1e9, 3, ", an error larger than the exact result", "ulps"},
      {FOLD_F32, 0x3f800001, 0x3f800000, 1, 1.00000003, ", 1+3e-08 times the bound", ", 1 times"},
      {FOLD_F32, 0x3f800001, 0x3f800000, 1, 1571.6, ", 1572 times the bound\n", "e+"},
      {FOLD_F32, 0x3f800001, 0x3f800000, 1, 0.5, ", 0.5 of the bound\n", "times"},
      {FOLD_I32, 5, 3, 4294967296.0, INFINITY, ", want 0x00000003 (3)\n  reproduce", "apart"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *line = line_of(rows[i].dtype, rows[i].got, rows[i].want, rows[i].ulps, rows[i].fraction);
    cr_expect(strstr(line, rows[i].has), "no '%s': %s", rows[i].has, line);
    cr_expect(!strstr(line, rows[i].lacks), "'%s': %s", rows[i].lacks, line);
    cr_expect(strncmp(line, "REFUTED: a/b on host violates bounded: case\n  why\n  row 0: got ", 61) == 0, "%s", line);
  }
}

Test(command_verdicts, the_distance_of_two_results_is_told_where_it_says_how_near_they_are) {
  static const struct {
    uint64_t a, b;
    const char *begins;
  } rows[] = {
      {0x3f800000, 0x3f800003, "3 floats apart; errors "},
      {0x00000001, 0x00000002, "1 float apart; errors "},
      {0xbf800000, 0xbf800002, "2 floats apart; errors "},
      {0, 0x80000000, "the other zero; errors "},
      {0, 0x3f800000, "errors "},
      {0x80000001, 0, "errors "},
      {0x3f800000, 0xbf800000, "errors "},
      {0x7f7fffff, 0x7f800000, "errors "},
      {0x7fc00000, 0x3f800000, "errors "},
  };
  const float terms[] = {1, 2};
  struct fold_truth truth;
  struct fold_nearer nearer;
  char text[200];
  fold_truth_init(&truth);
  cr_assert_eq(fold_oracle_exact(FOLD_F32, FOLD_SUM, terms, 2, 1, &truth).code, FOLD_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fold_nearer_ask(&nearer, &truth, FOLD_F32, rows[i].a, rows[i].b);
    fold_nearer_print(&nearer, "the first", "the second", text);
    cr_expect_eq(strncmp(text, rows[i].begins, strlen(rows[i].begins)), 0, "row %zu: %s", i, text);
  }
  fold_truth_free(&truth);
}

/* Of which commit, by which compiler, with which options: in the environment; and in each line which commit. */
Test(command_verdicts, every_record_says_what_was_built) {
  SHELL(s);
  shell_run(s, "$F env --json");
  EXPECT_CODE(s, 0);
  json_t *environment = json_loads(s->out, 0, NULL);
  cr_assert(environment, "%s", s->out);
  char *build = strdup(json_string_value(json_object_get(environment, "build")));
  const char *compiler = json_string_value(json_object_get(environment, "compiler"));
  const char *flags = json_string_value(json_object_get(environment, "flags"));
#ifdef __clang__
  cr_expect(compiler && strncmp(compiler, "clang " __clang_version__, 6 + strlen(__clang_version__)) == 0, "%s",
            compiler);
#else
  cr_expect_str_eq(compiler, "gcc " __VERSION__);
#endif
  cr_expect(flags && strstr(flags, "-ffp-contract=off") && strstr(flags, "-O"), "%s", flags);
  cr_expect(strcmp(build, "unknown") == 0 || strspn(build, "0123456789abcdef") == 12, "%s", build);
  json_decref(environment);
  shell_run(
      s,
      "$F verify --subjects host/sequential --fixtures 'normal/f32/sum/1x3/*' --jsonl x.jsonl >/dev/null; "
      "$F record --subjects host/sequential --fixtures 'normal/f32/sum/1x3/*' --jsonl y.jsonl; cat x.jsonl y.jsonl");
  size_t lines = 0;
  for (char *line = strtok(s->out, "\n"); line; line = strtok(NULL, "\n")) {
    json_t *record = json_loads(line, 0, NULL);
    const char *said = json_string_value(json_object_get(record, "build"));
    if (record) lines++;
    if (record) cr_expect(said && strcmp(said, build) == 0, "%s", line);
    json_decref(record);
  }
  cr_expect(lines > 8, "%zu lines", lines);
  free(build);
}

/* What an engine that is not there leaves out is one record a claim and subject; tables and reports count all that it covers. */
Test(command_verdicts, what_could_not_run_is_recorded_once_for_what_it_covers) {
  SHELL(s);
  shell_run(s, ABSENT "verify " ABSENT_SELECT " --jsonl x.jsonl");
  EXPECT_CODE(s, 77);
  size_t skipped = 0, lines = 0, cases = 0, alone = 0;
  char *last = strdup(s->out), closing[80];
  cr_assert(sscanf(shell_last_line(last), "0 held, 0 refuted, %zu skipped", &skipped) == 1, "%s", s->out);
  free(last);
  shell_run(s, "grep skipped x.jsonl");
  for (char *line = strtok(s->out, "\n"); line; line = strtok(NULL, "\n"), lines++) {
    json_t *record = json_loads(line, 0, NULL);
    const json_int_t n = json_integer_value(json_object_get(record, "cases"));
    cr_expect(json_is_string(json_object_get(record, "claim")) && json_is_string(json_object_get(record, "reason")),
              "%s", line);
    alone += n == 0;
    cases += n ? (size_t)n : 1;
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(record, "fixtures"), "normal")), n, "%s", line);
    json_decref(record);
  }
  cr_expect(cases == skipped && lines < 90 && alone == 0 && lines < skipped / 4, "%zu of %zu in %zu lines", cases,
            skipped, lines);
  snprintf(closing, sizeof closing, "## foldproof: 0 held, 0 refuted, %zu,%03zu skipped\n", skipped / 1000,
           skipped % 1000);
  shell_run(s, "$F report --format markdown x.jsonl");
  cr_expect(strncmp(s->out, closing, strlen(closing)) == 0, "not '%s': %s", closing, s->out);
  shell_run(s, ABSENT "record " ABSENT_SELECT " --jsonl y.jsonl; grep -c skipped y.jsonl");
  cr_expect(atoi(s->out) == 3, "a line a subject: %s", s->out);
}

/* Of an input that every order adds exactly, another order shows nothing; and what is not about order has no such word. */
Test(command_verdicts, what_held_on_idle_inputs_alone_is_said_and_strict_refuses_it) {
  SHELL(s);
  const char *const idle = "--subjects host/pairwise --fixtures 'sparse/f32/sum/1x300/*,normal/f32/max/1x33/*'";
  shell_run(s, "$F verify -v --jsonl r.jsonl %s", idle);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "  run_to_run                   2       0       0       2 "), "%s", s->out);
  cr_expect(strstr(s->out, "\n    order-insensitive inputs only\n"), "%s", s->out);
  cr_expect(strstr(s->out, "  stays_in_bounds              2       0       0       - "), "%s", s->out);
  cr_expect(strstr(s->out, "\nabout order: 13 of 13 that held are on order-insensitive inputs\n"), "%s", s->out);
  cr_expect(strstr(s->out, "\n7 claims about order held on order-insensitive inputs only: "), "%s", s->out);
  shell_run(s,
            "grep -c '\"telling\":false' r.jsonl; grep -c '\"telling\":true' r.jsonl; grep -c '\"telling\"' r.jsonl");
  cr_expect_str_eq(s->out, "13\n0\n13\n");
  for (int quiet = 0; quiet < 2; quiet++) {
    shell_run(s, "$F verify %s --strict %s", quiet ? "-q" : "", idle);
    EXPECT_CODE(s, 1);
    cr_expect(strstr(s->out,
                     "\n  host/pairwise on host: replays run_to_run fresh_process launch_invariant "
                     "alignment_invariant batch_invariant permutation_invariant\n"),
              "%s", s->out);
  }
  shell_run(s, "$F verify --strict --in-process --jsonl r.jsonl %s,'normal/f32/sum/1x33/*'", idle);
  EXPECT_CODE(s, 1); /* permutation_invariant is promised of max alone */
  cr_expect(strstr(s->out, "\n  host/pairwise on host: permutation_invariant\n"), "%s", s->out);
  shell_run(s, "grep -c '\"telling\":true' r.jsonl");
  cr_expect_str_eq(s->out, "6\n");
  shell_run(s, "$F verify --strict --subjects host/pairwise --fixtures 'normal/f32/sum/1x33/*'");
  EXPECT_CODE(s, 0);
}
