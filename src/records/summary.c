/* summary.c: see summary.h. */
#include "records/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "base/wrap.h"
#include "records/counts.h"

/* Further, rarer reasons are counted together, and so are further notes. */
enum { FEW_REASONS = 3, MOST_REASONS = 12, FEW_NOTES = 3 };
/* Subjects and cases that took less are not shown. */
static const double NOTABLE_S = 0.1;

fold_status fold_summary_open(struct fold_summary *summary, const struct fold_registry *registry) {
  *summary = (struct fold_summary){.registry = registry};
  summary->seconds = calloc(registry->n + 1, sizeof *summary->seconds);
  summary->off = calloc(registry->n + 1, sizeof *summary->off);
  summary->unclaimed = calloc(registry->n + 1, sizeof *summary->unclaimed);
  return summary->seconds && summary->off && summary->unclaimed ? fold_ok() : fold_no_memory("for the summary");
}

void fold_summary_close(struct fold_summary *summary) {
  for (size_t i = 0; i < summary->n_skips; i++) free(summary->skip[i].reason);
  free(summary->skip);
  free(summary->seconds);
  free(summary->off);
  free(summary->unclaimed);
  *summary = (struct fold_summary){0};
}

static fold_status count_skip(struct fold_summary *summary, const char *reason) {
  for (size_t i = 0; i < summary->n_skips; i++)
    if (strcmp(summary->skip[i].reason, reason) == 0) {
      summary->skip[i].n++;
      return fold_ok();
    }
  char *copy = strdup(reason);
  struct fold_skip *added =
      copy ? fold_list_grow(&summary->skip, &summary->n_skips, &summary->room_skips, sizeof *added) : NULL;
  if (added)
    *added = (struct fold_skip){copy, 1};
  else
    free(copy);
  return added ? fold_ok() : fold_no_memory("for the summary");
}

/* Inserts the finished case into the list of the slowest. */
static void keep_slow(struct fold_summary *summary) {
  struct fold_slow done = summary->now;
  for (int i = 0; i < FOLD_SLOWEST; i++)
    if (done.seconds > summary->slow[i].seconds) {
      struct fold_slow moved = summary->slow[i];
      summary->slow[i] = done;
      done = moved;
    }
  summary->now = (struct fold_slow){0};
}

static void add_time(struct fold_summary *summary, const struct fold_judgement *j) {
  /* The time before the first judgement is that of starting processes and ranks, so it is not counted. */
  const double now = fold_now(), took = summary->before > 0 ? now - summary->before : 0;
  summary->before = now;
  summary->seconds[j->subject_index] += took;
  if (strncmp(summary->now.name, j->c->name, sizeof summary->now.name - 1) != 0) {
    keep_slow(summary);
    snprintf(summary->now.name, sizeof summary->now.name, "%s", j->c->name);
  }
  summary->now.seconds += took;
}

static void keep_off(struct fold_off *off, const struct fold_judgement *j) {
  if (j->finding.verdict != FOLD_HELD || !(j->finding.off > off->ulps)) return;
  off->ulps = j->finding.off;
  snprintf(off->name, sizeof off->name, "%s", j->c->name);
}

static void print_off(const struct fold_summary *summary, bool verbose, FILE *out) {
  size_t notes = 0;
  for (size_t i = 0; i < summary->registry->n; i++)
    if (summary->off[i].ulps > 0 && (notes++ < FEW_NOTES || verbose))
      fold_put_wrapped(out, 0, 2,
                       "note: %s is up to %.2g ulps off on well-conditioned sums (%s): within the worst case over all "
                       "orders; --accurate-as host/pairwise or --ulps N refutes this",
                       summary->registry->subjects[i].name, summary->off[i].ulps, summary->off[i].name);
  if (notes > FEW_NOTES && !verbose) fprintf(out, "note: so are %zu more subjects (-v)\n", notes - FEW_NOTES);
}

static void keep_unclaimed(struct fold_unclaimed *of, const struct fold_judgement *j) {
  of->tried |= FOLD_CLAIM(j->claim->id);
  if (j->finding.verdict != FOLD_REFUTED) return;
  if (of->claim == NULL) of->claim = j->claim;
  if (of->claim == j->claim && of->refuted++ == 0) snprintf(of->first, sizeof of->first, "%s", j->c->name);
}

uint64_t fold_summary_unclaimed(const struct fold_summary *summary, size_t i) { return summary->unclaimed[i].tried; }

/* What holds is no news. */
static void print_unclaimed(const struct fold_summary *summary, FILE *out) {
  for (size_t i = 0; i < summary->registry->n; i++) {
    const struct fold_unclaimed *of = &summary->unclaimed[i];
    if (of->refuted)
      fold_put_wrapped(out, 0, 2, "not claimed: %s of %s is refuted in %zu case%s, first %s", of->claim->name,
                       summary->registry->subjects[i].name, of->refuted, of->refuted == 1 ? "" : "s", of->first);
  }
}

static void keep_sampled(struct fold_summary *summary, const struct fold_judgement *j) {
  if (j->finding.verdict != FOLD_HELD || j->finding.sampled == 0 || summary->sampled.n++ > 0) return;
  summary->sampled.judged = j->finding.sampled;
  summary->sampled.all = j->finding.rows;
  snprintf(summary->sampled.name, sizeof summary->sampled.name, "%s", j->c->name);
}

