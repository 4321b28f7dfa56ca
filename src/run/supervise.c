/* supervise.c: starts workers, reads what they send, and judges in the place of those that end within a trial. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/setting.h"
#include "process/guard.h"
#include "process/reaper.h"
#include "process/signals.h"
#include "ranks/world.h"
#include "rig/fp_state.h"
#include "run/apart.h"
#include "run/judged_claims.h"
#include "run/supervisor.h"

/* Limits in seconds: for a worker that is asked to stop; for one whose socket is closed; for the end of processes that
 * workers left behind. */
static const double TO_STOP = 0.5, TO_SAY = 2, TO_BE_GONE = 8;
enum { LIMITS_OF_A_SUBJECT = 3, LIMITS_OF_SILENCE = 30 };
/* Seconds that the harness's own work may take for each element of a case. */
static const double AN_ELEMENT = 20e-6;
/* Microseconds that messages may wait: waking this process for each one would cost the worker more than judging a short
 * case. */
enum { WORDS_WAIT = 1000 };

/* A table in this process is the caller's of the library: what that would do at its own exit is not the worker's to do. */
static void end_worker(const struct fold_job *job, int code) {
  for (size_t i = 0; i < job->selection->n_guests; i++)
    if (job->selection->guests[i].door->here) _exit(code);
  exit(code);
}

static fold_status start_worker(struct fold_supervisor *s) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return fold_system_failed("no socket for the worker");
  struct fold_worker worker = {.job = s->job,
                               .shared = s->shared,
                               .cases = s->has_cases ? &s->cases : NULL,
                               .fresh = s->fresh,
                               .place = s->round.place,
                               .seconds_lost = s->seconds_lost,
                               .most_lost = (s->job->once ? 0.5 : LIMITS_OF_A_SUBJECT) * s->limit,
                               .explained = s->explained,
                               .uninformed = s->uninformed};
  /* The worker before may have ended within a run: makes the count even before the new worker starts. */
  const uint64_t turns = atomic_load(&s->shared->watch.turns), over = turns + (turns & 1);
  s->timeout = (struct fold_timeout){.seconds = s->limit, .turns = over};
  atomic_store(&s->shared->watch.turns, over);
  atomic_store(&s->shared->watch.by_twin, false);
  atomic_store(&s->shared->watch.judging, 0);
  atomic_store(&s->shared->unheard, false);
  s->heard = true;
  pid_t parent = getpid(), child = fold_fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (s->job->selection->n_guests > 0) {
      setpgid(0, 0); /* a subject may send a signal to its process's group */
      fold_guard_group(getpid());
    }
    close(ends[0]);
    end_worker(s->job, getppid() == parent ? fold_worker_serve(&worker, ends[1]) : 99);
  }
  close(ends[1]);
  s->pid = child;
  s->fd = ends[0];
  s->inbox.from = s->inbox.to = 0;
  s->in_trial = false;
  s->explains = FOLD_CLAIMS;
  s->trials = 0;
  memset(s->ran, 0, s->job->registry->n * sizeof *s->ran);
  s->ended = (struct fold_ended){0};
  s->sent = 0;
  if (child > 0) return fold_ok();
  close(s->fd);
  return fold_system_failed("no process for the worker");
}

/* Whether the process has ended. Its socket does not tell: what it has started may keep that open. */
static bool is_gone(const struct fold_supervisor *s) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == s->pid;
}

/* Whether the worker does nothing within a trial, but outside its runs: a subject may have left a lock, or spoilt the
 * heap, so that the harness itself waits or runs for ever. */
static bool is_silent(struct fold_supervisor *s) {
  const uint64_t turns = atomic_load(&s->shared->watch.turns);
  if (!s->in_trial) return false;
  if (s->heard || turns != s->turns) {
    const struct fold_case *c = &s->cases.at[s->round.place.c];
    const double own = AN_ELEMENT * (double)fold_case_terms(c);
    s->silence = fold_limit_until(fold_now() + LIMITS_OF_SILENCE * s->limit + own);
  }
  s->heard = false;
  s->turns = turns;
  return !(turns & 1) && fold_limit_left(&s->silence) <= 0;
}

