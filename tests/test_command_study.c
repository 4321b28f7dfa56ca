/* test_command_study.c: foldproof study as its user sees it: tables, records, labels, exit codes, bad input. */
#include "shell.h"

#include "base/fold.h"

static void expect_text(struct shell *s, const char *text) {
  cr_expect(strstr(s->out, text) != NULL, "%s: no '%s' in the output", s->ran, text);
}

Test(command_study, exit_codes_follow_the_contract) {
  static const struct {
    const char *line;
    int code;
  } rows[] = {
      {"$F study --help", 0},
      {"$F study --sizes 33", 0},
      {"$F study --sizes 0,1,2 --dtypes f16,f64 --problems sum,max --generators normal,inf_both", 0},
      {"$M study --sizes 33 --generators normal", 99}, /* its registry holds subjects whose machine fails */
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s", rows[i].line);
    EXPECT_CODE(s, rows[i].code);
  }
}

Test(command_study, tables_have_the_layout_of_the_report) {
  SHELL(s);
  shell_run(s, "$F study --sizes 1000,10000 --generators mixed,pathological,normal");
  EXPECT_CODE(s, 0);
  expect_text(s, "        Size   Sequential      Reverse         Tree       Sorted        NumPy\n");
  expect_text(s, "Table 3.3.1, mixed data");
  expect_text(s, "Table 3.3.2, pathological data");
  expect_text(s, "Table 3.3.3, normal data");
  expect_text(s, "Table 3.3.4, normal data");
  /* Exact by hand: 1e8 + 333 and 1e8 + 3333; all but sorted lose the ones, sorted keeps them in eights. */
  expect_text(s, "       1,000     3.33e+02     3.33e+02     3.33e+02     3.00e+00     3.33e+02\n");
  expect_text(s, "      10,000     3.33e+03     3.33e+03     3.33e+03     3.00e+00     3.33e+03\n");
  expect_text(s, "10 of 10 figures of the reference study's pathological table come out digit for digit");
  expect_text(s, "docs/case-study.md says why");
  expect_text(s, "(a + b) + c is not a + (b + c)");
}

/* Calls `look` on each record behind the environment; returns how many lines there are before the closing one. */
static size_t each_record(struct shell *s, const char *name, void (*look)(const json_t *line)) {
  FILE *file = fopen(scratch_path(&s->scratch, name), "r");
  cr_assert_not_null(file, "no %s", name);
  json_t *line;
  json_error_t error;
  size_t n = 0;
  while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error))) {
    const char *type = json_string_value(json_object_get(line, "type"));
    cr_expect_eq(json_integer_value(json_object_get(line, "schema")), 2);
    cr_expect((n == 0) == (type && strcmp(type, "environment") == 0), "line %zu is '%s'", n, type);
    bool end = type && strcmp(type, "end") == 0;
    cr_expect(!end || json_integer_value(json_object_get(line, "records")) == (json_int_t)n, "the closing line counts");
    if (!end && n++ > 0) look(line);
    json_decref(line);
  }
  cr_expect(feof(file), "a line is no JSON: %s", error.text);
  fclose(file);
  return n;
}

static bool is_float64(const json_t *line) {
  const bool is = strcmp(json_string_value(json_object_get(line, "type")), "study_float64") == 0;
  cr_expect(!is || json_is_number(json_object_get(line, "float64_sum")));
  return is;
}

