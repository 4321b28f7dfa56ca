/* sheet.h: a table without a format: a title, columns with their kinds, rows; and its writers.
 *
 * A view makes a sheet and knows no format; a writer knows no view. If memory runs out, the sheet remembers it and the writer
 * reports it.
 */
#ifndef FOLD_SHEET_H
#define FOLD_SHEET_H

#include <stdio.h>

#include "base/fold.h"

enum fold_column_kind {
  FOLD_COLUMN_TEXT,
  FOLD_COLUMN_CODE,   /* a command; in a list it has a line of its own */
  FOLD_COLUMN_COUNT,  /* a whole number */
  FOLD_COLUMN_NUMBER, /* shown with three digits */
};

enum { FOLD_SHEET_COLUMNS = 72, FOLD_SHEET_TITLE = 800 };

struct fold_cell {
  const char *text; /* NULL: the cell is a number. In HTML its line breaks are kept */
  double number;    /* NaN: not known */
  const char
      *class;    /* for HTML, a constant; in a row's first cell, the row's class; "bad": in doubt, or wrong; or NULL */
  char link[48]; /* for HTML: the target of a link; in the first cell of a row, the row's anchor */
};

struct fold_sheet {
  const char *class;            /* of the table in HTML; NULL: none */
  char title[FOLD_SHEET_TITLE]; /* the heading that people read */
  bool list; /* rows are long and are written as entries: the first three columns, then the others with their names */
  struct fold_column {
    char name[64];
    enum fold_column_kind kind;
    bool shared; /* on a terminal, a value that all rows share is written once, above the table */
  } columns[FOLD_SHEET_COLUMNS];
  struct fold_cell *cells; /* the sheet owns the texts */
  size_t n_columns, n, room;
  bool failed;
};

/* Columns are "Name;Name", of texts. A character before a name gives another kind: '#' counts, '=' numbers, '$'
 * commands. '^' before that: shared. */
void fold_sheet_open(struct fold_sheet *sheet, const char *title, const char *columns);
/* Adds columns; must come before the first row. Columns beyond FOLD_SHEET_COLUMNS are an error in the view. */
void fold_sheet_columns(struct fold_sheet *sheet, const char *columns);
/* Adds one column, whose name may have any of these signs. */
void fold_sheet_column(struct fold_sheet *sheet, enum fold_column_kind kind, const char *name);

/* Adds a row: FOLD_ROW(sheet, T(text), N(number)); or its cells, some at a time. */
#define T(of) \
  { .text = (of) }
#define N(of) \
  { .number = (double)(of) }
#define FOLD_ROW(sheet, ...)                                       \
  fold_sheet_add((sheet), (const struct fold_cell[]){__VA_ARGS__}, \
                 sizeof((const struct fold_cell[]){__VA_ARGS__}) / sizeof(struct fold_cell))
void fold_sheet_add(struct fold_sheet *sheet, const struct fold_cell *cells, size_t n);
/* Sets the class of the row to which the last cell belongs. */
void fold_sheet_mark(struct fold_sheet *sheet, const char *class);
/* The first cell of a row. */
struct fold_cell *fold_sheet_row(const struct fold_sheet *sheet, size_t row);
size_t fold_sheet_rows(const struct fold_sheet *sheet);
/* Sorts the rows by that column, largest number first. */
void fold_sheet_sort(struct fold_sheet *sheet, size_t column);

enum fold_report_format {
  FOLD_REPORT_HTML,
  FOLD_REPORT_MARKDOWN,
  FOLD_REPORT_JUNIT,
  FOLD_REPORT_TEXT,
  FOLD_REPORT_FORMATS
};
/* Writes at most `most` rows, and how many more there are; nothing if the sheet has no rows. JUnit has all rows of a sheet of cases (sheet/junit.c). NO_MEMORY if the sheet is incomplete. Frees
 * the sheet. */
fold_status fold_sheet_put(struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out);
/* JUnit's part of it (sheet/junit.c). */
void fold_sheet_put_junit(const struct fold_sheet *sheet, FILE *out);

#endif
