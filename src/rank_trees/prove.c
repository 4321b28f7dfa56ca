/* rank_trees/prove.c: tests a map with random messages: each element of each must be as its tree predicts.
 *
 * The class gets the first of the ways to add that were never wrong.
 */
#include "rank_trees/proof.h"

/* Long messages are tested fewer times: TERMS limits the number of terms in all messages together. */
enum { LEAST_MESSAGES = 8, TERMS = 1 << 27 };

static unsigned messages_of(const struct fold_map_asker *a) {
  const size_t messages = TERMS / (a->n * a->ranks);
  return messages < LEAST_MESSAGES ? LEAST_MESSAGES : messages < FOLD_MAP_TURNS ? (unsigned)messages : FOLD_MAP_TURNS;
}

static fold_status send_messages(struct fold_map_proof *p) {
  struct fold_map_asker *a = p->asker;
  const unsigned messages = messages_of(a);
  const enum fold_dtype accumulator = fold_subject_accumulator(a->subject, a->dtype);
  for (p->map->messages = 0; p->map->messages < messages; p->map->messages++) {
    const uint64_t seed = p->map->messages + 1;
    fold_map_data_open(&p->data, a->dtype, accumulator, a->ranks, seed);
    for (unsigned r = 0; r < a->ranks; r++) a->fill[r].accumulator = accumulator, a->fill[r].seed = seed;
    FOLD_TRY(fold_map_call(a));
    FOLD_TRY(fold_map_predict(p));
  }
  return fold_ok();
}

/* Sets the kind, way and counts of a class from what the messages showed. */
static void conclude(const struct fold_map_proof *p, const struct fold_map_seen *seen, struct fold_map_class *c) {
  const size_t way = fold_map_way_of(p, c, seen);
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
             "%llu of %llu random elements differ between ranks, first element %zu",
             (unsigned long long)rank, (unsigned long long)c->tested, seen->marked_at[FOLD_MAP_OTHER_ON_RANK]);
  } else if (seen->wrong[way] > 0) {
    c->kind = FOLD_MAP_VALUES;
    snprintf(c->why, sizeof c->why,
             "masks show a tree, and %llu of %llu random elements have different bits, first element %zu",
             (unsigned long long)seen->wrong[way], (unsigned long long)c->tested, seen->wrong_at);
  } else if (c->tree.joins == 1 && c->tree.n > 2 && c->how.fusing == FOLD_ROUNDED_ONCE) {
    c->kind = FOLD_MAP_EXACT;
  }
}

/* How often the elements of each class were telling. */
static void count_told(const struct fold_map_proof *p) {
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
  struct fold_map_proof p;
  fold_status status = fold_map_proof_open(&p, map, asker);
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
  fold_map_proof_close(&p);
  return status;
}
