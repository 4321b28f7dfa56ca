/* claims.c: the table of claims, and what all judges share. */
#include "judge.h"

/* What a subject does to memory and leaves behind, and whether ranks agree, is judged over the runs that all other judges made:
 * among those writes_output, which makes runs of its own. */
#define OVER_RUNS                                                                                          \
  (FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE) | FOLD_CLAIM(FOLD_RANK_AGREEMENT) | \
   FOLD_CLAIM(FOLD_KEEPS_INPUT))
#define MAKES_RUNS (~OVER_RUNS)

static const struct fold_claim claims[FOLD_CLAIMS] = {
    {FOLD_BOUNDED, "bounded", "an error above the bound of the order's own height", .results = fold_judge_bounded},
    {FOLD_COMPENSATED, "compensated", "an error above the compensated method's bound", .results = fold_judge_bounded},
    {FOLD_FAITHFUL, "faithful", "not the exact result, nor one of its two neighbours", .results = fold_judge_faithful},
    {FOLD_CORRECTLY_ROUNDED, "correctly_rounded", "not the number nearest to the exact result",
     .results = fold_judge_correctly_rounded},
    {FOLD_REPLAYS, "replays", "bits other than the replay of the declared order", .results = fold_judge_replays,
     .by_order = true},
    {FOLD_SAME_BITS_AS, "same_bits_as", "bits other than the twin's", .runs = fold_judge_same_bits_as,
     .by_order = true},
    {FOLD_RUN_TO_RUN, "run_to_run", "other bits in a repeat", .runs = fold_judge_run_to_run, .by_order = true},
    {FOLD_FRESH_PROCESS, "fresh_process",
     "other bits in a new process, with another environment and other freed memory", .runs = fold_judge_fresh_process,
     .by_order = true},
    {FOLD_LAUNCH_INVARIANT, "launch_invariant", "other bits for another grid, block or number of threads",
     .runs = fold_judge_launch_invariant, .by_order = true},
    {FOLD_ALIGNMENT_INVARIANT, "alignment_invariant", "other bits at another address, or for a sub-range and its copy",
     .runs = fold_judge_alignment_invariant, .by_order = true},
    {FOLD_BATCH_INVARIANT, "batch_invariant", "a row's bits depend on the number of rows, or on its place",
     .runs = fold_judge_batch_invariant, .by_order = true},
    {FOLD_SPLIT_INVARIANT, "split_invariant", "other bits from aligned shards, each reduced alone and joined",
     .runs = fold_judge_split_invariant, .by_order = true},
    {FOLD_PERMUTATION_INVARIANT, "permutation_invariant", "other bits for the same terms in another order",
     .runs = fold_judge_permutation_invariant, .by_order = true},
    {FOLD_MESSAGE_INVARIANT, "message_invariant", "other bits for the same elements in a shorter or a fused message",
     .runs = fold_judge_message_invariant, .by_order = true},
    {FOLD_WORLD_INVARIANT, "world_invariant", "other bits with another number of ranks",
     .runs = fold_judge_world_invariant, .by_order = true},
    {FOLD_WRITES_OUTPUT, "writes_output", "poison left in the output, or taken from it",
     .runs = fold_judge_writes_output, .after = MAKES_RUNS & ~FOLD_CLAIM(FOLD_WRITES_OUTPUT)},
    {FOLD_STAYS_IN_BOUNDS, "stays_in_bounds",
     "a guard around output, input or scratch overwritten; on hosts, a page beyond them touched",
     .runs = fold_judge_stays_in_bounds, .after = MAKES_RUNS},
    {FOLD_LEAVES_NO_TRACE, "leaves_no_trace",
     "another rounding mode, flush to zero, OpenMP setting, handler of faults, signal mask, variable of the "
     "environment, "
     "current folder or locale afterwards; CUDA's current device or last error; a scratch's head not zero again",
     .runs = fold_judge_leaves_no_trace, .after = MAKES_RUNS},
    {FOLD_RANK_AGREEMENT, "rank_agreement", "a rank has other bits than rank 0", .runs = fold_judge_rank_agreement,
     .by_order = true, .after = MAKES_RUNS},
    {FOLD_KEEPS_INPUT, "keeps_input", "an input changed; on hosts, written to at all", .runs = fold_judge_keeps_input,
     .after = MAKES_RUNS},
};

const struct fold_claim *fold_claims(size_t *n) {
  *n = FOLD_CLAIMS;
  return claims;
}

const struct fold_claim *fold_claims_next(uint64_t left) {
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (left & FOLD_CLAIM(k) && !(left & claims[k].after)) return &claims[k];
  return NULL;
}

/* Max and min never round: whatever the order, the result is the exact one. So every subject promises that. */
uint64_t fold_claims_of(const struct fold_subject *subject, enum fold_op op) {
  uint64_t promised = subject->claims;
  if (op == FOLD_MAX || op == FOLD_MIN) {
    promised &= ~FOLD_CLAIM(FOLD_BOUNDED);
    promised |= FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT);
  }
  return promised;
}

uint64_t fold_claims_by_order(void) {
  uint64_t mask = 0;
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (claims[k].by_order) mask |= FOLD_CLAIM(k);
  return mask;
}

void fold_judge_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding) {
  struct fold_evidence evidence = fold_trial_evidence(trial);
  *finding = fold_finding_open(trial->c->rows);
  trial->why = claim->id;
  if (claim->results)
    claim->results(&evidence, finding);
  else
    claim->runs(trial, finding);
  if (claim->by_order && finding->verdict == FOLD_HELD) finding->telling = trial->telling;
}

void fold_judge_evidence(const struct fold_evidence *evidence, const char *globs, fold_take_finding *take,
                         void *context) {
  const struct fold_case *c = evidence->truths->c;
  uint64_t promised = fold_claims_of(evidence->subject, c->op);
  for (size_t k = 0; k < FOLD_CLAIMS; k++) {
    struct fold_finding finding = fold_finding_open(c->rows);
    if (!claims[k].results || !(promised & FOLD_CLAIM(k)) || !fold_glob_match(globs, claims[k].name)) continue;
    claims[k].results(evidence, &finding);
    take(context, &claims[k], &finding);
  }
}
