/* draw.c: see draw.h. */
#include "hunt/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/family.h"
#include "hunt/random.h"

/* ---- sizes ---- */

/* How many terms all results of a case have together: seldom many, since a run's time goes with them. */
static size_t draw_terms(struct fold_random *r) {
  const size_t kind = fold_random_below(r, 256);
  return (size_t)1 << (kind < 2 ? 20 : kind < 8 ? 18 : kind < 32 ? 15 : 12);
}

static size_t draw_exponent(struct fold_random *r, size_t most) {
  size_t e = 0;
  while ((size_t)2 << e <= most) e++;
  return fold_random_below(r, e + 1);
}

/* Within its power of two each size is as likely as each other one. */
static size_t draw_any(struct fold_random *r, size_t most) {
  const size_t power = (size_t)1 << draw_exponent(r, most);
  return power + fold_random_below(r, power);
}

static size_t draw_near_power(struct fold_random *r, size_t most) {
  return ((size_t)1 << draw_exponent(r, most)) + fold_random_below(r, 5) - 2;
}

/* Kernels' tiles are of such sizes. */
static size_t draw_near_multiple(struct fold_random *r, size_t most) {
  static const unsigned short tiles[] = {3,  5,   6,   7,   8,   12,  16,  24,  32,   48,   64,   80,
                                         96, 100, 128, 192, 256, 384, 512, 768, 1000, 1024, 2048, 4096};
  const size_t tile = tiles[fold_random_below(r, sizeof tiles / sizeof *tiles)];
  const size_t times = 1 + fold_random_below(r, most / tile + 1);
  return tile * times + fold_random_below(r, 3) - 1;
}

static size_t draw_prime(struct fold_random *r, size_t most) {
  for (size_t n = draw_any(r, most) | 1;; n += 2) {
    bool prime = n > 1;
    for (size_t d = 3; d * d <= n && prime; d += 2) prime = n % d != 0;
    if (prime) return n;
  }
}

