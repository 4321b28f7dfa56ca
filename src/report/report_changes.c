/* report_changes.c: this run's times against those of a run before it.
 *
 * Two times are compared if the same work was timed on the same kind of machine. One is called slower or faster only if the ranges
 * from 10 % to 90 % of both runs do not meet: the ratio then differs from 1 by more than either run's own spread. Nothing is inferred
 * where a spread is missing, or where a time is doubtful.
 */
#include "report_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "report_lines.h"
#include "report_section.h"
#include "schema.h"

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the report"); }

/* All that a time depends on but the code, the libraries and the driver, which are what is compared. */
static void put_key(const struct fold_model *m, const json_t *record, int environment, FILE *out) {
  static const enum fold_field fields[] = {
      FOLD_FIELD_type,    FOLD_FIELD_subject, FOLD_FIELD_engine, FOLD_FIELD_dtype,
      FOLD_FIELD_op,      FOLD_FIELD_mode,    FOLD_FIELD_n,      FOLD_FIELD_bytes,
      FOLD_FIELD_rows,    FOLD_FIELD_cols,    FOLD_FIELD_seed,   FOLD_FIELD_workers,
      FOLD_FIELD_threads, FOLD_FIELD_setting, FOLD_FIELD_world,  FOLD_FIELD_generator};
  const json_t *e = environment < 0 ? NULL : m->environments[environment];
  char machine[160];
  fprintf(out, "%s|%s|%lld", fold_text_machine(m, environment, machine), fold_record_text(e, "cpu"),
          (long long)json_integer_value(json_object_get(e, "cores")));
  /* Of an unknown machine nothing can be compared: no other time has this key. */
  if (json_array_size(json_object_get(e, "gpus")) == 0 && fold_record_text(e, "cpu")[0] == '\0')
    fprintf(out, "|%p %zu", (const void *)m, m->n_times);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const json_t *value = json_object_get(record, fold_fields[fields[i]].key);
    fputc('|', out);
    if (json_is_string(value)) fputs(json_string_value(value), out);
    if (json_is_number(value)) fprintf(out, "%.17g", json_number_value(value));
  }
}

static const char *make_key(struct fold_model *m, const json_t *record, int environment) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  put_key(m, record, environment, out);
  const char *key = fclose(out) == 0 ? fold_model_word(m, text) : NULL;
  free(text);
  return key;
}

/* "strong scaling, f32 sum of normal data", "all-reduce, f32 sum, ring". */
static const char *say_what(const json_t *record, char text[200]) {
  const char *mode = fold_record_text(record, FOLD_KEY(mode)), *setting = fold_record_text(record, FOLD_KEY(setting));
  const char *data = fold_record_text(record, FOLD_KEY(generator));
  const bool vector = json_object_get(record, FOLD_KEY(bytes)) != NULL;
  snprintf(text, 200, "%s%.20s%s%.20s %.20s%s%.40s%s%s%.40s", vector ? "all-reduce, " : "", mode,
           mode[0] ? " scaling, " : "", fold_record_text(record, FOLD_KEY(dtype)),
           fold_record_text(record, FOLD_KEY(op)), data[0] ? " of " : "", data, data[0] ? " data" : "",
           setting[0] && strcmp(setting, "default") != 0 ? ", " : "", strcmp(setting, "default") != 0 ? setting : "");
  return text;
}

/* "1,000,000", "64 x 1,000", "1,024 bytes", and how many ranks or threads share the work. */
static const char *say_size(const json_t *record, char text[160]) {
  static const char *const counts[] = {"workers", "threads"}, *const names[] = {"rank", "thread"};
  char first[32], second[32];
  const double rows = fold_record_double(record, FOLD_KEY(rows)), cols = fold_record_double(record, FOLD_KEY(cols));
  const double bytes = fold_record_double(record, FOLD_KEY(bytes)), n = fold_record_double(record, FOLD_KEY(n));
  if (!isnan(bytes))
    snprintf(text, 160, "%s bytes", fold_text_grouped(bytes, first));
  else if (isnan(cols) || rows == 1)
    snprintf(text, 160, "%s", fold_text_grouped(isnan(cols) ? n : cols, first));
  else
    snprintf(text, 160, "%s x %s", fold_text_grouped(rows, first), fold_text_grouped(cols, second));
  for (int i = 0; i < 2; i++) {
    const double count = fold_record_double(record, counts[i]);
    const size_t used = strlen(text);
    if (count >= 1) snprintf(text + used, 160 - used, ", %.0f %s%s", count, names[i], count == 1 ? "" : "s");
  }
  return text;
}

