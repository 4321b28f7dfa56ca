/* played_collectives.c: the command over collectives whose times, or bits at the timed size, can't be believed, to test
 * what foldproof bench makes of them. The ranks are real, and run this program too; their clock is simulated.
 *
 * It defines the functions of rank_clock.c, so that the linker takes these instead: a run lasts as long as its subject
 * says, and nothing depends on how busy the machine is. What is timed, sent, compared and printed is the command's own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "bench/rank_clock.h"
#include "command/command.h"
#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"

/* The time of what has no other: a share that leaves everything out, a read of the nearest cache. */
static const double at_least = 1e-6;
static double lasted;

/* The run under way takes so many seconds. */
static void spend(double seconds) { lasted = seconds; }

fold_status fold_rank_clock_open(struct fold_rank_clock *clock, bool gpu, unsigned n) {
  *clock = (struct fold_rank_clock){.gpu = gpu, .n = n, .time = calloc((size_t)n + 1, sizeof *clock->time)};
  return clock->time ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for a clock");
}

void fold_rank_clock_close(struct fold_rank_clock *clock) {
  free(clock->time);
  *clock = (struct fold_rank_clock){0};
}

fold_status fold_rank_clock_begin(struct fold_rank_clock *clock, unsigned i) {
  (void)clock, (void)i;
  lasted = at_least;
  return fold_ok();
}

fold_status fold_rank_clock_end(struct fold_rank_clock *clock, unsigned i) {
  clock->time[i] = lasted;
  return fold_ok();
}

fold_status fold_rank_clock_read(struct fold_rank_clock *clock, unsigned i, double *seconds) {
  *seconds = clock->time[i];
  return fold_ok();
}

/* A result that is the same on every rank and in every run. */
static fold_status answer(const struct fold_call *call, int byte) {
  memset(call->out, byte, call->rows * fold_dtype_size(call->dtype));
  return fold_ok();
}

/* What of the subject is timed: whether the ranks can hear each other, and whether they compute. */
static fold_status look(const struct fold_call *call, bool *heard, bool *computes) {
  double ones = 1, sum = 0;
  struct fold_call one = {.dtype = FOLD_F64,
                          .problem = fold_rows_problem(FOLD_SUM),
                          .rows = 1,
                          .cols = 1,
                          .in = {&ones},
                          .out = &sum,
                          .comm = call->comm};
  FOLD_TRY(call->comm->parts->local(&one, NULL, &sum));
  fold_status status = fold_comm_allreduce(call->comm, &ones, &ones, 1, FOLD_COMM_F64, FOLD_SUM, NULL);
  *computes = sum == 1;
  *heard = ones > 1 || call->comm->ranks == 1;
  return status;
}

/* The whole takes so many seconds, its shares nothing to speak of. */
static fold_status take(const struct fold_call *call, double seconds) {
  bool heard, computes;
  FOLD_TRY(look(call, &heard, &computes));
  if (heard && computes) spend(seconds);
  return fold_ok();
}

/* One rank takes a hundred times as long as several. */
static fold_status above_world(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, call->comm->ranks == 1 ? 0.1 : 0.001));
  return answer(call, 1);
}

/* Slower by itself than with the others. */
static fold_status negative_overhead(const struct fold_subject *subject, const struct fold_call *call) {
  bool heard, computes;
  (void)subject;
  FOLD_TRY(look(call, &heard, &computes));
  spend(heard ? 0.0001 : 0.1);
  return answer(call, 1);
}

/* Reads nothing. */
static fold_status above_memory(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return answer(call, 1);
}

static fold_status plausible(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, 0.05));
  return answer(call, 1);
}

/* Every third run takes ten times as long, on every rank. */
static fold_status noisy(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  (void)subject;
  FOLD_TRY(take(call, runs++ % 3 == 0 ? 0.1 : 0.01));
  return answer(call, 1);
}

/* The calls alone take longer than the whole does, in each round; but every other round is so slow that the spreads
 * overlap. A round is three runs, and two come before the first. */
static fold_status below_calls(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  static int ranks;
  bool heard, computes;
  (void)subject;
  FOLD_TRY(look(call, &heard, &computes));
  if (ranks != call->comm->ranks) runs = 0;
  ranks = call->comm->ranks;
  double round = (runs++ + 1) / 3 % 2 ? 0.1 : 0.06;
  if (heard) spend(computes ? round : 1.3 * round);
  return answer(call, 1);
}

/* Slow on an input that was there in one of the last three runs, of whatever share. */
static fold_status meets_input(const struct fold_subject *subject, const struct fold_call *call) {
  static const void *last[3];
  static unsigned runs;
  bool met = last[0] == call->in[0] || last[1] == call->in[0] || last[2] == call->in[0];
  (void)subject;
  last[runs++ % 3] = call->in[0];
  spend(met ? 0.05 : 0.005);
  return answer(call, 1);
}

/* Rank 1 alone takes its time, and no rank waits for it. */
static fold_status one_is_slow(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, call->comm->rank == 1 ? 0.1 : 0));
  return answer(call, 1);
}

static fold_status ranks_differ(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return answer(call, call->comm->rank == 2 ? 2 : 1);
}

/* The first rank's last result is left as it was. */
static fold_status unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call fewer = *call;
  (void)subject;
  fewer.rows -= call->comm->rank == 0 && call->rows > 0;
  return answer(&fewer, 1);
}

static fold_status world_shows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, 0.02));
  return answer(call, call->comm->ranks);
}

