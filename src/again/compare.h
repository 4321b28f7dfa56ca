/* compare.h: two files of records against each other: what only one has, where inputs or results or verdicts are others.
 *
 * First each record becomes a few words: a hash of its subject, engine and case (and claim), of its input, of its results and what else
 * the run did. What differs is then read once more, and told: how far apart, which of the two is nearer to the exact result (made again:
 * again.h), and how to replay it; counted by subject, claim, dtype and size; and beside it what differs in the environments.
 */
#ifndef FOLD_COMPARE_H
#define FOLD_COMPARE_H

#include <jansson.h>
#include <stdio.h>
#include <xxhash.h>

#include "again.h"
#include "report_lines.h"

struct fold_compared {
  XXH128_hash_t key;
  uint64_t input, results; /* 0 and 0 of a run that broke; of a verdict its input, and which */
  uint32_t line, number;   /* of the file, and among all records of the side */
  uint32_t told; /* a hash of dtype, problem, shape and declared order; 0: a record from before all had these */
  bool broken, verdict;
};

enum fold_change {
  FOLD_ONLY_FIRST,
  FOLD_ONLY_SECOND,
  FOLD_CHANGED_INPUT,
  FOLD_CHANGED_RESULTS,
  FOLD_CHANGED_VERDICT,
  FOLD_CHANGES
};
/* As they are told. */
extern const char *const fold_change_names[FOLD_CHANGES];

struct fold_changed {
  enum fold_change what;
  uint32_t line[2], number[2]; /* line: 0 where a side has none */
};

struct fold_side {
  const char *path, *engine; /* engine: only its records; NULL: all */
  const char *name;          /* for people */
  struct fold_lines lines;
  json_t *environment; /* its first */
  struct fold_compared *at;
  size_t n, room;
  uint32_t number;
  fold_status status;
};

struct fold_comparison {
  struct fold_side side[2];
  bool across; /* two engines: a key says none */
  bool subset; /* what only one side has is told, and is no difference */
  size_t agree, broken, verdicts, n[FOLD_CHANGES];
  struct fold_changed *changed; /* as the second file tells them; what it has not, as the first does */
  size_t n_changed, room;
};

/* Reads both sides, each by a thread of its own, and compares. */
fold_status fold_compare(struct fold_comparison *comparison);
void fold_comparison_free(struct fold_comparison *comparison);

enum { FOLD_EXPLAINED = 1000 }; /* changes whose exact results are made again, at most */
/* All that is to be told, as JSON: what the formats are made of. At most `most` changes of a kind are listed; `again` may be NULL. */
fold_status fold_compare_explain(const struct fold_comparison *comparison, struct fold_again *again, size_t most,
                                 json_t **told);

/* Of the results of two records, into `told`: "row", "patterns_apart", "nearer", "distance"; nothing where they can't be compared, or the exact
 * result can't be made again. */
fold_status fold_compare_distance(json_t *const record[2], struct fold_again *again, const char *const names[2],
                                  json_t *told);
/* {"cpu": [first, second], ...}: what of the machine and the build differs. Either may be NULL: it was not recorded. */
json_t *fold_compare_environments(const json_t *first, const json_t *second);

typedef void fold_compare_print(const json_t *told, FILE *out);
fold_compare_print fold_compare_text, fold_compare_markdown, fold_compare_junit, fold_compare_json;

#endif
