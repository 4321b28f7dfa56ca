/* test_report.c: the report says what the records say, is valid text whatever they hold, and is written whole or not at
 * all. */
#include "report_records.h"
#include "shell.h"

#include "report/text.h"

#define JUDGED_ROWS(subject, claim, name, rows, verdict, rest)                                              \
  "{\"schema\":1,\"type\":\"judgement\",\"subject\":\"" subject "\",\"engine\":\"host\",\"claim\":\"" claim \
  "\",\"promised\":true,\"case\":\"" name "\",\"dtype\":\"f32\",\"op\":\"sum\",\"rows\":" rows              \
  ",\"cols\":3,\"generator\":\"normal\",\"verdict\":\"" verdict "\"" rest "}\n"
#define JUDGED(subject, claim, name, verdict, rest) JUDGED_ROWS(subject, claim, name, "1", verdict, rest)
/* Markup, quotes, a pipe, a backquote, a control character and one that XML forbids. */
#define EVIL "<script>alert(1)</script>\\\"'&|`$(touch owned)\\u0007\\ufffe\\n"

Test(report, the_model_counts_every_verdict_and_keeps_a_few) {
  struct scratch scratch;
  struct fold_model model;
  cr_assert(scratch_open(&scratch));
  char *text = NULL;
  size_t size, total[FOLD_VERDICTS], known;
  FILE *out = open_memstream(&text, &size);
  fputs(ENVIRONMENT, out);
  for (int i = 0; i < 25; i++)
    fprintf(out, JUDGED("a/b", "bounded", "normal/f32/sum/1x%d", "refuted", ",\"ulps\":%d,\"results\":[\"0x0\"]"), i,
            i);
  fputs(JUDGED("a/b", "bounded", "mixed/f32/sum/1x3", "held", ",\"ulps\":99,\"bound_fraction\":0.5"), out);
  for (int i = 0; i < 9; i++)
    fprintf(out, JUDGED("a/b", "replays", "npy:/x/y.npy/f32/sum/1x3", "skipped", ",\"reason\":\"reason %d\""), i);
  fputs(JUDGED("a/b", "replays", "npy:/x/y.npy/f32/sum/1x3", "broken", ""), out);
  fputs(JUDGED("p/q", "writes_output", "normal/f32/sum/1x3", "refuted", ",\"peer\":true,\"known\":\"so\""), out);
  fputs(JUDGED("p/q", "writes_output", "normal/f32/sum/1x4", "refuted", ",\"peer\":true"), out);
  fputs(JUDGED("p/q", "writes_output", "normal/f32/sum/1x5", "refuted", ",\"peer\":true,\"known\":false"), out);
  fclose(out);
  fold_model_open(&model);
  fold_status status = fold_model_read(&model, scratch_write(&scratch, "a.jsonl", text, size));
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  fold_model_total(&model, total, &known);
  cr_expect(total[FOLD_HELD] == 1 && total[FOLD_REFUTED] == 26 && total[FOLD_SKIPPED] == 9 && total[FOLD_BROKEN] == 1);
  cr_expect_eq(known, 2, "what is known, or was recorded when all of a peer's was");
  cr_expect_eq(model.n_subjects, 2);
  cr_expect_eq(model.n_environments, 1);
  cr_expect_str_eq(model.claims[0], "bounded", "claims stand as they are judged, not as they came");
  cr_expect_str_eq(model.claims[2], "writes_output");
  const struct fold_model_cell *bounded = model.subjects[0].cells[true][0], *replays = model.subjects[0].cells[true][1];
  cr_expect_eq(bounded->n_evidence, MODEL_EVIDENCE);
  cr_expect_eq(bounded->n_fixtures, 2);
  cr_expect_eq(bounded->ulps, 99.0);
  cr_expect_eq(bounded->fraction, 0.5);
  cr_expect_null(json_object_get(bounded->evidence[0], "results"), "evidence is kept small");
  cr_expect_eq(replays->n_reasons, MODEL_REASONS);
  cr_expect_eq(replays->other_reasons, 9 - MODEL_REASONS);
  cr_expect_str_eq(replays->fixtures[0].name, "npy:/x/y.npy");
  fold_model_close(&model);
  free(text);
  scratch_close(&scratch);
}

