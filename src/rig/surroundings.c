/* surroundings.c: the state of this process between runs.
 *
 * The short look takes 0.4 us, and a short run ten times that. So what only system calls tell, except the signal mask,
 * is left to the longer looks. Variables are put back as strings of our own: whoever owns the former ones may have
 * freed them.
 */
#include "surroundings.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "process.h"

/* The strings of an environment, and their copies. */
struct variables {
  struct variables *former;
  size_t n, n_bytes;
  char **at;    /* where they are; NULL at the end */
  char *copies; /* one after the other */
};

/* Kept of the process; threads that are ranks look at it in turn. */
static struct {
  bool kept, process_kept;
  bool of_host; /* since the process was kept, all runs were on the host */
  char *locale;
  struct variables *variables;
  /* The same variables as strings of our own: the environment after it was put back. Former ones are not freed, for
   * some of their strings may be in use. */
  struct variables *given;
  bool gives; /* `given` holds these variables */
} known;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct {
  bool kept;
  sigset_t mask;
  locale_t locale;
} own;

/* ---- variables ---- */

static char *none[] = {NULL};
static char **variables_now(void) { return environ ? environ : none; }

static struct variables *new_variables(size_t n, size_t n_bytes) {
  struct variables *v = malloc(sizeof *v + (n + 1) * sizeof *v->at + n_bytes);
  if (!v) return NULL;
  *v = (struct variables){.n = n, .n_bytes = n_bytes, .at = (char **)(v + 1)};
  v->copies = (char *)(v->at + n + 1);
  return v;
}

static const char *next(const char *copy) { return copy + strlen(copy) + 1; }

static bool same_places(const struct variables *v) {
  char **now = variables_now();
  size_t i = 0;
  while (i < v->n && now[i] == v->at[i]) i++;
  return i == v->n && !now[i];
}

static bool same_strings(const struct variables *v) {
  char **now = variables_now();
  const char *copy = v->copies;
  for (size_t i = 0; i < v->n; i++, copy = next(copy))
    if (!now[i] || strcmp(now[i], copy) != 0) return false;
  return now[v->n] == NULL;
}

static bool was_there(const struct variables *v, const char *string) {
  const char *copy = v->copies;
  for (size_t i = 0; i < v->n; i++, copy = next(copy))
    if (strcmp(string, copy) == 0) return true;
  return false;
}

static bool is_there(const char *string) {
  char **now = variables_now();
  while (*now && strcmp(*now, string) != 0) now++;
  return *now != NULL;
}

/* Finds a variable that was set or is new, or else one that was removed; NULL where only their addresses have
 * changed. */
static const char *find_changed(const struct variables *v) {
  const char *copy = v->copies;
  for (char **now = variables_now(); *now; now++)
    if (!was_there(v, *now)) return *now;
  for (size_t i = 0; i < v->n; i++, copy = next(copy))
    if (!is_there(copy)) return copy;
  return NULL;
}

static void take_places(struct variables *v) { memcpy(v->at, variables_now(), (v->n + 1) * sizeof *v->at); }

static fold_status keep_variables(void) {
  char **now = variables_now();
  size_t n = 0, n_bytes = 0;
  if (!known.variables || !same_strings(known.variables)) {
    for (; now[n]; n++) n_bytes += strlen(now[n]) + 1;
    struct variables *v = new_variables(n, n_bytes);
    if (!v) return fold_error(FOLD_NO_MEMORY, "not enough memory for the environment's variables");
    char *to = v->copies;
    for (size_t i = 0; i < n; i++) to = stpcpy(to, now[i]) + 1;
    free(known.variables);
    known.variables = v;
    known.gives = false;
  }
  take_places(known.variables);
  return fold_ok();
}

static void put_variables_back(void) {
  struct variables *v = known.variables, *given = known.gives ? known.given : new_variables(v->n, v->n_bytes);
  if (!given) return; /* they stay changed, and are reported after the next run too */
  if (!known.gives) given->former = known.given;
  known.given = given;
  known.gives = true;
  memcpy(given->copies, v->copies, v->n_bytes);
  char *copy = given->copies;
  for (size_t i = 0; i < v->n; i++, copy += strlen(copy) + 1) given->at[i] = copy;
  given->at[v->n] = NULL;
  environ = given->at;
  take_places(v);
}

