/* test_presets.c: lists of claims as users write them: what each word stands for, and what is said of an unknown
 * word. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"

/* Each claim by its name, and nothing else. */
Test(presets, a_name_stands_for_its_claim) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t i = 0; i < n; i++) {
    uint64_t named, preset;
    cr_expect_eq(fold_claims_parse(claims[i].name, &named, &preset).code, FOLD_OK, "%s", claims[i].name);
    cr_expect(named == FOLD_CLAIM(i) && preset == 0, "%s", claims[i].name);
  }
}

/* Each preset is the claims of its list, in a list of claims too; by itself, beside a name, and twice. */
Test(presets, a_preset_stands_for_the_claims_of_its_list) {
  const char *name, *list;
  size_t n = 0;
  for (; (name = fold_claims_preset(n, &list)); n++) {
    char both[80], *expanded = fold_claims_expand(name);
    uint64_t named, preset, of_names, of_globs;
    cr_assert_eq(fold_claims_parse(list, &of_names, &of_globs).code, FOLD_OK, "%s", list);
    cr_expect_eq(fold_claims_parse(name, &named, &preset).code, FOLD_OK, "%s", name);
    cr_expect(named == 0 && preset == (of_names | of_globs) && preset != 0, "%s", name);
    cr_expect_str_eq(expanded, list);
    free(expanded);
    snprintf(both, sizeof both, "bounded, %s,%s", name, name);
    cr_expect_eq(fold_claims_parse(both, &named, &preset).code, FOLD_OK, "%s", both);
    cr_expect(named == FOLD_CLAIM(FOLD_BOUNDED) && preset == (of_names | of_globs), "%s", both);
  }
  cr_expect(n >= 5, "%zu presets", n);
}

Test(presets, a_list_keeps_what_is_no_preset) {
  char *expanded = fold_claims_expand("replays,deterministic,run_*");
  cr_expect_str_eq(expanded, "replays,run_to_run,fresh_process,run_*");
  free(expanded);
  expanded = fold_claims_expand("*,bounded");
  cr_expect_str_eq(expanded, "*,bounded");
  free(expanded);
}

/* The first word that is none is named, with the claim or preset that it is near to. */
Test(presets, a_word_that_is_none_is_named_with_what_it_may_mean) {
  static const char *const words[][3] = {{"boundet", "boundet", "did you mean 'bounded'?"},
                                         {"bounded,keeps_inputs", "keeps_inputs", "did you mean 'keeps_input'?"},
                                         {"reproducable,nothing", "reproducable", "did you mean 'reproducible'?"},
                                         {"accurat", "accurat", "did you mean 'accurate'?"},
                                         {"*z*", "*z*", "see foldproof list claims"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    uint64_t named, preset;
    fold_status status = fold_claims_parse(words[i][0], &named, &preset);
    char quoted[40];
    snprintf(quoted, sizeof quoted, "'%s'", words[i][1]);
    cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, quoted) && strstr(status.text, words[i][2]), "%s",
              status.text);
  }
}
