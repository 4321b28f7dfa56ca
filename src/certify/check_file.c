/* check_file.c: reads a certificate's lines in their order (check.c), and checks each against those before it. */
#include "certify/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 1 << 16, OPERANDS = 64 };
static const char FIRST[] = "foldproof-certificate";
static const size_t LONGEST = (size_t)256 << 20; /* bytes; one of the most terms has some MiB */

struct check {
  char *all, *at; /* the file, and the beginning of its next line */
  size_t size;
  unsigned long line;
  char *text; /* the current line without its end, its key and its value */
  char *value;
  char *why, hash[65]; /* `hash` is of all bytes before the last line */
  bool failed;
  bool products, exact;
  const struct fold_cert_format *dtype, *accumulator, *result;
  int unit;
  size_t rows, cols, nodes;
  uint64_t *input[2], *results;
  uint32_t *first, *child; /* operands of join j: child[first[j]] to child[first[j + 1]] */
  unsigned char *fused;
  long height;
};

static bool fail(struct check *c, const char *format, ...) {
  char what[200];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (!c->failed)
    snprintf(c->why, 300, "line %lu: %.40s%s%s", c->line, c->text ? c->text : "", c->text ? ": " : "", what);
  c->failed = true;
  return false;
}

/* Reads the next line and checks its end; a 0 byte ends its key. */
static bool next_line(struct check *c) {
  c->line++;
  c->text = NULL;
  char *end = c->at ? memchr(c->at, '\n', c->size - (size_t)(c->at - c->all)) : NULL, *mark = end;
  if (end == NULL) return fail(c, "the file ends in it, or before it");
  while (mark > c->at && *mark != '#') mark--;
  char want[12];
  snprintf(want, sizeof want, "%08x", mark > c->at ? fold_cert_crc(c->line, c->at, (size_t)(mark - 1 - c->at)) : 0);
  if (mark == c->at || mark[-1] != ' ' || end - mark != 9 || memcmp(mark + 1, want, 8) != 0)
    return fail(c, "the line was changed: its checksum differs");
  mark[-1] = '\0';
  c->text = c->at;
  c->at = end + 1;
  c->value = strchr(c->text, ' ');
  if (strlen(c->text) != (size_t)(mark - 1 - c->text) || !c->value) return fail(c, "it is not a key and a value");
  *c->value++ = '\0';
  return true;
}

/* Whether the next line has that key. If so, it is read. */
static bool comes(const struct check *c, const char *key) {
  const size_t n = strlen(key);
  return c->at && (size_t)(c->all + c->size - c->at) > n && memcmp(c->at, key, n) == 0 && c->at[n] == ' ';
}

static bool take(struct check *c, const char *key) {
  if (!next_line(c)) return false;
  return strcmp(c->text, key) == 0 || fail(c, "the next line must be '%s'", key);
}

static bool take_word(struct check *c, const char *key, const char *one, const char *other, bool *is_other) {
  if (!take(c, key)) return false;
  *is_other = strcmp(c->value, other) == 0;
  return *is_other || strcmp(c->value, one) == 0 || fail(c, "'%s' or '%s'", one, other);
}

/* Reads digits in that base and moves *at behind them: no sign, blank or prefix. At most 16 digits, which a word
 * holds. */
static bool read_digits(char **at, unsigned base, uint64_t *n) {
  static const char digits[] = "0123456789abcdef";
  const char *digit, *const begun = *at;
  for (*n = 0; **at && (digit = memchr(digits, **at, base)); ++*at) *n = *n * base + (uint64_t)(digit - digits);
  return *at > begun && *at - begun <= 16;
}

static bool is_end(const char *at) { return *at == ' ' || *at == '\0'; }

/* Reads the end of a word, and before that "*N" if the word stands for N words. */
static bool read_times(char **at, uint64_t *times) {
  *times = 1;
  if (**at == '*') {
    ++*at;
    if (!read_digits(at, 10, times) || *times == 0) return false;
  }
  return is_end(*at);
}

/* Moves from the end of a word over one blank to the next word; false if there is none. */
static bool next_word(char **at) { return *(*at)++ == ' '; }

