/* bench/numpy.c: NumPy as a contender: a Python process that maps the bench's inputs and reduces one of them on
 * request. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "bench/host.h"

extern char **environ;

enum { MAP = 3, LINE = 4096, MOST_RESULTS = 16, PATIENCE = 600 /* seconds of silence */ };

static fold_status apart(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return fold_error(FOLD_UNSUPPORTED, "%s runs in its own process, only for bench", subject->name);
}
#define NUMPY(NAME, OPS, ABOUT)                                                                   \
  {                                                                                               \
    .name = "numpy/" NAME, .engine = FOLD_HOST, .about = ABOUT,                                   \
    .dtypes = 1u << FOLD_F16 | 1u << FOLD_F32 | 1u << FOLD_F64, .ops = OPS, .method = FOLD_PLAIN, \
    .accumulator = FOLD_OF_TERMS, .run = apart, .peer = true                                      \
  }
const struct fold_subject fold_bench_numpy[FOLD_BENCH_NUMPYS] = {
    NUMPY("sum", (1u << FOLD_OPS) - 1, "numpy.sum (prod, max, min), one thread"),
    NUMPY("dot", 1u << FOLD_DOT, "numpy.dot of two rows, numpy.matmul of many, one thread"),
};
#undef NUMPY

struct fold_numpy {
  pid_t process;
  int socket;
  enum fold_dtype dtype;
  char version[40];
  char line[LINE]; /* what was received and not read yet */
  size_t held;
};

/* Its arguments are dtype, problem, rows, cols, and bytes from one input to the next. It reads lines with an offset
 * each, and writes a line for each run. */
static const char script[] =
    "import os, sys, json, mmap, time\n"
    "for blas in 'OPENBLAS', 'MKL', 'BLIS', 'OMP':\n"
    "    os.environ[blas + '_NUM_THREADS'] = '1'\n"
    "try:\n"
    "    import numpy as np\n"
    "except ImportError:\n"
    "    print(json.dumps({'missing': sys.executable + ' has no NumPy'}), flush=True)\n"
    "    sys.exit()\n"
    "dtype, op, rows, cols, apart = np.dtype(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])\n"
    "memory = mmap.mmap(3, 0, access=mmap.ACCESS_READ)\n"
    "def dot(x, y):\n"
    "    return np.dot(x, y) if rows == 1 else np.matmul(x[:, None, :], y[:, :, None])[:, 0, 0]\n"
    "def folded(f):\n"
    "    return lambda x: f(x) if rows == 1 else f(x, axis=1)\n"
    "inputs = 2 if op == 'dot' else 1\n"
    "reduce = {'sum': folded(np.sum), 'prod': folded(np.prod), 'max': folded(np.max), 'min': folded(np.min), 'dot': "
    "dot}[op]\n"
    "np.seterr(all='ignore')\n"
    "few = [np.ones((rows, 16) if rows > 1 else 16, dtype)] * inputs\n"
    "print(json.dumps({'version': np.__version__}), flush=True)\n"
    "for line in sys.stdin:\n"
    "    x = [np.frombuffer(memory, dtype, rows * cols, int(line) + i * apart) for i in range(inputs)]\n"
    "    x = x if rows == 1 else [part.reshape(rows, cols) for part in x]\n"
    "    reduce(*few)\n" /* a process that slept has cold caches */
    "    start = time.perf_counter()\n"
    "    result = reduce(*x)\n"
    "    seconds = time.perf_counter() - start\n"
    "    bits = np.atleast_1d(result)[:16].astype(dtype).tobytes().hex()\n"
    "    print(json.dumps({'seconds': seconds, 'bits': bits}), flush=True)\n";

