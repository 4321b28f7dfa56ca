/* guest/rows.c: reads a guest's table (JSON text) into rows of a registry. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/did_you_mean.h"
#include "base/text.h"
#include "guest/guest.h"

/* The meaning of an empty list of claims, beside those that the subject's own declarations make. */
#define USUAL_CLAIMS "bounded,run_to_run,fresh_process"
/* The same for an unknown function of rows. */
#define ROWS_CLAIMS "run_to_run,fresh_process,batch_invariant,alignment_invariant"

struct reading {
  const struct fold_guest *guest;
  const json_t *entry;
  const char *name;
};

/* Refuses an unknown word; `name` gives the words that are allowed. */
static fold_status wrong(const struct reading *r, const char *field, const char *word, const char *(*name)(int),
                         const char *meant) {
  char allowed[120] = "";
  for (int i = 0; name(i); i++) {
    const size_t used = strlen(allowed);
    snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? ", " : "", name(i));
  }
  return fold_error(FOLD_BAD_INPUT, "%s: %s: its %s has the unknown word '%.40s'%s%s%s", r->guest->what, r->name, field,
                    word, meant, meant[0] ? " Allowed: " : "; allowed: ", allowed);
}

static fold_status not_a(const char *kind, const struct reading *r, const char *field, const json_t *value) {
  char *found = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
  fold_status status = fold_error(FOLD_BAD_INPUT, "%s: %s: its %s is %.40s, and must be %s", r->guest->what, r->name,
                                  field, found ? found : "something else", kind);
  free(found);
  return status;
}

/* *text: NULL where the field is missing or empty. BAD_INPUT where it is no text. */
static fold_status text_at(const struct reading *r, const char *field, const char **text) {
  const json_t *value = json_object_get(r->entry, field);
  *text = NULL;
  if (value == NULL || json_is_null(value)) return fold_ok();
  if (!json_is_string(value)) return not_a("a text in quotes", r, field, value);
  if (*json_string_value(value)) *text = json_string_value(value);
  return fold_ok();
}

/* *set: false where the field is missing. BAD_INPUT where it is neither true nor false. */
static fold_status flag_at(const struct reading *r, const char *field, bool *set) {
  const json_t *value = json_object_get(r->entry, field);
  *set = json_is_true(value);
  return value == NULL || json_is_null(value) || json_is_boolean(value) ? fold_ok()
                                                                        : not_a("true or false", r, field, value);
}

/* *number: 0 where the field is missing. BAD_INPUT where it is no number above 0. */
static fold_status number_at(const struct reading *r, const char *field, double *number) {
  const json_t *value = json_object_get(r->entry, field);
  *number = json_number_value(value);
  if (value == NULL || json_is_null(value)) return fold_ok();
  return *number > 0 ? fold_ok() : not_a("a number above 0", r, field, value);
}

typedef int find_name(const char *word);
static int find_problem(const char *word) {
  const struct fold_problem *problem = fold_problem_find(word);
  return problem ? (int)problem->id : -1;
}
static const char *problem_name(int id) {
  if (id == FOLD_PROBLEMS) return "rows"; /* known to read_entry, and to no list of several */
  return id < FOLD_PROBLEMS ? fold_problem((enum fold_problem_id)id)->name : NULL;
}
static const char *dtype_name(int id) { return id < FOLD_DTYPES ? fold_dtype_name((enum fold_dtype)id) : NULL; }

static const char *method_name(int id) { return fold_method_names[id]; }
static const char *accumulator_name(int id) { return id == 0 ? "terms" : dtype_name(id - 1); }
static const char *result_name(int id) { return id == 0 ? "accumulator" : accumulator_name(id - 1); }
/* What a guest gets on OpenCL is not said in foldproof_guest.h. */
static bool is_for_guests(enum fold_engine engine) { return !fold_engine_has_ranks(engine) && engine != FOLD_OPENCL; }

/* The id-th engine that a guest may run on. */
static const char *engine_name(int id) {
  for (int e = 0; e < FOLD_ENGINES; e++)
    if (is_for_guests((enum fold_engine)e) && id-- == 0) return fold_engine_name((enum fold_engine)e);
  return NULL;
}

