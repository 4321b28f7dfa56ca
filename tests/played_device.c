/* played_device.c: see played_device.h. */
#include "played_device.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "rig/private.h"

/* The system's own, for starve.h takes the others' place: a device's memory is never short with the host's. */
void *__real_mmap64(void *at, size_t n, int access, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t n);
int __real_mprotect(void *at, size_t n, int access);

/* ---- the device ---- */

enum { PAGE = 4096 };

struct played_device device;

void device_open(int access) {
  for (size_t i = 0; i < MOST; i++)
    if (device.memory[i].at) __real_mprotect(device.memory[i].at, device.memory[i].bytes, access);
}

static void compute(const struct fold_subject *subject, const struct fold_call *call);

void device_drain(void) {
  device_open(PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < device.waiting; i++) {
    struct task *t = &device.queue[i];
    if (t->subject)
      compute(t->subject, &t->call);
    else
      memset(t->fill.at, t->fill.byte, t->fill.nbytes);
  }
  device.waiting = 0;
}

/* Before each of the device's calls, and after it. */
static fold_status begin(void) {
  device.calls++;
  device_drain();
  cr_assert_eq(device.state, 0, "a call in a state that a subject left");
  return device.calls == device.fails_in ? fold_error(FOLD_ENVIRONMENT, "call %u failed", device.calls) : fold_ok();
}
static fold_status end(void) { return device_open(PROT_NONE), fold_ok(); }

static fold_status device_alloc(size_t nbytes, void **memory) {
  size_t free_place = 0, held = 0;
  if (nbytes < (size_t)2 * FOLD_RIG_GUARD)
    device.calls--; /* of no room: a copy that need not be kept, and never fails */
  FOLD_TRY(begin());
  for (size_t i = 0; i < MOST; i++) held += device.memory[i].bytes;
  while (free_place < MOST - 1 && device.memory[free_place].at) free_place++;
  size_t bytes = (nbytes + PAGE - 1) / PAGE * PAGE;
  if (nbytes == 0 || (device.most_bytes && held + bytes > device.most_bytes))
    return end(), fold_error(FOLD_NO_MEMORY, "no memory for %zu bytes", nbytes);
  *memory = __real_mmap64(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(*memory != MAP_FAILED && !device.memory[free_place].at);
  memset(*memory, 0x5c, bytes);
  device.memory[free_place].at = *memory;
  device.memory[free_place].bytes = bytes;
  return end();
}

static void device_release(void *memory) {
  device_drain();
  size_t i = 0;
  while (i < MOST - 1 && device.memory[i].at != memory) i++;
  cr_assert(memory && device.memory[i].at == memory, "what was not taken is given back");
  __real_munmap(memory, device.memory[i].bytes);
  device.memory[i].at = NULL;
  device.memory[i].bytes = 0;
  end();
}

static fold_status device_write(void *to, const void *from_host, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to, from_host, nbytes);
  return end();
}

static fold_status device_read(void *to_host, const void *from, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to_host, from, nbytes);
  device.read += nbytes;
  return end();
}

static fold_status device_gather(const struct fold_piece *pieces, size_t n) {
  FOLD_TRY(begin());
  for (size_t i = 0; i < n; i++) memcpy(pieces[i].to_host, pieces[i].from, pieces[i].nbytes);
  return end();
}

static fold_status device_fill(const struct fold_fill *fills, size_t n) {
  FOLD_TRY(begin());
  for (size_t i = 0; i < n; i++) {
    cr_expect(fills[i].at && fills[i].nbytes > 0, "a fill of nothing");
    device.queue[device.waiting++] = (struct task){.fill = fills[i]};
  }
  return end();
}

static fold_status device_copy(void *to, const void *from, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to, from, nbytes);
  return end();
}

static fold_status device_same(const void *a, const void *b, size_t nbytes, bool *same) {
  FOLD_TRY(begin());
  *same = memcmp(a, b, nbytes) == 0;
  return end();
}

static fold_status device_finish(void) {
  FOLD_TRY(begin());
  return end();
}

static void device_keep(void) { device.kept_state = device.state; }

static void device_restore(char changed[80]) {
  if (device.state == device.kept_state) return;
  strcpy(changed, "the device's state");
  device.state = device.kept_state;
}

static fold_status host_alloc(size_t nbytes, void **memory) {
  *memory = aligned_alloc(256, (nbytes + 255) / 256 * 256);
  return *memory ? fold_ok() : fold_error(FOLD_NO_MEMORY, "no memory");
}

