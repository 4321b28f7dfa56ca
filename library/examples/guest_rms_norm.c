/* RMSNorm divides each row by the root of the mean of its squares. This computes that mean in a kernel's order: thread
 * t of a block adds the squares at t, t + block, ..., then halves of the block are joined. vLLM's kernel
 * (csrc/layernorm_kernels.cu) has 1,024 threads below 256 tokens and 256 from there on, so a token's bits depend on how
 * many others are served with it. With a fixed block there is one answer.
 *
 *     cc -shared -fPIC -O2 -Ilibrary library/examples/guest_rms_norm.c -o rms_norm.so; foldproof verify --guest ./rms_norm.so --fixtures 'batch*'
 */
#include "foldproof_guest.h"

enum { LARGE = 1024, SMALL = 256, FEW_TOKENS = 256 };

static float sum_of_squares(const float *x, uint64_t n, unsigned block) {
  float partial[LARGE] = {0};
  for (uint64_t i = 0; i < n; i++) partial[i % block] += x[i] * x[i];
  for (unsigned half = block / 2; half > 0; half /= 2)
    for (unsigned t = 0; t < half; t++) partial[t] += partial[t + half];
  return partial[0];
}

static int norm(const struct foldproof_guest_call *call, void *pinned) {
  const unsigned block = pinned || call->rows < FEW_TOKENS ? LARGE : SMALL;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    ((float *)call->out)[row] = sum_of_squares(x, call->cols, block) / (float)call->cols;
  }
  return FOLDPROOF_GUEST_OK;
}

/* "rows": any function of a row. foldproof knows no value to compare it with; it compares its results in other batches,
 * places and processes. */
#define CLAIMS .problems = "rows", .claims = "reproducible", .run = norm
static const struct foldproof_guest_subject subjects[] = {
    {.name = "rms_norm/by_tokens", .about = "1,024 threads below 256 rows, 256 from there on", CLAIMS},
    {.name = "rms_norm/pinned", .about = "1,024 threads", .context = (void *)1, CLAIMS}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 2, subjects};
  return &table;
}
