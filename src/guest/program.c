/* guest/program.c: guests that are programs in any language. They are asked over their standard input and output, with
 * a line of JSON each way; arrays pass through .npy files.
 *
 * Each question also has an "id", a number, which the answer may repeat.
 *
 *     {"ask": "describe"}  ->  {"name": "mine/sum", "dtypes": "f32,f64", ...}, the fields of foldproof_guest.h's table; or
 *                              {"subjects": [{...}, ...]}
 *     {"ask": "run", "subject": "mine/sum", "problem": "sum", "signature": "mk->m", "dtype": "f32", "accumulator": "f32",
 *      "result": "f32", "rows": 3, "cols": 1000, "in": "/.../in.npy", "other": "/.../other.npy", "out": "/.../out.npy",
 *      "threads": 0}
 *                          ->  {}, once `out` is written; {"unsupported": "why"}: the case is skipped; {"error": "why"}
 *
 * `in` and `other` (of "dot") have rows x cols elements; `other` of "matvec" is a vector of cols. `out` gets `rows`. A
 * command that has {in} or {out} is instead started again for each run, with the files' names in their places (and
 * {other}, {problem}, {batch}, {m}, {n}, {k}, {dtype}, {result}, {threads}); its exit code says whether it succeeded. Its user says which
 * problem it computes. Without {threads} it is run
 * only with its own number of threads. /bin/sh runs it. If it fails, the last line that it wrote to standard error is
 * reported.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/did_you_mean.h"
#include "base/scratch.h"
#include "base/text.h"
#include "fixtures/npy.h"
#include "guest/child.h"
#include "guest/guest.h"
#include "process/guard.h"

static struct fold_guest_slots slots;
static struct fold_program started[FOLD_GUESTS_MOST];
static pid_t cleared[FOLD_GUESTS_MOST]; /* the process that has cleared the guest's folder */
static unsigned process_number;         /* of those that run at the same time */

void fold_programs_separate(unsigned number) { process_number = number; }

/* The name goes into shell commands without quotes, so a folder is used only if its name has no character with a
 * meaning there. */
static bool is_plain(const char *path) {
  return path && *path &&
         strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.+") == strlen(path);
}

/* Arrays pass through the guarded folder, which has a folder for each guest. The process that loads guests makes it. */
static fold_status open_folder(void) {
  const char *of = getenv("TMPDIR");
  char *folder = fold_guard_folder();
  if (folder[0]) return fold_ok();
  if (!is_plain(of)) of = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  const fold_status status = fold_scratch_make(of, "foldproof-exec", FOLD_GUARD_PATH, folder);
  if (status.code != FOLD_OK) {
    folder[0] = '\0';
    return fold_within(status, "no folder for a program's arrays");
  }
  return fold_ok();
}

/* Makes the guest's folder again where a guest has removed it, or all of them. Processes that run at the same time have different ones. Clears it once in a process: what an
 * earlier process left there may be another guest's. */
static fold_status open_own_folder(const struct fold_guest *guest, char own[340]) {
  const char *folder = fold_guard_folder();
  size_t slot;
  FOLD_TRY(fold_guest_slot(&slots, guest, &slot));
  snprintf(own, 340, "%s/%zu.%u", folder, slot, process_number);
  if (cleared[slot] != getpid()) fold_scratch_remove(own);
  cleared[slot] = getpid();
  if (access(own, W_OK) == 0) return fold_ok();
  if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || (mkdir(own, 0700) != 0 && errno != EEXIST))
    return fold_error(FOLD_ENVIRONMENT, "no folder for a program's arrays: %s: %s", own, strerror(errno));
  return fold_ok();
}

/* The name has the dtype, because .npy files know no 8-bit floats: for these the file's name tells (npy.h). */
static void path_of(char path[400], const char *own, const char *stem, enum fold_dtype dtype) {
  snprintf(path, 400, "%s/%s_%s.npy", own, stem, fold_dtype_name(dtype));
}

bool fold_command_is_one_run(const char *command) {
  return strstr(command, "{in}") != NULL || strstr(command, "{out}") != NULL;
}

static fold_status check_inputs(const struct fold_guest *guest, const struct fold_problem *problem) {
  const bool other = strstr(guest->what, "{other}") != NULL;
  if (other == (problem->inputs > 1)) return fold_ok();
  if (other)
    return fold_error(FOLD_BAD_INPUT,
                      "%.80s: %s has one input, and no {other}: --problem names what the command computes", guest->what,
                      problem->name);
  return fold_error(FOLD_BAD_INPUT, "%.80s: the command has no {other}, the second input of %s", guest->what,
                    problem->name);
}

