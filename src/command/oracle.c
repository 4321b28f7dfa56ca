/* command/oracle.c: foldproof oracle: the exact result for any array. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "command/command.h"
#include "fixtures/fixture.h"
#include "oracles/exact.h"

enum { PROBLEM = 0x200, JSON, ROWS, CHECK, MOST_SHOWN = 1200 };

struct oracle {
  const char *path;
  const struct fold_problem *problem;
  bool json, rows, check;
};

static const struct argp_option options[] = {
    {"problem", PROBLEM, "PROBLEM", 0,
     "PROBLEMS (default: sum), with a file for each input: A.npy,B.npy. One file may have "
     "the rows of dot's inputs one after the other, or matvec's vector as its last row",
     0},
    {"json", JSON, NULL, 0, "print one JSON object for each reduction", 0},
    {"rows", ROWS, NULL, 0, "reduce each row of a two-dimensional array (default: all of it; of matvec each row)", 0},
    {"check", CHECK, NULL, 0, "also compute the answer only by MPFR; exit 1 if the two differ", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct oracle *o = state->input;
  switch (key) {
    case PROBLEM: o->problem = fold_option_problem(state, arg); return 0;
    case JSON: o->json = true; return 0;
    case ROWS: o->rows = true; return 0;
    case CHECK: o->check = true; return 0;
    case ARGP_KEY_ARG:
      if (o->path) return ARGP_ERR_UNKNOWN;
      o->path = arg;
      return 0;
    case ARGP_KEY_END:
      if (!o->path) argp_failure(state, 2, 0, "name a .npy file");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .help_filter = fold_help_problems,
    .args_doc = "FILE.npy[,FILE.npy]",
    .doc =
        "Print the exact result of reducing an array, and this result rounded once to each dtype.\n"
        "\n"
        "Examples:\n"
        "  foldproof oracle x.npy\n"
        "  foldproof oracle x.npy --problem max\n"
        "  foldproof oracle x.npy --rows --json\v"
        "Arrays are little-endian f2, f4, f8, i1, i4, i8, u2 (read as bf16), or u1 (e4m3 or e5m2, as the file's name "
        "says: "
        "x_e4m3.npy), in C order, with one or two dimensions. The keys of JSON are n, dtype, op, exact (all decimal "
        "digits; null for a product that is too long: then enclosure has a lower and an upper limit), rounded (the "
        "bits in each dtype), abs_sum (of the finite terms), condition (of a sum; null where it is not finite) and, "
        "with --check, agrees."};

/* "1.5", "nan", "inf", "-inf", "0", "-0"; NULL if memory is short. */
static char *exact_text(mpfr_srcptr value) {
  if (mpfr_number_p(value)) return fold_mpfr_decimal(value);
  char *text = NULL;
  if (asprintf(&text, "%s", mpfr_nan_p(value) ? "nan" : mpfr_signbit(value) ? "-inf" : "inf") < 0) return NULL;
  return text;
}

/* One end of the interval that encloses a product too long to hold, in 40 digits. */
static char *end_text(mpfr_srcptr value, mpfr_rnd_t rounding) {
  char *text = NULL;
  if (mpfr_asprintf(&text, "%.40R*e", rounding, value) < 0) return NULL;
  char *copy = NULL;
  if (asprintf(&copy, "%s", text) < 0) copy = NULL;
  mpfr_free_str(text);
  return copy;
}

struct answer {
  char *exact, *low, *high, *abs_sum;
};

/* An exact product of few bits may have millions of decimal digits: then it is shown by its two ends too. */
static fold_status describe(const struct fold_truth *truth, struct answer *a) {
  bool negative = mpfr_signbit(truth->exact);
  if (!truth->enclosed) a->exact = exact_text(truth->exact);
  if (a->exact == NULL) {
    a->low = end_text(negative ? truth->exact_up : truth->exact, MPFR_RNDD);
    a->high = end_text(negative ? truth->exact : truth->exact_up, MPFR_RNDU);
  }
  a->abs_sum = exact_text(truth->abs_sum);
  if ((a->exact || (a->low && a->high)) && a->abs_sum) return fold_ok();
  return fold_no_memory("for the digits");
}

static void free_answer(struct answer *a) {
  free(a->exact);
  free(a->low);
  free(a->high);
  free(a->abs_sum);
}

/* sum |x| over the sum's magnitude; NaN for other operations. */
static double condition_of(const struct fold_truth *truth) { return truth->op == FOLD_SUM ? truth->condition : NAN; }

static void print_json(const char *op, const struct fold_truth *truth, const struct answer *a, const bool *agree) {
  json_t *object = json_object(), *rounded = json_object();
  json_object_set_new(object, "n", json_integer((json_int_t)truth->n));
  json_object_set_new(object, "dtype", json_string(fold_dtype_name(truth->dtype)));
  json_object_set_new(object, "op", json_string(op));
  json_object_set_new(object, "exact", a->exact ? json_string(a->exact) : json_null());
  if (a->low) json_object_set_new(object, "enclosure", json_pack("[ss]", a->low, a->high));
  for (int d = 0; d < FOLD_DTYPES; d++) {
    char bits[24];
    if (!fold_truth_reaches(truth, (enum fold_dtype)d)) continue;
    snprintf(bits, sizeof bits, "0x%0*llx", fold_format_of((enum fold_dtype)d).bits / 4,
             (unsigned long long)truth->rounded[d]);
    json_object_set_new(rounded, fold_dtype_name((enum fold_dtype)d), json_string(bits));
  }
  json_object_set_new(object, "rounded", rounded);
  json_object_set_new(object, "abs_sum", json_string(a->abs_sum));
  bool finite = isfinite(condition_of(truth));
  json_object_set_new(object, "condition", finite ? json_real(truth->condition) : json_null());
  if (agree) json_object_set_new(object, "agrees", json_boolean(*agree));
  json_dumpf(object, stdout, JSON_COMPACT);
  putchar('\n');
  json_decref(object);
}

