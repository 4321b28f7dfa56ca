/* test_report_changes.c: report --before: a time is called slower or faster only beyond the spread of both runs, and only against the
 * same work on the same kind of machine. */
#include "report_records.h"
#include "shell.h"

#define OTHER_MACHINE "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"a cpu\",\"cores\":3}\n"

/* One timing of `median` us, from `low` to `high`; none where low is 0. */
static void put_run(struct shell *s, const char *name, const char *environment, const char *subject, double median,
                    double low, double high, const char *more) {
  char *text = NULL, rest[200];
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fputs(environment, out);
  snprintf(rest, sizeof rest, ",\"p10_seconds\":%g,\"p90_seconds\":%g%s", 1e-6 * low, 1e-6 * high, more);
  put_timing(out, subject, "host", "normal", 1000, 1e-6 * median, 1e9, low > 0 ? rest : more);
  fclose(out);
  scratch_write(&s->scratch, name, text, size);
  free(text);
}

/* What is said of one timing against one before. */
Test(report_changes, only_what_is_beyond_both_spreads_is_a_change) {
  static const struct {
    double before[3], now[3];
    const char *more, *summary, *row;
  } rows[] = {
      {{10, 9, 11}, {12, 11.5, 13}, "", "1 slower, 0 faster, 0 within", "10,12,1.2,"},
      {{10, 9, 11}, {8, 7, 8.9}, "", "0 slower, 1 faster, 0 within", "10,8,0.8,"},
      {{10, 9, 11}, {12, 11, 13}, "", "0 slower, 0 faster, 1 within", "10,12,1.2,"}, /* the ranges touch */
      {{10, 9, 11}, {8, 7, 9}, "", "0 slower, 0 faster, 1 within", "10,8,0.8,"},     /* and here */
      {{10, 5, 50}, {40, 30, 45}, "", "0 slower, 0 faster, 1 within", "10,40,4,"},   /* a wide spread hides much */
      {{10, 9, 11}, {10, 9, 11}, "", "0 slower, 0 faster, 1 within", "10,10,1,"},    /* the same */
      {{10, 9, 11},
       {99, 0, 0},
       "",
       "0 within both runs' spread, 1 not compared",
       "10,99,9.9,"}, /* no spread is known */
      {{10, 0, 0}, {99, 98, 99}, "", "0 within both runs' spread, 1 not compared", "10,99,9.9,"},
      {{10, 9, 11}, {99, 98, 99}, ",\"implausible\":true", "spread, 1 not compared", "10,99,9.9,"},
      {{10, 9, 11}, {99, 98, 99}, ",\"noisy\":true", "spread, 1 not compared", "10,99,9.9,"},
      {{10, 9, 11},
       {99, 98, 99},
       ",\"threads\":2",
       "none can be compared; 1 only in this run; 1 only in the run before",
       NULL},
      {{10, 9, 11}, {99, 98, 99}, ",\"seed\":2", "none can be compared; 1 only in this run", NULL},
  };
  struct shell *s = shell_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    put_run(s, "old.jsonl", ENVIRONMENT, "a/sum", rows[i].before[0], rows[i].before[1], rows[i].before[2], "");
    put_run(s, "new.jsonl", ENVIRONMENT, "a/sum", rows[i].now[0], rows[i].now[1], rows[i].now[2], rows[i].more);
    shell_run(s, "$F report --format markdown --before old.jsonl new.jsonl");
    EXPECT_CODE(s, 0);
    cr_expect(strstr(s->out, "Times against old.jsonl: ") && strstr(s->out, rows[i].summary), "%zu: %s", i, s->out);
    shell_run(s,
              "$F report --format csv --before old.jsonl new.jsonl | grep ^changes | tail -n +1 | "
              "awk -F, '{ printf \"%%g,%%g,%%g,\\n\", $6, $7, $8 }'");
    cr_expect(rows[i].row ? strstr(s->out, rows[i].row) != NULL : s->out[0] == '\0', "%zu: %s", i, s->out);
  }
  shell_close(s);
}

/* A GPU's and a CPU's name and the number of cores say what kind of machine it is; of none nothing is known. */
Test(report_changes, other_machines_are_not_compared) {
  struct shell *s = shell_open();
  put_run(s, "old.jsonl", ENVIRONMENT, "a/sum", 10, 9, 11, "");
  put_run(s, "new.jsonl", OTHER_MACHINE, "a/sum", 20, 19, 21, "");
  shell_run(s, "$F report -f text --before old.jsonl new.jsonl");
  cr_expect(strstr(s->out, "none can be compared; 1 only in this run; 1 only in the run before.\n"), "%s", s->out);
  static const char *const unknown[] = {"", "{\"schema\":1,\"type\":\"environment\",\"cores\":2}\n"};
  for (int i = 0; i < 2; i++) {
    put_run(s, "old.jsonl", unknown[i], "a/sum", 10, 9, 11, "");
    put_run(s, "new.jsonl", unknown[i], "a/sum", 20, 19, 21, "");
    shell_run(s, "$F report -f text --before old.jsonl new.jsonl");
    cr_expect(strstr(s->out, "none can be compared"), "%s", s->out);
  }
  shell_close(s);
}

/* Two files of one run: the range is that of both. And every format but JUnit's shows what changed, the largest change first. */
Test(report_changes, repeats_widen_the_spread_and_all_formats_show_it) {
  struct shell *s = shell_open();
  shell_run(s, "mkdir old");
  put_run(s, "old/a.jsonl", ENVIRONMENT, "a/sum", 10, 9, 11, "");
  put_run(s, "old/b.jsonl", ENVIRONMENT, "a/sum", 15, 14, 16, "");
  put_run(s, "old/c.jsonl", ENVIRONMENT, "b/sum", 10, 9, 11, "");
  put_run(s, "old/d.jsonl", ENVIRONMENT, "c/sum", 10, 9, 11, "");
  put_run(s, "a.jsonl", ENVIRONMENT, "a/sum", 16, 15.5, 17, "");
  put_run(s, "b.jsonl", ENVIRONMENT, "b/sum", 20, 19, 21, "");
  put_run(s, "c.jsonl", ENVIRONMENT, "c/sum", 30, 29, 31, "");
  shell_run(
      s,
      "$F report -f csv --before old a.jsonl b.jsonl c.jsonl | awk -F, '/^changes/ { print $2, $11 }' | tr -d '\"\\r'");
  cr_expect_str_eq(s->out, "c/sum on host slower\nb/sum on host slower\na/sum on host \n", "%s", s->out);
  static const char *const formats[] = {"html", "markdown", "text"};
  for (int i = 0; i < 3; i++) {
    shell_run(s, "$F report -f %s --before old a.jsonl b.jsonl c.jsonl", formats[i]);
    EXPECT_CODE(s, 0);
    cr_expect(strstr(s->out, "Times against old: 2 slower, 0 faster, 1 within both runs"), "%s", formats[i]);
    shell_run(s, "$F report -f %s a.jsonl b.jsonl c.jsonl | grep -c 'run before'", formats[i]);
    cr_expect_str_eq(s->out, "0\n", "without --before nothing is said of it");
  }
  shell_run(s, "$F report -f junit --before old a.jsonl");
  cr_expect(s->code == 2 && strstr(s->err, "--before"), "%d %s", s->code, s->err);
  shell_run(s, "$F report --before old/a.jsonl -o old/a.jsonl b.jsonl");
  cr_expect(s->code == 2 && strstr(s->err, "cannot be the output too"), "%d %s", s->code, s->err);
  shell_close(s);
}
