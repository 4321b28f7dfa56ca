/* vary.c: the plan of varied runs, the runs, and whose difference it is. */
#include "vary.h"

#include <stdio.h>
#include <string.h>

#include "bits.h"
#include "judge.h"

/* Hosts. First at the two ends of a page, then other addresses at the subject's own launch, then numbers of
 * threads. Of the greatest number repeats: partials that are added as threads arrive differ now and then, and among many threads
 * sooner. */
static const struct fold_variation host_plan[] = {
    {.placement = FOLD_AT_START},
    {.placement = FOLD_AT_END, .nan = true},
    {.shift = 1, .out_shift = 1, .scratch_shift = 1},
    {.shift = 5, .out_shift = 3},
    {.launch = {.threads = 1}, .shift = 2, .out_shift = 16},
    {.launch = {.threads = 2}, .shift = 8},
    {.launch = {.threads = 3}, .shift = 4},
    {.launch = {.threads = 4}, .shift = 16},
    {.launch = {.threads = 7}, .shift = 32},
    {.launch = {.threads = 8}},
    {.launch = {.threads = 16}},
    {.launch = {.threads = 16}, .again = 1},
    {.launch = {.threads = 16}, .again = 2},
    {.launch = {.threads = 16}, .again = 3},
    {.launch = {.threads = 16}, .again = 4},
};
enum { HOST_ADDRESSES = 2, HOST_LAUNCHES = 4, HOST_MOST_THREADS = 10 };

/* Ranks on hosts: each is sent its part anew where the address is another. */
static const struct fold_variation ranks_plan[] = {
    {.placement = FOLD_AT_START},
    {.placement = FOLD_AT_END, .nan = true},
    {.shift = 1, .out_shift = 1, .scratch_shift = 1},
    {.launch = {.threads = 1}, .shift = 2, .out_shift = 16},
    {.launch = {.threads = 2}, .shift = 8},
    {.launch = {.threads = 3}, .shift = 5, .out_shift = 3},
    {.launch = {.threads = 7}},
    {.launch = {.threads = 16}},
};

/* Grids and blocks that leave work uneven. A device's pages can't be closed. */
static const struct fold_variation cuda_plan[] = {
    {.shift = 1, .out_shift = 1, .scratch_shift = 1},
    {.shift = 5, .out_shift = 3},
    {.launch = {.blocks = 1}, .out_shift = 16},
    {.launch = {.blocks = 7}, .shift = 2, .nan = true},
    {.launch = {.blocks = 132}},
    {.launch = {.block = 128}, .shift = 8},
    {.launch = {.block = 512, .blocks = 33}},
};

static bool in_few(const struct fold_trial *trial, size_t i) {
  uint64_t pick = trial->input_hash;
  return i < HOST_ADDRESSES || i == HOST_ADDRESSES + pick % 2 || i == HOST_LAUNCHES + pick / 2 % 6 ||
         i == HOST_MOST_THREADS;
}

struct plan {
  const struct fold_variation *step;
  size_t n;
};
#define PLAN(steps) ((struct plan){steps, sizeof steps / sizeof *steps})

static struct plan plan_of(enum fold_engine engine) {
  if (!fold_engine_is_host(engine)) return PLAN(cuda_plan);
  return fold_engine_has_ranks(engine) ? PLAN(ranks_plan) : PLAN(host_plan);
}

static bool has_launch(const struct fold_variation *v) {
  return v->launch.threads || v->launch.blocks || v->launch.block;
}
static bool has_address(const struct fold_variation *v) {
  return v->shift || v->out_shift || v->scratch_shift || v->placement != FOLD_PLACED;
}
static unsigned factors_of(const struct fold_variation *v) {
  return (has_launch(v) ? FOLD_VARIES_LAUNCH : 0u) | (has_address(v) ? FOLD_VARIES_ADDRESS : 0u) |
         (v->nan ? FOLD_VARIES_POISON : 0u);
}

/* The part of a variation that is of these factors. */
static struct fold_variation part_of(const struct fold_variation *v, unsigned factors) {
  struct fold_variation part = {.nan = v->nan && factors & FOLD_VARIES_POISON};
  if (factors & FOLD_VARIES_LAUNCH) {
    part.launch = v->launch;
    part.again = v->again;
  }
  if (factors & FOLD_VARIES_ADDRESS) {
    part.shift = v->shift;
    part.out_shift = v->out_shift;
    part.scratch_shift = v->scratch_shift;
    part.placement = v->placement;
  }
  return part;
}

