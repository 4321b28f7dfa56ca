/* test_compare.c: compare tells every case whose results, or whose input, are not the same in both records, and what only one
 * of both has; nothing is left out in silence. */
#include "shell.h"

#define RUN(subject, name, input, results)                                                          \
  "{\"schema\":1,\"type\":\"run\",\"subject\":\"" subject "\",\"engine\":\"host\",\"case\":\"" name \
  "\",\"input_xxh3\":\"" input "\",\"results\":[\"" results "\"],\"results_xxh3\":\"h" results "\"}\n"
#define BROKE(subject, name)                                                                        \
  "{\"schema\":1,\"type\":\"run\",\"subject\":\"" subject "\",\"engine\":\"host\",\"case\":\"" name \
  "\",\"input_xxh3\":\"0\",\"verdict\":\"broken\"}\n"
#define ENVIRONMENT "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"a cpu\"}\n"

Test(compare, the_first_difference_of_equal_inputs_is_told) {
  static const struct {
    const char *a, *b;
    int code;
    const char *says;
  } rows[] = {
      {RUN("s", "c", "1", "0x1"), RUN("s", "c", "1", "0x1"), 0, "1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", "0x1"), RUN("s", "c", "1", "0x2"), 1,
       "DIFFERS: s on host: c: a:1 has 0x1, b:1 has 0x2\n0 agree"},
      {RUN("s", "c", "1", "0x1"), RUN("s", "c", "2", "0x1"), 1,
       "INPUT CHANGED: s on host: c: a:1 has 1, b:1 has 2\n1 of another input\n0 agree, 0 differ, 0 only in a, 0 only "
       "in b\n"},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), RUN("s", "d", "1", "0x1") RUN("s", "c", "2", "0x1"), 1,
       "1 of another input\n1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", "0x1") RUN("s", "c", "2", "0x1"), RUN("s", "c", "1", "0x1"), 1, "1 of another input\n"},
      {RUN("s", "c", "1", "0x1"), RUN("s", "c", "1", "0x1") RUN("s", "c", "2", "0x1"), 1, "1 of another input\n"},
      {RUN("s", "c", "1", "0x1") RUN("s", "c", "2", "0x2"), RUN("s", "c", "2", "0x2") RUN("s", "c", "1", "0x1"), 0,
       "1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), RUN("s", "d", "1", "0x1"), 1,
       "ONLY IN a: s on host: c\n1 agree, 0 differ, 1 only in a, 0 only in b\n"},
      {RUN("s", "d", "1", "0x1"), RUN("s", "d", "1", "0x1") RUN("t", "d", "1", "0x1"), 1,
       "ONLY IN b: t on host: d\n1 agree, 0 differ, 0 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", "0x1"), RUN("t", "c", "1", "0x1"), 2, "0 agree, 0 differ, 1 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", "0x1") BROKE("s", "d"), RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), 1,
       "DIFFERS: s on host: d: a:2 has no result, b:2 has 0x1\n1 agree, 1 differ"},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), BROKE("s", "d") RUN("s", "c", "1", "0x1"), 1,
       "DIFFERS: s on host: d: a:2 has 0x1, b:1 has no result\n1 agree, 1 differ"},
      {RUN("s", "c", "1", "0x1") BROKE("s", "d"), RUN("s", "c", "1", "0x1") BROKE("s", "d"), 99,
       "1 without a result in both: the runs broke\n1 agree, 0 differ"},
      {RUN("s", "c", "1", "0x1") RUN("s", "c", "1", "0x1"), RUN("s", "c", "1", "0x2") RUN("s", "c", "1", "0x2"), 1,
       "\n0 agree, 1 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", "0x1") RUN("t", "c", "1", "0x1") RUN("s", "d", "1", "0x5"),
       RUN("s", "d", "1", "0x5") RUN("t", "c", "1", "0x3") RUN("u", "c", "1", "0x3"), 1,
       "DIFFERS: t on host: c: a:2 has 0x1, b:2 has 0x3\n1 agree, 1 differ, 1 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", "0x1"), RUN("s", "c", "1", "0x1") RUN("s", "c", "1", "0x2"), 1,
       "\n0 agree, 1 differ, 0 only"},
      {ENVIRONMENT, ENVIRONMENT, 2, "0 agree"},
  };
  struct shell *s = shell_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "a", rows[i].a);
    shell_put(s, "b", rows[i].b);
    shell_run(s, "$F compare a b");
    EXPECT_CODE(s, rows[i].code);
    cr_expect(strstr(s->out, rows[i].says), "row %zu: %s", i, s->out);
  }
  shell_close(s);
}

