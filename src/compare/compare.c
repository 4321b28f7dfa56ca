/* compare.c: reduces records to a few words each, sorts them, and joins both sides. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* --- reading */

static XXH128_hash_t add_to_key(XXH128_hash_t key, const json_t *r, const char *part) {
  const json_t *text = json_object_get(r, part);
  const size_t n = json_string_length(text);
  return XXH3_128bits_withSeed(n ? json_string_value(text) : "", n, key.low64 ^ key.high64 ^ (n << 32));
}

/* A hash of a value, however it is formatted; `hash` where there is none. */
static uint64_t add_to_hash(uint64_t hash, const json_t *r, const char *part) {
  const json_t *value = json_object_get(r, part);
  if (value == NULL) return hash;
  if (json_is_string(value)) return XXH3_64bits_withSeed(json_string_value(value), json_string_length(value), hash);
  const json_int_t number = json_integer_value(value);
  if (json_is_integer(value)) return XXH3_64bits_withSeed(&number, sizeof number, hash);
  char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
  const uint64_t added = XXH3_64bits_withSeed(text ? text : "", text ? strlen(text) : 0, hash);
  free(text);
  return added;
}

static bool same(const struct fold_compared *a, const struct fold_compared *b) {
  return a->broken == b->broken && a->results == b->results;
}

/* Appends a result. A case is judged on many claims with the same results, so that equal neighbours are stored once. */
static fold_status append(struct fold_side *s, const struct fold_compared *c) {
  for (size_t back = 1; back <= 2 && back <= s->n; back++) {
    const struct fold_compared *last = &s->at[s->n - back];
    if (XXH128_isEqual(last->key, c->key) && same(last, c) && last->input == c->input && last->told == c->told)
      return fold_ok();
  }
  struct fold_compared *added = fold_list_grow(&s->at, &s->n, &s->room, sizeof *added);
  if (added == NULL) return fold_no_memory("for the records");
  *added = *c;
  return fold_ok();
}

/* A hash of what the case is and of how the subject declares to sum. The declarations of two engines may differ. */
static uint32_t told_of(const json_t *r, bool across) {
  static const char *const keys[] = {"dtype", "result_dtype", "op",          "rows",        "cols",
                                     "order", "method",       "accumulator", "factor_dtype"};
  const size_t n = across ? 5 : sizeof keys / sizeof *keys;
  uint64_t hash = 1;
  if (json_integer_value(json_object_get(r, "schema")) < 2) return 0;
  for (size_t i = 0; i < n; i++) hash = add_to_hash(hash + i, r, keys[i]);
  return (uint32_t)(hash >> 32) | 1;
}

/* What else the run did, as bits. Where it did so, and the words, may depend on chance and are left out. */
static uint64_t traces_of(const json_t *r) {
  static const char *const keys[] = {"out_of_bounds", "wrote_input", "left"};
  uint64_t traces = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    traces |= (uint64_t)(json_object_get(r, keys[i]) != NULL) << i;
  return traces;
}

static uint64_t results_of(const json_t *r) {
  static const char *const keys[] = {"results_xxh3", "unwritten", "ranks_differ"};
  uint64_t hash = 1;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) hash = add_to_hash(hash, r, keys[i]);
  return hash + traces_of(r);
}

static bool says(const json_t *r, const char *key, const char *text) {
  return strcmp(fold_record_text(r, key), text) == 0;
}

struct reading {
  struct fold_side *side;
  bool across;
};

static fold_status add_verdict(struct fold_side *s, const json_t *r, const struct fold_compared *result) {
  const bool held = says(r, "verdict", "held");
  struct fold_compared verdict = *result;
  if (!*fold_record_text(r, "claim") || (!held && !says(r, "verdict", "refuted"))) return fold_ok();
  verdict.key = add_to_key(result->key, r, "claim");
  verdict.verdict = true;
  verdict.results = held ? 1 : 2;
  return append(s, &verdict);
}

