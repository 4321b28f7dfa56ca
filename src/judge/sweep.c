/* sweep.c: batches of each size up to 300 where that is quick, and of every size near a power of two; the rows of the whole
 * batch in other places; and short rows at each offset within a cache line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sweep.h"

/* Kernels usually change their method at a power of two. */
static size_t next_usual(size_t rows) {
  if (rows < 9) return rows + 1;
  for (size_t power = 16;; power *= 2)
    for (size_t at = power - 1; at <= power + 1; at++)
      if (at > rows) return at;
}

enum { EACH_SIZE = 300, LONGEST_ROW = 1024 };
/* Seconds for the quickest of the first runs: a program, or a library that compiles for each size, is not run so often. */
static const double QUICK_RUN = 1e-3;
/* Of products a row takes as many terms as all its results have: all these sizes together join no more. */
static const double MOST_JOINED = 1 << 28;

static size_t next_size(const struct fold_around *around, size_t rows, bool each) {
  size_t next = each && rows < EACH_SIZE ? rows + 1 : next_usual(rows);
  for (size_t i = 0; i < around->n; i++)
    for (uint64_t at = around->at[i] - 1; at <= around->at[i] + 1; at++)
      if (at > rows && at < next) next = at;
  return next;
}

/* The results of the leading rows, run as a batch of `size`. */
struct batch {
  size_t size;
  unsigned char *results;
};

static bool run_batch(struct fold_trial *trial, struct fold_finding *finding, size_t rows) {
  const fold_status status = fold_trial_run_part(trial, 0, rows, trial->c->cols, trial->other);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

/* Whether the rows of the smaller batch have the same bits in the larger one. */
static bool agree(const struct fold_trial *trial, const struct batch *small, const void *results,
                  struct fold_finding *finding) {
  struct fold_finding found = *finding;
  const bool same = fold_find_same(&found, fold_trial_result_dtype(trial), results, small->results,
                                   small->size * fold_trial_width(trial), "");
  if (same) finding->comparisons = found.comparisons;
  return same;
}

static void take_sizes(struct fold_trial *trial, size_t same, size_t other, size_t row) {
  const size_t all = fold_trial_slices(trial), cols = trial->c->cols;
  struct fold_order_side a = {.rows = same, .row = row, .behind = fold_order_behind((all - same) * cols)};
  struct fold_order_side b = {.rows = other, .row = row, .behind = fold_order_behind((all - other) * cols)};
  snprintf(a.at, sizeof a.at, "up to %zu row%s", same, same == 1 ? "" : "s");
  snprintf(b.at, sizeof b.at, "from %zu rows on", other);
  fold_trial_take_sides(trial, cols, &a, &b);
}

/* The batch of `most` rows has different bits: finds by bisection two neighbouring sizes of which only the larger
 * has. */
static bool refute_by_pair(struct fold_trial *trial, const struct batch *small, size_t most,
                           struct fold_finding *finding) {
  size_t same = small->size;
  while (most - same > 1) {
    const size_t middle = same + (most - same) / 2;
    if (!run_batch(trial, finding, middle)) return false;
    *(agree(trial, small, trial->other, finding) ? &same : &most) = middle;
  }
  char what[120];
  snprintf(what, sizeof what, "same bits up to %zu row%s, different bits from %zu (of %zu)", same, same == 1 ? "" : "s",
           most, fold_trial_slices(trial));
  if (!run_batch(trial, finding, most)) return false;
  if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, small->results,
                     small->size * fold_trial_width(trial), what))
    fold_find_refuted(finding, "bits of a batch of %zu rows changed in a repeat", most);
  else if (finding->compared)
    take_sizes(trial, same, most, finding->row);
  return false;
}

/* A result of a batch that no rounding explains is shown rather than a difference of rounding that comes first. False where
 * there is one, and it has refuted. */
static bool judge_gross(struct fold_trial *trial, size_t from, bool each, struct fold_finding *finding) {
  const size_t all = fold_trial_slices(trial);
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  for (size_t size = from; size < all; size = next_size(trial->around, size, each)) {
    if (!run_batch(trial, finding, size)) return false;
    const size_t n = size * fold_trial_width(trial), row = fold_find_gross(trial, trial->other, trial->got, n, n);
    if (row == n) continue;
    finding->row = row;
    finding->compared = true;
    finding->got = fold_bits_load(dtype, trial->other, row);
    finding->want = fold_bits_load(dtype, trial->got, row);
    struct fold_order_side whole = {.rows = all, .row = row}, part = {.rows = size, .row = row};
    part.behind = fold_order_behind((all - size) * trial->c->cols);
    snprintf(whole.at, sizeof whole.at, "in a batch of %zu rows", all);
    snprintf(part.at, sizeof part.at, "in one of %zu", size);
    fold_trial_take_sides(trial, trial->c->cols, &whole, &part);
    fold_find_refuted(finding, "different bits in a batch of %zu rows than in one of %zu", size, all);
    return false;
  }
  return true;
}

