/* golden/read.c: reads sheets from text. The text must be exactly what would be written: a missing digit, or a line that is repeated or out
 * of place, is an error, and nothing is mistaken for something else. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "golden/golden.h"

static bool next_hex(char **rest, uint64_t *value, int *digits) {
  char *word = strtok_r(NULL, " ", rest), *end = NULL;
  if (word == NULL) return false;
  *digits = (int)strlen(word);
  *value = strtoull(word, &end, 16);
  return *end == '\0' && *digits <= 16;
}

/* False if the text is no line of a case. */
static bool read_line(char *text, struct fold_golden_line *l) {
  char *rest = NULL, *word;
  int digits;
  *l = (struct fold_golden_line){0};
  l->name = strtok_r(text, " ", &rest);
  word = l->name ? strtok_r(NULL, " ", &rest) : NULL;
  if (!word || strcmp(word, "input") != 0 || !next_hex(&rest, &l->input, &digits)) return false;
  word = strtok_r(NULL, " ", &rest);
  if (word && strcmp(word, "tree") == 0) {
    l->has_tree = true;
    if (!next_hex(&rest, &l->tree, &digits)) return false;
    word = strtok_r(NULL, " ", &rest);
  }
  if (!word || (strcmp(word, "bits") != 0 && strcmp(word, "sixteenths") != 0)) return false;
  l->hashed = *word == 's';
  uint64_t bits;
  while (next_hex(&rest, &bits, &digits)) {
    if (l->n == FOLD_GOLDEN_BITS) return false;
    l->at[l->n++] = bits;
    l->digits = digits;
  }
  return true;
}

struct head {
  char *of, *where, *commit;
};

struct reading {
  struct fold_golden_file file;
  struct fold_goldens *goldens;
  struct fold_golden_sheet *sheet;
  struct head head;
  struct fold_golden_by by[64];
  size_t n_by;
  bool has_order; /* then each line with results must have a tree */
  bool listed;
};

static fold_status take_line(struct reading *r, const char *text) {
  struct fold_golden_sheet *s = r->sheet;
  char copy[FOLD_GOLDEN_LONGEST], again[FOLD_GOLDEN_LONGEST];
  struct fold_golden_line line;
  snprintf(copy, sizeof copy, "%s", text);
  bool right = read_line(copy, &line);
  if (right) fold_golden_text(&line, again);
  if (!right || strcmp(again, text) != 0)
    return fold_error(FOLD_BAD_INPUT, "'%.60s': no line that --bless wrote", text);
  if (s->n && strcmp(s->line[s->n - 1].name, line.name) >= 0)
    return fold_error(FOLD_BAD_INPUT, "%.100s: twice, or out of its place", line.name);
  if (line.n > 0 && line.has_tree != r->has_order)
    return fold_error(FOLD_BAD_INPUT, "%.100s: %s", line.name,
                      r->has_order ? "it has no tree of its order" : "no order has its tree");
  line.number = r->file.number;
  return fold_golden_put(s, &line);
}

/* The value after "key "; NULL if the line has another key. */
static const char *behind(const char *text, const char *key) {
  const size_t n = strlen(key);
  return strncmp(text, key, n) == 0 && text[n] == ' ' ? text + n + 1 : NULL;
}

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens"); }

static fold_status open_sheet(struct reading *r) {
  const struct head *h = &r->head;
  struct fold_goldens *g = r->goldens;
  struct fold_subject how;
  bool portable;
  char copy[200];
  if (!h->of || !h->commit) return fold_error(FOLD_BAD_INPUT, "it does not name its subjects' order, or its commit");
  snprintf(copy, sizeof copy, "%s", h->of);
  FOLD_TRY(fold_golden_how(copy, &how, &portable));
  if (portable != (h->where == NULL))
    return fold_error(FOLD_BAD_INPUT, portable ? "what binds everywhere has no environment" : "it has no environment");
  r->has_order = how.order != NULL;
  const char *where = h->where ? h->where : "";
  if (fold_golden_sheet_of(g, h->of, where))
    return fold_error(FOLD_BAD_INPUT, "a second file has the same 'of' and environment");
  struct fold_golden_sheet *sheet = r->sheet = fold_golden_sheet_add(g, h->of, where);
  if (sheet == NULL) return no_memory();
  free(sheet->path);
  free(sheet->commit);
  sheet->listed = r->listed;
  sheet->path = strdup(r->file.path);
  sheet->commit = strdup(h->commit);
  return sheet->path && sheet->commit ? fold_ok() : no_memory();
}

