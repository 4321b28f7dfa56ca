/* command/study.c: foldproof study: measures errors of every method by size, data and dtype; or simulates many ranks, probes
 * all-reduces, or sums over worlds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "command/study.h"
#include "study/course.h"
#include "study/study.h"

struct plan {
  struct fold_study_case *at;
  size_t n, capacity;
  fold_status left_out; /* the last case that a generator can't make */
};

static fold_status add_case(struct plan *plan, struct fold_study_case c) {
  struct fold_source source = {c.generator, c.dtype, c.seed, c.n, 0};
  fold_status can = fold_source_check(&source);
  if (can.code != FOLD_OK) {
    plan->left_out = can;
    return fold_ok();
  }
  struct fold_study_case *added = fold_list_grow(&plan->at, &plan->n, &plan->capacity, sizeof *added);
  if (added == NULL) return fold_no_memory("for the plan");
  *added = c;
  return fold_ok();
}

static int rising(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void fold_study_sort(struct study_command *s) { qsort(s->sizes, s->n_sizes, sizeof *s->sizes, rising); }

static fold_status plan_size(const struct study_command *s, size_t n, unsigned engines, struct plan *plan) {
  static const enum fold_dtype first[] = {FOLD_F32, FOLD_F64, FOLD_BF16, FOLD_F16};
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  for (unsigned d = 0; d < FOLD_DTYPES; d++)
    for (int op = 0; op < FOLD_OPS; op++)
      for (size_t g = 0; g < n_generators; g++) {
        const enum fold_dtype dtype = d < sizeof first / sizeof *first ? first[d] : (enum fold_dtype)d;
        if (!(s->dtypes >> dtype & 1) || !(s->ops >> op & 1)) continue;
        if (!fold_glob_match(s->generators, all[g].name)) continue;
        FOLD_TRY(add_case(plan, (struct fold_study_case){&all[g], dtype, (enum fold_op)op, n, s->seed, engines}));
      }
  return fold_ok();
}

enum { GPU_TERMS = 1000000000 };

/* Cases that finish first come first: sizes rise, and f32 goes first. A billion terms are only for a GPU. */
static fold_status make_plan(struct study_command *s, unsigned gpus, struct plan *plan) {
  static const char *const data[] = {"mixed", "pathological", "normal"};
  const unsigned engines = 1u << FOLD_HOST | gpus;
  fold_study_sort(s);
  for (size_t k = 0; k < s->n_sizes; k++) FOLD_TRY(plan_size(s, s->sizes[k], engines, plan));
  bool wanted = s->gpu_terms && gpus && (s->dtypes >> FOLD_F32 & 1) && (s->ops >> FOLD_SUM & 1);
  for (size_t g = 0; g < 3 && wanted; g++)
    if (fold_glob_match(s->generators, data[g]))
      FOLD_TRY(add_case(
          plan, (struct fold_study_case){fold_generator_find(data[g]), FOLD_F32, FOLD_SUM, GPU_TERMS, s->seed, gpus}));
  return plan->n > 0 ? fold_ok() : plan->left_out;
}

void fold_study_set_errors(json_t *line, const struct fold_study_point *p) {
  fold_record_number(line, "exact", p->exact);
  fold_record_number(line, "abs_sum", p->abs_sum);
  fold_record_number(line, "error_abs", p->error);
  fold_record_number(line, "error_ulps", p->ulps);
  fold_record_number(line, "error_relative", p->relative);
  fold_record_number(line, "bound", p->bound);
}

static fold_status write_point(void *context, const struct fold_study_point *p) {
  struct study_command *s = context;
  const struct fold_study_case *c = &p->c;
  json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "schema", FOLD_SCHEMA, "type", "study",
                           "subject", p->subject->name, "engine", fold_engine_name(p->subject->engine), "generator",
                           c->generator->name, "dtype", fold_dtype_name(c->dtype), "op", fold_op_name(c->op), "n",
                           (json_int_t)c->n, "seed", (json_int_t)c->seed, "height", (json_int_t)p->height);
  if (line && p->ran) {
    fold_record_bits(line, "got", c->dtype, p->got);
    fold_record_bits(line, "want", c->dtype, p->want);
    fold_study_set_errors(line, p);
    fold_record_number(line, "probabilistic", p->probabilistic);
    fold_record_number(line, "condition", p->condition);
  }
  if (line && p->note[0]) json_object_set_new(line, "note", json_string(p->note));
  return fold_measuring_take(&s->measuring, line);
}

static void show_progress(void *context, size_t done, size_t all, const char *what) {
  fold_progress_show(&((struct study_command *)context)->measuring.progress, done, all, what);
}

