/* report/gnuplot.c: runs gnuplot as a child process on temporary files that have no name.
 *
 * The <svg> tag is rewritten: no fixed size, so that it scales to a phone; no XML name spaces, which HTML does not need. Ids
 * inside the figure get a prefix, because a page holds many figures.
 */
#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/text.h"

/* gnuplot gets its own process group, so that its children can be killed with it. */
static int spawn(FILE *script, FILE *figure, pid_t *child) {
  char *const args[] = {"gnuplot", "-d", NULL}; /* -d: not the user's settings */
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t how;
  sigset_t usual;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (posix_spawnattr_init(&how) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  sigemptyset(&usual);
  sigaddset(&usual, SIGXFSZ);
  sigaddset(&usual, SIGPIPE);
  int failed = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, fileno(figure), STDOUT_FILENO);
  if (!failed) failed = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (!failed) failed = posix_spawnattr_setsigdefault(&how, &usual);
  if (!failed) failed = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  if (!failed) failed = posix_spawnp(child, args[0], &actions, &how, args, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/* Waits until it ends. After its time limit it is killed together with its children. */
static fold_status await(pid_t child, unsigned seconds) {
  const struct timespec nap = {0, 5000000};
  double until = fold_now() + seconds;
  int how = 0;
  pid_t ended;
  while ((ended = waitpid(child, &how, WNOHANG)) == 0 && fold_now() < until) nanosleep(&nap, NULL);
  if (ended < 0) return fold_error(FOLD_ENVIRONMENT, "gnuplot was lost: %s", strerror(errno));
  kill(-child, SIGKILL);
  if (ended == child && WIFEXITED(how) && WEXITSTATUS(how) == 0) return fold_ok();
  if (ended == child) return fold_error(FOLD_ENVIRONMENT, "gnuplot failed on a figure");
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  return fold_error(FOLD_ENVIRONMENT, "gnuplot was ended: a figure took more than %u s", seconds);
}

static fold_status run(FILE *script, FILE *figure, unsigned seconds) {
  pid_t child;
  if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
    return fold_error(FOLD_ENVIRONMENT, "a figure's temporary file cannot be written: %s", strerror(errno));
  int failed = spawn(script, figure, &child);
  if (failed == ENOENT || failed == EACCES || failed == ENOTDIR)
    return fold_error(FOLD_UNSUPPORTED, "gnuplot is not installed");
  if (failed) return fold_error(FOLD_ENVIRONMENT, "gnuplot cannot be started: %s", strerror(failed));
  /* If this process is killed, gnuplot still ends, and cannot fill the disk. */
  prlimit(child, RLIMIT_FSIZE, &(struct rlimit){FOLD_FIGURE_BYTES, FOLD_FIGURE_BYTES}, NULL);
  prlimit(child, RLIMIT_CPU, &(struct rlimit){seconds + 1, seconds + 2}, NULL);
  return await(child, seconds);
}

static char *slurp(FILE *file) {
  char *text = NULL;
  size_t size;
  FILE *memory = open_memstream(&text, &size);
  char piece[4096];
  if (memory == NULL) return NULL;
  rewind(file);
  for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) fwrite(piece, 1, n, memory);
  if (fclose(memory) == 0) return text;
  free(text);
  return NULL;
}

/* Where an id begins, which must differ from figure to figure: after id=", href="# and url(#. */
static const char *behind_name_start(const char *at) {
  static const char *const starts[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (strncmp(at, starts[i], strlen(starts[i])) == 0) return at + strlen(starts[i]);
  return NULL;
}

static void put_body(const char *body, int id, FILE *out) {
  while (*body) {
    const char *name = behind_name_start(body);
    if (name) {
      fwrite(body, 1, (size_t)(name - body), out);
      fprintf(out, "f%d", id);
      body = name;
    } else {
      fputc(*body++, out);
    }
  }
}

/* The part between the title and description that gnuplot writes and the end tag. */
static const char *find_body(const char *svg) {
  const char *body = strstr(svg, "<svg");
  const char *end = body ? strstr(body, "</desc>") : NULL;
  return end && strstr(end, "</svg>") ? end + strlen("</desc>") : NULL;
}

/* The figure's height is read back: it depends on the legend. */
static int find_height(const char *svg) {
  const char *box = strstr(svg, "viewBox=\"0 0 ");
  int width = 0, height = 0;
  return box && sscanf(box, "viewBox=\"0 0 %d %d\"", &width, &height) == 2 ? height : FOLD_FIGURE_HEIGHT;
}

fold_status fold_gnuplot_run(FILE *script, const struct fold_figure *figure, FILE *out) {
  FILE *drawn = tmpfile();
  if (drawn == NULL) return fold_error(FOLD_ENVIRONMENT, "no temporary file for a figure");
  fold_status status = run(script, drawn, figure->seconds);
  char *svg = status.code == FOLD_OK ? slurp(drawn) : NULL;
  fclose(drawn);
  if (status.code == FOLD_OK && svg == NULL) status = fold_no_memory("for a figure");
  const char *body = svg ? find_body(svg) : NULL;
  if (status.code == FOLD_OK && body == NULL) status = fold_error(FOLD_ENVIRONMENT, "gnuplot drew no SVG");
  if (status.code == FOLD_OK) {
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", FOLD_FIGURE_WIDTH, find_height(svg));
    fold_put_html(out, figure->alt);
    fprintf(out, "\">");
    put_body(body, figure->id, out);
  }
  free(svg);
  return status;
}
