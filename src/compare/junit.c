/* compare/junit.c: a comparison as JUnit's XML: a test case for each change that is listed, and one for everything else that decides
 * the exit code, so that the file is as green as the command.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/print.h"
#include "records/lines.h"
#include "report/text.h"

enum outcome { FAILED, SKIPPED, BROKEN, OUTCOMES };

struct junit {
  const json_t *told;
  FILE *out;
  size_t tests, n[OUTCOMES];
};

/* What --subset allows is no failure. */
static enum outcome outcome_of(const struct junit *j, bool missing) {
  return missing && json_is_true(json_object_get(j->told, "subset")) ? SKIPPED : FAILED;
}

static void open_case(struct junit *j, const char *class, const char *name, const char *more) {
  j->tests++;
  fputs("<testcase classname=\"", j->out);
  fold_put_html(j->out, class);
  fputs("\" name=\"", j->out);
  fold_put_html(j->out, name);
  if (more) fputc(' ', j->out), fold_put_html(j->out, more);
  fputs("\">", j->out);
}

static void close_case(struct junit *j, enum outcome outcome, const char *message, const char *first,
                       const char *second) {
  static const char *const tags[OUTCOMES] = {"failure", "skipped", "error"};
  j->n[outcome]++;
  fprintf(j->out, "<%s message=\"", tags[outcome]);
  fold_put_html(j->out, message);
  fputs("\">", j->out);
  fold_put_html(j->out, first);
  fputs("\n", j->out);
  fold_put_html(j->out, second);
  fprintf(j->out, "</%s></testcase>\n", tags[outcome]);
}

static void put_flaws(struct junit *j) {
  for (size_t i = 0; i < FOLD_COMPARE_FLAWS; i++) {
    const struct fold_compare_flaw *f = &fold_compare_flaws[i];
    if (!json_object_get(j->told, f->key)) continue;
    open_case(j, "compare", fold_told_side(j->told, f->side), f->word);
    close_case(j, outcome_of(j, f->word[0] == 'I'), fold_record_text(j->told, f->key), "", "");
  }
}

static size_t kind_of(const json_t *change) {
  size_t k = 0;
  while (k < FOLD_CHANGES && strcmp(fold_change_names[k], fold_record_text(change, "what")) != 0) k++;
  return k;
}

static void put_changes(struct junit *j) {
  size_t i, shown[FOLD_CHANGES + 1] = {0};
  json_t *change;
  json_array_foreach(json_object_get(j->told, "changes"), i, change) {
    const size_t kind = kind_of(change);
    char *line = fold_told_change(j->told, change);
    shown[kind]++;
    open_case(j, fold_record_text(change, "subject"), fold_record_text(change, "case"),
              fold_record_text(change, "what"));
    close_case(j, outcome_of(j, kind < FOLD_CHANGED_INPUT), line ? line : "", fold_record_text(change, "distance"),
               fold_record_text(change, "replay"));
    free(line);
  }
  for (size_t k = 0; k < FOLD_CHANGES; k++) {
    char more[60];
    const size_t all = fold_told_number(j->told, fold_change_names[k]);
    snprintf(more, sizeof more, "%zu of %zu shown", shown[k], all);
    if (all == shown[k]) continue;
    open_case(j, "compare", fold_change_names[k], "that are not shown");
    close_case(j, outcome_of(j, k < FOLD_CHANGED_INPUT), more, "", "");
  }
}

static void put_broken(struct junit *j) {
  char text[80];
  const size_t n = fold_told_number(j->told, "broken_in_both");
  if (n == 0) return;
  snprintf(text, sizeof text, "%zu without a result in both: the runs broke", n);
  open_case(j, "compare", "broken_in_both", NULL);
  close_case(j, BROKEN, text, "", "");
}

/* Writes the changes of the environment, which may be the cause of the others. */
static void put_environment(const json_t *told, FILE *out) {
  const char *key;
  json_t *pair;
  if (json_object_size(json_object_get(told, "environment")) == 0) return;
  fputs("<properties>\n", out);
  json_object_foreach(json_object_get(told, "environment"), key, pair) {
    fputs("<property name=\"", out);
    fold_put_html(out, key);
    fputs("\" value=\"", out);
    fold_put_html(out, json_string_value(json_array_get(pair, 0)));
    fputs(", then ", out);
    fold_put_html(out, json_string_value(json_array_get(pair, 1)));
    fputs("\"/>\n", out);
  }
  fputs("</properties>\n", out);
}

void fold_compare_junit(const json_t *told, FILE *out) {
  char *cases = NULL;
  size_t size;
  struct junit j = {.told = told, .out = open_memstream(&cases, &size)};
  if (j.out) {
    j.tests = 1;
    put_flaws(&j);
    put_changes(&j);
    put_broken(&j);
  }
  const bool whole = j.out && fclose(j.out) == 0;
  fprintf(out,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"foldproof compare\" tests=\"%zu\" "
          "failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
          j.tests, j.n[FAILED], j.n[BROKEN], j.n[SKIPPED]);
  put_environment(told, out);
  if (whole)
    fprintf(out, "<testcase classname=\"compare\" name=\"%zu agree\"/>\n%s", fold_told_number(told, "agree"), cases);
  else
    fputs("<testcase classname=\"compare\" name=\"all\"><error message=\"not enough memory\"/></testcase>\n", out);
  fputs("</testsuite>\n", out);
  free(cases);
}