static fold_status take(void *context, json_t *r, size_t line) {
  const struct reading *reading = context;
  struct fold_side *s = reading->side;
  const uint32_t number = (uint32_t)s->lines.lines - 1;
  if (says(r, "type", "environment") && !s->environment) s->environment = json_incref(r);
  if (s->engine && !says(r, "engine", s->engine)) return fold_ok();
  if (s->takes && !s->takes(s->context, r)) return fold_ok();
  const bool hash = *fold_record_text(r, "results_xxh3");
  struct fold_compared c = {.line = (uint32_t)line, .number = number};
  c.broken = !hash && says(r, "verdict", "broken");
  if (!hash && !c.broken) return fold_ok();
  if (!*fold_record_text(r, "subject") || !*fold_record_text(r, "case") || !*fold_record_text(r, "input_xxh3"))
    return fold_error(FOLD_BAD_INPUT, "results need the keys subject, case and input_xxh3");
  if (hash) FOLD_TRY(fold_record_check_results(r));
  c.key = add_to_key(add_to_key((XXH128_hash_t){0, 0}, r, "subject"), r, "case");
  c.told = told_of(r, reading->across);
  if (!reading->across) c.key = add_to_key(c.key, r, "engine");
  /* a run that broke may also have a broken input */
  if (!c.broken) c.input = add_to_hash(1, r, "input_xxh3"), c.results = results_of(r);
  FOLD_TRY(append(s, &c));
  return c.broken ? fold_ok() : add_verdict(s, r, &c);
}

static int by_key(const void *a, const void *b) {
  const struct fold_compared *l = a, *r = b;
  if (l->key.high64 != r->key.high64) return l->key.high64 < r->key.high64 ? -1 : 1;
  if (l->key.low64 != r->key.low64) return l->key.low64 < r->key.low64 ? -1 : 1;
  if (l->input != r->input) return l->input < r->input ? -1 : 1;
  return (l->number > r->number) - (l->number < r->number);
}

static void read_side(struct fold_comparison *c, int k) {
  struct fold_side *s = &c->side[k];
  struct reading reading = {s, c->across};
  s->status = fold_lines_read(s->path, take, &reading, &s->lines);
  if (s->n) qsort(s->at, s->n, sizeof *s->at, by_key);
}

/* --- comparing */

/* What each side holds for one subject and case (or claim). One of the sides may be empty. */
struct group {
  const struct fold_compared *at[2];
  size_t n[2];
};

static fold_status found(struct fold_comparison *c, enum fold_change what, const struct fold_compared *a,
                         const struct fold_compared *b) {
  if (c->ignore[what]) return fold_ok();
  c->n[what]++;
  struct fold_changed *added = fold_list_grow(&c->changed, &c->n_changed, &c->room, sizeof *added);
  if (added == NULL) return fold_no_memory("for the records");
  *added = (struct fold_changed){
      .what = what, .line = {a ? a->line : 0, b ? b->line : 0}, .number = {a ? a->number : 0, b ? b->number : 0}};
  return fold_ok();
}

/* How many entries, from the first on, have the same input. */
static size_t same_input(const struct fold_compared *e, size_t n) {
  size_t end = 1;
  while (end < n && e[end].input == e->input) end++;
  return end;
}

/* Finds, among all entries of one input, a pair with different results; NULL in both if there is none. */
static void find_pair(const struct group *g, const struct fold_compared *pair[2]) {
  const struct fold_compared *first = g->at[0];
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < g->n[k]; i++)
      if (!same(first, &g->at[k][i])) {
        pair[0] = k || same(&g->at[0][i], g->at[1]) ? first : &g->at[0][i];
        pair[1] = k ? &g->at[1][i] : g->at[1];
        return;
      }
}

/* Finds two records that use one name for different cases or subjects; NULL in both if there are none. */
static void find_other(const struct group *g, const struct fold_compared *pair[2]) {
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < g->n[k]; i++) {
      const struct fold_compared *first = g->at[!k], *other = &g->at[k][i];
      if (!first->told || !other->told || first->told == other->told) continue;
      pair[k] = other;
      pair[!k] = first;
      return;
    }
}

