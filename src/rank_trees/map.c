/* map.c: asks about all pairs of ranks. Elements with the same answers are one class, and each class has a tree or
 * none. */
#include "rank_trees/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "rank_trees/parts.h"

const char *fold_map_kind_text(enum fold_map_kind kind) {
  switch (kind) {
    case FOLD_MAP_TREE: return "tree";
    case FOLD_MAP_EXACT: return "no order: exact";
    case FOLD_MAP_VARIES: return "varies from run to run";
    case FOLD_MAP_RANKS: return "differs by rank";
    case FOLD_MAP_VALUES: return "depends on values";
    case FOLD_MAP_NO_TREE: return "no tree";
  }
  return "?";
}

void fold_map_free(struct fold_map *map) {
  for (size_t k = 0; k < map->classes; k++) fold_tree_free(&map->class[k].tree);
  free(map->class);
  free(map->run);
  *map = (struct fold_map){0};
}

bool fold_map_holds(const struct fold_map *map) {
  bool holds = map->classes > 0 && map->tested > 0 && map->right == map->tested;
  for (size_t k = 0; k < map->classes; k++) holds &= map->class[k].kind <= FOLD_MAP_EXACT;
  return holds;
}

/* The state of the work. Answer 0 of an element is about units alone, answer k + 1 about pair k. */
struct work {
  struct fold_map *map;
  struct fold_map_asker asker;
  struct fold_map_sorter sorter;
  struct fold_masks masks;
  size_t pairs;
  uint64_t *rank; /* what each rank holds in every element */
  /* for the class that is being built: */
  uint16_t *answer;
  size_t element; /* one of its elements */
};

static size_t pair_of(const struct work *w, uint32_t i, uint32_t j) {
  const uint32_t low = i < j ? i : j, high = i < j ? j : i, n = w->asker.ranks;
  return (size_t)low * (2 * n - low - 1) / 2 + (high - low - 1);
}

static uint64_t pattern(const struct work *w, double value) { return fold_bits_from_double(w->asker.dtype, value); }

static void write_masks(struct work *w, uint32_t i, uint32_t j) {
  w->rank[i] = pattern(w, ldexp(1.5, w->masks.mask));
  w->rank[j] = pattern(w, -ldexp(1.5, w->masks.mask));
}

static void write_units(struct work *w) {
  for (unsigned r = 0; r < w->asker.ranks; r++) w->rank[r] = pattern(w, ldexp(1, w->masks.unit));
}

static fold_status ask_all(struct work *w) {
  const unsigned n = w->asker.ranks;
  size_t pair = 0;
  write_units(w);
  FOLD_TRY(fold_map_call_equal(&w->asker, w->rank));
  FOLD_TRY(fold_map_sort(&w->sorter, &w->asker, w->masks.unit, n, pair++));
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++) {
      write_units(w);
      write_masks(w, i, j);
      FOLD_TRY(fold_map_call_equal(&w->asker, w->rank));
      FOLD_TRY(fold_map_sort(&w->sorter, &w->asker, w->masks.unit, n - 2, pair++));
    }
  return fold_ok();
}

static fold_status answer(void *context, struct fold_pair *pairs, size_t n) {
  const struct work *w = context;
  for (size_t k = 0; k < n; k++) pairs[k].size = w->answer[pair_of(w, pairs[k].i, pairs[k].j) + 1];
  return fold_ok();
}

/* Makes a new call and looks at the class's element in its results. */
static fold_status answer_among(void *context, uint32_t i, uint32_t j, const struct fold_pair *among, size_t n,
                                size_t *kept) {
  struct work *w = context;
  const struct fold_map_asker *a = &w->asker;
  for (unsigned r = 0; r < a->ranks; r++) w->rank[r] = 0;
  for (size_t k = 0; k < n; k++) w->rank[among[k].j] = pattern(w, ldexp(1, w->masks.unit));
  write_masks(w, i, j);
  FOLD_TRY(fold_map_call_equal(&w->asker, w->rank));
  const uint64_t bits = fold_bits_load(a->result, a->got, w->element);
  const double count = ldexp(fold_bits_to_double(a->result, bits), -w->masks.unit);
  *kept = count >= 0 && count <= (double)n ? (size_t)count : 0;
  return fold_ok();
}

