/* device.cu: device.h by the CUDA runtime. Each function is one runtime call, or what one question takes. */
#include "kernels/cuda/device.h"

#include <stdio.h>
#include <string.h>

#include "kernels/cuda/common.cuh"

static bool no_gpu_here(cudaError_t error) {
  return error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice;
}

extern "C" fold_status fold_device_count(int *n, char reason[FOLD_DEVICE_TEXT]) {
  *n = 0;
  reason[0] = '\0';
  cudaError_t error = cudaGetDeviceCount(n);
  if (error == cudaSuccess) return fold_ok();
  (void)cudaGetLastError();
  *n = 0;
  if (!no_gpu_here(error)) return fold_cuda_status(error, "cudaGetDeviceCount");
  /* CUDA calls its driver too old also where there is none. */
  int driver = 0;
  const bool installed = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  snprintf(reason, FOLD_DEVICE_TEXT, "no GPU here: %s (CUDA error %d)",
           installed ? cudaGetErrorString(error) : "no CUDA driver is installed", (int)error);
  return fold_ok();
}

extern "C" fold_status fold_device_select(int device) {
  FOLD_CUDA_TRY(cudaSetDevice(device));
  FOLD_CUDA_TRY(cudaFree(NULL));
  return fold_ok();
}

extern "C" fold_status fold_device_current(int *device) {
  FOLD_CUDA_TRY(cudaGetDevice(device));
  return fold_ok();
}

extern "C" fold_status fold_device_info(int device, struct fold_device_info *info) {
  memset(info, 0, sizeof *info);
  cudaDeviceProp properties;
  FOLD_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  snprintf(info->name, sizeof info->name, "%s", properties.name);
  info->major = properties.major;
  info->minor = properties.minor;
  info->sms = properties.multiProcessorCount;
  info->l2 = (size_t)properties.l2CacheSize;
  info->memory = properties.totalGlobalMem;
  FOLD_CUDA_TRY(cudaDeviceGetPCIBusId(info->pci, (int)sizeof info->pci, device));
  FOLD_CUDA_TRY(cudaDriverGetVersion(&info->driver_cuda));
  FOLD_CUDA_TRY(cudaRuntimeGetVersion(&info->runtime_cuda));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&info->clock_khz, cudaDevAttrClockRate, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&info->memory_clock_khz, cudaDevAttrMemoryClockRate, device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&info->bus_bits, cudaDevAttrGlobalMemoryBusWidth, device));
  int selected = 0;
  size_t total = 0;
  FOLD_CUDA_TRY(cudaGetDevice(&selected));
  FOLD_CUDA_TRY(cudaSetDevice(device));
  cudaError_t error = cudaMemGetInfo(&info->memory_free, &total);
  FOLD_CUDA_TRY(cudaSetDevice(selected));
  FOLD_CUDA_TRY(error);
  return fold_ok();
}

extern "C" fold_status fold_device_synchronize(void) {
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  return fold_ok();
}

extern "C" fold_status fold_device_take_error(void) { return fold_cuda_launched("left behind"); }

extern "C" fold_status fold_device_recover(void) {
  (void)cudaGetLastError();
  FOLD_CUDA_TRY(cudaDeviceSynchronize());
  return fold_ok();
}

extern "C" fold_status fold_device_alloc(void **d_out, size_t nbytes) {
  *d_out = NULL;
  if (!nbytes) return fold_ok();
  cudaError_t error = cudaMalloc(d_out, nbytes);
  if (error == cudaSuccess) return fold_ok();
  (void)cudaGetLastError();
  *d_out = NULL;
  return fold_within(fold_cuda_status(error, "cudaMalloc"), "%zu bytes of device memory", nbytes);
}

extern "C" fold_status fold_device_free(void *d_p) {
  FOLD_CUDA_TRY(cudaFree(d_p));
  return fold_ok();
}

/* A copy from memory that is not pinned may return once it is staged. A stream that does not wait for this one must not
 * see that, hence the wait. */