/* The factors whose claims are asked for: what a subject does not promise is not varied beside what it does. */
static unsigned factors_asked(const struct fold_trial *trial) {
  return (trial->asked & FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) ? FOLD_VARIES_LAUNCH : 0u) |
         (trial->asked & FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) ? FOLD_VARIES_ADDRESS : 0u) |
         (trial->asked & FOLD_CLAIM(FOLD_WRITES_OUTPUT) ? FOLD_VARIES_POISON : 0u);
}

static bool equals(const struct fold_variation *a, const struct fold_variation *b) {
  return a->launch.threads == b->launch.threads && a->launch.blocks == b->launch.blocks &&
         a->launch.block == b->launch.block && a->shift == b->shift && a->out_shift == b->out_shift &&
         a->scratch_shift == b->scratch_shift && a->placement == b->placement && a->nan == b->nan &&
         a->again == b->again;
}

static fold_status run_varied(struct fold_trial *trial, const struct fold_variation *how) {
  struct fold_request request = fold_trial_request(trial, how->nan ? 0xff : 0x21);
  request.launch = how->launch;
  request.placement = how->placement;
  request.out_shift = how->out_shift;
  request.scratch_shift = how->scratch_shift;
  if (how->shift) FOLD_TRY(fold_rig_move_apart(trial->rig, how->shift, how->shift / 2));
  fold_status status = fold_trial_run(trial, trial->rig, &request, trial->other);
  if (how->shift) FOLD_TRY(fold_rig_move(trial->rig, 0));
  FOLD_TRY(status);
  return trial->log.writer.wrote_input ? fold_trial_refill(trial) : fold_ok();
}

static void compare(const struct fold_trial *trial, struct fold_varied *seen) {
  enum fold_dtype dtype = trial->c->dtype;
  seen->same = true;
  if (memcmp(trial->other, trial->got, trial->c->rows * fold_dtype_size(dtype)) == 0) return;
  for (size_t r = 0; r < trial->c->rows; r++) {
    uint64_t got = fold_bits_load(dtype, trial->other, r), want = fold_bits_load(dtype, trial->got, r);
    if (fold_bits_same(dtype, got, want)) continue;
    bool nan = fold_bits_class(dtype, got) == FOLD_NAN;
    if (seen->same || (nan && !seen->read_nan)) {
      seen->row = r;
      seen->got = got;
      seen->want = want;
    }
    seen->same = false;
    seen->read_nan |= nan;
  }
}

fold_status fold_trial_vary(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen) {
  struct fold_varied_log *log = &trial->varied;
  for (size_t i = 0; i < log->n; i++)
    if (equals(&log->at[i].how, how)) {
      *seen = log->at[i];
      return fold_ok();
    }
  *seen = (struct fold_varied){.how = *how};
  FOLD_TRY(run_varied(trial, how));
  compare(trial, seen);
  if (log->n < FOLD_VARIED_MOST) log->at[log->n++] = *seen;
  return fold_ok();
}

/* "with 3 threads, 5 elements from an aligned address" */
static void describe(const struct fold_variation *v, char text[160]) {
  struct {
    bool is;
    char text[60];
  } parts[] = {{v->launch.threads, ""},
               {v->launch.blocks, ""},
               {v->launch.block, ""},
               {v->shift, ""},
               {v->out_shift, ""},
               {v->scratch_shift, ""},
               {v->placement != FOLD_PLACED, ""},
               {v->nan, ""}};
  snprintf(parts[0].text, 60, "with %u thread%s", v->launch.threads, v->launch.threads == 1 ? "" : "s");
  snprintf(parts[1].text, 60, "with %u block%s", v->launch.blocks, v->launch.blocks == 1 ? "" : "s");
  snprintf(parts[2].text, 60, "with blocks of %u threads", v->launch.block);
  snprintf(parts[3].text, 60, "%td element%s from an aligned address", v->shift, v->shift == 1 ? "" : "s");
  snprintf(parts[4].text, 60, "with the output %u element%s further", v->out_shift, v->out_shift == 1 ? "" : "s");
  snprintf(parts[5].text, 60, "with the scratch %u bytes further", 256 * v->scratch_shift);
  snprintf(parts[6].text, 60, "at the %s of a page", v->placement == FOLD_AT_START ? "start" : "end");
  snprintf(parts[7].text, 60, "with NaN in the output before");
  size_t n = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].is && n < 160) n += (size_t)snprintf(text + n, 160 - n, "%s%s", n ? ", " : "", parts[i].text);
}

