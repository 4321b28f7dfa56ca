/* rank_trees/parts.h: what the files of the map's method share. */
#ifndef FOLD_MAP_PARTS_H
#define FOLD_MAP_PARTS_H

#include "rank_trees/map.h"
#include "ranks/world.h"

/* rank_trees/ask.c: calls one collective with inputs that the ranks make, and compares the results. */
enum fold_map_mark { FOLD_MAP_SAME, FOLD_MAP_OTHER_IN_REPEAT, FOLD_MAP_OTHER_ON_RANK };
struct fold_map_asker {
  const struct fold_subject *subject;
  enum fold_dtype dtype, result;
  size_t n;
  unsigned ranks;
  struct fold_world *world;
  struct fold_wire_fill *fill; /* one for each rank; the caller writes all of it but `load` */
  void *got, *other;           /* the results of rank 0 in the first run; any other results */
  void *between;               /* rank 0's results of the first call in between */
  bool has_between;
  uint64_t between_hash;
  unsigned char *mark; /* of each element: enum fold_map_mark */
  bool marked;         /* some mark is not SAME */
  uint64_t calls;
  unsigned odd_rank; /* the first rank whose results were other, and where */
  size_t odd_at;
  char side_effect[200]; /* what a run did besides computing; the status of the call is then BAD_INPUT */
};
fold_status fold_map_asker_open(struct fold_map_asker *asker, const struct fold_map_asked *asked);
void fold_map_asker_close(struct fold_map_asker *asker);
fold_status fold_map_call(struct fold_map_asker *asker);
/* Calls with the pattern rank[r] in every element of rank r. */
fold_status fold_map_call_equal(struct fold_map_asker *asker, const uint64_t *rank);

/* rank_trees/sort.c: sorts elements by their answers. A class without a table of answers is one of those that have no tree. */
enum { FOLD_MAP_KNOWN = 1024 };
struct fold_map_sorter {
  size_t n;
  uint32_t *of;          /* for each element its node of the last round */
  struct fold_map_node { /* an answer, and the node of the answers before it */
    uint32_t parent;
    uint16_t answer;
  } * node;
  size_t nodes, room, round;      /* `round` is where this round's nodes begin */
  uint32_t known[FOLD_MAP_KNOWN]; /* indices of nodes, by a hash of parent and answer */
  struct fold_map_bad {           /* the first answer that is not a count */
    bool seen;
    size_t element, pair; /* pair 0 means that the call had only units */
    double count;
  } bad;
};
enum { FOLD_MAP_NODE_VARIES, FOLD_MAP_NODE_RANKS, FOLD_MAP_NODE_NO_COUNT, FOLD_MAP_NODE_ROOT };
enum { FOLD_MAP_NO_COUNT = UINT16_MAX };
fold_status fold_map_sorter_open(struct fold_map_sorter *sorter, size_t n);
void fold_map_sorter_close(struct fold_map_sorter *sorter);
/* Adds the answers of the asker's last call, in which at most `most` units come out: the subtree of the pair has n -
 * units terms. FOLD_UNSUPPORTED if there are too many classes. */
fold_status fold_map_sort(struct fold_map_sorter *sorter, const struct fold_map_asker *asker, int unit, unsigned most,
                          size_t pair);
/* The answers that lead to a node, in the order in which they were given. */
void fold_map_answers(const struct fold_map_sorter *sorter, uint32_t node, uint16_t *answer, size_t n);

/* rank_trees/prove.c: tests the map with random messages. Sets the map's counts, and changes the kinds that a message
 * refutes. */
fold_status fold_map_prove(struct fold_map *map, struct fold_map_asker *asker);

#endif
