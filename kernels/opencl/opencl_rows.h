/* opencl_rows.h: what runs on an OpenCL device. */
#ifndef FOLD_OPENCL_ROWS_H
#define FOLD_OPENCL_ROWS_H

#include "model/subject.h"

/* Sums of rows of f32 and f64 in the order of rows/par_256 (rows.cl); launch.blocks groups, by default one a row, at most 1024. */
fold_run fold_opencl_rows;

#endif
