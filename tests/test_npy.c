/* test_npy.c: .npy files are read and written to the byte, and what is not exactly right is refused.
 *
 * The wanted bytes are written out here by hand; real NumPy, where it is installed, is a second witness.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bits.h"
#include "fixtures/npy.h"
#include "sample.h"
#include "scratch.h"

/* Element i has the low bits of sample_bits(seed, i): every class of number, NaN and infinities too. */
static void random_bits(enum fold_dtype dtype, uint64_t seed, uint64_t first, size_t n, void *out) {
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, out, i, sample_bits(seed, first + i));
}

struct filling {
  enum fold_dtype dtype;
  uint64_t next, largest, fail_at;
};

static fold_status fill_random(void *context, uint64_t first, size_t n, void *out) {
  struct filling *f = context;
  if (first >= f->fail_at) return fold_error(FOLD_ENVIRONMENT, "the filling fails");
  if (first != f->next) return fold_error(FOLD_ENVIRONMENT, "a part is out of turn");
  f->next += n;
  if (n * fold_dtype_size(f->dtype) > f->largest) f->largest = n * fold_dtype_size(f->dtype);
  random_bits(f->dtype, 7, first, n, out);
  return fold_ok();
}

static struct filling filling_of(enum fold_dtype dtype) { return (struct filling){dtype, 0, 0, UINT64_MAX}; }

static void round_trip(struct scratch *s, enum fold_dtype dtype, size_t rows, size_t cols, bool flat) {
  char name[24]; /* by which 8-bit dtypes are told apart */
  snprintf(name, sizeof name, "a_%s.npy", fold_dtype_name(dtype));
  const char *path = scratch_path(s, name);
  struct filling f = filling_of(dtype);
  size_t n = rows * cols, nbytes = n * fold_dtype_size(dtype);
  fold_status status = fold_npy_write(path, dtype, rows, cols, flat, fill_random, &f);
  cr_assert(status.code == FOLD_OK, "%s", status.text);
  cr_expect(f.next == n && f.largest <= 1 << 20, "%zu x %zu: filled %zu in parts of %zu bytes", rows, cols,
            (size_t)f.next, (size_t)f.largest);
  struct fold_npy npy;
  status = fold_npy_open(path, &npy);
  cr_assert(status.code == FOLD_OK, "%s", status.text);
  cr_expect(npy.dtype == dtype && npy.rows == rows && npy.cols == cols && npy.offset % 64 == 0,
            "%s %zu x %zu came back as %s %zu x %zu at %zu", fold_dtype_name(dtype), rows, cols,
            fold_dtype_name(npy.dtype), npy.rows, npy.cols, (size_t)npy.offset);
  unsigned char *want = malloc(nbytes + 1), *got = malloc(nbytes + 1);
  random_bits(dtype, 7, 0, n, want);
  memset(got, 0xa5, nbytes + 1);
  status = fold_npy_read(path, &npy, got);
  cr_expect(status.code == FOLD_OK, "%s", status.text);
  cr_expect(memcmp(want, got, nbytes) == 0, "%s %zu x %zu: different bits", fold_dtype_name(dtype), rows, cols);
  cr_expect(got[nbytes] == 0xa5, "%s %zu x %zu: wrote past the end", fold_dtype_name(dtype), rows, cols);
  free(want);
  free(got);
}

