/* reveal.c: asks probes, builds a tree, and tests it. */
#include "reveal/reveal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/exact.h"

const char *fold_revealed_text(enum fold_revealed_kind kind) {
  switch (kind) {
    case FOLD_REVEALED_TREE: return "tree";
    case FOLD_REVEALED_EXACT: return "no order: exact";
    case FOLD_REVEALED_METHOD: return "no plain tree";
    case FOLD_REVEALED_VARIES: return "varies from run to run";
    case FOLD_REVEALED_VALUES: return "depends on values";
    case FOLD_REVEALED_NO_TREE: return "no tree";
  }
  return "?";
}

void fold_revealed_free(struct fold_revealed *revealed) { fold_tree_free(&revealed->tree); }

/* The rows of the proof and the subject's results. `got` has the first result of each row, `out` those of the last
 * launch, `before` those of the launch before it. */
struct proof {
  const struct fold_summer *summer;
  size_t most; /* the rows of the largest launch */
  struct fold_revealed *revealed;
  unsigned char *in[FOLD_INPUTS], *want;
  uint64_t *got, *out, *before;
  size_t rows;
};

enum { ALONE = 12 };

static size_t row_bytes(const struct fold_summer *s) { return s->n * fold_dtype_size(s->dtype); }

static fold_status open_proof(struct proof *p) {
  const struct fold_summer *s = p->summer;
  p->rows = FOLD_PROOF_ROWS;
  for (unsigned k = 0; k < s->factors; k++) p->in[k] = malloc(p->rows * row_bytes(s) + 1);
  p->want = malloc(p->rows * 8);
  p->got = malloc(p->rows * 8);
  p->out = malloc((p->most + 1) * 8);
  p->before = malloc((p->most + 1) * 8);
  if (!p->in[0] || (s->factors > 1 && !p->in[1]) || !p->want || !p->got || !p->out || !p->before)
    return fold_no_memory("to test a tree of %zu terms", s->n);
  for (size_t r = 0; r < p->rows; r++) {
    void *at[FOLD_INPUTS] = {NULL};
    for (unsigned k = 0; k < s->factors; k++) at[k] = p->in[k] + r * row_bytes(s);
    fold_proof_row(s, r, at);
  }
  return fold_ok();
}

static void close_proof(struct proof *p) {
  for (unsigned k = 0; k < FOLD_INPUTS; k++) free(p->in[k]);
  free(p->want);
  free(p->got);
  free(p->out);
  free(p->before);
}

/* Row r of a launch that starts at `first` is row (first + r) modulo p->rows of the proof. */
static size_t proof_row(const struct proof *p, size_t first, size_t r) { return (first + r) % p->rows; }

static fold_status launch(struct proof *p, size_t first, size_t rows) {
  const struct fold_summer *s = p->summer;
  for (unsigned k = 0; k < s->factors; k++)
    for (size_t r = 0; r < rows; r++)
      memcpy((unsigned char *)s->in[k] + r * row_bytes(s), p->in[k] + proof_row(p, first, r) * row_bytes(s),
             row_bytes(s));
  p->revealed->launches++;
  return s->sum(s->context, rows, p->out);
}

static bool is_same(const struct proof *p, size_t row, uint64_t other) {
  return fold_bits_same(p->summer->result, p->got[row], other);
}
static uint64_t result_of(const struct proof *p, size_t r) { return fold_bits_load(p->summer->result, p->out, r); }

/* A full launch, twice, with the same rows at the same places. */
static fold_status launch_twice(struct proof *p, size_t first) {
  const struct fold_summer *s = p->summer;
  FOLD_TRY(launch(p, first, s->rows));
  memcpy(p->before, p->out, s->rows * fold_dtype_size(s->result));
  FOLD_TRY(launch(p, first, s->rows));
  for (size_t r = 0; r < s->rows; r++)
    if (!fold_bits_same(s->result, fold_bits_load(s->result, p->before, r), result_of(p, r))) {
      p->revealed->kind = FOLD_REVEALED_VARIES;
      snprintf(p->revealed->why, sizeof p->revealed->why, "row %zu of a call has different bits in a repeat", r);
      break;
    }
  return fold_ok();
}

