/* test_engine_cuda.c: device memory behind engine.h, over a fake driver, which does launches and copies from pinned
 * memory only when somebody waits (fake_cuda.c). */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cuda_driver.h"
#include "model/engine.h"

enum { RING = 1 << 20, STAGING = 1 << 16, BLOCK = 2 << 20, POOL_BLOCK = 32 << 20 };
static const struct fold_engine_ops *const cuda = &fold_engine_cuda;

static void expect_ok(fold_status status) { cr_assert_eq(status.code, FOLD_OK, "%s", status.text); }

static void *take(size_t nbytes) {
  void *memory = NULL;
  expect_ok(cuda->alloc(nbytes, &memory));
  return memory;
}

static void set_pattern(unsigned char *bytes, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

/* Each call of it fails from now on; NULL: none does. */
static void let_fail(const char *name) {
  char text[80] = "";
  if (name) snprintf(text, sizeof text, "fail=%s:0:719", name);
  setenv("FAKE_CUDA", text, 1);
}

static uintptr_t fake(const char *name) {
  static void *library;
  if (!library) library = dlopen(getenv("FOLDPROOF_CUDA_DRIVER"), RTLD_NOW);
  void *found = library ? dlsym(library, name) : NULL;
  cr_assert(found, "%s", name);
  return (uintptr_t)found;
}

static void use_device(int number) {
  void *context = NULL;
  cr_assert_eq(((int (*)(void **, int))fake("cuDevicePrimaryCtxRetain"))(&context, number), 0);
  cr_assert_eq(((int (*)(void *))fake("cuCtxSetCurrent"))(context), 0);
}

static int device_in_use(void) {
  int number = -1;
  ((int (*)(int *))fake("cuCtxGetDevice"))(&number);
  return number;
}

static void begin(void) {
  setenv("FAKE_CUDA", "devices=2", 1);
  expect_ok(cuda->ready());
}

/* One after the other without a wait, each from memory that the caller uses again at once. */
Test(engine_cuda, what_is_written_is_read_back_whatever_its_size, .init = begin) {
  static const size_t sizes[] = {1, 0,    1, 255, 256,      257, STAGING,  RING - 256,   256, RING - 1,
                                 1, RING, 1, 100, RING + 1, 1,   RING / 2, RING / 2 + 1, 3};
  enum { N = sizeof sizes / sizeof *sizes };
  static unsigned char from[RING + 1], got[RING + 1];
  void *memory[N];
  for (unsigned k = 0; k < N; k++) {
    memory[k] = take(sizes[k] + 1);
    set_pattern(from, sizes[k], k);
    expect_ok(cuda->write(memory[k], from, sizes[k]));
  }
  for (unsigned k = 0; k < N; k++) {
    memset(got, 0, sizeof got);
    set_pattern(from, sizes[k], k);
    expect_ok(cuda->read(got, memory[k], sizes[k]));
    cr_expect(memcmp(got, from, sizes[k]) == 0 && (sizes[k] > RING || got[sizes[k]] == 0), "%u: %zu", k, sizes[k]);
    cuda->release(memory[k]);
  }
}

/* Streams that do not wait for the default one must find it. */
Test(engine_cuda, what_is_not_sent_from_pinned_memory_is_there_at_once, .init = begin) {
  static unsigned char from[RING + 1];
  unsigned char *memory = take(sizeof from), *other = take(sizeof from);
  set_pattern(from, sizeof from, 3);
  expect_ok(cuda->write(memory, from, sizeof from));
  cr_expect(memcmp(memory, from, sizeof from) == 0);
  expect_ok(cuda->copy(other, memory, sizeof from));
  cr_expect(memcmp(other, from, sizeof from) == 0);
  cuda->copy(other, memory, 0);
  cuda->release(memory);
  cuda->release(other);
}

Test(engine_cuda, without_pinned_memory_writes_are_waited_for_and_results_are_refused, .init = begin) {
  const unsigned char from[] = {1, 2, 3};
  unsigned char *memory = take(3), got[3];
  const struct fold_piece piece = {got, memory, 3};
  bool same = false;
  let_fail("cuMemHostAlloc");
  expect_ok(cuda->write(memory, from, 3));
  cr_expect(memcmp(memory, from, 3) == 0);
  const fold_status gathered = cuda->gather(&piece, 1), compared = cuda->same(memory, memory, 3, &same);
  cr_expect(gathered.code == FOLD_NO_MEMORY && strstr(gathered.text, "no pinned memory"), "%s", gathered.text);
  cr_expect(compared.code == FOLD_NO_MEMORY && strstr(compared.text, "no pinned memory"), "%s", compared.text);
  expect_ok(cuda->gather(NULL, 0));
}

/* Of more pieces than one launch has, and than what the host reads them from holds. */
Test(engine_cuda, pieces_are_filled_and_gathered_whole, .init = begin) {
  static const size_t sizes[] = {1,  3,  17,           70000, 0,  5,       6,           7, 8,           STAGING - 16,
                                 16, 1,  STAGING - 17, 17,    1,  STAGING, STAGING + 1, 2, STAGING / 2, STAGING / 2 + 1,
                                 9,  10, 11,           12,    13, 14,      15,          4};
  enum { N = sizeof sizes / sizeof *sizes };
  struct fold_fill fills[N];
  struct fold_piece pieces[N];
  for (unsigned k = 0; k < N; k++) {
    void *memory = take(sizes[k] + 1);
    fills[k] = (struct fold_fill){memory, (int)(0xf0 + k % 256) & 0xff, sizes[k]};
    pieces[k] = (struct fold_piece){calloc(sizes[k] + 1, 1), memory, sizes[k]};
    cr_assert(pieces[k].to_host);
  }
  for (size_t n = 1; n <= N; n += n == 1 ? 7 : 1) { /* 1, 8, 9, ... */
    for (unsigned k = 0; k < n; k++) fills[k].byte ^= 0x55;
    expect_ok(cuda->fill(fills, n));
    expect_ok(cuda->gather(pieces, n));
    for (unsigned k = 0; k < n; k++) {
      const unsigned char *got = pieces[k].to_host;
      size_t right = 0;
      while (right < sizes[k] && got[right] == (unsigned char)fills[k].byte) right++;
      cr_expect(right == sizes[k] && got[sizes[k]] == 0, "%zu pieces: %u from byte %zu", n, k, right);
    }
  }
  for (unsigned k = 0; k < N; k++) cuda->release(fills[k].at), free(pieces[k].to_host);
}

Test(engine_cuda, one_byte_that_differs_is_seen, .init = begin) {
  static const size_t sizes[] = {0, 1, 15, 16, 17, 5000, BLOCK};
  unsigned char *a = take(BLOCK), *b = take(BLOCK);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const size_t n = sizes[k], places[] = {0, n / 2, n ? n - 1 : 0, n}; /* the last one is beyond them */
    for (size_t p = 0; p < 4 && places[p] < BLOCK; p++) {
      bool same = p < 3 && n;
      memset(a, 0x11, BLOCK);
      memset(b, 0x11, BLOCK);
      b[places[p]] = 0x12;
      expect_ok(cuda->same(a, b, n, &same));
      cr_expect_eq(same, places[p] >= n, "%zu bytes, another at %zu", n, places[p]);
    }
  }
}

