/* reveal.h: the tree of somebody's sum, seen from outside.
 *
 * The method is FPRev's (Xie et al., USENIX ATC 2025): a row holds M at term i, -M at term j and units elsewhere, M so large that it
 * swallows units: those that meet it before -M has met it are lost. The sum counts the units outside the smallest subtree that holds
 * i and j. Here the rows of many pairs are one launch; where a count would not be exact, the units of a row are those of a part of the
 * terms; and a node may have more than two operands.
 *
 * Promised: a tree that is told has given the subject's own bits on rows of wide exponents, with cancellation and ties, in a full launch
 * and row by row; what does not is told as what it is. The method knows a function that sums rows, and nothing of rigs and subjects.
 */
#ifndef FOLD_REVEAL_H
#define FOLD_REVEAL_H

#include "tree.h"

/* Sums `rows` rows of n terms, which lie in `in` from the start on, to `out`, patterns of the result's dtype. */
typedef fold_status fold_sum_rows(void *context, size_t rows, void *out);

struct fold_summer {
  fold_sum_rows *sum;
  void *context;
  size_t n, rows; /* terms; the rows of a full launch */
  enum fold_dtype dtype, accumulator, result;
  unsigned factors;      /* of a term: 2: the second factors lie in in[1] */
  void *in[FOLD_INPUTS]; /* rows x n elements each, written here before each call */
};

enum fold_revealed_kind {
  FOLD_REVEALED_TREE,   /* a tree, which replays */
  FOLD_REVEALED_EXACT,  /* no order: the exact sum, rounded once */
  FOLD_REVEALED_METHOD, /* not plain additions, or in an order that the terms choose, and it replays: `name` */
  FOLD_REVEALED_VARIES, /* different bits in a repeat */
  FOLD_REVEALED_VALUES, /* probes show the tree, and it does not give the bits of other data */
  FOLD_REVEALED_NO_TREE /* no tree answers the probes so */
};

struct fold_revealed {
  enum fold_revealed_kind kind;
  struct fold_tree tree;           /* of TREE; of METHOD and VALUES what the probes show; else empty */
  struct fold_tree_arithmetic how; /* of TREE: in what it replays */
  char name[400];                  /* of TREE the orders that it is, of METHOD what replays; "" */
  char why[200];                   /* of the others: what was seen */
  size_t rows;                     /* of a launch that it is the tree of */
  bool
      by_batch; /* a launch of one row has different bits than one of many; whose other tree's fingerprint is, 0 where none was found: */
  uint64_t batch_print;
  char place
      [160]; /* not "": rows of one launch have different bits for the same terms, where; the tree is that of one row in a launch */
  uint64_t probes, launches, proofs; /* pairs that were asked; calls; rows of data on which it gave the bits */
};

/* UNSUPPORTED, with the reason, where no mask of this dtype is swallowed by that accumulator; else the subject's own failures. */
fold_status fold_reveal(const struct fold_summer *summer, struct fold_revealed *revealed);
/* The same of full launches alone: of no other number of rows anything is said. */
fold_status fold_reveal_launches(const struct fold_summer *summer, struct fold_revealed *revealed);
void fold_revealed_free(struct fold_revealed *revealed);
/* "a tree", "no order: exact", ... */
const char *fold_revealed_text(enum fold_revealed_kind kind);

/* As a line of JSON, which the caller frees (revealed_json.c); of the summer n, dtype, accumulator and factors are asked. */
fold_status fold_revealed_json(const struct fold_revealed *revealed, const char *subject,
                               const struct fold_summer *summer, char **line);

/* The parts of the method. */

/* How probes are written for a dtype, an accumulator and a result. */
struct fold_masks {
  int mask, unit; /* M is 1.5 x 2^mask, a unit 2^unit */
  size_t most;    /* units of a row */
};
fold_status fold_masks_of(enum fold_dtype dtype, enum fold_dtype accumulator, enum fold_dtype result,
                          struct fold_masks *masks);

struct fold_pair {
  uint32_t i, j;
  uint32_t size; /* answer: how many terms the smallest subtree that holds both has; or */
};
#define FOLD_NOT_A_COUNT UINT32_MAX

/* Asks all pairs, in full launches. */
struct fold_prober {
  const struct fold_summer *summer;
  struct fold_masks masks;
  size_t parts;        /* rows of a pair */
  unsigned char *unit; /* a row of units for each part */
  uint64_t *out, probes, launches;
};
fold_status fold_prober_open(struct fold_prober *prober, const struct fold_summer *summer);
void fold_prober_close(struct fold_prober *prober);
fold_status fold_prober_ask(struct fold_prober *prober, struct fold_pair *pairs, size_t n);
/* How many units of the terms among[k].j, all others zero, come out beside masks at i and j. */
fold_status fold_prober_ask_among(struct fold_prober *prober, uint32_t i, uint32_t j, const struct fold_pair *among,
                                  size_t n, size_t *kept);
/* Whether rows of units alone are counted right; `why` says what is wrong. */
fold_status fold_prober_count(struct fold_prober *prober, bool *right, char why[200]);

/* Who answers for n terms: fold_prober_ask and fold_prober_ask_among, or others like them. */
struct fold_asker {
  fold_status (*ask)(void *context, struct fold_pair *pairs, size_t n);
  fold_status (*ask_among)(void *context, uint32_t i, uint32_t j, const struct fold_pair *among, size_t n,
                           size_t *kept);
  void *context;
  size_t n;
};
struct fold_asker fold_prober_asker(struct fold_prober *prober);
/* The tree that the answers tell; `why` is not "" where there is none. */
fold_status fold_tree_build(const struct fold_asker *asker, struct fold_tree *tree, char why[200]);

/* Of a tree of products: which enter by an FMA (tree->fused). */
fold_status fold_tree_ask_fused(const struct fold_summer *summer, struct fold_tree *tree, uint64_t *launches);

/* Row `row` of the data that trees are tested on: each factor's n terms. */
void fold_proof_row(const struct fold_summer *summer, size_t row, void *const out[FOLD_INPUTS]);
enum { FOLD_PROOF_ROWS = 180 };
/* In words: "no negative term, ties". */
void fold_proof_about(size_t row, char text[60]);

#endif
