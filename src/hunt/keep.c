/* keep.c: see keep.h. */
#include "hunt/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/output.h"
#include "fixtures/write.h"
#include "hunt/cut.h"

static uint64_t hash_of(const struct fold_registry *registry, const struct fold_found *found) {
  const char *subject = registry->subjects[found->subject].name;
  uint64_t hash = XXH3_64bits_withSeed(subject, strlen(subject), (uint64_t)found->claim);
  for (size_t i = 0; i < found->cases.n; i++) {
    const struct fold_case *c = &found->cases.at[i];
    hash = XXH3_64bits_withSeed(c->shape.at, sizeof c->shape.at, hash ^ (uint64_t)c->dtype << 8 ^ c->problem->id);
    hash ^= c->source.seed;
    if (c->literal) hash = XXH3_64bits_withSeed(c->literal, fold_case_all_elements(c) * sizeof *c->literal, hash);
  }
  return hash;
}

/* Case i as its file has it: the last one as it was drawn, where it is too large to be written as values. */
static const struct fold_case *written(const struct fold_found *found, size_t i) {
  return found->whole && i + 1 == found->cases.n ? &found->origin : &found->cases.at[i];
}

static fold_status write_cases(const struct fold_hunt *hunt, const struct fold_found *found, const char *from,
                               const char *name, FILE *out) {
  size_t n_claims;
  char about[400], provenance[400], section[80];
  const char *claim = fold_claims(&n_claims)[found->claim].name;
  const char *what = found->broken  ? "breaks, judged by"
                     : found->worst ? "has its greatest error, judged by"
                                    : "violates";
  snprintf(about, sizeof about, "%s %s %s", hunt->registry->subjects[found->subject].name, what, claim);
  snprintf(provenance, sizeof provenance, "foldproof hunt --seed 0x%llx, from %s", (unsigned long long)hunt->seed,
           from);
  for (size_t i = 0; i < found->cases.n; i++) {
    const bool last = i + 1 == found->cases.n;
    snprintf(section, sizeof section, last ? "%s" : "%s-before-%zu", name, i);
    struct fold_case plain = *written(found, i);
    plain.claims = NULL; /* all are judged */
    FOLD_TRY(fold_case_write(out, &plain, section, last ? about : "runs before it in the same process", provenance));
  }
  return fold_ok();
}

fold_status fold_hunt_keep(const struct fold_hunt *hunt, const struct fold_found *found, const char *from,
                           struct fold_find *find) {
  struct fold_output output;
  char name[40];
  const struct fold_case *last = written(found, found->cases.n - 1);
  *find = (struct fold_find){.subject = found->subject,
                             .claim = found->claim,
                             .broken = found->broken,
                             .tries = found->tries,
                             .cases = found->cases.n,
                             .other_terms = fold_cut_other_terms(last),
                             .generated = !last->literal,
                             .seen = found->seen,
                             .looked = found->looked,
                             .finding = found->finding};
  snprintf(find->threshold, sizeof find->threshold, "%s", found->threshold);
  snprintf(find->from, sizeof find->from, "%s", from);
  snprintf(name, sizeof name, "found-%016llx", (unsigned long long)hash_of(hunt->registry, found));
  if (mkdir(hunt->folder, 0777) != 0 && errno != EEXIST)
    return fold_error(fold_write_code(errno), "%.200s: cannot be made: %s", hunt->folder, strerror(errno));
  if (snprintf(find->path, sizeof find->path, "%s/%s.ini", hunt->folder, name) >= (int)sizeof find->path)
    return fold_error(FOLD_BAD_INPUT, "%.200s: too long a name for a folder", hunt->folder);
  FOLD_TRY(fold_output_open(&output, find->path));
  const fold_status status = write_cases(hunt, found, from, name, output.file);
  const bool whole = status.code == FOLD_OK;
  const fold_status closed = fold_output_close(&output, whole ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP, NULL);
  return whole ? closed : status;
}
