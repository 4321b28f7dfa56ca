/* table.h: counts verdicts by subject and claim, and prints them for people. */
#ifndef FOLD_TABLE_H
#define FOLD_TABLE_H

#include <stdio.h>

#include "run/runner.h"

struct fold_cell {
  size_t count[FOLD_VERDICTS];
  bool at_first;         /* the first verdict was a refutation */
  size_t known;          /* the refuted that are known defects of a library */
  size_t telling, idle;  /* of the held: whether the inputs could tell orders apart (panel.h) */
  double backward;       /* the worst (fold_finding); NaN where nothing was measured */
  enum fold_dtype unit;  /* whose unit roundoff it is in */
  uint64_t threads;      /* bit n: n threads were tried (launch_invariant) */
  size_t rows, unjudged; /* of the judged cases: all rows, and the rows without a bound */
  char no_bound[120];    /* why such a row has no bound; the last reason */
  char why[120];         /* the last reason of a skip or a broken claim; a lack of ranks gives way to others */
};

/* How often a fact explained a refutation. */
struct fold_tally {
  size_t n;
  char first[160];  /* the first case */
  char version[64]; /* of the library, from the record; "": the version here */
};

struct fold_table {
  const struct fold_registry *registry;
  struct fold_cell *promised, *probed; /* registry->n x FOLD_CLAIMS each */
  struct fold_tally *tally;            /* for each fact in the registry */
};

fold_status fold_table_open(struct fold_table *table, const struct fold_registry *registry);
void fold_table_close(struct fold_table *table);
void fold_table_add(struct fold_table *table, const struct fold_judgement *judgement);

/* How often each verdict was given on promised claims. A known defect of a library is counted in *known, but when
 * `strict` as refuted. */
void fold_table_total(const struct fold_table *table, bool strict, size_t total[FOLD_VERDICTS], size_t *known);
/* Whether nothing was judged or skipped. */
bool fold_table_is_empty(const struct fold_table *table);
/* How many claims about order held on order-insensitive inputs only. */
size_t fold_table_untold(const struct fold_table *table);
/* How many claims that were not promised were judged. */
size_t fold_table_probed(const struct fold_table *table);
/* Prints each subject's claims, and below them the subjects that were skipped altogether. */
void fold_table_print(const struct fold_table *table, bool strict, bool colour, FILE *out);
/* Prints what is broken, a line for each known defect that was seen again, the claims that no input could test, and
 * the closing line "N held, N refuted, N skipped", followed by `beside` (other counts; "": none), in a colour of wrap.h
 * ("": none). */
void fold_table_close_line(const struct fold_table *table, bool strict, const char *beside, const char *colour,
                           FILE *out);

#endif
