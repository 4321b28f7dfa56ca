/* schema.c: see schema.h. */
#include "records/schema.h"

#include <string.h>

#include "judge/evidence.h"
#include "judge/judge.h"

const struct fold_field_row fold_fields[FOLD_FIELDS] = {
#define FOLD_FIELD(id, key, kind, unit, meaning) {key, FOLD_KIND_##kind},
#define FOLD_RECORD(type, since, meaning)
#define FOLD_HAS(id, since, required)
#include "records/schema.def"
};

/* A row for each record, followed by a row for each of its fields. */
static const struct entry {
  const char *type; /* NULL: the row is a field of the record above */
  enum fold_field field;
  unsigned required; /* required from that schema on; 0: never */
} entries[] = {
#define FOLD_FIELD(id, key, kind, unit, meaning)
#define FOLD_RECORD(type, since, meaning) {#type, FOLD_FIELDS, 0},
#define FOLD_HAS(id, since, required) {NULL, FOLD_FIELD_##id, required},
#include "records/schema.def"
    {"", FOLD_FIELDS, 0}};

static const char *const kinds[] = {"a string",
                                    "a string or false",
                                    "a string of hexadecimal bits",
                                    "a hash",
                                    "a whole number",
                                    "a number",
                                    "true or false",
                                    "a list",
                                    "an object"};

/* The first field of the record of that type; NULL: there is no such type. */
static const struct entry *fields_of(const char *type) {
  for (const struct entry *e = entries; !e->type || *e->type; e++)
    if (e->type && strcmp(e->type, type) == 0) return e + 1;
  return NULL;
}

static bool is_hexadecimal(const char *text) {
  return text && strncmp(text, "0x", 2) == 0 && text[2] && strspn(text + 2, "0123456789abcdef") == strlen(text + 2);
}

static bool is_verdict(const char *word) { return fold_verdict_parse(word) >= 0 || strcmp(word, "not judged") == 0; }
static bool is_claim(const char *word) { return fold_claim_find(word) != NULL; }
static bool is_engine(const char *word) { return fold_engine_parse(word) >= 0; }
static bool is_dtype(const char *word) { return fold_dtype_parse(word) >= 0; }
static bool is_problem(const char *word) { return fold_problem_find(word) != NULL; }

/* The fields with a fixed set of words; readers know no others. */
static bool (*const knows[FOLD_FIELDS])(const char *word) = {
    [FOLD_FIELD_verdict] = is_verdict, [FOLD_FIELD_claim] = is_claim,        [FOLD_FIELD_engine] = is_engine,
    [FOLD_FIELD_dtype] = is_dtype,     [FOLD_FIELD_result_dtype] = is_dtype, [FOLD_FIELD_accumulator] = is_dtype,
    [FOLD_FIELD_op] = is_problem};

/* Counts and sizes are not negative, and a double holds them; seeds have 64 bits, and a place may be before an argument. */
static bool is_sane(const struct fold_field_row *row, const json_t *value) {
  const double number = json_number_value(value);
  const char *part = strrchr(row->key, '.');
  if (row->kind != FOLD_KIND_INTEGER || strcmp(row->key, "seed") == 0 || (part && strcmp(part, ".byte") == 0))
    return true;
  return number >= 0 && number <= 0x1p53;
}

/* `strict`: for writing. In a record that is read, its reader checks the bits later. */
static bool is_kind(enum fold_kind kind, const json_t *value, bool strict) {
  switch (kind) {
    case FOLD_KIND_TEXT: return json_is_string(value);
    case FOLD_KIND_TEXT_OR_FALSE: return json_is_string(value) || json_is_false(value);
    case FOLD_KIND_BITS:
    case FOLD_KIND_HASH: return strict ? is_hexadecimal(json_string_value(value)) : json_is_string(value);
    case FOLD_KIND_INTEGER: return strict ? json_is_integer(value) : json_is_number(value); /* others may write 5.0 */
    case FOLD_KIND_NUMBER: return json_is_number(value);
    case FOLD_KIND_FLAG: return json_is_boolean(value);
    case FOLD_KIND_LIST: return json_is_array(value);
    case FOLD_KIND_OBJECT: return json_is_object(value);
  }
  return false;
}

/* Finds the field of that name ("parent.name" where there is a parent). Fields mostly come in the table's sequence, so
 * the search goes on from *next. */
static const struct entry *find(const struct entry *fields, const struct entry **next, const char *parent,
                                const char *name) {
  const size_t n = parent ? strlen(parent) + 1 : 0;
  for (int again = 0; again < 2; again++, *next = fields)
    for (const struct entry *e = *next; !e->type; e++) {
      const char *key = fold_fields[e->field].key;
      if (key[0] != (parent ? parent : name)[0]) continue; /* most fields, at once: each record of a file is checked */
      if (parent && (strncmp(key, parent, n - 1) != 0 || key[n - 1] != '.')) continue;
      if (strcmp(key + n, name) != 0 || strchr(name, '.')) continue;
      *next = e + 1;
      return e;
    }
  return NULL;
}