static bool take_number(struct check *c, const char *key, size_t most, size_t *n) {
  if (!take(c, key)) return false;
  char *at = c->value;
  return (read_digits(&at, 10, n) && *at == '\0' && *n <= most) || fail(c, "a number up to %zu", most);
}

static bool take_format(struct check *c, const char *key, const struct fold_cert_format **format) {
  return take(c, key) && ((*format = fold_cert_format_of(c->value)) != NULL || fail(c, "no format"));
}

/* Reads n patterns, from as many lines of that key (and first word) as they take. */
static bool take_patterns(struct check *c, const char *key, const char *word, size_t n, uint64_t *patterns) {
  size_t have = 0;
  const size_t skip = strlen(word);
  while (have < n || (n == 0 && comes(c, key))) {
    if (!take(c, key)) return false;
    if (strncmp(c->value, word, skip) != 0) return fail(c, "the next line must be '%s%s'", key, word);
    char *at = c->value + skip;
    do {
      uint64_t bits, times;
      const char *const word_at = at;
      if (!read_digits(&at, 16, &bits) || !read_times(&at, &times)) return fail(c, "'%.20s' is no pattern", word_at);
      if (times > n - have) return fail(c, "more than %zu patterns", n);
      while (times-- > 0) patterns[have++] = bits;
    } while (next_word(&at));
  }
  return true;
}

static bool check_hash(struct check *c, unsigned k) {
  const size_t n = c->rows * c->cols, size = (size_t)c->dtype->bits / 8;
  unsigned char *bytes = malloc(n * size + 1);
  char hex[65], want[80];
  for (size_t i = 0; bytes && i < n * size; i++) bytes[i] = (unsigned char)(c->input[k][i / size] >> 8 * (i % size));
  if (bytes) fold_cert_sha256(bytes, n * size, hex);
  free(bytes);
  snprintf(want, sizeof want, "%u %s", k, bytes ? hex : "");
  return take(c, "input-sha256") &&
         (strcmp(c->value, want) == 0 || fail(c, "the elements of input %u have the hash %s", k, hex));
}

static bool take_inputs(struct check *c) {
  for (unsigned k = 0; k < (c->products ? 2u : 1u); k++) {
    char word[4];
    snprintf(word, sizeof word, "%u ", k);
    c->input[k] = calloc(c->rows * c->cols + 1, sizeof **c->input);
    if (!c->input[k]) return fail(c, "not enough memory");
    if (!take_patterns(c, "input", word, c->rows * c->cols, c->input[k]) || !check_hash(c, k)) return false;
  }
  return true;
}

/* Reads the operands of one join: "a,b,c", or by how much they differ from those of the former join. */
static bool read_join(struct check *c, char **at, bool raised, long *operand, size_t *n) {
  size_t k = 0;
  for (;; k++) {
    uint64_t value;
    const char *const begun = *at;
    const char sign = raised ? *(*at)++ : '+';
    if ((sign != '+' && sign != '-') || k == OPERANDS || (raised && k >= *n) || !read_digits(at, 10, &value))
      return fail(c, "'%.20s' is no operand", begun);
    operand[k] = (raised ? operand[k] : 0) + (sign == '+' ? (long)value : -(long)value);
    if (**at != ',') break;
    ++*at;
  }
  if (raised && k + 1 != *n) return fail(c, "a join of %zu operands after one of %zu", k + 1, *n);
  *n = k + 1;
  return *n >= 2 || fail(c, "a join of one operand");
}

/* Adds a join. Operands must be earlier nodes that no join has used yet, so that the joins form a tree if one node is
 * left in the end. */
static bool add_join(struct check *c, const long *operand, size_t n, unsigned char *joined, size_t *end) {
  for (size_t k = 0; k < n; k++) {
    if (operand[k] < 0 || (size_t)operand[k] >= c->nodes || joined[operand[k]]++)
      return fail(c, "operand %ld of node %zu is none, or was joined before", operand[k], c->nodes);
    c->child[(*end)++] = (uint32_t)operand[k];
  }
  c->nodes++;
  c->first[c->nodes - c->cols] = (uint32_t)*end;
  return c->nodes < 2 * c->cols || fail(c, "more joins than %zu terms take", c->cols);
}

