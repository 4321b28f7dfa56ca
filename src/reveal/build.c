/* build.c: builds a tree from answers.
 *
 * A set of terms known to be a subtree (or several with one parent) is looked at from one of its terms, i: the answers for all others
 * group them by the node at which they meet i. Going up from i, each group hangs under the next node: as one subtree where the node's
 * size is what was below it and the group. It is more than one subtree where
 *   the group's own terms meet at that node too: the node absorbs what its other operands hold, because the largest decides what is kept; or
 *   the answer is smaller than that: the node adds its operands exactly, so that M and -M cancel in it and the units of its other
 *   operands stay. Its answer is the size of i's own operand plus that of the other mask's.
 * The groups are the next round's sets. All sets of a round are asked at once; i is any of a set's terms, so that chains in either direction
 * take some log n rounds and not n.
 */
#include <stdlib.h>
#include <string.h>

#include "oracles/fingerprint.h"
#include "reveal/reveal.h"

/* Terms that are to become operands of `parent`: one subtree, or several whose terms meet those of the others with the
 * answer `meet` (0: one). If `size` is not 0, each of several subtrees has that many terms. */
struct set {
  size_t first, n; /* in the terms' array */
  uint32_t parent, size, meet;
};

struct build {
  const struct fold_asker *asker;
  uint32_t *parent; /* of nodes */
  size_t nodes;
  uint32_t *term, *next_term; /* the terms of this round's sets, and of the next round's */
  struct set *set, *next;
  size_t sets, nexts, next_terms;
  struct fold_pair *pair;
  char *why;
};

static void fail(struct build *b, const char *text, uint32_t i, uint32_t j) {
  if (b->why[0] == '\0') snprintf(b->why, 200, "%s (terms %u and %u)", text, i, j);
}

/* Puts the pivot first. A hash chooses it, so that it is the same in each run. */
static void choose_pivot(struct build *b, const struct set *s) {
  uint32_t *term = b->term + s->first;
  const size_t k = (size_t)(fold_fingerprint_mix(term[0] + (uint64_t)s->n * 0x9e3779b97f4a7c15u) % s->n);
  const uint32_t pivot = term[k];
  term[k] = term[0];
  term[0] = pivot;
}

static int by_size(const void *a, const void *b) {
  const struct fold_pair *x = a, *y = b;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  return (x->j > y->j) - (x->j < y->j);
}

static void add_set(struct build *b, const struct fold_pair *pairs, size_t n, uint32_t parent, uint32_t size,
                    uint32_t meet) {
  if (n == 0) return;
  b->next[b->nexts++] = (struct set){b->next_terms, n, parent, size, meet};
  for (size_t k = 0; k < n; k++) b->next_term[b->next_terms++] = pairs[k].j;
}

static uint32_t new_node(struct build *b, uint32_t below) {
  const uint32_t node = (uint32_t)b->nodes++;
  b->parent[node] = FOLD_TREE_NONE;
  b->parent[below] = node;
  return node;
}

/* Makes a group's terms operands of `node`: single terms, if each operand has size 1. */
static void hang(struct build *b, const struct fold_pair *group, size_t n, uint32_t node, uint32_t size,
                 uint32_t meet) {
  if (n == 1 || size == 1) {
    for (size_t k = 0; k < n; k++) b->parent[group[k].j] = node;
    return;
  }
  add_set(b, group, n, node, size, meet);
}

/* How far up from a pivot the path has come. */
struct path {
  uint32_t pivot, node; /* node: the highest one so far */
  size_t below, own;    /* how many terms are below it, and below the operand by which it was reached */
};

/* Whether pairs[k] is one more operand of the node that was reached last, because that node adds its operands exactly. If so, M and -M
 * cancel within the node, and the units of its other operands are not lost. */
static fold_status is_same_node(struct build *b, const struct path *p, const struct fold_pair *pairs, size_t k,
                                bool *same) {
  size_t kept;
  *same = false;
  if (p->node == p->pivot) return fold_ok();
  FOLD_TRY(b->asker->ask_among(b->asker->context, p->pivot, pairs[k].j, pairs + (p->own - 1), k - (p->own - 1), &kept));
  *same = kept == k - (p->own - 1);
  return fold_ok();
}

/* Handles the group pairs[k] to pairs[end], whose node adds its operands exactly. */
static fold_status climb_exact(struct build *b, struct path *p, const struct fold_pair *pairs, size_t k, size_t end) {
  const size_t size = pairs[k].size;
  bool same;
  FOLD_TRY(is_same_node(b, p, pairs, k, &same));
  if (!same) p->own = p->below, p->node = new_node(b, p->node);
  if (size <= p->own || (end - k) % (size - p->own) != 0)
    fail(b, "the answers contradict one another", p->pivot, pairs[k].j);
  else
    hang(b, pairs + k, end - k, p->node, (uint32_t)(size - p->own), (uint32_t)(2 * (size - p->own)));
  return fold_ok();
}

