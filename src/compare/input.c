/* compare/input.c: makes a record's input again. */
#include <stdlib.h>
#include <string.h>

#include "compare/again.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "records/record.h"

fold_status fold_again_open(struct fold_again *a, const struct fold_registry *own, const char *folder) {
  *a = (struct fold_again){.own = own, .folder = folder};
  return fold_case_index_open(&a->fixtures, folder);
}

static void drop_made(struct fold_again *a) {
  if (a->remade.c == &a->made) fold_remade_free(&a->remade);
  free(a->made.name);
  a->made = (struct fold_case){0};
}

void fold_again_close(struct fold_again *a) {
  fold_remade_free(&a->remade);
  drop_made(a);
  fold_cases_free(&a->array);
  fold_case_index_close(&a->fixtures);
  for (size_t i = 0; i < a->subjects.n; i++) {
    free((char *)(uintptr_t)a->subjects.subjects[i].name);
    free((char *)(uintptr_t)a->subjects.subjects[i].twin);
    free((char *)(uintptr_t)a->subjects.subjects[i].accurate_as);
  }
  free((void *)(uintptr_t)a->subjects.subjects);
  free(a->extremes);
  *a = (struct fold_again){0};
}

static bool read_size(const json_t *record, const char *key, size_t *size) {
  const json_t *value = json_object_get(record, key);
  *size = json_is_integer(value) ? (size_t)json_integer_value(value) : 0;
  return json_is_integer(value) && json_integer_value(value) >= 0;
}

/* The extents where results are not rows: `rows` is the number of results. */
static bool read_shape(const json_t *record, struct fold_case *c) {
  const size_t results = c->rows;
  const json_t *shape = json_object_get(record, "shape");
  if (fold_results_are_rows(c->problem)) return true;
  for (size_t a = 0, all = 1; a < FOLD_AXES; a++) {
    const json_int_t extent = json_integer_value(json_array_get(shape, a));
    if (!json_is_integer(json_array_get(shape, a)) || extent < 0) return false;
    c->shape.at[a] = (size_t)extent;
    if (__builtin_mul_overflow(all, c->shape.at[a] + 1, &all) || all > (size_t)1 << 40) return false;
  }
  return fold_case_results(c) == results;
}

/* Reads the case from a record. Sizes whose product exceeds any memory are refused before anything is made of them. */
static fold_status read_case(const json_t *record, struct fold_case *c) {
  const int dtype = fold_dtype_parse(fold_record_text(record, "dtype"));
  const json_t *seed = json_object_get(record, "seed"), *condition = json_object_get(record, "condition");
  size_t ranks, n;
  *c = (struct fold_case){.problem = fold_problem_find(fold_record_text(record, "op"))};
  if (dtype < 0 || c->problem == NULL || !read_size(record, "rows", &c->rows) || !read_size(record, "cols", &c->cols))
    return fold_error(FOLD_BAD_INPUT, "its dtype, op, rows and cols name no input");
  if (!read_shape(record, c)) return fold_error(FOLD_BAD_INPUT, "its shape, rows and cols do not go together");
  if (__builtin_mul_overflow(c->rows, c->cols, &n) || n > (size_t)1 << 36)
    return fold_error(FOLD_BAD_INPUT, "%zu x %zu terms are too many", c->rows, c->cols);
  c->dtype = (enum fold_dtype)dtype;
  if (read_size(record, "ranks", &ranks)) c->ranks = (unsigned)ranks;
  c->source = (struct fold_source){.generator = fold_generator_find(fold_record_text(record, "generator")),
                                   .dtype = c->dtype,
                                   .seed = (uint64_t)json_integer_value(seed),
                                   .cols = c->cols,
                                   .condition = json_number_value(condition)};
  return fold_ok();
}

fold_status fold_again_case(const json_t *record, struct fold_case *c) {
  FOLD_TRY(read_case(record, c));
  c->name = strdup(fold_record_text(record, "case"));
  return c->name ? fold_ok() : fold_no_memory("for a case");
}

static bool is_same(const struct fold_case *a, const struct fold_case *b) {
  return a->dtype == b->dtype && a->problem == b->problem && fold_case_results(a) == fold_case_results(b) &&
         a->rows == b->rows && a->cols == b->cols && a->source.generator == b->source.generator &&
         (!a->source.generator || (a->source.seed == b->source.seed && a->source.condition == b->source.condition));
}

/* Finds the case of an array whose file is still where it was. */
static fold_status find_array(struct fold_again *a, const char *path, const struct fold_case *told,
                              const struct fold_case **found) {
  if (a->array.n == 0 || a->array.at->ranks != told->ranks || strcmp(a->array.at->npy, path) != 0 ||
      !is_same(a->array.at, told)) {
    fold_remade_free(&a->remade);
    fold_cases_free(&a->array);
    fold_status status = fold_cases_add_npy(path, told->problem, told->ranks, &a->array);
    if (status.code == FOLD_NO_MEMORY) return status;
    if (status.code != FOLD_OK) return fold_error(FOLD_UNSUPPORTED, "%s", status.text);
  }
  *found = a->array.at;
  return is_same(*found, told) ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "the array of that name differs here");
}

/* Finds the case: the fixture's if it is as the record describes it, or else one made from the record alone. */
static fold_status find_case(struct fold_again *a, const json_t *record, const struct fold_case **found) {
  struct fold_case told;
  const char *name = fold_record_text(record, "case");
  FOLD_TRY(read_case(record, &told));
  *found = fold_case_index_find(&a->fixtures, name);
  if (*found && is_same(*found, &told)) return fold_ok();
  if (a->remade.c == &a->made && a->made.name && strcmp(a->made.name, name) == 0 && is_same(&a->made, &told)) {
    *found = &a->made;
    return fold_ok();
  }
  char *path = fold_recorded_array(name);
  if (path) {
    fold_status status = find_array(a, path, &told, found);
    free(path);
    return status;
  }
  if (told.source.generator == NULL)
    return fold_error(FOLD_UNSUPPORTED, *found ? "the fixture of that name differs here"
                                               : "its terms have no generator and no fixture here");
  FOLD_TRY(fold_source_check(&told.source));
  drop_made(a);
  told.name = strdup(name);
  a->made = told;
  *found = &a->made;
  return told.name ? fold_ok() : fold_no_memory("for a case");
}

bool fold_again_misnamed(const struct fold_again *a, const json_t *record, char what[160]) {
  const struct fold_case *here = fold_case_index_find(&a->fixtures, fold_record_text(record, "case"));
  const char *said = fold_record_text(record, "generator");
  if (here == NULL || fold_again_is_old(record)) return false;
  const char *own = here->source.generator ? here->source.generator->name : "";
  snprintf(what, 160, "generator '%.40s', and the fixture of its name has '%s' (see --fixture-folder)", said, own);
  return strcmp(said, own) != 0;
}

fold_status fold_again_input(struct fold_again *a, const json_t *record) {
  const struct fold_case *c;
  char hash[24];
  FOLD_TRY(find_case(a, record, &c));
  FOLD_TRY(fold_remake(&a->remade, c));
  fold_record_hash(hash, a->remade.hash);
  if (strcmp(hash, fold_record_text(record, "input_xxh3")) == 0) return fold_ok();
  if (fold_again_is_old(record))
    return fold_error(
        FOLD_UNSUPPORTED,
        "its input is different when it is made again: the record is of schema 1, and generators changed since");
  return fold_error(FOLD_BAD_INPUT, "its input, made again, has hash %s, not %.30s", hash,
                    fold_record_text(record, "input_xxh3"));
}
