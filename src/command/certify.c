/* command/certify.c: foldproof certify: writes a certificate of a subject's results, for foldproof-check (python/check_certificate.py), which
 * says what each line means. */
#include <errno.h>
#include <jansson.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/output.h"
#include "command/one_subject.h"
#include "judge/reveal_subject.h"
#include "oracles/exact.h"
#include "run/environment.h"

enum { MOST = 1 << 16, WIDTH = 110 };

struct certificate {
  const struct fold_subject *subject;
  const struct fold_case *c;
  const struct fold_problem *problem;
  struct fold_rig rig;
  struct fold_tree tree;
  char order[400];
  char left[80]; /* the state that its run left changed, or loading the guest */
  bool exact;
  uint64_t *results; /* one for each row, in the format of the result's dtype */
  FILE *text;        /* the lines, without their checksums */
};

static enum fold_dtype result_of(const struct certificate *k) { return fold_subject_result(k->subject, k->c->dtype); }
static enum fold_dtype accumulator_of(const struct certificate *k) {
  return fold_subject_accumulator(k->subject, k->c->dtype);
}
static const void *input_of(const struct certificate *k, unsigned input) {
  return input < k->rig.inputs ? fold_rig_input_at(&k->rig, input) : NULL;
}

static fold_status check(const struct certificate *k) {
  const size_t n = k->c->rows * k->c->cols;
  if (k->problem->op != FOLD_SUM || !fold_terms_are_elements(k->problem))
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for %s", k->problem->name);
  if (fold_case_is_laid(k->c))
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate of inputs that lie in a layout of their own");
  if (n == 0 || n > MOST)
    return fold_error(FOLD_UNSUPPORTED, "a certificate is of 1 to %d terms, and not of %zu", MOST, n);
  if (fold_engine_has_ranks(k->subject->engine))
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for sums over ranks");
  if (k->subject->method == FOLD_KAHAN || k->subject->method == FOLD_NEUMAIER)
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for sums with compensation");
  if (!(k->subject->dtypes >> k->c->dtype & 1) || !(k->subject->problems >> k->problem->id & 1) || k->c->ranks)
    return fold_error(FOLD_UNSUPPORTED, "%s does not take %s", k->subject->name, k->c->name);
  return fold_ok();
}

static fold_status run(struct certificate *k) {
  const size_t n[FOLD_INPUTS] = {fold_case_elements(k->c, 0), fold_case_elements(k->c, 1)};
  const struct fold_request request = {.rows = k->c->rows, .cols = k->c->cols, .poison = FOLD_BASE_POISON};
  struct fold_traces traces;
  k->results = calloc(k->c->rows + 1, sizeof *k->results);
  if (k->results == NULL) return fold_no_memory("for %zu results", k->c->rows);
  FOLD_TRY(fold_engine_ready(k->subject->engine));
  FOLD_TRY(fold_rig_open(&k->rig, k->subject->engine, k->problem, k->c->dtype, n, k->c->rows));
  for (unsigned i = 0; i < k->rig.inputs; i++) FOLD_TRY(fold_case_fill(k->c, i, fold_rig_input_at(&k->rig, i), 0));
  FOLD_TRY(fold_rig_load(&k->rig));
  FOLD_TRY(fold_rig_run(&k->rig, k->subject, &request, k->results, &traces));
  memcpy(k->left, traces.left, sizeof k->left);
  return fold_ok();
}

