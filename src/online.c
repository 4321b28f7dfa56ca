/* online.c: how many processors there are, for a guest that asks: a shared object finds these functions of the program before the C
 * library's; std::thread::hardware_concurrency, omp_get_num_procs and std::ifstream use them too. They give the number of threads
 * that a run is to take, if it has one. Processors that the machine does not have can be asked for, and do nothing.
 */
#undef _FILE_OFFSET_BITS /* else the headers call open by its other name, open64 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "rig/rig.h"

/* glibc's own names */
long __sysconf(int name);
int __open64(const char *path, int flags, ...);

long sysconf(int name) {
  const bool asks = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
  return asks && fold_run_threads ? (long)fold_run_threads : __sysconf(name);
}
int get_nprocs(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
int get_nprocs_conf(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }

/* Calls the C library's function of that name. */
#define REAL(function) ((__typeof__(&(function)))(uintptr_t)dlsym(RTLD_NEXT, #function))

static bool has(const cpu_set_t *set, size_t size, size_t k) { return k < 8 * size && CPU_ISSET_S(k, size, set); }

/* Changes the processors that a thread may use to as many as the run is to take: the first of its own, then others. */
static void pretend(size_t size, cpu_set_t *set) {
  unsigned left = fold_run_threads;
  for (size_t k = 0; k < 8 * size; k++) {
    if (!has(set, size, k)) continue;
    if (left == 0) CPU_CLR_S(k, size, set);
    left -= left > 0;
  }
  for (size_t k = 0; k < 8 * size && left > 0; k++) {
    if (has(set, size, k)) continue;
    CPU_SET_S(k, size, set);
    left--;
  }
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
  const int code = REAL(sched_getaffinity)(pid, size, set);
  if (code == 0 && fold_run_threads) pretend(size, set);
  return code;
}
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
  const int code = REAL(pthread_getaffinity_np)(thread, size, set);
  if (code == 0 && fold_run_threads) pretend(size, set);
  return code;
}

/* In a new process of fresh_process the current folder has another name, of other length. */
char *getcwd(char *path, size_t size) {
  static const char other[] = "/proc/self/cwd";
  if (!fold_run_of_guest || !fold_folder_has_other_name || (path && size < sizeof other))
    return REAL(getcwd)(path, size);
  return path ? memcpy(path, other, sizeof other) : strdup(other);
}

/* Whether none of these processors is there. */
static bool is_pretended(size_t size, const cpu_set_t *set) {
  cpu_set_t own;
  if (!fold_run_threads || REAL(sched_getaffinity)(0, sizeof own, &own) != 0) return false;
  for (size_t k = 0; k < 8 * size; k++)
    if (has(set, size, k) && has(&own, sizeof own, k)) return false;
  return CPU_COUNT_S(size, set) > 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set) {
  return is_pretended(size, set) ? 0 : REAL(sched_setaffinity)(pid, size, set);
}
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) {
  return is_pretended(size, set) ? 0 : REAL(pthread_setaffinity_np)(thread, size, set);
}

/* Writes what that file of the system would say of so many processors. False for other files. */
static bool describe(const char *path, FILE *out) {
  static const char *const lists[] = {"/sys/devices/system/cpu/online", "/sys/devices/system/cpu/present",
                                      "/sys/devices/system/cpu/possible"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (strcmp(path, lists[i]) == 0)
      return fprintf(out, fold_run_threads > 1 ? "0-%u\n" : "0\n", fold_run_threads - 1) > 0;
  if (strcmp(path, "/proc/cpuinfo") != 0) return false;
  for (unsigned k = 0; k < fold_run_threads; k++) fprintf(out, "processor\t: %u\n\n", k);
  return true;
}

/* A file in memory in place of that file; -1: the real one is to be opened. */
static int pretended_file(const char *path) {
  if (!fold_run_threads || path == NULL) return -1;
  char text[2048];
  FILE *out = fmemopen(text, sizeof text, "w");
  if (out == NULL) return -1;
  const bool is_one = describe(path, out);
  const long n = ftell(out);
  fclose(out);
  const int file = is_one ? memfd_create("processors", MFD_CLOEXEC) : -1;
  if (file >= 0 && write(file, text, (size_t)n) == n && lseek(file, 0, SEEK_SET) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

#define OPEN(name)                                                     \
  int name(const char *path, int flags, ...) {                         \
    va_list more;                                                      \
    va_start(more, flags);                                             \
    const bool makes = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)); \
    const mode_t mode = makes ? va_arg(more, mode_t) : 0;              \
    va_end(more);                                                      \
    const int file = pretended_file(path);                             \
    return file >= 0 ? file : __open64(path, flags, mode);             \
  }
#define FOPEN(name)                                                 \
  FILE *name(const char *path, const char *mode) {                  \
    const int file = pretended_file(path);                          \
    return file >= 0 ? fdopen(file, mode) : REAL(name)(path, mode); \
  }
OPEN(open)
OPEN(open64)
FOPEN(fopen)
FOPEN(fopen64)
