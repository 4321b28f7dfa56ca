/* apart.c: the processes in which twins run. Each is asked for one run at a time, by the twin's index and the case's
 * name; it makes the input itself, in a rig of its own. It ends with the worker. */
#include "run/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/heartbeat.h"
#include "ranks/wire.h"
#include "rig/process_state.h"

struct question {
  size_t subject;
  size_t at; /* the case's place in the list that both processes have; SIZE_MAX: each has its own list */
  char name[4096];
};

/* By turn. pid 0: there is none. */
static struct {
  pid_t pid;
  int fd;
} helpers[FOLD_GUESTS_MOST];
static const struct fold_selection *selected;
static const struct fold_cases *listed; /* NULL: each process selects its cases */
static bool lost;

static bool is_object(const struct fold_guest *guest) { return guest && guest->door == &fold_door_object; }

static size_t objects_before(const struct fold_selection *selection, size_t end) {
  size_t n = 0;
  for (size_t i = 0; i < end; i++) n += is_object(&selection->guests[i]);
  return n;
}

size_t fold_turns(const struct fold_selection *selection) {
  const size_t objects = objects_before(selection, selection->n_guests);
  return objects > 0 ? objects : 1;
}

size_t fold_turn_of(const struct fold_selection *selection, const struct fold_subject *subject) {
  if (subject->guest == NULL || !is_object(subject->guest->guest)) return 0;
  return objects_before(selection, (size_t)(subject->guest->guest - selection->guests));
}

static fold_status fill(struct fold_rig *rig, const struct fold_case *c) {
  for (unsigned k = 0; k < rig->inputs; k++) FOLD_TRY(fold_case_fill(c, k, fold_rig_input_at(rig, k), 0));
  return fold_rig_load(rig);
}

static fold_status run_here(const struct fold_subject *subject, const struct fold_case *c, void *got) {
  const size_t n[FOLD_INPUTS] = {fold_case_elements(c, 0), fold_case_elements(c, 1)};
  const struct fold_request request = {.shape = c->shape, .poison = FOLD_BASE_POISON};
  struct fold_rig rig;
  struct fold_traces traces;
  FOLD_TRY(fold_engine_ready(subject->engine));
  FOLD_TRY(fold_rig_open(&rig, subject->engine, c->problem, c->dtype, n, fold_case_results(c)));
  fold_status status = fill(&rig, c);
  if (status.code == FOLD_OK) status = fold_rig_run(&rig, subject, &request, got, &traces);
  fold_rig_close(&rig);
  return status;
}

static fold_status answer(const struct fold_registry *registry, const struct fold_cases *cases,
                          const struct question *q, int fd) {
  const struct fold_case *c = cases->at;
  if (q->at < cases->n) c += q->at; /* several of a list may have one name */
  while (c < cases->at + cases->n && strcmp(c->name, q->name) != 0) c++;
  if (c == cases->at + cases->n) return fold_error(FOLD_ENVIRONMENT, "its process has no case %.100s", q->name);
  const struct fold_subject *subject = &registry->subjects[q->subject];
  const size_t n_bytes = fold_case_results(c) * fold_dtype_size(fold_subject_result(subject, c->dtype));
  void *got = malloc(n_bytes + 8);
  if (got == NULL) return fold_within(fold_no_memory("for %zu results", fold_case_results(c)), "%s", c->name);
  const fold_status status = run_here(subject, c, got);
  if (!fold_wire_send(fd, WIRE_DONE, &status, sizeof status, got, status.code == FOLD_OK ? n_bytes : 0)) _exit(99);
  free(got);
  return fold_ok();
}