static bool take_joins(struct check *c, unsigned char *joined) {
  long operand[OPERANDS] = {0};
  size_t n = 0, end = 0, left = c->cols;
  c->nodes = c->cols;
  while (left > 1 || comes(c, "tree")) {
    if (!take(c, "tree")) return false;
    char *at = c->value;
    do {
      const bool raised = *at == '+';
      uint64_t times = 1;
      char *const start = at;
      for (size_t t = 0; t < times; t++) {
        at = start;
        if (!read_join(c, &at, raised, operand, &n)) return false;
        if (!read_times(&at, &times)) return fail(c, "'%.20s' ends no join", at);
        if (n > left) return fail(c, "more joins than %zu terms take", c->cols);
        if (!add_join(c, operand, n, joined, &end)) return false;
        left -= n - 1;
      }
    } while (next_word(&at));
  }
  return true;
}

static bool take_tree(struct check *c) {
  unsigned char *joined = calloc(2 * c->cols + 1, 1);
  c->first = calloc(c->cols + 2, sizeof *c->first);
  c->child = calloc(2 * c->cols + 2, sizeof *c->child);
  c->fused = calloc(c->cols + 1, 1);
  const bool taken = joined && c->first && c->child && c->fused ? take_joins(c, joined) : fail(c, "not enough memory");
  free(joined);
  return taken;
}

/* Marks the products in [from, to] ranges, which may overlap; a range takes as long as any other. */
static bool mark_fused(struct check *c, long *edge) {
  char *at = c->value;
  do {
    const char *const word = at;
    uint64_t from, to;
    bool read = read_digits(&at, 10, &from);
    to = from;
    if (read && strncmp(at, "..", 2) == 0) {
      at += 2;
      read = read_digits(&at, 10, &to);
    }
    if (!read || !is_end(at) || from > to || to >= c->cols || !c->products)
      return fail(c, "'%.20s' are no products", word);
    edge[from]++;
    edge[to + 1]--;
  } while (next_word(&at));
  long open = 0;
  for (size_t i = 0; i < c->cols; i++) c->fused[i] = (open += edge[i]) > 0;
  return true;
}

static bool take_fused(struct check *c) {
  if (!take(c, "fused")) return false;
  if (strcmp(c->value, "-") == 0) return true;
  long *edge = calloc(c->cols + 1, sizeof *edge);
  const bool marked = edge ? mark_fused(c, edge) : fail(c, "not enough memory");
  free(edge);
  return marked;
}

static bool take_height(struct check *c) {
  size_t *height = calloc(c->nodes + 1, sizeof *height), said;
  for (size_t node = c->cols; height && node < c->nodes; node++)
    for (uint32_t k = c->first[node - c->cols]; k < c->first[node - c->cols + 1]; k++)
      if (height[c->child[k]] + 1 > height[node]) height[node] = height[c->child[k]] + 1;
  c->height = height ? (long)height[c->nodes - 1] : 0;
  free(height);
  return take_number(c, "height", MOST_TERMS, &said) &&
         ((long)said == c->height || fail(c, "the tree's is %ld", c->height));
}

/* Term i of a row, exactly: its element, or the product of its two elements. */
static bool term_of(struct check *c, size_t row, size_t i, mpz_t x) {
  mpz_t other;
  bool finite = fold_cert_number(x, c->products ? c->unit / 2 : c->unit, c->dtype, c->input[0][row * c->cols + i]);
  if (!c->products) return finite;
  mpz_init(other);
  finite = finite && fold_cert_number(other, c->unit / 2, c->dtype, c->input[1][row * c->cols + i]);
  mpz_mul(x, x, other);
  mpz_clear(other);
  return finite;
}

/* Rounds a node to the accumulator; false if the sum is beyond the accumulator's numbers. */
static bool round_node(struct check *c, mpz_t node) {
  fold_cert_round(node, c->unit, c->accumulator);
  return fold_cert_pattern(node, c->unit, c->accumulator) != UINT64_MAX;
}

/* Computes each node: the exact sum of its operands, rounded once to the accumulator. A term that is a product, or that
 * the accumulator may not hold, is rounded first unless it is fused. */