static void look_at_point(const json_t *line) {
  if (is_float64(line)) return;
  static const char *const texts[] = {"subject", "engine", "generator", "dtype", "op", "got", "want"};
  static const char *const numbers[] = {"n",         "seed",           "height", "error_abs", "error_ulps",
                                        "condition", "error_relative", "bound",  "abs_sum"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    cr_expect(json_is_string(json_object_get(line, texts[k])), "no %s", texts[k]);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    cr_expect(json_is_number(json_object_get(line, numbers[k])), "no %s", numbers[k]);
  const char *subject = json_string_value(json_object_get(line, "subject"));
  bool random_walk = strcmp(subject, "host/kahan") && strcmp(subject, "host/neumaier") && strcmp(subject, "host/exact");
  cr_expect(json_is_number(json_object_get(line, "probabilistic")) == random_walk, "%s", subject);
  cr_expect_str_eq(json_string_value(json_object_get(line, "type")), "study");
  cr_expect(json_number_value(json_object_get(line, "error_abs")) <= json_number_value(json_object_get(line, "bound")));
  cr_expect_eq(strlen(json_string_value(json_object_get(line, "got"))), 10);
}

Test(command_study, records_hold_every_point_with_its_keys) {
  SHELL(s);
  shell_run(s, "CUDA_VISIBLE_DEVICES= $F study --sizes 100,1000 --generators normal,mixed --jsonl x.jsonl");
  EXPECT_CODE(s, 0);
  size_t lines = each_record(s, "x.jsonl", look_at_point);
  cr_expect_eq(lines, 1 + 20 * 2 * 2 + 2 * 2, "%zu lines", lines);
  cr_expect_eq(scratch_count(&s->scratch, false), 1, "something else was left");
}

static void look_at_kept(const json_t *line) {
  cr_expect(is_float64(line) || strcmp(json_string_value(json_object_get(line, "type")), "study") == 0);
}

/* The signal comes when there are records, however long they took. Twice is as timeout(1) does, which sends it to the program and
 * to its group: both ask for one and the same end. */
Test(command_study, an_interrupted_study_keeps_what_was_finished) {
  static const char *const signals[] = {"kill -INT $p", "kill -TERM $p", "kill $p; kill $p",
                                        "kill $p; sleep 0.02; kill $p"};
  SHELL(s);
  for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
    shell_run(s,
              "CUDA_VISIBLE_DEVICES= env --default-signal=INT $F study --full --jsonl i.jsonl & p=$!; "
              "until [ $(cat i.jsonl* | wc -l) -gt 20 ]; do kill -0 $p || exit 3; sleep 0.05; done; %s; wait $p",
              signals[k]);
    EXPECT_CODE(s, 99);
    if (strstr(s->err, "interrupted within a run") == NULL) { /* as on a busy machine */
      cr_expect(strstr(s->err, "interrupted: what is above was finished"), "%s: %s", s->ran, s->err);
      expect_text(s, "mixed, f32 sum");
    }
    cr_expect(each_record(s, "i.jsonl", look_at_kept) > 10);
    cr_expect_eq(scratch_count(&s->scratch, false), 1, "something else was left");
    shell_run(s, "rm i.jsonl");
  }
}

static void look_at_simulation(const json_t *line) {
  const char *type = json_string_value(json_object_get(line, "type"));
  cr_expect(strcmp(type, "study_ranks") == 0 || strcmp(type, "study_worlds") == 0, "%s", type);
  cr_expect(json_is_true(json_object_get(line, "simulated")), "a simulation must say so");
  cr_expect(json_is_integer(json_object_get(line, "ranks")));
  cr_expect_leq(json_integer_value(json_object_get(line, "ranks")), 8, "more than was asked for");
  if (strcmp(type, "study_ranks") == 0) {
    cr_expect(json_is_integer(json_object_get(line, "height")));
    cr_expect(json_is_number(json_object_get(line, "error_ulps_worst")));
    cr_expect(json_is_number(json_object_get(line, "bound_relative")));
  }
}

Test(command_study, ranks_are_labelled_as_a_simulation) {
  SHELL(s);
  shell_run(s, "$F study --simulate --sizes 8,3 --generators normal --jsonl r.jsonl");
  EXPECT_CODE(s, 0);
  expect_text(s, "SIMULATION of all-reduces on one host");
  expect_text(s, "SIMULATION of world sizes: ");
  expect_text(s, "Data normal, dtype f32, Parts 8\n");
  expect_text(s, "Data normal, dtype f32, Parts 6\n");
  expect_text(s, "not a measurement");
  expect_text(s, "  ring                    3       2 ");
  cr_expect(strstr(s->out, "  ring                    3  ") < strstr(s->out, "  ring                    8  "),
            "world sizes do not rise: %s", s->out);
  cr_expect_eq(each_record(s, "r.jsonl", look_at_simulation), 1 + 2 * 4 + 2 * 4);
}
