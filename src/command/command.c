/* command.c: dispatch to subcommands, and what they share. */
#include "command/command.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "model/setting.h"
#include "ranks/world.h"
#include "records/replay.h"

struct subcommand {
  const char *name, *about;
  fold_command *run;
};

static const struct subcommand subcommands[] = {
    {"verify", "judge subjects on fixtures and print verdicts", fold_command_verify},
    {"hunt", "look for random inputs that refute a claim, and make them small", fold_command_hunt},
    {"gate", "pass or fail for one reduction that nobody trusts, in seconds", fold_command_gate},
    {"list", "list subjects, claims, problems, generators, orders, fixtures", fold_command_list},
    {"oracle", "print the exact result of an array in a .npy file", fold_command_oracle},
    {"gen", "write a generated array to a .npy file", fold_command_gen},
    {"order", "print an order's height, fingerprint and drawing", fold_command_order},
    {"reveal", "find the tree by which a subject sums", fold_command_reveal},
    {"certify", "write a certificate of a result, for a third party", fold_command_certify},
    {"bench", "time CUDA or host subjects, or collectives; each is judged first", fold_command_bench},
    {"study", "measure errors by method, size and data; test the bits of all-reduces", fold_command_study},
    {"record", "run subjects and write their results; judge nothing", fold_command_record},
    {"compare", "show where two recorded runs differ", fold_command_compare},
    {"recheck", "judge recorded results again, on any machine", fold_command_recheck},
    {"report", "make a page, a CI summary or JUnit from records", fold_command_report},
    {"env", "print the machine and software that make the results", fold_command_env},
};

/* Subjects and oracles use thousands of short parallel regions of OpenMP. By libgomp's default, a waiting thread spins for
 * milliseconds and may take the processor from the thread that it waits for; on a busy machine that is most of a run. libgomp
 * reads its policy when it is loaded, so the program starts itself again. It does not do so for --in-process, where a profiler
 * or a debugger looks at this process, nor for `bench`, which times regions as users have them. */
static void wait_asleep(char **argv) {
  static const char *const commands[] = {"verify", "hunt", "gate", "record", "study", "recheck"};
  bool runs = false;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) runs |= strcmp(argv[1], commands[i]) == 0;
  for (size_t i = 2; argv[i]; i++) runs &= strcmp(argv[i], "--in-process") != 0;
  if (!runs || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
}

static void print_help(FILE *out) {
  fprintf(
      out,
      "Usage: foldproof COMMAND [OPTION...]\n\nDoes a parallel reduction give the right bits, and the same bits?\n\n");
  for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
    fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].about);
  fprintf(
      out,
      "\nfoldproof help COMMAND prints a command's examples and options; --version prints the version.\n"
      "Exit codes: 0 all held, 1 refuted, 2 wrong usage or bad input, 77 nothing was judged, 99 something is broken.\n"
      "The man page (man foldproof) explains them.\n");
}

static const struct subcommand *find_subcommand(const char *name) {
  for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
    if (strcmp(name, subcommands[i].name) == 0) return &subcommands[i];
  return NULL;
}

static int refuse_command(const char *name) {
  char meant[160];
  struct fold_did_you_mean guess;
  fold_did_you_mean_open(&guess, name);
  for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
    fold_did_you_mean_try(&guess, subcommands[i].name);
  fprintf(stderr, "foldproof: no command '%s': see foldproof --help%s\n", name, fold_did_you_mean_text(&guess, meant));
  return 2;
}

static int run_subcommand(const struct subcommand *command, int argc, char **argv,
                          const struct fold_registry *registry) {
  char program[40];
  snprintf(program, sizeof program, "foldproof %s", command->name);
  argv[1] = program;
  int exit_code = command->run(argc - 1, argv + 1, registry);
  /* The verdicts stand, but an environment whose ranks do not end is not to be trusted. */
  int ended = fold_print_error(program, fold_worlds_close());
  return fold_finish_output(program, exit_code == 0 ? ended : exit_code);
}

