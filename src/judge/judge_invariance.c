/* judge_invariance.c: the same bits whatever surrounds the terms: launch, alignment, batch, permutation. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

/* Host, and ranks on hosts: numbers of threads. CUDA: grids and blocks that leave work uneven. */
static const struct fold_launch host_launches[] = {{.threads = 1}, {.threads = 2}, {.threads = 3}, {.threads = 4},
                                                   {.threads = 7}, {.threads = 8}, {.threads = 16}};
static const struct fold_launch cuda_launches[] = {
    {.blocks = 1}, {.blocks = 7}, {.blocks = 132}, {.block = 128}, {.block = 512, .blocks = 33}};

/* Of the last one: partials that are added as threads arrive differ now and then, and among many threads sooner. */
enum { REPEATS_AT_MOST = 4 };

/* Results that are kept from run to run would hide what a judge varies: another input comes in between; once a trial where runs are
 * slow. */
static bool forget(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  bool kept;
  if (c->rows == 0 || c->cols == 0) return true;
  if (trial->subject->engine != FOLD_HOST && trial->foreign > 0) return true;
  fold_status status = fold_trial_run_foreign(trial, c->rows * c->cols - 1, &kept);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

void fold_judge_launch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  bool host = fold_engine_is_host(trial->subject->engine);
  const struct fold_launch *launches = host ? host_launches : cuda_launches;
  size_t n = host ? sizeof host_launches / sizeof *host_launches : sizeof cuda_launches / sizeof *cuda_launches;
  size_t ran = 0;
  if (!forget(trial, finding)) return;
  for (size_t k = 0; k < n + (host ? REPEATS_AT_MOST : 0); k++) {
    size_t i = k < n ? k : n - 1;
    fold_status status = fold_trial_rerun(trial, launches[i], 0x21);
    if (status.code == FOLD_UNSUPPORTED) continue; /* that launch is not one of its own */
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    char what[120];
    snprintf(what, sizeof what, "other bits with %u threads, %u blocks, block %u (0: its own choice)",
             launches[i].threads, launches[i].blocks, launches[i].block);
    ran++;
    if (!fold_trial_same(trial, finding, trial->other, trial->got, trial->c->rows, what)) return;
  }
  if (ran > 0)
    fold_find_held(finding);
  else
    fold_find_skipped(finding, "it takes no other launch");
}

static fold_status run_part(struct fold_trial *trial, size_t first, size_t rows, size_t cols, void *got) {
  struct fold_request request = {.op = trial->c->op, .first = first, .rows = rows, .cols = cols, .poison = 0x5a};
  return fold_trial_run(trial, trial->rig, &request, got);
}

/* The whole input, `shift` elements further, must give the base run's bits. */
static bool judge_shift(struct fold_trial *trial, struct fold_finding *finding, ptrdiff_t shift) {
  const struct fold_case *c = trial->c;
  char what[80];
  fold_status status = fold_rig_move(trial->rig, shift);
  if (status.code == FOLD_OK) status = run_part(trial, 0, c->rows, c->cols, trial->other);
  fold_status back = fold_rig_move(trial->rig, 0);
  if (status.code == FOLD_OK) status = back;
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  snprintf(what, sizeof what, "other bits %td elements from an aligned address", shift);
  return fold_trial_same(trial, finding, trial->other, trial->got, c->rows, what);
}

/* The row without its first element, where it stands (misaligned) and moved to the aligned address. */
static bool judge_sub_range(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  uint64_t in_place = 0, copied = 0;
  fold_status status = run_part(trial, 1, 1, c->cols - 1, &in_place);
  if (status.code == FOLD_OK) status = fold_rig_move(trial->rig, -1);
  if (status.code == FOLD_OK) status = run_part(trial, 1, 1, c->cols - 1, &copied);
  fold_status back = fold_rig_move(trial->rig, 0);
  if (status.code == FOLD_OK) status = back;
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  return fold_trial_same(trial, finding, &in_place, &copied, 1, "a sub-range and its copy gave different bits");
}

