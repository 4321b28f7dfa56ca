/* study/worlds.c: runs one sum, cut over the ranks of each world; also functions that sums and vectors share. */
#include "study/worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/bound.h"
#include "oracles/order.h"
#include "ranks/world.h"

bool fold_worlds_takes(const struct fold_subject *subject, const struct fold_worlds_case *c, bool vector) {
  return subject->engine == c->engine && subject->vector == vector && (subject->dtypes >> c->dtype & 1) &&
         (subject->problems >> FOLD_SUM & 1) && fold_subject_result(subject, c->dtype) == c->dtype;
}

static bool promises(const struct fold_subject *subject, enum fold_claim_id claim) {
  return fold_claims_of(subject, FOLD_SUM) & FOLD_CLAIM(claim);
}

static void refute_by(char refuted[160], const char *claim, const struct fold_finding *finding) {
  if (!*refuted && finding->verdict == FOLD_REFUTED) snprintf(refuted, 160, "%s: %.120s", claim, finding->reason);
}

void fold_worlds_take(void *verdict, const struct fold_claim *claim, const struct fold_finding *finding) {
  struct fold_worlds_verdict *v = verdict;
  refute_by(v->refuted, claim->name, finding);
  if (finding->verdict == FOLD_BROKEN) v->status = fold_error(FOLD_ENVIRONMENT, "%s: %s", claim->name, finding->reason);
}

static void refute(char refuted[160], const char *what) {
  if (!*refuted) snprintf(refuted, 160, "%s", what);
}

/* A poison that is no subject's result. */
enum { POISON = 0xa5 };

fold_status fold_worlds_once(const struct fold_worlds_run *run, void *got) {
  struct fold_request request = {
      .first = {run->first}, .rows = run->rows, .cols = run->cols, .poison = POISON, .ranks = run->ranks};
  struct fold_traces traces;
  uint64_t hash;
  char text[80];
  FOLD_TRY(fold_rig_run(run->rig, run->subject, &request, got, &traces));
  if (traces.ranks_differ && promises(run->subject, FOLD_RANK_AGREEMENT)) {
    snprintf(text, sizeof text, "rank %u has different bits than rank 0", traces.rank);
    refute(run->refuted, text);
  }
  if (traces.unwritten) refute(run->refuted, "a result was not written");
  if (traces.out_of_bounds) refute(run->refuted, "it left its bounds");
  if (traces.left[0]) refute(run->refuted, "it left its environment changed");
  FOLD_TRY(fold_rig_hash(run->rig, &hash));
  if (hash == run->input_hash) return fold_ok();
  refute(run->refuted, "it changed its input");
  return fold_rig_load(run->rig); /* the harness keeps its own copy, so the next run gets the right input */
}

/* What all worlds and subjects of one case share, and the result of each subject in the world of one rank. */
struct sharded {
  const struct fold_worlds_case *c;
  struct fold_case row;
  struct fold_rig rig;
  struct fold_truths truths;
  const struct fold_truth *truth; /* of the row */
  uint64_t input_hash;
  uint64_t *one;
  bool *has_one;
  void *shards;
};

static fold_status open_sharded(struct sharded *b, const struct fold_worlds_case *c, size_t subjects, unsigned ranks) {
  struct fold_source source = {c->generator, c->dtype, c->seed, c->n, 0};
  b->row = (struct fold_case){.dtype = c->dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = c->n};
  b->one = calloc(subjects + 1, sizeof *b->one);
  b->has_one = calloc(subjects + 1, sizeof *b->has_one);
  b->shards = calloc(ranks + 1, sizeof(double));
  if (!b->one || !b->has_one || !b->shards) return fold_no_memory("for the subjects");
  FOLD_TRY(fold_source_check(&source));
  FOLD_TRY(fold_rig_open_rows(&b->rig, c->engine, FOLD_SUM, c->dtype, c->n, 1));
  void *terms = fold_rig_input(&b->rig);
  fold_generate_parallel(&source, 0, c->n, terms, 0);
  FOLD_TRY(fold_rig_load(&b->rig));
  FOLD_TRY(fold_rig_hash(&b->rig, &b->input_hash));
  FOLD_TRY(fold_truths_open(&b->truths, &b->row, terms));
  return fold_truths_row(&b->truths, 0, &b->truth);
}

static void close_sharded(struct sharded *b) {
  if (b->truths.c) fold_truths_close(&b->truths);
  fold_rig_close(&b->rig);
  free(b->one);
  free(b->has_one);
  free(b->shards);
}

/* Sets the bits that the subject promises, and the height of its order. Without an order it is the height of the
 * subject's shape over so many ranks, or n - 1, which no order exceeds. */
