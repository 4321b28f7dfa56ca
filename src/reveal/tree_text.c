/* tree_text.c: a tree in words.
 *
 * A node is described as a balanced tree over equal parts, or as a chain, which adds its parts in turn. Parts that differ only by a
 * constant shift are described once. The parts of a chain, or of a balanced tree, have at most half of its terms, or are of another kind:
 * so the text has at most about log n levels.
 */
#include <stdlib.h>

#include "base/list.h"
#include "oracles/fingerprint.h"
#include "reveal/tree.h"

/* For each node: its lowest term, how many terms it has, its shape, and its shape together with the distances of its
 * terms. */
struct shapes {
  const struct fold_tree *tree;
  uint32_t *lowest, *terms;
  uint64_t *shape, *form;
  uint32_t *part; /* a stack of nodes: the parts of what is being described */
  size_t parts, room;
  FILE *out;
  bool failed;
};

static const uint32_t *children(const struct shapes *s, uint32_t node) {
  return s->tree->child + s->tree->first[node - s->tree->n];
}
static size_t degree(const struct shapes *s, uint32_t node) {
  return node < s->tree->n ? 0 : fold_tree_degree(s->tree, node - s->tree->n);
}

static void look_at(struct shapes *s, uint32_t node) {
  const uint32_t *child = children(s, node);
  const size_t n = degree(s, node);
  uint64_t shape = n, form = n;
  s->lowest[node] = s->lowest[child[0]];
  s->terms[node] = 0;
  for (size_t i = 0; i < n; i++) {
    s->terms[node] += s->terms[child[i]];
    shape += fold_fingerprint_mix(s->shape[child[i]]);
    form += fold_fingerprint_mix(s->form[child[i]] + fold_fingerprint_mix(s->lowest[child[i]] - s->lowest[node] + 7u));
  }
  s->shape[node] = fold_fingerprint_mix(shape);
  s->form[node] = fold_fingerprint_mix(form);
}

static void push(struct shapes *s, uint32_t node) {
  uint32_t *part = fold_list_grow(&s->part, &s->parts, &s->room, sizeof *part);
  if (part)
    *part = node;
  else
    s->failed = true;
}

static void tell(struct shapes *s, uint32_t node, int indent);

static void tell_terms(const struct shapes *s, size_t first, size_t n, int64_t step) {
  const uint32_t from = s->lowest[s->part[first]], to = s->lowest[s->part[first + n - 1]];
  if (n == 1)
    fprintf(s->out, "x[%u]", from);
  else if (n == 2)
    fprintf(s->out, "x[%u] x[%u]", from, to);
  else if (step == 1)
    fprintf(s->out, "x[%u..%u]", from, to);
  else
    fprintf(s->out, "x[%u..%u by %lld]", from, to, (long long)step);
}

/* How many parts from `first` on are shifts of one another by one step, which may be negative. */
static size_t run_of(const struct shapes *s, size_t first, size_t last, int64_t *step) {
  size_t n = 1;
  *step = 0;
  if (first + 1 < last) *step = (int64_t)s->lowest[s->part[first + 1]] - s->lowest[s->part[first]];
  for (size_t k = first + 1; k < last; k++, n++)
    if (s->form[s->part[k]] != s->form[s->part[first]] ||
        (int64_t)s->lowest[s->part[k]] - s->lowest[s->part[k - 1]] != *step)
      break;
  return n;
}

static void margin(const struct shapes *s, int indent) { fprintf(s->out, "%*s", 2 * indent, ""); }

/* Prints a line that says how the parts [first, last) are joined, and the parts below it. */
static void tell_parts(struct shapes *s, const char *how, size_t first, size_t last, int indent) {
  int64_t step;
  const size_t n = last - first, whole = run_of(s, first, last, &step);
  margin(s, indent);
  if (whole == n && s->part[first] < s->tree->n) {
    tell_terms(s, first, n, step);
    fprintf(s->out, " %s\n", how);
    return;
  }
  if (whole == n && step > 0) {
    fprintf(s->out, "%zu parts, each %lld on, %s; the first:\n", n, (long long)step, how);
    tell(s, s->part[first], indent + 1);
    return;
  }
  fprintf(s->out, "%zu parts %s:\n", n, how);
  for (size_t k = first, run; k < last && !s->failed; k += run) {
    run = run_of(s, k, last, &step);
    if (run > 2 && s->part[k] < s->tree->n) {
      margin(s, indent + 1);
      tell_terms(s, k, run, step);
      fputc('\n', s->out);
    } else if (run > 2) {
      margin(s, indent + 1);
      fprintf(s->out, "%zu parts, each %lld %s; the first:\n", run, (long long)(step < 0 ? -step : step),
              step < 0 ? "back" : "on");
      tell(s, s->part[k], indent + 2);
    } else {
      run = 1;
      tell(s, s->part[k], indent + 1);
    }
  }
}

static bool is_balanced(const struct shapes *s, uint32_t node) {
  return degree(s, node) == 2 && s->shape[children(s, node)[0]] == s->shape[children(s, node)[1]];
}

static size_t reversed(size_t k, unsigned bits) {
  size_t r = 0;
  for (unsigned b = 0; b < bits; b++) r |= (k >> b & 1) << (bits - 1 - b);
  return r;
}

/* How the parts of a balanced tree are joined, such as "pairwise". They are [first, first + 2^levels) of the stack, in
 * the sequence in which the tree joins them; if there is a name, they are sorted by their terms. NULL if no name
 * fits. */
