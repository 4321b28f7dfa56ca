/* nearer.h: compares two results of the same terms: how far apart they are, how far each is from the exact result, and
 * which is nearer to that. */
#ifndef FOLD_NEARER_H
#define FOLD_NEARER_H

#include "oracles/exact.h"

struct fold_nearer {
  uint64_t apart; /* how many floats; 0: the distance says nothing (fold_bits_apart) */
  bool zeros;     /* they are zeros of both signs */
  double ulps
      [2]; /* each one's error in units of the exact result's last place; infinity where one of the two is not finite */
  int nearer; /* which is nearer, 0 or 1; -1: neither */
};
void fold_nearer_ask(struct fold_nearer *nearer, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t a,
                     uint64_t b);
/* "3 floats apart; errors 0.21 and 2.8 ulps: `first` is nearer to the exact result" */
const char *fold_nearer_print(const struct fold_nearer *nearer, const char *first, const char *second, char text[200]);

#endif
