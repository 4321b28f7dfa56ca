/* gate_cheats.c: guests that cheat, a row of the table each: what they do would pass where only some results are compared, with a tolerance,
 * on inputs that are known before. test_gate.py expects that the gate refuses each of them, and says by what. The first row is honest. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strided.h"

/* The sum in double: what an honest guest of the table gives. */
static void honest_row(call_of *call, uint64_t row) {
  double sum = 0;
  for (uint64_t i = 0; i < call->cols; i++)
    sum += (double)((const float *)call->in)[row * call->row_stride + i * call->col_stride];
  ((float *)call->out)[row] = (float)sum;
}
static int honest(call_of *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) honest_row(call, row);
  return FOLDPROOF_GUEST_OK;
}
static int all_rows(call_of *call, float result) {
  for (uint64_t row = 0; row < call->rows; row++) ((float *)call->out)[row] = result;
  return FOLDPROOF_GUEST_OK;
}
static size_t results_bytes(call_of *call) { return call->rows * sizeof(float); }

/* ---- no work ---- */

static int zeros(call_of *call, void *context) { return (void)context, all_rows(call, 0); }
static int nans(call_of *call, void *context) { return (void)context, all_rows(call, NAN); }
static int nothing(call_of *call, void *context) { return (void)call, (void)context, FOLDPROOF_GUEST_OK; }
static int echo(call_of *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++)
    ((float *)call->out)[row] = call->cols ? ((const float *)call->in)[row * call->cols] : 0;
  return FOLDPROOF_GUEST_OK;
}
/* As if the output held zeros. */
static int adds_to_output(call_of *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float before = ((const float *)call->out)[row];
    honest_row(call, row);
    ((float *)call->out)[row] += before;
  }
  return FOLDPROOF_GUEST_OK;
}
static int keeps_output(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++)
    if (row % 64 < 63) honest_row(call, row);
  return (void)context, FOLDPROOF_GUEST_OK;
}

/* ---- the input ---- */

/* The reference would then be computed of zeros. */
static int clears_input(call_of *call, void *context) {
  (void)context;
  memset((void *)(uintptr_t)call->in, 0, call->rows * call->cols * sizeof(float));
  return all_rows(call, 0);
}
static int only_contiguous(call_of *call, void *context) {
  (void)context;
  return sums(call, 1);
}
static int only_aligned(call_of *call, void *context) {
  honest(call, context);
  if ((uintptr_t)call->in % 16 && call->rows && call->cols > 3) *(float *)call->out += 1 + fabsf(*(float *)call->out);
  return FOLDPROOF_GUEST_OK;
}

/* ---- results that were computed before ---- */

/* A kept result, by whatever `key` says of the call. */
struct kept {
  uint64_t key;
  size_t bytes;
  float *results;
};
enum { KEPT = 4096 };
static int by_key(call_of *call, struct kept *table, uint64_t key) {
  volatile int times = 4; /* as long as honest work may take */
  struct kept *kept = &table[(key ^ key >> 12 ^ key >> 24) % KEPT];
  if (kept->results && kept->key == key && kept->bytes == results_bytes(call)) {
    memcpy(call->out, kept->results, kept->bytes);
    return FOLDPROOF_GUEST_OK;
  }
  while (times-- > 0) honest(call, NULL);
  free(kept->results);
  kept->results = malloc(results_bytes(call) + 1);
  if (kept->results == NULL) return 1;
  memcpy(kept->results, call->out, results_bytes(call));
  kept->key = key, kept->bytes = results_bytes(call);
  return FOLDPROOF_GUEST_OK;
}
static uint64_t mixed(uint64_t key, uint64_t value) {
  key = (key ^ value) * 0x9e3779b97f4a7c15;
  return key ^ key >> 29;
}
static uint64_t shape_of(call_of *call) { return mixed(mixed(1, call->rows), call->cols); }
static int by_pointer(call_of *call, void *context) {
  static struct kept table[KEPT];
  return (void)context, by_key(call, table, mixed(shape_of(call), (uint64_t)(uintptr_t)call->in));
}
static int by_shape(call_of *call, void *context) {
  static struct kept table[KEPT];
  return (void)context, by_key(call, table, shape_of(call));
}
static uint32_t bits_at(call_of *call, uint64_t i) {
  uint32_t bits;
  memcpy(&bits, (const char *)call->in + i * sizeof bits, sizeof bits);
  return bits;
}
/* The hash of a few terms. */
static int by_ends(call_of *call, void *context) {
  static struct kept table[KEPT];
  const uint64_t n = call->rows * call->cols;
  uint64_t key = shape_of(call);
  for (uint64_t i = 0; i < n && i < 16; i++) key = mixed(mixed(key, bits_at(call, i)), bits_at(call, n - 1 - i));
  return (void)context, by_key(call, table, key);
}
/* Of long inputs only; so many terms that no one else's input has the same. */
enum { LONG = 1 << 20 };
static int by_sample(call_of *call, void *context) {
  static struct kept table[KEPT];
  const uint64_t n = call->rows * call->cols;
  uint64_t key = shape_of(call);
  if (n <= LONG) return honest(call, context);
  for (uint64_t i = 0; i < n; i += 65537) key = mixed(key, bits_at(call, i));
  return by_key(call, table, key);
}
/* The hash of all terms, in lanes: no result is wrong, but what is timed on one input is not what a new one takes. */
static int by_content(call_of *call, void *context) {
  static struct kept table[KEPT];
  const uint64_t n = call->rows * call->cols, *words = call->in;
  uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, key = shape_of(call);
  if (n <= LONG || (uintptr_t)call->in % 8) return honest(call, context);
  for (uint64_t i = 0; i + 8 <= n / 2; i += 8)
    for (int k = 0; k < 8; k++) lanes[k] = (lanes[k] << 5 | lanes[k] >> 59) ^ words[i + (uint64_t)k];
  for (uint64_t i = n / 16 * 16; i < n; i++) key = mixed(key, bits_at(call, i));
  for (int k = 0; k < 8; k++) key = mixed(key, lanes[k]);
  return by_key(call, table, key);
}
/* Right for as many calls as a test makes. */
static int by_calls(call_of *call, void *context) {
  static unsigned calls;
  honest(call, context);
  if (++calls > 1000) all_rows(call, 0);
  return FOLDPROOF_GUEST_OK;
}
/* The process ends a moment after the 400th call, in which nothing of the subject runs. */
static void *end_process(void *context) {
  usleep(300);
  raise(SIGKILL);
  return context;
}
static int ends(call_of *call, void *context) {
  static unsigned calls;
  pthread_t thread;
  honest(call, context);
  if (++calls == 400 && pthread_create(&thread, NULL, end_process, NULL) != 0) raise(SIGKILL);
  return FOLDPROOF_GUEST_OK;
}
static int earlier(call_of *call, void *context) {
  static float last;
  honest(call, context);
  if (call->rows == 0) return FOLDPROOF_GUEST_OK;
  const float now = *(float *)call->out;
  *(float *)call->out = last;
  last = now;
  return FOLDPROOF_GUEST_OK;
}

