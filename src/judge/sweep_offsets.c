/* sweep_offsets.c: short rows at each offset within a cache line; the widest lines have 128 bytes. */
#include "base/bits.h"
#include "judge/sweep.h"

enum { LINE = 128 };

/* Which arguments lie k places from an aligned address: each by itself, then all of them. */
enum { INPUT, OTHER_INPUT, OUTPUT, TOGETHER, WAYS };

/* The distance between places: the size of the smaller elements. Larger elements can begin at only some of the
 * places. */
static size_t narrow_size(const struct fold_trial *trial) {
  const size_t in = fold_dtype_size(trial->c->dtype), out = fold_dtype_size(fold_trial_result_dtype(trial));
  return in < out ? in : out;
}

/* How many elements lie before byte `at`; 0 where no element begins there. */
static size_t elements_before(size_t at, size_t size) { return at % size ? 0 : at / size; }

static struct fold_variation variation(const struct fold_trial *trial, unsigned way, size_t k) {
  const size_t at = k * narrow_size(trial);
  const ptrdiff_t in = (ptrdiff_t)elements_before(at, fold_dtype_size(trial->c->dtype));
  struct fold_variation v = {0};
  if (way == INPUT || way == TOGETHER) v.shift = in;
  if ((way == OTHER_INPUT || way == TOGETHER) && trial->rig->inputs > 1) v.other_shift = in;
  if (way == OUTPUT || way == TOGETHER)
    v.out_shift = (unsigned)elements_before(at, fold_dtype_size(fold_trial_result_dtype(trial)));
  v.second = trial->has_second && k % 2 == 1; /* so that a result stored for the last input can't pass */
  return v;
}

static bool judge_offset(struct fold_trial *trial, struct fold_finding *finding, size_t k, const void *context) {
  (void)context;
  const struct fold_variation how = variation(trial, k % WAYS, k / WAYS + 1);
  struct fold_varied seen;
  if (!fold_variation_factors(&how)) return true;
  fold_status status = fold_trial_try(trial, &how, &seen);
  finding->comparisons += trial->c->rows;
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK && (seen.same || fold_find_varied(trial, finding, &seen));
}

bool fold_sweep_offsets(struct fold_trial *trial, struct fold_finding *finding) {
  if (fold_trial_terms(trial) == 0 || fold_trial_terms(trial) > FOLD_PLAN_ALL) return true;
  return fold_judge_each(trial, finding, LINE / narrow_size(trial) * WAYS, judge_offset, NULL);
}
