/* test_incomplete.c: records of an interrupted run are never taken for complete ones: readers refuse them, and they do
 * not replace older, complete records. */
#include "shell.h"

#define SELECT " --subjects host/pairwise,host/kahan --fixtures 'normal/f32/sum/1x*' "
/* A while: seconds, on any machine. */
#define LONG " --engine host --fixtures 'normal/*,mixed/*,uniform/*,integers/*' "

static void whole_records(struct shell *s, const char *name) {
  shell_run(s, "$F record" SELECT "--jsonl %s && tail -n 1 %s", name, name);
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "\"type\":\"end\"") && strstr(s->out, "\"complete\":true"), "%s", s->out);
}

/* Cut at every byte of the last lines, a file is read as incomplete, and told to be by each reader. */
Test(incomplete, a_cut_file_is_named_by_every_reader) {
  SHELL(s);
  whole_records(s, "w");
  shell_run(s, "$F compare w w && $F report w --format junit");
  EXPECT_CODE(s, 0);
  cr_expect(!strstr(s->out, "ncomplete") && !strstr(s->err, "ncomplete"), "%s%s", s->out, s->err);
  static const int cuts[] = {1, 2, 10, 40, 60, 61, 200, 700, 1500};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    shell_run(s, "head -c -%d w >c; $F compare w c", cuts[i]);
    bool whole = cuts[i] == 1; /* the line's end alone */
    EXPECT_CODE(s, whole ? 0 : 1);
    cr_expect_eq(strstr(s->out, "INCOMPLETE: c: ") != NULL, !whole, "%d: %s", cuts[i], s->out);
    shell_run(s, "$F compare --subset c w");
    EXPECT_CODE(s, 0);
    cr_expect_eq(strstr(s->out, "INCOMPLETE: c: ") != NULL, !whole, "%d: %s", cuts[i], s->out);
    shell_run(s,
              "$F report c -o r.html && $F report c --format markdown -o r.md && $F report c --format junit -o r.xml");
    EXPECT_CODE(s, 0);
    cr_expect_eq(shell_lines(s->err), whole ? 0 : 3, "%d: %s", cuts[i], s->err);
    cr_expect_eq(shell_holds(s, "r.html", "Incomplete records: c: "), !whole, "%d", cuts[i]);
    cr_expect_eq(shell_holds(s, "r.md", "**Incomplete records**: c: "), !whole, "%d", cuts[i]);
    cr_expect_eq(shell_holds(s, "r.xml", "complete / c\"><error"), !whole, "%d", cuts[i]);
    cr_expect(shell_holds(s, "r.xml", whole ? "errors=\"0\"" : "errors=\"1\""), "%d", cuts[i]);
  }
}

/* One more, one fewer, another run behind or before it, a line that is no record. */
Test(incomplete, a_closing_line_counts_what_stands_before_it) {
  static const struct {
    const char *make;
    int code;
    const char *says;
  } rows[] = {
      {"cat w w >c", 0, ""},
      {"sed 2d w >c", 1, "INCOMPLETE: c: the closing line in line"},
      {"sed 1d w >c", 1, "INCOMPLETE: c: the closing line in line"},
      {"sed '$d' w >c", 1, "INCOMPLETE: c: cut off after line"},
      {"sed '$d' w | cat - w >c", 1, "INCOMPLETE: c: cut off after line"},
      {"sed 's/\"complete\":true/\"complete\":false/' w >c", 1, "INCOMPLETE: c: the run was interrupted after"},
      {"grep '\"type\":\"run\"' w >c", 0, ""}, /* chosen lines announce nothing */
      {"sed '1s/,\"closing_line\":true//; s/\"schema\":2/\"schema\":1/; $d' w >c", 0, ""}, /* nor did older records */
      {"sed '1s/,\"closing_line\":true//; s/\"schema\":2/\"schema\":1/; $d' w | head -c -5 >c", 1,
       "is cut off, and left out\n"},
  };
  SHELL(s);
  whole_records(s, "w");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s; $F compare w c", rows[i].make);
    EXPECT_CODE(s, rows[i].code);
    cr_expect(strstr(s->out, rows[i].says), "%s: %s", rows[i].make, s->out);
    cr_expect_eq(strstr(s->out, "INCOMPLETE") != NULL, rows[i].code == 1, "%s: %s", rows[i].make, s->out);
  }
  shell_run(s, "sed 's/\"records\":[0-9]*,//' w >c; $F compare w c");
  EXPECT_CODE(s, 2);
  static const char *const hidden[][2] = {
      {"1s/,\"closing_line\":true//; $d", "c:1: a record of type environment needs the key 'closing_line'"},
      {"1s/,\"closing_line\":true/,\"closing_line\":false/; $d", "c:1: its closing_line is false"},
      {"1s/,\"closing_line\":true//; 1s/\"schema\":2/\"schema\":1/; $d", "c:2: schema 2, and its run has schema 1"}};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) { /* a cut file that says that it is not */
    shell_run(s, "head -n 20 w | sed '%s' >c; $F recheck c || $F compare c c || $F report c --format text",
              hidden[i][0]);
    EXPECT_CODE(s, 2);
    cr_expect_eq(shell_lines(s->err), 3, "%s", s->err);
    cr_expect(strstr(s->err, hidden[i][1]), "%s: %s", hidden[i][0], s->err);
  }
  shell_run(s, "sed 2p w >c; $F compare w c");
  EXPECT_CODE(s, 2);
  cr_expect(strstr(s->err, "line 3 says what line 2 says"), "%s", s->err);
  shell_run(s, "sed '3s/./x/' w >c; $F compare w c");
  EXPECT_CODE(s, 2);
  cr_expect(strstr(s->err, "c:3: not JSON"), "%s", s->err);
}

