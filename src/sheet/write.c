/* sheet/write.c: how a sheet is written in each format. */
#include "sheet/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/text.h"

static bool is_number(const struct fold_sheet *sheet, size_t column) {
  return sheet->columns[column].kind == FOLD_COLUMN_COUNT || sheet->columns[column].kind == FOLD_COLUMN_NUMBER;
}

static const char *say(const struct fold_sheet *sheet, size_t row, size_t column, char text[32]) {
  const struct fold_cell *cell = &fold_sheet_row(sheet, row)[column];
  if (cell->text) return cell->text;
  if (isnan(cell->number)) return "";
  return sheet->columns[column].kind == FOLD_COLUMN_COUNT ? fold_text_grouped(cell->number, text)
                                                          : fold_text_number(cell->number, text);
}

/* Writes an attribute with its value in quotes, if there is a value. */
static void put_attribute(FILE *out, const char *name, const char *value, const char *more) {
  if (*value || *more) fprintf(out, " %s=\"%s%s%s\"", name, value, *value && *more ? " " : "", more);
}

/* Writes the lines of a cell's text, with something between them. */
static void put_lines(FILE *out, const char *text, void (*put)(FILE *out, const char *text), const char *between) {
  for (const char *end; *text; text = end) {
    end = text + strcspn(text, "\n");
    char *line = strndup(text, (size_t)(end - text));
    put(out, line ? line : "not enough memory");
    free(line);
    if (*end && *++end) fputs(between, out);
  }
}

/* How a format escapes text, and what it writes around a title and the parts of an entry. */
struct manner {
  void (*put)(FILE *out, const char *text);
  const char *title, *title_end, *item, *item_end, *bold, *bold_end, *code, *code_end;
};

static const struct manner manners[FOLD_REPORT_FORMATS] = {
    [FOLD_REPORT_HTML] = {fold_put_html, "<h3>", "</h3>\n", "<li", "</li>\n", "<b>", "</b>", "<br><code>", "</code>"},
    [FOLD_REPORT_MARKDOWN] = {fold_put_markdown, "\n**", "**\n\n", "* ", "\n", "**", "**", "<br><code>", "</code>"},
    [FOLD_REPORT_TEXT] = {fold_put_plain, "\n", "\n", "  ", "\n", "", "", "\n      ", ""},
};

static void put_entry(const struct fold_sheet *sheet, size_t row, enum fold_report_format format, FILE *out) {
  const struct manner *m = &manners[format];
  const struct fold_cell *first = fold_sheet_row(sheet, row);
  const bool html = format == FOLD_REPORT_HTML;
  char text[32];
  fputs(m->item, out);
  if (html) put_attribute(out, "class", first->class ? first->class : "", "");
  if (html) put_attribute(out, "id", first->link, "");
  fprintf(out, "%s%s", html ? ">" : "", m->bold);
  m->put(out, say(sheet, row, 0, text));
  const char *claim = say(sheet, row, 1, text);
  const char *target = html ? first[1].link : "";
  if (*claim) fputs(": ", out);
  if (*target == '#') fprintf(out, "<a href=\"%s\">", target);
  m->put(out, claim);
  if (*target == '#') fputs("</a>", out);
  fputs(m->bold_end, out);
  const char *between = ": ";
  for (size_t c = 2; c < sheet->n_columns; c++) {
    const char *said = say(sheet, row, c, text);
    const struct fold_column *column = &sheet->columns[c];
    if (*said == '\0') continue;
    if (column->kind == FOLD_COLUMN_CODE) {
      fputs(m->code, out);
      m->put(out, said);
      fputs(m->code_end, out);
      continue;
    }
    fputs(between, out);
    if (c > 2) m->put(out, column->name);
    if (c > 2 && column->name[0]) fputc(' ', out);
    m->put(out, said);
    between = "; ";
  }
  fputs(m->item_end, out);
}

static bool is_one_value(const struct fold_sheet *sheet, size_t column) {
  char text[32], other[32];
  const char *first = say(sheet, 0, column, text);
  for (size_t r = 1; r < fold_sheet_rows(sheet); r++)
    if (strcmp(first, say(sheet, r, column, other)) != 0) return false;
  return true;
}

/* Finds the columns that are shown: those that have a value in some row. */
static size_t find_shown(const struct fold_sheet *sheet, size_t shown[FOLD_SHEET_COLUMNS]) {
  size_t n = 0;
  char text[32];
  for (size_t c = 0; c < sheet->n_columns; c++)
    for (size_t r = 0; r < fold_sheet_rows(sheet); r++)
      if (*say(sheet, r, c, text)) {
        shown[n++] = c;
        break;
      }
  return n;
}

static void put_html_cell(const struct fold_sheet *sheet, size_t row, size_t column, bool first, FILE *out) {
  const struct fold_cell *cell = &fold_sheet_row(sheet, row)[column];
  char text[32];
  const bool leads = cell->link[0] == '#';
  fputs(first ? "<th scope=\"row\"" : "<td", out);
  if (!first) put_attribute(out, "class", is_number(sheet, column) ? "n" : "", cell->class ? cell->class : "");
  fputc('>', out);
  if (leads) fprintf(out, "<a href=\"%s\">", cell->link);
  put_lines(out, say(sheet, row, column, text), fold_put_html, "<br>");
  fprintf(out, "%s</%s>", leads ? "</a>" : "", first ? "th" : "td");
}

