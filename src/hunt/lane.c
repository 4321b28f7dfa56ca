/* lane.c: see lane.h. */
#include "hunt/lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/family.h"
#include "hunt/keep.h"

/* A round's cases: few at first, so that a fault that is easily seen is found at once. To start a device takes half a second in each
 * process, so its rounds are long. */
static const struct { size_t first, most; } sizes[] = {{64, 512}, {2048, 8192}};
enum { SIZES = 40 };

/* What the rounds of a lane have shown. */
struct lane {
  struct fold_telling_sizes sizes;
  float best[FOLD_PROBLEMS][FOLD_DTYPES][SIZES]; /* the greatest error over its bound, by the logarithm of the terms */
};

struct process {
  const struct fold_hunt *hunt;
  struct fold_hunt_shared *shared;
  const struct fold_lane_channel *channel;
  struct fold_draw draw;
  struct lane *lanes; /* FOLD_HUNT_LANES */
};

static unsigned size_of(const struct fold_case *c) {
  const unsigned size = fold_case_size(c);
  return size < SIZES ? size : SIZES - 1;
}

static bool send(const struct process *p, const struct fold_lane_message *message) {
  return p->channel->send(p->channel->context, message);
}

static void count_case(struct fold_hunted *h, const struct fold_case *c) {
  h->cases++;
  h->by_problem[c->problem->id]++;
  h->by_dtype[c->dtype]++;
  h->by_terms[size_of(c)]++;
}

/* An error closer to its bound than any of that size before. */
static void note_fraction(struct lane *lane, struct fold_hunted *h, const struct fold_case *c, double fraction) {
  float *best = &lane->best[c->problem->id][c->dtype][size_of(c)];
  if (!(fraction <= 1)) return;
  if (!(fraction <= h->closest)) {
    h->closest = fraction;
    snprintf(h->closest_case, sizeof h->closest_case, "%s", c->name);
  }
  if (fraction <= 1.05 * *best) return;
  *best = (float)fraction;
  lane->sizes.at[lane->sizes.n++ % FOLD_TELLING_SIZES] = c->shape;
}

static void count_round(struct lane *lane, const struct fold_cases *cases, const struct fold_judged_cases *judged,
                        struct fold_hunted *h) {
  h->trials = judged->trials;
  for (int v = 0; v < FOLD_VERDICTS; v++) h->verdicts[v] = judged->verdicts[v];
  for (size_t i = 0; i < judged->begun; i++) {
    count_case(h, &cases->at[i]);
    note_fraction(lane, h, &cases->at[i], judged->error[i].fraction);
  }
}

static bool is_expected(const struct fold_hunt *hunt, const struct fold_against *a) {
  return hunt->expected && hunt->expected[a->subject] & FOLD_CLAIM(a->claim);
}

/* Whether this process is the one that makes the find small: no other one has it already. *second: another error of that claim is found, and
 * this one is lost last terms. */
static bool claim_find(const struct process *p, const struct fold_against *a, bool *second) {
  struct fold_hunt_refuted *of = &p->shared->refuted[a->subject];
  const uint64_t bit = FOLD_CLAIM(a->claim);
  *second = atomic_load(&of->any) & bit;
  if (*second && !a->finding.lost_tail) return false;
  const bool is_new = !(atomic_fetch_or(&of->lost_tail, bit) & bit);
  return *second ? is_new : !(atomic_fetch_or(&of->any, bit) & bit);
}

/* The find is of no missing terms: if a later case has lost its last ones, that is new. */
static void release_lost_tail(const struct process *p, const struct fold_found *found) {
  atomic_fetch_and(&p->shared->refuted[found->subject].lost_tail, ~FOLD_CLAIM(found->claim));
}

/* A long hunt has more time for each find: slow subjects need it. */
static double shrink_seconds(const struct fold_hunt *hunt) {
  const double part = 0.1, least = 10, most = 60;
  return hunt->shrink_seconds > 0 ? hunt->shrink_seconds : fmin(fmax(part * hunt->seconds, least), most);
}

