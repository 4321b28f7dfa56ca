/* mixed.c: trees whose joins are not all rounded to one dtype.
 *
 * A join's operands hold 1 and a small e, the other operand of its parent -1, and all other terms are zero. The sum is e if the join keeps
 * 1 + e, and 0 if it rounds that to 1. The root has no parent: the result is 1 or not. There is an e for each dtype wider than
 * the narrowest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "reveal/reveal.h"

enum { WIDTHS = 4 };

/* The dtypes that joins may be rounded to, narrowest first. */
struct widths {
  enum fold_dtype dtype[WIDTHS];
  size_t n;
};

static int precision_of(enum fold_dtype dtype) { return fold_format_of(dtype).precision; }

static struct widths widths_of(const struct fold_summer *s) {
  const enum fold_dtype all[WIDTHS] = {s->dtype, s->accumulator, FOLD_F32, FOLD_F64};
  struct widths w = {0};
  for (size_t k = 0; k < WIDTHS; k++) {
    size_t at = w.n;
    bool known = !fold_format_holds(fold_format_of(all[k]), fold_format_of(s->dtype));
    for (size_t i = 0; i < w.n; i++) known |= w.dtype[i] == all[k];
    for (; !known && at > 0 && precision_of(w.dtype[at - 1]) > precision_of(all[k]); at--)
      w.dtype[at] = w.dtype[at - 1];
    if (!known) w.dtype[at] = all[k], w.n++;
  }
  return w;
}

/* For each join a term of each of its operands, and one of its parent's other operand. */
struct trio {
  uint32_t one, small, other;
};

static struct trio *trios(const struct fold_tree *tree) {
  uint32_t *term = malloc(fold_tree_nodes(tree) * sizeof *term);
  struct trio *of = malloc((tree->joins + 1) * sizeof *of);
  for (size_t k = 0; term && of && k < tree->n; k++) term[k] = (uint32_t)k;
  for (size_t j = 0; term && of && j < tree->joins; j++) {
    const uint32_t *child = tree->child + tree->first[j];
    term[tree->n + j] = term[child[0]];
    of[j] = (struct trio){term[child[0]], term[child[1]], FOLD_TREE_NONE};
    for (int c = 0; c < 2; c++)
      if (child[c] >= tree->n) of[child[c] - tree->n].other = term[child[!c]];
  }
  if (term == NULL) {
    free(of);
    of = NULL;
  }
  free(term);
  return of;
}

/* The exponent of what is 1 above: as great as formats of few exponents need. */
static int exponent_of_one(const struct fold_summer *s) {
  const int emax = fold_format_of(s->dtype).emax;
  return emax > 100 ? 0 : emax - 1;
}

static void put(const struct fold_summer *s, unsigned k, size_t row, uint32_t i, double x) {
  fold_bits_store(s->dtype, (unsigned char *)s->in[k] + row * s->n * fold_dtype_size(s->dtype), i,
                  fold_bits_from_double(s->dtype, x));
}

static void write_row(const struct fold_summer *s, size_t row, const struct trio *trio, double one, double small) {
  memset((unsigned char *)s->in[0] + row * s->n * fold_dtype_size(s->dtype), 0, s->n * fold_dtype_size(s->dtype));
  for (size_t i = 0; s->factors > 1 && i < s->n; i++) put(s, 1, row, (uint32_t)i, 1);
  put(s, 0, row, trio->one, one);
  put(s, 0, row, trio->small, small);
  if (trio->other != FOLD_TREE_NONE) put(s, 0, row, trio->other, -one);
}

/* Notes which joins keep what `width` holds and narrower dtypes do not. */
static fold_status ask_width(const struct fold_summer *s, struct fold_tree *tree, const struct trio *of,
                             enum fold_dtype width, unsigned char *out, uint64_t *launches) {
  const double one = ldexp(1, exponent_of_one(s)), small = ldexp(one, 1 - precision_of(width));
  const size_t rows = fold_probed_rows(s);
  if (fold_bits_round(s->dtype, small) != small || fold_bits_round(s->result, small) != small) return fold_ok();
  for (size_t first = 0; first < tree->joins; first += rows) {
    const size_t n = tree->joins - first < rows ? tree->joins - first : rows;
    for (size_t k = 0; k < n; k++) write_row(s, fold_probed_row(s, k), &of[first + k], one, small);
    FOLD_TRY(s->sum(s->context, s->rows, out));
    ++*launches;
    for (size_t k = 0; k < n; k++) {
      const double got = fold_bits_to_double(s->result, fold_bits_load(s->result, out, fold_probed_row(s, k)));
      const double lost = of[first + k].other == FOLD_TREE_NONE ? one : 0;
      if (got != lost) tree->accumulator[first + k] = (unsigned char)width;
    }
  }
  return fold_ok();
}