Test(npy, written_bits_are_read_back) {
  static const size_t shapes[][2] = {{1, 0}, {1, 1}, {1, 1000}, {3, 4}, {0, 5}, {5, 0}, {0, 0}, {1000, 1}, {1, 300001}};
  SCRATCH(s);
  for (int dtype = 0; dtype < FOLD_DTYPES; dtype++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      for (int flat = 0; flat < 2; flat++) round_trip(&s, (enum fold_dtype)dtype, shapes[i][0], shapes[i][1], flat);
  cr_expect(scratch_count(&s, false) == FOLD_DTYPES, "something is left beside the target");
}

static size_t read_file(const char *path, unsigned char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  size_t n = file ? fread(bytes, 1, room, file) : 0;
  if (file) fclose(file);
  return n;
}

Test(npy, a_written_file_has_just_these_bytes) {
  static const struct {
    enum fold_dtype dtype;
    size_t rows, cols;
    bool flat;
    const char *header;
  } cases[] = {
      {FOLD_F32, 3, 2, false, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"},
      {FOLD_F64, 1, 2, true, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"},
      {FOLD_F16, 1, 2, false, "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }"},
      {FOLD_BF16, 2, 1, true, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }"},
  };
  SCRATCH(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct filling f = filling_of(cases[i].dtype);
    const char *path = scratch_path(&s, "a.npy");
    cr_assert(fold_npy_write(path, cases[i].dtype, cases[i].rows, cases[i].cols, cases[i].flat, fill_random, &f).code ==
              FOLD_OK);
    unsigned char want[256], got[256];
    memset(want, ' ', sizeof want);
    memcpy(want, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(want + 10, cases[i].header, strlen(cases[i].header));
    want[127] = '\n';
    size_t n = cases[i].rows * cases[i].cols;
    random_bits(cases[i].dtype, 7, 0, n, want + 128);
    size_t nbytes = 128 + n * fold_dtype_size(cases[i].dtype);
    cr_expect(read_file(path, got, sizeof got) == nbytes && memcmp(want, got, nbytes) == 0, "%s", cases[i].header);
  }
}

/* A file of that version with the header's text as it is, and nbytes of data that count up. */
static size_t assemble(unsigned char *file, int version, const char *header, size_t nbytes) {
  size_t n = strlen(header), width = version == 1 ? 2 : 4;
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (unsigned char)version;
  file[7] = 0;
  for (size_t i = 0; i < width; i++) file[8 + i] = (unsigned char)(n >> 8 * i);
  memcpy(file + 8 + width, header, n);
  for (size_t i = 0; i < nbytes; i++) file[8 + width + n + i] = (unsigned char)i;
  return 8 + width + n + nbytes;
}

Test(npy, every_lawful_header_is_understood) {
  static const struct {
    int version;
    const char *header;
    size_t nbytes;
    enum fold_dtype dtype;
    size_t rows, cols;
  } cases[] = {
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12, FOLD_F32, 1, 3},
      {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12, FOLD_F32, 1, 3},
      {3, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }    \n", 32, FOLD_F64, 2, 2},
      {1, "{'shape':(2,3),'descr':'<f2','fortran_order':False}", 12, FOLD_F16, 2, 3},
      {1, "  { \"fortran_order\" : False ,\n \"shape\" : ( 2 , 3 , ) , \"descr\" : \"<u2\" , }\n\n", 12, FOLD_BF16, 2,
       3},
      {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }", 12, FOLD_F32, 1, 3},
      {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3), }", 12, FOLD_F32, 1, 3},
      {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1), }", 12, FOLD_F32, 3, 1},
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0, FOLD_F32, 1, 0},
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 0), }", 0, FOLD_F32, (size_t)1 << 40, 0},
  };
  SCRATCH(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char file[512], data[64];
    size_t n = assemble(file, cases[i].version, cases[i].header, cases[i].nbytes);
    const char *path = scratch_write(&s, "a.npy", file, n);
    struct fold_npy npy;
    fold_status status = fold_npy_open(path, &npy);
    cr_expect(status.code == FOLD_OK, "%s: %s", cases[i].header, status.text);
    if (status.code != FOLD_OK) continue;
    cr_expect(npy.dtype == cases[i].dtype && npy.rows == cases[i].rows && npy.cols == cases[i].cols,
              "%s: read as %s %zu x %zu", cases[i].header, fold_dtype_name(npy.dtype), npy.rows, npy.cols);
    status = fold_npy_read(path, &npy, data);
    cr_expect(status.code == FOLD_OK && memcmp(data, file + n - cases[i].nbytes, cases[i].nbytes) == 0, "%s: data",
              cases[i].header);
  }
}

/* The status must be FOLD_BAD_INPUT, one line, with the path and the words in it. */
static void expect_code(fold_status status, enum fold_code code, const char *path, const char *words,
                        const char *what) {
  cr_expect(status.code == code, "%s: code %d, not refused with %d: %s", what, status.code, code, status.text);
  cr_expect(strstr(status.text, path) && strstr(status.text, words) && !strchr(status.text, '\n'),
            "%s: the message lacks '%s': %s", what, words, status.text);
}