static fold_status no_line(const char *text) {
  return fold_error(FOLD_BAD_INPUT, "'%.60s': no line that --bless wrote", text);
}

/* A name, and the hash of the object that it is in. */
static fold_status take_by(struct reading *r, const char *value) {
  static const char mark[] = ", object ";
  struct fold_subject subject;
  char copy[200], *comma;
  int digits = 0;
  struct fold_golden_by by = {0};
  snprintf(copy, sizeof copy, "%s", value);
  comma = strstr(copy, mark);
  if (comma) {
    char *rest = comma + sizeof mark - 1;
    *comma = '\0';
    if (!next_hex(&rest, &by.object, &digits) || digits != 16 || by.object == 0) return no_line(value);
  }
  by.name = strdup(copy);
  if (by.name == NULL) return no_memory();
  if (r->n_by == sizeof r->by / sizeof *r->by || !fold_golden_name_read(copy, &subject)) {
    free(by.name);
    return fold_error(FOLD_BAD_INPUT, "by '%.60s': this is not the name of a subject", value);
  }
  r->by[r->n_by++] = by;
  return fold_ok();
}

static fold_status take_head(struct reading *r, const char *text) {
  const char *value;
  char **place = NULL;
  if ((value = behind(text, "by"))) return take_by(r, value);
  if ((value = behind(text, "of")))
    place = &r->head.of;
  else if ((value = behind(text, "where")))
    place = &r->head.where;
  else if ((value = behind(text, "commit")))
    place = &r->head.commit;
  if (place == NULL || *place) return no_line(text);
  *place = strdup(value);
  return *place ? fold_ok() : no_memory();
}

static fold_status take_text(void *context, char *text) {
  struct reading *r = context;
  if (r->file.number == 1) {
    r->listed = strcmp(text, FOLD_GOLDEN_FIRST) == 0;
    return r->listed || strcmp(text, FOLD_GOLDEN_UNLISTED) == 0
               ? fold_ok()
               : fold_error(FOLD_BAD_INPUT, "no golden: '" FOLD_GOLDEN_FIRST "' is wanted");
  }
  if (text[0] == '#') return fold_ok();
  if (r->sheet && behind(text, "end")) return fold_golden_file_end(&r->file, r->sheet->n, text);
  if (r->sheet) return take_line(r, text);
  if (text[0]) return take_head(r, text);
  FOLD_TRY(open_sheet(r));
  for (size_t i = 0; i < r->n_by; i++) FOLD_TRY(fold_golden_put_name(r->sheet, &r->by[i]));
  return fold_ok();
}

static fold_status read_sheet(struct fold_goldens *g, const char *path) {
  struct reading r = {.goldens = g};
  r.file = (struct fold_golden_file){.path = path, .take = take_text, .context = &r};
  fold_status status = fold_golden_file_read(&r.file);
  if (r.sheet) r.sheet->changed = false;
  free(r.head.of);
  free(r.head.where);
  free(r.head.commit);
  for (size_t i = 0; i < r.n_by; i++) free(r.by[i].name);
  return status;
}

bool fold_golden_is_sheet(const char *name) {
  const size_t n = strlen(name);
  return n > 7 && strcmp(name + n - 7, ".golden") == 0;
}

static int is_golden(const struct dirent *entry) { return fold_golden_is_sheet(entry->d_name); }

fold_status fold_goldens_read(struct fold_goldens *g, const char *folder) {
  struct dirent **names = NULL;
  *g = (struct fold_goldens){.folder = folder};
  const int n = scandir(folder, &names, is_golden, alphasort);
  if (n < 0 && errno == ENOENT) return fold_ok();
  if (n < 0) return fold_error(FOLD_BAD_INPUT, "%.150s: cannot be read: %s", fold_path_tail(folder), strerror(errno));
  fold_status status = fold_golden_list_read(g);
  for (int i = 0; i < n; i++) {
    char *path = NULL;
    if (status.code == FOLD_OK && asprintf(&path, "%s/%s", folder, names[i]->d_name) < 0) status = no_memory();
    if (status.code == FOLD_OK) status = read_sheet(g, path);
    free(path);
    free(names[i]);
  }
  free(names);
  return status;
}
