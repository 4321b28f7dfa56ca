/* kernel_cub.c: CUB's sums. The rule is that of its source (CCCL 3.0.1: agent_reduce.cuh, thread_reduce.cuh,
 * block_reduce_warp_reductions.cuh, dispatch_reduce.cuh).
 */
#include "reveal/kernels.h"

enum { LANES = 32, MOST_THREADS = 1024, MOST_ITEMS = 32 };

/* How CUB's blocks cut terms into tiles: a thread loads `items` terms of a tile, `load` neighbours at once. */
struct tiling {
  unsigned threads, items, load;
  bool in_turn; /* how a thread adds its items; else pairwise */
};

static size_t tile_of(const struct tiling *t) { return (size_t)t->threads * t->items; }

/* Adds a full tile's items of a thread to what the thread has. */
static uint64_t add_items(const struct tiling *t, const uint64_t *tile, size_t thread, uint64_t sum) {
  uint64_t item[MOST_ITEMS + 1] = {sum};
  size_t n = sum != 0;
  for (size_t i = 0; i < t->items; i++) item[n++] = tile[(i / t->load * t->threads + thread) * t->load + i % t->load];
  return t->in_turn ? fold_join_in_turn(item, n, 1) : fold_join_pairwise(item, n);
}

/* A thread adds the items of full tiles, and then a last tile's terms in turn. */
static uint64_t thread_of(const struct tiling *t, const uint64_t *term, size_t n, size_t thread) {
  size_t at = 0;
  uint64_t sum = 0;
  for (; n - at >= tile_of(t); at += tile_of(t)) sum = add_items(t, term + at, thread, sum);
  for (at += thread; at < n; at += t->threads) sum = fold_fingerprint_join(sum, term[at]);
  return sum;
}

/* One block adds all terms: the lanes of each warp are joined pairwise, the warps' sums in turn. */
static uint64_t block_of(const struct tiling *t, const uint64_t *term, size_t n) {
  const size_t threads = n < t->threads ? n : t->threads;
  uint64_t sum = 0;
  for (size_t warp = 0; warp < threads; warp += LANES) {
    uint64_t lane[LANES];
    size_t lanes = 0;
    for (size_t thread = warp; thread < warp + LANES && thread < threads; thread++)
      lane[lanes++] = thread_of(t, term, n, thread);
    sum = fold_fingerprint_join(sum, fold_join_pairwise(lane, lanes));
  }
  return sum;
}

/* A block adds each tile; one more block adds their sums, which are written to `tiles`. */
static uint64_t grid_of(const struct tiling *t, const uint64_t *term, size_t n, uint64_t *tiles) {
  size_t used = 0;
  for (size_t at = 0; at < n; at += tile_of(t)) {
    const size_t left = n - at;
    tiles[used++] = block_of(t, term + at, left < tile_of(t) ? left : tile_of(t));
  }
  return block_of(t, tiles, used);
}

/* A thread's items of its first tile are a node, whatever comes after them. This refutes most tilings at once. */
static bool may_be(const struct fold_kernel_search *s, const struct tiling *t) {
  if (tile_of(t) > s->n || t->items % t->load != 0) return false;
  const uint64_t items = add_items(t, s->term, 0, 0);
  for (size_t k = 0; k < s->firsts; k++)
    if (s->first[k] == items) return true;
  return false;
}

/* Blocks that have no full tile add their terms as if a thread had one item of a tile. */
static void try_partial(struct fold_kernel_search *s, unsigned threads) {
  const struct tiling t = {threads, 1, 1, true};
  if (block_of(&t, s->term, s->n) != s->print) return;
  if (s->n <= threads)
    snprintf(s->name, 120, "CUB's block of one term a thread");
  else
    snprintf(s->name, 120, "CUB's block of %u threads", threads);
}

static void try_tiling(struct fold_kernel_search *s, const struct tiling *t, bool grid) {
  if (!may_be(s, t)) return;
  if ((grid ? grid_of(t, s->term, s->n, s->spare) : block_of(t, s->term, s->n)) != s->print) return;
  snprintf(s->name, 120, "CUB's tiles of %u threads x %u items (loads of %u, added %s), %s", t->threads, t->items,
           t->load, t->in_turn ? "sequentially" : "pairwise", grid ? "a block each" : "in one block");
}

/* Of tilings with equal trees the one with the fewest items: if one block adds all tiles in turn, they may be cut at each load. */
static void try_threads(struct fold_kernel_search *s, unsigned threads, bool grid) {
  for (unsigned items = 2; items <= MOST_ITEMS && !s->name[0]; items++)
    for (unsigned load = 1; load <= 4 && !s->name[0]; load *= 2)
      for (int in_turn = 0; in_turn < 2 && !s->name[0]; in_turn++)
        try_tiling(s, &(struct tiling){threads, items, load, in_turn}, grid);
}

void fold_try_cub(struct fold_kernel_search *s) {
  for (unsigned threads = 2 * LANES; threads <= MOST_THREADS && !s->name[0]; threads += LANES) try_partial(s, threads);
  for (int grid = 1; grid >= 0; grid--)
    for (unsigned threads = 2 * LANES; threads <= MOST_THREADS && !s->name[0]; threads += LANES)
      try_threads(s, threads, grid);
}
