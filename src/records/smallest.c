/* smallest.c: see smallest.h. */
#include "records/smallest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wrap.h"

static fold_status no_memory(void) { return fold_no_memory("for the smallest counterexamples"); }

static size_t cells(const struct fold_smallest *s) { return s->registry ? s->registry->n * FOLD_CLAIMS : 0; }

fold_status fold_smallest_open(struct fold_smallest *s, const struct fold_registry *registry) {
  *s = (struct fold_smallest){.registry = registry};
  s->refuted = calloc(cells(s) + 1, sizeof *s->refuted);
  s->broken = calloc(cells(s) + 1, sizeof *s->broken);
  return s->refuted && s->broken ? fold_ok() : no_memory();
}

static void free_all(struct fold_smallest_of *of, size_t n) {
  for (size_t i = 0; of && i < n; i++) {
    fold_refutation_free(&of[i].text);
    free(of[i].name);
    free(of[i].order);
    free(of[i].order_on);
  }
  free(of);
}

void fold_smallest_close(struct fold_smallest *s) {
  free_all(s->refuted, cells(s));
  free_all(s->broken, cells(s));
  *s = (struct fold_smallest){0};
}

fold_status fold_smallest_explain(struct fold_smallest *s, const struct fold_judgement *j,
                                  const struct fold_order_change *change) {
  struct fold_smallest_of *of = &s->refuted[j->subject_index * FOLD_CLAIMS + j->claim->id];
  if (of->order) return fold_ok();
  of->order = strdup(change->text);
  of->order_on = strdup(j->c->name);
  return of->order && of->order_on ? fold_ok() : no_memory();
}

static bool is_worse(const struct fold_smallest_of *of, const struct fold_judgement *j) {
  const size_t terms = fold_case_terms(j->c);
  if (of->lost_tail != j->finding.lost_tail) return of->lost_tail;
  return terms > of->terms || (terms == of->terms && fold_case_results(j->c) >= of->rows);
}

fold_status fold_smallest_add(struct fold_smallest *s, const struct fold_judgement *j, const char *program,
                              const char *folder) {
  const bool broken = j->finding.verdict == FOLD_BROKEN;
  struct fold_smallest_of *of = &(broken ? s->broken : s->refuted)[j->subject_index * FOLD_CLAIMS + j->claim->id];
  if (of->n++ > 0 && is_worse(of, j)) return fold_ok();
  of->lost_tail = j->finding.lost_tail;
  of->terms = fold_case_terms(j->c);
  of->rows = fold_case_results(j->c);
  free(of->name);
  of->name = strdup(j->c->name);
  if (of->name == NULL) return no_memory();
  return fold_refutation_keep(&of->text, j, program, folder);
}

/* What else is refuted of a subject: further cases of claim k, and unless `own` its other claims. */
static void print_also(const struct fold_smallest_of *of, size_t k, bool own, const char *verdict, FILE *out) {
  size_t n_claims, size, told = 0;
  const struct fold_claim *claims = fold_claims(&n_claims);
  char *text = NULL;
  FILE *into = open_memstream(&text, &size);
  for (size_t i = 0; into && i < n_claims; i++) {
    const size_t n = of[i].n - (i == k && of[i].n > 0);
    if (n == 0 || (own && i != k)) continue;
    fprintf(into, "%s%s (%zu %scase%s)", told++ ? ", " : "", claims[i].name, n, i == k ? "more " : "",
            n == 1 ? "" : "s");
  }
  if (into && fclose(into) == 0 && told) fold_put_wrapped(out, 2, 4, "also %s: %s", verdict, text);
  free(text);
}

/* The first word is what catches the eye. */
static void put_head(const char *head, const char *colour, FILE *out) {
  const char *end = strchr(head, ':');
  if (end && fold_has_colour(out))
    fprintf(out, "%s%.*s" FOLD_PLAIN_COLOUR "%s", colour, (int)(end - head), head, end);
  else
    fputs(head, out);
}

static void print_block(const struct fold_smallest_of *of, size_t k, bool own, bool broken, FILE *out) {
  put_head(of[k].text.head, broken ? FOLD_YELLOW : FOLD_RED, out);
  if (of[k].order)
    fold_print_order_change(of[k].order, strcmp(of[k].order_on, of[k].name) == 0 ? "" : of[k].order_on, out);
  fputs(of[k].text.rest, out);
  print_also(of, k, own, broken ? "broken" : "refuted", out);
  fputs(of[k].text.replay, out);
}

static bool is_first(const struct fold_smallest_of *of, size_t k) {
  if (of[FOLD_CAUSE].n > 0) return k == FOLD_CAUSE;
  for (size_t i = 0; i < k; i++)
    if (of[i].n > 0) return false;
  return true;
}

/* Returns how many blocks there are, of which the first `most` are printed. */
static size_t print_blocks(const struct fold_smallest *s, bool broken, bool every, size_t most, FILE *out) {
  size_t blocks = 0;
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    for (size_t i = 0; i < s->registry->n; i++) {
      const struct fold_smallest_of *of = &(broken ? s->broken : s->refuted)[i * FOLD_CLAIMS];
      if (of[k].n == 0 || (!every && !is_first(of, k))) continue;
      if (blocks++ < most) print_block(of, k, every, broken, out);
    }
  return blocks;
}

void fold_smallest_print(const struct fold_smallest *s, bool every, size_t most, FILE *out) {
  const size_t all = every ? SIZE_MAX : most;
  const size_t broken = print_blocks(s, true, every, all, out);
  const size_t refuted = print_blocks(s, false, every, broken < all ? all - broken : 0, out);
  if (broken + refuted > all) fprintf(out, "and %zu more: --jsonl keeps all\n", broken + refuted - all);
}
