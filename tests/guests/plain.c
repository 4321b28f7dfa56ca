/* plain.c: plain reductions with no order, method or twin declared, one of each kind of problem. */
#include <foldproof_guest.h>
#include <math.h>

static int run(const struct foldproof_guest_call *call, void *context) {
  const float *x = call->in, *y = call->other;
  float *out = call->out;
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    const int largest = call->problem == FOLDPROOF_GUEST_MAX;
    float sum = largest ? -INFINITY : 0;
    for (uint64_t c = 0; c < call->cols; c++) {
      const float term = x[r * call->cols + c] * (y ? y[r * call->cols + c] : 1);
      if (!largest)
        sum += term;
      else if (!isnan(sum) && (isnan(term) || term > sum || (term == sum && !signbit(term))))
        sum = term;
    }
    out[r] = sum;
  }
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {{.name = "plain/rows", .problems = "rows", .run = run},
                                                          {.name = "plain/sum", .run = run},
                                                          {.name = "plain/dot", .problems = "dot", .run = run},
                                                          {.name = "plain/max", .problems = "max", .run = run}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 4, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
