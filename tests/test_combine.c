/* test_combine.c: a host rank combines the ranks' slices by the tree over neighbouring ranks: for each element the bits
 * of the order host/pairwise by wide arithmetic, for any number of ranks and any length of slice, and nothing else is
 * written.
 *
 * Real worlds (`foldproof verify --engine mpi`) have 8 ranks or fewer; these have up to 1024.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "kernels/collective/parts.h"
#include "oracles/order.h"
#include "sample.h"

enum { GUARD = 0xa5, MOST_PRINTED = 10 };

struct shape {
  enum fold_dtype dtype;
  enum fold_op op;
  size_t ranks, n;
  unsigned threads;
};

/* The terms of element i, one a rank, of a kind of its own; in one of 16 elements one is no number, or infinite. */
static void fill(const struct shape *s, unsigned char *rows, unsigned char *slices) {
  size_t size = fold_dtype_size(s->dtype);
  for (size_t i = 0; i < s->n; i++) {
    void *row = sample_row((enum sample_kind)(i % SAMPLE_KINDS), s->dtype, i, s->ranks);
    uint64_t odd = sample_bits(i, s->ranks);
    double special = odd & 1 ? NAN : odd & 2 ? INFINITY : -INFINITY;
    cr_assert(row != NULL, "no memory");
    if (odd >> 8 & 15) special = 0;
    if (special != 0) fold_bits_store(s->dtype, row, (odd >> 16) % s->ranks, fold_bits_from_double(s->dtype, special));
    memcpy(rows + i * s->ranks * size, row, s->ranks * size);
    for (size_t r = 0; r < s->ranks; r++) memcpy(slices + (r * s->n + i) * size, (unsigned char *)row + r * size, size);
    free(row);
  }
}

static void compare(const struct shape *s, const void *got, const void *want) {
  for (size_t i = 0, printed = 0; i < s->n && printed < MOST_PRINTED; i++) {
    uint64_t g = fold_bits_load(s->dtype, got, i), w = fold_bits_load(s->dtype, want, i);
    if (fold_bits_same(s->dtype, g, w)) continue;
    printed++;
    cr_expect(false, "%s %s, %zu ranks, element %zu of %zu, %u threads: got %llx, want %llx", fold_dtype_name(s->dtype),
              fold_op_name(s->op), s->ranks, i, s->n, s->threads, (unsigned long long)g, (unsigned long long)w);
  }
}

static void try(const struct shape *s) {
  size_t size = fold_dtype_size(s->dtype), nbytes = s->n * s->ranks * size;
  unsigned char *rows = malloc(nbytes), *slices = malloc(nbytes), *want = malloc(s->n * size);
  unsigned char *out = malloc((s->n + 2) * size), *got = out + size;
  cr_assert(rows && slices && want && out, "no memory");
  fill(s, rows, slices);
  memset(out, GUARD, (s->n + 2) * size);
  struct fold_call tree = {.dtype = s->dtype,
                           .problem = fold_rows_problem(s->op),
                           .rows = s->n,
                           .cols = s->ranks,
                           .in = {rows},
                           .out = want};
  struct fold_comm comm = {.ranks = (int)s->ranks};
  struct fold_call call = {
      .dtype = s->dtype, .problem = fold_rows_problem(s->op), .comm = &comm, .launch = {.threads = s->threads}};
  cr_assert_eq(fold_order_replay_wide(fold_order_find("host/pairwise"), &tree).code, FOLD_OK);
  cr_assert_eq(fold_parts_host.combine(&call, slices, s->n, got).code, FOLD_OK);
  compare(s, got, want);
  for (size_t b = 0; b < size; b++)
    cr_expect(out[b] == GUARD && got[s->n * size + b] == GUARD, "%zu ranks, %zu elements: wrote beside its output",
              s->ranks, s->n);
  free(rows);
  free(slices);
  free(want);
  free(out);
}

static void try_all(size_t ranks, size_t n, unsigned threads) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int op = 0; op < FOLD_OPS; op++) {
      struct shape shape = {(enum fold_dtype)dtype, (enum fold_op)op, ranks, n, threads};
      try(&shape);
    }
}

Test(combine, has_the_tree_of_any_number_of_ranks) {
  static const size_t many[] = {63, 64, 65, 127, 129, 1000, 1023, 1024};
  for (size_t ranks = 1; ranks <= 40; ranks++) try_all(ranks, 37, 1);
  for (size_t i = 0; i < sizeof many / sizeof *many; i++) try_all(many[i], 19, 1);
}

Test(combine, has_the_same_bits_in_slices_of_any_length) {
  static const size_t lengths[] = {1, 2, 511, 512, 513, 1023, 1024, 1025, 5000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    try_all(3, lengths[i], 1);
    try_all(8, lengths[i], 1);
  }
}

Test(combine, has_the_same_bits_on_several_threads) { try_all(5, 30000, 3); }
