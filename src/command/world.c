/* command/world.c: the options that say how the ranks of collectives are started and how long a run may last, as argp children without input.
 *
 * They set the variables of world.h, so that the new processes of fresh_process have them too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"

enum { LAUNCH = 0x300, RANKS, TIMEOUT };

static const struct argp_option options[] = {
    {"launch", LAUNCH, "COMMAND", 0,
     "start ranks by mpirun (the default of MPI), as threads of one process (the default of NCCL), or by this command; "
     "the word {ranks} in it becomes their number",
     4},
    {"ranks", RANKS, "N", 0, "start N ranks (MPI: 8; NCCL: one for each GPU); cases that need more are skipped", 4},
    {0},
};

static const struct argp_option limits[] = {
    {"timeout", TIMEOUT, "SECONDS", 0, "time limit of a subject's run or a rank's answer (20)", 4}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  switch (key) {
    case LAUNCH: setenv("FOLDPROOF_LAUNCH", arg, 1); return 0;
    case RANKS: fold_option_set_number(state, "--ranks", arg, 1024, "FOLDPROOF_RANKS"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_limit(int key, char *arg, struct argp_state *state) {
  if (key != TIMEOUT) return ARGP_ERR_UNKNOWN;
  fold_option_set_number(state, "--timeout", arg, 86400, "FOLDPROOF_TIMEOUT");
  return 0;
}

const struct argp fold_timeout_argp = {.options = limits, .parser = parse_limit};
static const struct argp_child limit_child[] = {{&fold_timeout_argp, 0, NULL, 0}, {0}};
const struct argp fold_world_argp = {.options = options, .parser = parse, .children = limit_child};
const struct argp_child fold_world_child[2] = {{&fold_world_argp, 0, NULL, 0}, {0}};
