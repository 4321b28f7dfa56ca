/* collective_reach.cu: makes a rank's room, shows it to the others, opens theirs, and frees it.
 *
 * Threads of one process: the room is mapped for the ranks' GPUs and no others (cuMemSetAccess), and not by
 * cudaDeviceEnablePeerAccess: that would map all memory of a GPU, and have each later cudaMalloc and cudaFree wait for
 * GPUs whose kernels may be waiting for this rank. Processes: cudaMalloc, cudaIpcGetMemHandle, cudaIpcOpenMemHandle.
 */
#include "kernels/collective/collective_reach.cuh"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/setting.h"

/* The driver's functions, found at run time: the program links no libcuda, for it starts where there is no driver. */
struct driver {
  CUresult(CUDAAPI *granularity)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags);
  CUresult(CUDAAPI *reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
  CUresult(CUDAAPI *create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
  CUresult(CUDAAPI *map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
  CUresult(CUDAAPI *access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
  CUresult(CUDAAPI *unmap)(CUdeviceptr, size_t);
  CUresult(CUDAAPI *release)(CUmemGenericAllocationHandle);
  CUresult(CUDAAPI *free_address)(CUdeviceptr, size_t);
};

template <class F>
static fold_status find(const char *name, F *function) {
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  FOLD_CUDA_TRY(cudaGetDriverEntryPointByVersion(name, (void **)function, 12000, cudaEnableDefault, &found));
#else
  FOLD_CUDA_TRY(cudaGetDriverEntryPoint(name, (void **)function, cudaEnableDefault, &found));
#endif
  if (found == cudaDriverEntryPointSuccess) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "the driver has no %s", name);
}

static fold_status find_driver(struct driver *driver) {
  FOLD_TRY(find("cuMemGetAllocationGranularity", &driver->granularity));
  FOLD_TRY(find("cuMemAddressReserve", &driver->reserve));
  FOLD_TRY(find("cuMemCreate", &driver->create));
  FOLD_TRY(find("cuMemMap", &driver->map));
  FOLD_TRY(find("cuMemSetAccess", &driver->access));
  FOLD_TRY(find("cuMemUnmap", &driver->unmap));
  FOLD_TRY(find("cuMemRelease", &driver->release));
  return find("cuMemAddressFree", &driver->free_address);
}

static fold_status driver_status(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "%s: driver error %d", call, (int)result);
}
#define DRIVER_TRY(call, name) FOLD_TRY(driver_status(call, name))

static void release_mapped(struct fold_comm_reach *reach) {
  struct driver driver;
  const CUdeviceptr at = (CUdeviceptr)reach->view.room[reach->view.rank];
  if (!at || find_driver(&driver).code != FOLD_OK) return;
  if (reach->allocation) {
    driver.unmap(at, reach->nbytes);
    driver.release(reach->allocation);
  }
  driver.free_address(at, reach->nbytes);
}

/* Makes room for all of it on the current device, writable by the devices of all cards. If something fails,
 * release_mapped frees what was made so far. */
static fold_status make_mapped(struct fold_comm_reach *reach, const struct fold_reach_card cards[]) {
  struct driver driver;
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle handle = 0;
  size_t unit = 0;
  FOLD_TRY(find_driver(&driver));
  CUmemAllocationProp property = {};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  property.location.id = cards[reach->view.rank].device;
  DRIVER_TRY(driver.granularity(&unit, &property, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
             "cuMemGetAllocationGranularity");
  reach->nbytes = (sizeof(struct reach_room) + unit - 1) / unit * unit;
  DRIVER_TRY(driver.reserve(&at, reach->nbytes, unit, 0, 0), "cuMemAddressReserve");
  reach->view.room[reach->view.rank] = (struct reach_room *)at;
  DRIVER_TRY(driver.create(&handle, reach->nbytes, &property, 0), "cuMemCreate");
  fold_status status = driver_status(driver.map(at, reach->nbytes, 0, handle, 0), "cuMemMap");
  if (status.code != FOLD_OK) {
    driver.release(handle);
    return status;
  }
  reach->allocation = handle;
  CUmemAccessDesc access[FOLD_REACH_MOST];
  size_t devices = 0;
  for (int r = 0; r < reach->view.ranks; r++) {
    bool named = false;
    for (int q = 0; q < r; q++) named |= cards[q].device == cards[r].device;
    if (named) continue;
    access[devices].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[devices].location.id = cards[r].device;
    access[devices++].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  return driver_status(driver.access(at, reach->nbytes, access, devices), "cuMemSetAccess");
}

static fold_status make_allocated(struct fold_comm_reach *reach, struct fold_reach_card *own) {
  cudaIpcMemHandle_t handle;
  static_assert(sizeof handle == sizeof own->handle, "a handle fits a card");
  FOLD_CUDA_TRY(cudaMalloc(&reach->view.room[reach->view.rank], sizeof(struct reach_room)));
  FOLD_CUDA_TRY(cudaIpcGetMemHandle(&handle, reach->view.room[reach->view.rank]));
  memcpy(own->handle, &handle, sizeof handle);
  return fold_ok();
}

/* A number of the machine since it was booted; processes with the same number share a kernel. */
static uint64_t host_number(void) {
  char text[64] = "";
  uint64_t number = 14695981039346656037ull; /* FNV-1a */
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file) return 0;
  if (!fgets(text, sizeof text, file)) text[0] = '\0';
  fclose(file);
  for (const char *c = text; *c; c++) number = (number ^ (unsigned char)*c) * 1099511628211ull;
  return number;
}

/* Whether all blocks of a grid fit on the device at once: each waits for its counterpart on the other GPUs. */
static bool fits(int device) {
  int sms = 0, threads = 0;
  if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return false;
  if (cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) != cudaSuccess) return false;
  return sms * REACH_RESIDENT >= REACH_BLOCKS && threads >= REACH_RESIDENT * REACH_THREADS &&
         sms * (threads / REACH_LINE_THREADS) >= REACH_LINE_BLOCKS;
}

extern "C" fold_status fold_reach_introduce(struct fold_reach_card *own) {
  unsigned peer;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_PEER, 1, &peer));
  memset(own, 0, sizeof *own);
  own->host = host_number();
  own->process = getpid();
  FOLD_CUDA_TRY(cudaGetDevice(&own->device));
  own->willing = peer != 0 && own->host != 0 && fits(own->device);
  return fold_ok();
}

