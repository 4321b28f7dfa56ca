/* report_text.h: what reports in HTML, Markdown and XML write alike: one line of evidence, environments. */
#ifndef FOLD_REPORT_TEXT_H
#define FOLD_REPORT_TEXT_H

#include "replay.h"
#include "report_model.h"
#include "sheet_text.h"

/* A result's bits with their value; if they are no valid pattern, the record's own text. */
const char *fold_text_bits(const json_t *record, const char *key, char text[100]);
/* "fixture, R x C, seed S, row K: got ..., want ..., U ulps: reason", plain; the caller frees it; NULL: no memory. */
char *fold_text_evidence(const json_t *record);
/* Of an array's case, "npy:PATH/dtype/op/shape" or, over ranks, "npy:PATH/dtype/op/shape/ranksN", whose path may hold
 * slashes, and is escaped (text.h): the length of "npy:PATH"; and N, or 0 (`ranks` may be NULL). */
size_t fold_text_array(const char *name, unsigned *ranks);
/* How its judgement was asked for: it points into the record. */
struct fold_asked fold_asked_recorded(const json_t *record);
/* The command that replays the record's case alone, quoted for a shell; the same way. NULL also where none can (fold_replay_can_run). */
char *fold_text_replay(const json_t *record);

/* An environment's values: calls `put` with each key and value, GPUs as "gpu 0", "gpu 1" ... */
void fold_text_environment(const json_t *environment, void (*put)(FILE *out, const char *key, const char *value),
                           FILE *out);
/* A short name of the environment: its GPUs, or else its CPU. */
const char *fold_text_machine(const struct fold_model *model, int environment, char text[160]);
/* All machines and their systems, each once, between two texts; nothing where there is no environment. */
void fold_text_machines(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                        const char *behind, FILE *out);
/* Each file that does not hold all records of its run, and why, between three texts. */
void fold_text_incomplete(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                          const char *between, const char *behind, FILE *out);
/* A machine with its environment's number, where the model has several environments, else "". */
const char *fold_text_place(const struct fold_model *model, int environment, char text[200]);

/* What was judged of a timing: "held", "held, implausible: above the ceiling", then its note; and whether a reader must be warned: it did not
 * hold, or is doubtful. */
bool fold_text_judged(const struct fold_model_timed *timed, char text[500]);

#endif