static fold_status find_tree(struct certificate *k) {
  const struct fold_order *order = k->subject->order ? fold_order_find(k->subject->order) : NULL;
  k->exact = k->subject->method == FOLD_EXACT;
  snprintf(k->order, sizeof k->order, "%s", order ? order->name : "none");
  if (k->exact) return fold_ok();
  if (order && fold_order_has_tree(order, k->subject->method))
    return fold_tree_of_order(order, k->c->dtype, NULL, k->c->cols, &k->tree);
  const struct fold_reveal_asked asked = {.dtype = k->c->dtype, .problem = k->problem->id, .n = k->c->cols};
  struct fold_revealed revealed;
  FOLD_TRY(fold_reveal_subject(k->subject, &asked, &revealed));
  k->exact = revealed.kind == FOLD_REVEALED_EXACT;
  snprintf(k->order, sizeof k->order, "%s", revealed.name[0] ? revealed.name : "unknown");
  if (revealed.kind == FOLD_REVEALED_TREE && revealed.how.accumulator == accumulator_of(k) &&
      !revealed.tree.accumulator &&
      (fold_tree_width(&revealed.tree) == 2 || revealed.how.fusing == FOLD_ROUNDED_ONCE)) {
    k->tree = revealed.tree;
    return fold_ok();
  }
  const fold_status status = k->exact ? fold_ok()
                                      : fold_error(FOLD_UNSUPPORTED, "there is no tree to certify: %s%s%.200s%s%s",
                                                   fold_revealed_text(revealed.kind), revealed.why[0] ? ": " : "",
                                                   revealed.why, k->left[0] ? "; it left changed: " : "", k->left);
  fold_revealed_free(&revealed);
  return status;
}

/* Lines with the same key and the words of a list. When a line is long, a new one begins. */
struct words {
  FILE *text;
  const char *key;
  long began;
};

static void begin_word(struct words *w) {
  if (w->began >= 0 && ftell(w->text) - w->began > WIDTH) {
    fputc('\n', w->text);
    w->began = -1;
  }
  if (w->began < 0) {
    fputs(w->key, w->text);
    w->began = ftell(w->text);
  }
  fputc(' ', w->text);
}

static void write_patterns(FILE *text, const char *key, enum fold_dtype dtype, const void *in, size_t n) {
  struct words w = {text, key, -1};
  for (size_t i = 0; i < n; i++) {
    begin_word(&w);
    fprintf(text, "%llx", (unsigned long long)fold_bits_load(dtype, in, i));
  }
  fputc('\n', text);
}

static void write_tree(FILE *text, const struct fold_tree *tree) {
  struct words w = {text, "tree", -1};
  for (size_t j = 0; j < tree->joins; j++) {
    begin_word(&w);
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++) {
      const uint32_t node = tree->child[c];
      const bool unrounded = tree->fused && node < tree->n && tree->fused[node];
      fprintf(text, "%s%u%s", c > tree->first[j] ? "," : "", node, unrounded ? "*" : "");
    }
  }
  if (tree->joins) fputc('\n', text);
}

/* Row r's exact value, of which the result must be the rounding if there is no tree. */
static fold_status write_exact(const struct certificate *k, size_t r, uint64_t *rounded) {
  const void *const inputs[FOLD_INPUTS] = {input_of(k, 0), input_of(k, 1)};
  const struct fold_call call = fold_case_call(k->c, inputs, NULL);
  const struct fold_terms terms = fold_call_terms(&call, r);
  struct fold_truth truth;
  mpz_t odd;
  mpz_init(odd);
  fold_truth_init(&truth);
  fold_status status = fold_oracle_terms(&terms, 1, &truth);
  if (status.code == FOLD_OK && !truth.finite_terms)
    status = fold_error(FOLD_UNSUPPORTED, "numbers that are not finite have no certificate");
  if (status.code == FOLD_OK) {
    const bool zero = mpfr_zero_p(truth.exact);
    const long unit = zero ? 0 : (long)mpfr_get_z_2exp(odd, truth.exact), twos = zero ? 0 : (long)mpz_scan1(odd, 0);
    mpz_tdiv_q_2exp(odd, odd, (mp_bitcnt_t)twos);
    gmp_fprintf(k->text, "exact %Zxp%ld\n", odd, unit + twos);
    *rounded = truth.rounded[result_of(k)];
  }
  fold_truth_free(&truth);
  mpz_clear(odd);
  return status;
}

