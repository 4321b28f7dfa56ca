/* report/worlds.c: one sum, and one all-reduce of a vector, over worlds of several sizes. It needs records of types
 * "validation" and "validation_vector".
 *
 * A row is a subject on one input (the seed is part of that), a column is a world. A cell says how many numbers its sum is away from
 * that of the world of one rank, or how many elements have different bits than the canonical order over ranks. The row ends with the
 * worst of its errors, also over worlds without a column. Then follow each world, for a terminal, and each subject over all tables.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"
#include "report/index.h"
#include "report/section.h"

enum { MOST_WORLDS = 16 }; /* the smallest worlds have a column each */

typedef struct fold_model_validation result;

static bool is_vector(const result *v) { return strcmp(v->type, "validation_vector") == 0; }

/* 0 / 0 counts as 0: nothing was rounded. */
static double part(double error, double bound) { return error == 0 ? 0 : error / bound; }

/* A table is for one machine, kind, library and length. */
#define BY(member) FOLD_BY(fold_model_validation, member)
enum { TABLE = 5, ROW = 9 };
static const struct fold_keys keys = {sizeof(result),
                                      {BY(environment), BY(type), BY(engine), BY(library), BY(n), BY(generator),
                                       BY(seed), BY(dtype), BY(subject), BY(workers)}};

/* The sizes of the worlds, in rising order; there is room for n. */
static size_t worlds_of(const result *v, size_t n, double *worlds) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) worlds[i] = v[i].workers;
  fold_list_rise(worlds, n);
  for (size_t i = 0; i < n; i++)
    if (found == 0 || worlds[found - 1] != worlds[i]) worlds[found++] = worlds[i];
  return found;
}

/* Whether the result has these bits. A record may hold anything instead of a bit pattern. */
static bool has_bits(const result *v, const char *bits) {
  const int dtype = fold_dtype_parse(v->dtype);
  return dtype >= 0 && bits[0] && v->got[0] &&
         fold_bits_same((enum fold_dtype)dtype, strtoull(v->got, NULL, 16), strtoull(bits, NULL, 16));
}

/* The text for one result. */
static const char *cell_text(const result *v, char text[48]) {
  int dtype = fold_dtype_parse(v->dtype);
  char count[32];
  if (strcmp(v->verdict, "skipped") == 0) return "skipped";
  if (is_vector(v)) {
    snprintf(text, 48, "%.30s", fold_text_grouped(v->not_canonical, count));
  } else if (dtype < 0 || !v->got[0] || !v->one_rank[0]) {
    snprintf(text, 48, "-");
  } else {
    uint64_t got = strtoull(v->got, NULL, 16), one = strtoull(v->one_rank, NULL, 16);
    double apart = (double)fold_bits_distance((enum fold_dtype)dtype, got, one);
    snprintf(text, 48, "%s", has_bits(v, v->one_rank) ? "same" : fold_text_count(apart, count));
  }
  return text;
}

/* The error over its bound. */
static double fraction_of(const result *v) { return is_vector(v) ? v->error : part(v->error, v->bound); }

static double worse(double a, double b) { return isnan(a) || b > a ? b : a; }

static void add_row(struct fold_sheet *sheet, const result *v, size_t n, const double *worlds, size_t n_worlds) {
  double ulps = NAN, relative = NAN, fraction = NAN, join = NAN, distance = NAN;
  size_t promised = 0, kept = 0;
  bool bad = false;
  char text[48];
  for (size_t i = 0; i < n; i++) {
    ulps = worse(ulps, v[i].ulps);
    relative = worse(relative, v[i].relative);
    fraction = worse(fraction, fraction_of(&v[i]));
    join = worse(join, part(v[i].join_error, v[i].join_bound));
    distance = worse(distance, v[i].distance);
    promised += v[i].promised_bits[0] != '\0';
    kept += has_bits(&v[i], v[i].promised_bits);
    bad |= strcmp(v[i].verdict, "refuted") == 0;
  }
  snprintf(text, sizeof text, "%lld", v->seed);
  FOLD_ROW(sheet, T(v->subject), T(v->generator), T(v->seed < 0 ? "-" : text), T(v->dtype));
  for (size_t k = 0; k < n_worlds; k++) {
    const result *at = NULL;
    for (size_t i = 0; i < n; i++)
      if (v[i].workers == worlds[k]) at = &v[i];
    FOLD_ROW(sheet, T(at ? cell_text(at, text) : ""));
  }
  snprintf(text, sizeof text, promised ? "%zu of %zu" : "-", kept, promised);
  if (!is_vector(v)) FOLD_ROW(sheet, T(text));
  FOLD_ROW(sheet, N(is_vector(v) ? distance : join), N(ulps), N(relative), N(fraction));
  if (bad) fold_sheet_mark(sheet, "bad");
}

