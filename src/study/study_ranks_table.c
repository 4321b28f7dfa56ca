/* study_ranks_table.c: the simulation of ranks, as tables. Every table says that nothing was measured. */
#include <stdio.h>

#include "sheet.h"
#include "sheet_text.h"
#include "study_ranks.h"

void fold_ranks_open(struct fold_sheet *sheet, const struct fold_ranks_case *c) {
  char title[FOLD_SHEET_TITLE];
  snprintf(title, sizeof title,
           "SIMULATION of all-reduce on one host, from the orders alone: nothing was sent, nothing was timed\n%s %s, "
           "seed %llu: one number a rank and element, %zu elements; errors against the exact sum",
           fold_dtype_name(c->dtype), c->generator->name, (unsigned long long)c->seed, c->elements);
  fold_sheet_open(
      sheet, "simulation", title,
      "#ranks;order (simulated);#height;=worst ulps;=median ulps;=worst/sum|x|;=bound/sum|x|;=worst/bound;the "
      "same bits in every chunk");
}

static const char *say_chunks(const struct fold_ranks_result *r, char text[160]) {
  int used;
  if (r->algorithm != FOLD_RANKS_RING)
    used = snprintf(text, 160, "yes: the order knows no chunk");
  else if (r->varied)
    used = snprintf(text, 160, "no: %zu of %zu elements vary over %zu chunks", r->varied, r->c.elements, r->chunks);
  else
    used = snprintf(text, 160, "in all %zu chunks looked at", r->chunks);
  if (r->not_finite) snprintf(text + used, 160 - (size_t)used, "; %zu results overflowed", r->not_finite);
  return text;
}

void fold_ranks_add(struct fold_sheet *sheet, const struct fold_ranks_result *r) {
  char text[160];
  FOLD_ROW(sheet, N(r->c.ranks), T(fold_ranks_name(r->algorithm)), N(r->height), N(r->worst_ulps), N(r->median_ulps),
           N(r->worst_relative), N(r->bound_relative), N(r->worst_fraction), T(say_chunks(r, text)));
}

void fold_ranks_fill_worlds(struct fold_sheet *sheet, const struct fold_ranks_worlds *worlds) {
  const struct fold_ranks_case *c = &worlds[0].c;
  char title[FOLD_SHEET_TITLE], text[32];
  snprintf(title, sizeof title,
           "SIMULATION of world sizes: one %s %s vector of %s parts on R = ceil(parts / 2^k) ranks, k = 0, 1, 2 ...\n"
           "each rank adds its aligned block by the canonical tree; only the joining of ranks differs",
           fold_dtype_name(c->dtype), c->generator->name, fold_text_grouped((double)c->ranks, text));
  fold_sheet_open(sheet, "worlds", title,
                  "order (simulated);#world sizes;#elements;#of them changed;#most results of one");
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++)
    FOLD_ROW(sheet, T(fold_ranks_name(worlds[a].algorithm)), N(worlds[a].worlds), N(c->elements), N(worlds[a].changed),
             N(worlds[a].most_distinct));
}

void fold_ranks_print_prediction(FILE *out) {
  fputs(
      "\nwhat our rules predict for a cluster (a prediction from the simulation and the definitions, not a "
      "measurement)\n"
      "* ring: n ranks cost n - 1 roundings in sequence, and an element's bits depend on the chunk it falls in; which "
      "chunk\n"
      "  that is depends on count, channels and protocol, so that a longer message changes the bits of the same "
      "elements.\n"
      "  With two ranks nothing shows: a + b = b + a. Take at least three.\n"
      "* trees: the bits know no chunk. Recursive doubling keeps them from one world size to another only where both "
      "are\n"
      "  powers of two and ranks hold aligned blocks; the binary tree changes them with every world size.\n"
      "* canonical: height at most ceil(log2 ranks), and the same bits in every chunk and for every world size whose "
      "shards\n"
      "  are subtrees: aligned blocks of 4096 * 2^k elements of the vector (oracles/canonical.h). Such a cluster "
      "gives\n"
      "  the bits that one GPU or the host gives with flat/canonical; a shard cut elsewhere voids the promise.\n"
      "* errors: the worst case grows with the height, in the mean more like its square root (Higham and Mary 2019).\n",
      out);
}
