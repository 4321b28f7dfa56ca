/* report_records.h: writes records of measurements like bench's, for tests of reports. */
#ifndef FOLD_REPORT_RECORDS_H
#define FOLD_REPORT_RECORDS_H

#include <stdio.h>

#define ENVIRONMENT "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"a cpu\",\"cores\":2}\n"

/* Writes the timing of one row of n terms of f32; `rate` is in bytes a second; `more` is appended to its fields. */
static inline void put_timing(FILE *out, const char *subject, const char *engine, const char *generator, int n,
                              double seconds, double rate, const char *more) {
  fprintf(out,
          "{\"schema\":1,\"type\":\"timing\",\"subject\":\"%s\",\"engine\":\"%s\",\"dtype\":\"f32\",\"op\":\"sum\","
          "\"rows\":1,\"cols\":%d,\"median_seconds\":%g,\"bytes_per_second\":%g,\"ceiling_bytes_per_second\":1e12,"
          "\"generator\":\"%s\",\"verdict\":\"held\"%s}\n",
          subject, engine, n, seconds, rate, generator, more);
}

/* Writes timings of a sum that scales perfectly over 1, 2 and 4 workers. */
static inline void put_scaling(FILE *out) {
  for (int p = 1; p <= 4; p *= 2)
    fprintf(out,
            "{\"schema\":1,\"type\":\"scaling\",\"subject\":\"c\",\"engine\":\"cuda\",\"dtype\":\"f32\",\"op\":\"sum\","
            "\"mode\":\"strong\",\"n\":1000,\"workers\":%d,\"median_seconds\":%g}\n",
            p, 1.0 / p);
}

#endif
