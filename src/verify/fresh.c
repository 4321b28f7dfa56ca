/* fresh.c: child processes record; the hashes of their results, and what else their runs did, are looked up by subject,
 * engine and case. A guest gets several processes: its code lies at another address in each, and a choice by an address
 * may be the same in half of them. The records are a file in memory, so that nothing stays behind, however either
 * process ends.
 */
#include "fresh.h"
#include "fresh_environment.h"
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct fold_fresh {
  json_t *runs;   /* "subject|engine|case" -> its records */
  bool backwards; /* the process whose records are being read went backwards */
  char note[80];  /* a remark on all runs; "": none */
};

/* NULL where memory is short. The length is not limited, for a guest's name may have any. */
static char *key_of(const char *subject, const char *engine, const char *case_name) {
  char *key = NULL;
  return asprintf(&key, "%s|%s|%s", subject, engine, case_name) < 0 ? NULL : key;
}

static uint64_t bits_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? strtoull(text, NULL, 16) : 0;
}

static struct fold_traces traces_of(const json_t *record) {
  const json_t *unwritten = json_object_get(record, "unwritten"), *stray = json_object_get(record, "out_of_bounds");
  const json_t *split = json_object_get(record, "ranks_differ");
  int of = fold_argument_parse(json_string_value(json_object_get(stray, "of")));
  int by = fold_access_parse(json_string_value(json_object_get(stray, "by")));
  const char *left = json_string_value(json_object_get(record, "left"));
  struct fold_traces traces = {
      .unwritten = unwritten,
      .unwritten_at = (size_t)json_integer_value(json_object_get(unwritten, "row")),
      .out_of_bounds = stray,
      .bounds_at = (ptrdiff_t)json_integer_value(json_object_get(stray, "byte")),
      .bounds_of = of < 0 ? FOLD_OUTPUT : (enum fold_argument)of,
      .bounds_by = by < 0 ? FOLD_WRITTEN : (enum fold_access)by,
      .ranks_differ = split,
      .rank = (unsigned)json_integer_value(json_object_get(split, "rank")),
      .differ_at = (size_t)json_integer_value(json_object_get(split, "row")),
      .bits = bits_at(split, "rank_0"),
      .other_bits = bits_at(split, "got"),
  };
  if (left) snprintf(traces.left, sizeof traces.left, "%s", left);
  return traces;
}

static bool is_trace(const struct fold_traces *t) {
  return t->unwritten || t->out_of_bounds || t->left[0] || t->ranks_differ;
}

bool fold_fresh_find(const struct fold_fresh *fresh, const char *subject, enum fold_engine engine,
                     const char *case_name, uint64_t *result_hash, struct fold_traces *traces, const char **why) {
  const uint64_t ours = *result_hash;
  char *key = key_of(subject, fold_engine_name(engine), case_name);
  const json_t *records = json_object_get(fresh->runs, key);
  free(key);
  size_t i;
  json_t *record;
  *traces = (struct fold_traces){0};
  *why = NULL;
  json_array_foreach(records, i, record) {
    *why = json_string_value(json_object_get(record, "reason"));
    if (json_object_get(record, "results_xxh3") == NULL) return false;
    *result_hash = bits_at(record, "results_xxh3");
    if (!is_trace(traces)) *traces = traces_of(record);
    *why = json_is_true(json_object_get(record, "backwards")) ? "in reverse, each case after another input" : NULL;
    if (*result_hash != ours) return true;
  }
  *why = fresh->note[0] ? fresh->note : NULL;
  return json_array_size(records) > 0;
}

void fold_fresh_free(struct fold_fresh *fresh) {
  if (fresh) json_decref(fresh->runs);
  free(fresh);
}

/* The child's command line; NULL where memory is short. */
static const char **command_line(const struct fold_selection *s, const char *fixtures, bool backwards,
                                 const char *path) {
  struct fold_options options = {0};
  if (backwards) fold_options_add(&options, "--backwards", NULL);
  fold_options_add(&options, "--jsonl", path);
  fold_options_add(&options, "--fresh", s->probe ? "probed" : "promised");
  for (size_t i = 0; i < s->n_guests; i++) fold_options_add(&options, s->guests[i].door->option, s->guests[i].what);
  fold_options_add_job(
      &options, &(struct fold_job){.subjects = s->subjects,
                                   .engine = s->engine < 0 ? NULL : fold_engine_name((enum fold_engine)s->engine),
                                   .npy = s->npy,
                                   .n_npy = s->n_npy,
                                   .op = s->npy_problem->name,
                                   .folder = s->folder,
                                   .set = s->set,
                                   .fixtures = fixtures});
  const char **argv = fold_options_argv(&options, "foldproof", "record");
  fold_options_free(&options);
  return argv;
}

