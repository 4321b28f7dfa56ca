/* study/worlds_vectors.c: one all-reduce of a vector in each world, compared with the canonical order over its ranks and
 * against the exact sums of its elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/order.h"
#include "ranks/world.h"
#include "study/worlds.h"

/* foldproof's own order over ranks, with which every subject is compared. */
static const char canonical_order[] = "host/pairwise";

struct sharded {
  const struct fold_worlds_case *c;
  struct fold_rig rig;
  unsigned char *terms; /* n x most, row-major: world R has the first R columns of each row */
  size_t most;
  uint64_t input_hash;
  void *got, *canonical;
  /* Of the current world. Only replays are taken from these truths, no exact results. */
  struct fold_case rows;
  struct fold_truths truths;
};

static fold_status open_sharded(struct sharded *b, const struct fold_worlds_case *c, size_t most) {
  struct fold_source source = {c->generator, c->dtype, c->seed, most, 0};
  size_t size = fold_dtype_size(c->dtype);
  b->c = c;
  b->most = most;
  FOLD_TRY(fold_source_check(&source));
  if (c->n > SIZE_MAX / (most * size + 1)) return fold_no_memory("for %zu elements", c->n);
  b->terms = malloc(c->n * most * size + 1);
  b->got = malloc(c->n * size + sizeof(double));
  b->canonical = malloc(c->n * size + sizeof(double));
  if (!b->terms || !b->got || !b->canonical) return fold_no_memory("for %zu elements of %zu ranks", c->n, most);
  fold_generate_parallel(&source, 0, c->n * most, b->terms, 0);
  return fold_ok();
}

static void close_sharded(struct sharded *b) {
  fold_truths_close(&b->truths);
  fold_rig_close(&b->rig);
  free(b->terms);
  free(b->got);
  free(b->canonical);
}

/* Lays the columns of the world, and replays the canonical order on them. */
static fold_status lay(struct sharded *b, unsigned ranks) {
  const struct fold_worlds_case *c = b->c;
  size_t size = fold_dtype_size(c->dtype), row = ranks * size, whole = b->most * size;
  fold_rig_close(&b->rig);
  fold_truths_close(&b->truths);
  FOLD_TRY(fold_rig_open_rows(&b->rig, c->engine, FOLD_SUM, c->dtype, c->n * ranks, c->n));
  unsigned char *input = fold_rig_input(&b->rig);
  for (size_t i = 0; i < c->n; i++) memcpy(input + i * row, b->terms + i * whole, row);
  FOLD_TRY(fold_rig_load(&b->rig));
  FOLD_TRY(fold_rig_hash(&b->rig, &b->input_hash));
  b->rows = (struct fold_case){.dtype = c->dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = c->n, .cols = ranks};
  b->truths = (struct fold_truths){.c = &b->rows, .in = {input}};
  struct fold_call call = {.dtype = c->dtype,
                           .problem = fold_rows_problem(FOLD_SUM),
                           .rows = c->n,
                           .cols = ranks,
                           .in = {input},
                           .out = b->canonical};
  return fold_order_replay(fold_order_find(canonical_order), &call);
}

static double magnitude_of(enum fold_dtype dtype, const unsigned char *row, size_t ranks) {
  double sum = 0;
  for (size_t r = 0; r < ranks; r++) sum += fabs(fold_bits_to_double(dtype, fold_bits_load(dtype, row, r)));
  return sum;
}

/* How many elements have different bits than in the canonical order, and how far off the farthest is. A distance over
 * sum |x| has a few roundings in double, which 1 + 2^-30 covers. */
static void compare(const struct sharded *b, struct fold_worlds_vector *v) {
  enum fold_dtype dtype = v->c.dtype;
  size_t size = fold_dtype_size(dtype);
  if (memcmp(b->got, b->canonical, v->c.n * size) == 0) return;
  const unsigned char *input = fold_rig_input(&b->rig);
  for (size_t i = 0; i < v->c.n; i++) {
    uint64_t got = fold_bits_load(dtype, b->got, i), want = fold_bits_load(dtype, b->canonical, i);
    if (fold_bits_same(dtype, got, want)) continue;
    v->differ++;
    double apart = fabs(fold_bits_to_double(dtype, got) - fold_bits_to_double(dtype, want)) * (1 + 0x1p-30);
    if (apart > 0) apart /= magnitude_of(dtype, input + i * v->ranks * size, v->ranks);
    if (!(apart <= v->apart)) v->apart = apart;
  }
}

static fold_status judge(const struct fold_evidence *e, struct fold_worlds_vector *v) {
  struct fold_worlds_verdict verdict = {v->refuted, fold_ok()};
  fold_judge_evidence(e, "replays", fold_worlds_take, &verdict);
  bool bounded = fold_claims_of(v->subject, FOLD_SUM) & FOLD_CLAIM(FOLD_BOUNDED);
  if (bounded && v->errors.exceeded > 0 && !*v->refuted)
    snprintf(v->refuted, sizeof v->refuted, "bounded: %zu elements are above their bounds, the first is number %zu",
             v->errors.exceeded, v->errors.at);
  return verdict.status;
}

static fold_status run_subject(struct sharded *b, struct fold_worlds_vector *v) {
  const struct fold_worlds_case *c = b->c;
  struct fold_worlds_run run = {&b->rig, v->subject, v->ranks, 0, c->n, v->ranks, b->input_hash, v->refuted};
  FOLD_TRY(fold_worlds_once(&run, b->got));
  struct fold_evidence evidence = {v->subject, &b->truths, v->ranks, b->got};
  FOLD_TRY(fold_evidence_height(&evidence, &v->height));
  v->ran = true;
  v->hash = fold_results_hash(c->dtype, b->got, c->n);
  compare(b, v);
  FOLD_TRY(fold_worlds_errors(fold_subject_arithmetic(v->subject, c->dtype), c->dtype, v->height,
                              fold_rig_input(&b->rig), c->n, v->ranks, b->got, &v->errors));
  return judge(&evidence, v);
}

static fold_status take_subject(struct sharded *b, const struct fold_subject *subject, unsigned ranks,
                                const struct fold_worlds_sink *sink) {
  struct fold_worlds_vector v = {.c = *b->c, .subject = subject, .ranks = ranks};
  fold_status status = run_subject(b, &v);
  if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) return status;
  if (status.code != FOLD_OK) snprintf(v.note, sizeof v.note, "%.*s", (int)sizeof v.note - 1, status.text);
  return sink->vector(sink->context, &v);
}

fold_status fold_worlds_vectors(const struct fold_registry *registry, const struct fold_worlds_case *c,
                                const struct fold_worlds_sink *sink, const volatile int *stop) {
  struct fold_world *world;
  unsigned sizes[FOLD_WORLDS_MOST];
  FOLD_TRY(fold_world_of(c->engine, &world));
  size_t n_sizes = fold_worlds_sizes(fold_world_ranks(world), sizes);
  struct sharded b = {.most = 0};
  fold_status status = open_sharded(&b, c, sizes[n_sizes - 1]);
  for (size_t k = 0; k < n_sizes && status.code == FOLD_OK && !*stop; k++) {
    status = lay(&b, sizes[k]);
    for (size_t i = 0; i < registry->n && status.code == FOLD_OK && !*stop; i++)
      if (fold_worlds_takes(&registry->subjects[i], c, true))
        status = take_subject(&b, &registry->subjects[i], sizes[k], sink);
  }
  close_sharded(&b);
  return fold_within(status, "an all-reduce of %zu %s elements, %s", c->n, fold_dtype_name(c->dtype),
                     c->generator->name);
}
