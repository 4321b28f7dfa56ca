/* mpi_library.c: finds and opens MPI's library, once a process. */
#include "mpi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* The first caller writes it; later ones only read it. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct fold_mpi calls;
} library = {.once = PTHREAD_ONCE_INIT};

static fold_status find(const char *name, void *pointer) {
  void *address = dlsym(RTLD_DEFAULT, name);
  memcpy(pointer, &address, sizeof address);
  return address ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "%s has no %s", FOLD_MPI_LIBRARY, name);
}

static fold_status find_calls(void) {
#define FIND(name) FOLD_TRY(find("MPI_" #name, &library.calls.name));
  FOLD_MPI_CALLS(FIND)
#undef FIND
  return fold_ok();
}

/* Its parts, which it opens itself, find it among the libraries of the process. By its name first: the linker knows where
 * it is on this machine, which may not be the one of the build. */
static void open_library(void) {
  const char *slash = strrchr(FOLD_MPI_LIBRARY, '/'), *name = slash ? slash + 1 : FOLD_MPI_LIBRARY;
  void *handle = dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
  if (!handle) handle = dlopen(FOLD_MPI_LIBRARY, RTLD_LAZY | RTLD_GLOBAL);
  library.status = handle ? find_calls() : fold_error(FOLD_UNSUPPORTED, "MPI's library can't be opened: %s", dlerror());
}

fold_status fold_mpi_ready(void) {
  pthread_once(&library.once, open_library);
  return library.status;
}

const struct fold_mpi *fold_mpi(void) { return &library.calls; }

#ifdef OMPI_PREDEFINED_GLOBAL
void *fold_mpi_object(const char *name) { return dlsym(RTLD_DEFAULT, name); }
#endif
