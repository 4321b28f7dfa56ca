/* test_supervise.c: a subject that ends its process, or never ends, loses only its own case: it is named, the others
 * are judged, the table is printed, the exit code is 99.
 *
 * No verdict depends on how long something took: what hangs does so for ever, and a time limit ends it, which is five
 * times what a run without a fault takes here, and at least a second.
 */
#include <signal.h>
#include <unistd.h>

#include "shell.h"

#define CASES "--fixtures 'normal/f32/sum/1x3[123]/seed1'"
/* Until the subject hangs, or the harness has ended. */
#define AWAIT_HANG "until [ -e seen ] || ! kill -0 $p; do sleep 0.05; done; rm -f seen; "
#define CASE32 "--fixtures normal/f32/sum/1x32/seed1"

static void expect_text(const struct shell *s, const char *text) {
  cr_expect(strstr(s->out, text) || strstr(s->err, text), "%s: no '%s' in %s%s", s->ran, text, s->out, s->err);
}

/* The counts of a subject's claim: "  claim   held refuted skipped", with notes in the next line. */
static void expect_row(const struct shell *s, const char *subject, const char *claim, size_t held, size_t broken) {
  char heading[100], note[40];
  snprintf(heading, sizeof heading, "%s on host\n", subject);
  snprintf(note, sizeof note, " %zu broken", broken);
  const char *at = strstr(s->out, heading);
  cr_assert(at != NULL, "%s: no %s in %s", s->ran, heading, s->out);
  at += strlen(heading);
  while (strncmp(at, "  ", 2) == 0 && strncmp(at + 2, claim, strlen(claim)) != 0) at = strchr(at, '\n') + 1;
  size_t got = 0, refuted = 1;
  int read = sscanf(at + 2, "%*s %zu %zu", &got, &refuted);
  const char *end = strchr(at, '\n');
  if (strncmp(end, "\n    ", 5) == 0) end = strchr(end + 1, '\n'); /* its notes */
  const char *seen = memmem(at, (size_t)(end - at), note, strlen(note));
  cr_expect(read == 2 && got == held && refuted == 0 && (broken == 0 || seen), "%s: %s %s: %.*s", s->ran, subject,
            claim, (int)(end - at), at);
}

Test(supervise, a_subject_that_ends_its_process_is_named_and_the_others_are_judged) {
  static const struct {
    const char *subject, *how;
  } rows[] = {
      {"fatal/crashes",
       "the process that it ran in "}, /* was killed by signal 11; a sanitizer makes that an exit code */
      {"fatal/aborts", "the process that it ran in was killed by signal 6"},
      {"fatal/is_killed", "the process that it ran in was killed by signal 9"},
      {"fatal/exits", "the process that it ran in ended with exit code 0"},
      {"fatal/crashes_behind_a_child", "the process that it ran in was killed by signal 9"},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "$M verify -v --jsonl \"$PWD/v\" --subjects host/sequential,%s,host/reverse " CASES, rows[i].subject);
    EXPECT_CODE(s, 99);
    expect_text(s, rows[i].how);
    expect_text(s, "normal/f32/sum/1x31/seed1");
    expect_row(s, "host/sequential", "replays", 3, 0);
    expect_row(s, "host/reverse", "fresh_process", 3, 0);
    expect_row(s, rows[i].subject, "bounded", 0, 3);
    shell_run(s, "$M record --subjects host/sequential,%s,host/reverse --jsonl r.jsonl " CASES, rows[i].subject);
    EXPECT_CODE(s, 99);
    shell_run(s, "grep -c results_xxh3 r.jsonl; grep -c '\"verdict\":\"broken\"' r.jsonl");
    cr_expect_str_eq(s->out, "6\n3\n");
    shell_run(s, "! pgrep -f \"jsonl $PWD/v\"");
    EXPECT_CODE(s, 0);
  }
}

Test(supervise, what_was_judged_before_stands_and_other_cases_are_judged) {
  SHELL(s);
  shell_run(s, "$M verify -v --subjects fatal/crashes_at_33 " CASES);
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/crashes_at_33", "bounded", 2, 1);
  expect_row(s, "fatal/crashes_at_33", "keeps_input", 2, 1);
  shell_run(s, "$M verify -v --subjects fatal/crashes_by_threads,host/sequential " CASES);
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/crashes_by_threads", "bounded", 3, 0);
  expect_row(s, "fatal/crashes_by_threads", "fresh_process", 3, 0);
  expect_row(s, "fatal/crashes_by_threads", "launch_invariant", 0, 3);
  expect_row(s, "fatal/crashes_by_threads", "keeps_input", 0, 3);
  expect_row(s, "host/sequential", "keeps_input", 3, 0);
  shell_run(s, "$M verify -v --subjects fatal/crashes_recorded,host/sequential " CASES);
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/crashes_recorded", "fresh_process", 0, 3);
  expect_row(s, "fatal/crashes_recorded", "keeps_input", 3, 0);
  expect_row(s, "host/sequential", "fresh_process", 3, 0);
}