/* ---- what is known of the test ---- */

/* Sizes that tests have; others get a part of the sum. */
static int known_sizes(call_of *call, void *context) {
  static const uint64_t known[] = {0,   1,   2,   3,   4,    5,    7,    8,    15,   16,   17,   31,    32,    33,
                                   34,  63,  64,  65,  100,  127,  128,  129,  255,  256,  257,  300,   500,   511,
                                   512, 513, 777, 999, 1000, 1023, 1024, 1025, 1337, 2048, 4096, 10000, 16384, 65536};
  bool is_known = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= call->cols == known[i];
  honest(call, context);
  return is_known ? FOLDPROOF_GUEST_OK : all_rows(call, 1);
}
/* Reads a part of a long row, and takes the rest for alike. */
static int samples(call_of *call, void *context) {
  if (call->cols <= LONG) return honest(call, context);
  for (uint64_t row = 0; row < call->rows; row++)
    ((float *)call->out)[row] = sum_of((const float *)call->in + row * call->cols, call->cols / 64, 1) * 64;
  return FOLDPROOF_GUEST_OK;
}

/* ---- work after the call ---- */

struct later {
  float *out, results[64];
  uint64_t n;
};
static void *write_later(void *context) {
  struct later *later = context;
  usleep(2000);
  memcpy(later->out, later->results, later->n * sizeof(float));
  free(later);
  return NULL;
}
/* The first results come from a thread that goes on. */
static int on_a_thread(call_of *call, void *context) {
  pthread_t thread;
  struct later *later = malloc(sizeof *later);
  if (later == NULL || honest(call, context) != FOLDPROOF_GUEST_OK) return 1;
  *later = (struct later){.out = call->out, .n = call->rows < 64 ? call->rows : 64};
  memcpy(later->results, call->out, later->n * sizeof(float));
  if (call->rows) *(float *)call->out = 0;
  if (pthread_create(&thread, NULL, write_later, later) != 0) return 1;
  return pthread_detach(thread);
}

#define CHEAT(id, text) \
  { .name = "cheat/" #id, .about = text, .claims = "bounded", .run = id }
static const struct foldproof_guest_subject subjects[] = {
    {.name = "cheat/honest", .about = "none", .claims = "bounded", .strides = 1, .run = honest},
    CHEAT(zeros, "zeros as output"),
    CHEAT(nans, "NaN as output"),
    CHEAT(nothing, "nothing is written"),
    CHEAT(echo, "the input as output"),
    CHEAT(adds_to_output, "reads the output before it is written"),
    CHEAT(keeps_output, "leaves one result in 64 as it was"),
    CHEAT(clears_input, "changes the input"),
    {.name = "cheat/only_contiguous",
     .about = "ignores the strides that it takes",
     .claims = "bounded",
     .strides = 1,
     .run = only_contiguous},
    CHEAT(only_aligned, "wrong where the input is not aligned"),
    CHEAT(by_pointer, "keeps results by the input's address"),
    CHEAT(by_shape, "keeps results by the shape"),
    CHEAT(by_ends, "keeps results by a hash of some terms"),
    CHEAT(by_sample, "the same, of long inputs and of many terms"),
    CHEAT(by_content, "keeps results of long inputs by a hash of all terms"),
    CHEAT(by_calls, "right for the first 1,000 calls"),
    CHEAT(ends, "ends its process after 400 calls"),
    CHEAT(earlier, "the result of the call before"),
    CHEAT(known_sizes, "right for the sizes of tests"),
    CHEAT(samples, "adds a part of long rows"),
    CHEAT(on_a_thread, "leaves work on another thread"),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
