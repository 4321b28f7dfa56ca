/* compare/print.c: writes a comparison as text, Markdown, JUnit or JSON, all from what compare/explain.c describes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/print.h"
#include "report/text.h"
#include "sheet/sheet.h"

const struct fold_compare_flaw fold_compare_flaws[FOLD_COMPARE_FLAWS] = {{"first_incomplete", "INCOMPLETE", 0},
                                                                         {"first_altered", "ALTERED", 0},
                                                                         {"second_incomplete", "INCOMPLETE", 1},
                                                                         {"second_altered", "ALTERED", 1}};

size_t fold_told_number(const json_t *object, const char *key) {
  return (size_t)json_integer_value(json_object_get(object, key));
}

const char *fold_told_side(const json_t *told, int k) { return fold_record_text(told, k ? "second" : "first"); }

static const char *kind_of(const json_t *change) { return fold_record_text(change, "what"); }

static void put_name(const json_t *change, FILE *out) {
  fprintf(out, "%s on %s: %s", fold_record_text(change, "subject"), fold_record_text(change, "engine"),
          fold_record_text(change, "case"));
}

/* "a:1 has 0x1, b:1 has 0x2" */
static void put_sides(const json_t *told, const json_t *change, FILE *out) {
  const json_t *side[2] = {json_object_get(change, "first"), json_object_get(change, "second")};
  for (int k = 0; k < 2; k++)
    fprintf(out, "%s%s:%zu has %s%s", k ? ", " : "", fold_told_side(told, k), fold_told_number(side[k], "line"),
            fold_record_text(side[k], "has"), fold_record_text(side[k], "did"));
  const bool alike = strcmp(fold_record_text(side[0], "has"), fold_record_text(side[1], "has")) == 0 &&
                     strcmp(fold_record_text(side[0], "did"), fold_record_text(side[1], "did")) == 0;
  if (alike && strcmp(kind_of(change), "other_results") == 0)
    fputs(" (in the first row, which agrees: a later row differs)", out);
}

char *fold_told_change(const json_t *told, const json_t *change) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  const char *what = kind_of(change);
  if (strcmp(what, "only_in_first") == 0 || strcmp(what, "only_in_second") == 0) {
    fprintf(out, "ONLY IN %s: ", fold_told_side(told, what[8] == 's'));
    put_name(change, out);
  } else {
    fputs(strcmp(what, "other_input") == 0     ? "INPUT CHANGED: "
          : strcmp(what, "other_verdict") == 0 ? "VERDICT CHANGED: "
                                               : "DIFFERS: ",
          out);
    put_name(change, out);
    if (json_object_get(change, "claim")) fprintf(out, ": %s", fold_record_text(change, "claim"));
    fputs(": ", out);
    put_sides(told, change, out);
  }
  return fclose(out) == 0 ? text : NULL;
}

static void put_evidence(const json_t *change, FILE *out) {
  const char *distance = fold_record_text(change, "distance"), *replay = fold_record_text(change, "replay");
  if (*distance) fprintf(out, "  row %zu: %s\n", fold_told_number(change, "row"), distance);
  if (*distance && *replay) fprintf(out, FOLD_REPRODUCE "%s\n", replay);
}

static void put_changes(const json_t *told, const char *what, FILE *out) {
  size_t i, shown = 0, all = fold_told_number(told, what);
  json_t *change;
  json_array_foreach(json_object_get(told, "changes"), i, change) {
    if (strcmp(kind_of(change), what) != 0) continue;
    char *line = fold_told_change(told, change);
    fprintf(out, "%s\n", line ? line : "not enough memory for a line");
    free(line);
    put_evidence(change, out);
    shown++;
  }
  if (all > shown) fprintf(out, "%zu of %zu shown\n", shown, all);
}

static const char *const tables[] = {"subject", "claim", "dtype", "size"};
enum { MOST_ROWS = 10 };

static void put_sheet(struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out) {
  if (fold_sheet_put(sheet, format, most, out).code != FOLD_OK) fputs("not enough memory for a table\n", out);
}

/* Writes the tables, largest differences first. If the exact result is not known, nothing is said about who is
 * nearer. */
static void put_tables(const json_t *told, enum fold_report_format format, FILE *out) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    char title[80], columns[80];
    const char *key;
    json_t *row;
    struct fold_sheet sheet;
    snprintf(title, sizeof title, "What differs, by %s", tables[i]);
    snprintf(columns, sizeof columns, "%s;#Differ;#First nearer to the exact;#Second nearer", tables[i]);
    fold_sheet_open(&sheet, title, columns);
    json_object_foreach(json_object_get(json_object_get(told, "by"), tables[i]), key, row) {
      const double first = (double)fold_told_number(row, "first_nearer"),
                   second = (double)fold_told_number(row, "second_nearer"), known = first + second > 0 ? 0 : NAN;
      FOLD_ROW(&sheet, T(key), N(fold_told_number(row, "differ")), N(first + known), N(second + known));
    }
    fold_sheet_sort(&sheet, 1);
    put_sheet(&sheet, format, MOST_ROWS, out);
  }
}