/* Suggests our dtype for numpy's and torch's names, which look too different from ours to be found as similar. */
static const char *dtype_meant(const char *word) {
  static const char *const names[][2] = {{"float16", "f16"}, {"half", "f16"},           {"bfloat16", "bf16"},
                                         {"float32", "f32"}, {"float", "f32"},          {"float64", "f64"},
                                         {"double", "f64"},  {"float8_e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"},
                                         {"int8", "i8"},     {"int32", "i32"},          {"int64", "i64"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(word, names[i][0]) == 0) return names[i][1];
  return NULL;
}

static const char *near_name(const char *word, const char *(*name)(int), char meant[160]) {
  struct fold_did_you_mean guess;
  const char *dtype = name == dtype_name ? dtype_meant(word) : NULL;
  if (dtype) {
    snprintf(meant, 160, ": did you mean '%s'?", dtype);
    return meant;
  }
  fold_did_you_mean_open(&guess, word);
  for (int i = 0; name(i); i++) fold_did_you_mean_try(&guess, name(i));
  return fold_did_you_mean_text(&guess, meant);
}

/* A mask of the words in a list. */
static fold_status masks(const struct reading *r, const char *field, const char *usual, find_name *find,
                         const char *(*name)(int), unsigned *mask) {
  const char *list;
  char meant[160], *rest = NULL;
  FOLD_TRY(text_at(r, field, &list));
  char *copy = strdup(list ? list : usual);
  fold_status status = copy ? fold_ok() : fold_no_memory("for a guest's table");
  *mask = 0;
  for (char *word = copy ? strtok_r(copy, ", ", &rest) : NULL; word && status.code == FOLD_OK;
       word = strtok_r(NULL, ", ", &rest)) {
    const int id = find(word);
    if (id < 0 && find == find_problem && strcmp(word, "rows") == 0)
      status =
          fold_error(FOLD_BAD_INPUT, "%s: %s: its %s names 'rows' with others: a function of rows has no other problem",
                     r->guest->what, r->name, field);
    else if (id < 0)
      status = wrong(r, field, word, name, near_name(word, name, meant));
    else
      *mask |= 1u << id;
  }
  free(copy);
  return status;
}

/* Reads a dtype, or a word that stands for a rule. */
static fold_status rule(const struct reading *r, const char *field, const char *word, unsigned of_word,
                        const char *(*name)(int), unsigned *found) {
  const char *text;
  char meant[160];
  FOLD_TRY(text_at(r, field, &text));
  *found = FOLD_USUAL;
  if (text == NULL) return fold_ok();
  const int dtype = fold_dtype_parse(text);
  if (dtype >= 0)
    *found = FOLD_ALWAYS((unsigned)dtype);
  else if (strcmp(text, word) == 0)
    *found = of_word;
  else if (strcmp(text, "terms") != 0)
    return wrong(r, field, text, name, near_name(text, dtype_name, meant));
  return fold_ok();
}

/* An accumulator that the table does not give holds the results, too: who has f64 results of f32 terms adds in f64. */
static void widen_accumulator(struct fold_subject *s) {
  for (int d = 0; d < FOLD_DTYPES; d++) {
    const struct fold_format result = fold_format_of(fold_subject_result(s, (enum fold_dtype)d));
    const bool holds = fold_format_holds(fold_format_of(fold_accumulator_of((enum fold_dtype)d)), result);
    if (s->dtypes >> d & 1 && s->accumulator == FOLD_USUAL && s->result >= FOLD_RULES && !holds)
      s->accumulator = s->result;
  }
}

static fold_status method(const struct reading *r, enum fold_method *found) {
  const char *text;
  char meant[160];
  FOLD_TRY(text_at(r, "method", &text));
  const int method = text ? fold_method_parse(text) : FOLD_PLAIN;
  if (method < 0) return wrong(r, "method", text, method_name, fold_did_you_mean_of(text, fold_method_names, meant));
  *found = (enum fold_method)method;
  return fold_ok();
}

static const char *factor_dtype_name(int id) { return fold_factor_dtype_names[id + 1]; }

/* To what it may round the factors of products: no other problem has any. */
static fold_status factor_dtype(const struct reading *r, const struct fold_subject *s, enum fold_factor_dtype *found) {
  const char *text;
  char meant[160];
  bool multiplies = false;
  FOLD_TRY(text_at(r, "factor_dtype", &text));
  *found = FOLD_FACTORS_KEPT;
  if (text == NULL) return fold_ok();
  const int dtype = fold_factor_dtype_parse(text);
  if (dtype < 0) return wrong(r, "factor_dtype", text, factor_dtype_name, near_name(text, factor_dtype_name, meant));
  for (int id = 0; id < FOLD_PROBLEMS && !s->unknown; id++)
    multiplies |= s->problems >> id & 1 && fold_problem((enum fold_problem_id)id)->factors > 1;
  if (!multiplies)
    return fold_error(
        FOLD_BAD_INPUT,
        "%s: %s: it has a factor_dtype, and no problem whose terms are products (dot, sumsq, matvec, matmul)",
        r->guest->what, r->name);
  *found = (enum fold_factor_dtype)dtype;
  return fold_ok();
}

/* The claims that this subject can't be judged by. */
static uint64_t impossible(const struct fold_subject *s) {
  uint64_t none = 0;
  for (int k = 0; k < FOLD_CLAIMS; k++)
    if (fold_claim_unjudged(s, (enum fold_claim_id)k)) none |= FOLD_CLAIM(k);
  return none;
}

static bool is_compensated(const struct fold_subject *s) {
  return s->method == FOLD_KAHAN || s->method == FOLD_NEUMAIER;
}

uint64_t fold_guest_unseen(const struct fold_subject *s) {
  uint64_t mask = 0;
  for (int k = 0; k < FOLD_CLAIMS; k++)
    if (s->why_skipped && s->why_skipped[k]) mask |= FOLD_CLAIM(k);
  return mask;
}

/* The claims of a preset or a glob that are not meant for this subject: those that can't be judged, and an exact sum's promises, unless its method is exact. All but the first can still be promised by
 * name. */
static uint64_t unmeant(const struct fold_subject *s) {
  const uint64_t of_exact = FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) |
                            FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT) | FOLD_CLAIM(FOLD_SPLIT_INVARIANT);
  const enum fold_claim_id other = is_compensated(s) ? FOLD_BOUNDED : FOLD_COMPENSATED;
  return impossible(s) | (s->strides ? 0 : FOLD_CLAIM(FOLD_STRIDE_INVARIANT)) |
         (s->method == FOLD_EXACT ? 0 : of_exact) | FOLD_CLAIM(other);
}

