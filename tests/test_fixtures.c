/* test_fixtures.c: fixture files give exactly the cases that they say. */
#include <criterion/criterion.h>

#include <sys/resource.h>

#include "cleanup.h"
#include "fixture_text.h"
#include "sample.h"

/* The names of all cases, each followed by a blank. */
static void names_of(const struct fold_cases *cases, char *text, size_t room) {
  text[0] = '\0';
  for (size_t i = 0; i < cases->n; i++) {
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s ", cases->at[i].name);
  }
}

Test(fixtures, a_section_stands_for_all_its_combinations_and_no_more) {
  static const struct {
    const char *text, *names;
  } cases[] = {
      {NORMAL "dtype = f32\nn = 5\n", "a/f32/sum/1x5/seed1 "},
      {NORMAL "dtype = f64, f16\nn = 5, 0\n",
       "a/f16/sum/1x5/seed1 a/f16/sum/1x0/seed1 a/f64/sum/1x5/seed1 a/f64/sum/1x0/seed1 "},
      {NORMAL "dtype = f32\nrows = 2,3\ncols = 7, 8\n",
       "a/f32/sum/2x7/seed1 a/f32/sum/2x8/seed1 a/f32/sum/3x7/seed1 a/f32/sum/3x8/seed1 "},
      {NORMAL "dtype = f32\nn = 1\nseed = 3, 18446744073709551615\nop = min, prod\n",
       "a/f32/prod/1x1/seed3 a/f32/prod/1x1/seed18446744073709551615 a/f32/min/1x1/seed3 "
       "a/f32/min/1x1/seed18446744073709551615 "},
      {NORMAL "dtype = all\nn = 1\n",
       "a/f16/sum/1x1/seed1 a/bf16/sum/1x1/seed1 a/f32/sum/1x1/seed1 a/f64/sum/1x1/seed1 "},
      {NORMAL "dtype = f32\nn = 2^10+-1, 3..4, 1e2-1, 2^3+1\n",
       "a/f32/sum/1x1023/seed1 a/f32/sum/1x1024/seed1 a/f32/sum/1x1025/seed1 a/f32/sum/1x3/seed1 a/f32/sum/1x4/seed1 "
       "a/f32/sum/1x99/seed1 a/f32/sum/1x9/seed1 "},
      {NORMAL "dtype = f32\nn = 8..41 step 16, 2..3 step 2^2, 5..7 step 1\n",
       "a/f32/sum/1x8/seed1 a/f32/sum/1x24/seed1 a/f32/sum/1x40/seed1 a/f32/sum/1x2/seed1 a/f32/sum/1x5/seed1 "
       "a/f32/sum/1x6/seed1 a/f32/sum/1x7/seed1 "},
      {NORMAL "dtype = f32 ; not f64\nn = 1,\n  2,  ; two\n# no 3\n\n    4\nn = 8\n",
       "a/f32/sum/1x1/seed1 a/f32/sum/1x2/seed1 a/f32/sum/1x4/seed1 a/f32/sum/1x8/seed1 "},
      {"[a]\r\ngenerator=normal\r\ndtype:f32\r\nn=1\r\n", "a/f32/sum/1x1/seed1 "},
      {NORMAL "dtype = f32\nn = 1099511627776\n", "a/f32/sum/1x1099511627776/seed1 "},
      {"[c]\ngenerator = ill_conditioned\ndtype = f64\nn = 100\ncondition = 1e8, 12345.5, 1e30\n",
       "c/f64/sum/1x100/seed1/cond1e8 c/f64/sum/1x100/seed1/cond12345.5 c/f64/sum/1x100/seed1/cond1e30 "},
      {GIVEN "dtype = f32\nvalues = 1,2,\n 3\nvalues = 4\n", "a/f32/sum/1x4 "},
      {NORMAL "dtype = f32\nrows = 7, 0\nranks = 3, 1\n",
       "a/f32/sum/7x3/ranks3/seed1 a/f32/sum/7x1/ranks1/seed1 a/f32/sum/0x3/ranks3/seed1 a/f32/sum/0x1/ranks1/seed1 "},
      {NORMAL "dtype = f32\nrows = 7\ncols = 5\nranks = 3\nseed = 2\n", "a/f32/sum/7x5/ranks3/seed2 "},
      {NORMAL "dtype = f32\nn = 0, 9\nranks = 1..2\n",
       "a/f32/sum/1x0/ranks1/seed1 a/f32/sum/1x0/ranks2/seed1 a/f32/sum/1x9/ranks1/seed1 a/f32/sum/1x9/ranks2/seed1 "},
      {GIVEN "dtype = f16, bf16\nbits = 0x3c00,0x7C01,\n 0x0000\n", "a/f16/sum/1x3 a/bf16/sum/1x3 "},
      {GIVEN "dtype = f32\nvalues = 1, 2\ntimes = 1337\n", "a/f32/sum/1x2674 "},
      {GIVEN "dtype = f64\nvalues = 0x10p0, 0x1.8, 0x1p4\n", "a/f64/sum/1x3 "},
      {GIVEN "dtype = f32\nvalues = 1, 2\nranks = 2, 8\n", "a/f32/sum/1x2/ranks2 a/f32/sum/1x2/ranks8 "},
      {NORMAL "dtype = f32\nn = 1\n[a]\ngenerator = normal\ndtype = f32\nn = 2",
       "a/f32/sum/1x1/seed1 a/f32/sum/1x2/seed1 "},
      {NORMAL "dtype = f32\nop = matmul\nm = 2\nn = 3\nk = 4\nlayout = nn, tn\nlda = +0, +3\n",
       "a/f32/matmul/2x3x4/nn/seed1 a/f32/matmul/2x3x4/nn+3/seed1 a/f32/matmul/2x3x4/tn/seed1 "
       "a/f32/matmul/2x3x4/tn+3/seed1 "},
      {NORMAL "dtype = f32\nop = sum\nrows = 2\ncols = 3\nlda = +12\n", "a/f32/sum/2x3/n+12/seed1 "},
      {NORMAL "dtype = f32\nn = 1\nseed = 0xFFFFffffffffffff, 0x10, 3..4\n",
       "a/f32/sum/1x1/seed18446744073709551615 a/f32/sum/1x1/seed16 a/f32/sum/1x1/seed3 a/f32/sum/1x1/seed4 "},
      {GIVEN "dtype = f32\nop = sum, scan\nrows = 2\ncols = 3\nvalues = 1, 2, 3, 4, 5, 6\nlda = +0, +2\n",
       "a/f32/sum/2x3/n a/f32/sum/2x3/n+2 a/f32/scan/2x3/n a/f32/scan/2x3/n+2 "},
      {GIVEN "dtype = f32\nop = matmul\nm = 1\nn = 2\nk = 3\nbatch = 2\nvalues = 1, 2, 3\ntimes = 6\nlayout = tn\n",
       "a/f32/matmul/2x1x2x3/tn "},
      {GIVEN "dtype = f64\nop = keyed\nm = 9\nn = 2\nk = 3\nslots = 8, 0..1\nvalues = 1, 2, 3, 4, 5, 6\n",
       "a/f64/keyed/9x2x3 "},
      {GIVEN "dtype = f32\nop = matmul\nvalues = 1, 2, 3, 4\n", "a/f32/matmul/1x1x2 "},
      {GIVEN "dtype = f32\nrows = 2\ncols = 3\nranks = 3\nvalues = 1\ntimes = 6\n", "a/f32/sum/2x3/ranks3 "},
  };
  SCRATCH(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CASES(got) = {0};
    char names[1024];
    fold_status status = load_text(&s, cases[i].text, &got);
    names_of(&got, names, sizeof names);
    cr_expect(status.code == FOLD_OK && strcmp(names, cases[i].names) == 0, "%s\n: %s\n: %s", cases[i].text,
              status.text, names);
  }
}

