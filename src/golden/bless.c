/* bless.c: writes new goldens, if none is refused, and shows what changes.
 *
 * The file is read once more before it is written whole, under a lock of its folder. So one of two commands that write it at once adds
 * to what the other one wrote, and one that is killed leaves the old file or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "compare/compare.h"
#include "golden/golden.h"
#include "records/record.h"
#include "rig/fp_state.h"

enum { MOST_LINES = 10 };

static bool has_results(const json_t *record) { return *fold_record_text(record, "results_xxh3") != '\0'; }

/* A result that --seconds left no time to give again is not kept; one that a new process does not give is refused. */
static void no_result_again(struct fold_golden *g, const struct fold_judgement *j, json_t *now) {
  if (now == NULL || !has_results(now)) return;
  if (!fold_is_left_out(j->finding.reason)) {
    fold_golden_refuse(g, j, "it varies from run to run: no result in a new process: %s", j->finding.reason);
    return;
  }
  json_object_del(now, "results_xxh3");
  g->untried++;
}

fold_status fold_golden_again(struct fold_golden *g, const struct fold_judgement *j) {
  const enum fold_verdict verdict = j->finding.verdict;
  if (!(fold_claims_of(j->subject, j->c->problem->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) return fold_ok();
  if (verdict == FOLD_REFUTED || verdict == FOLD_BROKEN)
    fold_golden_refuse(g, j, "it varies from run to run: %s", j->finding.reason);
  if (verdict == FOLD_REFUTED || verdict == FOLD_BROKEN || j->claim) return fold_ok();
  json_t *record = fold_golden_record(g, j);
  const struct fold_golden_entry *now = record ? fold_golden_find(&g->now, record) : NULL;
  if (j->got == NULL)
    no_result_again(g, j, now ? now->record : NULL);
  else if (now == NULL ||
           strcmp(fold_record_text(now->record, "input_xxh3"), fold_record_text(record, "input_xxh3")) != 0)
    fold_golden_refuse(g, j,
                       "it varies from run to run: in a new process it has a different input, or the case is missing");
  else if (has_results(now->record) &&
           strcmp(fold_record_text(now->record, "results_xxh3"), fold_record_text(record, "results_xxh3")) != 0)
    fold_golden_refuse(g, j, "it varies from run to run: different bits in a new process");
  json_decref(record);
  return fold_ok();
}

/* Whether two goldens say the same, whichever builds wrote them. The hash stands for the results: NaN has many bits. */
static bool is_same(const json_t *a, const json_t *b) {
  static const char *const others[] = {"build", "results", "values"};
  json_t *one = json_copy((json_t *)(uintptr_t)a), *two = json_copy((json_t *)(uintptr_t)b);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    json_object_del(one, others[i]);
    json_object_del(two, others[i]);
  }
  const bool same = one && two && json_equal(one, two);
  json_decref(one);
  json_decref(two);
  return same;
}

static const char *first_of(const json_t *record, size_t row) {
  const char *bits = json_string_value(json_array_get(json_object_get(record, "results"), row));
  return bits ? bits : "no result";
}

/* Prints what happens to a golden. */
static fold_status show(struct fold_golden *g, json_t *was, json_t *is) {
  json_t *const both[2] = {was, is};
  json_t *told = json_object();
  const char *const names[2] = {"what was kept", "the new one"};
  const fold_status status = fold_compare_distance(both, &g->again, names, told);
  const json_t *at = json_object_get(told, "row");
  const char *distance = fold_record_text(told, "distance");
  const size_t row = (size_t)json_integer_value(at);
  const bool input = strcmp(fold_record_text(was, "input_xxh3"), fold_record_text(is, "input_xxh3")) != 0;
  if (at)
    fold_print_line("CHANGES: %s on %s: %s, row %zu: was %s, is %s%s%s", fold_record_text(is, "subject"),
                    fold_record_text(is, "engine"), fold_record_text(is, "case"), row, first_of(was, row),
                    first_of(is, row), *distance ? "; " : "", distance);
  else
    fold_print_line("CHANGES: %s on %s: %s: its %s changed", fold_record_text(is, "subject"),
                    fold_record_text(is, "engine"), fold_record_text(is, "case"), input ? "input" : "record");
  json_decref(told);
  return status;
}

/* Recorded results that were not taken, because their input can't be made here, are still given. */
static bool is_gone(const struct fold_golden *g, const struct fold_golden_entry *kept) {
  return kept->state == FOLD_GOLDEN_MISSING || (kept->state == FOLD_GOLDEN_DUE && !g->recorded);
}

/* Puts what was taken into the list of what is kept, and removes what was due and was not given. */
static fold_status merge(struct fold_golden *g) {
  struct fold_golden_list merged = {0};
  fold_status status = fold_ok();
  for (size_t i = 0; i < g->kept.n && status.code == FOLD_OK; i++) {
    json_t *was = g->kept.at[i].record;
    const struct fold_golden_entry *now = fold_golden_find(&g->now, was);
    if (now && has_results(now->record) && !is_same(was, now->record)) {
      if (g->changed++ < MOST_LINES) status = show(g, was, now->record);
      was = now->record;
    } else if (now && has_results(now->record)) {
      g->same++;
    } else if (is_gone(g, &g->kept.at[i])) {
      if (g->removed++ < MOST_LINES)
        fold_print_line("REMOVED: %s on %s: %s: nothing gives this result any more", fold_record_text(was, "subject"),
                        fold_record_text(was, "engine"), fold_record_text(was, "case"));
      continue;
    }
    if (status.code == FOLD_OK) status = fold_golden_add(&merged, json_incref(was));
  }
  for (size_t i = 0; i < g->now.n && status.code == FOLD_OK; i++) {
    json_t *now = g->now.at[i].record;
    if (!has_results(now) || fold_golden_find(&g->kept, now)) continue;
    g->added++;
    status = fold_golden_add(&merged, json_incref(now));
  }
  fold_golden_free_list(&g->kept);
  g->kept = merged;
  return status;
}

static fold_status write_file(struct fold_golden *g) {
  struct fold_records records;
  fold_output_unspare(g->options->path);
  FOLD_TRY(fold_records_open(&records, g->options->path));
  fold_status status = fold_records_environment_of(&records, json_incref(g->environment));
  if (g->kept.n) (void)fold_golden_find(&g->kept, g->kept.at[0].record); /* sorts */
  for (size_t i = 0; i < g->kept.n && status.code == FOLD_OK; i++)
    status = fold_records_line(&records, json_incref(g->kept.at[i].record));
  const fold_status closed =
      fold_records_close(&records, status.code == FOLD_OK ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP);
  return status.code == FOLD_OK ? closed : status;
}

static fold_status change_file(struct fold_golden *g) {
  FOLD_TRY(fold_golden_read(g));
  FOLD_TRY(fold_golden_sort_out(g));
  FOLD_TRY(merge(g));
  return g->added + g->changed + g->removed ? write_file(g) : fold_ok();
}

/* A file system without locks has none. */
static fold_status change_locked(struct fold_golden *g) {
  char *path = strdup(g->options->path);
  const int lock = path ? open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(path);
  while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR) continue;
  const fold_status status = change_file(g);
  if (lock >= 0) close(lock);
  return status;
}

