/* rig/world.c: a run over ranks: spread the columns, ask every rank to run, gather traces and results.
 *
 * Promised: each rank runs on its part of the input as it is now (rig/spread.h); rank 0's results are the run's; a rank
 * whose results differ from them in a bit is named in the traces. What a rank did to its part is checked before the part
 * is replaced or moved.
 */
#include "rig/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "rig/spread.h"

static fold_status run_ranks(const struct fold_rig *rig, const struct fold_rig_spread *s,
                             const struct fold_subject *subject, const struct fold_request *request,
                             struct fold_wire_ran *ran) {
  struct fold_wire_run *heads = calloc(s->ranks, sizeof *heads);
  if (!heads) return fold_no_memory("for %u ranks", s->ranks);
  for (unsigned r = 0; r < s->ranks; r++) {
    const struct fold_rank_part part = fold_rig_part_of(s, r);
    heads[r] = (struct fold_wire_run){.problem = rig->problem->id,
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
static fold_status results_of(const struct fold_rig *rig, unsigned rank, const struct fold_wire_ran *ran,
                              size_t n_bytes, void *results) {
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
                                 const struct fold_wire_ran *ran, const void *got, struct fold_traces *traces) {
  size_t n_bytes = s->rows * fold_dtype_size(dtype);
  for (unsigned r = 1; r < s->ranks && !traces->ranks_differ; r++) {
    if (ran[r].hash == ran[0].hash) continue;
    void *other = malloc(n_bytes + 1);
    if (!other) return fold_no_memory("for %zu results", s->rows);
    fold_status status = results_of(rig, r, ran, n_bytes, other);
    if (status.code == FOLD_OK) find_difference(dtype, got, other, s->rows, traces);
    if (traces->ranks_differ) traces->rank = r;
    free(other);
    FOLD_TRY(status);
  }
  return fold_ok();
}

/* For each trace, the first rank that has it is reported. */
static void merge_traces(const struct fold_wire_ran *ran, unsigned ranks, struct fold_traces *traces) {
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

static bool moved_as_sent(const struct fold_rig *rig, const struct fold_rig_spread *s,
                          const struct fold_wire_ran *ran) {
  for (unsigned r = 0; r < s->ranks; r++)
    if (ran[r].moved && ran[r].before != rig->spread.sent[r]) return false;
  return true;
}

/* Runs again on right parts if a rank had changed its part before it moved it. */
static fold_status run_kept(struct fold_rig *rig, const struct fold_rig_spread *s, const struct fold_subject *subject,
                            const struct fold_request *request, struct fold_wire_ran *ran, bool *kept) {
  bool again;
  FOLD_TRY(run_ranks(rig, s, subject, request, ran));
  if (moved_as_sent(rig, s, ran)) return fold_ok();
  *kept = rig->spread.valid = false;
  FOLD_TRY(fold_rig_spread_parts(rig, s, &again));
  return run_ranks(rig, s, subject, request, ran);
}

static fold_status run_and_gather(struct fold_rig *rig, const struct fold_rig_spread *s,
                                  const struct fold_subject *subject, const struct fold_request *request,
                                  struct fold_wire_ran *ran, void *got, struct fold_traces *traces, bool *kept) {
  const enum fold_dtype dtype = fold_subject_result(subject, rig->dtype);
  FOLD_TRY(run_kept(rig, s, subject, request, ran, kept));
  merge_traces(ran, s->ranks, traces);
  FOLD_TRY(results_of(rig, 0, ran, s->rows * fold_dtype_size(dtype), got));
  return compare_ranks(rig, s, dtype, ran, got, traces);
}

fold_status fold_rig_world_run(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, void *got, struct fold_traces *traces) {
  struct fold_rig_spread s = {.first = request->first[0],
                              .rows = request->rows,
                              .cols = request->cols,
                              .grain = subject->grain ? subject->grain(request->cols) : 1,
                              .ranks = request->ranks ? request->ranks : rig->ranks};
  if (subject->vector && s.cols != s.ranks)
    return fold_error(FOLD_UNSUPPORTED, "an all-reduce of vectors takes one column a rank: %zu for %u ranks", s.cols,
                      s.ranks);
  FOLD_TRY(fold_world_need(rig->world, s.ranks));
  struct fold_wire_ran *ran = calloc(s.ranks, sizeof *ran);
  if (!ran) return fold_no_memory("for %u ranks", s.ranks);
  bool kept = true;
  fold_status status = fold_rig_spread_parts(rig, &s, &kept);
  if (status.code == FOLD_OK) status = run_and_gather(rig, &s, subject, request, ran, got, traces, &kept);
  traces->found_changed = !kept;
  free(ran);
  return status;
}
