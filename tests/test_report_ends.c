/* test_report_ends.c: a report ends, soon, whatever the records hold and whatever gnuplot does. */
#include <sys/stat.h>

#include "shell.h"

#define TIMING(subject, cols)                                                          \
  "{\"schema\":1,\"type\":\"timing\",\"subject\":\"" subject                           \
  "\",\"engine\":\"cuda\",\"dtype\":\"f32\",\"op\":\"sum\",\"rows\":1,\"cols\":" #cols \
  ",\"median_seconds\":1e-6,\"bytes_per_second\":1e9,\"ceiling_bytes_per_second\":2e9,\"verdict\":\"held\"}\n"

/* The page comes without the figures that gnuplot does not end, and nothing stays: no process, no file. */
Test(report_ends, a_gnuplot_that_never_ends_costs_its_figures) {
  char sleeps[60]; /* for as long as no other process of this machine */
  snprintf(sleeps, sizeof sleeps, "#!/bin/sh\nsleep 86399.%d\n", getpid());
  const char *const programs[] = {sleeps, "#!/bin/sh\nkill -STOP $$\n", "#!/bin/sh\ntrap '' TERM INT\nyes\n"};
  SHELL(s);
  shell_put(s, "m.jsonl",
            TIMING("rows/par_64", 1) TIMING("rows/par_64_determ", 1) TIMING("rows/par_16", 1) TIMING(
                "rows/par_16_determ", 1) TIMING("rows/par_64", 2) TIMING("rows/par_64", 4) TIMING("rows/par_64", 8));
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    chmod(shell_put(s, "gnuplot", programs[i]), 0755);
    shell_run(s, "PATH=$PWD:$PATH timeout 600 $F report --figure-seconds 1 m.jsonl -o m.html");
    EXPECT_CODE(s, 0);
    cr_expect(strstr(s->err, "figures are left out: gnuplot") && shell_lines(s->err) == 1, "%zu: %s", i, s->err);
    cr_expect(shell_holds(s, "m.html", "A figure is missing here (gnuplot"), "%zu", i);
    cr_expect(shell_holds(s, "m.html", "The price of a fixed order") && shell_holds(s, "m.html", "</html>"), "%zu", i);
    shell_run(s, "for i in $(seq 600); do pgrep -f '^sleep 86399.%d$' >/dev/null || break; sleep 0.1; done; ls",
              getpid());
    cr_expect_str_eq(s->out, "gnuplot\nm.html\nm.jsonl\n", "%zu: %s", i, s->out);
  }
}

/* What a record may hold, the real gnuplot draws, or says that it can't, at once: errors over every magnitude. */
Test(report_ends, axes_of_any_width_are_drawn) {
  static const char *const errors[] = {"0.5",   "3.6e75", "1.8e75", "5e-324", "1e-310", "1e-300", "1e300",
                                       "1e308", "0",      "-1e300", "1e-10",  "1e10",   "1e99",   "123456"};
  enum { ERRORS = sizeof errors / sizeof *errors };
  SHELL(s);
  if (system("command -v gnuplot >/dev/null") != 0) cr_skip("gnuplot is not installed");
  for (size_t a = 0; a < ERRORS; a++) {
    FILE *out = fopen(scratch_path(&s->scratch, "m.jsonl"), "w");
    for (size_t b = a; b < ERRORS; b++) /* each pair once: an axis is as wide either way */
      for (int k = 1; k <= 4; k++) {
        const char *value = errors[k % 2 ? a : b];
        fprintf(out,
                "{\"schema\":1,\"type\":\"study\",\"subject\":\"a/b\",\"engine\":\"host\",\"generator\":\"g%zu\","
                "\"dtype\":\"f32\",\"op\":\"sum\",\"n\":%d,\"error_abs\":%s,\"bound\":%s}\n",
                b, k, value, errors[b]);
        fprintf(out,
                "{\"schema\":1,\"type\":\"scaling\",\"subject\":\"a/b\",\"engine\":\"nccl\",\"dtype\":\"f32\",\"op\":"
                "\"sum\",\"mode\":\"strong\",\"n\":%zu,\"workers\":%s,\"median_seconds\":%s}\n",
                b, k == 1 ? "1" : value, k == 1 ? "1" : value);
      }
    fclose(out);
    shell_run(s, "$F report --figure-seconds 60 m.jsonl -o m.html");
    EXPECT_CODE(s, 0);
    cr_expect(!strstr(s->err, "more than"), "%s: %s", errors[a], s->err);
    cr_expect(shell_holds(s, "m.html", "<figure><svg viewBox"), "%s: no figure: %s", errors[a], s->err);
  }
}

