/* kept_memory.c: memory that each run of a guest takes and does not give back.
 *
 * The same run is repeated in groups. A guest that keeps a workspace or a cache has it after the first run, and uses no
 * more memory after a group. A guest that collects garbage now and then uses no more after one of the groups: of
 * MOST_GROUPS, or of as many as there is time for, but at least LEAST_GROUPS. A guest that uses more after each group
 * never gives it back. A device's memory is counted in large blocks, so its groups are larger, and less than a block a
 * group is not seen. Foldproof's own subjects are left to the sanitizers. In a caller's process other threads take
 * memory, too, so memory is not looked at there.
 */
#include "engine.h"
#include "judge.h"
#include "watch.h"

enum { LEAST_GROUPS = 4, MOST_GROUPS = 64, HOST_RUNS = 2, DEVICE_RUNS = 32 };
/* Seconds. */
static const double MOST_TIME = 0.5;

static fold_status run_group(struct fold_trial *trial, unsigned runs) {
  for (unsigned i = 0; i < runs; i++) FOLD_TRY(fold_trial_rerun(trial, 0x2d));
  return fold_ok();
}

fold_status fold_trial_kept_memory(struct fold_trial *trial, size_t *bytes) {
  const struct fold_engine_ops *ops = fold_engine_of(trial->subject->engine);
  const double end = fold_now() + MOST_TIME;
  *bytes = 0;
  if (!trial->subject->guest || !fold_watch_is_set() || !ops || !ops->in_use) return fold_ok();
  const unsigned runs = ops->is_host ? HOST_RUNS : DEVICE_RUNS;
  FOLD_TRY(run_group(trial, 1));
  size_t now = ops->in_use(), before, least = SIZE_MAX;
  for (unsigned k = 0; k < MOST_GROUPS; k++) {
    if (fold_now() > end && k < LEAST_GROUPS) return fold_ok();
    if (fold_now() > end) break;
    before = now;
    FOLD_TRY(run_group(trial, runs));
    now = ops->in_use();
    if (now <= before) return fold_ok();
    if (now - before < least) least = now - before;
  }
  *bytes = least / runs; /* the least, since the log may have grown in some groups */
  return fold_ok();
}
