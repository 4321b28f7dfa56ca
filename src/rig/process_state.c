/* process_state.c: see process_state.h.
 *
 * Without `whole` a look takes 0.4 us, and a short run ten times that. So what only system calls tell, except the signal mask,
 * is looked at with `whole` alone. Variables are put back as strings of our own, since the owner of the former ones may have
 * freed them.
 */
#include "rig/process_state.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/proc.h"

enum { STANDARD = 3, MOST_CHILDREN = 256, MOST_OWN = 64 };

/* The strings of an environment, and their copies. */
struct variables {
  struct variables *former;
  size_t n, n_bytes;
  char **at;    /* where they are; NULL at the end */
  char *copies; /* one after the other */
};

struct children {
  pid_t at[MOST_CHILDREN];
  int n;
};

/* What is kept of the process; threads that are ranks look at it in turn. */
struct fold_process_state {
  bool kept;
  char *locale;
  struct variables *variables;
  /* The same variables as strings of our own: the environment after it was put back. Former ones are not freed, for
   * some of their strings may be in use. */
  struct variables *given;
  bool gives; /* `given` holds these variables */
  int folder; /* the current one, open; -1: it can't be opened, and is left alone */
  struct stat folder_is;
  struct sigaction handlers[NSIG];
  struct stat standard[STANDARD];
  int copies[STANDARD]; /* of the standard descriptors; -1: none */
  struct children children, orphans;
};
static struct fold_process_state known = {.folder = -1, .copies = {-1, -1, -1}};
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* What is the thread's own. */
static _Thread_local struct {
  bool kept;
  sigset_t mask;
  locale_t locale;
} own;

static struct {
  pid_t at[MOST_OWN];
  unsigned n;
} own_children;
static bool has_guests;

static void name(char changed[80], const char *what) {
  if (!changed[0]) snprintf(changed, 80, "%s", what); /* unseen: what , "%s" */
}

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
    if (!now[i] || strcmp(now[i], copy) != 0) return false; /* unseen: copy , now [ i ] */
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
  while (*now && strcmp(*now, string) != 0) now++; /* unseen: string , * now */
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
    if (!v) return fold_no_memory("for the environment's variables");
    char *to = v->copies;
    for (size_t i = 0; i < n; i++) to = stpcpy(to, now[i]) + 1;
    free(known.variables); /* unseen: drop */
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

static void restore_variables(bool whole, char changed[80]) {
  struct variables *v = known.variables;
  if (same_places(v) && (!whole || same_strings(v))) return;
  const char *variable = find_changed(v);
  if (variable && !changed[0])
    snprintf(changed, 80, "the environment's variable %.*s", (int)strcspn(variable, "="), variable);
  put_variables_back();
}

/* ---- the locale, the folder; what is the thread's own ---- */

static fold_status keep_locale(void) {
  const char *now = setlocale(LC_ALL, NULL);
  if (known.locale && strcmp(now, known.locale) == 0) return fold_ok();
  free(known.locale); /* unseen: drop */
  known.locale = strdup(now);
  return known.locale ? fold_ok() : fold_no_memory("for the locale's name");
}

static void restore_locale(char changed[80]) {
  if (strcmp(setlocale(LC_ALL, NULL), known.locale) == 0) return;
  name(changed, "the locale");
  setlocale(LC_ALL, known.locale);
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void restore_folder(char changed[80]) {
  struct stat now;
  if (known.folder < 0 || (stat(".", &now) == 0 && is_same_file(&now, &known.folder_is))) return;
  name(changed, "the current folder");
  (void)!fchdir(known.folder); /* if that fails, the next subject begins where this one ended */
}

static sigset_t mask_now(void) {
  sigset_t mask;
  /* unseen: 1 */
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

static void restore_own(char changed[80]) {
  sigset_t mask = mask_now();
  if (memcmp(&mask, &own.mask, sizeof mask) != 0) { /* unseen: own . mask , & */
    name(changed, "the signal mask");
    pthread_sigmask(SIG_SETMASK, &own.mask, NULL);
  }
  if (uselocale((locale_t)0) == own.locale) return;
  name(changed, "the thread's locale");
  uselocale(own.locale);
}

/* ---- handlers of signals ---- */

static bool same_handler(const struct sigaction *a, const struct sigaction *b) {
  return a->sa_handler == b->sa_handler && (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO);
}

/* The handlers of faults are the rig's own (fault.h). */
static bool is_looked_at(int number) {
  return number != SIGKILL && number != SIGSTOP && number != SIGSEGV && number != SIGBUS;
}

static void keep_handlers(void) {
  for (int number = 1; number < NSIG; number++)
    if (is_looked_at(number)) sigaction(number, NULL, &known.handlers[number]);
}

static void restore_handlers(char changed[80]) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction now;
    if (!is_looked_at(number) || sigaction(number, NULL, &now) || same_handler(&now, &known.handlers[number])) continue;
    /* By signal, which keeps no flags. */
    const bool reset = now.sa_handler == known.handlers[number].sa_handler && !(now.sa_flags & SA_SIGINFO);
    /* unseen: 79 */
    if (!changed[0] && !reset) snprintf(changed, 80, "the handler of signal %d (%.40s)", number, strsignal(number));
    sigaction(number, &known.handlers[number], NULL);
  }
}