Test(engine_cuda, memory_that_is_not_there_is_refused, .init = begin) {
  void *memory = &memory;
  const fold_status status = cuda->alloc((size_t)5 << 30, &memory);
  cr_expect(status.code == FOLD_NO_MEMORY && strstr(status.text, "5368709120 bytes of device memory"), "%s",
            status.text);
  cr_expect_null(memory);
}

static size_t more_in_use(size_t than) { return cuda->in_use() - than; }

/* Of a pool what it has given to somebody; where it can't be asked, the blocks that it has taken from the device. */
Test(engine_cuda, memory_in_use_is_counted, .init = begin) {
  static const char *const asked[] = {"cuCtxGetDevice", "cuDeviceGetMemPool", "cuMemPoolGetAttribute"};
  uint64_t pooled;
  const size_t before = cuda->in_use();
  void *memory = take(3 << 20);
  cr_expect_eq(more_in_use(before), 2 * BLOCK);
  cr_assert_eq(((int (*)(uint64_t *, size_t, void *))fake("cuMemAllocAsync"))(&pooled, 4096, NULL), 0);
  cr_expect_eq(more_in_use(before), 2 * BLOCK + 4096);
  for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
    let_fail(asked[k]);
    cr_expect_eq(more_in_use(before), 2 * BLOCK + POOL_BLOCK, "%s", asked[k]);
  }
  let_fail("cuMemGetInfo_v2");
  cr_expect_eq(cuda->in_use(), 0);
  let_fail(NULL);
  cuda->release(memory);
  cr_expect_eq(more_in_use(before), 4096);
}

static void expect_restored(const char *name) {
  char changed[80];
  memset(changed, '?', sizeof changed); /* of a text that is empty the rest says nothing */
  changed[0] = '\0';
  cuda->restore(changed);
  cr_expect_str_eq(changed, name, "%s", changed);
  cr_expect_eq(device_in_use(), 0);
}

Test(engine_cuda, another_device_is_named_and_put_back, .init = begin) {
  char changed[80] = "the rounding mode";
  cuda->keep();
  expect_restored("");
  use_device(1);
  expect_restored("the current device, which is 1 and was 0");
  expect_restored("");
  use_device(1);
  cuda->restore(changed);
  cr_expect_str_eq(changed, "the rounding mode");
  expect_restored("");
  use_device(1);
  let_fail("cuCtxGetDevice");
  changed[0] = '\0';
  cuda->restore(changed);
  let_fail(NULL);
  cr_expect_str_eq(changed, "CUDA's current context");
  expect_restored("");
}

