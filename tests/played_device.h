/* played_device.h: a device that is played: memory that nobody but the engine's calls and the subjects on it may touch, and launches
 * that are done when somebody waits for them. Needs no GPU.
 *
 * Defines what engine.c defines, so that the linker takes these.
 */
#ifndef PLAYED_DEVICE_H
#define PLAYED_DEVICE_H

#include "engine.h"
#include "rig.h"
#include "varied.h"

enum { MOST = 16, QUEUE = 64, POISON = 0xa5 };

struct task {
  struct fold_fill fill; /* where there is no subject */
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
  unsigned calls, fails_in; /* the call that fails; 0: none */
  size_t most_bytes;        /* more is not there; 0: any number */
  size_t read;              /* bytes that came to the host, but for gathered ones */
  int state, kept_state;    /* calls are made in state 0 alone */
} device;

/* What was launched is done. */
void device_drain(void);
/* PROT_NONE, as it is between calls, or what a test needs to look at it. */
void device_open(int access);
/* How many pieces of it are in use. */
size_t count_memory(void);

enum fault {
  RIGHT,
  NOT_WRITTEN, /* the last row */
  AT_OUTPUT,   /* these write a byte `aside` from the start of an argument */
  AT_INPUT,
  AT_SCRATCH,
  NEEDS_SCRATCH, /* and is right */
  CHANGES_INPUT, /* the last term */
  CHANGES_FIVE,  /* the same, of five rows */
  AT_7_BLOCKS,   /* these are wrong at that launch or place */
  AT_128_THREADS,
  AT_AN_ADDRESS,
  KEEPS_RESULTS, /* of the address and shape that it saw last */
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
