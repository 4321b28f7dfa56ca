/* device.h: the GPU as C code sees it: devices, memory, streams, events and graphs, with no CUDA header.
 *
 * Promised: every failure comes back as a status that names the call and has CUDA's own words and number. Running out
 * of device memory is FOLD_NO_MEMORY, everything else FOLD_ENVIRONMENT. "No GPU here" (error 35, no driver; error 100,
 * no device) is no failure: fold_device_count answers 0 and says why. Streams, events and graphs travel as void *; a
 * NULL stream is the default stream. Users: the runner, the bench and the GPU suite.
 */
#ifndef FOLD_DEVICE_H
#define FOLD_DEVICE_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_device_info {
  char name[256];                            /* "NVIDIA H200" */
  char pci[32];                              /* "0000:17:00.0" */
  int driver_cuda;                           /* the CUDA version that the driver supports, 13000 for 13.0 */
  int runtime_cuda;                          /* the CUDA runtime that this build links */
  int major, minor;                          /* compute capability */
  int sms;                                   /* multiprocessors */
  size_t l2;                                 /* bytes */
  size_t memory;                             /* bytes in all */
  size_t memory_free;                        /* bytes free now */
  int clock_khz, memory_clock_khz, bus_bits; /* 0 if CUDA does not tell */
};

#define FOLD_DEVICE_TEXT 160

/* How many devices there are; with 0 and FOLD_OK, `reason` says why there is none. */
fold_status fold_device_count(int *n, char reason[FOLD_DEVICE_TEXT]);
/* Makes `device` the calling thread's, and opens its context, so that a device that cannot be used fails here. */
fold_status fold_device_select(int device);
fold_status fold_device_current(int *device); /* the device of the calling thread */
fold_status fold_device_info(int device, struct fold_device_info *info);

/* Waits for all work; reports an error of an earlier kernel. */
fold_status fold_device_synchronize(void);
/* Returns and clears the last error of the calling thread's calls that was not fetched yet. */
fold_status fold_device_take_error(void);
/* Forgets an error that is not sticky. FOLD_OK means that the context lives and further calls make sense. */
fold_status fold_device_recover(void);

/* Device memory, aligned to 256 bytes. 0 bytes give NULL; NULL may be freed. */
fold_status fold_device_alloc(void **d_out, size_t nbytes);
fold_status fold_device_free(void *d_p);
/* Copies host to device, device to host, device to device; complete on return. They wait for the default stream;
 * synchronise any other one first. */
fold_status fold_device_put(void *d_out, const void *in, size_t nbytes);
fold_status fold_device_get(void *out, const void *d_in, size_t nbytes);
fold_status fold_device_copy(void *d_out, const void *d_in, size_t nbytes);
/* Sets each byte, asynchronously in `stream`. */
fold_status fold_device_set(void *d_out, int byte, size_t nbytes, void *stream);

fold_status fold_device_stream_create(void **stream);
fold_status fold_device_stream_synchronize(void *stream);
fold_status fold_device_stream_destroy(void *stream);

fold_status fold_device_event_create(void **event);
fold_status fold_device_event_record(void *event, void *stream);
/* Waits for `end`, then gives the seconds from `begin` to it. */
fold_status fold_device_event_elapsed(void *begin, void *end, double *seconds);
fold_status fold_device_event_destroy(void *event);

/* Work enqueued in `stream` (not the default one) between begin and end is recorded, not run. `end` always closes the
 * recording; it fails if something enqueued cannot be recorded (a call that allocates or waits). */
fold_status fold_device_capture_begin(void *stream);
fold_status fold_device_capture_end(void *stream, void **graph);
fold_status fold_device_graph_launch(void *graph, void *stream);
fold_status fold_device_graph_destroy(void *graph);

#ifdef __cplusplus
}
#endif
#endif
