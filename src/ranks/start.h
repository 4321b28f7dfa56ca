/* ranks/start.h: what the files of a world share: its ranks, how they come and go, and who is to blame. */
#ifndef FOLD_RANKS_START_H
#define FOLD_RANKS_START_H

#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ranks/world.h"

struct fold_world_call {
  struct fold_wire_enter enter;
};

struct fold_rank {
  int fd;
  struct fold_wire_hello hello;
  bool opened; /* for rank r: the comm of r + 1 ranks is there */
  /* for the question that is asked now: */
  bool answered, gone, cut; /* cut: gone with its machine, or with the way to it */
  fold_status failure;
  struct fold_world_call *calls;
  size_t n_calls, capacity;
};

struct fold_world {
  enum fold_engine engine;
  bool started;
  fold_status status; /* once it is not OK, every question is answered with it */
  double limit;       /* seconds for an answer */
  unsigned ranks;
  uint64_t loads; /* parts of inputs sent */
  struct fold_rank *rank;
  struct pollfd *polled;
  char secret[32];     /* passed to the ranks as text; empty until there is a launcher */
  struct stat program; /* the program that each rank runs */
  pid_t launcher; /* the guard that runs the launcher (in the guard: the launcher); 0: there is none, or it has ended */
  int harness_pipe; /* our end of the guard's pipe; -1: none */
  int output;       /* what the launcher and the ranks print, -1: none */
  off_t output_at;  /* where this world's text begins */
};

/* Starts the launcher and waits until each rank has said who it is. */
fold_status fold_world_start(struct fold_world *world);
bool fold_world_launcher_ended(struct fold_world *world);
/* ranks/printed.c: the lines that the launcher and the ranks printed, with ": " before them, and where to find the
 * rest; "" if they printed nothing. */
enum { FOLD_WORLD_LINE = 848 };
void fold_world_printed(const struct fold_world *world, char line[FOLD_WORLD_LINE]);

/* ranks/listen.c: where ranks connect. Admits every rank, or says by `end` (a time of fold_now) which is missing. */
struct fold_listener {
  int fd;
  uint64_t secret;
  char address[80];
};
fold_status fold_listener_open(struct fold_listener *listener);
fold_status fold_listener_admit_all(struct fold_world *world, struct fold_listener *listener, double end);

/* ranks/guard.c: starts the launcher behind a guard. `error` receives errno if the launcher can't be started. */
fold_status fold_world_guard(struct fold_world *world, const char *const *argv, int *error);

/* ranks/blame.c: makes the world a failed one with this status, and ends its ranks. The blame_* functions do so for the
 * question `what` to ranks first .. first + n - 1, when one of these is late, is gone, or its machine is. */
fold_status fold_world_fail(struct fold_world *world, enum fold_code code, const char *text);
fold_status fold_world_blame_late(struct fold_world *world, unsigned first, unsigned n, const char *what);
fold_status fold_world_blame_gone(struct fold_world *world, unsigned gone, unsigned n, const char *what);
fold_status fold_world_blame_cut(struct fold_world *world, unsigned cut, unsigned n, const char *what);
/* The first rank whose machine does not answer for it, world->ranks where all do. */
unsigned fold_world_find_cut(const struct fold_world *world, unsigned first, unsigned n);
/* Describes the first two ranks whose k-th calls differ; false where none do. */
bool fold_world_find_other_arguments(const struct fold_world *world, unsigned first, unsigned n, char text[200]);

/* ranks/end.c, called in the guard: ends the launcher and the ranks, which get 6 seconds at most. */
void fold_world_end_launcher(struct fold_world *world);

/* ranks/end.c: ends the ranks and frees all but the status. `well`: the ranks are asked to end; otherwise they are
 * killed. No process is left. The status says if they did not end when asked. */
fold_status fold_world_end(struct fold_world *world, bool well);

#endif
