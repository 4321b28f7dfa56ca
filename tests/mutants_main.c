/* mutants_main.c: foldproof-mutants: the command foldproof over the host's subjects and all broken ones. It has one
 * more command, `faults`, which lists the mutants by class of fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "mutants.h"

static int list_faults(void) {
  size_t n, n_mutants;
  const struct mutant_class *classes = mutant_classes(&n);
  for (size_t k = 0; k < n; k++) {
    const struct fold_mutant *mutants = classes[k].mutants(&n_mutants);
    printf("%s: %s\n    made by %s\n", classes[k].name, classes[k].what, classes[k].who);
    for (size_t i = 0; i < n_mutants; i++) printf("    %-34s %s\n", mutants[i].subject.name, mutants[i].subject.about);
  }
  return fflush(stdout) == 0 ? 0 : 99;
}

int main(int argc, char **argv) {
  struct fold_registry registry;
  if (argc == 2 && strcmp(argv[1], "faults") == 0) return list_faults();
  fold_mutants_join(&registry);
  int exit_code = fold_main(argc, argv, &registry);
  free((void *)(uintptr_t)registry.subjects);
  return exit_code;
}
