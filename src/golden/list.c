/* golden/list.c: the list of a folder's sheets, which shows when a sheet is gone.
 *
 * --bless writes it last. A process that is killed before that leaves a sheet that the list lacks, or a name without its sheet. Both are
 * errors until --bless runs again. Sheets of format 2 say that they are listed, so that the loss of the list itself is found. Only a
 * folder that an older foldproof wrote has no list.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/path.h"
#include "golden/golden.h"

enum { MOST_LINES = 10 };

static const char *name_of(const struct fold_golden_sheet *sheet) { return strrchr(sheet->path, '/') + 1; }

static bool is_named(const struct fold_goldens *g, const char *name) {
  for (size_t i = 0; i < g->list.n; i++)
    if (strcmp(g->list.name[i], name) == 0) return true;
  return false;
}

static bool is_there(const struct fold_goldens *g, const char *name) {
  for (size_t i = 0; i < g->n; i++)
    if (strcmp(name_of(&g->sheet[i]), name) == 0) return true;
  return false;
}

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens"); }

static fold_status add(struct fold_golden_list *list, const char *name) {
  char **added = fold_list_grow(&list->name, &list->n, &list->room, sizeof *added);
  if (added) *added = strdup(name);
  return added && *added ? fold_ok() : no_memory();
}

void fold_golden_list_free(struct fold_golden_list *list) {
  for (size_t i = 0; i < list->n; i++) free(list->name[i]);
  free(list->name);
  *list = (struct fold_golden_list){0};
}

/* "DIR/golden.list", to be freed. */
static char *path_of(const struct fold_goldens *g) {
  char *path = NULL;
  return asprintf(&path, "%s/" FOLD_GOLDEN_LIST, g->folder) < 0 ? NULL : path;
}

struct reading {
  struct fold_golden_file file;
  struct fold_golden_list *list;
};

static fold_status take(void *context, char *text) {
  struct reading *r = context;
  struct fold_golden_list *list = r->list;
  if (r->file.number == 1)
    return strcmp(text, FOLD_GOLDEN_LIST_FIRST) == 0
               ? fold_ok()
               : fold_error(FOLD_BAD_INPUT, "no list of goldens: '" FOLD_GOLDEN_LIST_FIRST "' is wanted");
  if (text[0] == '#' || text[0] == '\0') return fold_ok();
  if (strncmp(text, "end ", 4) == 0) return fold_golden_file_end(&r->file, list->n, text);
  if (!fold_golden_is_sheet(text) || strchr(text, '/'))
    return fold_error(FOLD_BAD_INPUT, "'%.60s': no line that --bless wrote", text);
  if (list->n && strcmp(list->name[list->n - 1], text) >= 0)
    return fold_error(FOLD_BAD_INPUT, "%.100s: twice, or out of its place", text);
  return add(list, text);
}

fold_status fold_golden_list_read(struct fold_goldens *g) {
  char *path = path_of(g);
  struct reading r = {.list = &g->list, .file = {.path = path, .take = take, .context = &r}};
  if (path == NULL) return no_memory();
  g->list.there = access(path, F_OK) == 0;
  fold_status status = g->list.there ? fold_golden_file_read(&r.file) : fold_ok();
  free(path);
  return status;
}

/* The first sheet that the list lacks, and how many more there are; NULL if there is none. */
static const char *find_unlisted(const struct fold_goldens *g, size_t *n) {
  const char *first = NULL;
  *n = 0;
  for (size_t i = 0; i < g->n; i++) {
    const char *name = name_of(&g->sheet[i]);
    if (is_named(g, name)) continue;
    ++*n;
    if (!first) first = name;
  }
  return first;
}

static const char *find_gone(const struct fold_goldens *g, size_t *n) {
  const char *first = NULL;
  *n = 0;
  for (size_t i = 0; i < g->list.n; i++) {
    if (is_there(g, g->list.name[i])) continue;
    ++*n;
    if (!first) first = g->list.name[i];
  }
  return first;
}