static void print_digits(const char *name, const char *digits) {
  if (strlen(digits) > MOST_SHOWN)
    printf("%-10s %.60s... (%zu characters: --json prints all)\n", name, digits, strlen(digits));
  else
    printf("%-10s %s\n", name, digits);
}

static bool has_wrapped(const struct fold_truth *truth, enum fold_dtype to) {
  return fold_dtype_is_integer(to) && !fold_truth_is_within(truth, fold_format_of(to).bits);
}

static void print_text(const char *op, const struct fold_truth *truth, const struct answer *a, const bool *agree) {
  char text[80];
  printf("n          %zu\ndtype      %s\nop         %s\n", truth->n, fold_dtype_name(truth->dtype), op);
  if (a->exact)
    print_digits("exact", a->exact);
  else
    printf("exact      between %s\n           and     %s\n", a->low, a->high);
  for (int d = 0; d < FOLD_DTYPES; d++)
    if (fold_truth_reaches(truth, (enum fold_dtype)d))
      printf("in %-7s %s%s\n", fold_dtype_name((enum fold_dtype)d),
             fold_bits_print((enum fold_dtype)d, truth->rounded[d], text),
             has_wrapped(truth, (enum fold_dtype)d) ? " wrapped" : "");
  print_digits("abs_sum", a->abs_sum);
  if (truth->op == FOLD_SUM) printf("condition  %.6g\n", truth->condition);
  if (agree) printf("check      MPFR %s\n", *agree ? "agrees" : "DIFFERS");
}

static fold_status check_by_mpfr(const struct fold_truth *truth, const struct fold_terms *terms, bool *agree) {
  struct fold_truth other;
  fold_truth_init(&other);
  fold_status status = fold_oracle_mpfr_terms(terms, &other);
  *agree = status.code == FOLD_OK;
  for (int d = 0; d < FOLD_DTYPES && *agree; d++)
    *agree = fold_bits_same((enum fold_dtype)d, truth->rounded[d], other.rounded[d]);
  fold_truth_free(&other);
  return status;
}

static fold_status answer_one(const struct oracle *o, const struct fold_terms *terms, bool *agree) {
  struct fold_truth truth;
  struct answer answer = {0};
  const char *op = o->problem->name;
  fold_truth_init(&truth);
  fold_status status = fold_oracle_terms(terms, 0, &truth);
  *agree = true;
  if (status.code == FOLD_OK) status = describe(&truth, &answer);
  if (status.code == FOLD_OK && o->check) status = check_by_mpfr(&truth, terms, agree);
  if (status.code == FOLD_OK) (o->json ? print_json : print_text)(op, &truth, &answer, o->check ? agree : NULL);
  if (status.code == FOLD_OK && !*agree) fprintf(stderr, "foldproof oracle: the two oracles differ\n");
  free_answer(&answer);
  fold_truth_free(&truth);
  return status;
}

/* Each result of a call, which is sorted. */
static fold_status answer_results(const struct oracle *o, const struct fold_call *call, bool *agree) {
  fold_status status = fold_ok();
  for (size_t r = 0; r < fold_results(call->problem, &call->shape) && status.code == FOLD_OK; r++) {
    const struct fold_terms terms = fold_call_terms(call, r);
    bool same = true;
    if (r > 0 && !o->json) putchar('\n');
    status = answer_one(o, &terms, &same);
    *agree = *agree && same;
  }
  return status;
}

static fold_status read_inputs(const struct fold_case *c, void *in[FOLD_INPUTS]) {
  for (unsigned k = 0; k < c->problem->inputs; k++) {
    in[k] = malloc(fold_case_bytes(c, k) + 1);
    if (in[k] == NULL) return fold_no_memory("for %zu elements", fold_case_elements(c, k));
    FOLD_TRY(fold_case_fill(c, k, in[k], 0));
  }
  return fold_ok();
}

/* The elements of rows are folded all together, unless each row is asked for; a vector goes with each row. */
static fold_status answer_case(const struct oracle *o, const struct fold_case *c, void *const in[FOLD_INPUTS],
                               bool *agree) {
  struct fold_call call = {.dtype = c->dtype, .problem = c->problem, .shape = c->shape, .in = {in[0], in[1]}}, sorted;
  struct fold_slots slots;
  if (!o->rows && fold_is_of_rows(c->problem)) call.shape = (struct fold_shape){.m = 1, .k = c->rows * c->cols};
  FOLD_TRY(fold_call_sorted(&call, &slots, &sorted));
  const fold_status status = answer_results(o, &sorted, agree);
  fold_slots_free(&slots);
  return status;
}

static fold_status answer_all(const struct oracle *o, bool *agree) {
  struct fold_cases cases = {0};
  void *in[FOLD_INPUTS] = {NULL};
  FOLD_TRY(fold_cases_add_npy(o->path, o->problem, 0, &cases));
  fold_status status = fold_within(read_inputs(cases.at, in), "%s", o->path);
  if (status.code == FOLD_OK) status = answer_case(o, cases.at, in, agree);
  for (unsigned k = 0; k < FOLD_INPUTS; k++) free(in[k]);
  fold_cases_free(&cases);
  return status;
}

int fold_command_oracle(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  struct oracle oracle = {.problem = fold_problem(FOLD_ROWS_SUM)};
  fold_parse(&argp, argc, argv, &oracle);
  bool agree = true;
  fold_status status = answer_all(&oracle, &agree);
  if (status.code != FOLD_OK) return fold_print_error(argv[0], status);
  return agree ? 0 : 1;
}
