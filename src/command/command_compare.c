/* command_compare.c: foldproof compare: where two records of the same cases have other results.
 *
 * Two records are of the same thing when subject, engine and case agree. Then the input's hash must be the same; their
 * results differ when the results' hashes do, which take NaN by its class, and when one run did what the other did not:
 * ranks that differ from rank 0, whose results the hash is of, a result that was not written, memory that is not the
 * run's. What only one of both has, and records that are not all of their run, are no agreement either; --subset takes
 * these for what they are. Results that contradict their hash are bad input. Any verdicts in the records are left alone.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_compare_claim.h"
#include "report_lines.h"
#include "text.h"

enum { SUBSET = 0x200, CLAIM, JSONL, MOST_LINES = 10 };

/* One run's results. A run that broke has none. */
struct entry {
  XXH128_hash_t key;
  char input[20], hash[20], result[20]; /* of the input; of all results; the first result's bits */
  char traces[120];                     /* what else the run did, for people; "" for nothing */
  char *name;                           /* "subject on engine: case" */
  size_t line;
  bool broken;
};

struct entries {
  struct entry *at;
  size_t n, room;
};

/* What is told of one kind: its first lines, then how many more there are. */
struct findings {
  char *lines[MOST_LINES];
  size_t n;
};

struct compare {
  const char *path[2], *claim, *jsonl;
  bool subset;
  struct entries entries[2];
  struct fold_lines lines[2];
  int reading; /* which file is read */
  size_t agree, broken;
  struct findings differ, changed, only[2];
};

