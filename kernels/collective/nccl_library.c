/* nccl_library.c: finds and opens NCCL's library, once a process. */
#include "kernels/collective/nccl_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_library.h"

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 14, 0)
#error "foldproof needs the header of NCCL 2.14 or newer; build with -Dnccl=disabled to go without"
#endif

static const struct fold_shared_library where = {.variable = "FOLDPROOF_NCCL",
                                                 .usual = "libnccl.so.2",
                                                 .before = "",
                                                 .after = " (FOLDPROOF_NCCL may name another library)"};

/* The first caller writes it; later ones only read it. */
static struct {
  pthread_once_t once;
  fold_status status;
  struct fold_nccl calls;
  char version[64], file[4096];
} library = {.once = PTHREAD_ONCE_INIT};

/* A version number as NCCL encodes it; before 2.9 it had one digit for the minor version. */
struct version {
  int major, minor, patch;
};
static struct version unpack(int number) {
  if (number < 10000) return (struct version){number / 1000, number / 100 % 10, number % 100};
  return (struct version){number / 10000, number / 100 % 100, number % 100};
}

/* Checks the version before any other function is called: those of another NCCL may take other arguments. */
static fold_status check_version(void) {
  int number = 0;
  char why[100];
  if (library.calls.GetVersion(&number) != ncclSuccess)
    return fold_shared_library_refuse(&where, "its ncclGetVersion failed");
  struct version v = unpack(number);
  if (v.major != 2 || v.minor < 14) {
    snprintf(why, sizeof why, "is NCCL %d.%d.%d; needed is NCCL 2, from 2.14 on", v.major, v.minor, v.patch);
    return fold_shared_library_refuse(&where, why);
  }
  snprintf(library.version, sizeof library.version, "NCCL %d.%d.%d", v.major, v.minor, v.patch);
  return fold_ok();
}

static fold_status find_calls(void *handle) {
  FOLD_TRY(fold_shared_library_find(&where, handle, "ncclGetVersion", &library.calls.GetVersion));
  FOLD_TRY(check_version());
#define FIND(name) FOLD_TRY(fold_shared_library_find(&where, handle, "nccl" #name, &library.calls.name));
  FOLD_NCCL_CALLS(FIND)
#undef FIND
  return fold_ok();
}

/* NVLink multicast stays off in every process that has NCCL: what it adds varies from call to call. NCCL reads its
 * variables later, when the first comm is made. */
static void open_library(void) {
  void *handle;
  struct link_map *map = NULL;
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  library.status = fold_shared_library_open(&where, &handle);
  if (library.status.code == FOLD_OK) library.status = find_calls(handle);
  if (library.status.code != FOLD_OK) return;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map) snprintf(library.file, sizeof library.file, "%s", map->l_name);
}

fold_status fold_nccl_ready(void) {
  pthread_once(&library.once, open_library);
  return library.status;
}

const struct fold_nccl *fold_nccl(void) { return &library.calls; }

void fold_nccl_version(char text[64]) {
  snprintf(text, 64, "%s", fold_nccl_ready().code == FOLD_OK ? library.version : "no NCCL");
}

const char *fold_nccl_file(void) { return fold_nccl_ready().code == FOLD_OK ? library.file : ""; }
