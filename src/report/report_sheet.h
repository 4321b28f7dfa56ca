/* report_sheet.h: a table as it is meant: its columns with their kind and unit, its rows; and its writers.
 *
 * A view makes a sheet of the model and knows no format; a writer knows no view. What does not fit into memory is remembered, and told by
 * the writer. Cells are added one by one, row by row.
 */
#ifndef FOLD_REPORT_SHEET_H
#define FOLD_REPORT_SHEET_H

#include <stdio.h>

#include "fold.h"

enum fold_column_kind {
  FOLD_COLUMN_TEXT,
  FOLD_COLUMN_CODE,   /* a command: of a list, on a line of its own */
  FOLD_COLUMN_COUNT,  /* a whole number */
  FOLD_COLUMN_NUMBER, /* three digits */
};

struct fold_column {
  const char *name, *unit; /* unit: "" where it has none */
  enum fold_column_kind kind;
};

enum { FOLD_SHEET_COLUMNS = 72, FOLD_SHEET_TITLE = 800 };

struct fold_sheet {
  const char *name, *title; /* of its rows in CSV; for people */
  bool titled;              /* one of several of that name: CSV has the title beside it */
  bool list; /* rows are long, and read as entries: the first two columns, then the others with their names */
  const struct fold_column *columns;
  struct fold_sheet_cell {
    char *text;    /* NULL: a number */
    double number; /* NaN: not known */
    bool bad;
  } * cells;
  size_t n_columns, n, room;
  bool failed;
  /* Of a sheet whose title and columns depend on the records. */
  char own_title[FOLD_SHEET_TITLE], own_names[FOLD_SHEET_COLUMNS][64];
  struct fold_column own[FOLD_SHEET_COLUMNS];
};

void fold_sheet_open(struct fold_sheet *sheet, const char *name, const char *title, const struct fold_column *columns,
                     size_t n_columns);
/* One of several of that name; its columns follow, one by one, before any cell. Those past FOLD_SHEET_COLUMNS are an error of the view's. */
void fold_sheet_open_titled(struct fold_sheet *sheet, const char *name, const char *title);
void fold_sheet_column(struct fold_sheet *sheet, enum fold_column_kind kind, const char *name);
void fold_sheet_close(struct fold_sheet *sheet);
void fold_sheet_text(struct fold_sheet *sheet, const char *text);
void fold_sheet_number(struct fold_sheet *sheet, double number);
void fold_sheet_numbers(struct fold_sheet *sheet, const double *numbers, size_t n);
/* A timed collective's: "", or that it is implausible or too noisy, and why; its row is then marked. */
void fold_sheet_doubt(struct fold_sheet *sheet, bool implausible, bool noisy, const char *why);
/* Of the row that the last cell is in: it is to be seen at once. */
void fold_sheet_mark(struct fold_sheet *sheet);
/* A sorted copy of what a view makes its rows of; NULL where there is none, or no memory. */
void *fold_sheet_sorted(struct fold_sheet *sheet, const void *items, size_t n, size_t size,
                        int (*compare)(const void *left, const void *right));
size_t fold_sheet_rows(const struct fold_sheet *sheet);
/* Puts the rows that have the largest numbers in that column first. */
void fold_sheet_sort(struct fold_sheet *sheet, size_t column);

enum fold_report_format {
  FOLD_REPORT_HTML,
  FOLD_REPORT_MARKDOWN,
  FOLD_REPORT_JUNIT,
  FOLD_REPORT_TEXT,
  FOLD_REPORT_CSV,
  FOLD_REPORT_FORMATS
};
/* At most `most` rows, and how many there are more; a sheet without rows writes nothing. CSV: all of them, numbers in full. JUnit has no
 * tables. NO_MEMORY where the sheet is not whole. */
fold_status fold_sheet_put(const struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out);

#endif