static void look_at_variables(bool whole, char changed[80]) {
  struct variables *v = known.variables;
  if (same_places(v) && (!whole || same_strings(v))) return;
  const char *variable = find_changed(v);
  if (variable && !changed[0])
    snprintf(changed, 80, "the environment's variable %.*s", (int)strcspn(variable, "="), variable);
  put_variables_back();
}

/* ---- the stack ---- */

/* A stack can't grow past a limit that a subject has lowered, its own or the address space's. So the harness takes
 * beforehand what it needs of the stack until fold_process_restore_limits has put the limit back. */
static __attribute__((noinline)) void keep_stack(void) {
  volatile char room[64 << 10];
  for (size_t at = 0; at < sizeof room; at += 1024) room[at] = 0;
}

/* ---- the locale; what is the thread's own ---- */

static fold_status keep_locale(void) {
  const char *now = setlocale(LC_ALL, NULL);
  if (known.locale && strcmp(now, known.locale) == 0) return fold_ok();
  free(known.locale);
  known.locale = strdup(now);
  return known.locale ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the locale's name");
}

static void look_at_locale(char changed[80]) {
  if (strcmp(setlocale(LC_ALL, NULL), known.locale) == 0) return;
  if (!changed[0]) snprintf(changed, 80, "the locale");
  setlocale(LC_ALL, known.locale);
}

static sigset_t mask_now(void) {
  sigset_t mask;
  memset(&mask, 0, sizeof mask); /* neither the system nor sigemptyset sets bits of signals that don't exist */
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  return mask;
}

static void keep_own(void) {
  if (own.kept) return;
  own.locale = uselocale((locale_t)0);
  own.mask = mask_now();
  own.kept = true;
}

static void look_at_own(char changed[80]) {
  sigset_t mask = mask_now();
  if (memcmp(&mask, &own.mask, sizeof mask) != 0) {
    if (!changed[0]) snprintf(changed, 80, "the signal mask");
    pthread_sigmask(SIG_SETMASK, &own.mask, NULL);
  }
  if (uselocale((locale_t)0) == own.locale) return;
  if (!changed[0]) snprintf(changed, 80, "the thread's locale");
  uselocale(own.locale);
}

/* ---- all of it ---- */

static fold_status keep_known(bool host) {
  if (known.kept) return fold_ok();
  FOLD_TRY(keep_variables());
  FOLD_TRY(keep_locale());
  fold_folders_keep();
  keep_stack();
  if (!known.process_kept || (host && !known.of_host)) {
    fold_process_keep();
    known.of_host = true;
  }
  known.kept = known.process_kept = true;
  return fold_ok();
}

fold_status fold_surroundings_keep(bool host) {
  keep_own();
  pthread_mutex_lock(&turn);
  fold_status status = keep_known(host);
  pthread_mutex_unlock(&turn);
  return status;
}

void fold_surroundings_restore(enum fold_look look, char changed[80]) {
  const bool reads = look != FOLD_LOOK_SHORT;
  if (own.kept) look_at_own(changed);
  pthread_mutex_lock(&turn);
  if (known.kept) {
    if (reads)
      fold_process_restore_limits(look == FOLD_LOOK_WHOLE, changed); /* first: all else needs memory and files */
    look_at_locale(changed);
    look_at_variables(reads, changed);
    if (reads) fold_folders_restore(changed);
  }
  pthread_mutex_unlock(&turn);
}

bool fold_surroundings_are_spoilt(void) { return fold_process_is_spoilt() || fold_folders_are_lost(); }

static void forget_but_process(void) { own.kept = known.kept = false; }

void fold_surroundings_forget(void) {
  forget_but_process();
  known.process_kept = false;
  fold_process_forget();
}

/* Keeping what system calls tell takes as long as some runs. So where nothing had changed, the next subject begins with
 * what is kept. After a change the state is kept anew, or else what can't be put back would be told of every later
 * subject. */
void fold_surroundings_end(bool host, char changed[80]) {
  fold_surroundings_restore(FOLD_LOOK_WHOLE, changed);
  if (known.kept && host) fold_process_restore(changed);
  known.of_host &= host;
  if (changed[0])
    fold_surroundings_forget();
  else
    forget_but_process();
}
