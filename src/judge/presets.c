/* presets.c: named lists of claims, and parsing of the lists that users write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "judge/judge.h"

static const struct {
  const char *name, *list;
} presets[] = {
    {"promises", "*"},
    {"deterministic", "run_to_run,fresh_process"},
    {"batch-invariant", "batch_invariant,run_to_run"},
    {"reproducible",
     "run_to_run,fresh_process,launch_invariant,alignment_invariant,batch_invariant,length_invariant,padding_invariant,"
     "stride_invariant,message_invariant,world_invariant,rank_agreement"},
    {"accurate", "bounded,compensated,faithful,correctly_rounded"},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *fold_claims_preset(size_t k, const char **list) {
  if (k >= PRESETS) return NULL;
  *list = presets[k].list;
  return presets[k].name;
}

static const char *find(const char *word) {
  for (size_t k = 0; k < PRESETS; k++)
    if (strcmp(word, presets[k].name) == 0) return presets[k].list;
  return NULL;
}

static uint64_t matching(const char *globs) {
  size_t n;
  uint64_t mask = 0;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t i = 0; i < n; i++)
    if (fold_glob_match(globs, claims[i].name)) mask |= FOLD_CLAIM(i);
  return mask;
}

const char *fold_claims_near(const char *word, char text[160]) {
  size_t n;
  struct fold_near near;
  const struct fold_claim *claims = fold_claims(&n);
  fold_near_open(&near, word);
  for (size_t i = 0; i < n; i++) fold_near_try(&near, claims[i].name); /* unseen: <= */
  for (size_t k = 0; k < PRESETS; k++) fold_near_try(&near, presets[k].name);
  return fold_near_text(&near, text);
}

fold_status fold_claims_parse(const char *list, uint64_t *named, uint64_t *preset) {
  fold_status status = fold_ok();
  char meant[160], *copy = strdup(list ? list : ""), *rest = NULL;
  *named = *preset = 0;
  if (copy == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for a list of claims");
  for (char *word = strtok_r(copy, ", ", &rest); word && status.code == FOLD_OK; word = strtok_r(NULL, ", ", &rest)) {
    const char *stands_for = find(word);
    const uint64_t mask = matching(stands_for ? stands_for : word);
    *(stands_for || strpbrk(word, "*?[") ? preset : named) |= mask;
    if (mask == 0)
      status = fold_error(FOLD_BAD_INPUT, "no claim matches '%.60s': see foldproof list claims%s", word,
                          fold_claims_near(word, meant));
  }
  free(copy);
  return status;
}

char *fold_claims_expand(const char *list) {
  char *text = NULL, *copy = strdup(list), *rest = NULL;
  size_t size = 0;
  FILE *out = copy ? open_memstream(&text, &size) : NULL;
  for (char *word = out ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
    const char *stands_for = find(word);
    fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", stands_for ? stands_for : word);
  }
  free(copy);
  if (out == NULL || fclose(out) != 0) return NULL;
  return text;
}
