/* replay_f32.c: the native replay of f32 elements, accumulated in f32. */
#define DTYPE f32
#define ACCUMULATOR float
#include "replay.inc"