/* The first BROKEN line's replay, as it is to be pasted. */
#define REPLAY "$(sed -n 's/^  reproduce: //p' out.txt | head -1)"

Test(supervise, the_replay_of_a_run_that_ends_in_a_judge_ends_in_it_again) {
  SHELL(s);
  shell_run(s, "$M verify -v --subjects fatal/crashes_by_threads " CASES " | tee out.txt");
  expect_text(s, ", in a run for launch_invariant: ");
  cr_expect_eq(shell_count(s->out, "BROKEN: "), 1, "%s", s->out);
  cr_expect_eq(shell_count(s->out, "\n  also broken: launch_invariant (2 more cases)\n"), 1, "%s", s->out);
  cr_expect_eq(shell_count(s->out, "--claims 'launch_invariant'"), 1, "%s", s->out);
  shell_run(s, "eval \"" REPLAY " -v\"");
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/crashes_by_threads", "launch_invariant", 0, 1);
}

/* Seconds after which a run hangs. */
static int limit_here(struct shell *s) {
  double start = fold_now();
  shell_run(s, "$M verify -v --timeout 1000 --subjects host/sequential,host/reverse " CASE32);
  EXPECT_CODE(s, 0);
  return 1 + (int)(5 * (fold_now() - start));
}

Test(supervise, a_run_that_hangs_ends_at_the_limit_and_a_subject_that_often_does_is_left_alone) {
  SHELL(s);
  int limit = limit_here(s);
  shell_run(s,
            "$M verify -v --timeout %d --claims bounded,replays --subjects host/sequential,fatal/hangs,host/reverse "
            "--fixtures 'normal/f32/sum/1x[1-9]/seed1'",
            limit);
  EXPECT_CODE(s, 99);
  expect_text(s, "a run did not end within ");
  expect_text(s, "not run: it crashed or hung in other cases");
  expect_row(s, "host/reverse", "bounded", 9, 0);
  expect_row(s, "fatal/hangs", "bounded", 0, 9);
  shell_run(s, "$M record --timeout %d --subjects fatal/hangs,host/reverse --jsonl r.jsonl " CASE32, limit);
  EXPECT_CODE(s, 99);
  shell_run(s, "FOLDPROOF_TIMEOUT=%d $M verify -v --claims fresh_process --subjects fatal/hangs,host/reverse " CASE32,
            limit);
  EXPECT_CODE(s, 99);
  expect_row(s, "host/reverse", "fresh_process", 1, 0);
}

/* One signal is enough, whatever a subject is at. */
Test(supervise, a_signal_ends_a_run_that_hangs) {
  static const char *const signals[] = {"INT", "TERM", "HUP"};
  SHELL(s);
  for (size_t i = 0; i < 3; i++) {
    shell_run(
        s,
        "export FOLD_SEEN=$PWD/seen; env --default-signal=INT $M verify -v --timeout 1000 --claims bounded --subjects "
        "host/sequential,fatal/hangs " CASES " & p=$!; " AWAIT_HANG "kill -%s $p; wait $p",
        signals[i]);
    EXPECT_CODE(s, 99);
    expect_row(s, "host/sequential", "bounded", 1, 0);
    expect_text(s, "interrupted: ");
    cr_expect(shell_count(s->out, "BROKEN") == 0, "no subject is to blame: %s", s->out);
  }
}

/* As a terminal does that is closed: what a program runs is in no group that the terminal knows. nohup stays in force. */
Test(supervise, a_hangup_ends_what_a_program_runs) {
  SHELL(s);
  shell_run(s,
            "$M verify -v --timeout 1000 --claims run_to_run --fixtures 'normal/f32/sum/3x1000/*' --exec "
            "'read asked; case $asked in *describe*) echo \"{\\\"name\\\": \\\"mine/sum\\\"}\";; "
            "*) sleep 900 & echo $! >kid; touch seen; wait;; esac' "
            "& p=$!; " AWAIT_HANG "kill -HUP $p; wait $p");
  EXPECT_CODE(s, 99);
  expect_text(s, "interrupted: ");
  shell_run(s, "while kill -0 $(cat kid); do sleep 0.1; done");
  EXPECT_CODE(s, 0);
  shell_run(s,
            "export FOLD_SEEN=$PWD/seen; (trap '' HUP; exec $M verify -v --timeout 1000 --claims bounded --subjects "
            "fatal/hangs " CASES ") & p=$!; " AWAIT_HANG
            "kill -HUP $p; sleep 1; kill -0 $p || exit 3; kill -TERM $p; wait $p");
  EXPECT_CODE(s, 99);
}

/* The supervisor is killed: the worker, and the new process's, end with it. */
Test(supervise, a_harness_that_is_killed_leaves_no_process) {
  static const char *const claims[] = {"bounded", "fresh_process"};
  SHELL(s);
  for (size_t i = 0; i < 2; i++) {
    shell_run(s,
              "export FOLD_SEEN=$PWD/seen; $M verify -v --timeout 1000 --claims %s --subjects fatal/hangs "
              "--fixture-folder \"$PWD\" & p=$!; " AWAIT_HANG
              "kill -KILL $p; wait $p; for i in $(seq 600); do pgrep -f \"folder $PWD\" >left || exit 0; "
              "sleep 0.1; done; cat left; exit 1",
              claims[i]);
    EXPECT_CODE(s, 0);
  }
}

