/* test_gpu_promises.c: two promises of the CUDA kernels by their names, on the default fixtures: every `_determ` kernel has the bits of
 * rows/par_256; every kernel's error is within its bound. Built once for each (PROMISE).
 *
 * Which kernels there are is asked of the command, so that a new one is in at once; how many there are at the least is said here.
 * ENGINE is "cuda".
 */
#include "promises.h"

#define TEST_OF(suite, name, ...) Test(suite, name, __VA_ARGS__)
#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

enum { MOST = 64, NAME = 64 };

/* The subjects that promise the claim. */
static size_t promising(struct shell *s, const char *claim, char names[MOST][NAME]) {
  size_t n = 0;
  shell_run(s, "$F list subjects --engine " ENGINE " --claims '%s' | awk '{ print $1 }'", claim);
  for (char *rest = s->out, *line; (line = strsep(&rest, "\n"));)
    if (*line && n < MOST) snprintf(names[n++], NAME, "%s", line);
  return n;
}

/* A result of rows/par_256 by its case: its hash. */
struct twin {
  char name[96], hash[24];
};
static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static size_t read_runs(struct shell *s, const char *subject, struct twin *runs, size_t room) {
  char *line = NULL;
  size_t width = 0, n = 0;
  FILE *records = fopen(scratch_path(&s->scratch, "r.jsonl"), "r");
  cr_assert_not_null(records, "%s: %s", s->ran, s->err);
  while (getline(&line, &width, records) > 0) {
    if (!strstr(line, subject)) continue; /* of many records few are to be parsed */
    json_t *record = json_loads(line, 0, NULL);
    if (strcmp(promise_word(record, "type"), "run") == 0 && strcmp(promise_word(record, "subject"), subject) == 0 &&
        *promise_word(record, "results_xxh3") && n < room) {
      snprintf(runs[n].name, sizeof runs[n].name, "%s", promise_word(record, "case"));
      snprintf(runs[n++].hash, sizeof runs[n].hash, "%s", promise_word(record, "results_xxh3"));
    }
    json_decref(record);
  }
  free(line);
  fclose(records);
  qsort(runs, n, sizeof *runs, by_name);
  return n;
}

/* By no judge: the bits that `record` wrote, case by case. A hash takes each NaN for the same one. */
static void determ_equals_par_256(struct shell *s) {
  enum { CASES = 20000 };
  char names[MOST][NAME];
  struct twin *want = calloc(CASES, sizeof *want), *got = calloc(CASES, sizeof *got);
  size_t n = promising(s, "same_bits_as", names);
  cr_assert_geq(n, 7, "%zu kernels promise same_bits_as", n);
  shell_run(s, "$F record --engine " ENGINE
               " --subjects 'rows/par_256,rows/*determ*,rows/multi_block' "
               "--jsonl r.jsonl");
  promise_ran(s, "r.jsonl", 1);
  size_t cases = read_runs(s, "rows/par_256", want, CASES);
  cr_expect_geq(cases, 500, "rows/par_256 ran on %zu cases", cases);
  for (size_t k = 0; k < n; k++) {
    size_t runs = read_runs(s, names[k], got, CASES), other = 0, first = 0;
    cr_expect_eq(runs, cases, "%s ran on %zu cases, rows/par_256 on %zu", names[k], runs, cases);
    for (size_t i = 0; i < runs && i < cases; i++)
      if ((strcmp(got[i].name, want[i].name) != 0 || strcmp(got[i].hash, want[i].hash) != 0) && other++ == 0) first = i;
    cr_expect_eq(other, 0, "%s has different bits than rows/par_256 on %zu of %zu cases, first %s: %s, not %s",
                 names[k], other, runs, got[first].name, got[first].hash, want[first].hash);
  }
  free(want);
  free(got);
}

/* Each kernel by the claim about its error that it makes. A peer that the build's CCCL lacks is skipped by its own words. */
static void error_bounds(struct shell *s) {
  static const char *const claims[] = {"bounded", "correctly_rounded"};
  size_t judged = 0;
  shell_run(s, "$F verify --engine " ENGINE " --claims bounded,correctly_rounded --jsonl v.jsonl");
  promise_ran(s, "v.jsonl", 1);
  struct shell *ask = shell_open();
  for (size_t c = 0; c < 2; c++) {
    char names[MOST][NAME];
    size_t n = promising(ask, claims[c], names);
    cr_expect_geq(n, c ? 2 : 26, "%zu kernels promise %s", n, claims[c]);
    for (size_t k = 0; k < n; k++) {
      struct promise_count count = promise_count(s, "v.jsonl", names[k], claims[c], "");
      bool absent = count.held == 0 && strncmp(names[k], "cub/reduce_", 11) == 0;
      /* It takes few default cases: those whose first matrix ends with ones. */
      const size_t least = strcmp(names[k], "cublas/lt_bias") == 0 ? 2 : 100;
      cr_expect(count.held >= least || absent, "%s: %s held on %zu cases", names[k], claims[c], count.held);
      judged += count.held;
    }
  }
  cr_expect_geq(judged, 10000, "only %zu", judged);
  shell_close(ask);
}

TEST_OF(gpu, PROMISE, .timeout = 580) {
  SHELL(s);
  if (strcmp(TEXT(PROMISE), "determ_equals_par_256") == 0)
    determ_equals_par_256(s);
  else
    error_bounds(s);
}
