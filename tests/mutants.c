/* mutants.c: the classes of faults, and all mutants in one array. */
#include "mutants.h"

#include <stdlib.h>

#include "judge/judge.h"

static const struct mutant_class classes[] = {
    {"terms", "terms lost, taken twice or met in another order",
     "code that cuts a row into chunks, lanes and tails, and counts in 20, 24 or 32 bits", fold_mutants_terms},
    {"numbers", "the wrong arithmetic",
     "fast-math, accumulators narrower or wider than said, comparisons that forget NaN and the zeros",
     fold_mutants_numbers},
    {"memory", "results unwritten; reads and writes where nothing is the subject's",
     "vector loads and stores past an odd tail, sorting in place, a workspace one short, a grid's 65,535 blocks",
     fold_mutants_memory},
    {"kept", "what is kept from run to run", "caches by address or content, counters, memory that nobody set",
     fold_mutants_kept},
    {"launch", "bits by the number of threads, or by who comes first",
     "a partial for each thread, atomics and critical sections", fold_mutants_launch},
    {"place", "bits by where arguments lie", "peeling up to an aligned address, another path for what is not aligned",
     fold_mutants_place},
    {"batch", "bits by the number of rows, or by a row's place", "algorithms that are chosen by the shape",
     fold_mutants_batch},
    {"process", "bits by the process", "seeds of hashes, freed memory, environment variables", fold_mutants_process},
    {"environment", "arithmetic's environment left changed",
     "libraries that flush subnormals for speed, and who sets OpenMP's threads for all", fold_mutants_environment},
    {"dot", "another product than is declared, and faults in what a second input is",
     "compilers that contract, kernels that load a second operand otherwise than the first", fold_mutants_dot},
    {"matrix", "terms or results of a product of matrices that are lost, and bits that change with its size",
     "kernels that tile m, n and k, split k, or take leading dimensions from their caller", fold_mutants_matrix},
    {"scan", "results of a scan that have other terms than their own",
     "kernels that scan tiles and carry sums from one to the next", fold_mutants_scans},
    {"keyed", "results of a keyed sum that lack terms, have others', or are not written",
     "kernels that scatter, sort or segment by key", fold_mutants_keyed},
    {"integers", "integers that lose high bits or units",
     "accumulators of 32 bits or of floats, and sums that wrap in silence", fold_mutants_integers},
    {"ranks", "ranks that differ, by message, world or call", "rings, trees chosen by length, states lost on the way",
     fold_mutants_ranks},
};

const struct mutant_class *mutant_classes(size_t *n) {
  *n = sizeof classes / sizeof *classes;
  return classes;
}

const struct fold_mutant *fold_mutants(size_t *n) {
  static struct fold_mutant all[240];
  static size_t held;
  static bool whole;
  for (size_t k = 0; !whole && k < sizeof classes / sizeof *classes; k++) {
    size_t some;
    const struct fold_mutant *mutants = classes[k].mutants(&some);
    if (held + some > sizeof all / sizeof *all) abort();
    for (size_t i = 0; i < some; i++) all[held++] = mutants[i];
  }
  whole = true;
  *n = held;
  return all;
}

void fold_mutants_join(struct fold_registry *registry) {
  size_t n_host, n_broken, n_mutants;
  const struct fold_mutant *mutants = fold_mutants(&n_mutants);
  const struct fold_subject *host = fold_subjects(&n_host), *broken = fold_mutants_broken(&n_broken);
  struct fold_subject *all = calloc(n_host + n_mutants + n_broken, sizeof *all);
  if (!all) abort();
  registry->n = 0;
  for (size_t i = 0; i < n_host; i++)
    if (host[i].engine == FOLD_HOST) all[registry->n++] = host[i];
  for (size_t i = 0; i < n_mutants; i++) all[registry->n++] = mutants[i].subject;
  for (size_t i = 0; i < n_broken; i++) all[registry->n++] = broken[i];
  registry->subjects = all;
}
