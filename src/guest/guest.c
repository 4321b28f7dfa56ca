/* guest.c: asks guests for their tables, each in a process that may crash by it, and makes the registry of all
 * subjects. */
#include "guest/guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "model/setting.h"
#include "process/guard.h"
#include "process/reaper.h"
#include "rig/fp_state.h"

enum { LONGEST_TABLE = 16 << 20 };

fold_status fold_guest_slot(struct fold_guest_slots *slots, const struct fold_guest *guest, size_t *slot) {
  size_t i = 0;
  while (i < FOLD_GUESTS_MOST && slots->what[i] && slots->what[i] != guest->what) i++;
  if (i == FOLD_GUESTS_MOST) return fold_error(FOLD_BAD_INPUT, "more than %d guests", FOLD_GUESTS_MOST);
  slots->what[i] = guest->what;
  *slot = i;
  return fold_ok();
}

/* Sends the child's answer: one byte that says how it went, then the table, or why there is none. */
static void say(int fd, fold_status status, const char *json) {
  const char *text = status.code == FOLD_OK ? json : status.text;
  char how = (char)status.code;
  size_t left = strlen(text);
  if (write(fd, &how, 1) != 1) _exit(1);
  for (ssize_t n; left > 0; text += n, left -= (size_t)n)
    if ((n = write(fd, text, left)) <= 0) _exit(1);
}

/* Keeps what the guest prints or does on loading away from the command. */
static void describe_here(const struct fold_guest *guest, int fd) {
  char *json = NULL;
  dup2(STDERR_FILENO, STDOUT_FILENO);
  fold_status status = guest->door->describe(guest, &json);
  say(fd, status, json);
  _exit(0);
}

/* Reads until the child ends. False if that takes too long, if it sends too much, or if the user wants to stop. */
static bool hear(int fd, double end, char *text, size_t *n, bool *interrupted) {
  struct pollfd at = {.fd = fd, .events = POLLIN};
  for (;;) {
    const double left = end - fold_now();
    const int ready = left > 0 && *n < LONGEST_TABLE ? poll(&at, 1, (int)(1000 * left) + 1) : 0;
    *interrupted = ready < 0 && errno == EINTR;
    if (ready <= 0) return false;
    const ssize_t got = read(fd, text + *n, LONGEST_TABLE - *n);
    if (got == 0) return true;
    if (got > 0) *n += (size_t)got;
    if (got < 0 && errno != EINTR) return false;
  }
}

static fold_status how_it_ended(const struct fold_guest *guest, bool heard, size_t n, unsigned limit, int how) {
  if (n == LONGEST_TABLE)
    return fold_error(FOLD_BAD_INPUT, "%s: its table has over %d bytes of text", guest->what, LONGEST_TABLE);
  if (!heard)
    return fold_error(FOLD_BAD_INPUT, "%s: its table did not come within %u s (see --timeout)", guest->what, limit);
  if (WIFSIGNALED(how))
    return fold_error(FOLD_BAD_INPUT, "%s: on loading it was killed by signal %d (%s)", guest->what, WTERMSIG(how),
                      strsignal(WTERMSIG(how)));
  return fold_error(FOLD_BAD_INPUT, "%s: on loading it ended its process with exit code %d", guest->what,
                    WEXITSTATUS(how));
}

/* The table's text, in memory that the caller frees. */
static fold_status ask(const struct fold_guest *guest, char **json) {
  unsigned limit;
  int ends[2], how = 0;
  size_t n = 0;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_TIMEOUT, 20, &limit));
  /* mmap, because malloc may fill what it allocates (fresh_environment.c), and most of this is never touched. */
  char *text = mmap(NULL, LONGEST_TABLE + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (text == MAP_FAILED) return fold_no_memory("for a guest's table");
  struct fold_reaper reaper; /* for processes that the guest starts on loading */
  fold_reaper_begin(&reaper);
  const pid_t parent = getpid(), child = pipe(ends) == 0 ? fold_fork() : -1;
  if (child < 0) {
    munmap(text, LONGEST_TABLE + 1);
    return fold_error(FOLD_ENVIRONMENT, "a guest's process cannot be started: %s", strerror(errno));
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    if (getppid() == parent) describe_here(guest, ends[1]);
    _exit(99);
  }
  close(ends[1]);
  bool interrupted;
  const bool heard = hear(ends[0], fold_now() + limit, text, &n, &interrupted);
  close(ends[0]);
  if (!heard) kill(child, SIGKILL);
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  fold_reaper_end(&reaper, 0);
  text[n] = '\0';
  fold_status status = fold_ok();
  if (interrupted)
    status = fold_error(FOLD_ENVIRONMENT, "interrupted while %.80s described itself", guest->what);
  else if (!heard || !WIFEXITED(how) || WEXITSTATUS(how) != 0 || n == 0)
    status = how_it_ended(guest, heard, n, limit, how);
  else if (text[0] != FOLD_OK)
    status = fold_error((enum fold_code)text[0], "%s", text + 1);
  if (status.code == FOLD_OK && (*json = strdup(text + 1)) == NULL) status = fold_no_memory("for a guest's table");
  munmap(text, LONGEST_TABLE + 1);
  return status;
}

static fold_status append(struct fold_subject **all, size_t *n, const struct fold_subject *rows, size_t more) {
  struct fold_subject *grown = realloc(*all, (*n + more + 1) * sizeof *grown);
  if (grown == NULL) return fold_no_memory("for the subjects");
  memcpy(grown + *n, rows, more * sizeof *rows);
  *all = grown;
  *n += more;
  return fold_ok();
}