/* Compares each row of the last launch with the first result of the same terms. Rows from `known` on are new; their
 * results become the first ones. */
static void compare_places(struct proof *p, size_t first, size_t rows, size_t known) {
  for (size_t r = 0; r < rows && !p->revealed->place[0]; r++) {
    const size_t row = proof_row(p, first, r);
    if (first + r >= known && first + r < p->rows)
      p->got[row] = result_of(p, r);
    else if (!is_same(p, row, result_of(p, r)))
      snprintf(p->revealed->place, sizeof p->revealed->place,
               "row %zu of %zu has different bits than the same terms have in row %zu", r, rows, row % rows);
  }
}

/* Gets the subject's results: all rows of full launches, twice, and then at other places. */
static fold_status repeat_proof(struct proof *p) {
  const size_t rows = p->summer->rows, shift = p->rows / 2 | 1;
  for (size_t pass = 0; pass < (rows > 1 ? 2 : 1); pass++)
    for (size_t first = 0; first < p->rows && !p->revealed->place[0]; first += rows) {
      const size_t known = pass ? p->rows : first;
      FOLD_TRY(launch_twice(p, first + (pass ? shift : 0)));
      if (p->revealed->kind == FOLD_REVEALED_VARIES) return fold_ok();
      compare_places(p, first + (pass ? shift : 0), rows, known);
    }
  return fold_ok();
}

static struct fold_call call_of(const struct proof *p) {
  const struct fold_summer *s = p->summer;
  return (struct fold_call){.dtype = s->dtype,
                            .problem = s->factors > 1 ? fold_problem(FOLD_DOT) : fold_rows_problem(FOLD_SUM),
                            .rows = p->rows,
                            .cols = s->n,
                            .in = {p->in[0], s->factors > 1 ? p->in[1] : NULL},
                            .out = p->want};
}

static size_t first_wrong(const struct proof *p) {
  for (size_t r = 0; r < p->rows; r++)
    if (!is_same(p, r, fold_bits_load(p->summer->result, p->want, r))) return r;
  return p->rows;
}

/* Whether there is an arithmetic in which the tree gives all bits. The declared accumulator is tried first. */
static fold_status prove(struct proof *p, bool *proven, size_t *wrong) {
  const enum fold_dtype tried[] = {p->summer->accumulator, FOLD_F32, FOLD_F64, p->summer->dtype};
  const struct fold_tree *tree = &p->revealed->tree;
  const struct fold_call call = call_of(p);
  const struct fold_format terms = fold_format_of(p->summer->dtype);
  *proven = false;
  *wrong = p->rows;
  for (unsigned a = 0; a < 4; a++) {
    if ((a > 0 && tried[a] == tried[0]) || !fold_format_holds(fold_format_of(tried[a]), terms)) continue;
    for (unsigned f = 0; f < (fold_tree_width(tree) > 2 ? FOLD_FUSINGS : 1); f++) {
      const struct fold_tree_arithmetic how = {tried[a], p->summer->result, (enum fold_fusing)f};
      FOLD_TRY(fold_tree_replay(tree, how, &call));
      const size_t at = first_wrong(p);
      if (a + f == 0) *wrong = at;
      if (at < p->rows) continue;
      p->revealed->how = how;
      *proven = true;
      if (fold_format_of(tried[a]).precision >=
          2 * terms.precision) { /* products are exact there, so an FMA changes nothing */
        free(p->revealed->tree.fused);
        p->revealed->tree.fused = NULL;
      }
      return fold_ok();
    }
  }
  return fold_ok();
}

