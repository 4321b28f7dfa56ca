/* recorded.h: what a record itself says against its subject: a verdict on a promise, or what a run did besides computing. Claims that
 * only runs can judge cannot be judged again, so that the record's verdict counts.
 */
#ifndef FOLD_RECORDED_H
#define FOLD_RECORDED_H

#include <jansson.h>

#include "run/runner.h"

/* Whether it is the record of a run, or of a judgement of one; other records hold no results. */
bool fold_recorded_is_run(const json_t *record);
bool fold_recorded_is_judged(const json_t *record);
/* Adds to the record how its run was requested. Records that held, or judged nothing, leave that to the environment of
 * their file (NULL: none). */
void fold_recorded_ask(json_t *record, const json_t *environment);
/* The path in the name of an array's case, to be freed. NULL if it is no such case, or if memory is short. */
char *fold_recorded_array(const char *case_name);
/* The claim that a record of a judgement is about; NULL if it is about none. */
const struct fold_claim *fold_recorded_claim(const json_t *record);
/* The version of the library behind a peer, from the environment of its record; if that is NULL, of the library on this
 * machine. "" if the environment does not tell it, or if the subject is no peer. */
void fold_recorded_version(const json_t *environment, const struct fold_subject *subject, char text[64]);
/* The bit of the record's claim, if it was promised and came out refuted or broken, and no known defect of that version
 * of a library explains it; else 0. */
uint64_t fold_recorded_against(const json_t *record, const char *version);
/* The claims (FOLD_CLAIM each) that are refuted by what the record tells of its run. */
uint64_t fold_recorded_traces(const json_t *record);
/* The finding for one of these claims. */
struct fold_finding fold_recorded_finding(const json_t *record, const struct fold_claim *claim);

#endif
