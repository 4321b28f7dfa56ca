/* rank_trees/predict.c: predicts the results of a message, element by element, by the trees of the map. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "rank_trees/proof.h"

enum { BLOCK = 2048 };

static void add_ways(struct fold_map_proof *p, enum fold_dtype accumulator, unsigned fusing) {
  p->way[p->ways++] = (struct fold_tree_arithmetic){accumulator, p->asker->result, (enum fold_fusing)fusing};
}

/* Lists the ways in which a tree may add, as for a tree of terms (reveal.c). */
static void list_ways(struct fold_map_proof *p) {
  const struct fold_map_asker *a = p->asker;
  const enum fold_dtype declared = fold_subject_accumulator(a->subject, a->dtype);
  const enum fold_dtype tried[FOLD_MAP_ACCUMULATORS] = {declared, FOLD_F32, FOLD_F64, a->dtype};
  for (unsigned f = 0; f < FOLD_FUSINGS; f++) {
    for (unsigned k = 0; k < FOLD_MAP_ACCUMULATORS; k++) {
      bool again = false;
      for (unsigned before = 0; before < k; before++) again |= tried[before] == tried[k];
      if (!again && fold_format_holds(fold_format_of(tried[k]), fold_format_of(a->dtype))) add_ways(p, tried[k], f);
    }
    if (f == 0) p->narrow = p->ways;
  }
}

static fold_status open_rooms(struct fold_map_proof *p) {
  p->threads = (unsigned)omp_get_max_threads();
  p->room = calloc(p->threads, sizeof *p->room);
  for (unsigned t = 0; p->room && t < p->threads; t++) {
    struct fold_map_room *room = &p->room[t];
    room->rows = malloc((size_t)BLOCK * p->asker->ranks * 8);
    room->want = malloc((size_t)BLOCK * 8);
    room->others = malloc((size_t)BLOCK * 8);
    if (!room->rows || !room->want || !room->others) return fold_no_memory("to test a map");
  }
  return p->room ? fold_ok() : fold_no_memory("to test a map");
}

/* Finds the classes whose trees are those of other orders: no data distinguish these. */
static fold_status find_alike(struct fold_map_proof *p) {
  for (size_t c = 0; c < p->map->classes; c++) {
    const struct fold_map_class *class = &p->map->class[c];
    for (unsigned k = 0; k < FOLD_MAP_OTHERS && class->kind == FOLD_MAP_TREE; k++) {
      bool differ;
      uint32_t i, j;
      FOLD_TRY(fold_tree_difference(&class->tree, &p->other[k], &differ, &i, &j));
      p->alike[c] |= (unsigned char)(!differ << k);
    }
  }
  return fold_ok();
}

fold_status fold_map_proof_open(struct fold_map_proof *p, struct fold_map *map, struct fold_map_asker *a) {
  *p = (struct fold_map_proof){.map = map, .asker = a};
  static const char *const orders[FOLD_MAP_OTHERS] = {"host/sequential", "host/reverse", "host/pairwise"};
  list_ways(p);
  p->seen = calloc(p->map->classes + 1, sizeof *p->seen);
  p->alike = calloc(p->map->classes + 1, 1);
  p->told = calloc(a->n + 1, 1);
  if (!p->seen || !p->alike || !p->told) return fold_no_memory("to test a map");
  FOLD_TRY(open_rooms(p));
  for (unsigned k = 0; k < FOLD_MAP_OTHERS; k++)
    FOLD_TRY(fold_tree_of_order(fold_order_find(orders[k]), a->dtype, NULL, a->ranks, &p->other[k]));
  return find_alike(p);
}

void fold_map_proof_close(struct fold_map_proof *p) {
  for (unsigned k = 0; k < FOLD_MAP_OTHERS; k++) fold_tree_free(&p->other[k]);
  for (unsigned t = 0; p->room && t < p->threads; t++) {
    free(p->room[t].rows);
    free(p->room[t].want);
    free(p->room[t].others);
  }
  free(p->room);
  free(p->seen);
  free(p->alike);
  free(p->told);
}

