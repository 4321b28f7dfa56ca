/* ledger_cases.c: see ledger_cases.h. */
#include "hunt/ledger_cases.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hunt/again.h"

static size_t subject_of(const struct fold_registry *registry, const struct fold_ledger_line *line) {
  for (size_t i = 0; i < registry->n; i++)
    if (strcmp(registry->subjects[i].name, line->subject) == 0 &&
        strcmp(fold_engine_name(registry->subjects[i].engine), line->engine) == 0)
      return i;
  return registry->n;
}

static fold_status note_missing(void *missing, const struct fold_judgement *judgement) {
  *(bool *)missing |= judgement->finding.miscounted;
  return fold_ok();
}

/* Whether this hunt judges the claim on the last of the cases, as verify would. */
static bool is_judged(const struct fold_hunt *hunt, const struct fold_find *find, const struct fold_cases *cases) {
  size_t n;
  if (cases->n == 0) return false;
  const enum fold_op op = cases->at[cases->n - 1].problem->op;
  const uint64_t claims = fold_claims_of(&hunt->registry->subjects[find->subject], op);
  return (hunt->selection->probe || claims & FOLD_CLAIM(find->claim)) &&
         fold_selects_claim_of(hunt->selection, &fold_claims(&n)[find->claim], op);
}

/* *missing: its results lack terms. */
static fold_status run_fixture(const struct fold_hunt *hunt, const struct fold_find *find, const char *path,
                               bool *holds, bool *missing) {
  const struct fold_again_sink sink = {note_missing, missing};
  struct fold_cases cases = {0};
  bool seen = true;
  fold_status status = fold_cases_load_file(path, &cases);
  if (status.code == FOLD_OK && is_judged(hunt, find, &cases))
    status = fold_hunt_again(hunt, find, &cases, &sink, &seen);
  fold_cases_free(&cases);
  *holds = status.code == FOLD_OK && !seen;
  return status;
}

/* One that ended its process is not run. */
static fold_status run_line(struct fold_hunt *hunt, const struct fold_ledger_line *line, struct fold_known *known,
                            bool *holds, bool *gone) {
  const size_t subject = subject_of(hunt->registry, line);
  const struct fold_claim *claim = fold_claim_find(line->claim);
  *holds = *gone = false;
  if (subject == hunt->registry->n || !claim ||
      !fold_selects_subject(hunt->selection, &hunt->registry->subjects[subject]))
    return fold_ok();
  *gone = access(line->fixture, F_OK) != 0;
  if (*gone) return fold_ok();
  known->expected[subject] |= FOLD_CLAIM(claim->id);
  if (line->broken) {
    if (known->n_left_out < FOLD_LEFT_OUT) known->left_out[known->n_left_out++] = line->of_case;
    return fold_ok();
  }
  const struct fold_find find = {.subject = subject, .claim = claim->id, .finding = fold_finding_open(0)};
  bool missing = false;
  FOLD_TRY(run_fixture(hunt, &find, line->fixture, holds, &missing));
  if (missing) known->tails[subject] |= FOLD_CLAIM(claim->id);
  return fold_ok();
}

fold_status fold_known_run(struct fold_hunt *hunt, const struct fold_ledger *ledger,
                           void (*told)(void *context, const struct fold_ledger_line *line, bool holds), void *context,
                           struct fold_known *known) {
  known->expected = calloc(hunt->registry->n + 1, sizeof *known->expected);
  known->tails = calloc(hunt->registry->n + 1, sizeof *known->tails);
  known->left_out = calloc(FOLD_LEFT_OUT + 1, sizeof *known->left_out);
  if (!known->expected || !known->tails || !known->left_out) return fold_no_memory("for the ledger");
  hunt->expected = known->expected;
  hunt->tails = known->tails;
  hunt->left_out = known->left_out;
  for (size_t i = 0; i < fold_ledger_length(ledger) && !*hunt->stop; i++) {
    const struct fold_ledger_line line = fold_ledger_at(ledger, i);
    bool held, gone;
    FOLD_TRY(run_line(hunt, &line, known, &held, &gone));
    if (held || gone) told(context, &line, held);
  }
  return fold_ok();
}

void fold_known_close(struct fold_known *known) {
  free(known->expected);
  free(known->tails);
  free(known->left_out);
}
