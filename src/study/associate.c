/* study/associate.c: (a + b) + c is not a + (b + c): three numbers in each dtype, each addition rounded to it. */
#include <stdio.h>

#include "base/bits.h"
#include "study/study.h"

/* One addition in dtype: f64 itself; else in double and rounded, for 53 >= 2 p + 2 (Figueroa 1995). */
static double add(enum fold_dtype dtype, double a, double b) {
  return fold_bits_to_double(dtype, fold_bits_from_double(dtype, a + b));
}

void fold_study_associate(enum fold_dtype dtype, const double abc[3], double *left, double *right) {
  *left = add(dtype, add(dtype, abc[0], abc[1]), abc[2]);
  *right = add(dtype, abc[0], add(dtype, abc[1], abc[2]));
}

/* First the reference study's three numbers: both ways give 0 in f32, so that they show absorption and not this. f16 ends at
 * 65504 and takes 2^15 for 1e8; f64 keeps 1e8 + 1 and takes 1e17. The last triple cancels nothing: 1 and twice half an ulp. */
static const struct triple {
  enum fold_dtype dtype;
  double abc[3];
  const char *what;
} triples[] = {
    {FOLD_F32, {1e8, 1, -1e8}, "both ways lose the 1"},
    {FOLD_F32, {1e8, -1e8, 1}, "the same numbers, where they differ"},
    {FOLD_F32, {1, 0x1p-24, 0x1p-24}, "no cancellation"},
    {FOLD_F64, {1e8, 1, -1e8}, "the same numbers: exact in f64"},
    {FOLD_F64, {1e17, -1e17, 1}, ""},
    {FOLD_F64, {0.1, 0.2, 0.3}, "no cancellation"},
    {FOLD_BF16, {99614720, 1, -99614720}, "the same numbers, rounded to bf16"},
    {FOLD_BF16, {99614720, -99614720, 1}, ""},
    {FOLD_BF16, {1, 0x1p-8, 0x1p-8}, "no cancellation"},
    {FOLD_F16, {32768, 1, -32768}, "2^15 in place of 1e8, which f16 does not have"},
    {FOLD_F16, {32768, -32768, 1}, ""},
    {FOLD_F16, {1, 0x1p-11, 0x1p-11}, "no cancellation"},
};

void fold_study_print_associativity(FILE *out) {
  fprintf(out,
          "\n(a + b) + c is not a + (b + c): each addition rounded to the dtype\n"
          "%-6s %12s %14s %14s %22s %22s %8s\n",
          "dtype", "a", "b", "c", "(a + b) + c", "a + (b + c)", "equal");
  for (size_t k = 0; k < sizeof triples / sizeof *triples; k++) {
    const struct triple *t = &triples[k];
    double left, right;
    fold_study_associate(t->dtype, t->abc, &left, &right);
    fprintf(out, "%-6s %12.9g %14.9g %14.9g %22.17g %22.17g %8s  %s\n", fold_dtype_name(t->dtype), t->abc[0], t->abc[1],
            t->abc[2], left, right, left == right ? "yes" : "no", t->what);
  }
  fprintf(out, "foldproof's 16-bit sums add in f32 and round once; the rows above add in 16 bits.\n");
}