/* Whether the worker waits, or runs, for ever. */
static enum fold_ending find_stuck(struct fold_supervisor *s) {
  if (fold_watch_hangs(&s->shared->watch, s->pid, &s->timeout)) return FOLD_WORKER_HUNG;
  return is_silent(s) ? FOLD_WORKER_SILENT : FOLD_WORKER_RUNS;
}

/* Waits for messages, and handles those that have arrived whole. */
static enum fold_ending read_messages(struct fold_supervisor *s) {
  struct pollfd at = {.fd = s->fd, .events = POLLIN};
  enum fold_ending how = FOLD_WORKER_RUNS;
  int ready = poll(&at, 1, 50);
  if (ready == 0 && is_gone(s)) {
    ready = poll(&at, 1, 0); /* it may have sent its last words since it was waited for */
    if (ready == 0) return FOLD_WORKER_GONE;
  }
  if (ready <= 0) return FOLD_WORKER_RUNS;
  usleep(WORDS_WAIT);
  bool more = fold_supervisor_receive(s);
  while (how == FOLD_WORKER_RUNS && s->failed.code == FOLD_OK && fold_supervisor_has_message(s)) {
    how = fold_supervisor_take_message(s);
    s->heard = true;
  }
  return how == FOLD_WORKER_RUNS && !more ? FOLD_WORKER_GONE : how;
}

/* Listens until the worker has ended, one way or another. */
static enum fold_ending watch_worker(struct fold_supervisor *s) {
  double asked = 0;
  enum fold_ending how = FOLD_WORKER_RUNS;
  while (how == FOLD_WORKER_RUNS && s->failed.code == FOLD_OK) {
    how = read_messages(s);
    if (how == FOLD_WORKER_RUNS) how = find_stuck(s);
    const int sent = fold_signals_of_subject();
    if (sent) kill(s->pid, SIGKILL); /* its messages so far tell in which subject's trial */
    if (sent) s->sent = sent;
    if (!*s->job->stop || how != FOLD_WORKER_RUNS) continue;
    if (asked == 0) {
      asked = fold_now();
      kill(s->pid, SIGTERM);
    } else if (fold_now() - asked > TO_STOP) {
      how = FOLD_WORKER_STOPPED;
    }
  }
  return how;
}

static const char NO_END[] = "did not end", HUNG[] = "hung between two runs";

bool fold_is_hang(const struct fold_finding *finding) {
  return finding->verdict == FOLD_BROKEN && (strstr(finding->reason, NO_END) || strstr(finding->reason, HUNG));
}

/* By a signal that is not ours: it was about to end, but took its time. */
static bool died_by_itself(int status) { return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL; }

/* How the process ended, in words. */
static void describe(const struct fold_supervisor *s, enum fold_ending how, int status, char text[160]) {
  if (s->sent)
    snprintf(text, 160, "its process sent signal %d (%s) to foldproof, and was killed", s->sent, strsignal(s->sent));
  else if (how == FOLD_WORKER_HUNG)
    snprintf(text, 160, "a run %s within %.0f s, and was killed (see --timeout)", NO_END, s->limit);
  else if (how == FOLD_WORKER_SILENT)
    snprintf(text, 160, "its process %s, and was killed: the heap or a lock may be corrupt", HUNG);
  else if (how == FOLD_WORKER_GONE && atomic_load(&s->shared->unheard) && !died_by_itself(status))
    snprintf(text, 160,
             "its process lost its connection to foldproof: a descriptor was closed that is not the subject's");
  else if (how == FOLD_WORKER_GARBLED)
    snprintf(text, 160, "its process sent an invalid message: its memory was overwritten");
  else if (WIFSIGNALED(status))
    snprintf(text, 160, "the process that it ran in was killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else
    snprintf(text, 160, "the process that it ran in ended with exit code %d", WEXITSTATUS(status));
}

/* The subject that runs when a process ends need not be to blame: an earlier one may have left a thread, a timer, or a
 * spoilt heap. So the trial is run once more, in a process in which nothing else has run. A run that does not end is
 * the subject's own fault. */
static bool should_retry(const struct fold_supervisor *s) { return !s->again && s->trials > 1; }

/* Names the subjects that ran in the process, at most two. */
static void name_all(const struct fold_supervisor *s, char text[100]) {
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; i < s->job->registry->n; i++) {
    if (!s->ran[i] || n++ > 1) continue;
    snprintf(text + strlen(text), 100 - strlen(text), "%s%.30s", n > 1 ? ", " : "", s->job->registry->subjects[i].name);
  }
  if (n > 2) snprintf(text + strlen(text), 100 - strlen(text), " and %zu more", n - 2);
}