static void expect_refusal(fold_status status, const char *path, const char *words, const char *what) {
  expect_code(status, FOLD_BAD_INPUT, path, words, what);
}

#define PLAIN(type, order, shape) "{'descr': " type ", 'fortran_order': " order ", 'shape': " shape ", }\n"

Test(npy, every_unlawful_file_is_refused_with_its_reason) {
  static const struct {
    int version;
    const char *header;
    size_t nbytes;
    const char *words;
  } cases[] = {
      {1, PLAIN("'>f4'", "False", "(3,)"), 12, "big-endian"},
      {1, PLAIN("'>f8'", "False", "(3,)"), 24, "big-endian"},
      {1, PLAIN("'|O'", "False", "(3,)"), 24, "Python objects"},
      {1, PLAIN("'O'", "False", "(3,)"), 24, "Python objects"},
      {1, PLAIN("'<u4'", "False", "(3,)"), 12,
       "it holds '<u4' (uint32); what is read: <f2 (f16), <u2 (bf16), <f4 (f32), <f8 (f64), |u1 (e4m3), |u1 (e5m2), "
       "|i1 (i8), "
       "<i4 (i32), <i8 (i64): save"},
      {1, PLAIN("'<f16'", "False", "(3,)"), 48, "it holds '<f16' (float128); what is read: <f2 (f16)"},
      {1, PLAIN("'<u8'", "False", "(3,)"), 24, "it holds '<u8' (uint64); "},
      {1, PLAIN("'<c8'", "False", "(3,)"), 24, "it holds '<c8' (complex64); "},
      {1, PLAIN("'<i2'", "False", "(3,)"), 6, "it holds '<i2' (int16); "},
      {1, PLAIN("'|b1'", "False", "(3,)"), 3, "it holds '|b1' (bool); "},
      {1, PLAIN("'<M8[ns]'", "False", "(3,)"), 24, "it holds '<M8[ns]'; "},
      {1, PLAIN("'f4'", "False", "(3,)"), 12, "it holds 'f4'; "},
      {1, PLAIN("''", "False", "(3,)"), 12, "it holds ''; "},
      {1, PLAIN("[('a', '<f4')]", "False", "(3,)"), 12, "structured type"},
      {1, PLAIN("4", "False", "(3,)"), 12, "descr is malformed"},
      {1, PLAIN("'<f4'", "True", "(2, 3)"), 24, "Fortran order"},
      {1, PLAIN("'<f4'", "0", "(3,)"), 12, "neither True nor False"},
      {1, PLAIN("'<f4'", "False", "()"), 4, "scalar"},
      {1, PLAIN("'<f4'", "False", "(1, 2, 3)"), 24, "more than two dimensions"},
      {1, PLAIN("'<f4'", "False", "(3)"), 12, "not a tuple"},
      {1, PLAIN("'<f4'", "False", "3"), 12, "not a tuple"},
      {1, PLAIN("'<f4'", "False", "(-3,)"), 12, "shape is malformed"},
      {1, PLAIN("'<f4'", "False", "(3 4)"), 48, "shape is malformed"},
      {1, PLAIN("'<f4'", "False", "(,)"), 4, "shape is malformed"},
      {1, PLAIN("'<f4'", "False", "(3,"), 12, "shape is malformed"},
      {1, PLAIN("'<f4'", "False", "(1099511627777,)"), 12, "absurd"},
      {1, PLAIN("'<f4'", "False", "(4294967296, 4294967296)"), 0, "absurd"},
      {1, PLAIN("'<f4'", "False", "(99999999999999999999999999, 0)"), 0, "absurd"},
      {1, PLAIN("'<f4'", "False", "(18446744073709551617,)"), 4, "absurd"},
      {1, PLAIN("'<f4'", "False", "(3,)"), 11, "truncated"},
      {1, PLAIN("'<f4'", "False", "(3,)"), 0, "truncated"},
      {1, PLAIN("'<f4'", "False", "(3,)"), 13, "too long"},
      {1, PLAIN("'<f4'", "False", "(0,)"), 1, "too long"},
      {1, "{'descr': '<f4', 'fortran_order': False, }", 4, "lacks"},
      {1, "{'descr': '<f4', 'shape': (1,), }", 4, "lacks"},
      {1, "{}", 4, "lacks"},
      {1, "", 4, "not a dictionary"},
      {1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "unknown or repeated key"},
      {1, "{'descr': '<f4', 'more': 1, 'fortran_order': False, 'shape': (1,)}", 4, "unknown or repeated key"},
      {1, "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4, "malformed"},
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, "malformed"},
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "goes on"},
      {0, PLAIN("'<f4'", "False", "(3,)"), 12, "version"},
      {4, PLAIN("'<f4'", "False", "(3,)"), 12, "version"},
  };
  SCRATCH(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char file[512];
    const char *path =
        scratch_write(&s, "a.npy", file, assemble(file, cases[i].version, cases[i].header, cases[i].nbytes));
    struct fold_npy npy;
    expect_refusal(fold_npy_open(path, &npy), path, cases[i].words, cases[i].header);
  }
}