/* Whether two ranks have different GPUs, or have arranged to share one. Otherwise they would wait for blocks that find
 * no room there. */
static bool apart(const struct fold_reach_card *a, const struct fold_reach_card *b) {
  return a->process != b->process || a->device != b->device || (a->shares_gpu && b->shares_gpu);
}

/* Whether the ranks can reach each other. All ranks get the same answer, because they have the same cards. */
static bool can_reach(int ranks, const struct fold_reach_card cards[], bool *threads) {
  bool near = ranks >= 2 && ranks <= FOLD_REACH_MOST;
  int alike = 0;
  for (int r = 0; near && r < ranks; r++) {
    near = cards[r].willing && cards[r].host == cards[0].host;
    for (int q = 0; q < r; q++) {
      alike += cards[q].process == cards[r].process;
      near &= apart(&cards[q], &cards[r]);
    }
  }
  *threads = alike == ranks * (ranks - 1) / 2;
  return near && (*threads || alike == 0);
}

static fold_status load_code(void) {
  FOLD_TRY(reach_load_tree());
  return reach_load_words();
}

static fold_status make_room(struct fold_comm_reach *reach, const struct fold_reach_card cards[],
                             struct fold_reach_card *own) {
  FOLD_TRY(reach->threads ? make_mapped(reach, cards) : make_allocated(reach, own));
  own->place = (uint64_t)(uintptr_t)reach->view.room[reach->view.rank];
  FOLD_TRY(load_code());
  FOLD_CUDA_TRY(cudaMemset(reach->view.room[reach->view.rank], 0, sizeof(struct reach_room)));
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  return fold_ok();
}

extern "C" fold_status fold_reach_open(struct fold_comm_reach **out, int rank, int ranks,
                                       const struct fold_reach_card cards[], struct fold_reach_card *own) {
  bool threads = false;
  *out = NULL;
  if (!can_reach(ranks, cards, &threads)) {
    own->willing = 0;
    return fold_ok();
  }
  struct fold_comm_reach *reach = (struct fold_comm_reach *)calloc(1, sizeof *reach);
  if (!reach) return fold_no_memory("for a communicator");
  reach->view.rank = rank;
  reach->view.ranks = ranks;
  reach->threads = threads;
  own->willing = make_room(reach, cards, own).code == FOLD_OK;
  *out = reach;
  return fold_ok();
}

static fold_status open_other(struct fold_comm_reach *reach, int r, const struct fold_reach_card *card) {
  void *at = NULL;
  cudaIpcMemHandle_t handle;
  if (reach->threads) {
    reach->view.room[r] = (struct reach_room *)(uintptr_t)card->place;
    return fold_ok();
  }
  memcpy(&handle, card->handle, sizeof handle);
  FOLD_CUDA_TRY(cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess));
  reach->view.room[r] = (struct reach_room *)at;
  reach->opened[r] = true;
  return fold_ok();
}

extern "C" fold_status fold_reach_meet(struct fold_comm_reach *reach, const struct fold_reach_card cards[],
                                       struct fold_reach_card *own) {
  for (int r = 0; r < reach->view.ranks; r++) own->willing = own->willing && cards[r].willing;
  for (int r = 0; own->willing && r < reach->view.ranks; r++)
    if (r != reach->view.rank) own->willing = open_other(reach, r, &cards[r]).code == FOLD_OK;
  return fold_ok();
}

extern "C" void fold_reach_close(struct fold_comm_reach *reach) {
  if (!reach) return;
  for (int r = 0; r < reach->view.ranks; r++)
    if (reach->opened[r]) (void)cudaIpcCloseMemHandle(reach->view.room[r]);
  if (reach->threads)
    release_mapped(reach);
  else
    (void)cudaFree(reach->view.room[reach->view.rank]);
  (void)cudaGetLastError();
  free(reach);
}

extern "C" fold_status fold_reach_tree(const struct fold_comm_reach *reach, const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block || call->launch.blocks > REACH_BLOCKS)
    return fold_error(FOLD_UNSUPPORTED, "the tree over ranks takes up to %d blocks, and their threads as they are",
                      REACH_BLOCKS);
  if (call->rows == 0) return fold_ok();
  return reach_tree(reach, call);
}
