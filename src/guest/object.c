/* guest/object.c: guests that are tables of functions (foldproof_guest.h), in shared objects or in this process. */
#include <dlfcn.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foldproof_guest.h"
#include "guest/guest.h"
#include "rig/stack_poison.h"

/* Objects that this process has loaded. */
static struct fold_guest_slots objects;
static const struct foldproof_guest_table *tables[FOLD_GUESTS_MOST];
static struct fold_control loaded[FOLD_GUESTS_MOST]; /* the arithmetic that loading them has set in this thread */

/* The numbers that the interface gives to dtypes and problems. */
static const struct {
  const char *name;
  int32_t number;
} dtypes[] = {{"f16", FOLDPROOF_GUEST_F16}, {"bf16", FOLDPROOF_GUEST_BF16}, {"f32", FOLDPROOF_GUEST_F32},
              {"f64", FOLDPROOF_GUEST_F64}, {"e4m3", FOLDPROOF_GUEST_E4M3}, {"e5m2", FOLDPROOF_GUEST_E5M2},
              {"i8", FOLDPROOF_GUEST_I8},   {"i32", FOLDPROOF_GUEST_I32},   {"i64", FOLDPROOF_GUEST_I64}},
  problems[] = {{"sum", FOLDPROOF_GUEST_SUM},
                {"prod", FOLDPROOF_GUEST_PROD},
                {"max", FOLDPROOF_GUEST_MAX},
                {"min", FOLDPROOF_GUEST_MIN},
                {"dot", FOLDPROOF_GUEST_DOT},
                {"rows", FOLDPROOF_GUEST_ROWS},
                {"sumsq", FOLDPROOF_GUEST_SUMSQ},
                {"asum", FOLDPROOF_GUEST_ASUM},
                {"matvec", FOLDPROOF_GUEST_MATVEC},
                {"matmul", FOLDPROOF_GUEST_MATMUL},
                {"scan", FOLDPROOF_GUEST_SCAN},
                {"keyed", FOLDPROOF_GUEST_KEYED},
                {"scan_max", FOLDPROOF_GUEST_SCAN_MAX},
                {"scan_min", FOLDPROOF_GUEST_SCAN_MIN},
                {"exclusive_scan", FOLDPROOF_GUEST_EXCLUSIVE_SCAN}};

static int32_t dtype_number(enum fold_dtype dtype) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (strcmp(dtypes[i].name, fold_dtype_name(dtype)) == 0) return dtypes[i].number;
  return 0;
}

static int32_t problem_number(const struct fold_subject *subject, const struct fold_call *call) {
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    if (strcmp(problems[i].name, fold_guest_problem(subject, call)) == 0) return problems[i].number;
  return 0;
}

/* Works around three habits of dlopen: it looks for a name without a slash only in the system's folders; it would wait
 * for the writer of a pipe; and it says that an object for another machine does not exist. */
static fold_status open_object(const char *what, void **object) {
  static const char none[] = "cannot open shared object file: No such file or directory";
  char path[4096];
  struct stat info;
  snprintf(path, sizeof path, "%s%s", strchr(what, '/') ? "" : "./", what);
  const bool there = stat(path, &info) == 0;
  if (there && !S_ISREG(info.st_mode)) return fold_error(FOLD_BAD_INPUT, "%s cannot be loaded: it is not a file", what);
  *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*object) return fold_ok();
  const char *why = dlerror();
  const size_t n = strlen(path);
  const bool foreign =
      there && strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0 && strcmp(why + n + 2, none) == 0;
  return fold_error(FOLD_BAD_INPUT, "%s cannot be loaded: %s", what,
                    foreign ? "it was built for a different machine" : why);
}

static fold_status check(const char *what, const struct foldproof_guest_table *table) {
  if (table->abi == 0 || table->abi > FOLDPROOF_GUEST_ABI)
    return fold_error(FOLD_BAD_INPUT, "%s was built for interface %u of guests; this foldproof knows up to %u", what,
                      table->abi, FOLDPROOF_GUEST_ABI);
  const size_t least = offsetof(struct foldproof_guest_subject, run) + sizeof(table->subjects->run);
  if (table->subject_size < least || table->subject_size > 4096 || table->subject_size % sizeof(void *) != 0)
    return fold_error(FOLD_BAD_INPUT, "%s: its subjects have %u bytes each", what, table->subject_size);
  if (table->n > 0 && table->subjects == NULL)
    return fold_error(FOLD_BAD_INPUT, "%s: its table says n = %zu, but its subjects are NULL", what, table->n);
  return fold_ok();
}

