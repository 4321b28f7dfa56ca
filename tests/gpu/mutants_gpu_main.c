/* mutants_gpu_main.c: foldproof-gpu-mutants: the command foldproof over all subjects and the GPU's broken ones. */
#include <stdlib.h>

#include "command/command.h"
#include "mutants_gpu.h"

int main(int argc, char **argv) {
  struct fold_registry registry;
  fold_gpu_mutants_join(&registry);
  int exit_code = fold_main(argc, argv, &registry);
  free((void *)(uintptr_t)registry.subjects);
  return exit_code;
}