/* Checked here, because fold_registry_check would call it the program's own mistake. */
static fold_status check_names(const struct fold_guest *guest, const struct fold_subject *rows, size_t n,
                               const struct fold_registry *own) {
  for (size_t i = 0; i < n; i++)
    if (fold_registry_find(own, rows[i].name, rows[i].engine))
      return fold_error(FOLD_BAD_INPUT, "%s: %s is one of foldproof's own subjects", guest->what, rows[i].name);
  return fold_ok();
}

/* Appends the first number that gives a name which no subject before, and none of this guest, has. */
static fold_status rename_row(struct fold_subject *row, const struct fold_registry *before,
                              const struct fold_registry *more) {
  struct fold_guest_row *guest = (struct fold_guest_row *)(uintptr_t)row->guest;
  for (unsigned k = 2;; k++) {
    free(guest->renamed);
    guest->renamed = NULL;
    if (asprintf(&guest->renamed, "%s@%u", guest->name, k) < 0) return fold_no_memory("for a guest's table");
    if (fold_registry_find(before, guest->renamed, row->engine) ||
        fold_registry_find(more, guest->renamed, row->engine))
      continue;
    row->name = guest->renamed;
    return fold_ok();
  }
}

/* The same guest given twice is not renamed: the registry's check refuses it. */
static fold_status rename_rows(struct fold_subject *rows, size_t more, const struct fold_registry *before) {
  const struct fold_registry all = {rows, more};
  for (size_t i = 0; i < more; i++) {
    const struct fold_subject *first = fold_registry_find(before, rows[i].name, rows[i].engine);
    if (first == NULL || strcmp(first->guest->guest->what, rows[i].guest->guest->what) == 0) continue;
    FOLD_TRY(rename_row(&rows[i], before, &all));
  }
  return fold_ok();
}

/* Makes each row promise the bits of the twin, which may be one of the rows. */
static fold_status set_twin(struct fold_subject *rows, size_t n, const char *twin) {
  size_t set = 0;
  for (size_t i = 0; i < n; i++) set += fold_registry_set_twin(&(struct fold_registry){rows, n}, &rows[i], twin);
  return set ? fold_ok() : fold_error(FOLD_BAD_INPUT, "--same-bits-as %.80s: there is no other guest", twin);
}

/* The guest's text must be UTF-8: it goes into records, which are JSON, and the replay of a case is made from its
 * record. */
static fold_status check_text(const struct fold_guest *guest) {
  char shown[160];
  for (const char *at = guest->what; *at;) {
    const size_t n = fold_text_character(at);
    at += n;
    if (n > 0) continue;
    snprintf(shown, sizeof shown, "%s", guest->what);
    fold_text_one_line(shown);
    return fold_error(FOLD_BAD_INPUT,
                      "%s %.100s: it is not UTF-8, so no record can hold it: use a link with a plain name",
                      guest->door->option ? guest->door->option : "the guest", shown);
  }
  return fold_ok();
}

static fold_status load(const struct fold_guest *guest, const struct fold_wants *wants, const struct fold_registry *own,
                        struct fold_subject **all, size_t *n) {
  char *json = NULL;
  struct fold_subject *rows = NULL;
  size_t more = 0;
  FOLD_TRY(guest->door->here ? guest->door->describe(guest, &json) : ask(guest, &json));
  fold_status status = fold_guest_rows(guest, json, wants, &rows, &more);
  free(json);
  if (status.code == FOLD_OK) status = check_names(guest, rows, more, own);
  if (status.code == FOLD_OK) status = rename_rows(rows, more, &(struct fold_registry){*all, *n});
  if (status.code == FOLD_OK) status = append(all, n, rows, more);
  if (status.code != FOLD_OK) fold_guest_rows_put_away(rows, more);
  free(rows);
  return status;
}

/* Starts the guard before a door makes its folder and before any guest is asked, so that it removes the one and ends what the other
 * starts. Guests in this process belong to their caller. */
static fold_status prepare(const struct fold_guest *guests, size_t n) {
  bool apart = false;
  for (size_t i = 0; i < n; i++) {
    FOLD_TRY(check_text(&guests[i]));
    apart |= !guests[i].door->here;
  }
  if (apart) FOLD_TRY(fold_guard_begin());
  for (size_t i = 0; i < n; i++)
    if (guests[i].door->open) FOLD_TRY(guests[i].door->open());
  return fold_ok();
}

const char *fold_guest_problem(const struct fold_subject *subject, const struct fold_call *call) {
  if (subject->unknown) return "rows";
  return call->problem->name;
}

void fold_guests_unload(struct fold_registry *all) {
  struct fold_subject *subjects = (struct fold_subject *)(uintptr_t)all->subjects;
  fold_guard_end();
  fold_guest_rows_put_away(subjects, all->n);
  free(subjects);
  *all = (struct fold_registry){0};
}

fold_status fold_guests_load(const struct fold_guest *guests, size_t n, const struct fold_wants *wants,
                             const struct fold_registry *own, struct fold_registry *all) {
  struct fold_subject *subjects = NULL;
  fold_status status = prepare(guests, n);
  all->n = 0;
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++) status = load(&guests[i], wants, own, &subjects, &all->n);
  if (status.code == FOLD_OK && wants && wants->twin) status = set_twin(subjects, all->n, wants->twin);
  if (status.code == FOLD_OK) status = append(&subjects, &all->n, own->subjects, own->n);
  all->subjects = subjects;
  if (status.code == FOLD_OK) {
    status = fold_registry_check(all);
    if (status.code == FOLD_ENVIRONMENT) status.code = FOLD_BAD_INPUT; /* compiled subjects were checked before */
  }
  if (status.code != FOLD_OK) fold_guests_unload(all);
  return status;
}
