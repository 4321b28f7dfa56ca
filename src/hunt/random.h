/* random.h: pseudorandom numbers that depend on a seed alone: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef FOLD_RANDOM_H
#define FOLD_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct fold_random {
  uint64_t state;
};

static inline uint64_t fold_random_next(struct fold_random *r) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Below n, which is above 0; the bias is below n / 2^64. */
static inline size_t fold_random_below(struct fold_random *r, size_t n) { return (size_t)(fold_random_next(r) % n); }

/* Once in n times. */
static inline int fold_random_once_in(struct fold_random *r, size_t n) { return fold_random_below(r, n) == 0; }

/* A generator of its own for each pair. */
static inline struct fold_random fold_random_of(uint64_t seed, uint64_t round, uint64_t i) {
  struct fold_random r = {seed};
  r.state = fold_random_next(&r) ^ round;
  r.state = fold_random_next(&r) ^ i;
  r.state = fold_random_next(&r);
  return r;
}

#endif