/* A tree is built from some of the answers; this checks that the others agree. An answer that comes from a node which adds several
 * operands exactly does not tell its size, and is passed over. */
static void check_answers(const struct work *w, struct fold_map_class *c) {
  const struct fold_tree *tree = &c->tree;
  uint32_t top[FOLD_MAP_RANKS_MOST], size;
  for (uint32_t r = 0; r < tree->n; r++) top[r] = r;
  for (size_t join = 0; join < tree->joins; join++) {
    uint32_t below[FOLD_MAP_RANKS_MOST];
    size = 0;
    for (uint32_t r = 0; r < tree->n; r++)
      for (uint32_t at = tree->first[join]; at < tree->first[join + 1]; at++)
        if (top[r] == tree->child[at]) {
          below[size++] = r;
          break;
        }
    for (uint32_t x = 0; x < size && fold_tree_degree(tree, join) == 2; x++)
      for (uint32_t y = x + 1; y < size; y++)
        if (top[below[x]] != top[below[y]] && w->answer[pair_of(w, below[x], below[y]) + 1] != size && !c->why[0])
          snprintf(c->why, sizeof c->why, "the answers contradict one another (ranks %u and %u)", below[x], below[y]);
    for (uint32_t x = 0; x < size; x++) top[below[x]] = (uint32_t)(tree->n + join);
  }
}

static fold_status is_declared(const struct work *w, struct fold_map_class *c) {
  const struct fold_subject *s = w->map->asked.subject;
  uint64_t print;
  if (!s->order || s->method != FOLD_PLAIN) return fold_ok();
  FOLD_TRY(fold_order_fingerprint(fold_order_find(s->order), w->asker.dtype, NULL, w->asker.ranks, &print));
  c->declared = print == c->fingerprint;
  return fold_ok();
}

static fold_status build(struct work *w, uint32_t node, struct fold_map_class *c) {
  const struct fold_asker asker = {answer, answer_among, w, w->asker.ranks};
  w->element = c->first;
  c->kind = FOLD_MAP_NO_TREE;
  fold_map_answers(&w->sorter, node, w->answer, w->pairs + 1);
  FOLD_TRY(fold_tree_build(&asker, &c->tree, c->why));
  if (!c->why[0]) check_answers(w, c);
  if (c->why[0]) {
    fold_tree_free(&c->tree);
    return fold_ok();
  }
  c->kind = FOLD_MAP_TREE;
  FOLD_TRY(fold_tree_fingerprint(&c->tree, &c->fingerprint));
  FOLD_TRY(is_declared(w, c));
  return fold_map_name(&c->tree, c->name);
}

/* Describes classes for which no tree is built. */
static void describe(const struct work *w, uint32_t node, struct fold_map_class *c) {
  const struct fold_map_sorter *s = &w->sorter;
  c->kind = node == FOLD_MAP_NODE_VARIES  ? FOLD_MAP_VARIES
            : node == FOLD_MAP_NODE_RANKS ? FOLD_MAP_RANKS
                                          : FOLD_MAP_NO_TREE;
  if (c->kind == FOLD_MAP_VARIES) snprintf(c->why, sizeof c->why, "a masked run has different bits in a repeat");
  if (c->kind == FOLD_MAP_RANKS)
    snprintf(c->why, sizeof c->why, "in a masked run rank %u has different bits than rank 0, first in element %zu",
             w->asker.odd_rank, w->asker.odd_at);
  if (c->kind == FOLD_MAP_NO_TREE && s->bad.pair == 0)
    snprintf(c->why, sizeof c->why, "of the equal terms of %u ranks %g are in the sum (element %zu)", w->asker.ranks,
             s->bad.count, s->bad.element);
  else if (c->kind == FOLD_MAP_NO_TREE)
    snprintf(c->why, sizeof c->why, "a sum is not a number of units (element %zu)", s->bad.element);
}

/* Collects the runs of equal nodes, and a class for each node that some element has, in the sequence of the
 * elements. */
