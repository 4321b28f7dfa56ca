/* rows.c: compiles rows.cl once in a process, and launches it. */
#include "kernels/opencl/opencl_rows.h"

#include <pthread.h>
#include <stdlib.h>

#include "kernels/opencl/opencl.h"
#include "rows_cl.h"

enum { ITEMS = 256, MOST_GROUPS = 1024, LOG = 0x1183 };

static struct {
  pthread_once_t once;
  fold_status status;
  void *sums[FOLD_DTYPES];
} kernels = {.once = PTHREAD_ONCE_INIT};

static fold_status find(const struct fold_opencl *cl, void *program, const char *name, enum fold_dtype dtype) {
  int error = 0;
  kernels.sums[dtype] = cl->clCreateKernel(program, name, &error);
  return fold_opencl_status(error, "clCreateKernel");
}

/* Builds the program. The message keeps the beginning of the compiler's log, which says the most. */
static fold_status build(const struct fold_opencl *cl, void *program) {
  char log[4096] = "";
  const int error = cl->clBuildProgram(program, 1, &cl->device, cl->doubles ? "-DDOUBLES" : "", NULL, NULL);
  if (error == 0) return fold_ok();
  (void)cl->clGetProgramBuildInfo(program, cl->device, LOG, sizeof log - 1, log, NULL);
  return fold_error(FOLD_ENVIRONMENT, "the OpenCL device cannot compile rows.cl (error %d): %.150s", error, log);
}

static fold_status compile(void) {
  const struct fold_opencl *cl;
  const char *text = fold_rows_cl;
  int error = 0;
  FOLD_TRY(fold_opencl(&cl));
  void *program = cl->clCreateProgramWithSource(cl->context, 1, &text, NULL, &error);
  FOLD_TRY(fold_opencl_status(error, "clCreateProgramWithSource"));
  FOLD_TRY(build(cl, program));
  FOLD_TRY(find(cl, program, "sums_of_float", FOLD_F32));
  return cl->doubles ? find(cl, program, "sums_of_double", FOLD_F64) : fold_ok();
}

static void compile_once(void) { kernels.status = compile(); }

fold_status fold_opencl_rows(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_opencl *cl;
  FOLD_TRY(fold_opencl(&cl));
  if (cl->group < ITEMS)
    return fold_error(FOLD_UNSUPPORTED, "%s: %s has groups of %zu work-items", subject->name, cl->name, cl->group);
  if (call->dtype == FOLD_F64 && !cl->doubles)
    return fold_error(FOLD_UNSUPPORTED, "%s: %s adds no doubles by IEEE 754", subject->name, cl->name);
  pthread_once(&kernels.once, compile_once);
  if (kernels.status.code != FOLD_OK || call->rows == 0) return kernels.status;
  const uint64_t rows = call->rows, cols = call->cols;
  const size_t most = call->launch.blocks ? call->launch.blocks : MOST_GROUPS, of_group = ITEMS;
  const size_t items = (rows < most ? rows : most) * ITEMS;
  void *kernel = kernels.sums[call->dtype];
  FOLD_CL_TRY(clSetKernelArgSVMPointer(kernel, 0, call->in[0]));
  FOLD_CL_TRY(clSetKernelArgSVMPointer(kernel, 1, call->out));
  FOLD_CL_TRY(clSetKernelArg(kernel, 2, sizeof rows, &rows));
  FOLD_CL_TRY(clSetKernelArg(kernel, 3, sizeof cols, &cols));
  FOLD_CL_TRY(clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &items, &of_group, 0, NULL, NULL));
  return fold_ok();
}
