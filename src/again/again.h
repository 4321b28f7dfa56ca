/* again.h: a record's run, made of it again: whose results, of which terms, with which bits. For judges that come later, on any machine.
 *
 * A record says of its subject what a judge must know (record.h), so that neither the subject nor its engine need be here. Its input is
 * made again by generator and seed, found among the fixtures, or read from its array's file, and must have the record's hash. Results
 * are those that it holds; where it holds but the first rows' bits, those of its order's replay, or the exact ones, are taken if their
 * hash is the record's.
 */
#ifndef FOLD_AGAIN_H
#define FOLD_AGAIN_H

#include <jansson.h>

#include "case_index.h"
#include "remake.h"
#include "runner.h"

struct fold_again {
  const struct fold_registry *own; /* what this program has */
  const char *folder;              /* of fixtures */
  struct fold_case_index fixtures;
  struct fold_case made;   /* of a record alone */
  struct fold_cases array; /* one, read from its file */
  struct fold_remade remade;
  struct fold_registry subjects; /* of the records, by name and engine; with what they promise of sums and products */
  uint64_t *extremes;            /* and of max and min */
  size_t room;
};

fold_status fold_again_open(struct fold_again *again, const struct fold_registry *own, const char *folder);
void fold_again_close(struct fold_again *again);

/* Notes a record's subject and what it promises: for all records, before any of them is made again. */
fold_status fold_again_note(struct fold_again *again, const json_t *record);
/* The subject as the record declares it: index is its place among again->subjects. BAD_INPUT for words that mean nothing. */
fold_status fold_again_subject(const struct fold_again *again, const json_t *record, struct fold_subject *subject,
                               size_t *index);
/* Whether the record declares its subject otherwise than this program does, which has it too: `what` says how. */
bool fold_again_differs(const struct fold_again *again, const json_t *record, char what[160]);
/* Whether the fixture of its case's name has another generator here: `what` says which. A fixture of the user's own may: it is in a
 * folder that only they know. */
bool fold_again_misnamed(const struct fold_again *again, const json_t *record, char what[160]);
/* A record of schema 1: of a world it does not tell the ranks, and since then generators and declarations have changed. */
bool fold_again_is_old(const json_t *record);
/* What is noted of the record's subject, whatever the record declares. */
fold_status fold_again_noted(const struct fold_again *again, const json_t *record, struct fold_subject *subject,
                             size_t *index);
/* The case as the record tells it; its name is the caller's to free. */
fold_status fold_again_case(const json_t *record, struct fold_case *c);
/* Makes the record's input again: lent until the next call. UNSUPPORTED, with the reason, where that can't be done; BAD_INPUT where it
 * comes out as another one. */
fold_status fold_again_input(struct fold_again *again, const json_t *record);
/* Its results, in the memory of the subject's result dtype: to be freed. UNSUPPORTED where it holds but a part of them. */
fold_status fold_again_results(struct fold_again *again, const json_t *record, const char *path,
                               const struct fold_subject *subject, void **results);

#endif
