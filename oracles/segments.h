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
 * Shards: if k is cut into 2^r equal shards of more than FOLD_SEGMENT / 2 terms, and the length of the segments divides a shard, then each
 * shard has this order's bits by itself, and the shards join by the tree over neighbours to the bits of the whole.
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
