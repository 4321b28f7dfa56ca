/* foldproof.h: exact reductions and the bits of declared orders, as a C library: link with -lfoldproof, or load
 * libfoldproof.so by ctypes, cffi or their like.
 *
 * It computes, without a GPU, what a parallel reduction is compared with: the exact result, rounded once; the bits of a
 * declared order (`foldproof list orders` names them); and how far a result is from the exact one, with the bound that
 * theory gives.
 *
 * Arrays are in host memory, of dtype "f16", "bf16", "f32", "f64", "e4m3", "e5m2", "i8", "i32" or "i64". They need only be
 * aligned to the element. A reduction of rows takes rows x cols elements, row-major and contiguous, and gives `rows` results.
 * Operations are "sum", "prod", "max", "min". Products of matrices, scans, keyed sums and other problems are a structure
 * (foldproof_problem). Operands of up to 16 bits are accumulated in f32 and rounded once. Empty rows give +0, 1, -infinity,
 * +infinity. NaN propagates; -0 < +0 in max and min. Integers are exact, and wrap where they leave the range of the results.
 *
 * Every function that returns int returns 0, or one of the codes below; then foldproof_error() says in one line what
 * was wrong, and the call's outputs are undefined. No function prints, exits, or changes the rounding mode; results
 * depend neither on the rounding mode nor on flushing to zero. Several threads may call at once, except
 * foldproof_verify.
 */
#ifndef FOLDPROOF_H
#define FOLDPROOF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FOLDPROOF_BAD_INPUT = 2,    /* an unknown name, a null pointer, a size beyond the address space; or memory is short */
  FOLDPROOF_UNSUPPORTED = 77, /* there is no answer for this input, for example no digits of a product with too many */
};

/* "0.2.0". */
const char *foldproof_version(void);

/* What was wrong in this thread's last call that failed; "" if none has. Valid until the thread's next call. */
const char *foldproof_error(void);

/* The name of the k-th order ("rows/par_256"); NULL past the last. `formula`, unless NULL, receives its definition in
 * one line. */
const char *foldproof_order(size_t k, const char **formula);

/* Reduces each row in the order's sequence: the bits that every implementation of that order must give, on the host or
 * on a GPU. `out` receives `rows` results of dtype and must not overlap `in`. Runs on `threads` threads (0: all; at
 * most 256); the bits do not depend on their number. */
int foldproof_replay(const char *order, const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                     unsigned threads, void *out);

/* The exact result of each row, rounded once, to nearest even, to dtype `to`: sums by a superaccumulator, products by
 * intervals in MPFR. `out` receives `rows` results of `to` and must not overlap `in`. A sum is NaN if a term is NaN or
 * both infinities occur, else the infinity, else the rounded sum; of terms that are all -0 it is -0. */
int foldproof_exact(const char *dtype, const char *op, const void *in, size_t rows, size_t cols, const char *to,
                    unsigned threads, void *out);

/* All digits of the exact result of n terms: "-1.25", "3.5e-320", "nan", "inf", "-inf". `text` receives at most `size`
 * bytes, the ending 0 included. *needed, unless NULL, receives how many bytes there are, the ending 0 included, also
 * where `size` is too small (FOLDPROOF_BAD_INPUT) or 0. FOLDPROOF_UNSUPPORTED for a product with too many digits to be
 * written. */
int foldproof_exact_text(const char *dtype, const char *op, const void *in, size_t n, char *text, size_t size,
                         size_t *needed);

/* One result compared with the exact one. Errors and bounds are rounded up, so if error <= bound holds here, the true
 * error is within this bound. */
struct foldproof_measure {
  double error; /* |got - exact| */
  double ulps;  /* the same in units of the last place, in dtype, of the exact result; integers have units of 1 */
  /* What `error` can be at most in that order: gamma_h sum |x|, with the 16-bit types' last rounding; 0 for max, min and
   * integers; NaN where the theorem's conditions fail (terms or partial results not finite). */
  double bound;
  double exact;     /* the exact result, rounded to nearest */
  double abs_sum;   /* sum |x| over the finite terms */
  double condition; /* sum |x| / |sum x| for a sum: infinity when it cancels to zero */
};

