/* rows.cu: the entry points of the row family: each names its order's shape and the rung that runs it. */
#include "rows.h"

#include "rows.cuh"

#define PLAIN(NAME, SHAPE)                                                                                        \
  extern "C" fold_status fold_rows_##NAME##_plain(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                                \
    return fold_rows_plain(call, &SHAPE);                                                                         \
  }
PLAIN(single_for, fold_rows_forward)
PLAIN(single_back, fold_rows_falling)
PLAIN(par_16, fold_rows_16)
PLAIN(par_64, fold_rows_64)
PLAIN(par_256, fold_rows_256)
PLAIN(single_determ, fold_rows_tree_1)
PLAIN(par_16_determ, fold_rows_tree_16)
PLAIN(par_64_determ, fold_rows_tree_64)
