/* bench/world_judge.c: collectives are judged before they are timed: on a small shape of the same kind, and at the
 * timed one. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "bench/world_race.h"

/* Sizes that are judged before the timed shape: small enough for the judges, but more than one block for every method
 * here. */
enum { SMALL_VECTOR = 4099, SMALL_SUM = (1 << 20) + 77, LONG_SUM = 1 << 22 };
static const char *const judged_first = "writes_output,bounded,replays,correctly_rounded,rank_agreement";
static const char *const judged_at_size = "bounded,replays,correctly_rounded";
/* The claims that are judged on long sums. Here are no terms to replay, and computing the height of an order term by
 * term would take too long. */
static const char *const judged_long = "correctly_rounded", *const judged_long_unordered = "bounded,correctly_rounded";

static fold_status count_judgement(void *context, const struct fold_judgement *j) {
  struct fold_world_race *s = context;
  for (size_t k = 0; k < s->n; k++)
    if (s->timing[k].subject == j->subject) fold_judged_count(&s->timing[k].judged, j->claim->name, &j->finding);
  return fold_ok();
}

/* One row of the timed shape. */
static struct fold_case case_of(const struct fold_world_shape *shape) {
  static char name[] = "bench";
  return (struct fold_case){.name = name,
                            .file = name,
                            .dtype = shape->dtype,
                            .problem = fold_rows_problem(shape->op),
                            .rows = 1,
                            .cols = shape->vectors ? shape->ranks : shape->cols,
                            .ranks = shape->ranks};
}

