/* table.c: counting and printing verdicts. */
#include "records/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/wrap.h"
#include "records/counts.h"

enum { FEW_UNTOLD = 3, MOST_UNTOLD = 10 }; /* subjects */

fold_status fold_table_open(struct fold_table *table, const struct fold_registry *registry) {
  size_t cells = registry->n * FOLD_CLAIMS, n_facts;
  fold_facts(&n_facts);
  *table = (struct fold_table){.registry = registry};
  table->tally = calloc(n_facts + 1, sizeof *table->tally);
  table->promised = calloc(cells + 1, sizeof *table->promised);
  table->probed = calloc(cells + 1, sizeof *table->probed);
  if (!table->promised || !table->probed || !table->tally) {
    fold_table_close(table);
    return fold_no_memory("for the table");
  }
  for (size_t i = 0; i < cells; i++) table->promised[i].backward = table->probed[i].backward = NAN;
  return fold_ok();
}

void fold_table_close(struct fold_table *table) {
  free(table->promised);
  free(table->probed);
  free(table->tally);
  *table = (struct fold_table){0};
}

static void count_known(struct fold_table *table, const struct fold_judgement *j) {
  size_t n;
  struct fold_tally *tally = &table->tally[j->fact - fold_facts(&n)];
  if (tally->n++ > 0) return;
  snprintf(tally->first, sizeof tally->first, "%s", j->c->name);
  snprintf(tally->version, sizeof tally->version, "%s", j->version ? j->version : "");
}

/* Keeps the worst error, and the dtype that has it. */
static void keep_backward(struct fold_cell *cell, const struct fold_judgement *j) {
  const double backward = j->finding.backward;
  if (isnan(backward) || backward <= cell->backward) return;
  cell->backward = backward;
  cell->unit = fold_error_unit(fold_subject_arithmetic(j->subject, j->c->dtype));
}

void fold_table_add(struct fold_table *table, const struct fold_judgement *j) {
  struct fold_cell *cells = j->promised ? table->promised : table->probed;
  struct fold_cell *cell = &cells[j->subject_index * FOLD_CLAIMS + j->claim->id];
  const struct fold_finding *f = &j->finding;
  if (fold_counts_all(cell->count) == 0) cell->at_first = f->verdict == FOLD_REFUTED;
  cell->count[f->verdict]++;
  cell->telling += f->telling == FOLD_TELLING;
  cell->idle += f->telling == FOLD_IDLE;
  cell->threads |= f->threads;
  if (j->known) cell->known++, count_known(table, j);
  keep_backward(cell, j);
  if (f->verdict == FOLD_HELD) cell->rows += f->comparisons + f->unjudged, cell->unjudged += f->unjudged;
  if (f->verdict == FOLD_HELD && f->unjudged > 0) {
    const char *reason = strstr(f->reason, "no bound");
    snprintf(cell->no_bound, sizeof cell->no_bound, "%.*s", (int)sizeof cell->no_bound - 1,
             reason ? reason : f->reason);
  }
  /* "More ranks are needed than there are" is the least useful reason, so it gives way to any other. */
  bool of_ranks = f->verdict == FOLD_SKIPPED && strncmp(f->reason, "needs ", 6) == 0 && cell->why[0];
  const bool of_held = f->verdict == FOLD_HELD && !f->unjudged && f->reason[0] && !cell->why[0];
  if (((f->verdict == FOLD_SKIPPED || f->verdict == FOLD_BROKEN) && !of_ranks) || of_held)
    snprintf(cell->why, sizeof cell->why, "%.*s", (int)sizeof cell->why - 1, f->reason);
}

bool fold_table_is_empty(const struct fold_table *table) {
  size_t all = 0;
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++)
    all += fold_counts_all(table->promised[i].count) + fold_counts_all(table->probed[i].count);
  return all == 0;
}

static bool is_untold(const struct fold_cell *cell) {
  return fold_counts_untold(cell->count, cell->telling, cell->idle);
}

