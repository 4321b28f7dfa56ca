/* test_command_process.c: the command copes with any start and end of its process: closed descriptors, an output that
 * can't be written, a library that exits, a signal; and with any kind of output file. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "shell.h"

#define CASE " --engine host --subjects host/pairwise,host/kahan --fixtures 'normal/f32/sum/1x33/*' "

/* What closes a descriptor closes no verdict. "out" is a link as /dev/stdout is one: that must not be at stake here. */
Test(command_process, closed_descriptors_are_no_file) {
  static const struct {
    const char *line;
    int code;
  } rows[] = {
      {"$F verify" CASE "2>&-", 0},
      {"$F verify" CASE "<&- 2>&-", 0},
      {"$F verify" CASE "--jsonl v.jsonl <&- 2>&-", 0},
      {"$F record" CASE "--jsonl v.jsonl <&- >&- 2>&-", 0},
      {"$M verify" CASE "--subjects mutant/twice 2>&-", 1},
      {"$F study --sizes 100 --generators normal 2>&-", 0},
      {"$F gen normal --n 5 -o x.npy >&-", 0},
      {"$F verify" CASE ">&-", 99},
      {"$F verify" CASE ">&- 2>&- <&-", 99},
      {"$F verify" CASE "--jsonl v.jsonl >&-", 99},
      {"$F verify" CASE "--jsonl out >&-", 99},
      {"$F record" CASE ">&-", 99},
      {"$F record" CASE "--jsonl out >&-", 99},
      {"$F gen normal --n 5 -o out >&-", 99},
      {"$F oracle x.npy >&-", 99},
      {"$F list >&-", 99},
      {"$F --help >&-", 99},
      {"$F --version >&-", 99},
      {"$F env >&-", 99},
      {"$F order host/pairwise >&-", 99},
      {"$F study --sizes 100 --generators normal >&-", 99},
      {"$F record" CASE "--jsonl r.jsonl && $F report r.jsonl >&-", 99},
      {"$F report r.jsonl -o out >&-", 99},
      {"$F compare r.jsonl r.jsonl >&-", 99},
      {"$F verify --help >&-", 99},
  };
  SHELL(s);
  shell_run(s, "ln -s /proc/self/fd/1 out");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s", rows[i].line);
    EXPECT_CODE(s, rows[i].code);
    shell_run(s, "test ! -e v.jsonl || $F compare v.jsonl v.jsonl");
    EXPECT_CODE(s, 0);
    shell_run(s, "test -L out || echo no link; rm -f v.jsonl; ls | grep -v -e '^r.jsonl$' -e '^x.npy$' -e '^out$'");
    cr_expect_str_eq(s->out, "", "%s left %s", rows[i].line, s->out);
  }
}

/* Suites set the policy for all commands (meson.build): a command of a user who has not. libgomp tells how long a thread spins when it
 * is loaded, which is when that is decided. */
Test(command_process, threads_that_wait_sleep_unless_the_user_chose_how_they_wait) {
  static const struct {
    const char *set;
    bool asleep;
  } rows[] = {{"", true}, {"OMP_WAIT_POLICY=active", false}};
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s,
              "unset OMP_WAIT_POLICY; %s OMP_DISPLAY_ENV=verbose $F verify --fixtures none 2>&1 | "
              "sed -n \"s/.*GOMP_SPINCOUNT = '\\(.*\\)'/\\1/p\"",
              rows[i].set);
    cr_expect_eq(strcmp(shell_last_line(s->out), "0") == 0, rows[i].asleep, "%s: %s", s->ran, s->out);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
/* libgomp ends the process by exit(1) where it can't start a thread, and 1 is "refuted". */
Test(command_process, a_thread_that_can_not_be_started_is_the_environments_fault) {
  static const char *const lines[] = {"verify --subjects host/kahan --npy x.npy --jsonl o",
                                      "verify --engine host --npy x.npy --jsonl o",
                                      "verify --in-process --engine host --npy x.npy --jsonl o",
                                      "record --engine host --npy x.npy --jsonl o",
                                      "record --in-process --engine host --npy x.npy --jsonl o",
                                      "gen normal --n 2^22 -o o",
                                      "oracle x.npy",
                                      "study --sizes 1e6 --generators normal --jsonl o"};
  SHELL(s);
  shell_run(s, "$F gen normal --n 1e6 -o x.npy");
  EXPECT_CODE(s, 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    shell_run(s, "ulimit -v 150000; OMP_NUM_THREADS=64 $F %s", lines[i]);
    EXPECT_CODE(s, 99);
    shell_run(s, "rm -f o; ls");
    cr_expect_str_eq(s->out, "x.npy\n", "%s left %s", lines[i], s->out);
  }
}
#endif

/* A signal ends what has nothing to finish; no temporary file stays, and the former file does. */
Test(command_process, a_signal_leaves_no_temporary_file) {
  static const int signals[] = {1, 2, 3, 13, 15, 24};
  SHELL(s);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    shell_run(s,
              "echo former >g.npy; env --default-signal $F gen normal --n 2^36 -o g.npy & p=$!; "
              "until ls g.npy.* >/dev/null 2>&1 || ! kill -0 $p; do sleep 0.01; done; sleep 0.1; kill -%d $p; wait $p",
              signals[i]);
    EXPECT_CODE(s, 128 + signals[i]);
    shell_run(s, "ls; cat g.npy");
    cr_expect_str_eq(s->out, "g.npy\nformer\n", "signal %d: %s", signals[i], s->out);
  }
}

