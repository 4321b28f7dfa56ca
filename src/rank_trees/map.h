/* map.h: the tree over ranks of every element of a collective's message.
 *
 * The method is reveal.h's, and one call asks about all elements at once: rank i holds M in each, rank j holds -M, the others units. The
 * result of an element is the number of ranks outside the smallest subtree of its tree that holds i and j. So N (N - 1) / 2 calls give the
 * trees of all elements. Elements with the same answers have the same tree, which is built as reveal.h builds a tree of terms.
 *
 * The map is a hypothesis; random messages test it (map_data.h). Promised: if the map reports a tree, its replay gave each element's
 * own bits, on every rank, in both runs of every message; anything else is reported as what it is, and counted. Each call is made twice,
 * with different poison in the output; in half of the cases a call on other data comes in between. Every rank's results are compared
 * with rank 0's.
 */
#ifndef FOLD_MAP_H
#define FOLD_MAP_H

#include <jansson.h>

#include "model/subject.h"
#include "reveal/reveal.h"

enum fold_map_kind {
  FOLD_MAP_TREE,
  FOLD_MAP_EXACT,  /* no order: the exact sum, rounded once */
  FOLD_MAP_VARIES, /* different bits in a repeat */
  FOLD_MAP_RANKS,  /* different bits on another rank */
  FOLD_MAP_VALUES, /* probes show a tree, but it does not give the bits of other data */
  FOLD_MAP_NO_TREE /* no tree explains the answers to the probes */
};
/* "tree", "no order: exact", "varies from run to run" ... */
const char *fold_map_kind_text(enum fold_map_kind kind);

enum { FOLD_MAP_RANKS_MOST = 256, FOLD_MAP_CLASSES_MOST = 4096, FOLD_MAP_NAME = 160 };

/* Elements that have the same tree; or those without a tree, by kind. */
struct fold_map_class {
  enum fold_map_kind kind;
  struct fold_tree tree;           /* of TREE and EXACT; for VALUES what the probes show; else empty */
  struct fold_tree_arithmetic how; /* the arithmetic in which it replays */
  uint64_t fingerprint;            /* of the tree */
  bool declared;                   /* the tree is that of the subject's declared order */
  char name[FOLD_MAP_NAME];        /* the name of the tree: "ring from rank 3"; "" if it has none */
  char why[200];                   /* if it is no tree: what was seen */
  size_t first, elements;
  uint64_t tested,
      right; /* how many elements of random messages were tested, and how many had the tree's bits on all ranks */
  uint64_t telling; /* how many of them would have other bits if ranks were added in turn, up or down, or pairwise */
  unsigned told_least, told_most; /* the least and the most messages in which an element of the class was telling */
  size_t untold; /* elements that were telling in no message: their order was not distinguished from others */
};

/* Neighbouring elements of one class, from `first` to the next run's `first`. */
struct fold_map_run {
  size_t first;
  uint32_t class;
};

struct fold_map_asked {
  const struct fold_subject *subject; /* its engine must have ranks */
  enum fold_dtype dtype;
  size_t n; /* elements of a message */
};

struct fold_map {
  struct fold_map_asked asked;
  unsigned ranks;
  char library[64];
  struct fold_map_class *class;
  struct fold_map_run *run;
  size_t classes, runs;
  unsigned messages;      /* of random numbers */
  uint64_t calls;         /* how many calls were made */
  uint64_t tested, right; /* sums over the classes */
  uint64_t looked;        /* how many random elements were also replayed in three other orders */
  uint64_t telling;       /* the sum over the classes */
  double seconds;
};

/* FOLD_UNSUPPORTED if the subject does not take such messages, or if the dtype shows no order; else the engine's
 * failures. */
fold_status fold_map_reveal(const struct fold_map_asked *asked, struct fold_map *map);
void fold_map_free(struct fold_map *map);
/* Whether each element has a tree, or an exact sum, that all messages confirmed. */
bool fold_map_holds(const struct fold_map *map);

/* rank_trees/names.c: the usual name of a tree over ranks; "" if it has none. */
fold_status fold_map_name(const struct fold_tree *tree, char name[FOLD_MAP_NAME]);

/* The trees of several maps, without repetition. The place of a class in this list gives its letter. */
struct fold_map_legend {
  const struct fold_map_class **class; /* only of kinds that are shown with a tree */
  size_t n, room;
};
fold_status fold_map_legend_add(struct fold_map_legend *legend, const struct fold_map *map);
void fold_map_legend_free(struct fold_map_legend *legend);

/* rank_trees/text.c: a table with a row for each setting and a column for each length. A cell has the letters of the map's
 * trees ("-": none), or the number of its classes. `setting` is how the library was set; maps with the same setting
 * have the same pointer. */
void fold_map_print_table(const struct fold_map *maps, const char *const *setting, size_t n,
                          const struct fold_map_legend *legend, FILE *out);
/* Lists the runs of a map. */
void fold_map_print(const struct fold_map *map, const struct fold_map_legend *legend, const char *setting, FILE *out);
/* Describes each tree. */
fold_status fold_map_legend_print(const struct fold_map_legend *legend, FILE *out);
/* The map as an object; its ranges are [first, last, index into the map's own "trees"]. */
fold_status fold_map_json(const struct fold_map *map, const char *setting, json_t **object);

#endif
