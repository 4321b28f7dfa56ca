/* sheet/junit.c: a sheet of test cases as JUnit's XML.
 *
 * The columns are: the suite (rows of one suite follow one another); two parts of the case's name; the outcome as a tag of JUnit's
 * ("failure", "error", "skipped", "system-out"), or "" if it passed; the tag's message. Further text columns are lines of the tag's text,
 * each with the name of its column. Counts are summed for a suite and become its properties, unless all are 0.
 */
#include <string.h>

#include "sheet/sheet.h"
#include "sheet/text.h"

enum { SUITE, CASE, PART, TAG, MESSAGE, MORE };

static size_t count_tag(const struct fold_sheet *sheet, size_t first, size_t end, const char *tag) {
  size_t n = 0;
  for (size_t r = first; r < end; r++) n += strcmp(fold_sheet_row(sheet, r)[TAG].text, tag) == 0;
  return n;
}

static void put_counts(const struct fold_sheet *sheet, size_t first, size_t end, FILE *out) {
  fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", end - first,
          count_tag(sheet, first, end, "failure"), count_tag(sheet, first, end, "error"),
          count_tag(sheet, first, end, "skipped"));
}

static void put_properties(const struct fold_sheet *sheet, size_t first, size_t end, FILE *out) {
  double sum[FOLD_SHEET_COLUMNS] = {0}, all = 0;
  for (size_t c = MORE; c < sheet->n_columns; all += sum[c++])
    for (size_t r = first; r < end; r++) sum[c] += fold_sheet_row(sheet, r)[c].number;
  if (all == 0) return;
  fputs("    <properties>", out);
  for (size_t c = MORE; c < sheet->n_columns; c++) {
    if (sheet->columns[c].kind != FOLD_COLUMN_COUNT) continue;
    fputs("<property name=\"", out);
    fold_put_html(out, sheet->columns[c].name);
    fprintf(out, "\" value=\"%.0f\"/>", sum[c]);
  }
  fputs("</properties>\n", out);
}

static void put_outcome(const struct fold_sheet *sheet, const struct fold_cell *row, FILE *out) {
  const char *between = ">";
  fprintf(out, "<%s", row[TAG].text);
  if (*row[MESSAGE].text) {
    fputs(" message=\"", out);
    fold_put_html(out, row[MESSAGE].text);
    fputc('"', out);
  }
  for (size_t c = MORE; c < sheet->n_columns; c++) {
    if (row[c].text == NULL || *row[c].text == '\0') continue;
    fputs(between, out);
    fold_put_html(out, sheet->columns[c].name);
    fputs(*sheet->columns[c].name ? ": " : "", out);
    fold_put_html(out, row[c].text);
    between = "\n";
  }
  fprintf(out, *between == '>' ? "/>" : "</%s>", row[TAG].text);
}

static void put_case(const struct fold_sheet *sheet, const struct fold_cell *row, FILE *out) {
  fputs("    <testcase classname=\"", out);
  fold_put_html(out, row[SUITE].text);
  fputs("\" name=\"", out);
  fold_put_html(out, row[CASE].text);
  fputs(" / ", out);
  fold_put_html(out, row[PART].text);
  fputs("\">", out);
  if (*row[TAG].text) put_outcome(sheet, row, out);
  fputs("</testcase>\n", out);
}

void fold_sheet_put_junit(const struct fold_sheet *sheet, FILE *out) {
  const size_t n = fold_sheet_rows(sheet);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"foldproof\"", out);
  put_counts(sheet, 0, n, out);
  for (size_t i = 0, end; i < n; i = end) {
    const char *suite = fold_sheet_row(sheet, i)[SUITE].text;
    for (end = i + 1; end < n && strcmp(suite, fold_sheet_row(sheet, end)[SUITE].text) == 0;) end++;
    fputs("  <testsuite name=\"", out);
    fold_put_html(out, suite);
    fputc('"', out);
    put_counts(sheet, i, end, out);
    put_properties(sheet, i, end, out);
    for (size_t r = i; r < end; r++) put_case(sheet, fold_sheet_row(sheet, r), out);
    fputs("  </testsuite>\n", out);
  }
  fputs("</testsuites>\n", out);
}
