/* runner.c: the loop over cases, subjects and claims. */
#include "run/runner.h"

#include <stdlib.h>
#include <string.h>

#include "rig/contention.h"
#include "run/apart.h"
#include "run/judged_claims.h"
#include "run/known_defects.h"
#include "run/opened.h"

bool fold_takes_case(const struct fold_subject *subject, const struct fold_case *c) {
  if (fold_engine_has_ranks(subject->engine) != (c->ranks > 0)) return false;
  if (subject->vector && c->cols != c->ranks) return false;
  if (c->set == FOLD_SET_PRODUCTS && !subject->swept && !subject->guest) return false;
  return (subject->dtypes >> c->dtype & 1) && (subject->problems >> c->problem->id & 1);
}

/* Looks up whether a peer's refutation is a known defect of the library's version here. */
static void look_up(struct fold_trial *trial, struct fold_judgement *judgement) {
  char version[64];
  judgement->fact = judgement->promised ? fold_known(trial, judgement->claim, &judgement->finding) : NULL;
  judgement->known = false;
  if (judgement->fact == NULL) return;
  fold_peer_version(judgement->subject, version);
  judgement->known = fold_known_in(judgement->fact, version);
}

struct fold_judgement fold_round_judgement(const struct fold_round *round, struct fold_place place, size_t claim) {
  size_t n_claims;
  const struct fold_claim *claims = fold_claims(&n_claims);
  struct fold_judgement judgement = {.subject = &round->registry->subjects[place.subject],
                                     .subject_index = place.subject,
                                     .c = &round->cases->at[place.c],
                                     .input_hash = round->input_hash,
                                     .finding = fold_finding_open(fold_case_results(&round->cases->at[place.c]))};
  if (claim >= n_claims) return judgement;
  judgement.claim = &claims[claim];
  const uint64_t promised = fold_claims_of(judgement.subject, judgement.c->problem->op) | judgement.subject->named;
  judgement.promised = promised >> claims[claim].id & 1;
  return judgement;
}

/* The claims of a trial that failed for the same reason so far. */
struct failing {
  fold_status failure;
  size_t n;
  bool promised; /* one of them was promised */
  bool after;    /* other claims were reported before */
};

/* Reports one claim as broken, if it is asked for. */
static fold_status fail_claim(const struct fold_round *round, struct fold_place place, size_t claim,
                              struct failing *f) {
  struct fold_judgement judgement = fold_round_judgement(round, place, claim);
  if (judgement.claim && !fold_asks_for(round, &judgement)) return fold_ok();
  fold_find_failed(&judgement.finding, f->failure);
  judgement.beside = f->promised;
  judgement.after = f->after;
  f->promised |= judgement.promised;
  f->n++;
  return round->sink->judgement(round->sink->context, &judgement);
}

fold_status fold_round_fail(const struct fold_round *round, struct fold_place place, uint64_t told, size_t first,
                            fold_status failure, size_t *telling) {
  struct failing f = {.failure = failure, .after = told != 0};
  const bool has_first = round->judge && first < FOLD_CLAIMS && !(told & FOLD_CLAIM(first));
  if (has_first) told |= FOLD_CLAIM(first);
  if (has_first) FOLD_TRY(fail_claim(round, place, first, &f));
  for (size_t k = round->judge ? 0 : FOLD_CLAIMS; k < (round->judge ? FOLD_CLAIMS : FOLD_CLAIMS + 1); k++)
    if (!(told & FOLD_CLAIM(k))) FOLD_TRY(fail_claim(round, place, k, &f));
  if (telling) *telling = f.n;
  return fold_ok();
}

static fold_status tell_repeats(const struct fold_round *round, const struct fold_trial *trial,
                                struct fold_judgement *repeats) {
  if (repeats->claim == NULL) return fold_ok();
  struct fold_judgement judgement = *repeats;
  repeats->claim = NULL;
  fold_judge_unsteady(trial, &judgement.finding);
  return round->sink->judgement(round->sink->context, &judgement);
}

/* The refuted invariances of a trial for which it is found out how the order of additions changed: once for each subject
 * and claim. */
