/* test_gpu_reach.c: the kernels by which GPUs write into each other's memory, in worlds of 2 to 8 ranks on one GPU.
 *
 * Worlds are in a process of their own, foldproof-virtual-ranks (virtual_ranks_main.c): a kernel that waits for ever ends
 * with its process alone, which ends itself when nothing moves, and is killed after a time. Ranks with a GPU each are
 * test_gpu_collective.c's.
 */
#include <stdio.h>

#include "gpu.h"
#include "kernels/collective/collective_reach.h"
#include "shell.h"

/* Exit code 0 alone is green. Whether the world lacked memory, where it may. */
static bool run_world_or_lack(const char *program, int ranks, const char *part, bool may_lack) {
  struct shell *s = shell_open();
  int code = shell_run(s, "timeout -k 5 150 '%s' %d %s", program, ranks, part);
  const bool lacks = may_lack && code == 77 && strstr(s->out, "of device memory");
  cr_expect(code == 0 || lacks, "%d ranks, %s: exit code %d: %s%s", ranks, part, code, s->out, s->err);
  cr_expect(lacks || strstr(s->out, "held: "), "%d ranks, %s: %s", ranks, part, s->out);
  shell_close(s);
  return lacks;
}

static void run_worlds(const char *program, const char *part) {
  static const int ranks[] = {2, 3, 4, 5, 7, 8};
  gpu_open();
  SHELL(s);
  shell_run(s, "timeout -k 5 150 '%s' 2,3,4,5,7,8 %s", program, part);
  EXPECT_CODE(s, 0);
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
    char held[80];
    snprintf(held, sizeof held, "held: %s: %d ranks, ", part, ranks[i]);
    cr_expect(strstr(s->out, held), "no '%s' in: %s%s", held, s->out, s->err);
  }
}

Test(gpu_reach, each_length_type_and_operation_gives_the_hosts_tree, .timeout = 600) {
  run_worlds(VIRTUAL_RANKS, "lengths");
}
Test(gpu_reach, calls_of_all_kinds_in_a_row_give_the_hosts_results, .timeout = 600) {
  run_worlds(VIRTUAL_RANKS, "mixed");
}
Test(gpu_reach, numbers_of_calls_and_steps_may_wrap, .timeout = 600) { run_worlds(VIRTUAL_RANKS, "numbers"); }
Test(gpu_reach, vectors_of_several_steps_of_all_blocks_give_the_hosts_tree, .timeout = 600) {
  run_worlds(VIRTUAL_RANKS, "long");
}

/* Kernels that dawdle where ranks may meet in another order (virtual_ranks_whim.cuh): a line or slot that is written
 * again too soon is seen. */
Test(gpu_reach, warps_that_dawdle_change_nothing, .timeout = 600) {
  run_worlds(VIRTUAL_RANKS_LATE, "mixed");
  run_worlds(VIRTUAL_RANKS_LATE, "long");
}

Test(gpu_reach, more_than_2_to_the_32_elements_are_summed, .timeout = 400) {
  gpu_open();
  const bool three = run_world_or_lack(VIRTUAL_RANKS, 3, "huge", true),
             eight = run_world_or_lack(VIRTUAL_RANKS, 8, "huge", true);
  if (three || eight) cr_skip("too little device memory for %s", three ? "3 ranks" : "8 ranks");
}

Test(gpu_reach, a_call_past_the_last_number_fails_and_gives_no_old_lines, .timeout = 200) {
  gpu_open();
  run_world_or_lack(VIRTUAL_RANKS, 3, "last", false);
}

/* What the tests above stand on: a rank that waits for ever is seen, and named. */
Test(gpu_reach, a_call_that_waits_for_ever_is_named, .timeout = 200) {
  gpu_open();
  SHELL(s);
  shell_run(s, "timeout -k 5 60 '%s' 5 absent 1", VIRTUAL_RANKS);
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, "hung for 1 s: absent: waiting for call 2 on rank 0 of 5: tree, f16 max of 60000"), "%s",
            s->out);
}

/* NCCL refuses two ranks of a GPU, and so does this, unless all of them say that they arranged it. */
Test(gpu_reach, ranks_of_one_gpu_are_refused_unless_they_arranged_it, .timeout = 60) {
  gpu_open();
  for (int32_t said = 0; said < 4; said++) {
    struct fold_reach_card cards[2];
    struct fold_comm_reach *reach = NULL;
    for (int r = 0; r < 2; r++) {
      gpu_need(fold_reach_introduce(&cards[r]));
      cr_expect_eq(cards[r].shares_gpu, 0, "nobody has arranged anything");
      cards[r].shares_gpu = said >> r & 1;
    }
    struct fold_reach_card own = cards[0];
    gpu_need(fold_reach_open(&reach, 0, 2, cards, &own));
    cr_expect_eq(reach != NULL, said == 3, "arranged by ranks %d", said);
    cr_expect_eq(own.willing, said == 3, "arranged by ranks %d", said);
    fold_reach_close(reach);
  }
}