static bool refute(struct fold_finding *finding, const struct fold_varied *seen) {
  char how[160];
  describe(&seen->how, how);
  finding->row = seen->row;
  finding->compared = true;
  finding->got = seen->got;
  finding->want = seen->want;
  fold_find_refuted(finding, "other bits %s", how);
  return false;
}

static bool fail(struct fold_finding *finding, fold_status status) {
  fold_find_failed(finding, status);
  return false;
}

/* A run with other bits, in which more than this factor differs: refuted by this factor alone, or, where no factor alone does it, by
 * all of them together. */
static bool blame(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen,
                  enum fold_factor factor) {
  struct fold_variation own = part_of(&seen->how, factor), rest = part_of(&seen->how, ~(unsigned)factor);
  struct fold_varied alone, without;
  if (factors_of(&seen->how) == (unsigned)factor) return refute(finding, seen);
  fold_status status = fold_trial_vary(trial, &own, &alone);
  if (status.code != FOLD_OK) return fail(finding, status);
  if (!alone.same) return refute(finding, &alone);
  status = fold_trial_vary(trial, &rest, &without);
  if (status.code != FOLD_OK) return fail(finding, status);
  return without.same ? refute(finding, seen) : true;
}

/* One run of the plan, or a part of it; false when the finding is closed. */
static bool judge_step(struct fold_trial *trial, struct fold_finding *finding, const struct fold_variation *step,
                       enum fold_factor factor, size_t *ran) {
  struct fold_varied seen;
  if (!(factors_of(step) & factor)) return true;
  fold_status status = fold_trial_vary(trial, step, &seen);
  if (status.code == FOLD_UNSUPPORTED && has_launch(step)) { /* that launch is not one of its own */
    struct fold_variation rest = part_of(step, ~(unsigned)FOLD_VARIES_LAUNCH);
    return factor == FOLD_VARIES_LAUNCH || judge_step(trial, finding, &rest, factor, ran);
  }
  if (status.code != FOLD_OK) return fail(finding, status);
  finding->comparisons += trial->c->rows;
  ++*ran;
  return seen.same || blame(trial, finding, &seen, factor);
}

/* Each thing by itself. */
static bool judge_apart(struct fold_trial *trial, struct fold_finding *finding, const struct fold_variation *step,
                        enum fold_factor factor, size_t *ran) {
  const struct fold_variation parts[] = {part_of(step, FOLD_VARIES_LAUNCH), {.shift = step->shift},
                                         {.out_shift = step->out_shift},    {.scratch_shift = step->scratch_shift},
                                         {.placement = step->placement},    {.nan = step->nan}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!judge_step(trial, finding, &parts[i], factor, ran)) return false;
  return true;
}

/* Results that are kept from run to run would hide what is varied: another input comes in between; once a trial where runs are
 * slow. */
static fold_status forget(struct fold_trial *trial, bool apart) {
  bool kept;
  if (fold_trial_terms(trial) == 0 || (!apart && trial->varied.n > 0)) return fold_ok();
  if (trial->subject->engine != FOLD_HOST && trial->foreign > 0) return fold_ok();
  return fold_trial_run_foreign(trial, fold_trial_terms(trial) - 1, &kept);
}

bool fold_judge_varied(struct fold_trial *trial, struct fold_finding *finding, enum fold_factor factor, size_t *ran) {
  bool host = trial->subject->engine == FOLD_HOST;
  bool apart = host && fold_trial_terms(trial) <= FOLD_VARY_APART,
       few = host && fold_trial_terms(trial) > FOLD_VARY_FEW;
  unsigned asked = factors_asked(trial) | factor;
  struct plan plan = plan_of(trial->subject->engine);
  *ran = 0;
  fold_status status = forget(trial, apart);
  if (status.code != FOLD_OK) return fail(finding, status);
  for (size_t i = 0; i < plan.n; i++) {
    if (few && !in_few(trial, i)) continue;
    struct fold_variation step = part_of(&plan.step[i], asked);
    if (step.scratch_shift && !trial->subject->scratch) step.scratch_shift = 0;
    if (!(apart ? judge_apart : judge_step)(trial, finding, &step, factor, ran)) return false;
  }
  return true;
}
