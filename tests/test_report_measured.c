/* test_report_measured.c: what was measured, in a report: figures and tables of errors, times and worlds, and what is left out of them. */
#include <sys/stat.h>

#include "report_records.h"
#include "shell.h"

static void put_measurements(struct shell *s) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  for (int n = 1000; n <= 1000000; n *= 10) {
    fprintf(out,
            "{\"schema\":1,\"type\":\"study\",\"subject\":\"host/a\",\"engine\":\"host\",\"generator\":\"normal\","
            "\"dtype\":\"f32\",\"op\":\"sum\",\"n\":%d,\"error_abs\":%d,\"bound\":%d}\n",
            n, n / 10000, n);
    fprintf(out,
            "{\"schema\":1,\"type\":\"study\",\"subject\":\"host/idle\",\"engine\":\"host\",\"generator\":\"normal\","
            "\"dtype\":\"f32\",\"op\":\"sum\",\"n\":%d,\"note\":\"never ran\"}\n",
            n);
    char subject[32];
    for (int k = 0; k < 4; k++) {
      snprintf(subject, sizeof subject, "rows/par_%d%s", k < 2 ? 16 : 64, k % 2 ? "_determ" : "");
      put_timing(out, subject, "cuda", "normal", n, (1 + k) * 1e-6, 1e9 * n / (1 + k), "");
    }
    /* Other data: a figure of its own, and never the twin of the ones above. */
    for (int k = 0; k < 2; k++)
      put_timing(out, k ? "rows/par_64_determ" : "rows/par_64", "cuda", "full_range", n, (10 + 40 * k) * 1e-6,
                 1e8 * n / (1 + 4 * k), "");
  }
  put_scaling(out);
  fclose(out);
  scratch_write(&s->scratch, "m.jsonl", text, size);
  free(text);
}

/* One figure of errors, two of throughput (one for each kind of data), four of pairs, one of scaling; each with its text
 * for who can't see it. */
Test(report, measurements_become_figures) {
  SHELL(s);
  put_measurements(s);
  shell_run(s, "command -v gnuplot");
  if (s->code != 0) cr_skip_test("gnuplot is not installed");
  shell_run(s,
            "$F report m.jsonl -o m.html; grep -c 'Figure [0-9]*\\.' m.html; grep -o 'role=\"img\" aria-label=\"[^\"]' "
            "m.html | wc -l; grep -o '<figure>' m.html | wc -l; grep -oE ' id=.f[0-9]+gp[A-Za-z0-9]+' m.html | sort | "
            "uniq -d | wc -l");
  EXPECT_CODE(s, 0);
  int figures, images, frames, doubled;
  cr_assert_eq(sscanf(s->out, "%d %d %d %d", &figures, &images, &frames, &doubled), 4, "%s", s->out);
  cr_expect_eq(figures, 1 + 2 + 4 + 1, "%s", s->out);
  cr_expect(images == frames && frames > figures, "the orders are drawn too: %s", s->out);
  cr_expect_eq(doubled, 0, "names of marks are unique in the page");
  shell_run(s, "sed -n '1,/Figure 1\\./p' m.html | grep -c '<text> *0</text>'");
  cr_expect_str_eq(s->out, "1\n", "an error of zero has no tic, or a doubled one");
  shell_run(s,
            "for k in 'normal 4 3 1.33' 'full_range 50 10 5'; do set -- $k; grep -c \"rows/par_64_determ</th>"
            "<td>rows/par_64</td>.*<td>f32</td><td>$1</td><td>1[0,]*</td><td class=.n.>$2</td><td class=.n.>$3</td><td "
            "class=.n.>$4</td></tr>\" "
            "m.html; done");
  cr_expect_str_eq(s->out, "4\n4\n", "no ratio of a fixed order to its counterpart on the same data");
  shell_run(s,
            "grep -c 'class=.key.>.*host/idle' m.html; grep -c 'host/idle</th>.*<td>never ran</td>' m.html; grep -c "
            "'<td>1,000,000</td>' m.html");
  cr_expect(strncmp(s->out, "0\n1\n", 4) == 0 && strcmp(s->out, "0\n1\n0\n") != 0, "%s", s->out);
  cr_expect_str_eq(s->err, "");
}

/* A sum in a world: equal inputs make a row, and a seed is part of the input; a library, of the table. */
static void put_sum(FILE *out, const char *library, const char *seed, int workers, const char *got) {
  fprintf(out,
          "{\"schema\":1,\"type\":\"validation\",\"subject\":\"mpi/sum\",\"engine\":\"mpi\",\"library\":\"%s\","
          "\"generator\":\"normal\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":1000,%s\"workers\":%d,\"got\":\"%s\","
          "\"one_rank\":\"0x3f800000\",\"verdict\":\"held\"}\n",
          library, seed, workers, got);
}

