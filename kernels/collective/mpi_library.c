/* mpi_library.c: finds and opens MPI's library, once a process. */
#include "kernels/collective/mpi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/shared_library.h"

/* The first caller writes it; later ones only read it. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct fold_mpi calls;
} library = {.once = PTHREAD_ONCE_INIT};

/* By its name first: the linker knows where it is on this machine, which may not be the one of the build. */
static struct fold_shared_library where = {
    .before = "MPI's library: ", .after = "", .elsewhere = FOLD_MPI_LIBRARY, .for_all = true};

/* Among all libraries of the process, so that preloaded ones come first. */
static fold_status find_calls(void) {
#define FIND(name) FOLD_TRY(fold_shared_library_find(&where, RTLD_DEFAULT, "MPI_" #name, &library.calls.name));
  FOLD_MPI_CALLS(FIND)
#undef FIND
  return fold_ok();
}

static void open_library(void) {
  const char *slash = strrchr(FOLD_MPI_LIBRARY, '/');
  void *handle;
  where.usual = slash ? slash + 1 : FOLD_MPI_LIBRARY;
  library.status = fold_shared_library_open(&where, &handle);
  if (library.status.code == FOLD_OK) library.status = find_calls();
}

fold_status fold_mpi_ready(void) {
  pthread_once(&library.once, open_library);
  return library.status;
}

const struct fold_mpi *fold_mpi(void) { return &library.calls; }

#ifdef OMPI_PREDEFINED_GLOBAL
void *fold_mpi_object(const char *name) { return dlsym(RTLD_DEFAULT, name); }
#endif