/* Describes a command that can't be asked as "exec/NAME", where NAME is the last part of its first word. */
static fold_status describe_command(const struct fold_guest *guest, char **json) {
  const struct fold_problem *problem = fold_problem_find(guest->problem ? guest->problem : "sum");
  const char *command = guest->what;
  char word[100];
  size_t n = 0;
  FOLD_TRY(check_inputs(guest, problem));
  command += strspn(command, " \t");
  const char *end = command + strcspn(command, " \t;|&<>"), *at = end;
  while (at > command && at[-1] != '/') at--;
  for (; at < end && n + 1 < sizeof word; at++)
    word[n++] =
        strchr("_-.@+", *at) || (*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z') ? *at : '_';
  word[n] = '\0';
  json_t *table =
      json_pack("{s:[{s:o,s:s,s:s,s:s}]}", "subjects", "name", json_sprintf("exec/%s", n ? word : "command"), "dtypes",
                "f16,f32,f64", "problems", problem->name, "about", "a program, started for each run");
  *json = json_dumps(table, JSON_COMPACT);
  json_decref(table);
  return fold_ok();
}

static fold_status describe(const struct fold_guest *guest, char **json) {
  const char *command = guest->what;
  static struct fold_program p; /* static: it may run as long as this process */
  json_t *answer = NULL, *question = json_pack("{s:s}", "ask", "describe");
  if (fold_command_is_one_run(command)) return describe_command(guest, json);
  FOLD_TRY(fold_program_start(&p, command, true));
  fold_status status = fold_program_ask(&p, question, &answer);
  json_decref(question);
  if (status.code != FOLD_OK) {
    status.code = FOLD_BAD_INPUT;
    return fold_within(status, "%.80s: asked to describe itself", command);
  }
  if (json_object_get(answer, "subjects") == NULL) answer = json_pack("{s:[o]}", "subjects", answer);
  *json = json_dumps(answer, JSON_COMPACT);
  return *json ? fold_ok() : fold_no_memory("for a guest's table");
}

static fold_status program_of(const struct fold_guest *guest, struct fold_program **program) {
  size_t slot;
  FOLD_TRY(fold_guest_slot(&slots, guest, &slot));
  *program = &started[slot];
  return (*program)->pid ? fold_ok() : fold_program_start(*program, guest->what, true);
}

struct elements {
  const unsigned char *at;
  size_t size;
};

static fold_status fill(void *context, uint64_t first, size_t n, void *out) {
  const struct elements *e = context;
  memcpy(out, e->at + first * e->size, n * e->size);
  return fold_ok();
}

/* An operand's file has two dimensions: its last axis, and all others together; a vector has one. */
static size_t cols_of(const struct fold_call *call, unsigned operand) {
  const struct fold_problem *problem = call->problem;
  return call->shape.at[problem->axes[operand][problem->n_axes[operand] - 1]];
}
static size_t rows_of(const struct fold_call *call, unsigned operand) {
  struct fold_shape outer = call->shape;
  const struct fold_problem *problem = call->problem;
  outer.at[problem->axes[operand][problem->n_axes[operand] - 1]] = 1;
  return operand < problem->inputs ? fold_elements(problem, &outer, operand) : fold_results(problem, &outer);
}

/* Writes a new file: in the place of the last one the program may have left something else, such as a pipe that nothing
 * reads. */
static fold_status write_input(const char *path, const struct fold_call *call, unsigned k) {
  const enum fold_dtype dtype = fold_input_dtype(call->problem, call->dtype, k);
  struct elements e = {call->in[k], fold_dtype_size(dtype)};
  fold_scratch_remove(path);
  return fold_npy_write(path, dtype, rows_of(call, k), cols_of(call, k), call->problem->n_axes[k] == 1, fill, &e);
}

static bool is_file(const char *path) {
  struct stat what;
  return lstat(path, &what) == 0 && S_ISREG(what.st_mode);
}

/* Reads what the input's file holds now. *there is false if it is gone, or does not hold such an array any more. */
static fold_status read_again(const char *path, const struct fold_call *call, unsigned k, void *now, bool *there) {
  struct fold_npy npy;
  *there = is_file(path) && fold_npy_open(path, &npy).code == FOLD_OK &&
           npy.dtype == fold_input_dtype(call->problem, call->dtype, k) && npy.rows == rows_of(call, k) &&
           npy.cols == cols_of(call, k);
  return *there ? fold_npy_read(path, &npy, now) : fold_ok();
}

/* Copies changes of the file to the input that it stands for, so that keeps_input sees them. If the file does not hold
 * such an array any more, all bytes are changed. */
static fold_status bring_back(const char *path, const struct fold_call *call, unsigned k) {
  const size_t n = fold_elements(call->problem, &call->shape, k) * fold_input_size(call->problem, call->dtype, k);
  unsigned char *to = (unsigned char *)(uintptr_t)call->in[k], *now = malloc(n + 1);
  bool there;
  if (now == NULL) return fold_no_memory("for a program's input");
  fold_status status = read_again(path, call, k, now, &there);
  for (size_t i = 0; status.code == FOLD_OK && !there && i < n; i++) now[i] = (unsigned char)~to[i];
  if (status.code == FOLD_OK && memcmp(now, to, n) != 0)
    for (size_t i = 0; i < n; i++)
      if (now[i] != to[i]) to[i] = now[i]; /* writes only changed bytes: the first write is reported */
  free(now);
  return status;
}

/* Reads the results, checked like any array from outside: `rows` elements in one dimension or two. */
static fold_status read_output(const char *path, enum fold_dtype dtype, const struct fold_call *call) {
  struct fold_npy npy;
  if (access(path, F_OK) != 0) return fold_error(FOLD_ENVIRONMENT, "the program wrote no results");
  fold_status status = fold_npy_open(path, &npy);
  if (status.code == FOLD_OK && npy.dtype != dtype)
    status = fold_error(FOLD_ENVIRONMENT, "its results are of %s, and not of %s", fold_dtype_name(npy.dtype),
                        fold_dtype_name(dtype));
  const struct fold_problem *problem = call->problem;
  const size_t results = fold_results(problem, &call->shape), cols = cols_of(call, problem->inputs);
  const bool fits =
      problem->n_axes[problem->inputs] > 1 && npy.cols == cols && npy.rows == rows_of(call, problem->inputs);
  if (status.code == FOLD_OK && !fits && (npy.rows * npy.cols != results || (npy.rows != 1 && npy.cols != 1)))
    status = fold_error(FOLD_ENVIRONMENT, "its results are %zu x %zu, and not %zu", npy.rows, npy.cols, results);
  if (status.code == FOLD_OK) status = fold_npy_read(path, &npy, call->out);
  if (status.code == FOLD_BAD_INPUT) status.code = FOLD_ENVIRONMENT; /* the program wrote it, not the user */
  return status;
}

/* The names that one run uses. */
struct run {
  const struct fold_subject *subject;
  const struct fold_call *call;
  const char *problem, *dtype, *result;
  char in[400], other[400], out[400];
};

/* The reason in a field of the answer; NULL where it has no such field. If the field is no text, the reason says so. */
static const char *reason_in(const json_t *answer, const char *field) {
  const json_t *value = json_object_get(answer, field);
  if (value == NULL || json_is_null(value) || json_is_false(value)) return NULL;
  if (!json_is_string(value)) return "its reason is not a text";
  return json_string_length(value) ? json_string_value(value) : "its reason is empty";
}

/* Refuses an unknown field: a misspelled "error" would be taken for a success. */
static fold_status check_answer(const json_t *answer) {
  static const char *const fields[] = {"unsupported", "error", NULL};
  const char *other = fold_guest_other_field(answer, fields);
  char meant[160];
  if (other == NULL) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "an answer has no field '%.60s'%s", other,
                    fold_did_you_mean_of(other, fields, meant));
}

