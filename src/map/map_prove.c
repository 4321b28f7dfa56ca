/* map_prove.c: the map's prediction of random messages, element by element.
 *
 * Counts do not tell in which arithmetic a tree adds. All possible ones are tried side by side, and one that gives a wrong bit is out.
 * The class gets the first of those that are left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "map_data.h"
#include "map_parts.h"

enum { ACCUMULATORS = 4, WAYS = ACCUMULATORS * FOLD_FUSINGS, BLOCK = 2048, OTHERS = 3 };
/* Long messages are tested fewer times: TERMS limits the number of terms in all messages together. */
enum { LEAST_MESSAGES = 8, TERMS = 1 << 27 };

/* For one class: how many elements are not as each way predicts, or differ in a repeat or on a rank, and the first of
 * them. */
struct seen {
  uint64_t wrong[WAYS], marked[3];
  uint64_t undefined[WAYS]; /* how many elements it cannot judge */
  size_t wrong_at, marked_at[3];
};

struct proof {
  struct fold_map *map;
  struct fold_map_asker *asker;
  struct fold_map_data data;
  struct fold_tree_arithmetic way[WAYS];
  size_t ways, narrow; /* narrow: those that differ for trees of two operands a node, which come first */
  struct seen *seen;
  unsigned char *rows, *want, *others; /* for one block */
  unsigned char *told;                 /* for each element: how many messages were telling */
  struct fold_tree other[OTHERS];      /* orders from which the data should distinguish the map's trees */
};

static void add_ways(struct proof *p, enum fold_dtype accumulator, unsigned fusing) {
  p->way[p->ways++] = (struct fold_tree_arithmetic){accumulator, p->asker->result, (enum fold_fusing)fusing};
}

/* Lists the ways in which a tree may add, as for a tree of terms (reveal.c). */
static void list_ways(struct proof *p) {
  const struct fold_map_asker *a = p->asker;
  const enum fold_dtype declared = fold_subject_accumulator(a->subject, a->dtype);
  const enum fold_dtype tried[ACCUMULATORS] = {declared, FOLD_F32, FOLD_F64, a->dtype};
  for (unsigned f = 0; f < FOLD_FUSINGS; f++) {
    for (unsigned k = 0; k < ACCUMULATORS; k++) {
      bool again = false;
      for (unsigned before = 0; before < k; before++) again |= tried[before] == tried[k];
      if (!again && fold_format_holds(fold_format_of(tried[k]), fold_format_of(a->dtype))) add_ways(p, tried[k], f);
    }
    if (f == 0) p->narrow = p->ways;
  }
}

static fold_status open_proof(struct proof *p) {
  const struct fold_map_asker *a = p->asker;
  static const char *const orders[OTHERS] = {"host/sequential", "host/reverse", "host/pairwise"};
  list_ways(p);
  p->seen = calloc(p->map->classes + 1, sizeof *p->seen);
  p->rows = malloc((size_t)BLOCK * a->ranks * 8);
  p->want = malloc((size_t)BLOCK * 8);
  p->others = malloc((size_t)BLOCK * 8);
  p->told = calloc(a->n + 1, 1);
  if (!p->seen || !p->rows || !p->want || !p->others || !p->told)
    return fold_error(FOLD_NO_MEMORY, "not enough memory to test a map");
  for (unsigned k = 0; k < OTHERS; k++)
    FOLD_TRY(fold_tree_of_order(fold_order_find(orders[k]), a->dtype, NULL, a->ranks, &p->other[k]));
  return fold_ok();
}

static void close_proof(struct proof *p) {
  for (unsigned k = 0; k < OTHERS; k++) fold_tree_free(&p->other[k]);
  free(p->seen);
  free(p->rows);
  free(p->want);
  free(p->others);
  free(p->told);
}

static struct fold_call call_of(const struct proof *p, size_t n, void *out) {
  return (struct fold_call){
      .dtype = p->asker->dtype, .op = FOLD_SUM, .rows = n, .cols = p->asker->ranks, .in = p->rows, .out = out};
}

static bool is_same(const struct proof *p, const void *a, size_t i, const void *b, size_t j) {
  const enum fold_dtype dtype = p->asker->result;
  return fold_bits_same(dtype, fold_bits_load(dtype, a, i), fold_bits_load(dtype, b, j));
}

