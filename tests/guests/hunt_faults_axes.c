/* hunt_faults_axes.c: faulty products of matrices, scans and sums by key: at one size or place along an axis. */
#include <stdlib.h>

#include "hunt_faults.h"
#include "hunt_rows.h"

enum { B, M, N, K };
typedef const struct hunt_axes axes_of;

/* Where all hold, the effect happens. */
struct hunt_axes;
struct place {
  call_of *call;
  uint64_t b, i, j, k;         /* the result's place, and how many terms it has */
  int64_t in, other, steps[2]; /* its first terms, and from one to the next, in elements */
  bool unwritten;
};
struct hunt_axes {
  struct hunt_numbers size[4], at[3];
  void (*effect)(struct place *place, axes_of *fault);
  uint64_t by;
};

static bool is_at(axes_of *fault, const struct place *p) {
  for (int axis = B; axis <= K; axis++)
    if (!hunt_has(&fault->size[axis], p->call->extent[axis])) return false;
  return hunt_has(&fault->at[B], p->b) && hunt_has(&fault->at[M], p->i) && hunt_has(&fault->at[N], p->j);
}

static double round_to_accumulator(call_of *call, double x) { return hunt_round(call->accumulator, x); }

/* ---- products ---- */

static double product_in_f32(const struct place *p) {
  const float *x = (const float *)p->call->in + p->in, *y = (const float *)p->call->other + p->other;
  float sum = 0;
  for (int64_t t = 0; t < (int64_t)p->k; t++) sum += x[t * p->steps[0]] * y[t * p->steps[1]];
  return (double)sum;
}
static double product(const struct place *p) {
  call_of *call = p->call;
  double sum = 0;
  if (call->dtype == FOLDPROOF_GUEST_F32) return product_in_f32(p);
  for (int64_t t = 0; t < (int64_t)p->k; t++) {
    const double x = hunt_load(call->dtype, call->in, (uint64_t)(p->in + t * p->steps[0])),
                 y = hunt_load(call->dtype, call->other, (uint64_t)(p->other + t * p->steps[1]));
    sum = round_to_accumulator(call, sum + round_to_accumulator(call, x * y));
  }
  return sum;
}

static int multiply(call_of *call, void *context) {
  const uint64_t *x = call->extent;
  const int64_t(*s)[4] = call->stride;
  axes_of *fault = context;
  for (uint64_t e = 0; e < x[B] * x[M] * x[N]; e++) {
    struct place p = {.call = call, .b = e / (x[M] * x[N]), .i = e / x[N] % x[M], .j = e % x[N], .k = x[K]};
    p.in = (int64_t)p.b * s[0][B] + (int64_t)p.i * s[0][M], p.steps[0] = s[0][K];
    p.other = (int64_t)p.b * s[1][B] + (int64_t)p.j * s[1][N], p.steps[1] = s[1][K];
    if (x[K] > 0 && is_at(fault, &p)) fault->effect(&p, fault);
    if (!p.unwritten) hunt_store(call->result, call->out, e, product(&p));
  }
  return FOLDPROOF_GUEST_OK;
}

static void loses_tile(struct place *p, axes_of *fault) { p->k -= fault->by < p->k ? fault->by : 0; }
static void leaves_out(struct place *p, axes_of *fault) { (void)fault, p->unwritten = true; }
static void leading_is_k(struct place *p, axes_of *fault) {
  const int64_t *s = p->call->stride[0];
  (void)fault;
  if (s[K] == 1) p->in = (int64_t)p->b * s[B] + (int64_t)(p->i * p->call->extent[K]);
}
static void batch_before(struct place *p, axes_of *fault) { p->other -= (int64_t)fault->by * p->call->stride[1][B]; }
static void row_of_16_bits(struct place *p, axes_of *fault) {
  (void)fault;
  p->in = (int64_t)p->b * p->call->stride[0][B] + (int64_t)(uint16_t)((int64_t)p->i * p->call->stride[0][M]);
}

/* ---- scans: tiles of `by` terms, whose first term takes over the sum before; the effect: the last one's does not ---- */

static double scan_row(struct hunt_row *row, void *context) {
  axes_of *fault = context;
  const struct place p = {.call = row->call, .i = row->at};
  const uint64_t last = row->n > 0 && is_at(fault, &p) ? (row->n - 1) / fault->by * fault->by : 0;
  const bool exclusive = row->call->problem == FOLDPROOF_GUEST_EXCLUSIVE_SCAN;
  double sum = hunt_identity(row);
  for (uint64_t j = 0; j < row->n; j++) {
    if (j == last) sum = hunt_identity(row);
    const double before = sum;
    sum = hunt_take(row, sum, j);
    hunt_store(row->call->result, row->call->out, row->at * row->n + j, exclusive ? before : sum);
  }
  row->at = UINT64_MAX;
  return 0;
}
static int scan(call_of *call, void *context) { return hunt_run_rows(call, scan_row, context); }

/* ---- sums by key ---- */

