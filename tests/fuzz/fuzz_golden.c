/* fuzz_golden.c: any lines as the goldens of a folder and their list, with right last lines: refused with a reason, or read in order. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static char folder[] = "/dev/shm/foldproof-fuzz-XXXXXX";

static void clear_folder(void) {
  static const char *const names[] = {"a.golden", "b.golden", FOLD_GOLDEN_LIST};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[80];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
}

static void remove_folder(void) {
  clear_folder();
  rmdir(folder);
}

/* The lines of a file; "end" becomes the last line that is right. A list has no empty line before its names. */
static void put_file(const char *name, char *text, bool list) {
  char path[80], last[FOLD_GOLDEN_LONGEST], *rest = text;
  size_t lines = 0;
  bool counts = list;
  uint64_t hash = 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL) abort();
  for (char *line; (line = strsep(&rest, "\n"));) {
    fold_golden_end_text(lines, hash, last);
    fprintf(file, "%s\n", strcmp(line, "end") == 0 ? last : line);
    hash = fold_golden_hash(hash, line);
    lines += counts && *line && *line != '#' && line != text;
    counts |= *line == '\0';
  }
  fclose(file);
}

static void look_at(const struct fold_goldens *goldens) {
  for (size_t i = 0; i < goldens->n; i++) {
    const struct fold_golden_sheet *sheet = &goldens->sheet[i];
    for (size_t k = 0; k < sheet->n; k++)
      if (sheet->line[k].n > FOLD_GOLDEN_BITS || (k && strcmp(sheet->line[k - 1].name, sheet->line[k].name) >= 0))
        abort();
  }
}

/* Files are parted by a line "=". */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static const char *const names[] = {"a.golden", FOLD_GOLDEN_LIST, "b.golden"};
  static bool there;
  if (!there && (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)) abort();
  there = true;
  clear_folder();
  char *text = strndup((const char *)bytes, n), *rest = text;
  for (size_t i = 0; i < 3 && rest && text; i++) {
    char *file = rest, *mark = strstr(rest, "\n=\n");
    rest = mark ? mark + 3 : NULL;
    if (mark) *mark = '\0';
    put_file(names[i], file, i == 1);
  }
  struct fold_goldens goldens;
  fold_status status = fold_goldens_read(&goldens, folder);
  if (status.code == FOLD_OK) status = fold_golden_list_check(&goldens);
  if (status.code == FOLD_OK) look_at(&goldens);
  if (status.code != FOLD_OK && *status.text == '\0') abort();
  fold_goldens_free(&goldens);
  free(text);
  return 0;
}
