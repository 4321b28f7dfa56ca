/* virtual_ranks_main.c: foldproof-virtual-ranks RANKS[,RANKS...] PART [TIMEOUT]: worlds of ranks on one GPU (virtual_ranks.h), one
 * after another: a context for each would take longer than most of them.
 *
 * Parts:
 *   lengths   each type and operation at lengths around every boundary
 *   mixed     calls of all kinds after each other, in several orders and as graphs
 *   numbers   the same where the numbers of calls and steps are about to wrap
 *   long      all blocks, several steps
 *   huge      more than 2^32 elements
 *   last      a call past the last number, which must fail
 *   absent    a rank that does not come, which must be seen
 *   small     a little of everything, for tools that make each access dear
 * Exit codes: 0 held, 1 refuted (a wrong result, or a call that did not end within TIMEOUT seconds, 20 by default),
 * 2 wrong usage, 77 no GPU, 99 the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adversary.h"
#include "gpu_dtypes.h"
#include "kernels/cuda/device.h"
#include "virtual_ranks.h"

enum { MOST_LINES_BYTES = 128 << 10, PACKS = 1024, SLOTS = 3 }; /* collective_reach.cuh's REACH_ constants */

struct batch {
  struct virtual_job jobs[VIRTUAL_MOST_JOBS];
  size_t n;
};

/* Each call in other places: all three alignments of `in`, eight of `out`, in place or not. */
static void add(struct batch *b, struct virtual_job job, size_t most) {
  const size_t k = b->n;
  if (job.n > most || b->n == VIRTUAL_MOST_JOBS) return;
  job.in_shift = job.in_place ? 0 : (int)(k % VIRTUAL_SHIFTS);
  job.out_shift = k % 8 < 5 ? k % 8 : 0;
  b->jobs[b->n++] = job;
}

static void add_tree(const struct virtual_world *w, struct batch *b, enum fold_dtype dtype, enum fold_op op, size_t n,
                     unsigned blocks) {
  const size_t most = blocks ? virtual_most_bytes(w) : virtual_line_bytes(w);
  struct virtual_job job = {VIRTUAL_TREE, dtype, op, n, blocks, 0, 0, b->n % 4 == 3, 0};
  if (!blocks && most > MOST_LINES_BYTES)
    add(b, job, MOST_LINES_BYTES / fold_dtype_size(dtype));
  else
    add(b, job, most / fold_dtype_size(dtype));
}

static fold_status run_batch(struct virtual_world *w, struct batch *b, enum virtual_order order, const char *what,
                             enum fold_dtype dtype, enum fold_op op) {
  char name[80];
  snprintf(name, sizeof name, "%s %s %s", what, fold_dtype_name(dtype), fold_op_name(op));
  fold_status status = virtual_run(w, name, order, b->jobs, b->n, -1);
  b->n = 0;
  return status;
}

/* Lines: one element, one line, a block of lines, all of them; one more. */
static void lengths_by_lines(const struct virtual_world *w, struct batch *b, enum fold_dtype dtype, enum fold_op op) {
  const size_t line = 8 / fold_dtype_size(dtype), all = MOST_LINES_BYTES / fold_dtype_size(dtype);
  const size_t lengths[] = {
      0,           1,       line, line + 1, 2 * line - 1, 255 * line + 1, 256 * line, 256 * line + 1, 1000 * line + 1,
      all / 2 + 1, all - 1, all};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) add_tree(w, b, dtype, op, lengths[i], 0);
}

/* Steps of `blocks` blocks: one element; one pack a slice; a slice of 2 and of all packs; as many steps as slots; more;
 * each with a pack or an element too many or too few. */
static void lengths_by_steps(const struct virtual_world *w, struct batch *b, enum fold_dtype dtype, enum fold_op op,
                             int ranks, unsigned blocks) {
  const size_t pack = 16 / fold_dtype_size(dtype), slices = (size_t)ranks * blocks, step = slices * PACKS;
  const size_t packs[] = {1, (size_t)ranks, slices, 2 * slices, step, SLOTS * step, (2 * SLOTS + 1) * step};
  add_tree(w, b, dtype, op, 1, blocks);
  for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
    add_tree(w, b, dtype, op, packs[i] * pack, blocks);
    add_tree(w, b, dtype, op, packs[i] * pack + 1, blocks);
    add_tree(w, b, dtype, op, packs[i] * pack - 1, blocks);
    add_tree(w, b, dtype, op, packs[i] * pack + pack * (size_t)ranks / 2 + pack / 2, blocks);
  }
}

