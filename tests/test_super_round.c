/* test_super_round.c: the closing by integers alone (super_round.h) against MPFR's (fold_super_close), bit for bit. */
#include <criterion/criterion.h>
#include <string.h>

#include "oracles/exact.h"
#include "oracles/super_round.h"

static unsigned mismatches;

/* Both closings of a state, in each dtype. */
static void check(enum fold_dtype dtype, struct fold_super state, const char *what) {
  struct fold_super copy = state;
  fold_super_normalise(dtype, &state);
  fold_super_normalise_inline(dtype, &copy);
  cr_expect(memcmp(&copy, &state, sizeof state) == 0, "%s: %s: words differ", what, fold_dtype_name(dtype));
  for (int to = 0; to < FOLD_FLOATS; to++) {
    uint64_t want = fold_super_close(dtype, &state, to), got = fold_super_round(dtype, &state, to);
    if (got == want || mismatches++ >= 10) continue;
    cr_expect(false, "%s: %s to %s: got %#llx, want %#llx", what, fold_dtype_name(dtype), fold_dtype_name(to),
              (unsigned long long)got, (unsigned long long)want);
  }
}

static struct fold_super some(bool other) {
  struct fold_super state;
  memset(&state, 0, sizeof state);
  state.terms = 1;
  state.other_than_negative_zero = other;
  return state;
}

static int places(enum fold_dtype dtype) { return 32 * fold_super_limbs(dtype); }

/* state += sign * 2^place units; nothing below the format or above its limbs. */
static void add_bit(enum fold_dtype dtype, struct fold_super *state, int place, int sign) {
  if (place >= 0 && place < places(dtype)) state->limb[place / 32] += sign * ((int64_t)1 << place % 32);
}

static uint64_t draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (*seed ^ *seed >> 31) * 0x9e3779b97f4a7c15u >> 8;
}

Test(super_round, rounds_random_states_as_mpfr_does) {
  uint64_t seed = 1;
  for (enum fold_dtype dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 20000; trial++) {
      struct fold_super state = some(true);
      int limbs = fold_super_limbs(dtype);
      int dense = trial % 2 ? limbs : 2;
      for (int k = 0; k < dense; k++)
        state.limb[draw(&seed) % (unsigned)limbs] = (int64_t)(draw(&seed) << 8) >> (draw(&seed) % 62 + 1);
      check(dtype, state, "random");
    }
}

/* A leading bit at each place, a second bit up to 55 places below it, and nothing, one more or one less further down. */
static void check_places(enum fold_dtype dtype, int leading, int sign) {
  for (int width = 1; width < 56; width++)
    for (int below = 0; below < 4; below++) {
      struct fold_super state = some(true);
      add_bit(dtype, &state, leading, sign);
      add_bit(dtype, &state, leading - width, sign);
      if (below == 1) add_bit(dtype, &state, 0, sign);
      if (below == 2) add_bit(dtype, &state, 0, -sign);
      if (below == 3) add_bit(dtype, &state, leading - width - 1, -sign);
      check(dtype, state, "tie or its neighbour");
    }
}

Test(super_round, rounds_ties_and_their_neighbours_at_every_place) {
  for (enum fold_dtype dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int leading = 0; leading < places(dtype) - 1; leading += dtype == FOLD_F64 ? 7 : 1) {
      check_places(dtype, leading, 1);
      check_places(dtype, leading, -1);
    }
}

/* A whole significand of ones and its tie: the carry runs into the exponent, at the end into infinity. */
Test(super_round, carries_into_the_exponent_and_to_infinity) {
  static const int precisions[] = {8, 11, 24, 53};
  for (enum fold_dtype dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int leading = 0; leading < places(dtype) - 1; leading++)
      for (int p = 0; p < 4; p++)
        for (int less = 0; less < 2; less++) {
          struct fold_super state = some(true);
          for (int i = 0; i <= precisions[p]; i++) add_bit(dtype, &state, leading - i, leading % 2 ? 1 : -1);
          if (less) add_bit(dtype, &state, 0, leading % 2 ? -1 : 1);
          check(dtype, state, "all ones");
        }
}

Test(super_round, keeps_the_policy_for_zeros_and_special_values) {
  for (enum fold_dtype dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    for (int counts = 0; counts < 16; counts++) {
      struct fold_super state = some(counts & 8);
      state.nan = counts & 1;
      state.positive_infinity = counts & 2;
      state.negative_infinity = counts & 4;
      check(dtype, state, "special");
      state.terms = 0;
      check(dtype, state, "special without terms");
      state.limb[1] = -5;
      check(dtype, state, "special beside a number");
    }
  }
}

Test(super_round, normalises_merged_states) {
  uint64_t seed = 2;
  for (enum fold_dtype dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 2000; trial++) {
      struct fold_super state = some(true);
      for (int k = 0; k < fold_super_limbs(dtype); k++)
        state.limb[k] = trial % 3 == 0 ? 0x7fffffff80000000 : (int64_t)(draw(&seed) << 8) >> 1;
      state.limb[fold_super_limbs(dtype) - 1] >>= 2;
      check(dtype, state, "merged");
    }
}