static const char *way_of(struct shapes *s, size_t first, unsigned levels) {
  const size_t n = (size_t)1 << levels;
  const uint32_t *part = s->part + first;
  bool rising = true, halves = levels > 1;
  for (size_t k = 1; k < n; k++) {
    rising &= s->lowest[part[k - 1]] < s->lowest[part[k]];
    halves &= s->lowest[part[reversed(k - 1, levels)]] < s->lowest[part[reversed(k, levels)]];
  }
  if (rising) return "pairwise";
  if (!halves) return NULL;
  for (size_t k = 0; k < n; k++) {
    const size_t r = reversed(k, levels);
    if (r <= k) continue;
    const uint32_t t = s->part[first + k];
    s->part[first + k] = s->part[first + r];
    s->part[first + r] = t;
  }
  return "pairwise, halves to halves";
}

static void expand(struct shapes *s, uint32_t node, unsigned levels) {
  if (levels == 0) {
    push(s, node);
    return;
  }
  expand(s, children(s, node)[0], levels - 1);
  expand(s, children(s, node)[1], levels - 1);
}

/* Finds the deepest level at which the way of joining has a name; one level always has a name. */
static void tell_balanced(struct shapes *s, uint32_t node, int indent) {
  const size_t first = s->parts;
  const char *way = NULL;
  unsigned levels = 0;
  for (uint32_t at = node; is_balanced(s, at); at = children(s, at)[0]) levels++;
  for (; way == NULL && !s->failed; levels--) {
    s->parts = first;
    expand(s, node, levels);
    if (!s->failed) way = way_of(s, first, levels);
  }
  if (!s->failed) tell_parts(s, way, first, s->parts, indent);
  s->parts = first;
}

/* The operand through which a chain continues: the largest one. The node itself if it is not a link of a chain. */
static uint32_t spine_of(const struct shapes *s, uint32_t node) {
  const uint32_t *child = children(s, node);
  const size_t n = degree(s, node);
  size_t best = 0, same = 0;
  if (n == 0 || (n == 2 && is_balanced(s, node))) return node;
  for (size_t i = 1; i < n; i++)
    if (s->terms[child[i]] > s->terms[child[best]]) best = i;
  for (size_t i = 0; i < n; i++) same += s->terms[child[i]] == s->terms[child[best]];
  return n > 2 && same > 1 ? node : child[best];
}

/* Describes a chain of nodes of equally many operands, from its end. */
static void tell_chain(struct shapes *s, uint32_t node, int indent) {
  const size_t first = s->parts, n = degree(s, node);
  uint32_t at = node;
  while (degree(s, at) == n && spine_of(s, at) != at) {
    const uint32_t next = spine_of(s, at);
    for (size_t i = n; i-- > 0;)
      if (children(s, at)[i] != next) push(s, children(s, at)[i]);
    at = next;
  }
  /* The first two parts of a chain of equal parts belong to the chain. */
  if (n == 2 && is_balanced(s, at) && s->parts > first &&
      s->shape[children(s, at)[0]] == s->shape[s->part[s->parts - 1]]) {
    const bool falling = s->lowest[s->part[s->parts - 1]] < s->lowest[at];
    const uint32_t *two = children(s, at);
    push(s, two[!falling]);
    push(s, two[falling]);
  } else {
    push(s, at);
  }
  for (size_t a = first, b = s->parts; a + 1 < b; a++, b--) {
    const uint32_t t = s->part[a];
    s->part[a] = s->part[b - 1];
    s->part[b - 1] = t;
  }
  char how[80] = "sequentially";
  if (n == 2 && s->parts == first + 2) {
    const uint32_t a = s->part[first], b = s->part[first + 1];
    const bool turned = s->lowest[b] < s->lowest[a];
    s->part[first] = turned ? b : a;
    s->part[first + 1] = turned ? a : b;
    snprintf(how, sizeof how, "joined");
  }
  if (n > 2) snprintf(how, sizeof how, "sequentially, %zu at a time to the sum so far", n - 1);
  if (!s->failed) tell_parts(s, how, first, s->parts, indent);
  s->parts = first;
}

static void tell_together(struct shapes *s, uint32_t node, int indent) {
  const size_t first = s->parts;
  for (size_t i = 0; i < degree(s, node); i++) push(s, children(s, node)[i]);
  if (!s->failed) tell_parts(s, "at once", first, s->parts, indent);
  s->parts = first;
}

static void tell(struct shapes *s, uint32_t node, int indent) {
  if (degree(s, node) == 0) {
    margin(s, indent);
    fprintf(s->out, "x[%u]\n", node);
  } else if (is_balanced(s, node)) {
    tell_balanced(s, node, indent);
  } else if (spine_of(s, node) == node) {
    tell_together(s, node, indent);
  } else {
    tell_chain(s, node, indent);
  }
}

fold_status fold_tree_text(const struct fold_tree *tree, FILE *out) {
  const size_t nodes = fold_tree_nodes(tree);
  struct shapes s = {.tree = tree, .out = out};
  s.lowest = malloc(nodes * sizeof *s.lowest);
  s.terms = malloc(nodes * sizeof *s.terms);
  s.shape = malloc(nodes * sizeof *s.shape);
  s.form = malloc(nodes * sizeof *s.form);
  s.failed = !s.lowest || !s.terms || !s.shape || !s.form;
  for (uint32_t k = 0; k < nodes && !s.failed; k++) {
    if (k >= tree->n)
      look_at(&s, k);
    else
      s.lowest[k] = k, s.terms[k] = 1, s.shape[k] = s.form[k] = 1;
  }
  if (!s.failed) tell(&s, (uint32_t)(nodes - 1), 0);
  free(s.lowest);
  free(s.terms);
  free(s.shape);
  free(s.form);
  free(s.part);
  return s.failed ? fold_no_memory("to tell a tree of %zu terms", tree->n) : fold_ok();
}
