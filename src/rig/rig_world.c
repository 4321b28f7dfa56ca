/* rig_world.c: a run over ranks: spread the columns, ask every rank to run, gather traces and results.
 *
 * Promised: the shape rows x cols is cut by columns at multiples of the subject's grain (fold_comm_cut), each rank's
 * part contiguous; rank 0's results are the run's; a rank whose results differ from them in a bit is named in the
 * traces. The parts are sent again only when they changed, or when another rig sent its own; ranks move their parts
 * themselves. What a rank did to its part is checked before the part is replaced or moved.
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

static size_t bytes_of(const struct fold_rig *rig, const struct fold_rig_spread *s, unsigned rank) {
  return s->rows * part_of(s, rank).cols * fold_dtype_size(rig->dtype);
}

static void copy_part(const struct fold_rig *rig, const struct fold_rig_spread *s, unsigned rank, unsigned char *to) {
  const struct part part = part_of(s, rank);
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
         a->ranks == b->ranks;
}

/* Parts that are sent at once, each to its rank. */
struct parcel {
  unsigned first, n; /* ranks */
  unsigned char *copy;
  struct wire_load *head;
  const void **body;
  size_t *n_bytes;
};

/* How many bytes are copied at once, unless a single part is longer: a long input has no second copy. */
enum { COPIED = 1 << 20 };

/* Takes as many parts as may be copied at once. */
static void choose_ranks(const struct fold_rig *rig, const struct fold_rig_spread *s, struct parcel *p) {
  size_t sum = bytes_of(rig, s, p->first);
  for (p->n = 1; p->first + p->n < s->ranks; p->n++) {
    sum += bytes_of(rig, s, p->first + p->n);
    if (sum > COPIED) return;
  }
}

static void lay_parts(const struct fold_rig *rig, const struct fold_rig_spread *s, bool looks, struct parcel *p,
                      uint64_t *sent) {
  unsigned char *to = p->copy;
  for (unsigned i = 0; i < p->n; i++) {
    const unsigned rank = p->first + i;
    p->n_bytes[i] = bytes_of(rig, s, rank);
    p->head[i] = (struct wire_load){.dtype = rig->dtype,
                                    .shift = (int32_t)rig->in[0].shift,
                                    .n = s->rows * part_of(s, rank).cols,
                                    .max_rows = s->rows,
                                    .looks = looks};
    p->body[i] = to;
    copy_part(rig, s, rank, to);
    sent[rank] = XXH3_64bits(to, p->n_bytes[i]);
    to += p->n_bytes[i];
  }
}

/* before: the hashes that the ranks had. */
static fold_status send_parts(const struct fold_rig *rig, struct parcel *p, uint64_t *before) {
  const struct fold_question question = {.kind = WIRE_LOAD,
                                         .head = p->head,
                                         .head_bytes = sizeof *p->head,
                                         .body = p->body,
                                         .body_bytes = p->n_bytes,
                                         .answer_bytes = sizeof *before,
                                         .each_alone = true,
                                         .what = "taking its part of the input"};
  return fold_world_ask(rig->world, p->first, p->n, &question, before);
}

static fold_status open_parcel(const struct fold_rig *rig, const struct fold_rig_spread *s, struct parcel *p) {
  size_t sum = 0, longest = COPIED;
  for (unsigned r = 0; r < s->ranks; r++) {
    const size_t n_bytes = bytes_of(rig, s, r);
    sum += n_bytes;
    if (n_bytes > longest) longest = n_bytes;
  }
  p->copy = malloc((sum < longest ? sum : longest) + 1);
  p->head = calloc(s->ranks, sizeof *p->head);
  p->body = calloc(s->ranks, sizeof *p->body);
  p->n_bytes = calloc(s->ranks, sizeof *p->n_bytes);
  if (p->copy && p->head && p->body && p->n_bytes) return fold_ok();
  return fold_error(FOLD_NO_MEMORY, "not enough memory to spread the input");
}

static void close_parcel(struct parcel *p) {
  free(p->copy);
  free(p->head);
  free(p->body);
  free(p->n_bytes);
}

/* Sends all parts. If it looks, `before` has the hashes of the parts that the ranks held before, as far as they
 * answered. */
static fold_status send_all(const struct fold_rig *rig, const struct fold_rig_spread *s, bool looks, uint64_t *sent,
                            uint64_t *before) {
  struct parcel p = {.first = 0};
  fold_status status = open_parcel(rig, s, &p);
  for (; p.first < s->ranks && status.code == FOLD_OK; p.first += p.n) {
    choose_ranks(rig, s, &p);
    lay_parts(rig, s, looks, &p, sent);
    status = send_parts(rig, &p, before + p.first);
  }
  close_parcel(&p);
  return status;
}

