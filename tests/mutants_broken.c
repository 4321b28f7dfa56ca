/* mutants_broken.c: subjects that fail instead of computing: their claims are neither held nor refuted, but broken. */
#include "judge/judge.h"
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

#define BROKEN(id, function)                                                                                 \
  {                                                                                                          \
    .name = id, .engine = FOLD_HOST, .about = "fails", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
    .order = "host/sequential",                                                                              \
    .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) |         \
              FOLD_CLAIM(FOLD_RUN_TO_RUN),                                                                   \
    .run = function                                                                                          \
  }
#define BROKEN_RANK(id, function)                                                                      \
  {                                                                                                    \
    .name = "broken/" id, .engine = FOLD_MPI, .about = "fails on rank 1", .dtypes = 1u << FOLD_F32,    \
    .problems = 1u << FOLD_SUM, .vector = true, .run = function,                                       \
    .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_RUN_TO_RUN), \
  }
/* Not broken: test_collective.c looks through them at what a rank is given. */
#define PROBE(id, cut)                                                                               \
  {                                                                                                  \
    .name = "probe/" id, .engine = FOLD_MPI, .about = "counts the ranks that have what they should", \
    .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, .grain = cut, .run = probe_places,         \
    .claims = FOLD_CLAIM(FOLD_WRITES_OUTPUT)                                                         \
  }
static const struct fold_subject table[] = {BROKEN("broken/environment", environment),
                                            BROKEN("broken/no_memory", no_memory),
                                            BROKEN("broken/unsupported", unsupported),
#ifdef FOLD_HAVE_MPI
                                            BROKEN_RANK("rank_killed", broken_rank_killed),
                                            BROKEN_RANK("rank_exits", broken_rank_exits),
                                            BROKEN_RANK("rank_crashes", broken_rank_crashes),
                                            BROKEN_RANK("rank_hangs", broken_rank_hangs),
                                            BROKEN_RANK("rank_stops", broken_rank_stops),
                                            BROKEN_RANK("rank_stops_in_call", broken_rank_stops_in_call),
                                            BROKEN_RANK("rank_other_count", broken_rank_other_count),
                                            BROKEN_RANK("rank_other_type", broken_rank_other_type),
                                            BROKEN_RANK("rank_other_call", broken_rank_other_call),
                                            BROKEN_RANK("rank_fails", broken_rank_fails),
                                            BROKEN_RANK("ranks_fail", broken_ranks_fail),
                                            BROKEN_RANK("rank_babbles", broken_rank_babbles),
                                            PROBE("places", NULL),
                                            PROBE("places_by_grain", probe_grain)
#endif
};

const struct fold_subject *fold_mutants_broken(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}
