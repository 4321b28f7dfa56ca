/* noted_sums.h: subjects that add floats as a kernel does, thread by thread, and note which are added. */
#ifndef NOTED_SUMS_H
#define NOTED_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "reveal/tree.h"

/* A term or a sum, and its node of the tree. */
struct value {
  float x;
  uint32_t node;
};
static const struct value none = {0, FOLD_TREE_NONE};

struct value add_noted(struct value a, struct value b);

/* How a kernel with these parameters adds terms. */
typedef struct value adder(const void *kernel, const struct value *term, size_t n);

/* A sum of n elements, or of rounded products of 2 factors, by this kernel has this tree, and this name of it; its bits are those of the
 * tree's replay. print 0: none was recorded. */
void expect_name(const void *kernel, adder *add_up, unsigned factors, size_t n, uint64_t print, const char *name);

/* If terms 5 and 400 are swapped, the tree has no name. */
void expect_no_name_of_swapped(const void *kernel, adder *add_up, unsigned factors, size_t n);

struct recorded {
  size_t n;
  uint64_t print;
};

#endif
