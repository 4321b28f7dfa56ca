/* unclaimed.c: see unclaimed.h. */
#include "records/unclaimed.h"

#include <stdlib.h>

#include "base/wrap.h"

fold_status fold_unclaimed_open(struct fold_unclaimed *unclaimed, const struct fold_registry *registry) {
  *unclaimed = (struct fold_unclaimed){registry, calloc(registry->n + 1, sizeof *unclaimed->of)};
  return unclaimed->of ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for what is not claimed");
}

void fold_unclaimed_close(struct fold_unclaimed *unclaimed) {
  free(unclaimed->of);
  *unclaimed = (struct fold_unclaimed){0};
}

void fold_unclaimed_add(struct fold_unclaimed *unclaimed, const struct fold_judgement *j) {
  struct fold_unclaimed_of *of = &unclaimed->of[j->subject_index];
  of->claim = j->claim;
  if (j->finding.verdict == FOLD_REFUTED && of->refuted++ == 0) snprintf(of->first, sizeof of->first, "%s", j->c->name);
}

uint64_t fold_unclaimed_tried(const struct fold_unclaimed *unclaimed, size_t i) {
  return unclaimed->of[i].claim ? FOLD_CLAIM(unclaimed->of[i].claim->id) : 0;
}

void fold_unclaimed_print(const struct fold_unclaimed *unclaimed, FILE *out) {
  for (size_t i = 0; i < unclaimed->registry->n; i++) {
    const struct fold_unclaimed_of *of = &unclaimed->of[i];
    if (of->refuted)
      fold_put_wrapped(out, 0, 2, "not claimed: %s of %s is refuted in %zu case%s, first %s", of->claim->name,
                       unclaimed->registry->subjects[i].name, of->refuted, of->refuted == 1 ? "" : "s", of->first);
  }
}