static void print_sampled(const struct fold_summary *summary, FILE *out) {
  char some[32], all[32];
  const size_t n = summary->sampled.n;
  if (n > 0)
    fold_put_wrapped(out, 0, 2, "sampled: %zu verdict%s on large cases, the first with %s of %s results judged (%s)", n,
                     n == 1 ? "" : "s", fold_text_grouped((double)summary->sampled.judged, some),
                     fold_text_grouped((double)summary->sampled.all, all), summary->sampled.name);
}

fold_status fold_summary_add(struct fold_summary *summary, const struct fold_judgement *j, bool counted) {
  if (!counted) keep_unclaimed(&summary->unclaimed[j->subject_index], j);
  add_time(summary, j);
  keep_off(&summary->off[j->subject_index], j);
  keep_sampled(summary, j);
  return j->promised && j->finding.verdict == FOLD_SKIPPED ? count_skip(summary, j->finding.reason) : fold_ok();
}

static void print_claims(const struct fold_table *table, bool strict, FILE *out) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  fprintf(out, "%-24s %7s %7s %7s %7s\n", "all subjects", "held", "refuted", "skipped", "insens.");
  for (size_t k = 0; k < n; k++) {
    size_t count[FOLD_VERDICTS] = {0}, known = 0, idle = 0;
    char of_held[24] = "-";
    for (size_t i = 0; i < table->registry->n; i++) {
      const struct fold_cell *cell = &table->promised[i * FOLD_CLAIMS + k];
      fold_counts_add(count, &known, cell->count, strict ? 0 : cell->known);
      idle += cell->idle;
    }
    if (fold_counts_all(count) + known == 0) continue;
    if (claims[k].by_order) snprintf(of_held, sizeof of_held, "%zu", idle);
    fprintf(out, "  %-22s %7zu %7zu %7zu %7s", claims[k].name, count[FOLD_HELD], count[FOLD_REFUTED],
            count[FOLD_SKIPPED], of_held);
    if (count[FOLD_BROKEN]) fprintf(out, "  %zu broken", count[FOLD_BROKEN]);
    fputc('\n', out);
  }
}

static int most_first(const void *a, const void *b) {
  const struct fold_skip *x = a, *y = b;
  return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->reason, y->reason);
}

static void print_skips(struct fold_summary *summary, bool verbose, FILE *out) {
  const size_t most = verbose ? MOST_REASONS : FEW_REASONS;
  size_t rest = 0;
  if (summary->n_skips == 0) return;
  qsort(summary->skip, summary->n_skips, sizeof *summary->skip, most_first);
  fputs("skipped, by reason\n", out);
  for (size_t i = 0; i < summary->n_skips; i++)
    if (i < most || summary->n_skips == most + 1)
      fold_put_wrapped(out, 2, 4, "%zu: %s", summary->skip[i].n, summary->skip[i].reason);
    else
      rest += summary->skip[i].n;
  if (rest) fprintf(out, "  %zu: %zu other reasons%s\n", rest, summary->n_skips - most, verbose ? "" : " (-v)");
}

/* How much of what held says little of the order. */
static void print_insensitive(const struct fold_table *table, FILE *out) {
  size_t insensitive = 0, sensitive = 0;
  for (size_t i = 0; i < table->registry->n * FOLD_CLAIMS; i++) {
    insensitive += table->promised[i].idle;
    sensitive += table->promised[i].telling;
  }
  if (insensitive)
    fold_put_wrapped(out, 0, 2, "about order: %zu of %zu that held are on order-insensitive inputs", insensitive,
                     insensitive + sensitive);
}

static void put_slowest_subjects(struct fold_summary *summary, FILE *out) {
  for (int line = 0; line < FOLD_SLOWEST; line++) {
    size_t worst = 0;
    for (size_t i = 1; i < summary->registry->n; i++)
      if (summary->seconds[i] > summary->seconds[worst]) worst = i;
    if (summary->registry->n == 0 || summary->seconds[worst] < NOTABLE_S) break;
    const struct fold_subject *subject = &summary->registry->subjects[worst];
    fprintf(out, "%s%s on %s %.1f s", line ? ", " : "", subject->name, fold_engine_name(subject->engine),
            summary->seconds[worst]);
    summary->seconds[worst] = 0;
  }
}

static void put_slowest_cases(struct fold_summary *summary, FILE *out) {
  keep_slow(summary);
  for (int i = 0; i < FOLD_SLOWEST && summary->slow[i].seconds >= NOTABLE_S; i++)
    fprintf(out, "%s%s %.1f s", i ? ", " : "", summary->slow[i].name, summary->slow[i].seconds);
}

static void print_slowest(struct fold_summary *summary, const char *what, void (*put)(struct fold_summary *, FILE *),
                          FILE *out) {
  char *text = NULL;
  size_t size = 0;
  FILE *into = open_memstream(&text, &size);
  if (into == NULL) return;
  put(summary, into);
  if (fclose(into) == 0 && size) fold_put_wrapped(out, 0, 2, "slowest %s: %s", what, text);
  free(text);
}

void fold_summary_print(struct fold_summary *summary, const struct fold_table *table, bool strict, bool verbose,
                        FILE *out) {
  if (verbose) print_claims(table, strict, out);
  print_skips(summary, verbose, out);
  print_off(summary, verbose, out);
  if (verbose) print_slowest(summary, "subjects", put_slowest_subjects, out);
  if (verbose) print_slowest(summary, "cases", put_slowest_cases, out);
  print_insensitive(table, out);
  print_sampled(summary, out);
  print_unclaimed(summary, out);
}