static bool add_up(struct check *c, size_t row, mpz_t *node) {
  bool finite = true;
  for (size_t i = 0; i < c->cols && finite; i++)
    if (!c->fused[i] || c->cols == 1) finite = round_node(c, node[i]);
  for (size_t k = c->cols; k < c->nodes && finite; k++) {
    for (uint32_t o = c->first[k - c->cols]; o < c->first[k - c->cols + 1]; o++)
      mpz_add(node[k], node[k], node[c->child[o]]);
    finite = round_node(c, node[k]);
  }
  return finite || fail(c, "row %zu: a partial sum is beyond the accumulator's numbers", row);
}

static bool same_exact(const mpz_t exact, int unit, const char *text) {
  char want[8000];
  mpz_t odd;
  mpz_init_set(odd, exact);
  const long zeros = mpz_sgn(odd) ? (long)mpz_scan1(odd, 0) : -unit;
  if (mpz_sgn(odd)) mpz_tdiv_q_2exp(odd, odd, (mp_bitcnt_t)zeros);
  gmp_snprintf(want, sizeof want, "%Zxp%ld", odd, zeros + unit);
  mpz_clear(odd);
  return strcmp(want, text) == 0;
}

/* Reads the row's terms, and computes their sum (truth[0]) and the sum of their magnitudes (truth[1]). */
static bool read_row(struct check *c, size_t row, mpz_t *node, mpz_t *truth) {
  mpz_set_ui(truth[0], 0);
  mpz_set_ui(truth[1], 0);
  for (size_t k = 0; k < c->nodes; k++) mpz_set_ui(node[k], 0);
  for (size_t i = 0; i < c->cols; i++) {
    if (!term_of(c, row, i, node[i])) return fail(c, "row %zu: term %zu is no finite number", row, i);
    mpz_add(truth[0], truth[0], node[i]);
    mpz_abs(truth[2], node[i]);
    mpz_add(truth[1], truth[1], truth[2]);
  }
  return true;
}

static bool check_result(struct check *c, size_t row, mpz_t *node, mpz_t *truth) {
  mpz_t *root = c->exact ? &truth[0] : &node[c->nodes - 1];
  if (!read_row(c, row, node, truth)) return false;
  if (!c->exact && !add_up(c, row, node)) return false;
  fold_cert_round(*root, c->unit, c->result);
  const uint64_t want = fold_cert_pattern(*root, c->unit, c->result);
  if (want == UINT64_MAX) return fail(c, "row %zu: these terms give a result beyond its format", row);
  return want == c->results[row] || fail(c, "row %zu: these terms give %llx", row, (unsigned long long)want);
}

static bool check_rows(struct check *c, mpz_t *node, mpz_t *truth) {
  uint64_t *said = calloc(c->rows + 1, sizeof *said), *bound = calloc(c->rows + 1, sizeof *bound);
  bool right = said && bound && take_patterns(c, "results", "", c->rows, c->results);
  for (size_t r = 0; right && r < c->rows; r++) right = check_result(c, r, node, truth);
  for (size_t r = 0; right && r < c->rows; r++) {
    right = take(c, "exact") && read_row(c, r, node, truth);
    if (right && !same_exact(truth[0], c->unit, c->value))
      right = fail(c, "row %zu: its terms have a different sum", r);
    bound[r] = fold_cert_bound(truth[0], truth[1], c->unit, c->exact ? -1 : c->height, c->cols, c->products, c->dtype,
                               c->accumulator, c->result);
  }
  right = right && take_patterns(c, "bound", "", c->rows, said);
  for (size_t r = 0; right && r < c->rows; r++)
    right = bound[r] == UINT64_MAX
                ? fail(c, "row %zu: there is none for such a height, or it is not finite", r)
                : said[r] == bound[r] || fail(c, "row %zu: it is %llx", r, (unsigned long long)bound[r]);
  free(said);
  free(bound);
  return right;
}

static bool check_numbers(struct check *c) {
  mpz_t *node = malloc((c->nodes + 1) * sizeof *node), truth[3];
  if (node == NULL) return fail(c, "not enough memory");
  for (size_t k = 0; k < c->nodes; k++) mpz_init(node[k]);
  for (int k = 0; k < 3; k++) mpz_init(truth[k]);
  const bool right = check_rows(c, node, truth);
  for (size_t k = 0; k < c->nodes; k++) mpz_clear(node[k]);
  for (int k = 0; k < 3; k++) mpz_clear(truth[k]);
  free(node);
  return right;
}