fold_status fold_golden_check_process(void) {
  char changed[80];
  const struct fold_openmp openmp = fold_openmp_now();
  if (!fold_fp_state_restore(&openmp, false, changed))
    return fold_error(FOLD_ENVIRONMENT,
                      "--bless writes nothing: %s was changed before foldproof started, and results may depend on it",
                      changed);
  if (getenv("LD_PRELOAD") && *getenv("LD_PRELOAD"))
    return fold_error(FOLD_ENVIRONMENT, "--bless writes nothing: LD_PRELOAD is set, and may change results: unset it");
  return fold_ok();
}

fold_status fold_golden_bless(struct fold_golden *g) {
  if (g->refused > MOST_LINES) printf("%d of %zu refusals shown\n", MOST_LINES, g->refused);
  if (g->refused == 0) FOLD_TRY(change_locked(g));
  if (g->changed > MOST_LINES) printf("%d of %zu changes shown\n", MOST_LINES, g->changed);
  if (g->unsteady) printf("%zu results are not kept: their subjects do not claim run_to_run\n", g->unsteady);
  if (g->untried) printf("%zu results are not kept: no time was left to give them again\n", g->untried);
  if (g->overflowed)
    printf("%zu left out: partial sums overflowed where the exact result is finite, and no order is declared\n",
           g->overflowed);
  if (g->refused) printf("nothing is written: %zu result%s refused\n", g->refused, g->refused == 1 ? " was" : "s were");
  return fold_ok();
}
