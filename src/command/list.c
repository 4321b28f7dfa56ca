/* command/list.c: foldproof list: lists what can be judged, and by which claims. */
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "command/compare_claim.h"
#include "command/names.h"
#include "oracles/order.h"

/* Whether the subject is chosen, also by a claim that it makes. */
static bool chooses(const struct fold_selection *selection, const struct fold_subject *subject) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  bool makes = selection->claims == NULL;
  for (size_t i = 0; i < n; i++) makes |= subject->claims >> i & 1 && fold_selects_claim(selection, &claims[i]);
  return makes && fold_selects_subject(selection, subject);
}

/* Prints a dtype rule that is not the usual one. */
static void list_rule(const char *what, unsigned rule) {
  if (rule == FOLD_USUAL) return;
  printf("; %s %s", what,
         rule >= FOLD_RULES      ? fold_dtype_name((enum fold_dtype)(rule - FOLD_RULES))
         : rule == FOLD_OF_TERMS ? "the terms' own"
                                 : "the accumulator's");
}

static int wider(int width, const char *text) { return (int)strlen(text) > width ? (int)strlen(text) : width; }

/* Prints a line for each subject, for scripts: name, engine, and then the text that may contain blanks. Or prints
 * everything that is known of them. */
static fold_status print_subjects(const struct fold_selection *selection, const struct fold_registry *registry,
                                  bool detailed) {
  size_t listed = 0;
  int width = 0, engines = 0;
  for (size_t i = 0; i < registry->n; i++) {
    if (!chooses(selection, &registry->subjects[i])) continue;
    width = wider(width, registry->subjects[i].name);
    engines = wider(engines, fold_engine_name(registry->subjects[i].engine));
  }
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (!chooses(selection, s)) continue;
    listed++;
    if (!detailed) {
      printf("%-*s  %-*s  %s\n", width, s->name, engines, fold_engine_name(s->engine), s->about);
      continue;
    }
    printf("%s on %s\n    %s\n    ", s->name, fold_engine_name(s->engine), s->about);
    fold_put_dtypes(stdout, s->dtypes, ",");
    printf("; ");
    fold_put_problems_of(stdout, s, ",");
    list_rule("accumulator", s->accumulator);
    list_rule("result", s->result);
    if (s->factor) printf("; factors rounded to %s", fold_factor_dtype_names[s->factor]);
    if (s->order) printf("; order %s", s->order);
    if (s->twin) printf("; reference %s", s->twin);
    printf("\n    claims ");
    fold_put_claims(stdout, s->claims, ",");
    printf("\n");
  }
  if (listed == 0) fprintf(stderr, "foldproof list: this build has no such subject\n");
  return fold_ok();
}

static fold_status list_subjects(const struct fold_selection *selection, const struct fold_registry *registry) {
  return print_subjects(selection, registry, false);
}

/* Lists claims, also those that no subject of this build makes, unless subjects are chosen. */
static fold_status list_claims(const struct fold_selection *selection, const struct fold_registry *registry) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  bool all = selection->engine < 0 && selection->subjects == NULL, elsewhere = all;
  printf("%-22s %s\n", "claim", "refuted by");
  for (size_t k = 0; k < n; k++) {
    bool made = all;
    for (size_t i = 0; i < registry->n; i++)
      made |= registry->subjects[i].claims >> k & 1 && fold_selects_subject(selection, &registry->subjects[i]);
    if (made && fold_selects_claim(selection, &claims[k])) printf("%-22s %s\n", claims[k].name, claims[k].refuted_by);
  }
  for (size_t i = 0; i < registry->n; i++)
    elsewhere |= fold_selects_subject(selection, &registry->subjects[i]) &&
                 fold_compare_promises(&registry->subjects[i], registry->subjects[i].claims);
  if (elsewhere && selection->claims == NULL) printf("%-22s %s\n", "gpu_to_gpu", FOLD_COMPARE_REFUTED_BY);
  const char *list, *preset;
  if (all && selection->claims == NULL) printf("\n%-22s %s\n", "preset", "stands for");
  for (size_t k = 0; all && selection->claims == NULL && (preset = fold_claims_preset(k, &list)); k++)
    printf("%-22s %s\n", preset, list);
  return fold_ok();
}

static fold_status list_generators(const struct fold_selection *selection, const struct fold_registry *registry) {
  (void)selection, (void)registry;
  size_t n;
  const struct fold_generator *generators = fold_generators(&n);
  printf("%-18s %s\n", "generator", "provokes");
  for (size_t i = 0; i < n; i++) printf("%-18s %s\n", generators[i].name, generators[i].provokes);
  return fold_ok();
}

static fold_status list_orders(const struct fold_selection *selection, const struct fold_registry *registry) {
  (void)selection, (void)registry;
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  printf("%-18s %s\n", "order", "definition");
  for (size_t i = 0; i < n; i++) printf("%-18s %s\n", orders[i].name, orders[i].formula);
  return fold_ok();
}

