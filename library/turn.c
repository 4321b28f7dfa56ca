/* turn.c: prepares the process for a call that runs subjects, and puts its state back afterwards. */
#include "library/turn.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>

#include "rig/fp_state.h"
#include "rig/process_state.h"

/* Oracles and judges need the usual arithmetic and the C locale's numbers, whatever the caller has. The caller's table
 * is given the caller's arithmetic (guest.h). */
static fold_status in_own_state(fold_status (*work)(void *), void *context) {
  fenv_t arithmetic;
  fegetenv(&arithmetic);
  const locale_t usual = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (usual == (locale_t)0) return fold_no_memory("for a locale");
  const locale_t former = uselocale(usual);
  fold_fp_state_reset();
  fold_status status = work(context);
  char changed[80] = "";
  fold_process_state_end(true, changed); /* changed by runs after the last look: not reported */
  fold_fp_state_reset();                 /* ends OpenMP's other threads */
  uselocale(former);
  freelocale(usual);
  fesetenv(&arithmetic);
  return status;
}

/* One call at a time: handlers of faults and environment variables belong to the whole process. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

fold_status fold_library_turn(fold_status (*work)(void *), void *context) {
  if (pthread_mutex_trylock(&turn) != 0)
    return fold_error(FOLD_BAD_INPUT, "this process is judging already, one table at a time");
  const fold_status status = in_own_state(work, context);
  pthread_mutex_unlock(&turn);
  return status;
}