/* Twice the same file is twice the counts in one environment; another machine's is another environment. */
Test(report, environments_are_told_apart) {
  SHELL(s);
  shell_put(s, "a.jsonl", ENVIRONMENT JUDGED("a/b", "bounded", "n/f32/sum/1x3", "held", ""));
  shell_put(s, "b.jsonl",
            "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"another\",\"gpus\":[{\"name\":\"a gpu\"}]}\n");
  shell_run(s, "$F report a.jsonl a.jsonl --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "1 held, 0 refuted") && strstr(s->out, "On a cpu.\n"), "%s", s->out);
  cr_expect(strstr(s->out, "\n1 verdicts and runs occur more than once in one environment"), "%s", s->out);
  shell_run(s, "$F report a.jsonl b.jsonl --format markdown");
  cr_expect(strstr(s->out, "On a cpu; a gpu.\n"), "%s", s->out);
}

/* What is of a run alone makes no other environment; the page lists the runs. */
Test(report, runs_on_one_machine_share_its_environment) {
  SHELL(s);
#define RUN(more)                                                                                                     \
  "{\"schema\":2,\"type\":\"environment\",\"closing_line\":true,\"build\":\"b\",\"foldproof\":\"0.2.0\",\"cpu\":\"a " \
  "cpu\"" more "}\n"
  shell_put(s, "a.jsonl", RUN(",\"date\":\"2026-11-22\",\"command\":\"foldproof study\""));
  shell_put(s, "b.jsonl", RUN(",\"date\":\"2026-11-23\",\"command\":\"foldproof bench -n '<1>'\""));
  shell_put(s, "c.jsonl", RUN(",\"runs\":\"3\""));
#undef RUN
  shell_run(s, "$F report a.jsonl b.jsonl --format markdown && $F report a.jsonl b.jsonl -o page.html");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "On a cpu.\n"), "%s", s->out);
  cr_expect(shell_holds(s, "page.html", "run 0</th><td>2026-11-22: foldproof study</td>"));
  cr_expect(shell_holds(s, "page.html", "run 1</th><td>2026-11-23: foldproof bench -n &#39;&#60;1&#62;&#39;</td>"));
  shell_run(s, "$F report c.jsonl a.jsonl -o page.html"); /* a field of somebody else's that has the list's name */
  EXPECT_CODE(s, 0);
}

Test(report, the_page_says_what_verify_said) {
  SHELL(s);
  char closing[200];
  shell_run(
      s,
      "$M verify --subjects 'mutant/twice,mutant/flush' --fixtures 'normal/f32/sum/*,subnormals/*' --jsonl run.jsonl");
  EXPECT_CODE(s, 1);
  snprintf(closing, sizeof closing, "%s", shell_last_line(s->out));
  shell_run(s, "$F report run.jsonl -o run.html && $F report run.jsonl --format markdown -o run.md");
  EXPECT_CODE(s, 0);
  shell_run(s,
            "for page in run.html run.md; do sed 's/\\([0-9]\\),\\([0-9]\\)/\\1\\2/g' $page | grep -c '%s'; done | "
            "grep -vc 0",
            closing);
  cr_expect_str_eq(s->out, "2\n", "the page or the summary lacks: %s", closing);
  cr_expect(shell_holds(s, "run.html", "foldproof verify --subjects &#39;mutant/twice&#39;"), "no command replays it");
  cr_expect(
      shell_holds(s, "run.html", "href=\"#e0-") && shell_holds(s, "run.html", "<tr class=\"v v-refuted\" id=\"e0-"),
      "cells lead to evidence");
  shell_run(s, "grep -ciE 'https?:|<script|src=|@import|<link|<iframe| on[a-z]+=\"' run.html");
  cr_expect_str_eq(s->out, "0\n", "the page would load or run something: %s", s->out);
}

