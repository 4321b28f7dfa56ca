/* hunt_honest_tricky.c: honest sums that do what faulty ones do: they share the work among threads, keep what earlier calls made, add by
 * integers or in pieces, change the arithmetic for a while, and write their results themselves. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

#include "hunt_honest.h"
#include "hunt_orders.h"

/* ---- threads, each with its own of 16 chunks ---- */

enum { CHUNKS = 16, MOST_THREADS = 16 };
struct share {
  const struct hunt_row *row;
  unsigned first, step;
  double *parts;
};
static void *fold_share(void *context) {
  const struct share *share = context;
  const uint64_t n = share->row->n, size = (n + CHUNKS - 1) / CHUNKS;
  for (unsigned k = share->first; k < CHUNKS; k += share->step) {
    const uint64_t first = k * size < n ? k * size : n;
    share->parts[k] = hunt_fold(share->row, first, first + size < n ? first + size : n, 1);
  }
  return NULL;
}
static double in_threads(struct hunt_row *row, const struct hunt_way *way) {
  const unsigned asked = row->call->threads ? row->call->threads : 2,
                 threads = asked < MOST_THREADS ? asked : MOST_THREADS;
  double parts[CHUNKS], sum = hunt_identity(row);
  struct share shares[MOST_THREADS];
  pthread_t ids[MOST_THREADS];
  bool runs[MOST_THREADS] = {false};
  for (unsigned t = 0; t < threads; t++) shares[t] = (struct share){row, t, threads, parts};
  for (unsigned t = 1; t < threads && row->n > way->width; t++)
    runs[t] = pthread_create(&ids[t], NULL, fold_share, &shares[t]) == 0;
  for (unsigned t = 0; t < threads; t++)
    if (!runs[t]) fold_share(&shares[t]);
  for (unsigned t = 1; t < threads; t++)
    if (runs[t]) pthread_join(ids[t], NULL);
  for (unsigned k = 0; k < CHUNKS; k++) sum = hunt_join(row, sum, parts[k]);
  return sum;
}

/* ---- other arithmetic ---- */

/* In pairs of doubles, each addition's error apart (Dekker; Knuth). */
static double in_pairs(struct hunt_row *row, const struct hunt_way *way) {
  double sum = 0, rest = 0;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) {
    const double x = row->x[i], s = sum + x, y = s - sum, error = (sum - (s - y)) + (x - y);
    sum = s;
    rest += isfinite(s) ? error : 0;
  }
  return isfinite(sum) ? sum + rest : sum;
}
/* Fractions and exponents apart, so that nothing overflows on the way. */
static double scaled_product(struct hunt_row *row, const struct hunt_way *way) {
  double fraction = 1;
  int64_t exponent = 0;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) {
    int e = 0;
    fraction = frexp(fraction * row->x[i], &e);
    exponent += isfinite(fraction) ? e : 0;
  }
  return ldexp(fraction, exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : (int)exponent);
}
/* Whole numbers, whose sums of magnitudes stay below 2^24, as integers: each addition in f32 is exact then. */
static double by_integers(struct hunt_row *row, const struct hunt_way *way) {
  int64_t sum = 0;
  double magnitudes = 0;
  (void)way;
  for (uint64_t i = 0; i < row->n && magnitudes < 0x1p24; i++)
    magnitudes += row->x[i] == floor(row->x[i]) ? fabs(row->x[i]) : INFINITY;
  if (!(magnitudes < 0x1p24)) return hunt_fold(row, 0, row->n, 1);
  for (uint64_t i = 0; i < row->n; i++) sum += (int64_t)row->x[i];
  return (double)sum;
}
/* Exact: in units of the least number of f16, and rounded once. */
static double in_units(struct hunt_row *row, const struct hunt_way *way) {
  int64_t sum = 0;
  double special = 0;
  bool negative = row->n > 0;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) {
    if (isfinite(row->x[i]))
      sum += (int64_t)(row->x[i] * 0x1p24);
    else
      special += row->x[i];
    negative &= row->x[i] == 0 && signbit(row->x[i]);
  }
  if (special != 0) return special;
  return negative ? -0. : (double)sum * 0x1p-24;
}
/* Kahan's and Neumaier's, whose corrections mean nothing once the sum is not finite. */
static double by_kahan(struct hunt_row *row, const struct hunt_way *way) {
  double sum = 0, lost = 0;
  const int in = row->call->accumulator;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) {
    const double term = hunt_round(in, row->x[i] - lost), s = hunt_round(in, sum + term);
    lost = isfinite(s) ? hunt_round(in, hunt_round(in, s - sum) - term) : 0;
    sum = s;
  }
  return sum;
}
static double by_neumaier(struct hunt_row *row, const struct hunt_way *way) {
  double sum = 0, rest = 0;
  const int in = row->call->accumulator;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) {
    const double x = row->x[i], s = hunt_round(in, sum + x), larger = fabs(sum) >= fabs(x) ? sum : x,
                 smaller = fabs(sum) >= fabs(x) ? x : sum;
    if (isfinite(s)) rest = hunt_round(in, rest + hunt_round(in, hunt_round(in, larger - s) + smaller));
    sum = s;
  }
  return isfinite(sum) ? hunt_round(in, sum + rest) : sum;
}
/* Rounds upward for a while, and puts back what was. */
static double after_rounding_upward(struct hunt_row *row, const struct hunt_way *way) {
  const int before = fegetround();
  volatile double bound = 0;
  fesetround(FE_UPWARD);
  for (uint64_t i = 0; i < row->n; i++) bound += fabs(row->x[i]);
  fesetround(before);
  return hunt_rising(row, way);
}

