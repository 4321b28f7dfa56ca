/* sheet.h: a table without a format: a title, columns with their kinds, rows; and its writers.
 *
 * A view makes a sheet and knows no format; a writer knows no view. If memory runs out, the sheet remembers it and the writer
 * reports it.
 */
#ifndef FOLD_SHEET_H
#define FOLD_SHEET_H

#include <stdio.h>

#include "fold.h"

enum fold_column_kind {
  FOLD_COLUMN_TEXT,
  FOLD_COLUMN_CODE,   /* a command: of a list, on a line of its own */
  FOLD_COLUMN_COUNT,  /* a whole number */
  FOLD_COLUMN_NUMBER, /* three digits */
};

enum { FOLD_SHEET_COLUMNS = 72, FOLD_SHEET_TITLE = 800 };

struct fold_cell {
  const char *text;  /* NULL: a number. Its lines stay lines in HTML */
  double number;     /* NaN: not known */
  const char *class; /* of HTML, a constant; of a row's first cell, the row's; "bad": in doubt, or wrong; NULL */
  char link[48];     /* of HTML: where it leads; of a row's first cell, the row's name */
};

struct fold_sheet {
  const char *name;             /* of its rows in CSV */
  const char *class;            /* of the table in HTML; NULL: none */
  char title[FOLD_SHEET_TITLE]; /* for people */
  bool titled;                  /* one of several of that name: CSV has the title beside it */
  bool list; /* rows are long and are written as entries: the first three columns, then the others with their names */
  struct fold_column {
    char name[64];
    enum fold_column_kind kind;
    bool shared; /* a terminal gets the value that all rows have once, above the table */
  } columns[FOLD_SHEET_COLUMNS];
  struct fold_cell *cells; /* texts are the sheet's own */
  size_t n_columns, n, room;
  bool failed;
};

/* Columns are "Name;Name" of texts; '#' before a name: of counts, '=': of numbers, '$': of commands. '^' before that: shared. */
void fold_sheet_open(struct fold_sheet *sheet, const char *name, const char *title, const char *columns);
/* More of them, before any row. Those past FOLD_SHEET_COLUMNS are an error of the view's. */
void fold_sheet_columns(struct fold_sheet *sheet, const char *columns);

/* A row: FOLD_ROW(sheet, T(text), N(number)); or its cells, some at a time. */
#define T(of) \
  { .text = (of) }
#define N(of) \
  { .number = (double)(of) }
#define FOLD_ROW(sheet, ...)                                       \
  fold_sheet_add((sheet), (const struct fold_cell[]){__VA_ARGS__}, \
                 sizeof((const struct fold_cell[]){__VA_ARGS__}) / sizeof(struct fold_cell))
void fold_sheet_add(struct fold_sheet *sheet, const struct fold_cell *cells, size_t n);
/* Gives the row of the last cell that class. */
void fold_sheet_mark(struct fold_sheet *sheet, const char *class);
/* The row's first cell. */
struct fold_cell *fold_sheet_row(const struct fold_sheet *sheet, size_t row);
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
/* Writes at most `most` rows, and how many more there are; a sheet without rows writes nothing. CSV: all of them, numbers in full. JUnit:
 * all of them, of a sheet of cases (sheet_junit.c). NO_MEMORY if the sheet is incomplete. The sheet is freed. */
fold_status fold_sheet_put(struct fold_sheet *sheet, enum fold_report_format format, size_t most, FILE *out);

#endif