/* Every suite's counts are those of its cases, and the failures those that verify counted, by fixture. */
Test(report, junit_is_well_formed_and_adds_up) {
  SHELL(s);
  shell_put(
      s, "j.py",
      "import json, sys, xml.etree.ElementTree as E\n"
      "root = E.parse('out.xml').getroot()\n"
      "kinds = {'failures': 'failure', 'errors': 'error', 'skipped': 'skipped'}\n"
      "for suite in [root] + root.findall('testsuite'):\n"
      "    cases = suite.findall('.//testcase')\n"
      "    assert int(suite.get('tests')) == len(cases) > 0\n"
      "    for count, tag in kinds.items():\n"
      "        assert int(suite.get(count)) == sum(c.find(tag) is not None for c in cases), (suite.attrib, tag)\n"
      "worst = {}\n"
      "for line in open('run.jsonl'):\n"
      "    r = json.loads(line)\n"
      "    if r['type'] == 'judgement' and r['promised']:\n"
      "        rank = ['skipped', 'held', 'broken', 'refuted'].index(r['verdict'])\n"
      "        for fixture in r.get('fixtures', [r['case'].split('/')[0]]):\n"
      "            key = (r['subject'] + ' on ' + r['engine'], r['claim'] + ' / ' + fixture)\n"
      "            worst[key] = max(worst.get(key, 0), rank)\n"
      "tags = ['skipped', None, 'error', 'failure']\n"
      "got = {(c.get('classname'), c.get('name')): c[0].tag if len(c) else None for c in root.iter('testcase')}\n"
      "assert got == {k: tags[v] for k, v in worst.items()}\n"
      "print(len(got), int(root.get('failures')) > 0, int(root.get('errors')) > 0, int(root.get('skipped')) > 0)\n");
  shell_run(s,
            "$M verify --subjects 'mutant/twice,mutant/flush,broken/*' --fixtures "
            "'normal/f32/sum/1x3?/*,normal/f32/sum/3x1000/*,subnormals/*,full_range/*' "
            "--jsonl run.jsonl >/dev/null; $F report run.jsonl --format junit -o out.xml && python3 j.py");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, " True True True\n"), "%s: a failure, an error and a skip are there: %s", s->out, s->err);
}

/* An output holds what its name says, unless --format says otherwise. */
Test(report, the_suffix_of_the_output_chooses_the_format) {
  static const char *const begins[][3] = {
      {"a.xml", "", "<?xml"},           {"a.md", "", "#"},      {"a.html", "", "<!"}, {"a.out", "", "<!"},
      {"a.xml", "--format html", "<!"}, {"a.txt", "", "8 held"}};
  SHELL(s);
  shell_run(s, "$M verify --subjects 'mutant/twice' --fixtures 'normal/f32/sum/1x31/*' --jsonl a.jsonl");
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    char line[200];
    snprintf(line, sizeof line, "$F report a.jsonl -o %s %s && cat %s", begins[i][0], begins[i][1], begins[i][0]);
    shell_run(s, line);
    EXPECT_CODE(s, 0);
    cr_expect(strncmp(s->out, begins[i][2], strlen(begins[i][2])) == 0, "%s %s: %.80s", begins[i][0], begins[i][1],
              s->out);
  }
}

#define GATHERED(fixtures)                                              \
  ENVIRONMENT JUDGED("a/b", "bounded", "normal/f32/sum/1x3", "skipped", \
                     ",\"reason\":\"no GPU\",\"cases\":3,\"fixtures\":" fixtures)

/* What could not run is one record and a case for each fixture of it, as where it runs; fixtures that are not the record's cases
 * are refused. */