/* Notes an end for which no subject can be blamed, but which must not be green either. */
static void note_unexplained(struct fold_supervisor *s, const char *text) {
  char all[100];
  if (s->unexplained++ > 0) return;
  name_all(s, all);
  if (s->in_trial)
    snprintf(s->first_unexplained, sizeof s->first_unexplained, "%.50s on %.40s: %.60s",
             s->job->registry->subjects[s->round.place.subject].name, s->cases.at[s->round.place.c].name, text);
  else
    snprintf(s->first_unexplained, sizeof s->first_unexplained, "between two subjects: %.50s; it had run %s", text,
             all[0] ? all : "none");
}

/* The worker ended between trials: starts another one, unless the last one came no further either. */
static fold_status begin_again(struct fold_supervisor *s, const char *text) {
  bool stuck = s->stuck && s->trials == 0;
  s->stuck = s->trials == 0;
  if (stuck || !s->begun) return fold_error(FOLD_ENVIRONMENT, "between two subjects %s", text);
  note_unexplained(s, text);
  return fold_ok();
}

/* All verdicts of the trial stand. How the order changed stays unknown, and is not asked of this subject again. */
static fold_status go_on_unexplained(struct fold_supervisor *s, const char *text) {
  const struct fold_sink *sink = s->job->sink;
  const struct fold_judgement of = fold_round_judgement(&s->round, s->round.place, s->explains);
  struct fold_order_change change = {.claim = of.claim->id};
  snprintf(change.text, sizeof change.text, "not known: when it was looked for, %s", text);
  s->explained[s->round.place.subject] = UINT64_MAX;
  s->again = false; /* the next worker begins with another trial */
  s->round.place.subject++;
  return sink->explanation(sink->context, &of, &change);
}

/* The claim whose judge was at work; FOLD_CLAIMS: none was. The number is checked, since the worker's memory may be
 * spoilt. */
static size_t claim_at_work(const struct fold_supervisor *s) {
  const unsigned judging = atomic_load(&s->shared->watch.judging);
  return judging == 0 || judging > FOLD_CLAIMS ? FOLD_CLAIMS : judging - 1;
}

/* Whether the run was for information only, such as one at an address that the subject does not claim to take. */
static bool ran_to_inform(const struct fold_supervisor *s) {
  const size_t claim = claim_at_work(s);
  const struct fold_judgement judgement = fold_round_judgement(&s->round, s->round.place, claim);
  return claim < FOLD_CLAIMS && s->job->judge && fold_judges_to_inform(&s->round, &judgement);
}

/* The trial is run again without what is only for information. */
static fold_status go_on_uninformed(struct fold_supervisor *s) {
  s->uninformed[s->round.place.subject] = true;
  s->again = s->calm = true;
  return fold_ok();
}

/* Reports the trial in which the worker ended as broken, so that the round goes on after it; or has the trial run
 * again. */
static fold_status handle_worker_exit(struct fold_supervisor *s, const char *text, bool own) {
  size_t telling = 0;
  if (s->explains != FOLD_CLAIMS) return go_on_unexplained(s, text);
  if (!s->in_trial) return begin_again(s, text);
  if (ran_to_inform(s)) return go_on_uninformed(s);
  const bool second = s->again && !s->calm;
  s->calm = false;
  s->again = !own && should_retry(s);
  if (s->again) {
    note_unexplained(s, text);
    return fold_ok();
  }
  s->unexplained -= second; /* the subject was to blame the first time, too */
  FOLD_TRY(fold_round_fail(&s->round, s->round.place, s->told, claim_at_work(s),
                           fold_error(FOLD_ENVIRONMENT, "%s", text), &telling));
  if (telling == 0) note_unexplained(s, text); /* all its judgements had been reported */
  s->seconds_lost[s->round.place.subject] += fold_now() - s->since - s->timeout.given;
  s->round.place.subject++;
  return fold_ok();
}