static fold_status load(const char *what, const struct foldproof_guest_table **table) {
  typedef const struct foldproof_guest_table *ask(void);
  void *object = NULL;
  FOLD_TRY(open_object(what, &object));
  ask *function = (ask *)(uintptr_t)dlsym(object, "foldproof_guest");
  if (function == NULL)
    return fold_error(FOLD_BAD_INPUT, "%s has no function foldproof_guest (foldproof_guest.h)", what);
  *table = function();
  if (*table == NULL) return fold_error(FOLD_BAD_INPUT, "%s: its foldproof_guest returns no table", what);
  return check(what, *table);
}

/* Copies as much of the row as the guest's version has. */
static struct foldproof_guest_subject subject_at(const struct foldproof_guest_table *table, size_t index) {
  struct foldproof_guest_subject subject;
  memset(&subject, 0, sizeof subject);
  memcpy(&subject, (const char *)table->subjects + index * table->subject_size,
         table->subject_size < sizeof subject ? table->subject_size : sizeof subject);
  return subject;
}

/* The guest's table in this process, and the arithmetic that its first call begins with. */
static fold_status table_of(const struct fold_guest *guest, const struct foldproof_guest_table **table,
                            struct fold_control *arithmetic) {
  size_t slot;
  *table = guest->table;
  *arithmetic = guest->arithmetic;
  if (guest->door->here) return check(guest->what, guest->table);
  FOLD_TRY(fold_guest_slot(&objects, guest, &slot));
  if (tables[slot] == NULL) {
    const fold_status status = load(guest->what, &tables[slot]);
    loaded[slot] = fold_fp_state_arithmetic();
    fold_fp_state_take();
    FOLD_TRY(status);
  }
  *table = tables[slot];
  *arithmetic = loaded[slot];
  return fold_ok();
}

static void set_text(json_t *entry, const char *field, const char *text) {
  if (text) json_object_set_new(entry, field, json_string(text));
}

static json_t *entry_of(const struct foldproof_guest_subject *s) {
  json_t *entry = json_object();
  set_text(entry, "name", s->name);
  set_text(entry, "about", s->about);
  set_text(entry, "problems", s->problems);
  set_text(entry, "dtypes", s->dtypes);
  set_text(entry, "accumulator", s->accumulator);
  set_text(entry, "result", s->result);
  set_text(entry, "order", s->order);
  set_text(entry, "claims", s->claims);
  set_text(entry, "same_bits_as", s->same_bits_as);
  set_text(entry, "engine", s->engine);
  set_text(entry, "method", s->method);
  json_object_set_new(entry, "scratch", json_boolean(s->scratch != NULL));
  json_object_set_new(entry, "strides", json_boolean(s->strides));
  json_object_set_new(entry, "finite", json_boolean(s->finite));
  json_object_set_new(entry, "skips_nan", json_boolean(s->skips_nan));
  json_object_set_new(entry, "wraps", json_boolean(s->wraps));
  set_text(entry, "accurate_as", s->accurate_as);
  set_text(entry, "factor_dtype", s->factor_dtype);
  if (s->ulps != 0) json_object_set_new(entry, "ulps", json_real(s->ulps));
  return entry;
}

static fold_status describe(const struct fold_guest *guest, char **json) {
  const struct foldproof_guest_table *table;
  struct fold_control arithmetic;
  FOLD_TRY(table_of(guest, &table, &arithmetic));
  json_t *list = json_array();
  for (size_t i = 0; i < table->n; i++) {
    const struct foldproof_guest_subject s = subject_at(table, i);
    if (s.run == NULL)
      return fold_error(FOLD_BAD_INPUT, "%s: its subject %s has no run function", guest->what,
                        s.name ? s.name : "without a name");
    json_array_append_new(list, entry_of(&s));
  }
  json_t *object = json_pack("{s:o}", "subjects", list);
  *json = json_dumps(object, JSON_COMPACT);
  json_decref(object);
  return *json ? fold_ok() : fold_error(FOLD_BAD_INPUT, "%s: its table has text that is not UTF-8", guest->what);
}

/* The table in this process may differ from the one that was described in another: no subject is judged under another's
 * name. */
static fold_status same_subject(const struct foldproof_guest_table *table, const struct fold_subject *subject,
                                struct foldproof_guest_subject *s) {
  const size_t index = subject->guest->index;
  if (index < table->n) *s = subject_at(table, index);
  if (index < table->n && s->run && s->name && strcmp(s->name, subject->guest->name) == 0) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "the guest's table differs in this process: its subject %zu is not %.80s",
                    index + 1, subject->guest->name);
}

