/* determ.c: the deterministic row sums: the bits of rows/par_256, whoever sums the chunks.
 *
 * Promised: for 1, 8, 16 or 64 workers a row, and any number of threads, the tree is that of par_256: 256 chunks in
 * rising index, a tree over neighbouring partials. 256 is the number of chunks, not of workers. Written apart from
 * orders.inc, which it is judged by.
 */
#include "host.h"
#include "native.h"

#define CHUNKS 256

/* A row of n elements in chunks of `length`, the last ones shorter or empty. */
struct chunks {
  size_t n, length;
};

#define EACH "host/determ.inc"
#include "each_type.inc"

typedef uint64_t determ_row(const void *row, struct chunks chunks, size_t workers, unsigned threads);

#define OPERATIONS(dtype)                                                                                      \
  {                                                                                                            \
    [FOLD_SUM] = determ_##dtype##_sum, [FOLD_PROD] = determ_##dtype##_prod, [FOLD_MAX] = determ_##dtype##_max, \
    [FOLD_MIN] = determ_##dtype##_min                                                                          \
  }

static uint64_t row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                    unsigned threads) {
  static determ_row *const rows[FOLD_DTYPES][FOLD_OPS] = {[FOLD_F16] = OPERATIONS(f16),
                                                          [FOLD_BF16] = OPERATIONS(bf16),
                                                          [FOLD_F32] = OPERATIONS(f32),
                                                          [FOLD_F64] = OPERATIONS(f64)};
  struct chunks chunks = {call->cols, call->cols / CHUNKS + (call->cols % CHUNKS != 0)};
  return rows[call->dtype][call->op](in, chunks, subject->width, threads);
}

fold_status fold_host_determ(const struct fold_subject *subject, const struct fold_call *call) {
  unsigned width = subject->width;
  if (width == 0 || width > CHUNKS || (width & (width - 1)) != 0)
    return fold_error(FOLD_UNSUPPORTED, "%s: %u workers do not share 256 chunks", subject->name, width);
  fold_host_rows(subject, call, row);
  return fold_ok();
}
