/* test_bench.c: what foldproof bench makes of timings, simulated without a GPU (played_bench.c): an impossible figure
 * gives exit code 1, like a refuted claim. */
#include "shell.h"

Test(bench, exit_codes_follow_the_contract) {
  static const struct {
    const char *subjects;
    int code;
  } rows[] = {
      {"played/plausible", 0},
      {"played/at_ceiling", 0},
      {"played/within_spread", 0},
      {"played/implausible", 1},
      {"played/nan", 1},
      {"played/plausible,played/implausible", 1},
      {"played/plausible,played/refuted", 1},
      {"played/broken,played/implausible", 1},
      {"played/broken", 99},
      {"played/plausible,played/broken", 99},
      {"played/plausible,played/skipped", 0},
      {"played/skipped", 77},
      {"played/nosuch", 2},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "$F bench --n 1e8 --subjects '%s'", rows[i].subjects);
    EXPECT_CODE(s, rows[i].code);
  }
  shell_run(s, "FOLDPROOF_NO_GPU=1 $F bench --n 1e8 --subjects 'played/implausible'");
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->err, "no GPU here: played") && s->out[0] == '\0', "%s%s", s->out, s->err);
}

static const char *line_of(struct shell *s, const char *subject) {
  const char *line = strstr(s->out, subject);
  cr_assert_not_null(line, "%s: no %s: %s", s->ran, subject, s->out);
  return line;
}

static bool line_has(const char *line, const char *word) {
  const char *found = strstr(line, word);
  return found && found < strchrnul(line, '\n');
}

/* Products are played as fast as their bytes are read. */
Test(bench, more_operations_than_the_gpu_has_are_named_in_table_and_record) {
  SHELL(s);
  shell_run(
      s, "$F bench --what products --m 4096 --subjects played/plausible --jsonl b.jsonl; c=$?; cat b.jsonl; exit $c");
  EXPECT_CODE(s, 1);
  cr_expect(line_has(line_of(s, "  played/plausible"), "held, implausible: more operations than the GPU can do"), "%s",
            s->out);
  cr_expect(line_has(line_of(s, "\"op\":\"matmul\""), "\"why\":\"more operations than the GPU can do\""), "%s", s->out);
}

/* Small inputs are timed in graphs of many calls: the headline and each record say of how many. */
Test(bench, graphs_of_calls_are_told) {
  SHELL(s);
  shell_run(s, "$F bench --n 1e4,1e8 --subjects played/plausible --jsonl b.jsonl; cat b.jsonl");
  EXPECT_CODE(s, 0);
  cr_expect(line_has(line_of(s, "Elements 10,000"), "Calls in a graph 32"), "%s", s->out);
  cr_expect(!line_has(line_of(s, "Elements 100,000,000"), "graph"), "%s", s->out);
  cr_expect(line_has(line_of(s, "\"cols\":10000,"), "\"calls\":32"), "%s", s->out);
  cr_expect(line_has(line_of(s, "\"cols\":100000000,"), "\"calls\":1"), "%s", s->out);
}

/* One size implausible of two is one too many; the table and the record name the subject. */
Test(bench, an_implausible_figure_is_named_in_table_and_record) {
  SHELL(s);
  shell_run(s, "$F bench --n 1e8,2e8 --subjects 'played/*' --peer played/plausible --jsonl b.jsonl");
  EXPECT_CODE(s, 1);
  cr_expect(line_has(line_of(s, "played/implausible"), "held, implausible: above the ceiling"), "%s", s->out);
  cr_expect(line_has(line_of(s, "played/nan"), "implausible"), "%s", s->out);
  cr_expect(!line_has(line_of(s, "played/plausible"), "implausible"), "%s", s->out);
  cr_expect(!line_has(line_of(s, "played/at_ceiling"), "implausible"), "%s", s->out);
  /* 400,000,004 bytes in 0.7 of the time that 4 TB/s need: 70 us, 1.429 of the ceiling. */
  cr_expect(line_has(line_of(s, "played/implausible"),
                     "  70         54         86              5,714                 143  held"),
            "%s", s->out);
  cr_expect(line_has(line_of(s, "played/skipped"), "                    held\n"), "%s", s->out);
  FILE *file = fopen(scratch_path(&s->scratch, "b.jsonl"), "r");
  cr_assert_not_null(file);
  size_t timings = 0, implausible = 0;
  json_t *line;
  while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
    const char *subject = json_string_value(json_object_get(line, "subject"));
    bool flagged = json_is_true(json_object_get(line, "implausible"));
    timings += subject != NULL;
    implausible += flagged;
    if (subject)
      cr_expect_eq(flagged, strcmp(subject, "played/implausible") == 0 || strcmp(subject, "played/nan") == 0, "%s",
                   subject);
    json_decref(line);
  }
  fclose(file);
  cr_expect(timings == 2 * 8 && implausible == 2 * 2, "%zu timings, %zu implausible", timings, implausible);
}
