/* command_compare.c: foldproof compare: where two records of the same inputs have other results.
 *
 * Two records are of the same thing when subject, engine, case and the input's hash agree; their results differ when
 * the results' hashes do, which take NaN by its class, and when one run did what the other did not: ranks that differ
 * from rank 0, whose results the hash is of, a result that was not written, memory that is not the run's. Any verdicts
 * in the records are left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "command.h"
#include "command_compare_claim.h"
#include "report_lines.h"

struct entry {
  XXH128_hash_t key;
  char hash[20], result[20]; /* of all results; the first result's bits */
  char traces[120];          /* what else the run did, for people; "" for nothing */
  size_t line;
  bool seen, differs; /* in the second file too; with other results there */
};

struct compare {
  const char *path[2], *claim, *jsonl;
  struct entry *entries; /* of the first file, sorted by key once it is read */
  size_t n, room, agree, differ;
  struct entry *others; /* what only the second file has: each key once, when counted */
  size_t n_others, room_others;
  bool second;
};

enum { CLAIM = 0x200, JSONL };

static const struct argp_option options[] = {
    {"claim", CLAIM, "CLAIM", 0,
     "judge gpu_to_gpu (records of two models of GPU) or run_to_run (of two jobs on one) of whoever promises it", 1},
    {"jsonl", JSONL, "FILE", 0, "with --claim: write a record of each verdict", 1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct compare *c = state->input;
  switch (key) {
    case CLAIM:
      c->claim = arg;
      if (!fold_compare_knows_claim(arg))
        argp_failure(state, 2, 0, "--claim %s: not one of gpu_to_gpu, run_to_run", arg);
      return 0;
    case JSONL: c->jsonl = arg; return 0;
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
        "Compare the results that two files of records hold for the same subjects, cases and inputs: of two machines, "
        "two "
        "versions, two days.\v"
        "Prints the first record whose input agrees and whose results differ, or what else the runs did (another "
        "rank's "
        "results, a result that was not written, memory that is not the run's), then the counts. Exit codes: 0 all "
        "that "
        "both have agrees, 1 something differs, 2 bad input, or nothing that both have. With --claim, verdicts: 0 all "
        "held, 1 one is refuted, 77 there was nothing to judge."};

static const char *text_of(const json_t *record, const char *key) {
  const char *text = json_string_value(json_object_get(record, key));
  return text ? text : "";
}

/* Each part ends in its zero byte, so that no two sets of parts run together alike. */
static XXH128_hash_t key_of(const json_t *record) {
  static const char *const parts[] = {"subject", "engine", "case", "input_xxh3"};
  XXH128_hash_t key = {0, 0};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *text = text_of(record, parts[i]);
    key = XXH3_128bits_withSeed(text, strlen(text) + 1, key.low64 ^ key.high64);
  }
  return key;
}

static int by_key(const void *a, const void *b) {
  const struct entry *l = a, *r = b;
  int d = XXH128_cmp(&l->key, &r->key);
  return d ? d : (l->line > r->line) - (l->line < r->line);
}

static fold_status append(struct entry **entries, size_t *n, size_t *room, const struct entry *entry) {
  if (*n == *room) {
    size_t more = *room ? 2 * *room : 1024;
    struct entry *grown = reallocarray(*entries, more, sizeof *grown);
    if (grown == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu records", more);
    *entries = grown;
    *room = more;
  }
  (*entries)[(*n)++] = *entry;
  return fold_ok();
}

static bool same(const struct entry *a, const struct entry *b) {
  return strcmp(a->hash, b->hash) == 0 && strcmp(a->traces, b->traces) == 0;
}

/* A case is judged on many claims, with the same results in each: neighbours of one key are one entry. */
static fold_status append_new(struct entry **entries, size_t *n, size_t *room, const struct entry *entry) {
  const struct entry *last = *n ? &(*entries)[*n - 1] : NULL;
  if (last && XXH128_isEqual(last->key, entry->key) && same(last, entry)) return fold_ok();
  return append(entries, n, room, entry);
}

static struct entry *find(const struct compare *c, XXH128_hash_t key) {
  size_t low = 0, high = c->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (XXH128_cmp(&c->entries[middle].key, &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->n && XXH128_isEqual(c->entries[low].key, key) ? &c->entries[low] : NULL;
}

static void print_difference(const struct compare *c, const struct entry *a, const struct entry *b,
                             const json_t *record) {
  printf("DIFFERS: %s on %s: %s: %s:%zu has %s%s, %s:%zu has %s%s", text_of(record, "subject"),
         text_of(record, "engine"), text_of(record, "case"), c->path[0], a->line, a->result, a->traces, c->path[1],
         b->line, b->result, b->traces);
  if (strcmp(a->hash, b->hash) != 0 && strcmp(a->result, b->result) == 0)
    printf(" (in the first row, which agrees: another row differs)");
  putchar('\n');
}

static fold_status compare_entry(struct compare *c, const struct entry *b, const json_t *record) {
  struct entry *a = find(c, b->key);
  if (a == NULL) return append_new(&c->others, &c->n_others, &c->room_others, b);
  bool differs = !same(a, b);
  if (differs && c->differ == 0) print_difference(c, a, b, record);
  /* Every claim's record of a case has the results: each key counts once, as different when any record shows it. */
  if (!a->seen) c->agree++;
  if (differs && !a->differs) c->agree--, c->differ++;
  a->seen = true;
  a->differs = a->differs || differs;
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
  const char *hash = text_of(record, "results_xxh3");
  struct entry entry = {.line = line};
  if (!hash[0]) return fold_ok();
  if (!text_of(record, "subject")[0] || !text_of(record, "case")[0] || !text_of(record, "input_xxh3")[0])
    return fold_error(FOLD_BAD_INPUT, "results need the keys subject, case and input_xxh3");
  entry.key = key_of(record);
  const char *first = json_string_value(json_array_get(json_object_get(record, "results"), 0));
  snprintf(entry.hash, sizeof entry.hash, "%s", hash);
  snprintf(entry.result, sizeof entry.result, "%s", first ? first : "no row");
  read_traces(record, entry.traces, sizeof entry.traces);
  return c->second ? compare_entry(c, &entry, record) : append_new(&c->entries, &c->n, &c->room, &entry);
}

static size_t count_different_keys(struct entry *entries, size_t n) {
  size_t count = 0;
  if (n) qsort(entries, n, sizeof *entries, by_key);
  for (size_t i = 0; i < n; i++) count += i == 0 || !XXH128_isEqual(entries[i].key, entries[i - 1].key);
  return count;
}

static fold_status compare_files(struct compare *c) {
  size_t lines;
  FOLD_TRY(fold_lines_read(c->path[0], take, c, &lines));
  size_t n = count_different_keys(c->entries, c->n);
  c->second = true;
  FOLD_TRY(fold_lines_read(c->path[1], take, c, &lines));
  size_t both = c->agree + c->differ;
  printf("%zu agree, %zu differ, %zu only in %s, %zu only in %s\n", c->agree, c->differ, n - both, c->path[0],
         count_different_keys(c->others, c->n_others), c->path[1]);
  if (both > 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%s and %s have no subject, case and input in common", c->path[0], c->path[1]);
}

int fold_command_compare(int argc, char **argv, const struct fold_registry *registry) {
  struct compare compare = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &compare);
  if (compare.claim) return fold_compare_claim(argv[0], compare.claim, compare.path, compare.jsonl, registry);
  fold_status status = compare_files(&compare);
  free(compare.entries);
  free(compare.others);
  if (status.code != FOLD_OK) return fold_report(argv[0], status);
  return compare.differ ? 1 : 0;
}
