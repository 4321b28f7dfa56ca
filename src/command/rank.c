/* command/rank.c: foldproof rank: one rank of a world, or one thread for each rank. The harness starts it (ranks/start.c), not people;
 * so no other command mentions it. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/rank_bench.h"
#include "command/command.h"

enum { ENGINE = 0x100, CONNECT, SECRET, RANKS, THREADS };

static const struct argp_option options[] = {
    {"engine", ENGINE, "mpi|nccl", 0, "what the ranks talk by", 1},
    {"connect", CONNECT, "ADDRESS:PORT", 0, "where the harness listens", 1},
    {"secret", SECRET, "HEX", 0, "what the harness knows its ranks by", 1},
    {"ranks", RANKS, "N", 0, "how many ranks the world has", 1},
    {"threads", THREADS, NULL, 0, "run all ranks as threads; without it, the launcher's environment gives the rank", 1},
    {0},
};

struct options {
  int engine;
  const char *connect;
  uint64_t secret;
  unsigned ranks;
  bool threads;
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct options *o = state->input;
  switch (key) {
    case ENGINE: o->engine = fold_engine_parse(arg); return 0;
    case CONNECT: o->connect = arg; return 0;
    case SECRET: o->secret = strtoull(arg, NULL, 16); return 0;
    case RANKS: o->ranks = (unsigned)fold_option_number(state, "--ranks", arg, 0, 1024); return 0;
    case THREADS: o->threads = true; return 0;
    case ARGP_KEY_END:
      if (o->engine < 0 || !fold_engine_has_ranks((enum fold_engine)o->engine) || !o->connect || o->ranks == 0)
        argp_failure(state, 2, 0, "is started by the other commands, with --engine, --connect, --secret and --ranks");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options, .parser = parse, .doc = "One rank of a world, or all of its ranks."};

/* Which rank this process is, and in *of how many there are, according to the launcher (*of is left if it does not
 * say): Open MPI, MPICH and its relatives, Slurm, torchrun. torchrun's variables count only together, because others
 * may use the same names. */
static int own_rank(unsigned *of) {
  static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"},
                                         {"SLURM_PROCID", "SLURM_NTASKS"},
                                         {"PMIX_RANK", ""},
                                         {"RANK", "WORLD_SIZE"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *rank = getenv(names[i][0]), *ranks = getenv(names[i][1]);
    if (rank && ranks && atoi(ranks) > 0) *of = (unsigned)atoi(ranks);
    if (rank && (ranks || strcmp(names[i][0], "RANK") != 0)) return atoi(rank);
  }
  return -1;
}

/* Ends the ranks, whatever they are doing, when the harness has gone or given this world up, or cannot be reached for
 * CUT_S seconds. */
enum { CUT_S = 10 };
static void *watch(void *of) {
  const struct fold_rank_seat *seat = of;
  struct pollfd hung_up = {.fd = seat->fd, .events = POLLRDHUP};
  for (int cut = 0; cut < CUT_S && poll(&hung_up, 1, 1000) <= 0;) cut = fold_wire_is_cut(seat->fd) ? cut + 1 : 0;
  _exit(atomic_load(&seat->ended) ? 0 : 99);
}

static void *be_rank(void *of) {
  fold_rank_serve(of);
  return NULL;
}

int fold_command_rank(int argc, char **argv, const struct fold_registry *registry) {
  struct options o = {.engine = -1};
  fold_parse(&argp, argc, argv, &o);
  /* If a launcher loses a rank, it ends the others by SIGTERM at once. They stay until the harness has seen which rank
   * was first, and hangs up. */
  signal(SIGTERM, SIG_IGN);
  unsigned launched = o.ranks;
  int own = o.threads ? 0 : own_rank(&launched);
  if (!o.threads && own < 0)
    return fold_print_error(argv[0],
                            fold_error(FOLD_ENVIRONMENT, "the launcher does not say which rank this process is"));
  unsigned n = o.threads ? o.ranks : 1;
  struct fold_rank_seat *seats = calloc(n, sizeof *seats);
  pthread_t *thread = calloc(n, sizeof *thread), watcher;
  if (!seats || !thread) return fold_print_error(argv[0], fold_no_memory("for %u ranks", n));
  for (unsigned i = 0; i < n; i++) {
    seats[i] = (struct fold_rank_seat){.registry = registry,
                                       .engine = (enum fold_engine)o.engine,
                                       .service = &fold_rank_bench_service,
                                       .secret = o.secret,
                                       .rank = o.threads ? i : (unsigned)own,
                                       .ranks = o.ranks,
                                       .launched = launched,
                                       .fd = fold_wire_connect(o.connect)};
    if (seats[i].fd < 0)
      return fold_print_error(
          argv[0], fold_error(FOLD_ENVIRONMENT, "no way to the harness at %s (FOLDPROOF_ADDRESS): %s", o.connect,
                              strerror(errno)));
  }
  for (unsigned i = 0; i < n; i++)
    if (pthread_create(&watcher, NULL, watch, &seats[i]) || pthread_create(&thread[i], NULL, be_rank, &seats[i]))
      return fold_print_error(argv[0], fold_error(FOLD_ENVIRONMENT, "a thread cannot be started"));
  for (unsigned i = 0; i < n; i++) pthread_join(thread[i], NULL);
  /* A watcher ends this process when the harness hangs up, which it does when all ranks have answered. If a rank ended while
   * another one is still in MPI_Finalize, a launcher that is late could take it for one that never called that, and kill the other. */
  for (;;) pause();
}