/* The call in the guest's interface. */
static struct foldproof_guest_call call_of(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_problem *problem = call->problem;
  struct foldproof_guest_call its = {.size = sizeof(struct foldproof_guest_call),
                                     .problem = problem_number(subject, call),
                                     .dtype = dtype_number(call->dtype),
                                     .accumulator = dtype_number(fold_subject_accumulator(subject, call->dtype)),
                                     .result = dtype_number(fold_subject_result(subject, call->dtype)),
                                     .rows = call->rows,
                                     .cols = call->cols,
                                     .in = call->in[0],
                                     .other = call->in[1],
                                     .out = call->out,
                                     .scratch = call->scratch,
                                     .stream = call->stream,
                                     .threads = call->launch.threads,
                                     .blocks = call->launch.blocks,
                                     .block = call->launch.block,
                                     .row_stride = fold_call_stride(call, FOLD_M),
                                     .col_stride = fold_call_stride(call, FOLD_K)};
  for (unsigned axis = 0; axis < FOLD_AXES; axis++)
    its.extent[axis] = fold_extent(problem, &call->shape, (enum fold_axis)axis);
  for (unsigned k = 0; k < FOLD_OPERANDS; k++) {
    ptrdiff_t stride[FOLD_AXES] = {0};
    const unsigned operand = k < FOLD_INPUTS ? k : problem->inputs;
    if (k < problem->inputs || k == FOLD_INPUTS) fold_call_strides(call, operand, stride);
    for (unsigned axis = 0; axis < FOLD_AXES; axis++) its.stride[k][axis] = stride[axis];
  }
  return its;
}

/* Finds the subject's functions in this process; before its first call, also the arithmetic that this begins with. */
static fold_status find_subject(const struct fold_subject *subject, struct foldproof_guest_subject *s, bool *first) {
  struct fold_guest_row *row = (struct fold_guest_row *)(uintptr_t)subject->guest;
  const struct foldproof_guest_table *table;
  struct fold_control arithmetic;
  FOLD_TRY(table_of(row->guest, &table, &arithmetic));
  *first = !row->begun;
  if (*first) row->arithmetic = arithmetic;
  return same_subject(table, subject, s);
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_guest_row *row = (struct fold_guest_row *)(uintptr_t)subject->guest;
  char why[160] = "";
  struct foldproof_guest_subject s;
  bool first;
  FOLD_TRY(find_subject(subject, &s, &first));
  struct foldproof_guest_call given = call_of(subject, call);
  if (given.problem == 0 || given.dtype == 0 || given.accumulator == 0 || given.result == 0)
    return fold_error(FOLD_UNSUPPORTED, "interface %u of guests has no number for %s of %s", FOLDPROOF_GUEST_ABI,
                      fold_guest_problem(subject, call), fold_dtype_name(call->dtype));
  given.why = why;
  given.why_bytes = sizeof why;
  row->begun = true;
  fold_fp_state_enter(row->arithmetic);
  if (call->poison) fold_stack_poison(*call->poison); /* again, since the stack was used above */
  const int code = s.run(&given, s.context);
  row->arithmetic = fold_fp_state_leave(first && !row->guest->door->here);
  why[sizeof why - 1] = '\0';
  if (code == FOLDPROOF_GUEST_OK) return fold_ok();
  if (code == FOLDPROOF_GUEST_UNSUPPORTED)
    return fold_error(FOLD_UNSUPPORTED, "%s", why[0] ? why : "it does not take this case");
  if (code == 1 && why[0]) return fold_error(FOLD_FAILED, "%s", why); /* code 1 itself says nothing more */
  return fold_error(FOLD_FAILED, "it returned %d%s%s", code, why[0] ? ": " : "", why);
}

static size_t scratch(const struct fold_subject *subject, const struct fold_call *call) {
  struct foldproof_guest_subject s;
  bool first;
  if (find_subject(subject, &s, &first).code != FOLD_OK) return 0; /* the run reports why */
  struct foldproof_guest_call given = call_of(subject, call);
  return s.scratch ? s.scratch(&given, s.context) : 0;
}

const struct fold_door fold_door_object = {.option = "--guest",
                                           .describe = describe,
                                           .run = run,
                                           .scratch = scratch,
                                           .strides = true,
                                           .any_thread = true,
                                           .tidy = FOLD_TIDY};
const struct fold_door fold_door_here = {
    .describe = describe, .here = true, .run = run, .scratch = scratch, .strides = true, .tidy = FOLD_TIDY};
