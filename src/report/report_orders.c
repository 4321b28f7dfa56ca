/* report_orders.c: the orders' trees for a few terms, as SVG, from each order's own drawing (oracles/draw.c).
 *
 * A leaf stands at its index, a join above the middle of its two operands, as high as its subtree: crossing lines show
 * terms that meet out of sequence, and the height is the number of roundings that the bound counts.
 */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "report_section.h"

enum { TERMS = 32, NODES = 2 * TERMS, WIDTH = 560, HEIGHT = 260, MARGIN = 14 };

struct tree {
  struct node {
    double x;
    int height, left, right; /* left < 0: a leaf */
  } nodes[NODES];
  int n;
  const char *at;
};

/* Reads "(a+b)" or "x7" at t->at; -1 when it is neither. */
static int read_node(struct tree *t) {
  struct node node = {.left = -1, .right = -1};
  if (*t->at == 'x') {
    char *end;
    node.x = (double)strtoul(t->at + 1, &end, 10);
    t->at = end;
  } else if (*t->at == '(') {
    t->at++;
    node.left = read_node(t);
    if (node.left < 0 || *t->at++ != '+') return -1;
    node.right = read_node(t);
    if (node.right < 0 || *t->at++ != ')') return -1;
    const struct node *a = &t->nodes[node.left], *b = &t->nodes[node.right];
    node.x = (a->x + b->x) / 2;
    node.height = 1 + (a->height > b->height ? a->height : b->height);
  } else {
    return -1;
  }
  if (t->n == NODES) return -1;
  t->nodes[t->n] = node;
  return t->n++;
}

/* Only the sorted order reads the terms: they rise in magnitude by another sequence than their index (11 is odd, so
 * that each of the 32 comes once). */
static void fill_terms(double terms[TERMS]) {
  for (int i = 0; i < TERMS; i++) terms[i] = 1 + (i * 11 + 5) % TERMS;
}

static fold_status read_order(const struct fold_order *order, const double *terms, struct tree *tree) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for a drawing");
  fold_status status = fold_order_draw(order, FOLD_F64, terms, TERMS, 't', out);
  if (fclose(out) != 0 && status.code == FOLD_OK)
    status = fold_error(FOLD_NO_MEMORY, "not enough memory for a drawing");
  *tree = (struct tree){.at = text ? text : ""};
  if (status.code == FOLD_OK && read_node(tree) < 0)
    status = fold_error(FOLD_ENVIRONMENT, "the drawing of %s is no tree", order->name);
  free(text);
  return status;
}

static double place_x(double x) { return MARGIN + x * (WIDTH - 2 * MARGIN) / (TERMS - 1); }
static double place_y(int height, int most) { return HEIGHT - 26 - (double)height * (HEIGHT - 40) / (most ? most : 1); }

static void draw_tree(const struct tree *t, const char *name, FILE *out) {
  int most = t->nodes[t->n - 1].height;
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Tree of %s, %d terms, height %d\">\n<path d=\"",
          WIDTH, HEIGHT, name, TERMS, most);
  for (int i = 0; i < t->n; i++) {
    const struct node *p = &t->nodes[i];
    for (int side = 0; side < 2 && p->left >= 0; side++) {
      const struct node *c = &t->nodes[side ? p->right : p->left];
      fprintf(out, "M%.1f %.1fL%.1f %.1f", place_x(c->x), place_y(c->height, most), place_x(p->x),
              place_y(p->height, most));
    }
  }
  fputs("\" fill=\"none\" stroke=\"#0072B2\" stroke-width=\"1.1\"/>\n", out);
  for (int i = 0; i < t->n; i++) {
    const struct node *p = &t->nodes[i];
    double x = place_x(p->x), y = place_y(p->height, most);
    if (p->left < 0)
      fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" fill=\"#444\"/>", x - 3.5, y - 3.5);
    else
      fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>", x, y, i == t->n - 1 ? "5" : "3",
              i == t->n - 1 ? "#D55E00" : "#0072B2");
  }
  for (int i = 0; i < TERMS; i += i == 0 ? 7 : 8)
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" font-size=\"13\" text-anchor=\"middle\" fill=\"#333\">x%d</text>",
            place_x(i), HEIGHT - 5, i);
  fputs("\n</svg>\n", out);
}

/* Orders with one tree for these terms share a drawing, which the first of them makes. */
static bool is_first(const uint64_t *prints, size_t k) {
  for (size_t i = 0; i < k; i++)
    if (prints[i] == prints[k]) return false;
  return true;
}

static void put_caption(const struct fold_order *orders, const uint64_t *prints, size_t n, size_t k, int height,
                        FILE *out) {
  fprintf(out, "<figcaption>");
  for (size_t i = k; i < n; i++) {
    if (prints[i] != prints[k]) continue;
    fprintf(out, "%s<b>", i == k ? "" : "<br>");
    fold_put_html(out, orders[i].name);
    fputs("</b>: ", out);
    fold_put_html(out, orders[i].formula);
  }
  fprintf(out, "<br>Height %d.</figcaption>", height);
}

fold_status fold_page_orders(struct fold_page *page) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  uint64_t *prints = calloc(n + 1, sizeof *prints);
  double terms[TERMS];
  if (prints == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for the drawings");
  fill_terms(terms);
  fold_status status = fold_ok();
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++)
    status = fold_order_fingerprint(&orders[i], FOLD_F64, terms, TERMS, &prints[i]);
  fprintf(
      page->out,
      "<section id=\"orders\"><h2>Orders</h2>\n<p>Which additions meet, for %d terms, as this foldproof defines the "
      "orders: squares are terms, dots additions, the large dot the result. Orders that make the same tree of so few "
      "terms share a drawing.</p>\n<div class=\"figures\">\n",
      TERMS);
  for (size_t k = 0; k < n && status.code == FOLD_OK; k++) {
    struct tree tree;
    if (!is_first(prints, k)) continue;
    status = read_order(&orders[k], terms, &tree);
    if (status.code != FOLD_OK) break;
    fputs("<figure>", page->out);
    draw_tree(&tree, orders[k].name, page->out);
    put_caption(orders, prints, n, k, tree.nodes[tree.n - 1].height, page->out);
    fputs("</figure>\n", page->out);
  }
  fputs("</div></section>\n", page->out);
  free(prints);
  return status;
}
