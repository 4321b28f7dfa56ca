/* fold.h: the vocabulary that every part of foldproof speaks.
 *
 * Promised: dtypes, operations, statuses and the one shape of a reduction. No numerics here (bits.h), no
 * registry (subject.h). Included from C17 and, unchanged, from CUDA C++.
 */
#ifndef FOLD_H
#define FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define FOLD_HD __host__ __device__
#else
#define FOLD_HD
#endif

/* The element types, a row of dtype.def each: FOLD_FLOATS of them are floats, and come first. */
enum fold_dtype {
#define FOLD_DTYPE(TAG, ...) FOLD_##TAG,
#include "base/dtype.def"
  FOLD_DTYPES,
  FOLD_FLOATS = 0
#define FOLD_DTYPE(...) +1
#define FOLD_INTEGER(...)
#include "base/dtype.def"
};

/* A mask of the dtypes that have kernels on every engine; the others have them only on the host. */
#define FOLD_KERNELS_EVERYWHERE(TAG) | 1u << FOLD_##TAG
#define FOLD_KERNELS_HOST(TAG)
enum {
  FOLD_EVERYWHERE = 0
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, limbs, descr, kernels) \
  FOLD_KERNELS_##kernels(TAG)
#include "base/dtype.def"
};

/* A mask of the dtypes that are integers. */
enum { FOLD_ALL_INTEGERS = (1 << FOLD_DTYPES) - (1 << FOLD_FLOATS) };
static inline FOLD_HD bool fold_dtype_is_integer(enum fold_dtype dtype) { return dtype >= FOLD_FLOATS; }

/* The operations. Identities: +0, 1, -infinity, +infinity; of integers the least and the greatest. */
enum fold_op { FOLD_SUM, FOLD_PROD, FOLD_MAX, FOLD_MIN, FOLD_OPS };

/* Where a subject runs: in this process on the host or on one GPU; or on the ranks of a world, host processes that talk by
 * MPI, or GPUs that talk by NCCL. */
enum fold_engine {
#define FOLD_ENGINE(TAG, ...) FOLD_##TAG,
#include "base/engine.def"
  FOLD_ENGINES
};
enum fold_launches { FOLD_LAUNCH_THREADS, FOLD_LAUNCH_GRIDS, FOLD_LAUNCH_RANKS, FOLD_LAUNCHES };
/* A row of engine.def. */
struct fold_engine_row {
  const char *name, *title;
  enum fold_engine memory;
  bool ranks;
  enum fold_launches launches;
};
extern const struct fold_engine_row fold_engine_rows[FOLD_ENGINES];
static inline bool fold_engine_has_ranks(enum fold_engine engine) { return fold_engine_rows[engine].ranks; }
/* Whether the CPU does the additions, in one process or as ranks; otherwise devices with their own memory do. */
static inline bool fold_engine_is_host(enum fold_engine engine) { return fold_engine_rows[engine].memory == FOLD_HOST; }
/* Whether this process's CPU does the additions, in memory that the harness can read. */
static inline bool fold_engine_is_here(enum fold_engine engine) {
  return fold_engine_is_host(engine) && !fold_engine_has_ranks(engine);
}

/* The outcome of a call. Each code has one exit code (fold_exit_code). */
enum fold_code {
  FOLD_OK = 0,
  FOLD_BAD_INPUT,   /* the user's words or files are wrong: exit 2 */
  FOLD_NO_MEMORY,   /* an allocation failed: exit 2 */
  FOLD_UNSUPPORTED, /* this build or subject does not do that: a skip, with its reason */
  FOLD_ENVIRONMENT, /* the machine failed (driver, device, child process): exit 99 */
  FOLD_FAILED,      /* a guest's run says that it failed: exit 99 */
};

/* A status travels by value; `text` is one line of UTF-8 for a person, empty when code is FOLD_OK. */
typedef struct fold_status {
  enum fold_code code;
  char text[1020];
} fold_status;

