/* golden/run.c: compares runs with goldens. */
#include "golden/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "guest/guest.h"
#include "records/nearer.h"
#include "records/refutation.h"
#include "records/replay.h"

enum { MOST_LINES = 10 };

fold_status fold_golden_remake(struct fold_golden_run *run, const struct fold_case *c) {
  const struct fold_case *own = fold_case_index_find(&run->index, c->name);
  if (own == NULL) fold_remade_free(&run->remade); /* a case of another index may have had the same address */
  return fold_remake_other(&run->remade, own ? own : c);
}

uint64_t fold_golden_object(struct fold_golden_run *run, const struct fold_subject *s) {
  const struct fold_guest *guest = s->guest ? s->guest->guest : NULL;
  unsigned char part[1 << 14];
  size_t n;
  if (guest == NULL || guest->door != &fold_door_object) return 0;
  if (run->guest == guest) return run->object;
  run->guest = guest;
  run->object = 0;
  FILE *file = fopen(guest->what, "re");
  if (file == NULL) return 0;
  while ((n = fread(part, 1, sizeof part, file)) > 0) run->object = XXH3_64bits_withSeed(part, n, run->object);
  fclose(file);
  return run->object;
}

fold_status fold_golden_open(struct fold_golden_run *run, const struct fold_golden_options *options,
                             const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_case_index *index, const char *program) {
  *run = (struct fold_golden_run){
      .options = options, .registry = registry, .selection = selection, .program = program, .subject = SIZE_MAX};
  if (options->bless) FOLD_TRY(fold_golden_lock(run));
  FOLD_TRY(fold_goldens_read(&run->goldens, options->folder));
  if (!options->bless) FOLD_TRY(fold_golden_list_check(&run->goldens));
  if (run->goldens.n == 0 && !options->bless)
    return fold_error(FOLD_BAD_INPUT, "%.150s: no golden is there: see record --bless",
                      fold_path_tail(options->folder));
  run->index_lent = index != NULL;
  if (index)
    run->index = *index;
  else
    FOLD_TRY(fold_case_index_open(&run->index, selection->folder));
  return options->bless ? fold_golden_bless_begin(run) : fold_ok();
}

void fold_golden_close(struct fold_golden_run *run) {
  fold_remade_free(&run->remade);
  fold_goldens_free(&run->goldens);
  fold_golden_unlock(run);
  if (!run->index_lent) fold_case_index_close(&run->index);
  json_decref(run->environment);
  *run = (struct fold_golden_run){0};
}

char *fold_golden_cases(const struct fold_golden_run *run) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (file == NULL) return NULL;
  for (size_t i = 0; i < run->index.cases.n; i++) {
    bool named = false;
    for (size_t s = 0; s < run->goldens.n && !named; s++)
      named = fold_golden_selects(run, &run->goldens.sheet[s]) &&
              fold_golden_find(&run->goldens.sheet[s], run->index.cases.at[i].name);
    if (named) fprintf(file, "%s%s", ftell(file) ? "," : "", run->index.cases.at[i].name);
  }
  return fclose(file) == 0 ? text : NULL;
}

fold_status fold_golden_begin(struct fold_golden_run *run, const char *environment) {
  json_decref(run->environment);
  run->environment = json_loads(environment, 0, NULL);
  return run->environment ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the environment");
}

bool fold_golden_selects(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet) {
  for (size_t i = 0; i < sheet->n_by; i++) {
    char text[200];
    struct fold_subject subject;
    snprintf(text, sizeof text, "%s", sheet->by[i].name);
    if (fold_golden_name_read(text, &subject) && fold_selects_subject(run->selection, &subject)) return true;
  }
  return false;
}