static fold_status collect(struct work *w) {
  const struct fold_map_sorter *s = &w->sorter;
  struct fold_map *map = w->map;
  uint32_t *class_of = malloc(s->nodes * sizeof *class_of);
  size_t runs = 0, classes = 0;
  if (class_of == NULL) return fold_no_memory("for %zu classes", s->nodes);
  for (size_t k = 0; k < s->nodes; k++) class_of[k] = UINT32_MAX;
  for (size_t i = 0; i < s->n; i++) {
    runs += i == 0 || s->of[i] != s->of[i - 1];
    if (class_of[s->of[i]] == UINT32_MAX) class_of[s->of[i]] = (uint32_t)classes++;
  }
  map->run = malloc((runs + 1) * sizeof *map->run);
  map->class = calloc(classes + 1, sizeof *map->class);
  fold_status status = fold_ok();
  if (!map->run || !map->class) status = fold_no_memory("for %zu runs", runs);
  for (size_t i = 0; i < s->n && status.code == FOLD_OK; i++) {
    const uint32_t node = s->of[i];
    struct fold_map_class *c = &map->class[class_of[node]];
    if (i == 0 || node != s->of[i - 1]) map->run[map->runs++] = (struct fold_map_run){i, class_of[node]};
    if (c->elements++ > 0) continue;
    c->first = i;
    map->classes++;
    if (node < FOLD_MAP_NODE_ROOT)
      describe(w, node, c);
    else
      status = build(w, node, c);
  }
  free(class_of);
  return status;
}

static fold_status reveal(struct work *w) {
  const struct fold_map_asker *a = &w->asker;
  w->map->ranks = a->ranks;
  snprintf(w->map->library, sizeof w->map->library, "%.63s", fold_world_hello(a->world, 0)->library);
  const enum fold_dtype accumulator = fold_subject_accumulator(a->subject, a->dtype);
  FOLD_TRY(fold_masks_of(a->dtype, accumulator, a->result, &w->masks));
  if (w->masks.most < a->ranks)
    return fold_error(FOLD_UNSUPPORTED, "sums of %s count to %zu: too few for %u ranks", fold_dtype_name(a->dtype),
                      w->masks.most, a->ranks);
  w->pairs = (size_t)a->ranks * (a->ranks - 1) / 2;
  w->rank = malloc(a->ranks * sizeof *w->rank);
  w->answer = malloc((w->pairs + 1) * sizeof *w->answer);
  if (!w->rank || !w->answer) return fold_no_memory("for %zu pairs of ranks", w->pairs);
  FOLD_TRY(fold_map_sorter_open(&w->sorter, a->n));
  FOLD_TRY(ask_all(w));
  FOLD_TRY(collect(w));
  return fold_map_prove(w->map, &w->asker);
}

/* A run that did something besides computing gives no answers; the map says what it did. */
static fold_status note_side_effect(struct fold_map *map, const char *side_effect) {
  struct fold_map told = *map;
  fold_map_free(map);
  *map = (struct fold_map){.asked = told.asked, .ranks = told.ranks, .classes = 1, .runs = 1};
  memcpy(map->library, told.library, sizeof map->library);
  map->class = calloc(1, sizeof *map->class);
  map->run = calloc(1, sizeof *map->run);
  if (!map->class || !map->run) {
    map->classes = map->runs = 0;
    return fold_no_memory("for a map");
  }
  map->class[0] = (struct fold_map_class){.kind = FOLD_MAP_NO_TREE, .elements = map->asked.n};
  snprintf(map->class[0].why, sizeof map->class[0].why, "%s", side_effect);
  return fold_ok();
}

fold_status fold_map_reveal(const struct fold_map_asked *asked, struct fold_map *map) {
  struct work w = {.map = map};
  const double start = fold_now();
  *map = (struct fold_map){.asked = *asked};
  fold_status status = fold_map_asker_open(&w.asker, asked);
  if (status.code == FOLD_OK) status = reveal(&w);
  if (w.asker.side_effect[0]) status = note_side_effect(map, w.asker.side_effect);
  map->calls = w.asker.calls;
  map->seconds = fold_now() - start;
  fold_map_sorter_close(&w.sorter);
  fold_map_asker_close(&w.asker);
  free(w.rank);
  free(w.answer);
  return status;
}