static struct fold_call call_of(const struct fold_map_proof *p, const struct fold_map_room *room, size_t n, void *out) {
  return (struct fold_call){.dtype = p->asker->dtype,
                            .problem = fold_rows_problem(FOLD_SUM),
                            .rows = n,
                            .cols = p->asker->ranks,
                            .in = {room->rows},
                            .out = out};
}

static bool is_same(const struct fold_map_proof *p, const void *a, size_t i, const void *b, size_t j) {
  const enum fold_dtype dtype = p->asker->result;
  return fold_bits_same(dtype, fold_bits_load(dtype, a, i), fold_bits_load(dtype, b, j));
}

static size_t ways_of(const struct fold_map_proof *p, const struct fold_map_class *c) {
  return fold_tree_width(&c->tree) > 2 ? p->ways : p->narrow;
}

size_t fold_map_way_of(const struct fold_map_proof *p, const struct fold_map_class *c,
                       const struct fold_map_seen *seen) {
  const size_t ways = ways_of(p, c);
  size_t way = 0;
  while (way < ways && seen->wrong[way] > 0) way++;
  return way < ways ? way : 0;
}

/* Elements first to first + n - 1 of one class. `before` is what was seen of the class when its run began. */
struct block {
  uint32_t class;
  size_t first, n;
  bool has_wide_nodes; /* of more than two operands */
  const struct fold_map_seen *before;
  struct fold_map_room *room;
  struct fold_map_seen seen;
  uint64_t telling;
};

/* Whether a way predicts this element: no way says how a machine that adds several operands at once signs a zero,
 * overflows, or treats infinities and NaNs. */
static bool is_defined(const struct fold_map_proof *p, const struct block *b, size_t i) {
  if (!b->has_wide_nodes) return true;
  const double want = fold_bits_to_double(p->asker->result, fold_bits_load(p->asker->result, b->room->want, i));
  return isfinite(want) && want != 0;
}

/* Finds the elements of this block whose numbers distinguish the class's tree from other orders. room->want has what way 0 gives. */
static fold_status look_at_data(struct fold_map_proof *p, struct block *b) {
  const struct fold_map_class *c = &p->map->class[b->class];
  struct fold_map_seen seen = *b->before;
  for (size_t k = 0; k < FOLD_MAP_WAYS; k++) seen.wrong[k] += b->seen.wrong[k];
  const size_t way = fold_map_way_of(p, c, &seen);
  const struct fold_tree_arithmetic how = p->way[way];
  bool told[BLOCK] = {false};
  struct fold_call call = call_of(p, b->room, b->n, b->room->want);
  if (way > 0) FOLD_TRY(fold_tree_replay(&c->tree, how, &call));
  call.out = b->room->others;
  for (unsigned k = 0; k < FOLD_MAP_OTHERS; k++) {
    if (p->alike[b->class] >> k & 1) continue;
    FOLD_TRY(fold_tree_replay(&p->other[k], how, &call));
    for (size_t i = 0; i < b->n; i++)
      told[i] |= is_defined(p, b, i) && !is_same(p, b->room->want, i, b->room->others, i);
  }
  for (size_t i = 0; i < b->n; i++) p->told[b->first + i] += told[i], b->telling += told[i];
  return fold_ok();
}