fold_status fold_ok(void);
fold_status fold_error(enum fold_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* NO_MEMORY; the text goes on after "not enough memory ": "for %zu ranks", "to draw it". */
fold_status fold_no_memory(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same status with "context: " in front of its text; an OK status stays as it is. */
fold_status fold_within(fold_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fold_exit_code(enum fold_code code);
/* ENVIRONMENT: what failed, and why by errno. */
fold_status fold_system_failed(const char *what);
/* Why a file can't be written, by errno: ENVIRONMENT if the disk is full or fails, the output is closed, or no descriptor is
 * left; NO_MEMORY; else BAD_INPUT, because the user named a file that can't be written. */
enum fold_code fold_write_code(int error);

/* Returns from the calling function when `call` failed. Where something must be cleaned up, test `.code` and goto. */
#define FOLD_TRY(call)                               \
  do {                                               \
    fold_status fold_try_ = (call);                  \
    if (fold_try_.code != FOLD_OK) return fold_try_; \
  } while (0)

/* Seconds on a clock that only goes forward. */
double fold_now(void);

/* Names as users write them ("f32", "sum", "host"); the parsers return -1 for an unknown name. */
const char *fold_dtype_name(enum fold_dtype dtype);
const char *fold_op_name(enum fold_op op);
const char *fold_engine_name(enum fold_engine engine);
int fold_dtype_parse(const char *name);
const char *fold_dtype_list(void);                   /* "f16, bf16, f32, ..." */
const char *fold_dtype_descr(enum fold_dtype dtype); /* NumPy's: "<f4" */
int fold_op_parse(const char *name);
int fold_engine_parse(const char *name);

/* A case of a switch over every dtype, made from the table. */
// clang-format off
#define FOLD_CASE(TAG, value) case FOLD_##TAG: return value;
// clang-format on

/* The size of an element in bytes. */
static inline FOLD_HD size_t fold_dtype_size(enum fold_dtype dtype) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, ...) FOLD_CASE(TAG, sizeof(element))
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return 0;
}

/* The dtype that elements are accumulated in before the one rounding at the end. No other place decides this. */
static inline FOLD_HD enum fold_dtype fold_accumulator_of(enum fold_dtype dtype) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, WIDE, ...) FOLD_CASE(TAG, FOLD_##WIDE)
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return FOLD_DTYPES;
}

/* The most inputs that a problem has (problem.h). */
enum { FOLD_INPUTS = 2 };

struct fold_comm;    /* collective/comm.h */
struct fold_problem; /* problem.h */
struct fold_slots;   /* problem.h */

/* How a subject is launched; 0 everywhere means its own choice. */
struct fold_launch {
  unsigned threads; /* host: OpenMP threads */
  unsigned blocks;  /* cuda: blocks in the grid */
  unsigned block;   /* cuda: threads a block */
};

/* The axes of a problem (problem.h): batches, results by m and n, and k, which is folded. */
enum fold_axis { FOLD_B, FOLD_M, FOLD_N, FOLD_K, FOLD_AXES };

/* Extents, or coordinates, by axis; what it has for an axis that the problem lacks is not read. The folds of rows have
 * `m` rows of `k` terms. */
struct fold_shape {
  union {
    size_t at[FOLD_AXES];
    struct {
      size_t b, m, n, k;
    };
  };
};

/* A part of a shape: [first, first + extent) on each axis; of results by b, m and n, of terms by k. */
struct fold_block {
  struct fold_shape first, extent;
};

/* A shape under two names: `shape` by axis, and for the folds of rows `rows` (m) and `cols` (k). */
#define FOLD_SHAPE_OR_ROWS   \
  union {                    \
    struct fold_shape shape; \
    struct {                 \
      size_t rows_b, rows;   \
      size_t rows_n, cols;   \
    };                       \
  }

/* A call of a subject: the problem's inputs become its results. Elements are of `dtype`, and so are results where the
 * subject does not say otherwise (fold_subject_result). Arrays are aligned to the element, and to no more; they live in
 * the memory of the subject's engine. */
struct fold_call {
  enum fold_dtype dtype;
  const struct fold_problem *problem;
  FOLD_SHAPE_OR_ROWS;
  const void *in[FOLD_INPUTS];
  void *out;
  /* The element of an array (the results' is the last) with some coordinates lies at the sum of stride x coordinate, in
   * elements. All 0: contiguous, the last axis fastest; a subject that takes no strides gets only such arrays. */
  ptrdiff_t stride[FOLD_INPUTS + 1][FOLD_AXES];
  struct fold_launch launch;
  void *stream;  /* cuda: a cudaStream_t; NULL is the default stream */
  void *scratch; /* as many bytes as the subject's `scratch` asks for, 256-byte aligned, engine's memory */
  /* The call of a collective is one rank's part of the `whole`: its terms are [whole.first.k, whole.first.k + shape.k) of
   * whole.extent.k, and every rank gets all results. comm is NULL for all other calls. */
  struct fold_comm *comm;
  struct fold_block whole;
  const struct fold_slots *slots; /* of a keyed sum, for its oracles: fold_call_sorted sets it; else NULL */
  const unsigned char
      *poison; /* of a judged run on the host: the caller poisons the stack (stack_poison.h); else NULL */
};

/* These first bytes of scratch are zero before a run and must be zero after it (counters and flags); the others may hold anything. */
#define FOLD_SCRATCH_ZEROED 4096

#ifdef __cplusplus
}
#endif
#endif
