/* test_generators.c: generators give the same bits by any route, the bits that are pinned here, and refuse what they
 * can't do.
 *
 * What is not plain to see of a generator is checked in the files beside this one.
 */
#include "fixtures/generate.h"
#include "generate_help.h"
#include "golden_generators.h"

/* Random123's published known answers for philox4x32, 10 rounds (kat_vectors). */
static const uint32_t known[3][10] = {
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
     0x24126ea1},
};

Test(generators, philox_gives_its_known_answers) {
  for (int v = 0; v < 3; v++) {
    const uint32_t *k = known[v];
    philox4x32_ctr_t counter = {{k[0], k[1], k[2], k[3]}};
    philox4x32_key_t key = {{k[4], k[5]}};
    philox4x32_ctr_t got = philox4x32(counter, key);
    cr_expect(memcmp(got.v, k + 6, 16) == 0, "vector %d gives %08x %08x %08x %08x", v, got.v[0], got.v[1], got.v[2],
              got.v[3]);
  }
}

Test(generators, words_are_philox_of_quad_stream_and_seed) {
  uint64_t seed = 0x0123456789abcdefu, quad = 0xfedcba9876543210u;
  philox4x32_ctr_t counter = {{0x76543210u, 0xfedcba98u, 5, 0}};
  philox4x32_key_t key = {{0x89abcdefu, 0x01234567u}};
  philox4x32_ctr_t want = philox4x32(counter, key), got = fold_draw_words(seed, quad, 5);
  cr_expect(memcmp(want.v, got.v, 16) == 0);
  for (uint64_t i = 0; i < 4; i++) cr_expect(fold_draw_word(seed, 4 * 77 + i, 1) == fold_draw_words(seed, 77, 1).v[i]);
}

/* All sources at one shape. */
#define EACH_SOURCE(source, seed, cols)                                                                             \
  for (int g_ = 0; g_ < FOLD_GENERATOR_IDS; g_++)                                                                   \
    for (int d_ = 0; d_ < FOLD_FLOATS; d_++)                                                                        \
      if (generators()[g_].dtypes >> d_ & 1)                                                                        \
        for (struct fold_source source = {&generators()[g_], (enum fold_dtype)d_, seed, cols, 0}, *once_ = &source; \
             once_; once_ = NULL)

static const struct fold_generator *generators(void) {
  size_t n;
  const struct fold_generator *all = fold_generators(&n);
  cr_assert(n == FOLD_GENERATOR_IDS, "%zu rows, %d ids", n, FOLD_GENERATOR_IDS);
  return all;
}

static uint64_t next_random(uint64_t *state) {
  philox4x32_ctr_t w = fold_draw_words(0x7465737473u, (*state)++, 9);
  return (uint64_t)w.v[0] << 32 | w.v[1];
}

Test(generators, any_part_is_that_part_of_the_whole) {
  enum { N = 6000 };
  static unsigned char whole[N * 8], part[N * 8 + 16];
  const size_t shapes[] = {1, 3, 7, 100, 255, 1024, N};
  uint64_t state = 0;
  int wrong = 0;
  for (size_t s = 0; s < 7; s++) EACH_SOURCE(source, 11, shapes[s]) {
      size_t size = fold_dtype_size(source.dtype);
      fold_generate(&source, 0, N, whole);
      for (int t = 0; t < 6; t++) {
        uint64_t first = next_random(&state) % N, n = next_random(&state) % (N - first + 1);
        memset(part, 0xa5, sizeof part);
        fold_generate(&source, first, n, part + 8);
        bool same = memcmp(part + 8, whole + first * size, n * size) == 0;
        for (size_t b = 0; b < 8; b++) same = same && part[b] == 0xa5 && part[8 + n * size + b] == 0xa5;
        if (!same)
          TELL(wrong, "%s %s cols %zu: part %zu + %zu", source.generator->name, fold_dtype_name(source.dtype),
               source.cols, (size_t)first, (size_t)n);
      }
    }
}

Test(generators, threads_do_not_change_a_bit) {
  enum { N = 40009 }; /* prime: parts of unequal length */
  static unsigned char whole[N * 8], shared[N * 8];
  const unsigned threads[] = {1, 2, 5, 0};
  int wrong = 0;
  EACH_SOURCE(source, 12, 777) {
    size_t nbytes = N * fold_dtype_size(source.dtype);
    fold_generate(&source, 3, N, whole);
    for (int t = 0; t < 4; t++) {
      memset(shared, 0xa5, nbytes);
      fold_generate_parallel(&source, 3, N, shared, threads[t]);
      if (memcmp(whole, shared, nbytes) != 0)
        TELL(wrong, "%s %s on %u threads", source.generator->name, fold_dtype_name(source.dtype), threads[t]);
    }
  }
}

/* The host's vector loop against the scalar function that a kernel calls, past 2^32 and near 2^64 / 4 too. */
Test(generators, fill_equals_the_quads_a_kernel_would_make) {
  const uint64_t places[] = {0, 12345, ((uint64_t)1 << 32) - 512, ((uint64_t)1 << 45) + 4};
  const size_t shapes[] = {1, 2, 5, 1000, (size_t)1 << 31};
  int wrong = 0;
  for (int s = 0; s < 5; s++)
    for (int p = 0; p < 4; p++) EACH_SOURCE(source, 0xabcdef0123456789u, shapes[s]) {
        uint64_t quad = places[p] / 4, *got = patterns_of(&source, 4 * quad, 1024), want[4];
        struct fold_recipe recipe = fold_recipe_of(&source);
        for (uint64_t q = 0; q < 256; q++) {
          fold_generate_quad(&recipe, quad + q, 4 * (quad + q) % recipe.cols, want);
          if (memcmp(want, got + 4 * q, sizeof want) != 0)
            TELL(wrong, "%s %s cols %zu: quad %zu", source.generator->name, fold_dtype_name(source.dtype), source.cols,
                 (size_t)(quad + q));
        }
        free(got);
      }
}

