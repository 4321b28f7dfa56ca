/* bench_world_truth.c: exact sums of a bench's inputs, made piece by piece: what is 16 GB on GPUs is nowhere whole here.
 *
 * The terms are generated anew on the host, by definition the same bits as a GPU's, and added up in the oracle's
 * superaccumulators: nothing of a subject is in it. Some 3 ns a term and core.
 */
#include <stdlib.h>

#include "bench_sitting.h"

/* Terms of a piece; sums that are kept: of both inputs of as many lengths as a bench takes in turn. */
enum { PIECE = 1 << 24, KEPT = 64 };

struct kept {
  struct fold_source source;
  uint64_t first;
  struct fold_truth truth;
};
struct fold_world_known {
  struct kept kept[KEPT];
  size_t n;
};

fold_status fold_world_known_open(struct fold_world_known **known) {
  *known = calloc(1, sizeof **known);
  return *known ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for exact sums");
}

void fold_world_known_close(struct fold_world_known *known) {
  for (size_t i = 0; known && i < known->n && i < KEPT; i++) fold_truth_free(&known->kept[i].truth);
  free(known);
}

static const struct fold_truth *find(const struct fold_world_known *known, const struct fold_source *source,
                                     uint64_t first) {
  for (size_t i = 0; i < known->n && i < KEPT; i++) {
    const struct kept *k = &known->kept[i];
    if (k->source.generator == source->generator && k->source.dtype == source->dtype &&
        k->source.seed == source->seed && k->source.cols == source->cols && k->first == first)
      return &k->truth;
  }
  return NULL;
}

/* The oldest makes room. */
static struct fold_truth *keep(struct fold_world_known *known, const struct fold_source *source, uint64_t first) {
  struct kept *k = &known->kept[known->n % KEPT];
  if (known->n++ >= KEPT) fold_truth_free(&k->truth);
  k->source = *source;
  k->first = first;
  fold_truth_init(&k->truth);
  return &k->truth;
}

fold_status fold_world_known_sum(struct fold_world_known *known, const struct fold_source *source, uint64_t first,
                                 const volatile int *stop, const struct fold_truth **truth) {
  struct fold_super sum = {0}, abs = {0};
  size_t size = fold_dtype_size(source->dtype), n = source->cols;
  *truth = find(known, source, first);
  if (*truth) return fold_ok();
  FOLD_TRY(fold_source_check(source));
  void *piece = malloc((n < PIECE ? n : PIECE) * size + 1);
  if (!piece) return fold_error(FOLD_NO_MEMORY, "not enough memory for a piece of the input");
  for (size_t at = 0; at < n && !*stop; at += PIECE) {
    size_t some = n - at < PIECE ? n - at : PIECE;
    fold_generate_parallel(source, first + at, some, piece, 0);
    fold_super_add_parallel(source->dtype, piece, some, &sum, &abs, 0);
  }
  free(piece);
  if (*stop) return fold_ok();
  struct fold_truth *made = keep(known, source, first);
  *truth = made;
  return fold_oracle_close(source->dtype, &sum, &abs, n, made);
}