/* A subject that is the first to use a device has changed nothing. */
Test(engine_cuda, a_thread_that_had_no_device_keeps_the_one_that_it_has) {
  cuda->keep();
  begin();
  expect_restored("");
}

Test(engine_cuda, kernels_are_loaded_once_in_each_context, .init = begin) {
  const struct fold_fill fill = {take(1), 1, 1};
  expect_ok(cuda->fill(&fill, 1));
  let_fail("cuModuleLoadData");
  expect_ok(cuda->fill(&fill, 1));
  setenv("FAKE_CUDA", "devices=2", 1);
  use_device(1);
  let_fail("cuModuleLoadData");
  cr_expect_eq(cuda->fill(&fill, 1).code, FOLD_ENVIRONMENT);
}

static unsigned char *d_from, *d_to;
static unsigned char at_host[2 * RING];
static fold_status write_short(void) { return cuda->write(d_to, at_host, 1); }
static fold_status write_long(void) { return cuda->write(d_to, at_host, RING + 1); }
static fold_status write_twice(void) {
  FOLD_TRY(cuda->write(d_to, at_host, RING));
  return cuda->write(d_to, at_host, RING);
}
static fold_status read_some(void) { return cuda->read(at_host, d_from, 5); }
static fold_status copy_some(void) { return cuda->copy(d_to, d_from, 5); }
static fold_status fill_some(void) { return cuda->fill(&(struct fold_fill){d_to, 1, 5}, 1); }
static fold_status compare(void) {
  bool same;
  return cuda->same(d_to, d_from, 5, &same);
}
static fold_status gather(size_t nbytes) { return cuda->gather(&(struct fold_piece){at_host, d_from, nbytes}, 1); }
static fold_status gather_short(void) { return gather(5); }
static fold_status gather_long(void) { return gather(STAGING + 1); }

Test(engine_cuda, each_call_of_the_driver_that_fails_is_told, .init = begin) {
  const struct {
    fold_status (*ask)(void);
    const char *calls[4];
  } rows[] = {
      {write_short, {"cuMemcpyHtoDAsync_v2"}},
      {write_long, {"cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"}},
      {write_twice, {"cuCtxSynchronize"}},
      {read_some, {"cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}},
      {copy_some, {"cuMemcpyDtoDAsync_v2", "cuStreamSynchronize"}},
      {fill_some, {"cuLaunchKernel", "cuCtxGetCurrent"}},
      {compare, {"cuLaunchKernel", "cuCtxSynchronize"}},
      {gather_short, {"cuLaunchKernel", "cuCtxSynchronize"}},
      {gather_long, {"cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuCtxSynchronize"}},
      {fold_engine_cuda.finish, {"cuCtxSynchronize"}},
      {fold_engine_cuda.ready, {"cuCtxSetCurrent"}},
  };
  d_from = take(2 * RING);
  d_to = take(2 * RING);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    expect_ok(rows[i].ask());
    for (size_t k = 0; k < 4 && rows[i].calls[k]; k++) {
      char want[80];
      let_fail(rows[i].calls[k]);
      snprintf(want, sizeof want, "%s: a fake's error (CUDA error 719)", rows[i].calls[k]);
      const fold_status status = rows[i].ask();
      cr_expect(status.code == FOLD_ENVIRONMENT && strcmp(status.text, want) == 0, "row %zu, %s: %s", i,
                rows[i].calls[k], status.text);
      let_fail(NULL);
      expect_ok(cuda->finish());
    }
  }
}

Test(engine_cuda, an_error_is_told_by_its_call_and_number, .init = begin) {
  static const struct {
    int error;
    enum fold_code code;
    const char *text;
  } rows[] = {
      {0, FOLD_OK, ""},
      {1, FOLD_ENVIRONMENT, "cuCall: a fake's error (CUDA error 1)"},
      {2, FOLD_NO_MEMORY, "cuCall: out of memory (CUDA error 2)"},
      {209, FOLD_ENVIRONMENT, "cuCall: a fake's error (CUDA error 209); Meson's option gpu_arch says for which GPUs"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const fold_status status = fold_cuda_driver_status(rows[i].error, "cuCall(1, 2)");
    cr_expect(status.code == rows[i].code && strcmp(status.text, rows[i].text) == 0, "%zu: %s", i, status.text);
  }
}

/* The file of the kernel's module (--wrap in tests/meson.build); NULL: there is none. */
static const char *module_version;
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode) {
  if (strcmp(path, "/sys/module/nvidia/version") != 0) return __real_fopen64(path, mode);
  return module_version ? fmemopen((void *)(uintptr_t)module_version, strlen(module_version), mode) : NULL;
}

Test(engine_cuda, the_drivers_version_is_a_line_or_nothing) {
  static const char *const rows[][2] = {{"580.65.06\n", "580.65.06"}, {"580.65.06", "580.65.06"}, {NULL, ""}, {"", ""}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[64] = "?";
    module_version = rows[i][0];
    fold_cuda_driver_version(text);
    cr_expect_str_eq(text, rows[i][1], "row %zu: %s", i, text);
  }
}