static fold_status keep_find(const struct process *p, const struct fold_cases *cases, const struct fold_against *a,
                             bool second) {
  const volatile int *stop = p->hunt->selection->here ? p->hunt->stop : &p->shared->interrupted;
  const struct fold_shrink shrink = {p->hunt->registry, p->hunt->selection, stop, shrink_seconds(p->hunt), second};
  struct fold_lane_message message = {.word = FOLD_LANE_FOUND};
  struct fold_found found;
  size_t n;
  fold_status status = fold_shrink(&shrink, cases->at, a->c + 1, a, &found);
  if (status.code == FOLD_OK) status = fold_hunt_keep(p->hunt, &found, cases->at[a->c].name, &message.find);
  status = fold_within(status, "%.60s %s %.40s on %.90s, of which no fixture is kept",
                       p->hunt->registry->subjects[a->subject].name, found.broken ? "breaks, judged by" : "violates",
                       fold_claims(&n)[a->claim].name, cases->at[a->c].name);
  if (!second && !found.finding.miscounted) release_lost_tail(p, &found);
  fold_found_close(&found);
  if (status.code == FOLD_OK && !send(p, &message)) p->shared->over = 1;
  return status;
}

/* Whether it is to be made small by this process: neither expected nor found already (but for lost last terms), nor after the first one if that
 * ends the hunt. */
static bool is_new(const struct process *p, const struct fold_against *a, bool *second) {
  if (!claim_find(p, a, second)) return false;
  if (p->hunt->first && atomic_exchange(&p->shared->first_is_taken, true)) return false;
  if (p->hunt->first) p->shared->over = 1;
  return true;
}

static fold_status keep_finds(const struct process *p, const struct fold_cases *cases,
                              const struct fold_judged_cases *judged, struct fold_hunted *h) {
  fold_status status = fold_ok();
  for (size_t i = 0; i < judged->n && status.code == FOLD_OK; i++) {
    const struct fold_against *a = &judged->against[i];
    bool second;
    h->expected += is_expected(p->hunt, a);
    if (is_new(p, a, &second)) status = keep_find(p, cases, a, second);
  }
  return status;
}

/* A subject that hung in this round is left out of all further ones. */
static void leave_hung(const struct process *p, const struct fold_judged_cases *judged, struct fold_hunted *h) {
  for (size_t i = 0; i < judged->n; i++) {
    _Atomic uint64_t *of = &p->shared->refuted[judged->against[i].subject].any;
    if (fold_is_hang(&judged->against[i].finding)) h->hung += !(atomic_fetch_or(of, FOLD_HUNT_HUNG) & FOLD_HUNT_HUNG);
  }
}

static bool has_hung(const struct process *p, size_t subject) {
  return atomic_load(&p->shared->refuted[subject].any) & FOLD_HUNT_HUNG;
}

static size_t count_hung(const struct process *p) {
  size_t n = 0;
  for (size_t i = 0; i < p->draw.n; i++) n += has_hung(p, p->draw.subjects[i]);
  return n;
}

/* The names of the hunt's subjects that have not hung, in memory that the caller frees; "": there are none. */
static char *names_of_others(const struct process *p) {
  char *names = NULL;
  size_t size;
  FILE *out = open_memstream(&names, &size);
  const char *between = "";
  for (size_t i = 0; out && i < p->draw.n; i++) {
    const size_t subject = p->draw.subjects[i];
    if (has_hung(p, subject)) continue;
    fprintf(out, "%s%s", between, p->hunt->registry->subjects[subject].name);
    between = ",";
  }
  if (out && fclose(out) == 0) return names;
  free(names);
  return NULL;
}

static void leave_out(const struct fold_hunt *hunt, struct fold_cases *cases) {
  for (const char *const *name = hunt->left_out; name && *name; name++)
    for (size_t i = 0; i < cases->n; i++)
      if (strcmp(cases->at[i].name, *name) == 0) {
        fold_case_free(&cases->at[i]);
        memmove(&cases->at[i], &cases->at[i + 1], (--cases->n - i) * sizeof *cases->at);
      }
}