/* Interrupted by either signal, which one handler takes for all commands: said, 99; what was finished is kept beside the older file, which stays, or in its place where
 * there is none; and no other file. */
Test(incomplete, an_interrupted_run_replaces_nothing) {
  static const struct {
    const char *command, *signal, *before, *after;
  } rows[] = {
      {"$F record" LONG, "INT", "", "r.jsonl\n"},
      {"$F record" LONG, "TERM", "cp w r.jsonl; ", "r.jsonl\nr.jsonl.incomplete\n"},
      {"$F verify" LONG, "INT", "cp w r.jsonl; ", "r.jsonl\nr.jsonl.incomplete\n"},
      {"$F study --full", "TERM", "cp w r.jsonl; ", "r.jsonl\nr.jsonl.incomplete\n"},
      {"$F study --simulate --sizes 2,4,8,16,32,64,128,256 --generators '*'", "INT", "cp w r.jsonl; ",
       "r.jsonl\nr.jsonl.incomplete\n"},
  };
  SHELL(s);
  whole_records(s, "w");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool late = true; /* it had ended before its shell came to send the signal */
    for (int k = 0; k < 5 && late; k++) {
      shell_run(s,
                "rm -f r.*; %s CUDA_VISIBLE_DEVICES= env --default-signal=%s %s --jsonl r.jsonl >/dev/null & p=$!; "
                "until ls r.jsonl.partial.* >/dev/null 2>&1 || ! kill -0 $p; do sleep 0.01; done; sleep 0.2; kill -%s "
                "$p || echo late >&2; wait $p",
                rows[i].before, rows[i].signal, rows[i].command, rows[i].signal);
      late = strstr(s->err, "late\n") != NULL;
    }
    EXPECT_CODE(s, 99);
    cr_expect(strstr(s->err, "interrupted: the records are incomplete"), "%s: %s", s->ran, s->err);
    shell_run(s, "ls r.*; test ! -e r.jsonl.incomplete || cmp w r.jsonl");
    EXPECT_CODE(s, 0);
    cr_expect_str_eq(s->out, rows[i].after, "%s: %s", rows[i].command, s->out);
    shell_run(s,
              "tail -qn 1 r.jsonl* | grep -c '\"complete\":false'; $F report -o x.html $(ls r.* | tail -n 1); rm r.*");
    cr_expect_str_eq(s->out, "1\n", "%s: %s", rows[i].command, s->out);
    cr_expect(strstr(s->err, "incomplete: the run was interrupted after"), "%s: %s", rows[i].command, s->err);
  }
}

/* What was killed reports nothing: the temporary file alone tells, and is read for what it is. */
Test(incomplete, what_a_killed_run_leaves_is_read_as_incomplete) {
  SHELL(s);
  whole_records(s, "w");
  bool late = true;
  for (int k = 0; k < 5 && late; k++) {
    shell_run(s, "rm -f r.*; cp w r.jsonl; $F record" LONG
                 "--jsonl r.jsonl & p=$!; until test \"$(cat r.jsonl.partial.$p.0 2>/dev/null | wc -l)\" -gt 2 || "
                 "! kill -0 $p; do sleep 0.01; done; kill -9 $p || echo late >&2; wait $p; "
                 "cmp w r.jsonl && mv r.jsonl.partial.* k && $F compare k k");
    late = strstr(s->err, "late\n") != NULL;
  }
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "INCOMPLETE: k: ") && strstr(s->out, " agree, 0 differ"), "%s%s", s->out, s->err);
  shell_run(s, "$F report k --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "**Incomplete records**: k: "), "%s", s->out);
}
