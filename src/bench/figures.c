/* bench/figures.c: the inputs and calls of a shape; figures from timed runs, and the ceiling that they must keep to. Needs no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "bench/bench.h"

void fold_judged_count(struct fold_judged *j, const char *claim, const struct fold_finding *finding) {
  j->count[finding->verdict]++;
  if (finding->verdict != FOLD_HELD) snprintf(j->note, sizeof j->note, "%s: %.*s", claim, 150, finding->reason);
}

void fold_judged_take(void *judged, const struct fold_claim *claim, const struct fold_finding *finding) {
  fold_judged_count(judged, claim->name, finding);
}

bool fold_judged_may_run(const struct fold_judged *j) { return !j->count[FOLD_REFUTED] && !j->count[FOLD_BROKEN]; }

const char *fold_judged_verdict(const struct fold_judged *j) {
  if (fold_judged_may_run(j)) return j->count[FOLD_HELD] ? fold_verdict_name(FOLD_HELD) : "not judged";
  return fold_verdict_name(j->count[FOLD_REFUTED] ? FOLD_REFUTED : FOLD_BROKEN);
}

double fold_bench_quantile(const double *sorted, size_t n, double q) {
  return sorted[(size_t)lround(q * (double)(n - 1))];
}

double fold_bench_flop(const struct fold_timing *t) {
  return 2 * (double)fold_all_terms(t->shape.problem, &t->shape.shape);
}

void fold_bench_figures(struct fold_timing *t, const double *sorted, size_t n, const struct fold_ceiling *ceiling) {
  t->median = fold_bench_quantile(sorted, n, 0.5);
  t->p10 = fold_bench_quantile(sorted, n, 0.1);
  t->p90 = fold_bench_quantile(sorted, n, 0.9);
  t->bytes_per_second = t->bytes / t->median;
  t->of_ceiling = t->bytes_per_second / ceiling->rate;
  /* A rate above the ceiling by no more than both spreads counts as the ceiling itself. NaN is implausible. */
  t->implausible = !fold_ceiling_allows(ceiling, t->bytes, t->p90);
  if (t->implausible || ceiling->units.sms == 0 || t->shape.problem->factors < 2) return;
  const double most = fold_units_flop(&ceiling->units, t->subject, t->shape.dtype) * (1 + FOLD_CEILING_BETTER);
  if (!(fold_bench_flop(t) / (t->p90 + ceiling->clock) > most)) return;
  t->implausible = true;
  t->why = "more operations than the GPU can do";
}

/* NVIDIA's white papers of A100 and H100: operations of dense products for each clock and multiprocessor. f64 has tensor cores, f32 has
 * none unless its factors may be rounded. */
double fold_units_flop(const struct fold_units *units, const struct fold_subject *subject, enum fold_dtype dtype) {
  static const struct {
    int major, minor;
    double wide, tf32, narrow; /* of f64 and f32, of tf32, of 16 bits */
  } known[] = {{8, 0, 128, 1024, 2048}, {9, 0, 256, 2048, 4096}};
  /* An exact sum's products are many, of integers. CUDA may not tell the clock. */
  if (subject->method == FOLD_EXACT || !(units->hertz > 0)) return NAN;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].major != units->major || known[i].minor != units->minor) continue;
    const bool wide = dtype == FOLD_F64 || (dtype == FOLD_F32 && subject->factor == FOLD_FACTORS_KEPT);
    const bool tf32 = dtype == FOLD_F32 && subject->factor == FOLD_FACTORS_TF32;
    return units->sms * units->hertz * (wide ? known[i].wide : tf32 ? known[i].tf32 : known[i].narrow);
  }
  return NAN;
}

bool fold_ceiling_take(struct fold_ceiling *ceiling, double n_bytes, double *seconds, size_t n) {
  fold_list_rise(seconds, n);
  double rate = n_bytes / fold_bench_quantile(seconds, n, 0.5), most = n_bytes / fold_bench_quantile(seconds, n, 0.1);
  if (most > ceiling->most) ceiling->most = most;
  if (!(rate > ceiling->rate)) return false;
  ceiling->rate = rate;
  return true;
}

bool fold_ceiling_allows(const struct fold_ceiling *ceiling, double n_bytes, double seconds) {
  return n_bytes / (seconds + ceiling->clock) <= ceiling->most * (1 + FOLD_CEILING_BETTER);
}

/* More than the input's bytes, to a multiple of the alignment. */
static size_t input_bytes(const struct fold_bench_shape *shape, unsigned input) {
  size_t nbytes = fold_elements(shape->problem, &shape->shape, input) * fold_dtype_size(shape->dtype);
  return (nbytes + FOLD_BENCH_ALIGN) / FOLD_BENCH_ALIGN * FOLD_BENCH_ALIGN;
}

size_t fold_bench_input_at(const struct fold_bench_shape *shape, unsigned input) {
  size_t at = 0;
  for (unsigned i = 0; i < input; i++) at += input_bytes(shape, i);
  return at;
}

size_t fold_bench_slot_bytes(const struct fold_bench_shape *shape) {
  return fold_bench_input_at(shape, shape->problem->inputs);
}

size_t fold_bench_out_bytes(const struct fold_bench_shape *shape) {
  return fold_results(shape->problem, &shape->shape) * sizeof(uint64_t) + FOLD_BENCH_ALIGN;
}

struct fold_source fold_bench_source(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                     unsigned input) {
  struct fold_source first = {options->generator, shape->dtype, options->seed, shape->cols, 0};
  return fold_source_of_input(&first, input);
}

struct fold_call fold_bench_call(const struct fold_bench_shape *shape, const unsigned char *slot, void *out) {
  struct fold_call call = {.dtype = shape->dtype, .problem = shape->problem, .shape = shape->shape, .out = out};
  for (unsigned i = 0; i < shape->problem->inputs; i++) call.in[i] = slot + fold_bench_input_at(shape, i);
  return call;
}
