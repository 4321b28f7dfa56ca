/* ranks/start.c: starts the ranks of a world: how many, by which launcher, with which command line. */
#include "ranks/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/engine.h"
#include "model/setting.h"

enum { MOST_WORDS = 64 };
/* How many time limits starting may take: eight GPUs that are used for the first time take most of a minute. */
static const double START_OF_GPUS = 3;

/* One rank a device. Where another launcher starts a given number of ranks, these may be on other hosts, whose devices
 * can't be counted here. */
static fold_status choose_devices(struct fold_world *w, const struct fold_engine_ops *memory) {
  const char *launch = getenv("FOLDPROOF_LAUNCH");
  bool here = launch == NULL || *launch == '\0' || strcmp(launch, "threads") == 0;
  int gpus = 0;
  char reason[FOLD_DEVICES_TEXT] = "";
  FOLD_TRY(memory->count(&gpus, reason));
  FOLD_TRY(fold_setting_number(FOLD_SETTING_RANKS, (unsigned)gpus, &w->ranks));
  if (w->ranks == 0 || (here && gpus == 0)) return fold_error(FOLD_UNSUPPORTED, "%s", reason);
  if (here && w->ranks > (unsigned)gpus)
    return fold_error(FOLD_ENVIRONMENT, "FOLDPROOF_RANKS=%u, but there are %d GPUs, one a rank", w->ranks, gpus);
  return fold_ok();
}

/* Chooses how many ranks there are: the number asked for, else one for each GPU, or 8 host processes. */
static fold_status choose_ranks(struct fold_world *w) {
  const struct fold_engine_ops *memory = fold_engine_of(fold_engine_rows[w->engine].memory);
  if (memory->count) return choose_devices(w, memory);
  return fold_setting_number(FOLD_SETTING_RANKS, 8, &w->ranks);
}

/* The words of the ranks' command line. */
struct words {
  char program[4096], secret[32], ranks[16];
  const char *address;
};

/* The ranks run this program, unless FOLDPROOF_PROGRAM gives another path, as for other machines. */
static fold_status choose_words(struct fold_world *w, const struct fold_listener *listener, struct words *words) {
  const char *program = getenv("FOLDPROOF_PROGRAM");
  words->address = listener->address;
  snprintf(words->secret, sizeof words->secret, "%016llx", (unsigned long long)listener->secret);
  snprintf(words->ranks, sizeof words->ranks, "%u", w->ranks);
  if (program && *program) {
    snprintf(words->program, sizeof words->program, "%s", program);
  } else {
    ssize_t n = readlink("/proc/self/exe", words->program, sizeof words->program - 1);
    if (n < 0) return fold_system_failed("/proc/self/exe");
    words->program[n] = '\0';
  }
  if (stat(words->program, &w->program)) stat("/proc/self/exe", &w->program); /* a path of other machines */
  return fold_ok();
}

/* The launcher's command line: its words, then ours. Cuts `text` up. */
static fold_status command_line(const struct fold_world *w, const struct words *words, char *text, const char **argv) {
  size_t n = 0;
  char *rest = NULL;
  for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (n == MOST_WORDS - 12) return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_LAUNCH has more than 50 words");
    argv[n++] = strcmp(word, "{ranks}") == 0 ? words->ranks : word;
  }
  argv[n++] = words->program;
  argv[n++] = "rank";
  argv[n++] = "--engine";
  argv[n++] = fold_engine_name(w->engine);
  argv[n++] = "--connect";
  argv[n++] = words->address;
  argv[n++] = "--secret";
  argv[n++] = words->secret;
  argv[n++] = "--ranks";
  argv[n++] = words->ranks;
  if (argv[0] == words->program) argv[n++] = "--threads";
  argv[n] = NULL;
  return fold_ok();
}

/* Open MPI's mpirun does not start as root unless two variables allow it. This says so before mpirun prints its own
 * text. */
static fold_status check_root(const struct fold_comm_engine *engine) {
  static const char *const allows[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"};
  char library[64] = "";
  engine->version(library);
  if (geteuid() != 0 || strncmp(library, "Open MPI", 8) != 0) return fold_ok();
  for (size_t i = 0; i < 2; i++) {
    const char *value = getenv(allows[i]);
    if (value == NULL || strcmp(value, "1") != 0)
      return fold_error(FOLD_UNSUPPORTED, "mpirun refuses to run as root: set %s and %s to 1", allows[0], allows[1]);
  }
  return fold_ok();
}

/* Open MPI's daemon on another node ends its ranks and itself when it has lost mpirun. If the network to mpirun is
 * lost, it would take 8 minutes to notice. This makes it 10 seconds, unless the user says otherwise (wire.c says why
 * that is less than the ranks' own limit). */
static void hasten_daemons(void) {
  setenv("OMPI_MCA_oob_tcp_keepalive_time", "4", 0);
  setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "2", 0);
  setenv("OMPI_MCA_oob_tcp_keepalive_probes", "3", 0);
}

/* Opens the file for what the launcher and the ranks print: a nameless one, or the user's, to which it is appended. */
static fold_status open_output(struct fold_world *w) {
  const char *path = getenv("FOLDPROOF_OUTPUT");
  bool kept = path && *path;
  w->output =
      kept ? open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : memfd_create("foldproof-ranks", MFD_CLOEXEC);
  if (w->output < 0 && kept) return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_OUTPUT=%.120s: %s", path, strerror(errno));
  if (w->output < 0) return fold_system_failed("room for what ranks print");
  w->output_at = lseek(w->output, 0, SEEK_END);
  return fold_ok();
}

