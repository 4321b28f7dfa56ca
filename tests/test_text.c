/* test_text.c: bytes from outside become text that is UTF-8, on one line, and can be read back. */
#include "base/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "sheet/sheet.h"
#include "sheet/text.h"

Test(text, characters_are_those_of_utf8) {
  static const struct {
    const char *bytes;
    size_t n;
    bool plain;
  } rows[] = {
      {"a", 1, true},
      {"\t", 1, true},
      {"\x01", 1, false},
      {"\x7f", 1, false},
      {"\xc3\xbc", 2, true},  /* u with dots */
      {"\xc2\x80", 2, false}, /* a control of Latin 1 */
      {"\xc2\xa0", 2, true},
      {"\xe2\x82\xac", 3, true},  /* the euro */
      {"\xe2\x80\xa8", 3, false}, /* a separator of lines */
      {"\xe2\x80\xae", 3, false}, /* U+202E: text from right to left */
      {"\xe2\x80\xaa", 3, false},
      {"\xe2\x80\xaf", 3, true},
      {"\xe2\x81\xa5", 3, true},
      {"\xe2\x81\xa6", 3, false},
      {"\xe2\x81\xa9", 3, false},
      {"\xe2\x80\x8f", 3, false},
      {"\xd8\x9c", 2, false},
      {"\xef\xbf\xbd", 3, true},
      {"\xef\xbf\xbe", 3, false}, /* U+FFFE */
      {"\xef\xb7\x90", 3, false}, /* U+FDD0 */
      {"\xf0\x9f\x98\x80", 4, true},
      {"\xf0\x9f\xbf\xbf", 4, false}, /* U+1FFFF */
      {"\xf4\x8f\xbf\xbd", 4, true},
      {"\xf4\x90\x80\x80", 0, false}, /* past U+10FFFF */
      {"\xf8\x88\x80\x80\x80", 0, false},
      {"\xc0\xaf", 0, false}, /* overlong */
      {"\xe0\x80\xaf", 0, false},
      {"\xf0\x80\x80\xaf", 0, false},
      {"\xed\xa0\x80", 0, false}, /* a surrogate */
      {"\x80", 0, false},
      {"\xff", 0, false},
      {"\xc3", 0, false}, /* cut short */
      {"\xe2\x82", 0, false},
      {"\xe2\x82z", 0, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t n = fold_text_character(rows[i].bytes);
    cr_expect_eq(n, rows[i].n, "row %zu: %zu bytes", i, n);
    cr_expect(n == 0 || fold_text_is_plain(rows[i].bytes, n) == rows[i].plain, "row %zu", i);
  }
}

/* What a CI runner takes for a command, and what only looks like one. */
Test(text, no_line_is_a_command_of_a_runner) {
  static const struct {
    const char *name, *escaped, *line;
  } rows[] = {
      {"::error::x", "\\x3a:error::x", "?:error::x"},
      {"  ::error::x", "  \\x3a:error::x", "  ?:error::x"},
      {"\xc2\xa0 \xe2\x80\x83\xe3\x80\x80::x", "\xc2\xa0 \xe2\x80\x83\xe3\x80\x80\\x3a:x",
       "\xc2\xa0 \xe2\x80\x83\xe3\x80\x80?:x"},
      {"a ##[group]x", "a \\x23#[group]x", "a ?#[group]x"},
      {"##vso[task.x]", "\\x23#vso[task.x]", "?#vso[task.x]"},
      {"##teamcity[x]", "\\x23#teamcity[x]", "?#teamcity[x]"},
      {"std::plus", "std::plus", "std::plus"},
      {"## heading", "## heading", "## heading"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text = fold_text_escape(rows[i].name), *line = strdup(rows[i].name);
    fold_text_one_line(line);
    cr_expect_str_eq(text, rows[i].escaped);
    cr_expect_str_eq(line, rows[i].line);
    cr_expect_eq(fold_text_is_one_line(rows[i].name), strcmp(text, rows[i].name) == 0, "%s", rows[i].name);
    free(text);
    free(line);
  }
}

/* Any name of two bytes, before and behind others. */
Test(text, every_name_can_be_read_back) {
  for (int a = 1; a < 256; a++)
    for (int b = 1; b < 256; b++) {
      char name[8] = {'x', (char)a, (char)b, '4', '1', 0}, line[8];
      char *text = fold_text_escape(name), *back = text ? fold_text_unescape(text) : NULL;
      cr_assert(back && strcmp(back, name) == 0, "%02x %02x: '%s' became '%s'", (unsigned)a, (unsigned)b, text, back);
      strcpy(line, name);
      fold_text_one_line(line);
      for (const char *c = text; *c; c += fold_text_character(c))
        cr_assert(fold_text_character(c) && (unsigned char)*c >= ' ', "%02x %02x: %s", (unsigned)a, (unsigned)b, text);
      if (strcmp(line, name) == 0 && !strstr(name, "\\x")) cr_expect_str_eq(text, name, "what is fine stays");
      free(text);
      free(back);
    }
  char *text = fold_text_escape("\\x4 \\xzz a\\b \\x41 \xc3\xbc");
  cr_expect_str_eq(text, "\\x4 \\xzz a\\b \\x5cx41 \xc3\xbc");
  free(text);
}

Test(text, a_status_is_one_line_of_utf8) {
  fold_status status = fold_error(FOLD_BAD_INPUT, "%s: %s", "a\nb\033[2J\xff", "\xc3\xbc\xe2\x80\xa8");
  cr_expect_str_eq(status.text, "a?b?[2J?: \xc3\xbc???");
  status = fold_within(status, "%s", "c\r\n");
  cr_expect_str_eq(status.text, "c??: a?b?[2J?: \xc3\xbc???");
  char lots[400];
  for (size_t i = 0; i + 1 < sizeof lots; i += 2) memcpy(lots + i, "\xc3\xbc", 2);
  lots[398] = '\0';
  status = fold_error(FOLD_BAD_INPUT, "x%s", lots);
  for (const char *c = status.text; *c; c += fold_text_character(c))
    cr_assert(fold_text_character(c), "cut amid a character");
}

/* A sheet with that text at each place that has one; the caller frees what it prints. */
static char *sheet_of(const char *evil, enum fold_report_format format, bool list) {
  char *text = NULL, columns[400];
  size_t size;
  struct fold_sheet sheet;
  FILE *out = open_memstream(&text, &size);
  snprintf(columns, sizeof columns, "^x %s;x %s;x %s;x %s;x %s;x %s;$x %s;#x %s", evil, evil, evil, evil, evil, evil,
           evil, evil);
  fold_sheet_open(&sheet, evil, columns);
  for (size_t c = 0; c < sheet.n_columns; c++)
    snprintf(sheet.columns[c].name, sizeof sheet.columns[c].name, "%s", evil);
  sheet.list = list;
  for (int r = 0; r < 2; r++)
    FOLD_ROW(&sheet, T(evil), T(evil), T(evil), T(format == FOLD_REPORT_JUNIT ? "failure" : evil), T(evil), T(evil),
             T(evil), N(r));
  cr_expect_eq(fold_sheet_put(&sheet, format, 9, out).code, FOLD_OK);
  fclose(out);
  return text;
}

static bool gives_command(const char *text) {
  if (strstr(text, "##[") || strstr(text, "##vso[")) return true;
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += strspn(line, "\n \t");
    if (strncmp(line, "::", 2) == 0) return true;
  }
  return false;
}

/* In no format, at no place of a sheet, and not behind a line break of the text. */
Test(text, no_cell_of_a_sheet_is_a_command_of_a_runner) {
  static const char *const evils[] = {"##[error]x", "::error::x", "  ::error::x",
                                      "\t::x",      "\n::x",      "x\n::error::y\n##vso[task]z"};
  for (size_t i = 0; i < sizeof evils / sizeof *evils; i++)
    for (int format = 0; format < FOLD_REPORT_FORMATS; format++)
      for (int list = 0; list < 2; list++) {
        char *text = sheet_of(evils[i], (enum fold_report_format)format, list);
        cr_expect(strlen(text) > 20 && !gives_command(text), "format %d, list %d: %s", format, list, text);
        free(text);
      }
}

Test(text, a_page_shows_a_command_as_it_is) {
  static const struct {
    void (*put)(FILE *out, const char *text);
    const char *group, *error;
  } rows[] = {{fold_put_html, "a &#35;#[group]", " &#58;:error::x"},
              {fold_put_markdown, "a &#35;&#35;&#91;group&#93;", " &#58;:error::x"},
              {fold_put_plain, "a \xef\xbf\xbd#[group]", " \xef\xbf\xbd:error::x"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[80] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    rows[i].put(out, "a ##[group]");
    fputc('|', out);
    rows[i].put(out, " ::error::x");
    fclose(out);
    char *const end = strchr(text, '|');
    cr_assert(end);
    *end = '\0';
    cr_expect_str_eq(text, rows[i].group);
    cr_expect_str_eq(end + 1, rows[i].error);
  }
}
