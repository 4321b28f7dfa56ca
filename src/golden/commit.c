/* golden/commit.c: the commit of the code whose results are to be kept; and which environments' results must not be
 * kept. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "golden/run.h"
#include "rig/fp_state.h"

/* The first line of a command's output; "" if there is none or the command fails. */
static void ask(char text[200], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void ask(char text[200], const char *format, ...) {
  char command[6000];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  FILE *said = popen(command, "re");
  text[0] = '\0';
  if (said == NULL) return;
  if (fgets(text, 200, said) == NULL) text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  pclose(said);
}

/* A variable that makes git read another checkout than that of the current folder; NULL if none is set. */
static const char *find_misleading(void) {
  static const char *const names[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return names[i];
  return NULL;
}

/* For compiled subjects, the commit that was built. For a user's guests, the commit of the checkout that contains the
 * current folder. That is also dirty if a file is neither committed nor ignored, unless a compiler or --bless made the
 * file. */
static void commit_of(const struct fold_golden_run *run, char text[200]) {
  char changes[200];
  snprintf(text, 200, "%s", fold_build_commit());
  if (run->selection->n_guests == 0) return;
  if (!find_misleading()) ask(text, "git rev-parse --short=12 HEAD 2>/dev/null");
  if (text[0] == '\0' || find_misleading()) {
    snprintf(text, 200, "unknown");
    return;
  }
  ask(changes,
      "(git status --porcelain --untracked-files=all 2>/dev/null || echo failed) | grep -vE "
      "'[.](golden|golden[.]partial[.0-9]+|so|o|a)\"?$|[ /]golden[.]list([.]partial[.0-9]+)?\"?$'");
  if (changes[0]) snprintf(text + strlen(text), 200 - strlen(text), "+dirty");
}

fold_status fold_golden_bless_begin(struct fold_golden_run *run) {
  char changed[80];
  const char *misleading = find_misleading();
  const struct fold_openmp openmp = fold_openmp_now();
  const bool usual = fold_fp_state_restore(&openmp, false, changed);
  if (!usual)
    return fold_error(FOLD_ENVIRONMENT,
                      "--bless writes nothing: %s was changed before foldproof started, and results may depend on it",
                      changed);
  if (getenv("LD_PRELOAD") && *getenv("LD_PRELOAD"))
    return fold_error(FOLD_ENVIRONMENT, "--bless writes nothing: LD_PRELOAD is set, and may change results: unset it");
  commit_of(run, run->commit);
  if (run->options->dirty) return fold_ok();
  if (strncmp(run->commit, "unknown", 7) == 0)
    return fold_error(FOLD_ENVIRONMENT,
                      "--bless writes nothing: no commit of the source is known, %s%s. A golden names the commit of "
                      "its code; --dirty "
                      "writes it without",
                      misleading ? misleading : "there is no checkout here", misleading ? " is set" : "");
  if (!strstr(run->commit, "+dirty")) return fold_ok();
  return fold_error(
      FOLD_ENVIRONMENT,
      "--bless writes nothing: the source is at commit %.60s: commit first, so that a golden names its code, or add "
      "--dirty",
      run->commit);
}
