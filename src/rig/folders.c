/* folders.c: see folders.h. The state is the whole process's: threads that are ranks look at it in turn
 * (surroundings.c). */
#include "folders.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  char path[PATH_MAX]; /* of the current folder */
  int folder, root;    /* -1: it can't be opened, and is left alone */
  struct stat root_is;
  bool lost;
} known = {.folder = -1, .root = -1};

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void keep(const char *path, int *file) {
  close(*file); /* -1: closes nothing */
  *file = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void keep_root(void) {
  struct stat now;
  if (stat("/", &now) != 0 || (known.root >= 0 && is_same(&now, &known.root_is))) return;
  keep("/", &known.root);
  known.root_is = now;
}

static void keep_folder(void) {
  char path[PATH_MAX] = "";
  if (getcwd(path, sizeof path) && known.folder >= 0 && strcmp(path, known.path) == 0) return;
  keep(".", &known.folder);
  memcpy(known.path, path, sizeof path);
}

void fold_folders_keep(void) {
  keep_root();
  keep_folder();
}

/* The root comes first: from another root, paths lead elsewhere. */
static void restore_root(char changed[80]) {
  struct stat now;
  if (known.root < 0 || (stat("/", &now) == 0 && is_same(&now, &known.root_is))) return;
  if (!changed[0]) snprintf(changed, 80, "the root folder");
  if (fchdir(known.root) != 0 || chroot(".") != 0) known.lost = true;
  (void)!fchdir(known.folder);
}

/* A folder that was renamed in the meantime is still the same one. */
static void restore_folder(char changed[80]) {
  char path[PATH_MAX] = "";
  struct stat before, now;
  if (known.folder < 0 || (getcwd(path, sizeof path) && strcmp(path, known.path) == 0)) return;
  if (fstat(known.folder, &before) != 0 || (stat(".", &now) == 0 && is_same(&before, &now))) return;
  if (!changed[0]) snprintf(changed, 80, "the current folder");
  (void)!fchdir(known.folder); /* where that fails, the next run begins where this one ended (keep_folder) */
}

void fold_folders_restore(char changed[80]) {
  restore_root(changed);
  restore_folder(changed);
}

bool fold_folders_are_lost(void) { return known.lost; }