/* Prints a row that differs from what is kept, and which of the two is nearer to the exact result. */
static void print_row(struct fold_golden_run *run, const struct fold_golden_result *now, uint64_t kept, size_t row) {
  const struct fold_truth *truth;
  const enum fold_dtype dtype = fold_subject_result(now->subject, now->c->dtype);
  const uint64_t got = fold_bits_load(dtype, now->results, row);
  struct fold_nearer nearer;
  char was[80], is[80], text[200];
  printf(", row %zu: was %s, is %s", row, fold_bits_print(dtype, kept, was), fold_bits_print(dtype, got, is));
  if (now->subject->unknown) return; /* nobody knows the exact result */
  fold_status status = fold_golden_remake(run, now->c);
  if (status.code == FOLD_OK) status = fold_truths_row(&run->remade.truths, row, &truth);
  if (status.code != FOLD_OK) return;
  fold_nearer_ask(&nearer, truth, dtype, kept, got);
  printf(", %s", fold_nearer_print(&nearer, "what was kept", "the new one", text));
}

void fold_golden_print(struct fold_golden_run *run, const char *kind, const struct fold_golden_result *now,
                       const struct fold_golden_sheet *sheet, const struct fold_golden_line *kept) {
  size_t place, first;
  fold_golden_differ(kept, &now->line, &place);
  printf("%s: %s on %s: %s", kind, now->subject->name, fold_engine_name(now->subject->engine), now->c->name);
  if (kept->n != now->line.n || kept->hashed != now->line.hashed) {
    printf(": %zu results, and not %zu\n", now->line.n, kept->n);
  } else if (kept->hashed) {
    const size_t n = fold_golden_rows(kept, now->c->rows, place, &first);
    printf(", rows %zu to %zu: a different hash\n", first, first + n - 1);
  } else {
    print_row(run, now, kept->at[place], place);
    putchar('\n');
  }
  printf("  golden: %s:%zu, of commit %s\n", sheet->path, kept->number, sheet->commit);
}

static void print_replay(const struct fold_golden_run *run, const struct fold_judgement *j) {
  struct fold_replay replay = fold_replay_of(j, run->program, run->selection->folder);
  fold_asked_world(&replay.asked, j->subject->engine, run->selection);
  if (!fold_replay_can_run(&replay.asked, j->subject->guest != NULL)) return;
  replay.claim = NULL;
  replay.golden = run->options->folder;
  replay.library = run->options->library;
  fputs(FOLD_REPRODUCE, stdout);
  fold_put_replay(&replay, stdout);
  putchar('\n');
}

/* The sheet that applies to this subject in this environment; NULL if there is none. */
static struct fold_golden_sheet *sheet_for(const struct fold_golden_run *run, const struct fold_subject *subject) {
  char of[160], where[320] = "";
  fold_golden_of(subject, of);
  if (!fold_golden_portable(subject)) fold_golden_where(subject, run->environment, run->options->library, where);
  return fold_golden_sheet_of(&run->goldens, of, where);
}

static void check(struct fold_golden_run *run, const struct fold_judgement *j, const struct fold_golden_result *now) {
  const struct fold_golden_sheet *sheet = sheet_for(run, j->subject);
  const struct fold_golden_line *kept = sheet ? fold_golden_find(sheet, j->c->name) : NULL;
  size_t place;
  if (kept == NULL) {
    run->unkept++;
  } else if (kept->input != j->input_hash) {
    if (fold_case_index_find(&run->index, j->c->name)) return; /* fold_golden_check reports it, once */
    printf("DIFFERENT INPUT: %s: hash 0x%016llx, and 0x%016llx in %s:%zu\n", j->c->name,
           (unsigned long long)j->input_hash, (unsigned long long)kept->input, sheet->path, kept->number);
    run->other_input++;
  } else if (fold_golden_differ(kept, &now->line, &place)) {
    if (run->differ++ >= MOST_LINES) return;
    fold_golden_print(run, "DIFFERS FROM ITS GOLDEN", now, sheet, kept);
    print_replay(run, j);
  } else {
    run->held++;
  }
}

const struct fold_golden_line *fold_golden_kept(const struct fold_golden_run *run, const struct fold_judgement *j) {
  const struct fold_golden_sheet *sheet = sheet_for(run, j->subject);
  return sheet ? fold_golden_find(sheet, j->c->name) : NULL;
}