/* Makes only calls that are safe between fork and exec. The child is killed at once when this process ends: nobody else
 * would read its records, and its ranks end when it is gone. */
static pid_t spawn(const char *const *argv, char *const *variables, int records) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || fcntl(records, F_SETFD, 0) != 0) _exit(99);
  personality(personality(0xffffffff) & ~(unsigned long)ADDR_NO_RANDOMIZE); /* a debugger sets the flag */
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execve("/proc/self/exe", (char *const *)(uintptr_t)argv, variables);
  _exit(99);
}

static fold_status ask(const struct fold_selection *selection, const char *fixtures, bool backwards, int records) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", records);
  const char **argv = command_line(selection, fixtures, backwards, path);
  char **variables = NULL;
  if (argv == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory to start a new process");
  fold_status status = fold_fresh_environment(&variables);
  pid_t child = status.code == FOLD_OK ? spawn(argv, variables, records) : -1;
  int how = 0;
  free(argv);
  fold_fresh_environment_free(variables);
  FOLD_TRY(status);
  if (child < 0) return fold_error(FOLD_ENVIRONMENT, "a new process can't be started: %s", strerror(errno));
  while (waitpid(child, &how, 0) < 0)
    if (errno != EINTR) return fold_error(FOLD_ENVIRONMENT, "the new process was lost: %s", strerror(errno));
  /* Any exit code is accepted. 99: some subject failed there, as it does here; 2: there was nothing to run, or no
   * memory, as here. A run that it did not record is missing when the judge asks for it, and that is never green. */
  if (WIFEXITED(how)) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the new process was killed by signal %d", WTERMSIG(how));
}

static fold_status lost(void) {
  return fold_error(FOLD_ENVIRONMENT, "a new process's records are lost: %s", strerror(errno));
}

/* Appends to the records that are there. */
static fold_status append(int records, int more, bool backwards) {
  char bytes[1 << 14];
  ssize_t n = 0;
  lseek(records, 0, SEEK_END);
  if (dprintf(records, "{\"backwards\":%s}\n", backwards ? "true" : "false") < 0) return lost();
  for (off_t at = 0; (n = pread(more, bytes, sizeof bytes, at)) > 0; at += n)
    if (write(records, bytes, (size_t)n) != n) break;
  return n == 0 ? fold_ok() : lost();
}

static fold_status ask_another(const struct fold_selection *selection, const char *fixtures, bool backwards,
                               int records) {
  int more = memfd_create("foldproof-fresh", MFD_CLOEXEC);
  if (more < 0) return fold_error(FOLD_ENVIRONMENT, "a file in memory can't be made: %s", strerror(errno));
  fold_status status = ask(selection, fixtures, backwards, more);
  if (status.code == FOLD_OK) status = append(records, more, backwards);
  close(more);
  return status;
}

/* A glob that names one case of each dtype and problem, of medium size where there is one. NULL: no memory. */
static char *some_cases(const struct fold_cases *cases) {
  enum { LEAST = 100, MOST = 20000 };
  const struct fold_case *of[FOLD_DTYPES][FOLD_PROBLEMS] = {{NULL}};
  char *text = NULL;
  size_t size;
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i], **best = &of[c->dtype][fold_case_problem(c)->id];
    const bool fits = c->cols >= LEAST && c->rows * c->cols <= MOST && c->rows > 0;
    if (c->ranks == 0 && (*best == NULL || (fits && (*best)->cols < LEAST))) *best = c;
  }
  FILE *out = open_memstream(&text, &size);
  for (int d = 0; out && d < FOLD_DTYPES; d++)
    for (int p = 0; p < FOLD_PROBLEMS; p++)
      if (of[d][p]) fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", of[d][p]->name);
  return out && fclose(out) == 0 ? text : NULL;
}

/* Seconds. A selection that takes longer than SLOW is run in one new process only, and that is said, unless the user
 * asks for another number of repeats. */
static const double QUICK = 1, SLOW = 4, FOR_OTHERS = 2;

static fold_status tell_slow(int records, double seconds) {
  lseek(records, 0, SEEK_END);
  return dprintf(records, "{\"slow\":%.1f}\n", seconds) > 0 ? fold_ok() : lost();
}

