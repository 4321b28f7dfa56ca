/* compare/print.c: writes a comparison as text, Markdown, JUnit or JSON, all from what compare/explain.c describes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "report/text.h"
#include "sheet/sheet.h"

/* What may be wrong with the file of a side, and the key under which its text stands. */
static const struct {
  const char *key, *word;
  int side;
} flaws[] = {{"first_incomplete", "INCOMPLETE", 0},
             {"first_altered", "ALTERED", 0},
             {"second_incomplete", "INCOMPLETE", 1},
             {"second_altered", "ALTERED", 1}};

static size_t number_of(const json_t *object, const char *key) {
  return (size_t)json_integer_value(json_object_get(object, key));
}

static const char *side_of(const json_t *told, int k) { return fold_record_text(told, k ? "second" : "first"); }

static const char *kind_of(const json_t *change) { return fold_record_text(change, "what"); }

static void put_name(const json_t *change, FILE *out) {
  fprintf(out, "%s on %s: %s", fold_record_text(change, "subject"), fold_record_text(change, "engine"),
          fold_record_text(change, "case"));
}

/* "a:1 has 0x1, b:1 has 0x2" */
static void put_sides(const json_t *told, const json_t *change, FILE *out) {
  const json_t *side[2] = {json_object_get(change, "first"), json_object_get(change, "second")};
  for (int k = 0; k < 2; k++)
    fprintf(out, "%s%s:%zu has %s%s", k ? ", " : "", side_of(told, k), number_of(side[k], "line"),
            fold_record_text(side[k], "has"), fold_record_text(side[k], "did"));
  const bool alike = strcmp(fold_record_text(side[0], "has"), fold_record_text(side[1], "has")) == 0 &&
                     strcmp(fold_record_text(side[0], "did"), fold_record_text(side[1], "did")) == 0;
  if (alike && strcmp(kind_of(change), "other_results") == 0)
    fputs(" (in the first row, which agrees: a later row differs)", out);
}

/* One change in one line, for the caller to free; NULL: memory is short. */
static char *line_of(const json_t *told, const json_t *change) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  const char *what = kind_of(change);
  if (strcmp(what, "only_in_first") == 0 || strcmp(what, "only_in_second") == 0) {
    fprintf(out, "ONLY IN %s: ", side_of(told, what[8] == 's'));
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
  if (*distance) fprintf(out, "  row %zu: %s\n", number_of(change, "row"), distance);
  if (*distance && *replay) fprintf(out, FOLD_REPRODUCE "%s\n", replay);
}

static void put_changes(const json_t *told, const char *what, FILE *out) {
  size_t i, shown = 0, all = number_of(told, what);
  json_t *change;
  json_array_foreach(json_object_get(told, "changes"), i, change) {
    if (strcmp(kind_of(change), what) != 0) continue;
    char *line = line_of(told, change);
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
      const double first = (double)number_of(row, "first_nearer"), second = (double)number_of(row, "second_nearer"),
                   known = first + second > 0 ? 0 : NAN;
      FOLD_ROW(&sheet, T(key), N(number_of(row, "differ")), N(first + known), N(second + known));
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
  return number_of(told, "other_results") + number_of(told, "other_verdict") > 0;
}

static void put_smallest(const json_t *told, FILE *out) {
  const json_t *smallest = json_object_get(told, "smallest");
  if (!smallest || number_of(told, "other_results") < 2) return;
  fprintf(out, "\nsmallest that differs: ");
  put_name(smallest, out);
  fprintf(out, " (%zu x %zu)\n", number_of(smallest, "rows"), number_of(smallest, "cols"));
  if (fold_record_text(smallest, "replay")[0])
    fprintf(out, FOLD_REPRODUCE "%s\n", fold_record_text(smallest, "replay"));
}

void fold_compare_text(const json_t *told, FILE *out) {
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++)
    if (json_object_get(told, flaws[i].key))
      fprintf(out, "%s: %s: %s\n", flaws[i].word, side_of(told, flaws[i].side), fold_record_text(told, flaws[i].key));
  for (size_t i = 0; i < FOLD_CHANGES; i++) put_changes(told, fold_change_names[i], out);
  if (number_of(told, "other_input")) fprintf(out, "%zu with a different input\n", number_of(told, "other_input"));
  if (number_of(told, "other_verdict"))
    fprintf(out, "%zu of %zu verdicts differ\n", number_of(told, "other_verdict"),
            number_of(told, "verdicts_compared"));
  if (number_of(told, "broken_in_both"))
    fprintf(out, "%zu without a result in both: the runs broke\n", number_of(told, "broken_in_both"));
  fprintf(out, "%zu agree, %zu differ, %zu only in %s, %zu only in %s\n", number_of(told, "agree"),
          number_of(told, "other_results"), number_of(told, "only_in_first"), side_of(told, 0),
          number_of(told, "only_in_second"), side_of(told, 1));
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
    char *line = line_of(told, change);
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
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
    if (!json_object_get(told, flaws[i].key)) continue;
    fprintf(out, "**%s**: ", flaws[i].word);
    fold_put_markdown(out, side_of(told, flaws[i].side));
    fputs(": ", out);
    fold_put_markdown(out, fold_record_text(told, flaws[i].key));
    fputs("\n\n", out);
  }
  fputs("| ", out);
  fold_put_markdown(out, side_of(told, 0));
  fputs(" against ", out);
  fold_put_markdown(out, side_of(told, 1));
  fprintf(out, " | cases |\n| --- | ---: |\n| agree | %zu |\n", number_of(told, "agree"));
  for (size_t i = 0; i < FOLD_CHANGES; i++) {
    put_cell(rows[i], out);
    put_number(number_of(told, fold_change_names[i]), out);
    fputs("|\n", out);
  }
  if (number_of(told, "broken_in_both"))
    fprintf(out, "| without a result in both: the runs broke | %zu |\n", number_of(told, "broken_in_both"));
  put_markdown_changes(told, out);
  put_tables(told, FOLD_REPORT_MARKDOWN, out);
  put_environments(told, FOLD_REPORT_MARKDOWN, out);
}

void fold_compare_json(const json_t *told, FILE *out) {
  json_dumpf(told, out, JSON_INDENT(2));
  fputc('\n', out);
}
