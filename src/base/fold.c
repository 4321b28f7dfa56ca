/* fold.c: names and statuses of fold.h. */
#include "base/fold.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

static const char *const dtype_names[FOLD_DTYPES] = {
#define FOLD_DTYPE(TAG, name, ...) #name,
#include "base/dtype.def"
};
static const char *const dtype_descrs[FOLD_DTYPES] = {
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, limbs, descr, kernels) descr,
#include "base/dtype.def"
};
static const char *const op_names[FOLD_OPS] = {"sum", "prod", "max", "min"};
const struct fold_engine_row fold_engine_rows[FOLD_ENGINES] = {
#define FOLD_ENGINE(TAG, name, title, MEMORY, ranks, LAUNCHES) \
  {#name, title, FOLD_##MEMORY, ranks, FOLD_LAUNCH_##LAUNCHES},
#include "base/engine.def"
};

fold_status fold_ok(void) {
  fold_status status;
  status.code = FOLD_OK;
  status.text[0] = '\0';
  return status;
}

static fold_status error_of(enum fold_code code, const char *begin, const char *format, va_list args) {
  fold_status status = {.code = code};
  const size_t used = (size_t)snprintf(status.text, sizeof status.text, "%s", begin);
  vsnprintf(status.text + used, sizeof status.text - used, format, args);
  fold_text_one_line(status.text); /* the text may contain a name with any bytes */
  return status;
}

fold_status fold_error(enum fold_code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const fold_status status = error_of(code, "", format, args);
  va_end(args);
  return status;
}

fold_status fold_no_memory(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const fold_status status = error_of(FOLD_NO_MEMORY, "not enough memory ", format, args);
  va_end(args);
  return status;
}

fold_status fold_system_failed(const char *what) {
  return fold_error(FOLD_ENVIRONMENT, "%s: %s", what, strerror(errno));
}

fold_status fold_within(fold_status status, const char *format, ...) {
  if (status.code == FOLD_OK) return status;
  fold_status outer = {.code = status.code};
  va_list args;
  va_start(args, format);
  int used = vsnprintf(outer.text, sizeof outer.text, format, args);
  va_end(args);
  if (used >= 0 && (size_t)used < sizeof outer.text)
    snprintf(outer.text + used, sizeof outer.text - (size_t)used, ": %.*s", (int)sizeof outer.text - 1 - used,
             status.text);
  fold_text_one_line(outer.text);
  return outer;
}

int fold_exit_code(enum fold_code code) {
  switch (code) {
    case FOLD_OK: return 0;
    case FOLD_UNSUPPORTED: return 77;
    case FOLD_ENVIRONMENT:
    case FOLD_FAILED: return 99;
    case FOLD_BAD_INPUT:
    case FOLD_NO_MEMORY: return 2;
  }
  return 99;
}

enum fold_code fold_write_code(int error) {
  switch (error) {
    case ENOMEM: return FOLD_NO_MEMORY;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EBADF:
    case EPIPE:
    case EMFILE:
    case ENFILE: return FOLD_ENVIRONMENT;
    default: return FOLD_BAD_INPUT;
  }
}

double fold_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *fold_dtype_name(enum fold_dtype dtype) { return dtype_names[dtype]; }
const char *fold_op_name(enum fold_op op) { return op_names[op]; }
const char *fold_engine_name(enum fold_engine engine) { return fold_engine_rows[engine].name; }

static int find(const char *name, const char *const names[], int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

int fold_dtype_parse(const char *name) { return find(name, dtype_names, FOLD_DTYPES); }
const char *fold_dtype_list(void) {
  static const char list[] =
#define FOLD_DTYPE(TAG, name, ...) ", " #name
#include "base/dtype.def"
      ;
  return list + 2;
}
const char *fold_dtype_descr(enum fold_dtype dtype) { return dtype_descrs[dtype]; }
int fold_op_parse(const char *name) { return find(name, op_names, FOLD_OPS); }
int fold_engine_parse(const char *name) {
  for (int i = 0; i < FOLD_ENGINES; i++)
    if (strcmp(name, fold_engine_rows[i].name) == 0) return i;
  return -1;
}
