/* engine_cuda.c: device memory behind engine.h; whether a device is there, and whether it must be.
 *
 * FOLDPROOF_REQUIRE_GPUS=N turns "no GPU" from a skip into a broken environment.
 */
#include "engine_cuda.h"

#include <stdio.h>

#include "device.h"
#include "pieces.h"
#include "setting.h"

static fold_status allocate(size_t nbytes, void **memory) { return fold_device_alloc(memory, nbytes); }

/* A failure to free is a failure of an earlier launch, which `finish` has reported. */
static void release(void *memory) { (void)fold_device_free(memory); }

/* The calling thread's device before a run. */
static _Thread_local int device = -1;

/* An error that somebody else left is nobody's from here on. */
static void keep(void) {
  (void)fold_device_take_error();
  if (fold_device_current(&device).code != FOLD_OK) device = -1;
}

static void restore(char changed[80]) {
  int now = device;
  fold_status error = fold_device_take_error();
  if (error.code != FOLD_OK && !changed[0]) snprintf(changed, 80, "CUDA's last error: %.58s", error.text);
  if (device < 0 || fold_device_current(&now).code != FOLD_OK || now == device) return;
  if (!changed[0]) snprintf(changed, 80, "the current device, which is %d and was %d", now, device);
  (void)fold_device_select(device); /* whose failure the next call reports */
}

static const struct fold_engine_ops ops = {
    .alloc = allocate,
    .release = release,
    .write = fold_pieces_put,
    .read = fold_device_get,
    .gather = fold_pieces_gather,
    .fill = fold_pieces_fill,
    .copy = fold_device_copy,
    .same = fold_pieces_same,
    .finish = fold_device_synchronize,
    .keep = keep,
    .restore = restore,
    .is_host = false,
};

const struct fold_engine_ops *fold_engine_cuda(void) { return &ops; }

fold_status fold_engine_cuda_count(int *n, char reason[FOLD_DEVICE_TEXT]) {
  unsigned required;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_REQUIRE_GPUS, 0, &required));
  FOLD_TRY(fold_device_count(n, reason));
  if (*n >= (int)required) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "FOLDPROOF_REQUIRE_GPUS=%u, but there are %d GPUs%s%s", required, *n,
                    reason[0] ? ": " : "", reason);
}

fold_status fold_engine_cuda_ready(void) {
  int n = 0;
  char reason[FOLD_DEVICE_TEXT] = "";
  FOLD_TRY(fold_engine_cuda_count(&n, reason));
  if (n == 0) return fold_error(FOLD_UNSUPPORTED, "%s", reason);
  return fold_device_select(0);
}