/* The same words make every dtype: a narrower normal number is the f64 one rounded once. */
Test(generators, normal_is_one_number_rounded_to_each_dtype) {
  enum { N = 20000 };
  struct fold_source wide = source_of("normal", FOLD_F64, 13, N);
  uint64_t *f64 = patterns_of(&wide, 0, N);
  int wrong = 0;
  for (int d = 0; d < FOLD_F64; d++) {
    struct fold_source narrow = source_of("normal", d, 13, N);
    uint64_t *got = patterns_of(&narrow, 0, N);
    for (size_t i = 0; i < N; i++)
      if (got[i] != fold_bits_from_double((enum fold_dtype)d, fold_bits_f64(f64[i])))
        TELL(wrong, "%s element %zu", fold_dtype_name((enum fold_dtype)d), i);
    free(got);
  }
  free(f64);
}

/* Each half of the seed must count; the generators without chance must not move. */
Test(generators, seeds_differ) {
  enum { N = 256 };
  const uint64_t seeds[] = {2, 1 + ((uint64_t)1 << 32), 1 + ((uint64_t)1 << 63)};
  EACH_SOURCE(source, 1, N) {
    uint64_t *one = patterns_of(&source, 0, 2 * N);
    for (int s = 0; s < 3; s++) {
      source.seed = seeds[s];
      uint64_t *other = patterns_of(&source, 0, 2 * N);
      bool differ = memcmp(one, other, 2 * N * sizeof *one) != 0;
      cr_expect(differ != source.generator->is_fixed, "%s %s seed %zu", source.generator->name,
                fold_dtype_name(source.dtype), (size_t)seeds[s]);
      free(other);
    }
    free(one);
  }
}

static const struct golden *find_golden(const char *name) {
  for (size_t k = 0; k < sizeof golden / sizeof *golden; k++)
    if (strcmp(golden[k].name, name) == 0) return &golden[k];
  return NULL;
}

/* A change of the stream makes every stored input another one: it must be meant. Then golden_generators.h gets the line
 * that this prints, as a new generator does. */
Test(generators, golden_bits_stay) {
  for (int g = 0; g < FOLD_GENERATOR_IDS; g++) {
    const struct fold_generator *generator = &generators()[g];
    const struct golden *want = find_golden(generator->name);
    uint64_t got[4];
    for (int d = 0; d < FOLD_E4M3; d++) got[d] = golden_hash(fold_generate, generator, (enum fold_dtype)d);
    cr_expect(want && memcmp(want->hash, got, sizeof got) == 0,
              "golden_generators.h: {\"%s\", {0x%zxu, 0x%zxu, 0x%zxu, 0x%zxu}},", generator->name, (size_t)got[0],
              (size_t)got[1], (size_t)got[2], (size_t)got[3]);
  }
  cr_expect(sizeof golden / sizeof *golden == FOLD_GENERATOR_IDS, "%zu goldens", sizeof golden / sizeof *golden);
}

Test(generators, table_names_each_once_and_says_what_it_provokes) {
  for (int g = 0; g < FOLD_GENERATOR_IDS; g++) {
    const struct fold_generator *generator = &generators()[g];
    cr_expect(fold_generator_find(generator->name) == generator, "%s", generator->name);
    cr_expect(strlen(generator->provokes) > 20 && !strchr(generator->provokes, '\n'), "%s", generator->name);
    for (int d = 0; d < FOLD_FLOATS; d++) {
      struct fold_source source = {generator, (enum fold_dtype)d, 1, 64, 0};
      bool takes = generator->dtypes >> d & 1, wide = FOLD_EVERYWHERE >> d & 1;
      cr_expect(takes || !wide, "%s %s", generator->name, fold_dtype_name(source.dtype));
      cr_expect((fold_source_check(&source).code == FOLD_OK) == takes, "%s %s", generator->name,
                fold_dtype_name(source.dtype));
    }
  }
  cr_expect_null(fold_generator_find("norma"));
  cr_expect_null(fold_generator_find(""));
}

Test(generators, impossible_sources_are_refused) {
  struct fold_source good = source_of("normal", FOLD_F32, 1, 64), none = good, dtype = good, conditioned = good;
  none.generator = NULL;
  dtype.dtype = FOLD_DTYPES;
  conditioned.condition = 100;
  cr_expect(fold_source_check(&good).code == FOLD_OK);
  cr_expect(fold_source_check(&none).code == FOLD_BAD_INPUT);
  cr_expect(fold_source_check(&dtype).code == FOLD_BAD_INPUT);
  cr_expect(fold_source_check(&conditioned).code == FOLD_BAD_INPUT);
  const double hopeless[] = {-1, 1, 31, 1e10, INFINITY, NAN};
  for (int c = 0; c < 6; c++) {
    struct fold_source ill = source_of("ill_conditioned", FOLD_F16, 1, 64);
    ill.condition = hopeless[c];
    fold_status status = fold_source_check(&ill);
    cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "f16"), "condition %g: %s", hopeless[c],
              status.text);
  }
}
