/* mpi-library.c: prints the path of the library that has MPI, for meson.build. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int (*volatile const linked)(MPI_Comm, int *) = MPI_Comm_size; /* or a linker may leave the library out */

int main(void) {
  Dl_info found;
  return !linked || !dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_size"), &found) || puts(found.dli_fname) < 0;
}
