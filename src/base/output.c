/* output.c: see output.h. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/list.h"
#include "base/path.h"

/* The temporary files that exist now, to be removed if the process must end at once. A forked child does not own its
 * parent's. */
enum { MOST_TEMPORARIES = 16, TRIES = 1000 };
static struct temporary {
  volatile pid_t owner; /* 0: free */
  volatile bool useful; /* though the rest is missing */
  char path[PATH_MAX];
} temporaries[MOST_TEMPORARIES];

static void note_temporary(const char *path) {
  for (size_t i = 0; i < MOST_TEMPORARIES; i++)
    if (temporaries[i].owner != getpid()) {
      snprintf(temporaries[i].path, sizeof temporaries[i].path, "%s", path);
      temporaries[i].useful = false;
      temporaries[i].owner = getpid();
      return;
    }
}

static void forget_temporary(const char *path) {
  for (size_t i = 0; i < MOST_TEMPORARIES; i++)
    if (temporaries[i].owner == getpid() && strcmp(temporaries[i].path, path) == 0) temporaries[i].owner = 0;
}

void fold_output_is_useful(const struct fold_output *o) {
  for (size_t i = 0; o->temporary && i < MOST_TEMPORARIES; i++)
    if (temporaries[i].owner == getpid() && strcmp(temporaries[i].path, o->temporary) == 0)
      temporaries[i].useful = true;
}

void fold_outputs_abandon(bool useful_ones) {
  int error = errno;
  for (size_t i = 0; i < MOST_TEMPORARIES; i++)
    if (temporaries[i].owner == getpid()) {
      if (useful_ones || !temporaries[i].useful) unlink(temporaries[i].path);
      temporaries[i].owner = 0;
    }
  errno = error;
}

static struct spared {
  dev_t device;
  ino_t inode;
} * spared;
static size_t n_spared, room_spared;

static bool is_spared(const struct stat *info) {
  for (size_t i = 0; i < n_spared; i++)
    if (spared[i].device == info->st_dev && spared[i].inode == info->st_ino) return true;
  return false;
}

void fold_output_spare(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
#pragma omp critical(spared) /* compare reads two files at once */
  if (!is_spared(&info)) {
    struct spared *added = fold_list_grow(&spared, &n_spared, &room_spared, sizeof *added);
    if (added) *added = (struct spared){info.st_dev, info.st_ino};
  }
}

void fold_output_unspare(const char *path) {
  struct stat info;
  for (size_t i = 0; stat(path, &info) == 0 && i < n_spared; i++)
    if (spared[i].device == info.st_dev && spared[i].inode == info.st_ino) spared[i] = spared[--n_spared];
}

fold_status fold_output_failed(const struct fold_output *output, int error) {
  return fold_error(fold_write_code(error), "%s: cannot be written: %s", fold_path_tail(output->path), strerror(error));
}

/* Where a name leads. In /proc a descriptor's name is a link to whatever is open there, which may be a regular file
 * that a shell opened for appending. */
enum leads { TO_ANY_FILE, THROUGH_PROC, TO_STANDARD_OUTPUT };

/* Where `name` leads in `folder`, a folder of /proc. */
static enum leads within_proc(const char *folder, const char *name) {
  struct stat there, own;
  const char *slash = strrchr(name, '/');
  bool descriptors = stat(folder, &there) == 0 && stat("/proc/self/fd", &own) == 0 && there.st_ino == own.st_ino &&
                     there.st_dev == own.st_dev;
  return descriptors && strcmp(slash ? slash + 1 : name, "1") == 0 ? TO_STANDARD_OUTPUT : THROUGH_PROC;
}

static enum leads find_way(const char *path) {
  char name[PATH_MAX], next[PATH_MAX], copy[PATH_MAX];
  if ((size_t)snprintf(name, sizeof name, "%s", path) >= sizeof name) return THROUGH_PROC;
  for (int hops = 0; hops < 40; hops++) {
    struct statfs system;
    memcpy(copy, name, sizeof copy);
    char *folder = dirname(copy);
    if (statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) return within_proc(folder, name);
    ssize_t n = readlink(name, next, sizeof next - 1);
    if (n < 0) return TO_ANY_FILE;
    next[n] = '\0';
    if (next[0] != '/') {
      char joined[2 * PATH_MAX];
      if ((size_t)snprintf(joined, sizeof joined, "%s/%s", folder, next) >= sizeof next) return THROUGH_PROC;
      memcpy(next, joined, sizeof next);
    }
    memcpy(name, next, sizeof name);
  }
  return THROUGH_PROC;
}

