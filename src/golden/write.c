/* golden/write.c: writes sheets as text, and puts each file into place as a whole. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/output.h"
#include "base/path.h"
#include "golden/golden.h"

void fold_golden_text(const struct fold_golden_line *l, char text[FOLD_GOLDEN_LONGEST]) {
  int n = snprintf(text, FOLD_GOLDEN_LONGEST, "%.1000s input %016llx", l->name, (unsigned long long)l->input);
  if (l->has_tree)
    n += snprintf(text + n, (size_t)(FOLD_GOLDEN_LONGEST - n), " tree %016llx", (unsigned long long)l->tree);
  n += snprintf(text + n, (size_t)(FOLD_GOLDEN_LONGEST - n), l->hashed ? " sixteenths" : " bits");
  for (size_t i = 0; i < l->n; i++)
    n += snprintf(text + n, (size_t)(FOLD_GOLDEN_LONGEST - n), " %0*llx", l->digits, (unsigned long long)l->at[i]);
}

uint64_t fold_golden_hash(uint64_t before, const char *text) {
  return XXH3_64bits_withSeed(text, strlen(text), before);
}

void fold_golden_end_text(size_t lines, uint64_t hash, char text[FOLD_GOLDEN_LONGEST]) {
  snprintf(text, FOLD_GOLDEN_LONGEST, "end %zu xxh3 %016llx", lines, (unsigned long long)hash);
}

struct fold_golden_writing {
  FILE *file;
  uint64_t hash; /* of all lines so far */
  bool failed;
};

void fold_golden_put_text(struct fold_golden_writing *w, const char *format, ...) {
  char text[FOLD_GOLDEN_LONGEST];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  w->hash = fold_golden_hash(w->hash, text);
  w->failed |= fprintf(w->file, "%s\n", text) < 0;
}

fold_status fold_golden_file_write(const char *path, void (*put)(struct fold_golden_writing *, const void *),
                                   const void *of, size_t lines) {
  struct fold_output o;
  char end[FOLD_GOLDEN_LONGEST];
  FOLD_TRY(fold_output_open(&o, path));
  struct fold_golden_writing w = {.file = o.file};
  put(&w, of);
  fold_golden_end_text(lines, w.hash, end);
  fold_golden_put_text(&w, "%s", end);
  fold_status status = w.failed ? fold_output_failed(&o, errno) : fold_ok();
  fold_status closed = fold_output_close(&o, status.code == FOLD_OK ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP, NULL);
  return status.code == FOLD_OK ? closed : status;
}

static void put_by(struct fold_golden_writing *w, const struct fold_golden_by *by) {
  if (by->object)
    fold_golden_put_text(w, "by %s, object %016llx", by->name, (unsigned long long)by->object);
  else
    fold_golden_put_text(w, "by %s", by->name);
}

static void put_sheet(struct fold_golden_writing *w, const void *of) {
  const struct fold_golden_sheet *s = of;
  char text[FOLD_GOLDEN_LONGEST];
  fold_golden_put_text(w, FOLD_GOLDEN_FIRST);
  fold_golden_put_text(
      w, "# Written by `foldproof record --bless`; a line: the case, its input's hash, the order's tree, the results.");
  fold_golden_put_text(w, "of %s", s->of);
  if (*s->where) fold_golden_put_text(w, "where %s", s->where);
  for (size_t i = 0; i < s->n_by; i++) put_by(w, &s->by[i]);
  fold_golden_put_text(w, "commit %s", s->commit);
  fold_golden_put_text(w, "%s", "");
  for (size_t i = 0; i < s->n; i++) {
    fold_golden_text(&s->line[i], text);
    fold_golden_put_text(w, "%s", text);
  }
}

static fold_status write_sheet(const struct fold_golden_sheet *s) {
  if (s->n && s->n_by) return fold_golden_file_write(s->path, put_sheet, s, s->n);
  if (unlink(s->path) == 0 || errno == ENOENT) return fold_ok();
  return fold_error(fold_write_code(errno), "%.150s: cannot be removed: %s", fold_path_tail(s->path), strerror(errno));
}

fold_status fold_goldens_write(const struct fold_goldens *g) {
  for (size_t i = 0; i < g->n; i++)
    if (g->sheet[i].changed || !g->sheet[i].listed) FOLD_TRY(write_sheet(&g->sheet[i]));
  return fold_golden_list_write(g);
}