static void put_sums(struct shell *s) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  cr_assert(out);
  put_sum(out, "Lib 1", "\"seed\":9007199254740993,", 1, "0x3f800000");
  put_sum(out, "Lib 1", "\"seed\":9007199254740992,", 1, "0x3f800000");
  put_sum(out, "Lib 1", "\"seed\":9007199254740993,", 2, "0x3f800005");
  put_sum(out, "Lib 1", "\"seed\":9007199254740992,", 2, "0x3f800007");
  put_sum(out, "Lib 1", "", 2, "0x3f800009");
  for (int workers = 19; workers >= 1; workers--) put_sum(out, "Lib 2", "\"seed\":1,", workers, "0x3f800003");
  fclose(out);
  scratch_write(&s->scratch, "w.jsonl", text, size);
  free(text);
}

Test(report, sums_of_two_seeds_are_two_rows) {
  SHELL(s);
  put_sums(s);
  shell_run(s, "$F report w.jsonl -o w.html; grep -c 'row.>mpi/sum' w.html; grep -c '<caption>One sum' w.html");
  EXPECT_CODE(s, 0);
  cr_expect_str_eq(s->out, "5\n2\n", "three inputs with one library, one with the other; one row of all");
  cr_expect(shell_holds(s, "w.html", "<td>normal</td><td>9007199254740992</td><td>f32</td><td>same</td><td>7</td>"));
  cr_expect(shell_holds(s, "w.html", "<td>normal</td><td>9007199254740993</td><td>f32</td><td>same</td><td>5</td>"));
  cr_expect(shell_holds(s, "w.html", "<td>normal</td><td>-</td><td>f32</td><td></td><td>9</td>"),
            "no seed is no seed of 0");
}

Test(report, worlds_without_a_column_are_counted) {
  SHELL(s);
  put_sums(s);
  shell_run(s, "$F report w.jsonl -o w.html; grep -c 'have no column' w.html; grep -c '>17 ranks<' w.html");
  cr_expect_str_eq(s->out, "1\n0\n", "the table of 19 worlds says so, that of two does not");
  cr_expect(shell_holds(s, "w.html", ">16 ranks<"));
  static const char *const formats[] = {"markdown", "text"};
  for (int i = 0; i < 2; i++) {
    shell_run(s, "$F report w.jsonl -f %s | tr -s ' |,\"'", formats[i]);
    cr_expect(strstr(s->out, "16 ranks") && strstr(s->out, "3 larger worlds, up to 19 ranks, have no column"), "%s: %s",
              formats[i], s->out);
  }
  cr_expect(
      shell_holds(s, "w.html", "; 3 larger worlds, up to 19 ranks, have no column: their errors count</caption>"));
}

/* A table's title holds text of records, which stays text in every format. */
Test(report, titles_of_tables_stay_text) {
  SHELL(s);
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  put_sum(out, "<i>*|\\u0007", "", 2, "0x3f800000");
  fclose(out);
  scratch_write(&s->scratch, "w.jsonl", text, size);
  free(text);
  shell_run(s, "for f in html markdown text; do $F report w.jsonl -f $f | grep 'One sum'; done");
  cr_expect(strstr(s->out, "; &#60;i&#62;*|"), "%s", s->out);
  cr_expect(strstr(s->out, "; &#60;i&#62;&#42;&#124;"), "%s", s->out);
  cr_expect(strstr(s->out, "; <i>*|\\x07\n"), "%s", s->out);
}

/* What a bench could not believe is not shown as a figure like others. */
Test(report, collectives_that_are_noisy_or_implausible_are_marked) {
  static const char *const records[] = {
      "{\"schema\":1,\"type\":\"scaling\",\"subject\":\"c\",\"engine\":\"mpi\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":"
      "9,"
      "\"mode\":\"weak\",\"workers\":2,\"median_seconds\":1,\"verdict\":\"held\",\"implausible\":",
      "{\"schema\":1,\"type\":\"allreduce\",\"subject\":\"c\",\"engine\":\"mpi\",\"dtype\":\"f32\",\"op\":\"sum\","
      "\"bytes\":8,"
      "\"setting\":\"default\",\"workers\":2,\"median_seconds\":1,\"verdict\":\"held\",\"implausible\":"};
  static const struct {
    const char *flags, *cell;
  } rows[] = {
      {"false,\"noisy\":true,\"why\":\"its p90 <is> far\"}\n",
       "<td>held, too noisy: its p90 &#60;is&#62; far</td></tr>"},
      {"true,\"noisy\":false,\"why\":\"above the link\"}\n", "<td>held, implausible: above the link</td></tr>"},
      {"true}\n", "<td>held, implausible</td></tr>"},
      {"false,\"noisy\":false}\n", "<tbody>\n<tr><th scope=\"row\">c</th>"},
  };
  SHELL(s);
  for (size_t k = 0; k < sizeof records / sizeof *records; k++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      char text[600];
      snprintf(text, sizeof text, "%s%s", records[k], rows[i].flags);
      shell_put(s, "n.jsonl", text);
      shell_run(s, "PATH=/nonexistent $F report n.jsonl -o n.html");
      EXPECT_CODE(s, 0);
      cr_expect(shell_holds(s, "n.html", rows[i].cell), "%s", text);
    }
}

