/* played_ranks.c: defines the functions of world.c, so that the linker takes these instead (played_ranks.h). */
#include "played_ranks.h"

#include <criterion/criterion.h>
#include <string.h>
#include <xxhash.h>

struct fold_world world = {.refuses = -1};

fold_status fold_world_of(enum fold_engine engine, struct fold_world **found) {
  *found = &world;
  return engine == FOLD_MPI ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "no such world");
}
fold_status fold_world_need(struct fold_world *of, unsigned ranks) {
  (void)of;
  return ranks <= RANKS ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "needs %u ranks", ranks);
}
unsigned fold_world_ranks(const struct fold_world *of) { return of ? RANKS : 0; }
size_t fold_worlds_sizes(unsigned ranks, unsigned sizes[FOLD_WORLDS_MOST]) { return sizes[0] = ranks, 1; }
uint64_t fold_world_loads(const struct fold_world *of) { return of->loads; }
const struct fold_wire_hello *fold_world_hello(const struct fold_world *of, unsigned rank) {
  static const struct fold_wire_hello hello;
  return of && rank < RANKS ? &hello : NULL;
}
double fold_world_limit(const struct fold_world *of) { return of ? 20 : 0; }
fold_status fold_worlds_close(void) { return fold_ok(); }
fold_status fold_world_close(enum fold_engine engine) { return (void)engine, fold_ok(); }

static uint64_t hash_of(unsigned rank) { return XXH3_64bits(world.part[rank], world.n[rank]); }

static fold_status take_part(unsigned rank, unsigned i, const struct fold_question *q, uint64_t *before) {
  if ((int)rank == world.refuses) return fold_error(FOLD_NO_MEMORY, "no room on rank %u", rank);
  world.load[rank] = ((const struct fold_wire_load *)q->head)[i];
  before[i] = world.load[rank].looks ? hash_of(rank) : 0;
  world.shift[rank] = world.load[rank].shift;
  world.n[rank] = q->body_bytes[i];
  memcpy(world.part[rank], q->body[i], world.n[rank]);
  world.loads++;
  return fold_ok();
}

/* The sums of the rows over all parts, the same for each rank. */
static void add_parts(const struct fold_wire_run *run, unsigned rank, float *result) {
  for (size_t i = 0; i < run->rows; i++) {
    result[i] = run->ranks == world.lies_among || run->rows == world.lies_in ||
                (rank > 0 && rank == world.liar && i + 1 == run->rows);
    for (unsigned r = 0; r < run->ranks; r++) {
      size_t cols = world.n[r] / sizeof(float) / run->rows;
      for (size_t k = 0; k < cols; k++) result[i] += world.part[r][i * cols + k];
    }
  }
}

static void run_rank(unsigned rank, const struct fold_question *q, struct fold_wire_ran *ran) {
  world.run[rank] = ((const struct fold_wire_run *)q->head)[rank];
  if (world.adds) add_parts(&world.run[rank], rank, world.result[rank]);
  const struct fold_wire_run *run = &world.run[rank];
  ran[rank].moved = run->shift != world.shift[rank];
  if (ran[rank].moved) ran[rank].before = hash_of(rank);
  world.shift[rank] = run->shift;
  if (rank == 0 && world.messages < 64) {
    world.message[world.messages].rows = run->rows;
    world.message[world.messages].ranks = run->ranks;
    world.message[world.messages++].first = world.part[0][0];
  }
  if (rank == 0 && run->rows == ROWS)
    varied_note(&world.varied, (struct varied){.threads = run->launch.threads,
                                               .shift = run->shift,
                                               .out_shift = (int)run->out_shift,
                                               .placement = run->placement,
                                               .nan = run->poison == 0xff});
  if (world.changes_in == run->rows && rank == 1) world.part[rank][0]++, world.changes_in = 0;
  ran[rank].traces = world.traces[rank];
  ran[rank].hash = XXH3_64bits(world.result[rank], sizeof world.result[rank]);
  if (run->rows * sizeof(float) <= WIRE_RESULTS)
    memcpy(ran[rank].results, world.result[rank], run->rows * sizeof(float));
  world.runs++;
}

fold_status fold_world_ask(struct fold_world *of, unsigned first, unsigned n, const struct fold_question *q,
                           void *answers) {
  cr_assert(of == &world && first + n <= RANKS);
  if (++world.asked == world.fails_in) return fold_error(FOLD_ENVIRONMENT, "question %u failed", world.asked);
  if (q->kind == WIRE_RUN && world.takes_no_launch && ((const struct fold_wire_run *)q->head)->launch.threads)
    return fold_error(FOLD_UNSUPPORTED, "it takes no launch");
  for (unsigned r = first; r < first + n; r++) {
    if (q->kind == WIRE_LOAD) FOLD_TRY(take_part(r, r - first, q, answers));
    if (q->kind == WIRE_RUN) run_rank(r, q, answers);
    if (q->kind == WIRE_HASH) ((uint64_t *)answers)[r - first] = hash_of(r);
    if (q->kind == WIRE_FETCH) {
      cr_assert(q->answer_bytes <= sizeof world.result[r]);
      memcpy(answers, world.result[r], q->answer_bytes);
      world.fetches++;
    }
  }
  return fold_ok();
}

size_t by_twos(size_t cols) { return (void)cols, 2; }
