/* tree_kernels.c: which kernel of a library adds by a tree: CUB's sums and cuBLAS's dot product.
 *
 * A kernel's order is a rule with parameters, written here over fingerprints: 0 is no term yet, and joins with nothing. CUB's rule is that
 * of its source (CCCL 3.0.1: agent_reduce.cuh, thread_reduce.cuh, block_reduce_warp_reductions.cuh, dispatch_reduce.cuh). cuBLAS's has no
 * source; it was found from trees that were revealed. A name is given only to a tree that has the rule's fingerprint, so no rule can
 * name a tree that is another.
 */
#include <stdlib.h>
#include <string.h>

#include "fingerprint.h"
#include "tree.h"

/* Joins the prints pairwise: neighbours, then their sums, and so on. */
static uint64_t join_pairwise(uint64_t *print, size_t n) {
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step) print[i] = fold_fingerprint_join(print[i], print[i + step]);
  return print[0];
}

static uint64_t join_in_turn(const uint64_t *print, size_t n, size_t stride) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i += stride) sum = fold_fingerprint_join(sum, print[i]);
  return sum;
}

/* Joins the upper half to the lower half, and so on, as lanes do that shuffle down. n is a power of two. */
static uint64_t join_halves(uint64_t *print, size_t n) {
  for (size_t half = n / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++) print[i] = fold_fingerprint_join(print[i], print[i + half]);
  return print[0];
}

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
  return t->in_turn ? join_in_turn(item, n, 1) : join_pairwise(item, n);
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
    sum = fold_fingerprint_join(sum, join_pairwise(lane, lanes));
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

/* cuBLAS's dot product: 128 threads add a segment of as many terms each, neighbours first, and then halves to halves. Segment k is added
 * to slot k modulo 32. Every fourth slot's sums are added in turn, and so are those four sums. */
static uint64_t dot_of(unsigned load, const uint64_t *term, size_t n) {
  enum { THREADS = 128, SLOTS = 32, GROUPS = 4 };
  uint64_t slot[SLOTS] = {0}, sum = 0;
  for (size_t at = 0, k = 0; at < n; at += (size_t)load * THREADS, k++) {
    uint64_t thread[THREADS] = {0};
    for (size_t i = 0; i < (size_t)load * THREADS && at + i < n; i++)
      thread[i / load] = fold_fingerprint_join(thread[i / load], term[at + i]);
    slot[k % SLOTS] = fold_fingerprint_join(slot[k % SLOTS], join_halves(thread, THREADS));
  }
  for (size_t g = 0; g < GROUPS; g++) sum = fold_fingerprint_join(sum, join_in_turn(slot + g, SLOTS - g, GROUPS));
  return sum;
}

/* What is searched: `first` are the prints of the first term's lowest nodes. */
struct search {
  uint64_t *term, *tiles, print, first[MOST_ITEMS]; /* term: the first n are the terms' prints */
  size_t n, firsts;
  char *name;
};

/* A thread's items of its first tile are a node, whatever comes after them. This refutes most tilings at once. */
static bool may_be(const struct search *s, const struct tiling *t) {
  if (tile_of(t) > s->n || t->items % t->load != 0) return false;
  const uint64_t items = add_items(t, s->term, 0, 0);
  for (size_t k = 0; k < s->firsts; k++)
    if (s->first[k] == items) return true;
  return false;
}

/* Blocks that have no full tile add their terms as if a thread had one item of a tile. */
static void try_partial(struct search *s, unsigned threads) {
  const struct tiling t = {threads, 1, 1, true};
  if (block_of(&t, s->term, s->n) != s->print) return;
  if (s->n <= threads)
    snprintf(s->name, 120, "CUB's block of one term a thread");
  else
    snprintf(s->name, 120, "CUB's block of %u threads", threads);
}

static void try_tiling(struct search *s, const struct tiling *t, bool grid) {
  if (!may_be(s, t)) return;
  if ((grid ? grid_of(t, s->term, s->n, s->tiles) : block_of(t, s->term, s->n)) != s->print) return;
  snprintf(s->name, 120, "CUB's tiles of %u threads x %u items (loads of %u, added %s), %s", t->threads, t->items,
           t->load, t->in_turn ? "in turn" : "pairwise", grid ? "a block each" : "in one block");
}

/* Of tilings with equal trees the one with the fewest items: if one block adds all tiles in turn, they may be cut at each load. */
static void try_threads(struct search *s, unsigned threads, bool grid) {
  for (unsigned items = 2; items <= MOST_ITEMS && !s->name[0]; items++)
    for (unsigned load = 1; load <= 4 && !s->name[0]; load *= 2)
      for (int in_turn = 0; in_turn < 2 && !s->name[0]; in_turn++)
        try_tiling(s, &(struct tiling){threads, items, load, in_turn}, grid);
}

static void try_sums(struct search *s) {
  for (unsigned threads = 2 * LANES; threads <= MOST_THREADS && !s->name[0]; threads += LANES) try_partial(s, threads);
  for (int grid = 1; grid >= 0; grid--)
    for (unsigned threads = 2 * LANES; threads <= MOST_THREADS && !s->name[0]; threads += LANES)
      try_threads(s, threads, grid);
}

static void try_dots(struct search *s) {
  for (unsigned load = 1; load <= 4 && !s->name[0]; load *= 2)
    if (dot_of(load, s->term, s->n) == s->print)
      snprintf(s->name, 120, "cuBLAS's dot of 128 threads x %u rounded product%s", load, load > 1 ? "s" : "");
}

static bool any_fused(const struct fold_tree *tree) { return tree->fused && memchr(tree->fused, 1, tree->n) != NULL; }

/* A node's operands are sorted by their lowest terms, and nodes come after their operands. */
static void find_first(struct search *s, const struct fold_tree *tree, const uint64_t *print) {
  uint32_t node = 0;
  for (size_t j = 0; j < tree->joins && s->firsts < MOST_ITEMS; j++)
    if (tree->child[tree->first[j]] == node) {
      node = (uint32_t)(tree->n + j);
      s->first[s->firsts++] = print[node];
    }
}

fold_status fold_tree_kernel_name(const struct fold_tree *tree, bool products, char name[120]) {
  struct search s = {.n = tree->n, .name = name};
  name[0] = '\0';
  if (any_fused(tree)) return fold_ok();
  s.term = fold_tree_prints(tree);
  s.tiles = malloc(s.n * sizeof *s.tiles);
  const bool room = s.term && s.tiles;
  if (room) {
    s.print = s.term[fold_tree_nodes(tree) - 1];
    find_first(&s, tree, s.term);
    if (products)
      try_dots(&s);
    else
      try_sums(&s);
  }
  free(s.term);
  free(s.tiles);
  return room ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory to name a tree of %zu terms", s.n);
}