/* How many terms batches of each size join. */
static double joined_by_each(const struct fold_trial *trial) {
  const double all = (double)fold_trial_slices(trial), most = fmin(all, EACH_SIZE);
  return (double)fold_case_terms(trial->c) / all * most * most / 2;
}

/* Whether each size is to be tried. */
static bool is_quick(const struct fold_trial *trial, const double took[3]) {
  return trial->c->cols <= LONGEST_ROW && joined_by_each(trial) <= MOST_JOINED &&
         fmin(took[0], fmin(took[1], took[2])) < QUICK_RUN;
}

static bool sweep(struct fold_trial *trial, struct batch *small, struct fold_finding *finding) {
  const size_t all = fold_trial_slices(trial),
               size = fold_trial_width(trial) * fold_dtype_size(fold_trial_result_dtype(trial));
  double took[3] = {INFINITY, INFINITY, INFINITY};
  bool each = false;
  if (!run_batch(trial, finding, small->size)) return false;
  memcpy(small->results, trial->other, small->size * size);
  for (size_t k = 0; small->size < all; k++) {
    size_t rows = next_size(trial->around, small->size, each);
    if (rows > all) rows = all;
    const double begun = fold_now();
    if (rows < all && !run_batch(trial, finding, rows)) return false;
    if (k < 3) took[k] = fold_now() - begun;
    if (k == 2) each = is_quick(trial, took);
    const void *results = rows < all ? trial->other : trial->got;
    if (!agree(trial, small, results, finding))
      return judge_gross(trial, small->size, each, finding) && refute_by_pair(trial, small, rows, finding);
    memcpy(small->results, results, rows * size);
    small->size = rows;
  }
  return true;
}

/* The claim of the whole batch's results, the leading ones replaced by those that are in trial->other. *same: those have its bits. */
static bool judge_leading(const struct fold_claim *claim, struct fold_trial *trial, size_t rows, bool *same,
                          struct fold_finding *finding) {
  const size_t all = fold_trial_slices(trial),
               size = fold_trial_width(trial) * fold_dtype_size(fold_trial_result_dtype(trial));
  unsigned char *results = trial->other;
  struct fold_evidence evidence = fold_trial_evidence(trial);
  struct fold_finding found = fold_finding_open(fold_case_results(trial->c));
  *same = memcmp(results, trial->got, rows * size) == 0;
  if (*same) return true;
  memcpy(results + rows * size, (const unsigned char *)trial->got + rows * size, (all - rows) * size);
  evidence.results = results;
  claim->results(&evidence, &found);
  if (found.verdict != FOLD_REFUTED) return true;
  const size_t n = strnlen(found.reason, sizeof found.reason - 1);
  snprintf(found.reason + n, sizeof found.reason - n, ", in a batch of %zu row%s", rows, rows == 1 ? "" : "s");
  found.moved = true;
  *finding = found;
  return false;
}

/* Each batch must keep what is claimed of results, also of a guest that promises no batch invariance. Sizes that it does
 * not take are left out. If all batches have the base run's bits, they are not run again for another claim. */
bool fold_sweep_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding) {
  enum { MOST_ELEMENTS = 1 << 20 };
  double took[3];
  size_t ran = 0;
  bool each = false, all_same = true;
  if (trial->swept || fold_case_all_elements(trial->c) > MOST_ELEMENTS) return true;
  for (size_t rows = 1; rows < fold_trial_slices(trial); rows = next_size(trial->around, rows, each)) {
    struct fold_finding failed = *finding;
    const double begun = fold_now();
    if (!run_batch(trial, &failed, rows)) {
      if (failed.verdict == FOLD_SKIPPED) continue;
      *finding = failed;
      return false;
    }
    if (ran < 3) took[ran] = fold_now() - begun;
    if (++ran == 3) each = is_quick(trial, took);
    bool same;
    if (!judge_leading(claim, trial, rows, &same, finding)) return false;
    all_same &= same;
    if (ran >= 3 && !each) break;
  }
  trial->swept = all_same;
  return true;
}

