/* canonical.h: the canonical order, in words and in numbers; host and device include it.
 *
 * The order is a function of n only: not of dtype, grid, block, alignment, GPU, ranks or the rows around it.
 *
 *   tile   elements [4096 t, 4096 (t + 1)) of the row, seen as 16 lines of 256 places
 *   chain  place p of a tile: its elements p, 256 + p, 512 + p, ... are joined in rising line, starting with the first
 *   tree   the 256 chains of a tile by a tree over neighbours: for stride 1, 2, 4 ... 128, place p takes place p + stride
 *          for every p that is a multiple of 2 stride
 *   root   the tiles by the same tree over neighbours: stride 1, 2, 4 ... until one is left
 *
 * Elements past n do not exist: a chain ends early, and a partial without a partner moves up unchanged. An implementation may
 * give the missing ones the operation's true identity instead (-0 for a sum, 1, -infinity, +infinity): the bits are the
 * same. The empty row gives the operation's result of nothing (+0, 1, -infinity, +infinity).
 *
 * Height: at most 15 + 8 + ceil(log2(tiles)). An aligned block of 4096 * 2^k elements is a subtree, so that shards cut there join by the same tree.
 * Why this shape: a warp reads a line of any dtype in full-width accesses (512 B of f16, 1 KiB of f32, 2 KiB of f64), a thread adds its 16
 * lines without talking to anybody, and the tree's shuffles are paid once for 4096 elements.
 */
#ifndef FOLD_CANONICAL_H
#define FOLD_CANONICAL_H

#define FOLD_CANONICAL_PLACES 256
#define FOLD_CANONICAL_LINES 16
#define FOLD_CANONICAL_TILE (FOLD_CANONICAL_PLACES * FOLD_CANONICAL_LINES)

#endif
