/* study_worlds_table.c: sums and all-reduces over worlds, as tables. */
#include <math.h>
#include <stdio.h>

#include "bits.h"
#include "sheet.h"
#include "sheet_text.h"
#include "study_worlds.h"

static const char *say_case(const struct fold_worlds_case *c, char text[160]) {
  snprintf(text, 160, "%s, %s, seed %llu", c->generator->name, fold_dtype_name(c->dtype), (unsigned long long)c->seed);
  return text;
}

void fold_worlds_open_sums(struct fold_sheet *sheet, const struct fold_worlds_case *c, const char *library) {
  char title[FOLD_SHEET_TITLE], count[32], text[160];
  snprintf(title, sizeof title, "One sum of %s terms cut over ranks: %s; %s", fold_text_grouped((double)c->n, count),
           say_case(c, text), library);
  fold_sheet_open(sheet, "sums", title,
                  "subject;#ranks;result;one rank's;promised;=ulps;=error/S;=bound/S;=error/bound;=over ranks;");
}

/* "same", or how many numbers lie between, and one; "-" where there is nothing to compare with. */
static const char *places_text(bool known, enum fold_dtype dtype, uint64_t got, uint64_t want, char text[40]) {
  char number[32];
  if (!known) return "-";
  if (fold_bits_same(dtype, got, want)) return "same";
  snprintf(text, 40, "%s off", fold_text_grouped((double)fold_bits_distance(dtype, got, want), number));
  return text;
}

static const char *remark(const char *refuted, const char *note, char text[400]) {
  snprintf(text, 400, "%s%s%s%s%s%s", *note ? "(" : "", note, *note ? ")" : "", *note && *refuted ? "  " : "",
           *refuted ? "REFUTED: " : "", refuted);
  return text;
}

/* 0 / 0 counts as 0: nothing was rounded. */
static double part(double error, double bound) { return error == 0 ? 0 : error / bound; }

void fold_worlds_add_sum(struct fold_sheet *sheet, const struct fold_worlds_sum *s) {
  const struct fold_study_point *p = &s->point;
  const enum fold_dtype dtype = p->c.dtype;
  char bits[24] = "", one[40], must[40], text[400];
  if (p->ran) snprintf(bits, sizeof bits, "0x%0*llx", fold_format_of(dtype).bits / 4, (unsigned long long)p->got);
  FOLD_ROW(sheet, T(p->subject->name), N(s->ranks), T(bits),
           T(places_text(p->ran && s->has_one && s->ranks > 1, dtype, p->got, s->one, one)),
           T(places_text(p->ran && s->has_must, dtype, p->got, s->must, must)), N(p->ulps), N(p->relative),
           N(part(p->bound, p->abs_sum)), N(part(p->error, p->bound)), N(part(s->join_error, s->join_bound)),
           T(remark(s->refuted, p->note, text)));
}

void fold_worlds_open_vectors(struct fold_sheet *sheet, const struct fold_worlds_case *c) {
  char title[FOLD_SHEET_TITLE], count[32], text[160];
  snprintf(title, sizeof title,
           "An all-reduce of %s elements, one term of each on every rank: %s; worst of the elements",
           fold_text_grouped((double)c->n, count), say_case(c, text));
  fold_sheet_open(sheet, "vectors", title,
                  "subject;#ranks;#not canonical;=% of all;=distance/S;=ulps;=error/S;=bound/S;=error/bound;");
}

void fold_worlds_add_vector(struct fold_sheet *sheet, const struct fold_worlds_vector *v) {
  const double none = v->ran ? 0 : NAN; /* added to what means nothing without a result */
  char text[400];
  FOLD_ROW(sheet, T(v->subject->name), N(v->ranks), N((double)v->differ + none),
           N(100 * (double)v->differ / (double)v->c.n + none), N(v->apart + none), N(v->errors.ulps + none),
           N(v->errors.relative + none), N(v->errors.bound + none), N(v->errors.fraction + none),
           T(remark(v->refuted, v->note, text)));
}
