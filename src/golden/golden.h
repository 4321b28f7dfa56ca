/* golden.h: results that are kept: files in a folder, which later runs must give again.
 *
 * A sheet is a file: all results that come about in one way. A declared order, a method and an accumulator make the same bits on every
 * machine, and so does the exact result: such a sheet binds everywhere, and is checked with no engine at all, by its replay. Any other
 * subject's results are kept for one environment (GPU model, library and its version, launch): elsewhere they are stale, which is
 * neither a pass nor a failure.
 *
 * A sheet is text, for a person to read in a diff: first what it is of, who gave it, the commit of that code; then a line a case, by
 * name: the hash of the input, the fingerprint of the order's tree, and the bits of each result; of more than 16 rows a hash of each
 * sixteenth of them; last how many lines there are, and a hash of all that stands before, so that nothing is taken out or changed by hand. Only `foldproof record --bless` writes it.
 *
 * Beside the sheets lies a list of their names, closed alike: a sheet that is gone, renamed or not listed is an error.
 */
#ifndef FOLD_GOLDEN_H
#define FOLD_GOLDEN_H

#include <jansson.h>
#include <stdio.h>

#include "runner.h"

enum { FOLD_GOLDEN_BITS = 16 };

struct fold_golden_line {
  char *name; /* the case's */
  uint64_t input, tree;
  bool has_tree, hashed; /* `at` holds bits of rows, or hashes of sixteenths */
  size_t n, number;      /* number: in its file */
  uint64_t at[FOLD_GOLDEN_BITS];
  int digits; /* of each */
};

/* Who gave results: "host/numpy on host", "guest mine/sum on host". */
struct fold_golden_by {
  char *name;
  uint64_t object; /* hash of the shared object that it was in; 0: none, or not known */
};

struct fold_golden_sheet {
  char *path;
  char *of;    /* "order host/sequential, kahan" */
  char *where; /* "" of what binds everywhere; else the environment */
  char *commit;
  struct fold_golden_by *by;
  size_t n_by, room_by;
  struct fold_golden_line *line; /* by name */
  size_t n, room;
  bool listed;  /* its file says that a list has its name */
  bool changed; /* since it was read */
};

/* The names of a folder's sheets, as its list has them. */
struct fold_golden_list {
  char **name;
  size_t n, room;
  bool there;
};

struct fold_goldens {
  const char *folder;
  struct fold_golden_sheet *sheet;
  size_t n, room;
  struct fold_golden_list list;
};

/* Reads all *.golden of a folder, and its list; a folder that is not there holds none. BAD_INPUT names file and line of what no --bless wrote. */
fold_status fold_goldens_read(struct fold_goldens *goldens, const char *folder);
void fold_goldens_free(struct fold_goldens *goldens);
/* Puts each sheet that changed into its place, whole, and then the list: whoever is killed on the way leaves each file as it was or as it
 * is to be, and a list that lacks a sheet or names one that is gone. */
fold_status fold_goldens_write(const struct fold_goldens *goldens);
/* BAD_INPUT names a sheet that the list names and that is gone, or that is there and not listed; or the list, where that is gone. A folder
 * that was written before there were lists has none. */
fold_status fold_golden_list_check(const struct fold_goldens *goldens);
/* For --bless, which makes the list anew: prints what becomes of it that no sheet's change shows. */
void fold_golden_list_tell(const struct fold_goldens *goldens);

/* A line's text, as it is written. */
#define FOLD_GOLDEN_FIRST "foldproof golden 2"
#define FOLD_GOLDEN_UNLISTED "foldproof golden 1" /* the same, from before there were lists */
#define FOLD_GOLDEN_LIST "golden.list"
#define FOLD_GOLDEN_LIST_FIRST "foldproof goldens 1"
enum { FOLD_GOLDEN_LONGEST = 1 << 12 };
void fold_golden_text(const struct fold_golden_line *line, char text[FOLD_GOLDEN_LONGEST]);
/* The last line's, of so many lines; `hash` is of all before it: fold_golden_hash of each line's text, of the file's first on. */
void fold_golden_end_text(size_t lines, uint64_t hash, char text[FOLD_GOLDEN_LONGEST]);
uint64_t fold_golden_hash(uint64_t before, const char *text);