struct unexplained {
  struct fold_order_sides sides[FOLD_CLAIMS];
  enum fold_claim_id claim[FOLD_CLAIMS];
  size_t n;
};

static void keep_unexplained(const struct fold_round *round, const struct fold_trial *trial,
                             const struct fold_judgement *j, struct unexplained *u) {
  if (!round->sink->explanation || !round->explained || j->finding.verdict != FOLD_REFUTED || !j->finding.compared ||
      !j->promised || j->known || trial->sides.n == 0 || round->explained[j->subject_index] & FOLD_CLAIM(j->claim->id))
    return;
  u->sides[u->n] = trial->sides;
  u->claim[u->n++] = j->claim->id;
}

static fold_status explain(const struct fold_round *round, const struct fold_trial *trial, enum fold_claim_id claim,
                           const struct fold_order_sides *sides) {
  const struct fold_sink *sink = round->sink;
  const struct fold_judgement of = fold_round_judgement(round, round->place, claim);
  struct fold_order_change change;
  if (sink->explains) FOLD_TRY(sink->explains(sink->context, claim));
  fold_order_explain(trial, claim, sides, &change);
  if (change.text[0] == '\0') return fold_ok();
  round->explained[round->place.subject] |= FOLD_CLAIM(claim);
  return sink->explanation(sink->context, &of, &change);
}

/* A subject that varies from run to run has no order. */
static fold_status explain_all(const struct fold_round *round, const struct fold_trial *trial,
                               const struct unexplained *u) {
  for (size_t i = 0; i < u->n && !*round->stop && !trial->unsteady[0]; i++)
    FOLD_TRY(explain(round, trial, u->claim[i], &u->sides[i]));
  return fold_ok();
}

/* Judges each claim that is asked for, of the subject whose base run is in `trial`. */
static fold_status judge_claims(const struct fold_round *round, struct fold_opened *opened, struct fold_trial *trial,
                                struct unexplained *unexplained) {
  const struct fold_claim *claim;
  struct fold_judgement repeats = {0}; /* waits for the other judges, which may find that the same run varies */
  for (uint64_t left = trial->asked; (claim = fold_claims_next(left)); left &= ~FOLD_CLAIM(claim->id)) {
    if (claim->when != FOLD_FIRST) FOLD_TRY(tell_repeats(round, trial, &repeats));
    struct fold_judgement judgement = fold_round_judgement(round, round->place, claim->id);
    judgement.got = opened->got;
    judgement.traces = &trial->traces;
    if (fold_judges(round, &judgement))
      fold_judge_claim(judgement.claim, trial, &judgement.finding);
    else
      fold_skip_missing(&judgement);
    fold_judgement_count(round, &judgement);
    look_up(trial, &judgement);
    keep_unexplained(round, trial, &judgement, unexplained);
    if (claim->id == FOLD_RUN_TO_RUN)
      repeats = judgement;
    else
      FOLD_TRY(round->sink->judgement(round->sink->context, &judgement));
  }
  FOLD_TRY(tell_repeats(round, trial, &repeats));
  /* The judges' own runs may have changed the input too, and also the threads that make it again. */
  fold_trial_look_at_state(trial);
  if (trial->input_seen == trial->log.n) return fold_ok();
  return fold_opened_restore(opened, trial->subject->engine, &trial->input_hash_after);
}

static fold_status judge_trial(const struct fold_round *round, struct fold_opened *opened, struct fold_trial *trial) {
  enum fold_engine engine = trial->subject->engine;
  struct fold_logged base = {.subject = trial->subject, .why = FOLD_CLAIMS, .traces = trial->traces};
  base.traces.unwritten = false;
  FOLD_TRY(fold_log_add(&trial->log, &base));
  /* On the host each run looks at the input itself. */
  if (!fold_engine_is_here(engine) || trial->traces.wrote_input)
    FOLD_TRY(fold_opened_restore(opened, engine, &trial->input_hash_after));
  const fold_status *ready = &opened->ready[engine];
  if (ready->code != FOLD_OK) return fold_round_fail(round, round->place, 0, FOLD_CLAIMS, *ready, NULL);
  struct unexplained unexplained;
  unexplained.n = 0;
  FOLD_TRY(judge_claims(round, opened, trial, &unexplained));
  return explain_all(round, trial, &unexplained);
}

