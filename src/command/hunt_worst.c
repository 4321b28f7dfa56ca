/* command/hunt_worst.c: see hunt_worst.h. */
#include "command/hunt_worst.h"

#include <math.h>
#include <stdio.h>

#include "base/wrap.h"
#include "command/command.h"
#include "fixtures/family.h"
#include "hunt/keep.h"

static const char *const MEASURES[] = {"of the bound", "ulps"};

/* Writes the input as a find of claim bounded. */
static fold_status keep(const struct fold_hunt *hunt, enum fold_worst_by by, size_t subject, struct fold_worst *worst,
                        struct fold_find *find) {
  char from[80];
  struct fold_found found = {.subject = subject, .claim = FOLD_BOUNDED, .cases = {&worst->c, 1, 1}};
  snprintf(from, sizeof from, "--worst%s, %.4g %s", by == FOLD_BY_ULPS ? "=ulps" : "", worst->error, MEASURES[by]);
  found.worst = true;
  return fold_hunt_keep(hunt, &found, from, find);
}

/* *above: an error is above its bound. */
static fold_status find_one(const struct fold_hunt *hunt, enum fold_worst_by by, size_t subject, bool *above,
                            size_t *told) {
  const struct fold_subject *s = &hunt->registry->subjects[subject];
  struct fold_worst worst;
  struct fold_find find;
  fold_status status = fold_worst_find(hunt, by, &worst);
  if (status.code == FOLD_OK && worst.c.literal && worst.error > 0) {
    status = keep(hunt, by, subject, &worst, &find);
    if (status.code == FOLD_OK)
      fold_put_wrapped(stdout, 0, 2, "%s on %s: %.4g %s, in %s %s of %zu terms (%zu runs): %s", s->name,
                       fold_engine_name(s->engine), worst.error, MEASURES[by], fold_dtype_name(worst.c.dtype),
                       worst.c.problem->name, worst.c.cols, worst.tries, find.path);
    fflush(stdout); /* before processes begin as copies of this one */
    *above |= by == FOLD_BY_BOUND && worst.error > 1;
    *told += status.code == FOLD_OK;
  }
  fold_case_free(&worst.c);
  return status;
}

int fold_hunt_worst(const struct fold_hunt *hunt, enum fold_worst_by by, const char *program) {
  struct fold_draw draw;
  struct fold_hunt one = *hunt;
  struct fold_selection selection = *hunt->selection;
  bool above = false;
  size_t told = 0;
  fold_status status = fold_draw_open(hunt->registry, hunt->selection, hunt->seed, hunt->terms, &draw);
  one.selection = &selection;
  one.seconds = hunt->seconds / (double)(draw.n ? draw.n : 1);
  for (size_t i = 0; i < draw.n && status.code == FOLD_OK && !*hunt->stop; i++) {
    selection.subjects = hunt->registry->subjects[draw.subjects[i]].name;
    selection.engine = (int)hunt->registry->subjects[draw.subjects[i]].engine;
    status = find_one(&one, by, draw.subjects[i], &above, &told);
  }
  fold_draw_close(&draw);
  if (status.code != FOLD_OK) return fold_print_error(program, status);
  if (told == 0) fprintf(stderr, "%s: no error of a selected subject was measured\n", program);
  return above ? 1 : *hunt->stop ? 99 : told ? 0 : 77;
}