/* A file that such a line ends, read a line at a time. */
struct fold_golden_file {
  const char *path;
  fold_status (*take)(void *context,
                      char *text); /* each line, without its end; its failure is told with file and line */
  void *context;
  size_t number; /* of the line at hand, from 1 */
  uint64_t hash; /* of the lines before it */
  bool ended;
};
/* BAD_INPUT where it is none, or has no end. */
fold_status fold_golden_file_read(struct fold_golden_file *file);
/* For `take`: the line at hand is the last of a file of so many lines; BAD_INPUT where it is not what --bless wrote there. */
fold_status fold_golden_file_end(struct fold_golden_file *file, size_t lines, const char *text);

/* A file that is written, and the hash of its lines so far. */
struct fold_golden_writing;
void fold_golden_put_text(struct fold_golden_writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts the file into its place, whole: the lines of `put`, and behind them the last one, of so many lines. */
fold_status fold_golden_file_write(const char *path, void (*put)(struct fold_golden_writing *w, const void *of),
                                   const void *of, size_t lines);
/* Whether a file of that name is a sheet. */
bool fold_golden_is_sheet(const char *name);
fold_status fold_golden_list_read(struct fold_goldens *goldens);
fold_status fold_golden_list_write(const struct fold_goldens *goldens);
void fold_golden_list_free(struct fold_golden_list *list);

/* NULL where there is none. */
struct fold_golden_line *fold_golden_find(const struct fold_golden_sheet *sheet, const char *name);
struct fold_golden_sheet *fold_golden_sheet_of(const struct fold_goldens *goldens, const char *of, const char *where);
/* The same, made where it is not there; NULL: no memory. */
struct fold_golden_sheet *fold_golden_sheet_add(struct fold_goldens *goldens, const char *of, const char *where);
/* Puts a copy of the line into its place, instead of a former one; and a name among those who gave it. */
fold_status fold_golden_put(struct fold_golden_sheet *sheet, const struct fold_golden_line *line);
fold_status fold_golden_put_name(struct fold_golden_sheet *sheet, const struct fold_golden_by *by);
void fold_golden_drop(struct fold_golden_sheet *sheet, struct fold_golden_line *line);
void fold_golden_drop_name(struct fold_golden_sheet *sheet, size_t i);

/* What of results is kept; `results` must have each NaN as the format's one (fold_results_unify). */
void fold_golden_keep(struct fold_golden_line *line, enum fold_dtype dtype, const void *results, size_t rows);
/* The first place of `at` where two lines differ, and whether they do. */
bool fold_golden_differ(const struct fold_golden_line *a, const struct fold_golden_line *b, size_t *place);
/* The first row, and how many, of that place. */
size_t fold_golden_rows(const struct fold_golden_line *line, size_t rows, size_t place, size_t *first);

/* --- what a subject's results are kept as */

/* The text of a sheet's `of`. */
void fold_golden_of(const struct fold_subject *subject, char text[160]);
/* Back: a subject of the host that has that order, method, accumulator and result, and no run function; false: `of` says none, as of a
 * subject whose results are kept for an environment. The order's name is lent by `of_copy`, which it changes. BAD_INPUT for a text that
 * is none of these. */
fold_status fold_golden_how(char *of_copy, struct fold_subject *how, bool *portable);
/* Whether what it gives depends on nothing but the terms. */
bool fold_golden_portable(const struct fold_subject *subject);
/* The environment that the results of a subject that is not portable are kept for: `library` is what guests are built on, as the user
 * says it, or NULL. */
void fold_golden_where(const struct fold_subject *subject, const json_t *environment, const char *library,
                       char text[320]);
/* As fold_golden_by has it. */
void fold_golden_name(const struct fold_subject *subject, char text[120]);
/* Back; false where it is no such text. The name is lent by `text`. */
bool fold_golden_name_read(char *text, struct fold_subject *subject);

#endif