/* Measures `got`, one value of dtype, as the reduction of n terms. `order` names the order whose height is used for the
 * bound; NULL: any order, with height n - 1. If `got` or the rounded exact result is not finite, error and ulps are 0
 * if both are the same (NaN as NaN), else infinity. */
int foldproof_measure(const char *order, const char *dtype, const char *op, const void *in, size_t n, const void *got,
                      struct foldproof_measure *measure);

/* A problem, its shape and its inputs. `foldproof list problems` has each problem's signature: the axes of the inputs and of the
 * results, as einsum has them ("bmk,bkn->bmn"), the last one fastest. Terms are folded along k. Set the whole structure to zero,
 * then `size` and what the problem has. */
struct foldproof_problem {
  size_t size;        /* bytes of this structure, as the caller knows it */
  const char *name;   /* "sum", "dot", "matvec", "matmul", "scan", "keyed", ... */
  const char *dtype;  /* of the terms */
  uint64_t extent[4]; /* batches, m, n and k; those of axes that the problem lacks are not read */
  const void *in[2];  /* of "keyed" the second one has k keys, uint32_t, below m */
  /* By input and axis, in elements: element (b, m, n, k) of an input lies at the sum of stride x place. All 0: contiguous. */
  int64_t stride[2][4];
};

/* How many results the problem has. They are contiguous, in the order of the signature's axes. */
int foldproof_problem_results(const struct foldproof_problem *problem, size_t *n);

/* foldproof_exact, foldproof_replay and foldproof_measure of any problem. `out` receives all results, of `to` or of the terms'
 * dtype, and must not overlap the inputs. `order` names an order, or one of foldproof's subjects for hosts that declares an order
 * and takes the problem ("matmul/blocked", "host/kahan"), which is replayed as it adds. Terms that are products need an order that
 * says whether a product is rounded ("dot/sequential"), else the code is FOLDPROOF_UNSUPPORTED. A result of a scan is folded in the
 * order's tree for the terms that it has. */
int foldproof_problem_exact(const struct foldproof_problem *problem, const char *to, unsigned threads, void *out);
int foldproof_problem_replay(const char *order, const struct foldproof_problem *problem, unsigned threads, void *out);
/* Of the result of that number. */
int foldproof_problem_measure(const char *order, const struct foldproof_problem *problem, size_t result,
                              const void *got, struct foldproof_measure *measure);

/* The order's tree for n terms: the greatest number of additions on a path from a term to the result, and a hash that
 * two orders share if their trees are equal up to swapped operands. Either pointer may be NULL. FOLDPROOF_UNSUPPORTED
 * for host/sorted's fingerprint, whose tree depends on the terms. */
int foldproof_tree(const char *order, size_t n, uint64_t *height, uint64_t *fingerprint);

/* A hash of each row's bits (XXH3-64), in which all NaNs count as the same. Rows with the same bits have the same hash;
 * two different rows have the same with a chance of 2^-64. dtype may also be "e4m3" or "e5m2". `out` receives `rows`
 * hashes. */
int foldproof_hash(const char *dtype, const void *in, size_t rows, size_t cols, uint64_t *out);

/* The name of the k-th claim of a list, which may have names, presets ("reproducible") and globs; NULL past the last.
 * Also NULL if the list has an unknown word; foldproof_error then says which. */
const char *foldproof_claim(const char *list, size_t k);

struct foldproof_guest_table; /* foldproof_guest.h */

/* A claim, and why nothing that the callbacks do could refute it. */
struct foldproof_unseen {
  const char *claim, *reason;
};