/* Three records of the kind, of 1, 2 and 4 workers, a length or a size that rises as they do, the faster the more; those of
 * the mask are implausible. */
static void put_three(struct shell *s, const char *kind, unsigned mask) {
  char text[1200] = "";
  for (int i = 0; i < 3; i++)
    snprintf(
        text + strlen(text), sizeof text - strlen(text),
        "{\"schema\":1,\"type\":\"%s\",\"subject\":\"c\",\"engine\":\"mpi\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":9,"
        "\"mode\":\"strong\",\"setting\":\"default\",\"verdict\":\"held\",\"rows\":1,\"cols\":%d,\"bytes\":%d,"
        "\"workers\":%d,\"median_seconds\":%g,\"bytes_per_second\":%g,\"bus_bytes_per_second\":%g,\"implausible\":%s}"
        "\n",
        kind, 1 << i, 1 << i, strcmp(kind, "scaling") ? 2 : 1 << i, 4.0 / (1 << i), 1e9 * (1 << i), 1e9 * (1 << i),
        mask >> i & 1 ? "true" : "false");
  shell_put(s, "t.jsonl", text);
}

/* What a bench could not believe is no point of a figure, nor is what is compared with it, and no line leads over its place.
 * A program in gnuplot's place shows what is to be drawn. */
Test(report, doubtful_points_are_not_drawn) {
  static const struct {
    const char *kind;
    unsigned mask;
    const char *drawn, *caption;
  } rows[] = {
      {"scaling", 0, "\n1 1\n2 2\n4 4\nEND", NULL},
      {"scaling", 2, "\n1 1\n\n4 4\nEND", "1 doubtful point left out."},
      {"scaling", 1, NULL, "3 doubtful points left out."},
      {"allreduce", 0, "\n1 1\n2 2\n4 4\nEND", NULL},
      {"allreduce", 2, "\n1 1\n\n4 4\nEND", "1 doubtful point left out."},
      {"allreduce", 7, NULL, "3 doubtful points left out."},
      {"timing", 0, "\n1 1\n2 2\n4 4\nEND", NULL},
      {"timing", 2, "\n1 1\n\n4 4\nEND", "1 doubtful point left out."},
  };
  SHELL(s);
  chmod(shell_put(s, "gnuplot", "#!/bin/sh\ncat >>plots\nexit 1\n"), 0755);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "plots", "");
    put_three(s, rows[i].kind, rows[i].mask);
    shell_run(s, "PATH=$PWD:$PATH $F report t.jsonl -o t.html");
    EXPECT_CODE(s, 0);
    cr_expect_eq(rows[i].drawn == NULL, !shell_holds(s, "plots", "plot "), "%zu: figures", i);
    cr_expect(rows[i].drawn == NULL || shell_holds(s, "plots", rows[i].drawn), "%zu: no '%s'", i, rows[i].drawn);
    cr_expect_eq(rows[i].caption != NULL, shell_holds(s, "t.html", " left out."), "%zu: caption", i);
    cr_expect(rows[i].caption == NULL || shell_holds(s, "t.html", rows[i].caption), "%zu: no '%s'", i, rows[i].caption);
    cr_expect_eq(rows[i].drawn == NULL, strstr(s->err, "figures are left out") == NULL,
                 "%zu: that there is nothing to draw is no trouble: %s", i, s->err);
  }
}

Test(report, without_gnuplot_the_rest_is_there) {
  SHELL(s);
  put_measurements(s);
  shell_run(s, "PATH=/nonexistent $F report m.jsonl -o m.html");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->err, "figures are left out: gnuplot is not installed") && shell_lines(s->err) == 1, "%s", s->err);
  cr_expect(shell_holds(s, "m.html", "A figure is missing here (gnuplot is not installed)"));
  cr_expect(shell_holds(s, "m.html", "The price of a fixed order") && shell_holds(s, "m.html", "</html>"));
  cr_expect(shell_holds(s, "m.html", "aria-label=\"Tree of host/pairwise, 1024 terms, height 10\""),
            "orders need no gnuplot");
}