fold_status fold_world_race_judge_small(struct fold_world_race *s, const volatile int *stop) {
  const struct fold_world_shape *shape = s->shape;
  size_t most = shape->vectors ? SMALL_VECTOR : SMALL_SUM, rows = shape->rows;
  struct fold_case c = case_of(shape);
  c.rows = shape->vectors && rows > most ? most : rows;
  if (!shape->vectors && c.cols > most / (rows ? rows : 1)) c.cols = most / (rows ? rows : 1);
  c.source = (struct fold_source){s->options->generator, shape->dtype, s->options->seed, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct fold_selection selection = {
      .subjects = s->options->subjects, .engine = (int)shape->engine, .claims = judged_first};
  struct fold_sink sink = {.judgement = count_judgement, .context = s};
  return fold_verify(s->registry, &selection, &cases, NULL, &sink, stop);
}

/* Makes the terms of the results that are looked at, as rows x cols: samples of a vector, or all of a sum. */
static fold_status make_terms(const struct fold_world_race *s, size_t rows, size_t cols, unsigned char *to) {
  const struct fold_world_shape *shape = s->shape;
  size_t size = fold_dtype_size(shape->dtype);
  struct fold_source source = {s->options->generator, shape->dtype, s->options->seed,
                               shape->vectors ? FOLD_WIRE_VECTOR : shape->cols, 0};
  FOLD_TRY(fold_source_check(&source));
  if (!shape->vectors) {
    fold_generate_parallel(&source, 0, rows * cols, to, 0);
    return fold_ok();
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t r = 0; r < cols; r++)
      fold_generate(&source, r * FOLD_WIRE_VECTOR + fold_wire_sample(shape->rows, (unsigned)i), 1,
                    to + (i * cols + r) * size);
  return fold_ok();
}

/* Judges the results that the ranks sent for the timed input itself. */
static fold_status judge_at_size(const struct fold_world_race *s, struct fold_world_timing *t, const uint64_t *sample) {
  const struct fold_world_shape *shape = s->shape;
  unsigned char results[8 * FOLD_WIRE_SAMPLES];
  struct fold_truths truths = {0};
  struct fold_case c = case_of(shape);
  if (shape->vectors) c.rows = shape->rows < FOLD_WIRE_SAMPLES ? 0 : FOLD_WIRE_SAMPLES;
  if (c.rows == 0) return fold_ok();
  for (size_t i = 0; i < c.rows; i++) fold_bits_store(shape->dtype, results, i, sample[i]);
  unsigned char *terms = malloc(c.rows * c.cols * fold_dtype_size(shape->dtype) + 1);
  if (!terms) return fold_no_memory("for the terms");
  fold_status status = make_terms(s, c.rows, c.cols, terms);
  if (status.code == FOLD_OK) status = fold_truths_open(&truths, &c, terms);
  if (status.code == FOLD_OK) {
    struct fold_evidence evidence = {t->subject, &truths, shape->ranks, results};
    fold_judge_evidence(&evidence, judged_at_size, fold_judged_take, &t->judged);
    fold_truths_close(&truths);
  }
  free(terms);
  return status;
}

/* The exact sum at the timed shape of that generator's terms. */
static fold_status exact_sum(const struct fold_world_race *s, const struct fold_generator *generator,
                             const volatile int *stop, const struct fold_truth **truth) {
  struct fold_source source = {generator, s->shape->dtype, s->options->seed, s->shape->cols, 0};
  return fold_world_sums_find(s->options->sums, &source, stop, truth);
}

/* Whether the judges get all terms of what they judge; for a vector they get all terms of its samples. */
static bool is_whole(const struct fold_world_shape *shape) { return shape->vectors || shape->cols <= LONG_SUM; }

fold_status fold_world_race_make_sums(const struct fold_world_race *s, const volatile int *stop) {
  const struct fold_truth *truth;
  if (!s->options->verify || is_whole(s->shape) || s->shape->op != FOLD_SUM) return fold_ok();
  return exact_sum(s, s->options->generator, stop, &truth);
}

/* Judges a sum that is too long to be made here, against the exact sum of the timed input. */
static fold_status judge_long(const struct fold_world_race *s, struct fold_world_timing *t, uint64_t sample,
                              const volatile int *stop) {
  const struct fold_truth *truth;
  unsigned char result[8];
  struct fold_truths truths;
  struct fold_case c = case_of(s->shape);
  FOLD_TRY(exact_sum(s, s->options->generator, stop, &truth));
  if (!truth) return fold_ok();
  fold_bits_store(s->shape->dtype, result, 0, sample);
  FOLD_TRY(fold_truths_open(&truths, &c, NULL));
  truths.kept[0] = (struct fold_kept_truth){.of = 1, .truth = *truth}; /* s->options->sums owns and frees it */
  struct fold_evidence evidence = {t->subject, &truths, s->shape->ranks, result};
  fold_judge_evidence(&evidence, t->subject->order ? judged_long : judged_long_unordered, fold_judged_take, &t->judged);
  fold_truths_close(&truths);
  return fold_ok();
}

/* The integers are used for sums whose order does not depend on their terms. They lie in [-8, 8], with mean 0 and
 * variance 24: the root mean square of a partial sum of 2^34 terms is 6.4e5, a 26th of 2^24, below which f32 has every
 * integer. */
const struct fold_generator *fold_world_race_integers(const struct fold_world_race *s) {
  if (!s->options->verify || s->shape->vectors || s->shape->op != FOLD_SUM) return NULL;
  return fold_generator_find("integers");
}

static bool promises_accuracy(const struct fold_subject *subject, enum fold_dtype dtype) {
  uint64_t any = FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_COMPENSATED) | FOLD_CLAIM(FOLD_FAITHFUL) |
                 FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_REPLAYS);
  return fold_format_of(fold_subject_accumulator(subject, dtype)).precision >= 24 &&
         (fold_claims_of(subject, FOLD_SUM) & any);
}

