/* rank_trees/ask.c: has the ranks of a world make their inputs and run the collective twice, and compares their results.
 *
 * If a collective keeps results of the call before, they look right in a repeat. So half of the repeats, chosen by a hash of the number
 * of calls, come after a call on other data. These data are always the same, so that the results of that call must not change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/fingerprint.h"
#include "rank_trees/parts.h"
#include "rig/rig.h"

static fold_status check(const struct fold_map_asked *asked, unsigned ranks) {
  const struct fold_subject *s = asked->subject;
  if (!(s->problems >> FOLD_SUM & 1) || !(s->dtypes >> asked->dtype & 1))
    return fold_error(FOLD_UNSUPPORTED, "%s does not take sums of %s", s->name, fold_dtype_name(asked->dtype));
  if (ranks < 2 || ranks > FOLD_MAP_RANKS_MOST)
    return fold_error(FOLD_UNSUPPORTED, "a map is of 2 to %d ranks, and not of %u", FOLD_MAP_RANKS_MOST, ranks);
  for (unsigned r = 0; s->grain && r < ranks; r++)
    if (fold_comm_cut(ranks, s->grain(ranks), (int)ranks, (int)r) != r)
      return fold_error(FOLD_UNSUPPORTED, "%s does not spread %u terms one a rank", s->name, ranks);
  return fold_ok();
}

static size_t result_bytes(const struct fold_map_asker *a) { return a->n * fold_dtype_size(a->result); }

fold_status fold_map_asker_open(struct fold_map_asker *a, const struct fold_map_asked *asked) {
  *a = (struct fold_map_asker){.subject = asked->subject, .dtype = asked->dtype, .n = asked->n};
  FOLD_TRY(fold_world_of(asked->subject->engine, &a->world));
  a->ranks = fold_world_ranks(a->world);
  a->result = fold_subject_result(asked->subject, asked->dtype);
  FOLD_TRY(check(asked, a->ranks));
  FOLD_TRY(fold_world_need(a->world, a->ranks));
  a->fill = calloc(a->ranks, sizeof *a->fill);
  a->got = malloc(result_bytes(a) + 8);
  a->other = malloc(result_bytes(a) + 8);
  a->between = malloc(result_bytes(a) + 8);
  a->mark = calloc(a->n + 1, 1);
  if (!a->fill || !a->got || !a->other || !a->between || !a->mark)
    return fold_no_memory("for a map of %zu elements", a->n);
  const struct fold_wire_load load = {.dtype = a->dtype, .n = a->n, .max_rows = a->n};
  for (unsigned r = 0; r < a->ranks; r++)
    a->fill[r] = (struct fold_wire_fill){.load = load, .accumulator = FOLD_DTYPES, .ranks = a->ranks};
  return fold_ok();
}

void fold_map_asker_close(struct fold_map_asker *a) {
  free(a->fill);
  free(a->got);
  free(a->other);
  free(a->between);
  free(a->mark);
}

static fold_status run(struct fold_map_asker *a, unsigned char poison, struct fold_wire_ran *ran) {
  struct fold_wire_run *heads = calloc(a->ranks, sizeof *heads);
  if (!heads) return fold_no_memory("for %u ranks", a->ranks);
  for (unsigned r = 0; r < a->ranks; r++) {
    heads[r] = (struct fold_wire_run){.problem = FOLD_ROWS_SUM,
                                      .ranks = a->ranks,
                                      .rows = a->n,
                                      .cols = 1,
                                      .first_col = r,
                                      .all_cols = a->ranks,
                                      .poison = poison};
    snprintf(heads[r].subject, sizeof heads[r].subject, "%s", a->subject->name);
  }
  const struct fold_question question = {.kind = WIRE_RUN,
                                         .head = heads,
                                         .head_bytes = sizeof *heads,
                                         .answer_bytes = sizeof *ran,
                                         .what = a->subject->name};
  const fold_status status = fold_world_ask(a->world, 0, a->ranks, &question, ran);
  free(heads);
  a->calls++;
  return status;
}

static fold_status fetch(const struct fold_map_asker *a, unsigned rank, void *results) {
  const struct fold_question question = {
      .kind = WIRE_FETCH, .answer_bytes = result_bytes(a), .what = "giving its results"};
  return fold_world_ask(a->world, rank, 1, &question, results);
}

/* Compares a rank's results with `like`, which they should equal. NaNs with other payloads count as the same NaN. */
static fold_status compare(struct fold_map_asker *a, unsigned rank, const void *like, enum fold_map_mark mark) {
  FOLD_TRY(fetch(a, rank, a->other));
  for (size_t i = 0; i < a->n; i++) {
    if (a->mark[i] != FOLD_MAP_SAME ||
        fold_bits_same(a->result, fold_bits_load(a->result, like, i), fold_bits_load(a->result, a->other, i)))
      continue;
    a->mark[i] = (unsigned char)mark;
    a->marked = true;
    if (mark == FOLD_MAP_OTHER_ON_RANK && a->odd_rank == 0) a->odd_rank = rank, a->odd_at = i;
  }
  return fold_ok();
}

