/* golden/lock.c: one --bless of a folder at a time, from what it reads to what it writes: of two at once, the last would drop the other's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "golden/run.h"

static fold_status failed(const char *folder, const char *what) {
  return fold_error(fold_write_code(errno), "%.150s: cannot be %s: %s", fold_path_tail(folder), what, strerror(errno));
}

/* Whoever waited may hold the lock of a folder that is gone meanwhile. */
static bool is_still(int lock, const char *folder) {
  struct stat held, there;
  return fstat(lock, &held) == 0 && stat(folder, &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

static fold_status wait_for(int lock, const struct fold_golden_options *options) {
  const struct timespec a_moment = {.tv_nsec = 20000000};
  for (bool told = false; flock(lock, LOCK_EX | LOCK_NB) != 0; told = true) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fold_ok(); /* a file system without locks */
    if (options->stop && *options->stop) return fold_error(FOLD_ENVIRONMENT, "interrupted before anything was blessed");
    if (!told)
      fprintf(stderr, "foldproof: waits for a running record --bless of %.150s\n", fold_path_tail(options->folder));
    nanosleep(&a_moment, NULL);
  }
  return fold_ok();
}

/* Removes what a --bless that was killed has left: "NAME.partial.PID.K" (output.h). No other one writes here now. */
static void sweep(const char *folder) {
  DIR *files = opendir(folder);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    const char *partial = strstr(entry->d_name, ".partial.");
    const bool ours =
        partial && (strstr(entry->d_name, ".golden.partial.") || strstr(entry->d_name, "golden.list.partial."));
    if (ours && strspn(partial + 9, "0123456789.") == strlen(partial + 9)) unlinkat(dirfd(files), entry->d_name, 0);
  }
  if (files) closedir(files);
}

fold_status fold_golden_lock(struct fold_golden_run *run) {
  const char *folder = run->options->folder;
  for (;;) {
    run->made = mkdir(folder, 0777) == 0;
    if (!run->made && errno != EEXIST) return failed(folder, "made");
    run->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock < 0 && errno == ENOENT) continue;
    if (run->lock < 0) return failed(folder, "opened");
    fold_status status = wait_for(run->lock, run->options);
    if (status.code != FOLD_OK) return status;
    if (is_still(run->lock, folder)) return sweep(folder), status;
    fold_golden_unlock(run);
  }
}

void fold_golden_unlock(struct fold_golden_run *run) {
  if (run->lock <= 0) return;                       /* descriptors 0 to 2 are always open */
  if (run->made) (void)rmdir(run->options->folder); /* unless goldens are in it */
  (void)flock(run->lock, LOCK_UN);                  /* workers have the descriptor too */
  close(run->lock);
  run->lock = 0;
}
