/* mpi_shim.c: makes MPI wrong, slow to pass messages on, or of another version; it is put before the real library by
 * LD_PRELOAD.
 *
 * SHIM says what it does to MPI_Allreduce of numbers: "zeros" gives zeros for every max and min, "last" puts a number
 * of its own in the last place of those, "sums" makes every sum half as large again, "rank_1" gives rank 1 that number
 * in the first place, "turns" makes every other call's sums half as large again on all ranks, "by_world" adds the
 * number of ranks to every sum. SHIM_RECORD does the same, but only in the process `foldproof record` (the new process
 * of fresh_process) and its ranks. SHIM_VERSION is the library's version.
 *
 * "leaves" gives right results, but its MPI_Allreduce of 64-bit integers returns on every rank but 0 before all
 * messages are passed on; these move within later calls, and rank 0 waits for them. MPI itself may do this. With
 * "leaves_for_good" MPI_Iprobe moves no message either.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before main, so that the ranks that `record` starts inherit it. */
__attribute__((constructor)) static void choose(void) {
  char line[4096] = "";
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
  if (file) fclose(file);
  const char *of_record = getenv("SHIM_RECORD"), *word = line + strlen(line) + 1;
  if (of_record && word < line + n && strcmp(word, "record") == 0) setenv("SHIM", of_record, 1);
}

/* out[at] times `factor`, plus `more`. */
static void spoil(void *out, int at, MPI_Datatype type, float factor, float more) {
  if (type == MPI_FLOAT)
    ((float *)out)[at] = (factor ? ((float *)out)[at] * factor : 0) + more;
  else
    ((double *)out)[at] = (factor ? ((double *)out)[at] * factor : 0) + more;
}

static bool shim_is(const char *what) {
  const char *how = getenv("SHIM");
  return how && strcmp(how, what) == 0;
}

/* A barrier for which rank 0 alone waits. It comes last, when the others have left and have yet to pass the barrier on. There
 * is one at a time, and it is over before its comm goes. */
static MPI_Request passing = MPI_REQUEST_NULL;

static void leave(MPI_Comm comm, int rank) {
  if (rank == 0) usleep(50000);
  PMPI_Ibarrier(comm, &passing);
  if (rank == 0) PMPI_Wait(&passing, MPI_STATUS_IGNORE);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *found, MPI_Status *status) {
  *found = 0;
  return shim_is("leaves_for_good") ? MPI_SUCCESS : PMPI_Iprobe(source, tag, comm, found, status);
}

int MPI_Comm_free(MPI_Comm *comm) {
  PMPI_Wait(&passing, MPI_STATUS_IGNORE);
  return PMPI_Comm_free(comm);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const char *how = getenv("SHIM");
  PMPI_Wait(&passing, MPI_STATUS_IGNORE);
  int rank, result = PMPI_Allreduce(in, out, n, type, op, comm);
  PMPI_Comm_rank(comm, &rank);
  if (type == MPI_INT64_T && (shim_is("leaves") || shim_is("leaves_for_good"))) leave(comm, rank);
  if (!how || result != MPI_SUCCESS || n == 0 || (type != MPI_FLOAT && type != MPI_DOUBLE)) return result;
  int extreme = op == MPI_MAX || op == MPI_MIN;
  if (extreme && strcmp(how, "zeros") == 0) memset(out, 0, (size_t)n * (type == MPI_FLOAT ? 4 : 8));
  if (extreme && strcmp(how, "last") == 0) spoil(out, n - 1, type, 0, 12345);
  if (strcmp(how, "rank_1") == 0 && rank == 1) spoil(out, 0, type, 0, 12345);
  static unsigned calls; /* every rank of a world makes the same calls */
  int ranks, turn = shim_is("turns") && calls++ % 2;
  PMPI_Comm_size(comm, &ranks);
  for (int i = 0; i < n && op == MPI_SUM && (turn || shim_is("sums")); i++) spoil(out, i, type, 1.5f, 0);
  for (int i = 0; i < n && op == MPI_SUM && shim_is("by_world"); i++) spoil(out, i, type, 1, (float)ranks);
  return result;
}

/* "ends_late": rank 0 takes half a second longer, and then dies if another rank has ended meanwhile. A launcher that learns of that end
 * before it learns of the rank's Finalize ends all ranks. */
int MPI_Finalize(void) {
  enum { MOST = 64 };
  int rank, ranks, pids[MOST] = {0}, own = getpid();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (shim_is("ends_late") && ranks <= MOST) PMPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  const int result = PMPI_Finalize();
  if (!shim_is("ends_late") || rank != 0) return result;
  usleep(500000);
  for (int r = 1; r < ranks && r < MOST; r++)
    if (kill(pids[r], 0) != 0) raise(SIGKILL);
  return result;
}

int MPI_Get_library_version(char *version, int *n) {
  const char *other = getenv("SHIM_VERSION");
  if (other == NULL) return PMPI_Get_library_version(version, n);
  *n = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "%s, a test's", other);
  return MPI_SUCCESS;
}
