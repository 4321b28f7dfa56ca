/* ranks/blame.c: says in words which rank held a question up, and where; then ends the world, which has failed.
 *
 * Promised: the line names the rank that is the cause, and its call, not the rank that noticed it first, as far as the
 * ranks' announcements tell.
 */
#include "ranks/start.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/proc.h"

static struct fold_world_call *last_call(const struct fold_rank *rank) {
  return rank->n_calls ? &((struct fold_rank *)(uintptr_t)rank)->calls[rank->n_calls - 1] : NULL;
}

/* Every rank must make the same k-th call. Describes the first two that differ. */
bool fold_world_find_other_arguments(const struct fold_world *w, unsigned first, unsigned n, char text[200]) {
  for (unsigned r = first + 1; r < first + n; r++)
    for (size_t k = 0; k < w->rank[r].n_calls && k < w->rank[first].n_calls; k++) {
      const struct fold_wire_enter *a = &w->rank[first].calls[k].enter, *b = &w->rank[r].calls[k].enter;
      if (a->count == b->count && strcmp(a->call, b->call) == 0 && strcmp(a->type, b->type) == 0) continue;
      snprintf(text, 200, "rank %u called %s of %llu %s where rank %u called %s of %llu %s", r, b->call,
               (unsigned long long)b->count, b->type, first, a->call, (unsigned long long)a->count, a->type);
      return true;
    }
  return false;
}

/* Where a rank is, as far as its announcements tell. */
static void tell_place(const struct fold_rank *rank, const char *what, char text[120]) {
  const struct fold_world_call *call = last_call(rank);
  if (call)
    snprintf(text, 120, "in call %zu (%.31s of %llu %.15s) of %.32s", rank->n_calls, call->enter.call,
             (unsigned long long)call->enter.count, call->enter.type, what);
  else
    snprintf(text, 120, "in %.60s", what);
}

/* The rank that holds the others up: not yet answered, and with the fewest calls entered. */
static unsigned find_late(const struct fold_world *w, unsigned first, unsigned n, unsigned *alike) {
  unsigned late = first;
  *alike = 0;
  for (unsigned r = first; r < first + n; r++) {
    if (w->rank[r].answered) continue;
    if (w->rank[late].answered || w->rank[r].n_calls < w->rank[late].n_calls) {
      late = r;
      *alike = 0;
    }
    *alike += w->rank[r].n_calls == w->rank[late].n_calls;
  }
  return late;
}

fold_status fold_world_fail(struct fold_world *w, enum fold_code code, const char *text) {
  w->status = fold_error(code, "%s: %s", fold_engine_name(w->engine), text);
  fold_world_end(w, false);
  return w->status;
}

/* Whether a rank of this machine is stopped, as by SIGSTOP: from outside, the ranks that wait for it look the same. */
static bool is_stopped(const struct fold_rank *rank) {
  char host[sizeof rank->hello.host] = "";
  struct fold_proc found;
  gethostname(host, sizeof host - 1);
  return strcmp(host, rank->hello.host) == 0 && fold_proc_read((pid_t)rank->hello.pid, &found) &&
         (found.state == 'T' || found.state == 't');
}

/* The size of the world in messages. A question to n ranks is about a world of n; but a single rank may be asked alone,
 * whatever its number. */
static unsigned of(const struct fold_world *w, unsigned rank, unsigned n) { return rank < n ? n : w->ranks; }

fold_status fold_world_blame_late(struct fold_world *w, unsigned first, unsigned n, const char *what) {
  unsigned alike, late = find_late(w, first, n, &alike);
  char text[240], place[120];
  bool stopped = false;
  for (unsigned r = first; r < first + n && !stopped; r++)
    if (!w->rank[r].answered && is_stopped(&w->rank[r])) {
      stopped = true;
      late = r;
    }
  tell_place(&w->rank[late], what, place);
  if (stopped)
    snprintf(text, sizeof text, "rank %u of %u (process %lld on %.30s) is stopped %.100s", late, of(w, late, n),
             (long long)w->rank[late].hello.pid, w->rank[late].hello.host, place);
  else if (alike > 1)
    snprintf(text, sizeof text, "rank %u and %u others of %u got no further than %.100s within %.0f s", late, alike - 1,
             of(w, late, n), place, w->limit);
  else
    snprintf(text, sizeof text, "rank %u of %u hangs: no further than %.100s within %.0f s", late, of(w, late, n),
             place, w->limit);
  return fold_world_fail(w, FOLD_ENVIRONMENT, text);
}

/* The first rank whose machine does not answer for it, w->ranks where all do. */
unsigned fold_world_find_cut(const struct fold_world *w, unsigned first, unsigned n) {
  for (unsigned r = first; r < first + n; r++)
    if (w->rank[r].cut || (!w->rank[r].gone && fold_wire_is_cut(w->rank[r].fd))) return r;
  return w->ranks;
}

fold_status fold_world_blame_cut(struct fold_world *w, unsigned cut, unsigned n, const char *what) {
  char text[240], place[120];
  tell_place(&w->rank[cut], what, place);
  snprintf(text, sizeof text, "rank %u of %u (process %lld on %.30s) cannot be reached any more, %.100s", cut,
           of(w, cut, n), (long long)w->rank[cut].hello.pid, w->rank[cut].hello.host, place);
  return fold_world_fail(w, FOLD_ENVIRONMENT, text);
}

fold_status fold_world_blame_gone(struct fold_world *w, unsigned gone, unsigned n, const char *what) {
  char text[240], place[120];
  tell_place(&w->rank[gone], what, place);
  snprintf(text, sizeof text, "rank %u of %u (process %lld on %.30s) died %.100s", gone, of(w, gone, n),
           (long long)w->rank[gone].hello.pid, w->rank[gone].hello.host, place);
  return fold_world_fail(w, FOLD_ENVIRONMENT, text);
}
