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
 * Shards: 2^r equal shards of k, each folded in this order, join by the tree over neighbours to the bits of the whole if there are 2^r
 * segments or more, k is a multiple of FOLD_SEGMENT_STEP times their number (so that all have one length), and k is at most 2^21: each
 * shard is then a subtree. Of 4,096, 11,008 or 14,336 terms, 2, 4 or 8 shards are. Shards hand on partials in the accumulator's dtype.
 * Height: at most FOLD_SEGMENT - 1 + log2(segments) up to 2^21 terms.
 * Why this shape: a chain is what a thread does anyway; four segments or more are enough for a few rows to fill a GPU; joining them costs
 * a thread one addition for each 257 to 512 terms.
 */
#ifndef FOLD_SEGMENTS_H
#define FOLD_SEGMENTS_H

#define FOLD_SEGMENT 512
#define FOLD_SEGMENTS 4096
#define FOLD_SEGMENT_STEP 8

#endif
