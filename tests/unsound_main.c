/* unsound_main.c: the command over the registry that UNSOUND names; over none where it names none. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "unsound.h"

int main(int argc, char **argv) {
  struct fold_registry registry = {0};
  const char *kind = getenv("UNSOUND");
  size_t n;
  const struct unsound *all = unsound_registries(&n);
  for (size_t i = 0; i < n; i++)
    if (kind && strcmp(all[i].kind, kind) == 0)
      registry = (struct fold_registry){.subjects = all[i].subjects, .n = all[i].n};
  return fold_main(argc, argv, &registry);
}
