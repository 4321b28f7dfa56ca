/* world_start.h: what world.c and world_start.c share: a world's ranks, and how they come and go. */
#ifndef FOLD_WORLD_START_H
#define FOLD_WORLD_START_H

#include <poll.h>
#include <sys/types.h>

#include "world.h"

struct fold_world_call {
  struct wire_enter enter;
};

struct fold_rank {
  int fd;
  struct wire_hello hello;
  bool opened; /* for rank r: the comm of r + 1 ranks is there */
  /* of the question that is asked now */
  bool answered, gone;
  fold_status failure;
  struct fold_world_call *calls;
  size_t n_calls, capacity;
};

struct fold_world {
  enum fold_engine engine;
  bool started;
  fold_status status; /* once it is not OK, every question gets it for an answer */
  double limit;       /* seconds for an answer */
  unsigned ranks;
  struct fold_rank *rank;
  struct pollfd *polled;
  pid_t launcher; /* 0: none */
  int output;     /* what the launcher and the ranks print, -1: none */
};

double fold_world_now(void); /* seconds, monotonic */

/* Starts the launcher and waits until each rank has said who it is. */
fold_status fold_world_start(struct fold_world *world);
/* Ends the ranks, asked to where they are well, killed where not, and frees all but the status. No process is left. */
void fold_world_end(struct fold_world *world, bool well);

#endif
