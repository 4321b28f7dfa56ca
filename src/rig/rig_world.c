/* rig_world.c: a run over ranks: spread the columns, ask every rank to run, gather traces and results.
 *
 * Promised: the shape rows x cols is cut by columns at multiples of the subject's grain (fold_comm_cut), each rank's
 * part contiguous; rank 0's results are the run's; a rank whose results differ from them in a bit is named in the
 * traces. The parts are sent again only when they changed, or when another rig sent its own; what a rank did to its
 * part is checked before the part is replaced.
 */
#include "rig_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "hash.h"

/* One rank's part of what is spread: columns [at, at + cols) of each row. */
struct part {
  size_t at, cols;
};

static struct part part_of(const struct fold_rig_spread *s, unsigned rank) {
  size_t at = fold_comm_cut(s->cols, s->grain, (int)s->ranks, (int)rank);
  return (struct part){at, fold_comm_cut(s->cols, s->grain, (int)s->ranks, (int)rank + 1) - at};
}

static size_t longest_part(const struct fold_rig_spread *s) {
  size_t longest = 0;
  for (unsigned r = 0; r < s->ranks; r++)
    if (part_of(s, r).cols > longest) longest = part_of(s, r).cols;
  return longest;
}

static void copy_part(const struct fold_rig *rig, const struct fold_rig_spread *s, struct part part,
                      unsigned char *to) {
  size_t size = fold_dtype_size(rig->dtype);
  const unsigned char *from = (const unsigned char *)fold_rig_input(rig) + (s->first + part.at) * size;
  for (size_t r = 0; r < s->rows; r++) memcpy(to + r * part.cols * size, from + r * s->cols * size, part.cols * size);
}

/* Whether the ranks hold what this rig sent them last. */
static bool is_held(const struct fold_rig *rig) {
  return rig->spread.valid && rig->spread.loads == fold_world_loads(rig->world);
}

static bool same_spread(const struct fold_rig_spread *a, const struct fold_rig_spread *b) {
  return a->first == b->first && a->rows == b->rows && a->cols == b->cols && a->grain == b->grain &&
         a->ranks == b->ranks && a->shift == b->shift;
}

/* Sends one rank at a time its part, so that only one part is copied here. *kept: the replaced parts were still as they
 * were sent. */
static fold_status spread(struct fold_rig *rig, const struct fold_rig_spread *s, bool *kept) {
  *kept = true;
  if (is_held(rig) && rig->spread.current && same_spread(&rig->spread, s)) return fold_ok();
  FOLD_TRY(fold_rig_world_kept(rig, kept));
  size_t size = fold_dtype_size(rig->dtype);
  unsigned char *copy = malloc(longest_part(s) * s->rows * size + 1);
  uint64_t *sent = calloc(s->ranks, sizeof *sent);
  fold_status status = copy && sent ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory to spread the input");
  for (unsigned r = 0; r < s->ranks && status.code == FOLD_OK; r++) {
    struct part part = part_of(s, r);
    size_t n = s->rows * part.cols, n_bytes = n * size;
    struct wire_load head = {.dtype = rig->dtype, .shift = (int32_t)s->shift, .n = n, .max_rows = s->rows};
    const void *body = copy;
    struct fold_question question = {.kind = WIRE_LOAD,
                                     .head = &head,
                                     .head_bytes = sizeof head,
                                     .body = &body,
                                     .body_bytes = &n_bytes,
                                     .what = "taking its part of the input"};
    copy_part(rig, s, part, copy);
    sent[r] = XXH3_64bits(copy, n_bytes);
    status = fold_world_ask(rig->world, r, 1, &question, NULL);
  }
  free(copy);
  free(rig->spread.sent);
  rig->spread = *s;
  rig->spread.sent = sent;
  rig->spread.valid = rig->spread.current = status.code == FOLD_OK;
  rig->spread.loads = fold_world_loads(rig->world);
  return status;
}

static fold_status run_ranks(const struct fold_rig *rig, const struct fold_rig_spread *s,
                             const struct fold_subject *subject, const struct fold_request *request,
                             struct wire_ran *ran) {
  struct wire_run *heads = calloc(s->ranks, sizeof *heads);
  if (!heads) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", s->ranks);
  for (unsigned r = 0; r < s->ranks; r++) {
    struct part part = part_of(s, r);
    heads[r] = (struct wire_run){.op = request->op,
                                 .ranks = s->ranks,
                                 .rows = s->rows,
                                 .cols = part.cols,
                                 .first_col = part.at,
                                 .all_cols = s->cols,
                                 .launch = request->launch,
                                 .poison = request->poison,
                                 .placement = request->placement,
                                 .out_shift = request->out_shift,
                                 .scratch_shift = request->scratch_shift};
    snprintf(heads[r].subject, sizeof heads[r].subject, "%s", subject->name);
  }
  struct fold_question question = {
      .kind = WIRE_RUN, .head = heads, .head_bytes = sizeof *heads, .answer_bytes = sizeof *ran, .what = subject->name};
  fold_status status = fold_world_ask(rig->world, 0, s->ranks, &question, ran);
  free(heads);
  return status;
}

