/* played_ranks.h: a world whose ranks are arrays, which do what they are told to: no MPI is needed. */
#ifndef PLAYED_RANKS_H
#define PLAYED_RANKS_H

#include "varied.h"
#include "world.h"

enum { RANKS = 3, ROWS = 3, MOST_ROWS = 5, COLS = 8, ROOM = 64 };

struct fold_world {
  float part[RANKS][ROOM];
  size_t n[RANKS];
  struct wire_load load[RANKS];
  struct wire_run run[RANKS];
  struct fold_traces traces[RANKS];
  float result[RANKS][MOST_ROWS];
  unsigned loads, runs, fetches; /* questions that were answered */
  int refuses;                   /* the rank that has no room for its part; -1: none */
  unsigned asked, fails_in;      /* questions of any kind, and the one that is not answered; 0: all are */
  bool adds;                     /* results are the sums of all parts, and not what `result` was told to hold */
  unsigned lies_among;           /* so many ranks add one too many to each sum; 0: no number does */
  size_t lies_in;                /* and in messages of so many elements */
  size_t changes_in;             /* after the first of these rank 1 changes its part */
  bool takes_no_launch;          /* of so many threads */
  unsigned liar;                 /* and this rank, but for rank 0, to the last one */
  struct varied_runs varied;     /* rank 0's, of the whole case */
  struct {
    size_t rows, ranks;
    float first; /* element of rank 0's part */
  } message[64];
  size_t messages;
};
extern struct fold_world world;

/* A grain (subject.h). */
size_t by_twos(size_t cols);

#endif
