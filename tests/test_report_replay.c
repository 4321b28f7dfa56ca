/* test_report_replay.c: the command that a report names to judge a record's case again. It passes through a shell: no name, and
 * nothing else that a record holds, can end its quotes. */
#include "shell.h"

#include "report/text.h"

Test(report, replay_commands_are_quoted) {
  json_t *record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "subject", "a'b", "engine", "host", "claim", "bounded",
                             "case", "npy:a b'; rm x/f32/sum/1x3", "op", "sum", "promised", 0);
  char *text = fold_text_replay(record);
  cr_expect_str_eq(text,
                   "foldproof verify --subjects 'a'\\''b' --engine 'host' --claims 'bounded' --probe --npy "
                   "'a b'\\''; rm x' --problem 'sum'");
  free(text);
  json_object_set_new(record, "case", json_string("normal/f32/sum/1x3/seed1"));
  json_object_set_new(record, "asked",
                      json_pack("{s:i, s:b, s:s, s:s, s:s}", "repeats", 20, "strict", 1, "ranks", "3; rm x", "launch",
                                "mpirun -n 'x' {ranks}", "timeout", "60"));
  text = fold_text_replay(record);
  cr_expect_str_eq(
      text,
      "foldproof verify --subjects 'a'\\''b' --engine 'host' --claims 'bounded' --probe --set 'all' --fixtures "
      "'normal/f32/sum/1x3/seed1' --repeats '20' --strict --ranks '3; rm x' "
      "--launch 'mpirun -n '\\''x'\\'' {ranks}' --timeout '60'");
  free(text);
  json_object_set_new(record, "asked", json_pack("{s:s}", "python", "import mine; mine.verify('x'; rm x)"));
  text = fold_text_replay(record);
  cr_expect_str_eq(text, "python3 -c 'import mine; mine.verify('\\''x'\\''; rm x)'");
  free(text);
  json_decref(record);
}
