/* report/orders.c: the orders' trees as SVG, each with a number of terms at which its tree differs from all others.
 *
 * A leaf is drawn at its index, a join above the middle of its operands, at the height of its subtree. So crossing lines show terms that
 * are added out of sequence, and the height is the number of roundings in the bound.
 */
#include <stdlib.h>
#include <string.h>

#include "report/section.h"
#include "reveal/tree.h"

enum { WIDTH = 560, HEIGHT = 260, MARGIN = 14, MOST_DOTS = 64 };
/* Sequential and par_64 differ from 65 terms on, pairwise and canonical from 257, pairwise and par_256 from 513. */
static const size_t sizes[] = {32, 128, 512, 1024};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_TERMS = 1024 };

struct prints {
  uint64_t at[SIZES];
};

/* Only the sorted order reads the terms. Their magnitudes rise in an order that is not that of their indices; 11 is odd and n a
 * power of two, so each value comes once. */
static void fill_terms(double *terms, size_t n) {
  for (size_t i = 0; i < n; i++) terms[i] = (double)(1 + (i * 11 + 5) % n);
}

static fold_status print_order(const struct fold_order *order, double *terms, struct prints *prints) {
  for (int i = 0; i < SIZES; i++) {
    fill_terms(terms, sizes[i]);
    FOLD_TRY(fold_order_fingerprint(order, FOLD_F64, terms, sizes[i], &prints->at[i]));
  }
  return fold_ok();
}

/* Whether two orders have the same tree at each size. Such orders share the drawing of the first one. */
static bool is_same(const struct prints *a, const struct prints *b) { return memcmp(a, b, sizeof *a) == 0; }

static bool is_first(const struct prints *prints, size_t k) {
  for (size_t i = 0; i < k; i++)
    if (is_same(&prints[i], &prints[k])) return false;
  return true;
}

/* The least size at which no other order has the same tree. */
static int choose_size(const struct prints *prints, size_t n, size_t k) {
  int size = 0;
  for (size_t i = 0; i < n; i++)
    while (size < SIZES - 1 && !is_same(&prints[i], &prints[k]) && prints[i].at[size] == prints[k].at[size]) size++;
  return size;
}

struct drawing {
  struct fold_tree tree;
  double *x;
  unsigned *height, most;
};

static fold_status measure(struct drawing *d) {
  const size_t nodes = fold_tree_nodes(&d->tree);
  d->x = calloc(nodes, sizeof *d->x);
  d->height = calloc(nodes, sizeof *d->height);
  if (d->x == NULL || d->height == NULL) return fold_no_memory("for a drawing");
  for (size_t i = 0; i < d->tree.n; i++) d->x[i] = (double)i;
  for (size_t j = 0; j < d->tree.joins; j++)
    for (uint32_t c = d->tree.first[j]; c < d->tree.first[j + 1]; c++) {
      const uint32_t child = d->tree.child[c];
      d->x[d->tree.n + j] += d->x[child] / (double)fold_tree_degree(&d->tree, j);
      if (d->height[d->tree.n + j] <= d->height[child]) d->height[d->tree.n + j] = d->height[child] + 1;
    }
  d->most = d->height[nodes - 1];
  return fold_ok();
}

static double place_x(const struct drawing *d, double x) {
  return MARGIN + x * (WIDTH - 2 * MARGIN) / (double)(d->tree.n - 1);
}
static double place_y(const struct drawing *d, unsigned height) {
  return HEIGHT - 26 - (double)height * (HEIGHT - 40) / (d->most ? d->most : 1);
}

/* With many terms only the lines are drawn, because dots would touch. */
static void put_nodes(const struct drawing *d, FILE *out) {
  const size_t nodes = fold_tree_nodes(&d->tree), first = d->tree.n > MOST_DOTS ? nodes - 1 : 0;
  for (size_t i = first; i < nodes; i++) {
    const double x = place_x(d, d->x[i]), y = place_y(d, d->height[i]);
    if (i < d->tree.n)
      fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" fill=\"#444\"/>", x - 3.5, y - 3.5);
    else
      fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>", x, y, i == nodes - 1 ? "5" : "3",
              i == nodes - 1 ? "#D55E00" : "#0072B2");
  }
  for (size_t i = 0; i < d->tree.n; i += i == 0 ? d->tree.n / 4 - 1 : d->tree.n / 4)
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" font-size=\"16\" text-anchor=\"%s\" fill=\"#333\">x%zu</text>",
            place_x(d, (double)i), HEIGHT - 5,
            i == 0               ? "start"
            : i + 1 == d->tree.n ? "end"
                                 : "middle",
            i);
}

