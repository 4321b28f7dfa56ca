/* played_device.h: a simulated device, which needs no GPU: memory that only the engine's calls and the subjects on it
 * may touch, and launches that run when somebody waits for them.
 *
 * It defines the functions of src/engine/host.c and src/rig/ready.c, so that the linker takes these instead.
 */
#ifndef PLAYED_DEVICE_H
#define PLAYED_DEVICE_H

#include "model/engine.h"
#include "rig/rig.h"
#include "varied.h"

enum { MOST = 16, QUEUE = 64, POISON = 0xa5 };

struct task {
  struct fold_fill fill; /* if `subject` is NULL */
  const struct fold_subject *subject;
  struct fold_call call;
};

extern struct played_device {
  struct {
    unsigned char *at;
    size_t bytes;
  } memory[MOST];
  struct task queue[QUEUE];
  size_t waiting;
  unsigned calls, fails_in; /* calls so far, and the call that fails; 0: none */
  size_t most_bytes;        /* the memory that there is; 0: any amount */
  size_t read;              /* bytes that were copied to the host, without gathered ones */
  int state, kept_state;    /* calls are allowed only in state 0 */
} device;

/* Runs what was launched. */
void device_drain(void);
/* Sets the access to the device's memory: PROT_NONE, as between calls, or what a test needs to look at it. */
void device_open(int access);
/* How many pieces of its memory are in use. */
size_t count_memory(void);

enum fault {
  RIGHT,
  NOT_WRITTEN, /* the last row */
  AT_OUTPUT,   /* these write a byte `aside` from the start of an argument */
  AT_INPUT,
  AT_SCRATCH,
  NEEDS_SCRATCH, /* and its results are right */
  CHANGES_INPUT, /* the last term */
  CHANGES_FIVE,  /* the same in a run of five rows */
  AT_7_BLOCKS,   /* these are wrong at that launch or place */
  AT_128_THREADS,
  AT_AN_ADDRESS,
  KEEPS_RESULTS, /* of the last address and shape */
  COUNTS_RUNS,
  OF_A_METHOD,  /* what `method_run` makes of it */
  LEAVES_STATE, /* the engine's */
};
extern fold_run *method_run;
extern ptrdiff_t aside;
extern size_t scratch_bytes;
extern struct played_seen {
  unsigned runs;
  struct varied_runs varied;
  ptrdiff_t scratch_at;
  bool scratch_right;
} seen;

struct fold_subject subject_of(enum fault fault);

#endif
