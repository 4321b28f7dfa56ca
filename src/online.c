/* online.c: how many processors there are, for a guest that asks: a shared object finds these functions of the program before the C
 * library's, std::thread::hardware_concurrency too. They give the number of threads that a run is to take, if it has one. */
#include <sys/sysinfo.h>
#include <unistd.h>

#include "rig.h"

long __sysconf(int name); /* glibc's own name */

long sysconf(int name) {
  const bool asks = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
  return asks && fold_run_threads ? (long)fold_run_threads : __sysconf(name);
}
int get_nprocs(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
int get_nprocs_conf(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }
