/* test_study_worlds.c: foldproof study --worlds: the worst errors of many short sums, against those that MPFR finds one
 * by one; and each alarm, over real ranks, about a collective that breaks its promise (played_worlds.c).
 */
#include <math.h>

#include "shell.h"

#include "arithmetics.h"
#include "base/bits.h"
#include "oracles/bound.h"
#include "oracles/order.h"
#include "ranks/world.h"
#include "study/worlds.h"

struct message {
  const struct fold_generator *generator;
  enum fold_dtype dtype;
  struct way way;
  size_t n, ranks;
  char *x, *got;
  uint64_t height;
  struct fold_truth *truth; /* of each of the n sums */
};

static void find_truths(struct message *m) {
  m->truth = calloc(m->n, sizeof *m->truth);
  for (size_t i = 0; i < m->n; i++) {
    fold_truth_init(&m->truth[i]);
    fold_oracle_mpfr(m->dtype, FOLD_SUM, m->x + i * m->ranks * fold_dtype_size(m->dtype), m->ranks, &m->truth[i]);
  }
}

static void drop_truths(struct message *m) {
  for (size_t i = 0; i < m->n; i++) fold_truth_free(&m->truth[i]);
  free(m->truth);
}

/* All of it in MPFR, nothing left out. */
static void find_worst(const struct message *m, struct fold_worlds_errors *e) {
  mpfr_t error, bound;
  *e = (struct fold_worlds_errors){0};
  mpfr_init2(error, 256);
  mpfr_init2(bound, 128);
  for (size_t i = 0; i < m->n; i++) {
    const struct fold_truth *truth = &m->truth[i];
    uint64_t bits = fold_bits_load(m->dtype, m->got, i);
    double ulps = INFINITY, fraction = INFINITY;
    enum fold_class class = fold_bits_class(m->dtype, bits);
    bool negative = bits & fold_format_of(m->dtype).sign;
    struct fold_outcomes may;
    bool none = fold_bound_outcomes(way_of(m->way, m->dtype), truth, m->height, NULL, bound, &may).code != FOLD_OK;
    if (none || (class == FOLD_INFINITE && may.infinite[negative]) || (class == FOLD_NAN && may.nan)) {
      e->unjudged++;
      continue;
    }
    bool within = false;
    if (class < FOLD_INFINITE && may.finite) {
      bool nearest = bits == truth->rounded[m->dtype] || (class == FOLD_ZERO && mpfr_zero_p(truth->exact));
      fold_truth_error(error, truth, m->dtype, bits);
      within = mpfr_lessequal_p(error, bound) && (nearest || !may.exact);
      ulps = fold_truth_ulps(error, truth, m->dtype);
      fraction = 0;
      if (!mpfr_zero_p(error)) {
        mpfr_div(bound, error, bound, MPFR_RNDU);
        fraction = mpfr_get_d(bound, MPFR_RNDU);
      }
    }
    if (!within && e->exceeded++ == 0) e->at = i;
    e->ulps = fmax(e->ulps, ulps);
    e->fraction = fmax(e->fraction, fraction);
  }
  if (e->unjudged == m->n) e->ulps = e->fraction = NAN;
  mpfr_clears(error, bound, (mpfr_ptr)0);
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void make_message(struct message *m, const char *order) {
  size_t size = fold_dtype_size(m->dtype);
  struct fold_source source = {m->generator, m->dtype, 7, m->ranks, 1e6};
  m->x = malloc(m->n * m->ranks * size + 8);
  m->got = malloc(m->n * size + 8);
  fold_generate(&source, 0, m->n * m->ranks, m->x);
  struct fold_call call = {.dtype = m->dtype,
                           .problem = fold_rows_problem(FOLD_SUM),
                           .rows = m->n,
                           .cols = m->ranks,
                           .in = {m->x},
                           .out = m->got};
  const struct fold_order *found = fold_order_find(order);
  cr_assert_eq(fold_order_replay(found, &call).code, FOLD_OK);
  cr_assert_eq(fold_order_height(found, m->dtype, m->x, m->ranks, &m->height).code, FOLD_OK);
}

static void compare(const struct message *m, const char *what, struct fold_worlds_errors *got) {
  struct fold_worlds_errors want;
  find_worst(m, &want);
  cr_assert_eq(
      fold_worlds_errors(way_of(m->way, m->dtype), m->dtype, m->height, m->x, m->n, m->ranks, m->got, got).code,
      FOLD_OK);
  cr_expect(same(got->ulps, want.ulps) && same(got->fraction, want.fraction) && got->exceeded == want.exceeded &&
                got->at == want.at && got->unjudged == want.unjudged,
            "%s %s, %zu ranks, %s: %g ulps, %g of the bound, %zu above it from %zu, %zu unjudged; want %g, %g, %zu, "
            "%zu, %zu",
            m->generator->name, fold_dtype_name(m->dtype), m->ranks, what, got->ulps, got->fraction, got->exceeded,
            got->at, got->unjudged, want.ulps, want.fraction, want.exceeded, want.at, want.unjudged);
}

/* Every eleventh result a number on; one far off; one infinite. */
static void spoil(struct message *m, int how) {
  for (size_t i = 5; i < m->n; i += how == 0 ? 11 : m->n) {
    uint64_t bits = fold_bits_load(m->dtype, m->got, i);
    for (int k = how == 1 ? 40 : 1; k > 0; k--) bits = fold_bits_up(m->dtype, bits);
    if (how == 2) bits = fold_format_of(m->dtype).exponent;
    fold_bits_store(m->dtype, m->got, i, bits);
  }
}

/* The exact sums do not hang on the method, or on what was got. */
static void compare_all(struct message *m) {
  static const char *const spoilt[] = {"some a number off", "one 40 numbers off", "one infinite"};
  static const struct way ways[] = {PLAINLY, NARROWLY};
  struct fold_worlds_errors errors;
  for (size_t k = 0; k < 2; k++) {
    m->way = ways[k];
    make_message(m, "host/sequential");
    if (k == 0) find_truths(m);
    compare(m, "replayed", &errors);
    for (int how = 0; how < 3; how++) {
      spoil(m, how);
      compare(m, spoilt[how], &errors);
    }
    free(m->x);
    free(m->got);
  }
  drop_truths(m);
}

Test(study_worlds, what_is_left_out_is_not_the_worst) {
  static const size_t ranks[] = {1, 2, 3, 8, 40};
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  for (size_t g = 0; g < n_generators; g++)
    for (int d = 0; d < FOLD_FLOATS; d++)
      for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
        struct message m = {.generator = &all[g], .dtype = (enum fold_dtype)d, .n = 40, .ranks = ranks[k]};
        if (all[g].dtypes >> d & 1) compare_all(&m);
      }
}

