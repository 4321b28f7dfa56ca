/* judged_claims.c: see judged_claims.h. */
#include "run/judged_claims.h"

static unsigned rows_of(size_t rows) {
  enum { FEW = 4 };
  return rows > FEW ? 2 : rows > 1;
}

static int compare(size_t a, size_t b) { return (a > b) - (a < b); }

int fold_compare_kinds(const struct fold_case *a, const struct fold_case *b) {
  const int by[] = {compare(a->ranks, b->ranks), compare(a->dtype, b->dtype), compare(a->problem->id, b->problem->id),
                    compare(rows_of(a->rows), rows_of(b->rows)), compare(fold_case_size(a), fold_case_size(b))};
  size_t i = 0;
  while (i + 1 < sizeof by / sizeof *by && by[i] == 0) i++;
  return by[i];
}

static bool are_alike(const struct fold_case *a, const struct fold_case *b) { return fold_compare_kinds(a, b) == 0; }

/* Whether case `at` is one of at most four that stand for all those like it that are judged by the claim: they are spread over the list. */
static bool stands_for_alike(const struct fold_cases *cases, size_t at, const char *claim) {
  enum { OF_A_KIND = 4 };
  size_t n = 0, before = 0;
  for (size_t i = 0; i < cases->n; i++) {
    if (!are_alike(&cases->at[i], &cases->at[at]) || !fold_glob_match(cases->at[i].claims, claim)) continue;
    before += i < at;
    n++;
  }
  return before == 0 || before * OF_A_KIND / n != (before - 1) * OF_A_KIND / n;
}

/* Whether case `at` is the first of several rows among those of its dtype and problem that are judged by the claim. */
static bool is_first_of_rows(const struct fold_cases *cases, size_t at, const char *claim) {
  const struct fold_case *of = &cases->at[at];
  for (size_t i = 0; i < at && of->rows > 1; i++) {
    const struct fold_case *c = &cases->at[i];
    if (c->rows > 1 && c->dtype == of->dtype && c->problem == of->problem && fold_glob_match(c->claims, claim))
      return false;
  }
  return of->rows > 1;
}

bool fold_is_spared(const struct fold_round *round, const struct fold_subject *subject) {
  const struct fold_selection *selection = round->selection;
  const uint64_t one_in = selection->busy_one_in, seed = round->cases->at[round->place.c].source.seed;
  if (!subject->guest || selection->repeats != FOLD_REPEATS) return false;
  return one_in ? seed % one_in != 0 : !stands_for_alike(round->cases, round->place.c, "run_to_run");
}

unsigned fold_repeats_of(const struct fold_round *round) {
  const unsigned asked = round->selection->repeats, own = round->cases->at[round->place.c].repeats;
  return asked == FOLD_REPEATS && own > asked ? own : asked;
}

bool fold_skips_growth(const struct fold_round *round) {
  const unsigned one_in = round->selection->growth_one_in;
  return one_in > 0 && round->cases->at[round->place.c].source.seed % one_in != 0;
}

/* Whether the case's fixture allows the claim. One that is for `bounded` is for each claim about the size of the error. */
static bool is_for(const struct fold_case *c, const struct fold_claim *claim) {
  return fold_glob_match(c->claims, claim->name) ||
         (FOLD_OF_ERROR & FOLD_CLAIM(claim->id) && fold_glob_match(c->claims, "bounded"));
}

/* Max and min round nothing, so that their bits depend on no order. */
static bool rounds(const struct fold_case *c) {
  const enum fold_op op = c->problem->op;
  return op != FOLD_MAX && op != FOLD_MIN;
}

bool fold_may_inform(enum fold_claim_id claim) {
  return claim == FOLD_ALIGNMENT_INVARIANT || claim == FOLD_STRIDE_INVARIANT;
}

static bool is_among_few(const struct fold_round *round, const struct fold_judgement *j) {
  const uint64_t named = j->subject->named & ~(FOLD_CLAIM(FOLD_ACCURATE_AS) | FOLD_CLAIM(FOLD_ULPS));
  const size_t at = (size_t)(j->c - round->cases->at);
  if (!named && !round->selection->claims) return stands_for_alike(round->cases, at, j->claim->name);
  return round->selection->untrusted && is_first_of_rows(round->cases, at, j->claim->name);
}

