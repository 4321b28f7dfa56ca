/* command/verify_none.c: why verify judged nothing: for each selected subject, what it takes and promises, beside what
 * was selected. */
#include <stdio.h>

#include "command/command.h"
#include "command/names.h"
#include "fixtures/fixture.h"
#include "model/engine.h"

enum { MOST = 5 };

/* What the selected cases have, and how many of them the subject takes. */
struct cases_of {
  unsigned dtypes, problems;
  size_t taken;
};

static struct cases_of look_at(const struct fold_cases *cases, const struct fold_subject *subject) {
  struct cases_of of = {0};
  for (size_t i = 0; i < cases->n; i++) {
    of.dtypes |= 1u << cases->at[i].dtype;
    of.problems |= 1u << cases->at[i].problem->id;
    if (!fold_takes_case(subject, &cases->at[i])) continue;
    of.taken++;
  }
  return of;
}

static void put_untaken(const struct fold_subject *subject, const struct fold_cases *cases, struct cases_of of) {
  const bool ranks = fold_engine_has_ranks(subject->engine);
  if (cases->n && ranks != (cases->at[0].ranks > 0)) {
    fprintf(stderr,
            ranks ? "adds over ranks; the selected cases, such as %s, are not over ranks\n"
                  : "does not add over ranks; the selected cases, such as %s, are over ranks\n",
            cases->at[0].name);
    return;
  }
  if (subject->vector) fputs("takes one term a rank, ", stderr);
  fputs("takes ", stderr);
  fold_put_problems_of(stderr, subject, ", ");
  fputs(" of ", stderr);
  fold_put_dtypes(stderr, subject->dtypes, ", ");
  fputs("; the selected cases are ", stderr);
  fold_put_problems(stderr, of.problems, ", ");
  fputs(" of ", stderr);
  fold_put_dtypes(stderr, of.dtypes, ", ");
  fprintf(stderr, ", such as %s\n", cases->n ? cases->at[0].name : "none");
}

static void put_unclaimed(const struct fold_subject *subject, const struct fold_selection *selection) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  uint64_t asked = 0;
  for (size_t k = 0; k < n; k++)
    if (fold_selects_claim(selection, &claims[k])) asked |= FOLD_CLAIM(k);
  if (subject->guest && subject->claims == 0) {
    fputs("no claim that it names can be judged of it: ", stderr);
    fold_put_claims(stderr, subject->asked, ", ");
    fputc('\n', stderr);
    return;
  }
  if (subject->claims & asked) {
    fputs("the selected claims are not judged on the selected cases\n", stderr);
    return;
  }
  fputs("does not claim ", stderr);
  fold_put_claims(stderr, asked, ", ");
  fputs(" (--probe tries it all the same), but ", stderr);
  fold_put_claims(stderr, subject->claims, ", ");
  fputc('\n', stderr);
}

bool fold_verify_none_is_guests(const struct fold_registry *registry, const struct fold_selection *selection) {
  size_t selected = 0;
  for (size_t i = 0; i < registry->n; i++) {
    if (!fold_selects_subject(selection, &registry->subjects[i])) continue;
    if (registry->subjects[i].guest == NULL || registry->subjects[i].claims) return false;
    selected++;
  }
  return selected > 0;
}

void fold_verify_none(const struct fold_registry *registry, const struct fold_selection *selection) {
  struct fold_cases cases = {0};
  size_t said = 0, all = 0;
  if (fold_select_cases(selection, selection->engine >= 0 && fold_engine_has_ranks((enum fold_engine)selection->engine),
                        &cases)
          .code != FOLD_OK)
    return;
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *subject = &registry->subjects[i];
    if (!fold_selects_subject(selection, subject) || all++ >= MOST) continue;
    const struct cases_of of = look_at(&cases, subject);
    fprintf(stderr, "  %s on %s: ", subject->name, fold_engine_name(subject->engine));
    if (of.taken == 0)
      put_untaken(subject, &cases, of);
    else
      put_unclaimed(subject, selection);
    said++;
  }
  if (all > said) fprintf(stderr, "  and %zu more subjects\n", all - said);
  fold_cases_free(&cases);
}
