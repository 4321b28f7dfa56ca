/* test_gpu_ranks.c: real ranks with a GPU each, threads and processes, that die or hang in a call: the command ends in
 * time with exit code 99, its line names the rank and the call, and no process is left. Needs 2 GPUs.
 */
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"
#include "ranks/world.h"
#include "shell.h"

static void need_two_gpus(void) {
  gpu_open();
  int n = 0;
  char reason[FOLD_DEVICE_TEXT] = "";
  gpu_need(fold_device_count(&n, reason));
  if (n < 2) cr_skip("needs 2 GPUs, there are %d", n);
  if (!fold_comm_engine_of(FOLD_NCCL)) cr_skip("this build has no NCCL");
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
}

/* Processes of the mutants' program. */
static int left_over(void) {
  DIR *all = opendir("/proc");
  int n = 0;
  for (struct dirent *entry; all && (entry = readdir(all));) {
    char path[300], exe[4096];
    snprintf(path, sizeof path, "/proc/%s/exe", entry->d_name);
    ssize_t got = readlink(path, exe, sizeof exe - 1);
    if (got <= 0) continue;
    exe[got] = '\0';
    n += strcmp(exe, FOLDPROOF_MUTANTS) == 0;
  }
  if (all) closedir(all);
  return n;
}

struct failing {
  const char *launch, *subject, *words[2]; /* that its line has */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In a process that is all ranks, a rank that is killed takes the others along. */
static const struct failing cases[] = {
    {"threads", "rank_hangs", {"rank 1 of 2 hangs", "broken/rank_hangs"}},
    {"threads", "reach_hangs", {"rank 1 of 2 hangs", "broken/reach_hangs"}},
    {"threads", "reach_killed", {"died in", "broken/reach_killed"}},
    {"mpirun", "rank_killed", {"rank 1 of 2 (process", "died"}},
    {"mpirun", "rank_exits", {"rank 1 of 2 (process", "died in broken/rank_exits"}},
    {"mpirun", "reach_hangs", {"rank 1 of 2 hangs", "broken/reach_hangs"}},
    {"mpirun", "reach_killed", {"rank 1 of 2 (process", "tree of 1000 f32"}},
};

Test(gpu_ranks, a_rank_that_dies_or_hangs_is_named_and_none_is_left, .timeout = 850) {
  need_two_gpus();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct failing *c = &cases[i];
    struct shell *s = shell_open();
    double start = now();
    if (strcmp(c->launch, "mpirun") == 0 && system("command -v mpirun >/dev/null")) continue;
    shell_run(s,
              "FOLDPROOF_RANKS=2 FOLDPROOF_TIMEOUT=%d FOLDPROOF_LAUNCH=%s $M verify --engine nccl --subjects broken/%s "
              "--claims writes_output --fixtures 'normal/f32/sum/1000x2/*'",
              strstr(c->words[0], "hangs") ? 4 : 60, c->launch, c->subject);
    double seconds = now() - start;
    EXPECT_CODE(s, 99);
    for (int k = 0; k < 2; k++)
      cr_expect(strstr(s->out, c->words[k]) || strstr(s->err, c->words[k]), "%s, %s: no word of '%s' in: %s%s",
                c->launch, c->subject, c->words[k], s->out, s->err);
    cr_expect_lt(seconds, 120, "%s, %s took %.1f s", c->launch, c->subject, seconds);
    cr_expect_eq(left_over(), 0, "%s, %s: %d processes are left", c->launch, c->subject, left_over());
    shell_close(s);
  }
}

/* Near, and by NCCL alone: the ways that do not show in a result. */
Test(gpu_ranks, collectives_hold_however_their_ranks_run, .timeout = 120) {
  need_two_gpus();
  static const char *const ways[] = {"FOLDPROOF_LAUNCH=threads", "FOLDPROOF_LAUNCH=mpirun",
                                     "FOLDPROOF_LAUNCH=threads FOLDPROOF_PEER=0"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct shell *s = shell_open();
    if (strstr(ways[i], "mpirun") && system("command -v mpirun >/dev/null")) continue;
    shell_run(s,
              "%s $F verify --engine nccl --claims 'writes_output,replays,correctly_rounded,rank_agreement' "
              "--fixtures 'normal/*/sum/*'",
              ways[i]);
    EXPECT_CODE(s, 0);
    cr_expect(strstr(s->out, " 0 refuted"), "%s: %s", ways[i], s->out);
    shell_close(s);
  }
}

Test(gpu_ranks, more_ranks_than_gpus_is_a_clear_line, .timeout = 60) {
  need_two_gpus();
  SHELL(s);
  shell_run(s, "FOLDPROOF_RANKS=64 $F verify --engine nccl --fixtures 'normal/f32/sum/1000x2/*'");
  EXPECT_CODE(s, 99);
  cr_expect(strstr(s->out, "FOLDPROOF_RANKS=64, but there are") || strstr(s->err, "FOLDPROOF_RANKS=64, but there are"),
            "%s%s", s->out, s->err);
}
