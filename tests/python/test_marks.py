#!/usr/bin/env python3
"""Options of a mark foldproof: on a test that foldproof.reduction makes, each of them means what it means in the decorator.

test_marks.py LIBRARY FIXTURES SANITIZERS
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import here

if importlib.util.find_spec("pytest") is None:
    print("skipped: no pytest here")
    sys.exit(77)

import foldproof._verify  # noqa: E402

# An option that is not named here is only handed on, whatever its value.
VALUES = {
    "problem": "'rows'", "dtypes": "['f64', 'f32']", "claims": "'bounded,batch-invariant'", "only": "'bounded,keeps_input'", "order": "'host/pairwise'",
    "same_bits_as": "'host/pairwise'", "name": "'mine/sum'", "repeats": "5", "around": "[256]", "strides": "True",
}
# Notes what verify would be asked, and judges nothing.
CONFTEST = """
import os

import foldproof

def noting(fn, **asked):
    with open("asked", "a") as to:
        print(os.environ["PYTEST_CURRENT_TEST"].split("::", 1)[1], sorted(asked.items()), file=to)
    raise foldproof.NothingJudged("it was noted")

foldproof.judge = noting
"""
TEST = """

{above}
class {name}:
    {mark}
    @foldproof.reduction({options})
    def test_it(self, x):
        return x.sum(-1)
"""


class Marks(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.folder = Path(room.name)

    def pytest(self, text, conftest=CONFTEST):
        (self.folder / "conftest.py").write_text(conftest)
        (self.folder / "test_it.py").write_text("import foldproof\nimport pytest\n" + text)
        env = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[2] / "python"))
        command = [sys.executable, "-m", "pytest", "-p", "foldproof.pytest_plugin", "-p", "no:cacheprovider", "-vrA", "test_it.py"]
        done = subprocess.run(command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        noted = self.folder / "asked"
        asked = sorted(noted.read_text().splitlines()) if noted.exists() else []
        noted.unlink(missing_ok=True)
        ids = [line.split("::", 1)[1].split()[0] for line in done.stdout.splitlines() if "[" in line and "::" in line and "%" in line]
        return done.returncode, ids, asked, done.stdout

    def test_each_option_means_what_it_means_in_the_decorator(self):
        said = {option: f"{option}={VALUES.get(option, repr('anything'))}" for option in foldproof._verify.options_of(foldproof.judge)}
        text = ""
        for option, words in said.items():
            mark = f"@pytest.mark.foldproof({words})"
            text += TEST.format(above="", name=f"TestDecorated_{option}", mark="", options=words)
            text += TEST.format(above="", name=f"TestMarked_{option}", mark=mark, options="")
            text += TEST.format(above=mark, name=f"TestClass_{option}", mark="", options="")
        _, ids, asked, told = self.pytest(text)
        for option in said:
            with self.subTest(option):
                ofs = {how: ([name.replace(f"{how}_", "") for name in ids if name.startswith(f"{how}_{option}::")],
                             [line.replace(f"{how}_", "") for line in asked if line.startswith(f"{how}_{option}::")])
                       for how in ("TestDecorated", "TestMarked", "TestClass")}
                self.assertIn(repr(option), "".join(ofs["TestDecorated"][1]), told)
                self.assertEqual(ofs["TestMarked"], ofs["TestDecorated"])
                self.assertEqual(ofs["TestClass"], ofs["TestDecorated"])

    def test_a_mark_of_the_module(self):
        _, ids, asked, told = self.pytest(TEST.format(above="pytestmark = pytest.mark.foldproof(claims='tree', only='tree', dtypes='f64')", name="TestIt", mark="", options=""))
        self.assertEqual(ids, ["TestIt::test_it[tree-f64]"], told)
        self.assertIn("('claims', ['tree']), ('dtypes', 'f64')", "".join(asked))

    def test_the_nearest_wins(self):
        mark = "@pytest.mark.foldproof(claims='bounded', dtypes='f64', fixtures='uniform*')"
        _, ids, asked, said = self.pytest(TEST.format(above="@pytest.mark.foldproof(claims='batch_invariant', only='run_to_run', dtypes='f16')", name="TestIt",
                                                     mark=mark, options="only='bounded', fixtures='normal*'"))
        self.assertEqual(ids, ["TestIt::test_it[bounded-f64]"], said)
        self.assertIn("('claims', ['bounded']), ('dtypes', 'f64'), ('fixtures', 'normal*')", "".join(asked))

    def test_what_no_mark_can_say_is_refused_at_collection(self):
        for said, words in (("clams='bounded'", "'clams' is no option of foldproof.verify: it has problem, dtypes,"), ("'bounded'", "its options have names"),
                            ("bless=True", "'bless' is no option"), ("_take=print", "'_take' is no option"), ("fn=len", "'fn' cannot be given")):
            with self.subTest(said):
                code, ids, asked, told = self.pytest(TEST.format(above="", name="TestIt", mark=f"@pytest.mark.foldproof({said})", options=""))
                self.assertEqual((code, ids, asked), (2, [], []), told)
                self.assertIn(words, told)

    def test_the_names_of_several_subjects_are_theirs(self):
        several = "{}\ntest_all = foldproof.reductions({{'py/a': len}}{})\n"
        for text in (several.format("pytestmark = pytest.mark.foldproof(name='mine/sum')", ""), several.format("", ", name='mine/sum'")):
            code, ids, _, told = self.pytest(text)
            self.assertEqual((code, ids), (2, []), told)
            self.assertIn("'name' cannot be given", told)

    def test_a_mark_on_a_test_that_takes_the_fixture(self):
        text = "@pytest.mark.foldproof({})\ndef test_it(foldproof):\n    foldproof.golden(len, 'kept')\n"
        code, _, _, told = self.pytest(text.format("clams='bounded'"))
        self.assertEqual(code, 2, told)
        self.assertIn("'clams' is no option", told)
        _, _, _, told = self.pytest(text.format("library='torch', claims='run_to_run'"), CONFTEST + "foldproof.golden = lambda *what, **asked: print(asked)\n")
        self.assertIn("{'library': 'torch', 'claims': 'run_to_run'}", told)

    def test_a_mark_that_comes_after_the_tests_were_made(self):
        late = "\nimport pytest\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.foldproof({}))\n"
        text = TEST.format(above="", name="TestIt", mark="", options="")
        code, _, asked, told = self.pytest(text, CONFTEST + late.format("claims='tree'"))
        self.assertEqual(code, 1, told)
        self.assertIn("was added after the tests had been made", told)
        code, _, asked, told = self.pytest(text, CONFTEST + late.format("fixtures='uniform*'"))
        self.assertIn("('fixtures', 'uniform*')", "".join(asked), told)

    def test_what_is_judged(self):
        """Not only asked: the results of real judgements."""
        text = TEST.format(above="@pytest.mark.foldproof(fixtures='normal/*/sum/17x257/*', like='numpy')", name="TestIt",
                           mark="@pytest.mark.foldproof(claims='run_to_run', dtypes='f64', order='host/pairwise')", options="only=['run_to_run', 'keeps_input']")
        code, ids, _, told = self.pytest(text.replace("x.sum(-1)", "foldproof.replay('host/pairwise', x)"), "")
        self.assertEqual((code, ids), (0, ["TestIt::test_it[run_to_run-f64]", "TestIt::test_it[keeps_input-f64]"]), told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