static void put_html(const struct fold_sheet *sheet, size_t rows, FILE *out) {
  size_t shown[FOLD_SHEET_COLUMNS];
  const size_t n = find_shown(sheet, shown);
  fputs("<div class=\"wide\" tabindex=\"0\"><table", out);
  put_attribute(out, "class", sheet->class ? sheet->class : "", "");
  fputs("><caption>", out);
  fold_put_html(out, sheet->title);
  fputs("</caption>\n<thead><tr>", out);
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "<th scope=\"col\"%s><span>", is_number(sheet, shown[i]) ? " class=\"n\"" : "");
    fold_put_html(out, sheet->columns[shown[i]].name);
    fputs("</span></th>", out);
  }
  fputs("</tr></thead>\n<tbody>\n", out);
  for (size_t r = 0; r < rows; r++) {
    const struct fold_cell *row = fold_sheet_row(sheet, r);
    fputs("<tr", out);
    put_attribute(out, "class", row->class ? row->class : "", "");
    put_attribute(out, "id", row->link, "");
    fputc('>', out);
    for (size_t i = 0; i < n; i++) put_html_cell(sheet, r, shown[i], i == 0, out);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void put_markdown(const struct fold_sheet *sheet, size_t rows, FILE *out) {
  size_t shown[FOLD_SHEET_COLUMNS];
  const size_t n = find_shown(sheet, shown);
  char text[32];
  fputs("|", out);
  for (size_t i = 0; i < n; i++) {
    fputc(' ', out);
    fold_put_markdown(out, sheet->columns[shown[i]].name);
    fputs(" |", out);
  }
  fputs("\n|", out);
  for (size_t i = 0; i < n; i++) fputs(is_number(sheet, shown[i]) ? " ---: |" : " --- |", out);
  for (size_t r = 0; r < rows; r++) {
    fputs("\n|", out);
    for (size_t i = 0; i < n; i++) {
      fputc(' ', out);
      put_lines(out, say(sheet, r, shown[i], text), fold_put_markdown, "; ");
      fputs(" |", out);
    }
  }
  fputc('\n', out);
}

/* Removes the shared columns from those that are shown, and writes their values in a line. */
static size_t put_shared(const struct fold_sheet *sheet, size_t *shown, size_t n, FILE *out) {
  const char *between = "  ";
  char text[32];
  size_t left = 0;
  for (size_t i = 0; i < n; i++) {
    const struct fold_column *column = &sheet->columns[shown[i]];
    if (!column->shared || !is_one_value(sheet, shown[i])) {
      shown[left++] = shown[i];
      continue;
    }
    fputs(between, out);
    fold_put_plain(out, column->name);
    fputc(' ', out);
    fold_put_plain(out, say(sheet, 0, shown[i], text));
    between = ", ";
  }
  fputs(left < n ? "\n" : "", out);
  return left;
}

static void put_text(const struct fold_sheet *sheet, size_t rows, FILE *out) {
  size_t shown[FOLD_SHEET_COLUMNS];
  const size_t n = put_shared(sheet, shown, find_shown(sheet, shown), out);
  char text[32];
  size_t width[FOLD_SHEET_COLUMNS];
  for (size_t i = 0; i < n; i++) {
    width[i] = strlen(sheet->columns[shown[i]].name);
    for (size_t r = 0; r < rows; r++) {
      const size_t length = strlen(say(sheet, r, shown[i], text));
      if (length > width[i]) width[i] = length;
    }
  }
  for (size_t r = 0; r <= rows; r++) {
    fputs("  ", out);
    for (size_t i = 0; i < n; i++) {
      const char *said = r == 0 ? sheet->columns[shown[i]].name : say(sheet, r - 1, shown[i], text);
      const size_t blanks = width[i] - strlen(said);
      const bool right = is_number(sheet, shown[i]), last = i + 1 == n;
      fprintf(out, "%*s", right ? (int)blanks : 0, "");
      fold_put_plain(out, said);
      fprintf(out, "%*s", right || last ? 0 : (int)blanks, ""); /* no blanks at a line's end */
      fputs(last ? "\n" : "  ", out);
    }
  }
}

static void put_rows(const struct fold_sheet *sheet, enum fold_report_format format, size_t rows, FILE *out) {
  if (sheet->list) {
    if (format == FOLD_REPORT_HTML) fputs("<ul>\n", out);
    for (size_t r = 0; r < rows; r++) put_entry(sheet, r, format, out);
    if (format == FOLD_REPORT_HTML) fputs("</ul>\n", out);
  } else if (format == FOLD_REPORT_HTML) {
    put_html(sheet, rows, out);
  } else if (format == FOLD_REPORT_MARKDOWN) {
    put_markdown(sheet, rows, out);
  } else {
    put_text(sheet, rows, out);
  }
}

static fold_status put(const struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out) {
  const size_t all = fold_sheet_rows(sheet), rows = all < most ? all : most;
  if (sheet->failed) return fold_no_memory("for the report");
  if (format == FOLD_REPORT_JUNIT) { /* a document, of no cases too */
    fold_sheet_put_junit(sheet, out);
    return fold_ok();
  }
  if (all == 0) return fold_ok();
  if (format != FOLD_REPORT_HTML || sheet->list) {
    fputs(manners[format].title, out);
    put_lines(out, sheet->title, manners[format].put, format == FOLD_REPORT_HTML ? "<br>" : "\n");
    fputs(manners[format].title_end, out);
  }
  put_rows(sheet, format, rows, out);
  if (all > rows)
    fprintf(out,
            format == FOLD_REPORT_HTML ? "<p>%zu more are in the records.</p>\n" : "\n%zu more are in the records.\n",
            all - rows);
  return fold_ok();
}

fold_status fold_sheet_put(struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out) {
  const fold_status status = put(sheet, format, most, out);
  for (size_t i = 0; i < sheet->n; i++) free((char *)(uintptr_t)sheet->cells[i].text);
  free(sheet->cells);
  *sheet = (struct fold_sheet){0};
  return status;
}
