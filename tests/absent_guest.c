/* absent_guest.c: subjects on an engine that a test hides: CUDA, with CUDA_VISIBLE_DEVICES= so that no GPU is seen.
 * They never run. */
#include "foldproof_guest.h"

static int never(const struct foldproof_guest_call *call, void *context) { return (void)call, (void)context, 1; }

#define SUBJECT(called)                                                                                             \
  {                                                                                                                 \
    .name = called, .engine = "cuda", .problems = "sum,max", .dtypes = "f32,f64", .claims = "reproducible,bounded", \
    .run = never                                                                                                    \
  }

static const struct foldproof_guest_subject subjects[] = {SUBJECT("absent/a"), SUBJECT("absent/b"),
                                                          SUBJECT("absent/c")};
static const struct foldproof_guest_table table = {.abi = FOLDPROOF_GUEST_ABI,
                                                   .subject_size = sizeof *subjects,
                                                   .n = sizeof subjects / sizeof *subjects,
                                                   .subjects = subjects};

const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
