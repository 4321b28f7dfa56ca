/* study_ranks_table.c: prints the simulation of ranks. Every table says that nothing was measured. */
#include <stdio.h>

#include "study.h"
#include "study_ranks.h"

void fold_ranks_print_head(const struct fold_ranks_case *c, FILE *out) {
  fprintf(out,
          "\nSIMULATION of all-reduce on one host, from the orders alone: nothing was sent, nothing was timed\n"
          "%s %s, seed %llu: one number a rank and element, %zu elements; errors against the exact sum\n",
          fold_dtype_name(c->dtype), c->generator->name, (unsigned long long)c->seed, c->elements);
  fprintf(out, "%8s  %-20s %8s %12s %12s %12s %12s %11s  %s\n", "ranks", "order (simulated)", "height", "worst ulps",
          "median ulps", "worst/sum|x|", "bound/sum|x|", "worst/bound", "the same bits in every chunk");
}

static void print_chunks(const struct fold_ranks_result *r, FILE *out) {
  if (r->algorithm != FOLD_RANKS_RING)
    fprintf(out, "yes: the order knows no chunk");
  else if (r->varied)
    fprintf(out, "no: %zu of %zu elements vary over %zu chunks", r->varied, r->c.elements, r->chunks);
  else
    fprintf(out, "in all %zu chunks looked at", r->chunks);
  if (r->not_finite) fprintf(out, "; %zu results overflowed", r->not_finite);
}

void fold_ranks_print(const struct fold_ranks_result *r, FILE *out) {
  char ranks[32], height[32], text[5][16];
  fprintf(out, "%8s  %-20s %8s %12s %12s", fold_study_count(r->c.ranks, ranks), fold_ranks_name(r->algorithm),
          fold_study_count(r->height, height), fold_study_number(r->worst_ulps, text[0]),
          fold_study_number(r->median_ulps, text[1]));
  fprintf(out, " %12s %12s %11s  ", fold_study_number(r->worst_relative, text[2]),
          fold_study_number(r->bound_relative, text[3]), fold_study_number(r->worst_fraction, text[4]));
  print_chunks(r, out);
  fputc('\n', out);
}

void fold_ranks_print_worlds(const struct fold_ranks_worlds *worlds, FILE *out) {
  const struct fold_ranks_case *c = &worlds[0].c;
  char text[32];
  fprintf(out,
          "\nSIMULATION of world sizes: one %s %s vector of %s parts on R = ceil(parts / 2^k) ranks, k = 0, 1, 2 ...\n"
          "each rank adds its aligned block by the canonical tree; only the joining of ranks differs\n",
          fold_dtype_name(c->dtype), c->generator->name, fold_study_count(c->ranks, text));
  fprintf(out, "%-20s %12s %22s %22s\n", "order (simulated)", "world sizes", "elements that changed",
          "most results of one");
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++)
    fprintf(out, "%-20s %12zu %13zu of %5zu %22llu\n", fold_ranks_name(worlds[a].algorithm), worlds[a].worlds,
            worlds[a].changed, c->elements, (unsigned long long)worlds[a].most_distinct);
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