/* Also those between the numbers of f64. */
Test(fixtures, whole_numbers_of_integers_are_taken_exactly) {
  static const int64_t want[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1, 16, 0};
  SCRATCH(s);
  CASES(got) = {0};
  const fold_status status = load_text(&s,
                                       GIVEN
                                       "dtype = i64\nvalues = 9223372036854775807, -9223372036854775808, "
                                       "9007199254740993, -9007199254740993, 0x10p0, 0\n",
                                       &got);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    cr_expect_eq((int64_t)got.at[0].literal[i], want[i], "value %zu: %lld", i, (long long)got.at[0].literal[i]);
}

static size_t count(const char *folder, const char *set, const char *globs) {
  CASES(cases) = {0};
  fold_status status = fold_cases_load(folder, set, globs, &cases);
  cr_expect(status.code == FOLD_OK, "%s %s: %s", set, globs ? globs : "*", status.text);
  size_t n = cases.n;
  return n;
}

Test(fixtures, a_new_file_is_picked_up_and_globs_and_sets_choose) {
  static const char first[] = NORMAL "dtype = f32\nn = 1, 2\n";
  static const char second[] =
      "[b]\ngenerator = mixed\ndtype = f32\nn = 1\n[b]\nset = large\ngenerator = mixed\n"
      "dtype = f32\nn = 1e7\n";
  SCRATCH(s);
  cr_expect(count(s.folder, "default", NULL) == 0, "an empty folder has no cases");
  scratch_write(&s, "one.ini", first, sizeof first - 1);
  cr_expect(count(s.folder, "default", NULL) == 2, "one file");
  scratch_write(&s, "two.ini", second, sizeof second - 1);
  scratch_write(&s, "three.ini.bak", "junk", 4);
  scratch_write(&s, ".hidden.ini", "junk", 4);
  cr_expect(count(s.folder, "default", NULL) == 3, "a second file");
  cr_expect(count(s.folder, "large", NULL) == 1 && count(s.folder, "all", NULL) == 4, "sets");
  cr_expect(count(s.folder, "default", "one") == 2, "the file's name");
  cr_expect(count(s.folder, "default", "a") == 2 && count(s.folder, "default", "b") == 1, "the fixture's name");
  cr_expect(count(s.folder, "default", "a/*/1x2/*,b/*") == 2, "two globs");
  cr_expect(count(s.folder, "default", "b/f32/sum/1x1/seed1") == 1, "a case's name");
  cr_expect(count(s.folder, "default", "c*") == 0 && count(s.folder, "default", "") == 0, "what matches nothing");
  CASES(cases) = {0};
  scratch_write(&s, "zero.ini", first, sizeof first - 1);
  fold_status status = fold_cases_load(s.folder, "large", NULL, &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "zero.ini:1: the case a/f32/sum/1x1/seed1") &&
                strstr(status.text, "one.ini:1"),
            "a name in two files: %s", status.text);
}

