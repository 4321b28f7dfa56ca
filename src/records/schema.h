/* schema.h: what a record must and may hold, from one table (schema.def), for writers and readers alike.
 *
 * A record of a newer schema is refused, with that reason; an older one needs only what its schema required. Fields
 * that the table lacks are ignored when a record is read, and are an error when this program writes it.
 */
#ifndef FOLD_SCHEMA_H
#define FOLD_SCHEMA_H

#include <jansson.h>

#include "base/fold.h"

#define FOLD_SCHEMA 2 /* the schema that is written; all from 1 on are read */

enum fold_field {
#define FOLD_FIELD(id, key, kind, unit, meaning) FOLD_FIELD_##id,
#define FOLD_RECORD(type, since, meaning)
#define FOLD_HAS(id, since, required)
#include "records/schema.def"
  FOLD_FIELDS
};

enum fold_kind {
  FOLD_KIND_TEXT,
  FOLD_KIND_TEXT_OR_FALSE,
  FOLD_KIND_BITS,
  FOLD_KIND_HASH,
  FOLD_KIND_INTEGER,
  FOLD_KIND_NUMBER,
  FOLD_KIND_FLAG,
  FOLD_KIND_LIST,
  FOLD_KIND_OBJECT
};

struct fold_field_row {
  const char *key;
  enum fold_kind kind;
};
extern const struct fold_field_row fold_fields[FOLD_FIELDS];

/* A field's key, for readers. A name that is not in the table does not compile. */
#define FOLD_KEY(id) (fold_fields[FOLD_FIELD_##id].key)

/* Checks a record that is read: FOLD_BAD_INPUT names a newer schema, a missing field, a field of the wrong kind, a type
 * that the table lacks, or a word that its field does not know. */
fold_status fold_schema_check(const json_t *record);
/* Checks a record that this program is about to write: FOLD_ENVIRONMENT names what is not as in the table. */
fold_status fold_schema_check_written(const json_t *record);

#endif
