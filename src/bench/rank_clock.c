/* rank_clock.c: two clocks behind one interface. */
#include "bench/rank_clock.h"

#include <stdlib.h>

#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/device.h"
#else
/* Never called: no clock is a GPU's in this build. */
static fold_status none(void) { return fold_error(FOLD_UNSUPPORTED, "this build has no CUDA"); }
#define fold_device_event_create(event) none()
#define fold_device_event_destroy(event) none()
#define fold_device_event_record(event, stream) none()
#define fold_device_event_elapsed(begin, end, seconds) none()
#endif

fold_status fold_rank_clock_open(struct fold_rank_clock *clock, bool gpu, unsigned n) {
  *clock = (struct fold_rank_clock){.gpu = gpu, .n = n};
  fold_status status = fold_ok();
  if (gpu)
    clock->event = calloc(2 * (size_t)n + 1, sizeof *clock->event);
  else
    clock->time = calloc(2 * (size_t)n + 1, sizeof *clock->time);
  if (!clock->event && !clock->time) return fold_no_memory("for a clock");
  for (unsigned i = 0; gpu && i < 2 * n && status.code == FOLD_OK; i++)
    status = fold_device_event_create(&clock->event[i]);
  if (status.code != FOLD_OK) fold_rank_clock_close(clock);
  return status;
}

void fold_rank_clock_close(struct fold_rank_clock *clock) {
  for (unsigned i = 0; clock->event && i < 2 * clock->n; i++)
    if (clock->event[i]) (void)fold_device_event_destroy(clock->event[i]);
  free(clock->event);
  free(clock->time);
  *clock = (struct fold_rank_clock){0};
}

static fold_status stamp(struct fold_rank_clock *clock, unsigned i) {
  if (clock->gpu) return fold_device_event_record(clock->event[i], NULL);
  clock->time[i] = fold_now();
  return fold_ok();
}

fold_status fold_rank_clock_begin(struct fold_rank_clock *clock, unsigned i) { return stamp(clock, 2 * i); }
fold_status fold_rank_clock_end(struct fold_rank_clock *clock, unsigned i) { return stamp(clock, 2 * i + 1); }

fold_status fold_rank_clock_read(struct fold_rank_clock *clock, unsigned i, double *seconds) {
  if (clock->gpu) return fold_device_event_elapsed(clock->event[2 * i], clock->event[2 * i + 1], seconds);
  *seconds = clock->time[2 * i + 1] - clock->time[2 * i];
  return fold_ok();
}