static fold_status look_at_results(struct fold_map_proof *p, struct block *b) {
  const struct fold_map_class *c = &p->map->class[b->class];
  const struct fold_map_asker *a = p->asker;
  struct fold_map_seen *seen = &b->seen;
  const struct fold_call call = call_of(p, b->room, b->n, b->room->want);
  for (size_t i = 0; i < b->n; i++) {
    const unsigned char mark = a->mark[b->first + i];
    if (mark != FOLD_MAP_SAME && seen->marked[mark]++ == 0) seen->marked_at[mark] = b->first + i;
  }
  for (size_t k = ways_of(p, c); k-- > 0;) { /* way 0 last, because look_at_data mostly needs its results */
    if (k > 0 && b->before->wrong[k] > 0) continue;
    FOLD_TRY(fold_tree_replay(&c->tree, p->way[k], &call));
    for (size_t i = 0; i < b->n; i++) {
      if (a->mark[b->first + i] != FOLD_MAP_SAME) continue;
      if (!is_defined(p, b, i))
        seen->undefined[k]++;
      else if (!is_same(p, a->got, b->first + i, b->room->want, i) && seen->wrong[k]++ == 0 && k == 0)
        seen->wrong_at = b->first + i;
    }
  }
  return fold_ok();
}

/* Counts `more` into *n, and keeps the lowest place of them. */
static void count(uint64_t *n, size_t *at, uint64_t more, size_t more_at) {
  if (more > 0 && (*n == 0 || more_at < *at)) *at = more_at;
  *n += more;
}

static void add_block(struct fold_map_proof *p, const struct block *b) {
  struct fold_map_seen *seen = &p->seen[b->class];
  struct fold_map_class *c = &p->map->class[b->class];
  count(&seen->wrong[0], &seen->wrong_at, b->seen.wrong[0], b->seen.wrong_at);
  for (size_t k = 1; k < FOLD_MAP_WAYS; k++) seen->wrong[k] += b->seen.wrong[k];
  for (size_t k = 0; k < FOLD_MAP_WAYS; k++) seen->undefined[k] += b->seen.undefined[k];
  for (size_t m = 0; m < 3; m++) count(&seen->marked[m], &seen->marked_at[m], b->seen.marked[m], b->seen.marked_at[m]);
  c->tested += b->n;
  c->telling += b->telling;
  p->map->looked += b->n;
}

static fold_status predict_block(struct fold_map_proof *p, struct block *b) {
  fold_map_data_rows(&p->data, b->first, b->n, b->room->rows);
  FOLD_TRY(look_at_results(p, b));
  FOLD_TRY(look_at_data(p, b));
#pragma omp critical(fold_map_proof)
  add_block(p, b);
  return fold_ok();
}

static fold_status predict_at(struct fold_map_proof *p, uint32_t class, const struct fold_map_seen *before,
                              size_t first, size_t end) {
  struct block b = {.class = class,
                    .first = first,
                    .n = end - first < BLOCK ? end - first : BLOCK,
                    .has_wide_nodes = fold_tree_width(&p->map->class[class].tree) > 2,
                    .before = before,
                    .room = &p->room[omp_get_thread_num()]};
  return predict_block(p, &b);
}

/* Predicts a run of one class. Its first block shows nearly all ways that are wrong; then threads share the others, and
 * none of them looks at what another one finds, so that all counts are the same for any number of threads. */
static fold_status predict_run(struct fold_map_proof *p, uint32_t class, size_t first, size_t end) {
  struct fold_map_seen before = p->seen[class];
  fold_status failed = predict_at(p, class, &before, first, end);
  if (failed.code != FOLD_OK || end - first <= BLOCK) return failed;
  before = p->seen[class];
#pragma omp parallel for num_threads(p->threads) schedule(dynamic)
  for (size_t at = first + BLOCK; at < end; at += BLOCK) {
    const fold_status status = predict_at(p, class, &before, at, end);
    if (status.code == FOLD_OK) continue;
#pragma omp critical(fold_map_proof)
    failed = status;
  }
  return failed;
}

fold_status fold_map_predict(struct fold_map_proof *p) {
  const struct fold_map *map = p->map;
  for (size_t k = 0; k < map->runs; k++) {
    const size_t end = k + 1 < map->runs ? map->run[k + 1].first : map->asked.n;
    if (map->class[map->run[k].class].kind == FOLD_MAP_TREE)
      FOLD_TRY(predict_run(p, map->run[k].class, map->run[k].first, end));
  }
  return fold_ok();
}