fold_status fold_model_add_time(struct fold_model *m, const json_t *record, int environment) {
  const double median = fold_record_double(record, FOLD_KEY(median_seconds));
  const char *verdict = fold_record_text(record, FOLD_KEY(verdict));
  char subject[200], what[200], size[160];
  if (!(median > 0)) return fold_ok();
  snprintf(subject, sizeof subject, "%.110s on %.30s", fold_record_text(record, FOLD_KEY(subject)),
           fold_record_text(record, FOLD_KEY(engine)));
  struct fold_model_time *t = fold_list_grow(&m->times, &m->n_times, &m->room_times, sizeof *t);
  if (t)
    *t = (struct fold_model_time){.environment = environment,
                                  .key = make_key(m, record, environment),
                                  .subject = fold_model_word(m, subject),
                                  .what = fold_model_word(m, say_what(record, what)),
                                  .size = fold_model_word(m, say_size(record, size)),
                                  .median = median,
                                  .low = fold_record_double(record, FOLD_KEY(p10_seconds)),
                                  .high = fold_record_double(record, FOLD_KEY(p90_seconds)),
                                  .doubtful = json_is_true(json_object_get(record, FOLD_KEY(implausible))) ||
                                              json_is_true(json_object_get(record, FOLD_KEY(noisy))) ||
                                              strcmp(verdict, fold_verdict_name(FOLD_REFUTED)) == 0 ||
                                              strcmp(verdict, fold_verdict_name(FOLD_BROKEN)) == 0};
  if (t && t->key && t->subject && t->what && t->size) return fold_ok();
  return no_memory();
}

static int compare_times(const void *left, const void *right) {
  const struct fold_model_time *a = left, *b = right;
  const int d = strcmp(a->key, b->key);
  return d ? d : (a->median > b->median) - (a->median < b->median);
}

/* Each key once, sorted: what was timed several times has the middle median and the range of all. */
static struct fold_model_time *times_of(const struct fold_model *m, size_t *n) {
  struct fold_model_time *t = m->n_times ? fold_list_sorted(m->times, m->n_times, sizeof *t, compare_times) : NULL;
  *n = 0;
  for (size_t i = 0, end; t && i < m->n_times; i = end) {
    struct fold_model_time one = t[i];
    bool spread = true;
    for (end = i; end < m->n_times && strcmp(t[i].key, t[end].key) == 0; end++) {
      spread &= t[end].low <= t[end].high;
      one.low = fmin(one.low, t[end].low);
      one.high = fmax(one.high, t[end].high);
      one.doubtful |= t[end].doubtful;
    }
    if (!spread) one.low = one.high = NAN;
    one.median = t[i + (end - i) / 2].median;
    t[(*n)++] = one;
  }
  return t;
}

enum change { SLOWER, FASTER, WITHIN, NOT_COMPARED, CHANGES };

struct change_of {
  const struct fold_model_time *now, *before;
  enum change change;
};

static enum change find_change(const struct fold_model_time *now, const struct fold_model_time *before) {
  const bool spread = now->low <= now->high && before->low <= before->high;
  if (now->doubtful || before->doubtful || !spread) return NOT_COMPARED;
  return now->low > before->high ? SLOWER : now->high < before->low ? FASTER : WITHIN;
}

/* Two runs, and the pairs of them. */
struct fold_changes {
  struct fold_model_time *now, *before;
  struct change_of *pairs;
  size_t n_now, n_before, n, count[CHANGES];
};

