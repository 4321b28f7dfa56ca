/* check_registry.c: checks that a whole registry can be judged, before any subject runs.
 *
 * Promised: a subject that passes names an order, a twin and an engine that exist, takes a dtype and an operation, and
 * claims nothing that no input could judge. A mistake here is the program's own (or the guest's): no fixture, machine
 * or user can mend it, and a slip in a name must not turn a claim into a skip, or one bound into another.
 */
#include <ctype.h>
#include <string.h>

#include "base/bits.h"
#include "base/did_you_mean.h"
#include "judge/judge.h"
#include "oracles/order.h"

static bool claims(const struct fold_subject *s, enum fold_claim_id id) {
  return s->claims & ~s->unjudgeable & FOLD_CLAIM(id);
}

static bool is_compensated(const struct fold_subject *s) {
  return s->method == FOLD_KAHAN || s->method == FOLD_NEUMAIER;
}

/* Names are used in globs, lists and command lines, so they may not have characters that mean something there. */
static bool is_name(const char *name) {
  if (name == NULL || *name == '\0') return false;
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && !strchr("/_-.@+", *name)) return false;
  return true;
}

const struct fold_subject *fold_registry_find(const struct fold_registry *registry, const char *name,
                                              enum fold_engine engine) {
  for (size_t i = 0; i < registry->n; i++)
    if (registry->subjects[i].engine == engine && strcmp(registry->subjects[i].name, name) == 0)
      return &registry->subjects[i];
  return NULL;
}

const struct fold_subject *fold_registry_twin(const struct fold_registry *registry, const struct fold_subject *s) {
  const char *name = s->twin, *colon = strchr(name, ':');
  if (colon == NULL) return fold_registry_find(registry, name, s->engine);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    const char *engine = fold_engine_name((enum fold_engine)e);
    if (strlen(engine) == (size_t)(colon - name) && strncmp(engine, name, strlen(engine)) == 0)
      return fold_registry_find(registry, colon + 1, (enum fold_engine)e);
  }
  return NULL;
}

bool fold_registry_set_twin(const struct fold_registry *registry, struct fold_subject *s, const char *twin) {
  const struct fold_subject before = *s;
  s->twin = twin;
  s->claims |= FOLD_CLAIM(FOLD_SAME_BITS_AS);
  if (fold_registry_twin(registry, s) != s) return true;
  *s = before;
  return false;
}

#define WRONG(...) return fold_error(FOLD_ENVIRONMENT, __VA_ARGS__)

/* For each of the subject's problems: its order must say how terms are made, and its engine must take the inputs. */
static fold_status check_problems(const struct fold_subject *s) {
  const struct fold_order *order = s->order ? fold_order_find(s->order) : NULL;
  for (int p = 0; p < FOLD_PROBLEMS; p++) {
    const struct fold_problem *problem = fold_problem((enum fold_problem_id)p);
    if (!(s->problems >> p & 1)) continue;
    if (order && (problem->factors > 1) != (order->product != FOLD_NO_PRODUCT))
      WRONG("its order '%s' is not one for %s", order->name, problem->name);
    if (problem->factors > 1 && fold_engine_has_ranks(s->engine)) WRONG("it takes %s over ranks", problem->name);
  }
  return fold_ok();
}

/* The dtypes of terms, accumulator and result. */
static fold_status check_dtypes(const struct fold_subject *s) {
  if (s->dtypes == 0 || s->dtypes >> FOLD_DTYPES) WRONG("its dtypes are 0x%x", s->dtypes);
  if (s->accumulator == FOLD_OF_ACCUMULATOR || s->accumulator >= FOLD_ALWAYS(FOLD_DTYPES))
    WRONG("its accumulator is by rule %u", s->accumulator);
  if (s->result >= FOLD_ALWAYS(FOLD_DTYPES)) WRONG("its results are by rule %u", s->result);
  for (int d = 0; d < FOLD_DTYPES; d++) {
    const enum fold_dtype terms = (enum fold_dtype)d, wide = fold_subject_accumulator(s, terms);
    if (!(s->dtypes >> d & 1)) continue;
    if (!fold_format_holds(fold_format_of(wide), fold_format_of(terms)))
      WRONG("its accumulator %s does not hold terms of %s", fold_dtype_name(wide), fold_dtype_name(terms));
    const enum fold_dtype result = fold_subject_result(s, terms);
    if (fold_dtype_is_integer(result) && !fold_dtype_is_integer(terms))
      WRONG("its results are integers, %s, of terms of %s", fold_dtype_name(result), fold_dtype_name(terms));
    if (fold_dtype_is_integer(terms) && s->problems >> FOLD_ASUM & 1)
      WRONG("it takes asum of %s, whose least number has no magnitude", fold_dtype_name(terms));
    if (fold_dtype_is_integer(wide) && !fold_dtype_is_integer(result))
      WRONG("its accumulator %s is of integers, and its result %s is not", fold_dtype_name(wide),
            fold_dtype_name(result));
  }
  return fold_ok();
}

static const char *order_near(const char *name, char text[160]) {
  size_t n;
  struct fold_did_you_mean guess;
  const struct fold_order *orders = fold_orders(&n);
  fold_did_you_mean_open(&guess, name);
  for (size_t i = 0; i < n; i++) fold_did_you_mean_try(&guess, orders[i].name);
  return fold_did_you_mean_text(&guess, text);
}

fold_status fold_order_named(const char *name, const struct fold_order **order) {
  char meant[160];
  *order = fold_order_find(name);
  if (*order) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "no order '%.60s': see foldproof list orders%s", name, order_near(name, meant));
}