/* The slot of a term: the effect takes key `by` for the one before it. */
static uint64_t slot_of(call_of *call, axes_of *fault, uint64_t t) {
  const uint32_t key = ((const uint32_t *)call->other)[t];
  const struct place p = {.call = call, .i = key};
  return fault->by > 0 && key == fault->by && is_at(fault, &p) ? key - 1 : key;
}
/* Whether an empty slot is left as it was: the effect where there is no `by`. */
static bool is_left(call_of *call, axes_of *fault, uint64_t slot) {
  const struct place p = {.call = call, .i = slot};
  return fault->by == 0 && is_at(fault, &p);
}

static int keyed(call_of *call, void *context) {
  axes_of *fault = context;
  const uint64_t m = call->extent[M], n = call->extent[N], k = call->extent[K];
  double *sums = calloc(m * n + 1, sizeof *sums);
  bool *used = calloc(m + 1, sizeof *used);
  const bool done = sums && used;
  for (uint64_t t = 0; t < k && done; t++) {
    const uint64_t slot = slot_of(call, fault, t);
    used[slot] = true;
    for (uint64_t j = 0; j < n; j++)
      sums[slot * n + j] = round_to_accumulator(call, sums[slot * n + j] + hunt_load(call->dtype, call->in, t * n + j));
  }
  for (uint64_t e = 0; e < m * n && done; e++)
    if (used[e / n] || !is_left(call, fault, e / n)) hunt_store(call->result, call->out, e, sums[e]);
  free(sums), free(used);
  return done ? FOLDPROOF_GUEST_OK : 1;
}

/* ---- the table ---- */

#define AXES(id, problem, dtype, function, strided, text, ...)                                                     \
  {                                                                                                                \
    .name = "hunt/" #id, .about = text, .problems = problem, .dtypes = dtype, .run = function, .strides = strided, \
    .context = &(struct hunt_axes) {                                                                               \
      __VA_ARGS__                                                                                                  \
    }                                                                                                              \
  }
static const struct foldproof_guest_subject of_axes[] = {
    AXES(k_3461, "matmul", "f32", multiply, 0, "last tile of k lost at k = 3461", .size[K] = {3461, 3461},
         .effect = loses_tile, .by = 5),
    AXES(k_of_264, "matmul", "f16", multiply, 0, "last 8 of k lost at k = 264, 792, ...", .size[K] = {264, 0, 528, 264},
         .effect = loses_tile, .by = 8),
    AXES(k_1801_to_1999, "matvec", "f64", multiply, 0, "last of k lost for k from 1801 to 1999 over 3 rows",
         .size[K] = {1801, 1999}, .size[M] = {4}, .effect = loses_tile, .by = 1),
    AXES(leading_is_k, "matmul", "f32", multiply, 1, "lda taken as k where k mod 12 = 7 and m > 4",
         .size[K] = {2, 0, 12, 7}, .size[M] = {5}, .effect = leading_is_k),
    AXES(edge_of_n, "matmul", "f64", multiply, 0, "last column not written where n = 51 and m > 2", .size[N] = {51, 51},
         .size[M] = {3}, .at[N] = {50, 50}, .effect = leaves_out),
    AXES(batch_of_4, "matmul", "f32", multiply, 0,
         "of 4 products or more the 4th has the second matrix before its own where k mod 8 = 5 and n mod 4 = 2",
         .size[B] = {4}, .size[K] = {5, 0, 8, 5}, .size[N] = {2, 0, 4, 2}, .at[B] = {3, 3}, .effect = batch_before,
         .by = 1),
    AXES(row_of_16_bits, "matmul", "bf16", multiply, 0, "a row's place has 16 bits where k mod 4 = 3",
         .size[K] = {3, 0, 4, 3}, .effect = row_of_16_bits),
    AXES(row_113, "matvec", "f16", multiply, 0, "row 113 loses its last term where k mod 6 = 5 and m mod 8 = 6",
         .size[K] = {5, 0, 6, 5}, .size[M] = {6, 0, 8, 6}, .at[M] = {113, 113}, .effect = loses_tile, .by = 1),
    AXES(carry_at_1291, "scan", "f32", scan, 0, "carry lost at the last tile's end at 1291 terms",
         .size[K] = {1291, 1291}, .by = 32),
    AXES(carry_at_29_of_64, "scan_max", "f32", scan, 0,
         "carry lost at the last tile's end where n > 64 and n mod 64 = 29", .size[K] = {65, 0, 64, 29}, .by = 64),
    AXES(carry_at_7_of_96, "exclusive_scan", "f64", scan, 0,
         "carry lost at the last tile's end where n > 400 and n mod 96 = 7", .size[K] = {401, 0, 96, 7}, .by = 96),
    AXES(key_137, "keyed", "f32", keyed, 0, "key 137 is taken for 136 where m mod 8 = 6", .size[M] = {138, 0, 8, 6},
         .by = 137),
    AXES(empty_of_52, "keyed", "f32", keyed, 0, "empty slots not written for 52 slots", .size[M] = {52, 52}),
    AXES(empty_from_100, "keyed", "bf16", keyed, 0, "empty slots not written from slot 100 on where m mod 8 = 3",
         .size[M] = {101, 0, 8, 3}, .at[M] = {100}),
};
HUNT_TABLE(of_axes)