/* The results must be those of the tree, or of the exact values. */
static fold_status check_results(const struct certificate *k, const uint64_t *exact) {
  const enum fold_dtype result = result_of(k);
  uint64_t *replayed = calloc(k->c->rows + 1, sizeof *replayed);
  if (replayed == NULL) return fold_no_memory("for %zu results", k->c->rows);
  const struct fold_call call = {.dtype = k->c->dtype,
                                 .problem = k->problem,
                                 .rows = k->c->rows,
                                 .cols = k->c->cols,
                                 .in = {input_of(k, 0), input_of(k, 1)},
                                 .out = replayed};
  const struct fold_tree_arithmetic how = {accumulator_of(k), result, FOLD_ROUNDED_ONCE};
  fold_status status = k->exact ? fold_ok() : fold_tree_replay(&k->tree, how, &call);
  for (size_t r = 0; status.code == FOLD_OK && r < k->c->rows; r++) {
    const uint64_t got = fold_bits_load(result, k->results, r),
                   want = k->exact ? exact[r] : fold_bits_load(result, replayed, r);
    if (got != want)
      status =
          fold_error(FOLD_UNSUPPORTED,
                     "what came out cannot be certified: row %zu: these terms give %llx in its order, and not %llx", r,
                     (unsigned long long)want, (unsigned long long)got);
    else if (fold_bits_class(result, got) >= FOLD_INFINITE || got == fold_format_of(result).sign)
      status = fold_error(FOLD_UNSUPPORTED, "a result that is not finite, or a negative zero, has no certificate");
  }
  free(replayed);
  return status;
}

static void write_environment(const struct certificate *k) {
  json_t *environment = fold_environment(), *value;
  const char *key;
  json_object_foreach(environment, key, value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    if (text && strpbrk(text, "#\n") == NULL) fprintf(k->text, "environment %s %s\n", key, text);
    free(text);
  }
  json_decref(environment);
}

static fold_status write_lines(const struct certificate *k) {
  const struct fold_case *c = k->c;
  fprintf(k->text, "foldproof-certificate 1\nsubject %s\nengine %s\ncase %s\n", k->subject->name,
          fold_engine_name(k->subject->engine), c->name);
  if (c->source.generator)
    fprintf(k->text, "generator %s, seed %llu\n", c->source.generator->name, (unsigned long long)c->source.seed);
  else
    fprintf(k->text, "generator none: the values of %s\n", c->npy ? "an array" : "a fixture");
  fprintf(k->text, "problem %s\ndtype %s\naccumulator %s\nresult %s\nrows %zu\ncols %zu\n", k->problem->name,
          fold_dtype_name(c->dtype), fold_dtype_name(accumulator_of(k)), fold_dtype_name(result_of(k)), c->rows,
          c->cols);
  for (unsigned i = 0; i < k->problem->inputs; i++)
    write_patterns(k->text, i ? "input 1" : "input 0", c->dtype, input_of(k, i), c->rows * c->cols);
  fprintf(k->text, "method %s\norder %s\n", k->exact ? "exact" : "tree", k->order);
  if (!k->exact) write_tree(k->text, &k->tree);
  write_patterns(k->text, "results", result_of(k), k->results, c->rows);
  uint64_t *exact = calloc(c->rows + 1, sizeof *exact);
  fold_status status = exact ? fold_ok() : fold_no_memory("for %zu results", c->rows);
  for (size_t r = 0; status.code == FOLD_OK && r < c->rows; r++) status = write_exact(k, r, &exact[r]);
  if (status.code == FOLD_OK) status = check_results(k, exact);
  free(exact);
  write_environment(k);
  return status;
}

