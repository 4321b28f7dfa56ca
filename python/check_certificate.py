#!/usr/bin/env python3
"""foldproof-check: checks certificates of `foldproof certify`, by integer arithmetic.

    foldproof-check FILE...

It shares no line of code with foldproof and needs Python's standard library only. It does not run the subject: it adds the inputs that
the certificate has, in the certificate's order. Exit codes: 0 all hold; 1 one does not hold, and its line is named; 2 wrong usage, or
a file cannot be read or is no certificate, and the others hold; 2 also if the output cannot be written.

A certificate has these lines, in this order:

    foldproof-certificate 1
    subject, engine, case, generator      statements: what was run, on what
    problem sum | dot                     the terms: elements of a row of input 0, or products of two inputs' elements
    dtype, accumulator, result            formats of the elements, of each join, of the results
    rows R
    cols N
    input K PATTERNS                      R x N patterns in hexadecimal; several lines
    method tree | exact
    order NAME                            a statement: what the tree is called
    tree JOINS                            join j makes node N + j of operands "a,b" (terms 0 .. N - 1, or former nodes); several lines; the
                                          last node is the root. Operand "a*" is a product that is not rounded before it is added
    results PATTERNS                      one a row: the root, rounded to the result's format; or the exact value, rounded
    exact VALUE                           a line a row: an odd hexadecimal integer, "p", the exponent of two; or 0p0
    environment KEY VALUE                 statements
    lines COUNT                           how many lines are before this one

Each line ends in " #" and the CRC-32 of its number, ":" and its text before that, so that a changed bit is found in its line. All
roundings are to nearest even, and no partial sum is beyond the accumulator's numbers. Numbers that are not finite, and results that are
negative zeros, have no certificate.
"""

import re
import sys
import zlib

FIRST = b"foldproof-certificate"
MOST_TERMS = 1 << 16
LONGEST = 1 << 16  # bytes of a line


class Wrong(Exception):
    pass


class Format:
    def __init__(self, name, bits, precision, emin, emax):
        self.name, self.bits, self.precision, self.emin, self.emax = name, bits, precision, emin, emax
        self.least = emin - precision + 1  # the exponent of the smallest subnormal
        self.nan = 0x7F if name == "e4m3" else None  # which has no infinities, and numbers beside its NaN

    def number(self, pattern, unit):
        """As an integer, in units of 2^unit."""
        magnitude = pattern & (1 << (self.bits - 1)) - 1
        field, fraction = magnitude >> (self.precision - 1), magnitude & (1 << (self.precision - 1)) - 1
        if pattern >> self.bits or field > self.emax - self.emin + 1 or magnitude == self.nan:
            raise Wrong(f"{pattern:x} is no finite number")
        value = fraction + ((1 << (self.precision - 1)) if field else 0) << max(field, 1) - 1 + self.least - unit
        return -value if pattern >> (self.bits - 1) else value

    def rounded(self, value, unit):
        """To nearest even."""
        drop = max(value.bit_length() - self.precision, self.least - unit)
        if drop <= 0:
            return value
        down, rest, half = value >> drop, value & (1 << drop) - 1, 1 << (drop - 1)
        return down + (rest > half or (rest == half and down & 1)) << drop

    def pattern(self, value, unit):
        """Of a number that it has."""
        if not value:
            return 0
        magnitude, shift = abs(value), max(value.bit_length() - 1 + unit, self.emin) - self.precision + 1 - unit
        bits = (shift + unit - self.least << (self.precision - 1)) + (magnitude >> shift if shift >= 0 else magnitude << -shift)
        if bits >> (self.precision - 1) > self.emax - self.emin + 1 or bits == self.nan:
            raise Wrong("beyond the format's numbers")
        return bits | (value < 0) << (self.bits - 1)


