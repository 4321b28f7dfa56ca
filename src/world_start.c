/* world_start.c: how the ranks of a world are started, and how they end, whatever state they are in. */
#include "world_start.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FOLD_HAVE_CUDA
#include "cuda/device.h"
#endif

enum { MOST_RANKS = 1024, MOST_WORDS = 64, START_LIMITS = 3, MOST_PRINTED = 4096 };

/* A whole number from the environment, `otherwise` where it is not set. */
static fold_status setting(const char *name, unsigned otherwise, unsigned most, unsigned *value) {
  const char *text = getenv(name);
  *value = otherwise;
  if (text == NULL || *text == '\0') return fold_ok();
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || number < 1 || number > most)
    return fold_error(FOLD_BAD_INPUT, "%s=%.40s: not a whole number from 1 to %u", name, text, most);
  *value = (unsigned)number;
  return fold_ok();
}

/* How many ranks there are: as asked for, else one a GPU, or 8 host processes. */
static fold_status choose_ranks(struct fold_world *w) {
  unsigned otherwise = 8;
#ifdef FOLD_HAVE_CUDA
  if (w->engine == FOLD_NCCL) {
    int gpus = 0;
    char reason[FOLD_DEVICE_TEXT] = "";
    FOLD_TRY(fold_device_count(&gpus, reason));
    if (gpus == 0) return fold_error(FOLD_UNSUPPORTED, "%s", reason);
    otherwise = (unsigned)gpus;
  }
#endif
  return setting("FOLDPROOF_RANKS", otherwise, MOST_RANKS, &w->ranks);
}

struct door {
  int fd;
  uint64_t secret;
  char address[80], secret_text[32], ranks_text[16], self[4096];
};

static fold_status system_failed(const char *what) {
  return fold_error(FOLD_ENVIRONMENT, "%s: %s", what, strerror(errno));
}

/* The socket that ranks connect to. */
static fold_status open_door(struct fold_world *w, struct door *door) {
  const char *address = getenv("FOLDPROOF_ADDRESS");
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t size = sizeof at;
  if (address == NULL || *address == '\0') address = "127.0.0.1";
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
    return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_ADDRESS=%.60s: not an IPv4 address", address);
  door->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door->fd < 0 || bind(door->fd, (struct sockaddr *)&at, size) || listen(door->fd, MOST_RANKS) ||
      getsockname(door->fd, (struct sockaddr *)&at, &size))
    return system_failed("a socket for the ranks");
  if (getrandom(&door->secret, sizeof door->secret, 0) != sizeof door->secret) return system_failed("getrandom");
  snprintf(door->address, sizeof door->address, "%s:%u", address, ntohs(at.sin_port));
  snprintf(door->secret_text, sizeof door->secret_text, "%016llx", (unsigned long long)door->secret);
  snprintf(door->ranks_text, sizeof door->ranks_text, "%u", w->ranks);
  ssize_t n = readlink("/proc/self/exe", door->self, sizeof door->self - 1);
  if (n < 0) return system_failed("/proc/self/exe");
  door->self[n] = '\0';
  return fold_ok();
}

/* The launcher's command line: its words, then ours. `text` is cut up. */
static fold_status command_line(const struct fold_world *w, struct door *door, char *text, const char **argv) {
  size_t n = 0;
  char *rest = NULL;
  for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (n == MOST_WORDS - 12) return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_LAUNCH has more than 50 words");
    argv[n++] = strcmp(word, "{ranks}") == 0 ? door->ranks_text : word;
  }
  argv[n++] = door->self;
  argv[n++] = "rank";
  argv[n++] = "--engine";
  argv[n++] = fold_engine_name(w->engine);
  argv[n++] = "--connect";
  argv[n++] = door->address;
  argv[n++] = "--secret";
  argv[n++] = door->secret_text;
  argv[n++] = "--ranks";
  argv[n++] = door->ranks_text;
  if (argv[0] == door->self) argv[n++] = "--threads";
  argv[n] = NULL;
  return fold_ok();
}

/* Between fork and exec only calls that are safe there. The launcher dies with us, and is a group of its own, so that a
 * Ctrl-C at the terminal reaches only us, who then end it. */
static pid_t spawn(const char *const *argv, int output, int failure) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(99);
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(argv[0], (char *const *)(uintptr_t)argv);
  int error = errno;
  if (write(failure, &error, sizeof error) < 0) _exit(98);
  _exit(99);
}

