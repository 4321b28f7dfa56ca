/* test_names.c: files may have any name. In every output format the name is valid text, from which the file can be
 * found again. */
#include "shell.h"

/* As a shell's printf takes it; as the case's name has it, which is text. */
static const struct {
  const char *printed, *told;
} names[] = {
    {"plain.npy", "plain.npy"},
    {"\\303\\274.npy", "\xc3\xbc.npy"},
    {"\\342\\202\\254 \\360\\237\\230\\200.npy", "\xe2\x82\xac \xf0\x9f\x98\x80.npy"},
    {"caf\\351.npy", "caf\\xe9.npy"},
    {"a\\nb.npy", "a\\x0ab.npy"},
    {"\\033[31m.npy", "\\x1b[31m.npy"},
    {"\\357\\277\\276.npy", "\\xef\\xbf\\xbe.npy"},
    {"\\342\\202.npy", "\\xe2\\x82.npy"},
    {"a\\\\x41.npy", "a\\x5cx41.npy"},
    {"%%s\\047$(x)\\140\\\\\"<&>|.npy", "%s'$(x)`\\\"<&>|.npy"},
};

static const char check[] =
    "import json, html, html.parser, pathlib, xml.etree.ElementTree as E\n"
    "class Text(html.parser.HTMLParser):\n"
    "    text = ''\n"
    "    def handle_data(self, data): self.text += data\n"
    "for room in (told.parent for told in pathlib.Path('.').glob('*/told')):\n"
    "    read = lambda name: (room / name).read_text(encoding='utf-8')\n"
    "    told = 'npy:' + read('told')\n"
    "    cases = {r['case'] for r in map(json.loads, read('r.jsonl').splitlines()) if 'subject' in r}\n"
    "    assert cases == {told + '/f32/sum/1x100'}, cases\n"
    "    names = {c.get('name').split(' / ')[1] for c in E.fromstring(read('r.junit')).iter('testcase')}\n"
    "    assert names == {told}, names\n"
    "    page = Text()\n"
    "    page.feed(read('r.html'))\n"
    "    assert told in page.text and '\\ufffd' not in page.text, told\n"
    "    summary = html.unescape(read('r.markdown'))\n"
    "    assert told in summary and '\\ufffd' not in summary, told\n"
    "    replay = [line for line in page.text.splitlines() if 'foldproof verify' in line][0]\n"
    "    replay = 'foldproof() { \"$M\" \"$@\"; }; ' + replay[replay.index('foldproof verify'):]\n"
    "    (room / 'replay').write_text(replay, encoding='utf-8')\n";

Test(names, a_file_of_any_name_is_judged_recorded_and_replayed) {
  enum { NAMES = sizeof names / sizeof *names };
  SHELL(s);
  shell_put(s, "check.py", check);
  shell_run(s, "$F gen normal --n 100 -o x");
  EXPECT_CODE(s, 0);
  for (size_t i = 0; i < NAMES; i++) { /* each in a folder of its own, and its file alone in one below */
    char told[20];
    snprintf(told, sizeof told, "%zu/told", i);
    shell_run(s, "mkdir -p %zu/d", i);
    shell_put(s, told, names[i].told);
    shell_run(s,
              "cd %zu; cp ../x d/\"$(printf '%s')\"; cd d; $F verify -v --subjects host/pairwise --npy * --jsonl "
              "../h.jsonl",
              i, names[i].printed);
    EXPECT_CODE(s, 0);
    cr_expect(strstr(s->out, "fresh_process                1       0       0"), "%s: %s", names[i].told, s->out);
    shell_run(s, "cd %zu; $F compare h.jsonl h.jsonl", i);
    EXPECT_CODE(s, 0);
    shell_run(s, "cd %zu/d; $M verify --subjects mutant/twice --claims bounded --npy * --jsonl ../r.jsonl", i);
    EXPECT_CODE(s, 1);
    const char *line = strstr(s->out, "  reproduce: ");
    cr_assert_not_null(line, "%s: %s", names[i].told, s->out);
    shell_put(s, "first", line + strlen("  reproduce: "));
    shell_run(s, "head -n 1 first >alone; cd %zu/d; sh ../../alone", i);
    EXPECT_CODE(s, 1);
    shell_run(s, "cd %zu; for f in html markdown junit; do $F report r.jsonl -f $f -o r.$f; done", i);
    EXPECT_CODE(s, 0);
  }
  shell_run(s, "python3 check.py");
  EXPECT_CODE(s, 0);
  for (size_t i = 0; i < NAMES; i++) {
    shell_run(s, "export M; cd %zu/d; sh ../replay", i);
    EXPECT_CODE(s, 1);
  }
  shell_run(s, "rm -rf */");
}