/* `own`: the list is the guest's own, in which a claim that can't be judged is a mistake; else it is the user's, for
 * all guests. */
static fold_status add_claims(const char *list, bool own, struct fold_subject *s) {
  uint64_t named, preset;
  FOLD_TRY(fold_claims_parse(list, &named, &preset));
  const uint64_t skipped = fold_guest_unseen(s) | FOLD_CLAIM(FOLD_SAME_BITS_AS);
  const uint64_t lacking = s->unknown && own ? named & impossible(s) & ~skipped : 0;
  if (lacking)
    return fold_error(FOLD_BAD_INPUT, "the value and order of problem rows are not known: it cannot claim %s",
                      fold_claims(&(size_t){0})[__builtin_ctzll(lacking)].name);
  if (own) s->asked = named | preset;
  if (!own) s->unjudgeable |= named & impossible(s);
  s->named |= named;
  s->claims |= named | (preset & ~unmeant(s));
  return fold_ok();
}

static fold_status add_unnamed(const char *list, struct fold_subject *s) {
  uint64_t named, preset;
  FOLD_TRY(fold_claims_parse(list, &named, &preset));
  s->claims |= (named | preset) & ~unmeant(s) & ~fold_guest_unseen(s);
  return fold_ok();
}

/* What the table, or the user of all guests, says of the size of errors is a claim: it is said for nothing else. */
static fold_status add_limits(const struct reading *r, const struct fold_wants *wants, struct fold_subject *s) {
  const struct fold_order *order;
  FOLD_TRY(text_at(r, "accurate_as", &s->accurate_as));
  FOLD_TRY(number_at(r, "ulps", &s->most_ulps));
  uint64_t claims =
      (s->accurate_as ? FOLD_CLAIM(FOLD_ACCURATE_AS) : 0) | (s->most_ulps > 0 ? FOLD_CLAIM(FOLD_ULPS) : 0);
  if (s->unknown && claims)
    return fold_error(FOLD_BAD_INPUT,
                      "%s: %s: the value of problem rows is not known: it cannot have accurate_as or ulps",
                      r->guest->what, r->name);
  if (wants && wants->accurate_as) s->accurate_as = wants->accurate_as, claims |= FOLD_CLAIM(FOLD_ACCURATE_AS);
  if (wants && wants->most_ulps > 0) s->most_ulps = wants->most_ulps, claims |= FOLD_CLAIM(FOLD_ULPS);
  if (s->accurate_as) FOLD_TRY(fold_within(fold_order_named(s->accurate_as, &order), "%s: accurate_as", r->name));
  s->claims |= claims;
  s->asked |= claims;
  s->named |= claims;
  s->unjudgeable |= claims & impossible(s);
  return fold_ok();
}