static fold_status part_lengths(struct virtual_world *w, int ranks) {
  static struct batch b;
  const unsigned full = virtual_step_blocks(w), blocks[] = {1, 2, 3, full};
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS; o++) {
      const enum fold_dtype dtype = (enum fold_dtype)d;
      const enum fold_op op = (enum fold_op)o;
      const size_t lines = MOST_LINES_BYTES / fold_dtype_size(dtype);
      lengths_by_lines(w, &b, dtype, op);
      FOLD_TRY(run_batch(w, &b, (enum virtual_order)(o % 3), "lines", dtype, op));
      for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (op != FOLD_SUM && i == 1) continue;
        lengths_by_steps(w, &b, dtype, op, ranks, blocks[i]);
        add_tree(w, &b, dtype, op, lines, blocks[i]);
        add_tree(w, &b, dtype, op, lines + 1, blocks[i]);
        FOLD_TRY(run_batch(w, &b, (enum virtual_order)((o + (int)i) % 3), "steps", dtype, op));
      }
    }
  return fold_ok();
}

static struct virtual_job draw_tree(const struct virtual_world *w, uint64_t r) {
  const unsigned full = virtual_step_blocks(w), blocks[] = {0, 0, 1, 2, 5 < full ? 5 : full, full};
  struct virtual_job job = {.kind = VIRTUAL_TREE,
                            .dtype = (enum fold_dtype)(r % GPU_DTYPES),
                            .op = (enum fold_op)(r / 4 % FOLD_OPS),
                            .blocks = blocks[(r >> 8) % 6],
                            .in_place = (r >> 16) % 3 == 0};
  size_t most = virtual_line_bytes(w) < MOST_LINES_BYTES ? virtual_line_bytes(w) : MOST_LINES_BYTES;
  if (job.blocks) most = virtual_most_bytes(w);
  most /= fold_dtype_size(job.dtype);
  job.n = 1 + ((r >> 20) % 4 ? (r >> 24) % (most / 16) : (r >> 24) % most);
  return job;
}

/* Any call, by a number. */
static struct virtual_job draw(const struct virtual_world *w, uint64_t seed) {
  const uint64_t r = adversary_draw(seed);
  const size_t most = virtual_line_bytes(w) - 8, n = (r >> 24) % most;
  if (r >> 61 == 0) return (struct virtual_job){.kind = VIRTUAL_WORDS, .n = n / 8 + 1, .in_place = r >> 16 & 1};
  if (r >> 61 == 1) return (struct virtual_job){.kind = VIRTUAL_GATHER, .n = (r >> 20) % 4 ? n : n % 300};
  return draw_tree(w, adversary_draw(r));
}

/* Where a call begins: words at multiples of 8 bytes, anything else anywhere. */
static void spread(struct virtual_job *job, uint64_t r, bool recorded) {
  if (recorded) job->in_place = false;
  job->in_shift = job->in_place ? 0 : (int)(r % VIRTUAL_SHIFTS);
  if (job->kind == VIRTUAL_WORDS && job->in_shift == 1) job->in_shift = 2;
  job->out_shift = r / 8 % 5;
}

static fold_status mixed(struct virtual_world *w, const char *what, enum virtual_order order, uint64_t seed, size_t n) {
  static struct batch b;
  char name[80];
  for (b.n = 0; b.n < n; b.n++) {
    b.jobs[b.n] = draw(w, seed * 1000 + b.n);
    spread(&b.jobs[b.n], adversary_draw(seed * 1000 + b.n + 500), order == VIRTUAL_RECORDED);
  }
  snprintf(name, sizeof name, "%s %d", what, (int)seed);
  return virtual_run(w, name, order, b.jobs, b.n, -1);
}

static fold_status part_mixed(struct virtual_world *w, int ranks) {
  (void)ranks;
  for (uint64_t seed = 1; seed <= 24; seed++)
    FOLD_TRY(mixed(w, "mixed", (enum virtual_order)(seed % VIRTUAL_ORDERS), seed, 40));
  /* The longest of each kind, and nothing at all. */
  const size_t most = virtual_line_bytes(w);
  struct virtual_job jobs[] = {{.kind = VIRTUAL_GATHER, .n = most},
                               {.kind = VIRTUAL_WORDS, .n = most / 8},
                               {.kind = VIRTUAL_WORDS, .n = 0},
                               {.kind = VIRTUAL_GATHER, .n = 0},
                               {.kind = VIRTUAL_GATHER, .n = most - 1, .in_shift = 1, .out_shift = 1},
                               {.kind = VIRTUAL_WORDS, .n = 1},
                               {.kind = VIRTUAL_GATHER, .n = 1}};
  return virtual_run(w, "longest", VIRTUAL_BY_CALL, jobs, sizeof jobs / sizeof *jobs, -1);
}

