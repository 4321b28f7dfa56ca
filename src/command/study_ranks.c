/* command/study_ranks.c: foldproof study --simulate: all-reduce at many world sizes, simulated. */
#include <stdio.h>

#include "command/study.h"
#include "study/ranks.h"

enum { ELEMENTS = 256, CHUNKS = 16, WORLD_ELEMENTS = 64 };

static json_t *simulated_line(const char *order, const struct fold_ranks_case *c, const char *type) {
  return json_pack("{s:i, s:s, s:b, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "schema", FOLD_SCHEMA, "type", type,
                   "simulated", 1, "subject", order, "generator", c->generator->name, "dtype",
                   fold_dtype_name(c->dtype), "op", "sum", "ranks", (json_int_t)c->ranks, "elements",
                   (json_int_t)c->elements, "seed", (json_int_t)c->seed);
}

static fold_status take_ranks(struct study_command *s, const struct fold_ranks_result *r) {
  json_t *line = simulated_line(fold_ranks_name(r->algorithm), &r->c, "study_ranks");
  if (line) {
    json_object_set_new(line, "height", json_integer((json_int_t)r->height));
    json_object_set_new(line, "chunks", json_integer((json_int_t)r->chunks));
    json_object_set_new(line, "elements_varied", json_integer((json_int_t)r->varied));
    json_object_set_new(line, "not_finite", json_integer((json_int_t)r->not_finite));
    fold_record_number(line, "error_ulps_worst", r->worst_ulps);
    fold_record_number(line, "error_ulps_median", r->median_ulps);
    fold_record_number(line, "error_relative_worst", r->worst_relative);
    fold_record_number(line, "bound_relative", r->bound_relative);
  }
  return fold_measuring_take(&s->measuring, line);
}

static fold_status take_worlds(struct study_command *s, const struct fold_ranks_worlds *w) {
  json_t *line = simulated_line(fold_ranks_name(w->algorithm), &w->c, "study_worlds");
  if (line) {
    json_object_set_new(line, "worlds", json_integer((json_int_t)w->worlds));
    json_object_set_new(line, "elements_changed", json_integer((json_int_t)w->changed));
    json_object_set_new(line, "most_distinct", json_integer((json_int_t)w->most_distinct));
  }
  return fold_measuring_take(&s->measuring, line);
}

static fold_status simulate_sizes(struct study_command *s, struct fold_ranks_case c, const volatile int *stop) {
  fold_status status = fold_ok();
  for (size_t k = 0; k < s->n_sizes && !*stop && status.code == FOLD_OK; k++) {
    struct fold_ranks_result result[FOLD_RANKS_ALGORITHMS];
    c.ranks = s->sizes[k];
    fold_progress_show(&s->measuring.progress, k, s->n_sizes, "world sizes, simulated");
    status = fold_ranks_simulate(&c, result);
    for (int a = 0; a < FOLD_RANKS_ALGORITHMS && status.code == FOLD_OK; a++) status = take_ranks(s, &result[a]);
  }
  const fold_status shown = fold_measuring_show(&s->measuring);
  return status.code == FOLD_OK ? shown : status;
}

/* Simulates worlds up to the largest that is requested. A power of two is the easy case; 5/8 of it plus one gives world
 * sizes far from a power of two. */
static fold_status simulate_worlds(struct study_command *s, struct fold_ranks_case c, const volatile int *stop) {
  const size_t most = s->sizes[s->n_sizes - 1], parts[] = {most, most * 5 / 8 + 1};
  c.elements = WORLD_ELEMENTS;
  for (size_t k = 0; k < 2 && !*stop && (k == 0 || parts[k] < most); k++) {
    struct fold_ranks_worlds worlds[FOLD_RANKS_ALGORITHMS];
    c.ranks = parts[k];
    FOLD_TRY(fold_ranks_worlds(&c, worlds));
    for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) FOLD_TRY(take_worlds(s, &worlds[a]));
    FOLD_TRY(fold_measuring_show(&s->measuring));
  }
  return fold_ok();
}

static void print_prediction(FILE *out) {
  fputs(
      "\nwhat our rules predict for a cluster (a prediction from the simulation and the definitions, not a "
      "measurement)\n"
      "* ring: n ranks cost n - 1 roundings in sequence, and an element's bits depend on the chunk it falls in; which "
      "chunk\n"
      "  that is depends on count, channels and protocol, so that a longer message changes the bits of the same "
      "elements.\n"
      "  With two ranks nothing shows: a + b = b + a. Take at least three.\n"
      "* trees: the bits know no chunk. Recursive doubling keeps them from one world size to another only where both "
      "are\n"
      "  powers of two and ranks hold aligned blocks; the binary tree changes them with every world size.\n"
      "* canonical: height at most ceil(log2 ranks), and the same bits in every chunk and for every world size whose "
      "shards\n"
      "  are subtrees: aligned blocks of 4096 * 2^k elements of the vector (oracles/canonical.h). Such a cluster "
      "gives\n"
      "  the bits that one GPU or the host gives with flat/canonical; the claim does not hold for shards that are cut "
      "elsewhere.\n"
      "* errors: the worst case grows with the height, in the mean more like its square root (Higham and Mary 2019).\n",
      out);
}

static fold_status simulate_all(struct study_command *s, const volatile int *stop) {
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  fold_study_sort(s);
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (size_t g = 0; g < n_generators && !*stop; g++) {
      if (!(s->dtypes >> d & 1) || !fold_glob_match(s->generators, all[g].name)) continue;
      struct fold_ranks_case c = {&all[g], (enum fold_dtype)d, 0, ELEMENTS, CHUNKS, s->seed};
      FOLD_TRY(simulate_sizes(s, c, stop));
      FOLD_TRY(simulate_worlds(s, c, stop));
    }
  print_prediction(stdout);
  return fold_ok();
}

fold_status fold_study_ranks(struct study_command *s) {
  const volatile int *stop = fold_watch_interrupt();
  fold_status status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = simulate_all(s, stop);
  return fold_measuring_close(&s->measuring, "foldproof study", status);
}
