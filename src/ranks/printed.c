/* ranks/printed.c: what the launcher and the ranks printed, for the message that a world did not start.
 *
 * No words tell which line has the reason: launchers and their plugins print noise before and after it, even when
 * nothing fails. So each different line is shown once, and all are shortened alike where there is too little room.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks/start.h"

/* END: bytes that are read at either end of what was printed; MOST_LINES: of these at most; ROOM: bytes that are shown;
 * LEAST: bytes to which a line may be shortened. */
enum { END = 8192, MOST_LINES = 128, ROOM = 800, LEAST = 24 };
static const char BETWEEN[] = " / ", MORE[] = " (FOLDPROOF_OUTPUT=FILE keeps all of it)";
_Static_assert(FOLD_WORLD_LINE > 2 + ROOM + sizeof MORE, "all of the room can be told");

struct lines {
  const char *at[MOST_LINES];
  size_t n;
};

/* Reads the first and the last bytes. */
static void read_ends(const struct fold_world *w, char text[2 * END + 2]) {
  const off_t all = w->output >= 0 ? lseek(w->output, 0, SEEK_END) - w->output_at : 0;
  ssize_t n = all > 0 ? pread(w->output, text, END, w->output_at) : 0;
  if (n == END && all > END) {
    text[n++] = '\n';
    const ssize_t more = pread(w->output, text + n, END, w->output_at + (all > 2 * END ? all - END : END));
    if (more > 0) n += more;
  }
  text[n > 0 ? n : 0] = '\0';
}

/* Drops the line in the middle. */
static void leave_one_out(struct lines *lines) {
  const size_t middle = lines->n / 2;
  lines->n--;
  memmove(lines->at + middle, lines->at + middle + 1, (lines->n - middle) * sizeof *lines->at);
}

static bool says_something(const char *line) {
  while (*line && !isalpha((unsigned char)*line)) line++;
  return *line != '\0';
}

/* Whether one of the lines begins with the same `share` bytes. */
static bool has(const struct lines *lines, const char *line, size_t share) {
  size_t k = 0;
  while (k < lines->n && strncmp(lines->at[k], line, share) != 0) k++;
  return k < lines->n;
}

/* Cuts the text up. */
static struct lines lines_of(char *text) {
  struct lines lines = {.n = 0};
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    line += strspn(line, " \t");
    if (!says_something(line) || has(&lines, line, 2 * END)) continue;
    if (lines.n == MOST_LINES) leave_one_out(&lines);
    lines.at[lines.n++] = line;
  }
  return lines;
}

/* The lines that differ in their first `share` bytes, each once. */
static struct lines different(const struct lines *all, size_t share) {
  struct lines found = {.n = 0};
  for (size_t i = 0; i < all->n; i++)
    if (!has(&found, all->at[i], share)) found.at[found.n++] = all->at[i];
  return found;
}

static size_t length_of(const struct lines *lines, size_t share) {
  size_t length = 0;
  for (size_t i = 0; i < lines->n; i++) length += (i > 0) * strlen(BETWEEN) + strnlen(lines->at[i], share);
  return length;
}

static bool is_whole(const struct lines *all, const struct lines *told, size_t share) {
  bool whole = told->n == all->n;
  for (size_t i = 0; i < told->n; i++) whole = whole && strlen(told->at[i]) <= share;
  return whole;
}

void fold_world_printed(const struct fold_world *w, char line[FOLD_WORLD_LINE]) {
  char text[2 * END + 2];
  read_ends(w, text);
  const struct lines all = lines_of(text);
  size_t share = ROOM;
  struct lines told = different(&all, share);
  while (length_of(&told, share) > ROOM && share > LEAST) told = different(&all, --share);
  while (length_of(&told, share) > ROOM) leave_one_out(&told);
  const char *path = getenv("FOLDPROOF_OUTPUT");
  const bool kept = path && *path;
  int n = 0;
  line[0] = '\0';
  for (size_t i = 0; i < told.n; i++) n += sprintf(line + n, "%s%.*s", i ? BETWEEN : ": ", (int)share, told.at[i]);
  if (!kept && !is_whole(&all, &told, share)) strcpy(line + n, MORE);
}
