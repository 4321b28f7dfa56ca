/* plan.c: a plan is a covering array of two factors at a time, as far as so few runs can be one. */
#include "judge/plan.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Numbers of threads: the subject's own (0), one, and groups of others. A plan has one number of each group, which the
 * input's hash chooses: so the trials of a run try them all, and none has more runs. */
enum { GROUPS = 8, ONE = 1, MANY = GROUPS - 1 };
static const struct {
  unsigned n, at[5];
} groups[GROUPS] = {
    {1, {0}},         {1, {1}}, {1, {2}}, {2, {3, 4}}, {3, {5, 6, 7}}, {3, {8, 9, 10}}, {5, {11, 12, 13, 14, 15}},
    {3, {16, 24, 32}}};
/* Ranks share a machine, so fewer numbers are tried, and smaller ones. */
static const unsigned of_ranks[] = {0, 1, 2, 3, 4, 7, 8, 16};
static const ptrdiff_t shifts[] = {1, 2, 3, 4, 5, 8, 16, 32};
static const ptrdiff_t other_shifts[] = {0, 1, 2, 4, 5};
static const unsigned out_shifts[] = {0, 1, 3, 16};
/* Grids and blocks that divide work unevenly. */
static const struct fold_launch grids[] = {
    {0}, {.blocks = 1}, {.blocks = 7}, {0}, {.blocks = 132}, {.block = 128}, {.block = 512, .blocks = 33}};

enum { FEW = 5 }; /* runs of the longest inputs */

/* The offsets that the input's hash gives to the levels of each factor. */
struct turn {
  size_t nan, shift, other, out, scratch, side, first, last, rank;
  unsigned threads[GROUPS];
};

static size_t take(uint64_t *hash, size_t n) {
  size_t r = *hash % n;
  *hash /= n;
  return r;
}

static struct turn turn_of(uint64_t hash) {
  struct turn t = {.nan = take(&hash, 2), .shift = take(&hash, COUNT(shifts)), .out = take(&hash, COUNT(out_shifts))};
  t.scratch = take(&hash, 2);
  t.side = take(&hash, 2);
  t.first = take(&hash, COUNT(of_ranks));
  t.last = take(&hash, GROUPS - 2);
  t.rank = take(&hash, FEW);
  t.other = take(&hash, COUNT(other_shifts));
  for (size_t g = 0; g < GROUPS; g++) t.threads[g] = groups[g].at[take(&hash, groups[g].n)];
  return t;
}

/* Arguments away from closed pages, at shifted addresses. */
static struct fold_variation shifted(const struct turn *t, size_t i) {
  return (struct fold_variation){.shift = shifts[(i + t->shift) % COUNT(shifts)], /* unseen: - */
                                 .other_shift = other_shifts[(i + t->other) % COUNT(other_shifts)],
                                 .out_shift = out_shifts[(i + t->out) % COUNT(out_shifts)], /* unseen: - */
                                 .scratch_shift = (i / 4 + i + t->scratch) % 2}; /* unseen: - */
}

static struct fold_variation flush(size_t end) {
  return (struct fold_variation){.placement = end ? FOLD_AT_END : FOLD_AT_START};
}

/* Each number of threads with arguments at the start of a page, at its end, and elsewhere. The numbers rise, fall and
 * rise again, so that OpenMP has to create few threads. */
static size_t plan_all(const struct turn *t, struct fold_variation *plan) {
  enum { N = GROUPS };
  for (size_t k = 0; k < 3 * N; k++) {
    size_t pass = k / N, i = pass == 1 ? N - 1 - k % N : k % N;
    plan[k] = pass < 2 ? flush(pass) : shifted(t, i);
    plan[k].launch.threads = t->threads[i];
    plan[k].nan = (i + pass + t->nan) % 2;
  }
  return 3 * N;
}

/* Each number of threads with arguments at one end of a page, and elsewhere. */
static size_t plan_part(const struct turn *t, struct fold_variation *plan) {
  enum { N = GROUPS };
  for (size_t k = 0; k < 2 * N; k++) {
    size_t pass = k / N, i = pass == 1 ? N - 1 - k % N : k % N;
    plan[k] = pass == 0 ? flush((i + t->side) % 2) : shifted(t, i);
    plan[k].launch.threads = t->threads[i];
    plan[k].nan = (i / 2 + pass + t->nan) % 2;
  }
  return 2 * N;
}

/* One thread, many, and the numbers of three other groups. */
static unsigned threads_of_few(const struct turn *t, size_t which) {
  static const unsigned char others[GROUPS - 2] = {0, 2, 3, 4, 5, 6};
  const size_t group = which == 0 ? MANY : which == 1 ? ONE : others[(which + t->last) % (GROUPS - 2)];
  return t->threads[group];
}

/* Five numbers of threads, spread over both ends of a page and three other places. */
static size_t plan_few(const struct turn *t, struct fold_variation *plan) {
  for (size_t k = 0; k < FEW; k++) {
    plan[k] = k < 2 ? flush((k + t->side) % 2) : shifted(t, 3 * k);
    plan[k].launch.threads = threads_of_few(t, (k + t->rank) % FEW);
    plan[k].nan = (k + k / 2 + t->nan) % 2;
  }
  return FEW;
}

