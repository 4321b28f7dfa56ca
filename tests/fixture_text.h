/* fixture_text.h: a fixture file of a test's own. */
#ifndef FIXTURE_TEXT_H
#define FIXTURE_TEXT_H

#include "fixtures/fixture.h"
#include "scratch.h"

/* How most of them begin. */
#define NORMAL "[a]\ngenerator = normal\n"
#define GIVEN "[a]\nprovenance = here\n"

static inline fold_status load_text(struct scratch *s, const char *text, struct fold_cases *cases) {
  return fold_cases_load_file(scratch_write(s, "a.ini", text, strlen(text)), cases);
}

#endif