static const struct argp_option options[] = {
    {"claim", CLAIM, "CLAIM", 0,
     "judge gpu_to_gpu (records of two models of GPU) or run_to_run (of two jobs on one) of whoever promises it", 1},
    {"jsonl", JSONL, "FILE", 0, "with --claim: write a record of each verdict", 1},
    {"subset", SUBSET, NULL, 0, "what only one of both files has is no difference", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct compare *c = state->input;
  switch (key) {
    case CLAIM:
      c->claim = arg;
      if (!fold_compare_knows_claim(arg))
        fold_option_refuse(state, "--claim", arg, (const char *const[]){"gpu_to_gpu", "run_to_run", NULL});
      return 0;
    case JSONL: c->jsonl = arg; return 0;
    case SUBSET: c->subset = true; return 0;
    case ARGP_KEY_ARG:
      if (state->arg_num >= 2) argp_failure(state, 2, 0, "two files, no more");
      c->path[state->arg_num] = arg;
      return 0;
    case ARGP_KEY_END:
      if (state->arg_num < 2) argp_failure(state, 2, 0, "name two files of records: see verify --jsonl and record");
      if (c->jsonl && !c->claim) argp_failure(state, 2, 0, "--jsonl needs --claim");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "A.jsonl B.jsonl",
    .doc =
        "Compare the results that two files of records hold for the same subjects and cases: of two machines, two "
        "versions, two days.\v"
        "Prints which file is incomplete, what only one of both has, which cases have another input, and where results "
        "differ, or what else the runs did (another rank's results, a result that was not written, memory that is not "
        "the run's); ten lines of each, then the counts. Exit codes: 0 both have the same cases, and all agree; 1 "
        "something differs, or is missing; 2 bad input, as results that contradict their hash, or nothing that both "
        "have; 99 runs broke in both. With "
        "--subset what is missing is "
        "named, and no difference; another input of the same case always is. With "
        "--claim, verdicts on what both have of the same input: 0 all held, 1 one is refuted, 77 there was nothing to "
        "judge, 99 a file is incomplete (not with --subset)."};

static int by_key(const void *a, const void *b) {
  const struct entry *l = a, *r = b;
  int d = XXH128_cmp(&l->key, &r->key);
  if (!d) d = strcmp(l->input, r->input);
  return d ? d : (l->line > r->line) - (l->line < r->line);
}

static bool same(const struct entry *a, const struct entry *b) {
  return strcmp(a->hash, b->hash) == 0 && strcmp(a->traces, b->traces) == 0;
}

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the records"); }

/* A case is judged on many claims, with the same results in each: neighbours of one key are one entry. */
static fold_status append(struct entries *e, const struct entry *entry, const json_t *record) {
  const struct entry *last = e->n ? &e->at[e->n - 1] : NULL;
  if (last && XXH128_isEqual(last->key, entry->key) && same(last, entry) && strcmp(last->input, entry->input) == 0)
    return fold_ok();
  if (e->n == e->room) {
    size_t more = e->room ? 2 * e->room : 1024;
    struct entry *grown = reallocarray(e->at, more, sizeof *grown);
    if (grown == NULL) return no_memory();
    e->at = grown;
    e->room = more;
  }
  e->at[e->n] = *entry;
  if (asprintf(&e->at[e->n].name, "%s on %s: %s", fold_record_text(record, "subject"),
               fold_record_text(record, "engine"), fold_record_text(record, "case")) < 0)
    return no_memory();
  e->n++;
  return fold_ok();
}

/* What a record says that the run did besides computing. */
static void read_traces(const json_t *record, char *text, size_t size) {
  const json_t *unwritten = json_object_get(record, "unwritten"), *split = json_object_get(record, "ranks_differ");
  int n = 0;
  text[0] = '\0';
  if (split)
    n = snprintf(text, size, " (rank %lld differs from rank 0 in row %lld)",
                 (long long)json_integer_value(json_object_get(split, "rank")),
                 (long long)json_integer_value(json_object_get(split, "row")));
  if (unwritten)
    n += snprintf(text + n, size - (size_t)n, " (row %lld not written)",
                  (long long)json_integer_value(json_object_get(unwritten, "row")));
  if (json_object_get(record, "out_of_bounds")) snprintf(text + n, size - (size_t)n, " (out of bounds)");
}

static fold_status take(void *context, json_t *record, size_t line) {
  struct compare *c = context;
  const char *hash = fold_record_text(record, "results_xxh3");
  struct entry entry = {.line = line, .broken = !hash[0] && strcmp(fold_record_text(record, "verdict"), "broken") == 0};
  if (!hash[0] && !entry.broken) return fold_ok();
  if (!fold_record_text(record, "subject")[0] || !fold_record_text(record, "case")[0] ||
      !fold_record_text(record, "input_xxh3")[0])
    return fold_error(FOLD_BAD_INPUT, "results need the keys subject, case and input_xxh3");
  FOLD_TRY(fold_record_check_results(record));
  entry.key = fold_record_key(record, false);
  const char *first = json_string_value(json_array_get(json_object_get(record, "results"), 0));
  /* Where a run broke, so may have its input. */
  snprintf(entry.input, sizeof entry.input, "%s", entry.broken ? "" : fold_record_text(record, "input_xxh3"));
  snprintf(entry.hash, sizeof entry.hash, "%s", hash);
  snprintf(entry.result, sizeof entry.result, "%s", entry.broken ? "no result" : first ? first : "no row");
  read_traces(record, entry.traces, sizeof entry.traces);
  return append(&c->entries[c->reading], &entry, record);
}

static void find(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(struct findings *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (f->n < MOST_LINES && vasprintf(&f->lines[f->n], format, args) < 0) f->lines[f->n] = NULL;
  if (f->n < MOST_LINES && f->lines[f->n]) fold_text_one_line(f->lines[f->n]);
  f->n++;
  va_end(args);
}

static void find_difference(struct compare *c, const struct entry *a, const struct entry *b) {
  bool other_row = strcmp(a->hash, b->hash) != 0 && strcmp(a->result, b->result) == 0;
  find(&c->differ, "DIFFERS: %s: %s:%zu has %s%s, %s:%zu has %s%s%s", b->name, c->path[0], a->line, a->result,
       a->traces, c->path[1], b->line, b->result, b->traces,
       other_row ? " (in the first row, which agrees: another row differs)" : "");
}

/* One subject and case: what each file holds of it, of which one may be nothing. */
struct group {
  const struct entry *at[2];
  size_t n[2];
};

/* The first entry behind those that have results of the input of the first. */
static size_t same_input(const struct entry *e, size_t n) {
  size_t end = 1;
  while (end < n && strcmp(e[end].input, e->input) == 0) end++;
  return end;
}

/* Among all of one input, a pair with other results, or NULL in both. */
static void find_pair(const struct group *g, const struct entry *pair[2]) {
  const struct entry *first = g->at[0];
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < g->n[k]; i++)
      if (!same(first, &g->at[k][i])) {
        pair[0] = k || same(&g->at[0][i], g->at[1]) ? first : &g->at[0][i];
        pair[1] = k ? &g->at[1][i] : g->at[1];
        return;
      }
}

/* Inputs rise in both files; one that only one of them has means that the case has become another. */
static void compare_group(struct compare *c, const struct group *g) {
  const struct entry *a = g->at[0], *b = g->at[1], *pair[2] = {NULL, NULL};
  const struct entry *const ends[2] = {a + g->n[0], b + g->n[1]};
  if (a->broken || b->broken) { /* they come first */
    if (ends[0][-1].broken && ends[1][-1].broken)
      c->broken++;
    else
      find_difference(c, a->broken ? a : ends[0] - 1, b->broken ? b : ends[1] - 1);
    return;
  }
  while (a < ends[0] && b < ends[1] && strcmp(a->input, b->input) == 0) {
    struct group one = {{a, b}, {same_input(a, (size_t)(ends[0] - a)), same_input(b, (size_t)(ends[1] - b))}};
    if (!pair[0]) find_pair(&one, pair);
    a += one.n[0];
    b += one.n[1];
  }
  bool changed = a < ends[0] || b < ends[1];
  if (a == ends[0]) a--;
  if (b == ends[1]) b--;
  if (changed)
    find(&c->changed, "INPUT CHANGED: %s: %s:%zu has %s, %s:%zu has %s", b->name, c->path[0], a->line, a->input,
         c->path[1], b->line, b->input);
  else if (pair[0])
    find_difference(c, pair[0], pair[1]);
  else
    c->agree++;
}

static size_t group_length(const struct entry *e, const struct entry *end) {
  size_t n = 1;
  while (e + n < end && XXH128_isEqual(e[n].key, e->key)) n++;
  return n;
}

/* As the second file tells them; what it has not, as the first does. */
static int by_line(const void *a, const void *b) {
  const struct group *l = a, *r = b;
  int only = (l->n[1] == 0) - (r->n[1] == 0), k = l->n[1] == 0 ? 0 : 1;
  return only ? only : (l->at[k]->line > r->at[k]->line) - (l->at[k]->line < r->at[k]->line);
}

/* Merges what each file holds, sorted by key. */
static fold_status make_groups(struct compare *c, struct group **groups, size_t *n) {
  const struct entry *at[2], *end[2];
  *n = 0;
  *groups = calloc(c->entries[0].n + c->entries[1].n + 1, sizeof **groups);
  if (*groups == NULL) return no_memory();
  for (int k = 0; k < 2; k++) {
    if (c->entries[k].n) qsort(c->entries[k].at, c->entries[k].n, sizeof *c->entries[k].at, by_key);
    at[k] = c->entries[k].at;
    end[k] = at[k] + c->entries[k].n;
  }
  while (at[0] < end[0] || at[1] < end[1]) {
    int d = at[0] == end[0] ? 1 : at[1] == end[1] ? -1 : XXH128_cmp(&at[0]->key, &at[1]->key);
    struct group *g = &(*groups)[(*n)++];
    for (int k = 0; k < 2; k++) {
      if (k ? d < 0 : d > 0) continue;
      g->at[k] = at[k];
      g->n[k] = group_length(at[k], end[k]);
      at[k] += g->n[k];
    }
  }
  qsort(*groups, *n, sizeof **groups, by_line);
  return fold_ok();
}

static void compare_groups(struct compare *c, const struct group *groups, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct group *g = &groups[i];
    if (g->n[0] && g->n[1])
      compare_group(c, g);
    else
      find(&c->only[g->n[0] == 0], "ONLY IN %s: %s", c->path[g->n[0] == 0], g->at[g->n[0] == 0]->name);
  }
}

static void print_findings(const struct findings *f) {
  size_t shown = f->n < MOST_LINES ? f->n : MOST_LINES;
  for (size_t i = 0; i < shown; i++) puts(f->lines[i] ? f->lines[i] : "not enough memory for a line");
  if (f->n > shown) printf("%zu of %zu shown\n", shown, f->n);
}

static void print_all(const struct compare *c) {
  for (int k = 0; k < 2; k++)
    if (c->lines[k].incomplete[0]) printf("INCOMPLETE: %s: %s\n", c->path[k], c->lines[k].incomplete);
  print_findings(&c->only[0]);
  print_findings(&c->only[1]);
  print_findings(&c->changed);
  print_findings(&c->differ);
  if (c->changed.n) printf("%zu of another input\n", c->changed.n);
  if (c->broken) printf("%zu without a result in both: the runs broke\n", c->broken);
  printf("%zu agree, %zu differ, %zu only in %s, %zu only in %s\n", c->agree, c->differ.n, c->only[0].n, c->path[0],
         c->only[1].n, c->path[1]);
}

static fold_status compare_files(struct compare *c) {
  struct group *groups = NULL;
  size_t n = 0;
  for (c->reading = 0; c->reading < 2; c->reading++)
    FOLD_TRY(fold_lines_read(c->path[c->reading], take, c, &c->lines[c->reading]));
  FOLD_TRY(make_groups(c, &groups, &n));
  compare_groups(c, groups, n);
  free(groups);
  print_all(c);
  if (c->agree + c->differ.n + c->changed.n > 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%.80s and %.80s have no subject and case in common", c->path[0], c->path[1]);
}

/* What --subset lets pass, and what it never does. Two runs that broke have not agreed. */
static int exit_code_of(const struct compare *c) {
  bool part = c->only[0].n || c->only[1].n || c->lines[0].incomplete[0] || c->lines[1].incomplete[0];
  if (c->differ.n || c->changed.n || (part && !c->subset)) return 1;
  return c->broken ? 99 : 0;
}

static void free_all(struct compare *c) {
  struct findings *findings[] = {&c->differ, &c->changed, &c->only[0], &c->only[1]};
  for (size_t k = 0; k < sizeof findings / sizeof *findings; k++)
    for (size_t i = 0; i < MOST_LINES && i < findings[k]->n; i++) free(findings[k]->lines[i]);
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < c->entries[k].n; i++) free(c->entries[k].at[i].name);
    free(c->entries[k].at);
  }
}

int fold_command_compare(int argc, char **argv, const struct fold_registry *registry) {
  struct compare compare = {0};
  fold_parse(&argp, argc, argv, &compare);
  if (compare.claim)
    return fold_compare_claim(argv[0], compare.claim, compare.path, compare.jsonl, compare.subset, registry);
  fold_status status = compare_files(&compare);
  int exit_code = status.code == FOLD_OK ? exit_code_of(&compare) : fold_report(argv[0], status);
  free_all(&compare);
  return exit_code;
}
