/* study_worlds.c: one sum, cut over the ranks of each world; and what sums and vectors share. */
#include "study_worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "bound.h"
#include "order.h"
#include "world.h"

bool fold_worlds_takes(const struct fold_subject *subject, const struct fold_worlds_case *c, bool vector) {
  return subject->engine == c->engine && subject->vector == vector && (subject->dtypes >> c->dtype & 1) &&
         (subject->ops >> FOLD_SUM & 1);
}

static void refute(char refuted[160], const char *what) {
  if (!*refuted) snprintf(refuted, 160, "%s", what);
}

static bool promises(const struct fold_subject *subject, enum fold_claim_id claim) {
  return fold_claims_of(subject, FOLD_SUM) & FOLD_CLAIM(claim);
}

/* A poison that no result is. */
enum { POISON = 0xa5 };

fold_status fold_worlds_once(const struct fold_worlds_run *run, void *got) {
  struct fold_request request = {
      .op = FOLD_SUM, .first = run->first, .rows = run->rows, .cols = run->cols, .poison = POISON, .ranks = run->ranks};
  struct fold_traces traces;
  uint64_t hash;
  char text[80];
  FOLD_TRY(fold_rig_run(run->rig, run->subject, &request, got, &traces));
  if (traces.ranks_differ && promises(run->subject, FOLD_RANK_AGREEMENT)) {
    snprintf(text, sizeof text, "rank %u has other bits than rank 0", traces.rank);
    refute(run->refuted, text);
  }
  if (traces.unwritten) refute(run->refuted, "a result was not written");
  if (traces.out_of_bounds) refute(run->refuted, "it left its bounds");
  if (traces.left[0]) refute(run->refuted, "it left its environment changed");
  FOLD_TRY(fold_rig_hash(run->rig, &hash));
  if (hash == run->input_hash) return fold_ok();
  refute(run->refuted, "it changed its input");
  return fold_rig_load(run->rig); /* the harness has its own: what comes next is of the true input */
}

/* What all worlds and subjects of one case share, and what each subject gave in the world of one. */
struct bench {
  const struct fold_worlds_case *c;
  struct fold_rig rig;
  struct fold_truth truth;
  uint64_t input_hash;
  uint64_t *one;
  bool *has_one;
  const struct fold_order *order; /* the last one that was replayed */
  uint64_t replayed, height;
  void *shards;
};

static fold_status open_bench(struct bench *b, const struct fold_worlds_case *c, size_t subjects, unsigned ranks) {
  struct fold_source source = {c->generator, c->dtype, c->seed, c->n, 0};
  b->one = calloc(subjects + 1, sizeof *b->one);
  b->has_one = calloc(subjects + 1, sizeof *b->has_one);
  b->shards = calloc(ranks + 1, sizeof(double));
  if (!b->one || !b->has_one || !b->shards) return fold_error(FOLD_NO_MEMORY, "not enough memory for the subjects");
  FOLD_TRY(fold_source_check(&source));
  FOLD_TRY(fold_rig_open(&b->rig, c->engine, c->dtype, c->n, 1));
  void *terms = fold_rig_input(&b->rig);
  fold_generate_parallel(&source, 0, c->n, terms, 0);
  FOLD_TRY(fold_rig_load(&b->rig));
  FOLD_TRY(fold_rig_hash(&b->rig, &b->input_hash));
  return fold_oracle_exact(c->dtype, FOLD_SUM, terms, c->n, 0, &b->truth);
}

static void close_bench(struct bench *b) {
  fold_rig_close(&b->rig);
  fold_truth_free(&b->truth);
  free(b->one);
  free(b->has_one);
  free(b->shards);
}

/* The bits and the height of a declared order: walked once. */
static fold_status replay(struct bench *b, const struct fold_order *order) {
  const struct fold_worlds_case *c = b->c;
  const void *terms = fold_rig_input(&b->rig);
  double room = 0;
  if (b->order == order) return fold_ok();
  struct fold_call call = {.dtype = c->dtype, .op = FOLD_SUM, .rows = 1, .cols = c->n, .in = terms, .out = &room};
  FOLD_TRY(fold_order_replay(order, &call));
  FOLD_TRY(fold_order_height(order, c->dtype, terms, c->n, &b->height));
  b->replayed = fold_bits_load(c->dtype, &room, 0);
  b->order = order;
  return fold_ok();
}

/* What the subject must give, and the height of its order, or of its shape over so many ranks; n - 1 bounds any. */
static fold_status expect(struct bench *b, struct fold_worlds_sum *s) {
  const struct fold_subject *subject = s->point.subject;
  const struct fold_order *order = subject->order ? fold_order_find(subject->order) : NULL;
  s->point.height = b->c->n > 0 ? b->c->n - 1 : 0;
  if (subject->height) s->point.height = subject->height(b->c->n, s->ranks);
  if (order) {
    FOLD_TRY(replay(b, order));
    s->point.height = b->height;
  }
  s->has_must = promises(subject, FOLD_CORRECTLY_ROUNDED) || (order && promises(subject, FOLD_REPLAYS));
  s->must = promises(subject, FOLD_CORRECTLY_ROUNDED) ? b->truth.rounded[b->c->dtype] : b->replayed;
  return fold_ok();
}

/* Each rank's own sum, by the subject alone on that rank's columns; their exact sum, and how far R - 1 more roundings
 * may lead from it. */
