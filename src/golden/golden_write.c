/* golden_write.c: sheets to text, each put into its place whole. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden.h"
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

static fold_status write_text(struct fold_output *o, const struct fold_golden_sheet *s) {
  char text[FOLD_GOLDEN_LONGEST];
  int failed =
      fprintf(o->file,
              FOLD_GOLDEN_FIRST
              "\n# Written by `foldproof record --bless`; a line: the case, its input's hash, the order's tree, "
              "the results.\nof %s\n",
              s->of) < 0;
  if (*s->where) failed |= fprintf(o->file, "where %s\n", s->where) < 0;
  for (size_t i = 0; i < s->n_by; i++) failed |= fprintf(o->file, "by %s\n", s->by[i]) < 0;
  failed |= fprintf(o->file, "commit %s\n\n", s->commit) < 0;
  for (size_t i = 0; i < s->n; i++) {
    fold_golden_text(&s->line[i], text);
    failed |= fprintf(o->file, "%s\n", text) < 0;
  }
  failed |= fprintf(o->file, "end %zu\n", s->n) < 0;
  return failed ? fold_output_failed(o, errno) : fold_ok();
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