/* The inputs are sorted on both sides. An input that only one of them has means that the case has changed. */
static fold_status compare_group(struct fold_comparison *c, const struct group *g) {
  const struct fold_compared *a = g->at[0], *b = g->at[1], *pair[2] = {NULL, NULL};
  const struct fold_compared *const ends[2] = {a + g->n[0], b + g->n[1]};
  const bool verdict = a->verdict;
  if (a->broken || b->broken) { /* broken runs sort first */
    if (!ends[0][-1].broken || !ends[1][-1].broken)
      return found(c, FOLD_CHANGED_RESULTS, a->broken ? a : ends[0] - 1, b->broken ? b : ends[1] - 1);
    c->broken++;
    return fold_ok();
  }
  while (a < ends[0] && b < ends[1] && a->input == b->input) {
    struct group one = {{a, b}, {same_input(a, (size_t)(ends[0] - a)), same_input(b, (size_t)(ends[1] - b))}};
    if (!pair[0]) find_pair(&one, pair);
    a += one.n[0];
    b += one.n[1];
  }
  const bool changed = a < ends[0] || b < ends[1];
  if (a == ends[0]) a--;
  if (b == ends[1]) b--;
  if (verdict) {
    c->verdicts++;
    return pair[0] && !changed ? found(c, FOLD_CHANGED_VERDICT, pair[0], pair[1]) : fold_ok();
  }
  if (changed) return found(c, FOLD_CHANGED_INPUT, a, b);
  if (pair[0]) return found(c, FOLD_CHANGED_RESULTS, pair[0], pair[1]);
  find_other(g, pair);
  if (pair[0]) return found(c, FOLD_CHANGED_INPUT, pair[0], pair[1]);
  c->agree++;
  return fold_ok();
}

static size_t group_length(const struct fold_compared *e, const struct fold_compared *end) {
  size_t n = 1;
  while (e + n < end && XXH128_isEqual(e[n].key, e->key)) n++;
  return n;
}

static int by_number(const void *a, const void *b) {
  const struct fold_changed *l = a, *r = b;
  const int only = (l->what == FOLD_ONLY_FIRST) - (r->what == FOLD_ONLY_FIRST), k = l->what != FOLD_ONLY_FIRST;
  return only ? -only : (l->number[k] > r->number[k]) - (l->number[k] < r->number[k]);
}

static fold_status join(struct fold_comparison *c) {
  const struct fold_compared *at[2], *end[2];
  for (int k = 0; k < 2; k++) {
    at[k] = c->side[k].at;
    end[k] = at[k] + c->side[k].n;
  }
  while (at[0] < end[0] || at[1] < end[1]) {
    const int d = at[0] == end[0] ? 1 : at[1] == end[1] ? -1 : XXH128_cmp(&at[0]->key, &at[1]->key);
    struct group g = {{at[0], at[1]}, {0, 0}};
    for (int k = 0; k < 2; k++) {
      if (k ? d < 0 : d > 0) continue;
      g.n[k] = group_length(at[k], end[k]);
      at[k] += g.n[k];
    }
    if (g.n[0] && g.n[1])
      FOLD_TRY(compare_group(c, &g));
    else if (!g.at[g.n[0] == 0]->verdict) /* a verdict that only one side has says nothing */
      FOLD_TRY(found(c, g.n[0] ? FOLD_ONLY_FIRST : FOLD_ONLY_SECOND, g.n[0] ? g.at[0] : NULL, g.n[0] ? NULL : g.at[1]));
  }
  if (c->n_changed) qsort(c->changed, c->n_changed, sizeof *c->changed, by_number);
  return fold_ok();
}

fold_status fold_compare(struct fold_comparison *c) {
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int k = 0; k < 2; k++) read_side(c, k);
  for (int k = 0; k < 2; k++) FOLD_TRY(c->side[k].status);
  return join(c);
}

void fold_comparison_free(struct fold_comparison *c) {
  for (int k = 0; k < 2; k++) {
    free(c->side[k].at);
    json_decref(c->side[k].environment);
  }
  free(c->changed);
}
