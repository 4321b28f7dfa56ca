/* order_change.c: the trees of two sides, compared in words.
 *
 * Promised: an order is said to have changed only if both sides' trees gave the subject's bits on all test rows
 * (reveal.h) and differ. If the trees are the same for rows as long as the case's, something else changed; for shorter
 * rows equal trees say nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "model/setting.h"
#include "reveal/reveal.h"

void fold_trial_take_sides(struct fold_trial *trial, size_t n, const struct fold_order_side *a,
                           const struct fold_order_side *b) {
  if (fold_dtype_is_integer(trial->c->dtype)) return; /* their trees do not show */
  trial->sides = (struct fold_order_sides){.n = n, .side = {*a, *b}};
}

/* How many terms each node has; NULL: no memory. */
static uint32_t *terms_of_nodes(const struct fold_tree *tree) {
  const size_t nodes = fold_tree_nodes(tree);
  uint32_t *terms = calloc(nodes, sizeof *terms);
  for (size_t k = 0; terms && k < tree->n; k++) terms[k] = 1;
  for (size_t j = 0; terms && j < tree->joins; j++)
    for (uint32_t at = tree->first[j]; at < tree->first[j + 1]; at++) terms[tree->n + j] += terms[tree->child[at]];
  return terms;
}

/* How many terms the smallest node has that holds both x[i] and x[j]; 0 where memory is short. */
static size_t terms_of_both(const struct fold_tree *tree, uint32_t i, uint32_t j) {
  uint32_t *terms = terms_of_nodes(tree);
  uint32_t top_i = i, top_j = j;
  size_t found = 0;
  for (size_t join = 0; terms && join < tree->joins && !found; join++) {
    const uint32_t node = (uint32_t)(tree->n + join);
    bool has_i = false, has_j = false;
    for (uint32_t at = tree->first[join]; at < tree->first[join + 1]; at++) {
      has_i |= tree->child[at] == top_i;
      has_j |= tree->child[at] == top_j;
    }
    if (has_i) top_i = node;
    if (has_j) top_j = node;
    if (top_i == top_j) found = terms[node];
  }
  free(terms);
  return found;
}

/* "500 + 500": the terms of the root's operands. */
static void describe_root(const struct fold_tree *tree, char *text, size_t size) {
  enum { MOST_OPERANDS = 4 };
  uint32_t *terms = terms_of_nodes(tree);
  const uint32_t *child = tree->child + tree->first[tree->joins - 1];
  const size_t operands = fold_tree_degree(tree, tree->joins - 1);
  size_t n = 0;
  text[0] = '\0';
  for (size_t k = 0; terms && k < operands && k < MOST_OPERANDS; k++)
    n += (size_t)snprintf(text + n, size - n, "%s%u", k ? " + " : "", terms[child[k]]);
  if (operands > MOST_OPERANDS) snprintf(text + n, size - n, " + ...");
  free(terms);
}

/* Joins several lines into one: "A:", "B" and "C" become "A: B, C". False where it is too long. */
static bool join_lines(const char *lines, char *text, size_t size) {
  size_t n = 0;
  for (const char *at = lines; *at; at++) {
    if (n + 3 > size) return false; /* unseen: >= */
    if (*at != '\n') {
      text[n++] = *at;
      continue;
    }
    while (at[1] == ' ') at++;
    if (at[1] == '\0') break;
    if (n > 0 && text[n - 1] != ':') text[n++] = ',';
    text[n++] = ' ';
  }
  text[n] = '\0';
  return true;
}

/* The tree's own words (tree_text.c), where they are short enough for a line. */
static void describe_tree(const struct fold_tree *tree, char *text, size_t size) {
  char *lines = NULL, root[80];
  size_t nbytes = 0;
  FILE *out = open_memstream(&lines, &nbytes);
  const bool told = out && fold_tree_text(tree, out).code == FOLD_OK;
  if (out) fclose(out);
  const bool fits = told && lines && join_lines(lines, text, size);
  free(lines);
  if (fits || tree->joins == 0) return;
  describe_root(tree, root, sizeof root);
  snprintf(text, size, "a tree of height %zu, %s terms at the top", fold_tree_height(tree), root);
}

/* How long the first of several names is: "host/sequential, rows/single_for", or one, "host/numpy's, in pieces of 32". */
static size_t first_of(const char *names) {
  size_t n = strcspn(names, ",");
  while (names[n]) {
    const size_t word = n + strspn(names + n, ", "), length = strcspn(names + word, " ,");
    if (memchr(names + word, '/', length)) break;
    n = word + strcspn(names + word, ",");
  }
  return n;
}

