/* command/study.h: what the parts of foldproof study share: options, records, progress. */
#ifndef FOLD_COMMAND_STUDY_H
#define FOLD_COMMAND_STUDY_H

#include "command/measured_records.h"
#include "study/study.h"

enum { FOLD_STUDY_SIZES = 16 };

struct study_command {
  uint64_t sizes[FOLD_STUDY_SIZES];
  size_t n_sizes;
  bool named_sizes; /* the user gave --sizes */
  const char *generators;
  unsigned dtypes, ops;
  uint64_t seed;
  const char *jsonl;
  bool full, simulate, gpu_terms; /* gpu_terms: a billion terms, if there is a GPU */
  bool messages, worlds;
  int engine;           /* for messages or worlds: FOLD_MPI or FOLD_NCCL */
  const char *settings; /* for messages: globs that choose settings of ranks/setting.h; NULL: all */
  struct fold_measuring measuring;
};

/* Parses the command line; ends the program if it is wrong (command/study_options.c). */
void fold_study_parse(struct study_command *s, int argc, char **argv);

/* Sorts the sizes in rising order. */
void fold_study_sort(struct study_command *s);
/* Writes what every measured sum has: the exact sum, the sum of magnitudes, the errors, their bound. */
void fold_study_set_errors(json_t *line, const struct fold_study_point *point);
/* The simulation of many ranks (command/study_ranks.c). */
fold_status fold_study_ranks(struct study_command *s);
/* The probe of all-reduces (command/study_messages.c). If the status is OK, *exit_code is 0, 1, 77 or 99. */
fold_status fold_study_messages(struct study_command *s, const struct fold_registry *registry, int *exit_code);
/* Sums over worlds of several sizes (command/study_worlds.c); *exit_code as above. */
fold_status fold_study_worlds(struct study_command *s, const struct fold_registry *registry, int *exit_code);

#endif