/* ---- what earlier calls made ---- */

/* A buffer that grows, and is never cleared. */
static double in_growing_buffer(struct hunt_row *row, const struct hunt_way *way) {
  static double *kept;
  static uint64_t room;
  (void)way;
  if (row->n > room) {
    double *more = realloc(kept, 2 * row->n * sizeof *more);
    if (!more) return (double)NAN;
    kept = more, room = 2 * row->n;
  }
  for (uint64_t i = 0; i < row->n; i++) kept[i] = hunt_leaf(row, i);
  return row->n ? hunt_neighbours(row, kept, row->n) : hunt_identity(row);
}
/* How a length is cut is made once for each of the last lengths, in a table. */
static double by_cached_plan(struct hunt_row *row, const struct hunt_way *way) {
  static struct { uint64_t n, size; } plans[64];
  const uint64_t place = row->n % 64;
  if (plans[place].n != row->n) plans[place].n = row->n, plans[place].size = (row->n + way->width - 1) / way->width;
  double sum = hunt_identity(row);
  for (uint64_t k = 0; k < way->width; k++) {
    const uint64_t first = k * plans[place].size < row->n ? k * plans[place].size : row->n;
    sum = hunt_join(row, sum,
                    hunt_fold(row, first, first + plans[place].size < row->n ? first + plans[place].size : row->n, 1));
  }
  return sum;
}
/* The last row's result, where the next has the same bits. */
static double by_last_content(struct hunt_row *row, const struct hunt_way *way) {
  enum { MOST = 4096 };
  static double terms[MOST], result;
  static uint64_t n = UINT64_MAX;
  static int dtype;
  if (n == row->n && dtype == row->call->dtype && memcmp(terms, row->x, n * sizeof *terms) == 0) return result;
  const double sum = hunt_rising(row, way);
  if (row->n > MOST) return sum;
  memcpy(terms, row->x, row->n * sizeof *terms);
  n = row->n, dtype = row->call->dtype, result = sum;
  return sum;
}

/* ---- pieces ---- */

/* Tiles whose size depends on the length alone. */
static double by_length(struct hunt_row *row, const struct hunt_way *way) {
  const uint64_t tile = row->n < 100 ? 8 : row->n < 5000 ? 96 : 1024;
  double sum = hunt_identity(row);
  (void)way;
  for (uint64_t at = 0; at < row->n; at += tile)
    sum = hunt_join(row, sum, hunt_fold(row, at, at + tile < row->n ? at + tile : row->n, 1));
  return sum;
}
static double in_eight_lanes(struct hunt_row *row, const struct hunt_way *way) {
  row->lanes = way->width;
  return hunt_in_lanes(row);
}
/* From the first term on; +0 of none. */
static double from_first(struct hunt_row *row, const struct hunt_way *way) {
  double sum = row->n ? hunt_leaf(row, 0) : 0;
  (void)way;
  for (uint64_t i = 1; i < row->n; i++) sum = hunt_take(row, sum, i);
  return sum;
}
/* The result's place holds each partial sum. */
static double in_place(struct hunt_row *row, const struct hunt_way *way) {
  volatile float *out = (float *)row->call->out + row->at;
  (void)way;
  *out = 0;
  for (uint64_t i = 0; i < row->n; i++) *out = *out + (float)row->x[i];
  return (double)*out;
}
/* The first NaN with its sign and payload, quiet. */
static double with_payload(struct hunt_row *row, const struct hunt_way *way) {
  call_of *call = row->call;
  for (uint64_t i = 0; i < row->n; i++)
    if (isnan(row->x[i])) {
      ((uint32_t *)call->out)[row->at] =
          ((const uint32_t *)call->in)[row->at * call->row_stride + i * call->col_stride] | 1u << 22;
      row->at = UINT64_MAX;
      return 0;
    }
  return hunt_rising(row, way);
}

/* ---- functions of rows ---- */

static double root_mean_square(struct hunt_row *row, const struct hunt_way *way) {
  double sum = 0;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) sum += row->x[i] * row->x[i];
  return row->n ? sqrt(sum / (double)row->n) : 0;
}
static double log_sum_exp(struct hunt_row *row, const struct hunt_way *way) {
  double most = -(double)INFINITY, sum = 0;
  (void)way;
  for (uint64_t i = 0; i < row->n; i++) most = row->x[i] > most ? row->x[i] : most;
  for (uint64_t i = 0; i < row->n; i++) sum += exp(row->x[i] - most);
  return most + log(sum);
}