/* Rows of f64 whose errors, or whose unit of the last place, lie below what the estimate can see: s = 0, and e rounded.
 * In the first message e loses 2^-120, all that is wrong; in the second e is 3 * 2^-112, and the sum half of it, so
 * that its unit is half as long. */
Test(study_worlds, what_the_estimate_loses_is_examined) {
  const double q = 0x1p-112;
  double lost[2][4] = {{1, 2, 3, 4}, {1, 0x1p-60, 0x1p-120, -1}}, lost_got[2] = {10, 0x1p-60};
  double half[2][7] = {{0.5, -0.5, q, 0, 0, 0, 0}, {1, 0x1p-60, 0.51 * q, 0.51 * q, 0.51 * q, -0x1p-60, -1}},
         half_got[2] = {0.75 * 0x1p-52, 0x1p-52};
  struct message m = {.generator = fold_generator_find("normal"),
                      .dtype = FOLD_F64,
                      .way = PLAINLY,
                      .n = 2,
                      .ranks = 4,
                      .x = (char *)lost,
                      .got = (char *)lost_got,
                      .height = 3};
  struct fold_worlds_errors errors;
  find_truths(&m);
  compare(&m, "2^-120 lost", &errors);
  drop_truths(&m);
  cr_expect_eq(errors.ulps, 0x1p-8);
  m.ranks = 7;
  m.height = 6;
  m.x = (char *)half;
  m.got = (char *)half_got;
  find_truths(&m);
  compare(&m, "half a unit", &errors);
  drop_truths(&m);
  cr_expect(errors.ulps > 0x1.fp111 && errors.exceeded == 0, "%a ulps", errors.ulps);
}

