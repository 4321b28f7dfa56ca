/* bench/too_fast.c: see too_fast.h. */
#include "bench/too_fast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "bench/rank_bench.h"
#include "fixtures/family.h"

/* Inputs that are each judged twice, and the first, of one row, by which memory, threads and clocks are made ready. */
enum { INPUTS = 4, OF_A_PROBLEM = 1 + 2 * INPUTS };
/* Bytes of all inputs together, at least. A call to a device takes as long as reading the former. */
static const size_t on_host = (size_t)8 << 20, on_device = (size_t)128 << 20;
/* Each result of a scan has a truth of its own. */
enum { SCANNED = 1 << 18, SIDE = 160, MATRIX_ROWS = 1024, ROWS = 8 };

static const char CLAIMS[] =
    "bounded,compensated,accurate_as,ulps,faithful,correctly_rounded,stays_in_bounds,keeps_input,writes_output";

/* Those of wide range come first: their sums stay in it. */
static enum fold_dtype dtype_of(const struct fold_subject *s) {
  static const enum fold_dtype order[] = {FOLD_F32, FOLD_F64, FOLD_BF16, FOLD_F16, FOLD_I64, FOLD_I32};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (s->dtypes >> order[i] & 1) return order[i];
  return (enum fold_dtype)__builtin_ctz(s->dtypes);
}

/* Data whose sums no order rounds, where the dtype has room for them; products stay in the range. */
static const struct fold_generator *generator_of(enum fold_dtype dtype, enum fold_op op) {
  const bool narrow = fold_dtype_size(dtype) == 1;
  return fold_generator_find(narrow ? "zeros_positive" : op == FOLD_PROD ? "mixture_factors" : "integers");
}

/* n, or up to half more: by the seed, so that nobody knows the size. */
static size_t some_more(size_t n, uint64_t seed) {
  const uint64_t mixed = seed * 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio */
  return n + (size_t)((double)n / 2 * (double)(mixed >> 40) / (1 << 24));
}

static struct fold_shape shape_of(const struct fold_subject *s, const struct fold_problem *problem,
                                  enum fold_dtype dtype, uint64_t seed, size_t rows) {
  const size_t bytes = fold_engine_is_host(s->engine) ? on_host : on_device, side = some_more(SIDE, seed);
  const size_t elements = some_more(bytes / fold_dtype_size(dtype) / problem->inputs, seed);
  struct fold_shape shape = {.at = {1, 1, 1, 1}};
  if (fold_has_axis(problem, problem->inputs, FOLD_N)) {
    shape.m = shape.n = shape.k = side;
  } else if (problem->inputs == 2 && !fold_has_axis(problem, 1, FOLD_M)) {
    shape.m = MATRIX_ROWS;
    shape.k = elements / MATRIX_ROWS;
  } else {
    shape.m = rows;
    shape.k = (fold_is_scan(problem) ? some_more(SCANNED, seed) : elements) / shape.m;
  }
  if (s->longest && shape.k > s->longest) shape.k = s->longest;
  return shape;
}

static fold_status add(const struct fold_problem *problem, enum fold_dtype dtype, const struct fold_shape *shape,
                       uint64_t seed, struct fold_cases *cases) {
  char at[100], *name = NULL;
  struct fold_case c = {.dtype = dtype, .problem = problem, .shape = *shape, .claims = strdup(CLAIMS)};
  c.source = (struct fold_source){generator_of(dtype, problem->op), dtype, seed, c.cols, 0};
  *fold_case_put_shape(&c, at) = '\0';
  if (asprintf(&name, "timed/%s/%s/%s/seed%llu", fold_dtype_name(dtype), problem->name, at, (unsigned long long)seed) <
      0)
    name = NULL;
  c.name = name;
  return fold_cases_append_made(cases, &c, "timed", "a timed call");
}

