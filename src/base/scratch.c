/* scratch.c: see scratch.h. The lock is flock's, on the folder itself: the system drops it with the last process that
 * has inherited the descriptor. */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *place) {
  (void)what, (void)kind, (void)place;
  remove(path);
  return 0;
}

void fold_scratch_remove(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

static void sweep_one(const char *path) {
  struct stat info;
  const int folder = open_folder(path);
  if (folder < 0) return;
  if (fstat(folder, &info) == 0 && info.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0)
    fold_scratch_remove(path);
  close(folder);
}

static void sweep(const char *of, const char *stem) {
  char path[4400];
  const size_t n = strlen(stem);
  DIR *folder = opendir(of);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, stem, n) != 0 || entry->d_name[n] != '-' || strlen(entry->d_name) != n + 7) continue;
    snprintf(path, sizeof path, "%s/%s", of, entry->d_name);
    sweep_one(path);
  }
  if (folder) closedir(folder);
}

/* Whether the folder is locked for this process; another one may have swept it between its making and its lock. */
static bool lock(const char *path) {
  struct stat held, there;
  const int folder = open_folder(path);
  return folder >= 0 && flock(folder, LOCK_EX) == 0 && fstat(folder, &held) == 0 && stat(path, &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

fold_status fold_scratch_make(const char *of, const char *stem, size_t size, char path[]) {
  enum { TRIES = 20 };
  sweep(of, stem);
  for (int i = 0; i < TRIES; i++) {
    snprintf(path, size, "%.4000s/%s-XXXXXX", of, stem);
    if (mkdtemp(path) == NULL) break;
    if (lock(path)) return fold_ok();
  }
  return fold_error(FOLD_ENVIRONMENT, "%.150s: no folder can be made there: %s", of, strerror(errno));
}
