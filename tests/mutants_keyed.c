/* mutants_keyed.c: mutants of keyed sums: slots that miss terms, have a neighbour's, or are not written, and orders by the shape; and
 * of sums of magnitudes. */
#include <math.h>

#include "mutants_row.h"

/* Where term t goes, and whether from the last term to the first. */
struct way {
  size_t (*slot)(const struct fold_call *call, size_t t);
  size_t (*column)(size_t n, size_t j);
  size_t lost; /* how many of the last terms are */
  bool back, keeps_out;
};

static const uint32_t *keys_of(const struct fold_call *call) { return call->in[1]; }
static size_t own_slot(const struct fold_call *call, size_t t) { return keys_of(call)[t]; }
static size_t own_column(size_t n, size_t j) { return (void)n, j; }

static fold_status add(const struct fold_call *call, struct way way) {
  const struct fold_shape *s = &call->shape;
  const fold_element_f32 *x = call->in[0];
  fold_element_f32 *out = call->out;
  for (size_t i = 0; i < s->m * s->n && !way.keeps_out; i++) out[i] = 0;
  for (size_t i = 0; i + way.lost < s->k; i++) {
    const size_t t = way.back ? s->k - 1 - i : i;
    for (size_t j = 0; j < s->n; j++) out[way.slot(call, t) * s->n + j] += x[t * s->n + way.column(s->n, j)];
  }
  return fold_ok();
}
#define OWN .slot = own_slot, .column = own_column
#define KEYED(name, ...)                                                                            \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                  \
    return add(call, (struct way){__VA_ARGS__});                                                    \
  }

static size_t byte_slot(const struct fold_call *call, size_t t) { return (uint8_t)keys_of(call)[t]; }
static size_t neighbour_slot(const struct fold_call *call, size_t t) {
  const size_t slot = keys_of(call)[t];
  return slot == 4 && slot + 1 < call->shape.m ? slot + 1 : slot;
}
static size_t first_column(size_t n, size_t j) { return n > 4 && j == n - 1 ? 0 : j; }

KEYED(last_lost, OWN, .lost = call->shape.k > 0)
KEYED(tail_lost, OWN, .lost = call->shape.k > 64 ? call->shape.k % 64 : 0)
KEYED(byte_index, .slot = byte_slot, .column = own_column)
KEYED(neighbour, .slot = neighbour_slot, .column = own_column)
KEYED(column, .slot = own_slot, .column = first_column)
KEYED(back, OWN, .back = true)
KEYED(back_by_slots, OWN, .back = call->shape.m > 8)
KEYED(back_by_columns, OWN, .back = call->shape.n > 2)
KEYED(back_by_length, OWN, .back = call->shape.k > 100)
KEYED(adds_to_out, OWN, .keeps_out = true)

static fold_status run_empty_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_shape *s = &call->shape;
  fold_element_f32 *out = call->out;
  (void)subject;
  for (size_t t = 0; t < s->k; t++)
    for (size_t j = 0; j < s->n; j++) out[keys_of(call)[t] * s->n + j] = 0;
  return add(call, (struct way){OWN, .keeps_out = true});
}

/* Sums begin with -0, which no term shows: only slots without terms do. */
static fold_status run_empty_negative(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_shape *s = &call->shape;
  (void)subject;
  for (size_t i = 0; i < s->m * s->n; i++) ((fold_element_f32 *)call->out)[i] = -0.f;
  return add(call, (struct way){OWN, .keeps_out = true});
}

/* Takes keys for sorted: a slot has the terms of its last run. */
static fold_status run_last_run(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_shape *s = &call->shape;
  const fold_element_f32 *x = call->in[0];
  fold_element_f32 *out = call->out;
  (void)subject;
  for (size_t i = 0; i < s->m * s->n; i++) out[i] = 0;
  for (size_t t = 0; t < s->k; t++)
    for (size_t j = 0; j < s->n; j++) {
      fold_element_f32 *to = &out[keys_of(call)[t] * s->n + j];
      const bool goes_on = t > 0 && keys_of(call)[t - 1] == keys_of(call)[t];
      *to = goes_on ? *to + x[t * s->n + j] : x[t * s->n + j];
    }
  return fold_ok();
}

static float of_magnitude(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return fabsf(sum);
}
static fold_status run_magnitude(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows_f32(call, of_magnitude);
}

#define OF_KEYED(id, broken, maybe, cases, text)                                            \
  {                                                                                         \
    .subject = {BASE("keyed_" #id, text, F32, KEYED, run_##id), .order = "host/sequential", \
                .claims = ORDERED | C(LENGTH_INVARIANT)},                                   \
    .breaks = broken, .may = maybe, .fixtures = cases                                       \
  }
#define WRONG (C(BOUNDED) | C(REPLAYS))
static const struct fold_mutant keyed[] = {
    {.subject = {BASE("asum_of_the_sum", "the magnitude of the sum, not the sum of magnitudes", F32, ASUM,
                      run_magnitude),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = WRONG,
     .fixtures = "normal/f32/asum/1x33/*"},
    OF_KEYED(last_lost, WRONG, C(LENGTH_INVARIANT), "normal/f32/keyed/7x5x64/uniform/*", "loses the last term"),
    OF_KEYED(tail_lost, WRONG, C(LENGTH_INVARIANT), "normal/f32/keyed/7x5x257/sorted/*",
             "loses the terms behind whole tiles of 64"),
    OF_KEYED(byte_index, WRONG, 0, "normal/f32/keyed/1000x1x4097/uniform/*", "keys of 8 bits"),
    OF_KEYED(neighbour, WRONG, C(BATCH_INVARIANT), "normal/f32/keyed/7x5x257/uniform/*",
             "adds the terms of one slot to the next"),
    OF_KEYED(column, WRONG | C(BATCH_INVARIANT), 0, "normal/f32/keyed/7x5x64/uniform/*",
             "the last column has the first one's terms"),
    OF_KEYED(back, C(REPLAYS), 0, "normal/f32/keyed/1x1x257/one/*",
             "from the last term to the first, called sequential"),
    OF_KEYED(back_by_slots, C(BATCH_INVARIANT), C(REPLAYS), "normal/f32/keyed/7x1x257/hot/*",
             "the order depends on the number of slots"),
    OF_KEYED(back_by_columns, C(BATCH_INVARIANT), C(REPLAYS), "normal/f32/keyed/7x5x257/hot/*",
             "the order depends on the number of columns"),
    OF_KEYED(back_by_length, C(REPLAYS), C(LENGTH_INVARIANT), "normal/f32/keyed/7x1x257/hot/*",
             "the order depends on the number of terms"),
    OF_KEYED(adds_to_out, C(WRITES_OUTPUT), WRONG | REPEATS | C(LENGTH_INVARIANT) | C(BATCH_INVARIANT),
             "normal/f32/keyed/7x5x64/uniform/*", "adds to what the output held"),
    OF_KEYED(empty_unwritten, C(WRITES_OUTPUT) | WRONG, REPEATS | C(LENGTH_INVARIANT) | C(BATCH_INVARIANT),
             "normal/f32/keyed/7x5x64/ends_empty/*", "does not write slots without terms"),
    OF_KEYED(empty_negative, WRONG, 0, "normal/f32/keyed/7x5x64/ends_empty/*", "-0 in slots without terms"),
    OF_KEYED(last_run, WRONG, C(LENGTH_INVARIANT), "normal/f32/keyed/7x5x64/uniform/*", "takes keys for sorted"),
};
END(keyed)