/* Describes one side. */
enum { WORDS = 200 };
static void describe(const struct fold_revealed *v, char text[WORDS]) {
  const size_t first = first_of(v->name);
  if (v->kind == FOLD_REVEALED_TREE && first > 0)
    snprintf(text, WORDS, "%.*s", (int)first, v->name);
  else if (v->kind == FOLD_REVEALED_TREE)
    describe_tree(&v->tree, text, WORDS);
  else
    snprintf(text, WORDS, "%s%s%.60s", fold_revealed_text(v->kind), v->name[0] ? ": " : "", v->name);
}

static fold_status take_side(const struct fold_order_side *side, const struct fold_revealed *v,
                             struct fold_order_change_side *told) {
  snprintf(told->at, sizeof told->at, "%s", side->at);
  snprintf(told->kind, sizeof told->kind, "%s", fold_revealed_text(v->kind));
  snprintf(told->order, sizeof told->order, "%.*s", (int)first_of(v->name), v->name);
  if (v->kind != FOLD_REVEALED_TREE) return fold_ok();
  told->height = fold_tree_height(&v->tree);
  return fold_tree_fingerprint(&v->tree, &told->fingerprint);
}

/* Tries both ways, since either tree may have the join that the other lacks. */
static fold_status find_difference(const struct fold_tree *a, const struct fold_tree *b, bool *differ, uint32_t *i,
                                   uint32_t *j) {
  FOLD_TRY(fold_tree_difference(a, b, differ, i, j));
  return *differ ? fold_ok() : fold_tree_difference(b, a, differ, i, j);
}

static void tell_trees(const struct fold_revealed v[2], uint32_t i, uint32_t j, struct fold_order_change *change) {
  char a[WORDS], b[WORDS];
  describe(&v[0], a);
  describe(&v[1], b);
  snprintf(change->text, sizeof change->text,
           "%s: %s; %s: %s; x[%u] and x[%u] first meet in a sum of %zu terms; in the second order, of %zu",
           change->side[0].at, a, change->side[1].at, b, i, j, terms_of_both(&v[0].tree, i, j), /* unseen: j , i */
           terms_of_both(&v[1].tree, i, j));
}

/* Both sides have the same tree: says what else differs. If nothing does, it says so only for rows as long as the
 * case's (`whole`). */
static void tell_same(const struct fold_revealed v[2], bool whole, struct fold_order_change *change) {
  const struct fold_tree_arithmetic *a = &v[0].how, *b = &v[1].how;
  char order[WORDS];
  describe(&v[0], order);
  if (!fold_tree_accumulators_alike(&v[0].tree, &v[1].tree))
    snprintf(change->text, sizeof change->text,
             "the order is the same, %s; the precision changes: %s: %.100s; %s: %.100s", order, change->side[0].at,
             v[0].why[0] ? v[0].why : fold_dtype_name(a->accumulator), change->side[1].at,
             v[1].why[0] ? v[1].why : fold_dtype_name(b->accumulator));
  else if (a->accumulator != b->accumulator)
    snprintf(change->text, sizeof change->text, "the order is the same, %s; %s it adds in %s, %s in %s", order,
             change->side[0].at, fold_dtype_name(a->accumulator), change->side[1].at, fold_dtype_name(b->accumulator));
  else if (!fold_tree_fused_alike(&v[0].tree, &v[1].tree))
    snprintf(change->text, sizeof change->text, "the order is the same, %s; different products enter by an FMA", order);
  else if (a->fusing != b->fusing)
    snprintf(change->text, sizeof change->text,
             "the order is the same, %s; the rounding of several operands changes: %s: %s; %s: %s", order,
             change->side[0].at, fold_fusing_text(a->fusing), change->side[1].at, fold_fusing_text(b->fusing));
  else if (whole)
    snprintf(change->text, sizeof change->text, "the order is the same on test data, %s: something else changed",
             order);
}