static void put_tree(const struct drawing *d, const char *name, FILE *out) {
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Tree of %s, %zu terms, height %u\">\n<path d=\"",
          WIDTH, HEIGHT, name, d->tree.n, d->most);
  for (size_t j = 0; j < d->tree.joins; j++)
    for (uint32_t c = d->tree.first[j]; c < d->tree.first[j + 1]; c++) {
      const uint32_t child = d->tree.child[c];
      fprintf(out, "M%.1f %.1fL%.1f %.1f", place_x(d, d->x[child]), place_y(d, d->height[child]),
              place_x(d, d->x[d->tree.n + j]), place_y(d, d->height[d->tree.n + j]));
    }
  fprintf(out, "\" fill=\"none\" stroke=\"#0072B2\" stroke-width=\"%s\"/>\n", d->tree.n > MOST_DOTS ? "0.6" : "1.1");
  put_nodes(d, out);
  fputs("\n</svg>\n", out);
}

/* Describes the tree in words, because a drawing with so many lines may not show it. */
static fold_status put_words(const struct fold_tree *tree, FILE *out) {
  char *text = NULL;
  size_t size;
  FILE *memory = open_memstream(&text, &size);
  if (memory == NULL) return fold_no_memory("for a drawing");
  fold_status status = fold_tree_text(tree, memory);
  if (fclose(memory) != 0 && status.code == FOLD_OK) status = fold_no_memory("for a drawing");
  char *rest = status.code == FOLD_OK ? text : NULL;
  for (char *line; rest && (line = strsep(&rest, "\n")) && *line;) {
    fputs("<code>", out);
    fold_put_html(out, line);
    fputs("</code><br>", out);
  }
  free(text);
  return status;
}

static void put_caption(const struct fold_order *orders, const struct prints *prints, size_t n, size_t k,
                        const struct drawing *d, FILE *out) {
  for (size_t i = k; i < n; i++) {
    if (!is_same(&prints[i], &prints[k])) continue;
    fprintf(out, "%s<b>", i == k ? "" : "<br>");
    fold_put_html(out, orders[i].name);
    fputs("</b>: ", out);
    fold_put_html(out, orders[i].formula);
  }
  fprintf(out, "<br>%zu terms, height %u.</figcaption>", d->tree.n, d->most);
}

static fold_status put_order(struct fold_page *page, const struct fold_order *orders, const struct prints *prints,
                             size_t n, size_t k, double *terms) {
  const size_t size = sizes[choose_size(prints, n, k)];
  struct drawing d = {0};
  fill_terms(terms, size);
  FOLD_TRY(fold_tree_of_order(&orders[k], FOLD_F64, terms, size, &d.tree));
  fold_status status = measure(&d);
  if (status.code == FOLD_OK) {
    fputs("<figure>", page->out);
    put_tree(&d, orders[k].name, page->out);
    fputs("<figcaption>", page->out);
    status = put_words(&d.tree, page->out);
    put_caption(orders, prints, n, k, &d, page->out);
    fputs("</figure>\n", page->out);
  }
  free(d.x);
  free(d.height);
  fold_tree_free(&d.tree);
  return status;
}

fold_status fold_page_orders(struct fold_page *page) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  struct prints *prints = calloc(n + 1, sizeof *prints);
  double *terms = calloc(MOST_TERMS, sizeof *terms);
  fold_status status = prints && terms ? fold_ok() : fold_no_memory("for the drawings");
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++) status = print_order(&orders[i], terms, &prints[i]);
  if (status.code == FOLD_OK)
    fputs(
        "<details><summary>Which additions meet, as this foldproof defines the "
        "orders</summary>\n<p>Terms are at the bottom, the large dot is the result. Each tree has as many terms as "
        "distinguish it from the others; orders that make the same tree share a drawing.</p>\n<div "
        "class=\"figures\">\n",
        page->out);
  for (size_t k = 0; k < n && status.code == FOLD_OK; k++)
    if (is_first(prints, k)) status = put_order(page, orders, prints, n, k, terms);
  if (status.code == FOLD_OK) fputs("</div></details>", page->out);
  free(prints);
  free(terms);
  return status;
}