static fold_status expect(const struct fold_evidence *e, const struct fold_truth *truth, struct fold_worlds_sum *s) {
  const void *replayed;
  enum fold_dtype dtype = truth->dtype;
  FOLD_TRY(fold_evidence_height(e, &s->point.height));
  s->must = truth->rounded[dtype];
  s->has_must = promises(e->subject, FOLD_CORRECTLY_ROUNDED);
  if (s->has_must || !e->subject->order || !promises(e->subject, FOLD_REPLAYS)) return fold_ok();
  FOLD_TRY(fold_evidence_replay(e, &replayed));
  s->must = fold_bits_load(dtype, replayed, 0);
  s->has_must = true;
  return fold_ok();
}

/* Gets each rank's own sum from runs of the subject on that rank's columns alone. */
static fold_status run_shards(struct sharded *b, struct fold_worlds_sum *s) {
  const struct fold_worlds_case *c = b->c;
  for (unsigned r = 0; r < s->ranks; r++) {
    size_t at = fold_comm_cut(c->n, 1, (int)s->ranks, (int)r), end = fold_comm_cut(c->n, 1, (int)s->ranks, (int)r + 1);
    uint64_t own = 0;
    struct fold_worlds_run run = {&b->rig, s->point.subject, 1, at, 1, end - at, b->input_hash, s->refuted};
    FOLD_TRY(fold_worlds_once(&run, &own));
    fold_bits_store(c->dtype, b->shards, r, fold_bits_load(c->dtype, &own, 0));
  }
  return fold_ok();
}

/* The error of the R - 1 joins of the ranks' own sums, and its bound. */
static fold_status join(struct sharded *b, struct fold_worlds_sum *s) {
  struct fold_finding finding = fold_finding_open(1);
  struct fold_weighing w;
  struct fold_truth truth;
  FOLD_TRY(run_shards(b, s));
  fold_truth_init(&truth);
  fold_weighing_init(&w);
  w.truth = &truth;
  w.how = fold_subject_arithmetic(s->point.subject, b->c->dtype);
  w.height = s->ranks - 1;
  w.got = s->point.got;
  fold_status status = fold_oracle_exact(b->c->dtype, FOLD_SUM, b->shards, s->ranks, 1, &truth), none;
  if (status.code == FOLD_OK && !fold_weigh(&w, &finding, &none))
    refute_by(s->refuted, "joining the ranks' own sums", &finding);
  if (!isnan(w.ulps)) {
    s->join_error = mpfr_get_d(w.error, MPFR_RNDU);
    s->join_bound = mpfr_get_d(w.bound, MPFR_RNDU);
  }
  fold_weighing_free(&w);
  fold_truth_free(&truth);
  return status;
}

/* Judges the result by the promised claims. */
static fold_status judge(const struct fold_evidence *e, struct fold_worlds_sum *s) {
  struct fold_worlds_verdict verdict = {s->refuted, fold_ok()};
  struct fold_finding finding = fold_finding_open(1);
  fold_judge_evidence(e, NULL, fold_worlds_take, &verdict);
  if (promises(e->subject, FOLD_WORLD_INVARIANT) && s->has_one &&
      !fold_find_same(&finding, s->point.c.dtype, &s->point.got, &s->one, 1,
                      "different bits than in a world of one rank"))
    refute_by(s->refuted, "world_invariant", &finding);
  return verdict.status;
}

static fold_status run_subject(struct sharded *b, size_t index, struct fold_worlds_sum *s) {
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
  struct fold_evidence evidence = {subject, &b->truths, s->ranks, &room};
  FOLD_TRY(expect(&evidence, b->truth, s));
  fold_study_measure(&s->point, b->truth);
  FOLD_TRY(judge(&evidence, s));
  /* One rank joins nothing. A declared order has its own bound, and so has a method that is not plain. */
  bool joins = s->ranks > 1 && !subject->order && subject->method == FOLD_PLAIN;
  return joins ? join(b, s) : fold_ok();
}

static fold_status take_subject(struct sharded *b, const struct fold_subject *subject, size_t index, unsigned ranks,
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
  struct sharded b = {.c = c};
  fold_status status = open_sharded(&b, c, registry->n, fold_world_ranks(world));
  for (size_t k = 0; k < n_sizes; k++)
    for (size_t i = 0; i < registry->n && status.code == FOLD_OK && !*stop; i++)
      if (fold_worlds_takes(&registry->subjects[i], c, false))
        status = take_subject(&b, &registry->subjects[i], i, sizes[k], sink);
  close_sharded(&b);
  return fold_within(status, "a sum of %zu %s terms, %s", c->n, fold_dtype_name(c->dtype), c->generator->name);
}
