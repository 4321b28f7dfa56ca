/* Keyed sums in C: cc -shared -fPIC -O2 -Ilibrary library/examples/guest_keyed.c -o guest_keyed.so; foldproof verify --guest ./guest_keyed.so --fixtures 'normal/f32/keyed/7x5x64/hot/seed1' */
#include "foldproof_guest.h"

enum { B, M, N, K }; /* the axes of extent */

/* Row k of the input is added to the row of results whose number is key k; a slot without terms is +0. */
static int keyed(const struct foldproof_guest_call *call, void *context) {
  const uint64_t slots = call->extent[M], width = call->extent[N];
  const float *x = (const float *)call->in;
  const uint32_t *key = (const uint32_t *)call->other;
  float *out = (float *)call->out;
  (void)context;
  for (uint64_t i = 0; i < slots * width; i++) out[i] = 0;
  for (uint64_t k = 0; k < call->extent[K]; k++)
    for (uint64_t n = 0; n < width; n++) out[key[k] * width + n] += x[k * width + n];
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {{.name = "mine/keyed",
                                                           .problems = "keyed",
                                                           .order = "host/sequential",
                                                           .claims = "bounded,replays,reproducible",
                                                           .run = keyed}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
  return &table;
}