/* From 0 to `most`. 0 itself is rare. */
static size_t draw_size(struct fold_random *r, size_t most) {
  static size_t (*const kinds[])(struct fold_random * r, size_t most) = {
      draw_any, draw_any, draw_any, draw_near_power, draw_near_multiple, draw_near_multiple, draw_prime};
  if (most == 0 || fold_random_once_in(r, 128)) return 0;
  if (fold_random_once_in(r, 8)) return 1 + fold_random_below(r, most < 34 ? most : 34);
  const size_t n = kinds[fold_random_below(r, sizeof kinds / sizeof *kinds)](r, most);
  return n <= most ? n : 1 + n % most; /* a size below 0 is larger than all */
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

enum { MOST_ROWS = 4096, MOST_SIDE = 300, MOST_BATCHES = 5, LONG_SIDE = 70000, MANY_BATCHES = 300 };

/* In some rounds the lengths do not repeat: they go through 1 to WALK in a mixed sequence, the lower half first. In others the numbers of
 * rows do. */
enum { WALK = 8192, HALF = WALK / 2, STEP = 5167, WALK_ROWS = 512, LONG_ROW = 1024, LONG_ROWS = 1200, FEW = 40 };

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

/* Half of the cases have one row, for which most claims about order are. Of the others, half are as long as they may be. */
static struct fold_shape draw_rows(struct fold_random *r, size_t terms) {
  struct fold_shape s = {.at = {1, 1, 1, 1}};
  const size_t kind = fold_random_below(r, 4);
  if (kind > 1) {
    s.k = draw_size(r, terms);
  } else {
    s.m = draw_size(r, lesser(terms, MOST_ROWS));
    const size_t most = at_least_one(terms / at_least_one(s.m));
    s.k = kind == 0 ? draw_size(r, most) : most - fold_random_below(r, most / 2 + 1);
  }
  return s;
}

/* m, n or k, and another one of them, get the lesser size: kernels may take one for the other. */
static void make_two_equal(struct fold_random *r, struct fold_shape *s) {
  size_t *const axes[] = {&s->m, &s->n, &s->k};
  size_t *const spared = axes[fold_random_below(r, 3)];
  size_t least = SIZE_MAX;
  for (size_t i = 0; i < 3; i++)
    if (axes[i] != spared) least = lesser(least, *axes[i]);
  for (size_t i = 0; i < 3; i++)
    if (axes[i] != spared) *axes[i] = least;
}

/* Products: skinny and deep ones as often as square ones, since each side is drawn by itself. One in 64 has a side, or a number of
 * batches, past the usual limits of a grid. */
static struct fold_shape draw_sides(struct fold_random *r, size_t terms) {
  struct fold_shape s = {.at = {1, 1, 1, 1}};
  const bool wide = fold_random_once_in(r, 64);
  const size_t most = wide ? LONG_SIDE : MOST_SIDE;
  if (fold_random_once_in(r, 4)) s.b = 1 + fold_random_below(r, wide ? MANY_BATCHES : MOST_BATCHES);
  terms = at_least_one(terms / s.b);
  const bool deep = fold_random_once_in(r, 2);
  if (deep) s.k = draw_size(r, terms / 2);
  const size_t left = deep ? at_least_one(terms / at_least_one(s.k)) : terms;
  s.m = draw_size(r, lesser(left, most));
  const size_t rest = at_least_one(left / at_least_one(s.m));
  s.n = draw_size(r, lesser(rest, most));
  if (!deep) s.k = draw_size(r, at_least_one(rest / at_least_one(s.n)));
  if (fold_random_once_in(r, 8)) make_two_equal(r, &s);
  return s;
}

/* A shape near one that told something: the same, or one axis a little more, a little less, or doubled. */
static struct fold_shape draw_near(struct fold_random *r, const struct fold_telling_sizes *sizes) {
  const size_t kept = sizes->n < FOLD_TELLING_SIZES ? sizes->n : FOLD_TELLING_SIZES;
  struct fold_shape s = sizes->at[fold_random_below(r, kept)];
  const size_t axis = fold_random_below(r, FOLD_AXES), way = fold_random_below(r, 4);
  if (s.at[axis] > 1)
    s.at[axis] = way == 0 ? s.at[axis] - 1 : way == 1 ? s.at[axis] + 1 : way == 2 ? 2 * s.at[axis] : s.at[axis];
  return s;
}

/* ---- what is in them, and what is judged ---- */

static size_t draw_bit(struct fold_random *r, unsigned mask) {
  for (size_t left = fold_random_below(r, (size_t)__builtin_popcount(mask)); left > 0; left--) mask &= mask - 1;
  return (size_t)__builtin_ctz(mask);
}

/* Mixtures mostly, whose rows differ in kind; else one of the generators of fixtures. */
static const struct fold_generator *draw_generator(struct fold_random *r, enum fold_dtype dtype, enum fold_op op,
                                                   bool finite) {
  const char *usual = op == FOLD_PROD ? "mixture_factors" : "mixture"; /* other products leave the range */
  size_t n;
  const struct fold_generator *all = fold_generators(&n);
  if (fold_random_below(r, 4) > 0) {
    const struct fold_generator *mixture =
        fold_generator_find(!finite && fold_random_once_in(r, 6) ? "mixture_special" : usual);
    if (mixture && mixture->dtypes >> dtype & 1) return mixture;
  }
  for (;;) {
    const struct fold_generator *g = &all[fold_random_below(r, n)];
    if (g->dtypes >> dtype & 1 && !g->takes_condition) return g;
  }
}

/* Claims of results cost one run. Of those that cost many, a case is judged by one, or none. */
static const char RESULTS[] =
    "bounded,compensated,accurate_as,ulps,faithful,correctly_rounded,replays,same_bits_as,"
    "stays_in_bounds,leaves_no_trace,keeps_input,writes_output";
static const enum fold_claim_id of_runs[] = {FOLD_RUN_TO_RUN,       FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT,
                                             FOLD_BATCH_INVARIANT,  FOLD_LENGTH_INVARIANT, FOLD_PADDING_INVARIANT,
                                             FOLD_STRIDE_INVARIANT, FOLD_SPLIT_INVARIANT,  FOLD_PERMUTATION_INVARIANT};
enum { OF_RUNS = sizeof of_runs / sizeof *of_runs };

/* Whether the subject makes the claim for that operation, and the selection asks for it. */
static bool is_asked(const struct fold_selection *selection, const struct fold_subject *subject, enum fold_claim_id id,
                     enum fold_op op) {
  size_t n;
  const uint64_t promised = selection->probe ? UINT64_MAX : fold_claims_of(subject, op) | subject->named;
  return promised & FOLD_CLAIM(id) && fold_selects_claim_of(selection, &fold_claims(&n)[id], op);
}

static char *draw_claims(struct fold_random *r, const struct fold_selection *selection,
                         const struct fold_subject *subject, const struct fold_problem *problem, const char *always) {
  const char *own[OF_RUNS];
  size_t n = 0, n_claims;
  char *text = NULL;
  const struct fold_claim *claims = fold_claims(&n_claims);
  for (size_t i = 0; i < OF_RUNS; i++)
    if (is_asked(selection, subject, of_runs[i], problem->op)) own[n++] = claims[of_runs[i]].name;
  const char *also = n > 0 && fold_random_once_in(r, 3) ? own[fold_random_below(r, n)] : "";
  if (*always) also = always;
  if (asprintf(&text, "%s%s%s", RESULTS, *also ? "," : "", also) < 0) return NULL;
  return text;
}

static char *name_of(const struct fold_case *c) {
  char layout[40], shape[100], *name = NULL;
  *fold_case_put_shape(c, shape) = '\0';
  const bool keyed = c->problem->reach == FOLD_BY_KEY;
  const int n =
      asprintf(&name, "hunt/%s/%s/%s%s%s%s%s/seed%llu", fold_dtype_name(c->dtype), c->problem->name, shape,
               c->layout.given ? "/" : "", c->layout.given ? fold_case_layout_name(c, layout) : "", keyed ? "/" : "",
               keyed ? fold_key_pattern_names[c->keys] : "", (unsigned long long)c->source.seed);
  return n < 0 ? NULL : name;
}

static void draw_layout(struct fold_random *r, const struct fold_subject *subject, struct fold_case *c) {
  if (!subject->strides || c->problem->n_axes[0] < 2 || !fold_has_axis(c->problem, c->problem->inputs, FOLD_N) ||
      c->problem->reach == FOLD_BY_KEY || !fold_random_once_in(r, 3))
    return;
  c->layout.given = true;
  c->layout.transposed = (unsigned)fold_random_below(r, 4);
  if (fold_random_once_in(r, 2)) c->layout.gap = 1 + fold_random_below(r, 9);
}

static struct fold_shape draw_shape(struct fold_random *r, const struct fold_telling_sizes *sizes,
                                    const struct fold_subject *subject, const struct fold_problem *problem,
                                    size_t most) {
  const bool sides = fold_has_axis(problem, problem->inputs, FOLD_N);
  size_t terms = lesser(draw_terms(r), most);
  if (problem->reach == FOLD_BY_KEY || fold_is_scan(problem)) terms = lesser(terms, 1 << 14);
  if (subject->longest) terms = lesser(terms, subject->longest);
  if (sizes->n > 0 && fold_random_once_in(r, 4)) {
    const struct fold_shape near = draw_near(r, sizes);
    if (near.b * near.m * near.n * near.k <= terms && (sides || near.b * near.n == 1)) return near;
  }
  return sides ? draw_sides(r, terms) : draw_rows(r, terms);
}

/* What the cases of a round have in common. */
enum kind {
  ANY,   /* nothing */
  ALIKE, /* so many in a row, all but their data: a subject may keep something by the shape, or change its method after some calls; every second
            time by calls of that shape alone */
  EACH_LENGTH, /* their lengths do not repeat, their data are exact, and they are judged by their results alone */
  EACH_BATCH   /* in one case of four the number of rows does not repeat */
};
enum { IN_A_ROW = 32, FEW_TERMS = 4096, OF_BATCHES = 4, REPEATED_ONE_IN = 16, MANY_CALLS = 300 };

struct turn {
  enum kind kind;
  uint64_t walked; /* the cases of such rounds before */
};

static bool is_unbroken(const struct turn *turn, size_t i) { return turn->kind == ALIKE && i / IN_A_ROW % 2; }

/* Some of the others are repeated more often than usual. */
static bool is_repeated(const struct turn *turn, size_t i) {
  return turn->kind == ALIKE && !is_unbroken(turn, i) && i % REPEATED_ONE_IN == REPEATED_ONE_IN - 1;
}

/* A case of EACH_LENGTH takes a third of the time of others. */
static struct turn turn_of(const struct fold_draw_place *place, size_t n) {
  static const enum kind kinds[8] = {ALIKE, ANY, EACH_LENGTH, ANY, EACH_LENGTH, EACH_BATCH, EACH_LENGTH, ANY};
  const uint64_t turn = (place->round - place->round / 8) % 8; /* each process has its share of each kind */
  uint64_t in_eight = 0, before = 0;
  for (uint64_t i = 0; i < 8; i++) {
    in_eight += kinds[i] == kinds[turn];
    before += i < turn && kinds[i] == kinds[turn];
  }
  const uint64_t walked = place->of_each * in_eight + before * n;
  return (struct turn){kinds[turn], kinds[turn] == EACH_BATCH ? walked / OF_BATCHES : walked};
}

/* Terms that cancel: their sum is what the accumulator has rounded. False where the problem, the dtype or the length does not allow that. */
static bool cancel(struct fold_case *c) {
  struct fold_source source = c->source;
  if (c->problem->id != FOLD_ROWS_SUM && c->problem->id != FOLD_DOT) return false;
  source.generator = fold_generator_find(c->problem->id == FOLD_DOT ? "ill_conditioned_dot" : "ill_conditioned");
  source.condition = 1e8; /* above the 24 digits of f32 */
  if (fold_source_check(&source).code != FOLD_OK) return false;
  c->source = source;
  return true;
}

/* Exact, so that a term that is lost is seen; if an order is claimed, of full significands, so that another order is seen as well. Where a
 * wider accumulator is rounded to the result, that hides the order, unless the terms cancel. */
static void walk_data(const struct fold_subject *subject, struct fold_case *c) {
  const uint64_t of_order = FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_SAME_BITS_AS);
  const bool ordered = fold_claims_of(subject, c->problem->op) & of_order;
  const bool narrows = fold_subject_accumulator(subject, c->dtype) != fold_subject_result(subject, c->dtype);
  const struct fold_generator *usual = fold_generator_find(ordered ? "normal" : "counted");
  c->source.cols = c->cols;
  if (c->problem->op != FOLD_SUM || !(usual->dtypes >> c->dtype & 1) || (ordered && narrows && cancel(c))) return;
  c->source.generator = usual;
}