static bool has_parts(const struct entry *fields, const char *key) {
  const size_t n = strlen(key);
  for (const struct entry *e = fields; !e->type; e++)
    if (fold_fields[e->field].key[0] == key[0] && strncmp(fold_fields[e->field].key, key, n) == 0 &&
        fold_fields[e->field].key[n] == '.')
      return true;
  return false;
}

struct checking {
  const char *type;
  const struct entry *fields, *every;
  bool strict; /* fields that the table lacks are errors */
  bool judged; /* a judgement or a run, whose counts are added up */
  bool words;  /* unknown words are errors too; schema 1 had no fixed words */
};

static fold_status check_object(const struct checking *c, const json_t *object, const char *parent);

static fold_status check_parts(const struct checking *c, const json_t *value, const char *key) {
  size_t i;
  json_t *part;
  if (!json_is_object(value) && !json_is_array(value)) return fold_ok();
  if (!has_parts(c->fields, key)) return fold_ok();
  if (json_is_object(value)) return check_object(c, value, key);
  json_array_foreach(value, i, part) {
    if (!json_is_object(part))
      return fold_error(FOLD_BAD_INPUT, "a record of type %s has a list '%s' with an item that is not an object",
                        c->type, key);
    FOLD_TRY(check_object(c, part, key));
  }
  return fold_ok();
}

static fold_status check_object(const struct checking *c, const json_t *object, const char *parent) {
  const struct entry *next = c->fields, *first = c->every;
  const char *name, *dot = parent ? "." : "";
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value) {
    const struct entry *e = parent ? NULL : find(c->every, &first, NULL, name);
    if (!e) e = find(c->fields, &next, parent, name);
    if (!e && c->strict)
      return fold_error(FOLD_BAD_INPUT, "a record of type %s has no field '%s%s%.60s'", c->type, parent ? parent : "",
                        dot, name);
    if (!e) continue;
    const struct fold_field_row *row = &fold_fields[e->field];
    if (!is_kind(row->kind, value, c->strict))
      return fold_error(FOLD_BAD_INPUT, "a record of type %s needs the key '%s' to be %s", c->type, row->key,
                        kinds[row->kind]);
    if (c->judged && !is_sane(row, value))
      return fold_error(FOLD_BAD_INPUT, "a record of type %s has the %s %.17g: from 0 to 2^53", c->type, row->key,
                        json_number_value(value));
    if (c->words && knows[e->field] && !knows[e->field](json_string_value(value)))
      return fold_error(FOLD_BAD_INPUT, "a record of type %s has the %s '%.40s': no such is known", c->type, row->key,
                        json_string_value(value));
    if (!parent) FOLD_TRY(check_parts(c, value, row->key));
  }
  return fold_ok();
}

static fold_status check_required(const struct checking *c, const struct entry *fields, const json_t *record,
                                  json_int_t schema) {
  for (const struct entry *e = fields; !e->type; e++) {
    const struct fold_field_row *row = &fold_fields[e->field];
    if (e->required && schema >= e->required && !json_object_get(record, row->key))
      return fold_error(FOLD_BAD_INPUT, "a record of type %s needs the key '%s' (%s)", c->type, row->key,
                        kinds[row->kind]);
  }
  return fold_ok();
}

static fold_status check(const json_t *record, bool strict) {
  const json_t *schema = json_object_get(record, "schema");
  const char *type = json_string_value(json_object_get(record, "type"));
  const json_int_t number = json_integer_value(schema);
  if (!json_is_object(record) || !json_is_integer(schema))
    return fold_error(FOLD_BAD_INPUT, "no record: an object with a schema number is wanted");
  if (number > FOLD_SCHEMA)
    return fold_error(FOLD_BAD_INPUT, "schema %lld: written by a newer foldproof, this one reads schemas 1 to %d",
                      (long long)number, FOLD_SCHEMA);
  if (number < 1) return fold_error(FOLD_BAD_INPUT, "there is no schema %lld", (long long)number);
  if (type == NULL) return fold_error(FOLD_BAD_INPUT, "a record needs the key 'type' (a string)");
  const struct checking c = {.type = type,
                             .fields = fields_of(type),
                             .every = fields_of("every"),
                             .strict = strict,
                             .words = number > 1,
                             .judged = strcmp(type, "judgement") == 0 || strcmp(type, "run") == 0};
  if (!c.fields) return fold_error(FOLD_BAD_INPUT, "no type '%.40s' of record is known", type);
  FOLD_TRY(check_object(&c, record, NULL));
  FOLD_TRY(check_required(&c, c.every, record, number));
  return check_required(&c, c.fields, record, number);
}

fold_status fold_schema_check(const json_t *record) { return check(record, false); }

fold_status fold_schema_check_written(const json_t *record) {
  const fold_status status = check(record, true);
  if (status.code == FOLD_OK) return status;
  return fold_error(FOLD_ENVIRONMENT, "an error of foldproof: a record breaks its own schema: %s", status.text);
}
