/* test_nccl.c: NCCL's library is missing, is no library, is too old, lacks a function, or is another one in a rank than
 * here: each gives one line, with the right exit code. No GPU is needed: the library is looked at first, and all GPUs
 * are hidden from the command. The libraries are fake_nccl.c, built twice.
 */
#include <unistd.h>

#include "shell.h"

#define CASE "--fixtures 'normal/f32/sum/1000x2/*'"
#define VERIFY "verify --engine nccl " CASE

static void hide_gpus(void) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("NCCL_NVLS_ENABLE", "1", 1); /* which the command overrules */
  unsetenv("FOLDPROOF_NCCL");
  unsetenv("FOLDPROOF_REQUIRE_GPUS");
  unsetenv("FOLDPROOF_RANKS");
  unsetenv("FOLDPROOF_LAUNCH");
}
TestSuite(nccl, .init = hide_gpus);

/* A launcher that says who is who as torchrun does. ALL is what its ranks have in their environment beside that, ONE what
 * rank 1 has, NONE what they have not. */
static const char launcher[] =
    "for r in 0 1; do\n"
    "  ( export RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 $ALL\n"
    "    [ $r = 0 ] || export LATE=1 $ONE\n"
    "    unset OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID PMIX_RANK $NONE\n"
    "    exec \"$@\" ) &\n"
    "done\n"
    "wait\n";

/* Runs `setting $F command`: the exit code, and that output or errors hold the words (separated by '|'); and none of those
 * with '!' in front. */
static void expect(const char *setting, const char *command, int code, const char *words) {
  static const char text[] = "A file with more bytes than the header of a library has, and with nothing else of one.";
  SHELL(s);
  char copy[600], *rest = NULL;
  scratch_write(&s->scratch, "text.so", text, strlen(text));
  scratch_write(&s->scratch, "launch.sh", launcher, strlen(launcher));
  shell_run(s, "%s $F %s", setting, command);
  EXPECT_CODE(s, code);
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
    bool none = *word == '!';
    bool found = strstr(s->out, word + none) || strstr(s->err, word + none);
    cr_expect(found != none, "%s: %s '%s' in: %s%s", s->ran, none ? "a" : "no", word + none, s->out, s->err);
  }
}

static const struct {
  const char *library, *why; /* the setting, and what is said of it */
} unusable[] = {
    {"FOLDPROOF_NCCL=/nowhere/libnccl.so",
     "FOLDPROOF_NCCL=/nowhere/libnccl.so: cannot open shared object file: No such file"},
    {"FOLDPROOF_NCCL=libnowhere.so.2", "FOLDPROOF_NCCL=libnowhere.so.2: cannot open shared object file: No such file"},
    {"FOLDPROOF_NCCL=./text.so", "FOLDPROOF_NCCL=./text.so: invalid ELF header"},
    {"FOLDPROOF_NCCL=/tmp", "FOLDPROOF_NCCL=/tmp: "},
    {"FOLDPROOF_NCCL=libm.so.6", "FOLDPROOF_NCCL=libm.so.6: has no ncclGetVersion"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL_BARE " FAKE_NCCL_VERSION=29901", ": has no ncclSend"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL, ": its ncclGetVersion failed"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=21003", ": is NCCL 2.10.3; needed is NCCL 2, from 2.14 on"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=21399", ": is NCCL 2.13.99; needed is NCCL 2, from 2.14 on"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=2804", ": is NCCL 2.8.4; needed is NCCL 2, from 2.14 on"},
    {"FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=32000", ": is NCCL 3.20.0; needed is NCCL 2, from 2.14 on"},
    /* Which of its faults the message names: an old one is not searched for what it can't have. */
    {"FOLDPROOF_NCCL=" FAKE_NCCL_BARE " FAKE_NCCL_VERSION=21003", ": is NCCL 2.10.3; needed is"},
};

Test(nccl, a_library_that_is_named_and_cant_be_used_is_bad_input_with_its_reason) {
  for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++)
    expect(unusable[i].library, VERIFY, 2, unusable[i].why);
}

Test(nccl, every_command_that_needs_the_library_says_so_and_no_other_minds) {
  const char *gone = "FOLDPROOF_NCCL=/nowhere/libnccl.so", *why = "FOLDPROOF_NCCL=/nowhere/libnccl.so: cannot open";
  static const char *const commands[] = {VERIFY, "verify --subjects 'nccl/*' " CASE, "record --engine nccl " CASE,
                                         "bench --engine nccl", "study --messages --engine nccl"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) expect(gone, commands[i], 2, why);
  expect(gone, "verify --engine host --claims bounded --fixtures 'normal/f32/sum/1x33/*'", 0, " 0 refuted|!nowhere");
  expect(gone, "list subjects", 0, "nccl/allreduce|!nowhere");
}