static fold_status list_problems(const struct fold_selection *selection, const struct fold_registry *registry) {
  (void)selection, (void)registry;
  printf("%-16s %-14s %s\n", "problem", "signature", "results");
  for (int p = 0; p < FOLD_PROBLEMS; p++) {
    const struct fold_problem *problem = fold_problem((enum fold_problem_id)p);
    printf("%-16s %-14s %s\n", problem->name, problem->signature, problem->about);
  }
  printf(
      "signature: the axes of each input, then of the results: m rows, n columns, b batches; along k terms are "
      "combined\n");
  return fold_ok();
}

static fold_status list_fixtures(const struct fold_selection *selection, const struct fold_registry *registry) {
  (void)registry;
  struct fold_cases cases = {0};
  unsigned ranks;
  FOLD_TRY(fold_select_ranks(selection, &ranks));
  fold_status status = fold_select_cases(selection, ranks, &cases);
  for (size_t i = 0; i < cases.n; i++) printf("%s\n", cases.at[i].name);
  fold_cases_free(&cases);
  return status;
}

struct list {
  struct fold_selection_options options;
  const char *what;
  bool detailed;
};

enum { LONG = 'l' };
static const struct argp_option options[] = {{"long", LONG, NULL, 0,
                                              "also print each subject's dtypes, operations, unusual accumulator and "
                                              "result, rounding of factors, order, reference and claims",
                                              2},
                                             {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct list *l = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &l->options; return 0;
    case LONG: l->detailed = true; return 0;
    case ARGP_KEY_ARG:
      if (state->arg_num > 0) return ARGP_ERR_UNKNOWN;
      l->what = arg;
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&fold_selection_argp, 0, NULL, 0}, {&fold_claims_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[subjects|claims|problems|generators|orders|fixtures]",
    .doc =
        "List subjects (the default), claims, problems, generators, orders, or the cases of the fixtures.\n"
        "\n"
        "Examples:\n"
        "  foldproof list subjects --engine host\n"
        "  foldproof list claims --subjects host/kahan\n"
        "  foldproof list fixtures --fixtures 'normal/f32/*'\v"
        "--engine, --subjects and --claims choose subjects and claims; --fixtures, --set, --fixture-folder and --npy "
        "choose cases. An option that does not apply to the list is refused (exit code 2)."};

struct kind {
  const char *name;
  fold_status (*print)(const struct fold_selection *selection, const struct fold_registry *registry);
  const char *chosen_by[6]; /* the options that choose from this list */
};

static bool is_chosen_by(const struct kind *kind, const char *name) {
  for (const char *const *by = kind->chosen_by; *by; by++)
    if (strcmp(*by, name) == 0) return true;
  return false;
}

/* Refuses an option that chooses nothing from this list: it is probably a mistake. */
static fold_status check_options(const struct kind *kind, const struct fold_selection_options *o) {
  for (size_t i = 0; i < o->n_given; i++) {
    const bool spreads = o->selection.n_npy > 0 && strcmp(o->given[i], "engine") == 0; /* spreads an array over ranks */
    if (is_chosen_by(kind, o->given[i]) || (spreads && is_chosen_by(kind, "npy"))) continue;
    char by[120] = "all are listed";
    int used = 0;
    for (const char *const *option = kind->chosen_by; *option; option++)
      used += snprintf(by + used, sizeof by - (size_t)used, "%s--%s", used ? ", " : "these are chosen by ", *option);
    return fold_error(FOLD_BAD_INPUT, "--%s chooses no %s: %s", o->given[i], kind->name, by);
  }
  return fold_ok();
}

static fold_status print_list(struct list *l, const char *program, const struct fold_registry *registry) {
  static const struct kind lists[] = {
      {"subjects", list_subjects, {"subjects", "engine", "claims", "guest", "exec"}},
      {"claims", list_claims, {"claims", "subjects", "engine", "guest", "exec"}},
      {"problems", list_problems, {0}},
      {"generators", list_generators, {0}},
      {"orders", list_orders, {0}},
      {"fixtures", list_fixtures, {"fixtures", "set", "fixture-folder", "npy", "problem"}},
  };
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (strcmp(l->what, lists[i].name)) continue;
    FOLD_TRY(check_options(&lists[i], &l->options));
    FOLD_TRY(fold_selection_open(&l->options, registry));
    registry = &l->options.registry;
    if (l->detailed && i > 0) return fold_error(FOLD_BAD_INPUT, "--long is for subjects, not for %s", l->what);
    return l->detailed ? print_subjects(&l->options.selection, registry, true)
                       : lists[i].print(&l->options.selection, registry);
  }
  struct fold_did_you_mean guess;
  char meant[160];
  fold_did_you_mean_open(&guess, l->what);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) fold_did_you_mean_try(&guess, lists[i].name);
  return fold_error(FOLD_BAD_INPUT, "no list '%.60s': see %s --help%s", l->what, program,
                    fold_did_you_mean_text(&guess, meant));
}

int fold_command_list(int argc, char **argv, const struct fold_registry *registry) {
  struct list l = {.what = "subjects"};
  fold_selection_defaults(&l.options);
  fold_parse(&argp, argc, argv, &l);
  int exit_code = fold_print_error(argv[0], print_list(&l, argv[0], registry));
  fold_selection_close(&l.options);
  return exit_code;
}