size_t fold_table_untold(const struct fold_table *table) {
  size_t untold = 0;
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++) untold += is_untold(&table->promised[i]);
  return untold;
}

size_t fold_table_probed(const struct fold_table *table) {
  size_t judged = 0;
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++)
    judged += table->probed[i].count[FOLD_HELD] + table->probed[i].count[FOLD_REFUTED];
  return judged;
}

void fold_table_total(const struct fold_table *table, bool strict, size_t total[FOLD_VERDICTS], size_t *known) {
  memset(total, 0, FOLD_VERDICTS * sizeof *total);
  *known = 0;
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++)
    fold_counts_add(total, known, table->promised[i].count, strict ? 0 : table->promised[i].known);
}

/* "0.97 f32", or a dash where nothing was measured. */
static const char *print_backward(const struct fold_cell *cell, char text[32]) {
  const double value = cell->backward;
  if (isnan(value)) return "-";
  snprintf(text, 32, value == 0 || (value >= 0.001 && value < 1e5) ? "%.3g %s" : "%.1e %s", value,
           fold_dtype_name(cell->unit));
  return text;
}

/* "threads tried: 1, 2, 16" */
static void put_threads(uint64_t mask, FILE *out) {
  const char *before = "threads tried: ";
  for (unsigned n = 0; n < 64; n++)
    if (mask >> n & 1) fprintf(out, "%s%u", before, n), before = ", ";
  fputs("; ", out);
}

/* What the numbers of a row leave open, each note followed by "; ". */
static void put_notes(const struct fold_cell *cell, const struct fold_claim *claim, bool strict, FILE *out) {
  const size_t known = strict ? 0 : cell->known, refuted = cell->count[FOLD_REFUTED] - known;
  if (cell->count[FOLD_BROKEN]) fprintf(out, "%zu broken; ", cell->count[FOLD_BROKEN]);
  if (known) fprintf(out, "%zu known; ", known);
  /* As when a library sets itself up: told apart from what each call leaves. */
  if (claim->id == FOLD_LEAVES_NO_TRACE && cell->at_first && refuted == 1 && cell->count[FOLD_HELD])
    fputs("set once, in the first case only; ", out);
  if (is_untold(cell)) fputs("order-insensitive inputs only; ", out);
  if (cell->unjudged) fprintf(out, "%zu of %zu rows have %s; ", cell->unjudged, cell->rows, cell->no_bound);
  if (cell->threads) put_threads(cell->threads, out);
  if (cell->why[0]) fprintf(out, "%s; ", cell->why);
}

static void print_notes(const struct fold_cell *cell, const struct fold_claim *claim, bool strict, FILE *out) {
  char *text = NULL;
  size_t size = 0;
  FILE *into = open_memstream(&text, &size);
  if (into == NULL) return;
  put_notes(cell, claim, strict, into);
  if (fclose(into) == 0 && size > 2) fold_put_wrapped(out, 4, 4, "%.*s", (int)size - 2, text);
  free(text);
}

static void print_cell(const struct fold_cell *cell, const struct fold_claim *claim, bool strict, bool colour,
                       FILE *out) {
  char backward[32], idle[24] = "-";
  const size_t refuted = cell->count[FOLD_REFUTED] - (strict ? 0 : cell->known);
  const bool red = colour && (refuted || cell->count[FOLD_BROKEN]);
  if (claim->by_order) snprintf(idle, sizeof idle, "%zu", cell->idle);
  fprintf(out, "  %s%-22s%s %7zu %7zu %7zu %7s %14s\n", red ? FOLD_RED : "", claim->name, red ? FOLD_PLAIN_COLOUR : "",
          cell->count[FOLD_HELD], refuted, cell->count[FOLD_SKIPPED], idle, print_backward(cell, backward));
  print_notes(cell, claim, strict, out);
}