/* 32 bits of a step's number wrap, and its sign turns; calls end at 2^32 - 2. No number comes twice: a room still has
 * the lines of the calls before. */
static fold_status part_numbers(struct virtual_world *w, int ranks) {
  static const struct {
    uint32_t calls;
    uint64_t steps;
  } from[] = {{0x7ffffff0u, 0xfffffff0u},
              {0x10000000u, 0x7ffffff0u},
              {0x20000000u, 0x1fffffffdu},
              {UINT32_MAX - 1 - 40, 0xfffffffffffffu}};
  (void)ranks;
  for (uint64_t k = 0; k < sizeof from / sizeof *from; k++) {
    FOLD_TRY(virtual_count_from(w, from[k].calls, from[k].steps));
    FOLD_TRY(mixed(w, "numbers", (enum virtual_order)(k % 3), 100 + k, 40));
  }
  return fold_ok();
}

/* Every block there is room for, five steps and a bit. */
static fold_status part_long(struct virtual_world *w, int ranks) {
  static const struct {
    enum fold_dtype dtype;
    enum fold_op op;
  } of[] = {{FOLD_F32, FOLD_SUM}, {FOLD_BF16, FOLD_SUM}, {FOLD_F64, FOLD_MAX}};
  const unsigned blocks = virtual_step_blocks(w);
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    const size_t size = fold_dtype_size(of[k].dtype), step = (size_t)ranks * blocks * PACKS * 16 / size;
    struct virtual_job jobs[] = {
        {.dtype = of[k].dtype, .op = of[k].op, .n = 5 * step + 1237, .blocks = blocks},
        {.dtype = of[k].dtype, .op = of[k].op, .n = 4 * step, .blocks = blocks, .in_place = true},
        {.dtype = of[k].dtype, .op = of[k].op, .n = 3 * step - 1, .blocks = blocks, .in_shift = 1, .out_shift = 3}};
    for (int order = 0; order < VIRTUAL_RECORDED; order++)
      FOLD_TRY(virtual_run(w, "long", (enum virtual_order)order, jobs, sizeof jobs / sizeof *jobs, -1));
  }
  /* A grid of its own choice, one byte past lines: its blocks find room for two ranks alone, where one rank's leave
   * some for the first of the other's. */
  struct virtual_job own = {.dtype = FOLD_F32, .op = FOLD_SUM, .n = MOST_LINES_BYTES / 4 + 1};
  if (ranks == 2 && virtual_step_blocks(w) * 2 > 128) FOLD_TRY(virtual_run(w, "own", VIRTUAL_BY_CALL, &own, 1, -1));
  return fold_ok();
}

/* More than 2^32 elements: no number of an element, a pack or a byte has 32 bits. Each rank works in place. */
static fold_status part_huge(struct virtual_world *w, int ranks) {
  (void)ranks;
  return virtual_run_huge(w, ((size_t)1 << 32) + 12345);
}

/* The number after the last one: the kernel stops, for its lines could be old ones. */
static fold_status part_last(struct virtual_world *w, int ranks) {
  struct virtual_job one = {.dtype = FOLD_F32, .op = FOLD_SUM, .n = 5};
  (void)ranks;
  FOLD_TRY(virtual_count_from(w, UINT32_MAX - 2, 7));
  FOLD_TRY(virtual_run(w, "last", VIRTUAL_BY_CALL, &one, 1, -1));
  fold_status status = virtual_run(w, "past the last", VIRTUAL_BY_CALL, &one, 1, -1);
  if (status.code == FOLD_ENVIRONMENT && strstr(status.text, "CUDA error")) {
    printf("held: the call past the last number fails: %s\n", status.text);
    exit(0); /* the context is gone */
  }
  printf("wrong: the call past the last number went through\n");
  exit(1);
}

static fold_status part_absent(struct virtual_world *w, int ranks) {
  struct virtual_job jobs[] = {{.dtype = FOLD_F32, .op = FOLD_SUM, .n = 5000},
                               {.kind = VIRTUAL_WORDS, .n = 100},
                               {.dtype = FOLD_F16, .op = FOLD_MAX, .n = 60000, .blocks = 2}};
  return virtual_run(w, "absent", VIRTUAL_BY_CALL, jobs, sizeof jobs / sizeof *jobs, ranks - 1);
}