fold_status fold_golden_result_of(const struct fold_judgement *j, struct fold_golden_result *now) {
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  const size_t nbytes = j->c->rows * fold_dtype_size(dtype);
  *now = (struct fold_golden_result){.subject = j->subject, .c = j->c, .results = malloc(nbytes + 8)};
  if (now->results == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens");
  memcpy(now->results, j->got, nbytes);
  fold_results_unify(dtype, now->results, j->c->rows);
  fold_golden_keep(&now->line, dtype, now->results, j->c->rows);
  return fold_ok();
}

/* A guest that needs no device refuses a case that it alone gave a result of. */
static void take_refusal(struct fold_golden_run *run, const struct fold_judgement *j) {
  struct fold_golden_sheet *sheet = sheet_for(run, j->subject);
  struct fold_golden_line *kept = sheet ? fold_golden_find(sheet, j->c->name) : NULL;
  if (!kept || sheet->n_by > 1 || !j->subject->guest || !fold_engine_is_here(j->subject->engine)) return;
  const char *kind = run->options->bless ? "DROPS" : "GONE";
  if (run->gone < MOST_LINES)
    printf("%s: %s on %s gives no result of %s any more: %s: %s:%zu\n", kind, j->subject->name,
           fold_engine_name(j->subject->engine), j->c->name, j->finding.reason, sheet->path, kept->number);
  if (run->options->bless)
    fold_golden_drop(sheet, kept);
  else
    run->gone++;
}

fold_status fold_golden_take(struct fold_golden_run *run, const struct fold_judgement *j) {
  struct fold_golden_result now;
  fold_status status = fold_ok();
  const bool refused = j->got == NULL && j->finding.verdict == FOLD_SKIPPED;
  if ((j->got == NULL && !refused) || (run->subject == j->subject_index && run->last == j->c->name)) return fold_ok();
  run->subject = j->subject_index;
  run->last = j->c->name;
  if (refused) {
    take_refusal(run, j);
    return fold_ok();
  }
  FOLD_TRY(fold_golden_result_of(j, &now));
  if (run->options->bless)
    status = fold_golden_bless(run, j, &now);
  else
    check(run, j, &now);
  if (!fold_case_index_find(&run->index, j->c->name))
    fold_remade_free(&run->remade); /* the case is not from our index */
  free(now.results);
  return status;
}

static void print_counts(const struct fold_golden_run *run) {
  printf("goldens: %zu held, %zu differ, %zu with a different input, %zu with a different order, %zu gone, %zu stale",
         run->held, run->differ, run->other_input, run->other_order, run->gone, run->stale);
  if (run->unkept) printf("; %zu results have none", run->unkept);
  if (run->replayed)
    printf("; of those held, %zu are results and %zu are the oracle's replays of what was kept",
           run->held - run->replayed, run->replayed);
  putchar('\n');
}

fold_status fold_golden_end(struct fold_golden_run *run) {
  if (run->options->bless) return fold_golden_bless_end(run);
  if (run->differ > MOST_LINES) printf("%d of %zu that differ shown\n", MOST_LINES, run->differ);
  FOLD_TRY(fold_golden_check(run));
  if (!run->goldens.list.there)
    printf("NO LIST: %s has no " FOLD_GOLDEN_LIST
           ", so that a golden that is deleted is not missed: record --bless "
           "writes one\n",
           run->options->folder);
  print_counts(run);
  return fold_ok();
}

void fold_golden_beside(const struct fold_golden_run *run, char text[120]) {
  const size_t against = run->refused + run->differ + run->other_input + run->other_order + run->gone;
  if (run->options == NULL)
    text[0] = '\0';
  else if (run->options->bless)
    snprintf(text, 120, "; goldens: %zu kept, %zu refused", run->added + run->changed + run->same, against);
  else
    snprintf(text, 120, "; goldens: %zu held, %zu differ, %zu stale", run->held, against, run->stale);
}

int fold_golden_exit_code(const struct fold_golden_run *run) {
  if (run->refused || run->differ || run->other_input || run->other_order || run->gone) return 1;
  if (run->options->bless) return run->added + run->changed + run->same ? 0 : 2;
  return run->held ? 0 : run->stale ? 77 : 2;
}