FORMATS = {row[0]: Format(*row) for row in [("f16", 16, 11, -14, 15), ("bf16", 16, 8, -126, 127), ("f32", 32, 24, -126, 127), ("f64", 64, 53, -1022, 1023),
                                            ("e4m3", 8, 4, -6, 8), ("e5m2", 8, 3, -14, 15)]}


def spelled(value, unit):
    twos = (value & -value).bit_length() - 1
    return f"{value >> twos:x}p{twos + unit}" if value else "0p0"


def number(text):
    """A number has one spelling: digits alone, without zeros before them."""
    if not re.fullmatch("0|[1-9][0-9]{0,15}", text):
        raise Wrong(f"'{text[:20]}' is no number")
    return int(text)


def choice(value, allowed):
    if value not in allowed:
        raise Wrong(f"not one of {', '.join(allowed)}")
    return value


class Lines:
    def __init__(self, file):
        self.file, self.line, self.key = file, 0, ""
        self.ahead = file.readline(LONGEST)

    def next(self):
        self.line, self.key = self.line + 1, ""
        line, self.ahead = self.ahead, self.file.readline(LONGEST)
        text, mark, crc = line.rpartition(b" #")
        if not mark or crc != b"%08x\n" % zlib.crc32(b"%d:%s" % (self.line, text)):
            raise Wrong("the line was changed, or is missing: its checksum differs")
        self.key, blank, value = text.decode("latin-1").partition(" ")  # a statement may be any bytes but NUL
        if not blank or "\0" in value:
            raise Wrong("it is not a key and a value")
        return value

    def take(self, key):
        value = self.next()
        if self.key != key:
            raise Wrong(f"the next line must be '{key}'")
        return value

    def words(self, key, n, before=""):
        """n words, from as many lines as they take, each with the same word before them."""
        found = []
        while len(found) < n:
            value = self.take(key)
            if not value.startswith(before):
                raise Wrong(f"the next line must be '{key} {before}'")
            found += value[len(before):].split(" ")
        if len(found) != n:
            raise Wrong(f"{len(found)} of them, not {n}")
        return found

    def patterns(self, key, n, before=""):
        words = self.words(key, n, before)
        for word in words:
            if not re.fullmatch("0|[1-9a-f][0-9a-f]{0,15}", word):
                raise Wrong(f"'{word[:20]}' is no pattern")
        return [int(word, 16) for word in words]

    def joins(self, cols, products):
        """Each as its operands, (node, whether it is a product that is not rounded). No node is joined twice, so that they form a tree."""
        found, left, free = [], cols, [True] * cols
        while left > 1:
            for word in self.take("tree").split(" "):
                operands = [(number(item.removesuffix("*")), item.endswith("*")) for item in word.split(",")]
                for node, unrounded in operands:
                    if node >= len(free) or not free[node]:
                        raise Wrong(f"'{word[:40]}': there is no node {node}, or it was joined before")
                    if unrounded and not (products and node < cols):
                        raise Wrong(f"'{word[:40]}': {node} is no product")
                    free[node] = False
                free.append(True)
                found.append(operands)
                left -= len(operands) - 1
                if len(operands) < 2:
                    raise Wrong(f"'{word[:40]}' joins one node")
        return found


def is_negative(value, operands):
    """A sum's sign bit: a zero has it if all operands have it."""
    return value < 0 or (value == 0 and all(operands))


def add_up(terms, signs, joins, accumulator, unit):
    """The root and its sign bit. Each node is its operands' exact sum, rounded once. A term is rounded before it is added, unless it is a
    product that is not."""

    def rounded(value):
        value = accumulator.rounded(value, unit)
        accumulator.pattern(value, unit)
        return value

    nodes, signs = list(terms), list(signs)
    for join in joins:
        value = sum(rounded(nodes[k]) if k < len(terms) and not unrounded else nodes[k] for k, unrounded in join)
        nodes.append(rounded(value))
        signs.append(is_negative(value, [signs[k] for k, _ in join]))
    return rounded(nodes[-1]), signs[-1]