/* Three dimensions, which only the function for batches takes: the rows of all matrices. */
Test(npy, batches_of_matrices_are_read_where_they_are_asked_for) {
  static const struct {
    const char *order, *shape, *words; /* words: of the refusal; NULL: it is read */
    size_t nbytes, extent[3];
  } cases[] = {
      {"False", "(2, 3, 4)", NULL, 96, {2, 3, 4}},     {"False", "(0, 3, 4)", NULL, 0, {0, 3, 4}},
      {"False", "(2, 3, 0)", NULL, 0, {2, 3, 0}},      {"True", "(1, 1, 5)", NULL, 20, {1, 1, 5}},
      {"True", "(2, 1, 1)", NULL, 8, {2, 1, 1}},       {"True", "(2, 3, 1)", "Fortran order", 24, {0}},
      {"True", "(2, 1, 3)", "Fortran order", 24, {0}}, {"False", "(1, 2, 3, 4)", "more than", 96, {0}},
      {"False", "(2, 3, 4)", "truncated", 92, {0}},    {"False", "(1048576, 1048576, 2)", "absurd", 0, {0}},
  };
  SCRATCH(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char file[512], data[96];
    char header[128];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': %s, 'shape': %s, }", cases[i].order,
             cases[i].shape);
    const size_t n = assemble(file, 1, header, cases[i].nbytes);
    const char *path = scratch_write(&s, "a.npy", file, n);
    struct fold_npy npy, other = {.rows = 77};
    const fold_status status = fold_npy_open_batches(path, &npy);
    cr_expect(fold_npy_open(path, &other).code == FOLD_BAD_INPUT && other.rows == 77, "%s: it is taken for rows",
              header);
    if (cases[i].words) expect_refusal(status, path, cases[i].words, header);
    if (cases[i].words || status.code != FOLD_OK) {
      cr_expect(cases[i].words, "%s: %s", header, status.text);
      continue;
    }
    const size_t *extent = cases[i].extent;
    cr_expect(npy.dimensions == 3 && memcmp(npy.extent, extent, sizeof npy.extent) == 0, "%s", header);
    cr_expect(npy.rows == extent[0] * extent[1] && npy.cols == extent[2], "%s: %zu x %zu", header, npy.rows, npy.cols);
    cr_expect(fold_npy_read(path, &npy, data).code == FOLD_OK &&
                  memcmp(data, file + n - cases[i].nbytes, cases[i].nbytes) == 0,
              "%s: data", header);
  }
}

Test(npy, a_file_cut_anywhere_is_refused) {
  unsigned char file[512];
  size_t n = assemble(file, 2, PLAIN("'<f4'", "False", "(3,)"), 12);
  SCRATCH(s);
  struct fold_npy npy;
  for (size_t cut = 0; cut < n; cut++) {
    const char *path = scratch_write(&s, "a.npy", file, cut);
    fold_status status = fold_npy_open(path, &npy);
    cr_expect(status.code == FOLD_BAD_INPUT, "cut to %zu of %zu bytes: %s", cut, n, status.text);
  }
  const char *path = scratch_write(&s, "a.npy", file, n);
  cr_expect(fold_npy_open(path, &npy).code == FOLD_OK, "the whole file must be good, or this test shows nothing");
}