/* What is judged, and on which cases. Lists are comma-separated; NULL or 0 means what is in brackets. */
struct foldproof_verify_options {
  size_t size;            /* bytes of this structure, as the caller knows it */
  const char *subjects;   /* globs; may name foldproof's own subjects too [the table's] */
  const char *claims;     /* names or presets: only these are judged, claimed or not [all that the subjects claim] */
  const char *fixtures;   /* globs of cases, fixtures or files [all of the set] */
  const char *set;        /* "default", "large", "guests", "products" or "all" ["default"] */
  const char *folder;     /* of fixtures [$FOLDPROOF_FIXTURES, or the installed ones] */
  const char *const *npy; /* paths of n_npy arrays, rows x cols, judged instead of fixtures [none] */
  size_t n_npy;
  const char *problem; /* of those arrays ["sum"] */
  unsigned repeats;    /* of run_to_run, up to 1,000,000 [3] */
  /* n_around numbers of rows, at most 16: batch_invariant tries every size around them [none]. */
  const uint64_t *around;
  size_t n_around;
  /* n_unseen claims to skip, because the caller, which stands between foldproof and the judged function, hides what
   * they are about [none] */
  const struct foldproof_unseen *unseen;
  size_t n_unseen;
  /* 1: the last case first. Compared with another process, this shows what the first cases decide for later ones
   * [0]. */
  uint32_t backwards;
  uint32_t full; /* 1: a judgement has the bits of all rows, not only of the first 16, as goldens need [0] */
  /* After so many seconds all that is left is skipped, with that reason; the shortest cases come first [0: no limit]. */
  double seconds;
  /* Sums of whole numbers of each size along axes k, m, n and batch, as --sweep has them ("k=8:20000:8,m=1:3"), judged instead of
   * fixtures; where `sweep_adds` is 1, in addition to them [none]. */
  const char *sweep;
  uint32_t sweep_adds;
  /* 1: calls the functions in processes that are forked from this one, as foldproof_hunt does, which says what that changes [0]. */
  uint32_t apart;
  /* 1: as foldproof gate judges. One case of each size class, number of rows (one, few, many), dtype and problem comes first, those of some hundred terms
   * before shorter and longer ones; then the next of each. Other addresses, and strides if the function takes them, are tried whatever it claims; only a
   * result outside its bound counts [0]. */
  uint32_t untrusted;
};

/* Receives one judgement, or an explanation of an earlier one, as a line of JSON like those of `foldproof verify
 * --jsonl`, whose "type" says which; the text is valid only during the call. It returns 0 to go on; any other value ends
 * the judging, without an error. */
typedef int (*foldproof_take)(const char *json, void *context);

/* Judges a table of subjects IN THIS PROCESS and in this thread: a subject that crashes or hangs takes the process with
 * it (`foldproof verify --guest` runs subjects in processes of their own). Returns 0 if all was judged, or if `take`
 * ended it; only `take` is given the verdicts. FOLDPROOF_BAD_INPUT for an unknown name, a table that is not as
 * foldproof_guest.h says, a selection that judges nothing, or while the process is already judging.
 * FOLDPROOF_UNSUPPORTED if judgements were made, but none of a requested claim, whatever else held.
 * fresh_process is skipped, with its reason. During the call the thread has the default arithmetic and the C locale,
 * and SIGSEGV and SIGBUS are handled; at the end these are as before, and OpenMP's other threads are ended. If other
 * threads change the process's state in the meantime (handlers of signals, limits, the environment), the table's
 * subjects are blamed for it. */
int foldproof_verify(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                     foldproof_take take, void *context);

