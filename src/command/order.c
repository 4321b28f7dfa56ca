/* command/order.c: foldproof order: what is known of an order without running anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "reveal/tree.h"

enum { N = 'n', DRAW = 0x200, GUEST, MOST_DRAWN = 4096 };

static const char *const forms[] = {"tree", "text", "svg", NULL};

struct order {
  const char *name, *draw; /* one of the forms, or NULL */
  uint64_t n;
};

static const struct argp_option options[] = {
    {"n", N, "N", 0, "number of terms (16)", 0},
    {"draw", DRAW, "FORM", OPTION_ARG_OPTIONAL,
     "draw the tree (n up to 4096): as indented text (tree, the default), as parentheses (text) or as a picture (svg)",
     0},
    {"guest", GUEST, "FILE.so", OPTION_HIDDEN, NULL, 0},
    {"exec", GUEST, "COMMAND", OPTION_HIDDEN, NULL, 0},
    {0},
};

static bool take_form(struct order *o, const char *word) {
  for (const char *const *form = forms; *form; form++)
    if (strcmp(word, *form) == 0) {
      o->draw = *form;
      return true;
    }
  return false;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct order *o = state->input;
  switch (key) {
    case N: o->n = fold_option_number(state, "--n", arg, 0, UINT64_C(1) << 32); return 0;
    case DRAW:
      if (!take_form(o, arg ? arg : "tree")) fold_option_refuse(state, "--draw", arg, forms);
      return 0;
    case GUEST: argp_failure(state, 2, 0, "this prints orders by name; foldproof reveal finds a guest's"); return 0;
    case ARGP_KEY_ARG:
      /* "--draw svg": getopt takes only "--draw=svg" for one. No order is named like a form. */
      if (o->draw && take_form(o, arg)) return 0;
      if (o->name) return ARGP_ERR_UNKNOWN;
      o->name = arg;
      return 0;
    case ARGP_KEY_END:
      if (!o->name) argp_failure(state, 2, 0, "name an order: see foldproof list orders");
      if (o->draw && o->n > MOST_DRAWN) argp_failure(state, 2, 0, "--draw: at most %d terms", MOST_DRAWN);
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "ORDER",
    .doc =
        "Print an order's definition, and for n terms its tree's height, fingerprint and drawing.\n"
        "\n"
        "Examples:\n"
        "  foldproof order host/pairwise -n 1000\n"
        "  foldproof order host/pairwise -n 8 --draw\n"
        "  foldproof order flat/canonical -n 8 --draw=svg >order.svg\v"
        "The order host/sorted depends on the terms; here they stand in rising magnitude."};

static fold_status draw(const struct order *o, const struct fold_order *order, const double *terms) {
  const bool words = strcmp(o->draw, "tree") == 0, picture = strcmp(o->draw, "svg") == 0;
  if (o->n == 0 || (!words && !picture)) return fold_order_draw(order, FOLD_F64, terms, o->n, stdout);
  struct fold_tree tree;
  FOLD_TRY(fold_tree_of_order(order, FOLD_F64, terms, o->n, &tree));
  fold_status status = picture ? fold_tree_svg(&tree, order->name, stdout) : fold_tree_text(&tree, stdout);
  fold_tree_free(&tree);
  return status;
}

static fold_status print(const struct order *o, const struct fold_order *order, const double *terms) {
  if (o->draw) return draw(o, order, terms);
  uint64_t height, fingerprint;
  FOLD_TRY(fold_order_height(order, FOLD_F64, terms, o->n, &height));
  FOLD_TRY(fold_order_fingerprint(order, FOLD_F64, terms, o->n, &fingerprint));
  printf("order        %s\ndefinition   %s\nterms        %llu\nheight       %llu\nfingerprint  0x%016llx\n",
         order->name, order->formula, (unsigned long long)o->n, (unsigned long long)height,
         (unsigned long long)fingerprint);
  return fold_ok();
}

/* Only the sorted order reads the terms: it gets 1, 2, 3 ... */
static fold_status print_order(const struct order *o) {
  const struct fold_order *order;
  FOLD_TRY(fold_order_named(o->name, &order));
  if (order->kind != FOLD_ORDER_SORTED) return print(o, order, NULL);
  double *terms = malloc((o->n + 1) * sizeof *terms);
  if (terms == NULL) return fold_no_memory("for %llu terms", (unsigned long long)o->n);
  for (uint64_t i = 0; i < o->n; i++) terms[i] = (double)(i + 1);
  fold_status status = print(o, order, terms);
  free(terms);
  return status;
}

int fold_command_order(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  struct order order = {.n = 16};
  fold_parse(&argp, argc, argv, &order);
  return fold_print_error(argv[0], print_order(&order));
}
