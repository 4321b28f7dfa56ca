/* test_command_input.c: a user's mistake gives exit code 2, one clear line, and no half-written file; a full disk is
 * reported as the machine's fault. */
#include "shell.h"

#include "base/fold.h"

/* A line on stderr that holds `word`; argp adds its "Try ... --help", on two, to what it refuses itself. */
static void expect_line(struct shell *s, int code, const char *line, const char *word, size_t most_lines) {
  shell_run(s, "%s", line);
  EXPECT_CODE(s, code);
  size_t lines = shell_lines(s->err);
  cr_expect(lines >= 1 && lines <= most_lines, "%s: %zu lines: %s", line, lines, s->err);
  cr_expect(strncmp(s->err, "foldproof", 9) == 0, "%s: who says so? %s", line, s->err);
  cr_expect(strstr(s->err, word) != NULL, "%s: no '%s' in: %s", line, word, s->err);
}

static void expect_refusal(struct shell *s, const char *line, const char *word, size_t most_lines) {
  expect_line(s, 2, line, word, most_lines);
  cr_expect_str_empty(s->out, "%s", line);
}

Test(command_input, unknown_words_are_refused) {
  static const struct {
    const char *line, *word;
    size_t lines;
  } rows[] = {
      {"$F frobnicate", "frobnicate", 1},
      {"$F verify --frobnicate", "frobnicate", 3},
      {"$F verify stray", "no subject matches 'stray'", 1},
      {"$F list nonsense", "nonsense", 1},
      {"$F list claims --fixtures 'normal/*'",
       "--fixtures chooses no claims: these are chosen by --claims, --subjects, --engine, --guest, --exec\n", 1},
      {"$F list claims --set all", "--set chooses no claims", 1},
      {"$F list claims --dtypes f32", "--dtypes", 3},
      {"$F list subjects --npy x.npy --problem prod", "--npy chooses no subjects", 1},
      {"$F list --fixture-folder .", "--fixture-folder chooses no subjects", 1},
      {"$F list fixtures --engine cuda",
       "--engine chooses no fixtures: these are chosen by --fixtures, --set, --fixture-folder, --npy, --problem\n", 1},
      {"$F list fixtures --subjects 'host/*'", "--subjects chooses no fixtures", 1},
      {"$F list fixtures --set all --claims bounded", "--claims chooses no fixtures", 1},
      {"$F list generators --engine host", "--engine chooses no generators: all are listed", 1},
      {"$F list orders -s 'host/*'", "--subjects chooses no orders: all are listed", 1},
      {"$F gen", "generator", 3},
      {"$F gen nosuch --n 5 -o x.npy", "nosuch", 3},
      {"$F gen normal --n 5", "--output", 3},
      {"$F gen normal -o x.npy", "--n", 3},
      {"$F gen normal --n 5 --dtype f8 -o x.npy", "f8", 3},
      {"$F gen normal --n 5 --condition 10 -o x.npy", "condition", 1},
      {"$F gen ill_conditioned --n 100 --condition 0 -o x.npy", "--condition", 3},
      {"$F gen ill_conditioned --n 100 --condition 1e300 -o x.npy", "condition", 1},
      {"$F oracle", ".npy", 3},
      {"$F oracle x.npy --problem mean", "mean", 3},
      {"$F bench --engine host --problem scan -s scan/exact --n 9", "scan is not timed", 3},
      {"$F bench --engine host --problem matmul --n 9", "--problem matmul is timed by --what products", 3},
      {"$F order nosuch", "nosuch", 1},
      {"$F verify --engine tpu", "tpu", 3},
      {"$F verify --set huge", "huge", 3},
      {"$F verify --problem avg", "avg", 3},
      {"$F verify --repeats many", "many", 3},
      {"$F verify --repeats 0", "--repeats 0: at least 1", 3},
      {"$F verify --problem prod", "--problem needs --npy", 3},
      {"$F verify --npy x.npy --fixtures 'normal/*'", "--fixtures chooses nothing", 3},
      {"$F record --claims bounded", "--claims", 3},
      {"$F record --probe", "--probe", 3},
      {"$F list --repeats 5", "--repeats", 3},
      {"$F study --sizes x", "not a whole number", 3},
      {"$F study --sizes 1e30", "--sizes 1e30: at most", 3},
      {"$F study --sizes ''", "empty", 3},
      {"$F study --sizes 5,5", "twice", 3},
      {"$F study --sizes 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most", 3},
      {"$F study --generators nosuch", "nosuch", 3},
      {"$F study --generators normal,nosuch", "nosuch", 3},
      {"$F study --generators ''", "empty", 3},
      {"$F study --dtypes f8", "--dtypes f8: not one of", 3},
      {"$F study --problems plus", "--problems plus: not one of", 3},
      {"$F study --dtypes ''", "empty", 3},
      {"$F study --problems mean", "mean", 3},
      {"$F study --seed -1", "not a whole number", 3},
      {"$F study --simulate --sizes 1", "2 to 65536", 3},
      {"$F study --simulate --sizes 2^17", "2 to 65536", 3},
      {"$F study --simulate --problems max", "sums", 3},
      {"$F study --simulate --full", "does not go with", 3},
      {"$F study stray", "", 3},
      {"$F study --sizes 10 --jsonl nosuch/x.jsonl", "nosuch/x.jsonl", 3},
      {"$F study --simulate --sizes 4 --jsonl nosuch/x.jsonl", "nosuch/x.jsonl", 3},
      {"$F study --worlds --simulate", "does not go with", 3},
      {"$F study --worlds --messages", "does not go with", 3},
      {"$F study --worlds --full", "does not go with", 3},
      {"$F study --worlds --problems prod", "sums only", 3},
      {"$F study --worlds --sizes 0", "from 1", 3},
      {"$F study --worlds --settings ring", "--settings needs --messages", 3},
      {"$F study --worlds --engine cuda", "not one of mpi, nccl", 3},
      {"$F study --worlds --generators nosuch", "no generator", 3},
      {"$F bench --engine x", "not one of", 3},
      {"$F bench --what weak", "need --engine mpi or nccl", 3},
      {"$F bench --engine mpi --what x", "not one of messages, strong, weak", 3},
      {"$F bench --engine mpi --what ''", "empty", 3},
      {"$F bench --engine mpi --rows 3 --cols 3", "--engine cuda", 3},
      {"$F bench --engine mpi --peer x", "--engine cuda", 3},
      {"$F bench --engine mpi --iterations 8", "at least 9", 3},
      {"$F bench --engine mpi --workers 2,1", "rising", 3},
      {"$F bench --engine mpi --workers 0", "--workers 0: at least 1", 3},
      {"$F bench --engine mpi --bytes 12", "multiples of 8", 3},
      {"$F bench --engine mpi --bytes 34359738376", "at most 34359738368", 3},
      {"$F bench --engine mpi --link -1", "not a rate", 3},
      {"$F bench --engine mpi --memory x", "not a rate", 3},
      {"$F study --engine mpi", "--messages", 3},
      {"$F study --messages --engine cuda", "not one of mpi, nccl", 3},
      {"$F study --messages --simulate", "does not go with", 3},
      {"$F study --messages --engine mpi --sizes 0", "from 1", 3},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_refusal(s, rows[i].line, rows[i].word, rows[i].lines);
  cr_expect_eq(scratch_count(&s->scratch, false), 0, "something was written");
}

/* Under any name of theirs. */
Test(command_input, what_a_command_reads_is_not_its_output) {
  static const char *const lines[] = {"$F verify --engine host -s host/sequential --npy x.npy --jsonl ./x.npy",
                                      "$F record --engine host -s host/sequential --npy x.npy --jsonl link",
                                      "$F recheck r --jsonl r", "$F report r -o link2"};
  SHELL(s);
  shell_run(s,
            "$F gen normal --n 5 -o x.npy && ln x.npy link && ln -s r link2 && $F record --engine host -s "
            "host/sequential --npy x.npy "
            "--jsonl r && cat x.npy r >was");
  EXPECT_CODE(s, 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    shell_run(s, lines[i]);
    cr_expect(s->code == 2 && strstr(s->err, "is read, and cannot be the output too"), "%s: %d %s", lines[i], s->code,
              s->err);
  }
  shell_run(s, "cat x.npy r | cmp - was");
  EXPECT_CODE(s, 0);
}

Test(command_input, a_dash_is_standard_output) {
  SHELL(s);
  shell_run(s,
            "$F record --engine host -s host/sequential -f thirds --jsonl - >to && $F record --engine host -s "
            "host/sequential -f thirds --jsonl here && grep -c . to && test ! -e ./-");
  EXPECT_CODE(s, 0);
  cr_expect(atoi(s->out) > 2, "%s", s->out);
}

Test(command_input, a_glob_that_matches_nothing_is_an_error) {
  static const struct {
    const char *line, *word;
  } rows[] = {
      {"$F verify --subjects 'nosuch/*'", "'nosuch/*'"},
      {"$F verify --subjects 'host/kahan,nosuch'", "'nosuch'"},
      {"$F verify --claims nosuch", "'nosuch'"},
      {"$F verify --claims 'bounded,nosuch'", "'nosuch'"},
      {"$F verify --fixtures nosuch", "'nosuch'"},
      {"$F verify --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*,nosuch'", "'nosuch'"},
      {"$F verify --fixture-folder nosuch", "nosuch"},
      {"$F verify --probe --subjects 'cub/*' --engine host", "'cub/*'"},
      {"$F record --subjects nosuch", "'nosuch'"},
      {"$F record --fixtures nosuch", "'nosuch'"},
      {"$F list fixtures --fixtures nosuch", "'nosuch'"},
      {"$F list subjects --subjects nosuch", "'nosuch'"},
      {"$F list claims --claims nosuch", "'nosuch'"},
      {"$F verify --claims gpu_to_gpu", "foldproof compare --claim gpu_to_gpu"},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_refusal(s, rows[i].line, rows[i].word, 1);
}

/* Of each selected subject, what it takes and promises; the sixth and later ones are counted. */
Test(command_input, nothing_judged_says_why_of_each_subject) {
  static const struct {
    const char *line, *word;
    size_t lines;
  } rows[] = {
      {"$F verify --subjects host/kahan --fixtures 'normal/f32/max/1x33/*'",
       "  host/kahan on host: takes sum of f16, bf16, f32, f64, e4m3, e5m2; the selected cases are max of f32, such as "
       "normal/f32/max/1x33/seed1\n",
       2},
      {"$F verify --subjects host/kahan --claims faithful --fixtures 'normal/f32/sum/1x33/*'",
       "  host/kahan on host: does not claim faithful (--probe tries it all the same), but compensated, replays", 2},
      {"$F verify --subjects 'host/*' --claims world_invariant --fixtures 'normal/f32/sum/1x33/*'", "  and ", 7},
      {"$F verify --probe --subjects host/exact --fixtures 'normal/f32/prod/1x33/*' --claims replays",
       "the selected cases are prod of f32", 2},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_refusal(s, rows[i].line, rows[i].word, rows[i].lines);
}

Test(command_input, outputs_that_can_not_be_written_leave_nothing) {
  static const struct {
    const char *line, *word;
  } rows[] = {
      {"$F gen normal --n 5 -o no/such/folder/x.npy", "x.npy"},
      {"$F gen normal --n 5 -o .", "."},
      {"$F verify --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*' --jsonl no/such/x.jsonl", "x.jsonl"},
      {"$F record --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*' --jsonl no/such/x.jsonl", "x.jsonl"},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    expect_refusal(s, rows[i].line, rows[i].word, 1);
    cr_expect_eq(scratch_count(&s->scratch, false), 0, "%s left something", rows[i].line);
  }
}

/* The file may be as long as a disk has room: as on a full one, what was written is not kept. The table has what was judged all
 * the same. */
Test(command_input, a_full_disk_is_the_environments_fault_and_costs_no_verdict) {
  /* The limit of 4 KiB holds for standard output too, which says more where subjects take long. */
  static const char *const verify[] = {
      "$F verify --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*' --jsonl /dev/full",
      "$F verify --subjects host/kahan --fixtures 'normal/f32/sum/1x*' --jsonl /dev/full",
      ("ulimit -f 8; trap '' XFSZ; $F verify --subjects host/kahan --claims bounded,compensated --fixtures "
       "'normal/f32/sum/1x*' --jsonl x.jsonl")};
  SHELL(s);
  for (size_t i = 0; i < sizeof verify / sizeof *verify; i++) {
    expect_line(s, 99, verify[i], i == 2 ? "x.jsonl" : "/dev/full", 1);
    cr_expect(strstr(s->out, " held, 0 refuted, "), "%s: %s", s->ran, s->out);
  }
  shell_run(s, "$M verify --subjects mutant/twice --fixtures 'normal/f32/sum/1x33/*' --jsonl /dev/full");
  EXPECT_CODE(s, 1);
  expect_line(s, 99, "$F record --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*' --jsonl /dev/full",
              "/dev/full", 1);
  expect_line(s, 99, "$F gen normal --n 100000 -o /dev/full", "/dev/full", 1);
  cr_expect_eq(scratch_count(&s->scratch, false), 0, "something was left");
}

Test(command_input, an_old_file_survives_a_failure) {
  SHELL(s);
  shell_run(s, "echo old >x.jsonl; ulimit -f 1; trap '' XFSZ; $F gen normal --n 100000 -o x.npy");
  EXPECT_CODE(s, 99);
  shell_run(s, "$F verify --subjects nosuch --jsonl x.jsonl; cat x.jsonl");
  cr_expect_str_eq(s->out, "old\n");
  cr_expect_eq(scratch_count(&s->scratch, false), 1, "something lies beside it");
}

Test(command_input, a_full_standard_output_is_an_error) {
  static const char *const lines[] = {"$F --help >/dev/full",
                                      "$F --version >/dev/full",
                                      "$F list >/dev/full",
                                      "$F env >/dev/full",
                                      "$F verify --subjects host/kahan --fixtures 'normal/f32/sum/1x33/*' >/dev/full",
                                      "$F order host/pairwise >/dev/full",
                                      "$F gen normal --n 5 -o x.npy && $F oracle --json x.npy >/dev/full"};
  SHELL(s);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) expect_line(s, 99, lines[i], "standard output", 1);
}

#if !defined(__SANITIZE_ADDRESS__)
/* 200 MB of address space do not hold 2 GB. */
Test(command_input, short_memory_is_a_clear_line) {
  SHELL(s);
  scratch_write(&s->scratch, "huge.ini", "[huge]\ngenerator = normal\ndtype = f64\nn = 2^28\n", 46);
  expect_refusal(s, "ulimit -v 400000; OMP_NUM_THREADS=1 $F verify --subjects host/kahan --fixture-folder .", "memory",
                 1);
  cr_expect(strstr(s->err, "huge/f64/sum"), "it does not say for what: %s", s->err);
  scratch_count(&s->scratch, true);
  shell_run(s, "truncate -s 2147483776 huge.npy");
  FILE *file = fopen(scratch_path(&s->scratch, "huge.npy"), "r+");
  char header[129] = "\x93NUMPY\x01";
  memset(header + 10, ' ', 117);
  header[8] = 118;
  header[127] = '\n';
  static const char shape[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (268435456,), }";
  memcpy(header + 10, shape, strlen(shape));
  cr_assert(file && fwrite(header, 1, 128, file) == 128 && fclose(file) == 0);
  expect_refusal(s, "ulimit -v 400000; OMP_NUM_THREADS=1 $F oracle huge.npy", "memory", 1);
}
#endif

/* Nothing waits for a pipe that no process writes to, and nothing reads a line that never ends. */
Test(command_input, inputs_without_an_end_are_refused) {
  static const struct {
    const char *before, *line, *word;
  } rows[] = {
      {"mkfifo a.ini", "$F verify --fixture-folder .", "a.ini"},
      {"mkdir a.ini", "$F list fixtures --fixture-folder .", "a.ini"},
      {"ln -s /dev/zero a.ini", "$F verify --fixture-folder .", "a.ini"},
      {"truncate -s 9G a.ini", "$F verify --fixture-folder .", "a.ini:1"},
      {"(echo '[x]'; head -c 99999 /dev/zero | tr '\\0' x) >a.ini", "$F verify --fixture-folder .", "a.ini:2"},
      {"mkfifo a.npy", "$F oracle a.npy", "a.npy"},
      {"mkfifo a.npy", "$F verify --npy a.npy", "a.npy"},
      {"ln -s /dev/zero a.npy", "$F oracle a.npy", "a.npy"},
      {"truncate -s 9G a.jsonl", "$F report a.jsonl", "a.jsonl:1"},
      {"true", "$F report /dev/zero", "/dev/zero:1"},
      {"true", "$F compare /dev/zero /dev/zero", "/dev/zero:1"},
      {"true", "yes '{' | tr -d '\\n' | $F report /dev/stdin", "/dev/stdin:1"},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s", rows[i].before);
    shell_run(s, "ulimit -t 20; F=\"timeout 20 $F\"; %s", rows[i].line);
    EXPECT_CODE(s, 2);
    cr_expect(shell_lines(s->err) == 1 && strstr(s->err, rows[i].word), "%s: %s", s->ran, s->err);
    shell_run(s, "rm -rf a.*");
  }
}

Test(command_input, an_expected_sum_that_is_not_the_exact_one_is_refused) {
  static const char *const wrong[] = {"4", "3.0000000000000000000000000000000000000000000001", "-3", "nan", "inf"};
  SHELL(s);
  char text[200];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(text, sizeof text, "[a]\nvalues = 1, 2\ndtype = f32\nprovenance = a test\nexpect_sum = %s\n", wrong[i]);
    scratch_write(&s->scratch, "bad.ini", text, strlen(text));
    expect_refusal(s, "$F verify --fixture-folder . --jsonl out.jsonl", "bad.ini:1: expect_sum", 1);
    cr_expect_eq(scratch_count(&s->scratch, false), 1, "something was written");
  }
  const char *right = "[a]\nvalues = 1, 2\ndtype = f32\nprovenance = a test\nexpect_sum = 0x1.8p1\n";
  scratch_write(&s->scratch, "bad.ini", right, strlen(right));
  shell_run(s, "$F verify --fixture-folder . --engine host");
  EXPECT_CODE(s, 0);
}

Test(command_input, subjects_are_listed_in_a_line_each_by_name_and_engine) {
  SHELL(s);
  shell_run(s, "$F list subjects --engine host | awk -F '  +' 'NF >= 3 && $1 ~ \"^[^ ]+/[^ ]+$\" && $2 == \"host\"'");
  const size_t named = shell_lines(s->out);
  shell_run(s, "$F list subjects --engine host");
  const size_t lines = shell_lines(s->out);
  cr_expect(lines == named && lines > 10, "%zu lines, %zu subjects", lines, named);
  shell_run(s, "$F list subjects --engine host --long");
  cr_expect(shell_lines(s->out) == 4 * lines && strstr(s->out, "    claims "), "%s", s->out);
  shell_run(s, "$F list claims --long");
  EXPECT_CODE(s, 2);
}