static fold_status read_row(const struct reading *r, const struct fold_wants *wants, struct fold_subject *s) {
  const char *engine, *promised;
  FOLD_TRY(text_at(r, "about", &s->about));
  if (s->about) fold_text_one_line((char *)(uintptr_t)s->about); /* changed in place: the JSON is ours */
  if (s->about == NULL) s->about = s->name;
  FOLD_TRY(text_at(r, "engine", &engine));
  const int id = engine ? fold_engine_parse(engine) : FOLD_HOST;
  if (id < 0 || !is_for_guests((enum fold_engine)id)) return wrong(r, "engine", engine, engine_name, "");
  if (id != FOLD_HOST && r->guest->door->files)
    return fold_error(FOLD_BAD_INPUT, "%s: %s: its engine is %s, but a program gets files: engine host", r->guest->what,
                      r->name, engine);
  s->engine = (enum fold_engine)id;
  FOLD_TRY(masks(r, "dtypes", "f32", fold_dtype_parse, dtype_name, &s->dtypes));
  s->problems = 1u << FOLD_ROWS_SUM;
  if (!s->unknown) FOLD_TRY(masks(r, "problems", "sum", find_problem, problem_name, &s->problems));
  FOLD_TRY(rule(r, "accumulator", "terms", FOLD_OF_TERMS, accumulator_name, &s->accumulator));
  FOLD_TRY(rule(r, "result", "accumulator", FOLD_OF_ACCUMULATOR, result_name, &s->result));
  if (!s->unknown) widen_accumulator(s);
  FOLD_TRY(method(r, &s->method));
  FOLD_TRY(factor_dtype(r, s, &s->factor));
  FOLD_TRY(text_at(r, "order", &s->order));
  FOLD_TRY(text_at(r, "same_bits_as", &s->twin));
  FOLD_TRY(text_at(r, "claims", &promised));
  const bool is_usual = promised == NULL;
  if (is_usual) promised = s->unknown ? ROWS_CLAIMS : USUAL_CLAIMS;
  FOLD_TRY(flag_at(r, "strides", &s->strides));
  s->strides = s->strides && r->guest->door->strides;
  FOLD_TRY(flag_at(r, "finite", &s->finite));
  s->finite = s->finite || r->guest->finite;
  FOLD_TRY(flag_at(r, "skips_nan", &s->skips_nan));
  FOLD_TRY(flag_at(r, "wraps", &s->wraps));
  s->claims = r->guest->door->tidy;
  FOLD_TRY(fold_within(add_claims(promised, true, s), "%s: %s", r->guest->what, r->name));
  if (is_usual || !r->guest->door->here) s->named = 0; /* the table of this process is its user's */
  FOLD_TRY(add_limits(r, wants, s));
  uint64_t declared = s->twin ? FOLD_CLAIM(FOLD_SAME_BITS_AS) : 0; /* a twin is named for nothing else */
  if (is_usual && fold_replay_check(s).code == FOLD_OK) declared |= FOLD_CLAIM(FOLD_REPLAYS) & ~fold_guest_unseen(s);
  s->claims |= declared;
  s->asked |= declared;
  if (wants && wants->also) FOLD_TRY(add_unnamed(wants->also, s));
  return wants && wants->claims ? add_claims(wants->claims, false, s) : fold_ok();
}