/* Whether the tree gives all bits if joins are rounded to dtypes of their own. */
static fold_status prove_mixed(struct proof *p, bool *proven) {
  struct fold_revealed *revealed = p->revealed;
  struct fold_tree *tree = &revealed->tree;
  enum fold_dtype narrowest;
  if (fold_tree_width(tree) > 2) return fold_ok();
  FOLD_TRY(fold_tree_ask_accumulators(p->summer, tree, &narrowest, &revealed->launches));
  const struct fold_call call = call_of(p);
  const struct fold_tree_arithmetic how = {narrowest, p->summer->result, FOLD_ROUNDED_ONCE};
  FOLD_TRY(fold_tree_replay(tree, how, &call));
  *proven = first_wrong(p) == p->rows;
  if (*proven) {
    revealed->how = how;
    if (tree->accumulator == NULL) return fold_ok();
    return fold_tree_accumulators_text(tree, narrowest, revealed->why, sizeof revealed->why);
  }
  free(tree->accumulator);
  tree->accumulator = NULL;
  return fold_ok();
}

/* The exact sum of each of the proof's rows, rounded once. */
static fold_status exact_rows(struct proof *p) {
  const struct fold_summer *s = p->summer;
  struct fold_truth truth;
  fold_truth_init(&truth);
  fold_status status = fold_ok();
  for (size_t r = 0; r < p->rows && status.code == FOLD_OK; r++) {
    struct fold_terms terms = {.dtype = s->dtype, .op = FOLD_SUM, .factors = s->factors, .n = s->n};
    for (unsigned k = 0; k < s->factors; k++) terms.factor[k] = p->in[k] + r * row_bytes(s), terms.step[k] = 1;
    status = fold_oracle_terms(&terms, 1, &truth);
    fold_bits_store(s->result, p->want, r, truth.rounded[s->result]);
  }
  fold_truth_free(&truth);
  return status;
}

/* Methods that can be replayed but have no tree of plain additions that is the same for all data: the exact sum, Kahan's and Neumaier's
 * sums, and an order by magnitude. */
static fold_status try_others(struct proof *p, bool *found) {
  static const struct {
    const char *order, *what;
    enum fold_method method;
  } others[] = {{"host/sorted", "host/sorted: an order by magnitude", FOLD_PLAIN},
                {"host/sequential", "host/sequential with Kahan's compensation", FOLD_KAHAN},
                {"host/sequential", "host/sequential with Neumaier's compensation", FOLD_NEUMAIER}};
  const struct fold_call call = call_of(p);
  struct fold_revealed *revealed = p->revealed;
  FOLD_TRY(exact_rows(p));
  *found = first_wrong(p) == p->rows;
  if (*found) {
    revealed->kind = FOLD_REVEALED_EXACT;
    return fold_ok();
  }
  for (size_t k = 0; call.in[1] == NULL && k < sizeof others / sizeof *others; k++) {
    const struct fold_arithmetic how = {
        .method = others[k].method, .accumulator = p->summer->accumulator, .result = p->summer->result};
    FOLD_TRY(fold_method_replay(fold_order_find(others[k].order), how, &call));
    *found = first_wrong(p) == p->rows;
    if (!*found) continue;
    revealed->kind = FOLD_REVEALED_METHOD;
    snprintf(revealed->name, sizeof revealed->name, "%s", others[k].what);
    return fold_ok();
  }
  return fold_ok();
}

/* Whether launches of one row, and of a few rows, give the same bits as full launches. */
static fold_status prove_batches(struct proof *p, bool *same) {
  static const size_t batches[] = {2, 3, 5, 17, 33, 100, 300};
  const size_t full = p->summer->rows, others = sizeof batches / sizeof *batches;
  *same = true;
  for (size_t k = 0; k < ALONE + others + 1 && *same && full > 1; k++) {
    const size_t rows = k < ALONE ? 1 : k < ALONE + others ? batches[k - ALONE] : full - 1;
    const size_t first = k * p->rows / ALONE + k % 4;
    if (rows >= full) continue;
    FOLD_TRY(launch(p, first, rows));
    for (size_t r = 0; r < rows; r++) *same &= is_same(p, proof_row(p, first, r), result_of(p, r));
  }
  return fold_ok();
}

