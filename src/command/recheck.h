/* command/recheck.h: what the files of foldproof recheck share. */
#ifndef FOLD_COMMAND_RECHECK_H
#define FOLD_COMMAND_RECHECK_H

#include "command/command.h"
#include "compare/again.h"
#include "compare/seen.h"
#include "records/smallest.h"
#include "records/summary.h"
#include "report/repeated.h"

enum { FOLD_JUDGE_LINES = 10 };

/* What a judge of results measured: a struct fold_finding without its words. */
struct fold_figures {
  const struct fold_claim *claim;
  enum fold_verdict verdict;
  bool compared;
  size_t sampled, comparisons, unjudged, row;
  uint64_t got, want;
  double ulps, backward, fraction;
};

struct fold_judge {
  const char *folder, *jsonl, *program, *path;
  const char **paths;
  size_t n_paths;
  bool quiet, verbose;
  struct fold_golden_options keeping;
  struct fold_selection selected; /* everything in the records, for the goldens */
  struct fold_golden golden;
  struct fold_again again;
  struct fold_seen_list seen;
  struct fold_figures *figures; /* for each judged result, the figures of its claims one after the other */
  size_t n_figures, figures_room;
  struct fold_table table;
  struct fold_summary summary;
  struct fold_smallest smallest;
  struct fold_records records;
  bool tables_open;
  json_t *environment; /* of the records that are being read; NULL if they tell none */
  /* The results that were judged last, and how they were judged. */
  struct fold_seen *last;
  uint64_t told;
  struct fold_repeated repeated;
  size_t contradictions, altered, incomplete, foreign, without_results;
};

/* Prints a line: where the record is, its subject and case, and what is wrong. At most ten lines of each kind are
 * printed. */
void fold_judge_say(size_t *count, const struct fold_judge *judge, size_t line, const json_t *record, const char *kind,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The claims that the record's own verdict says are refuted or broken (fold_recorded_against). */
uint64_t fold_judge_against(const struct fold_judge *judge, const json_t *record);
/* Judges a record's results and adds the verdicts to the tables. A failure means that this machine failed. */
fold_status fold_judge_take_results(struct fold_judge *judge, json_t *record, size_t line);
/* Takes what a record says against its subject: its verdict, unless `again` says that it was judged again, and what its
 * run did. */
fold_status fold_judge_take_recorded(struct fold_judge *judge, json_t *record, size_t line, bool again);

/* Checks whether what a record says of itself agrees with its results and with how they were judged
 * (command/recheck_check.c). */
void fold_judge_check_values(struct fold_judge *judge, const json_t *record, enum fold_dtype dtype, size_t line);
void fold_judge_check_traces(struct fold_judge *judge, const json_t *record, size_t line);
/* Checks whether this program could have written the record for that subject and case (command/recheck_record.c). */
void fold_judge_check_told(struct fold_judge *judge, const json_t *record, size_t line);
/* A hash of what a record tells of its case and its subject. It is the same in all records of the same results. */
uint64_t fold_judge_told(const json_t *record);
/* Keeps what was measured on the results that are being judged; and compares it with what their records tell
 * (command/recheck_figures.c). */
fold_status fold_judge_keep_figures(struct fold_judge *judge, const struct fold_claim *claim,
                                    const struct fold_finding *finding);
/* The figures of a claim for the results that were judged last; NULL if that claim was not judged. */
const struct fold_figures *fold_judge_figures(const struct fold_judge *judge, const struct fold_claim *claim);
void fold_judge_check_figures(struct fold_judge *judge, const json_t *record, size_t line);
/* Compares the verdict that the record tells with the new one; false if that claim was not judged again. */
bool fold_judge_check_verdict(struct fold_judge *judge, const json_t *record, size_t line);

#endif