/* A run over ranks takes as long as dozens of runs on the host, so each number of threads has one place only. */
static size_t plan_ranks(const struct turn *t, size_t terms, struct fold_variation *plan) {
  (void)terms;
  enum { N = COUNT(of_ranks) };
  for (size_t i = 0; i < N; i++) {
    size_t place = (i + t->first) % 4;
    plan[i] = place % 2 ? shifted(t, i) : flush(place / 2);
    plan[i].launch.threads = of_ranks[i];
    plan[i].nan = (i + i / 4 + t->nan) % 2;
  }
  return N;
}

/* A device's pages can't be closed. */
static size_t plan_grids(const struct turn *t, size_t terms, struct fold_variation *plan) {
  (void)terms;
  for (size_t i = 0; i < COUNT(grids); i++) {
    plan[i] = shifted(t, i);
    plan[i].launch = grids[i];
    plan[i].nan = (i + t->nan) % 2; /* unseen: - */
  }
  return COUNT(grids);
}

/* On the host the second input comes in between, so that a result stored for the last input can't pass. */
static size_t plan_threads(const struct turn *t, size_t terms, struct fold_variation *plan) {
  size_t n = (terms <= FOLD_PLAN_ALL ? plan_all : terms <= FOLD_PLAN_FEW ? plan_part : plan_few)(t, plan);
  for (size_t k = 0; k < n; k++) plan[k].second = terms > 0 && k % 2 == 1;
  return n;
}

size_t fold_plan(enum fold_engine engine, size_t terms, uint64_t hash, struct fold_variation plan[FOLD_PLAN_MOST]) {
  static size_t (*const plans[FOLD_LAUNCHES])(const struct turn *t, size_t terms, struct fold_variation *plan) = {
      [FOLD_LAUNCH_THREADS] = plan_threads, [FOLD_LAUNCH_GRIDS] = plan_grids, [FOLD_LAUNCH_RANKS] = plan_ranks};
  struct turn turn = turn_of(hash);
  return plans[fold_engine_rows[engine].launches](&turn, terms, plan);
}

static bool has_launch(const struct fold_variation *v) {
  return v->launch.threads || v->launch.blocks || v->launch.block;
}
static bool has_address(const struct fold_variation *v) {
  return v->shift || v->other_shift || v->out_shift || v->scratch_shift || v->placement != FOLD_PLACED;
}

unsigned fold_variation_factors(const struct fold_variation *v) {
  return (has_launch(v) ? FOLD_VARIES_LAUNCH : 0u) | (has_address(v) ? FOLD_VARIES_ADDRESS : 0u) |
         (v->nan ? FOLD_VARIES_POISON : 0u);
}

struct fold_variation fold_variation_part(const struct fold_variation *v, unsigned factors) {
  struct fold_variation part = *v;
  if (!(factors & FOLD_VARIES_POISON)) part.nan = false;
  if (!(factors & FOLD_VARIES_LAUNCH)) part.launch = (struct fold_launch){0};
  if (factors & FOLD_VARIES_ADDRESS) return part;
  part.shift = part.other_shift = 0;
  part.out_shift = part.scratch_shift = 0;
  part.placement = FOLD_PLACED;
  return part;
}

static void describe_placement(enum fold_placement placement, size_t bytes, char text[60]) {
  const size_t past = (64 - bytes % 64) % 64;
  if (placement == FOLD_AT_START || past == 0)
    snprintf(text, 60, "at the %s of a page", placement == FOLD_AT_START ? "start" : "end");
  else
    snprintf(text, 60, "at the end of a page, %zu byte%s from a multiple of 64", past, past == 1 ? "" : "s");
}

void fold_variation_describe(const struct fold_variation *v, size_t bytes, char text[200]) {
  struct {
    bool is;
    char text[60];
  } parts[] = {{v->launch.threads, ""},
               {v->launch.blocks, ""},
               {v->launch.block, ""},
               {v->shift, ""},
               {v->other_shift, ""},
               {v->out_shift, ""},
               {v->scratch_shift, ""},
               {v->placement != FOLD_PLACED, ""},
               {v->nan, ""},
               {v->second, "of the input with a term changed"}};
  snprintf(parts[0].text, 60, "with %u thread%s", v->launch.threads, v->launch.threads == 1 ? "" : "s");
  snprintf(parts[1].text, 60, "with %u block%s", v->launch.blocks, v->launch.blocks == 1 ? "" : "s"); /* unseen: 59 */
  snprintf(parts[2].text, 60, "with blocks of %u threads", v->launch.block);
  snprintf(parts[3].text, 60, "%td element%s from an aligned address", v->shift, v->shift == 1 ? "" : "s");
  snprintf(parts[4].text, 60, "its other input %td element%s from one", v->other_shift, v->other_shift == 1 ? "" : "s");
  snprintf(parts[5].text, 60, "with the output %u element%s further", v->out_shift, v->out_shift == 1 ? "" : "s");
  snprintf(parts[6].text, 60, "with the scratch %u bytes further", 256 * v->scratch_shift);
  describe_placement(v->placement, bytes, parts[7].text);
  snprintf(parts[8].text, 60, "with NaN in the output before");
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].is && n < 200) n += (size_t)snprintf(text + n, 200 - n, "%s%s", n ? ", " : "", parts[i].text);
}
