/* stack_poison.c: see stack_poison.h. */
#include "rig/stack_poison.h"

#include <string.h>

#include "rig/rig.h"

/* In f32: zero, 1.5e16, NaN, -2.9e-16. Four neighbouring poisons, such as those of repeats, give all of them. */
static int byte_of(unsigned char poison) {
  static const unsigned char bytes[] = {0x00, 0x5a, 0xff, 0xa5};
  return poison == FOLD_BASE_POISON ? 0xff : bytes[poison % sizeof bytes];
}

/* ASan would lay this frame elsewhere, between zones of its own. */
__attribute__((noinline, no_sanitize("address"))) void fold_stack_poison(unsigned char poison) {
  unsigned char room[FOLD_STACK_POISONED];
  memset(room, byte_of(poison), sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory"); /* keeps the stores, which no code here reads */
}
