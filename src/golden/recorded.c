/* recorded.c: what recorded runs say of the cases that are kept. A file of records may lack any case, so that only the cases that it names
 * are compared. A case may have several records: results count before a refusal, and a refusal before an excuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/recorded.h"
#include "golden/golden.h"
#include "records/read.h"

static char *key_of(const json_t *record) {
  char *key;
  return asprintf(&key, "%s\n%s\n%s", fold_record_text(record, "subject"), fold_record_text(record, "engine"),
                  fold_record_text(record, "case")) < 0
             ? NULL
             : key;
}

static enum fold_golden_state state_of(const struct fold_subject *subject, const json_t *record) {
  if (*fold_record_text(record, "results_xxh3")) return FOLD_GOLDEN_DUE;
  const bool broken = strcmp(fold_record_text(record, "verdict"), "broken") == 0;
  return fold_golden_is_excused(subject, broken, fold_record_text(record, "reason")) ? FOLD_GOLDEN_ABSENT
                                                                                     : FOLD_GOLDEN_MISSING;
}

fold_status fold_golden_note(struct fold_golden *g, const struct fold_subject *subject, const json_t *record) {
  char *key = key_of(record);
  const enum fold_golden_state now = state_of(subject, record);
  if (g->noted == NULL) g->noted = json_object();
  const json_t *before = key ? json_object_get(g->noted, key) : NULL;
  const bool stays = before && (now == FOLD_GOLDEN_ABSENT || json_integer_value(before) == FOLD_GOLDEN_DUE);
  const bool failed = !key || (!stays && json_object_set_new(g->noted, key, json_integer(now)) != 0);
  free(key);
  return failed ? fold_no_memory("for the goldens") : fold_ok();
}

enum fold_golden_state fold_golden_noted(const struct fold_golden *g, const json_t *kept) {
  char *key = key_of(kept);
  const json_t *state = key ? json_object_get(g->noted, key) : NULL;
  free(key);
  return state ? (enum fold_golden_state)json_integer_value(state) : FOLD_GOLDEN_OTHER;
}