/* Answers questions until the worker has ended. */
static _Noreturn void serve(const struct fold_registry *registry, const struct fold_selection *selection,
                            const struct fold_cases *cases, int fd) {
  struct fold_cases own = {0};
  struct fold_wire_head head;
  struct question q;
  fold_status status = cases ? fold_ok() : fold_select_cases(selection, 0, &own);
  while (fold_wire_read(fd, &head, sizeof head) && fold_wire_read(fd, &q, sizeof q)) {
    if (status.code == FOLD_OK) status = answer(registry, cases ? cases : &own, &q, fd);
    if (status.code != FOLD_OK) fold_wire_send(fd, WIRE_DONE, &status, sizeof status, NULL, 0);
  }
  _exit(0);
}

static fold_status start(const struct fold_registry *registry, const struct fold_selection *selection,
                         const struct fold_cases *cases, size_t turn) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return fold_error(FOLD_ENVIRONMENT, "no socket for a reference's process: %s", strerror(errno));
  const pid_t worker = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == worker) serve(registry, selection, cases, ends[1]);
    _exit(99);
  }
  close(ends[1]);
  if (child < 0) return fold_error(FOLD_ENVIRONMENT, "no process for a reference: %s", strerror(errno));
  fold_process_state_own_child(child);
  helpers[turn].pid = child;
  helpers[turn].fd = ends[0];
  return fold_ok();
}

fold_status fold_apart_start(const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_cases *cases, size_t turn) {
  selected = selection;
  listed = cases;
  for (size_t i = 0; i < registry->n && fold_turns(selection) > 1; i++) {
    const struct fold_subject *subject = &registry->subjects[i];
    const struct fold_subject *twin = subject->twin ? fold_registry_twin(registry, subject) : NULL;
    if (twin == NULL || !fold_selects_subject(selection, subject) || fold_turn_of(selection, subject) != turn) continue;
    const size_t other = fold_turn_of(selection, twin);
    if (twin->guest && is_object(twin->guest->guest) && other != turn && helpers[other].pid == 0)
      FOLD_TRY(start(registry, selection, cases, other));
  }
  return fold_ok();
}

bool fold_apart_has(const struct fold_subject *twin) {
  return selected && twin->guest && is_object(twin->guest->guest) && helpers[fold_turn_of(selected, twin)].pid > 0;
}

static fold_status how_it_ended(pid_t helper) {
  int how = 0;
  lost = true;
  if (waitpid(helper, &how, 0) == helper && WIFSIGNALED(how))
    return fold_error(FOLD_ENVIRONMENT, "the process that it ran in was killed by signal %d (%s)", WTERMSIG(how),
                      strsignal(WTERMSIG(how)));
  return fold_error(FOLD_ENVIRONMENT, "the process that it ran in ended with exit code %d", WEXITSTATUS(how));
}

static bool ask(int fd, const struct question *q, fold_status *status, void *got, size_t n_bytes) {
  struct fold_wire_head head;
  if (!fold_wire_send(fd, WIRE_RUN, q, sizeof *q, NULL, 0)) return false;
  if (!fold_wire_read(fd, &head, sizeof head) || !fold_wire_read(fd, status, sizeof *status)) return false;
  const size_t left = head.n_bytes - sizeof *status;
  if (status->code != FOLD_OK) return left == 0;
  return left == n_bytes && fold_wire_read(fd, got, n_bytes);
}

fold_status fold_apart_run(const struct fold_trial *trial, const struct fold_subject *twin, void *got) {
  const struct fold_case *c = trial->c;
  const size_t turn = fold_turn_of(selected, twin);
  struct question q;
  fold_status status;
  memset(&q, 0, sizeof q);
  q.subject = (size_t)(twin - trial->registry->subjects);
  q.at = listed ? (size_t)(c - listed->at) : SIZE_MAX;
  snprintf(q.name, sizeof q.name, "%s", c->name);
  fold_watch_begin(fold_case_terms(c));
  const bool answered = ask(helpers[turn].fd, &q, &status, got,
                            fold_case_results(c) * fold_dtype_size(fold_subject_result(twin, c->dtype)));
  fold_watch_end();
  return answered ? status : how_it_ended(helpers[turn].pid);
}

bool fold_apart_is_lost(void) { return lost; }
