/* test_compare.c: compare reports every case whose results, or whose input, differ between two records, and what only
 * one of them has; it leaves nothing out without saying so. */
#include "compare/recorded.h"
#include "shell.h"

/* A record of one row, whose hash is that of its result. */
#define RECORD(subject, name, input, results, hash)                                                               \
  "{\"schema\":1,\"type\":\"run\",\"subject\":\"" subject "\",\"engine\":\"host\",\"case\":\"" name               \
  "\",\"dtype\":\"f32\",\"rows\":1,\"input_xxh3\":\"" input "\",\"results\":" results ",\"results_xxh3\":\"" hash \
  "\"}\n"
#define RUN(subject, name, input, bits) RECORD(subject, name, input, "[\"0x" #bits "\"]", HASH_##bits)
#define HASH_1 "0x2fbc593564db792e"
#define HASH_2 "0x2086c65c91eee243"
#define HASH_3 "0x4d922029c1f42e7d"
#define HASH_5 "0x8e03e9aa39aaa78c"
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
      {RUN("s", "c", "1", 1), RUN("s", "c", "1", 1), 0, "1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", 1), RUN("s", "c", "1", 2), 1, "DIFFERS: s on host: c: a:1 has 0x1, b:1 has 0x2\n0 agree"},
      {RUN("s", "c", "1", 1), RUN("s", "c", "2", 1), 1,
       "INPUT CHANGED: s on host: c: a:1 has 1, b:1 has 2\n1 with a different input\n0 agree, 0 differ, 0 only in a, 0 "
       "only "
       "in b\n"},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), RUN("s", "d", "1", 1) RUN("s", "c", "2", 1), 1,
       "1 with a different input\n1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", 1) RUN("s", "c", "2", 1), RUN("s", "c", "1", 1), 1, "1 with a different input\n"},
      {RUN("s", "c", "1", 1), RUN("s", "c", "1", 1) RUN("s", "c", "2", 1), 1, "1 with a different input\n"},
      {RUN("s", "c", "1", 1) RUN("s", "c", "2", 2), RUN("s", "c", "2", 2) RUN("s", "c", "1", 1), 0,
       "1 agree, 0 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), RUN("s", "d", "1", 1), 1,
       "ONLY IN a: s on host: c\n1 agree, 0 differ, 1 only in a, 0 only in b\n"},
      {RUN("s", "d", "1", 1), RUN("s", "d", "1", 1) RUN("t", "d", "1", 1), 1,
       "ONLY IN b: t on host: d\n1 agree, 0 differ, 0 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", 1), RUN("t", "c", "1", 1), 2, "0 agree, 0 differ, 1 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", 1) BROKE("s", "d"), RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), 1,
       "DIFFERS: s on host: d: a:2 has no result, b:2 has 0x1\n1 agree, 1 differ"},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), BROKE("s", "d") RUN("s", "c", "1", 1), 1,
       "DIFFERS: s on host: d: a:2 has 0x1, b:1 has no result\n1 agree, 1 differ"},
      {RUN("s", "c", "1", 1) BROKE("s", "d"), RUN("s", "c", "1", 1) BROKE("s", "d"), 99,
       "1 without a result in both: the runs broke\n1 agree, 0 differ"},
      {RUN("s", "c", "1", 1) RUN("s", "c", "1", 1), RUN("s", "c", "1", 2) RUN("s", "c", "1", 2), 1,
       "\n0 agree, 1 differ, 0 only in a, 0 only in b\n"},
      {RUN("s", "c", "1", 1) RUN("t", "c", "1", 1) RUN("s", "d", "1", 5),
       RUN("s", "d", "1", 5) RUN("t", "c", "1", 3) RUN("u", "c", "1", 3), 1,
       "DIFFERS: t on host: c: a:2 has 0x1, b:2 has 0x3\n1 agree, 1 differ, 1 only in a, 1 only in b\n"},
      {RUN("s", "c", "1", 1), RUN("s", "c", "1", 1) RUN("s", "c", "1", 2), 1, "\n0 agree, 1 differ, 0 only"},
      {ENVIRONMENT, ENVIRONMENT, 2, "0 agree"},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "a", rows[i].a);
    shell_put(s, "b", rows[i].b);
    shell_run(s, "$F compare a b");
    EXPECT_CODE(s, rows[i].code);
    cr_expect(strstr(s->out, rows[i].says), "row %zu: %s", i, s->out);
  }
}

Test(compare, results_of_another_dtype_than_their_terms_are_read_in_it) {
  SHELL(s);
  shell_run(
      s,
      "$F record --subjects 'host/*_f32,host/*_bf16' --fixtures 'normal/*/sum/1x33/*,nan_*/*/sum/1x31/*' --jsonl a; "
      "$F compare a a");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, " agree, 0 differ"), "%s", s->out);
}

Test(compare, what_was_made_twice_agrees_and_a_mutant_does_not) {
  SHELL(s);
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
      " sed -i 's/\"results\".*results_xxh3\":\"0x./\"results_xxh3\":\"0x/' m2; $F compare m1 m2");
  EXPECT_CODE(s, 1);
  shell_run(s, "$F compare a nowhere");
  EXPECT_CODE(s, 2);
  cr_expect_eq(shell_lines(s->err), 1, "%s", s->err);
  shell_run(s, "$F compare a");
  EXPECT_CODE(s, 2);
}

