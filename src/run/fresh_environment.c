/* fresh_environment.c: another environment for a new process, in which nothing that a sum may depend on has changed.
 *
 * Folders have another name, the user and the terminal are others, variables that libraries read are set to what they mean
 * when they are not set, CI and DEBUG are set if they are not, the stack begins elsewhere, and glibc fills
 * allocated and freed memory with bytes other than zero (MALLOC_PERTURB_). So a result that depends on uninitialised
 * memory, or on the environment, differs there.
 */
#include "run/fresh.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fills each byte of allocated memory with ~64 = 0xbf and of freed memory with 0x40: as floats -1.5 and 3. */
#define PERTURB "64"
enum { SHIFT = 1021 }; /* bytes by which the stack moves: not a multiple of a cache line */

/* folders: become another name of the same folder. The others become a word; nothing of ours reads them. */
static const char *const folders[] = {"HOME", "PWD", "OLDPWD"};
static const struct {
  const char *name, *value;
} others[] = {{"USER", "foldproof"}, {"LOGNAME", "foldproof"}, {"TERM", "dumb"}, {"SHLVL", "99"},
              {"LINES", "99"},       {"COLUMNS", "99"},        {"_", "/"},       {"HOSTNAME", "foldproof"}};

/* What libraries take where these are not set: so to set them must change nothing. */
static const char *const usual[] = {"OMP_PROC_BIND=false", "OMP_DYNAMIC=false", "MKL_CBWR=OFF", "MKL_DYNAMIC=TRUE",
                                    "OPENBLAS_VERBOSE=0"};
/* Set where they are not set, and not set where they are. */
static const char *const turned[] = {"CI=true", "DEBUG=1"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_of(const char *variable, const char *name) {
  size_t n = strlen(name);
  return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

/* NULL: no memory. A folder's name becomes longer, by an odd or by an even number of characters. */
static char *change(const char *variable, bool one_way) {
  char *text = NULL;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    if (is_of(variable, folders[i]) && variable[strlen(folders[i]) + 1] == '/')
      return asprintf(&text, "%s%s", variable, one_way ? "/" : "/./././././././.") < 0 ? NULL : text;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (is_of(variable, others[i].name))
      return asprintf(&text, "%s=%s", others[i].name, others[i].value) < 0 ? NULL : text;
  if (is_of(variable, "LANG")) return strdup(strcmp(variable, "LANG=C") == 0 ? "LANG=POSIX" : "LANG=C");
  if (is_of(variable, "GLIBC_TUNABLES"))
    return asprintf(&text, "%s:glibc.malloc.perturb=" PERTURB, variable) < 0 ? NULL : text;
  if (strcmp(variable, "MALLOC_PERTURB_=" PERTURB) == 0) return strdup("MALLOC_PERTURB_=165"); /* not the one here */
  return strdup(is_of(variable, "MALLOC_PERTURB_") ? "MALLOC_PERTURB_=" PERTURB : variable);
}

static bool has(const char *name) { return getenv(name) != NULL; }

/* Whether it is the variable of "NAME=VALUE". */
static bool is_same_name(const char *variable, const char *setting) {
  const size_t n = strcspn(setting, "=");
  return strncmp(variable, setting, n + 1) == 0;
}
static bool is_set(const char *setting) {
  bool any = false;
  for (size_t i = 0; environ && environ[i]; i++) any |= is_same_name(environ[i], setting);
  return any;
}
static bool is_turned_off(const char *variable) {
  bool is = false;
  for (size_t i = 0; i < COUNT(turned); i++) is |= is_same_name(variable, turned[i]);
  return is;
}

/* Appends a setting where its variable is not set. */
static bool set(char **list, size_t *k, const char *setting) {
  return is_set(setting) || (list[(*k)++] = strdup(setting)) != NULL;
}

static bool set_all(char **list, size_t *k) {
  char number[40];
  bool whole = true;
  snprintf(number, sizeof number, "OMP_NUM_THREADS=%d", omp_get_max_threads());
  for (size_t i = 0; i < COUNT(usual) && whole; i++) whole = set(list, k, usual[i]);
  for (size_t i = 0; i < COUNT(turned) && whole; i++) whole = set(list, k, turned[i]);
  return whole && set(list, k, number);
}

fold_status fold_fresh_environment(bool one_way, char ***variables) {
  static const char shift_name[] = "FOLD_SHIFT_OF_THE_STACK=";
  size_t n = 0, k = 0;
  while (environ && environ[n]) n++;
  char **list = *variables = calloc(n + COUNT(usual) + COUNT(turned) + 5, sizeof *list);
  if (!list) return fold_no_memory("for a new process's environment");
  bool whole = true;
  for (size_t i = 0; i < n && whole; i++)
    if (!is_turned_off(environ[i])) whole = (list[k++] = change(environ[i], one_way)) != NULL;
  whole = whole && set_all(list, &k);
  if (whole && !has("MALLOC_PERTURB_")) whole = (list[k++] = strdup("MALLOC_PERTURB_=" PERTURB)) != NULL;
  if (whole && !has("GLIBC_TUNABLES"))
    whole = (list[k++] = strdup("GLIBC_TUNABLES=glibc.malloc.perturb=" PERTURB)) != NULL;
  char *shift = whole ? malloc(sizeof shift_name + SHIFT) : NULL;
  if (shift) {
    memset(shift, 'x', sizeof shift_name + SHIFT);
    memcpy(shift, shift_name, sizeof shift_name - 1);
    shift[sizeof shift_name + SHIFT - 1] = '\0';
    list[k++] = shift;
    return fold_ok();
  }
  fold_fresh_environment_free(list);
  *variables = NULL;
  return fold_no_memory("for a new process's environment");
}

static char *of_number(const char *name, unsigned threads) {
  char *text = NULL;
  return asprintf(&text, "%s=%u", name, threads) < 0 ? NULL : text;
}

fold_status fold_threads_environment(unsigned threads, char ***variables) {
  static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"};
  enum { NAMES = sizeof names / sizeof *names };
  size_t n = 0, k = 0;
  while (environ && environ[n]) n++;
  char **list = *variables = calloc(n + NAMES + 1, sizeof *list);
  bool whole = list != NULL;
  for (size_t i = 0; i < n && whole; i++) {
    bool is_one = false;
    for (size_t m = 0; m < NAMES && threads; m++) is_one |= is_of(environ[i], names[m]);
    if (!is_one) whole = (list[k++] = strdup(environ[i])) != NULL;
  }
  for (size_t m = 0; m < NAMES && threads && whole; m++) whole = (list[k++] = of_number(names[m], threads)) != NULL;
  if (whole) return fold_ok();
  fold_fresh_environment_free(list);
  *variables = NULL;
  return fold_no_memory("for a new process's environment");
}

void fold_fresh_environment_free(char **variables) {
  for (size_t i = 0; variables && variables[i]; i++) free(variables[i]);
  free(variables);
}
