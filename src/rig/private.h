/* rig/private.h: what rig.c and rig/run.c share. */
#ifndef FOLD_RIG_PRIVATE_H
#define FOLD_RIG_PRIVATE_H

#include <string.h>

#include "rig/rig.h"

/* Makes room for results of so many bytes each, where there is none. */
fold_status fold_rig_open_output(struct fold_rig *rig, size_t size);

/* Where an input starts and ends, in bytes from the start of its room. */
size_t fold_rig_place(const struct fold_rig *rig, const struct fold_rig_input *in);
static inline size_t fold_rig_end(const struct fold_rig *rig, const struct fold_rig_input *in) {
  return fold_rig_place(rig, in) + in->n * in->size;
}
/* Sends the host's copies to a device, if they have changed. */
fold_status fold_rig_send(struct fold_rig *rig);
/* In host memory: moves the inputs to that placement, without marking them as changed. */
void fold_rig_lay(struct fold_rig *rig, enum fold_placement placement);

/* The zones before and after an input: what the engine's memory holds there. */
struct fold_rig_zones {
  const unsigned char *before, *after;
};
/* Notes in `traces` a zone that was overwritten. Lays the zones again if they, or any guard, were touched. */
fold_status fold_rig_look_at_zones(struct fold_rig *rig, const struct fold_rig_zones zones[FOLD_INPUTS],
                                   struct fold_traces *traces);
/* XXH3-64 of the host's copies. */
uint64_t fold_rig_hash_host(const struct fold_rig *rig);
/* Input k among a call's arguments. */
static inline enum fold_argument fold_rig_argument(unsigned k) { return k == 0 ? FOLD_INPUT : FOLD_OTHER_INPUT; }

/* Finds the first byte that is not `want`. If the first byte is `want` and each byte equals the next, there is none. */
static inline bool fold_rig_find_other(const unsigned char *bytes, size_t n, unsigned char want, size_t *at) {
  *at = 0;
  if (n == 0 || (bytes[0] == want && memcmp(bytes, bytes + 1, n - 1) == 0)) return false;
  while (bytes[*at] == want) ++*at;
  return true;
}

#endif
