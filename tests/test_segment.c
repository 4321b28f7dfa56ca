/* test_segment.c: processes that share a segment get the bits of the tree over ranks, whatever the lengths of one call
 * after the other, and write nothing but their outputs; a card that leads elsewhere maps nothing.
 */
#include "kernels/collective/segment.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/collective/combine_host.h"
#include "kernels/collective/parts.h"
#include "model/problem.h"
#include "sample.h"

enum { GUARD = 0xa5, PAD = 24, MOST_CALLS = 30 };

/* One call of all ranks; the call's number is the seed. */
struct shape {
  enum fold_dtype dtype;
  enum fold_op op;
  size_t rows;
  bool in_place;
};

static void fill(const struct shape *s, uint64_t seed, int rank, void *to) {
  for (size_t i = 0; i < s->rows; i++) {
    uint64_t bits = sample_bits(seed * 1024 + (uint64_t)rank, i);
    fold_bits_store(s->dtype, to, i, fold_bits_from_double(s->dtype, sample_number(bits, (int)(bits >> 3 & 15) - 8)));
  }
}

/* A rank that is late to read the others' terms, now and then: the others may be in the next call. */
static fold_status combine_late(const struct fold_call *call, const void *slices, size_t n, void *out) {
  if (sample_bits(n + call->rows, (uint64_t)call->comm->rank) % 4 == 0) usleep(500);
  return fold_parts_host.combine(call, slices, n, out);
}
static const struct fold_parts parts = {.combine = combine_late};

/* The bits, and what is beside them: `out` begins at no multiple of an element, as far as a type may. */
static bool is_right(const struct shape *s, const unsigned char *got, const void *want) {
  size_t nbytes = s->rows * fold_dtype_size(s->dtype);
  for (size_t b = 0; b < PAD; b++)
    if (got[b] != GUARD || got[PAD + nbytes + b] != GUARD) return false;
  return memcmp(got + PAD, want, nbytes) == 0;
}

/* A call's terms, rank after rank, and its result. */
struct played {
  struct shape shape;
  size_t nbytes;
  unsigned char *all, *want;
};

static bool try(struct fold_segment *segment, int rank, int ranks, const struct played *p) {
  const struct shape *s = &p->shape;
  unsigned char *got = malloc(p->nbytes + 2 * PAD);
  struct fold_comm comm = {.rank = rank, .ranks = ranks, .parts = &parts};
  struct fold_call call = {
      .dtype = s->dtype, .problem = fold_rows_problem(s->op), .rows = s->rows, .cols = 1, .comm = &comm};
  if (!got) return false;
  memset(got, GUARD, p->nbytes + 2 * PAD);
  call.in[0] = p->all + (size_t)rank * p->nbytes;
  call.out = got + PAD;
  if (s->in_place) call.in[0] = memcpy(got + PAD, call.in[0], p->nbytes);
  bool right = fold_segment_tree(segment, &call, NULL).code == FOLD_OK && is_right(s, got, p->want);
  free(got);
  return right;
}

/* Calls of lengths about those where something changes: none, short ones, a chunk, several. */
static struct shape shape_of(uint64_t k, size_t longest) {
  static const size_t rows[] = {0, 1, 7, 509, 1031, 4099, 8192, 16384, 32768, 65521, 131101};
  uint64_t bits = sample_bits(77, k);
  size_t n = rows[bits % (sizeof rows / sizeof *rows)];
  return (struct shape){(enum fold_dtype)(bits >> 8 & 3), (enum fold_op)(bits >> 16 & 3), n < longest ? n : longest,
                        bits >> 24 & 1};
}

/* Once, before ranks are forked: each has what all have. */
static struct played play(int ranks, uint64_t k, size_t longest) {
  struct played p = {.shape = shape_of(k, longest)};
  const struct shape *s = &p.shape;
  p.nbytes = s->rows * fold_dtype_size(s->dtype);
  p.all = malloc((size_t)ranks * p.nbytes + 1);
  p.want = malloc(p.nbytes + 1);
  cr_assert(p.all && p.want);
  for (int r = 0; r < ranks; r++) fill(s, k, r, p.all + (size_t)r * p.nbytes);
  fold_combine_host(s->dtype, s->op, p.all, (size_t)ranks, s->rows, p.want, 1);
  return p;
}

/* The calls whose results were wrong: a rank goes on, for the others wait for it. */
static int rank_main(struct fold_segment *segment, int rank, int ranks, uint64_t calls, const struct played *played) {
  int wrong = 0;
  for (uint64_t k = 0; k < calls; k++) {
    const struct shape *s = &played[k].shape;
    if (sample_bits(k, (uint64_t)rank) % 4 == 0) usleep(200);
    if (try(segment, rank, ranks, &played[k])) continue;
    if (wrong++ > 0) continue;
    fprintf(stderr, "rank %d of %d, call %llu: %zu %s, %s%s: different bits, or bytes beside them\n", rank, ranks,
            (unsigned long long)k, s->rows, fold_dtype_name(s->dtype), fold_op_name(s->op),
            s->in_place ? ", in place" : "");
  }
  return wrong;
}

/* Ranks that find the segment by its card alone. */
static void expect_right(int ranks, uint64_t calls, size_t longest) {
  struct fold_segment_card card;
  struct fold_segment *own = fold_segment_make(ranks, &card);
  pid_t children[64];
  struct played played[MOST_CALLS];
  cr_assert(own != NULL && ranks <= 65 && calls <= MOST_CALLS);
  for (uint64_t k = 0; k < calls; k++) played[k] = play(ranks, k, longest);
  for (int r = 1; r < ranks; r++) {
    children[r - 1] = fork();
    cr_assert(children[r - 1] >= 0);
    if (children[r - 1] > 0) continue;
    alarm(300);
    struct fold_segment *mapped = fold_segment_map(ranks, &card);
    _exit(mapped && rank_main(mapped, r, ranks, calls, played) == 0 ? 0 : 1);
  }
  alarm(300);
  cr_expect(rank_main(own, 0, ranks, calls, played) == 0, "rank 0 of %d", ranks);
  for (int r = 1; r < ranks; r++) {
    int status;
    cr_assert(waitpid(children[r - 1], &status, 0) == children[r - 1]);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "rank %d of %d ended with %d", r, ranks, status);
  }
  for (uint64_t k = 0; k < calls; k++) free(played[k].all), free(played[k].want);
  fold_segment_close(own);
}

Test(segment, has_the_bits_of_the_tree_over_ranks) {
  for (int ranks = 2; ranks <= 9; ranks += ranks < 5 ? 1 : 4) expect_right(ranks, 30, SIZE_MAX);
}

Test(segment, many_more_ranks_than_cores_go_through_it) { expect_right(64, 12, 8192); }

Test(segment, a_card_that_leads_elsewhere_maps_nothing) {
  struct fold_segment_card card, other, none = {0};
  struct fold_segment *own = fold_segment_make(3, &card), *second;
  cr_assert(own != NULL);
  cr_assert((second = fold_segment_map(3, &card)) != NULL);
  fold_segment_close(second);
  cr_expect(fold_segment_map(3, &none) == NULL);
  other = card, other.token++;
  cr_expect(fold_segment_map(3, &other) == NULL, "another token");
  other = card, other.nbytes++;
  cr_expect(fold_segment_map(3, &other) == NULL, "another length");
  other = card, other.fd = 0;
  cr_expect(fold_segment_map(3, &other) == NULL, "another file");
  fold_segment_seal(own);
  cr_expect(fold_segment_map(3, &card) == NULL, "sealed");
  fold_segment_close(own);
}