/* NaN stands for what a record lacks, and is not equal to itself: no group of records ends before it began. */
Test(report_ends, records_that_lack_what_is_compared_end_in_a_page) {
  static const char *const records[] = {
      "{\"schema\":1,\"type\":\"messages\",\"subject\":\"a\",\"engine\":\"nccl\",\"dtype\":\"f32\",\"bytes\":1,"
      "\"workers\":1,\"setting\":\"s\",\"letter\":\"A\",\"rank_agreement\":true,\"run_to_run\":true}\n",
      "{\"schema\":1,\"type\":\"timing\",\"subject\":\"a\",\"engine\":\"cuda\",\"dtype\":\"f32\",\"op\":\"sum\","
      "\"rows\":1,\"cols\":1}\n",
      "{\"schema\":1,\"type\":\"scaling\",\"subject\":\"a\",\"engine\":\"nccl\",\"dtype\":\"f32\",\"op\":\"sum\","
      "\"n\":1,\"workers\":1,\"mode\":\"strong\"}\n",
      "{\"schema\":1,\"type\":\"allreduce\",\"subject\":\"a\",\"engine\":\"nccl\",\"dtype\":\"f32\",\"op\":\"sum\","
      "\"bytes\":1,\"workers\":1,\"setting\":\"s\"}\n",
      "{\"schema\":1,\"type\":\"validation\",\"subject\":\"a\",\"engine\":\"mpi\",\"generator\":\"g\",\"dtype\":"
      "\"f32\",\"n\":1,\"workers\":1,\"verdict\":\"held\"}\n",
      "{\"schema\":1,\"type\":\"study\",\"subject\":\"a\",\"engine\":\"host\",\"generator\":\"g\",\"dtype\":\"f32\","
      "\"op\":\"sum\",\"n\":1}\n",
      "{\"schema\":1,\"type\":\"study_ranks\",\"subject\":\"a\",\"generator\":\"g\",\"dtype\":\"f32\",\"op\":\"sum\","
      "\"ranks\":1}\n",
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s%s", records[i], records[i], records[i]);
    shell_put(s, "r.jsonl", text);
    shell_run(s, "ulimit -f 20000; timeout 600 $F report r.jsonl -o r.html");
    EXPECT_CODE(s, 0);
    cr_expect(shell_holds(s, "r.html", "</html>"), "%zu", i);
  }
}

/* Each subject is found in constant time, and of one subject each fixture, name, environment: with so many of each, what looks
 * through all of them takes ten times what there is, in seconds of the processor. */
Test(report_ends, many_subjects_and_fixtures_take_as_long_as_they_are) {
  enum { MANY = 60000 };
  SHELL(s);
  for (int subjects = 0; subjects < 2; subjects++) {
    FILE *out = fopen(scratch_path(&s->scratch, "m.jsonl"), "w");
    for (int i = 0; i < MANY; i++) {
      if (!subjects) fprintf(out, "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"c%d\"}\n", i);
      fprintf(out,
              "{\"schema\":1,\"type\":\"judgement\",\"subject\":\"s/%d\",\"engine\":\"host\",\"claim\":\"bounded\","
              "\"promised\":true,\"case\":\"f%d/f32/sum/1x3\",\"dtype\":\"f32\",\"op\":\"sum\",\"rows\":1,\"cols\":3,"
              "\"generator\":\"g%d\",\"verdict\":\"held\",\"ulps\":1}\n",
              subjects ? i : 0, subjects ? 0 : i, subjects ? 0 : i);
    }
    fclose(out);
    shell_run(s, "ulimit -t 30; $F report m.jsonl -f markdown -o m.md");
    EXPECT_CODE(s, 0);
    cr_expect(shell_holds(s, "m.md", "60,000 held, 0 refuted"), "%d", subjects);
  }
}
