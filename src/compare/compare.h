/* compare.h: compares two files of records: what only one of them has, and which inputs, results or verdicts differ.
 *
 * First each record becomes a few words: a hash of its subject, engine and case (and claim), of its input, of its results and what else
 * the run did. Records that differ are then read once more and described: how far apart results are, which of the two is nearer to the
 * exact result (made again: again.h), and how to replay them. Differences are counted by subject, claim, dtype and size, and those of
 * the environments are listed.
 */
#ifndef FOLD_COMPARE_H
#define FOLD_COMPARE_H

#include <jansson.h>
#include <stdio.h>
#include <xxhash.h>

#include "compare/again.h"
#include "records/read.h"

struct fold_compared {
  XXH128_hash_t key;
  uint64_t input, results; /* 0 and 0 if the run broke; for a verdict: its input, and 1 or 2 for held or refuted */
  uint32_t line, number;   /* the line in the file; the number among all lines of the side */
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
/* The changes as messages and JSON name them. */
extern const char *const fold_change_names[FOLD_CHANGES];

struct fold_changed {
  enum fold_change what;
  uint32_t line[2], number[2]; /* line: 0 if a side lacks the record */
};

struct fold_side {
  const char *path, *engine;                          /* engine: only its records are compared; NULL: all */
  const char *name;                                   /* for people */
  bool (*takes)(void *context, const json_t *record); /* only such results are compared; NULL: all */
  void *context;
  struct fold_lines lines;
  json_t *environment; /* the first environment of the file */
  struct fold_compared *at;
  size_t n, room;
  fold_status status;
};

struct fold_comparison {
  struct fold_side side[2];
  bool across;               /* two engines are compared, so that keys leave the engine out */
  bool subset;               /* records that only one side has are listed, but are no difference */
  bool ignore[FOLD_CHANGES]; /* such changes are neither counted nor listed */
  size_t agree, broken, verdicts, n[FOLD_CHANGES];
  struct fold_changed *changed; /* in the sequence of the second file; what it lacks, in that of the first */
  size_t n_changed, room;
};

/* Reads both sides, each in its own thread, and compares them. */
fold_status fold_compare(struct fold_comparison *comparison);
void fold_comparison_free(struct fold_comparison *comparison);

enum { FOLD_EXPLAINED = 1000 }; /* for at most so many changes the exact results are made again */
/* The whole comparison as JSON, from which all formats are made. At most `most` changes of a kind are listed; `again`
 * may be NULL. */
fold_status fold_compare_explain(const struct fold_comparison *comparison, struct fold_again *again, size_t most,
                                 json_t **told);

/* Compares the results of two records. Adds "row", "patterns_apart", "nearer" and "distance" to `told`; nothing if they
 * can't be compared or the exact result can't be made again. */
fold_status fold_compare_distance(json_t *const record[2], struct fold_again *again, const char *const names[2],
                                  json_t *told);
/* What differs between two machines and builds: {"cpu": [first, second], ...}. Either may be NULL if it was not
 * recorded. */
json_t *fold_compare_environments(const json_t *first, const json_t *second);

typedef void fold_compare_print(const json_t *told, FILE *out);
fold_compare_print fold_compare_text, fold_compare_markdown, fold_compare_json;

#endif