/* A worker whose socket is closed ends when it next has something to send. One that does not end in time has lost its
 * socket all the same. */
static void await_exit(struct fold_supervisor *s) {
  struct fold_limit limit = fold_limit_until(fold_now() + TO_SAY);
  while (!is_gone(s) && fold_limit_left(&limit) > 0) usleep(500);
  if (!is_gone(s)) atomic_store(&s->shared->unheard, true);
}

/* Waits for the worker to end; kills it if that takes too long. */
static int await_end(struct fold_supervisor *s, enum fold_ending how) {
  int status = 0;
  if (how == FOLD_WORKER_GONE) await_exit(s);
  struct fold_limit limit = fold_limit_until(fold_now() + s->limit);
  if (how != FOLD_WORKER_DONE) kill(s->pid, SIGKILL);
  close(s->fd);
  for (pid_t ended = 0; ended != s->pid;) {
    ended = waitpid(s->pid, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) break;
    if (ended != s->pid) usleep(500);
    if (fold_limit_left(&limit) <= 0) kill(s->pid, SIGKILL);
  }
  s->left_some |= how != FOLD_WORKER_DONE;
  return status;
}

/* The worker has sent its last message. If its process is short of memory, that may be a subject's doing, so a new one
 * goes on. If it then can't end, or ends with an error, that is noted. */
static fold_status conclude(struct fold_supervisor *s, int status) {
  char text[160];
  s->round.place = s->ended.place;
  s->again = s->again && s->trials == 0; /* the next worker begins with another trial */
  if (s->ended.status.code == FOLD_NO_MEMORY && s->trials > 0) {
    s->in_trial = false;
    s->ended.lost = true;
    return begin_again(s, s->ended.status.text);
  }
  FOLD_TRY(s->ended.status);
  FOLD_TRY(s->ended.closed);
  if (!s->ended.lost && s->ended.place.c < s->cases.n && !*s->job->stop) {
    s->in_trial = false;
    s->ended.lost = true;
    return begin_again(s, "a signal from outside asked its process to stop");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !s->sent) return fold_ok();
  describe(s, FOLD_WORKER_DONE, status, text);
  s->in_trial = false;
  note_unexplained(s, text);
  return fold_ok();
}

/* Says that the twin ran, if it was not the judged subject. */
static void name_twin(const struct fold_supervisor *s, char text[160]) {
  const char *twin = s->job->registry->subjects[s->round.place.subject].twin;
  char how[160];
  if (!s->in_trial || !twin || !atomic_load(&s->shared->watch.by_twin)) return;
  snprintf(how, sizeof how, "%s", text);
  snprintf(text, 160, "its reference %.40s ran, and %.95s", twin, how);
}

/* Adds the claim for which the run was made, so that a replay can repeat it. */
static void name_claim(const struct fold_supervisor *s, char text[160]) {
  size_t n;
  const size_t claim = claim_at_work(s), used = strlen(text);
  if (s->in_trial && claim < FOLD_CLAIMS)
    snprintf(text + used, 160 - used, ", in a run for %s", fold_claims(&n)[claim].name);
}

/* Employs one worker until it ends. *over: it was the last. */
static fold_status run_worker(struct fold_supervisor *s, bool *over) {
  char text[160];
  FOLD_TRY(start_worker(s));
  enum fold_ending how = watch_worker(s);
  int status = await_end(s, how);
  fold_status result = s->failed;
  describe(s, how, status, text);
  name_twin(s, text);
  if (how != FOLD_WORKER_DONE) name_claim(s, text);
  if (result.code == FOLD_OK && how == FOLD_WORKER_DONE) result = conclude(s, status);
  if (result.code == FOLD_OK && how != FOLD_WORKER_DONE && how != FOLD_WORKER_STOPPED)
    result = handle_worker_exit(s, text, how == FOLD_WORKER_HUNG);
  *over = *s->job->stop || (how == FOLD_WORKER_DONE && !s->ended.lost);
  return result;
}

