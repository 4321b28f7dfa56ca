/* broken_gpu_ranks.c: collectives over GPUs that write into each other's memory, one of whose ranks dies or never
 * comes: the others' kernels wait for it. Rank 1 is the faulty one. broken_ranks.c has those that go by NCCL. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kernels/collective/collective.h"
#include "mutants_gpu_run.h"

static bool is_culprit(const struct fold_call *call) { return call->comm->rank == 1; }

fold_status gpu_reach_hangs(const struct fold_subject *subject, const struct fold_call *call) {
  while (is_culprit(call)) pause();
  return fold_collective_canonical(subject, call);
}

/* It is killed while its kernel and the others' wait for rank 0, which comes a second late. */
fold_status gpu_reach_killed(const struct fold_subject *subject, const struct fold_call *call) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec soon = {.it_value = {.tv_nsec = 200000000}};
  timer_t timer;
  if (is_culprit(call) && (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL)))
    abort();
  if (call->comm->rank == 0) sleep(1);
  return fold_collective_canonical(subject, call);
}