/* Of four lengths three are of the lower half, until each of these was drawn. Short cases take less time, and most methods of kernels change
 * there. */
static size_t length_at(size_t at) {
  enum { BOTH = HALF + HALF / 3 };
  const size_t p = at % WALK;
  const bool upper = p >= BOTH || p % 4 == 3;
  const size_t i = p >= BOTH ? p - HALF : upper ? p / 4 : p - p / 4;
  return 1 + upper * HALF + i * STEP % HALF;
}

static void walk_lengths(struct fold_random *r, const struct fold_subject *subject, size_t at, size_t most,
                         struct fold_case *c) {
  enum { SIDES = 3, LONG = 1 << 16, LONG_ONE_IN = 16 }; /* past the sizes that 16 bits count */
  const bool sides = fold_has_axis(c->problem, c->problem->inputs, FOLD_N);
  c->shape = (struct fold_shape){.at = {1, 1, 1, 1}};
  if (sides) c->shape.m = 1 + fold_random_below(r, SIDES), c->shape.n = 1 + fold_random_below(r, SIDES);
  most /= c->shape.m * c->shape.n;
  const size_t turn = at - at / LONG_ONE_IN;
  c->shape.k = most < WALK ? 1 + turn * STEP % at_least_one(most) : length_at(turn);
  if (at % LONG_ONE_IN == 0 && !fold_is_scan(c->problem)) c->shape.k = LONG + fold_random_below(r, 2 * LONG);
  c->shape.k = lesser(c->shape.k, at_least_one(most));
  walk_data(subject, c);
}

