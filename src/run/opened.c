/* opened.c: see opened.h. */
#include "run/opened.h"

#include <stdlib.h>

#include "base/bits.h"
#include "judge/lay.h"
#include "rig/fp_state.h"
#include "rig/late_writes.h"
#include "rig/process_state.h"
#include "run/apart.h"
#include "run/runner.h"

static fold_status fill(struct fold_opened *opened, enum fold_engine engine) {
  for (unsigned k = 0; k < opened->rig[engine].inputs; k++)
    FOLD_TRY(fold_case_fill(opened->c, k, fold_rig_input_at(&opened->rig[engine], k), 0));
  return fold_rig_load(&opened->rig[engine]);
}

fold_status fold_opened_engine(struct fold_opened *opened, enum fold_engine engine) {
  if (opened->open[engine] || opened->ready[engine].code != FOLD_OK) return fold_ok();
  const struct fold_case *c = opened->c;
  opened->ready[engine] = fold_engine_ready(engine);
  fold_process_state_forget(); /* starting an engine sets variables for the processes that it starts */
  if (opened->ready[engine].code == FOLD_BAD_INPUT) return opened->ready[engine];
  if (opened->ready[engine].code != FOLD_OK) return fold_ok();
  const struct fold_problem *problem = c->problem;
  const size_t n[FOLD_INPUTS] = {fold_case_elements(c, 0), fold_case_elements(c, 1)};
  fold_status status = fold_rig_open(&opened->rig[engine], engine, c->problem, c->dtype, n, fold_case_results(c));
  if (status.code == FOLD_NO_MEMORY && fold_engine_is_here(engine)) return fold_within(status, "%s", c->name);
  if (status.code != FOLD_OK) {
    opened->ready[engine] = status;
    return fold_ok();
  }
  opened->open[engine] = true;
  opened->rig[engine].ranks = c->ranks;
  FOLD_TRY(fold_within(fill(opened, engine), "%s", c->name));
  if (opened->truths.c == NULL) {
    FOLD_TRY(fold_rig_hash(&opened->rig[engine], &opened->input_hash));
    FOLD_TRY(fold_truths_open(&opened->truths, c, fold_rig_input(&opened->rig[engine])));
    for (unsigned k = 1; k < problem->inputs; k++) opened->truths.in[k] = fold_rig_input_at(&opened->rig[engine], k);
    FOLD_TRY(fold_truths_check_expected(&opened->truths));
  }
  return fold_ok();
}

fold_status fold_opened_begin(struct fold_opened *opened, const struct fold_case *c) {
  *opened = (struct fold_opened){.c = c};
  opened->got = malloc(fold_case_results(c) * 8 + 8);
  opened->second = malloc(fold_case_results(c) * 8 + 8);
  opened->other = malloc(fold_case_results(c) * 8 + 8);
  if (opened->got && opened->second && opened->other) return fold_ok();
  return fold_within(fold_no_memory("for %zu results", fold_case_results(c)), "%s", c->name);
}

void fold_opened_end(struct fold_opened *opened) {
  if (opened->truths.c) fold_truths_close(&opened->truths);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    fold_rig_close(&opened->batch[e]);
    if (opened->open[e]) fold_rig_close(&opened->rig[e]);
  }
  free(opened->got);
  free(opened->second);
  free(opened->other);
  free(opened->nearest);
}

/* In memory of its own, where the inputs lie as the case says. */
static fold_status base_run_laid(struct fold_opened *opened, const struct fold_subject *subject,
                                 struct fold_traces *traces) {
  const struct fold_trial trial = {.c = opened->c, .subject = subject, .rig = &opened->rig[subject->engine]};
  struct fold_rig rig;
  struct fold_request request;
  FOLD_TRY(fold_laid_case_open(&trial, &rig, &request));
  const fold_status status = fold_rig_run_watched(&rig, subject, &request, opened->got, traces);
  fold_rig_close(&rig);
  return status;
}

fold_status fold_opened_run(struct fold_opened *opened, const struct fold_subject *subject,
                            struct fold_traces *traces) {
  const struct fold_case *c = opened->c;
  *traces = (struct fold_traces){0};
  if (opened->ready[subject->engine].code != FOLD_OK) return opened->ready[subject->engine];
  struct fold_request request = {.shape = c->shape, .poison = FOLD_BASE_POISON};
  if (fold_case_is_laid(c)) return base_run_laid(opened, subject, traces);
  return fold_rig_run(&opened->rig[subject->engine], subject, &request, opened->got, traces);
}

