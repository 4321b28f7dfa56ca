/* foldproof_guest.h: a reduction of your own, judged by foldproof without being compiled into it.
 *
 * Build a shared object that defines one function, foldproof_guest(), which returns a table of subjects; then
 *
 *     foldproof verify --guest ./mine.so
 *
 * C and C++; nothing is linked. foldproof loads the object in processes of its own: one that crashes, hangs or exits loses its case
 * and no other. Whatever a subject claims, it is also judged by whether it writes all results, stays within its memory, keeps its
 * input and leaves no trace in its process.
 *
 * Both sides say how large their structures are: a guest that was built by an older version of this page still loads, and an older
 * foldproof loads newer guests as far as it knows them. Zero what you don't set; new fields come at the end, and 0 means what was
 * before.
 */
#ifndef FOLDPROOF_GUEST_H
#define FOLDPROOF_GUEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLDPROOF_GUEST_ABI 1

/* Of terms, accumulators and results; in the table by name: "f16", "bf16", "f32", "f64", "e4m3", "e5m2". */
enum foldproof_guest_dtype {
  FOLDPROOF_GUEST_F16 = 1,  /* IEEE binary16 */
  FOLDPROOF_GUEST_BF16 = 2, /* bfloat16 */
  FOLDPROOF_GUEST_F32 = 3,
  FOLDPROOF_GUEST_F64 = 4,
  FOLDPROOF_GUEST_E4M3 = 5, /* OCP 8-bit floats */
  FOLDPROOF_GUEST_E5M2 = 6
};

/* What is folded; in the table by name: "sum", "prod", "max", "min" of the elements of each row; "dot", the sum of the products of
 * the elements of a row of each of two inputs. "rows", alone: any function of each row by itself, of which nothing is known: no claim
 * about its value or its order can be judged. */
enum foldproof_guest_problem {
  FOLDPROOF_GUEST_SUM = 1,
  FOLDPROOF_GUEST_PROD = 2,
  FOLDPROOF_GUEST_MAX = 3,
  FOLDPROOF_GUEST_MIN = 4,
  FOLDPROOF_GUEST_DOT = 5,
  FOLDPROOF_GUEST_ROWS = 6
};

/* One run: rows x cols elements of each input, row-major and contiguous unless `strides` is set, become `rows` results. Inputs and results are aligned to
 * their element, and to no more. On engine "cuda" all pointers are to device memory, and the work goes to `stream`; the current device
 * is the one to use. A run may depend on nothing but this. */
struct foldproof_guest_call {
  size_t size;                 /* bytes of this structure, as the caller knows it */
  int32_t problem, dtype;      /* enum foldproof_guest_problem; the terms' enum foldproof_guest_dtype */
  int32_t accumulator, result; /* as the table declares them for these terms */
  uint64_t rows, cols;
  const void *in, *other; /* other: the second input of "dot", else NULL */
  void *out;
  void *scratch; /* what `scratch` asked for, 256-byte aligned; its first 4096 bytes are zero before a run and must be
                                       zero after it, the rest is anything */
  void *stream;  /* a cudaStream_t, NULL for the default stream */
  uint32_t threads, blocks,
      block; /* a launch to try: host threads; CUDA blocks, and threads a block. 0: your own choice */
  char *why; /* room for a line that says why a run failed or is not supported: */
  size_t why_bytes;
  uint64_t row_stride,
      col_stride; /* element (r, c) of an input lies at r * row_stride + c * col_stride elements: cols and 1, unless
                                      the table says that the subject takes others */
};

/* What a run returns. */
enum {
  FOLDPROOF_GUEST_OK = 0,
  FOLDPROOF_GUEST_UNSUPPORTED =
      77 /* the case is skipped, with `why`; any other code: the run failed, and the case is broken */
};

/* Lists are comma-separated names; NULL or "" is what stands in brackets. */
struct foldproof_guest_subject {
  const char *name;        /* "mine/sum": letters, digits and / _ - . @ + */
  const char *about;       /* one line [the name] */
  const char *problems;    /* ["sum"] */
  const char *dtypes;      /* of the terms ["f32"] */
  const char *accumulator; /* a dtype, or "terms": that of the terms [f64 for f64, f32 for all others] */
  const char *result;      /* a dtype, "accumulator", or "terms" ["terms"] */
  const char *order;  /* the order in which terms are joined, where it is declared ("foldproof list orders") [none] */
  const char *claims; /* what it promises ("foldproof list claims"), or presets: "deterministic", "batch-invariant",
                              "reproducible", "accurate" ["bounded,run_to_run,fresh_process"; of problem rows
                              "run_to_run,fresh_process,batch_invariant,alignment_invariant"] */
  const char *
      same_bits_as; /* a subject, one of foldproof's or a guest's, of that engine or "ENGINE:NAME": needs the claim of that name [none] */
  const char *engine; /* "host" or "cuda" ["host"] */
  const char
      *method; /* how it adds, which its error bound depends on: "plain", "kahan", "neumaier", "exact" ["plain"] */
  int (*run)(const struct foldproof_guest_call *call, void *context);
  size_t (*scratch)(const struct foldproof_guest_call *call, void *context); /* bytes that a run needs; NULL: none */
  void *context;                                                             /* yours */
  uint32_t strides; /* 1: it takes inputs that are not contiguous, by the call's strides [0] */
};

struct foldproof_guest_table {
  uint32_t abi;          /* FOLDPROOF_GUEST_ABI */
  uint32_t subject_size; /* sizeof(struct foldproof_guest_subject) */
  size_t n;
  const struct foldproof_guest_subject *subjects;
};

/* You define it; what it returns must stay. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct foldproof_guest_table *
foldproof_guest(void);

#ifdef __cplusplus
}
#endif
#endif
