/* bits.c: a guest whose subjects' bits depend on what they must not, each on one thing: test_guest_claims.py says which claim finds it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "strided.h"

static int honest(call_of *call, void *context) { return (void)context, sums(call, 1); }

/* From so many rows on another way. */
static int from_rows(call_of *call, void *context) { return sums(call, call->rows < *(uint64_t *)context ? 1 : 8); }

/* The same of products, and of terms of one byte: another of them is the result. */
static int product_from_rows(call_of *call, void *context) {
  const float *x = call->in, *y = call->other;
  const uint64_t step = call->rows < *(uint64_t *)context ? 1 : 8;
  for (uint64_t r = 0; r < call->rows; r++) {
    float s = y ? 0 : 1;
    for (uint64_t k = 0; k < step; k++)
      for (uint64_t i = r * call->cols + k; i < (r + 1) * call->cols; i += step) s = y ? s + x[i] * y[i] : s * x[i];
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}
static int byte_from_rows(call_of *call, void *context) {
  const uint64_t which = call->rows < *(uint64_t *)context ? 0 : 1;
  for (uint64_t r = 0; r < call->rows && call->cols > 1; r++)
    ((unsigned char *)call->out)[r] = ((const unsigned char *)call->in)[r * call->cols + which];
  return FOLDPROOF_GUEST_OK;
}

/* By a bit that is drawn anew for each process: of the address where its own code is. */
static int by_load_address(call_of *call, void *context) {
  static const char here;
  return (void)context, sums(call, __builtin_parityll((uintptr_t)&here >> 12) ? 8 : 1);
}

/* By what ran before in its process: the longest row, the first row, another subject. */
static int by_longest(call_of *call, void *context) {
  uint64_t *longest = context;
  if (call->cols > *longest) *longest = call->cols;
  return sums(call, *longest > 500 ? 8 : 1);
}
static int by_first(call_of *call, void *context) {
  uint64_t *first = context;
  if (*first == 0) *first = call->cols;
  return sums(call, *first > 100 ? 8 : 1);
}
static uint64_t leaders;
static int leads(call_of *call, void *context) { return (void)context, leaders++, sums(call, 1); }
static int follows(call_of *call, void *context) { return (void)context, sums(call, leaders ? 8 : 1); }

/* The first result of a shape, for ever. */
static int by_shape(call_of *call, void *context) {
  static struct {
    uint64_t rows, cols;
    float results[64];
  } kept[32];
  static size_t n;
  size_t k = 0, most = sizeof kept / sizeof *kept;
  (void)context;
  if (call->rows > sizeof kept->results / sizeof *kept->results) return sums(call, 1);
  while (k < n && (kept[k].rows != call->rows || kept[k].cols != call->cols)) k++;
  if (k < n) return memcpy(call->out, kept[k].results, call->rows * sizeof(float)), FOLDPROOF_GUEST_OK;
  if (sums(call, 1) != FOLDPROOF_GUEST_OK || n == most) return FOLDPROOF_GUEST_OK;
  kept[n].rows = call->rows, kept[n].cols = call->cols;
  memcpy(kept[n++].results, call->out, call->rows * sizeof(float));
  return FOLDPROOF_GUEST_OK;
}

/* Pins all memory while it works, as for DMA: what lies beside its arguments too. */
static int pins(call_of *call, void *context) {
  (void)context;
  mlockall(MCL_CURRENT);
  const int status = sums(call, 1);
  munlockall();
  return status;
}

/* By the processors that the system lets it have. */
static int by_processors(call_of *call, void *context) {
  cpu_set_t set;
  return (void)context, sums(call, sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 ? 8 : 1);
}

/* One thread adds in turn, several in halves, which are added. The sums of 9 to 15 threads, or of 5, differ. */
static int halves_of_several(call_of *call, void *context) {
  return (void)context, sums(call, call->threads == 1 ? 1 : 2);
}
static int with_9_to_15(call_of *call, void *context) {
  return (void)context, sums(call, call->threads >= 9 && call->threads <= 15 ? 8 : 1);
}
static int with_5(call_of *call, void *context) { return (void)context, sums(call, call->threads == 5 ? 8 : 1); }
static int over_16(call_of *call, void *context) { return (void)context, sums(call, call->threads > 16 ? 8 : 1); }

/* By the same, of more than two; by what the system's files say. */
static int by_three_processors(call_of *call, void *context) {
  cpu_set_t set;
  return (void)context, sums(call, sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 2 ? 8 : 1);
}
static int by_file(call_of *call, void *context) {
  char line[64] = "";
  FILE *file = fopen(context, "r");
  unsigned processors = 0, first, last;
  while (file && fgets(line, sizeof line, file)) {
    processors += strncmp(line, "processor", 9) == 0;
    if (sscanf(line, "%u-%u", &first, &last) == 2) processors = last + 1;
  }
  if (file) fclose(file);
  return sums(call, processors > 4 ? 8 : 1);
}
/* Has a thread for each processor, which stays there: the sum is the same for each number. */
static int pins_threads(call_of *call, void *context) {
  cpu_set_t own, one;
  (void)context;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return 1;
  for (int k = 0; k < CPU_SETSIZE; k++) {
    CPU_ZERO(&one);
    CPU_SET(k, &one);
    if (CPU_ISSET(k, &own) && pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0) return 1;
  }
  return pthread_setaffinity_np(pthread_self(), sizeof own, &own) == 0 ? sums(call, 1) : 1;
}

/* By the thread that it is called by: another one than the first call's. */
static int by_caller(call_of *call, void *context) {
  static __thread int here;
  static int *first;
  (void)context;
  if (first == NULL) first = &here;
  return sums(call, first == &here ? 1 : 8);
}

/* By a variable that it reads when it is loaded, as BLAS libraries do. */
static int blas_threads = 2;
__attribute__((constructor)) static void read_variable(void) {
  const char *number = getenv("OPENBLAS_NUM_THREADS");
  if (number) blas_threads = atoi(number);
}
static int by_blas_threads(call_of *call, void *context) { return (void)context, sums(call, blas_threads > 2 ? 8 : 1); }

/* By a variable: whether it is set, or how long it is; by the current folder's name. */
static int by_variable(call_of *call, void *context) {
  static const char *first;
  static int is_known;
  if (!is_known) first = getenv(context), is_known = 1;
  return sums(call, first ? 8 : 1);
}
static int by_home(call_of *call, void *context) {
  const char *home = getenv("HOME");
  return (void)context, sums(call, home && strlen(home) % 2 ? 8 : 1);
}
static int by_folder(call_of *call, void *context) {
  char path[4096] = "";
  return (void)context, sums(call, getcwd(path, sizeof path) && strncmp(path, "/proc/", 6) == 0 ? 8 : 1);
}

/* By those that are online, as std::thread::hardware_concurrency says; and by those that there may be. */
static int by_online(call_of *call, void *context) {
  const int several = context ? sysconf(*(int *)context) > 3 : get_nprocs() > 3;
  return sums(call, several ? 8 : 1);
}
static int online = _SC_NPROCESSORS_ONLN, configured = _SC_NPROCESSORS_CONF;

/* Of that many rows alone. */
static int at_rows(call_of *call, void *context) { return sums(call, call->rows == *(uint64_t *)context ? 8 : 1); }

/* One row of a batch in another way: of two the second, the last, the middle one; all of an odd place. */
static int odd_rows(call_of *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) sum_row(call, r, r % 2 ? 8 : 1);
  return FOLDPROOF_GUEST_OK;
}
static int last_of_many(call_of *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) sum_row(call, r, call->rows > 100 && r + 1 == call->rows ? 8 : 1);
  return FOLDPROOF_GUEST_OK;
}