/* Finds kind and tree by probes; `why` says why there is no tree. */
static fold_status probe(const struct fold_summer *s, struct fold_revealed *revealed) {
  struct fold_prober prober = {0};
  bool counts = false;
  fold_status status = fold_prober_open(&prober, s);
  const struct fold_asker asker = fold_prober_asker(&prober);
  if (status.code == FOLD_OK) status = fold_prober_count(&prober, &counts, revealed->why);
  if (status.code == FOLD_OK && counts) status = fold_tree_build(&asker, &revealed->tree, revealed->why);
  if (revealed->tree.n > 0 && status.code == FOLD_OK)
    status = fold_tree_ask_fused(s, &revealed->tree, &revealed->launches);
  revealed->probes += prober.probes;
  revealed->launches += prober.launches;
  fold_prober_close(&prober);
  return status;
}

static fold_status judge(struct proof *p) {
  struct fold_revealed *revealed = p->revealed;
  bool proven = false;
  size_t wrong = 0;
  revealed->kind = FOLD_REVEALED_NO_TREE;
  if (revealed->tree.n > 0) FOLD_TRY(prove(p, &proven, &wrong));
  revealed->proofs = p->rows;
  if (proven) {
    const bool flat = revealed->tree.joins == 1 && revealed->tree.n > 2;
    revealed->kind = flat && revealed->how.fusing == FOLD_ROUNDED_ONCE ? FOLD_REVEALED_EXACT : FOLD_REVEALED_TREE;
    return fold_ok();
  }
  bool found;
  FOLD_TRY(try_others(p, &found));
  if (found || revealed->tree.n == 0) return fold_ok();
  FOLD_TRY(prove_mixed(p, &proven));
  if (proven) {
    revealed->kind = FOLD_REVEALED_TREE;
    return fold_ok();
  }
  char about[60];
  fold_proof_about(wrong, about);
  revealed->kind = FOLD_REVEALED_VALUES;
  snprintf(
      revealed->why, sizeof revealed->why,
      "masks show a tree, and row %u of the test data (%.41s) has different bits: an order by the values, or %s not "
      "known here",
      (unsigned)wrong, about,
      fold_tree_width(&revealed->tree) > 2 ? "sums of several operands in a way" : "an arithmetic that is");
  return fold_ok();
}

/* *alone says whether a row has the same bits in other launches and at other places; NULL: do not try those. */
static fold_status reveal(struct proof *p, bool *alone) {
  if (alone) *alone = true;
  FOLD_TRY(repeat_proof(p));
  if (p->revealed->kind == FOLD_REVEALED_VARIES) return fold_ok();
  if (p->revealed->place[0]) {
    if (alone) *alone = false;
    return fold_ok();
  }
  if (alone) FOLD_TRY(prove_batches(p, alone));
  FOLD_TRY(probe(p->summer, p->revealed));
  return judge(p);
}

static fold_status reveal_in(const struct fold_summer *summer, struct fold_revealed *revealed, bool *alone) {
  struct proof proof = {.summer = summer, .most = summer->rows, .revealed = revealed};
  fold_status status = open_proof(&proof);
  if (status.code == FOLD_OK) status = reveal(&proof, alone);
  close_proof(&proof);
  return status;
}

/* Finds the rows of full launches that have the bits of a row alone. */
static fold_status find_places(struct proof *alone, const struct fold_summer *full, size_t *place, size_t *places) {
  enum { LAUNCHES = 30, STEP = 7 };
  size_t left = full->rows;
  for (size_t r = 0; r < left; r++) place[r] = r;
  for (size_t k = 0; k < LAUNCHES && left > 1; k++) {
    size_t same = 0;
    FOLD_TRY(launch(alone, k * STEP, full->rows));
    for (size_t i = 0; i < left; i++)
      if (is_same(alone, proof_row(alone, k * STEP, place[i]), result_of(alone, place[i]))) place[same++] = place[i];
    left = same;
  }
  *places = left;
  return fold_ok();
}

/* Reveals the tree of a row alone. A launch for each probe takes long, so probes are put to those rows of full launches that seem to be
 * added like a row alone. Their tree is tested on a row alone; if it fails, each probe has its own launch. */
