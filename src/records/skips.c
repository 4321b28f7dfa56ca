/* skips.c: see skips.h. */
#include "records/skips.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

bool fold_skips_take(const struct fold_judgement *j) { return j->got == NULL && j->finding.verdict == FOLD_SKIPPED; }

static bool is_like(const struct fold_skipped *s, const struct fold_judgement *j) {
  return s->subject == j->subject_index && s->claim == j->claim && s->promised == j->promised &&
         strcmp(s->reason, j->finding.reason) == 0;
}

static fold_status no_memory(void) { return fold_no_memory("for the records of what was skipped"); }

/* Counts one more case of its fixture: "normal" of normal/f32/..., or an array's whole path. */
static fold_status cover(json_t *fixtures, const struct fold_case *c) {
  char *name = c->npy ? strdup(c->file) : strndup(c->name, strcspn(c->name, "/"));
  const json_int_t n = name ? json_integer_value(json_object_get(fixtures, name)) + 1 : 0;
  const bool covered = name && json_object_set_new(fixtures, name, json_integer(n)) == 0;
  free(name);
  return covered ? fold_ok() : no_memory();
}

fold_status fold_skips_count(struct fold_skips *skips, const struct fold_judgement *j, bool *counted) {
  *counted = false;
  for (size_t i = 0; i < skips->n; i++) {
    struct fold_skipped *s = &skips->at[(skips->last + i) % skips->n];
    if (!is_like(s, j)) continue;
    skips->last = (size_t)(s - skips->at) + 1;
    s->n++;
    *counted = true;
    return cover(s->fixtures, j->c);
  }
  return fold_ok();
}

fold_status fold_skips_add(struct fold_skips *skips, const struct fold_judgement *j, json_t *line) {
  char *reason = line ? strdup(j->finding.reason) : NULL;
  struct fold_skipped *added = reason ? fold_list_grow(&skips->at, &skips->n, &skips->room, sizeof *added) : NULL;
  if (added == NULL) {
    free(reason);
    json_decref(line);
    return no_memory();
  }
  *added = (struct fold_skipped){.subject = j->subject_index,
                                 .claim = j->claim,
                                 .promised = j->promised,
                                 .reason = reason,
                                 .line = line,
                                 .fixtures = json_object(),
                                 .n = 1};
  return cover(added->fixtures, j->c);
}

json_t *fold_skips_line(struct fold_skipped *skipped) {
  json_t *line = skipped->line;
  skipped->line = NULL;
  if (skipped->n > 1) {
    json_object_set_new(line, "cases", json_integer((json_int_t)skipped->n));
    json_object_set(line, "fixtures", skipped->fixtures);
  }
  return line;
}

void fold_skips_free(struct fold_skips *skips) {
  for (size_t i = 0; i < skips->n; i++) {
    free(skips->at[i].reason);
    json_decref(skips->at[i].line);
    json_decref(skips->at[i].fixtures);
  }
  free(skips->at);
  *skips = (struct fold_skips){0};
}
