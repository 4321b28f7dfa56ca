/* records/source.c: see records/source.h. It runs the program gzip, because every machine that has compressed records has
 * it. */
#include "records/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"

static fold_status unreadable(const char *path, int error) {
  return fold_error(error == ENOMEM ? FOLD_NO_MEMORY : FOLD_BAD_INPUT, "%.150s: cannot be read: %s", path,
                    strerror(error));
}

/* gzip reads the file from its beginning as standard input and writes to a pipe. */
static int start_gzip(struct fold_source_file *s, FILE *compressed) {
  extern char **environ;
  char *const words[] = {"gzip", "-dc", NULL};
  int ends[2];
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(compressed), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&s->gunzip, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error) {
    s->gunzip = 0;
    close(ends[0]);
    return error;
  }
  s->file = fdopen(ends[0], "r");
  return s->file ? 0 : errno;
}

fold_status fold_source_open(struct fold_source_file *s, const char *path) {
  *s = (struct fold_source_file){0};
  FILE *file = fopen(path, "re");
  fold_output_spare(path);
  if (file == NULL) return unreadable(path, errno);
  const int first = getc(file), second = first == 0x1f ? getc(file) : EOF;
  if (first != 0x1f) {
    if (first != EOF) ungetc(first, file);
    s->file = file;
    return fold_ok();
  }
  /* A pipe can't be read again from its beginning: its user must decompress it. */
  const bool again = second == 0x8b && fseeko(file, 0, SEEK_SET) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0;
  int error = again ? start_gzip(s, file) : 0;
  fclose(file);
  if (!again) return fold_error(FOLD_BAD_INPUT, "%.150s: it is compressed: gunzip it first", path);
  return error ? unreadable(path, error) : fold_ok();
}

enum { BLOCK = 1 << 16 }; /* stays in the processor's cache until its lines are read */

/* Moves the rest of the block to its beginning and reads more of the file behind it. */
static fold_status read_more(struct fold_source_file *s) {
  const size_t left = s->to - s->from;
  if (left > FOLD_SOURCE_LONGEST) return fold_error(FOLD_BAD_INPUT, "longer than %d bytes", FOLD_SOURCE_LONGEST);
  if (left > 0) memmove(s->block, s->block + s->from, left);
  s->from = 0;
  s->to = left;
  if (s->room < left + BLOCK) {
    char *grown = realloc(s->block, 2 * left + 2 * BLOCK);
    if (grown == NULL) return fold_no_memory("for a line");
    s->block = grown;
    s->room = 2 * left + 2 * BLOCK;
  }
  errno = 0;
  const size_t n = fread(s->block + left, 1, BLOCK, s->file);
  s->to += n;
  s->ended = n == 0;
  return n == 0 && ferror(s->file) ? fold_error(FOLD_BAD_INPUT, "cannot be read: %s", strerror(errno)) : fold_ok();
}

fold_status fold_source_line(struct fold_source_file *s, const char **text, size_t *length) {
  const char *end = NULL;
  for (size_t looked = 0;;) {
    const size_t left = s->to - s->from;
    if (left > looked) end = memchr(s->block + s->from + looked, '\n', left - looked);
    if (end || s->ended) break;
    looked = left;
    FOLD_TRY(read_more(s));
  }
  *text = s->block + s->from;
  *length = end ? (size_t)(end + 1 - *text) : s->to - s->from;
  s->from += *length;
  return fold_ok();
}

fold_status fold_source_close(struct fold_source_file *s, const char *path, bool whole) {
  int how = 0;
  if (s->file) fclose(s->file);
  free(s->block);
  if (s->gunzip) waitpid(s->gunzip, &how, 0);
  *s = (struct fold_source_file){0};
  if (how == 0 || !whole) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%.150s: gzip finds it cut or damaged", path);
}

static bool ends_in(const char *name, const char *end) {
  const size_t n = strlen(name), m = strlen(end);
  return n > m && strcmp(name + n - m, end) == 0;
}

static int is_records(const struct dirent *entry) {
  return ends_in(entry->d_name, ".jsonl") || ends_in(entry->d_name, ".jsonl.gz");
}

fold_status fold_source_folder(const char *path, char ***names) {
  struct stat info;
  struct dirent **found = NULL;
  *names = NULL;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return fold_ok();
  const int n = scandir(path, &found, is_records, alphasort);
  if (n < 0) return unreadable(path, errno);
  *names = calloc((size_t)n + 1, sizeof **names);
  bool enough = *names != NULL;
  for (int i = 0; i < n; i++) {
    if (enough) enough = asprintf(&(*names)[i], "%s/%s", path, found[i]->d_name) >= 0;
    free(found[i]);
  }
  free(found);
  if (!enough) return fold_no_memory("for the names of a folder");
  return n ? fold_ok() : fold_error(FOLD_BAD_INPUT, "%.150s: no *.jsonl is in it", path);
}