static fold_status join(struct bench *b, struct fold_worlds_sum *s) {
  const struct fold_worlds_case *c = b->c;
  struct fold_truth truth;
  mpfr_t error, bound;
  fold_status status = fold_ok();
  for (unsigned r = 0; r < s->ranks && status.code == FOLD_OK; r++) {
    size_t at = fold_comm_cut(c->n, 1, (int)s->ranks, (int)r), end = fold_comm_cut(c->n, 1, (int)s->ranks, (int)r + 1);
    uint64_t own = 0;
    struct fold_worlds_run run = {&b->rig, s->point.subject, 1, at, 1, end - at, b->input_hash, s->refuted};
    status = fold_worlds_once(&run, &own);
    fold_bits_store(c->dtype, b->shards, r, fold_bits_load(c->dtype, &own, 0));
  }
  if (status.code != FOLD_OK) return status;
  fold_truth_init(&truth);
  mpfr_init2(error, 256);
  mpfr_init2(bound, 128);
  status = fold_oracle_exact(c->dtype, FOLD_SUM, b->shards, s->ranks, 1, &truth);
  if (status.code == FOLD_OK && fold_bits_class(c->dtype, s->point.got) < FOLD_INFINITE &&
      fold_bound(s->point.subject->method, &truth, s->ranks - 1, bound).code == FOLD_OK) {
    fold_truth_error(error, &truth, c->dtype, s->point.got);
    s->join_error = mpfr_get_d(error, MPFR_RNDU);
    s->join_bound = mpfr_get_d(bound, MPFR_RNDU);
    if (!mpfr_lessequal_p(error, bound)) refute(s->refuted, "joining the ranks' own sums went beyond its bound");
  }
  mpfr_clears(error, bound, (mpfr_ptr)0);
  fold_truth_free(&truth);
  return status;
}

/* What is promised, of what was seen; an error is accepted by error <= bound. Where there is no bound, bits alone tell.
 * */
static void judge(struct fold_worlds_sum *s) {
  const struct fold_study_point *p = &s->point;
  enum fold_dtype dtype = p->c.dtype;
  bool off = isnan(p->error) ? fold_bits_class(dtype, p->got) >= FOLD_INFINITE : !(p->error <= p->bound);
  if (promises(p->subject, FOLD_CORRECTLY_ROUNDED) && !fold_bits_same(dtype, p->got, s->must))
    refute(s->refuted, "not the number nearest to the exact sum");
  if (promises(p->subject, FOLD_REPLAYS) && s->has_must && !fold_bits_same(dtype, p->got, s->must))
    refute(s->refuted, "other bits than its order's replay");
  if (promises(p->subject, FOLD_WORLD_INVARIANT) && s->has_one && !fold_bits_same(dtype, p->got, s->one))
    refute(s->refuted, "other bits than in a world of one rank");
  if (promises(p->subject, FOLD_BOUNDED) && !isnan(p->bound) && off) refute(s->refuted, "the error is above the bound");
}

static fold_status run_subject(struct bench *b, size_t index, struct fold_worlds_sum *s) {
  const struct fold_subject *subject = s->point.subject;
  uint64_t room = 0;
  struct fold_worlds_run run = {&b->rig, subject, s->ranks, 0, 1, b->c->n, b->input_hash, s->refuted};
  FOLD_TRY(fold_worlds_once(&run, &room));
  s->point.ran = true;
  s->point.got = fold_bits_load(b->c->dtype, &room, 0);
  if (s->ranks == 1) {
    b->one[index] = s->point.got;
    b->has_one[index] = true;
  }
  s->one = b->one[index];
  s->has_one = b->has_one[index];
  FOLD_TRY(expect(b, s));
  fold_study_measure(&s->point, &b->truth);
  /* One rank joins nothing; an order of its own, or none, has its own bound. */
  bool joins = s->ranks > 1 && !subject->order && (subject->method == FOLD_PLAIN || subject->method == FOLD_NARROW);
  if (joins) FOLD_TRY(join(b, s));
  judge(s);
  return fold_ok();
}

static fold_status take_subject(struct bench *b, const struct fold_subject *subject, size_t index, unsigned ranks,
                                const struct fold_worlds_sink *sink) {
  const struct fold_worlds_case *c = b->c;
  struct fold_worlds_sum s = {.ranks = ranks, .join_error = NAN, .join_bound = NAN};
  s.point = (struct fold_study_point){.c = {c->generator, c->dtype, FOLD_SUM, c->n, c->seed, 1u << c->engine},
                                      .subject = subject};
  struct fold_study_point *p = &s.point;
  p->exact = p->abs_sum = p->condition = p->error = p->ulps = p->relative = p->bound = p->probabilistic = NAN;
  fold_status status = run_subject(b, index, &s);
  if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) return status;
  if (status.code != FOLD_OK) snprintf(p->note, sizeof p->note, "%.*s", (int)sizeof p->note - 1, status.text);
  return sink->sum(sink->context, &s);
}

fold_status fold_worlds_sums(const struct fold_registry *registry, const struct fold_worlds_case *c,
                             const struct fold_worlds_sink *sink, const volatile int *stop) {
  struct fold_world *world;
  unsigned sizes[FOLD_WORLDS_MOST];
  FOLD_TRY(fold_world_of(c->engine, &world));
  size_t n_sizes = fold_worlds_sizes(fold_world_ranks(world), sizes);
  struct bench b = {.c = c};
  fold_truth_init(&b.truth);
  fold_status status = open_bench(&b, c, registry->n, fold_world_ranks(world));
  for (size_t k = 0; k < n_sizes; k++)
    for (size_t i = 0; i < registry->n && status.code == FOLD_OK && !*stop; i++)
      if (fold_worlds_takes(&registry->subjects[i], c, false))
        status = take_subject(&b, &registry->subjects[i], i, sizes[k], sink);
  close_bench(&b);
  return fold_within(status, "a sum of %zu %s terms, %s", c->n, fold_dtype_name(c->dtype), c->generator->name);
}