static size_t ways_of(const struct proof *p, const struct fold_map_class *c) {
  return fold_tree_width(&c->tree) > 2 ? p->ways : p->narrow;
}

/* The first way that was never wrong; way 0 if all were wrong. */
static size_t way_of(const struct proof *p, const struct fold_map_class *c, const struct seen *seen) {
  const size_t ways = ways_of(p, c);
  size_t way = 0;
  while (way < ways && seen->wrong[way] > 0) way++;
  return way < ways ? way : 0;
}

/* Whether a way predicts this element: no way says how a machine that adds several operands at once signs a zero,
 * overflows, or treats infinities and NaNs. */
static bool is_defined(const struct proof *p, const struct fold_map_class *c, size_t i) {
  const double want = fold_bits_to_double(p->asker->result, fold_bits_load(p->asker->result, p->want, i));
  return fold_tree_width(&c->tree) <= 2 || (isfinite(want) && want != 0);
}

/* Finds the elements of this block whose numbers distinguish the class's tree from other orders. p->want has what way 0 gives. */
static fold_status look_at_data(struct proof *p, uint32_t class, size_t first, size_t n) {
  struct fold_map_class *c = &p->map->class[class];
  const size_t way = way_of(p, c, &p->seen[class]);
  const struct fold_tree_arithmetic how = p->way[way];
  bool told[BLOCK] = {false};
  struct fold_call call = call_of(p, n, p->want);
  if (way > 0) FOLD_TRY(fold_tree_replay(&c->tree, how, &call));
  call.out = p->others;
  for (unsigned k = 0; k < OTHERS; k++) {
    FOLD_TRY(fold_tree_replay(&p->other[k], how, &call));
    for (size_t i = 0; i < n; i++) told[i] |= is_defined(p, c, i) && !is_same(p, p->want, i, p->others, i);
  }
  for (size_t i = 0; i < n; i++) p->told[first + i] += told[i], c->telling += told[i];
  p->map->looked += n;
  return fold_ok();
}

/* Predicts elements first to first + n - 1, all of one class. */
static fold_status predict(struct proof *p, uint32_t class, size_t first, size_t n) {
  struct fold_map_class *c = &p->map->class[class];
  struct seen *seen = &p->seen[class];
  const struct fold_map_asker *a = p->asker;
  const size_t ways = ways_of(p, c);
  const struct fold_call call = call_of(p, n, p->want);
  fold_map_data_rows(&p->data, first, n, p->rows);
  c->tested += n;
  for (size_t i = 0; i < n; i++) {
    const unsigned char mark = a->mark[first + i];
    if (mark != FOLD_MAP_SAME && seen->marked[mark]++ == 0) seen->marked_at[mark] = first + i;
  }
  for (size_t k = ways; k-- > 0;) { /* way 0 last, because look_at_data mostly needs its results */
    if (k > 0 && seen->wrong[k] > 0) continue;
    FOLD_TRY(fold_tree_replay(&c->tree, p->way[k], &call));
    for (size_t i = 0; i < n; i++) {
      if (a->mark[first + i] != FOLD_MAP_SAME) continue;
      if (!is_defined(p, c, i))
        seen->undefined[k]++;
      else if (!is_same(p, a->got, first + i, p->want, i) && seen->wrong[k]++ == 0 && k == 0)
        seen->wrong_at = first + i;
    }
  }
  return look_at_data(p, class, first, n);
}

static fold_status predict_message(struct proof *p) {
  const struct fold_map *map = p->map;
  for (size_t k = 0; k < map->runs; k++) {
    const size_t end = k + 1 < map->runs ? map->run[k + 1].first : map->asked.n;
    if (map->class[map->run[k].class].kind != FOLD_MAP_TREE) continue;
    for (size_t at = map->run[k].first; at < end; at += BLOCK)
      FOLD_TRY(predict(p, map->run[k].class, at, end - at < BLOCK ? end - at : BLOCK));
  }
  return fold_ok();
}

