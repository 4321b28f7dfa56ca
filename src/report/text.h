/* report/text.h: texts that reports in HTML, Markdown and XML share: a line of evidence, environments. */
#ifndef FOLD_REPORT_TEXT_H
#define FOLD_REPORT_TEXT_H

#include "records/replay.h"
#include "report/model.h"
#include "sheet/text.h"

/* A result's bits with their value; if they are no valid pattern, the text of the record. */
const char *fold_text_bits(const json_t *record, const char *key, char text[100]);
/* "fixture, R x C, seed S, row K: got ..., want ..., U ulps: reason", as plain text; the caller frees it. NULL if
 * memory is short. */
char *fold_text_evidence(const json_t *record);
/* For an array's case, "npy:PATH/dtype/op/shape" or, over ranks, "npy:PATH/dtype/op/shape/ranksN", whose path is
 * escaped (text.h) and may contain slashes: returns the length of "npy:PATH", and in *ranks N, or 0 (`ranks` may be
 * NULL). */
size_t fold_text_array(const char *name, unsigned *ranks);
/* How the judgement was requested; the result points into the record. */
struct fold_asked fold_asked_recorded(const json_t *record);
/* The command that replays the record's case alone, quoted for a shell; the caller frees it. NULL if memory is short,
 * or if no command can (fold_replay_can_run). */
char *fold_text_replay(const json_t *record);

/* An environment's values: calls `put` with each key and value, GPUs as "gpu 0", "gpu 1" ... */
void fold_text_environment(const json_t *environment, void (*put)(FILE *out, const char *key, const char *value),
                           FILE *out);
/* A short name of the environment: its GPUs, or else its CPU. */
const char *fold_text_machine(const struct fold_model *model, int environment, char text[160]);
/* Writes all machines and their systems, each once, between two texts; nothing if there is no environment. */
void fold_text_machines(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                        const char *behind, FILE *out);
/* Writes how many verdicts were counted once although they occur more than once; nothing if there are none. */
void fold_text_repeated(const struct fold_model *model, const char *before, const char *behind, FILE *out);
/* Writes each file that lacks records of its run, and why, between three texts. */
void fold_text_incomplete(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                          const char *between, const char *behind, FILE *out);
/* The machine with its environment's number, if the model has several environments; else "". */
const char *fold_text_place(const struct fold_model *model, int environment, char text[200]);

/* How a timing's result was judged: "held", "held, implausible: above the ceiling", then its note. Returns whether
 * readers must be warned: the result did not hold, or the time is doubtful. */
bool fold_text_judged(const struct fold_model_timed *timed, char text[500]);

#endif
