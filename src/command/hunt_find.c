/* command/hunt_find.c: see hunt_find.h. */
#include "command/hunt_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/wrap.h"
#include "hunt/again.h"
#include "hunt/draw.h"
#include "records/refutation.h"
#include "records/replay.h"

double fold_option_time(struct argp_state *state, const char *text) {
  static const char units[] = "smh";
  static const double seconds[] = {1, 60, 3600};
  char number[24];
  const size_t n = strlen(text);
  const char *unit = n ? strchr(units, text[n - 1]) : NULL;
  snprintf(number, sizeof number, "%.*s", (int)(unit ? n - 1 : n), text);
  if (n >= sizeof number || !*number)
    argp_failure(state, 2, 0, "--time %s: a number of seconds, or as 60s, 5m, 2h", text);
  return (double)fold_option_number(state, "--time", number, 1, 1000000) * (unit ? seconds[unit - units] : 1);
}

uint64_t fold_option_seed(struct argp_state *state, const char *text) {
  char *end;
  const bool hex = strncmp(text, "0x", 2) == 0;
  errno = 0;
  const uint64_t seed = strtoull(text, &end, hex ? 16 : 10);
  if (*text < '0' || *text > '9' || *end || errno)
    argp_failure(state, 2, 0, "--seed %s: a number of up to 64 bits", text);
  return seed;
}

/* A sink's context: the refutation as text. */
struct evidence {
  const struct fold_hunt *hunt;
  const char *program;
  const struct fold_find *find;
  struct fold_refutation text;
};

/* Of several cases the file is named, which runs them all. */
static fold_status keep_text(void *context, const struct fold_judgement *judged) {
  struct evidence *e = context;
  struct fold_judgement j = *judged;
  struct fold_case file = *j.c;
  struct fold_asked asked;
  file.name = file.file;
  if (e->find->cases > 1) j.c = &file;
  fold_asked_for(&asked, &j, e->hunt->selection, false);
  j.asked = &asked;
  return fold_refutation_keep(&e->text, &j, e->program, e->hunt->folder);
}

static void print_smallness(const struct fold_find *find) {
  char terms[60] = "all terms are 0, 1 or -1";
  if (find->generated) {
    fold_put_wrapped(stdout, 2, 4, "not made smaller in %zu runs: %s", find->tries, find->from);
    return;
  }
  if (find->other_terms == 1) snprintf(terms, sizeof terms, "1 term is neither 0, 1 nor -1");
  if (find->other_terms > 1) snprintf(terms, sizeof terms, "%zu terms are neither 0, 1 nor -1", find->other_terms);
  fold_put_wrapped(stdout, 2, 4, "made small from %s in %zu runs: %s", find->from, find->tries, terms);
}

static void put_find(const struct fold_find *find, const struct fold_refutation *text) {
  fputs(text->head, stdout);
  fputs(text->rest, stdout);
  if (find->threshold[0]) fold_put_wrapped(stdout, 2, 4, "%s", find->threshold);
  if (find->seen < find->looked)
    fold_put_wrapped(stdout, 2, 4, "seen in %u of %u new processes", find->seen, find->looked);
  if (find->cases > 1)
    fold_put_wrapped(stdout, 2, 4, "alone it holds: %zu case%s must run before it in the same process", find->cases - 1,
                     find->cases == 2 ? "" : "s");
  if (find->tries > 0)
    print_smallness(find);
  else
    fold_put_wrapped(stdout, 2, 4, "not made small: %s", find->from);
  if (fold_is_hang(&find->finding)) fold_put_wrapped(stdout, 2, 4, "it is not run any more in this hunt");
  fold_put_wrapped(stdout, 2, 4, "fixture: %s", find->path);
  fputs(text->replay, stdout);
  fflush(stdout);
}

fold_status fold_find_print(const struct fold_hunt *hunt, const struct fold_find *find, const char *program) {
  struct evidence e = {.hunt = hunt, .program = program, .find = find};
  const struct fold_again_sink sink = {keep_text, &e};
  const fold_status status = fold_hunt_tell(hunt, find, &sink);
  if (status.code == FOLD_OK && e.text.head) put_find(find, &e.text);
  fold_refutation_free(&e.text);
  return status;
}

uint64_t fold_find_new_seed(void) {
  uint64_t seed;
  return getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed ? seed : (uint64_t)(fold_now() * 1e9);
}

/* Processes run on a GPU in turn, and more of them run fewer cases: an H200 ran 1,090 a second of one, 1,040 of two, 780 of eight. A second one
 * judges long cases meanwhile. */
unsigned fold_find_processes(const struct fold_hunt *hunt) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN),
             most = fold_hunts_device(hunt->registry, hunt->selection) ? 2 : FOLD_HUNT_LANES;
  return n < 1 ? 1 : (unsigned)(n < most ? n : most);
}
