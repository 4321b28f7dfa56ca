"""Holds a certificate of `foldproof certify` against itself: the checker in src/certify/check.c once more, by exact fractions.

    python3 check_certificate.py FILE

Prints "held", or the line that is wrong and why, and exits 1; of a file that is no certificate it says that, and exits 2."""

import hashlib
import re
import sys
import zlib
from fractions import Fraction

FIRST = b"foldproof-certificate"
MOST_TERMS = 1 << 16
FORMATS = {"f16": (16, 11, -14, 15), "bf16": (16, 8, -126, 127), "f32": (32, 24, -126, 127), "f64": (64, 53, -1022, 1023)}
FORMATS.update({"e4m3": (8, 4, -6, 8), "e5m2": (8, 3, -14, 15)})  # bits, precision, emin, emax


class Wrong(Exception):
    pass


def whole(text):
    """Digits, and nothing that int() takes beside them."""
    if not re.fullmatch("[0-9]{1,16}", text):
        raise Wrong(f"'{text[:20]}' is no number")
    return int(text)


def repeated(item):
    """A word, and how often it is there: "word*N"."""
    word, star, times = item.partition("*")
    if star and whole(times) == 0:
        raise Wrong(f"'{item[:20]}' is there no time")
    return word, whole(times) if star else 1


def power(e):
    return Fraction(2) ** e


def number(name, bits):
    width, p, emin, emax = FORMATS[name]
    field, fraction = (bits % 2 ** (width - 1)) >> (p - 1), bits % 2 ** (p - 1)
    if bits >> width or field > emax - emin + 1 or (name == "e4m3" and field == 15 and fraction == 7):
        raise Wrong("a pattern that is no finite number")
    value = (fraction + (2 ** (p - 1) if field else 0)) * power(max(field, 1) - 1 + emin - p + 1)
    return -value if bits >> (width - 1) else value


def step(name, value):
    """The distance of the format's numbers at |value|."""
    _, p, emin, _ = FORMATS[name]
    e = value.numerator.bit_length() - value.denominator.bit_length()
    e -= abs(value) < power(e)
    return power(max(e, emin) - p + 1)


def rounded(name, value):
    return round(value / step(name, value)) * step(name, value) if value else value  # round() of a Fraction: to nearest even


def pattern(name, value):
    width, p, emin, emax = FORMATS[name]
    if not value:
        return 0
    unit = step(name, value)
    least = emin - p + 1
    magnitude = abs(value) / unit
    exponent = unit.numerator.bit_length() - unit.denominator.bit_length()
    bits = int(magnitude) + ((exponent - least) << (p - 1))
    if abs(value) >= power(emax + 1) or (name == "e4m3" and bits == 0x7F):
        raise Wrong("a result beyond its format")
    return bits | (value < 0) << (width - 1)


def finite(name, value):
    """The value, rounded to the format, which has it."""
    pattern(name, rounded(name, value))
    return rounded(name, value)


