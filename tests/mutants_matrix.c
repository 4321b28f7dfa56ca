/* mutants_matrix.c: mutants of products of a matrix with a vector and with a matrix. */
#include <string.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "mutants_row.h"

static float rounded(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* ---- matrix times vector ---- */

static fold_status matrix(const struct fold_call *call, size_t row_step, size_t vector_step, size_t lost) {
  for (size_t r = 0; r < call->rows; r++)
    ((fold_element_f32 *)call->out)[r] =
        rounded((const fold_element_f32 *)call->in[0] + r * row_step,
                (const fold_element_f32 *)call->in[1] + r * vector_step, call->cols > lost ? call->cols - lost : 0);
  return fold_ok();
}
#define MATRIX(name, row_step, vector_step, lost)                                                   \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                  \
    return matrix(call, row_step, vector_step, lost);                                               \
  }
MATRIX(vector_is_matrix, call->cols, call->cols, 0)
MATRIX(vector_moves, call->cols, call->rows > 1, 1)
MATRIX(first_matrix_row, 0, 0, 0)
MATRIX(last_column_lost, call->cols, 0, call->cols > 256)

/* Another order in batches of more than 64 rows. */
static fold_status run_batch_order(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    const fold_element_f32 *w = (const fold_element_f32 *)call->in[0] + r * call->cols, *x = call->in[1];
    float sum = 0;
    for (size_t i = 0; i < call->cols; i++) {
      const size_t at = call->rows > 64 ? call->cols - 1 - i : i;
      sum += w[at] * x[at];
    }
    ((fold_element_f32 *)call->out)[r] = sum;
  }
  return fold_ok();
}

/* Keeps the results of a matrix, whatever the vector is. */
static fold_status run_kept_by_matrix(const struct fold_subject *subject, const struct fold_call *call) {
  static float held[4096], kept[64];
  static size_t n = SIZE_MAX;
  const size_t all = call->rows * call->cols, nbytes = call->rows * sizeof(float);
  if (all > 4096 || call->rows > 64) return matrix(call, call->cols, 0, 0);
  if (n != all || memcmp(held, call->in[0], all * sizeof(float)) != 0) {
    FOLD_TRY(matrix(call, call->cols, 0, 0));
    memcpy(held, call->in[0], all * sizeof(float));
    memcpy(kept, call->out, nbytes);
    n = all;
  }
  (void)subject;
  memcpy(call->out, kept, nbytes);
  return fold_ok();
}

static fold_status run_writes_vector(const struct fold_subject *subject, const struct fold_call *call) {
  volatile float *x = (volatile float *)(uintptr_t)call->in[1];
  (void)subject;
  if (call->cols > 0) x[call->cols - 1] = x[call->cols - 1];
  return matrix(call, call->cols, 0, 0);
}

/* Takes the second input, a vector or a matrix, as contiguous, and the first as it lies. */
static fold_status run_second_input_without_stride(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call own = *call;
  memset(own.stride[1], 0, sizeof own.stride[1]);
  return fold_host_ordered(subject, &own);
}

/* Takes the first input as contiguous: k for its leading dimension. */
static fold_status run_first_input_without_stride(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call own = *call;
  memset(own.stride[0], 0, sizeof own.stride[0]);
  return fold_host_ordered(subject, &own);
}

/* Right of contiguous inputs; of others it leaves the last result as it was. */
static fold_status run_strided_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t last = fold_results(call->problem, &call->shape) - 1;
  fold_element_f32 *out = call->out, before = out[last];
  FOLD_TRY(fold_host_ordered(subject, call));
  if (call->stride[0][FOLD_K]) out[last] = before;
  return fold_ok();
}

/* Writes between the rows of the first input what is there. */
static fold_status run_writes_between(const struct fold_subject *subject, const struct fold_call *call) {
  volatile float *x = (volatile float *)(uintptr_t)call->in[0];
  if (call->stride[0][FOLD_M] > (ptrdiff_t)call->cols) x[call->cols] = x[call->cols];
  return fold_host_ordered(subject, call);
}

#define OF_MATRIX(id, function, broken, maybe, cases, text)                                           \
  {                                                                                                   \
    .subject = {BASE(id, text, F32, MATVEC, function), .order = "dot/sequential", .claims = ORDERED}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                 \
  }

/* ---- matrix times matrix ---- */