def check_lines(lines):
    choice(lines.take(FIRST.decode()), ["1"])
    for key in "subject", "engine", "case", "generator":
        lines.take(key)
    products = choice(lines.take("problem"), ["sum", "dot"]) == "dot"
    dtype, accumulator, result = (FORMATS[choice(lines.take(key), FORMATS)] for key in ("dtype", "accumulator", "result"))
    rows, cols = number(lines.take("rows")), number(lines.take("cols"))
    if rows < 1 or cols < 1 or rows * cols > MOST_TERMS:
        raise Wrong(f"there are 1 to {MOST_TERMS} terms")
    unit = dtype.least * (1 + products)
    patterns = [lines.patterns("input", rows * cols, f"{k} ") for k in range(1 + products)]
    inputs = [[dtype.number(p, dtype.least) for p in of] for of in patterns]
    terms = [x * y for x, y in zip(*inputs)] if products else inputs[0]
    signs = [sum(p >> dtype.bits - 1 for p in of) == 1 for of in zip(*patterns)]
    exactly = choice(lines.take("method"), ["tree", "exact"]) == "exact"
    lines.take("order")
    joins = [] if exactly else lines.joins(cols, products)
    truths = [sum(terms[r * cols:(r + 1) * cols]) for r in range(rows)]
    for r, stated in enumerate(lines.patterns("results", rows)):
        row = slice(r * cols, (r + 1) * cols)
        value, negative = (truths[r], is_negative(truths[r], signs[row])) if exactly else add_up(terms[row], signs[row], joins, accumulator, unit)
        given = result.pattern(result.rounded(value, unit), unit)
        if given == 0 and negative:
            raise Wrong(f"row {r}: these terms give a negative zero")
        if given != stated:
            raise Wrong(f"row {r}: these terms give {given:x}")
    for r, truth in enumerate(truths):
        if lines.take("exact") != spelled(truth, unit):
            raise Wrong(f"row {r}: its terms have the sum {spelled(truth, unit)}")
    while lines.ahead.startswith(b"environment "):
        lines.take("environment")
    if number(lines.take("lines")) != lines.line - 1 or lines.ahead:
        raise Wrong(f"{lines.line - 1} lines are before it, and {'some' if lines.ahead else 'none'} behind it")
    return f"{rows} x {cols} {dtype.name}: inputs, {'no order' if exactly else 'tree'}, results, exact values, and {lines.line} lines' checksums"


def check(file):
    """Whether it holds (None: it is no certificate), and what was checked or is wrong."""
    lines = Lines(file)
    if not lines.ahead.startswith(FIRST):
        return None, f"no certificate: it does not begin with '{FIRST.decode()}'"
    try:
        return True, check_lines(lines)
    except Wrong as wrong:
        return False, f"line {lines.line}: {lines.key[:40]}{': ' if lines.key else ''}{wrong}"


def check_path(path):
    try:
        with open(path, "rb") as file:
            return check(file)
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"


def printable(text):
    """A file's name and a file's line may be any characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text).replace("##", "#\\x23")  # which begins a command to a CI runner


def main(files):
    if not files or files[0].startswith("-"):
        print(__doc__.strip(), file=sys.stdout if files[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if files[:1] in (["-h"], ["--help"]) else 2
    if sys.stdout:  # None: it is closed
        sys.stdout.reconfigure(errors="backslashreplace")
    outcomes = set()
    for path in files:
        held, text = check_path(path)
        outcomes.add(held)
        if held:
            print(f"held: {printable(path)}: {text}")
        else:
            print(f"foldproof-check: {printable(path)}: {printable(text)}", file=sys.stderr)
    return 1 if False in outcomes else 2 if None in outcomes else 0


def run():
    try:
        code = main(sys.argv[1:])
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:  # the disk is full, or the reader has left
        sys.stdout, code = None, 2
        print(f"foldproof-check: the output cannot be written: {error.strerror}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(run())