/* A long message is looked at by few examinations, or millions of elements would take minutes. */
Test(study_worlds, few_of_many_are_examined) {
  static const char *const names[] = {"normal", "mixed", "pathological", "constant", "integers"};
  for (size_t g = 0; g < sizeof names / sizeof *names; g++)
    for (int d = FOLD_F32; d <= FOLD_F64; d++)
      for (size_t ranks = 1; ranks <= 8; ranks++) {
        struct message m = {.generator = fold_generator_find(names[g]),
                            .dtype = (enum fold_dtype)d,
                            .way = PLAINLY,
                            .n = 20000,
                            .ranks = ranks};
        struct fold_worlds_errors errors;
        make_message(&m, "host/pairwise");
        cr_assert_eq(
            fold_worlds_errors(way_of(m.way, m.dtype), m.dtype, m.height, m.x, m.n, ranks, m.got, &errors).code,
            FOLD_OK);
        cr_expect(errors.examined < m.n / 100, "%s %s, %zu ranks: %zu of %zu", names[g], fold_dtype_name(m.dtype),
                  ranks, errors.examined, m.n);
        free(m.x);
        free(m.got);
      }
}

Test(study_worlds, an_empty_message_has_no_worst) {
  struct fold_worlds_errors errors;
  cr_assert_eq(
      fold_worlds_errors(fold_arithmetic_of(FOLD_PLAIN, FOLD_F32), FOLD_F32, 1, NULL, 0, 2, NULL, &errors).code,
      FOLD_OK);
  cr_expect(isnan(errors.ulps) && isnan(errors.fraction) && errors.exceeded == 0);
}