/* One result: its place, and what a fault changes of its terms. */
struct entry {
  const struct fold_call *call;
  const fold_element_f32 *x, *y; /* the first factor of each term k elements on, the second n */
  size_t b, i, j, k;
  float start;
  bool backwards, unwritten, narrow;
};
typedef void fault(struct entry *e);

static float term(const struct entry *e, size_t t) {
  float x = e->x[t], y = e->y[t * e->call->shape.n];
  if (e->narrow) {                                /* to the 10 bits of TF32 */
    const float of_x = x * 8193, of_y = y * 8193; /* Dekker's split */
    x = of_x - (of_x - x);
    y = of_y - (of_y - y);
  }
  return x * y;
}

static fold_status multiply(const struct fold_call *call, fault *change) {
  const struct fold_shape s = call->shape;
  fold_element_f32 *out = call->out;
  for (size_t r = 0; r < s.b * s.m * s.n; r++) {
    struct entry e = {.call = call, .b = r / (s.m * s.n), .i = r / s.n % s.m, .j = r % s.n, .k = s.k};
    e.x = (const fold_element_f32 *)call->in[0] + (e.b * s.m + e.i) * s.k;
    e.y = (const fold_element_f32 *)call->in[1] + e.b * s.k * s.n + e.j;
    change(&e);
    float sum = e.start;
    for (size_t t = 0; t < e.k; t++) sum += term(&e, e.backwards ? e.k - 1 - t : t);
    if (!e.unwritten) out[r] = sum;
  }
  return fold_ok();
}
#define FAULT(name, ...)                                                                            \
  static void name(struct entry *e) { __VA_ARGS__; }                                                \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                  \
    return multiply(call, name);                                                                    \
  }
FAULT(tile_lost, if (e->k == 480) e->k -= 32)
FAULT(odd_term_lost, if (e->k % 32 == 31) e->k--)
FAULT(begins_with_garbage,
      e->start = ((const fold_element_f32 *)e->call->out)[(e->b * e->call->shape.m + e->i) * e->call->shape.n + e->j])
FAULT(edge_unwritten, e->unwritten = e->j >= 32)
FAULT(batch_of_first, e->y -= e->b * e->call->shape.k * e->call->shape.n)
FAULT(order_by_columns, e->backwards = e->call->shape.n > 4)
FAULT(order_by_rows, e->backwards = e->call->shape.m > 4)
FAULT(order_by_place, e->backwards = e->j == 5)
FAULT(narrow_factors, e->narrow = true)
FAULT(wrong_in_one_row, if (e->i == 16) e->k -= e->k > 0)

#define OF_PRODUCT(id, function, broken, maybe, cases, text)                                          \
  {                                                                                                   \
    .subject = {BASE(id, text, F32, MATMUL, function), .order = "dot/sequential", .claims = ORDERED}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                 \
  }
/* On inputs of a case that says how they lie. */
#define OF_LAID(id, function, broken, layout, text)                                                                    \
  {                                                                                                                    \
    .subject = {BASE(id, text, F32, MATMUL, function), .order = "dot/sequential", .claims = ORDERED, .strides = true}, \
    .breaks = broken, .fixtures = "normal/f32/matmul/7x9x33/" layout "/*,normal/f32/matmul/7x9x33/seed1"               \
  }
