/* bench/plausible.c: computes a collective's figures from its times, and says which of them are implausible. Needs no ranks. */
#include <math.h>
#include <string.h>

#include "bench/world.h"

/* The first entry that the name contains. NVIDIA's data sheets give both directions together: A100 600 GB/s (NVLink 3),
 * H100 SXM and H200 900 GB/s (NVLink 4), H100 PCIe and NVL 600 GB/s by bridges, Blackwell 1.8 TB/s (NVLink 5). */
double fold_world_link(const char *device) {
  static const struct {
    const char *part;
    double rate;
  } links[] = {{"A100", 300e9}, {"H100 PCIe", 300e9}, {"H100 NVL", 300e9}, {"H100", 450e9},
               {"H200", 450e9}, {"B200", 900e9},      {"B300", 900e9}};
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    if (strstr(device, links[i].part)) return links[i].rate;
  return NAN;
}

static bool is_timed(const struct fold_span *span) { return !isnan(span->median); }

/* Whether `fast` is faster than `slow` by more than both spreads: its slow runs take less time than the fast ones of
 * the other. */
static bool is_faster(const struct fold_span *fast, const struct fold_span *slow) { return !(fast->p90 >= slow->p10); }

unsigned fold_world_pair(const double *whole, const double *share, unsigned n) {
  unsigned below = 0;
  for (unsigned i = 0; i < n; i++) below += !(whole[i] >= share[i] - 0.01 * share[i] - 1e-6);
  return below;
}

/* The probability that a coin falls on one side `least` times or more in n throws. */
static double chance_of(unsigned least, unsigned n) {
  double sum = 0;
  for (unsigned k = least; k <= n; k++)
    sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
  return sum;
}

/* If the whole were as fast as the share, or slower, it would win half of the rounds at most. */
static bool wins_too_often(const struct fold_world_timing *t, enum fold_share share) {
  return t->rounds > 0 && !(chance_of(t->below[share], t->rounds) >= 1.0 / 500);
}

static bool is_wide(const struct fold_span *span) { return !(span->p90 <= 2 * span->median); }

/* A share with a wide spread matters only if its slow runs take as long as the whole. */
static const char *find_noise(const struct fold_world_timing *t, const struct fold_world_timing *one) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  if (is_wide(all)) return "its p90 is above twice its median";
  for (int k = FOLD_SHARE_LOCAL; k < FOLD_SHARES; k++)
    if (is_timed(&t->share[k]) && is_wide(&t->share[k]) && !(t->share[k].p90 <= all->median))
      return k == FOLD_SHARE_LOCAL ? "its local share's p90 is above twice that median, and above the whole's"
                                   : "its calls' p90 is above twice their median, and above the whole's";
  if (one && is_timed(&one->share[FOLD_SHARE_ALL]) && is_wide(&one->share[FOLD_SHARE_ALL]))
    return "one rank's p90 is above twice its median";
  return NULL;
}

static const char *judge_rates(const struct fold_world_timing *t, const struct fold_world_limits *limits,
                               const struct fold_world_figures *f) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  double slow = all->median / all->p90; /* the ratio of the slower runs' rate to the median's */
  if (!isnan(limits->link) && t->shape.vectors && t->shape.ranks > 1 && !(f->bus * slow <= limits->link))
    return "more than the link carries";
  if (!isnan(limits->memory.rate) && !fold_ceiling_allows(&limits->memory, f->bytes / t->shape.ranks, all->p90))
    return "more than the ranks' memories can be read";
  return NULL;
}

static const char *judge_shares(const struct fold_world_timing *t, bool noisy) {
  static const char *const why[FOLD_SHARES] = {[FOLD_SHARE_LOCAL] = "a negative overhead: faster than its local share",
                                               [FOLD_SHARE_CALLS] = "faster than its calls to the other ranks"};
  for (int k = FOLD_SHARE_LOCAL; k < FOLD_SHARES; k++) {
    if (!is_timed(&t->share[k])) continue;
    if (is_faster(&t->share[FOLD_SHARE_ALL], &t->share[k]) || (!noisy && wins_too_often(t, k))) return why[k];
  }
  return NULL;
}

static const char *judge_speed_up(const struct fold_world_timing *t, const struct fold_world_timing *one, double work) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL], *base = &one->share[FOLD_SHARE_ALL];
  if (t->shape.ranks > 1 && !(work * base->p10 / all->p90 <= t->shape.ranks))
    return "a speed-up above the world's size";
  return NULL;
}

void fold_bench_world_figures(const struct fold_world_timing *t, const struct fold_world_timing *one, bool weak,
                              const struct fold_world_limits *limits, struct fold_world_figures *f) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  double ranks = t->shape.ranks, size = (double)fold_dtype_size(t->shape.dtype), rows = (double)t->shape.rows;
  *f = (struct fold_world_figures){.algorithm = NAN, .bus = NAN, .speed_up = NAN, .efficiency = NAN};
  f->bytes = size * rows * (t->shape.vectors ? ranks : (double)t->shape.cols);
  f->bytes_per_second = f->bytes / all->median;
  f->of_ceiling = f->bytes_per_second / (limits->memory.rate * ranks);
  f->overhead = all->median - t->share[FOLD_SHARE_LOCAL].median;
  if (t->shape.vectors) {
    f->algorithm = size * rows / all->median;
    f->bus = 2 * (ranks - 1) / ranks * f->algorithm;
  }
  if (!is_timed(all)) return;
  f->noisy = find_noise(t, one);
  f->implausible = judge_rates(t, limits, f);
  if (!f->implausible) f->implausible = judge_shares(t, f->noisy != NULL);
  if (one && is_timed(&one->share[FOLD_SHARE_ALL])) {
    double work = weak ? ranks : 1; /* how much more work it is than with one rank */
    f->speed_up = work * one->share[FOLD_SHARE_ALL].median / all->median;
    f->efficiency = f->speed_up / ranks;
    if (!f->implausible) f->implausible = judge_speed_up(t, one, work);
  }
  if (f->implausible) f->noisy = NULL;
}
