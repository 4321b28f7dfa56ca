/* fuzz_npy.c: any bytes as a .npy file: refused, or read whole. */
#include "fixtures/npy.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *path = fuzz_file(bytes, n);
  struct fold_npy npy;
  if (fold_npy_open(path, &npy).code != FOLD_OK) return 0;
  void *data = malloc(npy.rows * npy.cols * fold_dtype_size(npy.dtype) + 1);
  if (data && fold_npy_read(path, &npy, data).code != FOLD_OK) abort();
  free(data);
  return 0;
}
