/* bench_plausible.c: what the times of a collective amount to, and when that can't be. Needs no ranks. */
#include <math.h>

#include "bench_world.h"

static bool is_timed(const struct fold_span *span) { return !isnan(span->median); }

/* `fast` is faster than `slow` by more than both spreads: its slow runs beat the other's fast ones. */
static bool is_faster(const struct fold_span *fast, const struct fold_span *slow) { return !(fast->p90 >= slow->p10); }

static const char *judge_rates(const struct fold_world_timing *t, const struct fold_world_limits *limits,
                               const struct fold_world_figures *f) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  double slow = all->median / all->p90; /* from the median's rate to the slower runs' */
  if (!isnan(limits->link) && t->shape.vectors && t->shape.ranks > 1 && !(f->bus * slow <= limits->link))
    return "more than the link carries";
  if (!isnan(limits->memory) && !(f->bytes_per_second * slow <= limits->memory * t->shape.ranks))
    return "more than the ranks' memories can be read";
  return NULL;
}

static const char *judge_shares(const struct fold_world_timing *t) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  if (is_timed(&t->share[FOLD_SHARE_LOCAL]) && is_faster(all, &t->share[FOLD_SHARE_LOCAL]))
    return "a negative overhead: faster than its local share alone";
  if (is_timed(&t->share[FOLD_SHARE_CALLS]) && is_faster(all, &t->share[FOLD_SHARE_CALLS]))
    return "faster than its calls to the other ranks alone";
  return NULL;
}

void fold_bench_world_figures(const struct fold_world_timing *t, const struct fold_world_timing *one, bool weak,
                              const struct fold_world_limits *limits, struct fold_world_figures *f) {
  const struct fold_span *all = &t->share[FOLD_SHARE_ALL];
  double ranks = t->shape.ranks, size = (double)fold_dtype_size(t->shape.dtype), rows = (double)t->shape.rows;
  *f = (struct fold_world_figures){.algorithm = NAN, .bus = NAN, .speed_up = NAN, .efficiency = NAN};
  f->bytes = size * rows * (t->shape.vectors ? ranks : (double)t->shape.cols);
  f->bytes_per_second = f->bytes / all->median;
  f->of_ceiling = f->bytes_per_second / (limits->memory * ranks);
  f->overhead = all->median - t->share[FOLD_SHARE_LOCAL].median;
  if (t->shape.vectors) {
    f->algorithm = size * rows / all->median;
    f->bus = 2 * (ranks - 1) / ranks * f->algorithm;
  }
  if (!is_timed(all)) return;
  f->implausible = judge_rates(t, limits, f);
  if (!f->implausible) f->implausible = judge_shares(t);
  if (one == NULL || !is_timed(&one->share[FOLD_SHARE_ALL])) return;
  const struct fold_span *base = &one->share[FOLD_SHARE_ALL];
  double work = weak ? ranks : 1; /* how much more is done than by the one rank */
  f->speed_up = work * base->median / all->median;
  f->efficiency = f->speed_up / ranks;
  if (!f->implausible && t->shape.ranks > 1 && !(work * base->p10 / all->p90 <= ranks))
    f->implausible = "a speed-up above the world's size";
}
