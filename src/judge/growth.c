/* growth.c: memory and open files that each run of a guest takes and does not give back.
 *
 * The same run is repeated in groups. A guest that keeps a workspace, a cache or an open file has it after the first
 * run, and uses no more after a group. A guest that collects garbage now and then uses no more after one of the groups:
 * of MOST_GROUPS, or of as many as there is time for, but at least LEAST_GROUPS; where FEWEST_GROUPS take too long, the claim is
 * skipped. A guest that uses more after each group never gives it back. Groups of a quick guest are longer, so that each
 * has what every second, third, fourth or sixth run keeps. A device's memory is counted in large blocks, so its groups
 * are longer still, and less than a block a group is not seen. Foldproof's own subjects are left to the sanitizers. In a
 * caller's process other threads take memory and open files, too, so nothing is looked at there.
 */
#include <dirent.h>

#include "judge/judge.h"
#include "model/engine.h"
#include "process/heartbeat.h"

/* unseen: 63 */
enum {
  LEAST_GROUPS = 16,
  FEWEST_GROUPS = 4,
  MOST_GROUPS = 64,
  QUICK_GROUPS = 10,
  HOST_RUNS = 2,
  QUICK_RUNS = 12,
  DEVICE_RUNS = 32
};
/* Seconds: of a run of a quick guest; for MOST_GROUPS; for LEAST_GROUPS, of which FEWEST_GROUPS decide where it is over. */
static const double QUICK = 1e-3, MOST_TIME = 0.5, TOO_LONG = 30; /* unseen: 1.5 */

static fold_status run_group(struct fold_trial *trial, unsigned runs) {
  for (unsigned i = 0; i < runs; i++) FOLD_TRY(fold_trial_rerun(trial, 0x2d)); /* unseen: 0x2c | 0x2e */
  return fold_ok();
}

/* How many descriptors this process has open, the one that this takes among them; 0 where the system does not say. */
static size_t open_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  size_t n = 0;
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) n += entry->d_name[0] != '.';
  closedir(folder);
  return n;
}

static struct fold_growth in_use(const struct fold_engine_ops *ops) {
  return (struct fold_growth){.bytes = ops->in_use(), .files = open_files(), .runs = 1};
}

/* The least growth so far: something else than the runs, such as the log, may have grown in some groups. */
static void take_least(size_t *least, size_t before, size_t now) {
  const size_t grown = now > before ? now - before : 0;
  if (grown < *least) *least = grown;
}

/* A quick guest is one of which some run is quick: others may have to wait for a processor. */
static fold_status find_runs(struct fold_trial *trial, const struct fold_engine_ops *ops, unsigned *runs) {
  enum { LOOKS = 3 };
  const double first = fold_now();
  *runs = ops->is_host ? HOST_RUNS : DEVICE_RUNS;
  for (unsigned k = 0; k < LOOKS && *runs == HOST_RUNS && fold_now() - first < MOST_TIME; k++) {
    const double begun = fold_now();
    FOLD_TRY(run_group(trial, 1));
    if (fold_now() - begun < QUICK) *runs = QUICK_RUNS;
  }
  return *runs == DEVICE_RUNS ? run_group(trial, 1) : fold_ok();
}

fold_status fold_trial_growth(struct fold_trial *trial, struct fold_growth *growth) {
  const struct fold_engine_ops *ops = fold_engine_of(trial->subject->engine);
  const double begun = fold_now();
  *growth = (struct fold_growth){0};
  if (!trial->subject->guest || !fold_watch_is_set() || !ops || !ops->in_use) return fold_ok();
  unsigned runs;
  FOLD_TRY(find_runs(trial, ops, &runs));
  const unsigned most = runs == QUICK_RUNS ? QUICK_GROUPS : MOST_GROUPS,
                 least_groups = ops->is_host ? LEAST_GROUPS : FEWEST_GROUPS;
  struct fold_growth now = in_use(ops), before, least = {.bytes = SIZE_MAX, .files = SIZE_MAX, .runs = 1};
  for (unsigned k = 0; k < most && (k < least_groups || fold_now() - begun < MOST_TIME); k++) {
    growth->unseen = "runs take too long to see whether each leaks memory or open files";
    const bool over = fold_now() - begun > TOO_LONG;
    if (over && k < FEWEST_GROUPS) return fold_ok();
    if (over) break;
    before = now;
    FOLD_TRY(run_group(trial, runs));
    now = in_use(ops);
    take_least(&least.bytes, before.bytes, now.bytes);
    take_least(&least.files, before.files, now.files);
    growth->unseen = NULL;
    if (least.bytes == 0 && least.files == 0) return fold_ok();
  }
  *growth = (struct fold_growth){.bytes = least.bytes / runs, .files = least.files, .runs = runs};
  return fold_ok();
}
