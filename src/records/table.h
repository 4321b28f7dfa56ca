/* table.h: verdicts counted by subject and claim, and printed for people. */
#ifndef FOLD_TABLE_H
#define FOLD_TABLE_H

#include <stdio.h>

#include "runner.h"

struct fold_cell {
  size_t count[FOLD_VERDICTS];
  size_t shown;          /* refutations that were told one by one */
  size_t known;          /* of the refuted: what is known of that library */
  size_t telling, idle;  /* of the held, where the claim is about order: what the inputs could tell (panel.h) */
  double ulps, fraction; /* the worst; NaN where nothing was measured */
  size_t cancelled;      /* of the held: whose error is larger than the exact result; `ulps` is of the others */
  size_t rows, unjudged; /* of cases that were judged: rows, and those of them that have no bound */
  char no_bound[120];    /* the last reason of one of these */
  char why[120];         /* the last reason of a skip or of what broke, rather than a want of ranks */
};

/* How often a fact explained what was refuted. */
struct fold_tally {
  size_t n;
  char first[160];  /* the first case */
  char version[64]; /* as its record tells; "": as it is here */
};

struct fold_table {
  const struct fold_registry *registry;
  struct fold_cell *promised, *probed; /* registry->n x FOLD_CLAIMS each */
  struct fold_tally *tally;            /* of each fact that there is */
};

fold_status fold_table_open(struct fold_table *table, const struct fold_registry *registry);
void fold_table_close(struct fold_table *table);
void fold_table_add(struct fold_table *table, const struct fold_judgement *judgement);

/* How often each verdict was given on promised claims. A refutation that is known of a library is counted in *known,
 * and as refuted only when `strict`. */
void fold_table_total(const struct fold_table *table, bool strict, size_t total[FOLD_VERDICTS], size_t *known);
/* Nothing was judged, or skipped. */
bool fold_table_is_empty(const struct fold_table *table);
/* How many promises about order held, and on idle inputs alone. */
size_t fold_table_untold(const struct fold_table *table);
/* How many promises nobody made were tried. */
size_t fold_table_probed(const struct fold_table *table);
/* Each subject's claims; below them what was skipped altogether. */
void fold_table_print(const struct fold_table *table, bool strict, bool colour, FILE *out);
/* What is broken, a line for each fact that was seen again, what no input could tell, and the closing line "N held, N refuted,
 * N skipped", behind which stands what else there is to count; "": nothing. */
void fold_table_close_line(const struct fold_table *table, bool strict, const char *beside, FILE *out);

#endif