Test(report, junit_names_all_fixtures_of_what_could_not_run) {
  SHELL(s);
  shell_put(s, "a.jsonl", GATHERED("{\"normal\":2,\"npy:/x/y.npy\":1}"));
  shell_run(s, "$F report a.jsonl --format junit | grep -o 'tests=.*\\|name=\"[a-z].*\\|message=.*'");
  EXPECT_CODE(s, 0);
  const char *counts = "tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\">\n";
  const char *skipped = "<skipped message=\"no GPU\"/></testcase>\n";
  char want[800];
  snprintf(want, sizeof want,
           "name=\"foldproof\" %sname=\"a/b on host\" %sname=\"a/b on host\" name=\"bounded / normal\">%sname=\"a/b on "
           "host\" name=\"bounded / npy:/x/y.npy\">%s",
           counts, counts, skipped, skipped);
  cr_expect_str_eq(s->out, want, "%s", s->out);
  shell_run(s, "$F report a.jsonl --format markdown");
  cr_expect(strstr(s->out, "0 held, 0 refuted, 3 skipped\n"), "%s", s->out);
  static const char *const wrong[] = {GATHERED("{\"normal\":2}"), GATHERED("{\"normal\":2,\"mixed\":2}"),
                                      GATHERED("{\"normal\":4,\"mixed\":-1}"), GATHERED("{}")};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    shell_put(s, "a.jsonl", wrong[i]);
    shell_run(s, "$F report a.jsonl --format junit");
    EXPECT_CODE(s, 2);
    cr_expect(strstr(s->err, "a.jsonl:2: its fixtures have"), "%s", s->err);
  }
}

/* It cannot be mended here: it is no failure, and it is not hidden. */
Test(report, junit_skips_what_is_known_of_another_library_and_shows_its_evidence) {
  SHELL(s);
  shell_put(
      s, "a.jsonl",
      ENVIRONMENT JUDGED("p/q", "bounded", "n/f32/sum/1x3", "refuted",
                         ",\"peer\":true,\"known\":\"so\",\"reason\":\"off\"")
          JUDGED("p/q", "bounded", "m/f32/sum/1x3", "refuted", ",\"peer\":true,\"known\":false,\"reason\":\"far\""));
  shell_run(s, "$F report a.jsonl --format junit");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""), "%s", s->out);
  cr_expect(strstr(s->out, ": off\">known of another library</skipped></testcase>\n"), "%s", s->out);
  cr_expect(strstr(s->out, ": far\">0 held, 1 refuted, 0 skipped, 0 broken\nthe first: "), "%s", s->out);
}

#define UNBOUNDED(name, rows, without, reason)                                                             \
  JUDGED_ROWS("a/b", "compensated", name, #rows, "held",                                                   \
              ",\"rows_judged\":1,\"rows_without_bound\":" #without ",\"reason\":\"" #without " of " #rows \
              " rows have no bound: " reason "\"")

