/* fingerprint.h: the algebra of fingerprints of a tree: an order's, or one revealed from a subject.
 *
 * Promised: the hash of a leaf follows from its index, that of a join from the unordered pair of its children. If a child is
 * missing (0, a starting zero), the join has the hash of the other. Trees that are equal up to swapped operands have equal
 * fingerprints; different trees have different ones except by chance (2^-64 for each pair). Trees can be made to collide.
 */
#ifndef FOLD_FINGERPRINT_H
#define FOLD_FINGERPRINT_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection that spreads each bit. */
static inline uint64_t fold_fingerprint_mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t fold_fingerprint_leaf(uint64_t i) {
  uint64_t print = fold_fingerprint_mix(i + 0x9e3779b97f4a7c15u);
  return print ? print : 1;
}

static inline uint64_t fold_fingerprint_join(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) return a | b;
  uint64_t low = a < b ? a : b, high = a < b ? b : a;
  uint64_t print = fold_fingerprint_mix(fold_fingerprint_mix(low + 0xd1b54a32d192ed03u) + high);
  return print ? print : 1;
}

#endif
