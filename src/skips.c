/* skips.c: see skips.h. */
#include "skips.h"

#include <stdlib.h>
#include <string.h>

bool fold_skips_take(const struct fold_judgement *j) { return j->got == NULL && j->finding.verdict == FOLD_SKIPPED; }

static bool is_like(const struct fold_skipped *s, const struct fold_judgement *j) {
  return s->subject == j->subject_index && s->claim == j->claim && s->promised == j->promised &&
         strcmp(s->reason, j->finding.reason) == 0;
}

bool fold_skips_count(struct fold_skips *skips, const struct fold_judgement *j) {
  for (size_t i = 0; i < skips->n; i++) {
    struct fold_skipped *s = &skips->at[(skips->last + i) % skips->n];
    if (!is_like(s, j)) continue;
    skips->last = (size_t)(s - skips->at) + 1;
    s->n++;
    return true;
  }
  return false;
}

fold_status fold_skips_add(struct fold_skips *skips, const struct fold_judgement *j, json_t *line) {
  const struct fold_skipped skipped = {.subject = j->subject_index,
                                       .claim = j->claim,
                                       .promised = j->promised,
                                       .reason = strdup(j->finding.reason),
                                       .line = line,
                                       .n = 1};
  if (skips->n == skips->room) {
    const size_t room = skips->room ? 2 * skips->room : 64;
    struct fold_skipped *grown = reallocarray(skips->at, room, sizeof *grown);
    if (grown) skips->at = grown, skips->room = room;
  }
  if (skips->n < skips->room && line && skipped.reason) {
    skips->at[skips->n++] = skipped;
    return fold_ok();
  }
  free(skipped.reason);
  json_decref(line);
  return fold_error(FOLD_NO_MEMORY, "not enough memory for the records of what was skipped");
}

json_t *fold_skips_line(struct fold_skipped *skipped) {
  json_t *line = skipped->line;
  skipped->line = NULL;
  if (skipped->n > 1) json_object_set_new(line, "cases", json_integer((json_int_t)skipped->n));
  return line;
}

void fold_skips_free(struct fold_skips *skips) {
  for (size_t i = 0; i < skips->n; i++) {
    free(skips->at[i].reason);
    json_decref(skips->at[i].line);
  }
  free(skips->at);
  *skips = (struct fold_skips){0};
}