/* A claim that held over the rows that have a bound says how many have none: in the table, by a mark, and in full. */
Test(report, rows_without_a_bound_are_told) {
  SHELL(s);
  shell_put(s, "a.jsonl",
            ENVIRONMENT UNBOUNDED("n/f32/sum/3x9", 3, 2, "n u > 1/10")
                JUDGED("a/b", "compensated", "n/f32/sum/1x9", "held", "") UNBOUNDED("n/f32/sum/2x9", 2, 1, "n & u")
                    JUDGED("c/d", "compensated", "n/f32/sum/1x9", "held", "")
                        JUDGED("a/b", "compensated", "n/f32/sum/4x9", "skipped",
                               ",\"rows_without_bound\":4,\"reason\":\"no bound\""));
  shell_run(s, "$F report a.jsonl --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "| a/b on host | ✓ 3&#42;; 1 skipped |\n| c/d on host | ✓ 1 |\n"), "%s", s->out);
  cr_expect(strstr(s->out, "\n* **a/b on host: compensated**: 3 of 6 rows have no bound: n &#38; u\n"), "%s", s->out);
  shell_run(s, "$F report a.jsonl -o a.html; grep -o '>✓ [0-9][^/]*\\|<td>3 of 6[^/]*' a.html");
  cr_expect_str_eq(s->out, ">✓ 3*<br>1 skipped<\n>✓ 1<\n<td>3 of 6 rows have no bound: n &#38; u<br>1: no bound<\n",
                   "%s", s->out);
}

/* A claim that held over a sample of the results says of how many. */
Test(report, samples_are_told) {
  SHELL(s);
  shell_put(s, "a.jsonl",
            ENVIRONMENT JUDGED_ROWS("a/b", "bounded", "n/f32/sum/90000x900", "90000", "held",
                                    ",\"results_judged\":4096") JUDGED("a/b", "bounded", "n/f32/sum/1x9", "held", "")
                JUDGED_ROWS("a/b", "compensated", "n/f32/sum/90000x900", "90000", "held",
                            ",\"results_judged\":4000,\"rows_judged\":3999,\"rows_without_bound\":1"
                            ",\"reason\":\"4,000 of 90,000 results judged; 1 of 4000 rows have no bound: n u\""));
  shell_run(s, "$F report a.jsonl --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "\n* **a/b on host: bounded**: 4,096 of 90,000 results judged\n"), "%s", s->out);
  cr_expect(
      strstr(s->out,
             "\n* **a/b on host: compensated**: 4,000 of 90,000 results judged; 1 of 4000 rows have no bound: n u\n"),
      "%s", s->out);
}

/* Held about order, on inputs that could tell another order and on those that could not; older records say neither. */
Test(report, what_nothing_could_tell_is_told) {
  SHELL(s);
  shell_put(s, "a.jsonl",
            ENVIRONMENT JUDGED("a/b", "run_to_run", "n/f32/sum/1x9", "held", ",\"telling\":true")
                JUDGED("a/b", "run_to_run", "m/f32/sum/1x9", "held", ",\"telling\":false")
                    JUDGED("a/b", "run_to_run", "m/f32/sum/1x8", "held", "")
                        JUDGED("c/d", "run_to_run", "m/f32/sum/1x9", "held", ",\"telling\":false")
                            JUDGED("c/d", "run_to_run", "m/f32/sum/1x8", "skipped", ",\"telling\":true")
                                JUDGED("e/f", "run_to_run", "m/f32/sum/1x9", "held", ""));
  shell_run(s, "$F report a.jsonl --format markdown");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "| a/b on host | ✓ 3 |\n| c/d on host | ✓ 1†; 1 skipped |\n| e/f on host | ✓ 1 |\n"), "%s",
            s->out);
  cr_expect(strstr(s->out,
                   "\nOf what held about order, 1 case is order-sensitive, 2 are order-insensitive (eight orders have "
                   "the same bits on the input, a ninth may not).\n"
                   "† Order-insensitive inputs only: 1 claim held on such inputs only.\n"),
            "%s", s->out);
  shell_run(s,
            "$F report a.jsonl -o a.html; grep -o '<td class=.held.><a[^/]*' a.html; grep -c 'class=.v v-held v-idle.' "
            "a.html");
  cr_expect_str_eq(
      s->out,
      "<td class=\"held\"><a href=\"#e0-0\">✓ 3<\n<td class=\"held\"><a href=\"#e1-0\">✓ 1†<br>1 skipped<\n"
      "<td class=\"held\"><a href=\"#e2-0\">✓ 1<\n1\n");
  shell_run(s, "$F report a.jsonl --format junit");
  cr_expect(
      strstr(s->out,
             "<properties><property name=\"telling\" value=\"1\"/><property name=\"idle\" value=\"1\"/></properties>"),
      "%s", s->out);
  cr_expect(strstr(s->out, "name=\"run_to_run / n\"></testcase>\n"), "%s", s->out);
  cr_expect(strstr(s->out,
                   "name=\"run_to_run / m\"><system-out>order-insensitive: 1 held, each on an input that has the same "
                   "bits in eight "
                   "orders</system-out></testcase>\n"),
            "%s", s->out);
  shell_run(s, "$F report a.jsonl --format junit | grep -A2 'e/f on host' | grep -c 'idle\\|properties'");
  cr_expect_str_eq(s->out, "0\n");
}

