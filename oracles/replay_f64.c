/* replay_f64.c: the native replay of f64 elements, accumulated in f64. */
#define DTYPE f64
#define ACCUMULATOR double
#include "replay.inc"