static bool check_end(struct check *c) {
  while (comes(c, "environment"))
    if (!take(c, "environment")) return false;
  if (!take(c, "sha256")) return false;
  if (c->at != c->all + c->size) return fail(c, "the file goes on after it");
  return strcmp(c->value, c->hash) == 0 || fail(c, "the lines before it have the hash %s", c->hash);
}

static bool check_all(struct check *c) {
  static const char *const statements[] = {"subject", "engine", "case", "generator"};
  if (!take(c, FIRST) || (strcmp(c->value, "1") != 0 && !fail(c, "a version that is not known"))) return false;
  for (size_t k = 0; k < 4; k++)
    if (!take(c, statements[k])) return false;
  if (!take_word(c, "problem", "sum", "dot", &c->products) || !take_format(c, "dtype", &c->dtype) ||
      !take_format(c, "accumulator", &c->accumulator) || !take_format(c, "result", &c->result) ||
      !take_number(c, "rows", MOST_TERMS, &c->rows) || !take_number(c, "cols", MOST_TERMS, &c->cols))
    return false;
  if (c->cols && c->rows > MOST_TERMS / c->cols) return fail(c, "more than %d terms", MOST_TERMS);
  c->unit = c->products ? -2148 : -1074;
  c->results = calloc(c->rows + 1, sizeof *c->results);
  if (c->rows == 0 || c->cols == 0 || !c->results) return fail(c, "at least one term of one row");
  if (!take_inputs(c) || !take_word(c, "method", "tree", "exact", &c->exact) || !take(c, "order")) return false;
  c->nodes = c->cols;
  if (!c->exact && !(take_tree(c) && take_fused(c) && take_height(c))) return false;
  return check_numbers(c) && check_end(c);
}

bool fold_certificate_check_bytes(const char *bytes, size_t n, char why[300]) {
  struct check c = {.why = why, .all = malloc(n + 1), .size = n};
  size_t last = n ? n - 1 : 0;
  why[0] = '\0';
  while (last > 0 && bytes[last - 1] != '\n') last--;
  fold_cert_sha256(bytes, last, c.hash);
  if (c.all) {
    memcpy(c.all, bytes, n);
    c.all[n] = '\0';
  }
  c.at = c.all;
  const bool right = check_all(&c);
  if (right)
    snprintf(why, 300, "%zu x %zu %s: inputs, %s, results, exact values, bounds, and %lu lines' sums", c.rows, c.cols,
             c.dtype->name, c.exact ? "no order" : "tree", c.line);
  for (int k = 0; k < 2; k++) free(c.input[k]);
  free(c.results);
  free(c.first);
  free(c.child);
  free(c.fused);
  free(c.all);
  return right && !c.failed;
}

/* Reads no more of a file than may be one. */
bool fold_certificate_check(const char *path, bool *read, char why[300]) {
  const size_t first = strlen(FIRST);
  char *all = NULL;
  size_t size = 0, room = 0, n = 1;
  bool begins = true;
  FILE *file = fopen(path, "rb");
  *read = false;
  snprintf(why, 300, "cannot be opened: %s", strerror(errno));
  if (file == NULL) return false;
  while (n > 0 && begins && size <= LONGEST) {
    if (room - size < 2) {
      char *more = realloc(all, room = 2 * room + 65536);
      if (more == NULL) {
        snprintf(why, 300, "not enough memory to read it");
        break;
      }
      all = more;
    }
    n = fread(all + size, 1, room - size - 1, file);
    if (ferror(file)) snprintf(why, 300, "cannot be read: %s", strerror(errno));
    size += n;
    begins = memcmp(all, FIRST, size < first ? size : first) == 0;
  }
  *read = all && n == 0 && begins && size >= first && !ferror(file);
  if (size > LONGEST)
    snprintf(why, 300, "no certificate: it has more than %zu MiB", LONGEST >> 20);
  else if (!ferror(file) && (!begins || (n == 0 && size < first)))
    snprintf(why, 300, "no certificate: it does not begin with '%s'", FIRST);
  fclose(file);
  const bool right = *read && fold_certificate_check_bytes(all, size, why);
  free(all);
  return right;
}
