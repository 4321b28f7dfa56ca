/* reveal.h: the tree of somebody's sum, seen from outside.
 *
 * The method is FPRev's (Xie et al., USENIX ATC 2025): a row holds M at term i, -M at term j and units elsewhere. M is so large that it
 * absorbs units: those that are added to it before -M is are lost. The sum counts the units outside the smallest subtree that holds
 * i and j. Here one launch holds the rows of many pairs; if a count would not be exact, a row has units in only a part of the terms; and
 * a node may have more than two operands.
 *
 * Promised: a tree that is reported has given the subject's own bits on rows of wide exponents, with cancellation and ties, in a full
 * launch and row by row. Anything else is reported as what it is. The method knows a function that sums rows; it knows no rigs or subjects.
 */
#ifndef FOLD_REVEAL_H
#define FOLD_REVEAL_H

#include "model/subject.h"
#include "reveal/tree.h"

/* Sums `rows` rows of n terms, the first `rows` of `in`, to `out`: patterns of the result's dtype. */
typedef fold_status fold_sum_rows(void *context, size_t rows, void *out);

struct fold_summer {
  fold_sum_rows *sum;
  void *context;
  size_t n, rows; /* terms of a row; rows of a full launch */
  enum fold_dtype dtype, accumulator, result;
  unsigned factors;      /* of each term; if 2, the second factors are in in[1] */
  void *in[FOLD_INPUTS]; /* rows x n elements each, written here before each call */
  /* The rows of a full launch that probes are put to, in rising order; NULL: all rows. */
  const size_t *place;
  size_t places;
};
static inline size_t fold_probed_rows(const struct fold_summer *summer) {
  return summer->place ? summer->places : summer->rows;
}
static inline size_t fold_probed_row(const struct fold_summer *summer, size_t k) {
  return summer->place ? summer->place[k] : k;
}

enum fold_revealed_kind {
  FOLD_REVEALED_TREE,   /* a tree, which replays */
  FOLD_REVEALED_EXACT,  /* no order: the exact sum, rounded once */
  FOLD_REVEALED_METHOD, /* no plain additions, or an order that depends on the terms; `name` replays it */
  FOLD_REVEALED_VARIES, /* different bits in a repeat */
  FOLD_REVEALED_VALUES, /* probes show a tree, but it does not give the bits of other data */
  FOLD_REVEALED_NO_TREE /* no tree explains the answers to the probes */
};

struct fold_revealed {
  enum fold_revealed_kind kind;
  struct fold_tree tree;           /* of TREE; for METHOD and VALUES what the probes show; else empty */
  struct fold_tree_arithmetic how; /* of TREE: the arithmetic in which it replays */
  char name[400];                  /* of TREE: the orders whose tree it is; of METHOD: what replays; else "" */
  char why[200]; /* of the other kinds: what was seen; of TREE in more than one precision: which joins are in which */
  size_t rows;   /* the tree is that of a launch of so many rows */
  /* A launch of one row has different bits than one of many. batch_print is the fingerprint of the tree of the latter, 0 if none was
   * found. */
  bool by_batch;
  uint64_t batch_print;
  /* If not "": where rows of one launch have different bits for the same terms. The tree is then that of a launch of one row. */
  char place[160];
  uint64_t probes, launches, proofs; /* pairs that were asked; calls; rows of data on which the tree gave the bits */
};

/* FOLD_UNSUPPORTED, with the reason, if the dtype has no mask that this accumulator absorbs; else the subject's own
 * failures. */
fold_status fold_reveal(const struct fold_summer *summer, struct fold_revealed *revealed);
/* The same for full launches alone. It says nothing about launches of other numbers of rows. */
fold_status fold_reveal_launches(const struct fold_summer *summer, struct fold_revealed *revealed);
void fold_revealed_free(struct fold_revealed *revealed);
/* "a tree", "no order: exact", ... */
const char *fold_revealed_text(enum fold_revealed_kind kind);

/* A line of JSON, which the caller frees (revealed_json.c). Of the summer only n, dtype, accumulator and factors are
 * used. */
fold_status fold_revealed_json(const struct fold_revealed *revealed, const struct fold_subject *subject,
                               const struct fold_summer *summer, char **line);

/* The parts of the method. */

/* How probes are written for a dtype, an accumulator and a result. */
struct fold_masks {
  int mask, unit; /* M is 1.5 x 2^mask, a unit 2^unit */
  size_t most;    /* how many units a row may have */
};
fold_status fold_masks_of(enum fold_dtype dtype, enum fold_dtype accumulator, enum fold_dtype result,
                          struct fold_masks *masks);

struct fold_pair {
  uint32_t i, j;
  uint32_t size; /* the answer: how many terms the smallest subtree that holds both has; or */
};
#define FOLD_NOT_A_COUNT UINT32_MAX

/* Asks about pairs, in full launches. */
struct fold_prober {
  const struct fold_summer *summer;
  struct fold_masks masks;
  size_t parts;        /* how many rows a pair takes */
  unsigned char *unit; /* a row of units for each part */
  uint64_t *out, probes, launches;
};
fold_status fold_prober_open(struct fold_prober *prober, const struct fold_summer *summer);
void fold_prober_close(struct fold_prober *prober);
fold_status fold_prober_ask(struct fold_prober *prober, struct fold_pair *pairs, size_t n);
/* Counts the units that come out, where terms among[k].j have units, terms i and j have the masks, and all other terms
 * are zero. */
fold_status fold_prober_ask_among(struct fold_prober *prober, uint32_t i, uint32_t j, const struct fold_pair *among,
                                  size_t n, size_t *kept);
/* Whether rows that hold only units are counted correctly; if not, `why` says what is wrong. */
fold_status fold_prober_count(struct fold_prober *prober, bool *right, char why[200]);

/* What answers the questions about n terms: fold_prober_ask and fold_prober_ask_among, or functions like them. */
struct fold_asker {
  fold_status (*ask)(void *context, struct fold_pair *pairs, size_t n);
  fold_status (*ask_among)(void *context, uint32_t i, uint32_t j, const struct fold_pair *among, size_t n,
                           size_t *kept);
  void *context;
  size_t n;
};
struct fold_asker fold_prober_asker(struct fold_prober *prober);
/* Builds the tree that explains the answers. If there is none, `why` is not "". */
fold_status fold_tree_build(const struct fold_asker *asker, struct fold_tree *tree, char why[200]);

/* Finds out which terms of a tree of products are added by an FMA (tree->fused). */
fold_status fold_tree_ask_fused(const struct fold_summer *summer, struct fold_tree *tree, uint64_t *launches);

/* Finds out to which dtype each join of two operands is rounded (tree->accumulator; NULL if all are rounded to the narrowest), and
 * asks for fused products again, for the narrowest dtype: the others are rounded to that. */
fold_status fold_tree_ask_accumulators(const struct fold_summer *summer, struct fold_tree *tree,
                                       enum fold_dtype *narrowest, uint64_t *launches);
/* "its 99 sums are rounded: 96 to f32, 3 to f64, those within x[96..99]". */
fold_status fold_tree_accumulators_text(const struct fold_tree *tree, enum fold_dtype narrowest, char *text,
                                        size_t size);

/* Row `row` of the data that trees are tested on: each factor's n terms. */
void fold_proof_row(const struct fold_summer *summer, size_t row, void *const out[FOLD_INPUTS]);
enum { FOLD_PROOF_ROWS = 180 };
/* The row in words: "no negative term, ties". */
void fold_proof_about(size_t row, char text[60]);

#endif