static void open_table(struct fold_sheet *sheet, const struct fold_model *m, const result *v, const double *worlds,
                       size_t n_worlds, size_t shown) {
  char title[FOLD_SHEET_TITLE], count[32], place[200];
  fold_text_place(m, v->environment, place);
  int used = snprintf(title, sizeof title, "%s of %s %s; %.60s%s%s%s", is_vector(v) ? "An all-reduce" : "One sum",
                      fold_text_grouped(v->n, count),
                      is_vector(v) ? "elements, a term of each on every rank: how many have different bits than the "
                                     "canonical order over ranks"
                                   : "terms cut over ranks: how many numbers the result is from one rank's",
                      v->library, place[0] ? " (" : "", place, place[0] ? ")" : "");
  if (shown < n_worlds && used < (int)sizeof title)
    snprintf(title + used, sizeof title - (size_t)used,
             "; %zu larger world%s, up to %.0f ranks, have no column: their errors count", n_worlds - shown,
             n_worlds - shown == 1 ? "" : "s", worlds[n_worlds - 1]);
  fold_sheet_open(sheet, title, "Subject;^Data;^Seed;^dtype");
  for (size_t k = 0; k < shown; k++) {
    snprintf(title, sizeof title, "%.0f rank%s", worlds[k], worlds[k] == 1 ? "" : "s");
    fold_sheet_columns(sheet, title);
  }
  fold_sheet_columns(
      sheet, is_vector(v) ? "=Farthest / sum |x|" : "Bits as claimed;=Joining the ranks' own sums: error / bound");
  fold_sheet_columns(sheet, "=Worst error (ulps);=Error / sum |x|;=Error / bound");
}

/* Writes what the table above leaves out: each world's result and errors, and what was refuted there. */
static fold_status put_each(const result *v, size_t n, enum fold_report_format format, size_t most, FILE *out) {
  struct fold_sheet sheet;
  fold_sheet_open(&sheet, "In each world", "Subject;#Ranks;^Data;^Seed;^dtype;Result");
  fold_sheet_columns(&sheet, is_vector(v) ? "Not canonical;=Farthest / sum |x|"
                                          : "From one rank's;=Joining the ranks' own sums: error / bound");
  fold_sheet_columns(&sheet, "=Error (ulps);=Error / sum |x|;=Error / bound;Judged");
  for (size_t i = 0; i < n; i++) {
    const struct fold_model_timed told = {.verdict = v[i].verdict, .note = v[i].note};
    char cell[48], seed[32], judged[500];
    const bool bad = fold_text_judged(&told, judged);
    snprintf(seed, sizeof seed, "%lld", v[i].seed);
    FOLD_ROW(&sheet, T(v[i].subject), N(v[i].workers), T(v[i].generator), T(v[i].seed < 0 ? "-" : seed), T(v[i].dtype),
             T(v[i].got), T(cell_text(&v[i], cell)),
             N(is_vector(v) ? v[i].distance : part(v[i].join_error, v[i].join_bound)), N(v[i].ulps), N(v[i].relative),
             N(fraction_of(&v[i])), T(judged));
    if (bad) fold_sheet_mark(&sheet, "bad");
  }
  return fold_sheet_put(&sheet, format, most, out);
}

/* The results of one subject, over all tables. */
struct total {
  const result *first;
  size_t sums, of_one, like_one, promised, kept, vectors, refuted;
  double fraction, elements, differ;
};