/* Rows of terms that kernels share among threads or blocks. */
static void walk_batches(struct fold_random *r, size_t at, size_t most, struct fold_case *c) {
  const bool sides = fold_has_axis(c->problem, c->problem->inputs, FOLD_N);
  c->shape = (struct fold_shape){
      .at = {1, 1 + at * STEP % lesser(WALK_ROWS, most), 1, LONG_ROW + fold_random_below(r, LONG_ROWS)}};
  if (sides) c->shape.n = 1 + fold_random_below(r, FEW);
  if (sides || fold_is_scan(c->problem)) c->shape.k = 1 + fold_random_below(r, FEW);
  c->shape.k = at_least_one(lesser(c->shape.k, most / (c->shape.m * c->shape.n)));
  c->source.cols = c->cols;
}

/* One row, which takes no call of another shape: 32 such cases take some 900 of theirs. Half of them have data that show a lost term. */
static void walk_calls(const struct fold_subject *subject, size_t at, size_t most, struct fold_case *c) {
  if (fold_is_of_rows(c->problem))
    c->shape = (struct fold_shape){.at = {1, 1, 1, 1 + at / IN_A_ROW / 2 * STEP % lesser(most, FEW_TERMS)}};
  c->source.cols = c->cols;
  if (at % 2) walk_data(subject, c);
}

