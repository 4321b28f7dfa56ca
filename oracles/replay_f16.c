/* replay_f16.c: the native replay of f16 elements, accumulated in f32. */
#define DTYPE f16
#define ACCUMULATOR float
#include "replay.inc"