Test(study_worlds, worlds_are_those_that_there_are_ranks_for) {
  static const struct {
    unsigned ranks;
    size_t n;
    unsigned last;
  } rows[] = {{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {5, 5, 5}, {7, 6, 7}, {8, 6, 8}, {16, 7, 16}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned sizes[FOLD_WORLDS_MOST];
    size_t n = fold_worlds_sizes(rows[i].ranks, sizes);
    cr_expect(n == rows[i].n && sizes[0] == 1 && sizes[n - 1] == rows[i].last, "%u ranks: %zu worlds", rows[i].ranks,
              n);
  }
}

static const char world[] = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FOLDPROOF_RANKS=4; ";

/* The line of that many ranks, of a table with one subject. */
static const char *line_of(const char *out, const char *subject, unsigned ranks, char text[400]) {
  char name[60];
  unsigned found;
  text[0] = '\0';
  for (const char *line = out; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (sscanf(line, " %59s %u", name, &found) == 2 && strcmp(name, subject) == 0 && found == ranks)
      return snprintf(text, 400, "%.*s", (int)strcspn(line, "\n"), line), text;
  }
  return text;
}

/* In the worlds that break it the line says what is refuted; in the others nothing is. */
Test(study_worlds, a_promise_that_is_not_kept_is_named_in_its_line) {
  static const struct {
    const char *subject, *says;
    unsigned worlds; /* those that break it: 1u << ranks */
  } rows[] = {
      {"right_sum", "", 0},
      {"world_shows", "world_invariant: different bits than in a world of one rank", 1u << 3 | 1u << 4},
      {"not_nearest", "correctly_rounded: not the number nearest to the exact result",
       1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
      {"not_replayed", "replays: different bits than its order's replay", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
      {"above_bound", "bounded: error ", 1u << 2 | 1u << 3 | 1u << 4},
      {"loses_tails", "bounded: error ", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
      {"infinite", "bounded: the result is not finite, and no partial result can overflow", 1u << 2},
      {"joins_badly", "joining the ranks' own sums: error ", 1u << 2 | 1u << 3 | 1u << 4},
      {"ranks_differ", "rank 1 has different bits than rank 0", 1u << 2 | 1u << 3 | 1u << 4},
      {"changes_input", "it changed its input", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
      {"unwritten", "a result was not written", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
      {"right_vector", "", 0},
      {"one_above_bound", "bounded: 1 elements are above their bounds, the first is number 6666", 1u << 3},
      {"one_not_replayed", "replays: different bits than its order's replay", 1u << 4},
      {"one_is_nan", "bounded: 1 elements are above their bounds, the first is number 7", 1u << 2},
  };
  SHELL(s);
  need_mpi();
  shell_run(s, "%s $M study --worlds --engine mpi --sizes 20000 --generators normal --dtypes f32", world);
  EXPECT_CODE(s, 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char name[60], text[400];
    snprintf(name, sizeof name, "played/%s", rows[i].subject);
    for (unsigned ranks = 1; ranks <= 4; ranks++) {
      const char *line = line_of(s->out, name, ranks, text), *told = strstr(line, "refuted; ");
      bool breaks = rows[i].worlds >> ranks & 1;
      cr_expect(line[0] && (told != NULL) == breaks, "%s, %u ranks: '%s' of %s%s", name, ranks, line, s->out, s->err);
      cr_expect(!breaks || (told && strstr(told, rows[i].says)), "%s, %u ranks: %s", name, ranks, line);
    }
  }
}

/* One subject's one refutation is enough, of a sum and of a vector. */
Test(study_worlds, a_promise_that_is_not_kept_exits_1) {
  static const struct {
    const char *subject;
    int code;
  } rows[] = {{"right_sum", 0}, {"infinite", 1}, {"one_is_nan", 1}};
  SHELL(s);
  need_mpi();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s PLAYED=%s $M study --worlds --engine mpi --sizes 2000 --generators normal --dtypes f32", world,
              rows[i].subject);
    EXPECT_CODE(s, rows[i].code);
  }
}

/* Ours keep what they promise; the library's different bits are a finding. What the table says, records and the page say.
 * */
Test(study_worlds, the_subjects_are_validated_and_recorded) {
  SHELL(s);
  need_mpi();
  shell_run(s, "%s $F study --worlds --engine mpi --sizes 60001 --jsonl w.jsonl", world);
  EXPECT_CODE(s, 0);
  cr_expect(
      strstr(s->out,
             "One sum of 60,001 terms cut over ranks: how many numbers the result is from one rank's; Open MPI") &&
          strstr(s->out, "An all-reduce of 60,001 elements"),
      "%s", s->out);
  shell_run(s,
            "grep -c '\"type\":\"validation\"' w.jsonl; grep -c '\"type\":\"validation_vector\"' w.jsonl; "
            "grep -c '\"verdict\":\"held\"' w.jsonl; grep -c join_bound w.jsonl; grep -c '\"promised\":' w.jsonl");
  cr_expect_str_eq(s->out, "72\n48\n120\n18\n48\n");
  shell_run(s,
            "$F report w.jsonl -o w.html && $F report w.jsonl --format markdown && grep -c '<td>4 of 4</td>' w.html && "
            "grep -c '<td>same</td><td>same</td><td>same</td><td>same</td>' w.html");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "## foldproof: 120 distributed sums (120 held, 0 refuted)\n") && strstr(s->out, "\n12\n"),
            "%s", s->out);
}

Test(study_worlds, a_refuted_record_is_told_in_every_report) {
  SHELL(s);
  need_mpi();
  shell_run(s,
            "%s PLAYED=world_shows $M study --worlds --engine mpi --sizes 20000 --generators normal --dtypes f32 "
            "--jsonl p.jsonl",
            world);
  EXPECT_CODE(s, 1);
  shell_run(s,
            "$F report p.jsonl -o p.html; $F report p.jsonl --format markdown; grep -c '<li><b>played/world_shows: "
            "' p.html; grep -c 'class=\"bad\"' p.html");
  cr_expect(strstr(s->out, "## foldproof: 4 distributed sums (2 held, 2 refuted)\n"), "%s", s->out);
  cr_expect_eq(shell_count(s->out, "* **played/world"), 2, "%s", s->out);
  cr_expect(strstr(s->out, "\n2\n2\n"), "%s", s->out);
}
