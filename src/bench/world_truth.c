/* bench/world_truth.c: computes exact sums of a bench's inputs piece by piece, because 16 GB on GPUs do not fit into memory here at once.
 *
 * The terms are generated again on the host, by definition the same bits as a GPU's, and added up in the oracle's
 * superaccumulators. No code of a subject is used. It takes some 3 ns for each term, divided by the number of cores.
 */
#include <stdlib.h>

#include "bench/world_race.h"

/* PIECE is the terms of a piece. KEPT is how many sums are kept: those of both inputs for as many lengths as a bench
 * takes in turn. Only one is in use at a time, so that the oldest can always be replaced. */
enum { PIECE = 1 << 24, KEPT = 64 };

struct kept {
  struct fold_source source;
  struct fold_truth truth;
};
struct fold_world_sums {
  struct kept kept[KEPT];
  size_t n; /* how many were ever kept */
};

fold_status fold_world_sums_open(struct fold_world_sums **sums) {
  *sums = calloc(1, sizeof **sums);
  return *sums ? fold_ok() : fold_no_memory("for exact sums");
}

void fold_world_sums_close(struct fold_world_sums *sums) {
  for (size_t i = 0; sums && i < sums->n && i < KEPT; i++) fold_truth_free(&sums->kept[i].truth);
  free(sums);
}

static const struct fold_truth *find(const struct fold_world_sums *sums, const struct fold_source *source) {
  for (size_t i = 0; i < sums->n && i < KEPT; i++) {
    const struct kept *k = &sums->kept[i];
    if (k->source.generator == source->generator && k->source.dtype == source->dtype &&
        k->source.seed == source->seed && k->source.cols == source->cols)
      return &k->truth;
  }
  return NULL;
}

/* Only a finished sum is kept: one whose closing failed must not be found later. */
static const struct fold_truth *keep(struct fold_world_sums *sums, const struct fold_source *source,
                                     const struct fold_truth *made) {
  struct kept *k = &sums->kept[sums->n % KEPT];
  if (sums->n++ >= KEPT) fold_truth_free(&k->truth);
  *k = (struct kept){*source, *made};
  return &k->truth;
}

fold_status fold_world_sums_find(struct fold_world_sums *sums, const struct fold_source *source,
                                 const volatile int *stop, const struct fold_truth **truth) {
  struct fold_super sum = {0}, abs = {0};
  struct fold_truth made;
  size_t size = fold_dtype_size(source->dtype), n = source->cols;
  *truth = find(sums, source);
  if (*truth) return fold_ok();
  FOLD_TRY(fold_source_check(source));
  void *piece = malloc((n < PIECE ? n : PIECE) * size + 1);
  if (!piece) return fold_no_memory("for a piece of the input");
  for (size_t at = 0; at < n && !*stop; at += PIECE) {
    size_t some = n - at < PIECE ? n - at : PIECE;
    fold_generate_parallel(source, at, some, piece, 0);
    fold_super_add_parallel(source->dtype, piece, some, &sum, &abs, 0);
  }
  free(piece);
  if (*stop) return fold_ok();
  fold_truth_init(&made);
  fold_status status = fold_oracle_close(source->dtype, &sum, &abs, n, &made);
  if (status.code == FOLD_OK)
    *truth = keep(sums, source, &made);
  else
    fold_truth_free(&made);
  return status;
}