/* The dynamic linker looks into LD_LIBRARY_PATH first. */
Test(nccl, without_a_library_of_that_name_collectives_are_skipped_with_the_reason) {
  const char *text = "mkdir lib; cp text.so lib/libnccl.so.2; LD_LIBRARY_PATH=$PWD/lib:$LD_LIBRARY_PATH";
  const char *bare = "mkdir lib; cp " FAKE_NCCL_BARE
                     " lib/libnccl.so.2; LD_LIBRARY_PATH=$PWD/lib:$LD_LIBRARY_PATH FAKE_NCCL_VERSION=29901";
  const char *hint = " (FOLDPROOF_NCCL may name another library)|0 held, 0 refuted";
  char words[200];
  snprintf(words, sizeof words, "libnccl.so.2: |invalid ELF header%s", hint);
  expect(text, VERIFY, 77, words);
  snprintf(words, sizeof words, "libnccl.so.2: has no ncclSend%s", hint);
  expect(bare, VERIFY, 77, words);
  expect(bare, "bench --engine nccl", 77, "libnccl.so.2: has no ncclSend|skipped");
  expect("mkdir lib; cp text.so lib/libnccl.so.2; FOLDPROOF_REQUIRE_GPUS=1 LD_LIBRARY_PATH=$PWD/lib:$LD_LIBRARY_PATH",
         VERIFY, 99, "FOLDPROOF_REQUIRE_GPUS=1, but there are 0 GPUs");
}

Test(nccl, the_environment_tells_the_library_that_was_opened) {
  expect("FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=29901", "env", 0, "NCCL 2.99.1|" FAKE_NCCL "|!nccl_missing");
  expect("FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=21402", "env", 0, "NCCL 2.14.2|" FAKE_NCCL);
  expect("FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=21003", "env --json", 0,
         "nccl_missing|is NCCL 2.10.3|!\"nccl\"|!nccl_file");
  expect("FOLDPROOF_NCCL=libm.so.6", "env", 0, "nccl_missing|libm.so.6: has no ncclGetVersion|!nccl_file");
}

/* What comes next is the GPU, which is not there: the library was good. */
Test(nccl, a_library_that_can_be_used_leaves_the_gpus_to_be_missed) {
  expect("FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=29901", VERIFY, 77, "no GPU|!FOLDPROOF_NCCL");
  expect("FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=21400", VERIFY, 77, "no GPU|!FOLDPROOF_NCCL");
  expect("FOLDPROOF_REQUIRE_GPUS=1 FOLDPROOF_NCCL=" FAKE_NCCL " FAKE_NCCL_VERSION=29901", VERIFY, 99,
         "FOLDPROOF_REQUIRE_GPUS=1");
}

#define LAUNCH                                                                                        \
  "FOLDPROOF_LAUNCH='sh launch.sh' FOLDPROOF_RANKS=2 FOLDPROOF_TIMEOUT=120 FOLDPROOF_NCCL=" FAKE_NCCL \
  " FAKE_NCCL_VERSION=29901 "

Test(nccl, ranks_with_another_library_are_named) {
  const char *another =
      "the ranks have NCCL 2.98.0 (rank 0 on |this process has NCCL 2.99.1: does the launcher export FOLDPROOF_NCCL?";
  expect(LAUNCH "ONE=FAKE_NCCL_VERSION=29800", VERIFY, 99, "rank 1 on |NCCL 2.98.0|NCCL 2.99.1");
  expect(LAUNCH "ONE=FOLDPROOF_NCCL=/nowhere", VERIFY, 99, "rank 1 on |no NCCL|NCCL 2.99.1");
  expect(LAUNCH "ALL=FAKE_NCCL_VERSION=29800", VERIFY, 99, another);
  expect(LAUNCH "ALL=FOLDPROOF_NCCL=/nowhere", VERIFY, 99, "the ranks have no NCCL|this process has NCCL 2.99.1");
}

/* They have all come in when the GPU is missed. */
Test(nccl, torchrun_tells_the_ranks_who_they_are) {
  const char *untold = "the launcher does not say which rank this process is";
  expect(LAUNCH, VERIFY, 99, " of 2 in starting: no GPU");
  expect(LAUNCH "ALL=WORLD_SIZE=3", VERIFY, 99, " of 3 on |2 ranks were requested");
  expect(LAUNCH "NONE=RANK", VERIFY, 99, untold);
  expect(LAUNCH "NONE=WORLD_SIZE", VERIFY, 99, untold);
}