static fold_status part_small(struct virtual_world *w, int ranks) {
  struct virtual_job jobs[] = {
      {.dtype = FOLD_F32, .op = FOLD_SUM, .n = 1},
      {.dtype = FOLD_BF16, .op = FOLD_SUM, .n = 3001, .in_shift = 1, .out_shift = 1},
      {.dtype = FOLD_F64, .op = FOLD_MAX, .n = 700, .in_place = true},
      {.dtype = FOLD_F16, .op = FOLD_PROD, .n = 1025, .in_shift = 2},
      {.kind = VIRTUAL_WORDS, .n = 777},
      {.kind = VIRTUAL_GATHER, .n = 4001, .in_shift = 1, .out_shift = 3},
      {.dtype = FOLD_F32, .op = FOLD_MIN, .n = 2001, .blocks = 1, .out_shift = 1},
      {.dtype = FOLD_F64, .op = FOLD_SUM, .n = 301, .blocks = 2},
      {.dtype = FOLD_F16, .op = FOLD_MAX, .n = 3001, .blocks = 2, .in_place = true},
      {.dtype = FOLD_BF16, .op = FOLD_MIN, .n = 999, .blocks = 1, .in_shift = 1},
      {.dtype = FOLD_F32, .op = FOLD_SUM, .n = (size_t)ranks * PACKS * 4 * 5 + 7, .blocks = 1}};
  for (int order = 0; order < VIRTUAL_RECORDED; order++)
    FOLD_TRY(virtual_run(w, "small", (enum virtual_order)order, jobs, sizeof jobs / sizeof *jobs, -1));
  return fold_ok();
}

static const struct part {
  const char *name;
  fold_status (*run)(struct virtual_world *w, int ranks);
  size_t nbytes; /* of the longest vector: 7 steps of a block, and 5 of all */
} parts[] = {{"lengths", part_lengths, 1 << 20}, {"mixed", part_mixed, 1 << 20},  {"numbers", part_numbers, 1 << 20},
             {"long", part_long, 11 << 20},      {"last", part_last, 1 << 20},    {"absent", part_absent, 1 << 20},
             {"huge", part_huge, 1 << 10},       {"small", part_small, 700 << 10}};

static int told(fold_status status) {
  if (status.code != FOLD_OK) printf("%s\n", status.text);
  return fold_exit_code(status.code);
}

static int run(const struct part *part, int ranks, double timeout) {
  struct virtual_world *w = NULL;
  fold_status status = virtual_open(&w, ranks, part->nbytes);
  if (status.code == FOLD_OK) status = virtual_watch(w, timeout);
  if (status.code == FOLD_OK) status = part->run(w, ranks);
  if (status.code == FOLD_OK) status = virtual_judge_inputs(w);
  if (status.code != FOLD_OK) return told(status);
  printf("%s: %s: %d ranks, %zu calls compared, %zu faults\n", virtual_faults(w) ? "refuted" : "held", part->name,
         ranks, virtual_ran(w), virtual_faults(w));
  const bool held = virtual_faults(w) == 0 && virtual_ran(w) > 0;
  virtual_close(w);
  return held ? 0 : 1;
}

/* The worlds whose numbers of ranks `list` has; the exit code of the first that did not hold. NULL: only whether they can be. */
static int run_list(const struct part *part, const char *list, double timeout) {
  int code = 0;
  for (char *end; code == 0; list = end + 1) {
    const long ranks = strtol(list, &end, 10);
    if (end == list || ranks < 2 || ranks > FOLD_REACH_MOST || (*end && *end != ',')) return 2;
    if (part) code = run(part, (int)ranks, timeout);
    if (!*end) break;
  }
  return code;
}

int main(int argc, char **argv) {
  char reason[FOLD_DEVICE_TEXT] = "";
  int gpus = 0;
  const struct part *part = NULL;
  for (size_t i = 0; argc > 2 && i < sizeof parts / sizeof *parts; i++)
    if (strcmp(parts[i].name, argv[2]) == 0) part = &parts[i];
  if (!part || run_list(NULL, argv[1], 0) != 0) {
    fprintf(stderr, "usage: %s RANKS[,RANKS...] PART [TIMEOUT]\n", argv[0]);
    return 2;
  }
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  fold_status ready = fold_device_count(&gpus, reason);
  if (ready.code != FOLD_OK) return told(ready);
  if (gpus == 0) return printf("%s\n", reason), 77;
  return run_list(part, argv[1], argc > 3 ? atof(argv[3]) : 20);
}