static fold_status start_launcher(struct fold_world *w, struct door *door) {
  const struct fold_comm_engine *engine = fold_comm_engine_of(w->engine);
  const char *launch = getenv("FOLDPROOF_LAUNCH"), *argv[MOST_WORDS];
  if (launch == NULL || *launch == '\0') launch = engine->threads ? "threads" : "mpirun";
  if (strcmp(launch, "threads") == 0 && !engine->threads)
    return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_LAUNCH=threads: an MPI rank is a process");
  if (strcmp(launch, "threads") == 0) launch = "";
  if (strcmp(launch, "mpirun") == 0) launch = "mpirun --oversubscribe --bind-to none -n {ranks}";
  char *text = strdup(launch);
  int failure[2] = {-1, -1}, error = 0;
  fold_status status = text ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory to start ranks");
  if (status.code == FOLD_OK) status = command_line(w, door, text, argv);
  if (status.code == FOLD_OK && pipe2(failure, O_CLOEXEC)) status = system_failed("a pipe");
  if (status.code == FOLD_OK && (w->output = memfd_create("foldproof-ranks", MFD_CLOEXEC)) < 0)
    status = system_failed("room for what ranks print");
  if (status.code == FOLD_OK && (w->launcher = spawn(argv, w->output, failure[1])) < 0) {
    w->launcher = 0;
    status = system_failed("a new process");
  }
  if (failure[1] >= 0) close(failure[1]);
  if (status.code == FOLD_OK && read(failure[0], &error, sizeof error) == sizeof error)
    status = fold_error(FOLD_UNSUPPORTED, "%.100s can't be started: %s", argv[0], strerror(error));
  if (failure[0] >= 0) close(failure[0]);
  free(text);
  return status;
}

/* What was printed there, as one line: the first that says something. */
static void tell_printed(const struct fold_world *w, char line[160]) {
  char printed[MOST_PRINTED + 1];
  ssize_t n = w->output >= 0 ? pread(w->output, printed, MOST_PRINTED, 0) : 0;
  printed[n > 0 ? n : 0] = '\0';
  line[0] = '\0';
  char *rest = NULL;
  for (char *at = strtok_r(printed, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
    size_t letters = strcspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (at[letters] == '\0') continue;
    snprintf(line, 160, ": %.150s", at);
    return;
  }
}

static bool launcher_ended(struct fold_world *w) {
  return w->launcher > 0 && waitpid(w->launcher, NULL, WNOHANG) == w->launcher;
}

static fold_status check_hello(const struct fold_world *w, const struct wire_hello *hello) {
  const struct wire_hello *other = NULL;
  for (unsigned r = 0; r < w->ranks && !other; r++)
    if (w->rank[r].fd >= 0) other = &w->rank[r].hello;
  if (hello->protocol != FOLD_WIRE_PROTOCOL || strcmp(hello->version, FOLD_VERSION) != 0)
    return fold_error(FOLD_ENVIRONMENT, "a rank on %.40s is foldproof %.20s, this is " FOLD_VERSION, hello->host,
                      hello->version);
  if (hello->rank >= w->ranks || hello->ranks != w->ranks)
    return fold_error(FOLD_ENVIRONMENT, "the launcher started rank %u of %u on %.40s, asked for were %u", hello->rank,
                      hello->ranks, hello->host, w->ranks);
  if (w->rank[hello->rank].fd >= 0)
    return fold_error(FOLD_ENVIRONMENT, "two processes say that they are rank %u", hello->rank);
  if (other && strcmp(other->library, hello->library) != 0)
    return fold_error(FOLD_ENVIRONMENT, "rank %u on %.40s has %.60s, rank %u on %.40s has %.60s", hello->rank,
                      hello->host, hello->library, other->rank, other->host, other->library);
  return fold_ok();
}

/* A stranger at the door is turned away; a rank is given its seat. */
static fold_status admit(struct fold_world *w, int fd, uint64_t secret, bool *seated) {
  struct timeval first = {.tv_sec = 5}, later = {.tv_sec = (time_t)w->limit};
  struct wire_head head;
  struct wire_hello hello;
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &first, sizeof first);
  *seated = false;
  if (!fold_wire_read(fd, &head, sizeof head) || head.kind != WIRE_HELLO || head.n_bytes != sizeof hello ||
      !fold_wire_read(fd, &hello, sizeof hello) || hello.secret != secret) {
    close(fd);
    return fold_ok();
  }
  hello.version[sizeof hello.version - 1] = hello.library[sizeof hello.library - 1] = '\0';
  hello.host[sizeof hello.host - 1] = hello.device[sizeof hello.device - 1] = '\0';
  fold_status status = check_hello(w, &hello);
  if (status.code != FOLD_OK) {
    close(fd);
    return status;
  }
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &later, sizeof later);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &later, sizeof later);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  w->rank[hello.rank].fd = fd;
  w->rank[hello.rank].hello = hello;
  *seated = true;
  return fold_ok();
}