static void put_environments(const json_t *told, enum fold_report_format format, FILE *out) {
  const char *key;
  json_t *pair;
  struct fold_sheet sheet;
  fold_sheet_open(&sheet, "What differs in the environment", "Environment;First;Second");
  json_object_foreach(json_object_get(told, "environment"), key, pair) FOLD_ROW(
      &sheet, T(key), T(json_string_value(json_array_get(pair, 0))), T(json_string_value(json_array_get(pair, 1))));
  put_sheet(&sheet, format, SIZE_MAX, out);
}

static bool differs(const json_t *told) {
  return fold_told_number(told, "other_results") + fold_told_number(told, "other_verdict") > 0;
}

static void put_smallest(const json_t *told, FILE *out) {
  const json_t *smallest = json_object_get(told, "smallest");
  if (!smallest || fold_told_number(told, "other_results") < 2) return;
  fprintf(out, "\nsmallest that differs: ");
  put_name(smallest, out);
  fprintf(out, " (%zu x %zu)\n", fold_told_number(smallest, "rows"), fold_told_number(smallest, "cols"));
  if (fold_record_text(smallest, "replay")[0])
    fprintf(out, FOLD_REPRODUCE "%s\n", fold_record_text(smallest, "replay"));
}

void fold_compare_text(const json_t *told, FILE *out) {
  for (size_t i = 0; i < FOLD_COMPARE_FLAWS; i++)
    if (json_object_get(told, fold_compare_flaws[i].key))
      fprintf(out, "%s: %s: %s\n", fold_compare_flaws[i].word, fold_told_side(told, fold_compare_flaws[i].side),
              fold_record_text(told, fold_compare_flaws[i].key));
  for (size_t i = 0; i < FOLD_CHANGES; i++) put_changes(told, fold_change_names[i], out);
  if (fold_told_number(told, "other_input"))
    fprintf(out, "%zu with a different input\n", fold_told_number(told, "other_input"));
  if (fold_told_number(told, "other_verdict"))
    fprintf(out, "%zu of %zu verdicts differ\n", fold_told_number(told, "other_verdict"),
            fold_told_number(told, "verdicts_compared"));
  if (fold_told_number(told, "broken_in_both"))
    fprintf(out, "%zu without a result in both: the runs broke\n", fold_told_number(told, "broken_in_both"));
  fprintf(out, "%zu agree, %zu differ, %zu only in %s, %zu only in %s\n", fold_told_number(told, "agree"),
          fold_told_number(told, "other_results"), fold_told_number(told, "only_in_first"), fold_told_side(told, 0),
          fold_told_number(told, "only_in_second"), fold_told_side(told, 1));
  if (!differs(told)) return;
  put_tables(told, FOLD_REPORT_TEXT, out);
  put_smallest(told, out);
  put_environments(told, FOLD_REPORT_TEXT, out);
}

static void put_cell(const char *text, FILE *out) {
  fputs("| ", out);
  fold_put_markdown(out, text);
  fputc(' ', out);
}

static void put_number(size_t n, FILE *out) { fprintf(out, "| %zu ", n); }

static void put_markdown_changes(const json_t *told, FILE *out) {
  size_t i;
  json_t *change;
  if (json_array_size(json_object_get(told, "changes")))
    fputs("\n| change | evidence | replay |\n| --- | --- | --- |\n", out);
  json_array_foreach(json_object_get(told, "changes"), i, change) {
    char *line = fold_told_change(told, change);
    put_cell(line ? line : "", out);
    free(line);
    put_cell(fold_record_text(change, "distance"), out);
    put_cell(fold_record_text(change, "replay"), out);
    fputs("|\n", out);
  }
}

void fold_compare_markdown(const json_t *told, FILE *out) {
  static const char *const rows[FOLD_CHANGES] = {"only in the first", "only in the second", "with a different input",
                                                 "differ", "with a different verdict"};
  for (size_t i = 0; i < FOLD_COMPARE_FLAWS; i++) {
    if (!json_object_get(told, fold_compare_flaws[i].key)) continue;
    fprintf(out, "**%s**: ", fold_compare_flaws[i].word);
    fold_put_markdown(out, fold_told_side(told, fold_compare_flaws[i].side));
    fputs(": ", out);
    fold_put_markdown(out, fold_record_text(told, fold_compare_flaws[i].key));
    fputs("\n\n", out);
  }
  fputs("| ", out);
  fold_put_markdown(out, fold_told_side(told, 0));
  fputs(" against ", out);
  fold_put_markdown(out, fold_told_side(told, 1));
  fprintf(out, " | cases |\n| --- | ---: |\n| agree | %zu |\n", fold_told_number(told, "agree"));
  for (size_t i = 0; i < FOLD_CHANGES; i++) {
    put_cell(rows[i], out);
    put_number(fold_told_number(told, fold_change_names[i]), out);
    fputs("|\n", out);
  }
  if (fold_told_number(told, "broken_in_both"))
    fprintf(out, "| without a result in both: the runs broke | %zu |\n", fold_told_number(told, "broken_in_both"));
  put_markdown_changes(told, out);
  put_tables(told, FOLD_REPORT_MARKDOWN, out);
  put_environments(told, FOLD_REPORT_MARKDOWN, out);
}

void fold_compare_json(const json_t *told, FILE *out) {
  json_dumpf(told, out, JSON_INDENT(2));
  fputc('\n', out);
}
