/* sheet.c: a sheet's columns and cells. */
#include "sheet/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

void fold_sheet_open(struct fold_sheet *sheet, const char *title, const char *columns) {
  *sheet = (struct fold_sheet){0};
  snprintf(sheet->title, sizeof sheet->title, "%s", title);
  fold_sheet_columns(sheet, columns);
}

void fold_sheet_column(struct fold_sheet *sheet, enum fold_column_kind kind, const char *name) {
  sheet->failed |= sheet->n_columns == FOLD_SHEET_COLUMNS;
  if (sheet->n_columns == FOLD_SHEET_COLUMNS) return;
  struct fold_column *column = &sheet->columns[sheet->n_columns++];
  column->kind = kind;
  snprintf(column->name, sizeof column->name, "%s", name);
}

void fold_sheet_columns(struct fold_sheet *sheet, const char *columns) {
  static const char signs[] = " $#="; /* in the sequence of enum fold_column */
  for (const char *end = ""; columns; columns = *end ? end + 1 : NULL) {
    const bool shared = *columns == '^';
    columns += shared;
    const char *sign = *columns ? strchr(signs + 1, *columns) : NULL;
    end = columns + strcspn(columns, ";");
    if (sign) columns++;
    char name[sizeof sheet->columns->name];
    snprintf(name, sizeof name, "%.*s", (int)(end - columns), columns);
    fold_sheet_column(sheet, sign ? (enum fold_column_kind)(sign - signs) : FOLD_COLUMN_TEXT, name);
    sheet->columns[sheet->n_columns - 1].shared |= shared;
  }
}

void fold_sheet_add(struct fold_sheet *sheet, const struct fold_cell *cells, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct fold_cell *cell = fold_list_grow(&sheet->cells, &sheet->n, &sheet->room, sizeof *cell);
    if (cell) *cell = cells[i];
    if (cell && cell->text) cell->text = strdup(cell->text);
    sheet->failed |= cell == NULL || (cells[i].text && cell->text == NULL);
  }
}

size_t fold_sheet_rows(const struct fold_sheet *sheet) { return sheet->n_columns ? sheet->n / sheet->n_columns : 0; }

struct fold_cell *fold_sheet_row(const struct fold_sheet *sheet, size_t row) {
  return &sheet->cells[row * sheet->n_columns];
}

void fold_sheet_mark(struct fold_sheet *sheet, const char *class) {
  if (sheet->n) fold_sheet_row(sheet, (sheet->n - 1) / sheet->n_columns)->class = class;
}

static int compare_rows(const void *left, const void *right, void *context) {
  const size_t column = *(const size_t *)context;
  const double a = ((const struct fold_cell *)left)[column].number;
  const double b = ((const struct fold_cell *)right)[column].number;
  return (a < b) - (a > b);
}

void fold_sheet_sort(struct fold_sheet *sheet, size_t column) {
  if (sheet->failed || sheet->n == 0) return;
  qsort_r(sheet->cells, fold_sheet_rows(sheet), sheet->n_columns * sizeof *sheet->cells, compare_rows, &column);
}
