/* run_pair_right.c: of two runs with different bits, which one is right.
 *
 * Where the exact result is known, a refutation says whether both sides are within their bounds, or by how many bounds one is
 * outside; and `got` is the side that is outside, or the one that is further outside. If both are within, they stay as the
 * judge has them. Of same_bits_as it also says which of the two is nearer to the exact result. Among several refutations of one judge, one with such a side goes before a difference of rounding.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sweep.h"
#include "oracles/nearer.h"

static const uint64_t OF_TWO_RUNS =
    FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_SAME_BITS_AS) | FOLD_CLAIM(FOLD_RUN_TO_RUN) |
    FOLD_CLAIM(FOLD_FRESH_PROCESS) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) |
    FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_LENGTH_INVARIANT) | FOLD_CLAIM(FOLD_PADDING_INVARIANT) |
    FOLD_CLAIM(FOLD_STRIDE_INVARIANT) | FOLD_CLAIM(FOLD_SPLIT_INVARIANT) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT) |
    FOLD_CLAIM(FOLD_MESSAGE_INVARIANT);
/* Whose `want` is not the subject's own: it stays what it is. */
static const uint64_t OF_ANOTHER = FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_SAME_BITS_AS);

/* Whether both results are of terms that are known. */
static bool is_known(const struct fold_trial *trial, const struct fold_finding *f) {
  return OF_TWO_RUNS & FOLD_CLAIM(trial->why) && f->compared && f->row < fold_case_results(trial->c) &&
         !f->of_other_run && trial->truths && trial->truths->in[0] && !trial->subject->unknown;
}

struct both {
  struct fold_weight got, want;
};

/* Whose bits the subject promises is weighed by its own arithmetic. */
static struct both weigh_row(const struct fold_trial *trial, struct fold_truths *truths, size_t row,
                             const struct fold_finding *f) {
  struct fold_evidence evidence = fold_trial_evidence(trial);
  struct both both;
  evidence.truths = truths;
  both.got = fold_weight_of(&evidence, row, f->got);
  if (trial->why == FOLD_SAME_BITS_AS) evidence.subject = fold_registry_twin(trial->registry, trial->subject);
  both.want = fold_weight_of(&evidence, row, f->want);
  return both;
}

/* The same of a part of the input, of one slice; `row` is that of the part. */
static struct both weigh_part(const struct fold_trial *trial, struct fold_part part, size_t row,
                              const struct fold_finding *f) {
  const struct fold_request where = fold_trial_part(trial, part.row, 1, part.first, part.n);
  struct fold_case c = *trial->c;
  struct fold_truths truths;
  c.shape = where.shape;
  if (fold_truths_open(&truths, &c, NULL).code != FOLD_OK) return (struct both){0};
  for (unsigned k = 0; k < c.problem->inputs; k++)
    truths.in[k] = (const unsigned char *)trial->truths->in[k] + where.first[k] * trial->rig->in[k].size;
  const struct both both = weigh_row(trial, &truths, row, f);
  fold_truths_close(&truths);
  return both;
}

/* The same of a row of the second input: of its slice, as it is now. */
static struct both weigh_second(struct fold_trial *trial, const struct fold_finding *f) {
  struct both both = {0};
  if (fold_trial_flip(trial, true).code != FOLD_OK) return both;
  const size_t width = fold_trial_width(trial);
  both = weigh_part(trial, (struct fold_part){f->row / width, 0, trial->c->cols}, f->row % width, f);
  return fold_trial_flip(trial, false).code == FOLD_OK ? both : (struct both){0};
}

static struct both weigh(struct fold_trial *trial, const struct fold_finding *f) {
  if (!is_known(trial, f)) return (struct both){0};
  if (trial->has_refuting && trial->refuting.how.second) return weigh_second(trial, f);
  if (trial->part.n == 0) return weigh_row(trial, trial->truths, f->row, f);
  return weigh_part(trial, trial->part, fold_trial_width(trial) > 1 ? f->row : 0, f);
}

/* Whether a is outside its bound, and further than b. */
static bool is_worse(struct fold_weight a, struct fold_weight b) {
  return !a.allowed && (b.allowed || isnan(a.fraction) || a.fraction > b.fraction);
}

static const char *describe(struct fold_weight w, char text[40]) {
  const bool plain = !isfinite(w.fraction) || w.fraction == 0; /* a bound of 0 has no multiples */
  if (w.allowed) return plain ? "right" : "within its bound";
  snprintf(text, 40, "wrong by %.3g bounds", w.fraction);
  return plain ? "wrong" : text;
}

static const char *name_of(const struct fold_trial *trial, bool is_got) {
  if (trial->sides.n) return trial->sides.side[is_got != trial->sides.first_is_got].at;
  return is_got ? "got" : "want";
}