static unsigned messages_of(const struct fold_map_asker *a) {
  const size_t messages = TERMS / (a->n * a->ranks);
  return messages < LEAST_MESSAGES ? LEAST_MESSAGES : messages < FOLD_MAP_TURNS ? (unsigned)messages : FOLD_MAP_TURNS;
}

static fold_status send_messages(struct proof *p) {
  struct fold_map_asker *a = p->asker;
  const unsigned messages = messages_of(a);
  const enum fold_dtype accumulator = fold_subject_accumulator(a->subject, a->dtype);
  for (p->map->messages = 0; p->map->messages < messages; p->map->messages++) {
    const uint64_t seed = p->map->messages + 1;
    fold_map_data_open(&p->data, a->dtype, accumulator, a->ranks, seed);
    for (unsigned r = 0; r < a->ranks; r++) a->fill[r].accumulator = accumulator, a->fill[r].seed = seed;
    FOLD_TRY(fold_map_call(a));
    FOLD_TRY(predict_message(p));
  }
  return fold_ok();
}

/* Sets the kind, way and counts of a class from what the messages showed. */
static void conclude(const struct proof *p, const struct seen *seen, struct fold_map_class *c) {
  const size_t way = way_of(p, c, seen);
  c->how = p->way[way];
  const uint64_t repeat = seen->marked[FOLD_MAP_OTHER_IN_REPEAT], rank = seen->marked[FOLD_MAP_OTHER_ON_RANK];
  c->tested -= seen->undefined[way];
  c->right = c->tested - seen->wrong[way] - repeat - rank;
  if (repeat > 0) {
    c->kind = FOLD_MAP_VARIES;
    snprintf(c->why, sizeof c->why, "%llu of %llu random elements have different bits in a repeat, first element %zu",
             (unsigned long long)repeat, (unsigned long long)c->tested, seen->marked_at[FOLD_MAP_OTHER_IN_REPEAT]);
  } else if (rank > 0) {
    c->kind = FOLD_MAP_RANKS;
    snprintf(c->why, sizeof c->why,
             "%llu of %llu random elements have different bits on another rank, first element %zu",
             (unsigned long long)rank, (unsigned long long)c->tested, seen->marked_at[FOLD_MAP_OTHER_ON_RANK]);
  } else if (seen->wrong[way] > 0) {
    c->kind = FOLD_MAP_VALUES;
    snprintf(c->why, sizeof c->why,
             "probes show a tree, and %llu of %llu random elements have different bits, first element %zu",
             (unsigned long long)seen->wrong[way], (unsigned long long)c->tested, seen->wrong_at);
  } else if (c->tree.joins == 1 && c->tree.n > 2 && c->how.fusing == FOLD_ROUNDED_ONCE) {
    c->kind = FOLD_MAP_EXACT;
  }
}

/* How often the elements of each class were telling. */
static void count_told(const struct proof *p) {
  struct fold_map *map = p->map;
  for (size_t k = 0; k < map->classes; k++) map->class[k].told_least = map->messages;
  for (size_t k = 0; k < map->runs; k++) {
    struct fold_map_class *c = &map->class[map->run[k].class];
    const size_t end = k + 1 < map->runs ? map->run[k + 1].first : map->asked.n;
    for (size_t i = map->run[k].first; i < end; i++) {
      if (p->told[i] < c->told_least) c->told_least = p->told[i];
      if (p->told[i] > c->told_most) c->told_most = p->told[i];
      c->untold += p->told[i] == 0;
    }
  }
}

fold_status fold_map_prove(struct fold_map *map, struct fold_map_asker *asker) {
  struct proof p = {.map = map, .asker = asker};
  fold_status status = open_proof(&p);
  if (status.code == FOLD_OK) status = send_messages(&p);
  if (status.code == FOLD_OK) count_told(&p);
  for (size_t k = 0; k < map->classes && status.code == FOLD_OK; k++) {
    struct fold_map_class *c = &map->class[k];
    if (c->kind == FOLD_MAP_TREE)
      conclude(&p, &p.seen[k], c);
    else
      c->tested = (uint64_t)c->elements * map->messages;
    map->tested += c->tested;
    map->right += c->right;
    map->telling += c->telling;
  }
  close_proof(&p);
  return status;
}