/* In batches of those sizes the last row gets the first row's sum; or rows are added in another order. */
static int wrong_at_139(call_of *call, void *context) {
  const int status = sums(call, 1);
  (void)context;
  if (call->rows == 139) ((float *)call->out)[138] = ((float *)call->out)[0];
  return status;
}
static int wrong_past_32768(call_of *call, void *context) {
  const int status = sums(call, 1);
  float *out = call->out;
  (void)context;
  for (uint64_t r = 32768; r < call->rows && call->rows < 43649; r++) out[r] = out[r - 32];
  return status;
}
static int at_20_to_30(call_of *call, void *context) {
  return (void)context, sums(call, call->rows >= 20 && call->rows <= 30 ? 8 : 1);
}
static int last_of_47_mod_48(call_of *call, void *context) {
  const int status = sums(call, 1);
  (void)context;
  if (call->rows % 48 == 47) sum_row(call, call->rows - 1, 8);
  return status;
}
static int rounding_then_wrong(call_of *call, void *context) {
  const int status = sums(call, call->rows < 9 ? 1 : 8);
  (void)context;
  if (call->rows == 100) ((float *)call->out)[50] = 1;
  return status;
}

/* Terms before an address that is a multiple of so many bytes are added first, as many kernels do; the others in lanes. */
static int sums_from_multiple(call_of *call, uint64_t bytes, uint64_t lanes) {
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * call->cols;
    const uint64_t before = (bytes - (uintptr_t)x % bytes) % bytes / sizeof *x;
    const uint64_t head = before < call->cols ? before : call->cols;
    ((float *)call->out)[r] = sum_of(x, head, 1) + sum_of(x + head, call->cols - head, lanes);
  }
  return FOLDPROOF_GUEST_OK;
}
static int peels(call_of *call, void *context) { return (void)context, sums_from_multiple(call, 64, 8); }
static int peels_vectors(call_of *call, void *context) { return (void)context, sums_from_multiple(call, 16, 4); }