/* What a glob means of a folder, each time with what cannot be read where it does not look. */
Test(fixtures, a_new_process_makes_only_what_its_globs_can_mean) {
  static const char first[] =
      NORMAL "dtype = f32\nn = 1, 2\n[ab]\ngenerator = mixed\ndtype = f32\nn = 3\n[cc]\nn = 1\n";
  static const struct {
    const char *globs;
    size_t n;
  } right[] = {{"a", 2},
               {"a*", 3},
               {"ab/*", 1},
               {"a/f32/sum/1x2/seed1", 1},
               {"zero,a?", 1},
               {"a[b]*", 1},
               {"none,a/*/1x1/*", 1},
               {"", 0},
               {"b", 0},
               {"a/", 0},
               {"c", 0},
               {"c,a", 2},
               {"c/*", 0}};
  SCRATCH(s);
  scratch_write(&s, "one.ini", first, sizeof first - 1);
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    CASES(cases) = {0};
    const fold_status status = fold_cases_load_again(s.folder, "default", right[i].globs, &cases);
    cr_expect(status.code == FOLD_OK, "'%s': %s", right[i].globs, status.text);
    cr_expect_eq(cases.n, right[i].n, "'%s' means %zu cases, not %zu", right[i].globs, cases.n, right[i].n);
  }
  CASES(cases) = {0};
  const fold_status status = fold_cases_load_again(s.folder, "default", "on?", &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "one.ini:"), "the file's name means all of it: %s",
            status.text);
  cr_expect(fold_cases_load(s.folder, "default", "a", &cases).code == FOLD_BAD_INPUT,
            "a process that nobody has read for");
}