static fold_status tell_missing(const struct fold_world *w, const char *why) {
  char line[160];
  unsigned missing = 0;
  while (missing < w->ranks && w->rank[missing].fd >= 0) missing++;
  tell_printed(w, line);
  return fold_error(FOLD_ENVIRONMENT, "rank %u of %u did not start: %s%s", missing, w->ranks, why, line);
}

static fold_status wait_for_ranks(struct fold_world *w, const struct door *door) {
  double end = fold_world_now() + START_LIMITS * w->limit;
  for (unsigned seated = 0; seated < w->ranks;) {
    struct pollfd knock = {.fd = door->fd, .events = POLLIN};
    int ready = poll(&knock, 1, 50);
    if (ready > 0) {
      bool new;
      int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
      if (fd < 0) return system_failed("accept");
      FOLD_TRY(admit(w, fd, door->secret, &new));
      seated += new;
    } else if (launcher_ended(w)) {
      w->launcher = 0;
      return tell_missing(w, "the launcher ended");
    } else if (fold_world_now() > end) {
      return tell_missing(w, "no word from it in time");
    }
  }
  return fold_ok();
}

fold_status fold_world_start(struct fold_world *w) {
  unsigned limit;
  w->output = -1;
  if (fold_comm_engine_of(w->engine) == NULL)
    return fold_error(FOLD_UNSUPPORTED, "this build has no %s", w->engine == FOLD_MPI ? "MPI" : "NCCL");
  FOLD_TRY(setting("FOLDPROOF_TIMEOUT", 20, 86400, &limit));
  FOLD_TRY(choose_ranks(w));
  w->limit = limit;
  w->rank = calloc(w->ranks, sizeof *w->rank);
  w->polled = calloc(w->ranks, sizeof *w->polled);
  if (!w->rank || !w->polled) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", w->ranks);
  for (unsigned r = 0; r < w->ranks; r++) w->rank[r].fd = -1;
  struct door door = {.fd = -1};
  fold_status status = open_door(w, &door);
  if (status.code == FOLD_OK) status = start_launcher(w, &door);
  if (status.code == FOLD_OK) status = wait_for_ranks(w, &door);
  if (door.fd >= 0) close(door.fd);
  return fold_within(status, "%s", fold_engine_name(w->engine));
}

static void wait_for_launcher(struct fold_world *w, double seconds) {
  double end = fold_world_now() + seconds;
  while (w->launcher > 0 && fold_world_now() < end) {
    if (launcher_ended(w))
      w->launcher = 0;
    else
      usleep(2000);
  }
}

/* Whether the process is one of ours, and not another that got its number since. */
static bool is_ours(pid_t pid) {
  char path[40], self[4096], theirs[4096];
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  ssize_t n = readlink("/proc/self/exe", self, sizeof self), m = readlink(path, theirs, sizeof theirs);
  return n > 0 && n == m && memcmp(self, theirs, (size_t)n) == 0;
}

/* Ranks of this machine are killed by their own number too: a launcher puts them in groups of their own, and one that is
 * killed itself has no time to see to them. */
static void kill_ranks(const struct fold_world *w) {
  char host[sizeof w->rank->hello.host] = "";
  gethostname(host, sizeof host - 1);
  for (unsigned r = 0; r < w->ranks; r++) {
    pid_t pid = (pid_t)w->rank[r].hello.pid;
    if (pid > 1 && strcmp(w->rank[r].hello.host, host) == 0 && is_ours(pid)) kill(pid, SIGKILL);
  }
}

void fold_world_end(struct fold_world *w, bool well) {
  if (well) {
    struct fold_question end = {.kind = WIRE_END, .what = "ending"};
    if (fold_world_ask(w, 0, w->ranks, &end, NULL).code != FOLD_OK) return; /* which ended it */
  }
  for (unsigned r = 0; w->rank && r < w->ranks; r++)
    if (w->rank[r].fd >= 0) close(w->rank[r].fd); /* whereupon the rank's watch ends it */
  wait_for_launcher(w, well ? 10 : 0.5);
  if (w->rank && (w->launcher > 0 || !well)) kill_ranks(w);
  if (w->launcher > 0) {
    kill(-w->launcher, SIGTERM);
    wait_for_launcher(w, 2);
  }
  if (w->launcher > 0) {
    kill(-w->launcher, SIGKILL);
    wait_for_launcher(w, 5);
  }
  if (w->output >= 0) close(w->output);
  for (unsigned r = 0; w->rank && r < w->ranks; r++) free(w->rank[r].calls);
  free(w->rank);
  free(w->polled);
  w->rank = NULL;
  w->polled = NULL;
  w->ranks = 0;
  w->launcher = 0;
  w->output = -1;
}