Test(npy, what_is_no_npy_file_is_refused) {
  SCRATCH(s);
  struct fold_npy npy;
  unsigned char absurd[12] = "\x93NUMPY\2\0\xff\xff\xff\xff";
  const char *path = scratch_path(&s, "none.npy");
  expect_refusal(fold_npy_open(path, &npy), path, "No such file", "missing");
  path = scratch_write(&s, "a.npy", "PK\3\4 a zip, or anything", 20);
  expect_refusal(fold_npy_open(path, &npy), path, "not a .npy file", "zip");
  path = scratch_write(&s, "a.npy", "\x93NUMPY\1\1..", 10);
  expect_refusal(fold_npy_open(path, &npy), path, "version", "minor version");
  path = scratch_write(&s, "a.npy", absurd, sizeof absurd);
  expect_refusal(fold_npy_open(path, &npy), path, "absurd", "header length");
  expect_refusal(fold_npy_open(s.folder, &npy), s.folder, "not a regular file", "folder");
  expect_refusal(fold_npy_open("/dev/zero", &npy), "/dev/zero", "not a regular file", "device");
}

Test(npy, a_file_that_changes_or_vanishes_is_refused) {
  SCRATCH(s);
  unsigned char file[512], data[64];
  struct fold_npy npy, open;
  const char *path = scratch_write(&s, "a.npy", file, assemble(file, 1, PLAIN("'<f4'", "False", "(3,)"), 12));
  cr_assert(fold_npy_open(path, &open).code == FOLD_OK);
  static const struct {
    const char *header;
    size_t nbytes;
    const char *words;
  } changes[] = {
      {PLAIN("'<f4'", "False", "(4,)"), 16, "changed"},
      {PLAIN("'<f8'", "False", "(3,)"), 24, "changed"},
      {PLAIN("'<f4'", "False", "(3,1)"), 12, "changed"},
      {PLAIN("'<f4'", "False", "(3,)"), 8, "truncated"},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    scratch_write(&s, "a.npy", file, assemble(file, 1, changes[i].header, changes[i].nbytes));
    npy = open;
    expect_refusal(fold_npy_read(path, &npy, data), path, changes[i].words, changes[i].header);
  }
  unlink(path);
  expect_refusal(fold_npy_read(path, &open, data), path, "No such file", "vanished");
}

Test(npy, nothing_half_written_is_left) {
  SCRATCH(s);
  unsigned char before[16], after[512];
  memcpy(before, "what was before", 16);
  const char *path = scratch_write(&s, "a.npy", before, 16);
  struct filling f = filling_of(FOLD_F32);
  f.fail_at = 1;
  fold_status status = fold_npy_write(path, FOLD_F32, 1, 1000000, true, fill_random, &f);
  cr_expect(status.code == FOLD_ENVIRONMENT && strcmp(status.text, "the filling fails") == 0, "%s", status.text);
  cr_expect(read_file(path, after, sizeof after) == 16 && memcmp(before, after, 16) == 0, "the old file is gone");
  cr_expect(scratch_count(&s, false) == 1, "a temporary file is left");
  unlink(path);
  f = filling_of(FOLD_F32);
  f.fail_at = 1;
  fold_npy_write(path, FOLD_F32, 1, 1000000, true, fill_random, &f);
  cr_expect(scratch_count(&s, false) == 0, "a part of a file is left");
}