/* ---- the standard descriptors ---- */

static struct stat file_at(int descriptor) {
  struct stat file = {0}; /* stays zero for one that is closed */
  fstat(descriptor, &file);
  return file;
}

static void keep_standard(void) {
  for (int k = 0; k < STANDARD; k++) {
    known.standard[k] = file_at(k);
    known.copies[k] = fcntl(k, F_DUPFD_CLOEXEC, STANDARD);
  }
}

static void restore_standard(char changed[80]) {
  static const char *const names[STANDARD] = {"the process's standard input", "the process's standard output",
                                              "the process's standard error"};
  for (int k = 0; k < STANDARD; k++) {
    const struct stat now = file_at(k);
    if (is_same_file(&now, &known.standard[k])) continue;
    name(changed, names[k]);
    if (known.copies[k] >= 0)
      dup2(known.copies[k], k);
    else if (known.standard[k].st_ino == 0)
      close(k);
  }
}

/* ---- children ---- */

/* unseen: -- */
void fold_process_state_own_child(pid_t child) { own_children.at[own_children.n++ % MOST_OWN] = child; }
void fold_process_state_watch_guests(void) { has_guests = true; }

static bool is_among(const pid_t *children, int n, pid_t child) {
  while (n > 0 && children[n - 1] != child) n--;
  return n > 0;
}

/* The children of this thread, in which subjects run, also those that have ended and were not waited for; and, if
 * guests are judged, those of the process that watches this one. */
static void read_all_children(struct children *children, struct children *orphans) {
  siginfo_t info;
  const bool any = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  children->n = any ? fold_proc_children(0, children->at, MOST_CHILDREN) : 0;
  orphans->n = has_guests ? fold_proc_children(getppid(), orphans->at, MOST_CHILDREN) : 0;
}

static bool is_running(pid_t process) {
  struct fold_proc found;
  return fold_proc_read(process, &found) && found.state != 'Z' && found.state != 'X';
}

/* Whether it was there before this process. What a worker before this one has started becomes an orphan some time after that worker's
 * end. */
static bool is_older(pid_t process) {
  struct fold_proc found, this;
  return fold_proc_read(process, &found) && fold_proc_read(getpid(), &this) && found.start < this.start;
}

/* Whether it still runs after 0.3 s. The system waits for orphans that have ended: they are no trace. */
static bool stays(pid_t process) {
  for (int i = 0; i < 150 && is_running(process); i++) usleep(2000);
  return is_running(process);
}

/* Names such a process but lets it run: it may belong to a pool that the subject uses again. It ends with this process
 * (reaper.h). */
static void look_at_children(char changed[80]) {
  struct children now, orphans;
  read_all_children(&now, &orphans);
  for (int i = 0; i < now.n; i++)
    if (!is_among(known.children.at, known.children.n, now.at[i]) && !is_among(own_children.at, MOST_OWN, now.at[i]))
      name(changed, "a process that it started and did not wait for");
  for (int i = 0; i < orphans.n; i++)
    if (!is_among(known.orphans.at, known.orphans.n, orphans.at[i]) && !is_older(orphans.at[i]) && stays(orphans.at[i]))
      name(changed, "a process that it started, which has left its parent");
}

/* ---- all of it ---- */

static fold_status keep_known(void) {
  if (known.kept) return fold_ok();
  FOLD_TRY(keep_variables());
  FOLD_TRY(keep_locale());
  known.folder = stat(".", &known.folder_is) == 0 ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  keep_handlers();
  keep_standard();
  read_all_children(&known.children, &known.orphans);
  known.kept = true;
  return fold_ok();
}

fold_status fold_process_state_keep(void) {
  keep_own();
  pthread_mutex_lock(&turn); /* unseen: drop */
  fold_status status = keep_known();
  pthread_mutex_unlock(&turn);
  return status;
}

void fold_process_state_restore(bool whole, char changed[80]) {
  if (own.kept) restore_own(changed);
  pthread_mutex_lock(&turn); /* unseen: drop */
  if (known.kept) {
    restore_locale(changed);
    restore_variables(whole, changed);
    if (whole) restore_folder(changed);
  }
  pthread_mutex_unlock(&turn);
}

void fold_process_state_forget(void) {
  own.kept = false;
  if (!known.kept) return;
  known.kept = false;
  close(known.folder); /* -1: closes nothing */
  for (int k = 0; k < STANDARD; k++) close(known.copies[k]);
}

void fold_process_state_end(bool host, char changed[80]) {
  fold_process_state_restore(true, changed);
  if (known.kept && host) {
    restore_handlers(changed);
    restore_standard(changed);
    look_at_children(changed);
  }
  fold_process_state_forget();
}
