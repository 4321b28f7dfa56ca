/* world.h: the ranks of an engine, as the harness sees them: started, asked, watched, ended.
 *
 * A world is started when it is first needed: one process with a thread a rank, or processes by mpirun or another
 * launcher; each rank runs `foldproof rank` and connects back. Whatever goes wrong there is reported within the time
 * limit by one status that names the rank and the call. It leaves no process behind, and the world stays failed from
 * then on. The harness can't end a process on another node: ranks end themselves as soon as the harness closes the
 * connection, or 12 seconds after the network to it is lost. If Open MPI's mpirun started them, its daemon also ends
 * them when mpirun is gone, or 10 seconds after the network to mpirun is lost.
 *
 * Environment, which --launch, --ranks and --timeout set (numbers: setting.h):
 *   FOLDPROOF_LAUNCH   "threads" (NCCL's default), "mpirun" (MPI's), or a command whose words {ranks} are replaced
 *   FOLDPROOF_RANKS    how many ranks a world has (MPI: 8; NCCL: one a GPU)
 *   FOLDPROOF_TIMEOUT  seconds that an answer may take (20), and that ranks may take to come; starting GPUs three times
 *                      as long; and what a run on the host or a GPU may take (supervise.h)
 *   FOLDPROOF_PROGRAM  the path of the program that each rank runs (this one)
 *   FOLDPROOF_NCCL     the library that ranks talk by where they have GPUs, a path or a soname (libnccl.so.2); also
 *                      this process opens it, and launchers to other nodes must hand it on
 *   FOLDPROOF_OUTPUT   a file that what the launcher and the ranks print is added to (nowhere; of a world that does not
 *                      start, its lines are reported)
 *   FOLDPROOF_ADDRESS  this machine's address, for ranks on other nodes (127.0.0.1)
 */
#ifndef FOLD_WORLD_H
#define FOLD_WORLD_H

#include "ranks/wire.h"

struct fold_world;

/* The engine's world, started at the first call. UNSUPPORTED, with the reason, where it cannot be; ENVIRONMENT where it
 * failed, now or before. */
fold_status fold_world_of(enum fold_engine engine, struct fold_world **world);
unsigned fold_world_ranks(const struct fold_world *world);
/* The sizes of worlds that are tried where an engine has `ranks` ranks: 1, 2, 3, 4, 5, 8, and all ranks where there are
 * more (with several hosts, perhaps only all ranks together have one on each). Returns how many sizes there are. */
enum { FOLD_WORLDS_MOST = 8 };
size_t fold_worlds_sizes(unsigned ranks, unsigned sizes[FOLD_WORLDS_MOST]);
/* How many parts of inputs its ranks were sent. A caller that keeps this number can tell whether they still have its
 * parts. */
uint64_t fold_world_loads(const struct fold_world *world);
/* What a rank said of itself: library and device, for records. */
const struct fold_wire_hello *fold_world_hello(const struct fold_world *world, unsigned rank);
/* Ends every world. The status says if one did not end well. */
fold_status fold_worlds_close(void);
/* Ends this engine's world, if there is one. The next call of fold_world_of starts a new one, with the environment of
 * that time. */
fold_status fold_world_close(enum fold_engine engine);
/* Seconds that an answer may take. */
double fold_world_limit(const struct fold_world *world);

/* Makes sure that ranks 0 .. ranks - 1 have a comm of that size. UNSUPPORTED when there are fewer. */
fold_status fold_world_need(struct fold_world *world, unsigned ranks);

/* One question to each of the ranks first .. first + n - 1, and their answers. `what` names it in messages. */
struct fold_question {
  uint32_t kind;    /* enum fold_wire_kind, or a service's */
  const void *head; /* n heads of head_bytes each; or, with one_head, one for all */
  bool one_head;
  size_t head_bytes;
  const void *const *body; /* n, or NULL */
  const size_t *body_bytes;
  size_t answer_bytes; /* that each answer must have */
  bool each_alone;     /* no rank waits for another one, so that a rank which fails leaves the world as it is */
  const char *what;
};
fold_status fold_world_ask(struct fold_world *world, unsigned first, unsigned n, const struct fold_question *question,
                           void *answers);

#endif