/* Whether some sheet says that there is a list. */
static bool has_listed(const struct fold_goldens *g) {
  for (size_t i = 0; i < g->n; i++)
    if (g->sheet[i].listed) return true;
  return false;
}

/* The end of the folder's path: a message must have room for a sheet's name too. */
static const char *tail_of(const char *folder) {
  const size_t n = strlen(folder), most = 30;
  return n > most ? folder + n - most : folder;
}

fold_status fold_golden_list_check(const struct fold_goldens *g) {
  size_t n_gone, n_unlisted;
  char more[40] = "";
  const char *folder = tail_of(g->folder), *gone = find_gone(g, &n_gone), *unlisted = find_unlisted(g, &n_unlisted);
  const size_t n = gone ? n_gone : n_unlisted;
  if (!g->list.there && has_listed(g))
    return fold_error(FOLD_BAD_INPUT,
                      "%.30s/" FOLD_GOLDEN_LIST
                      " is gone, and a golden that went with it would not be missed: take it "
                      "back from your repository, or run record --bless again",
                      folder);
  if (!g->list.there || n == 0) return fold_ok();
  if (n > 1) snprintf(more, sizeof more, " (and %zu more)", n - 1);
  if (gone && unlisted)
    return fold_error(FOLD_BAD_INPUT, "%.100s is gone%s, and %.60s is there instead: take it back from your repository",
                      gone, more, unlisted);
  if (gone)
    return fold_error(FOLD_BAD_INPUT,
                      "%.100s is gone%s from %.30s: take it back from your repository, or let record --bless drop it",
                      gone, more, folder);
  return fold_error(FOLD_BAD_INPUT,
                    "%.100s%s in %.30s is not in its " FOLD_GOLDEN_LIST ": remove it, or let record --bless list it",
                    unlisted, more, folder);
}

void fold_golden_list_tell(const struct fold_goldens *g) {
  size_t told = 0;
  if (!g->list.there && g->n) printf("LISTS: what is in the folder: " FOLD_GOLDEN_LIST ", which is new\n");
  for (size_t i = 0; i < g->list.n; i++)
    if (!is_there(g, g->list.name[i]) && told++ < MOST_LINES)
      printf("DROPS: %s, which is gone: " FOLD_GOLDEN_LIST "\n", g->list.name[i]);
  for (size_t i = 0; i < g->n && g->list.there; i++)
    if (!is_named(g, name_of(&g->sheet[i])) && told++ < MOST_LINES)
      printf("LISTS: %s, which was there: " FOLD_GOLDEN_LIST "\n", name_of(&g->sheet[i]));
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_same(const struct fold_golden_list *a, const struct fold_golden_list *b) {
  if (a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->name[i], b->name[i]) != 0) return false;
  return true;
}

static void put_list(struct fold_golden_writing *w, const void *of) {
  const struct fold_golden_list *list = of;
  fold_golden_put_text(w, FOLD_GOLDEN_LIST_FIRST);
  fold_golden_put_text(
      w, "# The files of this folder, by `foldproof record --bless`: one that is gone, or not listed, is an error.");
  fold_golden_put_text(w, "%s", "");
  for (size_t i = 0; i < list->n; i++) fold_golden_put_text(w, "%s", list->name[i]);
}

fold_status fold_golden_list_write(const struct fold_goldens *g) {
  struct fold_golden_list now = {0};
  char *path = path_of(g);
  fold_status status = path ? fold_ok() : no_memory();
  for (size_t i = 0; i < g->n && status.code == FOLD_OK; i++)
    if (g->sheet[i].n && g->sheet[i].n_by) status = add(&now, name_of(&g->sheet[i]));
  if (now.n) qsort(now.name, now.n, sizeof *now.name, by_name);
  const bool wanted = g->list.there ? !is_same(&now, &g->list) : now.n > 0;
  if (status.code == FOLD_OK && wanted) status = fold_golden_file_write(path, put_list, &now, now.n);
  fold_golden_list_free(&now);
  free(path);
  return status;
}