bool fold_sweep_batches(struct fold_trial *trial, struct fold_finding *finding) {
  struct batch small = {1, malloc(fold_case_results(trial->c) * 8)};
  if (small.results == NULL) {
    fold_find_failed(finding, fold_no_memory("for %zu results", fold_case_results(trial->c)));
    return false;
  }
  const bool same = sweep(trial, &small, finding);
  free(small.results);
  return same;
}

/* Moves the first `by` rows of an input to the end. */
static void rotate_rows(const struct fold_trial *trial, unsigned k, const void *from, void *input, const void *by) {
  const size_t row = fold_trial_slice(trial, k) * fold_dtype_size(trial->c->dtype);
  const size_t head = *(const size_t *)by * row, rest = fold_trial_slices(trial) * row - head;
  memcpy(input, (const unsigned char *)from + head, rest);
  memcpy((unsigned char *)input + rest, from, head);
}

/* Whether the row alone has other bits so many elements further from an aligned address. */
bool fold_address_decides(struct fold_trial *trial, size_t row, size_t further) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const size_t line = 64 / fold_dtype_size(trial->c->dtype), shift = further % line;
  uint64_t here = 0, there = 0;
  if (shift == 0 || trial->subject->vector || fold_trial_width(trial) > 1) return false;
  const struct fold_edit moved = {.shift = (ptrdiff_t)shift, .other_shift = (ptrdiff_t)shift};
  const struct fold_request request = fold_trial_part(trial, row, 1, 0, trial->c->cols);
  return fold_trial_run(trial, trial->rig, &request, &here).code == FOLD_OK &&
         fold_trial_run_edited(trial, &moved, &request, &there).code == FOLD_OK &&
         !fold_bits_same(dtype, fold_bits_load(dtype, &here, 0), fold_bits_load(dtype, &there, 0));
}

/* After the rotation row r's result must be at place r - by. */
static bool judge_rotated(struct fold_trial *trial, size_t by, struct fold_finding *finding) {
  const size_t rows = fold_trial_slices(trial), width = fold_trial_width(trial),
               size = width * fold_dtype_size(fold_trial_result_dtype(trial));
  const struct fold_edit edit = {.apply = rotate_rows, .context = &by};
  const fold_status status = fold_trial_run_edited(trial, &edit, NULL, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const unsigned char *other = trial->other, *got = trial->got;
  if (fold_find_same(finding, dtype, other + (rows - by) * size, got, by * width, "")) {
    if (fold_find_same(finding, dtype, other, got + by * size, (rows - by) * width, "")) return true;
    finding->row += by * width;
  }
  const size_t row = finding->row / width;
  struct fold_order_side a = {.rows = rows, .row = row, .alone = true}, b = a;
  b.row = (row + rows - by) % rows;
  snprintf(a.at, sizeof a.at, "in place %zu of %zu", a.row, rows);
  snprintf(b.at, sizeof b.at, "in place %zu", b.row);
  fold_trial_take_sides(trial, trial->c->cols, &a, &b);
  if (fold_address_decides(trial, row, (rows - by) * trial->c->cols))
    fold_find_refuted(
        finding,
        "the row's address matters: row %zu of %zu has different bits in place %zu, and by itself at such an address",
        row, rows, b.row);
  else
    fold_find_refuted(finding, "different bits for row %zu of %zu in place %zu than in place %zu", row, rows, b.row,
                      row);
  return false;
}

/* Rotates by one row each way, so that the first row also becomes the last, and the last the first; then by half. */
bool fold_sweep_places(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t rows = fold_trial_slices(trial), steps[] = {1, rows - 1, rows / 2};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (!judge_rotated(trial, steps[i], finding)) return false;
  return true;
}

/* ---- short rows at each offset within a cache line; the widest lines have 128 bytes ---- */

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
  finding->comparisons += fold_case_results(trial->c);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK && (seen.same || fold_find_varied(trial, finding, &seen));
}

bool fold_sweep_offsets(struct fold_trial *trial, struct fold_finding *finding) {
  if (fold_trial_terms(trial) == 0 || fold_trial_terms(trial) > FOLD_PLAN_ALL) return true;
  return fold_judge_each(trial, finding, LINE / narrow_size(trial) * WAYS, judge_offset, NULL);
}
