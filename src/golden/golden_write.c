/* golden_write.c: sheets to text, each put into its place whole. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden.h"
#include "hash.h"
#include "output.h"
#include "path.h"

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

/* A file, and the hash of the lines that are written so far: each is hashed with that of the lines before it. */
struct writing {
  FILE *file;
  uint64_t hash;
  bool failed;
};

static void put(struct writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writing *w, const char *format, ...) {
  char text[FOLD_GOLDEN_LONGEST];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  w->hash = fold_golden_hash(w->hash, text);
  w->failed |= fprintf(w->file, "%s\n", text) < 0;
}

static void put_by(struct writing *w, const struct fold_golden_by *by) {
  if (by->object)
    put(w, "by %s, object %016llx", by->name, (unsigned long long)by->object);
  else
    put(w, "by %s", by->name);
}

static fold_status write_text(struct fold_output *o, const struct fold_golden_sheet *s) {
  struct writing w = {.file = o->file};
  char text[FOLD_GOLDEN_LONGEST];
  put(&w, FOLD_GOLDEN_FIRST);
  put(&w,
      "# Written by `foldproof record --bless`; a line: the case, its input's hash, the order's tree, the results.");
  put(&w, "of %s", s->of);
  if (*s->where) put(&w, "where %s", s->where);
  for (size_t i = 0; i < s->n_by; i++) put_by(&w, &s->by[i]);
  put(&w, "commit %s", s->commit);
  put(&w, "%s", "");
  for (size_t i = 0; i < s->n; i++) {
    fold_golden_text(&s->line[i], text);
    put(&w, "%s", text);
  }
  fold_golden_end_text(s->n, w.hash, text);
  put(&w, "%s", text);
  return w.failed ? fold_output_failed(o, errno) : fold_ok();
}

fold_status fold_goldens_write(const struct fold_goldens *g) {
  if (mkdir(g->folder, 0777) != 0 && errno != EEXIST)
    return fold_error(fold_write_code(errno), "%.150s: can't be made: %s", fold_path_tail(g->folder), strerror(errno));
  for (size_t i = 0; i < g->n; i++) {
    const struct fold_golden_sheet *s = &g->sheet[i];
    struct fold_output o;
    if (!s->changed) continue;
    if (s->n == 0 || s->n_by == 0) {
      if (unlink(s->path) != 0 && errno != ENOENT)
        return fold_error(fold_write_code(errno), "%.150s: can't be removed: %s", fold_path_tail(s->path),
                          strerror(errno));
      continue;
    }
    FOLD_TRY(fold_output_open(&o, s->path));
    fold_status status = write_text(&o, s);
    fold_status closed = fold_output_close(&o, status.code == FOLD_OK ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP, NULL);
    FOLD_TRY(status.code == FOLD_OK ? closed : status);
  }
  return fold_ok();
}
