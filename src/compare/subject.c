/* compare/subject.c: a subject as records declare it. */
#include <stdlib.h>
#include <string.h>

#include "compare/again.h"
#include "oracles/order.h"
#include "records/read.h"

/* Of a guest in a record nothing is known except that it is a guest. */
static const struct fold_guest_row somebodys;

static bool is_extreme(const json_t *record) {
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  return problem && (problem->op == FOLD_MAX || problem->op == FOLD_MIN);
}

static fold_status bad(const json_t *record, const char *key) {
  return fold_error(FOLD_BAD_INPUT, "%.60s: %s '%.40s' means nothing here", fold_record_text(record, "subject"), key,
                    fold_record_text(record, key));
}

/* The claims that follow from a declaration when the record does not list promises. */
static uint64_t derived_claims(const struct fold_subject *s) {
  if (s->method == FOLD_EXACT) return FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_FAITHFUL);
  const uint64_t replays = s->order ? FOLD_CLAIM(FOLD_REPLAYS) : 0;
  const uint64_t twin = s->twin ? FOLD_CLAIM(FOLD_SAME_BITS_AS) : 0;
  return replays | twin |
         FOLD_CLAIM(s->method == FOLD_PLAIN || s->method == FOLD_TRUNCATED ? FOLD_BOUNDED : FOLD_COMPENSATED);
}

static fold_status read_declared(const json_t *record, struct fold_subject *s) {
  const char *order = fold_record_text(record, "order"), *method = fold_record_text(record, "method");
  const int dtype = fold_dtype_parse(fold_record_text(record, "dtype")), result = fold_record_result_dtype(record);
  const int by = *method ? fold_method_parse(method) : FOLD_PLAIN;
  const json_t *accumulator = json_object_get(record, "accumulator");
  const int joined = accumulator ? fold_dtype_parse(fold_record_text(record, "accumulator")) : 0;
  if (dtype < 0) return bad(record, "dtype");
  if (result < 0) return bad(record, "result_dtype");
  const int factor = fold_factor_dtype_parse(fold_record_text(record, "factor_dtype"));
  if (joined < 0) return bad(record, "accumulator");
  if (factor < 0) return bad(record, "factor_dtype");
  if (*order) {
    const struct fold_order *found = fold_order_find(order);
    if (found == NULL) return fold_error(FOLD_UNSUPPORTED, "there is no order %.60s here", order);
    s->order = found->name;
  }
  if (by < 0) return bad(record, "method");
  s->method = (enum fold_method)by;
  s->accumulator = accumulator ? FOLD_ALWAYS((unsigned)joined) : FOLD_USUAL;
  s->result = FOLD_ALWAYS((unsigned)result);
  s->factor = (enum fold_factor_dtype)factor;
  return fold_ok();
}