/* Puts back the state that the failed run has left, so that no other subject is blamed for it. A peer's library that the user named
 * and that can't be used ends the run, as an engine's does. */
static fold_status fail_base(const struct fold_round *round, struct fold_opened *opened, fold_status base) {
  const struct fold_subject *subject = &round->registry->subjects[round->place.subject];
  const enum fold_engine engine = subject->engine;
  struct fold_traces traces;
  if (base.code == FOLD_BAD_INPUT && subject->peer) return base;
  if (opened->open[engine]) fold_rig_look_at_state(&opened->rig[engine], &traces);
  return fold_round_fail(round, round->place, 0, FOLD_CLAIMS, base, NULL);
}

static fold_status judge_subject(const struct fold_round *round, struct fold_opened *opened) {
  const struct fold_subject *subject = &round->registry->subjects[round->place.subject];
  struct fold_trial trial = {.registry = round->registry,
                             .subject = subject,
                             .c = opened->c,
                             .rig = &opened->rig[subject->engine],
                             .batch = &opened->batch[subject->engine],
                             .elsewhere = fold_opened_elsewhere,
                             .is_apart = fold_apart_has,
                             .apart = fold_apart_run,
                             .whose = opened,
                             .truths = &opened->truths,
                             .fresh = round->fresh,
                             .repeats = fold_repeats_of(round),
                             .spared = fold_is_spared(round, subject),
                             .skips_growth = fold_skips_growth(round),
                             .finite = subject->finite || subject->skips_nan || fold_dtype_is_integer(opened->c->dtype),
                             .seconds = round->selection->seconds,
                             .end = round->selection->end,
                             .around = &round->selection->around,
                             .input_hash = opened->input_hash,
                             .asked = fold_claims_asked(round),
                             .got = opened->got,
                             .second = opened->second,
                             .other = opened->other};
  if (opened->truths.c && trial.asked & fold_claims_by_order())
    FOLD_TRY(fold_truths_telling(&opened->truths, subject, &trial.telling));
  fold_opened_know_nearest(opened, subject);
  fold_status base = fold_opened_run(opened, subject, &trial.traces);
  if (base.code != FOLD_OK) return fail_base(round, opened, base);
  fold_opened_suspect(opened, subject);
  trial.input_hash_after = opened->input_hash;
  fold_status status = judge_trial(round, opened, &trial);
  fold_log_close(&trial.log);
  return status;
}

static fold_status record_subject(const struct fold_round *round, struct fold_opened *opened) {
  struct fold_traces traces;
  struct fold_judgement judgement = fold_round_judgement(round, round->place, FOLD_CLAIMS);
  if (round->selection->fresh && round->selection->backwards && judgement.subject->guest)
    FOLD_TRY(fold_opened_run_another(opened, judgement.subject));
  fold_status base = fold_opened_run(opened, judgement.subject, &traces);
  if (base.code != FOLD_OK) return fail_base(round, opened, base);
  struct fold_traces after;
  fold_rig_look_at_state(&opened->rig[judgement.subject->engine], &after);
  if (!traces.left[0]) memcpy(traces.left, after.left, sizeof traces.left);
  judgement.got = opened->got;
  judgement.traces = &traces;
  judgement.finding.verdict = FOLD_HELD; /* nothing is judged */
  judgement.finding.reason[0] = '\0';
  FOLD_TRY(round->sink->judgement(round->sink->context, &judgement));
  uint64_t now = opened->input_hash;
  return fold_opened_restore(opened, judgement.subject->engine, &now);
}

/* A subject whose processes ended or hung for so long is not run any more, so that all others are judged in reasonable
 * time. */
#define NOT_RUN "not run: it crashed or hung in other cases for "
static fold_status check_lost(const struct fold_round *round) {
  double lost = round->seconds_lost ? round->seconds_lost[round->place.subject] : 0;
  if (lost <= round->most_lost) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, NOT_RUN "%.0f s in all", lost);
}

bool fold_is_not_run(const struct fold_finding *finding) {
  return finding->verdict == FOLD_BROKEN && strncmp(finding->reason, NOT_RUN, strlen(NOT_RUN)) == 0;
}