/* On a GPU every result of a large product is held against the correctly rounded one of this subject. The results furthest from it are
 * judged, by the host's exact sums, besides the sample. */
static const struct fold_subject *nearest_of(const struct fold_opened *opened, const struct fold_subject *subject) {
  const struct fold_subject *exact = fold_subject_find("gemm/exact", FOLD_CUDA);
  const enum fold_dtype dtype = opened->c->dtype;
  const bool large = opened->truths.c && opened->truths.judged.at;
  if (!large || !exact || subject == exact || subject->engine != FOLD_CUDA || !fold_takes_case(exact, opened->c))
    return NULL;
  return fold_subject_result(subject, dtype) == dtype ? exact : NULL;
}

void fold_opened_know_nearest(struct fold_opened *opened, const struct fold_subject *subject) {
  const struct fold_subject *exact = nearest_of(opened, subject);
  const struct fold_request request = {.shape = opened->c->shape};
  struct fold_traces traces = {0};
  if (!exact || opened->nearest || opened->ready[FOLD_CUDA].code != FOLD_OK) return;
  opened->nearest = malloc(fold_case_results(opened->c) * 8 + 8);
  if (opened->nearest &&
      fold_rig_run(&opened->rig[FOLD_CUDA], exact, &request, opened->nearest, &traces).code == FOLD_OK)
    return;
  free(opened->nearest);
  opened->nearest = NULL;
}

void fold_opened_suspect(struct fold_opened *opened, const struct fold_subject *subject) {
  opened->truths.judged.n_suspects = 0;
  if (opened->nearest && nearest_of(opened, subject))
    fold_sample_suspect(&opened->truths.judged, opened->c->dtype, opened->got, opened->nearest,
                        fold_case_results(opened->c));
}

fold_status fold_opened_restore(struct fold_opened *opened, enum fold_engine engine, uint64_t *now) {
  uint64_t hash = opened->input_hash;
  fold_status status = fold_rig_hash(&opened->rig[engine], &hash);
  if (status.code == FOLD_OK && hash != opened->input_hash) {
    *now = hash;
    status = fold_rig_move(&opened->rig[engine], 0);
    if (status.code == FOLD_OK) status = fill(opened, engine);
  }
  if (status.code == FOLD_OK || fold_engine_is_here(engine)) return fold_within(status, "%s", opened->c->name);
  opened->ready[engine] = status;
  return fold_ok();
}

fold_status fold_opened_elsewhere(void *whose, enum fold_engine engine, struct fold_rig **rig) {
  struct fold_opened *opened = whose;
  uint64_t now;
  FOLD_TRY(fold_opened_engine(opened, engine));
  if (opened->open[engine]) FOLD_TRY(fold_opened_restore(opened, engine, &now));
  *rig = &opened->rig[engine];
  return opened->ready[engine];
}

fold_status fold_opened_run_another(struct fold_opened *opened, const struct fold_subject *subject) {
  enum { MOST = 1 << 20 };
  const struct fold_case *c = opened->c;
  struct fold_rig *rig = &opened->rig[subject->engine];
  struct fold_traces traces;
  uint64_t now;
  if (opened->ready[subject->engine].code != FOLD_OK || fold_case_all_elements(c) > MOST) return fold_ok();
  for (unsigned k = 0; k < rig->inputs; k++) {
    void *input = fold_rig_input_at(rig, k);
    if (fold_is_keys(rig->problem, k)) continue;
    for (size_t i = 0; i < rig->in[k].n; i++) {
      const double term = fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, input, i));
      fold_bits_store(c->dtype, input, i, fold_bits_from_double(c->dtype, -0.5 * term));
    }
  }
  FOLD_TRY(fold_rig_load(rig));
  (void)fold_opened_run(opened, subject, &traces);
  return fold_opened_restore(opened, subject->engine, &now);
}

bool fold_opened_is_lost(const struct fold_opened *opened, enum fold_engine engine) {
  const struct fold_rig *rig = opened->open[engine] ? &opened->rig[engine] : NULL;
  if (fold_late_writes_any() || fold_apart_is_lost()) return true;
  /* The subject's own threads may change again what it has left changed. */
  if (rig && rig->left_some && fold_fp_state_has_company()) return true;
  const struct fold_engine_ops *ops = rig ? rig->ops : NULL;
  return ops && !ops->is_host && ops->finish().code != FOLD_OK;
}