static void swap(struct fold_finding *f, struct both *both) {
  const struct both turned = {both->want, both->got};
  const uint64_t wrong = f->want;
  *both = turned;
  f->want = f->got;
  f->got = wrong;
}

/* Of a subject and its reference: "; errors of 0.21 and 2.8 ulps: host/kahan is nearer to the exact result". */
static void tell_nearer(const struct fold_trial *trial, struct fold_finding *f) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const size_t used = strlen(f->sides);
  const struct fold_truth *truth;
  struct fold_nearer n;
  if (trial->why != FOLD_SAME_BITS_AS || fold_dtype_is_integer(dtype)) return;
  if (fold_truths_row(trial->truths, f->row, &truth).code != FOLD_OK) return;
  fold_nearer_ask(&n, truth, dtype, f->got, f->want);
  const char *who = n.nearer < 0 ? "neither" : n.nearer ? trial->subject->twin : trial->subject->name;
  snprintf(f->sides + used, sizeof f->sides - used,
           "; errors of %.3g and %.3g ulps: %.60s is nearer to the exact result", n.ulps[0], n.ulps[1], who);
}

static void tell_sides(struct fold_trial *trial, struct both both, struct fold_finding *f) {
  char got_is[40], want_is[40];
  if (both.got.allowed && both.want.allowed) {
    snprintf(f->sides, sizeof f->sides, "both within their bounds");
    return;
  }
  f->outside = both.got.allowed != both.want.allowed;
  const bool turns = is_worse(both.want, both.got) && !(OF_ANOTHER & FOLD_CLAIM(trial->why));
  if (turns) swap(f, &both);
  const bool named = trial->sides.n > 0;
  snprintf(f->sides, sizeof f->sides, "%.61s: %.25s, %.61s: %.25s", name_of(trial, turns && named),
           describe(both.want, want_is), name_of(trial, !(turns && named)), describe(both.got, got_is));
}

void fold_judge_right_side(struct fold_trial *trial, struct fold_finding *f) {
  const struct both both = f->verdict == FOLD_REFUTED ? weigh(trial, f) : (struct both){0};
  if (!both.got.known || !both.want.known) return;
  tell_sides(trial, both, f);
  tell_nearer(trial, f);
}

bool fold_is_gross(struct fold_trial *trial, const struct fold_finding *finding) {
  const struct both both = weigh(trial, finding);
  return (both.got.known && !both.got.allowed) || (both.want.known && !both.want.allowed);
}

size_t fold_find_gross(const struct fold_trial *trial, const void *results, const void *base, size_t rows,
                       size_t most) {
  const struct fold_evidence evidence = fold_trial_evidence(trial);
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  if (trial->truths == NULL || trial->truths->in[0] == NULL || trial->subject->unknown) return rows;
  for (size_t r = 0; r < rows && most > 0; r++) {
    const uint64_t bits = fold_bits_load(dtype, results, r);
    if (fold_bits_same(dtype, bits, fold_bits_load(dtype, base, r))) continue;
    const struct fold_weight weight = fold_weight_of(&evidence, r, bits);
    if (weight.known && !weight.allowed) return r;
    most--;
  }
  return rows;
}

/* A refutation, and what the trial says of it. */
struct shown {
  struct fold_finding finding;
  struct fold_order_sides sides;
  struct fold_varied refuting;
  bool has_refuting;
  struct fold_part part;
};

static void keep(const struct fold_trial *trial, const struct fold_finding *finding, struct shown *shown) {
  *shown = (struct shown){*finding, trial->sides, trial->refuting, trial->has_refuting, trial->part};
}

static void show(const struct shown *shown, struct fold_trial *trial, struct fold_finding *finding) {
  *finding = shown->finding;
  trial->sides = shown->sides;
  trial->refuting = shown->refuting;
  trial->has_refuting = shown->has_refuting;
  trial->part = shown->part;
}

bool fold_judge_each(struct fold_trial *trial, struct fold_finding *finding, size_t n, fold_try *try,
                     const void *context) {
  struct shown shown = {.has_refuting = false};
  bool any = false, last = false;
  for (size_t k = 0; k < n && !last; k++) {
    struct fold_finding found = *finding;
    trial->has_refuting = false;
    trial->sides.n = trial->part.n = 0;
    const bool held = try(trial, &found, k, context), refuted = found.verdict == FOLD_REFUTED;
    if (held && !any) *finding = found;
    if (held) continue;
    const bool gross = refuted && (!found.compared || fold_is_gross(trial, &found));
    if (!any || gross) keep(trial, &found, &shown);
    any = true;
    last = gross || !refuted;
  }
  if (any) show(&shown, trial, finding);
  return !any;
}