/* Whether all claims of a subject were skipped for the same reason: then it shares a line with other subjects. */
static bool sum_of_skips(const struct fold_cell *cells, struct fold_cell *sum) {
  size_t claims = 0;
  *sum = (struct fold_cell){.backward = NAN};
  for (size_t k = 0; k < FOLD_CLAIMS; k++) {
    const size_t n = fold_counts_all(cells[k].count);
    if (n == 0) continue;
    if (cells[k].count[FOLD_SKIPPED] < n || (claims > 0 && strcmp(cells[k].why, sum->why) != 0)) return false;
    memcpy(sum->why, cells[k].why, sizeof sum->why);
    sum->count[FOLD_SKIPPED] += n;
    claims++;
  }
  return claims > 0;
}

static void print_subject(const struct fold_table *table, const struct fold_cell *cells, size_t i, bool strict,
                          bool colour, FILE *out) {
  size_t n_claims;
  const struct fold_claim *claims = fold_claims(&n_claims);
  const struct fold_subject *subject = &table->registry->subjects[i];
  bool named = false;
  for (size_t k = 0; k < n_claims; k++) {
    const struct fold_cell *cell = &cells[i * FOLD_CLAIMS + k];
    if (fold_counts_all(cell->count) == 0) continue;
    if (!named) fprintf(out, "%s on %s\n", subject->name, fold_engine_name(subject->engine));
    named = true;
    print_cell(cell, &claims[k], strict, colour, out);
  }
}

/* Prints the subjects that were skipped altogether: one line for each engine and reason. */
static void print_skipped(const struct fold_table *table, const struct fold_cell *cells, FILE *out) {
  const size_t n = table->registry->n;
  struct fold_cell sum, other;
  for (size_t i = 0; i < n; i++) {
    const struct fold_subject *subject = &table->registry->subjects[i];
    if (!sum_of_skips(&cells[i * FOLD_CLAIMS], &sum)) continue;
    size_t alike = 0, skipped = 0;
    bool first = true;
    for (size_t k = 0; k < n; k++) {
      if (table->registry->subjects[k].engine != subject->engine || !sum_of_skips(&cells[k * FOLD_CLAIMS], &other))
        continue;
      if (strcmp(other.why, sum.why) != 0) continue;
      first &= k >= i;
      alike++, skipped += other.count[FOLD_SKIPPED];
    }
    if (!first) continue; /* printed with the first of its kind */
    char more[48] = "";
    if (alike > 1) snprintf(more, sizeof more, " and %zu more there", alike - 1);
    fold_put_wrapped(out, 0, 4, "skipped altogether: %s on %s%s: %zu verdicts (%s)", subject->name,
                     fold_engine_name(subject->engine), more, skipped, sum.why);
  }
}

static void print_subjects(const struct fold_table *table, const struct fold_cell *cells, bool strict, bool colour,
                           FILE *out) {
  bool measured = false;
  struct fold_cell sum;
  for (size_t i = 0; i < table->registry->n; i++) {
    if (!sum_of_skips(&cells[i * FOLD_CLAIMS], &sum)) print_subject(table, cells, i, strict, colour, out);
    for (size_t k = 0; k < FOLD_CLAIMS; k++) measured |= !isnan(cells[i * FOLD_CLAIMS + k].backward);
  }
  print_skipped(table, cells, out);
  if (measured)
    fold_put_wrapped(out, 0, 2,
                     "worst error: over u times the sum of the terms' magnitudes; u is the unit roundoff of the dtype "
                     "named");
}

static const struct fold_subject *subject_of(const struct fold_registry *registry, const struct fold_fact *fact) {
  for (size_t i = 0; i < registry->n; i++)
    if (registry->subjects[i].peer && strcmp(registry->subjects[i].name, fact->subject) == 0)
      return &registry->subjects[i];
  return NULL;
}