static fold_status judge_integers(const struct fold_world_race *s, struct fold_world_timing *t,
                                  const struct fold_wire_checked *checked, const volatile int *stop) {
  enum fold_dtype dtype = s->shape->dtype;
  const struct fold_truth *truth;
  struct fold_finding finding = fold_finding_open(1);
  bool right = true;
  FOLD_TRY(exact_sum(s, fold_world_race_integers(s), stop, &truth));
  if (!truth) return fold_ok();
  uint64_t want = truth->rounded[dtype];
  for (unsigned r = 0; r < s->shape->ranks && right; r++) {
    char what[120];
    uint64_t got = checked[r].sample[0];
    snprintf(what, sizeof what, "rank %u has %.9g, where any order gives %.9g", r, fold_bits_to_double(dtype, got),
             fold_bits_to_double(dtype, want));
    right = fold_find_same(&finding, dtype, &got, &want, 1, what);
  }
  if (right) fold_find_held(&finding);
  fold_judged_count(&t->judged, "integers at this size", &finding);
  return fold_ok();
}

/* A subject is called "held" only if it was judged; whether ranks agree and repeat is always checked. */
static void judge_ranks(struct fold_world_timing *t, const struct fold_wire_checked *checked, bool verify) {
  struct fold_finding agree = fold_finding_open(t->shape.rows), repeat = fold_finding_open(t->shape.rows);
  bool agreed = true, repeated = true;
  char what[120];
  t->hash = checked[0].hash;
  t->checked = true;
  for (unsigned r = 0; r < t->shape.ranks && agreed; r++) {
    snprintf(what, sizeof what, "rank %u has different bits than rank 0 at this size", r);
    agreed = fold_find_same_hash(&agree, checked[r].hash, checked[0].hash, what);
  }
  for (unsigned r = 0; r < t->shape.ranks && repeated; r++) {
    snprintf(what, sizeof what, "rank %u has different bits in a second run, or wrote not all of them", r);
    repeated = fold_find_same_hash(&repeat, checked[r].again, checked[r].hash, what);
  }
  if (agreed) fold_find_held(&agree);
  if (repeated) fold_find_held(&repeat);
  if (verify || !agreed) fold_judged_count(&t->judged, "rank_agreement", &agree);
  if (verify || !repeated) fold_judged_count(&t->judged, "run_to_run", &repeat);
}

/* *checked must be freed even if this fails. */
static fold_status ask(const struct fold_world_race *s, size_t k, struct fold_wire_checked **checked) {
  struct fold_wire_check head = {.entrant = (uint32_t)(k * s->shares)};
  *checked = calloc(s->shape->ranks, sizeof **checked);
  if (!*checked) return fold_no_memory("to check");
  struct fold_question question = {.kind = WIRE_CHECK,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = sizeof **checked,
                                   .what = s->timing[k].subject->name};
  return fold_world_ask(s->world, 0, s->shape->ranks, &question, *checked);
}

fold_status fold_world_race_check(const struct fold_world_race *s, size_t k, const volatile int *stop) {
  const struct fold_world_shape *shape = s->shape;
  struct fold_world_timing *t = &s->timing[k];
  struct fold_wire_checked *checked;
  bool whole = is_whole(shape);
  fold_status status = ask(s, k, &checked);
  if (status.code == FOLD_OK) judge_ranks(t, checked, s->options->verify);
  if (status.code == FOLD_OK && s->options->verify && whole) status = judge_at_size(s, t, checked[0].sample);
  if (status.code == FOLD_OK && s->options->verify && !whole && shape->op == FOLD_SUM)
    status = judge_long(s, t, checked[0].sample[0], stop);
  if (s->options->verify && !whole && shape->op != FOLD_SUM && !t->judged.note[0])
    snprintf(t->judged.note, sizeof t->judged.note, "at this size only agreement and repeats are judged, but of sums");
  free(checked);
  return status;
}

fold_status fold_world_race_check_integers(const struct fold_world_race *s, size_t k, const volatile int *stop) {
  struct fold_world_timing *t = &s->timing[k];
  struct fold_wire_checked *checked;
  if (!promises_accuracy(t->subject, s->shape->dtype)) return fold_ok();
  fold_status status = ask(s, k, &checked);
  if (status.code == FOLD_OK) status = judge_integers(s, t, checked, stop);
  free(checked);
  return status;
}
