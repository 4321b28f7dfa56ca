/* mpi_library.h: MPI's functions and handles; the library is opened when the first of them is needed.
 *
 * It is the library that the build was made with. To load it takes twice as long as all else that foldproof does before
 * main, and most of its processes need none. What is preloaded comes before it, as if it were linked.
 * Depends on it: comm_mpi.c.
 */
#ifndef FOLD_MPI_LIBRARY_H
#define FOLD_MPI_LIBRARY_H

#include <mpi.h>

#include "base/fold.h"

#define FOLD_MPI_CALLS(X) \
  X(Allgather)            \
  X(Allgatherv)           \
  X(Allreduce)            \
  X(Alltoallv)            \
  X(Bcast)                \
  X(Comm_create_group)    \
  X(Comm_free)            \
  X(Comm_group)           \
  X(Comm_rank)            \
  X(Comm_set_errhandler)  \
  X(Comm_size)            \
  X(Comm_split_type)      \
  X(Error_string)         \
  X(Finalize)             \
  X(Get_library_version)  \
  X(Group_free)           \
  X(Group_range_incl)     \
  X(Init_thread)          \
  X(Iprobe)

/* The functions have the types of mpi.h's own prototypes, so that a call that does not fit does not compile. */
struct fold_mpi {
#define FOLD_MPI_MEMBER(name) __typeof__(MPI_##name) *name;
  FOLD_MPI_CALLS(FOLD_MPI_MEMBER)
#undef FOLD_MPI_MEMBER
};

/* Opens the library at the first call in a process; every call returns what came of that: FOLD_UNSUPPORTED if there is no
 * such library, or if it has not all functions. */
fold_status fold_mpi_ready(void);
/* The library's functions. Only call it if fold_mpi_ready is OK. */
const struct fold_mpi *fold_mpi(void);

/* Open MPI's handles are addresses of objects in its library; other MPIs' are numbers. Each place asks once. */
#ifdef OMPI_PREDEFINED_GLOBAL
void *fold_mpi_object(const char *name);
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object)        \
  __extension__({                                   \
    static type handle;                             \
    if (!handle) handle = fold_mpi_object(#object); \
    handle;                                         \
  })
#endif

#endif
