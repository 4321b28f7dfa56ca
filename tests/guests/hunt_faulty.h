/* hunt_faulty.h: a fault of rows as data: where it is, and what it does there. Used by hunt_faults_rows.c and hunt_faults_calls.c. */
#ifndef HUNT_FAULTY_H
#define HUNT_FAULTY_H

#include "hunt_faults.h"
#include "hunt_rows.h"

struct hunt_fault;
typedef bool hunt_pattern(const struct hunt_row *row, const struct hunt_fault *fault);
typedef void hunt_effect(struct hunt_row *row, const struct hunt_fault *fault);
typedef double hunt_change(double result, const struct hunt_row *row, const struct hunt_fault *fault);

/* Where all of the former hold, the latter happen. */
struct hunt_fault {
  struct hunt_numbers length, rows, threads;
  struct hunt_numbers step;  /* between the elements of a row */
  struct hunt_numbers turns; /* this call is that one of its shape without a break */
  bool at_last_row;
  hunt_pattern *pattern;
  hunt_effect *effect; /* on the terms */
  hunt_change *change; /* of the result */
  unsigned by;
  struct {
    uint64_t calls, turns, rows, cols;
  } seen; /* of the calls before */
};

int hunt_run_fault(call_of *call, void *fault);

/* Effects that several tables have. */
hunt_effect hunt_loses_last, hunt_in_four_lanes;

#define IN_TURN "host/sequential"
#define DOT_IN_TURN "dot/sequential"
#define HUNT_FAULT(id, problem, dtype, declared, claim, text, ...)                                                \
  {                                                                                                               \
    .name = "hunt/" #id, .about = text, .problems = problem, .dtypes = dtype, .order = declared, .claims = claim, \
    .run = hunt_run_fault, .strides = 1, .context = &(struct hunt_fault) {                                        \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }

#endif