fold_status fold_replay_check(const struct fold_subject *s) {
  const struct fold_order *order = s->order ? fold_order_find(s->order) : NULL;
  if (order == NULL) WRONG("it claims 'replays' and declares no order");
  if (!fold_method_has_replay(order, s->method))
    WRONG("it claims 'replays', and its method has no replay in that order");
  if (s->method != FOLD_PLAIN && s->problems != 1u << FOLD_SUM)
    WRONG("it claims 'replays', and its method has no replay but of sums");
  return fold_ok();
}

/* What a subject is and takes. */
static fold_status check_row(const struct fold_subject *s) {
  if (s->run == NULL) WRONG("it has no run function");
  FOLD_TRY(check_dtypes(s));
  if (s->problems == 0 || s->problems >> FOLD_PROBLEMS) WRONG("its problems are 0x%x", s->problems);
  if ((unsigned)s->method > FOLD_EXACT) WRONG("its method is %u", (unsigned)s->method);
  if (s->claims >> FOLD_CLAIMS) WRONG("it makes a claim that is not in the table");
  char meant[160];
  if (s->order && !fold_order_find(s->order))
    WRONG("its order '%.60s' does not exist%s", s->order, order_near(s->order, meant));
  FOLD_TRY(check_problems(s));
  bool spread = s->vector || s->grain || s->height;
  if (spread && !fold_engine_has_ranks(s->engine)) WRONG("it is cut over ranks, and its engine has none");
  if (s->height && s->order) WRONG("it declares an order and a height of its own");
  return fold_ok();
}

/* What each claim needs to be judged by. */
static fold_status check_claims(const struct fold_subject *s) {
  bool of_error = claims(s, FOLD_BOUNDED) || claims(s, FOLD_COMPENSATED), plain = s->method == FOLD_PLAIN;
  if (claims(s, FOLD_REPLAYS)) FOLD_TRY(fold_replay_check(s));
  if (claims(s, FOLD_TREE) && !fold_order_has_tree(s->order ? fold_order_find(s->order) : NULL, s->method))
    WRONG("it claims 'tree' and declares no order of plain additions that all terms share");
  if (claims(s, FOLD_SAME_BITS_AS) && !s->twin) WRONG("it claims 'same_bits_as' and names no reference");
  static const enum fold_claim_id limits[] = {FOLD_ACCURATE_AS, FOLD_ULPS};
  for (size_t i = 0; i < 2; i++) {
    const char *why = claims(s, limits[i]) ? fold_claim_unjudged(s, limits[i]) : NULL;
    if (why) WRONG("it claims '%s', and %s", fold_claims(&(size_t){0})[limits[i]].name, why);
  }
  if (claims(s, FOLD_COMPENSATED) && !is_compensated(s) && !s->guest)
    WRONG("it claims 'compensated', and its method is not");
  if (of_error && s->problems >> FOLD_PROD & 1 && !plain && s->method != FOLD_EXACT)
    WRONG("it claims a bound for products, and its method has none");
  bool of_ranks =
      claims(s, FOLD_MESSAGE_INVARIANT) || claims(s, FOLD_WORLD_INVARIANT) || claims(s, FOLD_RANK_AGREEMENT);
  if (of_ranks && !fold_engine_has_ranks(s->engine)) WRONG("it makes a claim about ranks, and its engine has none");
  return fold_ok();
}

static fold_status check_twin(const struct fold_registry *registry, const struct fold_subject *s) {
  if (s->twin == NULL) return fold_ok();
  const struct fold_subject *twin = fold_registry_twin(registry, s);
  if (twin == NULL) WRONG("its reference '%s' does not exist there", s->twin);
  if (twin == s) WRONG("it is its own reference");
  if (fold_engine_has_ranks(s->engine) != fold_engine_has_ranks(twin->engine))
    WRONG("either it or its reference '%s' runs over ranks, and the other does not", s->twin);
  const bool takes_less = s->dtypes & ~twin->dtypes || s->problems & ~twin->problems;
  const bool users = s->guest || s->named & FOLD_CLAIM(FOLD_SAME_BITS_AS); /* who has chosen the reference */
  if ((takes_less && !users) || s->vector != twin->vector)
    WRONG("its reference '%s' does not take all that it takes", s->twin);
  for (int d = 0; d < FOLD_DTYPES; d++) /* unseen: <= */
    if ((s->dtypes & twin->dtypes) >> d & 1 &&
        fold_subject_result(s, (enum fold_dtype)d) != fold_subject_result(twin, (enum fold_dtype)d))
      WRONG("its reference '%s' has results of a different dtype", s->twin);
  return fold_ok();
}

fold_status fold_registry_check(const struct fold_registry *registry) {
  FOLD_TRY(fold_problems_check());
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (!is_name(s->name) && s->guest)
      WRONG("a guest's subject is called '%.60s': a name consists of a-z, A-Z, 0-9 and / _ - . @ +", s->name);
    if (!is_name(s->name)) WRONG("this program is broken: subject %zu has no name, or one that globs cannot say", i);
    if ((unsigned)s->engine >= FOLD_ENGINES) WRONG("this program is broken: subject %s has no engine", s->name);
    const char *engine = fold_engine_name(s->engine);
    fold_status status = fold_ok();
    if (fold_registry_find(registry, s->name, s->engine) != s)
      status = fold_error(FOLD_ENVIRONMENT, "there are two of that name");
    if (status.code == FOLD_OK) status = check_row(s);
    if (status.code == FOLD_OK) status = check_claims(s);
    if (status.code == FOLD_OK) status = check_twin(registry, s);
    FOLD_TRY(fold_within(status, "%s %s on %s", s->guest ? "the guest's subject" : "this program is broken: subject",
                         s->name, engine));
  }
  return fold_ok();
}
