/* mutants_main.c: foldproof-mutants: the command foldproof over the host's subjects and all that are broken. */
#include <stdlib.h>

#include "command.h"
#include "mutants.h"

int main(int argc, char **argv) {
  struct fold_registry registry;
  fold_mutants_join(&registry);
  int exit_code = fold_main(argc, argv, &registry);
  free((void *)(uintptr_t)registry.subjects);
  return exit_code;
}
