/* parts_host.c: a rank's own work in host memory: replays of the orders, and the superaccumulator. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "order.h"

/* Rank by rank as they lie, to term by term as a replay takes them. */
static fold_status combine(const struct fold_call *call, const void *slices, size_t n, void *out) {
  size_t size = fold_dtype_size(call->dtype), ranks = (size_t)call->comm->ranks;
  unsigned char *rows = malloc(n * ranks * size + 1);
  if (!rows) return fold_error(FOLD_NO_MEMORY, "not enough memory for a slice");
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < ranks; r++)
      memcpy(rows + (i * ranks + r) * size, (const unsigned char *)slices + (r * n + i) * size, size);
  struct fold_call tree = {
      .dtype = call->dtype, .op = call->op, .rows = n, .cols = ranks, .in = rows, .out = out, .launch = {.threads = 1}};
  fold_status status = fold_order_replay(fold_order_find("host/pairwise"), &tree);
  free(rows);
  return status;
}

const struct fold_parts fold_parts_host = {.combine = combine};
