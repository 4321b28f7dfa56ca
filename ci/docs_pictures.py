#!/usr/bin/env python3
"""The pictures of README: a refutation in a terminal, and the badges.

docs_pictures.py SOURCE_FOLDER NAME: prints NAME.svg. ci/docs.sh puts it in its place. The refutation is ci/measured/h200/refutation.txt, a
command and what it printed; the badges are read from meson.build, pyproject.toml and LICENSE.
"""
import html
import itertools
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
WIDTH, LINE, CELL, SIZE = 100, 18, 7.83, 13  # characters; the rest in pixels
BACK, PLAIN, PALE, RED, GREEN = "#1b1f24", "#d7dde4", "#8b96a3", "#ff6b63", "#7ee787"
STYLES = (  # what a line begins with, or has in it: its colour
    (r"^>>> .*|^\$ .*", GREEN), (r"\bRefuted\b|\bREFUTED\b", RED), (r"different bits from [\d,]+", RED), (r"^ *(reproduce|order):.*", PALE))


def coloured(line):
    """[(character, colour)]: the first style that fits a place takes it."""
    colours = [PLAIN] * len(line)
    for pattern, colour in reversed(STYLES):
        for found in re.finditer(pattern, line):
            colours[found.start():found.end()] = [colour] * (found.end() - found.start())
    return list(zip(line, colours))


def wrapped(line):
    """Breaks at blanks, as a narrow terminal would; a part goes on below what it belongs to."""
    text = "".join(character for character, _ in line)
    indent = [(" ", PLAIN)] * (len(text) - len(text.lstrip()) + 4)
    parts = []
    while len(line) > WIDTH:
        text = "".join(character for character, _ in line)
        at = text.rfind(" ", len(indent), WIDTH)
        at = at if at > 0 else WIDTH
        parts.append(line[:at])
        line = indent + line[at:][text[at:].startswith(" "):]
    return [*parts, line]


def spans(line):
    return "".join(f'<tspan fill="{colour}">{html.escape("".join(c for c, _ in part)).replace(" ", "&#160;")}</tspan>'
                   for colour, part in itertools.groupby(line, key=lambda cell: cell[1]))


def refutation():
    text = (SOURCE / "ci/measured/h200/refutation.txt").read_text().splitlines()
    lines = [part for line in text for part in wrapped(coloured(line))]
    width, height = round(WIDTH * CELL + 32), len(lines) * LINE + 50
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
    print(f'<rect width="{width}" height="{height}" rx="8" fill="{BACK}"/>')
    for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        print(f'<circle cx="{20 + 18 * i}" cy="18" r="5" fill="{colour}"/>')
    print(f'<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="{SIZE}">')
    for row, line in enumerate(lines):
        if line:
            print(f'<text x="16" y="{50 + row * LINE}" textLength="{len(line) * CELL:.1f}">{spans(line)}</text>')
    print("</g>\n</svg>")


def badges():
    version = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text())[1]
    python = re.search(r'requires-python = ">=([^"]+)"', (SOURCE / "pyproject.toml").read_text())[1]
    licence = "Apache-2.0" if "Apache License" in (SOURCE / "LICENSE").read_text() else sys.exit("LICENSE is another")
    x, parts = 0, []
    for name, value in (("version", version), ("licence", licence), ("Linux", "x86-64"), ("Python", f"{python} or newer"), ("GPU", "optional")):
        left, right = 7 * len(name) + 14, 7 * len(value) + 14
        parts.append(f'<rect x="{x}" width="{left}" height="20" rx="3" fill="#57606a"/><rect x="{x + left - 3}" width="{right + 3}" height="20" rx="3" fill="#0969da"/>'
                     f'<text x="{x + left / 2}" y="14">{name}</text><text x="{x + left + right / 2}" y="14">{value}</text>')
        x += left + right + 6
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="20" viewBox="0 0 {x} 20">')
    print('<g font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" fill="#fff" text-anchor="middle">')
    print(*parts, sep="\n")
    print("</g>\n</svg>")


{"refutation": refutation, "badges": badges}[sys.argv[2]]()
