/* golden.h: results that are kept: files in a folder, which later runs must give again.
 *
 * A sheet is a file with all results that are computed in the same way. A declared order, a method and an accumulator make the same bits
 * on every machine, and so does the exact result: such a sheet binds everywhere, and its replay checks it without any engine. The results
 * of any other subject are kept for one environment (GPU model, library and its version, launch). In another environment they are stale,
 * which is neither a pass nor a failure.
 *
 * A sheet is text, to be read by people in a diff. It begins with what its results are of, who gave them, and the commit of that code.
 * Then comes a line for each case, sorted by name: the hash of the input, the fingerprint of the order's tree, and the bits of each
 * result; for more than 16 rows, a hash of each sixteenth of them. The last line has the number of lines and a hash of everything before
 * it, so that nothing can be removed or changed by hand. Only `foldproof record --bless` writes sheets.
 *
 * Beside the sheets lies a list of their names, which ends with a hash in the same way: a sheet that is gone, renamed or not listed is an error.
 */
#ifndef FOLD_GOLDEN_H
#define FOLD_GOLDEN_H

#include <jansson.h>
#include <stdio.h>

#include "run/runner.h"

enum { FOLD_GOLDEN_BITS = 16 };

struct fold_golden_line {
  char *name; /* the name of the case */
  uint64_t input, tree;
  bool has_tree, hashed; /* hashed: `at` holds hashes of sixteenths of the rows, else the rows' bits */
  size_t n, number;      /* number: its line in the file */
  uint64_t at[FOLD_GOLDEN_BITS];
  int digits; /* how many hexadecimal digits each has */
};

/* Who gave results: "host/numpy on host", "guest mine/sum on host". */
struct fold_golden_by {
  char *name;
  uint64_t object; /* hash of the shared object that contained the subject; 0: there was none, or it is not known */
};

struct fold_golden_sheet {
  char *path;
  char *of;    /* "order host/sequential, kahan" */
  char *where; /* "" if the results bind everywhere; else the environment */
  char *commit;
  struct fold_golden_by *by;
  size_t n_by, room_by;
  struct fold_golden_line *line; /* sorted by name */
  size_t n, room;
  bool listed;  /* its file says that a list names it */
  bool changed; /* it changed since it was read */
};

/* The names of a folder's sheets, according to its list. */
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

/* Reads all *.golden of a folder, and its list; a missing folder has none. BAD_INPUT names the file and line of
 * anything that --bless did not write. */
fold_status fold_goldens_read(struct fold_goldens *goldens, const char *folder);
void fold_goldens_free(struct fold_goldens *goldens);
/* Writes each sheet that changed, whole, and then the list. A process that is killed meanwhile leaves each file either
 * old or new, and a list that may lack a sheet or name one that is gone. */
fold_status fold_goldens_write(const struct fold_goldens *goldens);
/* BAD_INPUT names a sheet that is listed but gone, or that is there but not listed; or the list, if that is gone. A
 * folder that was written before there were lists has none. */
fold_status fold_golden_list_check(const struct fold_goldens *goldens);
/* For --bless, which writes the list anew: prints those of its changes that no change of a sheet shows. */
void fold_golden_list_tell(const struct fold_goldens *goldens);

/* The texts of lines, as they are written. */
#define FOLD_GOLDEN_FIRST "foldproof golden 2"
#define FOLD_GOLDEN_UNLISTED "foldproof golden 1" /* the first line in the format from before there were lists */
#define FOLD_GOLDEN_LIST "golden.list"
#define FOLD_GOLDEN_LIST_FIRST "foldproof goldens 1"
enum { FOLD_GOLDEN_LONGEST = 1 << 12 };
void fold_golden_text(const struct fold_golden_line *line, char text[FOLD_GOLDEN_LONGEST]);
/* The text of the last line of a file of so many lines. `hash` is fold_golden_hash over the text of each line before
 * it, from the first line on. */
void fold_golden_end_text(size_t lines, uint64_t hash, char text[FOLD_GOLDEN_LONGEST]);
uint64_t fold_golden_hash(uint64_t before, const char *text);