static void count_result(struct total *t, const result *v) {
  t->refuted += strcmp(v->verdict, "refuted") == 0;
  if (strcmp(v->verdict, "skipped") == 0) return;
  t->fraction = worse(t->fraction, fraction_of(v));
  t->promised += v->promised_bits[0] != '\0';
  t->kept += has_bits(v, v->promised_bits);
  t->sums += !is_vector(v);
  t->of_one += v->one_rank[0] && v->workers > 1;
  t->like_one += v->workers > 1 && has_bits(v, v->one_rank);
  t->vectors += is_vector(v);
  if (is_vector(v)) t->elements += v->n, t->differ += v->not_canonical;
}

static void add_total(struct fold_sheet *sheet, const struct total *t) {
  const double no_vector = t->vectors ? 0 : NAN;
  char one[60] = "", must[60] = "";
  if (t->of_one) snprintf(one, sizeof one, "%zu of %zu", t->like_one, t->of_one);
  if (t->promised) snprintf(must, sizeof must, "%zu of %zu", t->kept, t->promised);
  FOLD_ROW(sheet, T(t->first->subject), N(t->sums ? (double)t->sums : NAN), T(one), T(must),
           N((double)t->vectors + no_vector), N(t->elements + no_vector), N(t->differ + no_vector), N(t->fraction),
           N(t->refuted ? (double)t->refuted : NAN));
  if (t->refuted) fold_sheet_mark(sheet, "bad");
}

/* The subject's total; NULL if memory is short. Equal names have equal addresses in the model. */
static struct total *find_total(struct total *totals, size_t *n, json_t **index, const result *v) {
  char key[64];
  const size_t length = (size_t)snprintf(key, sizeof key, "%p %p", (const void *)v->subject, (const void *)v->engine);
  const json_int_t known = fold_index_find(*index, key, length);
  if (known >= 0) return &totals[known];
  if (!fold_index_add(index, key, length, *n)) return NULL;
  totals[*n] = (struct total){.first = v, .fraction = NAN};
  return &totals[(*n)++];
}

/* Adds subjects in the sequence in which they appear. */
static void fill_subjects(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "Sums over worlds, by subject",
                  "Subject;#Sums;With one rank's bits;Bits as claimed;#All-reduces;#Elements;#Not in the canonical "
                  "order;=Error / bound at most;#Refuted");
  struct total *totals = malloc(m->n_validations * sizeof *totals), *total;
  json_t *index = NULL;
  size_t n = 0;
  sheet->failed = totals == NULL;
  for (size_t i = 0; i < m->n_validations && !sheet->failed; i++) {
    total = find_total(totals, &n, &index, &m->validations[i]);
    if (total) count_result(total, &m->validations[i]);
    sheet->failed = total == NULL;
  }
  for (size_t i = 0; i < n; i++) add_total(sheet, &totals[i]);
  json_decref(index);
  free(totals);
}

fold_status fold_sheets_worlds(const struct fold_model *m, enum fold_report_format format, size_t most, FILE *out) {
  const size_t n = m->n_validations;
  if (n == 0) return fold_ok();
  result *v = fold_keys_sorted(&keys, m->validations, n);
  double *worlds = malloc(n * sizeof *worlds);
  fold_status status = v && worlds ? fold_ok() : fold_no_memory("for the worlds");
  for (size_t i = 0, end; i < n && status.code == FOLD_OK; i = end) {
    end = fold_keys_end(&keys, TABLE, v, i, n);
    struct fold_sheet sheet;
    const size_t n_worlds = worlds_of(v + i, end - i, worlds), shown = n_worlds < MOST_WORLDS ? n_worlds : MOST_WORLDS;
    open_table(&sheet, m, v + i, worlds, n_worlds, shown);
    for (size_t k = i, row; k < end; k = row) {
      row = fold_keys_end(&keys, ROW, v, k, end);
      add_row(&sheet, v + k, row - k, worlds, shown);
    }
    status = fold_sheet_put(&sheet, format, most, out);
    if (status.code == FOLD_OK && format == FOLD_REPORT_TEXT) status = put_each(v + i, end - i, format, most, out);
  }
  free(worlds);
  free(v);
  return status.code == FOLD_OK ? fold_view_put(fill_subjects, m, format, most, out) : status;
}

fold_status fold_page_worlds(struct fold_page *page) {
  fputs("<details><summary>Bits and errors, by number of ranks</summary>\n", page->out);
  FOLD_TRY(fold_sheets_worlds(page->model, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  fputs("</details>", page->out);
  return fold_ok();
}
