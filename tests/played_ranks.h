/* played_ranks.h: a simulated world, which needs no MPI: its ranks are arrays that do what a test tells them. */
#ifndef PLAYED_RANKS_H
#define PLAYED_RANKS_H

#include "ranks/world.h"
#include "varied.h"

enum { RANKS = 3, ROWS = 3, MOST_ROWS = 40, COLS = 8, ROOM = 64 };

struct fold_world {
  float part[RANKS][ROOM];
  size_t n[RANKS];
  int shift[RANKS];
  struct fold_wire_load load[RANKS];
  struct fold_wire_run run[RANKS];
  struct fold_traces traces[RANKS];
  float result[RANKS][MOST_ROWS];
  unsigned loads, runs, fetches; /* questions that were answered */
  int refuses;                   /* the rank that refuses its part for lack of memory; -1: none */
  unsigned asked, fails_in;      /* questions of any kind, and which one is not answered; 0: all are */
  bool adds;                     /* results are the sums of all parts, instead of what the test has set in `result` */
  unsigned lies_among;           /* in worlds of so many ranks each sum is one too large; 0: in none */
  size_t lies_in;                /* and in messages of so many elements; 0: in none */
  size_t changes_in;             /* after the first message of so many elements rank 1 changes its part */
  bool takes_no_launch;          /* of so many threads */
  unsigned liar;                 /* on this rank the last sum is one too large; 0: on none */
  struct varied_runs varied;     /* rank 0's runs of the whole case */
  struct {
    size_t rows, ranks;
    float first; /* the first element of rank 0's part */
  } message[64];
  size_t messages;
};
extern struct fold_world world;

/* A grain (subject.h). */
size_t by_twos(size_t cols);

#endif
