/* test_registry.c: no command and no rank starts with a mistake in its registry; the mistake is named as the program's
 * own. */
#include "mutants.h"
#include "shell.h"
#include "unsound.h"

Test(registry, each_mistake_is_named) {
  size_t n;
  const struct unsound *all = unsound_registries(&n);
  for (size_t i = 0; i < n; i++) {
    struct fold_registry registry = {all[i].subjects, all[i].n};
    fold_status status = fold_registry_check(&registry);
    cr_expect_eq(status.code, FOLD_ENVIRONMENT, "%s passes", all[i].kind);
    cr_expect(strstr(status.text, "this program is broken") && strstr(status.text, all[i].says), "%s: %s", all[i].kind,
              status.text);
  }
  cr_expect_geq(n, 30);
}

Test(registry, ours_are_sound) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  fold_status status = fold_registry_check(&registry);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
  fold_mutants_join(&registry);
  status = fold_registry_check(&registry);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
  free((void *)(uintptr_t)registry.subjects);
}

/* Whatever is asked for, with each mistake; a rank stands for all that the harness starts. */
Test(registry, no_command_starts_over_a_mistake) {
  static const char *const commands[] = {"verify", "record", "list subjects", "bench", "study", "rank"};
  SHELL(s);
  size_t n;
  const struct unsound *all = unsound_registries(&n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
      if (i > 0 && k > 0 && strcmp(all[i].kind, "order_bounded") != 0) break;
      shell_run(s, "UNSOUND=%s $F %s", all[i].kind, commands[k]);
      EXPECT_CODE(s, 99);
      cr_expect(strstr(s->err, "this program is broken") && strstr(s->err, all[i].says), "%s: %s", s->ran, s->err);
      cr_expect_eq(s->out[0], '\0', "%s: %s", s->ran, s->out);
    }
  shell_run(s, "$F list claims");
  EXPECT_CODE(s, 0);
}