static fold_status fetch(const struct fold_rig *rig, unsigned rank, size_t n_bytes, void *results) {
  struct fold_question question = {.kind = WIRE_FETCH, .answer_bytes = n_bytes, .what = "giving its results"};
  return fold_world_ask(rig->world, rank, 1, &question, results);
}

/* NaNs with different payloads count as the same. */
static void find_difference(enum fold_dtype dtype, const void *a, const void *b, size_t rows,
                            struct fold_traces *traces) {
  for (size_t i = 0; i < rows && !traces->ranks_differ; i++) {
    traces->bits = fold_bits_load(dtype, a, i);
    traces->other_bits = fold_bits_load(dtype, b, i);
    traces->ranks_differ = !fold_bits_same(dtype, traces->bits, traces->other_bits);
    traces->differ_at = i;
  }
}

static fold_status compare_ranks(const struct fold_rig *rig, const struct fold_rig_spread *s, enum fold_dtype dtype,
                                 const struct wire_ran *ran, const void *got, struct fold_traces *traces) {
  size_t n_bytes = s->rows * fold_dtype_size(dtype);
  for (unsigned r = 1; r < s->ranks && !traces->ranks_differ; r++) {
    if (ran[r].hash == ran[0].hash) continue;
    void *other = malloc(n_bytes + 1);
    if (!other) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu results", s->rows);
    fold_status status = fetch(rig, r, n_bytes, other);
    if (status.code == FOLD_OK) find_difference(dtype, got, other, s->rows, traces);
    if (traces->ranks_differ) traces->rank = r;
    free(other);
    FOLD_TRY(status);
  }
  return fold_ok();
}

/* For each trace, the first rank that has it is reported. */
static void merge_traces(const struct wire_ran *ran, unsigned ranks, struct fold_traces *traces) {
  *traces = ran[0].traces;
  traces->ranks = ranks;
  for (unsigned r = 1; r < ranks; r++) {
    const struct fold_traces *t = &ran[r].traces;
    if (t->unwritten && !traces->unwritten) {
      traces->unwritten = true;
      traces->unwritten_at = t->unwritten_at;
      traces->rank = r;
    }
    if (t->out_of_bounds && !traces->out_of_bounds) {
      traces->out_of_bounds = true;
      traces->bounds_of = t->bounds_of;
      traces->bounds_by = t->bounds_by;
      traces->bounds_at = t->bounds_at;
      traces->rank = r;
    }
    if (t->wrote_input && !traces->wrote_input) {
      traces->wrote_input = true;
      traces->input_at = t->input_at;
      traces->rank = r;
    }
    if (t->left[0] && !traces->left[0]) {
      memcpy(traces->left, t->left, sizeof traces->left);
      traces->rank = r;
    }
  }
}

static fold_status run_and_gather(struct fold_rig *rig, const struct fold_rig_spread *s,
                                  const struct fold_subject *subject, const struct fold_request *request,
                                  struct wire_ran *ran, void *got, struct fold_traces *traces) {
  const enum fold_dtype dtype = fold_subject_result(subject, rig->dtype);
  FOLD_TRY(run_ranks(rig, s, subject, request, ran));
  merge_traces(ran, s->ranks, traces);
  FOLD_TRY(fetch(rig, 0, s->rows * fold_dtype_size(dtype), got));
  return compare_ranks(rig, s, dtype, ran, got, traces);
}

fold_status fold_rig_world_run(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, void *got, struct fold_traces *traces) {
  struct fold_rig_spread s = {.first = request->first,
                              .rows = request->rows,
                              .cols = request->cols,
                              .grain = subject->grain ? subject->grain(request->cols) : 1,
                              .ranks = request->ranks ? request->ranks : rig->ranks,
                              .shift = rig->in[0].shift};
  if (subject->vector && s.cols != s.ranks)
    return fold_error(FOLD_UNSUPPORTED, "an all-reduce of vectors takes one column a rank: %zu for %u ranks", s.cols,
                      s.ranks);
  FOLD_TRY(fold_world_need(rig->world, s.ranks));
  struct wire_ran *ran = calloc(s.ranks, sizeof *ran);
  if (!ran) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", s.ranks);
  bool kept = true;
  fold_status status = spread(rig, &s, &kept);
  if (status.code == FOLD_OK) status = run_and_gather(rig, &s, subject, request, ran, got, traces);
  traces->found_changed = !kept;
  free(ran);
  return status;
}

fold_status fold_rig_world_kept(struct fold_rig *rig, bool *kept) {
  const struct fold_rig_spread *s = &rig->spread;
  *kept = true;
  if (!is_held(rig)) return fold_ok();
  uint64_t *hash = calloc(s->ranks, sizeof *hash);
  fold_status status = hash ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory to check the input");
  struct fold_question question = {.kind = WIRE_HASH, .answer_bytes = sizeof *hash, .what = "hashing its input"};
  if (status.code == FOLD_OK) status = fold_world_ask(rig->world, 0, s->ranks, &question, hash);
  if (status.code == FOLD_OK) *kept = memcmp(hash, s->sent, s->ranks * sizeof *hash) == 0;
  if (status.code != FOLD_OK || !*kept) rig->spread.valid = false; /* so the next run sends the right parts again */
  free(hash);
  return status;
}