static json_int_t extent(const struct fold_call *call, enum fold_axis axis) {
  return (json_int_t)fold_extent(call->problem, &call->shape, axis);
}

static fold_status ask_to_run(const struct run *r) {
  struct fold_program *program = NULL;
  json_t *answer = NULL;
  FOLD_TRY(program_of(r->subject->guest->guest, &program));
  json_t *question = json_pack(
      "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:s*,s:s,s:I,s:[I,I,I,I]}", "ask", "run", "subject",
      r->subject->guest->name, "problem", r->problem, "signature", r->call->problem->signature, "dtype", r->dtype,
      "accumulator", fold_dtype_name(fold_subject_accumulator(r->subject, r->call->dtype)), "result", r->result, "rows",
      (json_int_t)r->call->rows, "cols", (json_int_t)r->call->cols, "in", r->in, "other",
      r->call->in[1] ? r->other : NULL, "out", r->out, "threads", (json_int_t)r->call->launch.threads, "extent",
      extent(r->call, FOLD_B), extent(r->call, FOLD_M), extent(r->call, FOLD_N), extent(r->call, FOLD_K));
  fold_status status = fold_program_ask(program, question, &answer);
  if (status.code == FOLD_OK) status = check_answer(answer);
  const char *why = reason_in(answer, "unsupported"), *error = reason_in(answer, "error");
  if (status.code == FOLD_OK && why) status = fold_error(FOLD_UNSUPPORTED, "%s", why);
  if (status.code == FOLD_OK && error) status = fold_error(FOLD_FAILED, "%s", error);
  fold_text_one_line(status.text);
  json_decref(question);
  json_decref(answer);
  return status;
}

