/* call.c: see call.h. */
#include "library/call.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

fold_status fold_library_dtype(const char *name, enum fold_dtype *dtype) {
  const int found = name ? fold_dtype_parse(name) : -1;
  if (found < 0) return fold_error(FOLD_BAD_INPUT, "no dtype '%.60s': %s", name ? name : "(null)", fold_dtype_list());
  *dtype = (enum fold_dtype)found;
  return fold_ok();
}

static fold_status find_problem(const char *name, const struct fold_problem **problem) {
  char names[120];
  *problem = name ? fold_problem_find(name) : NULL;
  if (*problem) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "no problem is called '%.60s': %s", name ? name : "(null)",
                    fold_problem_names(names));
}

/* "input 1", of a problem of one input "the input"; "the results". */
static const char *name_of(const struct fold_problem *problem, unsigned operand, char text[24]) {
  snprintf(text, 24, problem->inputs == 1 ? "the input" : "input %u", operand + 1);
  return operand == problem->inputs ? "the results" : text;
}

/* No array has more bytes than there are addresses, whatever its dtype. */
static fold_status check_size(const struct fold_call *call, unsigned operand) {
  const struct fold_problem *problem = call->problem;
  char name[24], told[100] = "";
  size_t n = sizeof(uint64_t), used = 0;
  bool past = false;
  for (unsigned i = 0; i < problem->n_axes[operand]; i++) {
    const size_t extent = call->shape.at[problem->axes[operand][i]];
    past |= __builtin_mul_overflow(n, extent, &n);
    used += (size_t)snprintf(told + used, sizeof told - used, "%s%zu", i ? " x " : "", extent);
  }
  if (!past) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%s: %s elements are past the address space", name_of(problem, operand, name),
                    told);
}

/* Places of terms have 32 bits, and keys are below 2^31. */
static fold_status check_keys(const struct fold_call *call) {
  if (call->problem->reach != FOLD_BY_KEY || (call->shape.k < UINT32_MAX && call->shape.m <= INT32_MAX))
    return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%zu terms of %zu keys: at most 2^32 - 2, and 2^31 - 1", call->shape.k,
                    call->shape.m);
}

/* The memory of an operand's elements, as addresses: from `first` up to `past`. */
struct memory {
  uintptr_t first, past;
};

/* Goes on along one axis, in bytes; false past the address space. */
static bool widen(struct memory *memory, ptrdiff_t stride, size_t extent, size_t size) {
  ptrdiff_t bytes;
  if (__builtin_mul_overflow(stride, (ptrdiff_t)(extent - 1), &bytes) ||
      __builtin_mul_overflow(bytes, (ptrdiff_t)size, &bytes))
    return false;
  uintptr_t *end = bytes < 0 ? &memory->first : &memory->past;
  return !__builtin_add_overflow(*end, bytes, end);
}

/* False past the address space. Operands without elements have no memory. */
static bool find_memory(const struct fold_call *call, unsigned operand, const void *at, size_t size,
                        struct memory *memory) {
  ptrdiff_t stride[FOLD_AXES];
  *memory = (struct memory){(uintptr_t)at, (uintptr_t)at};
  if (operand < call->problem->inputs && fold_elements(call->problem, &call->shape, operand) == 0) return true;
  fold_call_strides(call, operand, stride);
  for (unsigned i = 0; i < call->problem->n_axes[operand]; i++) {
    const unsigned axis = call->problem->axes[operand][i];
    if (!widen(memory, stride[axis], call->shape.at[axis], size)) return false;
  }
  return !__builtin_add_overflow(memory->past, size, &memory->past);
}

static bool find_input(const struct fold_call *call, unsigned input, struct memory *memory) {
  const size_t size = fold_input_size(call->problem, call->dtype, input);
  return find_memory(call, input, call->in[input], size, memory);
}

static bool overlap(struct memory x, struct memory y) {
  return x.first < x.past && y.first < y.past && x.first < y.past && y.first < x.past;
}

fold_status fold_library_out(const struct fold_call *call, enum fold_dtype dtype, const void *out) {
  const struct fold_problem *problem = call->problem;
  struct memory results, input;
  char name[24];
  if (fold_results(problem, &call->shape) == 0) return fold_ok();
  if (out == NULL) return fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  if (!find_memory(call, problem->inputs, out, fold_dtype_size(dtype), &results))
    return fold_error(FOLD_BAD_INPUT, "the output goes past the address space");
  for (unsigned k = 0; k < problem->inputs; k++)
    if (find_input(call, k, &input) && overlap(input, results))
      return fold_error(FOLD_BAD_INPUT, "the output overlaps %s: give results memory of their own",
                        name_of(problem, k, name));
  return fold_ok();
}

static fold_status take_input(const struct foldproof_problem *given, unsigned input, struct fold_call *call) {
  static const double nothing; /* to add to a null pointer is undefined in C, even 0 */
  char name[24];
  call->in[input] = given->in[input] ? given->in[input] : &nothing;
  for (unsigned a = 0; a < FOLD_AXES; a++) call->stride[input][a] = (ptrdiff_t)given->stride[input][a];
  struct memory memory;
  if (given->in[input] == NULL && fold_elements(call->problem, &call->shape, input) > 0)
    return fold_error(FOLD_BAD_INPUT, "%s is a null pointer", name_of(call->problem, input, name));
  if (find_input(call, input, &memory)) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%s: its strides go past the address space", name_of(call->problem, input, name));
}

fold_status fold_library_call(const struct foldproof_problem *given, struct fold_call *call) {
  struct foldproof_problem known; /* fields that the caller does not know are 0 */
  memset(&known, 0, sizeof known);
  if (given == NULL) return fold_error(FOLD_BAD_INPUT, "the problem is a null pointer");
  if (given->size < offsetof(struct foldproof_problem, stride))
    return fold_error(FOLD_BAD_INPUT, "the problem's size is %zu, and its fields up to the inputs have %zu bytes",
                      given->size, offsetof(struct foldproof_problem, stride));
  memcpy(&known, given, given->size < sizeof known ? given->size : sizeof known);
  *call = (struct fold_call){0};
  FOLD_TRY(fold_library_dtype(known.dtype, &call->dtype));
  FOLD_TRY(find_problem(known.name, &call->problem));
  for (unsigned a = 0; a < FOLD_AXES; a++) call->shape.at[a] = (size_t)known.extent[a];
  for (unsigned k = 0; k <= call->problem->inputs; k++) FOLD_TRY(check_size(call, k));
  FOLD_TRY(check_keys(call));
  for (unsigned k = 0; k < call->problem->inputs; k++) FOLD_TRY(take_input(&known, k, call));
  return fold_ok();
}

fold_status fold_library_rows(const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                              struct foldproof_problem *problem) {
  enum fold_dtype ignored;
  FOLD_TRY(fold_library_dtype(dtype, &ignored));
  if (op == NULL || fold_op_parse(op) < 0)
    return fold_error(FOLD_BAD_INPUT, "no operation '%.60s': sum, prod, max, min", op ? op : "(null)");
  *problem = (struct foldproof_problem){
      .size = sizeof *problem, .name = op, .dtype = dtype, .extent = {1, rows, 1, cols}, .in = {in}};
  return fold_ok();
}
