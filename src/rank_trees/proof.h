/* rank_trees/proof.h: what the test of a map knows while random messages are predicted.
 *
 * Counts do not tell in which arithmetic a tree adds. All possible ways are tried side by side, and one that gives a wrong bit is out.
 */
#ifndef FOLD_MAP_PROOF_H
#define FOLD_MAP_PROOF_H

#include "rank_trees/parts.h"
#include "reveal/map_data.h"

enum { FOLD_MAP_ACCUMULATORS = 4, FOLD_MAP_WAYS = FOLD_MAP_ACCUMULATORS * FOLD_FUSINGS, FOLD_MAP_OTHERS = 3 };

/* For one class: how many elements are not as each way predicts, or differ in a repeat or on a rank, and the lowest of
 * them. */
struct fold_map_seen {
  uint64_t wrong[FOLD_MAP_WAYS], marked[3];
  uint64_t undefined[FOLD_MAP_WAYS]; /* how many elements it cannot judge */
  size_t wrong_at, marked_at[3];
};

/* One thread's room for a block of elements. */
struct fold_map_room {
  unsigned char *rows, *want, *others;
};

struct fold_map_proof {
  struct fold_map *map;
  struct fold_map_asker *asker;
  struct fold_map_data data;
  struct fold_tree_arithmetic way[FOLD_MAP_WAYS];
  size_t ways, narrow; /* narrow: those that differ for trees of two operands a node, which come first */
  struct fold_map_seen *seen;
  unsigned char *alike; /* of each class: bit k says that its tree is other[k] */
  struct fold_map_room *room;
  unsigned threads;
  unsigned char *told;                     /* for each element: how many messages were telling */
  struct fold_tree other[FOLD_MAP_OTHERS]; /* orders from which the data should distinguish the map's trees */
};

/* Opens what `map` and `asker` need. Close it also after a failure. */
fold_status fold_map_proof_open(struct fold_map_proof *p, struct fold_map *map, struct fold_map_asker *asker);
void fold_map_proof_close(struct fold_map_proof *p);
/* Predicts the asker's last call, whose terms p->data describes, and counts what is as predicted. */
fold_status fold_map_predict(struct fold_map_proof *p);
/* The first way that was never wrong; way 0 if all were wrong. */
size_t fold_map_way_of(const struct fold_map_proof *p, const struct fold_map_class *c,
                       const struct fold_map_seen *seen);

#endif