/* Whether the record declares its subject. Older records do not; for them, this program's own declaration is used. */
static bool is_declared(const json_t *record) {
  static const char *const keys[] = {"order", "method", "accumulator", "factor_dtype", "twin"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (json_object_get(record, keys[i])) return true;
  return false;
}

bool fold_again_is_old(const json_t *record) { return json_integer_value(json_object_get(record, "schema")) == 1; }

/* Whether the record may lack an accumulator: an older one does not tell whether a library of ranks adds f16 and bf16
 * in their own format. */
static bool hides_accumulator(const json_t *record, const struct fold_subject *s) {
  const int dtype = fold_dtype_parse(fold_record_text(record, "dtype"));
  if (!fold_again_is_old(record) || is_declared(record) || is_extreme(record) || dtype < 0) return false;
  return s->peer && fold_engine_has_ranks(s->engine) &&
         fold_accumulator_of((enum fold_dtype)dtype) != (enum fold_dtype)dtype;
}

static fold_status grow(struct fold_again *a) {
  if (a->subjects.n < a->room) return fold_ok();
  const size_t more = a->room ? 2 * a->room : 64;
  void *subjects = reallocarray((void *)(uintptr_t)a->subjects.subjects, more, sizeof *a->subjects.subjects);
  if (subjects) a->subjects.subjects = subjects;
  void *extremes = reallocarray(a->extremes, more, sizeof *a->extremes);
  if (extremes) a->extremes = extremes;
  if (!subjects || !extremes) return fold_no_memory("for the subjects of the records");
  a->room = more;
  return fold_ok();
}

static fold_status add(struct fold_again *a, const json_t *record, int engine, struct fold_subject **added) {
  const char *name = fold_record_text(record, "subject");
  const struct fold_subject *own = fold_registry_find(a->own, name, (enum fold_engine)engine);
  FOLD_TRY(grow(a));
  struct fold_subject *s = (struct fold_subject *)(uintptr_t)&a->subjects.subjects[a->subjects.n];
  *s = (struct fold_subject){.engine = (enum fold_engine)engine, .method = FOLD_PLAIN};
  s->name = strdup(name);
  s->twin = *fold_record_text(record, "twin") ? strdup(fold_record_text(record, "twin")) : NULL;
  s->accurate_as = *fold_record_text(record, "accurate_as") ? strdup(fold_record_text(record, "accurate_as")) : NULL;
  s->most_ulps = json_number_value(json_object_get(record, "most_ulps"));
  s->about = "of a record";
  if (own) s->height = own->height, s->vector = own->vector;
  s->peer = json_is_true(json_object_get(record, "peer"));
  s->unknown = strcmp(fold_record_text(record, "problem"), "rows") == 0;
  s->guest = json_is_true(json_object_get(record, "guest")) ? &somebodys : NULL;
  a->extremes[a->subjects.n++] = 0;
  *added = s;
  return s->name ? fold_ok() : fold_no_memory("for the subjects of the records");
}

fold_status fold_again_note(struct fold_again *a, const json_t *record) {
  const char *name = fold_record_text(record, "subject");
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  uint64_t claim = 0, preset;
  if (engine < 0) return bad(record, "engine");
  struct fold_subject *s =
      (struct fold_subject *)(uintptr_t)fold_registry_find(&a->subjects, name, (enum fold_engine)engine);
  if (s == NULL) FOLD_TRY(add(a, record, engine, &s));
  const size_t index = (size_t)(s - a->subjects.subjects);
  if (strcmp(fold_record_text(record, "type"), "judgement") == 0) {
    if (!json_is_true(json_object_get(record, "promised"))) return fold_ok();
    FOLD_TRY(fold_claims_parse(fold_record_text(record, "claim"), &claim, &preset));
  } else {
    const struct fold_subject *own = fold_registry_find(a->own, name, (enum fold_engine)engine);
    struct fold_subject declared = *s;
    if (own)
      claim = own->claims;
    else if (read_declared(record, &declared).code == FOLD_OK)
      claim = derived_claims(&declared);
  }
  if (is_extreme(record))
    a->extremes[index] |= claim;
  else
    s->claims |= claim;
  return fold_ok();
}

fold_status fold_again_noted(const struct fold_again *a, const json_t *record, struct fold_subject *s, size_t *index) {
  const struct fold_subject *noted =
      fold_registry_find(&a->subjects, fold_record_text(record, "subject"),
                         (enum fold_engine)fold_engine_parse(fold_record_text(record, "engine")));
  if (noted == NULL) return bad(record, "subject");
  *index = (size_t)(noted - a->subjects.subjects);
  *s = *noted;
  return fold_ok();
}

fold_status fold_again_subject(const struct fold_again *a, const json_t *record, struct fold_subject *s,
                               size_t *index) {
  const char *name = fold_record_text(record, "subject");
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  const struct fold_subject *own = fold_registry_find(a->own, name, (enum fold_engine)engine);
  FOLD_TRY(fold_again_noted(a, record, s, index));
  if (is_extreme(record)) s->claims |= a->extremes[*index];
  if (own == NULL && hides_accumulator(record, s))
    return fold_error(FOLD_UNSUPPORTED, "its record of schema 1 does not tell in which format it adds");
  if (own == NULL) return read_declared(record, s);
  s->order = own->order;
  s->method = own->method;
  s->accumulator = own->accumulator;
  s->result = own->result;
  s->factor = own->factor;
  return fold_ok();
}

static bool is_other(const json_t *record, const char *key, const char *own, char what[160]) {
  const json_t *value = json_object_get(record, key);
  const char *said = value && !json_is_string(value) ? "no text" : fold_record_text(record, key);
  if (strcmp(said, own) == 0) return false;
  snprintf(what, 160, "%s '%.50s', and the one here has '%.50s'", key, said, own);
  return true;
}

static bool is_other_flag(const json_t *record, const char *key, bool own, char what[160]) {
  if (json_is_true(json_object_get(record, key)) == own) return false;
  snprintf(what, 160, own ? "no '%s', and the one here has it" : "'%s', and the one here has it not", key);
  return true;
}

bool fold_again_differs(const struct fold_again *a, const json_t *record, char what[160]) {
  const int engine = fold_engine_parse(fold_record_text(record, "engine")),
            read = fold_dtype_parse(fold_record_text(record, "dtype"));
  const struct fold_subject *own =
      engine < 0 ? NULL : fold_registry_find(a->own, fold_record_text(record, "subject"), (enum fold_engine)engine);
  if (own == NULL || read < 0) return false;
  const enum fold_dtype dtype = (enum fold_dtype)read, result = fold_subject_result(own, dtype),
                        accumulator = fold_subject_accumulator(own, dtype);
  const enum fold_method method = fold_subject_method(own, dtype);
  if (is_other(record, "result_dtype", result == dtype ? "" : fold_dtype_name(result), what)) return true;
  if (is_other_flag(record, "guest", own->guest != NULL, what) || is_other_flag(record, "peer", own->peer, what) ||
      is_other_flag(record, "any_gpu", own->any_gpu, what))
    return true;
  if (!is_declared(record)) return false;
  return is_other(record, "order", own->order ? own->order : "", what) ||
         is_other(record, "method", method == FOLD_PLAIN ? "" : fold_method_names[method], what) ||
         is_other(record, "accumulator", accumulator == fold_accumulator_of(dtype) ? "" : fold_dtype_name(accumulator),
                  what) ||
         is_other(record, "factor_dtype", fold_factor_dtype_names[own->factor], what) ||
         (own->twin && is_other(record, "twin", own->twin, what)); /* another has that of --same-bits-as */
}