extern "C" fold_status fold_device_put(void *d_out, const void *in, size_t nbytes) {
  FOLD_CUDA_TRY(cudaMemcpy(d_out, in, nbytes, cudaMemcpyHostToDevice));
  FOLD_CUDA_TRY(cudaStreamSynchronize(cudaStreamLegacy));
  return fold_ok();
}

extern "C" fold_status fold_device_get(void *out, const void *d_in, size_t nbytes) {
  FOLD_CUDA_TRY(cudaMemcpy(out, d_in, nbytes, cudaMemcpyDeviceToHost));
  return fold_ok();
}

/* A copy within the device returns before it is done, hence the wait. */
extern "C" fold_status fold_device_copy(void *d_out, const void *d_in, size_t nbytes) {
  FOLD_CUDA_TRY(cudaMemcpy(d_out, d_in, nbytes, cudaMemcpyDeviceToDevice));
  FOLD_CUDA_TRY(cudaStreamSynchronize(cudaStreamLegacy));
  return fold_ok();
}

extern "C" fold_status fold_device_set(void *d_out, int byte, size_t nbytes, void *stream) {
  if (!nbytes) return fold_ok();
  FOLD_CUDA_TRY(cudaMemsetAsync(d_out, byte, nbytes, (cudaStream_t)stream));
  return fold_ok();
}

extern "C" fold_status fold_device_stream_create(void **stream) {
  *stream = NULL;
  FOLD_CUDA_TRY(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking));
  return fold_ok();
}

extern "C" fold_status fold_device_stream_synchronize(void *stream) {
  FOLD_CUDA_TRY(cudaStreamSynchronize((cudaStream_t)stream));
  return fold_ok();
}

extern "C" fold_status fold_device_stream_destroy(void *stream) {
  if (!stream) return fold_ok();
  FOLD_CUDA_TRY(cudaStreamDestroy((cudaStream_t)stream));
  return fold_ok();
}

extern "C" fold_status fold_device_event_create(void **event) {
  *event = NULL;
  FOLD_CUDA_TRY(cudaEventCreate((cudaEvent_t *)event));
  return fold_ok();
}

extern "C" fold_status fold_device_event_record(void *event, void *stream) {
  FOLD_CUDA_TRY(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
  return fold_ok();
}

extern "C" fold_status fold_device_event_elapsed(void *begin, void *end, double *seconds) {
  float ms = 0;
  *seconds = 0;
  FOLD_CUDA_TRY(cudaEventSynchronize((cudaEvent_t)end));
  FOLD_CUDA_TRY(cudaEventElapsedTime(&ms, (cudaEvent_t)begin, (cudaEvent_t)end));
  *seconds = (double)ms * 1e-3;
  return fold_ok();
}

extern "C" fold_status fold_device_event_destroy(void *event) {
  if (!event) return fold_ok();
  FOLD_CUDA_TRY(cudaEventDestroy((cudaEvent_t)event));
  return fold_ok();
}

/* Thread-local mode: what other threads call meanwhile is their business. */
extern "C" fold_status fold_device_capture_begin(void *stream) {
  FOLD_CUDA_TRY(cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal));
  return fold_ok();
}

extern "C" fold_status fold_device_capture_end(void *stream, void **graph) {
  cudaGraph_t recorded = NULL;
  *graph = NULL;
  cudaError_t error = cudaStreamEndCapture((cudaStream_t)stream, &recorded);
  const char *call = "cudaStreamEndCapture";
  if (error == cudaSuccess) {
    error = cudaGraphInstantiate((cudaGraphExec_t *)graph, recorded, 0);
    call = "cudaGraphInstantiate";
  }
  if (recorded) (void)cudaGraphDestroy(recorded);
  if (error == cudaSuccess) return fold_ok();
  (void)cudaGetLastError();
  *graph = NULL;
  return fold_cuda_status(error, call);
}

extern "C" fold_status fold_device_graph_launch(void *graph, void *stream) {
  FOLD_CUDA_TRY(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream));
  return fold_ok();
}

extern "C" fold_status fold_device_graph_destroy(void *graph) {
  if (!graph) return fold_ok();
  FOLD_CUDA_TRY(cudaGraphExecDestroy((cudaGraphExec_t)graph));
  return fold_ok();
}