/* CRC-32 as zip has it. */
static uint32_t crc(uint32_t sum, const char *text, size_t n) {
  for (size_t k = 0; k < n; k++) {
    sum ^= (unsigned char)text[k];
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return sum;
}

static void write_line(FILE *out, unsigned long line, const char *text, size_t n) {
  char number[24];
  const int length = snprintf(number, sizeof number, "%lu:", line);
  const uint32_t sum = crc(crc(~0u, number, (size_t)length), text, n);
  fprintf(out, "%.*s #%08x\n", (int)n, text, ~sum);
}

/* Writes each line with its checksum, and how many there are. */
static void close_lines(const char *text, FILE *out) {
  char last[40];
  unsigned long line = 0;
  for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
    write_line(out, ++line, at, (size_t)(end - at));
  snprintf(last, sizeof last, "lines %lu", line);
  write_line(out, line + 1, last, strlen(last));
}

static fold_status write_file(const char *path, const char *text) {
  struct fold_output output;
  FOLD_TRY(fold_output_open(&output, path));
  close_lines(text, output.file);
  return fold_output_close(&output, FOLD_OUTPUT_WHOLE, NULL);
}

static fold_status write_certificate(struct certificate *k, const char *path, FILE *to) {
  char *text = NULL;
  size_t size = 0;
  k->text = open_memstream(&text, &size);
  if (k->text == NULL) return fold_no_memory("for a certificate");
  fold_status status = write_lines(k);
  if (fclose(k->text) != 0) status = fold_no_memory("for a certificate");
  if (status.code == FOLD_OK && path) status = write_file(path, text);
  if (status.code == FOLD_OK && !path) close_lines(text, to); /* whose owner checks it */
  free(text);
  return status;
}

/* Runs the subject once on the case, and writes the certificate to `path`; if that is NULL, to `to`. The tree is that of
 * the declared order; if none is declared, it is revealed. */
static fold_status write(const struct fold_subject *subject, const struct fold_case *c, const char *path, FILE *to) {
  struct certificate k = {.subject = subject, .c = c, .problem = c->problem};
  fold_status status = check(&k);
  if (status.code == FOLD_OK) status = run(&k);
  if (status.code == FOLD_OK) status = find_tree(&k);
  if (status.code == FOLD_OK) status = write_certificate(&k, path, to);
  if (k.rig.ops) fold_rig_close(&k.rig);
  fold_tree_free(&k.tree);
  free(k.results);
  return status;
}

enum { FIXTURES = 'f', OUTPUT = 'o', FOLDER = 0x200 };

struct certify {
  struct fold_one one;
  struct fold_selection_options defaults;
  const char *program, *fixtures, *folder, *output;
};

static const struct argp_option options[] = {
    {"fixtures", FIXTURES, "CASE", 0, "the case, one of foldproof list fixtures", 0},
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files", 0},
    {"output", OUTPUT, "FILE", 0, "write the certificate here (standard output)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct certify *c = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &c->one; return 0;
    case FIXTURES: c->fixtures = arg; return 0;
    case FOLDER: c->folder = arg; return 0;
    case OUTPUT: c->output = arg; return 0;
    case ARGP_KEY_END:
      if (!c->fixtures) argp_failure(state, 2, 0, "--fixtures names the case");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_one_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT]",
    .doc =
        "Run a subject once on a case and write a certificate: the inputs, the order of additions, the results, the "
        "exact results and the environment, as a text that foldproof-check verifies without foldproof.\n"
        "\n"
        "Examples:\n"
        "  foldproof certify host/pairwise -f normal/f32/sum/1x33/seed1 -o sum.cert\n"
        "  foldproof certify --guest ./my_sum.so -f thirds/f32/sum/1x3 -o my.cert\n"
        "  foldproof certify host/exact -f thirds/f32/sum/1x3 >exact.cert\v"
        "The order is the declared one, or a revealed one. Exit code 77: a certificate cannot state this result."};

static int certify(void *context, const struct fold_subject *subject, FILE *out) {
  const struct certify *c = context;
  struct fold_cases cases = {0};
  const struct fold_selection selection = {.engine = -1, .folder = c->folder, .set = "all", .fixtures = c->fixtures};
  fold_status status = fold_select_cases(&selection, 0, &cases);
  if (status.code == FOLD_OK && cases.n != 1)
    status = fold_error(FOLD_BAD_INPUT, "--fixtures %.100s: %zu cases, and one is certified at a time", c->fixtures,
                        cases.n);
  if (status.code == FOLD_OK) status = write(subject, &cases.at[0], c->output, out);
  fold_cases_free(&cases);
  return fold_print_error(c->program, status);
}

int fold_command_certify(int argc, char **argv, const struct fold_registry *registry) {
  struct certify c = {.one = {.engine = -1}, .program = argv[0]};
  fold_selection_defaults(&c.defaults);
  c.folder = c.defaults.selection.folder;
  fold_parse(&argp, argc, argv, &c);
  return fold_one_subject(argv[0], &c.one, registry, certify, &c);
}