static fold_status compare_ranks(struct fold_map_asker *a, const void *like, const struct fold_wire_ran *ran) {
  for (unsigned r = 1; r < a->ranks; r++)
    if (ran[r].hash != ran[0].hash) FOLD_TRY(compare(a, r, like, FOLD_MAP_OTHER_ON_RANK));
  return fold_ok();
}

/* Looks for what makes answers worthless. A result that holds the poison of each run was not written. */
static fold_status look(struct fold_map_asker *a, const struct fold_wire_ran *first,
                        const struct fold_wire_ran *second) {
  char stray[120];
  for (unsigned r = 0; r < a->ranks && !a->side_effect[0]; r++) {
    const struct fold_traces *one = &first[r].traces, *two = &second[r].traces;
    const struct fold_traces *strays = one->out_of_bounds ? one : two;
    fold_traces_describe_stray(strays, stray);
    if (one->unwritten && two->unwritten)
      snprintf(a->side_effect, sizeof a->side_effect, "rank %u left element %zu unwritten", r, one->unwritten_at);
    else if (one->wrote_input || two->wrote_input)
      snprintf(a->side_effect, sizeof a->side_effect, "rank %u changed its input", r);
    else if (strays->out_of_bounds)
      snprintf(a->side_effect, sizeof a->side_effect, "on rank %u %s", r, stray);
  }
  return a->side_effect[0] ? fold_error(FOLD_BAD_INPUT, "%s", a->side_effect) : fold_ok();
}

static fold_status fill(struct fold_map_asker *a, const struct fold_wire_fill *parts) {
  const struct fold_question question = {
      .kind = WIRE_FILL, .head = parts, .head_bytes = sizeof *parts, .what = "making its part of the message"};
  return fold_world_ask(a->world, 0, a->ranks, &question, NULL);
}

/* All terms are negative, because no probe has a negative sum. */
static fold_status call_between(struct fold_map_asker *a, struct fold_wire_ran *ran) {
  struct fold_wire_fill *parts = malloc(a->ranks * sizeof *parts);
  if (!parts) return fold_no_memory("for %u ranks", a->ranks);
  for (unsigned r = 0; r < a->ranks; r++) {
    parts[r] = a->fill[r];
    parts[r].accumulator = FOLD_DTYPES;
    parts[r].bits = fold_bits_from_double(a->dtype, -0.75);
  }
  const fold_status status = fill(a, parts);
  free(parts);
  FOLD_TRY(status);
  FOLD_TRY(run(a, FOLD_BASE_POISON, ran));
  if (!a->has_between) {
    FOLD_TRY(fetch(a, 0, a->between));
    a->between_hash = ran[0].hash;
    a->has_between = true;
  }
  if (ran[0].hash != a->between_hash) FOLD_TRY(compare(a, 0, a->between, FOLD_MAP_OTHER_IN_REPEAT));
  FOLD_TRY(compare_ranks(a, a->between, ran));
  return fill(a, a->fill);
}

static fold_status run_twice(struct fold_map_asker *a, struct fold_wire_ran *first, struct fold_wire_ran *second) {
  FOLD_TRY(run(a, FOLD_BASE_POISON, first));
  FOLD_TRY(fetch(a, 0, a->got));
  FOLD_TRY(compare_ranks(a, a->got, first));
  if (fold_fingerprint_mix(a->calls) & 1) FOLD_TRY(call_between(a, second));
  FOLD_TRY(run(a, (unsigned char)~FOLD_BASE_POISON, second));
  FOLD_TRY(look(a, first, second));
  if (second[0].hash != first[0].hash) FOLD_TRY(compare(a, 0, a->got, FOLD_MAP_OTHER_IN_REPEAT));
  return compare_ranks(a, a->got, second);
}

fold_status fold_map_call(struct fold_map_asker *a) {
  FOLD_TRY(fill(a, a->fill));
  if (a->marked) memset(a->mark, FOLD_MAP_SAME, a->n);
  a->marked = false;
  struct fold_wire_ran *ran = calloc(2 * a->ranks, sizeof *ran);
  if (!ran) return fold_no_memory("for %u ranks", a->ranks);
  const fold_status status = run_twice(a, ran, ran + a->ranks);
  free(ran);
  return status;
}

fold_status fold_map_call_equal(struct fold_map_asker *a, const uint64_t *rank) {
  for (unsigned r = 0; r < a->ranks; r++) {
    a->fill[r].accumulator = FOLD_DTYPES;
    a->fill[r].bits = rank[r];
  }
  return fold_map_call(a);
}