static void print_known(const struct fold_table *table, FILE *out) {
  size_t n;
  const struct fold_fact *facts = fold_facts(&n);
  fold_put_wrapped(out, 0, 2,
                   "known defects of third-party libraries, not counted below (--strict counts them as "
                   "refuted):");
  for (size_t i = 0; i < n; i++) {
    const struct fold_tally *tally = &table->tally[i];
    const struct fold_subject *subject = tally->n ? subject_of(table->registry, &facts[i]) : NULL;
    char version[64];
    if (subject == NULL) continue;
    fold_peer_version(subject, version);
    if (*tally->version) snprintf(version, sizeof version, "%s", tally->version);
    fold_put_wrapped(out, 2, 4, "%zu case%s, %s of %s: %s; first in %s", tally->n, tally->n == 1 ? "" : "s",
                     subject->name, version, facts[i].what, tally->first);
  }
}

void fold_table_print(const struct fold_table *table, bool strict, bool colour, FILE *out) {
  size_t probed = 0;
  fprintf(out, "%-24s %7s %7s %7s %7s %14s\n", "subject and claim", "held", "refuted", "skipped", "insens.",
          "worst error");
  print_subjects(table, table->promised, strict, colour, out);
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++) probed += fold_counts_all(table->probed[i].count);
  if (probed > 0) {
    fprintf(out, "\ntried for information: not claimed, not counted\n");
    print_subjects(table, table->probed, strict, false, out);
  }
  fputc('\n', out);
}

static void print_untold(const struct fold_table *table, size_t i, FILE *out) {
  const struct fold_subject *subject = &table->registry->subjects[i];
  size_t n, size;
  const struct fold_claim *claims = fold_claims(&n);
  char *text = NULL;
  FILE *into = open_memstream(&text, &size);
  for (size_t k = 0; into && k < n; k++)
    if (is_untold(&table->promised[i * FOLD_CLAIMS + k])) fprintf(into, " %s", claims[k].name);
  if (into && fclose(into) == 0)
    fold_put_wrapped(out, 2, 4, "%s on %s:%s", subject->name, fold_engine_name(subject->engine), text);
  free(text);
}

/* Prints which claims no input could test: of a few subjects, or where that fails the run of more. */
static void close_untold(const struct fold_table *table, bool strict, FILE *out) {
  const size_t all = fold_table_untold(table), most = strict ? MOST_UNTOLD : FEW_UNTOLD;
  size_t shown = 0, subjects = 0;
  if (all == 0) return;
  fold_put_wrapped(out, 0, 2,
                   "%zu claim%s about order held on order-insensitive inputs only: on each, eight orders give "
                   "the same bits%s",
                   all, all == 1 ? "" : "s", strict ? ", which --strict refuses" : " (--strict refuses that)");
  for (size_t i = 0; i < table->registry->n; i++) {
    bool untold = false;
    for (size_t k = 0; k < FOLD_CLAIMS; k++) untold |= is_untold(&table->promised[i * FOLD_CLAIMS + k]);
    subjects += untold;
    if (untold && shown < most) print_untold(table, i, out), shown++;
  }
  if (subjects > shown) fprintf(out, "  and %zu more subjects\n", subjects - shown);
}

void fold_table_close_line(const struct fold_table *table, bool strict, const char *beside, const char *colour,
                           FILE *out) {
  size_t total[FOLD_VERDICTS], known;
  fold_table_total(table, strict, total, &known);
  if (total[FOLD_BROKEN])
    fold_put_wrapped(out, 0, 2, "%zu broken: the subject or the environment failed there, nothing was judged",
                     total[FOLD_BROKEN]);
  if (known) print_known(table, out);
  close_untold(table, strict, out);
  fprintf(out, "%s%zu held, %zu refuted, %zu skipped%s%s\n", colour, total[FOLD_HELD], total[FOLD_REFUTED],
          total[FOLD_SKIPPED], beside, *colour ? FOLD_PLAIN_COLOUR : "");
}