Test(report, what_records_hold_stays_text) {
  SHELL(s);
  shell_put(s, "evil.jsonl",
            "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"" EVIL "\",\"" EVIL "\":\"" EVIL "\",\"system\":\"" EVIL
            "\"}\n" JUDGED(EVIL, EVIL, EVIL "/f32/sum/1x3", "refuted",
                           ",\"reason\":\"" EVIL "\",\"got\":\"" EVIL "\",\"want\":\"0x1\"")
                JUDGED(EVIL, EVIL, "b/f32/sum/1x3", "skipped",
                       ",\"reason\":\"" EVIL "\"") "{\"schema\":1,\"type\":\"timing\",\"subject\":\"" EVIL
                                                   "\",\"engine\":\"" EVIL "\",\"dtype\":\"" EVIL "\",\"op\":\"" EVIL
                                                   "\",\"rows\":1,\"cols\":10,\"note\":\"" EVIL "\",\"peer\":\"" EVIL
                                                   "\"}\n"
                                                   "{\"schema\":1,\"type\":\"study\",\"subject\":\"" EVIL
                                                   "\",\"engine\":\"host\",\"generator\":\"" EVIL
                                                   "\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":10,\"error_abs\":1}\n"
                                                   "{\"schema\":1,\"type\":\"study\",\"subject\":\"" EVIL
                                                   "\",\"engine\":\"host\",\"generator\":\"" EVIL
                                                   "\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":100,\"error_abs\":0}\n"
                                                   "{\"schema\":1,\"type\":\"study\",\"subject\":\"" EVIL
                                                   "\",\"engine\":\"host\",\"generator\":\"" EVIL
                                                   "\",\"dtype\":\"f32\",\"op\":\"sum\",\"n\":1000,\"error_abs\":2}\n");
  shell_run(s,
            "$F report evil.jsonl -o e.html && $F report evil.jsonl --format markdown -o e.md && "
            "$F report evil.jsonl --format junit -o e.xml && grep -l '<script' e.html e.md e.xml; test ! -e owned");
  EXPECT_CODE(s, 0);
  cr_expect_str_eq(s->out, "", "markup came through: %s", s->out);
  cr_expect(
      shell_holds(s, "e.html", "&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;|`$(touch owned)\\x07\\xef"));
  shell_run(s, "python3 -c \"import xml.etree.ElementTree as E; E.parse('e.xml')\"");
  EXPECT_CODE(s, 0);
  shell_run(s, "grep -c '^| ' e.md; grep '^| ' e.md | tr -cd '|\\n' | sort -u");
  cr_expect_str_eq(s->out, "16\n||\n|||\n||||\n|||||||\n", "a name broke one of five tables: %s", s->out);
}

/* A claim's name from a record, with the signs by which a list of columns gives several of them, and their kinds. */
Test(report, a_name_of_a_claim_is_one_column) {
  SHELL(s);
  shell_put(s, "a.jsonl",
            JUDGED("x", "=a;^b;#c", "n/f32/sum/1x3", "held", "")
                JUDGED("x", "bounded", "n/f32/sum/1x3", "refuted", ""));
  shell_run(s, "$F report a.jsonl --format markdown | grep -A2 '^| Subject'");
  cr_expect_str_eq(s->out, "| Subject | bounded | =a;^b;&#35;c |\n| --- | --- | --- |\n| x on host | ✗ 1 | ✓ 1 |\n");
}