/* `unknown`: it is not known whether the function is a sum. */
static fold_status tell(const struct fold_revealed v[2], bool whole, bool unknown, struct fold_order_change *change) {
  const bool trees = v[0].kind == FOLD_REVEALED_TREE && v[1].kind == FOLD_REVEALED_TREE;
  bool differ = false;
  uint32_t i = 0, j = 0; /* unseen: 1 */
  char a[WORDS], b[WORDS];
  if (trees) FOLD_TRY(find_difference(&v[0].tree, &v[1].tree, &differ, &i, &j));
  if (trees && differ) {
    tell_trees(v, i, j, change);
  } else if (trees) {
    tell_same(v, whole, change);
  } else if (v[0].kind == v[1].kind && strcmp(v[0].name, v[1].name) == 0) {
    if (whole && v[0].kind == FOLD_REVEALED_NO_TREE && unknown)
      snprintf(change->text, sizeof change->text, "not known: its results are no sums of the terms");
    else if (whole)
      snprintf(change->text, sizeof change->text, "not known: no tree is seen on either side: %s%s%.100s",
               fold_revealed_text(v[0].kind), v[0].why[0] ? ": " : "", v[0].why);
  } else {
    describe(&v[0], a);
    describe(&v[1], b);
    snprintf(change->text, sizeof change->text, "%s: %s; %s: %s", change->side[0].at, a, change->side[1].at, b);
  }
  return fold_ok();
}

/* How many terms to ask for: the case's, or fewer if these take too long; 0: none. */
static size_t terms_for(const struct fold_order_sides *sides) {
  static const size_t fewer[] = {1024, 256, 64, 16}; /* unseen: 15 */
  const struct fold_order_side *a = &sides->side[0], *b = &sides->side[1];
  const bool fixed = a->col_stride || b->col_stride;
  if (fold_order_side_is_short(a, sides->n) && fold_order_side_is_short(b, sides->n)) return sides->n;
  for (size_t k = 0; k < sizeof fewer / sizeof *fewer && !fixed; k++)
    if (fewer[k] < sides->n && fold_order_side_is_short(a, fewer[k]) && fold_order_side_is_short(b, fewer[k]))
      return fewer[k];
  return 0;
}

static fold_status reveal_sides(const struct fold_trial *trial, const struct fold_order_sides *sides, double until,
                                struct fold_revealed v[2], struct fold_order_change *change) {
  for (int k = 0; k < 2; k++) {
    FOLD_TRY(fold_order_side_reveal(trial, &sides->side[k], change->terms, until, &v[k]));
    FOLD_TRY(take_side(&sides->side[k], &v[k], &change->side[k]));
  }
  return fold_ok();
}

static void free_sides(struct fold_revealed v[2]) {
  for (int k = 0; k < 2; k++) fold_revealed_free(&v[k]);
}

/* If the order depends on a row's place, only the row that differed is asked, on both sides. */
static fold_status ask(const struct fold_trial *trial, struct fold_order_sides *sides, struct fold_revealed v[2],
                       struct fold_order_change *change) {
  unsigned seconds;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_ORDER_TIME, 10, &seconds));
  const double until = fold_now() + seconds;
  FOLD_TRY(reveal_sides(trial, sides, until, v, change));
  if (!v[0].place[0] && !v[1].place[0]) return fold_ok();
  sides->side[0].alone = sides->side[1].alone = true;
  change->terms = terms_for(sides);
  if (change->terms == 0) return fold_error(FOLD_UNSUPPORTED, "too many rows");
  free_sides(v);
  return reveal_sides(trial, sides, until, v, change);
}

static fold_status explain(const struct fold_trial *trial, struct fold_order_sides *sides,
                           struct fold_order_change *change) {
  struct fold_revealed v[2] = {{0}, {0}};
  fold_status status = ask(trial, sides, v, change);
  if (status.code == FOLD_OK) status = tell(v, change->terms == sides->n, trial->subject->unknown, change);
  free_sides(v);
  return status;
}

/* Says that the text is about shorter rows than the case's. */
static void tell_terms(struct fold_order_change *change) {
  char text[sizeof change->text];
  memcpy(text, change->text, sizeof text);
  snprintf(change->text, sizeof change->text, "of rows of %llu terms, %.840s", (unsigned long long)change->terms, text);
}

void fold_order_explain(const struct fold_trial *trial, enum fold_claim_id claim, const struct fold_order_sides *pair,
                        struct fold_order_change *change) {
  struct fold_order_sides sides = *pair;
  memset(change, 0, sizeof *change);
  change->claim = claim;
  if (sides.n == 0 || trial->c->problem->op != FOLD_SUM || !fold_terms_are_elements(trial->c->problem) ||
      fold_engine_has_ranks(trial->subject->engine))
    return;
  change->terms = terms_for(&sides);
  if (change->terms == 0) return;
  const fold_status status = explain(trial, &sides, change);
  if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED)
    snprintf(change->text, sizeof change->text, "not known: %.300s", status.text);
  else if (change->text[0] && change->terms != sides.n)
    tell_terms(change);
}