/* Partial sums in scratch, whose first bytes are zero before and after. */
enum { SCRATCH = 4096 };
static double in_scratch(struct hunt_row *row, const struct hunt_way *way) {
  float *partial = row->call->scratch;
  double sum = hunt_identity(row);
  for (uint64_t k = 0; k < way->width; k++) partial[k] = (float)hunt_fold(row, k, row->n, way->width);
  for (uint64_t k = 0; k < way->width; k++) sum = hunt_join(row, sum, (double)partial[k]);
  memset(partial, 0, way->width * sizeof *partial);
  return sum;
}
static size_t scratch_of(call_of *call, void *context) { return (void)call, (void)context, SCRATCH; }

/* It takes no rows of no terms. */
static int run_of_some(call_of *call, void *way) {
  return call->cols ? hunt_run_way(call, way) : FOLDPROOF_GUEST_UNSUPPORTED;
}

#define ROW(id, problem, dtype, declared, claim, text, ...)                                                         \
  {                                                                                                                 \
    .name = "honest/" #id, .about = text, .problems = problem, .dtypes = dtype, .order = declared, .claims = claim, \
    .strides = 1, __VA_ARGS__                                                                                       \
  }
#define BY(...) \
  .run = hunt_run_way, .context = &(struct hunt_way) { __VA_ARGS__ }
#define OF_ROWS "run_to_run,fresh_process,batch_invariant,alignment_invariant"
static const struct foldproof_guest_subject tricky[] = {
    ROW(threads, "sum", "f32,f64", "rows/par_16", HUNT_ORDERED, "threads share 16 chunks",
        BY(.order = in_threads, .width = 256)),
    ROW(pairs_of_doubles, "sum", "f64", NULL, HUNT_FIXED, "each addition's error apart", BY(.order = in_pairs)),
    ROW(scaled_product, "prod", "f32", NULL, HUNT_FIXED, "fractions and exponents apart", BY(.order = scaled_product)),
    ROW(integers_where_exact, "sum", "f16,bf16,f32", "host/sequential", HUNT_ORDERED,
        "whole numbers as integers where each sum is exact", BY(.order = by_integers)),
    ROW(exact_units, "sum", "f16,e4m3,e5m2", NULL, HUNT_FIXED ",correctly_rounded,permutation_invariant",
        "exact, in units of the least number", .method = "exact", BY(.order = in_units)),
    ROW(kahan, "sum", "f32,f64", NULL, HUNT_FIXED ",compensated", "compensated, Kahan's", .method = "kahan",
        BY(.order = by_kahan)),
    ROW(neumaier, "sum", "f32,f64", NULL, HUNT_FIXED ",compensated", "compensated, Neumaier's", .method = "neumaier",
        BY(.order = by_neumaier)),
    ROW(rounds_upward_before, "sum", "f32,f64", "host/sequential", HUNT_ORDERED, "rounds upward for a while",
        BY(.order = after_rounding_upward)),
    ROW(growing_buffer, "sum", "f32,f64", "host/pairwise", HUNT_ORDERED, "a buffer that grows",
        BY(.order = in_growing_buffer)),
    ROW(cached_plan, "sum", "f32,f64", "rows/par_16", HUNT_ORDERED, "cuts of lengths are kept",
        BY(.order = by_cached_plan, .width = 16)),
    ROW(last_content, "sum", "f32,f64", "host/sequential", HUNT_ORDERED, "the last result is kept with its terms",
        BY(.order = by_last_content)),
    ROW(tiles_by_length, "sum", "f32,f64", NULL, HUNT_FIXED, "tiles by the length", BY(.order = by_length)),
    ROW(eight_lanes, "dot", "f16,f32,f64", NULL, HUNT_FIXED, "eight partials", BY(.order = in_eight_lanes, .width = 8)),
    ROW(from_first, "sum", "f16,bf16,f32,f64", NULL, HUNT_FIXED, "from the first term on", BY(.order = from_first)),
    ROW(in_place, "sum", "f32", "host/sequential", HUNT_ORDERED, "partial sums in the result's place",
        BY(.order = in_place)),
    ROW(payload, "sum", "f32", "host/sequential", HUNT_ORDERED, "a NaN keeps its payload", BY(.order = with_payload)),
    ROW(scratch, "sum", "f32", NULL, HUNT_FIXED, "partial sums in scratch", .scratch = scratch_of,
        BY(.order = in_scratch, .width = 32)),
    ROW(some_terms, "sum", "f32", "host/sequential", HUNT_ORDERED, "takes no rows of no terms", .run = run_of_some,
        .context = &(struct hunt_way){.order = hunt_rising}),
    ROW(root_mean_square, "rows", "f32,f64", NULL, OF_ROWS, "the root of the mean square",
        BY(.order = root_mean_square)),
    ROW(log_sum_exp, "rows", "f32", NULL, OF_ROWS, "the logarithm of the sum of exponentials",
        BY(.order = log_sum_exp)),
};
HUNT_TABLE(tricky)