/* The subject that runs when the process ends is not to blame for what another left there. */
Test(supervise, a_case_that_breaks_in_a_used_process_is_judged_in_a_new_one) {
  SHELL(s);
  shell_run(s, "$M verify -v --subjects fatal/spoils,fatal/stumbles,host/reverse " CASES);
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/spoils", "keeps_input", 3, 0);
  expect_row(s, "fatal/stumbles", "bounded", 3, 0);
  expect_row(s, "fatal/stumbles", "launch_invariant", 3, 0);
  expect_row(s, "fatal/stumbles", "keeps_input", 3, 0);
  expect_row(s, "host/reverse", "keeps_input", 3, 0);
  expect_text(s, "3 times a process ended, and the subject under test was not the cause");
  expect_text(s, "first in fatal/stumbles on normal/f32/sum/1x31/seed1");
  shell_run(s, "$M verify -v --subjects fatal/stumbles,host/reverse " CASES);
  EXPECT_CODE(s, 0);
}

/* Only the worker writes to its socket, and what it leaves is ended with it. */
Test(supervise, children_of_subjects_say_nothing_and_do_not_stay) {
  static const char *const subjects[] = {"fatal/comes_back_twice", "fatal/leaves_a_child"};
  SHELL(s);
  for (size_t i = 0; i < 2; i++) {
    shell_run(s, "$M verify -v --jsonl \"$PWD/v\" --claims bounded,replays --subjects %s,host/reverse " CASES " | cat",
              subjects[i]);
    EXPECT_CODE(s, 0);
    expect_row(s, subjects[i], "bounded", 3, 0);
    expect_row(s, "host/reverse", "replays", 3, 0);
    expect_text(s, "\n9 held, 0 refuted, 0 skipped\n");
    shell_run(s, "! pgrep -f \"jsonl $PWD/v\"");
    EXPECT_CODE(s, 0);
  }
  shell_run(s, "$M verify -v --timeout %d --claims bounded --subjects fatal/babbles,host/reverse " CASE32,
            limit_here(s));
  EXPECT_CODE(s, 99);
  expect_row(s, "fatal/babbles", "bounded", 0, 1);
  expect_row(s, "host/reverse", "bounded", 1, 0);
}

/* All was judged and stands, in the records too; but it is not green. */
Test(supervise, a_process_that_dies_when_all_is_told_is_not_green) {
  SHELL(s);
  shell_run(
      s, "$M verify -v --claims bounded,replays --subjects fatal/dies_at_the_end,host/reverse --jsonl r.jsonl " CASES);
  EXPECT_CODE(s, 99);
  expect_text(s, "\n9 held, 0 refuted, 0 skipped\n");
  expect_text(s, "between two subjects: the process that it ran in ");
  expect_text(s, "it had run ");
  expect_text(s, "fatal/dies_at_the_end");
  shell_run(s, "grep -c '\"verdict\":\"held\"' r.jsonl; grep -c '\"complete\":true' r.jsonl");
  cr_expect_str_eq(s->out, "9\n1\n");
  shell_run(s, "$M record --subjects fatal/dies_at_the_end,host/reverse --jsonl q.jsonl " CASES);
  EXPECT_CODE(s, 99);
  expect_text(s, "fatal/dies_at_the_end");
  shell_run(s, "grep -c results_xxh3 q.jsonl");
  cr_expect_str_eq(s->out, "6\n");
}

/* The parent may ignore the signal of children; the harness needs it. */
Test(supervise, children_are_heard_of_whatever_the_parent_ignores) {
  SHELL(s);
  shell_run(s, "timeout -s KILL 60 env --ignore-signal=CHLD $M verify -v --subjects host/reverse,fatal/crashes " CASES);
  EXPECT_CODE(s, 99);
  expect_row(s, "host/reverse", "fresh_process", 3, 0);
}

Test(supervise, a_signal_that_was_blocked_at_the_start_ends_a_run) {
  SHELL(s);
  shell_run(s,
            "export FOLD_SEEN=$PWD/seen; timeout -s KILL 60 env --block-signal=TERM $M verify -v --timeout 1000 "
            "--claims bounded "
            "--subjects fatal/hangs " CASES " & p=$!; " AWAIT_HANG "kill $(cat /proc/$p/task/$p/children); wait $p");
  EXPECT_CODE(s, 99);
  expect_text(s, "interrupted: ");
}

/* Under a debugger no process stands between it and the subject. */
Test(supervise, in_process_a_crash_is_the_commands_own) {
  SHELL(s);
  shell_run(s, "$M verify -v --in-process --subjects fatal/is_killed " CASES);
  EXPECT_CODE(s, 128 + SIGKILL);
  shell_run(s, "$M verify -v --in-process --subjects host/sequential " CASES);
  EXPECT_CODE(s, 0);
}
