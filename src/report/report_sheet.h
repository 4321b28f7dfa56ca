/* report_sheet.h: a table without a format: a title, columns with kind and unit, rows; and its writers.
 *
 * A view makes a sheet from the model and knows no format; a writer knows no view. Cells are added one by one, row by row. If
 * memory runs out, the sheet remembers it and the writer reports it.
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
  bool list; /* rows are long and are written as entries: the first two columns, then the others with their names */
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
/* Adds a timed collective's doubt: "", or "implausible" or "too noisy" with the reason; then the row is marked. */
void fold_sheet_doubt(struct fold_sheet *sheet, bool implausible, bool noisy, const char *why);
/* Marks the row of the last cell as bad. */
void fold_sheet_mark(struct fold_sheet *sheet);
/* A sorted copy of the items that become rows; NULL if there are none, or no memory. */
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
/* At most `most` rows, and how many there are more; a sheet without rows writes nothing. CSV: all of them, numbers in full. JUnit
 * has no tables. NO_MEMORY if the sheet is incomplete. */
fold_status fold_sheet_put(const struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out);

#endif
