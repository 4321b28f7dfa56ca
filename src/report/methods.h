/* report/methods.h: which methods share a pair of axes. */
#ifndef FOLD_REPORT_METHODS_H
#define FOLD_REPORT_METHODS_H

#include <stddef.h>

/* A figure with more lines cannot be read. Methods beyond the second number are not drawn. */
enum { FOLD_METHODS_TOGETHER = 5, FOLD_METHODS_MOST = 80 };

/* The subject's kind among those that readers ask about most, or -1. */
int fold_methods_kind(const char *subject);
/* Splits `n` methods into figures of at most FOLD_METHODS_TOGETHER. If there are more, the first figure has one method of each kind (NumPy,
 * the plain GPU kernel, CUB, the exact sum, the fixed order), and the rest follow in their sequence. `order` receives the indices of the
 * methods, `end` where each figure ends in it. Returns how many figures there are. */
size_t fold_methods_split(const char *const *subjects, size_t n, size_t order[FOLD_METHODS_MOST],
                          size_t end[FOLD_METHODS_MOST]);

/* Compares names of operations, dtypes, kinds of data or settings of a library: those that readers ask about most come
 * first, then the rest by name. */
int fold_methods_compare(const char *a, const char *b);

#endif
