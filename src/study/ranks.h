/* study/ranks.h: all-reduce over more ranks than any machine here has: a SIMULATION on one host, from the orders alone.
 *
 * Promised: the bits, heights and errors that each order of joining ranks gives, by the same additions that a cluster
 * of that order would make; partial sums travel in dtype, rounded to it at each join. Not promised: that a library
 * takes such an order, or any time: nothing is sent anywhere.
 *
 * R ranks contribute one number each to an element; x_r is rank r's.
 *   ring               the message is cut into R chunks; chunk c starts at rank c + 1 and goes around to end at rank c:
 *                      ((x_(c+1) + x_(c+2)) + ...) + x_c, R - 1 additions one after the other
 *   binary tree        rank r has the children 2 r + 1 and 2 r + 2: partial r = (x_r + partial of 2 r + 1) + partial of
 *                      2 r + 2; two additions a level
 *   recursive doubling with P the greatest power of two in R: the first 2 (R - P) ranks add in pairs, then P partners
 *                      at distance 1, 2, 4 ... exchange and add
 *   canonical          ours: the tree over neighbouring ranks, stride 1, 2, 4 ...; a rank without a partner moves up
 *                      unchanged (oracles/canonical.h)
 */
#ifndef FOLD_STUDY_RANKS_H
#define FOLD_STUDY_RANKS_H

#include <stdio.h>

#include "base/fold.h"
#include "fixtures/generator.h"
#include "oracles/order.h"

enum fold_ranks_algorithm {
  FOLD_RANKS_RING,
  FOLD_RANKS_BINARY,
  FOLD_RANKS_DOUBLING,
  FOLD_RANKS_CANONICAL,
  FOLD_RANKS_ALGORITHMS
};
#define FOLD_RANKS_MOST ((size_t)1 << 16)

const char *fold_ranks_name(enum fold_ranks_algorithm algorithm);

/* The sum of x[0 .. ranks), an array of patterns of dtype, ranks >= 1; *sum is a pattern too. */
fold_status fold_ranks_sum(enum fold_ranks_algorithm algorithm, enum fold_dtype dtype, const void *x, size_t ranks,
                           size_t chunk, uint64_t *sum);
/* The largest number of roundings that one contribution passes through. */
fold_status fold_ranks_height(enum fold_ranks_algorithm algorithm, size_t ranks, uint64_t *height);

/* What is simulated: a message of `elements`, each the sum of one generated number from each rank (row: the element,
 * column: the rank). Of a ring at most `chunks` chunks are looked at, spread evenly over its `ranks` chunks. */
struct fold_ranks_case {
  const struct fold_generator *generator;
  enum fold_dtype dtype;
  size_t ranks, elements, chunks;
  uint64_t seed;
};

/* Errors over all elements (and the chunks of a ring), against the exact sum, rounded up. */
struct fold_ranks_result {
  enum fold_ranks_algorithm algorithm;
  struct fold_ranks_case c;
  uint64_t height;
  double worst_ulps, median_ulps;
  double worst_relative; /* error over sum |x| */
  double bound_relative; /* the bound over sum |x|: gamma_h, or (R - 1) u where h u >= 1/2 */
  double worst_fraction; /* the largest error over bound: at most 1 by theorem */
  size_t chunks;         /* how many chunks were looked at */
  size_t varied;         /* elements whose bits depend on the chunk */
  size_t not_finite;     /* results that overflowed; they are not counted among the errors */
};
/* Fills result[FOLD_RANKS_ALGORITHMS]. */
fold_status fold_ranks_simulate(const struct fold_ranks_case *c, struct fold_ranks_result *result);

/* One vector with `parts` contributions to each element, shared by R = ceil(parts / 2^k) ranks for k = 0, 1, 2 ...:
 * each rank adds its aligned block by the canonical tree, then the ranks are joined. Only the joining differs. */
struct fold_ranks_worlds {
  enum fold_ranks_algorithm algorithm;
  struct fold_ranks_case c; /* c.ranks is the number of parts */
  size_t worlds;            /* how many world sizes there are from 1 to parts */
  size_t changed;           /* elements whose bits are not the same for all world sizes */
  uint64_t most_distinct;   /* the largest number of different results of one element */
};
/* Fills worlds[FOLD_RANKS_ALGORITHMS]; in a ring, an element belongs to chunk element % R. */
fold_status fold_ranks_worlds(const struct fold_ranks_case *c, struct fold_ranks_worlds *worlds);

#endif
