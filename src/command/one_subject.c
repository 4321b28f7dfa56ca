/* command/one_subject.c: runs a command on one subject, compiled in or a guest. */
#include "command/one_subject.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/setting.h"
#include "process/heartbeat.h"
#include "rig/fp_state.h"

enum { ENGINE = 0x100, GUEST, EXEC };

static const struct argp_option options[] = {
    {"engine", ENGINE, "ENGINE", 0,
     "the subject's engine: host, cuda, mpi, nccl or opencl (default: the first that has a subject of that name)", 0},
    {"guest", GUEST, "FILE", 0, "use a subject of this shared object (foldproof_guest.h)", 0},
    {"exec", EXEC, "COMMAND", 0, "use a subject of this program (see verify --exec)", 0},
    {0},
};

static void add_guest(struct fold_one *one, const struct fold_door *door, char *what, struct argp_state *state) {
  if (one->n_guests == FOLD_GUESTS_MOST) argp_failure(state, 2, 0, "at most %d guests", FOLD_GUESTS_MOST);
  one->guests[one->n_guests++] = (struct fold_guest){.door = door, .what = what};
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct fold_one *one = state->input;
  switch (key) {
    case GUEST: add_guest(one, &fold_door_object, arg, state); return 0;
    case EXEC: add_guest(one, &fold_door_program, arg, state); return 0;
    case ENGINE: one->engine = fold_option_engine(state, "--engine", arg); return 0;
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
  struct fold_did_you_mean guess;
  char meant[160];
  const size_t guests = all->n - own;
  *subject = NULL;
  if (one->name) fold_did_you_mean_open(&guess, one->name);
  for (size_t i = 0; i < all->n; i++) {
    const struct fold_subject *s = &all->subjects[i];
    if (one->engine >= 0 && (int)s->engine != one->engine) continue;
    if (one->name) fold_did_you_mean_try(&guess, s->name);
    const bool wanted = one->name ? strcmp(s->name, one->name) == 0 : i < guests;
    if (wanted && *subject && !one->name) return fold_error(FOLD_BAD_INPUT, "there are %zu guests: name one", guests);
    if (wanted && !*subject) *subject = s;
  }
  if (*subject) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "no subject is called '%.60s'%s%s: see foldproof list subjects%s",
                    one->name ? one->name : "", one->engine >= 0 ? " on " : "",
                    one->engine >= 0 ? fold_engine_name((enum fold_engine)one->engine) : "",
                    one->name ? fold_did_you_mean_text(&guess, meant) : "");
}

/* Memory that the subject's process shares with ours. The subject's code can end that process with any exit code, so
 * that only the code that is written here counts. */
struct desk {
  struct fold_watch watch;
  bool told; /* the subject's work is done, and what is to be said of it is being written */
  bool done;
  int code;
};

/* Runs the work. What the subject prints meanwhile goes to standard error; `out` is the original standard output. */
static _Noreturn void work_apart(const char *program, struct desk *desk, fold_one_work *work, void *context,
                                 const struct fold_subject *subject) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100), "w"), *out = open_memstream(&text, &size);
  fold_watch_set(&desk->watch);
  if (to == NULL || out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    desk->code = fold_print_error(program, fold_error(FOLD_ENVIRONMENT, "there is no standard output"));
  } else {
    desk->code = work(context, subject, out);
    bool wrong = ferror(out);
    wrong |= fclose(out) != 0;
    desk->told = true;
    wrong |= fwrite(text, 1, size, to) != size;
    wrong |= fclose(to) != 0;
    if (wrong && desk->code <= 1)
      desk->code = fold_print_error(program, fold_error(FOLD_ENVIRONMENT, "standard output cannot be written"));
  }
  desk->done = true;
  _exit(desk->code);
}

/* Waits for the end of the process, and kills it if one run takes too long. */
static int await(pid_t child, struct desk *desk, unsigned seconds, bool *hung) {
  struct fold_timeout timeout = {.seconds = seconds};
  int how = 0;
  useconds_t pause = 200;
  *hung = false;
  while (waitpid(child, &how, WNOHANG) == 0) {
    *hung |= fold_watch_hangs(&desk->watch, child, &timeout);
    if (*hung) kill(child, SIGKILL);
    usleep(pause);
    if (pause < 10000) pause += pause / 4;
  }
  return how;
}

static fold_status describe(const char *name, int how, bool hung, unsigned seconds, const struct desk *desk) {
  if (hung)
    return fold_error(FOLD_ENVIRONMENT, "%s: a run did not end within %u s, and was killed (see --timeout)", name,
                      seconds);
  if (WIFSIGNALED(how) && desk->told && WTERMSIG(how) == SIGPIPE)
    raise(SIGPIPE); /* as any program's whose reader is gone */
  if (WIFSIGNALED(how))
    return fold_error(FOLD_ENVIRONMENT, "%s was killed by signal %d (%s)", name, WTERMSIG(how),
                      strsignal(WTERMSIG(how)));
  if (!desk->done)
    return fold_error(FOLD_ENVIRONMENT, "%s ended the process that it ran in, with exit code %d", name,
                      WEXITSTATUS(how));
  return fold_ok();
}

static fold_status apart(const char *program, const struct fold_subject *subject, fold_one_work *work, void *context,
                         int *code) {
  unsigned seconds;
  bool hung;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_TIMEOUT, 20, &seconds));
  struct desk *desk = mmap(NULL, sizeof *desk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (desk == MAP_FAILED) return fold_no_memory("to start a process");
  const pid_t parent = getpid(), child = fold_fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(99);
    work_apart(program, desk, work, context, subject);
  }
  fold_status status = fold_error(FOLD_ENVIRONMENT, "no process can be started");
  if (child > 0) {
    const int how = await(child, desk, seconds, &hung);
    status = describe(subject->name, how, hung, seconds, desk);
  }
  *code = desk->code;
  munmap(desk, sizeof *desk);
  return status;
}

int fold_one_subject(const char *program, struct fold_one *one, const struct fold_registry *registry,
                     fold_one_work *work, void *context) {
  const struct fold_subject *subject;
  struct fold_registry all = *registry;
  int code = 0;
  fold_status status = fold_ok();
  if (one->n_guests) status = fold_guests_load(one->guests, one->n_guests, NULL, registry, &all);
  if (status.code != FOLD_OK) return fold_print_error(program, status);
  status = choose(one, &all, registry->n, &subject);
  if (status.code == FOLD_OK) status = apart(program, subject, work, context, &code);
  if (status.code != FOLD_OK) code = fold_print_error(program, status);
  if (one->n_guests) fold_guests_unload(&all);
  return code;
}
