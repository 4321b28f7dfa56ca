/* main.c: the command foldproof over the registry of all kernels. */
#include "command/command.h"

int main(int argc, char **argv) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  return fold_main(argc, argv, &registry);
}