/* Goes up from the pivot to the top node of the set, through groups of equal answers. */
static fold_status climb(struct build *b, struct path *p, const struct fold_pair *pairs, size_t n) {
  for (size_t k = 0, end; k < n && !b->why[0]; k = end) {
    const size_t size = pairs[k].size;
    for (end = k; end < n && pairs[end].size == size; end++) continue;
    if (size == FOLD_NOT_A_COUNT) {
      fail(b, "a sum is not a number of units", p->pivot, pairs[k].j);
    } else if (size > p->below + end - k) {
      fail(b, "the answers contradict one another", p->pivot, pairs[k].j);
    } else if (size == p->below + end - k) {
      p->own = p->below;
      p->node = new_node(b, p->node);
      hang(b, pairs + k, end - k, p->node, 0, (uint32_t)size);
    } else {
      FOLD_TRY(climb_exact(b, p, pairs, k, end));
    }
    p->below += end - k;
  }
  return fold_ok();
}

/* Handles a set. Terms that meet the pivot only in the parent belong to another operand. */
static fold_status take_set(struct build *b, const struct set *s, struct fold_pair *pairs) {
  const uint32_t pivot = b->term[s->first];
  size_t n = s->n - 1, rest = 0;
  qsort(pairs, n, sizeof *pairs, by_size);
  for (size_t k = n; s->meet && k-- > 0;)
    if (pairs[k].size == s->meet) rest++;
  if (rest > 0 && pairs[n - 1].size != s->meet) fail(b, "the answers contradict one another", pivot, pairs[n - 1].j);
  n -= rest;
  if (s->size && n + 1 != s->size) fail(b, "the answers contradict one another", pivot, pivot);
  struct path path = {pivot, pivot, 1, 1};
  FOLD_TRY(climb(b, &path, pairs, n));
  if (b->why[0]) return fold_ok();
  b->parent[path.node] = s->parent;
  if (rest == 1)
    b->parent[pairs[n].j] = s->parent;
  else
    add_set(b, pairs + n, rest, s->parent, s->size, s->meet);
  return fold_ok();
}

static fold_status run_round(struct build *b) {
  size_t n = 0;
  for (size_t k = 0; k < b->sets; k++) {
    choose_pivot(b, &b->set[k]);
    const uint32_t *term = b->term + b->set[k].first;
    for (size_t i = 1; i < b->set[k].n; i++) b->pair[n++] = (struct fold_pair){term[0], term[i], 0};
  }
  FOLD_TRY(b->asker->ask(b->asker->context, b->pair, n));
  b->nexts = b->next_terms = n = 0;
  for (size_t k = 0; k < b->sets && !b->why[0]; k++) {
    FOLD_TRY(take_set(b, &b->set[k], b->pair + n));
    n += b->set[k].n - 1;
  }
  struct set *set = b->set;
  uint32_t *term = b->term;
  b->set = b->next, b->next = set, b->sets = b->nexts;
  b->term = b->next_term, b->next_term = term;
  return fold_ok();
}

static fold_status open_build(struct build *b, size_t n) {
  b->parent = malloc(2 * n * sizeof *b->parent);
  b->term = malloc(n * sizeof *b->term);
  b->next_term = malloc(n * sizeof *b->next_term);
  b->set = malloc(n * sizeof *b->set);
  b->next = malloc(n * sizeof *b->next);
  b->pair = malloc(n * sizeof *b->pair);
  if (!b->parent || !b->term || !b->next_term || !b->set || !b->next || !b->pair)
    return fold_no_memory("to reveal a tree of %zu terms", n);
  for (size_t i = 0; i < n; i++) b->parent[i] = FOLD_TREE_NONE, b->term[i] = (uint32_t)i;
  b->set[0] = (struct set){0, n, FOLD_TREE_NONE, 0, 0};
  b->sets = n > 1;
  b->nodes = n;
  return fold_ok();
}

fold_status fold_tree_build(const struct fold_asker *asker, struct fold_tree *tree, char why[200]) {
  const size_t n = asker->n;
  struct build b = {.asker = asker, .why = why};
  why[0] = '\0';
  *tree = (struct fold_tree){0};
  fold_status status = open_build(&b, n);
  while (status.code == FOLD_OK && b.sets > 0 && !why[0]) status = run_round(&b);
  if (status.code == FOLD_OK && !why[0]) status = fold_tree_of_parents(b.parent, n, b.nodes, tree);
  free(b.parent);
  free(b.term);
  free(b.next_term);
  free(b.set);
  free(b.next);
  free(b.pair);
  return status;
}
