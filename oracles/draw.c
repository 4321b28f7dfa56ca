/* draw.c: the tree of an order as a line of text, "((x0+x1)+x2)", operands as the order joins them.
 *
 * Starting zeros are left out; the tree of no term is "0". At most 4096 terms.
 */
#include <stdlib.h>

#include "oracles/canonical.h"
#include "oracles/split.h"

#define MOST_TERMS 4096

/* Node k < n is leaf k; node n + k is the k-th join; -1 is the starting zero. */
struct drawing {
  const char *leaf; /* the text before a leaf's index */
  const uint32_t *place;
  int n, joins;
  int (*child)[2]; /* unseen: 3 */
};

static int join(struct drawing *c, int a, int b) {
  if (a < 0) return b;
  if (b < 0) return a;
  c->child[c->joins][0] = a;
  c->child[c->joins][1] = b;
  return c->n + c->joins++;
}

#define NODE int
#define CONTEXT struct drawing
#define ZERO(c) (-1)
#define LEAF(c, i) ((int)(i))
#define JOIN(c, a, b) join(c, a, b)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_drawing
#include "oracles/orders.inc"

/* Recurses to the height of the tree: at most MOST_TERMS calls. */
static void write_text(const struct drawing *c, int node, FILE *out) {
  if (node < c->n) {
    fprintf(out, c->leaf, node, node);
    return;
  }
  const int *child = c->child[node - c->n];
  fputc('(', out);
  write_text(c, child[0], out);
  fputc('+', out);
  write_text(c, child[1], out);
  fputc(')', out);
}

static fold_status draw(const struct fold_order *order, struct drawing *c, FILE *out) {
  struct fold_split split;
  FOLD_TRY(fold_order_split(order, (size_t)c->n, &split));
  int root = fold_drawing(order, &split, c, (size_t)c->n, 1);
  if (root < 0) {
    fputs("0\n", out);
  } else {
    write_text(c, root, out);
    fputc('\n', out);
  }
  return ferror(out) ? fold_error(FOLD_BAD_INPUT, "cannot write the tree of %s", order->name) : fold_ok();
}

fold_status fold_order_draw(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                            FILE *out) {
  if (n > MOST_TERMS)
    return fold_error(FOLD_BAD_INPUT, "a tree of %zu terms is too big to draw: %d at most", n, MOST_TERMS);
  uint32_t *place;
  FOLD_TRY(fold_order_places(order, dtype, in, n, &place));
  const char *leaf = order->product == FOLD_NO_PRODUCT ? "x%d" : "x%d*y%d";
  struct drawing c = {leaf, place, (int)n, 0, calloc(n + 1, sizeof *c.child)}; /* unseen: 2 */
  fold_status status = c.child ? draw(order, &c, out) : fold_no_memory("to draw a tree of %zu terms", n);
  free(c.child);
  free(place);
  return status;
}
