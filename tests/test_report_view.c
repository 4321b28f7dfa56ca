/* test_report_view.c: what readers of a report see first: the answer, and figures that can be read. */
#include "report_records.h"
#include "shell.h"

/* A gnuplot that keeps the scripts that it is given, and draws nothing. */
static void play_gnuplot(struct shell *s) {
  shell_put(s, "gnuplot",
            "#!/bin/sh\n"
            "cat >>scripts\n"
            "echo '<svg viewBox=\"0 0 560 380\"><desc></desc></svg>'\n");
  shell_run(s, "chmod +x gnuplot");
}

static void put_records(struct shell *s) {
  static const char *const subjects[] = {"cub/reduce",   "flat/atomic", "flat/canonical",    "flat/exact",
                                         "flat/shuffle", "rows/par_16", "rows/par_16_determ"};
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fputs(ENVIRONMENT, out);
  for (int n = 1000; n <= 1000000; n *= 10) {
    for (int k = 0; k < 7; k++)
      put_timing(out, subjects[k], "cuda", "normal", n, 1e-6 * (k + 1), 4 * n / (1e-6 * (k + 1)), "");
    put_timing(out, "numpy/sum", "host", "normal", n, 1e-3, 4 * n / 1e-3, ",\"threads\":1");
  }
  put_scaling(out);
  fclose(out);
  scratch_write(&s->scratch, "m.jsonl", text, size);
  free(text);
}

#define JUDGED(subject, claim, verdict, rest)                                                               \
  "{\"schema\":1,\"type\":\"judgement\",\"subject\":\"" subject "\",\"engine\":\"host\",\"claim\":\"" claim \
  "\",\"promised\":true,\"case\":\"normal/f32/sum/1x3/seed1\",\"dtype\":\"f32\",\"op\":\"sum\",\"rows\":1," \
  "\"cols\":3,\"verdict\":\"" verdict "\"" rest "}\n"
#define WRONG ",\"row\":0,\"got\":\"0x3f800000\",\"want\":\"0x40000000\",\"reason\":\"it is wrong\""

/* Each text once, and behind the one before it. */
static void expect_sequence(const char *text, const char *const *parts, const char *where) {
  for (const char *at = text; *parts; parts++) {
    const char *found = strstr(at, *parts);
    cr_expect(found, "%s: '%s' is missing, or too early: %s", where, *parts, text);
    if (found) at = found + 1;
  }
}

/* The first thing that each format says: what was refuted, with its reason, bits and replay; then what was idle, what held, and what was
 * skipped and why. */
Test(report, the_answer_comes_first) {
  static const char *const parts[] = {"1 refuted",
                                      "bad/sum on host",
                                      "bounded",
                                      "it is wrong",
                                      "0x3f800000 (0x1p+0, 1)",
                                      "0x40000000 (0x1p+1, 2)",
                                      "foldproof verify --subjects",
                                      "Known defects",
                                      "lib/sum",
                                      "order-insensitive inputs only",
                                      "dull/sum",
                                      "Held",
                                      "run_to_run",
                                      "Skipped",
                                      "no GPU here",
                                      NULL};
  static const char *const formats[] = {"html", "markdown", "text"};
  SHELL(s);
  shell_put(s, "a.jsonl",
            ENVIRONMENT JUDGED("dull/sum", "run_to_run", "held", ",\"telling\":false")
                JUDGED("dull/sum", "replays", "skipped", ",\"reason\":\"no GPU here\"")
                    JUDGED("lib/sum", "bounded", "refuted", ",\"known\":\"so it is\"" WRONG)
                        JUDGED("bad/sum", "bounded", "refuted", WRONG) JUDGED("bad/sum", "bounded", "held", ""));
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    shell_run(s, "$F report a.jsonl --format %s | sed 's/&#39;//g; s/&#43;/+/g; /<style>/,/<.style>/d'", formats[i]);
    EXPECT_CODE(s, 0);
    expect_sequence(s->out, parts, formats[i]);
  }
  shell_run(s, "$F report a.jsonl --format text | grep -A9 '^Held' | tr -s ' '");
  cr_expect(strstr(s->out, "\n bounded 0 0"), "a claim that was refuted is not held: %s", s->out);
}

/* Timings alone were judged where they were made, and say so; Markdown holds them and their ratios. */
Test(report, timings_are_not_called_unjudged) {
  SHELL(s);
  play_gnuplot(s);
  put_records(s);
  shell_run(s, "PATH=.:$PATH $F report m.jsonl -o m.html; $F report m.jsonl --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "## foldproof: 32 timings (32 of results that held), 3 scaling points\n"), "%s", s->out);
  cr_expect(strstr(s->out, "| rows/par_16_determ | rows/par_16 | cuda | f32 | normal | 1,000 | 7 | 6 | 1.17 |"), "%s",
            s->out);
  cr_expect(
      shell_holds(s, "m.html", "<title>foldproof: 32 timings (32 of results that held), 3 scaling points</title>"));
  cr_expect(!strstr(s->out, "nothing was judged") && !shell_holds(s, "m.html", "nothing was judged"));
}

/* Above the first section: the outcome in a sentence, the run's date, version, commit, machine and command, and the files. Then what was
 * refuted, which leads to its evidence, and the open matrix. */
Test(report, the_page_begins_with_outcome_and_origin) {
  static const char *const parts[] = {"0 held, 1 refuted, 0 skipped",
                                      "Refuted: 1 claim, of 1 subject.",
                                      "<li>foldproof 0.2.0, commit abc123, Linux, a CPU",
                                      "<code>2026-11-20: foldproof verify x</code>",
                                      "a.jsonl (2)",
                                      "id=\"answer\"",
                                      "bad/sum on host: <a href=\"#f0-0\">bounded</a>",
                                      "id=\"verdicts\"",
                                      "class=\"matrix\"",
                                      "<details>",
                                      NULL};
  SHELL(s);
  shell_put(
      s, "a.jsonl",
      "{\"schema\":1,\"type\":\"environment\",\"date\":\"2026-11-20\",\"foldproof\":\"0.2.0\",\"build\":\"abc123\","
      "\"system\":\"Linux\",\"cpu\":\"a CPU\",\"command\":\"foldproof verify x\"}\n" JUDGED("bad/sum", "bounded",
                                                                                            "refuted", WRONG));
  shell_run(s, "$F report a.jsonl -o a.html && sed -n '/<header>/,$p' a.html");
  EXPECT_CODE(s, 0);
  expect_sequence(s->out, parts, "page");
}
