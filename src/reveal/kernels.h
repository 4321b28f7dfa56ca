/* kernels.h: the search for the kernel of a library that adds by a tree. Each library has a file with its rule.
 *
 * A kernel's order is a rule with parameters, written over fingerprints: 0 is no term yet, and joins with nothing. A name is given only to
 * a tree that has the rule's fingerprint, so no rule can name a tree that is another.
 */
#ifndef FOLD_KERNELS_H
#define FOLD_KERNELS_H

#include "oracles/fingerprint.h"
#include "reveal/tree.h"

enum { FOLD_KERNEL_FIRSTS = 32 };

struct fold_kernel_search {
  const uint64_t *term; /* the prints of n terms */
  uint64_t *spare;      /* room for n prints */
  size_t n;
  uint64_t print;                     /* the tree's */
  uint64_t first[FOLD_KERNEL_FIRSTS]; /* the prints of the first term's lowest nodes */
  size_t firsts;
  char *name; /* 120 characters; "" until a rule gives the tree's print */
};

/* Joins the prints pairwise: neighbours, then their sums, and so on. */
uint64_t fold_join_pairwise(uint64_t *print, size_t n);
uint64_t fold_join_in_turn(const uint64_t *print, size_t n, size_t stride);
/* Joins the upper half to the lower half, and so on, as lanes do that shuffle down. n is a power of two. */
uint64_t fold_join_halves(uint64_t *print, size_t n);

/* Each tries a library's rule with all parameters, and writes the name of the first that has the tree. */
void fold_try_cub(struct fold_kernel_search *s);
void fold_try_cublas(struct fold_kernel_search *s);
void fold_try_torch_cpu(struct fold_kernel_search *s);
void fold_try_torch_gpu(struct fold_kernel_search *s);

#endif