def spelled(value):
    """An odd integer in hexadecimal, and the exponent of two that it is times."""
    if not value:
        return "0p0"
    twos = (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()
    return f"{int(value / power(twos)):x}p{twos}"


def holds(name, part):
    (_, p, emin, emax), (_, q, low, high) = FORMATS[name], FORMATS[part]
    return p >= q and emin - p <= low - q and emax >= high


def bound(exact, magnitude, height, n, rounds, accumulator, result):
    """rounds: whether a term is rounded before it is added."""
    limit = Fraction(0)
    if height is not None:
        h, u = height + rounds, power(-FORMATS[accumulator][1])
        if h * u >= 1:
            raise Wrong("there is none for such a height")
        limit = h * u / (1 - h * u) * magnitude
        limit += rounds * n * power(FORMATS[accumulator][2] - FORMATS[accumulator][1] + 1)
    if height is None or result != accumulator:
        limit += power(-FORMATS[result][1]) * (abs(exact) + limit) + power(FORMATS[result][2] - FORMATS[result][1] + 1)
    unit = step("f64", limit) if limit else 1
    return pattern("f64", -(-limit // unit) * unit)


class Lines:
    def __init__(self, data):
        self.data, self.line, self.key, self.rest = data, 0, "", data

    def next(self):
        self.line += 1
        self.key = ""
        line, newline, self.rest = self.rest.partition(b"\n")
        text, mark, crc = line.rpartition(b" #")
        if not newline or not mark or crc != b"%08x" % zlib.crc32(b"%d:%s" % (self.line, text)):
            raise Wrong("the line was changed, or is missing")
        key, blank, value = text.decode("latin-1").partition(" ")  # a statement may be any bytes but NUL
        if not blank or b"\0" in text:
            raise Wrong("it is not a key and a value")
        self.key = key
        return value

    def take(self, key):
        value = self.next()
        if self.key != key:
            raise Wrong(f"the next line must be '{key}'")
        return value

    def comes(self, key):
        return self.rest.startswith(key.encode() + b" ")

    def words(self, key, n, word=""):
        """n patterns."""
        found = []
        while len(found) < n:
            value = self.take(key)
            if not value.startswith(word):
                raise Wrong(f"the next line must be '{key} {word}'")
            for item in value[len(word):].split(" "):
                bits, times = repeated(item)
                if not re.fullmatch("[0-9a-f]{1,16}", bits) or times > n:
                    raise Wrong(f"'{item[:20]}' is no pattern")
                found += [int(bits, 16)] * times
        if len(found) != n:
            raise Wrong(f"{len(found)} patterns, not {n}")
        return found


def joins(lines, cols):
    found, left, open_nodes = [], cols, set(range(cols))
    while left > 1:
        for item in lines.take("tree").split(" "):
            operands, times = repeated(item)
            raised = operands.startswith("+")
            if raised and not re.fullmatch("([+-][0-9]+,?)+", operands):
                raise Wrong(f"'{item[:20]}' is no join")
            for _ in range(times):
                join = [(-1 if k[:1] == "-" else 1) * whole(k[raised:]) for k in operands.split(",")]
                if raised:
                    join = [a + b for a, b in zip(found[-1], join, strict=True)]
                if not set(join) <= open_nodes or len(set(join)) != len(join) or len(join) < 2:
                    raise Wrong(f"join {join}: its operands are none, or were joined before")
                open_nodes = open_nodes - set(join) | {cols + len(found)}
                found.append(join)
                left -= len(join) - 1
    return found


def choice(value, *allowed):
    if value not in allowed:
        raise Wrong(f"not one of {', '.join(allowed)}")
    return value


def add_up(terms, tree, fused, accumulator):
    """Each node is its operands' exact sum, rounded once; a term that is not fused is rounded first."""
    node = [t if i in fused and len(terms) > 1 else finite(accumulator, t) for i, t in enumerate(terms)]
    for join in tree:
        node.append(finite(accumulator, sum(node[k] for k in join)))
    return node[-1]


def check(data):
    lines = Lines(data)
    try:
        check_lines(lines, data)
    except (Wrong, ValueError, IndexError, OverflowError) as error:
        return f"line {lines.line}: {lines.key}: {error}"
    return None


def check_lines(lines, data):
    choice(lines.take(FIRST.decode()), "1")
    for key in "subject", "engine", "case", "generator":
        lines.take(key)
    products = choice(lines.take("problem"), "sum", "dot") == "dot"
    dtype, accumulator, result = (choice(lines.take(key), *FORMATS) for key in ("dtype", "accumulator", "result"))
    rows, cols = (whole(lines.take(key)) for key in ("rows", "cols"))
    if rows < 1 or cols < 1 or rows * cols > MOST_TERMS:
        raise Wrong(f"1 to {MOST_TERMS}")
    inputs = []
    for k in range(1 + products):
        inputs.append(lines.words("input", rows * cols, f"{k} "))
        size = FORMATS[dtype][0] // 8
        hashed = hashlib.sha256(b"".join(bits.to_bytes(size, "little") for bits in inputs[k])).hexdigest()
        if lines.take("input-sha256") != f"{k} {hashed}":
            raise Wrong(f"the elements of input {k} have the hash {hashed}")
    exactly = choice(lines.take("method"), "tree", "exact") == "exact"
    lines.take("order")
    tree, fused, height = [], set(), None
    if not exactly:
        tree = joins(lines, cols)
        ranges = lines.take("fused")
        for item in ranges.split(" ") if ranges != "-" else []:
            ends = [whole(k) for k in item.split("..")]
            if not products or len(ends) > 2 or not ends[0] <= ends[-1] < cols:
                raise Wrong(f"'{item}' are no products")
            fused.update(range(ends[0], ends[-1] + 1))
        heights = [0] * cols
        for join in tree:
            heights.append(1 + max(heights[k] for k in join))
        height = heights[-1]
        if whole(lines.take("height")) != height:
            raise Wrong(f"the tree's is {height}")
    results = lines.words("results", rows)
    truths = []
    for r in range(rows):
        terms = [number(dtype, bits) for bits in inputs[0][r * cols : (r + 1) * cols]]
        if products:
            terms = [x * number(dtype, bits) for x, bits in zip(terms, inputs[1][r * cols : (r + 1) * cols])]
        truths.append((sum(terms), sum(map(abs, terms))))
        value = rounded(result, truths[r][0] if exactly else add_up(terms, tree, fused, accumulator))
        if pattern(result, value) != results[r]:
            raise Wrong(f"row {r}: these terms give {pattern(result, value):x}")
    for r in range(rows):
        if lines.take("exact") != spelled(truths[r][0]):
            raise Wrong(f"row {r}: its terms have a different sum")
    bounds = lines.words("bound", rows)
    for r in range(rows):
        want = bound(*truths[r], height, cols, products or not holds(accumulator, dtype), accumulator, result)
        if bounds[r] != want:
            raise Wrong(f"row {r}: it is {want:x}")
    while lines.comes("environment"):
        lines.take("environment")
    before = len(data) - len(lines.rest)
    if lines.take("sha256") != hashlib.sha256(data[:before]).hexdigest():
        raise Wrong("the lines before it have a different hash")
    if lines.rest:
        raise Wrong("the file goes on after it")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    if not data.startswith(FIRST):
        print(f"{sys.argv[1]}: no certificate: it does not begin with '{FIRST.decode()}'")
        sys.exit(2)
    wrong = check(data)
    print(wrong or "held")
    sys.exit(1 if wrong else 0)
