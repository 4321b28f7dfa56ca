/* study_worlds_table.c: prints sums and all-reduces over worlds. */
#include <math.h>
#include <stdio.h>

#include "bits.h"
#include "study_worlds.h"

enum { NAME_WIDTH = 26, BITS_WIDTH = 18, PLACES_WIDTH = 14 };

static const char *bits_text(enum fold_dtype dtype, uint64_t bits, char text[24]) {
  snprintf(text, 24, "0x%0*llx", fold_format_of(dtype).bits / 4, (unsigned long long)bits);
  return text;
}

void fold_worlds_print_sums(const struct fold_worlds_case *c, const char *library, FILE *out) {
  char count[32];
  fprintf(out, "\nOne sum of %s terms cut over ranks: %s, %s, seed %llu; %s\n", fold_study_count(c->n, count),
          c->generator->name, fold_dtype_name(c->dtype), (unsigned long long)c->seed, library);
  fprintf(out, "  %-*s %5s  %-*s %*s %8s %10s %10s %10s %11s %12s\n", NAME_WIDTH, "subject", "ranks", BITS_WIDTH,
          "result", PLACES_WIDTH, "one rank's", "promised", "ulps", "error/S", "bound/S", "error/bound", "over ranks");
}

/* "same", or how many numbers lie between, and one. */
static const char *places_text(enum fold_dtype dtype, uint64_t got, uint64_t want, char text[32]) {
  uint64_t apart = fold_bits_distance(dtype, got, want);
  if (fold_bits_same(dtype, got, want))
    snprintf(text, 32, "same");
  else if (apart > 999999)
    snprintf(text, 32, "%.3g off", (double)apart);
  else
    snprintf(text, 32, "%llu off", (unsigned long long)apart);
  return text;
}

static void print_refuted(const char *refuted, const char *note, FILE *out) {
  if (*note) fprintf(out, "  (%s)", note);
  if (*refuted) fprintf(out, "  REFUTED: %s", refuted);
  fputc('\n', out);
}

/* 0 / 0 counts as 0: nothing was rounded. */
static double part(double error, double bound) { return error == 0 ? 0 : error / bound; }

void fold_worlds_print_sum(const struct fold_worlds_sum *s, FILE *out) {
  const struct fold_study_point *p = &s->point;
  enum fold_dtype dtype = p->c.dtype;
  char text[32], other[32], number[16];
  fprintf(out, "  %-*s %5u", NAME_WIDTH, p->subject->name, s->ranks);
  if (p->ran) {
    fprintf(out, "  %-*s", BITS_WIDTH, bits_text(dtype, p->got, text));
    fprintf(out, " %*s", PLACES_WIDTH, s->has_one && s->ranks > 1 ? places_text(dtype, p->got, s->one, text) : "-");
    fprintf(out, " %8s", s->has_must ? places_text(dtype, p->got, s->must, other) : "-");
    fprintf(out, " %10s", fold_study_number(p->ulps, number));
    fprintf(out, " %10s", fold_study_number(p->relative, number));
    fprintf(out, " %10s", fold_study_number(part(p->bound, p->abs_sum), number));
    fprintf(out, " %11s", fold_study_number(part(p->error, p->bound), number));
    fprintf(out, " %12s", fold_study_number(part(s->join_error, s->join_bound), number));
  }
  print_refuted(s->refuted, p->note, out);
}

void fold_worlds_print_vectors(const struct fold_worlds_case *c, FILE *out) {
  char count[32];
  fprintf(out,
          "\nAn all-reduce of %s elements, one term of each on every rank: %s, %s, seed %llu; worst of the elements\n",
          fold_study_count(c->n, count), c->generator->name, fold_dtype_name(c->dtype), (unsigned long long)c->seed);
  fprintf(out, "  %-*s %5s  %*s %8s %12s %10s %10s %10s %11s\n", NAME_WIDTH, "subject", "ranks", BITS_WIDTH,
          "not canonical", "", "distance/S", "ulps", "error/S", "bound/S", "error/bound");
}

void fold_worlds_print_vector(const struct fold_worlds_vector *v, FILE *out) {
  char count[32], share[16], number[16];
  fprintf(out, "  %-*s %5u", NAME_WIDTH, v->subject->name, v->ranks);
  if (v->ran) {
    snprintf(share, sizeof share, "%.1f%%", v->c.n ? 100 * (double)v->differ / (double)v->c.n : 0);
    fprintf(out, "  %*s %8s", BITS_WIDTH, fold_study_count(v->differ, count), share);
    fprintf(out, " %12s", fold_study_number(v->apart, number));
    fprintf(out, " %10s", fold_study_number(v->errors.ulps, number));
    fprintf(out, " %10s", fold_study_number(v->errors.relative, number));
    fprintf(out, " %10s", fold_study_number(v->errors.bound, number));
    fprintf(out, " %11s", fold_study_number(v->errors.fraction, number));
  }
  print_refuted(v->refuted, v->note, out);
}
