/* map.h: the tree over ranks of every element of a collective's message.
 *
 * The method is reveal.h's, and one call asks all elements at once: rank i holds M in each, rank j holds -M, the others units; what comes
 * out at an element is the number of ranks outside the smallest subtree of its tree that holds i and j. So N (N - 1) / 2 calls tell the
 * trees of all elements. Elements whose answers are the same have the same tree, built as reveal.h builds one of terms.
 *
 * The map is a hypothesis; random messages are its test (map_data.h). Promised: where the map tells a tree, its replay gave each element's
 * own bits, on every rank, in both runs of every message; what did not is told as what it is, and counted. Each call is made twice,
 * into memory with other poison, in half of the cases with a call on other data in between; and every rank's results are compared with
 * rank 0's.
 */
#ifndef FOLD_MAP_H
#define FOLD_MAP_H

#include <jansson.h>

#include "reveal.h"
#include "subject.h"

enum fold_map_kind {
  FOLD_MAP_TREE,
  FOLD_MAP_EXACT,  /* no order: the exact sum, rounded once */
  FOLD_MAP_VARIES, /* different bits in a repeat */
  FOLD_MAP_RANKS,  /* different bits on another rank */
  FOLD_MAP_VALUES, /* probes show the tree, and it does not give the bits of other data */
  FOLD_MAP_NO_TREE /* no tree answers the probes so */
};
/* "tree", "no order: exact", "varies from run to run" ... */
const char *fold_map_kind_text(enum fold_map_kind kind);

enum { FOLD_MAP_RANKS_MOST = 256, FOLD_MAP_CLASSES_MOST = 4096, FOLD_MAP_NAME = 160 };

/* Elements that have the same tree; those that have none, by kind. */
struct fold_map_class {
  enum fold_map_kind kind;
  struct fold_tree tree;           /* of TREE and EXACT; of VALUES what the probes show; else empty */
  struct fold_tree_arithmetic how; /* in what it replays */
  uint64_t fingerprint;            /* of the tree */
  bool declared;                   /* the tree is that of the subject's declared order */
  char name[FOLD_MAP_NAME];        /* of the tree: "ring from rank 3"; "" */
  char why[200];                   /* where it is no tree: what was seen */
  size_t first, elements;
  uint64_t tested, right; /* elements of random messages; those that were as the tree says, on all ranks */
  uint64_t telling;       /* random elements to which ranks in turn, up or down, or pairwise give different bits */
  unsigned told_least, told_most; /* in so many messages were one of its elements telling */
  size_t untold;                  /* elements that were in none: their order was not told from others */
};

/* Elements from `first` on, to the next run's. */
struct fold_map_run {
  size_t first;
  uint32_t class;
};

struct fold_map_asked {
  const struct fold_subject *subject; /* of an engine with ranks */
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
  uint64_t calls;         /* all that were made */
  uint64_t tested, right; /* as the classes' */
  uint64_t looked;        /* random elements that were replayed in three other orders too */
  uint64_t telling;       /* as the classes' */
  double seconds;
};

/* UNSUPPORTED where the subject does not take that, or the dtype shows no order; else what the engine says. */
fold_status fold_map_reveal(const struct fold_map_asked *asked, struct fold_map *map);
void fold_map_free(struct fold_map *map);
/* Each element has a tree, or an exact sum, that all messages bore out. */
bool fold_map_holds(const struct fold_map *map);

/* map_names.c: what people call a tree over ranks; "" where it has no name. */
fold_status fold_map_name(const struct fold_tree *tree, char name[FOLD_MAP_NAME]);

/* Trees of several maps, each once: a class's letter is its place among them. */
struct fold_map_legend {
  const struct fold_map_class **class; /* of a kind that is told with a tree */
  size_t n, room;
};
fold_status fold_map_legend_add(struct fold_map_legend *legend, const struct fold_map *map);
void fold_map_legend_free(struct fold_map_legend *legend);
/* Its place; legend->n where it has none. */
size_t fold_map_legend_find(const struct fold_map_legend *legend, const struct fold_map_class *class);

/* map_text.c. `setting`: how the library was set, the same pointer in maps of one. A row a setting, a column a length: the letters of a
 * map's trees ("-": none), or how many classes there are. */
void fold_map_print_table(const struct fold_map *maps, const char *const *setting, size_t n,
                          const struct fold_map_legend *legend, FILE *out);
/* A map's runs. */
void fold_map_print(const struct fold_map *map, const struct fold_map_legend *legend, const char *setting, FILE *out);
/* The trees. */
fold_status fold_map_legend_print(const struct fold_map_legend *legend, FILE *out);
/* map_json.c: as an object; its ranges are [first, last, place in the map's own "trees"]. */
fold_status fold_map_json(const struct fold_map *map, const char *setting, json_t **object);

#endif
