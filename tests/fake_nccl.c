/* fake_nccl.c: a fake of NCCL for test_nccl.c. It gives the version in FAKE_NCCL_VERSION (packed as by ncclGetVersion)
 * if NVLink multicast is off by then; no other call succeeds. Built with FAKE_WITHOUT_SEND it lacks one function. */
#include <nccl.h>
#include <stdlib.h>
#include <string.h>

ncclResult_t ncclGetVersion(int *version) {
  const char *number = getenv("FAKE_NCCL_VERSION"), *multicast = getenv("NCCL_NVLS_ENABLE");
  if (!number || !multicast || strcmp(multicast, "0") != 0) return ncclInternalError;
  *version = atoi(number);
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  (void)result;
  return "a fake's error";
}

const char *ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  (void)id;
  return ncclInternalError;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int n, ncclUniqueId id, int rank) {
  (void)comm, (void)n, (void)id, (void)rank;
  return ncclInternalError;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  (void)comm;
  return ncclInternalError;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  (void)comm;
  return ncclInternalError;
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  (void)in, (void)out, (void)n, (void)type, (void)op, (void)comm, (void)stream;
  return ncclInternalError;
}

#ifndef FAKE_WITHOUT_SEND
ncclResult_t ncclSend(const void *in, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  (void)in, (void)n, (void)type, (void)peer, (void)comm, (void)stream;
  return ncclInternalError;
}
#endif

ncclResult_t ncclRecv(void *out, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  (void)out, (void)n, (void)type, (void)peer, (void)comm, (void)stream;
  return ncclInternalError;
}

/* nccl.h leaves their arguments open. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

ncclResult_t ncclGroupStart(void) { return ncclInternalError; }

ncclResult_t ncclGroupEnd(void) { return ncclInternalError; }
