/* late_writes.c: see late_writes.h. */
#include "rig/late_writes.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "model/subject.h"
#include "process/heartbeat.h"
#include "rig/fp_state.h"

/* Limits in seconds: for one look; for all looks at one subject in a process, since its threads may never end; for all
 * looks at a subject that was seen to write late, since it might otherwise end the process when nothing looks. */
static const double OF_A_LOOK = 0.3, OF_A_SUBJECT = 1, OF_A_WRITER = 5;
enum { SUBJECTS = 64 }; /* unseen: 63 */

/* The seconds spent on each subject. If there are more subjects than places, the last ones share a place. */
static struct account {
  const struct fold_subject *who;
  double seconds;
  bool late;
} accounts[SUBJECTS];
static bool any_late;

static struct account *account_of(const struct fold_subject *who) {
  size_t i = 0;
  while (i < SUBJECTS - 1 && accounts[i].who && accounts[i].who != who) i++; /* unseen: 2 */
  accounts[i].who = who;
  return &accounts[i];
}

bool fold_late_writes_by(const struct fold_subject *who) { return any_late && account_of(who)->late; }
bool fold_late_writes_any(void) { return any_late; }

unsigned fold_late_writes_threads(const struct fold_subject *who) {
  return who->guest && fold_watch_is_set() ? fold_thread_count() : 0;
}

/* Waits until as many threads have ended as the run has started. Whether those of a pool, which were there before, still
 * write is not known. */
static void wait_for_threads(struct account *account, unsigned started) {
  const unsigned begin = fold_thread_count();
  const struct timespec pause = {.tv_nsec = 200 * 1000}; /* unseen: 199 | 201 | 999 | 1001 | / */
  const double begun = fold_now(), left = (account->late ? OF_A_WRITER : OF_A_SUBJECT) - account->seconds,
               end = begun + (left < OF_A_LOOK ? left : OF_A_LOOK);
  while ((started == 0 || fold_thread_count() + started > begin) && fold_now() < end) nanosleep(&pause, NULL);
  account->seconds += fold_now() - begun;
}

static void allow(const struct fold_watched *watched, size_t n, int access) {
  for (size_t i = 0; i < n; i++) mprotect(watched[i].region->at, watched[i].region->bytes, access);
}

enum { OUTPUT, SCRATCH, INPUT };
static const char *const what[] = {[OUTPUT] = "its output, by a thread that wrote to it after the call had returned",
                                   [SCRATCH] = "its scratch, by a thread that wrote to it after the call had returned",
                                   [INPUT] = "its input, by a thread that wrote to it after the call had returned"};

/* Names what was written since. `before`: the inputs that the call itself wrote to. */
static const char *find_written(struct fold_watched *watched, size_t n, size_t own, const bool *before) {
  const char *found = NULL;
  for (size_t i = n; i-- > 0;) {
    if (watched[i].inside.seen && !before[i]) found = what[i >= own ? INPUT : i];
    if (i < own) watched[i].inside.seen = false; /* to write there is no fault */
  }
  return found;
}

/* Names what is written during the look; of the output, also what was written before it. */
static const char *look(struct account *account, struct fold_watched *watched, size_t n, size_t own, const void *got,
                        unsigned started) {
  const struct fold_watched *out = &watched[0];
  bool before[FOLD_INPUTS + 2] = {false};
  if (memcmp(got, out->region->at + out->first, out->last - out->first) != 0) return what[OUTPUT];
  if (fold_late_writes_threads(account->who) == 0 || !(account->late || fold_fp_state_has_company())) return NULL;
  for (size_t i = own; i < n; i++) before[i] = watched[i].inside.seen;
  allow(watched, own, PROT_READ);
  wait_for_threads(account, started);
  allow(watched, own, PROT_READ | PROT_WRITE);
  return find_written(watched, n, own, before);
}

const char *fold_late_writes_look(const struct fold_subject *who, struct fold_watched *watched, size_t n, size_t own,
                                  const void *got, unsigned started) {
  struct account *account = account_of(who);
  const char *found = look(account, watched, n, own, got, started);
  account->late |= found != NULL;
  any_late |= account->late;
  return found;
}
