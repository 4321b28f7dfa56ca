/* command_one.c: one subject, compiled in or a guest. */
#include "command_one.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENGINE = 0x100, GUEST, EXEC };

static const struct argp_option options[] = {
    {"engine", ENGINE, "ENGINE", 0, "the subject's: host, cuda, mpi or nccl (the first that has one of that name)", 0},
    {"guest", GUEST, "FILE", 0, "a subject of this shared object (foldproof_guest.h)", 0},
    {"exec", EXEC, "COMMAND", 0, "a subject of this program, as verify's --exec", 0},
    {0},
};

static void add_guest(struct fold_one *one, const struct fold_door *door, const char *what, struct argp_state *state) {
  if (one->n_guests == FOLD_GUESTS_MOST) argp_failure(state, 2, 0, "at most %d guests", FOLD_GUESTS_MOST);
  one->guests[one->n_guests++] = (struct fold_guest){.door = door, .what = what};
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct fold_one *one = state->input;
  switch (key) {
    case GUEST: add_guest(one, &fold_door_object, arg, state); return 0;
    case EXEC: add_guest(one, &fold_door_program, arg, state); return 0;
    case ENGINE:
      one->engine = fold_engine_parse(arg);
      if (one->engine < 0)
        fold_option_refuse(state, "--engine", arg, (const char *const[]){"host", "cuda", "mpi", "nccl", NULL});
      return 0;
    case ARGP_KEY_ARG:
      if (one->name) return ARGP_ERR_UNKNOWN;
      one->name = arg;
      return 0;
    case ARGP_KEY_END:
      if (!one->name && !one->n_guests) argp_failure(state, 2, 0, "name a subject: see foldproof list subjects");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp fold_one_argp = {.options = options, .parser = parse};

static fold_status choose(const struct fold_one *one, const struct fold_registry *all, size_t own,
                          const struct fold_subject **subject) {
  struct fold_near near;
  char meant[160];
  const size_t guests = all->n - own;
  *subject = NULL;
  if (one->name) fold_near_open(&near, one->name);
  for (size_t i = 0; i < all->n; i++) {
    const struct fold_subject *s = &all->subjects[i];
    if (one->engine >= 0 && (int)s->engine != one->engine) continue;
    if (one->name) fold_near_try(&near, s->name);
    const bool wanted = one->name ? strcmp(s->name, one->name) == 0 : i < guests;
    if (wanted && *subject && !one->name) return fold_error(FOLD_BAD_INPUT, "there are %zu guests: name one", guests);
    if (wanted && !*subject) *subject = s;
  }
  if (*subject) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "no subject is called '%.60s'%s%s%s", one->name ? one->name : "",
                    one->engine >= 0 ? " on " : "",
                    one->engine >= 0 ? fold_engine_name((enum fold_engine)one->engine) : "",
                    one->name ? fold_near_text(&near, meant) : "");
}

int fold_one_subject(const char *program, struct fold_one *one, const struct fold_registry *registry,
                     int (*work)(void *, const struct fold_subject *), void *context) {
  const struct fold_subject *subject;
  struct fold_registry all = *registry;
  int how = 0, code;
  fold_status status = fold_ok();
  if (one->n_guests) status = fold_guests_load(one->guests, one->n_guests, NULL, NULL, registry, &all);
  if (status.code != FOLD_OK) return fold_print_error(program, status);
  status = choose(one, &all, registry->n, &subject);
  fflush(stdout);
  const pid_t child = status.code == FOLD_OK ? fork() : -1;
  if (child == 0) _exit(work(context, subject));
  if (status.code == FOLD_OK && child < 0) status = fold_error(FOLD_ENVIRONMENT, "no process can be started");
  while (child > 0 && waitpid(child, &how, 0) < 0) continue;
  if (child > 0 && WIFSIGNALED(how))
    status = fold_error(FOLD_ENVIRONMENT, "%s was killed by signal %d (%s)", subject->name, WTERMSIG(how),
                        strsignal(WTERMSIG(how)));
  code = status.code != FOLD_OK ? fold_print_error(program, status) : WEXITSTATUS(how);
  if (one->n_guests) fold_guests_unload(&all);
  return code;
}