/* Whether the address, the commonest cause of "changes from run to run", is tried on a guest that does not promise that it
 * does not matter, so that its user learns of it: on a few cases of each kind, where no claims were named. So are strides on one that
 * takes them. Where claims were named, both are tried only on a guest that nobody trusts, on one case. On a device it is not:
 * there a kernel for aligned arrays alone, which promises nothing else, would end its process. */
static bool informs(const struct fold_round *round, const struct fold_judgement *j) {
  const struct fold_subject *s = j->subject;
  const bool tried = fold_may_inform(j->claim->id) && (j->claim->id != FOLD_STRIDE_INVARIANT || s->strides);
  return tried && round->judge && s->guest && !s->unknown && fold_engine_is_here(s->engine) &&
         (rounds(j->c) || round->selection->untrusted) && !fold_claim_unjudged(s, j->claim->id) &&
         !(round->uninformed && round->uninformed[j->subject_index]) && is_among_few(round, j);
}

static bool is_selected(const struct fold_round *round, const struct fold_judgement *j) {
  return fold_selects_claim_of(round->selection, j->claim, j->c->problem->op);
}

/* Whether this claim is to be judged: the selection asks for it, promised or probed, and the case's fixture allows it.
 * A tree is judged only where a fixture names the claim, since its judge uses nothing of the case but its length. */
bool fold_judges(const struct fold_round *round, const struct fold_judgement *j) {
  if (j->claim->id == FOLD_TREE && j->c->claims == NULL) return false;
  if (!is_for(j->c, j->claim)) return false;
  const bool asked = j->promised || round->selection->probe;
  return is_selected(round, j) ? asked || informs(round, j) : round->selection->untrusted && informs(round, j);
}

/* Whether a user has named the claim for this guest, no selected case is for it, and this case is the first that the
 * guest takes: there it is reported as skipped, once, so that no requested claim goes missing. */
static bool is_missing(const struct fold_round *round, const struct fold_judgement *j) {
  struct fold_place place = {.subject = j->subject_index};
  if (!round->judge || !(j->subject->named & FOLD_CLAIM(j->claim->id))) return false;
  if (!fold_selects_claim(round->selection, j->claim)) return false;
  bool is_here = false;
  for (; place.c < round->cases->n; place.c++) {
    const struct fold_case *c = &round->cases->at[place.c];
    if (!fold_takes_case(j->subject, c)) continue;
    is_here |= c == j->c;
    if (!is_here) return false;
    const struct fold_judgement there = fold_round_judgement(round, place, j->claim->id);
    if (fold_judges(round, &there)) return false;
  }
  return is_here;
}

bool fold_judges_to_inform(const struct fold_round *round, const struct fold_judgement *j) {
  return j->claim && !(j->promised && is_selected(round, j)) && !round->selection->probe;
}

void fold_judgement_count(const struct fold_round *round, struct fold_judgement *j) {
  if (!fold_judges_to_inform(round, j)) return;
  j->promised = j->finding.outside && (j->subject->claims & FOLD_CLAIM(FOLD_BOUNDED)) != 0;
}

void fold_skip_missing(struct fold_judgement *j) {
  const char *why = fold_claim_unjudged(j->subject, j->claim->id);
  fold_find_skipped(&j->finding, "%s", why ? why : "no selected case is for this claim");
}

bool fold_asks_for(const struct fold_round *round, const struct fold_judgement *j) {
  return fold_judges(round, j) || is_missing(round, j);
}

uint64_t fold_claims_asked(const struct fold_round *round) {
  uint64_t asked = 0, promised = 0;
  for (size_t k = 0; k < FOLD_CLAIMS; k++) {
    struct fold_judgement judgement = fold_round_judgement(round, round->place, k);
    if (fold_asks_for(round, &judgement)) asked |= FOLD_CLAIM(k);
    if (judgement.promised || round->selection->probe) promised |= asked & FOLD_CLAIM(k);
  }
  return promised ? asked : 0; /* nothing is run for information alone */
}