static fold_status check_time(const struct fold_selection *selection) {
  return selection->end > 0 && fold_now() > selection->end ? fold_left_out(selection->seconds) : fold_ok();
}

/* Judges make dozens of runs of a case; to record it takes one. */
static fold_status check_length(const struct fold_round *round, const struct fold_opened *opened) {
  const struct fold_subject *subject = &round->registry->subjects[round->place.subject];
  const bool is_judged = round->judge || round->selection->fresh;
  if (!is_judged || subject->longest == 0 || opened->c->cols <= subject->longest) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "a slow subject, judged on rows of up to %zu terms", subject->longest);
}

static fold_status run_subject(struct fold_round *round, struct fold_opened *opened) {
  const struct fold_sink *sink = round->sink;
  const enum fold_engine engine = round->registry->subjects[round->place.subject].engine;
  fold_status willing = check_time(round->selection);
  if (willing.code != FOLD_OK) return fold_round_fail(round, round->place, 0, FOLD_CLAIMS, willing, NULL);
  FOLD_TRY(fold_opened_engine(opened, engine));
  round->input_hash = opened->input_hash;
  willing = check_lost(round);
  if (willing.code == FOLD_OK && opened->ready[engine].code == FOLD_OK) willing = check_length(round, opened);
  if (willing.code != FOLD_OK) return fold_round_fail(round, round->place, 0, FOLD_CLAIMS, willing, NULL);
  if (sink->trial) FOLD_TRY(sink->trial(sink->context, round->place, round->input_hash));
  return (round->judge ? judge_subject : record_subject)(round, opened);
}

static fold_status run_case(struct fold_round *round, struct fold_opened *opened, bool *lost) {
  for (; round->place.subject < round->registry->n && !*lost && !*round->stop; round->place.subject++) {
    const struct fold_subject *subject = &round->registry->subjects[round->place.subject];
    if (!fold_selects_subject(round->selection, subject) || !fold_takes_case(subject, opened->c)) continue;
    if (fold_turn_of(round->selection, subject) != round->place.turn) continue;
    if ((round->judge || round->selection->claims) && !fold_claims_asked(round)) continue;
    FOLD_TRY(run_subject(round, opened));
    *lost = round->leave_lost && fold_opened_is_lost(opened, subject->engine);
  }
  return fold_ok();
}

static fold_status run_cases(struct fold_round *round, bool *lost) {
  const struct fold_sink *sink = round->sink;
  *lost = false;
  for (; round->place.c < round->cases->n && !*round->stop; round->place.c++, round->place.subject = 0) {
    const struct fold_case *c = &round->cases->at[round->place.c];
    struct fold_opened opened;
    if (sink->progress) sink->progress(sink->context, round->place.c, round->cases->n, c->name);
    fold_status status = fold_opened_begin(&opened, c);
    if (status.code == FOLD_OK) status = run_case(round, &opened, lost);
    fold_opened_end(&opened);
    if (status.code != FOLD_OK || *lost || *round->stop) return status; /* `place` stays where the round is to go on */
  }
  if (*round->stop || round->place.turn + 1 >= fold_turns(round->selection)) return fold_ok();
  round->place = (struct fold_place){.turn = round->place.turn + 1};
  *lost = true;
  return fold_ok();
}

fold_status fold_round_run(struct fold_round *round, bool *lost) {
  fold_status status = run_cases(round, lost);
  fold_contention_end();
  return status;
}

fold_status fold_verify(const struct fold_registry *registry, const struct fold_selection *selection,
                        const struct fold_cases *cases, const struct fold_fresh *fresh, const struct fold_sink *sink,
                        const volatile int *stop) {
  struct fold_round round = {.registry = registry,
                             .selection = selection,
                             .cases = cases,
                             .fresh = fresh,
                             .sink = sink,
                             .stop = stop,
                             .judge = true,
                             .explained = calloc(registry->n + 1, sizeof *round.explained)};
  bool lost;
  fold_status status =
      round.explained ? fold_round_run(&round, &lost) : fold_no_memory("for %zu subjects", registry->n);
  free(round.explained);
  return status;
}
