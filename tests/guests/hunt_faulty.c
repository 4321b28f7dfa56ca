/* hunt_faulty.c: see hunt_faulty.h. */
#include "hunt_faulty.h"

static bool is_at(const struct hunt_fault *fault, const struct hunt_row *row) {
  call_of *call = row->call;
  return hunt_has(&fault->length, row->n) && hunt_has(&fault->rows, call->rows) &&
         hunt_has(&fault->threads, call->threads) && hunt_has(&fault->step, call->col_stride) &&
         hunt_has(&fault->turns, fault->seen.turns) && (!fault->at_last_row || row->at + 1 == call->rows) &&
         (!fault->pattern || fault->pattern(row, fault));
}

static double reduce(struct hunt_row *row, void *context) {
  const struct hunt_fault *fault = context;
  const bool here = row->n > 0 && is_at(fault, row);
  if (here && fault->effect) fault->effect(row, fault);
  const double result = hunt_in_lanes(row);
  return here && fault->change ? fault->change(result, row, fault) : result;
}

int hunt_run_fault(call_of *call, void *context) {
  struct hunt_fault *fault = context;
  const bool same = fault->seen.rows == call->rows && fault->seen.cols == call->cols;
  fault->seen.calls++;
  fault->seen.turns = same ? fault->seen.turns + 1 : 1;
  fault->seen.rows = call->rows, fault->seen.cols = call->cols;
  return hunt_run_rows(call, reduce, fault);
}

void hunt_loses_last(struct hunt_row *row, const struct hunt_fault *fault) { (void)fault, row->n -= row->n > 1; }
void hunt_in_four_lanes(struct hunt_row *row, const struct hunt_fault *fault) { (void)fault, row->lanes = 4; }
