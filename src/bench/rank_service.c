/* rank_service.c: passes each question to a timed rank to the function that answers it. */
#include "bench/rank_bench.h"

#include <stdlib.h>

static fold_status lay(struct fold_rank_bench *b, const struct fold_rank_seat *seat, struct fold_comm *const *comm,
                       const struct fold_wire_lay *lay) {
  if (lay->ranks == 0 || lay->ranks > seat->ranks || !comm[lay->ranks - 1])
    return fold_error(FOLD_ENVIRONMENT, "there is no communicator to time");
  return fold_rank_lay(b, seat->registry, seat->engine, comm[lay->ranks - 1], lay);
}

static fold_status room(size_t nbytes, void **bytes, size_t *n) {
  *bytes = calloc(1, nbytes + 1);
  *n = nbytes;
  return *bytes ? fold_ok() : fold_no_memory("for %zu bytes of an answer", nbytes);
}

static fold_status answer(void *state, const struct fold_rank_seat *seat, struct fold_comm *const *comm, uint32_t kind,
                          const void *head, void **bytes, size_t *n) {
  struct fold_rank_bench *b = state;
  switch (kind) {
    case WIRE_LAY: return lay(b, seat, comm, head);
    case WIRE_CHECK:
      FOLD_TRY(room(sizeof(struct fold_wire_checked), bytes, n));
      return fold_rank_check(b, head, *bytes);
    case WIRE_RACE: {
      const struct fold_wire_race *race = head;
      FOLD_TRY(room(fold_rank_race_entrants(b, race) * race->repeats * sizeof(double), bytes, n));
      return fold_rank_race(b, race, *bytes);
    }
    case WIRE_CEILING:
      FOLD_TRY(room(sizeof(struct fold_ceiling), bytes, n));
      return fold_rank_ceiling(fold_comm_engine_of(seat->engine)->memory, head, *bytes);
    default: return fold_error(FOLD_ENVIRONMENT, "no version knows this question");
  }
}

static void drop(void *state) { fold_rank_bench_drop(state); }

const struct fold_rank_service fold_rank_bench_service = {.state_bytes = sizeof(struct fold_rank_bench),
                                                          .head_bytes = sizeof(struct fold_wire_lay),
                                                          .answer = answer,
                                                          .drop = drop};