#define THREADS "{threads}"

/* The command with each {word} replaced. */
static char *written_out(const struct run *r) {
  char threads[16], size_of[FOLD_AXES][24];
  const struct {
    const char *word, *value;
  } words[] = {{"{in}", r->in},           {"{other}", r->other},        {"{out}", r->out},
               {"{problem}", r->problem}, {"{dtype}", r->dtype},        {"{result}", r->result},
               {THREADS, threads},        {"{batch}", size_of[FOLD_B]}, {"{m}", size_of[FOLD_M]},
               {"{n}", size_of[FOLD_N]},  {"{k}", size_of[FOLD_K]}};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  snprintf(threads, sizeof threads, "%u", r->call->launch.threads);
  for (int a = 0; a < FOLD_AXES; a++)
    snprintf(size_of[a], sizeof size_of[a], "%zu", fold_extent(r->call->problem, &r->call->shape, (enum fold_axis)a));
  for (const char *at = r->subject->guest->guest->what; out && *at;) {
    size_t k = 0;
    while (k < sizeof words / sizeof *words && strncmp(at, words[k].word, strlen(words[k].word)) != 0) k++;
    if (k < sizeof words / sizeof *words) {
      fputs(words[k].value, out);
      at += strlen(words[k].word);
    } else {
      fputc(*at++, out);
    }
  }
  return out && fclose(out) == 0 ? text : NULL;
}

static fold_status start_and_run(const struct run *r) {
  struct fold_program p;
  if (r->call->launch.threads && !strstr(r->subject->guest->guest->what, THREADS))
    return fold_error(FOLD_UNSUPPORTED, "its command has no " THREADS);
  char *command = written_out(r);
  if (command == NULL) return fold_no_memory("for a command");
  fold_status status = fold_program_start(&p, command, false);
  free(command);
  FOLD_TRY(status);
  fold_program_await(&p);
  return fold_program_ended(&p, true);
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct run r = {.subject = subject,
                  .call = call,
                  .problem = fold_guest_problem(subject, call),
                  .dtype = fold_dtype_name(call->dtype),
                  .result = fold_dtype_name(result)};
  static unsigned long runs;
  char stem[32], own[340];
  FOLD_TRY(open_own_folder(subject->guest->guest, own));
  path_of(r.in, own, "in", call->dtype);
  path_of(r.other, own, "other", fold_input_dtype(call->problem, call->dtype, call->problem->inputs - 1));
  /* Each run has its own file, so that what a program writes late, after its answer, does not become another run's
   * result. */
  snprintf(stem, sizeof stem, "out%lu", ++runs);
  path_of(r.out, own, stem, result);
  FOLD_TRY(write_input(r.in, call, 0));
  if (call->in[1]) FOLD_TRY(write_input(r.other, call, 1));
  fold_status status = fold_command_is_one_run(subject->guest->guest->what) ? start_and_run(&r) : ask_to_run(&r);
  if (status.code == FOLD_OK) status = read_output(r.out, result, call);
  unlink(r.out);
  if (status.code == FOLD_OK) status = bring_back(r.in, call, 0);
  if (status.code == FOLD_OK && call->in[1]) status = bring_back(r.other, call, 1);
  return status;
}

/* A program gets files, and none of our memory. Only what it writes to the files is seen. */
const struct fold_door fold_door_program = {
    .option = "--exec",
    .open = open_folder,
    .describe = describe,
    .run = run,
    .files = true,
    .tidy = 0,
    .unseen = {[FOLD_ALIGNMENT_INVARIANT] = "a program gets a file, which lies at no address",
               [FOLD_WRITES_OUTPUT] = "a program gets no output: it makes a file of its own, or is broken",
               [FOLD_STAYS_IN_BOUNDS] = "a program gets a file: its memory is not seen",
               [FOLD_LEAVES_NO_TRACE] = "a program has a process of its own: what it leaves there is not seen"}};