/* Standard output is used as it is: opening it again would truncate a file that a shell opened for appending. */
static int open_standard_output(void) {
  if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  errno = EBADF; /* it was closed: command/process.c has replaced it by something that can't be written */
  return -1;
}

static int open_directly(const char *path) { return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }

/* Opens "FILE.partial.PID.K", with the first K that is free. */
static int open_temporary(struct fold_output *o) {
  size_t size = strlen(o->target) + 48;
  o->temporary = malloc(size);
  int fd = -1;
  errno = ENOMEM;
  for (unsigned k = 0; o->temporary && k < TRIES; k++) {
    snprintf(o->temporary, size, "%s.partial.%ld.%u", o->target, (long)getpid(), k);
    fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) break;
  }
  if (fd >= 0) {
    note_temporary(o->temporary);
  } else {
    int error = errno;
    free(o->temporary);
    o->temporary = NULL;
    errno = error;
  }
  return fd;
}

/* A read-only file is not replaced, not even by root. New content gets the old file's permissions. */
static int open_beside(struct fold_output *o, const struct stat *former) {
  if (former && ((former->st_mode & 0222) == 0 || access(o->target, W_OK) != 0)) {
    errno = EACCES;
    return -1;
  }
  int fd = open_temporary(o);
  if (fd >= 0 && former) (void)!fchmod(fd, former->st_mode & 0777);
  return fd;
}

/* Opens what the path leads to: -1 with errno. */
static int open_target(struct fold_output *o) {
  struct stat link, info;
  bool is_link = lstat(o->path, &link) == 0 && S_ISLNK(link.st_mode), exists = stat(o->path, &info) == 0;
  enum leads way = strcmp(o->path, "-") == 0 ? TO_STANDARD_OUTPUT : find_way(o->path);
  if (way == TO_STANDARD_OUTPUT) return open_standard_output();
  if (way == THROUGH_PROC || (is_link && !exists) || (exists && !S_ISREG(info.st_mode))) return open_directly(o->path);
  o->target = is_link ? realpath(o->path, NULL) : strdup(o->path);
  if (o->target == NULL) return -1;
  return open_beside(o, exists ? &info : NULL);
}

static void free_names(struct fold_output *o) {
  free(o->path);
  free(o->target);
  free(o->temporary);
  *o = (struct fold_output){0};
}

fold_status fold_output_open(struct fold_output *o, const char *path) {
  *o = (struct fold_output){.path = strdup(path)};
  if (o->path == NULL) return fold_error(FOLD_NO_MEMORY, "%s: no memory to write it", fold_path_tail(path));
  struct stat info;
  if (stat(path, &info) == 0 && is_spared(&info)) {
    free_names(o);
    return fold_error(FOLD_BAD_INPUT, "%s: is read, and cannot be the output too", fold_path_tail(path));
  }
  int fd = open_target(o), error = errno;
  if (fd >= 0) {
    o->file = fdopen(fd, "w");
    error = errno;
    if (!o->file) close(fd);
  }
  if (o->file) return fold_ok();
  fold_status status = fold_output_failed(o, error);
  if (o->temporary) unlink(o->temporary), forget_temporary(o->temporary);
  free_names(o);
  return status;
}

/* Renames the temporary file to its final name, or an incomplete one to its own name beside the old file. If the name is no
 * longer a regular file's, nothing is replaced. */
static int take_place(struct fold_output *o, enum fold_output_end end, char *kept) {
  struct stat now;
  bool former = lstat(o->target, &now) == 0;
  char *name = NULL;
  if (former && !S_ISREG(now.st_mode)) return EEXIST;
  if (end == FOLD_OUTPUT_PART && former && asprintf(&name, "%s.incomplete", o->target) < 0) return ENOMEM;
  const char *place = name ? name : o->target;
  int error = rename(o->temporary, place) == 0 ? 0 : errno;
  if (!error && end == FOLD_OUTPUT_PART && kept) snprintf(kept, 256, "%s", place);
  free(name);
  return error;
}

fold_status fold_output_close(struct fold_output *o, enum fold_output_end end, char kept[256]) {
  fold_status status = fold_ok();
  if (kept) kept[0] = '\0';
  if (o->file) {
    /* A failure that no single write has shown shows now. */
    int error = ferror(o->file) ? EIO : 0;
    if (fclose(o->file) != 0) error = errno;
    bool keep = !error && end != FOLD_OUTPUT_DROP;
    if (keep && o->temporary) error = take_place(o, end, kept);
    if (o->temporary && (error || !keep)) unlink(o->temporary);
    if (o->temporary) forget_temporary(o->temporary);
    if (error && end != FOLD_OUTPUT_DROP) status = fold_output_failed(o, error);
  }
  free_names(o);
  return status;
}