static size_t count_in(const struct fold_tree *tree, unsigned dtype) {
  size_t n = 0;
  for (size_t j = 0; j < tree->joins; j++) n += tree->accumulator[j] == dtype;
  return n;
}

/* If all joins are rounded to the narrowest dtype, none needs one of its own. */
static void forget_one(struct fold_tree *tree, enum fold_dtype narrowest) {
  if (count_in(tree, narrowest) < tree->joins) return;
  free(tree->accumulator);
  tree->accumulator = NULL;
}

fold_status fold_tree_ask_accumulators(const struct fold_summer *s, struct fold_tree *tree, enum fold_dtype *narrowest,
                                       uint64_t *launches) {
  const struct widths w = widths_of(s);
  struct fold_summer narrow = *s;
  narrow.accumulator = *narrowest = w.dtype[0];
  free(tree->fused);
  tree->fused = NULL;
  FOLD_TRY(fold_tree_ask_fused(&narrow, tree, launches));
  struct trio *of = trios(tree);
  unsigned char *out = malloc((s->rows + 1) * 8);
  tree->accumulator = malloc(tree->joins);
  fold_status status = of && out && tree->accumulator ? fold_ok() : fold_no_memory("for %zu terms", s->n);
  if (status.code == FOLD_OK) memset(tree->accumulator, w.dtype[0], tree->joins);
  for (size_t k = 1; k < w.n && status.code == FOLD_OK; k++) status = ask_width(s, tree, of, w.dtype[k], out, launches);
  if (status.code == FOLD_OK) forget_one(tree, w.dtype[0]);
  free(of);
  free(out);
  return status;
}

/* Marks the terms below joins that are wider than the narrowest one. Nodes come after their operands, so parents are looked at first. */
static void mark_wide(const struct fold_tree *tree, enum fold_dtype narrowest, unsigned char *mark) {
  for (size_t j = tree->joins; j-- > 0;) {
    mark[tree->n + j] |= tree->accumulator[j] != narrowest;
    for (uint32_t c = tree->first[j]; mark[tree->n + j] && c < tree->first[j + 1]; c++) mark[tree->child[c]] = 1;
  }
}

static void tell_marked(const unsigned char *mark, size_t n, FILE *out) {
  enum { MOST = 3 };
  int told = 0;
  for (size_t i = 0, end; i < n; i = end + 1) {
    for (end = i; end < n && mark[end]; end++) continue;
    if (end == i) continue;
    if (told++ == MOST) {
      fprintf(out, ", ...");
      return;
    }
    fprintf(out, "%sx[%zu..%zu]", told > 1 ? ", " : "", i, end - 1);
  }
}

fold_status fold_tree_accumulators_text(const struct fold_tree *tree, enum fold_dtype narrowest, char *text,
                                        size_t size) {
  unsigned char *mark = calloc(fold_tree_nodes(tree), 1);
  FILE *out = mark ? fmemopen(text, size, "w") : NULL;
  if (out) {
    const char *before = "";
    size_t rounded = 0;
    for (size_t k = 0; k < tree->n; k++) rounded += tree->fused && !tree->fused[k];
    mark_wide(tree, narrowest, mark);
    fprintf(out, "its %zu sums are rounded: ", tree->joins);
    for (unsigned k = 0; k < FOLD_DTYPES; k++) {
      if (count_in(tree, k) == 0) continue;
      fprintf(out, "%s%zu to %s", before, count_in(tree, k), fold_dtype_name((enum fold_dtype)k));
      before = ", ";
    }
    fprintf(out, ", those within ");
    tell_marked(mark, tree->n, out);
    if (rounded) fprintf(out, "; %zu products to %s", rounded, fold_dtype_name(narrowest));
    fclose(out);
    text[size - 1] = '\0';
  }
  free(mark);
  return out ? fold_ok() : fold_no_memory("for a text");
}