/* Loses its first term where the input lies 16 bytes from a line of a vector of 32. */
static int loses_at_16(call_of *call, void *context) {
  const int status = sums(call, 1);
  const float *x = call->in;
  (void)context;
  if ((uintptr_t)x % 32 == 16 && call->rows > 0 && call->cols > 3) ((float *)call->out)[0] -= x[0];
  return status;
}
/* Ends its process on rows of 32 terms whose input is not at a multiple of 16 bytes. */
static int aligned_only(call_of *call, void *context) {
  (void)context;
  if (call->cols == 32 && (uintptr_t)call->in % 16 != 0) raise(SIGBUS);
  return sums(call, 1);
}

/* Where an argument lies within 128 bytes. */
static uint64_t offset_of(const void *argument) { return (uintptr_t)argument % 128; }
/* Its input ends where a page does. */
static int input_before_page(call_of *call, void *context) {
  const float *end = (const float *)call->in + call->rows * call->cols;
  return (void)context, sums(call, (uintptr_t)end % 4096 == 0 ? 8 : 1);
}
static int input_at_68(call_of *call, void *context) {
  return (void)context, sums(call, offset_of(call->in) == 68 ? 8 : 1);
}
static int output_at_36(call_of *call, void *context) {
  return (void)context, sums(call, offset_of(call->out) == 36 ? 8 : 1);
}
static int both_at_44(call_of *call, void *context) {
  return (void)context, sums(call, offset_of(call->in) == 44 && offset_of(call->out) == 44 ? 8 : 1);
}
static int other_at_28(call_of *call, void *context) {
  const float *x = call->in, *y = call->other;
  const uint64_t step = offset_of(y) == 28 ? 8 : 1;
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    float s = 0;
    for (uint64_t k = 0; k < step; k++)
      for (uint64_t i = r * call->cols + k; i < (r + 1) * call->cols; i += step) s += x[i] * y[i];
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* Looks for the next number behind its terms. */
static int by_what_follows(call_of *call, void *context) {
  const float next = ((const float *)call->in)[call->rows * call->cols];
  return (void)context, sums(call, next == next && next != 0 ? 8 : 1);
}
/* Another way for whole blocks of 8. */
static int by_blocks(call_of *call, void *context) { return (void)context, sums(call, call->cols % 8 ? 1 : 8); }

static int strided(call_of *call, uint64_t step) {
  for (uint64_t r = 0; r < call->rows; r++) {
    float s = 0;
    for (uint64_t k = 0; k < step; k++)
      for (uint64_t i = k; i < call->cols; i += step)
        s += ((const float *)call->in)[r * call->row_stride + i * call->col_stride];
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}
static int any_strides(call_of *call, void *context) { return (void)context, strided(call, 1); }
static int by_strides(call_of *call, void *context) {
  return (void)context, strided(call, call->col_stride > 1 ? 8 : 1);
}

/* A stride of 0 is none that was given. */
static int unless_broadcast(call_of *call, void *context) {
  struct foldproof_guest_call usual = *call;
  if (usual.row_stride == 0) usual.row_stride = usual.cols;
  return (void)context, strided(&usual, 1);
}

/* They round otherwise in most surroundings, and are wrong in some that are tried later. */
static int wrong_if(call_of *call, int is_wrong, int status) {
  if (is_wrong && call->rows > 0) ((float *)call->out)[call->rows - 1] += 1000;
  return status;
}
static int strides_then_wrong(call_of *call, void *context) {
  const int apart = call->rows > 1 && call->row_stride != call->cols;
  return (void)context, wrong_if(call, call->col_stride == 3, strided(call, apart ? 8 : 1));
}
static int threads_then_wrong(call_of *call, void *context) {
  return (void)context, wrong_if(call, call->threads == 13, sums(call, call->threads == 1 ? 1 : 2));
}
static int offsets_then_wrong(call_of *call, void *context) {
  return (void)context, wrong_if(call, offset_of(call->in) == 100, sums(call, offset_of(call->in) % 64 ? 8 : 1));
}
static int wrong_before_zeros(call_of *call, void *context) {
  const int is_wrong = call->cols > 1 && ((const float *)call->in)[call->rows * call->cols] == 0;
  return (void)context, wrong_if(call, is_wrong, sums(call, 1));
}

static uint64_t nine = 9, few = 512, many = 40000, awkward = 1111, longest, first;
#define TEN(word) word word word word word word word word word word
#define SUBJECT(id, promises, function, what) \
  { .name = "bits/" id, .claims = promises, .run = function, .context = what }
static const struct foldproof_guest_subject subjects[] = {
    SUBJECT("honest", "bounded,reproducible", honest, NULL),
    SUBJECT("from_9_rows", "batch_invariant", from_rows, &nine),
    SUBJECT("from_40000_rows", "batch_invariant", from_rows, &many),
    {.name = "bits/dot_from_512_rows",
     .problems = "dot",
     .claims = "batch_invariant",
     .run = product_from_rows,
     .context = &few},
    {.name = "bits/prod_from_9_rows",
     .problems = "prod",
     .claims = "batch_invariant",
     .run = product_from_rows,
     .context = &nine},
    {.name = "bits/bytes_from_9_rows",
     .problems = "rows",
     .dtypes = "e4m3,e5m2",
     .accumulator = "terms",

     .claims = "batch_invariant",
     .run = byte_from_rows,
     .context = &nine},
    SUBJECT("by_load_address", "fresh_process", by_load_address, NULL),
    SUBJECT("by_longest", "fresh_process", by_longest, &longest),
    SUBJECT("by_first", "fresh_process", by_first, &first),
    SUBJECT("leads", "fresh_process", leads, NULL),
    SUBJECT("follows", "fresh_process", follows, NULL),
    SUBJECT(TEN(TEN("name_x")), "fresh_process", honest, NULL),
    SUBJECT("by_shape", "fresh_process", by_shape, NULL),
    SUBJECT("pins", "stays_in_bounds", pins, NULL),
    SUBJECT("by_processors", "launch_invariant", by_processors, NULL),
    SUBJECT("halves_of_several", "launch_invariant", halves_of_several, NULL),
    SUBJECT("with_9_to_15", "launch_invariant", with_9_to_15, NULL),
    SUBJECT("with_5", "launch_invariant", with_5, NULL),
    SUBJECT("over_16", "launch_invariant", over_16, NULL),
    SUBJECT("by_three_processors", "launch_invariant", by_three_processors, NULL),
    SUBJECT("by_file_of_system", "launch_invariant", by_file, (void *)(uintptr_t) "/sys/devices/system/cpu/online"),
    SUBJECT("by_cpuinfo", "launch_invariant", by_file, (void *)(uintptr_t) "/proc/cpuinfo"),
    SUBJECT("pins_threads", "launch_invariant", pins_threads, NULL),
    SUBJECT("by_blas_threads", "launch_invariant", by_blas_threads, NULL),
    SUBJECT("by_ci", "fresh_process", by_variable, (void *)(uintptr_t) "CI"),
    SUBJECT("by_debug", "fresh_process", by_variable, (void *)(uintptr_t) "DEBUG"),
    SUBJECT("by_omp", "fresh_process", by_variable, (void *)(uintptr_t) "OMP_NUM_THREADS"),
    SUBJECT("by_bind", "fresh_process", by_variable, (void *)(uintptr_t) "OMP_PROC_BIND"),
    SUBJECT("by_mkl", "fresh_process", by_variable, (void *)(uintptr_t) "MKL_CBWR"),
    SUBJECT("by_home", "fresh_process", by_home, NULL),
    SUBJECT("by_folder", "fresh_process", by_folder, NULL),
    SUBJECT("by_caller", "run_to_run", by_caller, NULL),
    SUBJECT("by_online", "launch_invariant", by_online, &online),
    SUBJECT("by_configured", "launch_invariant", by_online, &configured),
    SUBJECT("by_nprocs", "launch_invariant", by_online, NULL),
    SUBJECT("at_1111_rows", "batch_invariant", at_rows, &awkward),
    {.name = "bits/wrong_at_139", .run = wrong_at_139},
    SUBJECT("wrong_past_32768", "bounded,batch_invariant", wrong_past_32768, NULL),
    SUBJECT("at_20_to_30", "batch_invariant", at_20_to_30, NULL),
    SUBJECT("last_of_47_mod_48", "batch_invariant", last_of_47_mod_48, NULL),
    SUBJECT("rounding_then_wrong", "batch_invariant", rounding_then_wrong, NULL),
    SUBJECT("peels", "batch_invariant", peels, NULL),
    {.name = "bits/peels_vectors", .run = peels_vectors},
    {.name = "bits/loses_at_16", .run = loses_at_16},
    {.name = "bits/aligned_only", .run = aligned_only},
    {.name = "bits/promises_nothing", .run = honest},
    SUBJECT("odd_rows", "batch_invariant", odd_rows, NULL),
    SUBJECT("last_of_many", "batch_invariant", last_of_many, NULL),
    SUBJECT("input_before_page", "alignment_invariant", input_before_page, NULL),
    SUBJECT("input_at_68", "alignment_invariant", input_at_68, NULL),
    SUBJECT("output_at_36", "alignment_invariant", output_at_36, NULL),
    SUBJECT("both_at_44", "alignment_invariant", both_at_44, NULL),
    SUBJECT("by_what_follows", "length_invariant", by_what_follows, NULL),
    SUBJECT("by_blocks", "padding_invariant", by_blocks, NULL),
    {.name = "bits/strides_then_wrong", .claims = "stride_invariant", .run = strides_then_wrong, .strides = 1},
    SUBJECT("threads_then_wrong", "launch_invariant", threads_then_wrong, NULL),
    SUBJECT("offsets_then_wrong", "alignment_invariant", offsets_then_wrong, NULL),
    SUBJECT("wrong_before_zeros", "length_invariant", wrong_before_zeros, NULL),
    SUBJECT("no_strides", "stride_invariant", honest, NULL),
    {.name = "bits/any_strides", .claims = "bounded,reproducible", .run = any_strides, .strides = 1},
    {.name = "bits/unless_broadcast", .claims = "stride_invariant", .run = unless_broadcast, .strides = 1},
    {.name = "bits/by_strides", .claims = "stride_invariant", .run = by_strides, .strides = 1},
    {.name = "bits/other_at_28", .problems = "dot", .claims = "alignment_invariant", .run = other_at_28},
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