/* A file system that is full looks like this limit: some write, or the closing, fails. */
Test(npy, a_failing_write_is_noticed_at_any_byte) {
  SCRATCH(s);
  const char *path = scratch_write(&s, "a.npy", "old", 3);
  signal(SIGXFSZ, SIG_IGN);
  static const rlim_t limits[] = {0, 5, 127, 128, 1000, 4096, 128 + 40000 - 1};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit, full;
    getrlimit(RLIMIT_FSIZE, &limit);
    full = (struct rlimit){limits[i], limit.rlim_max};
    struct filling f = filling_of(FOLD_F32);
    setrlimit(RLIMIT_FSIZE, &full);
    fold_status status = fold_npy_write(path, FOLD_F32, 1, 10000, true, fill_random, &f);
    setrlimit(RLIMIT_FSIZE, &limit);
    unsigned char after[8];
    expect_code(status, FOLD_ENVIRONMENT, path, "cannot be written", "size limit");
    cr_expect(read_file(path, after, sizeof after) == 3, "limit %zu: the old file is gone", (size_t)limits[i]);
    cr_expect(scratch_count(&s, false) == 1, "limit %zu: a temporary file is left", (size_t)limits[i]);
  }
}

Test(npy, targets_that_cannot_be_written_are_refused) {
  SCRATCH(s);
  struct filling f = filling_of(FOLD_F32);
  struct stat device;
  /* Small enough to stay in the C library's buffer: only the closing can notice. */
  expect_code(fold_npy_write("/dev/full", FOLD_F32, 1, 10, true, fill_random, &f), FOLD_ENVIRONMENT, "/dev/full",
              "No space", "full");
  f = filling_of(FOLD_F32);
  expect_code(fold_npy_write("/dev/full", FOLD_F32, 1, 100000, true, fill_random, &f), FOLD_ENVIRONMENT, "/dev/full",
              "No space", "full, long");
  cr_expect(stat("/dev/full", &device) == 0 && S_ISCHR(device.st_mode), "the device was replaced by a file");
  const char *path = scratch_path(&s, "none/a.npy");
  expect_refusal(fold_npy_write(path, FOLD_F32, 1, 10, true, fill_random, &f), path, "No such file", "no folder");
  expect_refusal(fold_npy_write(s.folder, FOLD_F32, 1, 10, true, fill_random, &f), s.folder, "directory", "a folder");
  path = scratch_path(&s, "a.npy");
  expect_refusal(fold_npy_write(path, FOLD_F32, (size_t)1 << 40, 2, true, fill_random, &f), path, "absurd", "2^41");
  expect_refusal(fold_npy_write(path, FOLD_F32, SIZE_MAX, SIZE_MAX, true, fill_random, &f), path, "absurd", "2^128");
  if (geteuid() != 0) {
    chmod(s.folder, 0500);
    expect_refusal(fold_npy_write(path, FOLD_F32, 1, 10, true, fill_random, &f), path, "denied", "locked folder");
    chmod(s.folder, 0700);
  }
  cr_expect(scratch_count(&s, false) == 0, "something is left");
}

Test(npy, a_link_stays_a_link_and_permissions_are_usual) {
  SCRATCH(s);
  char link[128];
  struct stat got;
  snprintf(link, sizeof link, "%s/link.npy", s.folder);
  cr_assert(symlink("a.npy", link) == 0);
  scratch_write(&s, "a.npy", "old", 3);
  struct filling f = filling_of(FOLD_F32);
  mode_t mask = umask(022);
  fold_status status = fold_npy_write(link, FOLD_F32, 1, 10, true, fill_random, &f);
  umask(mask);
  cr_expect(status.code == FOLD_OK, "%s", status.text);
  cr_expect(lstat(link, &got) == 0 && S_ISLNK(got.st_mode), "the link became a file");
  cr_expect(stat(link, &got) == 0 && got.st_size == 128 + 40 && (got.st_mode & 0777) == 0644, "size %ld, mode %o",
            (long)got.st_size, got.st_mode & 0777u);
}

static size_t mutate(uint64_t trial, unsigned char *file, size_t n) {
  static const unsigned char spice[] = "{}()[]'\",: 0123456789TFO<>|fu\\\n\x93\xff";
  for (uint64_t k = 0; k <= trial % 3 && n > 0; k++) {
    uint64_t r = sample_bits(trial, k);
    size_t at = (r >> 8 & 1 ? r >> 10 : (r >> 10) % 24) % n;
    file[at] = r >> 9 & 1 ? spice[(r >> 32) % (sizeof spice - 1)] : (unsigned char)(r >> 32);
    if ((r >> 40) % 16 == 0) n = (r >> 44) % (n + 1);
  }
  return n;
}

