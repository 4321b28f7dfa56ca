/* noted_sums.c: a noted sum has the tree that is expected, its name, and the bits of its replay. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "noted_sums.h"
#include "reveal/reveal.h"

/* The parents of nodes, as far as they are known; NULL: they are not noted. */
static struct { uint32_t *parent, nodes; } noted;

struct value add_noted(struct value a, struct value b) {
  if (a.node == FOLD_TREE_NONE) return b;
  if (b.node == FOLD_TREE_NONE) return a;
  if (noted.parent) noted.parent[a.node] = noted.parent[b.node] = noted.nodes;
  return (struct value){a.x + b.x, noted.parent ? noted.nodes++ : 0};
}

/* The terms of a row: elements, or rounded products. */
static void take_row(const struct fold_summer *s, size_t row, struct value *term) {
  const float *x = (const float *)s->in[0] + row * s->n,
              *y = s->factors > 1 ? (const float *)s->in[1] + row * s->n : NULL;
  for (size_t i = 0; i < s->n; i++) term[i] = (struct value){y ? x[i] * y[i] : x[i], (uint32_t)i};
}

struct subject {
  struct fold_summer summer;
  const void *kernel;
  adder *add_up;
};

static fold_status add_rows(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  struct value *term = malloc(s->summer.n * sizeof *term);
  for (size_t r = 0; r < rows; r++) {
    take_row(&s->summer, r, term);
    ((float *)out)[r] = s->add_up(s->kernel, term, s->summer.n).x;
  }
  free(term);
  return fold_ok();
}

enum { ROWS = 64 };

static struct subject subject_of(const void *kernel, adder *add_up, unsigned factors, size_t n) {
  struct subject s = {.kernel = kernel, .add_up = add_up};
  s.summer = (struct fold_summer){.sum = add_rows,
                                  .n = n,
                                  .rows = ROWS,
                                  .dtype = FOLD_F32,
                                  .accumulator = FOLD_F32,
                                  .result = FOLD_F32,
                                  .factors = factors};
  for (unsigned k = 0; k < s.summer.factors; k++) s.summer.in[k] = malloc(ROWS * n * sizeof(float));
  return s;
}

static void free_subject(struct subject *s) {
  for (unsigned k = 0; k < s->summer.factors; k++) free(s->summer.in[k]);
}

/* The tree that the subject notes. */
static struct fold_tree noted_tree(const struct subject *s) {
  const size_t n = s->summer.n;
  struct value *term = calloc(n, sizeof *term);
  struct fold_tree tree;
  noted.parent = malloc(2 * n * sizeof *noted.parent);
  noted.nodes = (uint32_t)n;
  for (size_t i = 0; i < n; i++) term[i].node = (uint32_t)i;
  noted.parent[s->add_up(s->kernel, term, n).node] = FOLD_TREE_NONE;
  cr_assert_eq(fold_tree_of_parents(noted.parent, n, noted.nodes, &tree).code, FOLD_OK);
  free(noted.parent);
  free(term);
  noted.parent = NULL;
  return tree;
}

/* The tree gives the subject's bits. */
static void expect_replay(struct subject *s, const struct fold_tree *tree) {
  float want[ROWS], got[ROWS];
  const size_t n = s->summer.n;
  for (size_t r = 0; r < ROWS; r++) {
    void *row[FOLD_INPUTS] = {NULL};
    for (unsigned k = 0; k < s->summer.factors; k++) row[k] = (float *)s->summer.in[k] + r * n;
    fold_proof_row(&s->summer, r, row);
  }
  const struct fold_call call = {
      .dtype = FOLD_F32,
      .problem = s->summer.factors > 1 ? fold_problem(FOLD_DOT) : fold_rows_problem(FOLD_SUM),
      .rows = ROWS,
      .cols = n,
      .in = {s->summer.in[0], s->summer.factors > 1 ? s->summer.in[1] : NULL},
      .out = want};
  cr_assert_eq(add_rows(s, ROWS, got).code, FOLD_OK);
  cr_assert_eq(fold_tree_replay(tree, (struct fold_tree_arithmetic){FOLD_F32, FOLD_F32, FOLD_ROUNDED_ONCE}, &call).code,
               FOLD_OK);
  cr_expect(memcmp(got, want, sizeof got) == 0, "%zu terms: other bits than the tree's", n);
}

static void expect_revealed(struct subject *s, uint64_t print, const char *name) {
  struct fold_revealed revealed;
  uint64_t got = 0;
  s->summer.context = s;
  cr_assert_eq(fold_reveal(&s->summer, &revealed).code, FOLD_OK);
  fold_tree_fingerprint(&revealed.tree, &got);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && got == print && strcmp(revealed.name, name) == 0,
            "%zu terms: %s '%s', not '%s' %s", s->summer.n, fold_revealed_text(revealed.kind), revealed.name, name,
            revealed.why);
  fold_revealed_free(&revealed);
}

/* Long sums take too long to be revealed here. */
void expect_name(const void *kernel, adder *add_up, unsigned factors, size_t n, uint64_t print, const char *name) {
  struct subject s = subject_of(kernel, add_up, factors, n);
  struct fold_tree tree = noted_tree(&s);
  uint64_t got = 0;
  char names[400];
  cr_assert_eq(fold_tree_fingerprint(&tree, &got).code, FOLD_OK);
  cr_assert_eq(fold_tree_names(&tree, s.summer.factors > 1, names).code, FOLD_OK);
  cr_expect((print == 0 || got == print) && strcmp(names, name) == 0, "%zu terms: %#llx '%s', not '%s'", n,
            (unsigned long long)got, names, name);
  expect_replay(&s, &tree);
  if (n < 1100) expect_revealed(&s, got, name);
  fold_tree_free(&tree);
  free_subject(&s);
}

struct swapped {
  const void *kernel;
  adder *add_up;
};

static struct value add_swapped(const void *kernel, const struct value *term, size_t n) {
  const struct swapped *of = kernel;
  struct value *swapped = malloc(n * sizeof *swapped);
  for (size_t i = 0; i < n; i++) swapped[i] = term[i == 5 ? 400 : i == 400 ? 5 : i];
  const struct value sum = of->add_up(of->kernel, swapped, n);
  free(swapped);
  return sum;
}

void expect_no_name_of_swapped(const void *kernel, adder *add_up, unsigned factors, size_t n) {
  expect_name(&(struct swapped){kernel, add_up}, add_swapped, factors, n, 0, "");
}