const struct fold_engine_ops *fold_engine_of(enum fold_engine engine) {
  static const struct fold_engine_ops host = {.alloc = host_alloc, .is_host = true};
  static const struct fold_engine_ops ops = {.alloc = device_alloc,
                                             .release = device_release,
                                             .write = device_write,
                                             .read = device_read,
                                             .gather = device_gather,
                                             .fill = device_fill,
                                             .copy = device_copy,
                                             .same = device_same,
                                             .finish = device_finish,
                                             .keep = device_keep,
                                             .restore = device_restore};
  return engine == FOLD_HOST ? &host : engine == FOLD_CUDA ? &ops : NULL;
}

fold_status fold_engine_ready(enum fold_engine engine) { return (void)engine, fold_ok(); }

size_t count_memory(void) {
  size_t n = 0;
  for (size_t i = 0; i < MOST; i++) n += device.memory[i].at != NULL;
  return n;
}

/* ---- subjects on it ---- */

fold_run *method_run;
ptrdiff_t aside;
size_t scratch_bytes = 5000;
struct played_seen seen;

static double sum_of(const struct fold_call *call, size_t row) {
  double sum = 0;
  for (size_t i = 0; i < call->cols; i++)
    sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], row * call->cols + i));
  return sum;
}

static bool is_wrong(enum fault fault, const struct fold_call *call) {
  return (fault == AT_7_BLOCKS && call->launch.blocks == 7) || (fault == AT_128_THREADS && call->launch.block == 128) ||
         (fault == AT_AN_ADDRESS && (uintptr_t)call->in[0] % 64 == 20) || (fault == COUNTS_RUNS && seen.runs > 1);
}

static void look_at_scratch(const struct fold_call *call) {
  const unsigned char *scratch = call->scratch;
  seen.scratch_right = (uintptr_t)scratch % 256 == 0;
  for (size_t i = 0; i < scratch_bytes; i++) seen.scratch_right &= scratch[i] == (i < FOLD_SCRATCH_ZEROED ? 0 : POISON);
}

static void compute(const struct fold_subject *subject, const struct fold_call *call) {
  static struct fold_call kept;
  static double sums[8];
  enum fault fault = (enum fault)subject->width;
  unsigned char *in = (unsigned char *)(uintptr_t)call->in[0], *out = call->out;
  size_t n = call->rows * call->cols, size = fold_dtype_size(call->dtype);
  seen.runs++;
  varied_note(&seen.varied, (struct varied){.blocks = call->launch.blocks,
                                            .block = call->launch.block,
                                            .shift = (int)((uintptr_t)in % 256 / size),
                                            .out_shift = (int)((uintptr_t)out % 256 / size),
                                            .nan = call->rows && out[0] == 0xff});
  bool known =
      fault == KEEPS_RESULTS && kept.in[0] == call->in[0] && kept.rows == call->rows && kept.cols == call->cols;
  for (size_t r = 0; r + (fault == NOT_WRITTEN) < call->rows; r++) {
    double sum = known ? sums[r % 8] : sum_of(call, r);
    sums[r % 8] = sum;
    fold_bits_store(call->dtype, out, r, fold_bits_from_double(call->dtype, sum + is_wrong(fault, call)));
  }
  kept = *call;
  if (fault == OF_A_METHOD) method_run(subject, call);
  if (fault == NEEDS_SCRATCH) look_at_scratch(call);
  if (fault == AT_OUTPUT) out[aside] ^= 1;
  if (fault == AT_INPUT) in[aside] ^= 1;
  if (fault == AT_SCRATCH) ((unsigned char *)call->scratch)[aside] ^= 1;
  if (fault == CHANGES_INPUT || (fault == CHANGES_FIVE && call->rows == 5)) in[n * size - 1] ^= 1;
}

static fold_status launch(const struct fold_subject *subject, const struct fold_call *call) {
  cr_assert(device.waiting < QUEUE);
  device.queue[device.waiting++] = (struct task){.subject = subject, .call = *call};
  if (subject->width == LEAVES_STATE) device.state = 1;
  return fold_ok();
}

static size_t ask_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return subject->width == AT_SCRATCH || subject->width == NEEDS_SCRATCH ? scratch_bytes : 0;
}

struct fold_subject subject_of(enum fault fault) {
  return (struct fold_subject){.name = "s",
                               .engine = FOLD_CUDA,
                               .dtypes = 1u << FOLD_F32,
                               .problems = 1u << FOLD_SUM,
                               .width = fault,
                               .run = launch,
                               .scratch = ask_scratch};
}