/* Whatever the bytes, the answer is a refusal or a header that accounts for every byte of the file. */
Test(npy, mutated_headers_never_mislead) {
  static const char *const seeds[] = {PLAIN("'<f4'", "False", "(3,)"), PLAIN("'<f2'", "True", "(6, 1)"),
                                      "{\"shape\" : (1, 6, ), 'descr':'<u2','fortran_order':False}     "};
  enum { trials = 20000 };
  struct memory_file m;
  memory_file_open(&m);
  size_t accepted = 0, shown = 0;
  for (uint64_t trial = 0; trial < trials; trial++) {
    unsigned char file[512];
    size_t n = assemble(file, (int)(trial % 3) + 1, seeds[trial % 7 % 3], 12);
    n = mutate(trial, file, n);
    memory_file_write(&m, file, n);
    struct fold_npy npy = {.cols = 77};
    fold_status status = fold_npy_open(m.path, &npy);
    bool fine = status.code == FOLD_BAD_INPUT && strstr(status.text, m.path);
    if (status.code == FOLD_OK) {
      accepted++;
      fine = npy.offset + npy.rows * npy.cols * fold_dtype_size(npy.dtype) == n;
    }
    if (!fine && shown++ < 10)
      cr_expect(false, "trial %zu: code %d, %zu x %zu at %zu of %zu: %s", (size_t)trial, status.code, npy.rows,
                npy.cols, (size_t)npy.offset, n, status.text);
  }
  cr_expect(shown == 0, "%zu trials misled", shown);
  cr_expect(accepted > trials / 50 && accepted < trials / 2, "%zu of %d accepted: these mutations try too little",
            accepted, trials);
}

static bool python(const char *code, const char *folder) {
  char command[2048];
  snprintf(command, sizeof command, "cd '%s' && /usr/bin/python3 -c \"%s\" >/dev/null 2>&1", folder, code);
  return system(command) == 0;
}

Test(npy, real_numpy_reads_and_writes_the_same) {
  SCRATCH(s);
  if (!python("import numpy", s.folder)) {
    scratch_close(&s);
    cr_skip_test("/usr/bin/python3 has no numpy");
  }
  static const char *const types[] = {"<f2", "<u2", "<f4", "<f8"};
  for (int dtype = 0; dtype < FOLD_E4M3; dtype++) {
    char code[512];
    struct filling f = filling_of((enum fold_dtype)dtype);
    cr_assert(
        fold_npy_write(scratch_path(&s, "ours.npy"), (enum fold_dtype)dtype, 3, 50, false, fill_random, &f).code ==
        FOLD_OK);
    snprintf(code, sizeof code,
             "import numpy as n; a = n.load('ours.npy'); assert a.dtype.str == '%s' and a.shape == (3, 50); "
             "n.save('theirs.npy', a); n.save('flat.npy', a.ravel()); n.save('turned.npy', n.asfortranarray(a))",
             types[dtype]);
    cr_expect(python(code, s.folder), "numpy does not read what we write: %s", types[dtype]);
    unsigned char ours[2048], theirs[2048], data[2048];
    size_t n = read_file(scratch_path(&s, "ours.npy"), ours, sizeof ours);
    cr_expect(read_file(scratch_path(&s, "theirs.npy"), theirs, sizeof theirs) == n && memcmp(ours, theirs, n) == 0,
              "%s: numpy writes other bytes", types[dtype]);
    struct fold_npy npy;
    fold_status status = fold_npy_open(scratch_path(&s, "flat.npy"), &npy);
    cr_expect(status.code == FOLD_OK && npy.rows == 1 && npy.cols == 150, "%s", status.text);
    status = fold_npy_read(scratch_path(&s, "flat.npy"), &npy, data);
    cr_expect(status.code == FOLD_OK && memcmp(data, ours + 128, n - 128) == 0, "%s: other data", types[dtype]);
    expect_refusal(fold_npy_open(scratch_path(&s, "turned.npy"), &npy), "turned.npy", "Fortran order", types[dtype]);
  }
}
