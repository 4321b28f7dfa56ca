/* report/model.h: what a report keeps of its records: little, whatever their number.
 *
 * Promised: judgements are counted as they are read. Only the refuted and broken ones and the reasons for skips are kept, each kind
 * up to a maximum, with a count of the rest. Measurements (timing, study, scaling) are kept, as one small struct each. Nothing here
 * depends on HTML, Markdown or JUnit; their writers read the model and no records.
 */
#ifndef FOLD_REPORT_MODEL_H
#define FOLD_REPORT_MODEL_H

#include <jansson.h>
#include <stdio.h>

#include "judge/judge.h"
#include "records/counts.h"
#include "report/repeated.h"

enum { MODEL_CLAIMS = 64, MODEL_EVIDENCE = 10, MODEL_REASONS = 6 };

/* The verdicts on one subject and claim for one fixture. Its name is that of the case up to the dtype. */
struct fold_model_fixture {
  char *name;
  size_t count[FOLD_VERDICTS], known; /* known: refuted by a known defect of that library */
  size_t telling, idle; /* held on inputs that could show another order (panel.h), and on others, if recorded */
  json_t *first;        /* the first record that is refuted or broken, or NULL */
  char *why;            /* the first reason of a skip, or NULL */
};

struct fold_model_reason {
  char *text;
  size_t count;
};

struct fold_model_cell {
  size_t count[FOLD_VERDICTS], known, telling, idle;
  double ulps, backward, fraction; /* the worst; NaN if nothing was measured */
  enum fold_dtype unit;            /* whose unit roundoff `backward` is in (fold_error_unit) */
  /* Over the cases that held: how many rows they have; how many of these have no bound and were not judged; and why the
   * last of them has none. */
  size_t rows, unbounded;
  size_t sampled, sampled_of; /* over those cases of which a sample was judged: its results, and all results */
  char no_bound[160];
  struct fold_model_fixture *fixtures;
  size_t n_fixtures, capacity;
  json_t *index;                    /* of the fixtures, by name (report/index.h) */
  json_t *evidence[MODEL_EVIDENCE]; /* the first records that are refuted or broken */
  size_t n_evidence;
  struct fold_model_reason reasons[MODEL_REASONS]; /* reasons for skips */
  size_t n_reasons, other_reasons;
};

struct fold_model_subject {
  const char *name, *engine;
  struct fold_model_cell *cells[2][MODEL_CLAIMS]; /* [promised][claim]; NULL: nothing judged */
};

/* An error against the exact result. Bounds and errors share a unit; NaN: not known. */
#define FOLD_MODEL_POINT                                 \
  int environment; /* index, -1 if records name none */  \
  const char *subject, *engine, *generator, *dtype, *op; \
  double n, error, ulps, bound, probable, condition;
struct fold_model_point {
  FOLD_MODEL_POINT
};
/* A point of a study, with what its tables need besides. */
struct fold_model_studied {
  FOLD_MODEL_POINT
  double relative, abs_sum, exact, height;
  const char *note;
  long long seed;
};
/* A simulated all-reduce: the worst over its elements; n is the number of ranks and errors are relative. */
struct fold_model_ranks {
  FOLD_MODEL_POINT
  double height, median_ulps, chunks, elements, varied, not_finite;
  long long seed;
};

/* A timing: a record of type "timing" (rows x cols), "scaling" (n terms in all or for each worker, by mode) or
 * "allreduce" (a vector of so many bytes, in a world with one setting of the library). Missing texts are "", missing
 * numbers NaN. */
struct fold_model_timed {
  int environment;
  const char *type, *subject, *engine, *dtype, *op, *generator, *mode, *setting, *verdict, *peer_name, *note;
  const char *why; /* why it is implausible or noisy */
  double rows, cols, n, bytes, seed;
  double m; /* of a timed product of matrices: `rows` are its m x n results */
  double flop_per_second;
  double threads; /* threads of a host subject */
  double workers; /* how many ranks, for a timing in `world` */
  double world;
  double calls; /* how many calls a timed CUDA graph has; 1: timed call by call */
  double median, p10, p90, local_median, calls_median;
  double bytes_per_second, ceiling, of_ceiling, algorithm, bus, link, to_peer, to_library;
  bool implausible, noisy;
};

/* One message of a probe. Within a table, equal letters mean equal bits of the first `head` results. */
struct fold_model_probe {
  int environment;
  const char *subject, *dtype, *generator, *library, *setting, *letter;
  double bytes, workers, head;
  bool rank_agreement, run_to_run;
};