/* The guards of ranks need time to end what is left; without ranks there is nothing to wait for. */
static double wait_for_orphans(const struct fold_job *job) {
  for (size_t i = 0; i < job->registry->n; i++)
    if (fold_engine_has_ranks(job->registry->subjects[i].engine) &&
        fold_selects_subject(job->selection, &job->registry->subjects[i]))
      return TO_BE_GONE;
  return 0;
}

static fold_status open_shared(struct fold_supervisor *s) {
  unsigned limit;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_TIMEOUT, 20, &limit));
  s->limit = limit;
  s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  s->seconds_lost = calloc(s->job->registry->n + 1, sizeof *s->seconds_lost);
  s->ran = calloc(s->job->registry->n + 1, sizeof *s->ran);
  s->explained = calloc(s->job->registry->n + 1, sizeof *s->explained);
  s->uninformed = calloc(s->job->registry->n + 1, sizeof *s->uninformed);
  if (s->shared == MAP_FAILED || !s->seconds_lost || !s->ran || !s->explained || !s->uninformed)
    return fold_no_memory("to start a process");
  if (!s->job->fresh_for) return fold_ok();
  s->fresh = memfd_create("foldproof-fresh", MFD_CLOEXEC);
  return s->fresh < 0 ? fold_system_failed("a file in memory cannot be made") : fold_ok();
}

/* Reads the cases once for all workers, which begin as copies of this process; then employs workers. */
static fold_status run_workers(struct fold_supervisor *s) {
  bool over = false;
  if (s->job->cases) {
    s->cases = *s->job->cases;
    s->has_cases = true;
  } else if (s->job->selection->n_npy == 0) {
    FOLD_TRY(fold_select_cases(s->job->selection, 0, &s->cases));
    s->has_cases = true;
  }
  fold_status status = fold_ok();
  while (status.code == FOLD_OK && !over) status = run_worker(s, &over);
  return status;
}

static const char unexplained_end[] = "times a process ended, and the subject under test was not the cause";

bool fold_is_unexplained(const fold_status *status) { return strstr(status->text, unexplained_end) != NULL; }

/* The failures that no judgement tells. */
static fold_status final_status(const struct fold_supervisor *s) {
  if (s->unexplained == 0) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "%zu %s; perhaps an earlier subject was; first in %s", s->unexplained,
                    unexplained_end, s->first_unexplained);
}

fold_status fold_supervise(const struct fold_job *job, fold_status *unexplained) {
  struct fold_supervisor s = {.job = job, .fresh = -1, .shared = MAP_FAILED, .failed = fold_ok()};
  s.round = (struct fold_round){.registry = job->registry,
                                .selection = job->selection,
                                .cases = &s.cases,
                                .sink = job->sink,
                                .judge = job->judge};
  fold_status status = open_shared(&s);
  if (status.code == FOLD_OK && job->in_process && fold_turns(job->selection) > 1)
    status = fold_error(FOLD_BAD_INPUT, "--in-process takes one --guest: each is loaded in a process of its own");
  if (status.code == FOLD_OK && job->in_process) {
    struct fold_worker here = {
        .job = job, .cases = job->cases, .shared = s.shared, .fresh = s.fresh, .explained = s.explained};
    status = fold_worker_here(&here);
  } else if (status.code == FOLD_OK) {
    struct fold_reaper reaper;
    signal(SIGCHLD, SIG_DFL); /* if our parent ignored SIGCHLD, we would not learn of a child's end */
    fold_reaper_begin(&reaper);
    fold_signals_watch();
    status = run_workers(&s);
    fold_reaper_end(&reaper, s.left_some ? wait_for_orphans(job) : 0);
    fold_signals_leave();
  }
  *unexplained = final_status(&s);
  if (s.shared != MAP_FAILED) munmap(s.shared, sizeof *s.shared);
  if (s.fresh >= 0) close(s.fresh);
  if (!job->cases) fold_cases_free(&s.cases);
  free(s.seconds_lost);
  free(s.ran);
  free(s.explained);
  free(s.uninformed);
  free(s.got);
  return status;
}
