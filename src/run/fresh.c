/* fresh.c: a child process records; its results' hashes are looked up by subject, engine and case. */
#include "fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct fold_fresh {
  json_t *hash_of; /* "subject|engine|case" -> "0x..." */
};

static void key_of(char key[512], const char *subject, const char *engine, const char *case_name) {
  snprintf(key, 512, "%s|%s|%s", subject, engine, case_name);
}

bool fold_fresh_find(const struct fold_fresh *fresh, const char *subject, enum fold_engine engine,
                     const char *case_name, uint64_t *result_hash) {
  char key[512];
  key_of(key, subject, fold_engine_name(engine), case_name);
  const char *text = json_string_value(json_object_get(fresh->hash_of, key));
  if (text) *result_hash = strtoull(text, NULL, 16);
  return text != NULL;
}

void fold_fresh_free(struct fold_fresh *fresh) {
  if (fresh) json_decref(fresh->hash_of);
  free(fresh);
}

/* The child's command line: the selection as options. */
static size_t arguments(const struct fold_selection *s, const char *path, const char **argv) {
  size_t n = 0;
  argv[n++] = "foldproof";
  argv[n++] = "record";
  argv[n++] = "--jsonl";
  argv[n++] = path;
  argv[n++] = "--fixture-folder";
  argv[n++] = s->folder;
  argv[n++] = "--set";
  argv[n++] = s->set;
  argv[n++] = "--op";
  argv[n++] = fold_op_name(s->npy_op);
  if (s->subjects) argv[n++] = "--subjects", argv[n++] = s->subjects;
  if (s->fixtures) argv[n++] = "--fixtures", argv[n++] = s->fixtures;
  if (s->engine >= 0) argv[n++] = "--engine", argv[n++] = fold_engine_name((enum fold_engine)s->engine);
  for (size_t i = 0; i < s->n_npy; i++) argv[n++] = "--npy", argv[n++] = s->npy[i];
  argv[n] = NULL;
  return n;
}

/* Between fork and exec only calls that are safe there. It dies with us, and not when it has time: nobody else would
 * read what it writes, and its own ranks end when it is gone. */
static pid_t spawn(const char *const *argv) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(99);
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
  _exit(99);
}

static fold_status run_child(const struct fold_selection *selection, const char *path) {
  const char **argv = calloc(32 + 2 * selection->n_npy, sizeof *argv);
  if (argv == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory to start a new process");
  arguments(selection, path, argv);
  pid_t child = spawn(argv);
  int how = 0;
  free(argv);
  if (child < 0) return fold_error(FOLD_ENVIRONMENT, "a new process can't be started: %s", strerror(errno));
  while (waitpid(child, &how, 0) < 0)
    if (errno != EINTR) return fold_error(FOLD_ENVIRONMENT, "the new process was lost: %s", strerror(errno));
  /* 99: some subject failed there as it does here; 2: nothing to run, or no memory, as here. Whatever it says, what it
   * did not record is missed when it is asked for, and that is never green. */
  if (WIFEXITED(how)) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the new process was killed by signal %d", WTERMSIG(how));
}

static fold_status read_records(FILE *file, struct fold_fresh *fresh) {
  json_t *line;
  json_error_t error;
  while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error))) {
    const char *subject = NULL, *engine = NULL, *name = NULL, *hash = NULL;
    char key[512];
    if (json_unpack(line, "{s:s, s:s, s:s, s:s}", "subject", &subject, "engine", &engine, "case", &name, "results_xxh3",
                    &hash) == 0) {
      key_of(key, subject, engine, name);
      json_object_set_new(fresh->hash_of, key, json_string(hash));
    }
    json_decref(line);
  }
  if (feof(file)) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the new process left an unreadable record: %s", error.text);
}

fold_status fold_fresh_ask(const struct fold_selection *selection, struct fold_fresh **fresh) {
  char path[] = "/tmp/foldproof-fresh-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0) return fold_error(FOLD_ENVIRONMENT, "%s: can't be made: %s", path, strerror(errno));
  close(fd);
  FILE *file = NULL;
  *fresh = calloc(1, sizeof **fresh);
  if (*fresh) (*fresh)->hash_of = json_object();
  fold_status status = fold_ok();
  if (!*fresh || !(*fresh)->hash_of)
    status = fold_error(FOLD_NO_MEMORY, "not enough memory for a new process's results");
  if (status.code == FOLD_OK) status = run_child(selection, path);
  if (status.code == FOLD_OK && !(file = fopen(path, "r")))
    status = fold_error(FOLD_ENVIRONMENT, "%s: can't be read: %s", path, strerror(errno));
  if (status.code == FOLD_OK) status = read_records(file, *fresh);
  if (file) fclose(file);
  unlink(path);
  if (status.code != FOLD_OK) {
    fold_fresh_free(*fresh);
    *fresh = NULL;
  }
  return status;
}