fold_status fold_too_fast_cases(const struct fold_subject *s, uint64_t seed, struct fold_cases *cases) {
  const enum fold_dtype dtype = dtype_of(s);
  for (int id = 0; id < FOLD_PROBLEMS; id++) {
    const struct fold_problem *problem = fold_problem((enum fold_problem_id)id);
    if (!(s->problems >> id & 1) || problem->reach == FOLD_BY_KEY) continue;
    if (!(generator_of(dtype, problem->op)->dtypes >> dtype & 1)) continue;
    for (size_t i = 0; i < OF_A_PROBLEM; i++) {
      const struct fold_shape shape = shape_of(s, problem, dtype, seed, i ? 1 + seed % ROWS : 1);
      FOLD_TRY(add(problem, dtype, &shape, (seed >> 2) + (i + 1) / 2, cases));
    }
  }
  return fold_ok();
}

/* ---- the times ---- */

static bool is_first(const struct fold_cases *cases, size_t i) {
  return i == 0 || cases->at[i].problem != cases->at[i - 1].problem;
}
static bool is_repeat(const struct fold_cases *cases, size_t i) {
  return !is_first(cases, i) && cases->at[i].source.seed == cases->at[i - 1].source.seed;
}

static void put_seconds(char text[40], double seconds) {
  snprintf(text, 40, "%.3g %s", seconds < 1e-3 ? seconds * 1e6 : seconds * 1e3, seconds < 1e-3 ? "us" : "ms");
}

/* A call that is faster than all processors together read their nearest caches did not read its input. */
static void judge_reading(const struct fold_ceiling *ceiling, unsigned readers, const struct fold_case *c,
                          double seconds, char why[300]) {
  char took[40], least[40];
  const double bytes = (double)fold_case_all_bytes(c);
  if (fold_ceiling_allows(ceiling, bytes / readers, seconds)) return;
  put_seconds(took, seconds);
  put_seconds(least, bytes / readers / ceiling->most);
  snprintf(why, 300, "it did not read its input: a call on %.3g MB took %s, to read them takes %s (%s)", bytes / 1e6,
           took, least, c->name);
}

/* The median of the repeats takes less than half of what the fastest call on a new input takes. */
static void judge_repeats(const struct fold_cases *cases, size_t first, const double *seconds, char why[300]) {
  char seen[40], new[40];
  double repeats[INPUTS], fastest = (double)INFINITY;
  size_t n = 0;
  for (size_t i = first + 1; i < cases->n && !is_first(cases, i); i++) {
    if (!(seconds[i] > 0)) continue;
    if (is_repeat(cases, i))
      repeats[n++] = seconds[i];
    else
      fastest = fmin(fastest, seconds[i]);
  }
  if (n < 2) return;
  fold_list_rise(repeats, n);
  const double median = repeats[n / 2];
  if (!(2 * median < fastest)) return;
  put_seconds(seen, median);
  put_seconds(new, fastest);
  snprintf(why, 300, "it keeps results: a call on an input seen before took %s, on new ones at least %s (%s)", seen,
           new, cases->at[first].name);
}

static fold_status ceiling_of(const struct fold_subject *s, const struct fold_cases *cases,
                              struct fold_ceiling *ceiling) {
  size_t most = 0;
  for (size_t i = 0; i < cases->n; i++)
    if (fold_case_all_bytes(&cases->at[i]) > most) most = fold_case_all_bytes(&cases->at[i]);
  const struct fold_wire_ceiling asked = {.n_bytes = most};
  return fold_rank_ceiling(s->engine, &asked, ceiling);
}

static unsigned readers_of(const struct fold_subject *s) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return !fold_engine_is_host(s->engine) || n < 1 ? 1 : (unsigned)n;
}

fold_status fold_too_fast_judge(const struct fold_subject *s, const struct fold_cases *cases, const double *seconds,
                                size_t *timed, char why[300]) {
  struct fold_ceiling ceiling;
  *timed = 0;
  why[0] = '\0';
  FOLD_TRY(ceiling_of(s, cases, &ceiling));
  for (size_t i = 0; i < cases->n; i++) {
    if (!(seconds[i] > 0)) continue;
    ++*timed;
    if (!why[0]) judge_reading(&ceiling, readers_of(s), &cases->at[i], seconds[i], why);
  }
  for (size_t i = 0; i < cases->n && !why[0]; i++)
    if (is_first(cases, i)) judge_repeats(cases, i, seconds, why);
  return fold_ok();
}
