/* tree_kernels.c: which kernel of a library adds by a tree. */
#include <stdlib.h>
#include <string.h>

#include "reveal/kernels.h"

uint64_t fold_join_pairwise(uint64_t *print, size_t n) {
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step) print[i] = fold_fingerprint_join(print[i], print[i + step]);
  return print[0];
}

uint64_t fold_join_in_turn(const uint64_t *print, size_t n, size_t stride) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i += stride) sum = fold_fingerprint_join(sum, print[i]);
  return sum;
}

uint64_t fold_join_halves(uint64_t *print, size_t n) {
  for (size_t half = n / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++) print[i] = fold_fingerprint_join(print[i], print[i + half]);
  return print[0];
}

/* If rules have equal trees, the first names it. */
static const struct {
  void (*try)(struct fold_kernel_search *s);
  bool products;
} rules[] = {{fold_try_cub, false}, {fold_try_cublas, true}, {fold_try_torch_cpu, false}, {fold_try_torch_gpu, false}};

static void try_rules(struct fold_kernel_search *s, bool products) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules && !s->name[0]; i++)
    if (rules[i].products == products) rules[i].try(s);
}

static bool any_fused(const struct fold_tree *tree) { return tree->fused && memchr(tree->fused, 1, tree->n) != NULL; }

/* A node's operands are sorted by their lowest terms, and nodes come after their operands. */
static void find_first(struct fold_kernel_search *s, const struct fold_tree *tree, const uint64_t *print) {
  uint32_t node = 0;
  for (size_t j = 0; j < tree->joins && s->firsts < FOLD_KERNEL_FIRSTS; j++)
    if (tree->child[tree->first[j]] == node) {
      node = (uint32_t)(tree->n + j);
      s->first[s->firsts++] = print[node];
    }
}

fold_status fold_tree_kernel_name(const struct fold_tree *tree, bool products, char name[120]) {
  name[0] = '\0';
  if (any_fused(tree)) return fold_ok();
  uint64_t *print = fold_tree_prints(tree), *spare = malloc(tree->n * sizeof *spare);
  const bool room = print && spare;
  if (room) {
    struct fold_kernel_search s = {
        .term = print, .spare = spare, .n = tree->n, .print = print[fold_tree_nodes(tree) - 1], .name = name};
    find_first(&s, tree, print);
    try_rules(&s, products);
  }
  free(print);
  free(spare);
  return room ? fold_ok() : fold_no_memory("to name a tree of %zu terms", tree->n);
}
