/* shared_library.c: dlopen, with a reason in one line. */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *named(const struct fold_shared_library *library) {
  const char *name = library->variable ? getenv(library->variable) : NULL;
  return name && *name ? name : NULL;
}

fold_status fold_shared_library_refuse(const struct fold_shared_library *library, const char *why) {
  const char *name = named(library);
  if (name) return fold_error(FOLD_BAD_INPUT, "%s=%.120s: %.110s", library->variable, name, why);
  return fold_error(FOLD_UNSUPPORTED, "%s%s: %.120s%s", library->before, library->usual, why, library->after);
}

/* The dynamic linker's reason, without the file name in front of it. */
static const char *why_unopened(const char *name) {
  const char *why = dlerror();
  const size_t n = strlen(name);
  if (!why) why = "cannot be opened";
  return strncmp(why, name, n) == 0 && strncmp(why + n, ": ", 2) == 0 ? why + n + 2 : why;
}

fold_status fold_shared_library_open(const struct fold_shared_library *library, void **handle) {
  const char *name = named(library) ? named(library) : library->usual;
  const int how = library->for_all ? RTLD_LAZY | RTLD_GLOBAL : RTLD_NOW | RTLD_LOCAL;
  *handle = dlopen(name, how);
  if (!*handle && name == library->usual && library->elsewhere) *handle = dlopen(name = library->elsewhere, how);
  return *handle ? fold_ok() : fold_shared_library_refuse(library, why_unopened(name));
}

fold_status fold_shared_library_find(const struct fold_shared_library *library, void *handle, const char *name,
                                     void *pointer) {
  void *address = dlsym(handle, name);
  char why[60];
  memcpy(pointer, &address, sizeof address);
  snprintf(why, sizeof why, "has no %s", name);
  return address ? fold_ok() : fold_shared_library_refuse(library, why);
}