/* One other argument elsewhere, the input where it was. */
static bool judge_others(struct fold_trial *trial, struct fold_finding *finding) {
  const struct {
    unsigned out, scratch;
    const char *what;
  } shifts[] = {{1, 0, "other bits with the output one element further"},
                {3, 0, "other bits with the output three elements further"},
                {16, 0, "other bits with the output 16 elements further"},
                {0, 1, "other bits with the scratch 256 bytes further"}};
  for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
    struct fold_request request = fold_trial_request(trial, 0x5b);
    request.out_shift = shifts[i].out;
    request.scratch_shift = shifts[i].scratch;
    if (shifts[i].scratch && !trial->subject->scratch) continue;
    fold_status status = fold_trial_run(trial, trial->rig, &request, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return false;
    }
    if (!fold_trial_same(trial, finding, trial->other, trial->got, trial->c->rows, shifts[i].what)) return false;
  }
  return true;
}

/* All arguments at once at the start of a page, and at the end of one. */
static bool judge_pages(struct fold_trial *trial, struct fold_finding *finding) {
  if (!fold_engine_is_host(trial->subject->engine)) return true;
  for (enum fold_placement p = FOLD_AT_START; p <= FOLD_AT_END; p++) {
    fold_status status = fold_trial_run_flush(trial, p);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return false;
    }
    if (!fold_trial_same(trial, finding, trial->other, trial->got, trial->c->rows,
                         p == FOLD_AT_START ? "other bits at the start of a page" : "other bits at the end of a page"))
      return false;
  }
  return true;
}

/* Elements: multiples of 2 to 256 bytes. A device is sent its input anew for each, as ranks are: they have fewer. */
void fold_judge_alignment_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  static const ptrdiff_t shifts[] = {1, 2, 5, 8, 4, 16, 32};
  size_t n = trial->subject->engine == FOLD_HOST ? 7 : 4;
  if (!forget(trial, finding)) return;
  for (size_t i = 0; i < n; i++)
    if (!judge_shift(trial, finding, shifts[i])) return;
  if (!judge_others(trial, finding) || !judge_pages(trial, finding)) return;
  bool divisible = trial->c->cols > 1 && trial->c->rows > 0 && !trial->subject->vector;
  if (divisible && !judge_sub_range(trial, finding)) return;
  fold_find_held(finding);
}

/* A row of a batch, run alone where it stands, and the leading half of the rows. */
static void judge_rows_alone(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  size_t picks[] = {0, c->rows / 2, c->rows - 1}, half = c->rows / 2;
  size_t size = fold_dtype_size(c->dtype);
  for (size_t i = 0; i < 3; i++) {
    fold_status status = run_part(trial, picks[i] * c->cols, 1, c->cols, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    const unsigned char *in_batch = (const unsigned char *)trial->got + picks[i] * size;
    if (!fold_trial_same(trial, finding, trial->other, in_batch, 1, "other bits for the row alone")) {
      finding->row = picks[i];
      return;
    }
  }
  fold_status status = run_part(trial, 0, half, c->cols, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (fold_trial_same(trial, finding, trial->other, trial->got, half,
                             "other bits in a batch of half the rows")) {
    fold_find_held(finding);
  }
}

enum { BATCH = 5, BATCH_TERMS = 1 << 18 };

/* The row's bytes, element by element from the last to the first. */
static void copy_reversed(unsigned char *to, const unsigned char *from, size_t n, size_t size) {
  if (size == 4) {
    for (size_t i = 0; i < n; i++) ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[n - 1 - i];
  } else {
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (n - 1 - i) * size, size);
  }
}

/* One row becomes rows 0 and 3 of five; the others hold it reversed, so that a neighbour's term would show. */
static void lay_batch(struct fold_rig *batch, const void *row, size_t cols) {
  size_t size = fold_dtype_size(batch->dtype);
  unsigned char *to = fold_rig_input(batch);
  for (size_t r = 0; r < BATCH; r++, to += cols * size)
    if (r % 3 == 0)
      memcpy(to, row, cols * size);
    else
      copy_reversed(to, row, cols, size);
}

static void judge_row_in_batch(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  struct fold_rig batch;
  fold_status status = fold_rig_open(&batch, trial->subject->engine, c->dtype, BATCH * c->cols, BATCH);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  batch.ranks = trial->rig->ranks;
  lay_batch(&batch, fold_rig_input(trial->rig), c->cols);
  uint64_t got[BATCH];
  struct fold_request request = {.op = c->op, .rows = BATCH, .cols = c->cols, .poison = 0x6b};
  status = fold_rig_load(&batch);
  if (status.code == FOLD_OK) status = fold_trial_run(trial, &batch, &request, got);
  fold_rig_close(&batch);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  const unsigned char *fourth = (const unsigned char *)got + 3 * fold_dtype_size(c->dtype);
  if (fold_trial_same(trial, finding, got, trial->got, 1, "other bits as first of five rows") &&
      fold_trial_same(trial, finding, fourth, trial->got, 1, "other bits as fourth of five rows"))
    fold_find_held(finding);
}

void fold_judge_batch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (trial->c->rows > 1)
    judge_rows_alone(trial, finding);
  else if (trial->c->rows == 1 && trial->c->cols <= BATCH_TERMS)
    judge_row_in_batch(trial, finding);
  else if (trial->c->rows == 1)
    fold_find_skipped(finding, "one row of over %d terms: cases of several rows judge this", BATCH_TERMS);
  else
    fold_find_skipped(finding, "no row");
}