const char *fold_guest_other_field(const json_t *object, const char *const fields[]) {
  const char *field;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, field, value) {
    int i = 0;
    while (fields[i] && strcmp(field, fields[i]) != 0) i++;
    if (fields[i] == NULL) return field;
  }
  return NULL;
}

/* Refuses an unknown field, which would otherwise be ignored without a word. */
static fold_status check_fields(const struct reading *r) {
  static const char *const fields[] = {"name",   "about",     "problems", "dtypes",       "accumulator",
                                       "result", "order",     "claims",   "engine",       "same_bits_as",
                                       "method", "scratch",   "strides",  "finite",       "accurate_as",
                                       "ulps",   "skips_nan", "wraps",    "factor_dtype", NULL};
  const char *other = fold_guest_other_field(r->entry, fields);
  char meant[160];
  if (other == NULL) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%s: %s: a table has no field '%.60s'%s", r->guest->what, r->name, other,
                    fold_did_you_mean_of(other, fields, meant));
}

static fold_status read_entry(const struct fold_guest *guest, const json_t *entry, size_t index,
                              const struct fold_wants *wants, struct fold_subject *s) {
  char number[40];
  snprintf(number, sizeof number, "subject %zu", index + 1);
  struct reading r = {.guest = guest, .entry = entry, .name = number};
  const char *name, *problems;
  bool has_scratch;
  FOLD_TRY(text_at(&r, "name", &name));
  if (name == NULL) return fold_error(FOLD_BAD_INPUT, "%s: its %s has no name", guest->what, number);
  r.name = name;
  FOLD_TRY(check_fields(&r));
  FOLD_TRY(text_at(&r, "problems", &problems));
  FOLD_TRY(flag_at(&r, "scratch", &has_scratch));
  struct fold_guest_row *row = malloc(sizeof *row);
  if (row == NULL) return fold_no_memory("for a guest's table");
  *row = (struct fold_guest_row){.guest = guest,
                                 .text = json_incref((json_t *)(uintptr_t)entry),
                                 .name = r.name,
                                 .index = index,
                                 .has_scratch = has_scratch};
  *s = (struct fold_subject){.name = r.name,
                             .guest = row,
                             .unknown = problems && strcmp(problems, "rows") == 0,
                             .why_skipped = guest->door->unseen,
                             .any_thread = guest->door->any_thread,
                             .run = guest->door->run};
  if (row->has_scratch) s->scratch = guest->door->scratch;
  return read_row(&r, wants, s);
}

void fold_guest_rows_put_away(struct fold_subject *rows, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct fold_guest_row *row = (struct fold_guest_row *)(uintptr_t)rows[i].guest;
    if (row) json_decref(row->text), free(row->renamed);
    free(row);
  }
}

fold_status fold_guest_rows(const struct fold_guest *guest, const char *json, const struct fold_wants *wants,
                            struct fold_subject **rows, size_t *n) {
  json_error_t error;
  json_t *table = json_loads(json, 0, &error);
  const json_t *list = json_object_get(table, "subjects");
  fold_status status = fold_ok();
  *n = json_array_size(list);
  *rows = calloc(*n + 1, sizeof **rows);
  if (table == NULL)
    status = fold_error(FOLD_BAD_INPUT, "%s: its table is not JSON: %s", guest->what, error.text);
  else if (*n == 0)
    status = fold_error(FOLD_BAD_INPUT, "%s: its table has no subject", guest->what);
  else if (*rows == NULL)
    status = fold_no_memory("for a guest's table");
  for (size_t i = 0; i < *n && status.code == FOLD_OK; i++)
    status = read_entry(guest, json_array_get(list, i), i, wants, &(*rows)[i]);
  if (*rows == NULL) *n = 0;
  json_decref(table); /* each row keeps its entry */
  return status;
}