/* Waits for the next line of JSON until it comes, *stop is set, or the process was silent for too long. */
static fold_status read_line(struct fold_numpy *n, const volatile int *stop, json_t **record) {
  double start = fold_now();
  for (;;) {
    char *end = memchr(n->line, '\n', n->held);
    if (end) {
      size_t length = (size_t)(end - n->line) + 1;
      *record = json_loadb(n->line, length, 0, NULL);
      memmove(n->line, n->line + length, n->held - length);
      n->held -= length;
      if (*record) return fold_ok();
      return fold_error(FOLD_ENVIRONMENT, "NumPy's process said something that is no answer");
    }
    struct pollfd poll_for = {n->socket, POLLIN, 0};
    if (*stop) return fold_error(FOLD_UNSUPPORTED, "stopped");
    if (fold_now() - start > PATIENCE)
      return fold_error(FOLD_ENVIRONMENT, "NumPy's process was silent for %d s", PATIENCE);
    if (poll(&poll_for, 1, 100) <= 0) continue;
    ssize_t got = recv(n->socket, n->line + n->held, LINE - n->held, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fold_error(FOLD_UNSUPPORTED, "python3 ended before it answered");
    n->held += (size_t)got;
  }
}

static fold_status start(struct fold_numpy *n, const char *python, const struct fold_bench_shape *shape, int fd) {
  char rows[24], cols[24], apart[24];
  int pair[2];
  snprintf(rows, sizeof rows, "%zu", shape->rows);
  snprintf(cols, sizeof cols, "%zu", shape->cols);
  snprintf(apart, sizeof apart, "%zu", fold_bench_input_bytes(shape));
  const char *const words[] = {python, "-c",  script, fold_dtype_descr(shape->dtype), shape->problem->name, rows,
                               cols,   apart, NULL};
  posix_spawn_file_actions_t actions;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fold_error(FOLD_ENVIRONMENT, "no socket for NumPy's process: %s", strerror(errno));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, MAP);
  posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&n->process, python, &actions, NULL, (char *const *)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pair[1]);
  n->socket = pair[0];
  if (error == 0) return fold_ok();
  n->process = 0;
  return fold_error(FOLD_UNSUPPORTED, "%s: %s", python, strerror(error));
}

static fold_status greet(struct fold_numpy *n, const volatile int *stop) {
  json_t *record = NULL;
  FOLD_TRY(read_line(n, stop, &record));
  const char *missing = json_string_value(json_object_get(record, "missing"));
  const char *version = json_string_value(json_object_get(record, "version"));
  fold_status status = missing ? fold_error(FOLD_UNSUPPORTED, "%s", missing) : fold_ok();
  snprintf(n->version, sizeof n->version, "%s", version ? version : "?");
  json_decref(record);
  return status;
}

/* A machine may have several Pythons: the one on the PATH is tried first, then the system's. */
fold_status fold_numpy_open(const struct fold_bench_shape *shape, const struct fold_host_pool *pool,
                            const volatile int *stop, struct fold_numpy **numpy) {
  static const char *const pythons[] = {"python3", "/usr/bin/python3"};
  fold_status status = fold_error(FOLD_UNSUPPORTED, "stopped");
  *numpy = NULL;
  for (size_t i = 0; i < sizeof pythons / sizeof *pythons && !*stop; i++) {
    struct fold_numpy *n = calloc(1, sizeof *n);
    if (n == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for NumPy's process");
    n->dtype = shape->dtype;
    n->socket = -1;
    status = start(n, pythons[i], shape, pool->fd);
    if (status.code == FOLD_OK) status = greet(n, stop);
    if (status.code == FOLD_OK) {
      *numpy = n;
      return status;
    }
    fold_numpy_close(n);
  }
  return status;
}

/* Decodes "0000803f" to patterns of `size` bytes each. Returns how many there are. */
static size_t take_results(const char *hex, size_t size, void *out, size_t most) {
  unsigned char *bytes = out;
  size_t n = strlen(hex) / 2 / size < most ? strlen(hex) / 2 / size : most;
  for (size_t i = 0; i < n * size; i++) {
    unsigned byte = 0;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return 0;
    bytes[i] = (unsigned char)byte;
  }
  return n;
}

fold_status fold_numpy_run(struct fold_numpy *n, size_t offset, const volatile int *stop, double *seconds, void *out,
                           size_t rows, size_t *n_results) {
  char line[32];
  json_t *record = NULL;
  int length = snprintf(line, sizeof line, "%zu\n", offset);
  if (send(n->socket, line, (size_t)length, MSG_NOSIGNAL) != length)
    return fold_error(FOLD_ENVIRONMENT, "NumPy's process is gone");
  FOLD_TRY(read_line(n, stop, &record));
  const char *bits = json_string_value(json_object_get(record, "bits"));
  *seconds = json_number_value(json_object_get(record, "seconds"));
  *n_results = bits ? take_results(bits, fold_dtype_size(n->dtype), out, rows < MOST_RESULTS ? rows : MOST_RESULTS) : 0;
  json_decref(record);
  if (*seconds > 0 && *n_results > 0) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "NumPy's process gave no time or no result");
}

const char *fold_numpy_version(const struct fold_numpy *n) { return n->version; }

/* The process ends when its input ends. If it is in a long sum, it is not waited for. */
void fold_numpy_close(struct fold_numpy *n) {
  if (n == NULL) return;
  if (n->socket >= 0) close(n->socket);
  if (n->process > 0) {
    kill(n->process, SIGKILL);
    while (waitpid(n->process, NULL, 0) < 0 && errno == EINTR) continue;
  }
  free(n);
}
