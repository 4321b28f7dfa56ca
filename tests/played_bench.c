/* played_bench.c: the command with simulated timings, to test what foldproof bench makes of them.
 *
 * It defines the functions of bench.c, so that the linker takes these instead; the table, the records, the exit codes
 * and the figures are the command's own. Each subject's name says what it simulates.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "command/command.h"

static fold_status never(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return fold_error(FOLD_ENVIRONMENT, "%s is played, and does not run", subject->name);
}

/* Eleven runs, from `fastest` to `slowest` times what a read takes; 0: it was not timed, and this is the verdict on it. */
static const struct played {
  const char *name;
  double fastest, slowest;
  enum fold_verdict verdict;
} plays[] = {
    {"played/plausible", 1.02, 1.2, FOLD_HELD},
    {"played/at_ceiling", 0.95, 1.02, FOLD_HELD},      /* the median is above the ceiling, the spread is not */
    {"played/within_spread", 0.997, 0.999, FOLD_HELD}, /* all above the median read, none above the faster ones */
    {"played/implausible", 0.5, 0.9, FOLD_HELD},
    {"played/refuted", 0, 0, FOLD_REFUTED},
    {"played/broken", 0, 0, FOLD_BROKEN},
    {"played/skipped", 0, 0, FOLD_SKIPPED},
    {"played/nan", 1.02, NAN, FOLD_HELD},
};
enum { PLAYS = sizeof plays / sizeof *plays };

static struct fold_ceiling ceiling;
static const double rate = 4e12; /* bytes a second: the median of the better of two shapes of reading */

/* FOLDPROOF_NO_GPU: a machine without one. */
fold_status fold_bench_ready(enum fold_engine engine) {
  (void)engine;
  return getenv("FOLDPROOF_NO_GPU") ? fold_error(FOLD_UNSUPPORTED, "no GPU here: played") : fold_ok();
}

fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, struct fold_ceiling *measured, const char **shape) {
  double slow[11], seconds[11];
  (void)iterations;
  for (int i = 0; i < 11; i++) {
    seconds[i] = (double)nbytes / rate * (0.99 + 0.002 * i);
    slow[i] = 1.1 * seconds[i];
  }
  ceiling.clock = FOLD_CEILING_EVENTS;
  ceiling.units = (struct fold_units){9, 0, 132, 1.98e9};
  *shape = "none";
  if (fold_ceiling_take(&ceiling, (double)nbytes, slow, 11)) *shape = "slow";
  if (fold_ceiling_take(&ceiling, (double)nbytes, seconds, 11)) *shape = "played";
  *measured = ceiling;
  return fold_ok();
}

static void play(struct fold_timing *t, const struct played *p) {
  double seconds[11];
  t->judged.count[FOLD_HELD] = 3;
  if (p->verdict != FOLD_HELD) t->judged.count[p->verdict] = 1;
  t->calls = t->shape.cols < 1000000 ? 32 : 1;
  t->median = t->p10 = t->p90 = t->bytes_per_second = t->of_ceiling = t->to_peer = NAN;
  for (int i = 0; i < 11; i++) seconds[i] = t->bytes / rate * (p->fastest + (p->slowest - p->fastest) * i / 10);
  if (p->fastest > 0) fold_bench_figures(t, seconds, 11, &ceiling);
}

fold_status fold_bench_shape(const struct fold_registry *registry, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape, const struct fold_ceiling *held_against,
                             struct fold_timing *timing, size_t *n, const volatile int *stop) {
  (void)held_against, (void)stop;
  *n = 0;
  for (size_t i = 0; i < registry->n; i++) {
    if (!fold_glob_match(options->subjects, registry->subjects[i].name)) continue;
    timing[*n] = (struct fold_timing){.subject = &registry->subjects[i], .shape = *shape};
    timing[*n].bytes = 4.0 * (double)(shape->cols + 1);
    play(&timing[(*n)++], &plays[i]);
  }
  return fold_ok();
}

int main(int argc, char **argv) {
  struct fold_subject subjects[PLAYS];
  struct fold_registry registry = {.subjects = subjects, .n = PLAYS};
  for (int i = 0; i < PLAYS; i++)
    subjects[i] = (struct fold_subject){.name = plays[i].name,
                                        .engine = FOLD_CUDA,
                                        .about = strchr(plays[i].name, '/') + 1,
                                        .dtypes = 1u << FOLD_F32,
                                        .problems = 1u << FOLD_SUM,
                                        .run = never};
  return fold_main(argc, argv, &registry);
}
