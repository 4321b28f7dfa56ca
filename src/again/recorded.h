/* recorded.h: what a record itself says against its subject: a verdict on a promise, or what a run did besides computing. Its word is
 * all that is left of claims that only runs can judge: it counts as what it was.
 */
#ifndef FOLD_RECORDED_H
#define FOLD_RECORDED_H

#include <jansson.h>

#include "runner.h"

/* A record of a run; that, or of a judgement: others tell no results. */
bool fold_recorded_is_run(const json_t *record);
bool fold_recorded_is_judged(const json_t *record);
/* Tells the record how its run was asked for, which one that held, or judged nothing, leaves to the environment of its file (NULL: none). */
void fold_recorded_ask(json_t *record, const json_t *environment);
/* The path in the name of an array's case, to be freed; NULL: the case is none, or memory is short. */
char *fold_recorded_array(const char *case_name);
/* The claim that a record of a judgement is about; NULL: it is about none. */
const struct fold_claim *fold_recorded_claim(const json_t *record);
/* The version of the library behind a peer, by the environment of its record; NULL: there is none, and it is of this machine. "" where
 * the environment does not tell it. */
void fold_recorded_version(const json_t *environment, const struct fold_subject *subject, char text[64]);
/* That claim's bit, where it was promised and came out refuted or broken, which nothing known of that version of a library explains;
 * else 0. */
uint64_t fold_recorded_against(const json_t *record, const char *version);
/* What of its run the record tells refutes these, FOLD_CLAIM each. */
uint64_t fold_recorded_traces(const json_t *record);
/* The finding for one of those claims. */
struct fold_finding fold_recorded_finding(const json_t *record, const struct fold_claim *claim);

#endif