/* In place, and undone in place, so that a permutation needs no second copy of the input. */
static void swap(enum fold_dtype dtype, void *row, size_t a, size_t b) {
  uint64_t t = fold_bits_load(dtype, row, a);
  fold_bits_store(dtype, row, a, fold_bits_load(dtype, row, b));
  fold_bits_store(dtype, row, b, t);
}

static void reverse(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  (void)undo;
  for (size_t i = 0; i < n / 2; i++) swap(dtype, row, i, n - 1 - i);
}

/* A multiplicative hash picks the partner of place i among the first i + 1: Fisher and Yates's shuffle, which the same
 * swaps in the opposite sequence undo. */
static size_t partner(size_t i) {
  return (size_t)((i * 0x9e3779b97f4a7c15u ^ i >> 7) * 0xd6e8feb86659fd93u >> 20) % (i + 1);
}

static void shuffle(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  if (undo)
    for (size_t i = n; i-- > 1;) swap(dtype, row, i, partner(i));
  else
    for (size_t i = 1; i < n; i++) swap(dtype, row, i, partner(i));
}

/* Neighbours that cancelled, or rounded together, are put far apart: even places first, by swaps of the two halves'
 * elements. */
static void interleave(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  (void)undo;
  for (size_t i = 0; i < n / 2; i += 2) swap(dtype, row, i, i + n / 2);
}

struct permutation {
  const char *name;
  void (*apply)(enum fold_dtype dtype, void *row, size_t n, bool undo);
};
static const struct permutation permutations[] = {
    {"reversed", reverse}, {"shuffled", shuffle}, {"interleaved", interleave}};

static void permute(const struct permutation *p, struct fold_trial *trial, bool undo) {
  const struct fold_case *c = trial->c;
  unsigned char *input = fold_rig_input(trial->rig);
  for (size_t r = 0; r < c->rows; r++)
    p->apply(c->dtype, input + r * c->cols * fold_dtype_size(c->dtype), c->cols, undo);
}

static bool judge_permutation(struct fold_trial *trial, struct fold_finding *finding, const struct permutation *p) {
  permute(p, trial, false);
  fold_status status = fold_rig_load(trial->rig);
  if (status.code == FOLD_OK) status = run_part(trial, 0, trial->c->rows, trial->c->cols, trial->other);
  permute(p, trial, true);
  fold_status back = fold_rig_load(trial->rig);
  if (status.code == FOLD_OK) status = back;
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  char what[80];
  snprintf(what, sizeof what, "other bits for the terms %s", p->name);
  return fold_trial_same(trial, finding, trial->other, trial->got, trial->c->rows, what);
}

void fold_judge_permutation_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++)
    if (!judge_permutation(trial, finding, &permutations[i])) return;
  fold_find_held(finding);
}
