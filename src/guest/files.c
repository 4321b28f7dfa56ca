/* guest/files.c: hashes the contents of the guests' files, since a guest that was built again, or edited, is another
 * one.
 *
 * For a program, every word of its command counts that names a file, in the current folder or in $PATH: an interpreter,
 * its script, their arguments. Words end at blanks and at characters with a meaning for the shell. A file whose name
 * has one of these is missed, and so is one that takes long to read. Files that a file loads in turn are not looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "guest/guest.h"

enum { MOST = 1 << 28 }; /* bytes: a tenth of a second */

/* Hashes a regular file. False if it is no regular file, is too long, or can't be read. */
static bool hash_file(const char *path, char text[24]) {
  static char part[1 << 16];
  struct stat info;
  const bool is_short = stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST;
  FILE *file = is_short ? fopen(path, "rb") : NULL;
  XXH3_state_t *state = file ? XXH3_createState() : NULL;
  bool whole = state && XXH3_64bits_reset(state) == XXH_OK;
  size_t n;
  while (whole && (n = fread(part, 1, sizeof part, file)) > 0) whole = XXH3_64bits_update(state, part, n) == XXH_OK;
  whole = whole && !ferror(file);
  if (whole) snprintf(text, 24, "0x%016llx", (unsigned long long)XXH3_64bits_digest(state));
  XXH3_freeState(state);
  if (file) fclose(file);
  return whole;
}

static bool add_file(const char *path, json_t *files) {
  char text[24];
  const char *slash = strrchr(path, '/');
  if (!hash_file(path, text)) return false;
  json_array_append_new(files, json_pack("{s:s, s:s}", "file", slash ? slash + 1 : path, "xxh3", text));
  return true;
}

static void add_word(const char *word, json_t *files) {
  const char *all = getenv("PATH");
  char *folders = strdup(all ? all : ""), *rest = NULL, path[4096];
  bool found = add_file(word, files) || strchr(word, '/');
  for (char *folder = folders ? strtok_r(folders, ":", &rest) : NULL; folder && !found;
       folder = strtok_r(NULL, ":", &rest)) {
    snprintf(path, sizeof path, "%s/%s", folder, word);
    found = add_file(path, files);
  }
  free(folders);
}

static void add_words(const char *command, json_t *files) {
  char *words = strdup(command), *rest = NULL;
  for (char *word = words ? strtok_r(words, " \t\n\"'`;|&<>()$=", &rest) : NULL; word;
       word = strtok_r(NULL, " \t\n\"'`;|&<>()$=", &rest))
    add_word(word, files);
  free(words);
}

json_t *fold_guests_files(const struct fold_guest *guests, size_t n) {
  json_t *files = json_array();
  for (size_t i = 0; files && i < n; i++) {
    if (guests[i].door->here) continue;
    if (guests[i].door->files)
      add_words(guests[i].what, files);
    else
      (void)add_file(guests[i].what, files);
  }
  return files;
}
