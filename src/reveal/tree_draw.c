/* tree_draw.c: a tree as SVG: terms in a line in the tree's order, with the joins above them by
 * height. */
#include <stdlib.h>

#include "reveal/tree.h"

enum { STEP = 14, RISE = 22, EDGE = 20 };

/* Places terms from left to right as they are reached, and each join in the middle of its operands. */
static void place(const struct fold_tree *tree, double *x, uint32_t *height) {
  size_t reached = 0;
  char *seen = calloc(tree->n, 1);
  for (size_t j = 0; seen && j < tree->joins; j++)
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++)
      if (tree->child[c] < tree->n && !seen[tree->child[c]])
        x[tree->child[c]] = (double)reached++, seen[tree->child[c]] = 1;
  free(seen);
  for (size_t j = 0; j < tree->joins; j++) {
    const size_t node = tree->n + j, n = fold_tree_degree(tree, j);
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++) {
      x[node] += x[tree->child[c]] / (double)n;
      if (height[tree->child[c]] + 1 > height[node]) height[node] = height[tree->child[c]] + 1;
    }
  }
}

static void draw(const struct fold_tree *tree, const double *x, const uint32_t *height, FILE *out) {
  const double floor = EDGE + RISE * (double)height[fold_tree_nodes(tree) - 1];
  for (size_t j = 0; j < tree->joins; j++) {
    const size_t node = tree->n + j;
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++) {
      const uint32_t k = tree->child[c];
      fprintf(out, "<path d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", EDGE + STEP * x[k], floor - RISE * (double)height[k],
              floor - RISE * (double)height[node], EDGE + STEP * x[node]);
    }
  }
  for (size_t i = 0; i < tree->n; i++)
    fprintf(out, "<text fill=\"black\" stroke=\"none\" x=\"%.1f\" y=\"%.1f\">%zu</text>\n", EDGE + STEP * x[i],
            floor + 10, i);
}

fold_status fold_tree_svg(const struct fold_tree *tree, const char *title, FILE *out) {
  const size_t nodes = fold_tree_nodes(tree);
  double *x = calloc(nodes, sizeof *x);
  uint32_t *height = calloc(nodes, sizeof *height);
  if (x && height) {
    place(tree, x, height);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%u\" font-family=\"sans-serif\" "
            "font-size=\"7\" "
            "text-anchor=\"middle\">\n<title>%s</title>\n<g fill=\"none\" stroke=\"black\" stroke-width=\"0.7\">\n",
            2 * EDGE + STEP * tree->n, 2 * EDGE + RISE * height[nodes - 1], title);
    draw(tree, x, height, out);
    fprintf(out, "</g></svg>\n");
  }
  const bool drawn = x && height;
  free(x);
  free(height);
  return drawn ? fold_ok() : fold_no_memory("to draw a tree of %zu terms", tree->n);
}
