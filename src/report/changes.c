/* report/changes.c: compares the times of this run with those of a former run.
 *
 * Two times are compared if the same work was timed on the same kind of machine. One is called slower or faster only if the ranges
 * from 10 % to 90 % of both runs do not meet: the ratio then differs from 1 by more than either run's own spread. Nothing is inferred
 * where a spread is missing, or where a time is doubtful.
 */
#include "report/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/lines.h"
#include "report/section.h"

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the report"); }

/* All timings with one key. Equal keys mean the same work on the same kind of machine. */
struct times {
  char *key;
  const struct fold_model_timed *of;
  double median, low, high; /* low and high: from 10 % to 90 % of the runs; NaN if that is not recorded */
  bool doubtful;            /* implausible, noisy, or of a result that did not hold */
};

/* Writes the key: everything on which a time depends, without the code, the libraries and the driver, which are what is
 * compared. */
static void put_key(const struct fold_model *m, const struct fold_model_timed *t, FILE *out) {
  const double numbers[] = {t->n, t->bytes, t->rows, t->cols, t->seed, t->workers, t->threads};
  const json_t *e = t->environment < 0 ? NULL : m->environments[t->environment];
  char machine[160];
  fprintf(out, "%s|%s|%lld", fold_text_machine(m, t->environment, machine), fold_record_text(e, "cpu"),
          (long long)json_integer_value(json_object_get(e, "cores")));
  /* Nothing can be compared on an unknown machine: make the key unique. */
  if (json_array_size(json_object_get(e, "gpus")) == 0 && fold_record_text(e, "cpu")[0] == '\0')
    fprintf(out, "|%p", (const void *)t);
  fprintf(out, "|%s|%s|%s|%s|%s|%s", t->type, t->subject, t->engine, t->dtype, t->op, t->mode);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    fprintf(out, isnan(numbers[i]) ? "|" : "|%.17g", numbers[i]);
  fprintf(out, "|%s|", t->setting);
  if (!isnan(t->world)) fprintf(out, "%.17g", t->world);
  fprintf(out, "|%s", t->generator);
}