static fold_status reveal_alone(struct proof *p, const struct fold_summer *full, size_t *place) {
  struct fold_summer probed = *full;
  FOLD_TRY(repeat_proof(p));
  if (p->revealed->kind == FOLD_REVEALED_VARIES) return fold_ok();
  probed.place = place;
  FOLD_TRY(find_places(p, full, place, &probed.places));
  if (probed.places > 1) {
    FOLD_TRY(probe(&probed, p->revealed));
    FOLD_TRY(judge(p));
    if (p->revealed->kind != FOLD_REVEALED_VALUES && p->revealed->kind != FOLD_REVEALED_NO_TREE) return fold_ok();
    fold_tree_free(&p->revealed->tree);
    p->revealed->why[0] = '\0';
  }
  FOLD_TRY(probe(p->summer, p->revealed));
  return judge(p);
}

static fold_status reveal_row(const struct fold_summer *summer, struct fold_revealed *revealed) {
  struct fold_summer one = *summer;
  one.rows = 1;
  struct proof proof = {.summer = &one, .most = summer->rows, .revealed = revealed};
  size_t *place = malloc(summer->rows * sizeof *place);
  fold_status status = fold_no_memory("to reveal %zu rows", summer->rows);
  if (place) status = open_proof(&proof);
  if (status.code == FOLD_OK) status = reveal_alone(&proof, summer, place);
  close_proof(&proof);
  free(place);
  return status;
}

/* Drops the batch's tree if it is the tree of one row: then only some launches differed. */
static fold_status forget_same(struct fold_revealed *revealed) {
  uint64_t own;
  FOLD_TRY(fold_tree_fingerprint(&revealed->tree, &own));
  if (revealed->batch_print == own) revealed->batch_print = 0;
  return fold_ok();
}

static fold_status open_revealed(const struct fold_summer *summer, struct fold_revealed *revealed) {
  struct fold_masks masks;
  *revealed = (struct fold_revealed){.kind = FOLD_REVEALED_TREE, .rows = summer->rows};
  if (summer->n == 0 || summer->n > FOLD_TREE_MOST)
    return fold_error(FOLD_BAD_INPUT, "no tree of %zu terms can be revealed", summer->n);
  return fold_masks_of(summer->dtype, summer->accumulator, summer->result, &masks);
}

static fold_status name_tree(const struct fold_summer *summer, struct fold_revealed *revealed) {
  if (revealed->kind != FOLD_REVEALED_TREE) return fold_ok();
  return fold_tree_names(&revealed->tree, summer->factors > 1, revealed->name);
}

fold_status fold_reveal_launches(const struct fold_summer *summer, struct fold_revealed *revealed) {
  FOLD_TRY(open_revealed(summer, revealed));
  FOLD_TRY(reveal_in(summer, revealed, NULL));
  if (revealed->place[0]) revealed->kind = FOLD_REVEALED_NO_TREE;
  return name_tree(summer, revealed);
}

fold_status fold_reveal(const struct fold_summer *summer, struct fold_revealed *revealed) {
  bool alone;
  FOLD_TRY(open_revealed(summer, revealed));
  FOLD_TRY(reveal_in(summer, revealed, &alone));
  if (!alone) {
    /* A row's bits depend on its launch, so reveal the tree of one row alone. */
    struct fold_revealed batch = *revealed;
    *revealed = (struct fold_revealed){.kind = FOLD_REVEALED_TREE, .rows = 1, .by_batch = !batch.place[0]};
    revealed->probes = batch.probes, revealed->launches = batch.launches;
    const bool found = batch.kind == FOLD_REVEALED_TREE && batch.tree.n > 0;
    fold_status status = found ? fold_tree_fingerprint(&batch.tree, &revealed->batch_print) : fold_ok();
    fold_tree_free(&batch.tree);
    if (status.code == FOLD_OK) status = reveal_row(summer, revealed);
    memcpy(revealed->place, batch.place, sizeof batch.place);
    if (status.code == FOLD_OK && revealed->kind == FOLD_REVEALED_TREE) status = forget_same(revealed);
    if (status.code != FOLD_OK) return status;
  }
  return name_tree(summer, revealed);
}