/* For guests the first process, and every second one, goes through cases and subjects backwards. That shows when the
 * first run of a process decides something for all later runs, or one subject for another. */
fold_status fold_fresh_ask(const struct fold_selection *selection, const struct fold_cases *cases, int records) {
  enum { LEAST = 2, MOST = 13 };
  const double begun = fold_now();
  FOLD_TRY(ask_another(selection, selection->fixtures, selection->n_guests > 0, records));
  const double took = fold_now() - begun;
  const bool wants_more = selection->repeats != FOLD_REPEATS, whole = wants_more || took < QUICK;
  if (selection->n_guests == 0) return fold_ok();
  if (took > SLOW && !wants_more) return tell_slow(records, took);
  for (unsigned k = 1; whole && k < selection->repeats; k++)
    FOLD_TRY(ask_another(selection, selection->fixtures, k % 2 == 0, records));
  char *some = some_cases(cases);
  const double end = fold_now() + FOR_OTHERS;
  fold_status status = some ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for names of cases");
  for (unsigned k = 0; k < MOST && status.code == FOLD_OK && (k < LEAST || fold_now() < end); k++)
    status = ask_another(selection, selection->n_npy ? selection->fixtures : some, k % 2 == 0, records);
  free(some);
  return status;
}

/* Adds a run to those of other processes with the same key. */
static bool add_run(json_t *all, const char *key, json_t *run) {
  json_t *runs = json_object_get(all, key);
  if (runs == NULL && json_object_set_new(all, key, runs = json_array()) != 0) runs = NULL;
  return json_array_append_new(runs, run) == 0;
}

/* Keeps only the fields that the judge asks for. */
static fold_status keep_run(struct fold_fresh *fresh, json_t *line) {
  const char *subject = NULL, *engine = NULL, *name = NULL;
  double seconds;
  if (json_unpack(line, "{s:F}", "slow", &seconds) == 0)
    snprintf(fresh->note, sizeof fresh->note, "in 1 new process, not in several: it took %.0f s", seconds);
  if (json_object_get(line, "backwards")) fresh->backwards = json_is_true(json_object_get(line, "backwards"));
  if (json_unpack(line, "{s:s, s:s, s:s}", "subject", &subject, "engine", &engine, "case", &name) != 0)
    return fold_ok();
  static const char *const kept[] = {"results_xxh3", "unwritten", "out_of_bounds", "left", "ranks_differ", "reason"};
  json_t *run = json_pack("{s:b}", "backwards", fresh->backwards);
  bool failed = run == NULL;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    json_t *value = json_object_get(line, kept[i]);
    failed = failed || (value && json_object_set(run, kept[i], value) != 0);
  }
  char *key = key_of(subject, engine, name);
  failed = !add_run(fresh->runs, key, run) || failed;
  free(key);
  return failed ? fold_error(FOLD_NO_MEMORY, "not enough memory for a new process's results") : fold_ok();
}

/* A line that can't be read counts as a run that was not recorded; the other lines are used. */
static fold_status read_records(FILE *file, struct fold_fresh *fresh) {
  char *text = NULL;
  size_t room = 0;
  fold_status status = fold_ok();
  for (ssize_t n; status.code == FOLD_OK && (n = getline(&text, &room, file)) >= 0;) {
    json_t *line = json_loadb(text, (size_t)n, 0, NULL);
    if (line) status = keep_run(fresh, line);
    json_decref(line);
  }
  free(text);
  return status;
}

static fold_status read_file(int records, struct fold_fresh *fresh) {
  int fd = dup(records);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (file == NULL) {
    if (fd >= 0) close(fd);
    return fold_error(FOLD_ENVIRONMENT, "a new process's records can't be read: %s", strerror(errno));
  }
  rewind(file);
  fold_status status = read_records(file, fresh);
  fclose(file);
  return status;
}

fold_status fold_fresh_read(int records, struct fold_fresh **fresh) {
  *fresh = calloc(1, sizeof **fresh);
  if (*fresh) (*fresh)->runs = json_object();
  fold_status status = fold_ok();
  if (!*fresh || !(*fresh)->runs) status = fold_error(FOLD_NO_MEMORY, "not enough memory for a new process's results");
  if (status.code == FOLD_OK) status = read_file(records, *fresh);
  if (status.code != FOLD_OK) {
    fold_fresh_free(*fresh);
    *fresh = NULL;
  }
  return status;
}