/* Everything that writes a file, and what it may find under its name. */
static const char *const writers[] = {
    "$F gen normal --n 3000 -o o",
    "$F record" CASE "--jsonl o",
    "$F verify" CASE "--jsonl o >/dev/null",
    "$F study --sizes 100 --generators normal --jsonl o >/dev/null",
    "$F study --simulate --sizes 4 --generators normal --jsonl o >/dev/null",
    "$F report r.jsonl -o o",
    "$F report r.jsonl --format junit -o o",
    "$F report r.jsonl --format markdown -o o",
};
enum { WRITERS = sizeof writers / sizeof *writers };

static struct shell *open_with_records(void) {
  struct shell *s = shell_open();
  shell_run(s, "$F record" CASE "--jsonl r.jsonl");
  EXPECT_CODE(s, 0);
  return s;
}

Test(command_process, what_is_no_regular_file_is_written_to_and_stays) {
  /* What lies there; what succeeds when it still does, and was written to; where standard output goes. */
  static const char *const rows[][3] = {
      {"mkfifo o; cat o >got &", "wait; test -p o && test -s got"},
      {"ln -s there o;", "test -L o && test -f there && test -s there"},
      {"echo former >there; ln -s there o;", "test -L o && test -f there && ! grep -q former there"},
      {"mkdir d; echo former >d/there; ln -s d/there m; ln -s m o;",
       "test -L o && test -L m && ! grep -q former d/there"},
      {"ln -s /proc/self/fd/1 o; echo former >got;", "test -L o && grep -q former got && test $(wc -l <got) -gt 1",
       " >>got"},
      {"echo former >o; chmod 640 o;", "! grep -q former o && test $(stat -c %a o) = 640"},
  };
  struct shell *s = open_with_records();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t w = 0; w < WRITERS; w++) {
      if (rows[i][2] && strstr(writers[w], ">/dev/null")) continue;
      shell_run(s, "%s %s%s; code=$?; %s || exit 7; exit $code", rows[i][0], writers[w], rows[i][2] ? rows[i][2] : "",
                rows[i][1]);
      EXPECT_CODE(s, 0);
      shell_run(s, "rm -rf o m d there got; ls");
      cr_expect_str_eq(s->out, "r.jsonl\n", "%s %s left %s", rows[i][0], writers[w], s->out);
    }
  shell_close(s);
}

static void put_socket(struct shell *s) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch_path(&s->scratch, ".socket"));
  cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  close(fd);
}

/* A file without any right to write, root's rights or not; a socket; a folder; a link in a circle; a link into nowhere. */
Test(command_process, what_can_not_be_written_is_refused_and_stays) {
  static const struct {
    const char *before, *after;
  } rows[] = {
      {"echo former >o; chmod 444 o;", "test \"$(cat o)\" = former && test $(stat -c %a o) = 444"},
      {"echo former >there; chmod 400 there; ln -s there o;", "test \"$(cat there)\" = former && test -L o"},
      {"ln .socket o;", "test -S o"},
      {"mkdir o;", "test -d o"},
      {"ln -s o o;", "test -L o"},
      {"ln -s no/such/folder o;", "test -L o"},
  };
  struct shell *s = open_with_records();
  put_socket(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t w = 0; w < WRITERS; w++) {
      shell_run(s, "%s %s; code=$?; %s || exit 7; exit $code", rows[i].before, writers[w], rows[i].after);
      EXPECT_CODE(s, 2);
      cr_expect(shell_lines(s->err) == 1 && strstr(s->err, "o: cannot be written"), "%s: %s", s->ran, s->err);
      shell_run(s, "rm -rf o there; ls");
      cr_expect_str_eq(s->out, "r.jsonl\n", "%s %s left %s", rows[i].before, writers[w], s->out);
    }
  shell_close(s);
}

static void expect_short_stack(struct shell *s, const char *line, const char *words) {
  shell_run(s, "%s", line);
  EXPECT_CODE(s, 99);
  cr_expect(shell_lines(s->err) == 1 && strncmp(s->err, "foldproof", 9) == 0 && strstr(s->err, words), "%s: %s", line,
            s->err);
}

/* It would die of SIGSEGV without a word, or a subject would seem to. */
Test(command_process, a_stack_that_is_too_small_is_told) {
  SHELL(s);
  expect_short_stack(s, "(ulimit -s 128; $F oracle no.npy)",
                     "the stack is limited to 128 KiB, and at least 512 are needed");
  expect_short_stack(s, "(ulimit -s 511; $F verify)", "the stack is limited to 511 KiB");
  shell_run(
      s,
      "(ulimit -s 512; $F gen normal --n 99 -o x.npy && $F oracle x.npy && $F verify -s host/sequential --npy x.npy)");
  EXPECT_CODE(s, 0);
}

Test(command_process, required_gpus_that_are_not_there_are_a_broken_environment) {
  SHELL(s);
  const char *verify = "CUDA_VISIBLE_DEVICES= $F verify --engine cuda --fixtures 'normal/f32/sum/1x33/*'";
  shell_run(s, "env -u FOLDPROOF_REQUIRE_GPUS %s", verify);
  EXPECT_CODE(s, 77);
  shell_run(s, "FOLDPROOF_REQUIRE_GPUS=1 %s", verify);
  EXPECT_CODE(s, 99);
  cr_expect(strstr(s->err, "FOLDPROOF_REQUIRE_GPUS=1"), "%s", s->err);
  shell_run(s, "FOLDPROOF_REQUIRE_GPUS=1 CUDA_VISIBLE_DEVICES= $F verify --fixtures 'normal/f32/sum/1x33/*'");
  EXPECT_CODE(s, 99);
}
