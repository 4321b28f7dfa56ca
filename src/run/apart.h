/* apart.h: each shared object is loaded in a process that has loaded no other one.
 *
 * The dynamic linker gives a second object the first one's code where both need a library of the same soname, or define
 * the same unique symbol, as a template's static member is. So two builds of a guest would be judged by running one. A
 * worker (supervise.h) judges the subjects of one object, in a turn of its own. A twin that is in another object runs in
 * a process that is started before the worker loads anything.
 */
#ifndef FOLD_APART_H
#define FOLD_APART_H

#include "run/runner.h"

/* How many turns there are: at least 1. The first is also that of all subjects that are in no shared object. */
size_t fold_turns(const struct fold_selection *selection);
size_t fold_turn_of(const struct fold_selection *selection, const struct fold_subject *subject);

/* Starts a process for each other object that has the twin of a subject of this turn. `cases` may be NULL: then each
 * process reads the selected cases itself. */
fold_status fold_apart_start(const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_cases *cases, size_t turn);
/* Whether the twin runs in such a process; runs it there on the trial's case. ENVIRONMENT says how its process ended. */
bool fold_apart_has(const struct fold_subject *twin);
fold_status fold_apart_run(const struct fold_trial *trial, const struct fold_subject *twin, void *got);
/* Whether one of these processes has ended: another worker can start it again. */
bool fold_apart_is_lost(void);

#endif
