/* promises.h: shared by the tests that are named after a promise: the command judges one claim, and its records are
 * counted.
 *
 * A promise is kept if it held for each subject that makes it, in every dtype that the subject takes, and nothing
 * refuted it. If nothing held, the test is skipped with the command's reason where the machine lacks something, and
 * fails otherwise.
 */
#ifndef PROMISES_H
#define PROMISES_H

#include "shell.h"

struct promise_count {
  size_t held, refuted, other;
  char first[400]; /* the first record that is neither held nor skipped */
};

static inline const char *promise_word(const json_t *record, const char *key) {
  const char *word = json_string_value(json_object_get(record, key));
  return word ? word : "";
}

/* The judgements of one subject and claim in a dtype ("": any). */
static inline struct promise_count promise_count(struct shell *s, const char *file, const char *subject,
                                                 const char *claim, const char *dtype) {
  struct promise_count count = {0};
  char *line = NULL;
  size_t room = 0;
  FILE *records = fopen(scratch_path(&s->scratch, file), "r");
  cr_assert_not_null(records, "%s: no %s: %s", s->ran, file, s->err);
  while (getline(&line, &room, records) > 0) {
    if (!strstr(line, subject) || !strstr(line, claim)) continue; /* parses only the few lines that may count */
    json_t *record = json_loads(line, 0, NULL);
    const char *verdict = promise_word(record, "verdict");
    if (strcmp(promise_word(record, "type"), "judgement") == 0 &&
        strcmp(promise_word(record, "subject"), subject) == 0 && strcmp(promise_word(record, "claim"), claim) == 0 &&
        (!*dtype || strcmp(promise_word(record, "dtype"), dtype) == 0) && strcmp(verdict, "skipped") != 0) {
      size_t *of = strcmp(verdict, "held") == 0      ? &count.held
                   : strcmp(verdict, "refuted") == 0 ? &count.refuted
                                                     : &count.other;
      ++*of;
      if (of != &count.held && !*count.first) snprintf(count.first, sizeof count.first, "%s", line);
    }
    json_decref(record);
  }
  free(line);
  fclose(records);
  return count;
}

/* The reason of the first judgement that was skipped. */
static inline const char *promise_skip(struct shell *s, const char *file) {
  static char reason[300];
  char *line = NULL;
  size_t room = 0;
  FILE *records = fopen(scratch_path(&s->scratch, file), "r");
  snprintf(reason, sizeof reason, "%.299s", *s->err ? s->err : "nothing was judged");
  while (records && getline(&line, &room, records) > 0) {
    json_t *record = json_loads(line, 0, NULL);
    bool skipped = strcmp(promise_word(record, "verdict"), "skipped") == 0;
    if (skipped) snprintf(reason, sizeof reason, "%s", promise_word(record, "reason"));
    json_decref(record);
    if (skipped) break;
  }
  free(line);
  if (records) fclose(records);
  return reason;
}

/* To be called after a run that wrote `file`: skips the test if nothing could be judged and fewer than `gpus` GPUs are
 * required; fails it if the run's exit code was not 0. */
static inline void promise_ran(struct shell *s, const char *file, long gpus) {
  const char *required = getenv("FOLDPROOF_REQUIRE_GPUS");
  if (s->code == 77 && !(required && strtol(required, NULL, 10) >= gpus)) cr_skip_test("%s", promise_skip(s, file));
  EXPECT_CODE(s, 0);
}

/* Checks that the claim held for `subject` in each of the dtypes (comma-separated), on at least `least` cases. */
static inline void promise_kept(struct shell *s, const char *file, const char *subject, const char *claim,
                                const char *dtypes, size_t least) {
  char list[64], *rest = list;
  snprintf(list, sizeof list, "%s", dtypes);
  for (char *dtype; (dtype = strsep(&rest, ","));) {
    struct promise_count n = promise_count(s, file, subject, claim, dtype);
    cr_expect(n.refuted == 0 && n.other == 0, "%s, %s, %s: %zu refuted, %zu broken: %s", subject, claim, dtype,
              n.refuted, n.other, n.first);
    cr_expect(n.held >= least, "%s, %s, %s: held on %zu cases, fewer than %zu", subject, claim, dtype, n.held, least);
  }
}

#endif