Test(report, bad_input_is_one_line_and_no_file) {
  static const struct {
    const char *text, *where, *what;
  } rows[] = {
      {"", "bad.jsonl: ", "no record"},
      {"not JSON\n", "bad.jsonl:1: ", "not JSON"},
      {"\n", "bad.jsonl:1: ", "not JSON"},
      {ENVIRONMENT "{\"schema\":1,\"type\":\"judg\n", "bad.jsonl:2: ", "not JSON"},
      {"[1]\n", "bad.jsonl:1: ", "no record"},
      {"{\"type\":\"run\"}\n", "bad.jsonl:1: ", "schema"},
      {"{\"schema\":3,\"type\":\"run\"}\n", "bad.jsonl:1: ", "schema 3: written by a newer"},
      {"{\"schema\":\"1\",\"type\":\"run\"}\n", "bad.jsonl:1: ", "schema"},
      {ENVIRONMENT ENVIRONMENT "{\"schema\":1,\"type\":\"dream\"}\n", "bad.jsonl:3: ", "'dream'"},
      {"{\"schema\":1}\n", "bad.jsonl:1: ", "type"},
      {ENVIRONMENT "{\"schema\":1,\"type\":\"judgement\"}\n", "bad.jsonl:2: ", "'subject'"},
      {JUDGED("a", "b", "c", "perhaps", ""), "bad.jsonl:1: ", "'perhaps'"},
      {"{\"schema\":1,\"type\":\"timing\",\"subject\":\"a\",\"engine\":\"b\",\"dtype\":\"f32\",\"op\":\"sum\",\"rows\":"
       "\"1\"}\n",
       "bad.jsonl:1: ", "'rows'"},
      {"{\"schema\":1,\"type\":\"study\",\"subject\":7}\n", "bad.jsonl:1: ", "'subject'"},
      {"{\"schema\":1,\"type\":\"environment\",\"gpus\":[7]}\n",
       "bad.jsonl:1: ", "'gpus' with an item that is not an object"},
      {"{\"schema\":1,\"type\":\"environment\",\"gpus\":[{\"name\":7}]}\n",
       "bad.jsonl:1: ", "'gpus.name' to be a string"},
      {"{\"schema\":1,\"type\":\"environment\",\"asked\":{\"ranks\":7}}\n",
       "bad.jsonl:1: ", "'asked.ranks' to be a string"},
  };
  static const char *const formats[] = {"html", "markdown", "junit"};
  SHELL(s);
  shell_put(s, "good.jsonl", ENVIRONMENT);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_put(s, "bad.jsonl", rows[i].text);
    shell_run(s, "$F report good.jsonl bad.jsonl -o out --format %s", formats[i % 3]);
    EXPECT_CODE(s, 2);
    cr_expect(strstr(s->err, rows[i].where) && strstr(s->err, rows[i].what), "row %zu: %s", i, s->err);
    cr_expect_eq(shell_lines(s->err), 1, "row %zu: %s", i, s->err);
    cr_expect_eq(scratch_count(&s->scratch, false), 2, "row %zu: something was written", i);
  }
}

Test(report, what_cannot_be_read_or_written_leaves_nothing) {
  static const char *const lines[] = {"$F report vanished.jsonl -o out",
                                      "$F report . -o out",
                                      "$F report good.jsonl -o no/such/folder/out",
                                      "$F report good.jsonl -o good.jsonl",
                                      "$F report good.jsonl bad.jsonl -o good.jsonl",
                                      "$F report",
                                      "$F report good.jsonl --format pdf",
                                      "$F report good.jsonl bad.jsonl -o old",
                                      "$F report good.jsonl -o /dev/full",
                                      "$F report good.jsonl >/dev/full"};
  SHELL(s);
  shell_put(s, "good.jsonl", ENVIRONMENT);
  shell_put(s, "bad.jsonl", "{");
  shell_put(s, "old", "kept");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    shell_run(s, "%s", lines[i]);
    EXPECT_CODE(s, strstr(lines[i], "/dev/full") ? 99 : 2);
    cr_expect_eq(shell_lines(s->err), 1, "%s: %s", lines[i], s->err);
    cr_expect_eq(scratch_count(&s->scratch, false), 3, "%s: something was written", lines[i]);
    cr_expect(shell_holds(s, "old", "kept") && shell_holds(s, "good.jsonl", ENVIRONMENT), "%s: a file was lost",
              lines[i]);
  }
}