/* Writes, for each row of its tables, what the reference study measured against, and the tree in float64. */
static fold_status write_course(struct study_command *s, const struct fold_course *course) {
  for (int t = 0; t < 3; t++)
    for (size_t r = 0; r < course->table[t].n; r++) {
      const struct fold_course_way *way = &course->table[t].row[r].way;
      const struct fold_study_case *c = &course->table[t].row[r].at[0]->c;
      json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I}", "schema", FOLD_SCHEMA, "type", "study_float64",
                               "generator", c->generator->name, "dtype", fold_dtype_name(c->dtype), "op",
                               fold_op_name(c->op), "n", (json_int_t)c->n, "seed", (json_int_t)c->seed);
      fold_record_number(line, "float64_sum", way->reference);
      fold_record_number(line, "float64_error", way->reference_error);
      fold_record_number(line, "float64_tree", way->tree64);
      fold_record_number(line, "float64_tree_error", way->tree64_error);
      FOLD_TRY(fold_measuring_take(&s->measuring, line));
    }
  return fold_ok();
}

static fold_status print_study(struct study_command *s, const struct fold_study *study,
                               const struct fold_course *course, fold_status gpu, const fold_status *left_out) {
  fold_study_print_associativity(stdout);
  fold_course_print(course, study, gpu.code == FOLD_OK ? NULL : gpu.text, stdout);
  if (study->n)
    printf(
        "\nErrors by size, data and method\n"
        "bound: the method's theorem for the order's own height (foldproof's claim bounded); curve: sqrt(height) u sum "
        "|x|\n"
        "with its constant taken as 1 (Higham and Mary 2019): statistics, not a bound; condition: sum |x| / |sum x|.\n"
        "Errors are rounded up.\n");
  const fold_status status = fold_measuring_show(&s->measuring);
  if (left_out->code != FOLD_OK) printf("\nleft out, among others maybe: %s\n", left_out->text);
  if (gpu.code != FOLD_OK) printf("\nGPU subjects are left out: %s\n", gpu.text);
  return status;
}

/* The exit code if nothing failed: 77 if no subject gave a result. */
static int study_code(const struct fold_study *study) {
  size_t ran = 0;
  for (size_t i = 0; i < study->n; i++) ran += study->at[i].ran;
  return study->broken ? 99 : ran ? 0 : 77;
}

/* A mask of the engines with a memory of their own that can run; if there is none, `why` says why. */
static fold_status find_gpus(const struct fold_registry *registry, unsigned *gpus, fold_status *why) {
  *gpus = 0;
  *why = fold_error(FOLD_UNSUPPORTED, "this build has no subject on a GPU");
  for (int e = 0; e < FOLD_ENGINES; e++) {
    bool any = false;
    for (size_t i = 0; i < registry->n; i++) any |= (int)registry->subjects[i].engine == e;
    if (!any || fold_engine_is_host((enum fold_engine)e) || fold_engine_has_ranks((enum fold_engine)e)) continue;
    fold_status ready = fold_engine_ready((enum fold_engine)e);
    if (ready.code == FOLD_OK)
      *gpus |= 1u << e;
    else if (ready.code != FOLD_UNSUPPORTED)
      return ready;
    else
      *why = ready;
  }
  if (*gpus) *why = fold_ok();
  return fold_ok();
}

static fold_status study_errors(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  struct fold_study study = {0};
  struct fold_course course;
  struct plan plan = {0};
  struct fold_study_sink sink = {write_point, show_progress, s};
  const volatile int *stop = fold_watch_interrupt();
  unsigned gpus;
  fold_status gpu, status = find_gpus(registry, &gpus, &gpu);
  if (status.code == FOLD_OK) status = make_plan(s, gpus, &plan);
  if (status.code == FOLD_OK) status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = fold_study_run(registry, plan.at, plan.n, &study, &sink, stop);
  if (status.code == FOLD_OK) status = fold_course_fill(&course, &study);
  if (status.code == FOLD_OK) status = write_course(s, &course);
  if (status.code == FOLD_OK) status = print_study(s, &study, &course, gpu, &plan.left_out);
  status = fold_measuring_close(&s->measuring, "foldproof study", status);
  *exit_code = study_code(&study);
  fold_study_free(&study);
  free(plan.at);
  return status;
}

int fold_command_study(int argc, char **argv, const struct fold_registry *registry) {
  struct study_command s;
  int exit_code = 0;
  fold_study_parse(&s, argc, argv);
  fold_end_in_time();
  fold_status status = s.worlds     ? fold_study_worlds(&s, registry, &exit_code)
                       : s.messages ? fold_study_messages(&s, registry, &exit_code)
                       : s.simulate ? fold_study_ranks(&s)
                                    : study_errors(&s, registry, &exit_code);
  if (status.code != FOLD_OK) return fold_print_error(argv[0], status);
  if (!*fold_watch_interrupt()) return exit_code;
  fprintf(stderr, "%s: interrupted: what is above was finished\n", argv[0]);
  return 99;
}
