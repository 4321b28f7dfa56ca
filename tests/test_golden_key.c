/* test_golden_key.c: for which machine results without a declared order are kept. */
#include <criterion/criterion.h>

#include "golden/golden.h"

/* Of an environment with so many GPUs; the caller looks at the beginning. */
static const char *place(enum fold_engine engine, int gpus, char text[320]) {
  const struct fold_subject subject = {.name = "a/sum", .engine = engine};
  json_t *environment = json_pack("{s:s, s:[]}", "cpu", "a CPU", "gpus");
  while (gpus-- > 0)
    json_array_append_new(json_object_get(environment, "gpus"), json_pack("{s:s}", "name", "NVIDIA H200"));
  fold_golden_where(&subject, environment, NULL, text);
  json_decref(environment);
  return text;
}

/* A library over GPUs cuts messages by the links between them; one GPU's sums know nothing of its neighbours. */
Test(golden_key, results_over_gpus_are_kept_for_their_number) {
  char one[320], eight[320], cuda[320], host[320];
  cr_expect(strncmp(place(FOLD_NCCL, 8, eight), "8 x NVIDIA H200, ", 17) == 0, "%s", eight);
  cr_expect(strncmp(place(FOLD_NCCL, 1, one), "NVIDIA H200, ", 13) == 0, "%s", one);
  cr_expect(strncmp(place(FOLD_CUDA, 8, cuda), "NVIDIA H200, ", 13) == 0, "%s", cuda);
  cr_expect(strncmp(place(FOLD_HOST, 8, host), "a CPU, ", 7) == 0, "%s", host);
}