/* A sum (or, by its type, the all-reduce of a vector, whose error is given over its bound) in one world, compared with
 * the world of one rank and with the exact sum. Missing texts are "", missing numbers NaN. */
struct fold_model_validation {
  int environment;
  const char *type, *subject, *engine, *dtype, *generator, *library, *verdict, *note, *got, *one_rank, *promised_bits;
  double n, workers, ulps, relative, error, bound, join_error, join_bound, not_canonical, distance;
  long long seed; /* -1 if the record has none; an integer, because a double could not hold every seed */
};

/* A simulated all-reduce at many world sizes: how many of `elements` have bits that change with the world. */
struct fold_model_world {
  int environment;
  const char *subject, *generator, *dtype;
  double ranks, elements, worlds, changed, most_distinct;
};

struct fold_model_file {
  char *path;
  size_t records;
  char incomplete[120]; /* why records are missing (records/read.h), or "" */
};

/* The lists of the model: what is kept of records, by type. */
#define FOLD_MODEL_LISTS(LIST)                                                 \
  LIST(files, struct fold_model_file)                                          \
  LIST(environments, json_t *) /* without repetition */                        \
  LIST(subjects, struct fold_model_subject)                                    \
  LIST(words, char *) /* every name once; the pointers above point to these */ \
  LIST(study, struct fold_model_studied)                                       \
  LIST(judged, struct fold_model_point)                                        \
  LIST(judged_ulps, struct fold_model_point)                                   \
  LIST(ranks, struct fold_model_ranks)                                         \
  LIST(timings, struct fold_model_timed)                                       \
  LIST(scalings, struct fold_model_timed)                                      \
  LIST(messages, struct fold_model_timed)                                      \
  LIST(probes, struct fold_model_probe)                                        \
  LIST(worlds, struct fold_model_world)                                        \
  LIST(validations, struct fold_model_validation)

struct fold_model {
#define LIST(name, type) \
  type *name;            \
  size_t n_##name, room_##name;
  FOLD_MODEL_LISTS(LIST)
#undef LIST
  const char *claims[MODEL_CLAIMS];
  size_t n_claims, runs;
  struct fold_repeated repeated;
  struct {
    json_t *words, *subjects, *environments;
  } index; /* report/index.h */
};

void fold_model_open(struct fold_model *model);
void fold_model_close(struct fold_model *model);

/* Adds a file of records. FOLD_BAD_INPUT is one line with file and line number: no JSON, another schema, an unknown
 * type, a key that is missing or of the wrong kind, no record at all. */
fold_status fold_model_read(struct fold_model *model, const char *path);

/* Adds one record without checking it, for the program that writes it. A judgement loses its results. */
fold_status fold_model_add(struct fold_model *model, json_t *record);
/* Updates the parts of the model that every record may change; `environment` is the index of the environment to which
 * the record belongs. */
fold_status fold_model_add_environment(struct fold_model *model, const json_t *record, int *environment);
fold_status fold_model_add_judgement(struct fold_model *model, json_t *record, int environment);
/* Adds how the order changed to the judgement that the explanation names, if that is kept as evidence. */
void fold_model_add_explanation(struct fold_model *model, const json_t *record, int environment);
/* Whether the record is a refutation by a known defect of another library. In older records, without "known", every
 * refutation of a peer counts as known. */
bool fold_model_is_known(const json_t *record);
/* Sorts the claims into the order in which they are judged; unknown ones last. */
void fold_model_arrange(struct fold_model *model);
/* The model's own copy of a name; NULL when memory is short. */
const char *fold_model_word(struct fold_model *model, const char *word);

/* How often each verdict was given on promised claims. Refutations by known defects are counted in *known, not as
 * refuted. */
void fold_model_total(const struct fold_model *model, size_t total[FOLD_VERDICTS], size_t *known);
/* "3 held, 0 refuted, 1 skipped", then how many were broken or known, if any. */
void fold_model_summary(const struct fold_model *model, char text[200]);
/* The subject's display name, "rows/par_256 on host", into `text`. */
const char *fold_model_title(const struct fold_model_subject *subject, char text[160]);
/* "4,096 of 90,000 results judged; 3 of 5 rows have no bound: why", or "" where all were judged and have one. */
const char *fold_model_unbounded(const struct fold_model_cell *cell, char text[240]);
/* Whether a claim about order held on order-insensitive inputs only. */
bool fold_model_untold(const struct fold_model_cell *cell);

#endif