static fold_status start_launcher(struct fold_world *w, const struct words *words) {
  const struct fold_comm_engine *engine = fold_comm_engine_of(w->engine);
  const char *launch = getenv("FOLDPROOF_LAUNCH"), *argv[MOST_WORDS];
  bool chosen = launch && *launch;
  if (!chosen) launch = engine->threads ? "threads" : "mpirun";
  if (strcmp(launch, "threads") == 0 && !engine->threads)
    return fold_error(FOLD_BAD_INPUT, "--launch, FOLDPROOF_LAUNCH: threads: an MPI rank is a process");
  if (!chosen && !engine->threads) FOLD_TRY(check_root(engine));
  if (strcmp(launch, "threads") == 0) launch = "";
  if (strcmp(launch, "mpirun") == 0) launch = "mpirun --oversubscribe --bind-to none -n {ranks}";
  char *text = strdup(launch);
  int error = 0;
  fold_status status = text ? fold_ok() : fold_no_memory("to start ranks");
  if (status.code == FOLD_OK) status = command_line(w, words, text, argv);
  if (status.code == FOLD_OK) status = open_output(w);
  if (status.code == FOLD_OK) snprintf(w->secret, sizeof w->secret, "%s", words->secret);
  hasten_daemons();
  if (status.code == FOLD_OK) status = fold_world_guard(w, argv, &error);
  /* If the default mpirun is missing, the engine is skipped; if a launcher was named, its absence is an
   * error. */
  if (status.code == FOLD_OK && error)
    status = fold_error(chosen ? FOLD_BAD_INPUT : FOLD_UNSUPPORTED, "%s%.100s cannot be started: %s",
                        chosen ? "--launch, FOLDPROOF_LAUNCH: " : "", argv[0], strerror(error));
  free(text);
  return status;
}

/* A library that is opened at run time may be another one in the ranks, whose environment the launcher makes; but
 * verdicts and records name this process's. */
static fold_status check_library(const struct fold_world *w, const struct fold_comm_engine *engine) {
  const struct fold_wire_hello *rank = &w->rank[0].hello;
  char own[64] = "";
  engine->version(own);
  if (strcmp(own, rank->library) == 0) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT,
                    "the ranks have %.40s (rank 0 on %.40s), this process has %.40s: does the launcher export %s?",
                    rank->library, rank->host, own, engine->variable);
}

/* Checks how many ranks there are to be, and that they have a library. Missing GPUs that are required are reported
 * before a missing library; other missing GPUs after it. */
static fold_status check_means(struct fold_world *w, const struct fold_comm_engine *engine) {
  fold_status library = engine->ready(), ranks = choose_ranks(w);
  bool worse = ranks.code != FOLD_OK && ranks.code != FOLD_UNSUPPORTED;
  return library.code != FOLD_OK && !worse ? library : ranks;
}

/* When all ranks are there, each starts its library, which may need all of them for that. */
static fold_status start_engines(struct fold_world *w, double limit) {
  char(*device)[64] = calloc(w->ranks, sizeof *device);
  if (!device) return fold_no_memory("for %u ranks", w->ranks);
  struct fold_question question = {.kind = WIRE_START, .answer_bytes = sizeof *device, .what = "starting"};
  double answers = w->limit;
  w->limit = limit;
  fold_status status = fold_world_ask(w, 0, w->ranks, &question, device);
  w->limit = answers;
  for (unsigned r = 0; r < w->ranks && status.code == FOLD_OK; r++)
    snprintf(w->rank[r].hello.device, sizeof w->rank[r].hello.device, "%.63s", device[r]);
  free(device);
  return status;
}

fold_status fold_world_start(struct fold_world *w) {
  const struct fold_comm_engine *engine = fold_comm_engine_of(w->engine);
  unsigned limit;
  w->output = w->harness_pipe = -1;
  if (engine == NULL) return fold_error(FOLD_UNSUPPORTED, "this build has no %s", fold_engine_rows[w->engine].title);
  FOLD_TRY(fold_setting_number(FOLD_SETTING_TIMEOUT, 20, &limit));
  FOLD_TRY(check_means(w, engine));
  w->limit = limit;
  w->rank = calloc(w->ranks, sizeof *w->rank);
  w->polled = calloc(w->ranks, sizeof *w->polled);
  if (!w->rank || !w->polled) return fold_no_memory("for %u ranks", w->ranks);
  for (unsigned r = 0; r < w->ranks; r++) w->rank[r].fd = -1;
  struct fold_listener listener = {.fd = -1};
  struct words words;
  fold_status status = fold_listener_open(&listener);
  if (status.code == FOLD_OK) status = choose_words(w, &listener, &words);
  if (status.code == FOLD_OK) status = start_launcher(w, &words);
  if (status.code == FOLD_OK) status = fold_listener_admit_all(w, &listener, fold_now() + w->limit);
  if (listener.fd >= 0) close(listener.fd);
  if (status.code == FOLD_OK) status = check_library(w, engine);
  FOLD_TRY(fold_within(status, "%s", fold_engine_name(w->engine)));
  return start_engines(w, w->limit * (engine->threads ? START_OF_GPUS : 1));
}