Test(compare, what_was_made_twice_agrees_and_a_mutant_does_not) {
  struct shell *s = shell_open();
  shell_run(
      s, "for f in a b; do $F record --subjects 'host/*' --fixtures 'normal/f32/*' --jsonl $f; done; $F compare a b");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, " agree, 0 differ, 0 only in a, 0 only in b\n"), "%s", s->out);
  shell_run(s, "$F verify --subjects host/pairwise --fixtures 'normal/f32/*' --jsonl b >/dev/null; $F compare b a");
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "ONLY IN a: host/") && strstr(s->out, "10 of "), "%s", s->out);
  shell_run(s, "$F compare --subset b a && $F compare --subset a b");
  EXPECT_CODE(s, 0);
  shell_run(
      s,
      "for i in 1 2; do $M record --subjects mutant/counter --fixtures 'normal/f32/sum/1x1023/seed1' --jsonl m$i; done;"
      " sed -i 's/results_xxh3\":\"0x./results_xxh3\":\"0y/' m2; $F compare m1 m2");
  EXPECT_CODE(s, 1);
  shell_run(s, "$F compare a nowhere");
  EXPECT_CODE(s, 2);
  cr_expect_eq(shell_lines(s->err), 1, "%s", s->err);
  shell_run(s, "$F compare a");
  EXPECT_CODE(s, 2);
  shell_close(s);
}

/* With --subset what is missing is allowed. Another input of a case, and other results, never are. */
Test(compare, a_subset_may_lack_cases_and_nothing_else) {
  static const struct {
    const char *a, *b;
    int code;
  } rows[] = {
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), RUN("s", "d", "1", "0x1"), 0},
      {RUN("s", "d", "1", "0x1"), RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), 0},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), RUN("s", "d", "1", "0x2"), 1},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), RUN("s", "d", "2", "0x1"), 1},
      {RUN("s", "c", "1", "0x1") RUN("s", "d", "1", "0x1"), BROKE("s", "d"), 1},
      {RUN("s", "c", "1", "0x1"), RUN("s", "d", "1", "0x1"), 2},
  };
  struct shell *s = shell_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "a", rows[i].a);
    shell_put(s, "b", rows[i].b);
    shell_run(s, "$F compare --subset a b");
    EXPECT_CODE(s, rows[i].code);
  }
  shell_close(s);
}

#ifdef __SANITIZE_ADDRESS__
#define AT_THE_EDGE ""
#else
#define AT_THE_EDGE "LD_PRELOAD='" EDGE_SHIM "' "
#endif
#define GPU "{\"schema\":1,\"type\":\"environment\",\"gpus\":[{\"name\":\"a GPU\"}]}\n"

/* 1,024 cases fill the array of results: one more than the last is not looked at. Where no sanitizer sees that, a page without
 * access does. */
Test(compare, an_array_that_is_full_is_read_to_its_end_and_no_further) {
  struct shell *s = shell_open();
  shell_put(s, "a", GPU);
  shell_run(s,
            "for i in $(seq 1024); do echo '{\"schema\":1,\"type\":\"run\",\"subject\":\"s\",\"engine\":\"cuda\","
            "\"op\":\"sum\",\"case\":\"c'$i'\",\"input_xxh3\":\"1\",\"results\":[\"0x1\"],\"results_xxh3\":\"1\"}'; "
            "done >>a; cp a b");
  EXPECT_CODE(s, 0);
  shell_run(s, AT_THE_EDGE "$F compare a b");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "1024 agree, 0 differ"), "%s", s->out);
  shell_run(s, AT_THE_EDGE "$F compare --claim run_to_run a b");
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->out, " 1024        0\n0 held, 0 refuted; 0 only in a, 0 only in b"), "%s", s->out);
  shell_close(s);
}