/* Changes first, the largest ratio first; then by name. */
static int compare_changes(const void *left, const void *right) {
  const struct change_of *a = left, *b = right;
  const bool first = a->change <= FASTER, second = b->change <= FASTER;
  const double p = fabs(log(a->now->median / a->before->median)), q = fabs(log(b->now->median / b->before->median));
  if (first != second) return second - first;
  return first && p != q ? (p < q) - (p > q) : strcmp(a->now->key, b->now->key);
}

void fold_changes_free(struct fold_changes *c) {
  if (c == NULL) return;
  free(c->now);
  free(c->before);
  free(c->pairs);
  free(c);
}

fold_status fold_model_compare(struct fold_model *m, const struct fold_model *before) {
  struct fold_changes *c = calloc(1, sizeof *c);
  m->before = before;
  m->changes = c;
  if (c == NULL) return no_memory();
  c->now = times_of(m, &c->n_now);
  c->before = times_of(before, &c->n_before);
  c->pairs = malloc((c->n_now + 1) * sizeof *c->pairs);
  if ((m->n_times && !c->now) || (before->n_times && !c->before) || !c->pairs) return no_memory();
  for (size_t i = 0, k = 0; i < c->n_now; i++) {
    while (k < c->n_before && strcmp(c->before[k].key, c->now[i].key) < 0) k++;
    if (k == c->n_before || strcmp(c->before[k].key, c->now[i].key) != 0) continue;
    const enum change change = find_change(&c->now[i], &c->before[k]);
    c->pairs[c->n++] = (struct change_of){&c->now[i], &c->before[k], change};
    c->count[change]++;
  }
  if (c->n) qsort(c->pairs, c->n, sizeof *c->pairs, compare_changes);
  return fold_ok();
}

/* The ratio's range: the fastest of this run over the slowest of the one before, and the other way round. */
static void add_change(struct fold_sheet *sheet, const struct fold_model *m, const struct change_of *c) {
  static const char *const words[CHANGES] = {"slower", "faster", "", "not compared"};
  const struct fold_model_time *now = c->now, *before = c->before;
  char place[200];
  FOLD_ROW(sheet, T(now->subject), T(now->what), T(now->size), N(1e6 * before->median), N(1e6 * now->median),
           N(now->median / before->median), N(now->low / before->high), N(now->high / before->low), T(words[c->change]),
           T(fold_text_place(m, now->environment, place)));
  if (c->change == SLOWER) fold_sheet_mark(sheet, "bad");
}

void fold_sheet_changes(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "changes", "Times against the run before",
                  "Subject;Timed;Size;=Before (us);=Now (us);=Now / before;=at least;=at most;Change;Machine");
  for (size_t i = 0; m->changes && i < m->changes->n; i++) add_change(sheet, m, &m->changes->pairs[i]);
}

void fold_changes_summary(const struct fold_model *m, char text[500]) {
  const struct fold_changes *c = m->changes;
  text[0] = '\0';
  if (c == NULL) return;
  const struct fold_model_file *file = &m->before->files[0];
  int used = snprintf(text, 500, "Times against %.150s: ", file->path);
  if (c->n == 0)
    used += snprintf(text + used, 500 - (size_t)used, "none can be compared");
  else
    used += snprintf(text + used, 500 - (size_t)used, "%zu slower, %zu faster, %zu within both runs' spread",
                     c->count[SLOWER], c->count[FASTER], c->count[WITHIN]);
  if (c->count[NOT_COMPARED])
    used += snprintf(text + used, 500 - (size_t)used, ", %zu not compared (doubtful, or without a spread)",
                     c->count[NOT_COMPARED]);
  if (c->n_now > c->n) used += snprintf(text + used, 500 - (size_t)used, "; %zu only in this run", c->n_now - c->n);
  if (c->n_before > c->n)
    used += snprintf(text + used, 500 - (size_t)used, "; %zu only in the run before", c->n_before - c->n);
  if (file->incomplete[0]) snprintf(text + used, 500 - (size_t)used, "; that run is incomplete");
}