/* To keep the machine busy takes up to 0.3 s, in which some hundred cases are judged; a subject that takes memory in each run shows it in any case. */
static struct fold_selection seldom_slow(const struct fold_selection *selection) {
  struct fold_selection seldom = *selection;
  seldom.busy_one_in = 1024;
  seldom.growth_one_in = 8;
  return seldom;
}

static fold_status judge(const struct process *p, const struct fold_cases *cases, struct fold_judged_cases *judged) {
  struct fold_selection others = seldom_slow(p->hunt->selection);
  char *names = NULL;
  if (others.here) others.here = &p->shared->here;
  if (count_hung(p) > 0) {
    others.subjects = names = names_of_others(p);
    if (!names) return fold_no_memory("for names of subjects");
  }
  const fold_status status = fold_judge_cases(p->hunt->registry, &others, cases, &p->shared->over, judged);
  free(names);
  return status;
}

static fold_status run_round(const struct process *p, struct lane *lane, const struct fold_draw_place *place,
                             size_t n) {
  struct fold_lane_message message = {.word = FOLD_LANE_ROUND, .hunted = {.closest = (double)NAN}};
  struct fold_cases cases = {0};
  struct fold_judged_cases judged = {0};
  fold_status status = fold_draw_round(&p->draw, &lane->sizes, place, n, &cases);
  leave_out(p->hunt, &cases);
  if (status.code == FOLD_OK) status = judge(p, &cases, &judged);
  if (status.code == FOLD_OK) count_round(lane, &cases, &judged, &message.hunted);
  leave_hung(p, &judged, &message.hunted);
  /* A run in this process may have failed by the interruption itself. */
  if (p->hunt->selection->here && *p->hunt->stop) judged.n = judged.before_last;
  if (status.code == FOLD_OK) status = keep_finds(p, &cases, &judged, &message.hunted);
  if (status.code == FOLD_OK) status = judged.unexplained;
  fold_judged_close(&judged);
  fold_cases_free(&cases);
  if (status.code == FOLD_OK && !send(p, &message)) p->shared->over = 1;
  return status;
}

/* How many of the hunt's cases are left for a round of n, which begins with case `first`. */
static size_t left_of(const struct fold_hunt *hunt, uint64_t first, size_t n) {
  if (hunt->cases == 0 || first + n <= hunt->cases) return n;
  return first < hunt->cases ? (size_t)(hunt->cases - first) : 0;
}

static fold_status run_rounds(const struct process *p, unsigned process) {
  const bool device = fold_hunts_device(p->hunt->registry, p->hunt->selection);
  size_t size = sizes[device].first;
  uint64_t first = 0;
  struct fold_draw_place place = {0, 0};
  for (; !p->shared->over && count_hung(p) < p->draw.n; place.round++, first += size) {
    const unsigned lane = (unsigned)(place.round % FOLD_HUNT_LANES);
    if (lane == 0) place.of_each = first / FOLD_HUNT_LANES;
    if (lane == 0 && first > 0 && size < sizes[device].most) size *= 2;
    const size_t n = left_of(p->hunt, first, size);
    if (n == 0) break;
    if (lane % p->hunt->processes == process) FOLD_TRY(run_round(p, &p->lanes[lane], &place, n));
  }
  return fold_ok();
}

void fold_lane_run(const struct fold_hunt *hunt, struct fold_hunt_shared *shared, unsigned process,
                   const struct fold_lane_channel *channel) {
  struct fold_lane_message message = {.word = FOLD_LANE_ENDED};
  struct process p = {hunt, shared, channel, {0}, calloc(FOLD_HUNT_LANES, sizeof(struct lane))};
  message.status = p.lanes ? fold_draw_open(hunt->registry, hunt->selection, hunt->seed, hunt->terms, &p.draw)
                           : fold_no_memory("for a hunt");
  if (message.status.code == FOLD_OK) message.status = run_rounds(&p, process);
  fold_draw_close(&p.draw);
  free(p.lanes);
  send(&p, &message);
}
