/* test_gpu_mutants.c: each GPU mutant is refuted by the claims that it breaks, and by nothing else; controls hold. */
#include "gpu.h"
#include "mutants_expect.h"
#include "mutants_gpu.h"

Test(gpu_mutants, each_is_refuted_by_what_it_breaks_and_by_nothing_else) {
  gpu_open();
  struct fold_registry registry;
  fold_gpu_mutants_join(&registry);
  size_t n;
  const struct fold_mutant *mutants = fold_gpu_mutants(&n);
  for (size_t i = 0; i < n; i++) expect_mutant(&registry, &mutants[i]);
  free((void *)(uintptr_t)registry.subjects);
}

/* Needs no GPU. */
Test(gpu_mutants, each_breaks_a_claim_that_it_makes_and_keeps_another) {
  size_t n;
  const struct fold_mutant *mutants = fold_gpu_mutants(&n);
  cr_expect_geq(expect_table(mutants, n), 20, "%zu mutants", n);
}
