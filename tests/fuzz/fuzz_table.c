/* fuzz_table.c: any text as what a guest says of itself: refused with a reason, or subjects that the registry takes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guest/guest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void look_at(fold_status status, const struct fold_subject *rows, size_t n) {
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++)
    if (rows[i].name == NULL || *rows[i].name == '\0' || rows[i].guest == NULL) abort();
  if (status.code == FOLD_OK) status = fold_registry_check(&(struct fold_registry){rows, n});
  if (status.code != FOLD_OK && *status.text == '\0') abort();
}

/* The first byte chooses the door, the second what the user claims; the rest is the table. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static const char *const claims[] = {NULL, "promises", "reproducible", "tree", "bounded,batch-invariant"};
  if (n < 2) return 0;
  const struct fold_guest guest = {.door = bytes[0] & 1 ? &fold_door_program : &fold_door_object, .what = "a guest"};
  char *table = strndup((const char *)bytes + 2, n - 2);
  struct fold_subject *rows = NULL;
  size_t subjects = 0;
  if (table == NULL) abort();
  const unsigned asked = bytes[1] % 16;
  const struct fold_wants wants = {.claims = claims[asked % (sizeof claims / sizeof *claims)],
                                   .accurate_as = asked & 8 ? "host/pairwise" : NULL,
                                   .most_ulps = asked & 4 ? 2 : 0};
  look_at(fold_guest_rows(&guest, table, &wants, &rows, &subjects), rows, subjects);
  fold_guest_rows_put_away(rows, subjects);
  free(rows);
  free(table);
  return 0;
}
