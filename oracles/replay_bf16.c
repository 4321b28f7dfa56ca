/* replay_bf16.c: the native replay of bf16 elements, accumulated in f32. */
#define DTYPE bf16
#define ACCUMULATOR float
#include "replay.inc"