static void walk(struct fold_random *r, const struct fold_subject *subject, const struct turn *turn, size_t i,
                 size_t most, struct fold_case *c) {
  if (turn->kind == EACH_LENGTH) walk_lengths(r, subject, turn->walked + i, most, c);
  if (is_unbroken(turn, i)) walk_calls(subject, turn->walked + i, most, c);
  if (turn->kind == EACH_BATCH && i % OF_BATCHES == 0) walk_batches(r, turn->walked + i / OF_BATCHES, most, c);
}

/* The claim of many runs that cases of that kind are judged by; "": by a drawn one, or none. */
static const char *claim_of(enum kind kind) {
  size_t n;
  return kind == ALIKE        ? fold_claims(&n)[FOLD_RUN_TO_RUN].name
         : kind == EACH_BATCH ? fold_claims(&n)[FOLD_BATCH_INVARIANT].name
                              : "";
}

static fold_status draw_case(const struct fold_draw *d, const struct fold_telling_sizes *sizes, struct fold_random *r,
                             uint64_t seed, const struct turn *turn, size_t i, struct fold_cases *cases) {
  const struct fold_subject *s = &d->registry->subjects[d->subjects[fold_random_below(r, d->n)]];
  struct fold_case c = {.dtype = (enum fold_dtype)draw_bit(r, s->dtypes),
                        .problem = fold_problem((enum fold_problem_id)draw_bit(r, s->problems)),
                        .keys = (enum fold_key_pattern)fold_random_below(r, FOLD_KEY_PATTERNS)};
  c.shape = draw_shape(r, sizes, s, c.problem, turn->kind == ALIKE ? lesser(d->terms, FEW_TERMS) : d->terms);
  if (c.problem->reach == FOLD_BY_KEY) c.shape.b = 1, c.shape.m = at_least_one(c.shape.m);
  draw_layout(r, s, &c);
  const bool finite = s->finite || s->skips_nan || d->selection->finite;
  /* The highest bits of a seed stand for the second factor of products (fold_source_of_input). */
  if (c.problem->factors == 1 || c.problem->inputs == 1) seed >>= 2;
  c.source = (struct fold_source){draw_generator(r, c.dtype, c.problem->op, finite), c.dtype, seed, c.cols, 0};
  walk(r, s, turn, i, d->terms, &c);
  if (is_repeated(turn, i)) c.repeats = MANY_CALLS;
  const bool by_results = turn->kind == EACH_LENGTH || is_unbroken(turn, i);
  c.claims = by_results ? strdup(RESULTS) : draw_claims(r, d->selection, s, c.problem, claim_of(turn->kind));
  c.name = name_of(&c);
  return fold_cases_append_made(cases, &c, "hunt", "a hunt");
}

