/* test_fixture_mistakes.c: each mistake in a fixture file is refused, with file, line and key. */
#include <criterion/criterion.h>

#include "fixture_text.h"

#define SHORT "dtype = f32\nn = 5\n"
#define KEYED NORMAL "dtype = f32\nop = keyed\nm = 3\nn = 2\nk = 5\n"
#define VOTES GIVEN "dtype = f32\nop = keyed\nm = 2\nn = 2\nk = 3\n"
#define PRODUCT NORMAL "dtype = f32\nop = matmul\nm = 2\nn = 3\nk = 4\n"

/* Each mistake, the line it stands in, and the words that must tell it: the key first. */
static const struct mistake {
  const char *text;
  size_t line;
  const char *words;
} mistakes[] = {
    {NORMAL SHORT "colour = red\n", 5, "colour: unknown key"},
    {NORMAL SHORT "N = 5\n", 5, "N: unknown key"},
    {NORMAL SHORT "m, k = 5\n", 5, "m, k: unknown key: each key has a line of its own"},
    {NORMAL "dtype = f32\nop = sum\nm = 5\nn = 3\nk = 4\n", 4,
     "op: sum has rows and cols in place of m, n, k and batch"},
    {NORMAL SHORT "a_very_long_key_that_no_section_has_and_that_is_longer_than_a_name = 1\n", 5, "unknown key"},
    {"n = 5\n" NORMAL SHORT, 1, "n: stands before the first [section]"},
    {"\n" NORMAL SHORT "nonsense\n", 6, "is neither"},
    {"[a\ngenerator = normal\n" SHORT, 1, "malformed [section]"},
    {"[]\ngenerator = normal\n" SHORT, 1, "malformed [section]"},
    {"[a b]\ngenerator = normal\n" SHORT, 1, "malformed [section]"},
    {"[a*]\ngenerator = normal\n" SHORT, 1, "malformed [section]"},
    {"[a] b\ngenerator = normal\n" SHORT, 1, "malformed [section]"},
    {"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\ngenerator = normal\n" SHORT, 1,
     "malformed [section]"},
    {NORMAL SHORT " [b]\n", 5, "a [section] must start its line"},
    {NORMAL SHORT "[b]\n", 5, "[b] is empty"},
    {"\xef\xbb\xbf" NORMAL SHORT, 1, "byte order mark"},
    {"[a]\ngenerator = nrmal\n" SHORT, 2, "generator: nrmal is no generator"},
    {"[a]\n" SHORT, 1, "generator: missing in [a]"},
    {NORMAL "generator = mixed\n" SHORT, 3, "generator: it is given twice"},
    {NORMAL "  mixed\n" SHORT, 3, "generator: it is given twice"},
    {NORMAL SHORT "set = default\nset = large\n", 6, "set: it is given twice"},
    {"[a]\ngenerator =\n" SHORT, 2, "generator: it has no value"},
    {NORMAL "n = 5\n", 1, "dtype: missing in [a]"},
    {NORMAL "dtype = f31\nn = 5\n", 3, "dtype: f31 is no dtype"},
    {NORMAL SHORT "op = mean\n", 5, "op: mean is no operation"},
    {NORMAL SHORT "set = huge\n", 5, "set: huge is no set"},
    {NORMAL "dtype = f32\n", 1, "n: missing in [a]: the number of elements of one row; or give rows and cols"},
    {NORMAL "dtype = f32\nn = -1\n", 4, "n: -1 is negative"},
    {NORMAL "dtype = f32\nn = 3-4\n", 4, "n: 3-4 is negative"},
    {NORMAL "dtype = f32\nn = 1+-2\n", 4, "n: 1+-2 is negative"},
    {NORMAL "dtype = f32\nn = 12x\n", 4, "n: 12x is malformed"},
    {NORMAL "dtype = f32\nn = 0x10\n", 4, "n: 0x10 is malformed"},
    {NORMAL "dtype = f32\nn = 1.5\n", 4, "n: 1.5 is malformed"},
    {NORMAL "dtype = f32\nn = 1 2\n", 4, "n: 1 2 is malformed"},
    {NORMAL "dtype = f32\nn = many\n", 4, "n: many is malformed"},
    {NORMAL "dtype = f32\nn = 1..\n", 4, "n: 1.. is malformed"},
    {NORMAL "dtype = f32\nn = 2..1\n", 4, "n: 2..1 is a range that ends before it starts"},
    {NORMAL "dtype = f32\nn = 1..9 step 0\n", 4, "n: 1..9 step 0 has a step of 0"},
    {NORMAL "dtype = f32\nn = 1..9 step\n", 4, "n: 1..9 step is malformed"},
    {NORMAL "dtype = f32\nn = 1..9 steps 2\n", 4, "n: 1..9 steps 2 is malformed"},
    {NORMAL "dtype = f32\nn = 1..9 step 2 3\n", 4, "n: 1..9 step 2 3 is malformed"},
    {NORMAL "dtype = f32\nn = 9 step 2\n", 4, "n: 9 step 2 is malformed"},
    {NORMAL "dtype = f32\nn = 9+-1 step 2\n", 4, "n: 9+-1 step 2 is malformed"},
    {NORMAL "dtype = f32\nn = 9..1 step 2\n", 4, "n: 9..1 step 2 is a range that ends before it starts"},
    {NORMAL "dtype = f32\nn = 0..4096 step 1\n", 4, "n: 0..4096 step 1 makes the list longer than 4096"},
    {NORMAL "dtype = f32\nn = 1,,2\n", 4, "n: 1,,2 has an empty item"},
    {NORMAL "dtype = f32\nn = ,\n", 4, "n: , has an empty item"},
    {NORMAL "dtype = f32\nn = 1,\n 2,\n x\n", 6, "n: x is malformed"},
    {NORMAL "dtype = f32\nn = 1099511627777\n", 4, "n: 1099511627777 is absurd"},
    {NORMAL "dtype = f32\nn = 18446744073709551616\n", 4, "n: 18446744073709551616 is too large"},
    {NORMAL "dtype = f32\nn = 2^64\n", 4, "n: 2^64 is too large"},
    {NORMAL "dtype = f32\nn = 1e9999999999999999999\n", 4, "is too large"},
    {NORMAL "dtype = f32\nn = 18446744073709551615+1\n", 4, "is too large"},
    {NORMAL "dtype = f32\nn = 0..5000\n", 4, "n: 0..5000 makes the list longer than 4096"},
    {NORMAL "dtype = f32\nn = 0..18446744073709551615\n", 4, "absurd"},
    {NORMAL "dtype = f32\nn = 0..999\nseed = 1..999\n", 1, "stands for 999000 cases"},
    {NORMAL "dtype = f32\nrows = 2^30\ncols = 2^30\n", 4, "rows: 1073741824 x 1073741824 is absurd"},
    {NORMAL "dtype = f32\nrows = 2^40\ncols = 2^40\n", 4, "is absurd"},
    {NORMAL "dtype = f32\nrows = 2\n", 1, "cols: missing in [a]"},
    {NORMAL "dtype = f32\ncols = 2\n", 1, "rows: missing in [a]"},
    {NORMAL SHORT "ranks = 0\n", 5, "ranks: 0 is no world: at least 1 rank"},
    {NORMAL SHORT "ranks = 3, 0..2\n", 5, "ranks: 0..2 is no world"},
    {NORMAL SHORT "ranks = 1025\n", 5, "ranks: 1025 is more than 1024 ranks"},
    {NORMAL SHORT "ranks = -3\n", 5, "ranks: -3 is negative"},
    {NORMAL SHORT "ranks = all\n", 5, "ranks: all is malformed"},
    {NORMAL SHORT "ranks =\n", 5, "ranks: it has no value"},
    {NORMAL SHORT "ranks = 3, 3\n", 1, "is there already"},
    {NORMAL "dtype = f32\ncols = 2\nranks = 3\n", 1, "rows: missing in [a]"},
    {NORMAL "dtype = f32\nranks = 3\n", 1, "n: missing in [a]"},
    {NORMAL "dtype = f32\nrows = 2^39\nranks = 3\n", 4, "rows: 549755813888 x 3 is absurd"},
    {"[a]\ngenerator = pathological\ndtype = e4m3\nn = 5\n", 3, "dtype: generator pathological does not make this"},
    {"[a]\ngenerator = ill_conditioned\ndtype = e5m2\nn = 5\ncondition = 1e300\n", 5, "condition: "},
    {PRODUCT "layout = nn, nx\n", 8, "layout: nx is no layout: for each input n, or t"},
    {PRODUCT "layout = columns\n", 8, "layout: columns is no layout"},
    {PRODUCT "layout = nnn\n", 8, "layout: nnn is no layout"},
    /* More letters than a mask has bits: seen by UBSan. */
    {PRODUCT "layout = tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt\n", 8, "is no layout"},
    {PRODUCT "layout = nn, t\n", 8, "layout: t is of another number of inputs"},
    {PRODUCT "layout = t\n", 8, "layout: matmul has another number of inputs than the layout has letters"},
    {NORMAL SHORT "op = matvec\nlayout = nt\n", 6, "layout: matvec has an input without rows and columns"},
    {KEYED "keys = hot, cold\n", 8,
     "keys: cold is no pattern of keys: uniform, sorted, hot, one_each, one or ends_empty"},
    {KEYED "batch = 2\n", 4, "op: keyed has no batches"},
    {PRODUCT "keys = hot\n", 4, "op: matmul has no keys"},
    {NORMAL SHORT "keys = hot\n", 5, "keys: sum has rows and cols in place of m, n, k and batch, and no keys"},
    {NORMAL "dtype = f32\nop = keyed\nm = 0\nn = 1\nk = 3\n", 5, "m: 0 slots, and 3 terms to add to one"},
    {NORMAL "dtype = f32\nop = keyed\nm = 2^31\nn = 1\nk = 3\n", 7, "k: 3 terms of 2147483648 keys"},
    {NORMAL "dtype = f32\nop = keyed\nn = 5\n", 1, "m: missing in [a]"},
    {GIVEN "dtype = f32\nop = keyed\nvalues = 1, 0\n", 1, "m: missing in [a]"},
    {VOTES "slots = 0, 1\nvalues = 1, 2, 3, 4\n", 8, "slots: 2 are given, and there are k = 3 rows of values"},
    {VOTES "slots = 0, 1, 1, 0\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "slots: 4 are given, and there are k = 3"},
    {VOTES "slots = 0, 1, 2\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "slots: slot 3 is 2, and there are m = 2"},
    {VOTES "slots = 0, 1, 1\nvalues = 1, 2, 3, 4\n", 9, "values: 4 values are given, and keyed of 2x2x3 has 6"},
    {VOTES "values = 1, 2, 3, 4, 5, 6\n", 1, "slots: missing in [a]: which slot, below m, is each of the k rows"},
    {VOTES "keys = hot\nslots = 0, 1, 1\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "keys: it goes only with a generator"},
    {VOTES "slots = 0, -1, 1\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "slots: -1 is negative"},
    {VOTES "slots = 0, 2147483647, 1\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "slots: 2147483647 is no slot"},
    {VOTES "slots = 0..1048576\nvalues = 1, 2, 3, 4, 5, 6\n", 8, "slots: 0..1048576 is more than 2^20 slots"},
    {KEYED "slots = 0, 1, 2, 0, 1\n", 8, "slots: it does not go with a generator"},
    {GIVEN "dtype = f32\nrows = 1\ncols = 2\nslots = 0\nvalues = 1, 2\n", 6,
     "slots: sum has rows and cols in place of"},
    {GIVEN "dtype = f32\nop = matmul\nm = 1\nn = 1\nk = 1\nslots = 0\nvalues = 1, 2\n", 4, "op: matmul has no keys"},
    {GIVEN "dtype = f32\nrows = 2\ncols = 3\nvalues = 1, 2, 3, 4, 5\n", 6,
     "values: 5 values are given, and sum of 2x3 has 6"},
    {GIVEN "dtype = f32\nrows = 2\ncols = 3\nbits = 0x3f800000\ntimes = 5\n", 6,
     "bits: 5 values are given, and sum of 2x3 has 6"},
    {GIVEN "dtype = f32\nop = dot\nrows = 2\ncols = 2\nvalues = 1, 2, 3, 4\n", 7,
     "values: 4 values are given, and dot of 2x2 has 8: 4 of the first input, then 4"},
    {GIVEN "dtype = f32\nop = matmul\nm = 2\nn = 3\nk = 4\nvalues = 1\ntimes = 21\n", 8,
     "values: 21 values are given, and matmul of 2x3x4 has 20: 8 of the first input, then 12"},
    {GIVEN "dtype = f32\nop = matmul\nrows = 2\ncols = 4\nvalues = 1\n", 1, "m: missing in [a]"},
    {GIVEN "dtype = f32\nop = matmul\nm = 2\nn = 3\nvalues = 1\n", 1, "k: missing in [a]"},
    {GIVEN "dtype = f32\nop = matmul\nm = 2\nn = 3\nk = 2\nrows = 2\ncols = 2\nvalues = 1\n", 6,
     "n: it does not go with rows and cols"},
    {GIVEN "dtype = f32\nrows = 2\nvalues = 1, 2\n", 1, "cols: missing in [a]: rows need cols"},
    {GIVEN "dtype = f32\ncols = 2\nvalues = 1, 2\n", 1, "rows: missing in [a]: cols need rows"},
    {GIVEN "dtype = f32\nn = 1\nrows = 1\ncols = 2\nvalues = 1, 2\n", 4, "n: it does not go with rows and cols"},
    {GIVEN "dtype = f32\nrows = 2\ncols = 1\nvalues = 1, 2\nexpect_sum = 3\n", 7,
     "expect_sum: it goes only with one row"},
    {GIVEN "dtype = f32\nop = matmul\nm = 1\nn = 2\nk = 1\nvalues = 1, 2, 3\nexpect_sum = 3\n", 9,
     "expect_sum: it goes only with one row"},
    {GIVEN "dtype = f32\nvalues = 1\nrepeats = 0\n", 5, "repeats: 0 is not between 1 and 1,000,000 repeats"},
    {GIVEN "dtype = f32\nvalues = 1\nrepeats = 1000001\n", 5,
     "repeats: 1000001 is not between 1 and 1,000,000 repeats"},
    {GIVEN "dtype = f32\nvalues = 1\nrepeats = 3..5\n", 5, "repeats: 3..5 is more than one number"},
    {GIVEN "dtype = f32\nvalues = 1\nrepeats = 3\nrepeats = 5\n", 6, "repeats: it is given twice"},
    {GIVEN "dtype = f32\nrows = 2^20\ncols = 2^30\nvalues = 1\n", 4, "is absurd"},
    {GIVEN "npy = none.npy\nrows = 1\ncols = 2\n", 3, "npy: "},
    {NORMAL SHORT "seed = 0x\n", 5, "seed: 0x is malformed"},
    {NORMAL SHORT "seed = 0x1ffffffffffffffff\n", 5, "seed: 0x1ffffffffffffffff is malformed"},
    {PRODUCT "lda = 3\n", 8, "lda: 3 is not +N"},
    {PRODUCT "lda = -1\n", 8, "lda: -1 is not +N"},
    {PRODUCT "lda = +x\n", 8, "lda: x is malformed"},
    {PRODUCT "lda = +65537\n", 8, "lda: 65537 is more than 65536 elements"},
    {NORMAL SHORT "ranks = 2\nlda = +1\n", 6, "lda: it does not go with ranks"},
    {GIVEN "dtype = f32\nvalues = 1\nlayout = n\n", 5, "layout: it goes only with a generator"},
    {NORMAL SHORT "rows = 2\n", 5, "rows: it does not go with n"},
    {NORMAL SHORT "cols = 2\n", 5, "cols: it does not go with n"},
    {NORMAL SHORT "seed = -1\n", 5, "seed: -1 is negative"},
    {NORMAL SHORT "seed = 18446744073709551616\n", 5, "is too large"},
    {NORMAL SHORT "condition = 1e3\n", 5, "condition: normal takes no condition"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT, 1, "condition: missing in [a]"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT "condition = 0.5\n", 5, "condition: 0.5 is no condition number"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT "condition = nan\n", 5, "condition: nan is no condition number"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT "condition = 1e8x\n", 5, "condition: 1e8x is no condition number"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT "condition = 1e300\n", 5, "condition: "},
    {NORMAL SHORT "values = 1, 2\n", 5, "values: it does not go with a generator"},
    {NORMAL SHORT "provenance = here\n", 5, "provenance: it does not go with a generator"},
    {"[a]\ndtype = f32\nvalues = 1, 2\n", 1, "provenance: missing in [a]"},
    {GIVEN "values = 1, 2\n", 1, "dtype: missing in [a]"},
    {GIVEN SHORT "values = 1, 2\n", 4, "n: it goes only with a generator"},
    {GIVEN "dtype = f32\nvalues = 1\nseed = 2\n", 5, "seed: it goes only with a generator"},
    {GIVEN "dtype = f32\nvalues = 1, 0x1p-150\n", 4, "is not exact in f32"},
    {GIVEN "dtype = f32\nvalues = 1e39\n", 4, "is not exact"},
    /* A digit comes first, in front of the point too. */
    {GIVEN "dtype = f32\nvalues = .5\n", 4, "values: .5 "},
    {GIVEN "dtype = f32\nvalues = -.5\n", 4, "values: -.5 "},
    {GIVEN "dtype = f32\nvalues = 1, +.5\n", 4, "values: +.5 "},
    {GIVEN "dtype = f32\nvalues = e5\n", 4, "values: e5 "},
    {GIVEN "dtype = f32\nvalues = --5\n", 4, "values: --5 "},
    {GIVEN "dtype = f32\nvalues = 5_000\n", 4, "values: 5_000 "},
    {GIVEN "dtype = f64\nvalues = 0.1\n", 4, "values: 0.1 is not exact: nearest is 0x1.999999999999ap-4 (f64)"},
    {GIVEN "dtype = f32\nvalues = 0.1\n", 4, "values: 0.1 is not exact: nearest is 0x1.99999ap-4 (f32)"},
    {GIVEN "values = 1, 0.1, 0.7\ndtype = f64, f32\n", 3,
     "values: 0.1 is not exact: nearest is 0x1.99999ap-4 (f32), 0x1.999999999999ap-4 (f64)"},
    {GIVEN "dtype = all\nvalues = -0.1\n", 4,
     "nearest is -0x1.998p-4 (f16), -0x1.9ap-4 (bf16), -0x1.99999ap-4 (f32), "},
    {GIVEN "dtype = f32\nvalues = 16777217\n", 4, "is not exact in f32: nearest is 0x1p+24"},
    {GIVEN "dtype = f64, i64\nvalues = 9007199254740993\n", 4,
     "values: 9007199254740993 is not exact: nearest is 0x1p+53 (f64)"},
    {GIVEN "dtype = i32\nvalues = 5, 2147483648\n", 4,
     "values: value 2 is no number of i32: whole ones from -2147483648 to 2147483647"},
    {GIVEN "dtype = i64\nvalues = 9223372036854775808\n", 4,
     "value 1 is no number of i64: whole ones from -9223372036854775808 to 9223372036854775807"},
    {GIVEN "dtype = i64\nvalues = -9223372036854775809\n", 4, "value 1 is no number of i64"},
    {GIVEN "dtype = i64\nvalues = 100000000000000000000000000000000001\n", 4, "value 1 is no number of i64"},
    {GIVEN "dtype = i64\nvalues = 9007199254740992.5\n", 4, "value 1 is no number of i64"},
    {GIVEN "dtype = i64\nvalues = 9007199254740992.00000000001\n", 4, "value 1 is no number of i64"},
    {GIVEN "dtype = i8\nvalues = 1.5\n", 4, "value 1 is no number of i8: whole ones from -128 to 127"},
    {GIVEN "dtype = i8\nvalues = -0\n", 4, "value 1 is no number of i8"},
    {GIVEN "dtype = i8\nvalues = nan\n", 4, "value 1 is no number of i8"},
    {GIVEN "dtype = i8\nvalues = -inf\n", 4, "value 1 is no number of i8"},
    /* Rounded once, however near a tie: just above the middle of 1 and its neighbour, at it, just below. */
    {GIVEN "dtype = f32\nvalues = 1.000000059604644775390625000000000000000000000000001\n", 4,
     "is 0x1.000002p+0 (f32)"},
    {GIVEN "dtype = f32\nvalues = 1.000000059604644775390624999999999999999999999999999\n", 4, "is 0x1p+0 (f32)"},
    {GIVEN "dtype = bf16, f64\nvalues = 1.00390625000000000000000000000000000000000000000001\n", 4,
     "is 0x1.02p+0 (bf16), 0x1.01p+0 (f64)"},
    {GIVEN "dtype = f16\nvalues = 2.9802322387695312500000000000000000000001e-8\n", 4, "is 0x1p-24 (f16)"},
    {GIVEN "dtype = f64\nvalues = 1e400\n", 4, "values: 1e400 is not exact: nearest is inf (f64)"},
    /* A pattern or a number: both spellings. */
    {GIVEN "dtype = f32\nvalues = 0x3f800000\n", 4,
     "values: 0x3f800000 is a bit pattern or a whole number: for the pattern write bits = 0x3f800000, for the number "
     "0x3f800000p0"},
    {GIVEN "dtype = f64\nvalues = 1, 0X10\n", 4, "for the pattern write bits = 0X10, for the number 0X10p0"},
    {GIVEN "dtype = f64\nvalues = -0x10\n", 4, "-0x10p0"},
    {GIVEN "dtype = f64\nvalues = 0x1\n", 4, "0x1p0"},
    {GIVEN "dtype = f32\nvalues = 1\nexpect_sum = 0x3f800000\n", 5, "expect_sum: 0x3f800000 is a pattern or a number"},
    {"[a]\ngenerator = ill_conditioned\n" SHORT "condition = 0x1e8\n", 5, "condition: 0x1e8 is a pattern or a number"},
    {GIVEN "dtype = f32\nvalues = 1\ntimes = 0\n", 5, "times: 0 is none"},
    {GIVEN "dtype = f32\nvalues = 1\ntimes = 1..3\n", 5, "times: it is one number"},
    {GIVEN "dtype = f32\nvalues = 1\ntimes = 2^20+1\n", 5, "times: 2^20+1 is absurd"},
    {NORMAL SHORT "times = 3\n", 5, "times: it does not go with a generator"},
    {GIVEN "dtype = f32\nbits = 0x3c00\n", 4, "bits: its patterns have 4 hexadecimal digits, those of f32 have 8"},
    {GIVEN "dtype = f16\nbits = 0x3f800000\n", 4, "bits: its patterns have 8 hexadecimal digits, those of f16 have 4"},
    {GIVEN "dtype = f32\nbits = 0x3f80000\n", 4, "have 7 hexadecimal digits"},
    {GIVEN "dtype = f32\nbits = 0x03f800000\n", 4, "have 9 hexadecimal digits"},
    {GIVEN "bits = 0x3c00\ndtype = all\n", 3, "those of f32 have 8"},
    {GIVEN "dtype = f32\nbits = 0x3f800000, 0x3c00\n", 4, "bits: 0x3c00 has a different width than the first pattern"},
    {GIVEN "dtype = f64\nbits = 0x3ff00000000000000\n", 4, "is wider than 64 bits"},
    {GIVEN "dtype = f32\nbits = 1.5\n", 4, "bits: 1.5 is no bit pattern"},
    {GIVEN "dtype = f32\nbits = 3f800000\n", 4, "is no bit pattern"},
    {GIVEN "dtype = f32\nbits = 0x3f800000p0\n", 4, "is no bit pattern"},
    {GIVEN "dtype = f32\nbits = 0x\n", 4, "is no bit pattern"},
    {GIVEN "dtype = f32\nbits = -0x3f800000\n", 4, "bits: -0x3f800000 has a sign"},
    {GIVEN "dtype = f32\nbits = 0x3f800000\nvalues = 1\n", 4, "bits: it does not go with values"},
    {NORMAL SHORT "bits = 0x3f800000\n", 5, "bits: it does not go with a generator"},
    {"[a]\ndtype = f32\nbits = 0x3f800000\n", 1, "provenance: missing in [a]"},
    {GIVEN "bits = 0x3f800000\n", 1, "dtype: missing in [a]"},
    {GIVEN "dtype = f32\nbits = 0x3f800000\nn = 5\n", 5, "n: it goes only with a generator"},
    {GIVEN "dtype = f32\nbits = 0x3f800000\nop = max\nexpect_sum = 1\n", 6, "expect_sum: it goes only with op sum"},
    {GIVEN "dtype = f64\nvalues = 0x1p-1075\n", 4, "is not exact"},
    {GIVEN "dtype = f16\nvalues = 65520\n", 4, "is not exact in f16"},
    {GIVEN "dtype = all\nvalues = 257\n", 4, "is not exact in bf16"},
    {GIVEN "dtype = f32\nvalues = 1.5.5\n", 4, "values: 1.5.5 is malformed"},
    {GIVEN "dtype = f32\nvalues = 0x\n", 4, "values: 0x is malformed"},
    {GIVEN "dtype = f32\nvalues = 1p3\n", 4, "values: 1p3 is malformed"},
    {GIVEN "dtype = f32\nvalues = infinity\n", 4, "values: infinity is malformed"},
    {GIVEN "dtype = f32\nvalues = NaN(1)\n", 4, "is malformed"},
    {GIVEN "dtype = f32\nvalues = @inf@\n", 4, "is malformed"},
    {GIVEN "dtype = f32\nvalues = 1\nexpect_sum = one\n", 5, "expect_sum: one is malformed"},
    {GIVEN "dtype = f32\nvalues = 1\nop = max\nexpect_sum = 1\n", 6, "expect_sum: it goes only with op sum"},
    {NORMAL "dtype = f32\nrows = 2\ncols = 2\nexpect_sum = 1\n", 6, "expect_sum: it goes only with one row"},
    {GIVEN "npy = none.npy\n", 3, "npy: "},
    {GIVEN "npy = none.npy\n", 3, "none.npy: cannot be opened: No such file"},
    {NORMAL SHORT "npy = none.npy\n", 5, "npy: "},
    {"[a]\ngenerator = normal\n" SHORT "n = 6, 5\n", 1, "the case a/f32/sum/1x5/seed1 is there already"},
};

Test(fixtures, every_mistake_is_refused_by_file_line_and_key) {
  SCRATCH(s);
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    struct fold_cases cases = {0};
    char place[448];
    fold_status status = load_text(&s, mistakes[i].text, &cases);
    snprintf(place, sizeof place, "%s:%zu: ", s.path, mistakes[i].line);
    cr_expect(status.code == FOLD_BAD_INPUT, "%s: code %d", mistakes[i].text, status.code);
    cr_expect(strncmp(status.text, place, strlen(place)) == 0 && strstr(status.text, mistakes[i].words) &&
                  !strchr(status.text, '\n'),
              "%s: want line %zu, '%s', got: %s", mistakes[i].text, mistakes[i].line, mistakes[i].words, status.text);
    fold_cases_free(&cases);
  }
}

Test(fixtures, what_is_no_fixture_file_is_refused) {
  SCRATCH(s);
  char text[512];
  struct fold_cases cases = {0};
  memset(text, 'x', sizeof text);
  fold_status status = fold_cases_load_file(scratch_write(&s, "a.ini", text, 300), &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, ":1: is longer than"), "%s", status.text);
  status = fold_cases_load_file(scratch_write(&s, "a.ini", "[a]\nabout = x\0y\n", 16), &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, ":2: holds a NUL byte"), "%s", status.text);
  status = fold_cases_load_file(scratch_write(&s, "a.ini", "# nothing\n", 10), &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "has no [section]"), "%s", status.text);
  status = fold_cases_load_file(scratch_path(&s, "none.ini"), &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "none.ini: cannot be opened"), "%s", status.text);
  status = fold_cases_load_file(s.folder, &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "cannot be read"), "%s", status.text);
  status = fold_cases_load(scratch_path(&s, "none"), "default", NULL, &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "none: cannot be read"), "%s", status.text);
  status = fold_cases_load(s.folder, "huge", NULL, &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "huge: no such set"), "%s", status.text);
  fold_cases_free(&cases);
}