Test(fixtures, globs_match_as_a_shell_would) {
  static const struct {
    const char *globs, *name;
    bool match;
  } cases[] = {{NULL, "a", true},        {"norm?l/*", "normal/f32", true},
               {"a\\*b", "a*b", true},   {"a\\*b", "a\\*b", false},
               {"a", "a", true},         {"a", "ab", false},
               {"a*", "a/b/c", true},    {"b,a", "a", true},
               {",a", "a", true},        {"", "a", false},
               {"", "", false},          {"[ab]/?", "b/x", true},
               {"[ab]/?", "c/x", false}, {"*/sum/*", "n/f32/sum/1x1", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect(fold_glob_match(cases[i].globs, cases[i].name) == cases[i].match, "'%s' on '%s'", cases[i].globs,
              cases[i].name);
}

static size_t read_whole(const char *name, char *text, size_t room) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", FOLD_FIXTURE_FOLDER, name);
  FILE *file = fopen(path, "rb");
  size_t n = file ? fread(text, 1, room, file) : 0;
  if (file) fclose(file);
  return n;
}

/* Our own files with some bytes changed: cases or one line of refusal, never anything else. */
Test(fixtures, mutated_files_never_mislead) {
  static const char *const names[] = {"classic.ini", "control.ini", "large.ini", "specials.ini", "captured.ini"};
  static const char spice[] = "=[],;#\n \t^+-.e0123456789xpninfa\"\\\xff\r:";
  struct memory_file m;
  memory_file_open(&m);
  static char from[1 << 16], text[1 << 16];
  size_t accepted = 0, refused = 0, shown = 0;
  for (uint64_t trial = 0; trial < 1500; trial++) {
    size_t n = read_whole(names[trial % 5], from, sizeof from);
    cr_assert(n > 100, "%s is missing", names[trial % 5]);
    memcpy(text, from, n);
    for (uint64_t k = 0; k <= trial % 4; k++) {
      uint64_t r = sample_bits(trial, k);
      text[(r >> 8) % n] = spice[(r >> 32) % (sizeof spice - 1)];
      if (r % 32 == 0) n = 1 + (r >> 40) % n;
    }
    memory_file_write(&m, text, n);
    CASES(cases) = {0};
    fold_status status = fold_cases_load_file(m.path, &cases);
    accepted += status.code == FOLD_OK;
    refused += status.code == FOLD_BAD_INPUT;
    bool fine = status.code == FOLD_OK ? cases.n > 0 : strstr(status.text, m.path) && !strchr(status.text, '\n');
    if (!fine && shown++ < 10) cr_expect(false, "trial %zu: code %d: %s", (size_t)trial, status.code, status.text);
  }
  cr_expect(accepted + refused == 1500 && accepted > 100 && refused > 100, "%zu accepted, %zu refused", accepted,
            refused);
}

#ifndef __SANITIZE_ADDRESS__
/* The address space that is in use, in bytes. */
static rlim_t space_used(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

Test(fixtures, too_little_memory_is_said_so) {
  static const char text[] = NORMAL "dtype = f32\nn = 0..2047\nseed = 1..32\n";
  struct memory_file m;
  memory_file_open(&m);
  memory_file_write(&m, text, sizeof text - 1);
  size_t short_of = 0;
  for (rlim_t room = 1 << 20; room <= 25 << 20; room += 3 << 20) {
    struct rlimit limit, tight;
    getrlimit(RLIMIT_AS, &limit);
    tight = (struct rlimit){space_used() + room, limit.rlim_max};
    CASES(cases) = {0};
    setrlimit(RLIMIT_AS, &tight);
    fold_status status = fold_cases_load_file(m.path, &cases);
    setrlimit(RLIMIT_AS, &limit);
    short_of += status.code == FOLD_NO_MEMORY;
    cr_expect(status.code == FOLD_OK || status.code == FOLD_NO_MEMORY, "%d: %s", status.code, status.text);
    cr_expect(status.code == FOLD_OK || strstr(status.text, "memory"), "%s", status.text);
  }
  cr_expect(short_of > 0, "memory never ran short: this test shows nothing");
}
#endif
