/* again.h: makes the run of a record again: subject, input and results. For judges that come later, on any machine.
 *
 * A record says of its subject what a judge must know (record.h), so that neither the subject nor its engine need be here. Its input is
 * made again by generator and seed, found among the fixtures, or read from its array's file, and must have the record's hash. Results
 * are those that the record holds. If it holds only the bits of the first rows, the others come from the replay of its order, or are the
 * exact ones, provided that they have the record's hash.
 */
#ifndef FOLD_AGAIN_H
#define FOLD_AGAIN_H

#include <jansson.h>

#include "compare/remake.h"
#include "fixtures/case_index.h"
#include "run/runner.h"

struct fold_again {
  const struct fold_registry *own; /* the subjects of this program */
  const char *folder;              /* the folder of fixtures */
  struct fold_case_index fixtures;
  struct fold_case made;   /* a case that only the record describes */
  struct fold_cases array; /* one case, whose array is read from its file */
  struct fold_remade remade;
  struct fold_registry
      subjects;       /* the subjects of all records, by name and engine, with what they promise of sums and products */
  uint64_t *extremes; /* what they promise of max and min */
  size_t room;
};

fold_status fold_again_open(struct fold_again *again, const struct fold_registry *own, const char *folder);
void fold_again_close(struct fold_again *again);

/* Notes a record's subject and what it promises. To be called for all records before the first is made again. */
fold_status fold_again_note(struct fold_again *again, const json_t *record);
/* The subject as the record declares it; *index is its place in again->subjects. BAD_INPUT if the record has words that
 * mean nothing. */
fold_status fold_again_subject(const struct fold_again *again, const json_t *record, struct fold_subject *subject,
                               size_t *index);
/* Whether this program has the record's subject but declares it differently; `what` says how. */
bool fold_again_differs(const struct fold_again *again, const json_t *record, char what[160]);
/* Whether this program's fixture of that name has another generator than the record's case; `what` says which. This is no
 * mistake for a fixture of the user's own, whose folder only they know. */
bool fold_again_misnamed(const struct fold_again *again, const json_t *record, char what[160]);
/* Whether it is a record of schema 1. Such a record does not tell the ranks of a world, and generators and declarations
 * have changed since. */
bool fold_again_is_old(const json_t *record);
/* The subject as fold_again_note noted it, whatever this record declares. */
fold_status fold_again_noted(const struct fold_again *again, const json_t *record, struct fold_subject *subject,
                             size_t *index);
/* The case as the record describes it; the caller frees its name. */
fold_status fold_again_case(const json_t *record, struct fold_case *c);
/* Makes the record's input again; it is valid until the next call. UNSUPPORTED, with the reason, if that is impossible;
 * BAD_INPUT if the input has another hash. */
fold_status fold_again_input(struct fold_again *again, const json_t *record);
/* The record's results, in the format of the subject's result dtype; the caller frees them. UNSUPPORTED if the record
 * holds only a part of them and the rest can't be filled in. */
fold_status fold_again_results(struct fold_again *again, const json_t *record, const char *path,
                               const struct fold_subject *subject, void **results);

#endif