fold_status fold_draw_round(const struct fold_draw *d, const struct fold_telling_sizes *sizes,
                            const struct fold_draw_place *place, size_t n, struct fold_cases *cases) {
  const struct turn turn = turn_of(place, n);
  const uint64_t round = place->round;
  for (size_t i = 0; i < n; i++) {
    struct fold_random data = fold_random_of(~d->seed, round, i),
                       r = fold_random_of(d->seed, round, turn.kind == ALIKE ? i / IN_A_ROW : i);
    FOLD_TRY(draw_case(d, sizes, &r, fold_random_next(&data), &turn, i, cases));
  }
  return fold_ok();
}

static bool is_hunted(const struct fold_selection *selection, const struct fold_subject *s) {
  return fold_selects_subject(selection, s) && !fold_engine_has_ranks(s->engine) && !s->vector;
}

static bool is_asked_any(const struct fold_selection *selection, const struct fold_subject *s) {
  for (int id = 0; id < FOLD_PROBLEMS; id++)
    for (int k = 0; k < FOLD_CLAIMS && s->problems >> id & 1; k++)
      if (is_asked(selection, s, (enum fold_claim_id)k, fold_problem((enum fold_problem_id)id)->op)) return true;
  return false;
}

static fold_status claims_others(const struct fold_selection *selection, const struct fold_subject *s) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  char names[300] = "";
  for (size_t k = 0; k < n; k++)
    if (s->claims & FOLD_CLAIM(k))
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", claims[k].name);
  return fold_error(FOLD_BAD_INPUT, "no selected subject claims %.100s: %.60s claims %s",
                    selection->claims ? selection->claims : "anything", s->name, names[0] ? names : "nothing");
}

bool fold_hunts_device(const struct fold_registry *registry, const struct fold_selection *selection) {
  bool any = false;
  for (size_t i = 0; i < registry->n; i++)
    any |= is_hunted(selection, &registry->subjects[i]) && !fold_engine_is_here(registry->subjects[i].engine);
  return any;
}

fold_status fold_draw_open(const struct fold_registry *registry, const struct fold_selection *selection, uint64_t seed,
                           uint64_t terms, struct fold_draw *d) {
  *d =
      (struct fold_draw){.registry = registry, .selection = selection, .seed = seed, .terms = terms ? terms : SIZE_MAX};
  d->subjects = calloc(registry->n + 1, sizeof *d->subjects);
  if (!d->subjects) return fold_no_memory("for %zu subjects", registry->n);
  const struct fold_subject *other = NULL;
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (!is_hunted(selection, s)) continue;
    if (is_asked_any(selection, s))
      d->subjects[d->n++] = i;
    else
      other = s;
  }
  if (d->n > 0) return fold_ok();
  return other ? claims_others(selection, other)
               : fold_error(FOLD_BAD_INPUT, "no selected subject can be hunted: those over ranks are not");
}

void fold_draw_close(struct fold_draw *d) { free(d->subjects); }
