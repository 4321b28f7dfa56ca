/* mutants_broken.c: subjects that fail instead of computing: what is broken is neither held nor refuted. */
#include "judge.h"
#include "mutants.h"

static fold_status environment(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_error(FOLD_ENVIRONMENT, "the device fell off the bus");
}
static fold_status no_memory(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_error(FOLD_NO_MEMORY, "no memory for partials");
}
static fold_status unsupported(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_error(FOLD_UNSUPPORTED, "not on Fridays");
}

#define BROKEN(id, function)                                                                            \
  {                                                                                                     \
    .name = id, .engine = FOLD_HOST, .about = "fails", .dtypes = 1u << FOLD_F32, .ops = 1u << FOLD_SUM, \
    .order = "host/sequential",                                                                         \
    .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) |    \
              FOLD_CLAIM(FOLD_RUN_TO_RUN),                                                              \
    .run = function                                                                                     \
  }
static const struct fold_subject table[] = {BROKEN("broken/environment", environment),
                                            BROKEN("broken/no_memory", no_memory),
                                            BROKEN("broken/unsupported", unsupported)};

const struct fold_subject *fold_mutants_broken(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}
