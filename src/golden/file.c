/* golden/file.c: files whose last line has the number and the hash of the lines before, so that a cut, removed or
 * changed line is found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/line.h"
#include "base/path.h"
#include "base/text.h"
#include "golden/golden.h"

/* Whether it is the last line of a sheet from before that line had a hash. */
static bool is_old_end(const char *text) {
  const char *digits = strncmp(text, "end ", 4) == 0 ? text + 4 : "";
  return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

fold_status fold_golden_file_end(struct fold_golden_file *f, size_t lines, const char *text) {
  char want[FOLD_GOLDEN_LONGEST], count[40];
  const int n = snprintf(count, sizeof count, "end %zu ", lines);
  fold_golden_end_text(lines, f->hash, want);
  f->ended = strcmp(text, want) == 0;
  if (f->ended) return fold_ok();
  if (strncmp(text, count, (size_t)n) != 0 && !is_old_end(text))
    return fold_error(FOLD_BAD_INPUT, "'%.60s': there are %zu lines", text, lines);
  return fold_error(
      FOLD_BAD_INPUT, "%s: take the file back from your repository, or remove it and --bless again",
      is_old_end(text) ? "no hash of the lines before" : "the lines before are not those that --bless wrote");
}

static fold_status take(struct fold_golden_file *f, char *text, size_t n) {
  FOLD_TRY(fold_line_check(text, n));
  if (n == 0 || text[n - 1] != '\n' || strlen(text) != n) return fold_error(FOLD_BAD_INPUT, "cut off");
  text[n - 1] = '\0';
  if (!fold_text_is_one_line(text)) return fold_error(FOLD_BAD_INPUT, "'%.60s': no line that --bless wrote", text);
  const uint64_t hash = fold_golden_hash(f->hash, text);
  fold_status status = f->ended ? fold_error(FOLD_BAD_INPUT, "behind the last line") : f->take(f->context, text);
  f->hash = hash;
  return status;
}

static fold_status read_lines(struct fold_golden_file *f, FILE *file) {
  char *text = NULL;
  size_t room = 0;
  fold_status status = fold_ok();
  for (ssize_t n; status.code == FOLD_OK && (n = fold_line_read(&text, &room, FOLD_GOLDEN_LONGEST - 1, file)) >= 0;) {
    f->number++;
    status = fold_within(take(f, text, (size_t)n), "%.120s:%zu", fold_path_tail(f->path), f->number);
  }
  free(text);
  if (status.code == FOLD_OK && (!feof(file) || !f->ended))
    return fold_error(FOLD_BAD_INPUT, "%.150s: no golden, or cut off", fold_path_tail(f->path));
  return status;
}

fold_status fold_golden_file_read(struct fold_golden_file *f) {
  struct stat info;
  const bool regular = stat(f->path, &info) != 0 || S_ISREG(info.st_mode); /* opening a pipe would wait for a writer */
  if (!regular) return fold_error(FOLD_BAD_INPUT, "%.150s: not a file of text", fold_path_tail(f->path));
  FILE *file = fopen(f->path, "re");
  if (file == NULL)
    return fold_error(FOLD_BAD_INPUT, "%.150s: cannot be read: %s", fold_path_tail(f->path), strerror(errno));
  fold_status status = read_lines(f, file);
  fclose(file);
  return status;
}