static char *make_key(const struct fold_model *m, const struct fold_model_timed *t) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  put_key(m, t, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* "strong scaling, f32 sum of normal data", "all-reduce, f32 sum, ring". */
static const char *say_what(const struct fold_model_timed *t, char text[200]) {
  const bool set = t->setting[0] && strcmp(t->setting, "default") != 0;
  snprintf(text, 200, "%s%.20s%s%.20s %.20s%s%.40s%s%s%.40s", isnan(t->bytes) ? "" : "all-reduce, ", t->mode,
           t->mode[0] ? " scaling, " : "", t->dtype, t->op, t->generator[0] ? " of " : "", t->generator,
           t->generator[0] ? " data" : "", set ? ", " : "", set ? t->setting : "");
  return text;
}

/* "1,000,000", "64 x 1,000", "1,024 bytes", and how many ranks or threads share the work. */
static const char *say_size(const struct fold_model_timed *t, char text[160]) {
  static const char *const names[] = {"rank", "thread"};
  const double counts[] = {t->workers, t->threads};
  char first[32], second[32];
  if (!isnan(t->bytes))
    snprintf(text, 160, "%s bytes", fold_text_grouped(t->bytes, first));
  else if (isnan(t->cols) || t->rows == 1)
    snprintf(text, 160, "%s", fold_text_grouped(isnan(t->cols) ? t->n : t->cols, first));
  else
    snprintf(text, 160, "%s x %s", fold_text_grouped(t->rows, first), fold_text_grouped(t->cols, second));
  for (int i = 0; i < 2; i++) {
    const size_t used = strlen(text);
    if (counts[i] >= 1)
      snprintf(text + used, 160 - used, ", %.0f %s%s", counts[i], names[i], counts[i] == 1 ? "" : "s");
  }
  return text;
}

static bool is_doubtful(const struct fold_model_timed *t) {
  return t->implausible || t->noisy || strcmp(t->verdict, fold_verdict_name(FOLD_REFUTED)) == 0 ||
         strcmp(t->verdict, fold_verdict_name(FOLD_BROKEN)) == 0;
}

static int compare_times(const void *left, const void *right) {
  const struct times *a = left, *b = right;
  const int d = strcmp(a->key, b->key);
  return d ? d : (a->median > b->median) - (a->median < b->median);
}

static void free_times(struct times *t, size_t n) {
  for (size_t i = 0; i < n; i++) free(t[i].key);
  free(t);
}

static fold_status add_times(const struct fold_model *m, const struct fold_model_timed *timed, size_t n_timed,
                             struct times *times, size_t *n) {
  for (const struct fold_model_timed *t = timed; t < timed + n_timed; t++) {
    if (!(t->median > 0)) continue;
    times[*n] = (struct times){make_key(m, t), t, t->median, t->p10, t->p90, is_doubtful(t)};
    if (times[(*n)++].key == NULL) return no_memory();
  }
  return fold_ok();
}

/* Sorts timings, and joins those with the same key: if something was timed several times, the median is the middle one
 * and the range that of all. */
static void join(struct times *t, size_t *n) {
  const size_t all = *n;
  *n = 0;
  if (all) qsort(t, all, sizeof *t, compare_times);
  for (size_t i = 0, end; i < all; i = end) {
    struct times one = t[i];
    bool spread = one.low <= one.high;
    for (end = i + 1; end < all && strcmp(one.key, t[end].key) == 0; end++) {
      spread &= t[end].low <= t[end].high;
      one.low = fmin(one.low, t[end].low);
      one.high = fmax(one.high, t[end].high);
      one.doubtful |= t[end].doubtful;
      free(t[end].key);
    }
    if (!spread) one.low = one.high = NAN;
    one.median = t[i + (end - i) / 2].median;
    t[(*n)++] = one;
  }
}

static fold_status find_times(const struct fold_model *m, struct times **times, size_t *n) {
  *times = malloc((m->n_timings + m->n_scalings + m->n_messages + 1) * sizeof **times);
  if (*times == NULL) return no_memory();
  FOLD_TRY(add_times(m, m->timings, m->n_timings, *times, n));
  FOLD_TRY(add_times(m, m->scalings, m->n_scalings, *times, n));
  FOLD_TRY(add_times(m, m->messages, m->n_messages, *times, n));
  join(*times, n);
  return fold_ok();
}

enum change { SLOWER, FASTER, WITHIN, NOT_COMPARED, CHANGES };

struct change_of {
  const struct times *now, *before;
  enum change change;
};

static enum change find_change(const struct times *now, const struct times *before) {
  const bool spread = now->low <= now->high && before->low <= before->high;
  if (now->doubtful || before->doubtful || !spread) return NOT_COMPARED;
  return now->low > before->high ? SLOWER : now->high < before->low ? FASTER : WITHIN;
}

/* Two runs, and the pairs of them. */
struct fold_changes {
  struct times *now, *before;
  struct change_of *pairs;
  size_t n_now, n_before, n, count[CHANGES];
};

/* Sorts changes before the rest, the largest ratio first, then by name. */
static int compare_changes(const void *left, const void *right) {
  const struct change_of *a = left, *b = right;
  const bool first = a->change <= FASTER, second = b->change <= FASTER;
  const double p = fabs(log(a->now->median / a->before->median)), q = fabs(log(b->now->median / b->before->median));
  if (first != second) return second - first;
  return first && p != q ? (p < q) - (p > q) : strcmp(a->now->key, b->now->key);
}

void fold_changes_free(struct fold_changes *c) {
  if (c == NULL) return;
  free_times(c->now, c->n_now);
  free_times(c->before, c->n_before);
  free(c->pairs);
  free(c);
}

fold_status fold_model_compare(struct fold_model *m, const struct fold_model *before) {
  struct fold_changes *c = calloc(1, sizeof *c);
  m->before = before;
  m->changes = c;
  if (c == NULL) return no_memory();
  FOLD_TRY(find_times(m, &c->now, &c->n_now));
  FOLD_TRY(find_times(before, &c->before, &c->n_before));
  c->pairs = malloc((c->n_now + 1) * sizeof *c->pairs);
  if (c->pairs == NULL) return no_memory();
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

/* Adds a row. The ratio's range goes from the fastest time of this run over the slowest of the former one to the
 * opposite. */
static void add_change(struct fold_sheet *sheet, const struct fold_model *m, const struct change_of *c) {
  static const char *const words[CHANGES] = {"slower", "faster", "", "not compared"};
  const struct times *now = c->now, *before = c->before;
  char subject[200], what[200], size[160], place[200];
  snprintf(subject, sizeof subject, "%.110s on %.30s", now->of->subject, now->of->engine);
  FOLD_ROW(sheet, T(subject), T(say_what(now->of, what)), T(say_size(now->of, size)), N(1e6 * before->median),
           N(1e6 * now->median), N(now->median / before->median), N(now->low / before->high),
           N(now->high / before->low), T(words[c->change]), T(fold_text_place(m, now->of->environment, place)));
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
