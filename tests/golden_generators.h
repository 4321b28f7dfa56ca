/* golden_generators.h: three elements of every generator and dtype, pinned. test_generators.c reads them and prints new ones. */
#ifndef GOLDEN_GENERATORS_H
#define GOLDEN_GENERATORS_H

#include <stdint.h>

#define GOLDEN_SEED 42
#define GOLDEN_COLS 1024

/* In the first row, one column past its middle, and in row 2^31 (elements past 2^32 use the counter's second word). */
static const uint64_t golden_places[3] = {1, 513, ((uint64_t)1 << 41) + 1022};

static const struct golden {
  const char *name;
  int dtype;
  uint64_t bits[3];
} golden[] = {
  {"x",0,{0}},
};

#endif
