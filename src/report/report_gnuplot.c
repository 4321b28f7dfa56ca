/* report_gnuplot.c: gnuplot as a child process, its files temporary and nameless.
 *
 * The <svg> tag is written anew: without a fixed size, so that it shrinks to a phone, and without addresses of name
 * spaces, which HTML does not need. Names inside the figure get a prefix, since a page holds many figures.
 */
#include "report_gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report_text.h"

static fold_status run(FILE *script, FILE *figure) {
  pid_t child;
  char *const args[] = {"gnuplot", "-d", NULL}; /* -d: not the user's settings */
  posix_spawn_file_actions_t actions;
  if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
    return fold_error(FOLD_ENVIRONMENT, "a figure's temporary file can't be written: %s", strerror(errno));
  if (posix_spawn_file_actions_init(&actions) != 0) return fold_error(FOLD_NO_MEMORY, "not enough memory for a figure");
  int failed = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, fileno(figure), STDOUT_FILENO);
  if (!failed) failed = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  if (!failed) failed = posix_spawnp(&child, args[0], &actions, NULL, args, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT || failed == EACCES || failed == ENOTDIR)
    return fold_error(FOLD_UNSUPPORTED, "gnuplot is not installed");
  if (failed) return fold_error(FOLD_ENVIRONMENT, "gnuplot can't be started: %s", strerror(failed));
  int how;
  while (waitpid(child, &how, 0) < 0)
    if (errno != EINTR) return fold_error(FOLD_ENVIRONMENT, "gnuplot was lost: %s", strerror(errno));
  if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) return fold_error(FOLD_ENVIRONMENT, "gnuplot failed on a figure");
  return fold_ok();
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

/* Where a name begins that must differ from figure to figure: behind id=" and href="# and url(#. */
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

/* Between the title and description that gnuplot gives itself and the end. */
static const char *find_body(const char *svg) {
  const char *body = strstr(svg, "<svg");
  const char *end = body ? strstr(body, "</desc>") : NULL;
  return end && strstr(end, "</svg>") ? end + strlen("</desc>") : NULL;
}

/* The height comes back from the figure: its legend decided it. */
static int find_height(const char *svg) {
  const char *box = strstr(svg, "viewBox=\"0 0 ");
  int width = 0, height = 0;
  return box && sscanf(box, "viewBox=\"0 0 %d %d\"", &width, &height) == 2 ? height : FOLD_FIGURE_HEIGHT;
}

fold_status fold_gnuplot_run(FILE *script, int id, const char *alt, FILE *out) {
  FILE *figure = tmpfile();
  if (figure == NULL) return fold_error(FOLD_ENVIRONMENT, "no temporary file for a figure");
  fold_status status = run(script, figure);
  char *svg = status.code == FOLD_OK ? slurp(figure) : NULL;
  fclose(figure);
  if (status.code == FOLD_OK && svg == NULL) status = fold_error(FOLD_NO_MEMORY, "not enough memory for a figure");
  const char *body = svg ? find_body(svg) : NULL;
  if (status.code == FOLD_OK && body == NULL) status = fold_error(FOLD_ENVIRONMENT, "gnuplot drew no SVG");
  if (status.code == FOLD_OK) {
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", FOLD_FIGURE_WIDTH, find_height(svg));
    fold_put_html(out, alt);
    fprintf(out, "\">");
    put_body(body, id, out);
  }
  free(svg);
  return status;
}
