/* certify.c: runs a subject and writes the lines of a certificate. */
#include "certify/certify.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/output.h"
#include "certify/check.h"
#include "judge/reveal_subject.h"
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
static const struct fold_cert_format *format_of(enum fold_dtype dtype) {
  return fold_cert_format_of(fold_dtype_name(dtype));
}

static fold_status check(const struct certificate *k) {
  const size_t n = k->c->rows * k->c->cols;
  if (k->problem->op != FOLD_SUM)
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for %s", k->problem->name);
  if (n == 0 || n > MOST)
    return fold_error(FOLD_UNSUPPORTED, "a certificate is of 1 to %d terms, and not of %zu", MOST, n);
  if (fold_engine_has_ranks(k->subject->engine))
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for sums over ranks");
  if (k->subject->method == FOLD_KAHAN || k->subject->method == FOLD_NEUMAIER)
    return fold_error(FOLD_UNSUPPORTED, "there is no certificate for sums with compensation");
  if (!(k->subject->dtypes >> k->c->dtype & 1) || !(k->subject->ops >> k->problem->id & 1) || k->c->ranks)
    return fold_error(FOLD_UNSUPPORTED, "%s does not take %s", k->subject->name, k->c->name);
  return fold_ok();
}

static fold_status run(struct certificate *k) {
  const size_t n[FOLD_INPUTS] = {fold_case_elements(k->c, 0), fold_case_elements(k->c, 1)};
  const struct fold_request request = {
      .op = k->c->op, .rows = k->c->rows, .cols = k->c->cols, .poison = FOLD_BASE_POISON};
  struct fold_traces traces;
  k->results = calloc(k->c->rows + 1, sizeof *k->results);
  if (k->results == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu results", k->c->rows);
  FOLD_TRY(fold_engine_ready(k->subject->engine));
  FOLD_TRY(fold_rig_open_inputs(&k->rig, k->subject->engine, k->c->dtype, n, k->problem->inputs, k->c->rows));
  k->rig.problem = k->problem;
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

/* Lines with the same key. Words are written one after the other; when a line is long, a new one begins. */
struct words {
  FILE *text;
  const char *key;
  long began;
};

static void begin_words(struct words *w) {
  fprintf(w->text, "%s", w->key);
  w->began = ftell(w->text);
}
static struct words words_of(FILE *text, const char *key) {
  struct words w = {text, key, 0};
  begin_words(&w);
  return w;
}
static void end_word(struct words *w, bool last) {
  if (last || ftell(w->text) - w->began > WIDTH) fputc('\n', w->text);
  if (!last && ftell(w->text) - w->began > WIDTH) begin_words(w);
}

static void write_patterns(FILE *text, const char *key, enum fold_dtype dtype, const void *in, size_t n) {
  struct words w = words_of(text, key);
  for (size_t i = 0, times; i < n; i += times) {
    const uint64_t bits = fold_bits_load(dtype, in, i);
    for (times = 1; i + times < n && fold_bits_load(dtype, in, i + times) == bits; times++) continue;
    fprintf(text, " %llx", (unsigned long long)bits);
    if (times > 1) fprintf(text, "*%zu", times);
    end_word(&w, i + times == n);
  }
}

static void write_inputs(const struct certificate *k) {
  const size_t n = k->c->rows * k->c->cols;
  for (unsigned i = 0; i < k->problem->factors; i++) {
    const void *in = fold_rig_input_at(&k->rig, i < k->rig.inputs ? i : k->rig.inputs - 1);
    char key[24], hex[65];
    snprintf(key, sizeof key, "input %u", i);
    write_patterns(k->text, key, k->c->dtype, in, n);
    fold_cert_sha256(in, n * fold_dtype_size(k->c->dtype), hex);
    fprintf(k->text, "input-sha256 %u %s\n", i, hex);
  }
}

/* Sorts joins by height, and those of equal height by their lowest terms, so that regular trees have long runs. */
struct level {
  uint32_t height, lowest, join;
};
static int by_level(const void *a, const void *b) {
  const struct level *x = a, *y = b;
  if (x->height != y->height) return x->height < y->height ? -1 : 1;
  return x->lowest < y->lowest ? -1 : 1;
}

struct joins {
  const struct fold_tree *tree;
  struct level *level;
  uint32_t *name; /* the number of each node in the certificate */
};

static long operand_of(const struct joins *j, size_t at, size_t k) {
  return j->name[j->tree->child[j->tree->first[j->level[at].join] + k]];
}
static size_t degree_of(const struct joins *j, size_t at) { return fold_tree_degree(j->tree, j->level[at].join); }

/* Whether the operands of join `at` differ from those of the join before it by as much as those of `from` differ from
 * the join before that. */
static bool goes_on(const struct joins *j, size_t at, size_t from) {
  bool same = degree_of(j, at) == degree_of(j, at - 1);
  for (size_t k = 0; same && k < degree_of(j, at); k++)
    same = operand_of(j, at, k) - operand_of(j, at - 1, k) == operand_of(j, from, k) - operand_of(j, from - 1, k);
  return same;
}

static void write_joins(FILE *text, const struct joins *j) {
  struct words w = words_of(text, "tree");
  for (size_t at = 0, times; at < j->tree->joins; at += times) {
    /* The first operand must not be smaller than the former one, or the word would not begin with "+". */
    const bool raised =
        at > 0 && degree_of(j, at) == degree_of(j, at - 1) && operand_of(j, at, 0) >= operand_of(j, at - 1, 0);
    for (times = 1; raised && at + times < j->tree->joins && goes_on(j, at + times, at); times++) continue;
    for (size_t k = 0; k < degree_of(j, at); k++)
      fprintf(text, raised ? "%s%+ld" : "%s%ld", k ? "," : " ",
              operand_of(j, at, k) - (raised ? operand_of(j, at - 1, k) : 0));
    if (times > 1) fprintf(text, "*%zu", times);
    end_word(&w, at + times == j->tree->joins);
  }
}

static fold_status write_tree(const struct certificate *k) {
  const struct fold_tree *tree = &k->tree;
  const size_t nodes = fold_tree_nodes(tree);
  struct joins j = {tree, calloc(tree->joins + 1, sizeof *j.level), calloc(nodes, sizeof *j.name)};
  struct level *of = calloc(nodes, sizeof *of);
  const bool room = j.level && j.name && of;
  for (size_t i = 0; room && i < tree->n; i++) of[i].lowest = j.name[i] = (uint32_t)i;
  for (size_t m = 0; room && m < tree->joins; m++) {
    struct level *me = &of[tree->n + m];
    *me = (struct level){0, of[tree->child[tree->first[m]]].lowest, (uint32_t)m};
    for (uint32_t c = tree->first[m]; c < tree->first[m + 1]; c++)
      if (of[tree->child[c]].height + 1 > me->height) me->height = of[tree->child[c]].height + 1;
    j.level[m] = *me;
  }
  if (room && tree->joins) {
    qsort(j.level, tree->joins, sizeof *j.level, by_level);
    for (size_t m = 0; m < tree->joins; m++) j.name[tree->n + j.level[m].join] = (uint32_t)(tree->n + m);
    write_joins(k->text, &j);
  }
  free(j.level);
  free(j.name);
  free(of);
  return room ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for a tree");
}

static void write_fused(const struct certificate *k) {
  const unsigned char *fused = k->tree.fused;
  bool any = false;
  fprintf(k->text, "fused");
  for (size_t i = 0, end; fused && i < k->tree.n; i = end + 1) {
    for (end = i; end < k->tree.n && fused[end]; end++) continue;
    if (end > i) fprintf(k->text, " %zu..%zu", i, end - 1);
    any |= end > i;
  }
  fprintf(k->text, any ? "\n" : " -\n");
}

/* Writes the rows' exact sums and bounds, computed with the checker's own integers. */
static fold_status write_truths(const struct certificate *k) {
  const bool products = k->problem->factors > 1;
  const int unit = products ? -2148 : -1074;
  const struct fold_cert_format *terms = format_of(k->c->dtype);
  uint64_t *bound = calloc(k->c->rows + 1, sizeof *bound);
  bool finite = bound != NULL;
  mpz_t x, y, sum, magnitude;
  mpz_inits(x, y, sum, magnitude, NULL);
  for (size_t r = 0; r < k->c->rows && finite; r++) {
    mpz_set_ui(sum, 0);
    mpz_set_ui(magnitude, 0);
    for (size_t i = r * k->c->cols; i < (r + 1) * k->c->cols && finite; i++) {
      finite = fold_cert_number(x, products ? unit / 2 : unit, terms,
                                fold_bits_load(k->c->dtype, fold_rig_input(&k->rig), i));
      if (products && finite) {
        const void *other = fold_rig_input_at(&k->rig, k->rig.inputs - 1);
        finite = fold_cert_number(y, unit / 2, terms, fold_bits_load(k->c->dtype, other, i));
        mpz_mul(x, x, y);
      }
      mpz_add(sum, sum, x);
      mpz_abs(x, x);
      mpz_add(magnitude, magnitude, x);
    }
    const long height = k->exact ? -1 : (long)fold_tree_height(&k->tree);
    bound[r] = fold_cert_bound(sum, magnitude, unit, height, k->c->cols, products, terms, format_of(accumulator_of(k)),
                               format_of(result_of(k)));
    finite &= bound[r] != UINT64_MAX;
    const long zeros = mpz_sgn(sum) ? (long)mpz_scan1(sum, 0) : -unit;
    if (mpz_sgn(sum)) mpz_tdiv_q_2exp(sum, sum, (mp_bitcnt_t)zeros);
    gmp_fprintf(k->text, "exact %Zxp%ld\n", sum, zeros + unit);
  }
  mpz_clears(x, y, sum, magnitude, NULL);
  if (finite) write_patterns(k->text, "bound", FOLD_F64, bound, k->c->rows);
  free(bound);
  return finite
             ? fold_ok()
             : fold_error(FOLD_UNSUPPORTED,
                          "numbers that are not finite, and trees too high for the accumulator, have no certificate");
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
  write_inputs(k);
  fprintf(k->text, "method %s\norder %s\n", k->exact ? "exact" : "tree", k->order);
  if (!k->exact) {
    FOLD_TRY(write_tree(k));
    write_fused(k);
    fprintf(k->text, "height %zu\n", fold_tree_height(&k->tree));
  }
  write_patterns(k->text, "results", result_of(k), k->results, c->rows);
  FOLD_TRY(write_truths(k));
  write_environment(k);
  return fold_ok();
}

static fold_status write_file(const char *path, const char *all, size_t n) {
  struct fold_output output;
  FOLD_TRY(fold_output_open(&output, path));
  const bool written = fwrite(all, 1, n, output.file) == n;
  fold_status status = written ? fold_ok() : fold_output_failed(&output, errno);
  fold_status closed = fold_output_close(&output, written ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP, NULL);
  return written ? closed : status;
}

/* Writes each line with its checksum, and the hash of all lines. */
static fold_status close_lines(const char *text, const char *path, FILE *to) {
  char *all = NULL, hash[80], hex[65], why[300];
  size_t size = 0;
  unsigned long line = 0;
  FILE *out = open_memstream(&all, &size);
  if (out == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for a certificate");
  for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
    fprintf(out, "%.*s #%08x\n", (int)(end - at), at, fold_cert_crc(++line, at, (size_t)(end - at)));
  fflush(out);
  fold_cert_sha256(all, size, hex);
  snprintf(hash, sizeof hash, "sha256 %s", hex);
  fprintf(out, "%s #%08x\n", hash, fold_cert_crc(++line, hash, strlen(hash)));
  fclose(out);
  fold_status status = fold_ok();
  if (!fold_certificate_check_bytes(all, size, why))
    status = fold_error(FOLD_UNSUPPORTED, "what came out cannot be certified: %.200s", why);
  if (status.code == FOLD_OK && path) status = write_file(path, all, size);
  if (status.code == FOLD_OK && !path) fwrite(all, 1, size, to); /* whose owner checks it */
  free(all);
  return status;
}

static fold_status write_certificate(struct certificate *k, const char *path, FILE *to) {
  char *text = NULL;
  size_t size = 0;
  k->text = open_memstream(&text, &size);
  if (k->text == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for a certificate");
  fold_status status = write_lines(k);
  fclose(k->text);
  if (status.code == FOLD_OK) status = close_lines(text, path, to);
  free(text);
  return status;
}

fold_status fold_certify(const struct fold_subject *subject, const struct fold_case *c, const char *path, FILE *to) {
  struct certificate k = {.subject = subject, .c = c, .problem = fold_case_problem(c)};
  fold_status status = check(&k);
  if (status.code == FOLD_OK) status = run(&k);
  if (status.code == FOLD_OK) status = find_tree(&k);
  if (status.code == FOLD_OK) status = write_certificate(&k, path, to);
  if (k.rig.ops) fold_rig_close(&k.rig);
  fold_tree_free(&k.tree);
  free(k.results);
  return status;
}
