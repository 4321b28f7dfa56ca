#!/usr/bin/env python3
"""Figures of README and docs/ against the records in ci/measured/; README's length; links; the man page.

test_readme.py SOURCE_FOLDER.
"""
import pathlib
import re
import shutil
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal

SOURCE = pathlib.Path(sys.argv[1])
README = (SOURCE / "README.md").read_text()
MEASURED = SOURCE / "ci" / "measured"
failures, checked = [], 0


def check_figures():
    """Those of ci/measured/figures.txt: the words are on their page, and the record has the figures, rounded once to as many decimals."""
    global checked
    for line in (MEASURED / "figures.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        page, words, path, how, pattern = (part.strip() for part in line.split(" | ", 4))
        figures = re.findall(r"\{(.*?)\}", words)
        checked += len(figures)
        if re.sub("[{}]", "", words) not in " ".join((SOURCE / page).read_text().split()):
            failures.append(f"{page} does not say: {words}")
        text = (MEASURED / path).read_text()
        if how == "says":
            if words not in " ".join(text.split()):
                failures.append(f"{page}: {path} does not say: {words}")
            checked += 1
            continue
        found = re.findall(pattern, text, re.M)
        groups = [[Decimal(value.replace(",", "")) for value in (own if isinstance(own, tuple) else (own,))] for own in found]
        if how == "most":
            recorded = [max(own[0] for own in groups)] if groups else []
        else:
            recorded = groups[0] if len(groups) == 1 else []
            recorded = [recorded[1], sum(recorded)] if how == "refuted" and recorded else recorded
        rounded = [f"{value.quantize(Decimal(text.replace(',', '')), ROUND_HALF_UP):,}" for value, text in zip(recorded, figures)]
        if rounded != figures:
            failures.append(f"{page}: the page has {figures}, {path} has {rounded}: {words}")


def check_length():
    """A stranger reads README to its end."""
    if len(README.splitlines()) > 120 or len(README.split()) > 1500:
        failures.append(f"README has {len(README.splitlines())} lines and {len(README.split())} words: at most 120 and 1,500; details belong to a page of docs/")


def check_links():
    """A file that a link names is there; a part that it names is a heading of it."""
    for path in [*sorted(SOURCE.glob("*.md")), *sorted((SOURCE / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]*(?:#[^)]*)?)\)", path.read_text()):
            name, _, part = target.partition("#")
            linked = path.parent / name if name else path
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.M) if linked.suffix == ".md" and linked.is_file() else []
            anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            if not linked.exists() or (part and part not in anchors):
                failures.append(f"{path.name}: nothing is at {target}")


def check_man_page():
    """Roff takes quotes of a macro's arguments away, where they are not escaped."""
    if shutil.which("groff") is None:
        return
    page = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", SOURCE / "src" / "foldproof.1"], capture_output=True, text=True, check=False)
    text = " ".join(page.stdout.split())
    for asked in ('{"ask": "describe"}', '({"name": "mine/sum", "dtypes": "f32"})', '{"ask": "run", "in": PATH, "out": PATH, "problem": "sum",'):
        if asked not in text:
            failures.append(f"the man page lacks {asked}")
    if page.stderr:
        failures.append(f"the man page: {page.stderr}")


def check_one_spelling():
    """Messages and pages say "cannot" everywhere."""
    pages = [*SOURCE.glob("docs/*.md"), *SOURCE.glob("*.md"), SOURCE / "src" / "foldproof.1", *SOURCE.glob("python/foldproof/*.py")]
    failures.extend(f"{path.name}: can't" for path in pages if "can't" in path.read_text())
    for path in [path for folder in ("src", "library", "fixtures", "oracles", "kernels") for path in (SOURCE / folder).rglob("*.*") if path.suffix in (".c", ".h", ".cu")]:
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        failures.extend(f"{path.name}: {text}" for text in re.findall(r'"[^"\n]*can\'t[^"\n]*"', code))


check_figures()
check_length()
check_links()
check_man_page()
check_one_spelling()
for failure in failures:
    print(failure)
print(f"{checked} figures, {len(failures)} failures")
sys.exit(1 if failures or checked < 20 else 0)