/* A file that ends in such a line, read a line at a time. */
struct fold_golden_file {
  const char *path;
  fold_status (*take)(
      void *context,
      char *text); /* called for each line, without its line end; a failure is reported with file and line */
  void *context;
  size_t number; /* the number of the current line, from 1 */
  uint64_t hash; /* of the lines before it */
  bool ended;
};
/* BAD_INPUT if it is not such a file, or lacks its end. */
fold_status fold_golden_file_read(struct fold_golden_file *file);
/* For `take`: checks that the current line is the last of a file of so many lines. BAD_INPUT if it is not what --bless
 * wrote there. */
fold_status fold_golden_file_end(struct fold_golden_file *file, size_t lines, const char *text);

/* A file that is being written, and the hash of its lines so far. */
struct fold_golden_writing;
void fold_golden_put_text(struct fold_golden_writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a file and puts it into place as a whole: the lines of `put`, then the last line for so many lines. */
fold_status fold_golden_file_write(const char *path, void (*put)(struct fold_golden_writing *w, const void *of),
                                   const void *of, size_t lines);
/* Whether a file of that name is a sheet. */
bool fold_golden_is_sheet(const char *name);
fold_status fold_golden_list_read(struct fold_goldens *goldens);
fold_status fold_golden_list_write(const struct fold_goldens *goldens);
void fold_golden_list_free(struct fold_golden_list *list);

/* The line of that case; NULL if there is none. */
struct fold_golden_line *fold_golden_find(const struct fold_golden_sheet *sheet, const char *name);
struct fold_golden_sheet *fold_golden_sheet_of(const struct fold_goldens *goldens, const char *of, const char *where);
/* The sheet for `of` and `where`, which is made if it does not exist; NULL if there is no memory. */
struct fold_golden_sheet *fold_golden_sheet_add(struct fold_goldens *goldens, const char *of, const char *where);
/* Puts a copy of the line into the sheet, instead of a former one; and a name among those who gave results. */
fold_status fold_golden_put(struct fold_golden_sheet *sheet, const struct fold_golden_line *line);
fold_status fold_golden_put_name(struct fold_golden_sheet *sheet, const struct fold_golden_by *by);
void fold_golden_drop(struct fold_golden_sheet *sheet, struct fold_golden_line *line);
void fold_golden_drop_name(struct fold_golden_sheet *sheet, size_t i);

/* Sets what a line keeps of results. `results` must have each NaN as the format's one NaN (fold_results_unify). */
void fold_golden_keep(struct fold_golden_line *line, enum fold_dtype dtype, const void *results, size_t rows);
/* Whether two lines differ, and the first place of `at` where they do. */
bool fold_golden_differ(const struct fold_golden_line *a, const struct fold_golden_line *b, size_t *place);
/* How many rows that place stands for, and the first of them. */
size_t fold_golden_rows(const struct fold_golden_line *line, size_t rows, size_t place, size_t *first);

/* --- which sheet a subject's results belong to */

/* The text of a sheet's `of`. */
void fold_golden_of(const struct fold_subject *subject, char text[160]);
/* Reads such a text: sets a subject of the host with that order, method, accumulator and result, and without a run
 * function. *portable is false if `of` names none of these, as for a subject whose results are kept for an environment.
 * The name of the order is part of `of_copy`, which is changed. BAD_INPUT if the text is none that fold_golden_of
 * writes. */
fold_status fold_golden_how(char *of_copy, struct fold_subject *how, bool *portable);
/* Whether its results depend only on the terms. */
bool fold_golden_portable(const struct fold_subject *subject);
/* The environment for which the results of a subject are kept that is not portable. `library` is what guests are built
 * on, as the user says, or NULL. */
void fold_golden_where(const struct fold_subject *subject, const json_t *environment, const char *library,
                       char text[320]);
/* A subject's name as fold_golden_by has it. */
void fold_golden_name(const struct fold_subject *subject, char text[120]);
/* Reads such a name; false if the text is no such name. The subject's name is part of `text`. */
bool fold_golden_name_read(char *text, struct fold_subject *subject);

#endif
