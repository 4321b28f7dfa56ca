/* segments.h: the order of products, in words and in numbers; host and device include it.
 *
 * The order is a function of k only: not of dtype, grid, tile, layout, alignment, GPU, or the rows, columns and batches around it.
 *
 *   segments  a power of two of them, as few as have FOLD_SEGMENT terms or fewer, and at most FOLD_SEGMENTS; their length is rounded up
 *             to a multiple of FOLD_SEGMENT_STEP where there are several, so that the last ones may have fewer terms, or none
 *   chain     the products of a segment by FMA from zero, in rising index
 *   root      the segments by a tree over neighbours: for stride 1, 2, 4 ... segment s takes s + stride for every s that is a
 *             multiple of 2 stride; one without terms does not exist, and a partial without a partner moves up unchanged
 *
 * Shards: 2^r shards of k, each folded in this order, join by the tree over neighbours to the bits of the whole if there are 2^r segments
 * or more, k is at most 2^21, and each shard has as many whole segments (fold_shard_length): it is then a subtree. The last shards are filled
 * up with terms of zero, which change nothing but the sign of a zero that underflow has made. Where k is a multiple of FOLD_SEGMENT_STEP times
 * the number of segments, shards are equal, and nothing is filled up: so for 4,096, 11,008 or 14,336 terms and 2, 4 or 8 shards. Fewer segments
 * than shards cannot join so: half a chain is no subtree. Shards hand on partials in the accumulator's dtype.
 * Height: at most FOLD_SEGMENT - 1 + log2(segments) up to 2^21 terms.
 * Why this shape: a chain is what a thread does anyway; four segments or more are enough for a few rows to fill a GPU; joining them costs
 * a thread one addition for each 257 to 512 terms.
 */
#ifndef FOLD_SEGMENTS_H
#define FOLD_SEGMENTS_H

#include <stddef.h>

#define FOLD_SEGMENT 512
#define FOLD_SEGMENTS 4096
#define FOLD_SEGMENT_STEP 8

/* How many segments k terms have, and the length of each; the last ones may be shorter, or empty. */
static inline size_t fold_segments_of(size_t k, size_t *length) {
  size_t n = 1;
  while (n < FOLD_SEGMENTS && k > n * FOLD_SEGMENT) n *= 2;
  *length = n == 1 ? k : ((k + n - 1) / n + FOLD_SEGMENT_STEP - 1) / FOLD_SEGMENT_STEP * FOLD_SEGMENT_STEP;
  return n;
}

/* The terms of each of `shards`, a power of two, that join to the bits of the whole: shard r has those from r times this on, filled up with
 * zeros. 0 if there are no such shards. */
static inline size_t fold_shard_length(size_t k, size_t shards) {
  size_t length;
  const size_t n = fold_segments_of(k, &length);
  return shards <= n && k <= (size_t)FOLD_SEGMENT * FOLD_SEGMENTS ? n / shards * length : 0;
}

#endif
