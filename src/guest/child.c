/* child.c: see child.h. */
#include "guest/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/line.h"
#include "base/text.h"
#include "process/guard.h"
#include "rig/process_state.h"

enum { LONGEST_ANSWER = 16 << 20 };

/* The last line that the program wrote to standard error, as ": ..."; "" where there is none. */
static const char *last_words(const struct fold_program *p, char text[140]) {
  char tail[130];
  const off_t end = lseek(p->errors, 0, SEEK_END),
              from = end > (off_t)sizeof tail - 1 ? end - (off_t)sizeof tail + 1 : 0;
  const ssize_t n = end > 0 ? pread(p->errors, tail, (size_t)(end - from), from) : 0;
  text[0] = '\0';
  if (n <= 0) return text;
  tail[n] = '\0';
  for (ssize_t i = n; i > 0 && (tail[i - 1] == '\n' || tail[i - 1] == '\r'); i--) tail[i - 1] = '\0';
  const char *line = strrchr(tail, '\n');
  snprintf(text, 140, ": %s", line ? line + 1 : tail);
  fold_text_one_line(text);
  return text;
}

/* Frees all but the end of what the program wrote to standard error, since only the end is shown, and a program may
 * write a log without end. */
static void forget_errors(const struct fold_program *p) {
  enum { KEPT = 1 << 16 };
  const off_t written = lseek(p->errors, 0, SEEK_END) - KEPT;
  if (written > 0) fallocate(p->errors, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, written);
}

/* The read function for fopencookie. */
static ssize_t read_answers(void *context, char *to, size_t n) {
  enum { WAIT_MS = 20 };
  const struct fold_program *p = context;
  struct pollfd answers = {.fd = p->answers, .events = POLLIN};
  while (poll(&answers, 1, p->peeks ? 0 : WAIT_MS) <= 0) {
    if (p->peeks) return errno = EAGAIN, -1;
    forget_errors(p);
  }
  return read(p->answers, to, n);
}
static int close_answers(void *context) { return close(((const struct fold_program *)context)->answers); }

static void put_away(struct fold_program *p) {
  if (p->to) fclose(p->to);
  if (p->from) fclose(p->from);
  if (p->errors > 0) close(p->errors);
  *p = (struct fold_program){0};
}

/* Runs in the child between fork and exec. */
static void become(pid_t parent, const char *command, int in, int out, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127); /* it ended before */
  setpgid(0, 0);
  fold_guard_group(getpid());
  if (in < 0) in = open("/dev/null", O_RDONLY | O_CLOEXEC); /* our own input is not for it */
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", command, (char *)NULL);
  _exit(127);
}

fold_status fold_program_start(struct fold_program *p, const char *command, bool asked) {
  int to[2] = {-1, -1}, from[2];
  *p = (struct fold_program){.errors = memfd_create("foldproof-exec", MFD_CLOEXEC)};
  if (p->errors < 0 || (asked && pipe2(to, O_CLOEXEC)) || pipe2(from, O_CLOEXEC))
    return fold_error(FOLD_ENVIRONMENT, "a program cannot be started: %s", strerror(errno));
  const pid_t parent = getpid();
  p->pid = fork();
  if (p->pid == 0) become(parent, command, to[0], from[1], p->errors);
  if (p->pid > 0) fold_process_state_own_child(p->pid);
  close(from[1]);
  if (asked) close(to[0]);
  p->answers = from[0];
  p->from = fopencookie(p, "r", (cookie_io_functions_t){.read = read_answers, .close = close_answers});
  p->to = asked ? fdopen(to[1], "w") : NULL;
  if (p->pid > 0 && p->from && (p->to || !asked)) return fold_ok();
  put_away(p);
  return fold_error(FOLD_ENVIRONMENT, "a program cannot be started: %s", strerror(errno));
}

fold_status fold_program_ended(struct fold_program *p, bool well) {
  int how = 0;
  char words[140];
  while (waitpid(p->pid, &how, 0) < 0 && errno == EINTR) continue;
  last_words(p, words);
  put_away(p);
  /* A shell reports a signal that killed its command by an exit code above 128. */
  const int number = WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how) > 128 ? WEXITSTATUS(how) - 128 : 0;
  if (number)
    return fold_error(FOLD_ENVIRONMENT, "the program was killed by signal %d (%s)%s", number, strsignal(number), words);
  if (WEXITSTATUS(how) != 0 || !well)
    return fold_error(well ? FOLD_FAILED : FOLD_ENVIRONMENT, "the program ended with exit code %d%s", WEXITSTATUS(how),
                      words);
  return fold_ok();
}

