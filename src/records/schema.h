/* schema.h: what a record must and may hold, by one table (schema.def): for who writes records and for who reads them.
 *
 * A record of a newer schema is refused, and named so; an older one needs only what its schema asked for. Fields that the table lacks are
 * passed when a record is read, and are an error when this program writes it.
 */
#ifndef FOLD_SCHEMA_H
#define FOLD_SCHEMA_H

#include <jansson.h>

#include "fold.h"

#define FOLD_SCHEMA 2 /* what is written; from 1 on all are read */

enum fold_field {
#define FOLD_FIELD(id, key, kind, unit, meaning) FOLD_FIELD_##id,
#define FOLD_RECORD(type, since, meaning)
#define FOLD_HAS(id, since, required)
#include "schema.def"
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

/* A field's key, for readers: of a name that is not in the table this does not compile. */
#define FOLD_KEY(id) (fold_fields[FOLD_FIELD_##id].key)

/* A record that is read: FOLD_BAD_INPUT names the schema that is newer, the field that is missing, or the one of a wrong kind. So is a type that the table lacks,
 * and a word that its field does not know. */
fold_status fold_schema_check(const json_t *record);
/* A record that this program is about to write: FOLD_ENVIRONMENT names what is not as the table has it. */
fold_status fold_schema_check_written(const json_t *record);
/* Whether a field of few words (verdict, claim, engine, dtype, op, ...) may say this one of n bytes; of other fields true. */
bool fold_schema_knows(enum fold_field field, const char *word, size_t n);
/* Whether records of that type and schema must have the field. */
bool fold_schema_requires(const char *type, unsigned schema, enum fold_field field);

#endif