static const struct fold_mutant matrix_products[] = {
    OF_MATRIX("matvec_vector_is_matrix", run_vector_is_matrix, C(BOUNDED) | C(REPLAYS) | C(STAYS_IN_BOUNDS),
              REPEATS | C(LEAVES_NO_TRACE), "normal/f32/matvec/5x33/*", "reads the vector at row times columns"),
    OF_MATRIX("matvec_vector_moves", run_vector_moves, C(BOUNDED) | C(REPLAYS), REPEATS | C(STAYS_IN_BOUNDS),
              "normal/f32/matvec/5x33/*", "reads the vector from the row's number on"),
    OF_MATRIX("matvec_first_matrix_row", run_first_matrix_row, C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
              "normal/f32/matvec/5x33/*", "the matrix's first row for all rows"),
    OF_MATRIX("matvec_last_column_lost", run_last_column_lost, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/matvec/5x257/*",
              "loses the last column of more than 256"),
    OF_MATRIX("matvec_batch_order", run_batch_order, C(BATCH_INVARIANT) | C(REPLAYS), 0, "normal/f32/matvec/65x257/*",
              "another order in batches of more than 64 rows"),
    OF_MATRIX("matvec_kept_by_matrix", run_kept_by_matrix, C(RUN_TO_RUN), REPEATS, "normal/f32/matvec/5x257/*",
              "keeps results by what the matrix holds"),
    {.subject = {BASE("matvec_vector_without_stride", "takes the vector as contiguous", F32, MATVEC,
                      run_second_input_without_stride),
                 .order = "dot/sequential", .strides = true, .claims = ORDERED | C(STRIDE_INVARIANT)},
     .breaks = C(STRIDE_INVARIANT),
     .fixtures = "normal/f32/matvec/5x33/*"},
    OF_MATRIX("matvec_writes_vector", run_writes_vector, C(KEEPS_INPUT), 0, "normal/f32/matvec/5x33/*",
              "writes to the vector what is there"),
    OF_PRODUCT("matmul_tile_lost", run_tile_lost, C(BOUNDED) | C(REPLAYS), 0,
               "nan_last/f32/matmul/2x2x480/*,normal/f32/matmul/7x9x33/*", "loses the last tile of k at one k"),
    OF_PRODUCT("matmul_odd_term_lost", run_odd_term_lost, C(BOUNDED) | C(REPLAYS), 0, "integers/f32/matmul/5x6x31/*",
               "loses the last term of a length one below a tile"),
    OF_PRODUCT("matmul_begins_with_garbage", run_begins_with_garbage, C(BOUNDED) | C(REPLAYS),
               REPEATS | C(WRITES_OUTPUT), "zeros_mixed/f32/matmul/3x4x33/*", "adds to what the output holds"),
    OF_PRODUCT("matmul_edge_unwritten", run_edge_unwritten, C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS), REPEATS,
               "normal/f32/matmul/15x33x40/*", "leaves the columns from 32 on unwritten"),
    OF_PRODUCT("matmul_batch_of_first", run_batch_of_first, C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
               "normal/f32/matmul/3x4x5x33/*", "the first product's second matrix for all"),
    OF_PRODUCT("matmul_order_by_columns", run_order_by_columns, C(BATCH_INVARIANT) | C(REPLAYS), 0,
               "normal/f32/matmul/7x9x128/*", "another order if there are more than 4 columns"),
    OF_PRODUCT("matmul_order_by_rows", run_order_by_rows, C(BATCH_INVARIANT) | C(REPLAYS), 0,
               "normal/f32/matmul/7x9x128/*", "another order if there are more than 4 rows"),
    OF_PRODUCT("matmul_order_by_place", run_order_by_place, C(BATCH_INVARIANT) | C(REPLAYS), 0,
               "normal/f32/matmul/7x9x128/*", "another order in the sixth column"),
    OF_PRODUCT("matmul_narrow_factors", run_narrow_factors, C(BOUNDED) | C(REPLAYS), 0, "normal/f32/matmul/7x9x33/*",
               "factors rounded to 11 bits"),
    OF_PRODUCT("matmul_wrong_in_one_row", run_wrong_in_one_row, C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
               "normal/f32/matmul/17x16x40/*", "loses a term in row 16"),
    {.subject = {BASE("matmul_second_without_stride", "takes the second matrix as contiguous", F32, MATMUL,
                      run_second_input_without_stride),
                 .order = "dot/sequential", .strides = true, .claims = ORDERED | C(STRIDE_INVARIANT)},
     .breaks = C(STRIDE_INVARIANT),
     .fixtures = "normal/f32/matmul/7x9x33/seed1"},
    OF_LAID("matmul_leading_dimension_is_k", run_first_input_without_stride, C(BOUNDED) | C(REPLAYS), "nn+3",
            "takes k for the first leading dimension"),
    OF_LAID("matmul_transpose_not_taken", run_second_input_without_stride, C(BOUNDED) | C(REPLAYS), "nt+3",
            "takes the second matrix as it takes one that is not transposed"),
    OF_LAID("matmul_laid_unwritten", run_strided_unwritten, C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS), "tt+3",
            "leaves the last result of inputs with strides unwritten"),
    OF_LAID("matmul_writes_between", run_writes_between, C(KEEPS_INPUT), "nn+3", "writes between the rows of an input"),
};
const struct fold_mutant *fold_mutants_matrix(size_t *n) {
  *n = sizeof matrix_products / sizeof *matrix_products;
  return matrix_products;
}