/* Kills the program's whole group: killing a shell alone would leave its command running. */
static void end(const struct fold_program *p) { kill(-p->pid, SIGKILL); }

/* The program's answer is invalid: ends it, so that it is not asked again. */
static fold_status nonsense(struct fold_program *p, const char *line) {
  char words[140];
  last_words(p, words);
  end(p);
  fold_program_ended(p, false);
  return fold_error(FOLD_ENVIRONMENT, "the program answered '%.80s', which is not a JSON object%s", line, words);
}

/* The program has given one answer more than it got questions. The subject of that question is to blame, whatever runs now. */
static fold_status answered_again(struct fold_program *p, const char *about) {
  const fold_status status = fold_error(FOLD_ENVIRONMENT, "the program gave more answers than it got questions%s%s",
                                        about[0] ? ": again for " : "", about);
  char words[140];
  last_words(p, words);
  end(p);
  fold_program_ended(p, false);
  return words[0] ? fold_error(FOLD_ENVIRONMENT, "%.300s%s", status.text, words) : status;
}

/* Compares an answer's "id", which an older program has not, with the question's, and removes it. */
static fold_status check_id(struct fold_program *p, json_t *answer) {
  const json_t *id = json_object_get(answer, "id");
  const json_int_t number = json_integer_value(id);
  if (id && number != p->asked) return answered_again(p, number == p->asked - 1 ? p->about[number & 1] : "");
  json_object_del(answer, "id");
  return fold_ok();
}

static void number(struct fold_program *p, json_t *question) {
  const char *subject = json_string_value(json_object_get(question, "subject"));
  json_object_set_new(question, "id", json_integer(++p->asked));
  snprintf(p->about[p->asked & 1], sizeof p->about[0], "%s", subject ? subject : "");
}

static bool has_ended(pid_t pid) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

void fold_program_await(struct fold_program *p) {
  char part[4096];
  struct pollfd answers = {.fd = p->answers, .events = POLLIN};
  bool open = true;
  while (!has_ended(p->pid)) {
    if (!open) {
      usleep(200); /* its output is closed, and it is about to end */
    } else if (poll(&answers, 1, 2) > 0) {
      open = read(p->answers, part, sizeof part) > 0;
    }
    forget_errors(p);
  }
}

/* Whether the program has written something before it is asked: it may be in the buffer, read with the last answer, or
 * in the pipe. */
static bool has_said_more(struct fold_program *p) {
  p->peeks = true;
  const int c = getc(p->from);
  p->peeks = false;
  clearerr(p->from); /* an empty pipe is no error, and an end of file will be seen again */
  return c != EOF;
}

fold_status fold_program_ask(struct fold_program *p, json_t *question, json_t **answer) {
  char *line = NULL;
  size_t room = 0;
  *answer = NULL;
  if (has_said_more(p)) return answered_again(p, p->about[p->asked & 1]);
  number(p, question);
  void (*pipes)(int) = signal(SIGPIPE, SIG_IGN); /* a program that is gone shows by giving no answer */
  json_dumpf(question, p->to, JSON_COMPACT);
  fputc('\n', p->to);
  fflush(p->to);
  signal(SIGPIPE, pipes);
  const ssize_t n = fold_line_read(&line, &room, LONGEST_ANSWER, p->from);
  forget_errors(p);
  fold_status status = fold_ok();
  if (n > 0) *answer = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
  if (n > 0 && !json_is_object(*answer)) {
    line[strcspn(line, "\r\n")] = '\0';
    fold_text_one_line(line);
    status = nonsense(p, line);
    json_decref(*answer);
    *answer = NULL;
  } else if (n <= 0) {
    const bool overflows = n < 0 && errno == EOVERFLOW;
    if (overflows) end(p);
    status = fold_program_ended(p, false);
    if (overflows)
      status = fold_error(FOLD_ENVIRONMENT, "the program answered over %d bytes in a line", LONGEST_ANSWER);
  }
  free(line);
  if (status.code == FOLD_OK) status = check_id(p, *answer);
  if (status.code != FOLD_OK) json_decref(*answer), *answer = NULL;
  return status;
}
