/* golden/sheet.c: a sheet in memory: lines by name, found, put and dropped. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"
#include "golden/golden.h"

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens"); }

/* The place of that name in the sheet, or the place where it would be inserted. */
static size_t place_of(const struct fold_golden_sheet *s, const char *name) {
  size_t from = 0, to = s->n;
  while (from < to) {
    const size_t middle = from + (to - from) / 2;
    if (strcmp(s->line[middle].name, name) < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

struct fold_golden_line *fold_golden_find(const struct fold_golden_sheet *s, const char *name) {
  const size_t at = place_of(s, name);
  return at < s->n && strcmp(s->line[at].name, name) == 0 ? &s->line[at] : NULL;
}

fold_status fold_golden_put(struct fold_golden_sheet *s, const struct fold_golden_line *line) {
  const size_t at = place_of(s, line->name);
  s->changed = true;
  if (at < s->n && strcmp(s->line[at].name, line->name) == 0) {
    char *name = s->line[at].name;
    s->line[at] = *line;
    s->line[at].name = name;
    return fold_ok();
  }
  char *name = strdup(line->name);
  if (name == NULL || !fold_list_grow(&s->line, &s->n, &s->room, sizeof *s->line)) {
    free(name);
    return no_memory();
  }
  memmove(&s->line[at + 1], &s->line[at], (s->n - 1 - at) * sizeof *s->line);
  s->line[at] = *line;
  s->line[at].name = name;
  return fold_ok();
}

void fold_golden_drop(struct fold_golden_sheet *s, struct fold_golden_line *line) {
  const size_t at = (size_t)(line - s->line);
  free(line->name);
  memmove(line, line + 1, (--s->n - at) * sizeof *s->line);
  s->changed = true;
}

fold_status fold_golden_put_name(struct fold_golden_sheet *s, const struct fold_golden_by *by) {
  size_t at = 0;
  while (at < s->n_by && strcmp(s->by[at].name, by->name) < 0) at++;
  if (at < s->n_by && strcmp(s->by[at].name, by->name) == 0) {
    s->changed |= s->by[at].object != by->object;
    s->by[at].object = by->object;
    return fold_ok();
  }
  char *copy = strdup(by->name);
  if (copy == NULL || !fold_list_grow(&s->by, &s->n_by, &s->room_by, sizeof *s->by)) {
    free(copy);
    return no_memory();
  }
  memmove(&s->by[at + 1], &s->by[at], (s->n_by - 1 - at) * sizeof *s->by);
  s->by[at] = (struct fold_golden_by){copy, by->object};
  s->changed = true;
  return fold_ok();
}

void fold_golden_drop_name(struct fold_golden_sheet *s, size_t i) {
  free(s->by[i].name);
  memmove(&s->by[i], &s->by[i + 1], (--s->n_by - i) * sizeof *s->by);
  s->changed = true;
}

struct fold_golden_sheet *fold_golden_sheet_of(const struct fold_goldens *g, const char *of, const char *where) {
  for (size_t i = 0; i < g->n; i++)
    if (strcmp(g->sheet[i].of, of) == 0 && strcmp(g->sheet[i].where, where) == 0) return &g->sheet[i];
  return NULL;
}

/* "order-host-numpy.golden": a name that is allowed on any system. `turn` distinguishes two sheets whose names differ
 * only in characters that are not. */
static char *path_of(const char *folder, const char *of, const char *where, size_t turn) {
  char *path = NULL, more[24] = "";
  if (turn) snprintf(more, sizeof more, "-%zu", turn + 1);
  if (asprintf(&path, "%s/%s%s%s%s.golden", folder, of, *where ? "-" : "", where, more) < 0) return NULL;
  char *from = path + strlen(folder) + 1, *to = from, *end = path + strlen(path) - strlen(".golden");
  for (; from < end; from++) {
    const bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                       (*from >= '0' && *from <= '9') || *from == '_' || *from == '.';
    if (plain || to[-1] != '-') *to++ = plain ? *from : '-';
  }
  memmove(to, end, strlen(".golden") + 1);
  return path;
}

static bool is_taken(const struct fold_goldens *g, const char *path) {
  for (size_t i = 0; i < g->n; i++)
    if (strcmp(g->sheet[i].path, path) == 0) return true;
  return false;
}

static char *free_path_of(const struct fold_goldens *g, const char *of, const char *where) {
  char *path = path_of(g->folder, of, where, 0);
  for (size_t turn = 1; path && is_taken(g, path); turn++) {
    free(path);
    path = path_of(g->folder, of, where, turn);
  }
  return path;
}

struct fold_golden_sheet *fold_golden_sheet_add(struct fold_goldens *g, const char *of, const char *where) {
  struct fold_golden_sheet *s = fold_golden_sheet_of(g, of, where);
  if (s) return s;
  char *path = free_path_of(g, of, where);
  s = fold_list_grow(&g->sheet, &g->n, &g->room, sizeof *g->sheet);
  if (s == NULL) {
    free(path);
    return NULL;
  }
  *s = (struct fold_golden_sheet){.path = path, .of = strdup(of), .where = strdup(where), .commit = strdup("unknown")};
  return s->path && s->of && s->where && s->commit ? s : NULL;
}

void fold_goldens_free(struct fold_goldens *g) {
  for (size_t i = 0; i < g->n; i++) {
    struct fold_golden_sheet *s = &g->sheet[i];
    for (size_t k = 0; k < s->n; k++) free(s->line[k].name);
    for (size_t k = 0; k < s->n_by; k++) free(s->by[k].name);
    free(s->line);
    free(s->by);
    free(s->path);
    free(s->of);
    free(s->where);
    free(s->commit);
  }
  free(g->sheet);
  fold_golden_list_free(&g->list);
  *g = (struct fold_goldens){0};
}

size_t fold_golden_rows(const struct fold_golden_line *line, size_t rows, size_t place, size_t *first) {
  *first = line->hashed ? place * rows / FOLD_GOLDEN_BITS : place;
  return line->hashed ? (place + 1) * rows / FOLD_GOLDEN_BITS - *first : 1;
}

void fold_golden_keep(struct fold_golden_line *line, enum fold_dtype dtype, const void *results, size_t rows) {
  line->hashed = rows > FOLD_GOLDEN_BITS;
  line->n = line->hashed ? FOLD_GOLDEN_BITS : rows;
  line->digits = line->hashed ? 16 : line->n ? fold_format_of(dtype).bits / 4 : 0;
  for (size_t i = 0; i < line->n; i++) {
    size_t first, n = fold_golden_rows(line, rows, i, &first);
    const unsigned char *at = (const unsigned char *)results + first * fold_dtype_size(dtype);
    line->at[i] = line->hashed ? fold_results_hash(dtype, at, n) : fold_bits_load(dtype, results, i);
  }
}

bool fold_golden_differ(const struct fold_golden_line *a, const struct fold_golden_line *b, size_t *place) {
  const size_t n = a->n < b->n ? a->n : b->n;
  for (*place = 0; *place < n; ++*place)
    if (a->at[*place] != b->at[*place]) return true;
  return a->n != b->n || a->hashed != b->hashed || a->digits != b->digits;
}