static bool is_help(const char *word) {
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run(int argc, char **argv, const struct fold_registry *registry) {
  argp_err_exit_status = 2;
  if (argc < 2) {
    print_help(stderr);
    return 2;
  }
  if (is_help(argv[1]) && (argc == 2 || is_help(argv[2]))) {
    print_help(stdout);
    return fold_finish_output("foldproof", 0);
  }
  if (is_help(argv[1])) { /* help COMMAND is COMMAND --help */
    char *asked[] = {argv[0], argv[2], "--help", NULL};
    return run(3, asked, registry);
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    puts(fold_version_text());
    return fold_finish_output("foldproof", 0);
  }
  wait_asleep(argv);
  fold_status settings = fold_settings_check();
  if (settings.code == FOLD_OK) settings = fold_registry_check(registry); /* also in a rank */
  if (settings.code != FOLD_OK) return fold_print_error("foldproof", settings);
  const struct subcommand *command = find_subcommand(argv[1]);
  if (command) return run_subcommand(command, argc, argv, registry);
  if (strcmp(argv[1], "rank") == 0) return fold_command_rank(argc - 1, argv + 1, registry);
  return refuse_command(argv[1]);
}

int fold_main(int argc, char **argv, const struct fold_registry *registry) {
  fold_process_begin();
  return fold_process_end(fold_process_has_stack() ? run(argc, argv, registry) : fold_exit_code(FOLD_ENVIRONMENT));
}

int fold_print_error(const char *program, fold_status status) {
  if (status.code == FOLD_OK) return 0;
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", program, status.text);
  return fold_exit_code(status.code);
}

int fold_finish_output(const char *program, int exit_code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
  fprintf(stderr, "%s: standard output cannot be written: %s\n", program, strerror(errno));
  return exit_code == 0 ? fold_exit_code(FOLD_ENVIRONMENT) : exit_code;
}

/* a signal handler can write only to a global */
static volatile int interrupted;
static volatile double interrupted_at;

/* Seconds that a command has to end by itself, of those that run subjects in their own process. */
static volatile double grace;

static void on_late(int number) {
  static const char text[] = "foldproof: interrupted within a run; the records of those that had ended are kept\n";
  (void)number;
  fold_outputs_abandon(false);
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(fold_exit_code(FOLD_ENVIRONMENT));
}

static void end_later(void) {
  const struct itimerval at = {.it_value = {.tv_usec = (suseconds_t)(1e6 * grace)}};
  if (grace > 0) setitimer(ITIMER_REAL, &at, NULL);
}

/* The first signal asks the program to stop; a later one ends it at once. One that comes together with the first does
 * not: timeout(1) sends each signal twice, to the program and to its group. */
static void on_signal(int number) {
  if (!interrupted) {
    interrupted_at = fold_now();
    interrupted = number;
    end_later();
  } else if (fold_now() - interrupted_at > 0.5) {
    fold_outputs_abandon(false);
    signal(number, SIG_DFL);
    raise(number);
  }
}

/* Sets it unless the signal is ignored, as nohup and shells that start a command in the background want it. */
static void handle(int number, void (*handler)(int)) {
  if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

const volatile int *fold_watch_interrupt(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) handle(ends[i], on_signal);
  return &interrupted;
}

void fold_end_in_time(void) {
  grace = 0.7;
  signal(SIGALRM, on_late);         /* not later: within a run it would be undone as the subject's change */
  setvbuf(stdout, NULL, _IOLBF, 0); /* what is printed then is not lost */
}

fold_status fold_tell_environment(struct fold_records *records, const char *environment,
                                  const struct fold_selection *selection) {
  json_t *told = json_loads(environment, 0, NULL), *asked = fold_asked_of(selection);
  if (told && json_object_size(asked)) json_object_set(told, "asked", asked);
  json_decref(asked);
  json_t *files = fold_guests_files(selection->guests, selection->n_guests);
  if (told && json_array_size(files)) json_object_set(told, "guests", files);
  json_decref(files);
  return fold_records_environment(records, told);
}

fold_status fold_close_records(const char *program, struct fold_records *records, fold_status status) {
  if (records->file == NULL) return fold_ok();
  bool part = interrupted && status.code == FOLD_OK;
  fold_status closed = fold_records_close(records, status.code != FOLD_OK ? FOLD_OUTPUT_DROP
                                                   : part                 ? FOLD_OUTPUT_PART
                                                                          : FOLD_OUTPUT_WHOLE);
  fflush(stdout);
  if (part && closed.code == FOLD_OK)
    fprintf(stderr, "%s: interrupted: the records are incomplete%s%s\n", program, records->kept[0] ? ": " : "",
            records->kept);
  return closed;
}

void fold_progress_open(struct fold_progress *progress) {
  *progress = (struct fold_progress){.shown = isatty(STDERR_FILENO) == 1, .started = fold_now()};
}

static const double AVERAGED_S = 20;

/* Shows no estimate before a twentieth is done: until then most of the time went into starting up. Cases come from short
 * to long and back, so an estimate is averaged with those before it, each of which has grown old by now. */
static void estimate(struct fold_progress *progress, size_t done, size_t all, double now) {
  if (done == 0 || done * 20 < all) return;
  const double left = (now - progress->started) * (double)(all - done) / (double)done;
  const double before = fmax(progress->left - (now - progress->told), 0);
  progress->left = progress->told > 0 ? before + (left - before) * fmin((now - progress->told) / AVERAGED_S, 1) : left;
  progress->told = now;
}

static void print_left(double left) {
  if (left < 100)
    fprintf(stderr, ", about %.0f s left", ceil(left / 5) * 5);
  else
    fprintf(stderr, ", about %.0f min left", left / 60);
}

void fold_progress_show(struct fold_progress *progress, size_t done, size_t all, const char *what) {
  double t = fold_now();
  if (!progress->shown || t - progress->last < 0.1) return;
  progress->last = t;
  estimate(progress, done, all, t);
  fputs("\r\033[K", stderr);
  if (all > 0) fprintf(stderr, "%zu of %zu", done, all);
  if (progress->refuted) fprintf(stderr, ", %zu refuted", progress->refuted);
  if (progress->told > 0) print_left(progress->left);
  fprintf(stderr, "%s%.36s", all > 0 ? ": " : "", what);
  fflush(stderr);
}

void fold_progress_clear(struct fold_progress *progress) {
  if (progress->shown && progress->last > 0) fprintf(stderr, "\r\033[K");
}