/* How long is hunted, and where what is found is kept. */
struct foldproof_hunt_options {
  size_t size;        /* bytes of this structure, as the caller knows it */
  uint64_t seed;      /* the same seed draws the same cases */
  uint64_t cases;     /* at most so many [no limit] */
  double seconds;     /* for so long; without a limit of cases either it is 60 [no limit] */
  uint32_t jobs;      /* processes that hunt, 1 to 8 [1] */
  uint32_t first;     /* 1: ends with the first find [0] */
  const char *found;  /* folder for the fixtures of what is found ["foldproof-found"] */
  const char *ledger; /* a file of JSON lines: what earlier hunts have found is run first and expected to fail [none] */
  uint32_t here;      /* 1: calls the functions in this process, as foldproof_verify does; jobs is then 1 [0] */
  double shrinking;   /* seconds for making one find small [a tenth of `seconds`, 10 at least and 60 at most] */
};

/* Draws random cases, judges the table's subjects on them, and makes each case that refutes a claim small, as `foldproof hunt` does. Of
 * `options` (may be NULL) it takes the subjects, the claims and the repeats. The functions of the table are called in processes that
 * are forked from this one: it should have no other threads, and is not left as it was (handlers of signals, the parent of orphans).
 * CUDA's driver, for one, does not work in such processes: with `here` the functions are called in this one. A function that ends or hangs
 * its process then ends or hangs the hunt, and what depends on earlier calls is not told apart from what does not.
 *
 * `take` receives lines of JSON, of these types: "judgement" as of foldproof_verify, with the object "found" (file, from, threshold,
 * tries, cases, other_terms, generated, seen, looked, hangs); "holds", for a known failure that does not fail any more; "progress" (cases, seconds),
 * some times a second, or before each trial in this process; and "hunt", the last one, which counts all. Anything but 0 ends the hunt; what is being made small by then is kept
 * as it is; so do SIGINT and SIGTERM, unless the caller handles them. FOLDPROOF_BAD_INPUT, too, where nothing of the table can be hunted. */
int foldproof_hunt(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                   const struct foldproof_hunt_options *hunt, foldproof_take take, void *context);

/* The machine and the software as an object of JSON, which takes up to a second where there are GPUs. `text` receives at
 * most `size` bytes, the ending 0 included; *needed, unless NULL, how many there are, also where `size` is too small
 * (FOLDPROOF_BAD_INPUT). */
int foldproof_environment(char *text, size_t size, size_t *needed);

/* A file of records, such as `foldproof verify --jsonl` writes: the environment, the records that are added, and a closing
 * line, by which `foldproof report`, `judge` and `compare` notice that records were cut off or changed. The file appears
 * under its name when it is closed. `environment`: what foldproof_environment told of the process that made the results;
 * NULL: this one. */
struct foldproof_records;
int foldproof_records_open(const char *path, const char *environment, struct foldproof_records **records);
/* Adds a record, an object of JSON, such as foldproof_verify gives. */
int foldproof_records_add(struct foldproof_records *records, const char *json);
/* Ends the file and frees `records`, which may be NULL. Records that are not complete are marked as that; if `path` names a
 * file that was there before, it stays, and they get the name "PATH.incomplete". */
int foldproof_records_close(struct foldproof_records *records, int complete);

/* What is revealed. 0 or NULL means what is in brackets. */
struct foldproof_reveal_options {
  size_t size;         /* bytes of this structure, as the caller knows it */
  size_t n;            /* terms of a sum [64] */
  const char *dtype;   /* of the terms ["f32", or the first that the subject takes] */
  const char *problem; /* "sum", "dot" or "rows" ["sum", unless the subject takes only another] */
  size_t rows;         /* of a launch [1,024, or as many as make four million terms] */
};

/* Finds the tree by which the table's first subject sums n terms, as seen from outside. The subject runs in this
 * process and thread, as with foldproof_verify. `take` receives one line of JSON, as `foldproof reveal --format json`
 * prints it. FOLDPROOF_UNSUPPORTED where no sum of that dtype shows an order. */
int foldproof_reveal(const struct foldproof_guest_table *table, const struct foldproof_reveal_options *options,
                     foldproof_take take, void *context);

#ifdef __cplusplus
}
#endif
#endif
