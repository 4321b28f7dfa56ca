#!/usr/bin/env python3
"""figure.py: one figure of a report as an SVG file of its own, with its legend, as docs/images/ has them.

ci/figure.py FOLDPROOF CAPTION OUT.svg RECORDS.jsonl...

CAPTION is a regular expression that the figure's caption begins with. The same records make the same file.
"""
import html
import re
import subprocess
import sys

WIDTH, LINE, LEAST = 560, 24, 17


def main():
    if len(sys.argv) < 5:
        raise SystemExit(__doc__)
    foldproof, caption, out, *records = sys.argv[1:]
    page = subprocess.run([foldproof, "report", *records], capture_output=True, text=True, check=True).stdout
    figures = re.findall(r"<figure>(<svg.*?</svg>)\s*(<ul class=\"key\">.*?</ul>)\s*<figcaption><b>[^<]*</b> (.*?)</figcaption>", page, re.S)
    found = [figure for figure in figures if re.match(caption, html.unescape(figure[2]))]
    if not found:
        raise SystemExit(f"figure.py: no figure '{caption}'; there are: " + "; ".join(html.unescape(f[2]) for f in figures))
    svg, key, text = found[0]
    height = int(re.match(r'<svg viewBox="0 0 \d+ (\d+)"', svg).group(1))
    entries = re.findall(r"<li>(<svg.*?</svg>)(.*?)</li>", key, re.S)
    svg = svg.replace("<svg ", f'<svg width="{WIDTH}" height="{height}" ', 1)
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {WIDTH} {height + LINE * len(entries) + 10}">\n')
        file.write(f'<title>{text}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n{svg}\n<g font-family="sans-serif" font-size="{LEAST}">\n')
        for row, (mark, label) in enumerate(entries):
            top = height + LINE * row + 4
            mark = mark.replace("<svg ", f'<svg x="80" y="{top}" width="40" height="14" ', 1)
            file.write(f'{mark}<text x="130" y="{top + 13}">{label}</text>\n')
        file.write("</g>\n</svg>\n")


main()