/* A comparison goes by the hash: bits beside it that have another one make the record worth nothing, in either file. */
Test(compare, a_record_whose_results_contradict_their_hash_is_refused) {
  static const struct {
    const char *record, *says;
  } rows[] = {
      {RECORD("s", "c", "1", "[\"0x1\"]", HASH_2),
       "s on host: c: results_xxh3 is " HASH_2 ", but its results have " HASH_1},
      {RECORD("s", "c", "1", "[\"0x2\"]", HASH_1),
       "s on host: c: results_xxh3 is " HASH_1 ", but its results have " HASH_2},
      {RECORD("s", "c", "1", "[\"0x1\",\"0x1\"]", HASH_1),
       "s on host: c: it holds 2 results, and should hold 1 of 1 rows"},
      {RECORD("s", "c", "1", "[]", HASH_1), "it holds 0 results, and should hold 1 of 1 rows"},
      {RECORD("s", "c", "1", "\"0x1\"", HASH_1), "needs the key 'results' to be a list"},
      {RECORD("s", "c", "1", "[1]", HASH_1), "'' is no result of f32"},
      {RECORD("s", "c", "1", "[\"0x1z\"]", HASH_1), "'0x1z' is no result of f32"},
      {RECORD("s", "c", "1", "[\"0x100000001\"]", HASH_1), "'0x100000001' is no result of f32"},
      {"{\"schema\":1,\"type\":\"run\",\"subject\":\"s\",\"engine\":\"host\",\"case\":\"c\",\"input_xxh3\":\"1\","
       "\"results\":[\"0x1\"],\"results_xxh3\":\"" HASH_1 "\"}\n",
       "s on host: c: results need the keys dtype and rows"},
  };
  SHELL(s);
  shell_put(s, "a", RUN("s", "c", "1", 1));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s", RUN("s", "d", "1", 1), rows[i].record);
    shell_put(s, "b", text);
    for (int swapped = 0; swapped < 2; swapped++) {
      shell_run(s, swapped ? "$F compare b a" : "$F compare --subset a b");
      EXPECT_CODE(s, 2);
      cr_expect(strstr(s->err, "b:2: ") && strstr(s->err, rows[i].says), "row %zu: %s", i, s->err);
    }
  }
}

/* Of 17 rows 16 are told, and no hash can contradict those; of 16 rows all are. */
Test(compare, another_hash_of_more_rows_than_are_told_is_another_result) {
  SHELL(s);
  for (int rows = 16; rows <= 17; rows++) {
    shell_run(s,
              "$F gen normal --rows %d --cols 3 -o x.npy && $F record --subjects host/sequential --npy x.npy --jsonl a",
              rows);
    EXPECT_CODE(s, 0);
    shell_run(s, "sed 's/\"results_xxh3\":\"[^\"]*/\"results_xxh3\":\"0x0123456789abcdef/' a >b; $F compare a b");
    EXPECT_CODE(s, rows == 16 ? 2 : 1);
    cr_expect(rows == 16 || strstr(s->out, "a later row differs"), "%s", s->out);
  }
}

/* With --subset what is missing is allowed. Another input of a case, and other results, never are. */
Test(compare, a_subset_may_lack_cases_and_nothing_else) {
  static const struct {
    const char *a, *b;
    int code;
  } rows[] = {
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), RUN("s", "d", "1", 1), 0},
      {RUN("s", "d", "1", 1), RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), 0},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), RUN("s", "d", "1", 2), 1},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), RUN("s", "d", "2", 1), 1},
      {RUN("s", "c", "1", 1) RUN("s", "d", "1", 1), BROKE("s", "d"), 1},
      {RUN("s", "c", "1", 1), RUN("s", "d", "1", 1), 2},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "a", rows[i].a);
    shell_put(s, "b", rows[i].b);
    shell_run(s, "$F compare --subset a b");
    EXPECT_CODE(s, rows[i].code);
  }
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
  SHELL(s);
  shell_put(s, "a", GPU);
  shell_run(s,
            "for i in $(seq 1024); do echo '{\"schema\":1,\"type\":\"run\",\"subject\":\"s\",\"engine\":\"cuda\","
            "\"op\":\"sum\",\"case\":\"c'$i'\",\"input_xxh3\":\"1\",\"results_xxh3\":\"1\"}'; "
            "done >>a; cp a b");
  EXPECT_CODE(s, 0);
  shell_run(s, AT_THE_EDGE "$F compare a b");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "1024 agree, 0 differ"), "%s", s->out);
  shell_run(s, AT_THE_EDGE "$F compare --claim run_to_run a b");
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->out, " 1024        0\n0 held, 0 refuted; 0 only in a, 0 only in b"), "%s", s->out);
}

/* By its operation, whatever the problem is: dot products are sums, too. */
Test(compare, a_recorded_defect_is_known_by_the_operation_of_its_problem) {
  static const struct {
    const char *op;
    bool known;
  } rows[] = {{"sum", true}, {"dot", true}, {"keyed", true}, {"prod", false}, {"scan_max", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *record =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "type", "judgement", "subject", "cub/reduce_gpu_to_gpu",
                  "claim", "bounded", "op", rows[i].op, "verdict", "refuted", "known", "so", "peer", 1, "promised", 1);
    const uint64_t against = fold_recorded_against(record, "CCCL 3.6.0");
    cr_expect_eq(against, rows[i].known ? 0 : FOLD_CLAIM(FOLD_BOUNDED), "%s", rows[i].op);
    json_decref(record);
  }
}