/* As MPI has it up to a length that the judges see whole; past that its last element is the first. */
static fold_status wrong_when_long(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  size_t size = fold_dtype_size(call->dtype);
  if (call->rows > 8192) memcpy((char *)call->out + (call->rows - 1) * size, call->out, size);
  return fold_ok();
}

static fold_status library(const struct fold_subject *subject, const struct fold_call *call) {
  spend(0.05);
  return fold_library_allreduce(subject, call);
}

/* Rank 1 has another NaN where a result is one. */
static fold_status other_nan(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(library(subject, call));
  for (size_t i = 0; call->comm->rank == 1 && i < call->rows; i++)
    if (fold_bits_class(call->dtype, fold_bits_load(call->dtype, call->out, i)) == FOLD_NAN)
      fold_bits_store(call->dtype, call->out, i, 0xffc12345u);
  return fold_ok();
}

/* Longer than what the judges see whole. */
static bool is_long(const struct fold_call *call) { return call->whole.extent.k > 4000000; }

static fold_status right_sum(const struct fold_subject *subject, const struct fold_call *call) {
  spend(0.05);
  return fold_library_sum(subject, call);
}

/* Rank 1's part is lost. */
static fold_status loses_a_part(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call none = *call;
  if (is_long(call) && call->comm->rank == 1) none.cols = 0;
  return fold_library_sum(subject, &none);
}

/* As an index of too few bits does: of a part above 2^20 terms, one is forgotten. */
static fold_status loses_a_term(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call fewer = *call;
  if (call->cols > 1u << 20) fewer.cols--;
  return fold_library_sum(subject, &fewer);
}

/* The number after the nearest one, where the terms are no integers: what integers do not show. */
static fold_status next_to_nearest(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_collective_exact(subject, call));
  uint64_t bits = fold_bits_load(call->dtype, call->out, 0);
  double value = fold_bits_to_double(call->dtype, bits);
  if (is_long(call) && value != (double)(long)value)
    fold_bits_store(call->dtype, call->out, 0, fold_bits_up(call->dtype, bits));
  return fold_ok();
}

/* Far beyond its bound; and right on integers. */
static fold_status above_bound(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_collective_exact(subject, call));
  double value = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->out, 0));
  if (is_long(call) && value != (double)(long)value)
    fold_bits_store(call->dtype, call->out, 0, fold_bits_from_double(call->dtype, 1e9));
  return fold_ok();
}

/* One element's bits depend on the length of the message. */
static fold_status length_shows(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  if (call->rows > 100) memset(call->out, 0, 1);
  return fold_ok();
}

#define PLAYED(id, function, promises, is_vector)                                                                \
  {                                                                                                              \
    .name = "played/" id, .engine = FOLD_MPI, .about = id, .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
    .claims = promises, .vector = is_vector, .run = function                                                     \
  }
#define PLAYED_SUM(id, function, how, promises, room)                                                            \
  {                                                                                                              \
    .name = "played/" id, .engine = FOLD_MPI, .about = id, .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
    .method = how, .claims = FOLD_CLAIM(promises), .run = function, .scratch = room                              \
  }
static const struct fold_subject subjects[] = {
    PLAYED("plausible", plausible, FOLD_CLAIM(FOLD_WORLD_INVARIANT), false),
    PLAYED("noisy", noisy, 0, false),
    PLAYED("below_calls", below_calls, 0, false),
    PLAYED("meets_input", meets_input, 0, false),
    PLAYED("above_world", above_world, 0, false),
    PLAYED("negative_overhead", negative_overhead, 0, false),
    PLAYED("above_memory", above_memory, 0, false),
    PLAYED("one_is_slow", one_is_slow, 0, false),
    PLAYED("ranks_differ", ranks_differ, 0, false),
    PLAYED("unwritten", unwritten, 0, false),
    PLAYED("world_shows", world_shows, FOLD_CLAIM(FOLD_WORLD_INVARIANT), false),
    PLAYED("library", library, FOLD_CLAIM(FOLD_BOUNDED), true),
    PLAYED("other_nan", other_nan, FOLD_CLAIM(FOLD_RANK_AGREEMENT) | FOLD_CLAIM(FOLD_RUN_TO_RUN), true),
    PLAYED_SUM("right_sum", right_sum, FOLD_PLAIN, FOLD_BOUNDED, fold_library_sum_scratch),
    PLAYED_SUM("right_exact", fold_collective_exact, FOLD_EXACT, FOLD_CORRECTLY_ROUNDED, fold_collective_exact_scratch),
    PLAYED_SUM("loses_a_part", loses_a_part, FOLD_PLAIN, FOLD_BOUNDED, fold_library_sum_scratch),
    PLAYED_SUM("loses_a_term", loses_a_term, FOLD_PLAIN, FOLD_BOUNDED, fold_library_sum_scratch),
    PLAYED_SUM("next_to_nearest", next_to_nearest, FOLD_EXACT, FOLD_CORRECTLY_ROUNDED, fold_collective_exact_scratch),
    PLAYED_SUM("above_bound", above_bound, FOLD_PLAIN, FOLD_BOUNDED, fold_collective_exact_scratch),
    PLAYED("wrong_when_long", wrong_when_long, FOLD_CLAIM(FOLD_BOUNDED), true),
    PLAYED("length_shows", length_shows, FOLD_CLAIM(FOLD_MESSAGE_INVARIANT), true),
};

int main(int argc, char **argv) {
  struct fold_registry registry = {.subjects = subjects, .n = sizeof subjects / sizeof *subjects};
  return fold_main(argc, argv, &registry);
}