/* Replaces what the ranks hold. *kept: that was still as it was sent. A rank tells it when it takes its next part; where
 * some ranks get none, all are asked before. */
static fold_status replace(struct fold_rig *rig, const struct fold_rig_spread *s, uint64_t *sent, uint64_t *before,
                           bool *kept) {
  const unsigned had = is_held(rig) ? rig->spread.ranks : 0;
  const bool looks = had > 0 && had <= s->ranks;
  if (had > s->ranks) FOLD_TRY(fold_rig_world_kept(rig, kept));
  if (looks) memcpy(before, rig->spread.sent, had * sizeof *before);
  const fold_status status = send_all(rig, s, looks, sent, before);
  if (looks) *kept = memcmp(before, rig->spread.sent, had * sizeof *before) == 0;
  return status;
}

static fold_status spread(struct fold_rig *rig, const struct fold_rig_spread *s, bool *kept) {
  *kept = true;
  if (is_held(rig) && rig->spread.current && same_spread(&rig->spread, s)) return fold_ok();
  uint64_t *sent = calloc(s->ranks, sizeof *sent), *before = calloc(s->ranks, sizeof *before);
  fold_status status = sent && before ? replace(rig, s, sent, before, kept)
                                      : fold_error(FOLD_NO_MEMORY, "not enough memory to spread the input");
  free(before);
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
                                 .scratch_shift = request->scratch_shift,
                                 .shift = (int32_t)rig->in[0].shift};
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

/* Short results came with the answer of the run. */
static fold_status results_of(const struct fold_rig *rig, unsigned rank, const struct wire_ran *ran, size_t n_bytes,
                              void *results) {
  if (n_bytes > sizeof ran->results) return fetch(rig, rank, n_bytes, results);
  memcpy(results, ran[rank].results, n_bytes);
  return fold_ok();
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
    fold_status status = results_of(rig, r, ran, n_bytes, other);
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

static bool moved_as_sent(const struct fold_rig *rig, const struct fold_rig_spread *s, const struct wire_ran *ran) {
  for (unsigned r = 0; r < s->ranks; r++)
    if (ran[r].moved && ran[r].before != rig->spread.sent[r]) return false;
  return true;
}

/* Runs again on right parts if a rank had changed its part before it moved it. */
static fold_status run_kept(struct fold_rig *rig, const struct fold_rig_spread *s, const struct fold_subject *subject,
                            const struct fold_request *request, struct wire_ran *ran, bool *kept) {
  bool again;
  FOLD_TRY(run_ranks(rig, s, subject, request, ran));
  if (moved_as_sent(rig, s, ran)) return fold_ok();
  *kept = rig->spread.valid = false;
  FOLD_TRY(spread(rig, s, &again));
  return run_ranks(rig, s, subject, request, ran);
}

static fold_status run_and_gather(struct fold_rig *rig, const struct fold_rig_spread *s,
                                  const struct fold_subject *subject, const struct fold_request *request,
                                  struct wire_ran *ran, void *got, struct fold_traces *traces, bool *kept) {
  const enum fold_dtype dtype = fold_subject_result(subject, rig->dtype);
  FOLD_TRY(run_kept(rig, s, subject, request, ran, kept));
  merge_traces(ran, s->ranks, traces);
  FOLD_TRY(results_of(rig, 0, ran, s->rows * fold_dtype_size(dtype), got));
  return compare_ranks(rig, s, dtype, ran, got, traces);
}

fold_status fold_rig_world_run(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, void *got, struct fold_traces *traces) {
  struct fold_rig_spread s = {.first = request->first,
                              .rows = request->rows,
                              .cols = request->cols,
                              .grain = subject->grain ? subject->grain(request->cols) : 1,
                              .ranks = request->ranks ? request->ranks : rig->ranks};
  if (subject->vector && s.cols != s.ranks)
    return fold_error(FOLD_UNSUPPORTED, "an all-reduce of vectors takes one column a rank: %zu for %u ranks", s.cols,
                      s.ranks);
  FOLD_TRY(fold_world_need(rig->world, s.ranks));
  struct wire_ran *ran = calloc(s.ranks, sizeof *ran);
  if (!ran) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", s.ranks);
  bool kept = true;
  fold_status status = spread(rig, &s, &kept);
  if (status.code == FOLD_OK) status = run_and_gather(rig, &s, subject, request, ran, got, traces, &kept);
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
